//! What distinguishes a text from another that was made from the same form: its numbers by the places where they are,
//! the numbers of issues and papers, and the words it comes back to. Compares these of two texts, never how alike the
//! texts are.

use super::titles::number;

/// Numbers in the same places that must differ before they tell: one may be a slip.
const LEAST_DIFFERENT: usize = 2;
/// Standard deviations above what edits explain.
const BEYOND_EDITS: f64 = 3.0;
/// Letters of a word and how often the text comes back to it: a name, rarely anything else that a reprint would lose.
const REPEATED: [(usize, usize); 2] = [(2, 4), (3, 3)];
/// Letters of an ordinal that are read.
const ORDINAL: usize = 10;

/// What a text is about.
pub(crate) struct Subject {
    /// Numbers in the order of their places.
    numbers: Vec<Number>,
    /// `第76期`: the last letter and the number.
    ordinals: Vec<(char, u64)>,
    /// How often the text has each word, in order.
    words: Vec<(u64, usize)>,
}

/// A number and where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Number {
    /// Two letters before it and one behind it.
    place: u64,
    value: u64,
    digits: usize,
}

impl Subject {
    pub(crate) fn new(letters: &[u16]) -> Self {
        let windows = REPEATED.iter().flat_map(|(n, _)| letters.windows(*n));
        let mut words: Vec<u64> = windows.map(packed).collect();
        words.sort_unstable();
        let same = words.chunk_by(|a, b| a == b);
        Self {
            numbers: numbers(letters),
            ordinals: ordinals(letters),
            words: same.map(|words| (words[0], words.len())).collect(),
        }
    }

    /// Whether what two texts that share so much of their runs have in the same places, or come back to, is something
    /// else in each.
    pub(crate) fn is_other(&self, other: &Self, runs: f64) -> bool {
        self.other_numbers(other, runs) || self.other_ordinals(other) || self.other_words(other)
    }

    /// Whether more of the numbers in the same places differ than edits would spoil which leave so many of the runs: the
    /// normal approximation of the binomial distribution.
    fn other_numbers(&self, other: &Self, runs: f64) -> bool {
        let (mut compared, mut different, mut digits) = (0_usize, 0_usize, 0);
        let mut rest = other.numbers.as_slice();
        for own in self.numbers.chunk_by(|a, b| a.place == b.place) {
            let place = own.first().map_or(0, |number| number.place);
            let before = rest.partition_point(|number| number.place < place);
            rest = rest.get(before..).unwrap_or_default();
            let end = rest.partition_point(|number| number.place == place);
            let there = rest.get(..end).unwrap_or_default();
            let both = own.len().min(there.len());
            compared += both;
            digits += own
                .iter()
                .take(both)
                .map(|number| number.digits)
                .sum::<usize>();
            if own.iter().all(|number| !there.contains(number)) {
                different += both;
            }
        }
        // A run of five letters is there as long as none of them was edited; two of three edits, those that take a letter
        // away or put another in its place, spoil a digit.
        let edits = 1.0 - runs.powf(0.2);
        let compared = compared.max(1) as f64;
        let spoilt = (digits as f64 / compared * edits * 2.0 / 3.0).min(0.9);
        let by_chance = (compared * spoilt * (1.0 - spoilt)).sqrt();
        different >= LEAST_DIFFERENT
            && different as f64 > compared * spoilt + by_chance * BEYOND_EDITS
    }

    fn other_ordinals(&self, other: &Self) -> bool {
        let of = |all: &[(char, u64)], kind: char| -> Vec<u64> {
            let same = all.iter().filter(|(other, _)| *other == kind);
            same.map(|(_, number)| *number).collect()
        };
        ['期', '号', '批'].into_iter().any(|kind| {
            let (own, there) = (of(&self.ordinals, kind), of(&other.ordinals, kind));
            !own.is_empty() && !there.is_empty() && own.iter().all(|n| !there.contains(n))
        })
    }

    /// Each comes back to a word that the other does not have at all.
    fn other_words(&self, other: &Self) -> bool {
        self.has_own_word(other) && other.has_own_word(self)
    }

    fn has_own_word(&self, other: &Self) -> bool {
        let returns = |word: u64, count: usize| {
            let length = if word >> 32 == 0 { 2 } else { 3 };
            let least = REPEATED.iter().find(|(of, _)| *of == length);
            least.is_some_and(|(_, least)| count >= *least) && !has_digit(word)
        };
        let mut own = self.words.iter();
        let has = |word: &u64| other.words.binary_search_by_key(word, |(word, _)| *word);
        own.any(|(word, count)| returns(*word, *count) && has(word).is_err())
    }
}

/// A word of at most three letters as a number. No letter is 0.
fn packed(word: &[u16]) -> u64 {
    word.iter()
        .fold(0, |all, letter| all << 16 | u64::from(*letter))
}

fn has_digit(word: u64) -> bool {
    [0, 16, 32]
        .into_iter()
        .any(|shift| is_digit((word >> shift) as u16))
}

fn is_digit(letter: u16) -> bool {
    letter.wrapping_sub(u16::from(b'0')) < 10
}

fn numbers(letters: &[u16]) -> Vec<Number> {
    let mut all = Vec::new();
    let mut at = 0;
    while at < letters.len() {
        let rest = letters.get(at..).unwrap_or_default();
        let length = rest.iter().take_while(|letter| is_digit(**letter)).count();
        if length == 0 {
            at += 1;
            continue;
        }
        if let (Some(before), Some(behind)) = (
            at.checked_sub(2).and_then(|from| letters.get(from..at)),
            letters.get(at + length),
        ) {
            // What other numbers around it are does not change the place.
            let place = |letter: &u16| if is_digit(*letter) { 1 } else { *letter };
            let place = [place(&before[0]), before[1], *behind];
            let value =
                |value: u64, digit: &u16| value.wrapping_mul(11).wrapping_add(u64::from(*digit));
            all.push(Number {
                place: packed(&place),
                value: rest.iter().take(length).fold(1, value),
                digits: length,
            });
        }
        at += length;
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// Numbers of issues, papers and lots.
fn ordinals(letters: &[u16]) -> Vec<(char, u64)> {
    let first = '第' as u32;
    let begins = letters
        .iter()
        .enumerate()
        .filter(|(_, c)| u32::from(**c) == first);
    let ordinal = |(at, _): (usize, &u16)| {
        let rest = letters.iter().skip(at + 1).take(ORDINAL);
        let rest: Vec<char> = rest.filter_map(|c| char::from_u32(u32::from(*c))).collect();
        let (value, length) = number(&rest)?;
        Some((*rest.get(length)?, value))
    };
    begins.filter_map(ordinal).collect()
}
