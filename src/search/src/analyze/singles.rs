//! Finds single characters that are words of their own: what pairs of characters do not hold (`油 价`), function words left
//! out. A character is one where it makes no word of the general dictionary with either neighbour. That needs no cutting: whether two
//! characters are a word is looked up once and remembered. It ranks as well as what a cut of the whole text leaves
//! alone. Never knows a lexicon: what is stored in the index must not depend on one, because a lexicon changes.

use super::cut::is_cjk;
use super::dictionary::{is_general_word, is_stop_word};

/// First and last of the main block of ideographs, the characters that can have a number.
const FIRST: char = '\u{4E00}';
const LAST: char = '\u{9FFF}';
/// Bits of a number. So many characters are nearly all of ordinary text, and the answers for their pairs take 4 MB.
const NUMBER_BITS: u32 = 12;

/// Not yet met, or of a script with spaces.
const NONE: u16 = 0;
/// One that came after all numbers were given, or that stands outside the block.
const UNNUMBERED: u16 = 1 << NUMBER_BITS;
/// Beside the number of a character that is a function word.
const STOP: u16 = 1 << (NUMBER_BITS + 1);

/// What is known of a pair, in two bits.
const ASKED: u8 = 1;
const WORD: u8 = 2;

/// Tells the single characters that are words, and remembers what it asked the dictionary.
pub struct Singles {
    /// For each ideograph its number, in the order in which they were met, with [`STOP`].
    numbers: Vec<u16>,
    given: u16,
    /// Four pairs a byte.
    pairs: Vec<u8>,
}

/// A character of the text, the last one that was looked at.
#[derive(Debug, Clone, Copy)]
struct Letter {
    start: usize,
    text: char,
    number: u16,
    is_stop_word: bool,
    /// It makes a word with the one before.
    in_pair: bool,
}

impl Default for Singles {
    fn default() -> Self {
        Self {
            numbers: vec![NONE; LAST as usize - FIRST as usize + 1],
            given: 0,
            pairs: vec![0; 1 << (2 * NUMBER_BITS - 2)],
        }
    }
}

impl Singles {
    /// The single characters of a text in normal form, in order. Whatever the lexicons say, they are the same.
    pub fn find_in(&mut self, normal: &str) -> String {
        let mut out = String::new();
        let mut held: Option<Letter> = None;
        for (start, text) in normal.char_indices() {
            let number = self.number(text);
            let mut letter = Letter {
                start,
                text,
                number: number & !STOP,
                is_stop_word: number & STOP != 0,
                in_pair: false,
            };
            if let Some(before) = held {
                letter.in_pair = letter.number != NONE && self.is_word(normal, before, letter);
                if !before.in_pair && !letter.in_pair && !before.is_stop_word {
                    out.push(before.text);
                }
            }
            held = (letter.number != NONE).then_some(letter);
        }
        if let Some(last) = held.filter(|last| !last.in_pair && !last.is_stop_word) {
            out.push(last.text);
        }
        out
    }

    fn number(&mut self, c: char) -> u16 {
        if !(FIRST..=LAST).contains(&c) {
            return if is_cjk(c) {
                UNNUMBERED | stop_mark(c)
            } else {
                NONE
            };
        }
        let number = &mut self.numbers[c as usize - FIRST as usize];
        if *number == NONE {
            self.given = (self.given + 1).min(UNNUMBERED);
            *number = self.given | stop_mark(c);
        }
        *number
    }

    /// Whether two neighbours are a word.
    fn is_word(&mut self, normal: &str, first: Letter, second: Letter) -> bool {
        let ask = || {
            let end = second.start + second.text.len_utf8();
            normal.get(first.start..end).is_some_and(is_general_word)
        };
        if first.number == UNNUMBERED || second.number == UNNUMBERED {
            return ask();
        }
        let pair = usize::from(first.number) << NUMBER_BITS | usize::from(second.number);
        let (four, shift) = (&mut self.pairs[pair / 4], pair % 4 * 2);
        if *four >> shift & ASKED == 0 {
            *four |= (ASKED | if ask() { WORD } else { 0 }) << shift;
        }
        *four >> shift & WORD != 0
    }
}

/// [`STOP`] for a function word.
fn stop_mark(c: char) -> u16 {
    if is_stop_word(c.encode_utf8(&mut [0; 4])) {
        STOP
    } else {
        0
    }
}
