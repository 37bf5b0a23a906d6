//! Sketches of texts: 48 small numbers of which two alike texts share many. In: the letters of a text. Out: a
//! [`Sketch`]. Says how alike two texts seem; whether they are reprints, `reprints` decides on the texts.
//!
//! One permutation hashing (Li, Owen and Zhang, "One Permutation Hashing", NIPS 2012): each run of five letters is
//! hashed once, the hash falls into one of 48 bins, and each bin keeps its least. The share of equal bins estimates
//! the Jaccard resemblance of the sets of runs (Broder, "On the resemblance and containment of documents", 1997).

use xxhash_rust::xxh3::xxh3_64;

/// Bins of a sketch: edits of a fifth of all letters leave some nine equal, two texts of one field share one.
pub(super) const BINS: usize = 48;
/// Letters of a run: long enough that two texts rarely share one by chance, short enough that it outlives edits.
pub(super) const RUN: usize = 5;
/// Least letters of a text that has a sketch: shorter ones are alike by chance.
pub(super) const LEAST_LETTERS: usize = 60;
/// Letters of a text that are looked at.
const MOST_LETTERS: usize = 20_000;
/// A bin that nothing fell into.
const EMPTY: u16 = u16::MAX;

/// What is kept of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sketch(pub(super) [u16; BINS]);

impl Sketch {
    /// The sketch of a text's letters (see [`letters`]); none for a short text.
    pub(super) fn of(letters: &[char]) -> Option<Self> {
        if letters.len() < LEAST_LETTERS {
            return None;
        }
        let mut least = [u64::MAX; BINS];
        for run in runs(letters) {
            let bin = (((run >> 32) * BINS as u64) >> 32) as usize;
            if let Some(least) = least.get_mut(bin) {
                *least = (*least).min(run);
            }
        }
        let value = |hash: u64| match hash {
            u64::MAX => EMPTY,
            // Low bits: the high ones of a least are all alike.
            hash => (hash as u16).min(EMPTY - 1),
        };
        Some(Self(least.map(value)))
    }

    /// Bins that two sketches share.
    pub(super) fn shared(&self, other: &Self) -> usize {
        let pairs = self.0.iter().zip(&other.0);
        pairs.filter(|(a, b)| a == b && **a != EMPTY).count()
    }

    /// The value of a bin, if it has one.
    pub(super) fn bin(&self, bin: usize) -> Option<u16> {
        self.0.get(bin).copied().filter(|&value| value != EMPTY)
    }

    /// Four bins a number, for the index.
    pub(super) fn packed(&self) -> impl Iterator<Item = u64> {
        self.0.chunks(4).map(|four| {
            let fold = |all: u64, bin: &u16| all << 16 | u64::from(*bin);
            four.iter().fold(0, fold)
        })
    }

    /// A sketch from its packed form; none if it is not one.
    pub(super) fn unpacked(packed: impl Iterator<Item = u64>) -> Option<Self> {
        let mut bins = Vec::with_capacity(BINS);
        for four in packed {
            bins.extend([48, 32, 16, 0].map(|shift| (four >> shift) as u16));
        }
        bins.try_into().ok().map(Self)
    }
}

/// Letters and digits of a text in normal form, without what stands between them.
pub(super) fn letters(normal: &str) -> Vec<char> {
    let letters = normal.chars().filter(|c| c.is_alphanumeric());
    letters.take(MOST_LETTERS).collect()
}

/// Hashes of all runs of letters, in order.
pub(super) fn runs(letters: &[char]) -> impl Iterator<Item = u64> {
    letters.windows(RUN).map(|run| {
        let mut bytes = [0; RUN * 3];
        for (c, three) in run.iter().zip(bytes.chunks_mut(3)) {
            three.copy_from_slice(&u32::from(*c).to_le_bytes()[..3]);
        }
        xxh3_64(&bytes)
    })
}
