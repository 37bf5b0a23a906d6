//! How likely a line is text. In: its features. Out: log-odds, first of each line alone, by weights that are added
//! up; then with what the first odds say of the page, by trees. Every judgement can be told feature by feature.

use super::context_features::Second;
use super::feature_vector::{COUNT, FeatureVector, Row};
use super::features::View;
use super::learned::Weights;
use super::page_type;
use super::page_type::PageType;
use super::trees;
use crate::body::list_page::ListPage;

/// Odds of a line alone below which nothing around it makes it text: half of the lines of a page need no more judging.
const HOPELESS: f32 = -4.5;
/// Weights are kept in thousandths.
const UNIT: f32 = 0.001;

/// Lines judged alone.
#[derive(Debug, Default)]
pub(crate) struct LineModel {
    /// Log-odds of each line.
    pub odds: Vec<f32>,
    /// The features that the trees ask for, line after line.
    kept: Vec<f32>,
    /// How many they are.
    width: usize,
}

impl LineModel {
    /// Judges every line alone.
    pub(crate) fn of(view: &View<'_>, weights: &Weights) -> Self {
        let lines = view.outline.lines.len();
        let width = weights.kept.len();
        let mut first = Self {
            odds: Vec::with_capacity(lines),
            kept: Vec::with_capacity(lines * width),
            width,
        };
        let factors = factors(&weights.first);
        let mut cells = FeatureVector::default();
        for i in 0..lines {
            view.follow(i, &mut cells);
            let row = &cells.row;
            first.odds.push(weigh(row, &factors));
            let kept = weights.kept.iter().map(|at| row[usize::from(*at)]);
            first.kept.extend(kept);
        }
        first
    }

    fn kept(&self, i: usize) -> &[f32] {
        self.kept
            .get(i * self.width..(i + 1) * self.width)
            .unwrap_or_default()
    }
}

/// What each feature of a row counts.
fn factors(weights: &[(&str, i16)]) -> Row {
    let mut factors = [0.0; COUNT];
    for (factor, (_, weight)) in factors.iter_mut().zip(weights) {
        *factor = f32::from(*weight);
    }
    factors
}

/// The sum of the weighted features, in several sums side by side, as processors add best.
fn weigh(row: &Row, factors: &Row) -> f32 {
    const SUMS: usize = 8;
    let mut sums = [0.0f32; SUMS];
    let pairs = row.chunks_exact(SUMS).zip(factors.chunks_exact(SUMS));
    for (values, factors) in pairs {
        for ((sum, value), factor) in sums.iter_mut().zip(values).zip(factors) {
            *sum += value * factor;
        }
    }
    sums.iter().sum::<f32>() * UNIT
}

/// What the trees are asked of line `i`: its second features, the type of its page, kept first features.
fn joint<const NAMED: bool>(
    second: &Second<'_>,
    first: &LineModel,
    types: &PageType,
    weights: &Weights,
    i: usize,
    cells: &mut FeatureVector<NAMED>,
) {
    cells.rewind();
    second.fill(i, cells);
    for (name, p) in page_type::FEATURES.iter().zip(types.0) {
        cells.put(name, p);
    }
    for (at, value) in weights.kept.iter().zip(first.kept(i)) {
        cells.put(weights.first[usize::from(*at)].0, *value);
    }
}

/// Log-odds of line `i` on a page that is no list; `cells` are there to be filled.
fn alone(
    second: &Second<'_>,
    first: &LineModel,
    types: &PageType,
    weights: &Weights,
    i: usize,
    cells: &mut FeatureVector,
) -> f32 {
    if first.odds[i] < HOPELESS {
        return HOPELESS;
    }
    joint(second, first, types, weights, i, cells);
    trees::log_odds(&cells.row, weights.bias, &weights.trees) + types.leaning()
}

/// Log-odds of every line, now that the others' are known.
pub(crate) fn second(
    second: &Second<'_>,
    first: &LineModel,
    types: &PageType,
    weights: &Weights,
) -> Vec<f32> {
    let list = ListPage::of(second.view(), types);
    let mut cells = FeatureVector::default();
    let judge = |i: usize| list.drawn(i, alone(second, first, types, weights, i, &mut cells));
    (0..first.odds.len()).map(judge).collect()
}

/// What each feature adds to the `odds` of line `i`: a tree's vote is shared among what it asks for.
pub(crate) fn reasons(
    second: &Second<'_>,
    first: &LineModel,
    types: &PageType,
    weights: &Weights,
    i: usize,
    odds: f32,
) -> Vec<(&'static str, f32)> {
    let mut cells = FeatureVector::with_names();
    joint(second, first, types, weights, i, &mut cells);
    let names = cells.names;
    let shares = trees::shares(&cells.row, &weights.trees);
    let name = |at: u16| names.get(usize::from(at)).copied().unwrap_or_default();
    let drawn = odds
        - alone(
            second,
            first,
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

/// Most questions that the trees may ask of first features: they are kept for every line.
pub(crate) const MOST_KEPT: usize = 56;
const _: () = assert!(super::weights::KEPT.len() <= MOST_KEPT);
