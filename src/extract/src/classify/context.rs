//! Summarizes the log-odds of all lines of a page: sums over lines and elements, the core of the text, the element that is
//! named as the text.

use super::features::View;
use crate::lines::hints::Marks;
use crate::lines::outline::{Outline, is_prose};
use crate::page::{NodeId, Page, Tag};

/// A line of prose with at least these odds is certain to be text: the core.
const CORE: f32 = 1.0;

/// First odds with what they say of the page.
#[derive(Debug)]
pub(crate) struct PageContext<'a> {
    pub(super) view: &'a View<'a>,
    pub(super) odds: &'a [f32],
    pub(super) container: Option<Container>,
    pub(super) inside: std::ops::Range<usize>,
    pub(super) core: Option<(usize, usize)>,
    /// Prefix sums of tokens · p and tokens.
    pub(super) mass: Vec<(f32, f32)>,
    /// Per tag path of blocks: tokens · p and tokens.
    pub(super) paths: Vec<(f32, f32)>,
    pub(super) core_parent: NodeId,
    pub(super) core_path: u32,
    pub(super) core_lines: std::ops::Range<usize>,
    pub(super) body: Option<std::ops::Range<usize>>,
    /// Share of tokens · p outside comments.
    pub(super) beside_comments: f32,
}

impl<'a> PageContext<'a> {
    /// Sums up the first odds.
    pub(crate) fn new(view: &'a View<'a>, odds: &'a [f32], container: Option<Container>) -> Self {
        let lines = &view.outline.lines;
        let inside = container.map_or(0..0, |c| view.outline.range(view.page, c.node));
        let mut mass = Vec::with_capacity(lines.len() + 1);
        let mut sum = (0.0f32, 0.0f32);
        mass.push(sum);
        let paths_len = lines.iter().map(|l| l.path + 1).max().unwrap_or(0) as usize;
        let mut paths = vec![(0.0f32, 0.0f32); paths_len];
        for (line, odds) in lines.iter().zip(odds) {
            let tokens = line.all.tokens.min(300) as f32;
            let p = probability(*odds);
            sum = (sum.0 + tokens * p, sum.1 + tokens);
            mass.push(sum);
            let path = &mut paths[line.path as usize];
            *path = (path.0 + tokens * p, path.1 + tokens);
        }
        let is_core = |i: &usize| odds[*i] >= CORE && is_prose(&lines[*i]);
        let core = inside
            .clone()
            .find(is_core)
            .zip(inside.clone().rfind(is_core));
        let mut out = Self {
            view,
            odds,
            container,
            inside,
            core,
            mass,
            paths,
            core_parent: 0,
            core_path: u32::MAX,
            core_lines: 0..0,
            body: None,
            beside_comments: 0.0,
        };
        out.find_core();
        if !view.outline.lines.is_empty() {
            out.core_lines = view.outline.range(view.page, out.core_parent);
        }
        out.find_body();
        out.weigh_comments();
        out
    }

    /// The lines that were judged.
    pub(crate) fn view(&self) -> &'a View<'a> {
        self.view
    }

    /// The parent and the path that hold most of the core.
    fn find_core(&mut self) {
        let lines = &self.view.outline.lines;
        let mut best = 0.0;
        let mut best_path = 0.0;
        for i in self.inside.clone() {
            let parent = self.view.page.node(lines[i].block).parent;
            let sum = self.mass_of(self.view.outline.range(self.view.page, parent));
            // Of nested parents the one with the denser text wins.
            let value = sum.0 - 0.5 * (sum.1 - sum.0);
            if value > best {
                (best, self.core_parent) = (value, parent);
            }
            let path = self.paths[lines[i].path as usize];
            if path.0 > best_path {
                (best_path, self.core_path) = (path.0, lines[i].path);
            }
        }
    }

    /// Lines of the element that calls itself the text and holds most of it.
    fn find_body(&mut self) {
        let named = Marks::BODY.with(Marks::DECLARED).with(Marks::ARTICLE);
        let total = self.mass.last().copied().unwrap_or_default().0;
        let mut best = 0.0;
        for marked in self
            .view
            .outline
            .marked
            .iter()
            .filter(|m| m.marks.any(named))
        {
            let range = self.view.outline.range(self.view.page, marked.node);
            let sum = self.mass_of(range.clone());
            let value = sum.0 - 0.5 * (sum.1 - sum.0);
            if sum.0 > 0.3 * total && value > best {
                (best, self.body) = (value, Some(range));
            }
        }
    }

    fn weigh_comments(&mut self) {
        let (mut inside, mut beside) = (0.0, 0.0);
        for (line, odds) in self.view.outline.lines.iter().zip(self.odds) {
            let mass = line.all.tokens as f32 * probability(*odds);
            if line.marks.any(Marks::COMMENT) {
                inside += mass;
            } else {
                beside += mass;
            }
        }
        self.beside_comments = beside / (inside + beside).max(1.0);
    }

    /// Tokens · p and tokens of lines.
    pub(super) fn mass_of(&self, range: std::ops::Range<usize>) -> (f32, f32) {
        let (a, b) = (
            self.mass[range.start],
            self.mass[range.end.max(range.start)],
        );
        (b.0 - a.0, b.1 - a.1)
    }

    /// Mean p of such a sum.
    pub(super) fn mean(sum: (f32, f32)) -> f32 {
        sum.0 / sum.1.max(1.0)
    }
}

/// A line counts for an element when it is likelier than this to be text: half of the F1 aimed at.
const THETA: f32 = 0.45;

/// The element that holds the main text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Container {
    /// The element.
    pub node: NodeId,
    /// `Σ tokens · (p - θ)` over its lines.
    pub value: f32,
}

/// Probability of log-odds.
pub(crate) fn probability(log_odds: f32) -> f32 {
    1.0 / (1.0 + (-log_odds).exp())
}

/// The element with the greatest value; of equals the innermost. `None` for a page without lines.
pub(crate) fn find_container(page: &Page, outline: &Outline, odds: &[f32]) -> Option<Container> {
    let mut sums = Vec::with_capacity(odds.len() + 1);
    let mut sum = 0.0f32;
    sums.push(sum);
    for (line, odds) in outline.lines.iter().zip(odds) {
        sum += line.all.tokens as f32 * (probability(*odds) - THETA);
        sums.push(sum);
    }
    let mut best: Option<Container> = None;
    for (at, node) in page.nodes().iter().enumerate() {
        if node.tag == Tag::TEXT {
            continue;
        }
        let range = outline.range(page, at as NodeId);
        if range.is_empty() {
            continue;
        }
        let value = sums[range.end] - sums[range.start];
        if best.is_none_or(|b| value >= b.value) {
            best = Some(Container {
                node: at as NodeId,
                value,
            });
        }
    }
    best
}
