//! Charset decision and decoding. In: bytes in blocks, what the response said. Out: UTF-8 text in slices. Never
//! fails: bytes that do not decode become U+FFFD.
//!
//! While all bytes are ASCII the question stays open, since every charset that pages use decodes them alike. From
//! the first other byte on a bounded stretch is held back and then decides, together with what was declared.

use encoding_rs::{Encoding, GB18030, GBK, ISO_2022_JP, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

use super::CharsetSource;
use super::evidence::{Utf8Evidence, guess, looks_utf16};
use super::mixed::{
    STRETCH_BYTES, Second, ends_stretch, may_be_utf8, others, utf8_text, without_utf8,
};
use super::prescan::prescan;

/// Bytes held back from the first byte that is not ASCII: enough text to tell charsets apart.
const HELD_BYTES: usize = 8 << 10;
/// Slices of decoded text that are handed on.
const SLICE_BYTES: usize = 64 << 10;
/// A declaration may be split over two blocks; so much of the last one is looked at again.
const PRESCAN_OVERLAP_BYTES: usize = 512;
/// Declarations after this many bytes are not looked for (browsers stop at 1024).
const PRESCAN_BYTES: usize = 128 << 10;

/// Fewer bytes outside ASCII say nothing against what the server declares.
const FEW_BYTES: usize = 12;

enum State {
    /// Only ASCII so far: the bytes were handed on as they are.
    Ascii,
    /// The bytes from the first that is not ASCII.
    Held(Vec<u8>),
    Utf8 {
        /// The beginning of a character, or of a stretch in another charset.
        carry: Vec<u8>,
        second: Second,
    },
    Other {
        decoder: Box<encoding_rs::Decoder>,
        /// The beginning of a stretch that may be UTF-8.
        carry: Vec<u8>,
    },
}

pub(super) struct Decoder {
    state: State,
    header: Option<&'static Encoding>,
    meta: Option<&'static Encoding>,
    tld: Option<Vec<u8>>,
    seen_bytes: usize,
    overlap: Vec<u8>,
    encoding: &'static Encoding,
    source: CharsetSource,
    buffer: String,
}

impl Decoder {
    pub(super) fn new(header: Option<&str>, tld: Option<&str>) -> Self {
        let tld = tld
            .filter(|t| t.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'))
            .map(|t| t.as_bytes().to_vec());
        Self {
            state: State::Ascii,
            header: header.and_then(|label| Encoding::for_label(label.trim().as_bytes())),
            meta: None,
            tld,
            seen_bytes: 0,
            overlap: Vec::new(),
            encoding: UTF_8,
            source: CharsetSource::Default,
            buffer: String::new(),
        }
    }

    /// Name of the charset in lower case, and how it was found.
    pub(super) fn charset(&self) -> (String, CharsetSource) {
        (self.encoding.name().to_ascii_lowercase(), self.source)
    }

    pub(super) fn decode(&mut self, block: &[u8], last: bool, out: &mut dyn FnMut(&str)) {
        let mut block = block;
        if self.seen_bytes == 0 {
            block = self.begin(block);
        }
        if matches!(self.state, State::Ascii | State::Held(_)) {
            self.look_for_declaration(block);
        }
        self.seen_bytes += block.len();
        match &mut self.state {
            State::Ascii => {
                let ascii = Encoding::ascii_valid_up_to(block);
                let escapes = self.iso_2022_jp() && block.contains(&0x1B);
                let ascii = if escapes { 0 } else { ascii };
                let (head, tail) = block.split_at(ascii);
                if let Ok(text) = simdutf8::basic::from_utf8(head) {
                    emit(text, out);
                }
                if !tail.is_empty() || (last && self.source == CharsetSource::Default) {
                    self.state = State::Held(tail.to_vec());
                    self.decide_if_enough(last, out);
                }
            }
            State::Held(held) => {
                held.extend_from_slice(block);
                self.decide_if_enough(last, out);
            }
            State::Utf8 { .. } | State::Other { .. } => self.decoded(block, last, out),
        }
    }

    fn iso_2022_jp(&self) -> bool {
        let declared = self.header.or(self.meta);
        declared == Some(ISO_2022_JP)
    }

    /// Byte order marks and UTF-16 without one show in the first bytes.
    fn begin<'b>(&mut self, block: &'b [u8]) -> &'b [u8] {
        if let Some((encoding, len)) = Encoding::for_bom(block) {
            self.settle(encoding, CharsetSource::Bom);
            return block.get(len..).unwrap_or_default();
        }
        if let Some(little) = looks_utf16(block) {
            let encoding = if little { UTF_16LE } else { UTF_16BE };
            self.settle(encoding, CharsetSource::Content);
        }
        block
    }

    fn look_for_declaration(&mut self, block: &[u8]) {
        if self.meta.is_some() || self.seen_bytes > PRESCAN_BYTES {
            return;
        }
        if self.overlap.is_empty() {
            self.meta = prescan(block);
        } else {
            self.overlap.extend_from_slice(block);
            self.meta = prescan(&self.overlap);
        }
        let keep = block.len().saturating_sub(PRESCAN_OVERLAP_BYTES);
        self.overlap.clear();
        self.overlap
            .extend_from_slice(block.get(keep..).unwrap_or_default());
    }

    fn settle(&mut self, encoding: &'static Encoding, source: CharsetSource) {
        let encoding = if encoding == GBK { GB18030 } else { encoding };
        self.encoding = encoding;
        self.source = source;
        self.state = if encoding == UTF_8 {
            let declared = self.header.or(self.meta).filter(|e| *e != UTF_8);
            State::Utf8 {
                carry: Vec::new(),
                second: Second::new(declared, self.tld.clone()),
            }
        } else {
            State::Other {
                decoder: Box::new(encoding.new_decoder_without_bom_handling()),
                carry: Vec::new(),
            }
        };
    }

    fn decide_if_enough(&mut self, last: bool, out: &mut dyn FnMut(&str)) {
        let State::Held(held) = &mut self.state else {
            return;
        };
        if held.len() < HELD_BYTES && !last {
            return;
        }
        let held = std::mem::take(held);
        let (encoding, source) = self.decide(&held);
        self.settle(encoding, source);
        self.decoded(&held, last, out);
    }

    fn decide(&self, held: &[u8]) -> (&'static Encoding, CharsetSource) {
        let evidence = Utf8Evidence::of(held);
        let header = self.header.map(|e| (e, CharsetSource::Header));
        let meta = self.meta.map(|e| (e, CharsetSource::Meta));
        // Servers say ISO-8859-1 of every page unless they are told otherwise: the page itself knows better.
        let by_default = self.header == Some(WINDOWS_1252);
        let declarations = if by_default {
            [meta, header]
        } else {
            [header, meta]
        };
        let [first, second] = declarations;
        let declared = first.or(second);
        if evidence.sequences == 0 && evidence.errors == 0 {
            return declared.unwrap_or((UTF_8, CharsetSource::Default));
        }
        if evidence.says_utf8(declared.is_some_and(|(e, _)| e != UTF_8)) {
            let agreed = declarations.into_iter().flatten();
            let source = agreed
                .filter(|(e, _)| *e == UTF_8)
                .map(|(_, source)| source)
                .next();
            return (UTF_8, source.unwrap_or(CharsetSource::Content));
        }
        // Parts in UTF-8 say nothing of the rest, unless they are the greater part.
        let (utf8, rest) = without_utf8(held);
        if utf8 > others(&rest) {
            return (UTF_8, CharsetSource::Content);
        }
        let fits = |(e, _): &(&'static Encoding, CharsetSource)| {
            *e != UTF_8 && e.is_ascii_compatible() && decodes(e, &rest)
        };
        let found = declarations.into_iter().flatten().find(fits);
        let in_doubt = by_default && found.is_some_and(|(e, _)| e == WINDOWS_1252);
        if let Some(found) = found.filter(|_| !in_doubt) {
            return found;
        }
        let guessed = guess(&rest, self.tld.as_deref());
        if in_doubt {
            let is_other = !guessed.is_single_byte() && stands_in_pairs(&rest);
            let content = (guessed, CharsetSource::Content);
            let is_other = is_other && decodes(guessed, &rest);
            return found.filter(|_| !is_other).unwrap_or(content);
        }
        if declared.is_some_and(|(e, _)| e == ISO_2022_JP) {
            return declared.unwrap_or((guessed, CharsetSource::Guess));
        }
        let source = if declared.is_some() {
            CharsetSource::Content
        } else {
            CharsetSource::Guess
        };
        (guessed, source)
    }

    fn decoded(&mut self, block: &[u8], last: bool, out: &mut dyn FnMut(&str)) {
        match &mut self.state {
            State::Utf8 { carry, second } => utf8(carry, second, block, last, out),
            State::Other { decoder, carry } => {
                let mut legacy = Legacy {
                    decoder,
                    buffer: &mut self.buffer,
                };
                let encoding = self.encoding;
                if encoding == UTF_16LE || encoding == UTF_16BE || encoding == ISO_2022_JP {
                    legacy.write(block, last, out);
                } else {
                    legacy.write_mixed(carry, block, last, out);
                }
            }
            State::Ascii | State::Held(_) => {}
        }
    }
}

/// A charset that is not UTF-8.
struct Legacy<'a> {
    decoder: &'a mut encoding_rs::Decoder,
    buffer: &'a mut String,
}

impl Legacy<'_> {
    fn write(&mut self, bytes: &[u8], last: bool, out: &mut dyn FnMut(&str)) {
        self.buffer.reserve(bytes.len() * 3 + 64);
        let (_, read, _) = self.decoder.decode_to_string(bytes, self.buffer, last);
        // The buffer holds the longest possible result, so all is read at once.
        debug_assert_eq!(read, bytes.len());
        emit(self.buffer, out);
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

fn emit_valid(bytes: &[u8], out: &mut dyn FnMut(&str)) {
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

/// Whether bytes outside ASCII stand beside each other for the most part, as in double-byte charsets; the accents of a
/// Western language stand alone.
fn stands_in_pairs(bytes: &[u8]) -> bool {
    let runs = bytes.split(u8::is_ascii).map(<[u8]>::len);
    let (mut joined, mut alone) = (0, 0);
    for run in runs.filter(|len| *len > 0) {
        let count = if run > 1 { &mut joined } else { &mut alone };
        *count += run;
    }
    joined >= FEW_BYTES && joined > alone
}

/// Whether at most a few bytes of the stretch do not decode.
fn decodes(encoding: &'static Encoding, held: &[u8]) -> bool {
    let (text, errors) = encoding.decode_without_bom_handling(held);
    if !errors {
        return true;
    }
    let bad = text.chars().filter(|c| *c == '\u{FFFD}').count();
    let other = text.chars().filter(|c| !c.is_ascii()).count();
    bad * 20 <= other
}
