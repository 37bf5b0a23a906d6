//! How likely each line of a page is text. In: a [`Search`]. Out: the [`Judgement`], with all that was found out on the
//! way. Never chooses lines.

use super::proposal::Proposal;
use crate::classify::container::{Container, container};
use crate::classify::context::PageContext;
use crate::classify::context_model;
use crate::classify::features::View;
use crate::classify::learned::Weights;
use crate::classify::line_model::LineModel;
use crate::classify::page_type::PageType;
use crate::fields::head::Head;
use crate::lines::outline::Outline;
use crate::page::{Judged, Page};

/// What the main text is looked for with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Search<'a> {
    /// The page.
    pub page: &'a Page,
    /// Its lines.
    pub outline: &'a Outline,
    /// Line of the headline, if it was found.
    pub title: Option<usize>,
    /// What the head says.
    pub head: &'a Head<'a>,
    /// What the page is by its shape and its address.
    pub judged: &'a Judged,
    /// What was learned of lines and pages.
    pub weights: &'a Weights,
}

/// All that was found out on the way to the lines of the main text.
#[derive(Debug)]
pub(crate) struct Judgement {
    /// What the path ratios propose.
    pub proposal: Proposal,
    /// Type of the page.
    pub types: PageType,
    /// Each line alone.
    pub line_model: LineModel,
    /// The element that holds most of the text.
    pub container: Option<Container>,
    /// Log-odds of each line, all things considered.
    pub odds: Vec<f32>,
}

impl Judgement {
    /// Judges every line of a page.
    pub(crate) fn of(search: &Search<'_>, view: &View<'_>) -> Self {
        let types = PageType::of(view, search.head, search.judged, search.weights);
        let line_model = LineModel::of(view, search.weights);
        let container = container(search.page, search.outline, &line_model.odds);
        let context = PageContext::of(view, &line_model.odds, container);
        let mut odds = context_model::log_odds(&context, &line_model, &types, search.weights);
        let proposal = Proposal::of(search.page, search.outline);
        for (odds, line) in odds.iter_mut().zip(&proposal.lines) {
            *odds += line.lean();
        }
        Self {
            proposal,
            types,
            container,
            odds,
            line_model,
        }
    }
}
