//! What the weights are learned from. In: a page. Out: the rows of the page and of its lines. Used by the learner
//! (`taojin eval --learn`) only; the weights it makes are a committed table.

use std::sync::LazyLock;

use super::context::{PageContext, container};
use super::features::{COUNT, Row, View};
use super::learned::TYPES as TYPE_COUNT;
pub use super::learned::{Source, Weights, WeightsError};
use super::page_type;
use super::trees;
pub use super::trees::DecisionTree;
use crate::fields::head::Head;
use crate::fields::headline;
use crate::fields::title_parts::Title;
use crate::lines::outline::Outline;
use crate::page;
use crate::page::{Hints, Page};

/// Number of cells of a row; those without a name stay 0.
pub const CELLS: usize = COUNT;
/// Names of the types of pages.
pub const TYPES: [&str; TYPE_COUNT] = page_type::NAMES;
/// Questions of a tree.
pub const DEPTH: usize = trees::DEPTH;
/// Most features of a line alone that the trees may ask for.
pub const MOST_KEPT: usize = super::line_model::MOST_KEPT;

/// Names of the features of pages, of lines alone, of lines together.
#[derive(Debug, Clone, Default)]
pub struct Names {
    /// Of a page.
    pub page: Vec<&'static str>,
    /// Of a line judged alone.
    pub first: Vec<&'static str>,
    /// Of a line judged with the others.
    pub second: Vec<&'static str>,
}

impl Names {
    /// The names that this version has.
    pub(crate) fn known() -> &'static Self {
        static KNOWN: LazyLock<Names> = LazyLock::new(|| {
            let page = Page::parse(b"<p>text</p>", Hints::default());
            let names = Prepared::of(&page).names(&page);
            names.unwrap_or_default()
        });
        &KNOWN
    }
}

/// A page with what the two passes need.
#[derive(Debug)]
pub struct Prepared {
    outline: Outline,
    title: Option<usize>,
    row: Row,
    page_names: Vec<&'static str>,
}

impl Prepared {
    /// Reads the lines of a page.
    pub fn of(page: &Page) -> Self {
        let head = Head::of(page);
        let mut outline = Outline::of(page, false);
        let title = Title::of(&head.title);
        let headings = headline::headings(page, &outline, &title.forms);
        let title = headline::first_guess(page, &outline, &title.forms, &headings);
        outline.spread_marks(page, title);
        let view = View::of(page, &outline, title);
        let judged = page::judge(page, None);
        let row = *page_type::row(&view, &head, &judged).row;
        let page_names = page_type::names(&view, &head, &judged);
        Self {
            row,
            page_names,
            title,
            outline,
        }
    }

    /// Texts of all lines.
    pub fn texts(&self, page: &Page) -> Vec<String> {
        let text = |line| self.outline.text(page, line).to_owned();
        self.outline.lines.iter().map(text).collect()
    }

    /// Row of the page.
    pub fn page(&self) -> &Row {
        &self.row
    }

    /// Rows of the first pass.
    pub fn first(&self, page: &Page) -> Vec<Row> {
        let view = View::of(page, &self.outline, self.title);
        (0..self.outline.lines.len()).map(|i| view.row(i)).collect()
    }

    /// Rows of the second pass, given the odds of the first.
    pub fn second(&self, page: &Page, odds: &[f32]) -> Vec<Row> {
        let view = View::of(page, &self.outline, self.title);
        let container = container(page, &self.outline, odds);
        let context = PageContext::of(&view, odds, container);
        (0..odds.len()).map(|i| *context.vector(i).row).collect()
    }

    /// Names of the features; `None` for a page without lines.
    pub fn names(&self, page: &Page) -> Option<Names> {
        let view = View::of(page, &self.outline, self.title);
        let odds = vec![0.0; self.outline.lines.len()];
        let context = PageContext::of(&view, &odds, None);
        (!odds.is_empty()).then(|| Names {
            page: self.page_names.clone(),
            first: view.names(0),
            second: context.names(0),
        })
    }
}
