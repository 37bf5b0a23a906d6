//! What is known of a line once all have been judged alone. In: first odds and the container they point to.
//! Out: one more row of numbers a line. Never judges: the weights are in `weights`.

use super::feature_vector::{FeatureVector, log};
use super::features::View;
use super::line_features::link_share;
use crate::body::{Container, probability};
use crate::cues::phrases::Phrase;
use crate::lines::hints::Marks;
use crate::lines::outline::is_prose;
use crate::page::{NodeId, Page, Tag};

/// Odds beyond this say no more.
const CLAMP: f32 = 6.0;
/// A line of prose with at least these odds is certain to be text: the core.
const CORE: f32 = 1.0;

/// First odds with what they say of the page.
#[derive(Debug)]
pub(crate) struct Second<'a> {
    view: &'a View<'a>,
    odds: &'a [f32],
    container: Option<Container>,
    inside: std::ops::Range<usize>,
    core: Option<(usize, usize)>,
    /// Prefix sums of tokens · p and tokens.
    mass: Vec<(f32, f32)>,
    /// Per tag path of blocks: tokens · p and tokens.
    paths: Vec<(f32, f32)>,
    core_parent: NodeId,
    core_path: u32,
    core_lines: std::ops::Range<usize>,
    body: Option<std::ops::Range<usize>>,
    /// Share of tokens · p outside comments.
    beside_comments: f32,
}

impl<'a> Second<'a> {
    /// Sums up the first odds.
    pub(crate) fn of(view: &'a View<'a>, odds: &'a [f32], container: Option<Container>) -> Self {
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

    /// The child of the core's parent around the line.
    fn core_branch(&self, i: usize) -> Option<NodeId> {
        let page = self.view.page;
        let line = &self.view.outline.lines[i];
        self.core_lines.contains(&i).then(|| {
            let inside = page
                .ancestors(line.first)
                .take_while(|a| *a != self.core_parent);
            inside.last().unwrap_or(line.first)
        })
    }

    /// The nearest list, table, quotation or box around the line, if any.
    fn group(&self, i: usize) -> Option<NodeId> {
        const LEVELS: usize = 5;
        let page = self.view.page;
        let mut above = page
            .ancestors(self.view.outline.lines[i].first)
            .take(LEVELS);
        above.find(|a| {
            matches!(
                page.node(*a).tag,
                Tag::UL
                    | Tag::OL
                    | Tag::DL
                    | Tag::TABLE
                    | Tag::BLOCKQUOTE
                    | Tag::ASIDE
                    | Tag::FIGURE
            )
        })
    }

    /// What stands around the part of the text that the line belongs to: a list is text as a whole or not at
    /// all, and between two paragraphs it is.
    fn part_cells<const NAMED: bool>(&self, i: usize, cells: &mut FeatureVector<NAMED>) {
        let branch = self
            .core_branch(i)
            .map(|b| self.view.outline.range(self.view.page, b));
        cells.flag("in the core's parent", branch.is_some());
        self.range_cells(
            branch.unwrap_or(i..i + 1),
            [
                "core branch: p",
                "core branch: linked",
                "core branch: odds before",
                "core branch: odds after",
                "core branch: between text",
                "core branch: lines",
            ],
            cells,
        );
        let group = self
            .group(i)
            .map(|g| self.view.outline.range(self.view.page, g));
        cells.flag("in a group", group.is_some());
        self.range_cells(
            group.unwrap_or(i..i + 1),
            [
                "group: p",
                "group: linked",
                "group: odds before",
                "group: odds after",
                "group: between text",
                "group: lines",
            ],
            cells,
        );
    }

    fn range_cells<const NAMED: bool>(
        &self,
        range: std::ops::Range<usize>,
        names: [&'static str; 6],
        cells: &mut FeatureVector<NAMED>,
    ) {
        let within = |j: &usize| self.core_lines.contains(j);
        let odds = |j: Option<usize>| {
            j.filter(within)
                .and_then(|j| self.odds.get(j))
                .map_or(-3.0, |o| o.clamp(-3.0, 3.0))
        };
        let (before, after) = (odds(range.start.checked_sub(1)), odds(Some(range.end)));
        let sum = self.view.outline.sum(range.clone());
        cells.put(names[0], Self::mean(self.mass_of(range)));
        cells.put(names[1], sum.linked as f32 / sum.tokens.max(1) as f32);
        cells.put(names[2], before);
        cells.put(names[3], after);
        cells.flag(names[4], before > 0.5 && after > 0.5);
        cells.put(names[5], log(sum.lines as f32));
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

    fn mass_of(&self, range: std::ops::Range<usize>) -> (f32, f32) {
        let (a, b) = (
            self.mass[range.start],
            self.mass[range.end.max(range.start)],
        );
        (b.0 - a.0, b.1 - a.1)
    }

    fn mean(sum: (f32, f32)) -> f32 {
        sum.0 / sum.1.max(1.0)
    }

    /// Features of line `i`, in cells after those of the first row.
    pub(crate) fn fill<const NAMED: bool>(&self, i: usize, cells: &mut FeatureVector<NAMED>) {
        let line = &self.view.outline.lines[i];
        let page = self.view.page;
        let odds = |j: Option<usize>| {
            j.and_then(|j| self.odds.get(j))
                .map_or(-3.0, |o| o.clamp(-CLAMP, CLAMP))
        };
        cells.put("bias", 1.0);
        cells.put("first odds", odds(Some(i)));
        cells.put("odds before", odds(i.checked_sub(1)));
        cells.put("odds after", odds(Some(i + 1)));
        cells.put(
            "lower odds beside",
            odds(i.checked_sub(1)).min(odds(Some(i + 1))),
        );
        cells.put(
            "mean odds of 3 before",
            (1..=3).map(|n| odds(i.checked_sub(n))).sum::<f32>() / 3.0,
        );
        cells.put(
            "mean odds of 3 after",
            (1..=3).map(|n| odds(Some(i + n))).sum::<f32>() / 3.0,
        );
        let inside = self.inside.contains(&i);
        cells.flag("outside container", !inside);
        cells.put("odds outside", if inside { 0.0 } else { odds(Some(i)) });
        self.core_cells(i, inside, cells);
        let branch = self.branch(page, i);
        cells.put("branch: p", branch.0);
        cells.put("branch: share", branch.1);
        let parent = page.node(line.block).parent;
        cells.put(
            "parent: p",
            Self::mean(self.mass_of(self.view.outline.range(page, parent))),
        );
        let above = page.node(parent).parent;
        cells.put(
            "grandparent: p",
            Self::mean(self.mass_of(self.view.outline.range(page, above))),
        );
        cells.put("path: p", Self::mean(self.paths[line.path as usize]));
        cells.flag("same parent as core", parent == self.core_parent);
        cells.flag("same path as core", line.path == self.core_path);
        cells.flag("a body is named", self.body.is_some());
        cells.flag(
            "in the named body",
            self.body.as_ref().is_some_and(|b| b.contains(&i)),
        );
        cells.flag(
            "outside the named body",
            self.body.as_ref().is_some_and(|b| !b.contains(&i)),
        );
        self.line_cells(i, inside, cells);
        self.part_cells(i, cells);
    }

    fn core_cells<const NAMED: bool>(
        &self,
        i: usize,
        inside: bool,
        cells: &mut FeatureVector<NAMED>,
    ) {
        let between = self.core.is_some_and(|(a, b)| a <= i && i <= b);
        cells.flag("within core", between);
        let before = self.core.filter(|c| i < c.0).map_or(0, |c| c.0 - i);
        let after = self.core.filter(|c| i > c.1).map_or(0, |c| i - c.1);
        cells.put("before core", log(before as f32));
        cells.put("after core", log(after as f32));
        cells.flag("just before core", (1..=2).contains(&before) && inside);
        cells.flag("just after core", (1..=2).contains(&after) && inside);
        cells.flag("no core", self.core.is_none());
        cells.put("levels up to core", log(self.levels_to_core(i) as f32));
    }

    /// Elements to climb from the line until the one that holds the core's parent.
    fn levels_to_core(&self, i: usize) -> usize {
        const MOST: usize = 12;
        let page = self.view.page;
        let (core, end) = (self.core_parent, page.node(self.core_parent).end);
        let first = self.view.outline.lines[i].first;
        page.ancestors(first)
            .take(MOST)
            .position(|a| a <= core && page.node(a).end >= end)
            .unwrap_or(MOST)
    }

    /// The child of the container around the line: its mean p and its share of the container's text.
    fn branch(&self, page: &Page, i: usize) -> (f32, f32) {
        let Some(container) = self.container.filter(|_| self.inside.contains(&i)) else {
            return (0.0, 0.0);
        };
        let line = &self.view.outline.lines[i];
        let branch = page
            .ancestors(line.first)
            .take_while(|a| *a != container.node)
            .last()
            .unwrap_or(line.block);
        let sum = self.mass_of(self.view.outline.range(page, branch));
        let whole = self.mass_of(self.inside.clone());
        (Self::mean(sum), sum.0 / whole.0.max(1.0))
    }

    fn line_cells<const NAMED: bool>(
        &self,
        i: usize,
        inside: bool,
        cells: &mut FeatureVector<NAMED>,
    ) {
        let line = &self.view.outline.lines[i];
        let tokens = line.all.tokens;
        let short = tokens <= 12;
        cells.flag("short", short);
        cells.flag("short inside", short && inside);
        cells.flag(
            "heading inside",
            inside && self.view.page.node(line.block).tag.is_heading(),
        );
        cells.flag("caption inside", inside && line.marks.any(Marks::CAPTION));
        cells.put("linked", link_share(line));
        cells.put("linked inside", if inside { link_share(line) } else { 0.0 });
        cells.flag("marked against", line.marks.any(Marks::AGAINST));
        let comment = line.marks.any(Marks::COMMENT);
        cells.flag("in comments", comment);
        let beside = if comment { self.beside_comments } else { 0.0 };
        cells.put("in comments: share of text beside them", beside);
        cells.flag(
            "in comments beside a text",
            comment && self.beside_comments > 0.3,
        );
        cells.flag("about", line.marks.any(Marks::ABOUT.with(Marks::AUTHOR)));
        cells.flag("headline", self.view.title == Some(i));
        let phrase = self.view.phrases[i];
        cells.flag("a phrase", phrase.is_some());
        cells.flag(
            "footer or related",
            matches!(phrase, Some(Phrase::Footer | Phrase::Related)),
        );
        cells.put("tokens", log(tokens as f32));
        cells.flag("ends sentence", self.view.ends[i]);
    }

    /// The row of line `i`.
    pub(crate) fn cells(&self, i: usize) -> FeatureVector {
        let mut cells = FeatureVector::default();
        self.fill(i, &mut cells);
        cells
    }

    /// Names of the features, in order.
    pub(crate) fn names(&self, i: usize) -> Vec<&'static str> {
        let mut cells = FeatureVector::with_names();
        self.fill(i, &mut cells);
        cells.names
    }
}
