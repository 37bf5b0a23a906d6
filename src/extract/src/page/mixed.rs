//! Pages whose bytes change charset on the way: a GBK include in a UTF-8 page, or the reverse. In: stretches of bytes
//! between two marks of markup. Out: which of them are in the other charset, and their text. Never looks at a page
//! as a whole, and guesses but a few times a page.

use encoding_rs::Encoding;

use super::evidence::{Utf8Evidence, guess};

/// A stretch that has not ended after so many bytes is judged as it stands.
pub(super) const STRETCH_BYTES: usize = 4096;
/// So many guesses at most for one page: each costs as much as some kilobytes of parsing.
const GUESSES: u8 = 16;
/// From so many bytes of text on a guess holds for the rest of the page.
const SURE_BYTES: usize = 48;
/// And more than this say nothing new.
const SAMPLE_BYTES: usize = 2048;

/// Ends a stretch. These bytes are no part of a longer character in any charset of pages but UTF-16 and ISO-2022-JP.
pub(super) fn ends_stretch(byte: u8) -> bool {
    matches!(byte, b'<' | b'>' | b'"' | b'\n')
}

/// The stretches of some bytes.
fn stretches(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split_inclusive(|&b| ends_stretch(b))
}

/// A quick look at the first byte of a stretch that is not ASCII: false when it cannot be UTF-8 text.
pub(super) fn may_be_utf8(text: &[u8], single_byte: bool) -> bool {
    let continues = |at: usize| text.get(at).is_some_and(|b| b & 0xC0 == 0x80);
    match text.first() {
        Some(0xE3..=0xEF) => continues(1) && continues(2),
        Some(0xC3..=0xDF) => single_byte && continues(1),
        _ => false,
    }
}

/// The stretch as UTF-8 when it can be nothing else. Double-byte charsets form a sequence or two by chance, but not
/// a whole stretch of Chinese, Japanese or Korean; in single-byte ones no two in a row make sense.
pub(super) fn utf8_text(text: &[u8], single_byte: bool) -> Option<&str> {
    let text = std::str::from_utf8(text).ok()?;
    let (mut sequences, mut long, mut east_asian) = (0usize, 0usize, 0usize);
    for char in text.chars().filter(|c| !c.is_ascii()) {
        sequences += 1;
        long += usize::from(char.len_utf8() > 2);
        east_asian += usize::from(
            matches!(char, '\u{3000}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7A3}' | '\u{FF00}'..='\u{FFEF}'),
        );
    }
    let is_sure = if single_byte {
        sequences >= 2
    } else {
        long >= 3 || (long == 2 && east_asian == sequences)
    };
    is_sure.then_some(text)
}

/// Bytes outside ASCII in the stretches that are UTF-8, and all the other stretches.
pub(super) fn without_utf8(bytes: &[u8]) -> (usize, Vec<u8>) {
    let (mut utf8, mut rest) = (0, Vec::new());
    for stretch in stretches(bytes) {
        let ascii = Encoding::ascii_valid_up_to(stretch);
        let text = stretch.get(ascii..).unwrap_or_default();
        if may_be_utf8(text, false) && utf8_text(text, false).is_some() {
            utf8 += others(text);
        } else {
            rest.extend_from_slice(stretch);
        }
    }
    (utf8, rest)
}

/// Bytes outside ASCII.
pub(super) fn others(bytes: &[u8]) -> usize {
    bytes.iter().filter(|b| !b.is_ascii()).count()
}

/// The second charset of a page that is UTF-8 for the most part.
pub(super) struct Second {
    /// Declared for the page, and wrongly.
    declared: Option<&'static Encoding>,
    tld: Option<Vec<u8>>,
    found: Option<&'static Encoding>,
    guesses: u8,
}

impl Second {
    pub(super) fn new(declared: Option<&'static Encoding>, tld: Option<Vec<u8>>) -> Self {
        Self {
            declared,
            tld,
            found: None,
            guesses: 0,
        }
    }

    /// Text of a stretch that is not valid UTF-8, if another charset reads it; `rest` is what follows it.
    pub(super) fn decode(&mut self, stretch: &[u8], rest: &[u8]) -> Option<String> {
        let evidence = Utf8Evidence::of(stretch);
        // One broken character is one broken character.
        let is_other = evidence.errors >= 2 || (self.found.is_some() && evidence.errors == 1);
        if !is_other || evidence.errors <= evidence.sequences {
            return None;
        }
        let encoding = match (self.found, self.declared) {
            (Some(found), _) => found,
            (None, Some(declared)) => declared,
            (None, None) => self.guess(stretch, rest)?,
        };
        let (text, errors) = encoding.decode_without_bom_handling(stretch);
        (!errors).then(|| text.into_owned())
    }

    fn guess(&mut self, stretch: &[u8], rest: &[u8]) -> Option<&'static Encoding> {
        if self.guesses >= GUESSES {
            return None;
        }
        self.guesses += 1;
        let mut sample = stretch.to_vec();
        for next in stretches(rest) {
            if sample.len() >= SAMPLE_BYTES {
                break;
            }
            if std::str::from_utf8(next).is_err() {
                sample.extend_from_slice(next);
            }
        }
        let guessed = guess(&sample, self.tld.as_deref());
        if others(&sample) >= SURE_BYTES {
            self.found = Some(guessed);
        }
        Some(guessed)
    }
}
