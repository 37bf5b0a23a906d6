//! What the weights are learned from. In: a page. Out: the rows of its lines. Used by the learner only; the
//! weights it makes are a committed table.

use super::features::{COUNT, Row, View};
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
        let outline = Outline::of(page, false);
        let title = headline::first_guess(page, &outline, &head);
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

/// Number of cells of a row; those without a name stay 0.
pub const CELLS: usize = COUNT;
