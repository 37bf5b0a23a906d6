//! Compares two documents: whether they are reprints of one, and how much they agree. Never looks anything up.
//!
//! Two texts are reprints when two thirds of them are the same: in runs of five letters, whatever their order (the
//! coefficient of Ochiai, 1957: common runs over the geometric mean of both counts), or letter by letter in one order,
//! which outlives edits all over the text, perhaps with its parts moved. Documents made from one form share that much
//! and are not: their titles, their numbers or the names in them differ ([`super::titles`], [`super::subject`]).

use std::cell::OnceCell;
use std::sync::OnceLock;

use xxhash_rust::xxh3::xxh3_64;

use super::reprints::{letters, runs};
use super::subject::Subject;
use super::titles::Titles;
use crate::analyze::normalize_document;
use crate::index::stored::{head, host_of};
use taojin_extract::Document;
use taojin_extract::similarity::lcs_step;

/// Runs that two reprints have in common, against the geometric mean of both counts.
const SHARED_RUNS: f64 = 0.66;
/// The same under titles that have little in common.
const SHARED_RUNS_OTHER_TITLE: f64 = 0.7;
/// The same of what one outlet has under two titles, or anyone under titles of one form.
const SHARED_RUNS_OTHER_SUBJECT: f64 = 0.95;
/// Least runs in common against the longer text: more around a quoted text make another one.
const SHARED_OF_LONGER: f64 = 0.45;
/// Share of the letters of the longer text that stand in the other in the same order.
const SHARED_LETTERS: f64 = 0.73;
/// The same when parts of the text may stand elsewhere: chance finds a tenth more.
const SHARED_MOVED: f64 = 0.76;
/// The same under titles that have little in common.
const SHARED_LETTERS_OTHER_TITLE: f64 = 0.82;
/// Share of runs and share of letters together that tell as much as one of them.
const SHARED_BOTH: f64 = 1.14;
/// Runs of five that two reprints share at least: edits of a fifth of all letters leave a fifth of the runs.
const LEAST_RUNS: f64 = 0.15;
/// Letters that are compared one by one.
const COMPARED_LETTERS: usize = 4_000;
/// Bytes of a title that are looked at.
const TITLE_BYTES: usize = 300;

/// What documents are compared by.
#[derive(Debug)]
pub(crate) struct Text {
    /// Letters of the text, as [`letters`] gives them.
    pub(crate) letters: Vec<u16>,
    /// Title in normal form.
    title: Box<str>,
    /// Hash of the site's name.
    site: u64,
    /// Different runs of the letters, counted when somebody asks: a text that others are compared with is asked often.
    different_runs: OnceLock<usize>,
}

impl Text {
    /// Of a document whose text is this in normal form.
    pub(crate) fn new(document: &Document, normal: &str) -> Self {
        let title = document.title.as_deref().unwrap_or_default();
        let host = host_of(&document.url);
        Self {
            letters: letters(normal),
            title: normalize_document(head(title, TITLE_BYTES)).into(),
            site: xxh3_64(document.site.as_deref().unwrap_or(&host).as_bytes()),
            different_runs: OnceLock::new(),
        }
    }

    fn count_runs(&self) -> usize {
        *self
            .different_runs
            .get_or_init(|| Runs::new(&self.letters).count)
    }
}

/// A text made ready to be compared with many.
pub(crate) struct Model<'t> {
    text: &'t Text,
    runs: Runs,
    subject: OnceCell<Subject>,
    places: OnceCell<Places>,
}

impl<'t> Model<'t> {
    pub(crate) fn new(text: &'t Text) -> Self {
        let runs = Runs::new(&text.letters);
        // Others are compared with it later.
        text.different_runs.get_or_init(|| runs.count);
        Self {
            text,
            runs,
            subject: OnceCell::new(),
            places: OnceCell::new(),
        }
    }

    /// How much of the runs two reprints of one share; none where they are not reprints.
    pub(crate) fn agreement(&self, other: &Text) -> Option<f64> {
        let titles = Titles::new(&self.text.title, &other.title);
        if titles == Titles::Series {
            return None;
        }
        if self.text.letters == other.letters {
            return Some(1.0);
        }
        let common = self.runs.count_common(&other.letters) as f64;
        // Most texts share little, which is known before the runs of the other are counted.
        if common / (self.runs.count.max(1) as f64) < LEAST_RUNS {
            return None;
        }
        let (fewer, more) = ordered(self.runs.count, other.count_runs());
        if common / more < LEAST_RUNS {
            return None;
        }
        let runs = common / (fewer * more).sqrt();
        let own_title = self.text.site == other.site && titles == Titles::Other;
        let (least_runs, least_letters) = match titles {
            Titles::Form => (SHARED_RUNS_OTHER_SUBJECT, None),
            Titles::Other if own_title => (SHARED_RUNS_OTHER_SUBJECT, None),
            Titles::Other => {
                let letters = SHARED_LETTERS_OTHER_TITLE;
                (SHARED_RUNS_OTHER_TITLE, Some((letters, letters, 2.0)))
            }
            _ => {
                let letters = (SHARED_LETTERS, SHARED_MOVED, SHARED_BOTH - runs);
                (SHARED_RUNS, Some(letters))
            }
        };
        let same_runs = common / more >= SHARED_OF_LONGER && runs >= least_runs;
        let same = same_runs || least_letters.is_some_and(|least| self.same_letters(other, least));
        let subject = || {
            self.subject
                .get_or_init(|| Subject::new(&self.text.letters))
        };
        let other_subject = || subject().is_other(&Subject::new(&other.letters), runs);
        (same && !other_subject()).then_some(runs)
    }

    /// Whether the longest common subsequence of the letters is so much of the longer text: as they stand; with the
    /// other text read twice, which has its halves in either order; or as they stand, with what the runs say. Texts of
    /// few different letters have most of them in common by chance.
    fn same_letters(&self, other: &Text, (straight, moved, both): (f64, f64, f64)) -> bool {
        let (own, other) = (beginning(&self.text.letters), beginning(&other.letters));
        if !is_chinese(own) || !is_chinese(other) {
            return false;
        }
        let (_, more) = ordered(own.len(), other.len());
        let places = self.places.get_or_init(|| Places::new(own));
        let rows = places.rows(other);
        let mut unmatched = vec![u64::MAX; places.words];
        let mut share = || places.matched(&rows, &mut unmatched) as f64 / more;
        share() >= straight.min(both) || share() >= moved
    }
}

/// Whether at least half of the letters are Chinese characters.
fn is_chinese(letters: &[u16]) -> bool {
    let chinese = letters
        .iter()
        .filter(|letter| (0x4E00..=0x9FFF).contains(*letter));
    chinese.count() * 2 >= letters.len()
}

fn beginning(letters: &[u16]) -> &[u16] {
    letters.get(..COMPARED_LETTERS).unwrap_or(letters)
}

fn ordered(a: usize, b: usize) -> (f64, f64) {
    (a.min(b).max(1) as f64, a.max(b).max(1) as f64)
}

/// The different runs of a text by their hashes: a table that is searched from the place that the high bits of a hash name. Its low bits
/// are those of a few letters, so that a text could be written whose runs all have the same.
struct Runs {
    /// [`Runs::NONE`], or a run; at least half of them are free, and their number is a power of two.
    table: Vec<u64>,
    /// How many there are.
    count: usize,
}

impl Runs {
    /// No run is this.
    const NONE: u64 = 0;

    fn new(letters: &[u16]) -> Self {
        let mut out = Self {
            table: vec![Self::NONE; (2 * letters.len()).next_power_of_two()],
            count: 0,
        };
        for run in Self::hashes(letters) {
            let at = out.find(run);
            if out.table[at] == Self::NONE {
                out.table[at] = run;
                out.count += 1;
            }
        }
        out
    }

    fn hashes(letters: &[u16]) -> impl Iterator<Item = u64> {
        runs(letters).map(|run| run.max(Self::NONE + 1))
    }

    /// The place of a run, or the free one where it would be.
    fn find(&self, run: u64) -> usize {
        let last = self.table.len() - 1;
        let mut at = (run >> 32) as usize & last;
        while self.table[at] != run && self.table[at] != Self::NONE {
            at = (at + 1) & last;
        }
        at
    }

    /// Returns how many runs these letters have, too.
    fn count_common(&self, letters: &[u16]) -> usize {
        let mut is_counted = vec![false; self.table.len()];
        let is_new = |run: &u64| {
            let at = self.find(*run);
            self.table[at] != Self::NONE && !std::mem::replace(&mut is_counted[at], true)
        };
        Self::hashes(letters).filter(is_new).count()
    }
}

/// For each letter of a text a mask of the places where it stands.
struct Places {
    alphabet: Vec<u16>,
    masks: Vec<u64>,
    words: usize,
}

impl Places {
    fn new(letters: &[u16]) -> Self {
        let mut alphabet = letters.to_vec();
        alphabet.sort_unstable();
        alphabet.dedup();
        let words = letters.len().div_ceil(64);
        let mut places = Self {
            masks: vec![0; alphabet.len() * words],
            alphabet,
            words,
        };
        for (at, letter) in letters.iter().enumerate() {
            if let Ok(row) = places.alphabet.binary_search(letter) {
                places.masks[row * words + at / 64] |= 1 << (at % 64);
            }
        }
        places
    }

    /// Where the masks of other letters begin; letters that do not stand in the text are left out.
    fn rows(&self, other: &[u16]) -> Vec<usize> {
        let row = |letter: &u16| self.alphabet.binary_search(letter).ok();
        let rows = other.iter().filter_map(row);
        rows.map(|row| row * self.words).collect()
    }

    /// Length of the longest common subsequence with what was read before (none: all bits of `unmatched` are set) and
    /// these rows, 64 letters at a time (Hyyrö, "Bit-parallel LCS-length computation revisited", 2004).
    fn matched(&self, rows: &[usize], unmatched: &mut [u64]) -> usize {
        for row in rows {
            lcs_step(unmatched, &self.masks[*row..][..self.words]);
        }
        let zeros: u32 = unmatched.iter().map(|word| word.count_zeros()).sum();
        zeros as usize
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn common_runs_counted_once(
            a in prop::collection::vec(0x4E00u16..0x4E08, 0..400),
            b in prop::collection::vec(0x4E00u16..0x4E10, 0..400),
        ) {
            let all = |letters: &[u16]| Runs::hashes(letters).collect::<BTreeSet<u64>>();
            let own = Runs::new(&a);
            prop_assert_eq!(own.count, all(&a).len());
            prop_assert_eq!(own.count_common(&b), all(&a).intersection(&all(&b)).count());
        }
    }
}
