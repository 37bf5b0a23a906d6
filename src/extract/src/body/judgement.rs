//! Estimates for each line how likely it is text, and selects the lines with the greatest expected F1. A [`Judgement`]
//! keeps all intermediate results for `--explain`.

use super::proposal::BodyProposal;
use super::thread::Posts;
use crate::classify::context::{Container, PageContext, find_container, probability};
use crate::classify::context_model;
use crate::classify::features::View;
use crate::classify::learned::Weights;
use crate::classify::line_model::LineModel;
use crate::classify::page_type::PageType;
use crate::fields::head::Head;
use crate::lines::Line;
use crate::lines::outline::Outline;
use crate::page::{Judged, Page};

/// What the main text is searched for with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LineContext<'a> {
    /// The page.
    pub page: &'a Page,
    /// Its lines.
    pub outline: &'a Outline,
    /// Line of the headline, if it was found.
    pub title: Option<usize>,
    /// What the head says.
    pub head: &'a Head<'a>,
    /// What the page is by its shape and its URL.
    pub judged: &'a Judged,
    /// Its comments and posts.
    pub posts: &'a Posts,
    /// What was learned of lines and pages.
    pub weights: &'a Weights,
}

/// All that was found out on the way to the lines of the main text.
#[derive(Debug)]
pub(crate) struct Judgement {
    /// What the path ratios propose.
    pub proposal: BodyProposal,
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
    /// Judges every line of a page that the ratios leave to the models.
    pub(crate) fn new(search: &LineContext<'_>, view: &View<'_>, proposal: BodyProposal) -> Self {
        let types = PageType::estimate(view, search.head, search.judged, search.weights);
        let line_model = LineModel::new(view, search.weights, &proposal.lines);
        let container = find_container(search.page, search.outline, &line_model.odds);
        let context = PageContext::new(view, &line_model.odds, container);
        let proposed = &proposal.lines;
        let odds =
            context_model::line_log_odds(&context, &line_model, &types, search.weights, proposed);
        Self {
            proposal,
            types,
            container,
            odds,
            line_model,
        }
    }
}

/// Expected F1 from which a page is clear; this and the next by cross-validation over sites.
const CLEAR: f32 = 0.8;
/// Odds that a line of a clear page must have before it counts as likely.
const DOUBT: f32 = 0.3;
/// What the doubtful lines of one tag path count together at most, as a share of all that is likely: .15 to .5 are alike.
const DOUBTFUL: f32 = 0.3;
/// Lines below these odds are never kept, however poor the page.
pub(super) const FLOOR: f32 = -3.0;

/// What each line counts: its tokens, but doubtful lines of one tag path at most [`DOUBTFUL`] of what is likely, or the longest
/// of them. They are text or not as one, so that being many does not make them better.
pub(super) fn count_tokens(lines: &[Line], odds: &[f32]) -> Vec<f32> {
    let mut likely = 0.0;
    // Of each path all tokens and those of the longest line.
    let mut doubtful: Vec<(f32, f32)> = Vec::new();
    for (line, odds) in lines.iter().zip(odds) {
        let (path, tokens) = (line.path as usize, line.all.tokens as f32);
        if *odds >= 0.0 {
            likely += tokens;
            continue;
        }
        if doubtful.len() <= path {
            doubtful.resize(path + 1, (0.0, 0.0));
        }
        let (all, longest) = &mut doubtful[path];
        (*all, *longest) = (*all + tokens, longest.max(tokens));
    }
    let both = lines.iter().zip(odds);
    both.map(|(line, odds)| {
        let tokens = line.all.tokens as f32;
        match doubtful.get(line.path as usize) {
            Some((all, longest)) if *odds < 0.0 && likely > 0.0 => {
                tokens * ((likely * DOUBTFUL).max(*longest) / all).min(1.0)
            }
            _ => tokens,
        }
    })
    .collect()
}

/// The lines to keep, and the F1 to be expected of them. A clear page is cut a second time with lower odds: what is
/// doubtful next to a clear text is rarely part of it.
pub(super) fn select(tokens: &[f32], odds: &[f32]) -> (Vec<usize>, f32) {
    let (lines, expected) = find_cut(tokens, odds);
    if expected < CLEAR {
        return (lines, expected);
    }
    let lower: Vec<f32> = odds.iter().map(|o| o - DOUBT).collect();
    (find_cut(tokens, &lower).0, expected)
}

/// Of all cuts through the lines in order of odds, the one with the greatest expected F1,
/// `2 Σ kept t·p / (Σ kept t + Σ all t·p)`: a page of clear odds is cut near one half; on a page where every
/// line is doubtful the likeliest ones stay.
fn find_cut(tokens: &[f32], odds: &[f32]) -> (Vec<usize>, f32) {
    let mut order: Vec<usize> = (0..odds.len()).filter(|i| odds[*i] > FLOOR).collect();
    order.sort_by(|a, b| odds[*b].total_cmp(&odds[*a]).then(a.cmp(b)));
    let weight = |i: usize| tokens[i] * probability(odds[i]);
    let wanted: f32 = (0..odds.len()).map(weight).sum();
    let (mut hit, mut kept) = (0.0f32, 0.0f32);
    let mut best = (0.0f32, 0);
    for (n, i) in order.iter().enumerate() {
        hit += weight(*i);
        kept += tokens[*i];
        let expected = 2.0 * hit / (kept + wanted).max(1.0);
        if expected >= best.0 {
            best = (expected, n + 1);
        }
    }
    let mut lines = order;
    lines.truncate(best.1);
    lines.sort_unstable();
    (lines, best.0)
}

/// Mean of the odds of some lines; 0 of none.
pub(super) fn mean_odds(odds: &[f32], range: std::ops::Range<usize>) -> f32 {
    let odds = odds.get(range).unwrap_or_default();
    odds.iter().sum::<f32>() / odds.len().max(1) as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines::outline::Outline;
    use crate::page::{Hints, Page};

    #[test]
    fn judgement_many_doubtful_lines() {
        let story = "<p>储气库扩建工程日前通过验收，注气能力比去年提高三成，现场设备运行平稳。</p>"
            .repeat(3);
        let towns = "<ul><li>最高气温 31 度，最低气温 18 度</li></ul>".repeat(300);
        let page = Page::parse(format!("{story}{towns}").as_bytes(), Hints::default());
        let lines = Outline::new(&page, false).lines;
        let odds: Vec<f32> = (0..lines.len())
            .map(|i| if i < 3 { 0.6 } else { -0.6 })
            .collect();
        assert_eq!(select(&count_tokens(&lines, &odds), &odds).0, [0, 1, 2]);
        // Where nothing is likely, the doubtful lines are all there is.
        let doubtful = vec![-0.6; lines.len()];
        assert_eq!(
            select(&count_tokens(&lines, &doubtful), &doubtful).0.len(),
            lines.len()
        );
    }
}
