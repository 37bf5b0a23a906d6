//! What surrounds candidates. In: a corpus and its candidates. Out: for each the entropy of what stands before and
//! behind it: what can be followed by anything is a unit, what is always followed by the same is a part.
//!
//! `H = −Σ p(x) log2 p(x)` over the neighbouring characters `x`; the end of a sentence, and each mark or number, is a
//! neighbour of its own kind.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use super::corpus::{Corpus, Token};
use super::count::for_each_run;
use super::hash::{AsIs, ByHash};

/// Occurrences of a candidate that are looked at: as many show the entropy up to the 5 bits that matter.
const MAX_SEEN: u32 = 512;

/// Entropy in bits before and behind a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Freedom {
    pub(super) left: f64,
    pub(super) right: f64,
}

/// The entropies of candidates, given as the index of each by its hash; none if `go_on` said no.
pub(super) fn freedom(
    corpus: &Corpus,
    index_of: &ByHash<u32>,
    go_on: &mut dyn FnMut() -> bool,
) -> Option<Vec<Freedom>> {
    let mut seen = vec![0u32; index_of.len()];
    let mut alone = vec![(0u32, 0u32); index_of.len()];
    let mut beside: HashMap<u64, u32, BuildHasherDefault<AsIs>> = HashMap::default();
    let done = for_each_run(corpus, go_on, |_, run| {
        let Some(&index) = index_of.get(&run.hash) else {
            return;
        };
        let (Some(seen), Some(alone)) =
            (seen.get_mut(index as usize), alone.get_mut(index as usize))
        else {
            return;
        };
        if *seen == MAX_SEEN {
            return;
        }
        *seen += 1;
        let before = neighbour(corpus, run.before, |text| text.chars().next_back());
        let after = neighbour(corpus, run.after, |text| text.chars().next());
        match before {
            Some(c) => *beside.entry(key(index, 0, c)).or_default() += 1,
            None => alone.0 += 1,
        }
        match after {
            Some(c) => *beside.entry(key(index, 1, c)).or_default() += 1,
            None => alone.1 += 1,
        }
    });
    if !done {
        return None;
    }
    let mut sums = vec![(0.0, 0.0); index_of.len()];
    // Sums of floating point numbers depend on their order: sort.
    let mut beside: Vec<(u64, u32)> = beside.into_iter().collect();
    beside.sort_unstable();
    for (key, count) in beside {
        let (index, right) = (key >> 22, key & (1 << 21) != 0);
        let index = usize::try_from(index).unwrap_or_default();
        let (Some(sum), Some(&seen)) = (sums.get_mut(index), seen.get(index)) else {
            continue;
        };
        let share = f64::from(count) / f64::from(seen);
        let bits = -share * share.log2();
        if right {
            sum.1 += bits;
        } else {
            sum.0 += bits;
        }
    }
    let ends = seen.iter().zip(&alone).zip(&sums);
    let whole = |sum: f64, alone: u32, seen: u32| match seen {
        0 => 0.0,
        seen => sum + f64::from(alone) / f64::from(seen) * f64::from(seen).log2(),
    };
    let freedom = ends.map(|((&seen, alone), sum)| Freedom {
        left: whole(sum.0, alone.0, seen),
        right: whole(sum.1, alone.1, seen),
    });
    Some(freedom.collect())
}

/// The character of a neighbour that touches the candidate; none at the end of a sentence and for marks.
fn neighbour(
    corpus: &Corpus,
    token: Option<&Token>,
    touching: impl Fn(&str) -> Option<char>,
) -> Option<char> {
    let c = touching(&corpus.word(*token?).text)?;
    c.is_alphabetic().then_some(c)
}

/// A candidate, a side and a character in one number.
fn key(index: u32, side: u64, c: char) -> u64 {
    (u64::from(index) << 22) | (side << 21) | u64::from(c)
}
