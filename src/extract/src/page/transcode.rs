//! Transcodes bytes of a known charset to UTF-8, block by block. Stretches in another charset, as in pages put together
//! from several sources (a GBK include in a UTF-8 page, or the reverse), are detected between two marks of markup by their
//! bytes. Bytes that do not decode become U+FFFD.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, ISO_2022_JP, UTF_8, UTF_16BE, UTF_16LE};

use crate::literals::count_bytes;

/// Slices of decoded text that are handed on.
const SLICE_BYTES: usize = 64 << 10;

/// Decodes a page whose charset is decided.
pub(super) enum Transcoder {
    Utf8 {
        /// The beginning of a character, or of a stretch in another charset.
        carry: Vec<u8>,
        second: SecondCharset,
    },
    Other {
        /// The beginning of a stretch that may be UTF-8.
        carry: Vec<u8>,
        legacy: Legacy,
    },
}

impl Transcoder {
    /// For a page in `encoding`. Where that is UTF-8, stretches may be in what was `declared` instead, or in a charset
    /// that is usual under the top-level domain.
    pub(super) fn new(
        encoding: &'static Encoding,
        declared: Option<&'static Encoding>,
        tld: Option<Vec<u8>>,
    ) -> Self {
        if encoding == UTF_8 {
            let declared = declared.filter(|e| *e != UTF_8);
            return Self::Utf8 {
                carry: Vec::new(),
                second: SecondCharset::new(declared, tld),
            };
        }
        Self::Other {
            carry: Vec::new(),
            legacy: Legacy {
                decoder: Box::new(encoding.new_decoder_without_bom_handling()),
                buffer: String::new(),
            },
        }
    }

    /// Decodes the next block.
    pub(super) fn write(&mut self, block: &[u8], last: bool, out: &mut dyn FnMut(&str)) {
        match self {
            Self::Utf8 { carry, second } => utf8(carry, second, block, last, out),
            Self::Other { carry, legacy } if legacy.is_ascii_compatible() => {
                legacy.write_mixed(carry, block, last, out);
            }
            Self::Other { legacy, .. } => legacy.write(block, last, out),
        }
    }
}

/// A charset that is not UTF-8.
pub(super) struct Legacy {
    decoder: Box<encoding_rs::Decoder>,
    buffer: String,
}

impl Legacy {
    /// Bytes below 0x80 stand for ASCII wherever they are.
    fn is_ascii_compatible(&self) -> bool {
        let encoding = self.decoder.encoding();
        ![UTF_16LE, UTF_16BE, ISO_2022_JP].contains(&encoding)
    }

    fn write(&mut self, bytes: &[u8], last: bool, out: &mut dyn FnMut(&str)) {
        self.buffer.reserve(bytes.len() * 3 + 64);
        let (_, read, _) = self.decoder.decode_to_string(bytes, &mut self.buffer, last);
        // The buffer holds the longest possible result, so all is read at once.
        debug_assert_eq!(read, bytes.len());
        emit(&self.buffer, out);
        self.buffer.clear();
    }

    /// The same, but for stretches that are UTF-8.
    fn write_mixed(
        &mut self,
        carry: &mut Vec<u8>,
        block: &[u8],
        last: bool,
        out: &mut dyn FnMut(&str),
    ) {
        let joined = join(carry, block);
        let bytes = joined.as_deref().unwrap_or(block);
        let single_byte = self.decoder.encoding().is_single_byte();
        let (mut done, mut at) = (0, 0);
        while at < bytes.len() {
            let rest = bytes.get(at..).unwrap_or_default();
            at += Encoding::ascii_valid_up_to(rest);
            let rest = bytes.get(at..).unwrap_or_default();
            let end = rest.iter().position(|&b| ends_stretch(b));
            let (stretch, _) = rest.split_at(end.unwrap_or(rest.len()));
            if may_be_utf8(stretch, single_byte) {
                if end.is_none() && !last && stretch.len() < STRETCH_BYTES {
                    self.write(bytes.get(done..at).unwrap_or_default(), false, out);
                    carry.extend_from_slice(rest);
                    return;
                }
                if let Some(text) = utf8_text(stretch, single_byte) {
                    self.write(bytes.get(done..at).unwrap_or_default(), false, out);
                    emit(text, out);
                    done = at + stretch.len();
                }
            }
            at += stretch.len().max(1);
        }
        self.write(bytes.get(done..).unwrap_or_default(), last, out);
    }
}

/// What was carried over with the next block after it; `None` when nothing was.
fn join(carry: &mut Vec<u8>, block: &[u8]) -> Option<Vec<u8>> {
    if carry.is_empty() {
        return None;
    }
    let mut joined = std::mem::take(carry);
    joined.extend_from_slice(block);
    Some(joined)
}

/// Decodes UTF-8 without a copy. A character that is split over blocks waits in `carry`, and so does a stretch with
/// broken characters until it is known whether it is in another charset.
fn utf8(
    carry: &mut Vec<u8>,
    second: &mut SecondCharset,
    block: &[u8],
    last: bool,
    out: &mut dyn FnMut(&str),
) {
    let joined = join(carry, block);
    let mut rest = joined.as_deref().unwrap_or(block);
    loop {
        let error = match simdutf8::compat::from_utf8(rest) {
            Ok(text) => return emit(text, out),
            Err(error) => error,
        };
        let (valid, bad) = rest.split_at(error.valid_up_to());
        if error.error_len().is_none() && !last {
            emit_valid(valid, out);
            carry.extend_from_slice(bad);
            return;
        }
        let start = valid
            .iter()
            .rposition(|&b| ends_stretch(b))
            .map_or(0, |at| at + 1);
        let end = bad.iter().position(|&b| ends_stretch(b));
        let (before, from) = rest.split_at(start);
        emit_valid(before, out);
        if end.is_none() && !last && from.len() < STRETCH_BYTES {
            carry.extend_from_slice(from);
            return;
        }
        let len = end.map_or(from.len(), |at| at + valid.len() - start);
        let (stretch, after) = from.split_at(len);
        match second.decode(stretch, after) {
            Some(text) => emit(&text, out),
            None => emit(&String::from_utf8_lossy(stretch), out),
        }
        rest = after;
    }
}

/// Hands on bytes that are known to be UTF-8.
pub(super) fn emit_valid(bytes: &[u8], out: &mut dyn FnMut(&str)) {
    if let Ok(text) = simdutf8::basic::from_utf8(bytes) {
        emit(text, out);
    }
}

/// Hands text on in bounded slices.
fn emit(text: &str, out: &mut dyn FnMut(&str)) {
    let mut rest = text;
    while rest.len() > SLICE_BYTES {
        let boundary = (0..=SLICE_BYTES)
            .rev()
            .find(|&at| rest.is_char_boundary(at));
        let (head, tail) = rest.split_at(boundary.unwrap_or(rest.len()));
        out(head);
        rest = tail;
    }
    if !rest.is_empty() {
        out(rest);
    }
}

/// A stretch that has not ended after so many bytes is judged as it is.
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
fn split_stretches(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
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
pub(super) fn split_utf8(bytes: &[u8]) -> (usize, Vec<u8>) {
    let (mut utf8, mut rest) = (0, Vec::new());
    for stretch in split_stretches(bytes) {
        let ascii = Encoding::ascii_valid_up_to(stretch);
        let text = stretch.get(ascii..).unwrap_or_default();
        if may_be_utf8(text, false) && utf8_text(text, false).is_some() {
            utf8 += count_non_ascii(text);
        } else {
            rest.extend_from_slice(stretch);
        }
    }
    (utf8, rest)
}

/// Bytes outside ASCII.
pub(super) fn count_non_ascii(bytes: &[u8]) -> usize {
    bytes.iter().filter(|b| !b.is_ascii()).count()
}

/// The second charset of a page that is UTF-8 for the most part.
pub(super) struct SecondCharset {
    /// Declared for the page, and wrongly.
    declared: Option<&'static Encoding>,
    tld: Option<Vec<u8>>,
    found: Option<&'static Encoding>,
    guesses: u8,
}

impl SecondCharset {
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
        let evidence = Utf8Evidence::new(stretch);
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
        for next in split_stretches(rest) {
            if sample.len() >= SAMPLE_BYTES {
                break;
            }
            if std::str::from_utf8(next).is_err() {
                sample.extend_from_slice(next);
            }
        }
        let guessed = guess_charset(&sample, self.tld.as_deref());
        if count_non_ascii(&sample) >= SURE_BYTES {
            self.found = Some(guessed);
        }
        Some(guessed)
    }
}

/// Fewer bytes outside ASCII say nothing against what the server declares.
const FEW_BYTES: usize = 12;

/// How far bytes look like UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Utf8Evidence {
    /// Valid sequences of two or more bytes.
    pub(super) sequences: usize,
    /// Of them, sequences of three or more bytes, which other charsets hardly ever form.
    pub(super) long_sequences: usize,
    /// Bytes that do not belong to a valid sequence.
    pub(super) errors: usize,
}

impl Utf8Evidence {
    pub(super) fn new(bytes: &[u8]) -> Self {
        let mut evidence = Self::default();
        let valid = simdutf8::compat::from_utf8(bytes).map_or_else(|e| e.valid_up_to(), str::len);
        if bytes.len() - valid < 4 && (valid == bytes.len() || ends_split(bytes)) {
            // All valid, but for what is cut off at the end: lead bytes can be counted.
            let (valid, _) = bytes.split_at(valid);
            evidence.sequences = count_bytes(valid, |b| b >= 0xC0);
            evidence.long_sequences = count_bytes(valid, |b| b >= 0xE0);
            return evidence;
        }
        for chunk in bytes.utf8_chunks() {
            for char in chunk.valid().chars() {
                evidence.sequences += usize::from(!char.is_ascii());
                evidence.long_sequences += usize::from(char.len_utf8() > 2);
            }
            evidence.errors += usize::from(!chunk.invalid().is_empty());
        }
        // The stretch may end inside a sequence.
        if evidence.errors > 0 && ends_split(bytes) {
            evidence.errors -= 1;
        }
        evidence
    }

    /// UTF-8, against a declaration of something else if there is one: then one or two short sequences are no
    /// proof, since double-byte charsets form them by chance. A page that is UTF-8 but for a few broken bytes still
    /// is.
    pub(super) fn says_utf8(self, against_declaration: bool) -> bool {
        if self.errors * 20 > self.sequences {
            return false;
        }
        !against_declaration || self.long_sequences >= 2 || self.sequences >= 8
    }
}

fn ends_split(bytes: &[u8]) -> bool {
    let tail = bytes
        .get(bytes.len().saturating_sub(3)..)
        .unwrap_or_default();
    (0..tail.len()).any(|from| {
        std::str::from_utf8(&tail[from..])
            .is_err_and(|e| e.valid_up_to() == 0 && e.error_len().is_none())
    })
}

/// UTF-16 without a byte order mark: markup in it has a zero in every other byte. `Some(true)` for little endian.
pub(super) fn looks_utf16(bytes: &[u8]) -> Option<bool> {
    let head = bytes.get(..bytes.len().min(256))?;
    let zeros = |odd: usize| {
        head.iter()
            .skip(odd)
            .step_by(2)
            .filter(|b| **b == 0)
            .count()
    };
    let (even, odd) = (zeros(0), zeros(1));
    let half = head.len() / 2;
    if half < 8 {
        return None;
    }
    if odd * 2 > half && even * 20 < half {
        return Some(true);
    }
    (even * 2 > half && odd * 20 < half).then_some(false)
}

/// Statistical guess among the charsets that are not UTF-8.
pub(super) fn guess_charset(bytes: &[u8], tld: Option<&[u8]>) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    // Not the last bytes: the stretch may end inside a character, which would rule out every charset of longer ones.
    detector.feed(bytes, false);
    detector.guess(tld, Utf8Detection::Deny)
}

/// Whether bytes outside ASCII are next to each other for the most part, as in double-byte charsets; the accents of a
/// Western language stand alone.
pub(super) fn stands_in_pairs(bytes: &[u8]) -> bool {
    let runs = bytes.split(u8::is_ascii).map(<[u8]>::len);
    let (mut joined, mut alone) = (0, 0);
    for run in runs.filter(|len| *len > 0) {
        let count = if run > 1 { &mut joined } else { &mut alone };
        *count += run;
    }
    joined >= FEW_BYTES && joined > alone
}

/// Whether at most a few bytes of the stretch do not decode.
pub(super) fn decodes(encoding: &'static Encoding, held: &[u8]) -> bool {
    let (text, errors) = encoding.decode_without_bom_handling(held);
    if !errors {
        return true;
    }
    let bad = text.chars().filter(|c| *c == '\u{FFFD}').count();
    let other = text.chars().filter(|c| !c.is_ascii()).count();
    bad * 20 <= other
}
