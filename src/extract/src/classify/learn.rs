//! Features for the learner (`taojin eval --learn`), and the weights that it has learned: [`Prepared`] returns the rows of
//! a page and of its lines.

use std::sync::LazyLock;

use super::context::{PageContext, find_container};
use super::features::{COUNT, FeatureRow, View};
use super::learned::{self, TYPES as TYPE_COUNT};
pub use super::learned::{FeatureNames, Source, Weights, WeightsError};
use super::line_model::RULED_OUT;
use super::page_type;
use super::trees;
pub use super::trees::DecisionTree;
use crate::body::proposal::{BodyProposal, ProposedLine};
use crate::fields::head::Head;
use crate::fields::headline;
use crate::fields::title_parts::Title;
use crate::lines::outline::Outline;
use crate::page;
use crate::page::{Hints, Page};

/// Number of cells of a row; those without a name stay 0.
pub const CELLS: usize = COUNT;
/// Names of the types of pages.
pub const TYPES: [&str; TYPE_COUNT] = learned::TYPE_NAMES;
/// Questions of a tree.
pub const DEPTH: usize = trees::DEPTH;
/// Most features of a line alone that the trees may ask for.
pub const MOST_KEPT: usize = learned::MOST_KEPT;

/// A page with what the two passes need.
#[derive(Debug)]
pub struct Prepared {
    outline: Outline,
    title: Option<usize>,
    row: FeatureRow,
    page_names: Vec<&'static str>,
    /// What the path ratios say of each line.
    proposed: Vec<ProposedLine>,
}

impl Prepared {
    /// Reads the lines of a page.
    pub fn new(page: &Page) -> Self {
        let head = Head::read(page);
        let mut outline = Outline::new(page, false);
        let title = Title::parse(&head.title);
        let headings = headline::find_headings(page, &outline, &title.forms);
        let title = headline::guess_headline(page, &outline, &title.forms, &headings);
        outline.spread_marks(page, title);
        let proposed = BodyProposal::new(page, &outline).lines;
        let view = View::new(page, &outline, title, &proposed);
        let judged = page::classify_page(page, None);
        let row = *page_type::page_features(&view, &head, &judged).row;
        let page_names = page_type::feature_names(&view, &head, &judged);
        Self {
            row,
            page_names,
            title,
            outline,
            proposed,
        }
    }

    /// Whether the models judge line `i`: the path ratios do not rule it out.
    pub fn is_judged(&self, i: usize) -> bool {
        self.proposed
            .get(i)
            .is_some_and(|line| !line.is_ruled_out())
    }

    /// Texts of all lines.
    pub fn texts(&self, page: &Page) -> Vec<String> {
        let text = |line| self.outline.text(page, line).to_owned();
        self.outline.lines.iter().map(text).collect()
    }

    /// Row of the page.
    pub fn page(&self) -> &FeatureRow {
        &self.row
    }

    /// Rows of the first pass, empty for a line that is not judged.
    pub fn first(&self, page: &Page) -> Vec<FeatureRow> {
        let view = View::new(page, &self.outline, self.title, &self.proposed);
        self.rows(|i| view.row(i))
    }

    fn rows(&self, row: impl Fn(usize) -> FeatureRow) -> Vec<FeatureRow> {
        let row = |i| {
            if self.is_judged(i) {
                row(i)
            } else {
                [0.0; COUNT]
            }
        };
        (0..self.proposed.len()).map(row).collect()
    }

    /// Rows of the second pass, given the odds of the first; empty for a line that is not judged.
    pub fn second(&self, page: &Page, odds: &[f32]) -> Vec<FeatureRow> {
        let of_line = |(odds, line): (&f32, &ProposedLine)| {
            if line.is_ruled_out() {
                RULED_OUT
            } else {
                *odds
            }
        };
        let odds: Vec<f32> = odds.iter().zip(&self.proposed).map(of_line).collect();
        let view = View::new(page, &self.outline, self.title, &self.proposed);
        let container = find_container(page, &self.outline, &odds);
        let context = PageContext::new(&view, &odds, container);
        self.rows(|i| *context.vector(i).row)
    }

    /// Names of the features; `None` for a page without lines.
    pub fn names(&self, page: &Page) -> Option<FeatureNames> {
        let view = View::new(page, &self.outline, self.title, &self.proposed);
        let odds = vec![0.0; self.outline.lines.len()];
        let context = PageContext::new(&view, &odds, None);
        (!odds.is_empty()).then(|| FeatureNames {
            page: self.page_names.clone(),
            first: view.names(0),
            second: context.names(0),
        })
    }
}

/// The names of the features of this version.
fn known_names() -> &'static FeatureNames {
    static KNOWN: LazyLock<FeatureNames> = LazyLock::new(|| {
        let page = Page::parse(b"<p>text</p>", Hints::default());
        let names = Prepared::new(&page).names(&page);
        names.unwrap_or_default()
    });
    &KNOWN
}

/// The weights in the source.
pub(crate) static COMMITTED: LazyLock<Weights> = LazyLock::new(|| {
    Weights::parse(include_str!("weights.json")).expect("a constant that a test reads")
});

impl Weights {
    /// Reads what [`Weights::written`] wrote. A feature that is not in the file counts nothing, so that files from before it was
    /// there are read. An error says what is wrong: no JSON, another version, a feature that this version does not have.
    pub fn parse(text: &str) -> Result<Self, WeightsError> {
        Self::read(text, known_names())
    }

    /// The text of a file of these weights: JSON, a feature or a tree a line.
    pub fn written(&self) -> String {
        self.write(known_names())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_written_as_read() {
        let committed = include_str!("weights.json");
        let weights = Weights::parse(committed).expect("readable");
        // A file that was learned before a feature was there lacks its line.
        let written = weights.written();
        let lines = |text: &str| -> Vec<String> {
            let lines = text
                .lines()
                .map(|line| line.trim_end_matches(',').to_owned());
            lines.collect()
        };
        let (written_lines, lines) = (lines(&written), lines(committed));
        assert!(
            lines.iter().all(|line| written_lines.contains(line)),
            "written otherwise"
        );
        assert!(Weights::parse(&written).is_ok_and(|again| again == weights));
        // A name that stands for two features would be read as the second.
        let asked = learned::question_names(known_names(), &weights.kept);
        let distinct: std::collections::HashSet<&String> = asked.iter().collect();
        assert_eq!(distinct.len(), asked.len());
    }

    #[test]
    fn weights_lacking_feature_counts_nothing() {
        let lacks = |line: &&str| !line.starts_with("[\"h1\",");
        let older: String = COMMITTED.written().lines().filter(lacks).collect();
        let weights = Weights::parse(&older).expect("readable");
        let (_, of_types) = weights.page.iter().find(|(name, _)| *name == "h1").unwrap();
        assert_eq!(*of_types, [0; TYPE_COUNT]);
        assert_eq!(weights.page.len(), COMMITTED.page.len());
    }

    #[test]
    fn weights_bad_file_refused() {
        let good = COMMITTED.written();
        for (text, why) in [
            (String::new(), "not a file that"),
            ("{\"a\": 1}".to_owned(), "missing field"),
            (
                good.replace("\"taojin_weights\": 1", "\"taojin_weights\": 9"),
                "this version reads 1",
            ),
            (
                good.replace("[\"tokens\",", "[\"letters\","),
                "no feature \"letters\"",
            ),
            (
                good.replace("\"first odds\"", "\"last odds\""),
                "no feature \"last odds\"",
            ),
            (good.split_at(good.len() / 2).0.to_owned(), "EOF"),
        ] {
            let error = Weights::parse(&text).expect_err(why).to_string();
            assert!(error.contains(why), "{why}: {error}");
        }
    }
}
