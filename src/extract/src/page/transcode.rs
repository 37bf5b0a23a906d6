//! Bytes of a known charset as UTF-8. In: bytes in blocks. Out: text in slices. Stretches in another charset, which pages
//! put together from several sources have, are found line by line (`mixed`). Never fails: bytes that do not decode become
//! U+FFFD.

use encoding_rs::{Encoding, ISO_2022_JP, UTF_8, UTF_16BE, UTF_16LE};

use super::mixed::{STRETCH_BYTES, Second, ends_stretch, may_be_utf8, utf8_text};

/// Slices of decoded text that are handed on.
const SLICE_BYTES: usize = 64 << 10;

/// Decodes a page whose charset is decided.
pub(super) enum Transcoder {
    Utf8 {
        /// The beginning of a character, or of a stretch in another charset.
        carry: Vec<u8>,
        second: Second,
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
                second: Second::new(declared, tld),
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
/// broken characters until it can be told whether it is in another charset.
fn utf8(
    carry: &mut Vec<u8>,
    second: &mut Second,
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
