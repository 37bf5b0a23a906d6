//! Converts learned weights and trees to [`Weights`], rounded.

use super::boost::{Forest, GrownTree};
use taojin_extract::learn::{DecisionTree, FeatureNames, Weights};

/// Weights are kept in thousandths.
const UNIT: f32 = 1_000.0;

/// What was learned, rounded as it is kept.
pub(super) fn to_weights(
    names: &FeatureNames,
    first: &[f32],
    page: &[Vec<f32>],
    forest: &Forest,
    kept: &[usize],
) -> Weights {
    let line = |(name, weight): (&&'static str, &f32)| (*name, thousandths(*weight));
    let of_page = |(k, name): (usize, &&'static str)| {
        (
            *name,
            std::array::from_fn(|class| thousandths(page[class][k])),
        )
    };
    Weights {
        first: names.first.iter().zip(first).map(line).collect(),
        page: names.page.iter().enumerate().map(of_page).collect(),
        kept: kept.iter().map(|k| *k as u16).collect(),
        bias: thousandths(forest.bias),
        trees: forest.trees.iter().map(to_tree).collect(),
        sources: Vec::new(),
    }
}

/// A tree that stopped early asks what nothing exceeds: the answer is always no.
fn to_tree(grown: &GrownTree) -> DecisionTree {
    let ask = |at| {
        let asked = grown.asks.get(at);
        asked.map_or((0, f32::MAX), |(f, least)| {
            (*f as u16, round_weights(*least))
        })
    };
    let vote = |at| grown.votes.get(at).map_or(0, |v| thousandths(*v));
    DecisionTree {
        asks: std::array::from_fn(ask),
        votes: std::array::from_fn(vote),
    }
}

fn thousandths(weight: f32) -> i16 {
    (weight * UNIT)
        .round()
        .clamp(f32::from(i16::MIN), f32::from(i16::MAX)) as i16
}

/// A cut, as exactly as it is kept.
fn round_weights(value: f32) -> f32 {
    (value * 1e4).round() / 1e4
}
