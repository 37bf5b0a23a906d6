//! Computes the C-value of candidates: how much each is used on its own and is not only part of longer ones.
//!
//! C-value (Frantzi, Ananiadou, Mima: Automatic recognition of multi-word terms, IJDL 3, 2000):
//! `C(a) = log2|a| · (f(a) − t(a) / c(a))`, where `c(a)` is the number of longer candidates that hold `a` and `t(a)` how
//! often `a` occurs in them. Frantzi goes from the longest to the shortest and lets each longer one add only what is
//! not yet in a still longer one; the raw form adds the counts of all of them. `|a|` is counted in characters, because
//! where Chinese words end is itself a guess.

use serde::{Deserialize, Serialize};

use super::hash::{ByHash, Hash};

/// How occurrences inside longer candidates are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Nesting {
    /// Each occurrence once, in the longest candidate that holds it.
    #[default]
    Frantzi,
    /// In each candidate that holds it.
    Raw,
}

/// What nesting says of one candidate.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Nested {
    /// The C-value; below 0 when it almost never stands alone.
    pub c_value: f64,
    /// The NC-value, which the words beside the candidate raise; 0 where no text is known, as in [`c_values`].
    pub nc_value: f64,
    /// Mean occurrences in a longer candidate, as a share of all its occurrences; 0 when no longer one holds it.
    pub share: f64,
}

/// The C-values of candidates given as text and count, in the same order. Equal texts must not be given twice.
pub fn c_values(candidates: &[(&str, u32)], nesting: Nesting) -> Vec<Nested> {
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    let chars: Vec<Vec<char>> = candidates
        .iter()
        .map(|(text, _)| text.chars().collect())
        .collect();
    let length = |index: usize| chars.get(index).map_or(0, Vec::len);
    order.sort_by_key(|&index| std::cmp::Reverse(length(index)));
    let by_hash: ByHash<usize> = candidates
        .iter()
        .enumerate()
        .map(|(index, (text, _))| (Hash::new(text).value, index))
        .collect();
    // Occurrences in longer candidates, and how many of these there are.
    let mut within: Vec<(f64, u32)> = vec![(0.0, 0); candidates.len()];
    let mut out = vec![Nested::default(); candidates.len()];
    for index in order {
        let count = candidates
            .get(index)
            .map_or(0.0, |(_, count)| f64::from(*count));
        let (inside, holders) = within.get(index).copied().unwrap_or_default();
        let mean = if holders == 0 {
            0.0
        } else {
            inside / f64::from(holders)
        };
        if let Some(nested) = out.get_mut(index) {
            nested.c_value = (length(index).max(1) as f64).log2() * (count - mean);
            nested.share = if count > 0.0 { mean / count } else { 0.0 };
        }
        let adds = match nesting {
            Nesting::Frantzi => (count - inside).max(0.0),
            Nesting::Raw => count,
        };
        for part in parts(chars.get(index).map_or(&[], Vec::as_slice), &by_hash) {
            if let Some((sum, number)) = within.get_mut(part) {
                *sum += adds;
                *number += 1;
            }
        }
    }
    out
}

/// Candidates that are a proper part of this one, each once.
fn parts(text: &[char], by_hash: &ByHash<usize>) -> Vec<usize> {
    let mut found = Vec::new();
    for start in 0..text.len() {
        let mut hash = Hash::EMPTY;
        for (end, c) in text.iter().enumerate().skip(start) {
            hash = hash.join(Hash::new(c.encode_utf8(&mut [0; 4])));
            let whole = start == 0 && end + 1 == text.len();
            if let (false, Some(&part)) = (whole, by_hash.get(&hash.value))
                && !found.contains(&part)
            {
                found.push(part);
            }
        }
    }
    found
}
