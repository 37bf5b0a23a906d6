//! Charset decision and decoding. In: bytes in blocks, what the response said. Out: UTF-8 text in slices. Never
//! fails: bytes that do not decode become U+FFFD.
//!
//! While all bytes are ASCII the question stays open, since every charset that pages use decodes them alike. From
//! the first other byte on a bounded stretch is held back and then decides, together with what was declared.

use encoding_rs::{Encoding, GB18030, GBK, UTF_8, UTF_16BE, UTF_16LE};

use super::CharsetSource;
use super::evidence::{Utf8Evidence, guess, looks_utf16, prescan};

/// Bytes held back from the first byte that is not ASCII: enough text to tell charsets apart.
const HELD_BYTES: usize = 8 << 10;
/// Slices of decoded text that are handed on.
const SLICE_BYTES: usize = 64 << 10;
/// A declaration may be split over two blocks; so much of the last one is looked at again.
const PRESCAN_OVERLAP_BYTES: usize = 512;
/// Declarations after this many bytes are not looked for (browsers stop at 1024).
const PRESCAN_BYTES: usize = 128 << 10;

enum State {
    /// Only ASCII so far: the bytes were handed on as they are.
    Ascii,
    /// The bytes from the first that is not ASCII.
    Held(Vec<u8>),
    Utf8 {
        carry: Vec<u8>,
    },
    Other {
        decoder: Box<encoding_rs::Decoder>,
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
    pub(super) fn charset(&self) -> (&'static str, CharsetSource) {
        (lower_name(self.encoding), self.source)
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
                if let Ok(text) = std::str::from_utf8(head) {
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
        declared == Some(encoding_rs::ISO_2022_JP)
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
            State::Utf8 { carry: Vec::new() }
        } else {
            State::Other {
                decoder: Box::new(encoding.new_decoder_without_bom_handling()),
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
        let declared = header.or(meta);
        if evidence.sequences == 0 && evidence.errors == 0 {
            return declared.unwrap_or((UTF_8, CharsetSource::Default));
        }
        if evidence.says_utf8(declared.is_some_and(|(e, _)| e != UTF_8)) {
            let agreed = [header, meta].into_iter().flatten();
            let source = agreed
                .filter(|(e, _)| *e == UTF_8)
                .map(|(_, source)| source)
                .next();
            return (UTF_8, source.unwrap_or(CharsetSource::Content));
        }
        let fits = |(e, _): &(&'static Encoding, CharsetSource)| {
            *e != UTF_8 && e.is_ascii_compatible() && decodes(e, held)
        };
        if let Some(found) = [header, meta].into_iter().flatten().find(fits) {
            return found;
        }
        let guessed = guess(held, self.tld.as_deref());
        if declared.is_some_and(|(e, _)| e == encoding_rs::ISO_2022_JP) {
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
            State::Utf8 { carry } => utf8(carry, block, last, out),
            State::Other { decoder } => {
                self.buffer.reserve(block.len() * 3 + 64);
                let (_, read, _) = decoder.decode_to_string(block, &mut self.buffer, last);
                // The buffer holds the longest possible result, so all is read at once.
                debug_assert_eq!(read, block.len());
                emit(&self.buffer, out);
                self.buffer.clear();
            }
            State::Ascii | State::Held(_) => {}
        }
    }
}

/// Decodes UTF-8 without a copy; a character that is split over blocks waits in `carry`.
fn utf8(carry: &mut Vec<u8>, block: &[u8], last: bool, out: &mut dyn FnMut(&str)) {
    let mut rest = block;
    if !carry.is_empty() {
        // At most three bytes wait, so this is short.
        let take = rest.len().min(4);
        let (head, _) = rest.split_at(take);
        let waiting = carry.len();
        carry.extend_from_slice(head);
        let used = match std::str::from_utf8(carry) {
            Ok(text) => {
                out(text);
                carry.len()
            }
            Err(e) if e.valid_up_to() > 0 => {
                let used = e.valid_up_to();
                if let Ok(text) = std::str::from_utf8(&carry[..used]) {
                    out(text);
                }
                used
            }
            Err(e) => match e.error_len() {
                Some(len) => {
                    out("\u{FFFD}");
                    len
                }
                None if last => {
                    out("\u{FFFD}");
                    carry.len()
                }
                None => {
                    return;
                }
            },
        };
        rest = rest.get(used.saturating_sub(waiting)..).unwrap_or_default();
        carry.clear();
    }
    loop {
        match std::str::from_utf8(rest) {
            Ok(text) => {
                emit(text, out);
                return;
            }
            Err(e) => {
                let (valid, bad) = rest.split_at(e.valid_up_to());
                if let Ok(text) = std::str::from_utf8(valid) {
                    emit(text, out);
                }
                match e.error_len() {
                    Some(len) => {
                        out("\u{FFFD}");
                        rest = bad.get(len..).unwrap_or_default();
                    }
                    None if last => {
                        out("\u{FFFD}");
                        return;
                    }
                    None => {
                        carry.extend_from_slice(bad);
                        return;
                    }
                }
            }
        }
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

fn lower_name(encoding: &'static Encoding) -> &'static str {
    const NAMES: [(&Encoding, &str); 8] = [
        (&encoding_rs::UTF_8_INIT, "utf-8"),
        (&encoding_rs::GB18030_INIT, "gb18030"),
        (&encoding_rs::BIG5_INIT, "big5"),
        (&encoding_rs::SHIFT_JIS_INIT, "shift_jis"),
        (&encoding_rs::EUC_KR_INIT, "euc-kr"),
        (&encoding_rs::EUC_JP_INIT, "euc-jp"),
        (&encoding_rs::UTF_16LE_INIT, "utf-16le"),
        (&encoding_rs::UTF_16BE_INIT, "utf-16be"),
    ];
    NAMES
        .iter()
        .find(|(e, _)| *e == encoding)
        .map_or_else(|| encoding.name(), |(_, name)| name)
}
