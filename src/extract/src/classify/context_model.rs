//! The context model: log-odds of each line by boosted trees over the features of the line, its surroundings and the page
//! type. Every judgement can be explained feature by feature.

use super::context::PageContext;
use super::features::FeatureVector;
use super::learned::Weights;
use super::line_model::{LineModel, RULED_OUT};
use super::list_page::ListPage;
use super::page_type;
use super::page_type::PageType;
use super::trees;
use crate::body::proposal::ProposedLine;

/// Odds of a line alone below which nothing around it makes it text: half of the lines of a page need no more judging.
const HOPELESS: f32 = -4.5;
/// What the trees are asked of line `i`: its features in context, the type of its page, some of its features alone.
fn fill<const NAMED: bool>(
    context: &PageContext<'_>,
    lines: &LineModel,
    types: &PageType,
    weights: &Weights,
    i: usize,
    vector: &mut FeatureVector<NAMED>,
) {
    vector.rewind();
    context.fill(i, vector);
    for (name, p) in page_type::FEATURES.iter().zip(types.0) {
        vector.put(name, p);
    }
    for (at, value) in weights.kept.iter().zip(lines.kept(i)) {
        vector.put(weights.first[usize::from(*at)].0, *value);
    }
}

/// Log-odds of line `i` on a page that is no list; `vector` is there to be filled.
fn alone(
    context: &PageContext<'_>,
    lines: &LineModel,
    types: &PageType,
    weights: &Weights,
    i: usize,
    vector: &mut FeatureVector,
) -> f32 {
    if lines.odds[i] < HOPELESS {
        return HOPELESS;
    }
    fill(context, lines, types, weights, i, vector);
    trees::log_odds(&vector.row, weights.bias, &weights.trees) + types.leaning()
}

/// Log-odds of every line, now that the others' are known; those that the ratios rule out are not looked at.
pub(crate) fn line_log_odds(
    context: &PageContext<'_>,
    lines: &LineModel,
    types: &PageType,
    weights: &Weights,
    proposed: &[ProposedLine],
) -> Vec<f32> {
    let list = ListPage::new(context.view(), types);
    let mut vector = FeatureVector::default();
    let judge = |(i, line): (usize, &ProposedLine)| {
        if line.is_ruled_out() {
            return RULED_OUT;
        }
        let odds = alone(context, lines, types, weights, i, &mut vector);
        list.drawn(i, odds) + line.lean()
    };
    proposed.iter().enumerate().map(judge).collect()
}

/// What each feature adds to the `odds` of line `i`: a tree's vote is shared among what it asks for.
pub(crate) fn explain_line(
    context: &PageContext<'_>,
    lines: &LineModel,
    types: &PageType,
    weights: &Weights,
    i: usize,
    odds: f32,
) -> Vec<(&'static str, f32)> {
    let mut vector = FeatureVector::with_names();
    fill(context, lines, types, weights, i, &mut vector);
    let names = vector.names;
    let shares = trees::shares(&vector.row, &weights.trees);
    let name = |at: u16| names.get(usize::from(at)).copied().unwrap_or_default();
    let drawn = odds
        - alone(
            context,
            lines,
            types,
            weights,
            i,
            &mut FeatureVector::default(),
        );
    let page = [
        ("leaning of the type", types.leaning()),
        ("place on a list", drawn),
    ];
    let shares = shares.into_iter().map(|(at, share)| (name(at), share));
    shares.chain(page).collect()
}
