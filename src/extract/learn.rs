//! What the weights are learned from. In: a page. Out: the rows of its lines. Used by the learner only; the
//! weights it makes are a committed table.

use super::cells::{COUNT, Row};
use super::features::View;
use super::head::Head;
use super::headline;
use super::outline::Outline;
use super::second;
use super::{body, render};
use crate::page::Page;

/// One line for the learner.
#[derive(Debug, Clone)]
pub struct Sample {
    /// Its text.
    pub text: String,
    /// Its tokens.
    pub tokens: u32,
    /// Its features.
    pub row: Row,
}

/// A page with what the two passes need.
#[derive(Debug)]
pub struct Prepared {
    outline: Outline,
    title: Option<usize>,
}

impl Prepared {
    /// Reads the lines of a page.
    pub fn of(page: &Page) -> Self {
        let head = Head::of(page);
        let mut outline = Outline::of(page, false);
        let title = headline::first_guess(page, &outline, &head);
        outline.spread_marks(page, title);
        Self { outline, title }
    }

    /// Texts of all lines.
    pub fn texts(&self, page: &Page) -> Vec<String> {
        self.outline
            .lines
            .iter()
            .map(|l| {
                let mut text = String::new();
                render::line_text(page, l, &mut text);
                text
            })
            .collect()
    }

    /// Rows of the first pass.
    pub fn first(&self, page: &Page) -> Vec<Row> {
        let view = View::of(page, &self.outline, self.title);
        (0..self.outline.lines.len()).map(|i| view.row(i)).collect()
    }

    /// Rows of the second pass, given the odds of the first.
    pub fn second(&self, page: &Page, odds: &[f32]) -> Vec<Row> {
        let view = View::of(page, &self.outline, self.title);
        let container = body::container(page, &self.outline, odds);
        let second = second::Second::of(&view, odds, container);
        (0..odds.len()).map(|i| second.cells(i).row).collect()
    }

    /// Names of the features of both passes.
    pub fn names(&self, page: &Page) -> (Vec<&'static str>, Vec<&'static str>) {
        let view = View::of(page, &self.outline, self.title);
        let odds = vec![0.0; self.outline.lines.len()];
        let second = second::Second::of(&view, &odds, None);
        (view.names(0), second.names(0))
    }
}

/// Lines to keep and the F1 to be expected; see the body stage.
pub fn select(tokens: &[u32], odds: &[f32]) -> (Vec<usize>, f32) {
    body::select(tokens, odds)
}

/// Number of cells of a row; those without a name stay 0.
pub const CELLS: usize = COUNT;

/// First odds, second odds and kept lines with the committed weights.
pub fn odds(page: &Page, prepared: &Prepared) -> (Vec<f32>, Vec<f32>, Vec<usize>) {
    let view = View::of(page, &prepared.outline, prepared.title);
    let first = super::odds::first(&view);
    let container = body::container(page, &prepared.outline, &first);
    let second = super::odds::second(&second::Second::of(&view, &first, container), first.len());
    let tokens: Vec<u32> = prepared
        .outline
        .lines
        .iter()
        .map(|l| l.all.tokens)
        .collect();
    let lines = body::select(&tokens, &second).0;
    (first, second, lines)
}

impl Prepared {
    /// Where line `i` stands: the tags above it with their classes.
    pub fn about(&self, page: &Page, i: usize) -> String {
        let line = &self.outline.lines[i];
        let mut out = format!("m{:x} ", line.marks.0);
        for id in page.ancestors(line.first).take(5) {
            out.push_str(page.node(id).tag.name());
            for a in [crate::page::Attr::Id, crate::page::Attr::Class] {
                if let Some(v) = page.attr(id, a) {
                    out.push('.');
                    out.extend(v.chars().take(24));
                }
            }
            out.push('<');
        }
        out
    }
}

/// Text of `<title>`.
pub fn page_title(page: &Page) -> String {
    Head::of(page).title
}
