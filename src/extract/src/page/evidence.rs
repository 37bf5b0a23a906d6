//! What bytes say of their charset. In: a stretch of a page. Out: counts, a guess.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::Encoding;

use crate::literals::count_bytes;

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
    pub(super) fn of(bytes: &[u8]) -> Self {
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
pub(super) fn guess(bytes: &[u8], tld: Option<&[u8]>) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    // Not the last bytes: the stretch may end inside a character, which would rule out every charset of longer ones.
    detector.feed(bytes, false);
    detector.guess(tld, Utf8Detection::Deny)
}

/// Whether bytes outside ASCII stand beside each other for the most part, as in double-byte charsets; the accents of a
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
