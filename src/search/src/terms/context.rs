//! Computes the NC-value: the C-value, raised by the words that stand beside terms.
//!
//! NC-value (Frantzi, Ananiadou, Mima: Automatic recognition of multi-word terms, IJDL 3, 2000):
//! `NC(a) = 0.8 · C(a) + 0.2 · Σ f_a(b) · weight(b)` over the nouns, adjectives and verbs `b` beside `a`, where `f_a(b)` is how
//! often `b` stands there and `weight(b) = t(b) / n`: the share of the `n` candidates of highest C-value that `b` stands beside.
//! The paper leaves the width of the context open: here it is five words on each side, within the sentence.

use foldhash::{HashSet, HashSetExt as _};

use super::corpus::{Corpus, Token};
use super::count::Candidates;

/// Share of the C-value, and of the context.
const SHARES: (f64, f64) = (0.8, 0.2);
/// Candidates of highest C-value that tell which words stand beside terms.
const TOP_TERMS: usize = 200;
/// Words on each side that are the context.
const WINDOW: usize = 5;

/// How much a word says of what it stands beside: `terms` of the `considered` terms stand beside it.
pub fn context_weight(terms: u32, considered: u32) -> f64 {
    if considered == 0 {
        return 0.0;
    }
    f64::from(terms) / f64::from(considered)
}

/// The NC-value of a candidate. Each word of `context` comes with its times beside the candidate and its weight.
pub fn nc_value(c_value: f64, context: impl IntoIterator<Item = (u32, f64)>) -> f64 {
    let context = context.into_iter();
    let factor: f64 = context
        .map(|(times, weight)| f64::from(times) * weight)
        .sum();
    SHARES.0 * c_value + SHARES.1 * factor
}

/// The NC-values of candidates with these C-values; `None` if `go_on` said no.
pub(super) fn nc_values(
    corpus: &Corpus,
    candidates: &Candidates,
    c_values: &[f64],
    go_on: &mut dyn FnMut() -> bool,
) -> Option<Vec<f64>> {
    let mut order: Vec<usize> = (0..c_values.len()).collect();
    let value = |index: usize| c_values.get(index).copied().unwrap_or_default();
    order.sort_by(|&a, &b| value(b).total_cmp(&value(a)).then(a.cmp(&b)));
    order.truncate(TOP_TERMS);
    let mut is_top = vec![false; c_values.len()];
    for &index in &order {
        if let Some(top) = is_top.get_mut(index) {
            *top = true;
        }
    }
    // Term and word, each pair once.
    let mut beside: HashSet<(u32, u32)> = HashSet::new();
    let is_done = candidates.for_each_place(corpus, go_on, |index, before, after| {
        if is_top.get(index as usize).is_some_and(|top| *top) {
            let context = context(corpus, before, after);
            beside.extend(context.map(|token| (index, token.word)));
        }
    });
    if !is_done {
        return None;
    }
    let mut terms = vec![0u32; corpus.words().len()];
    for (_, word) in beside {
        if let Some(terms) = terms.get_mut(word as usize) {
            *terms += 1;
        }
    }
    let considered = u32::try_from(order.len()).unwrap_or(u32::MAX);
    let weights: Vec<f64> = terms
        .into_iter()
        .map(|terms| context_weight(terms, considered))
        .collect();
    let mut factors = vec![0.0; c_values.len()];
    let is_done = candidates.for_each_place(corpus, go_on, |index, before, after| {
        if let Some(factor) = factors.get_mut(index as usize) {
            let context = context(corpus, before, after);
            let weights = context.filter_map(|token| weights.get(token.word as usize));
            *factor += weights.sum::<f64>();
        }
    });
    let values = c_values.iter().zip(factors);
    let values = values.map(|(c_value, factor)| nc_value(*c_value, [(1, factor)]));
    is_done.then(|| values.collect())
}

/// The nouns, adjectives and verbs beside an occurrence.
fn context<'c>(
    corpus: &'c Corpus,
    before: &'c [Token],
    after: &'c [Token],
) -> impl Iterator<Item = &'c Token> {
    let before = before.iter().rev().take(WINDOW);
    let near = before.chain(after.iter().take(WINDOW));
    near.filter(|token| corpus.word(**token).is_content)
}
