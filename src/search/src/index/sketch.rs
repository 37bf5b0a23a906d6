//! Sketches of texts: 32 small numbers of which two alike texts share many. In: the letters of a text. Out: a
//! [`Sketch`]. Says how alike two texts seem; whether they are reprints, `alike` decides on the texts.
//!
//! One permutation hashing (Li, Owen and Zhang, "One Permutation Hashing", NIPS 2012): each run of five letters is
//! hashed once, the hash falls into one of 32 bins, and each bin keeps its least. The share of equal bins estimates
//! the Jaccard resemblance of the sets of runs (Broder, "On the resemblance and containment of documents", 1997).

/// Bins of a sketch: edits of a fifth of all letters leave some six equal, two texts of one field share one.
pub(super) const BINS: usize = 32;
/// Letters of a run: long enough that two texts rarely share one by chance, short enough that it outlives edits.
const RUN: usize = 5;
/// Least letters of a text that has a sketch: shorter ones are alike by chance.
pub(super) const LEAST_LETTERS: usize = 60;
/// Letters of a text that are looked at.
const MOST_LETTERS: usize = 20_000;
/// A bin that nothing fell into.
const EMPTY: u16 = u16::MAX;
/// Base of the polynomial that a run is: any odd number whose powers look random.
const BASE: u64 = 0x9E37_79B9_7F4A_7C15;
/// What the first letter of a run was multiplied with before it leaves.
const FIRST: u64 = BASE.wrapping_pow(RUN as u32 - 1);

/// What is kept of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sketch([u16; BINS]);

impl Sketch {
    /// The sketch of a text's letters (see [`letters`]); none for a short text.
    pub(super) fn of(letters: &[u16]) -> Option<Self> {
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

    /// The bins that have a value, in order.
    pub(super) fn bins(&self) -> impl Iterator<Item = (usize, u16)> {
        let bins = self.0.into_iter().enumerate();
        bins.filter(|(_, value)| *value != EMPTY)
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

/// Letters and digits of a text in normal form, without what stands between them, each as sixteen bits: characters
/// of the rare planes may look like others, which changes no decision about a whole text.
pub(super) fn letters(normal: &str) -> Vec<u16> {
    let mut letters = Vec::with_capacity(normal.len() / 3);
    for c in normal.chars() {
        if letters.len() == MOST_LETTERS {
            break;
        }
        if is_letter(c) {
            let code = u32::from(c);
            letters.push((code ^ (code >> 16)) as u16);
        }
    }
    letters
}

fn is_letter(c: char) -> bool {
    match c {
        '\u{4E00}'..='\u{9FFF}' => true,
        c if c.is_ascii() => c.is_ascii_alphanumeric(),
        c => c.is_alphanumeric(),
    }
}

/// Hashes of all runs of letters, in order.
pub(super) fn runs(letters: &[u16]) -> impl Iterator<Item = u64> {
    let (head, tail) = letters.split_at(letters.len().min(RUN - 1));
    let push = |run: u64, letter: &u16| run.wrapping_mul(BASE).wrapping_add(u64::from(*letter) + 1);
    let mut run = head.iter().fold(0, push);
    letters.iter().zip(tail).map(move |(first, last)| {
        let whole = push(run, last);
        run = whole.wrapping_sub((u64::from(*first) + 1).wrapping_mul(FIRST));
        mixed(whole)
    })
}

/// Spreads a number over all bits (the end of MurmurHash3, Appleby).
fn mixed(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    hash ^ (hash >> 33)
}
