//! Which charset a page is in. In: bytes in blocks, what the response said. Out: UTF-8 text in slices. Never fails:
//! bytes that do not decode become U+FFFD.
//!
//! While all bytes are ASCII the question stays open, since every charset that pages use decodes them alike. From
//! the first other byte on a bounded stretch is held back and then decides, together with what was declared.

use encoding_rs::{Encoding, GB18030, GBK, ISO_2022_JP, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

use super::CharsetSource;
use super::evidence::{Utf8Evidence, decodes, guess, looks_utf16, stands_in_pairs};
use super::mixed::{others, without_utf8};
use super::prescan::prescan;
use super::transcode::{Transcoder, emit_valid};

/// Bytes held back from the first byte that is not ASCII: enough text to tell charsets apart.
const HELD_BYTES: usize = 8 << 10;
/// A declaration may be split over two blocks; so much of the last one is looked at again.
const PRESCAN_OVERLAP_BYTES: usize = 512;
/// Declarations after this many bytes are not looked for (browsers stop at 1024).
const PRESCAN_BYTES: usize = 128 << 10;

enum State {
    /// Only ASCII so far: the bytes were handed on as they are.
    Ascii,
    /// The bytes from the first that is not ASCII.
    Held(Vec<u8>),
    /// The charset is decided.
    Known(Transcoder),
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
                emit_valid(head, out);
                if !tail.is_empty() || (last && self.source == CharsetSource::Default) {
                    self.state = State::Held(tail.to_vec());
                    self.decide_if_enough(last, out);
                }
            }
            State::Held(held) => {
                held.extend_from_slice(block);
                self.decide_if_enough(last, out);
            }
            State::Known(transcoder) => transcoder.write(block, last, out),
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
        let declared = self.header.or(self.meta);
        self.state = State::Known(Transcoder::new(encoding, declared, self.tld.clone()));
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
        if let State::Known(transcoder) = &mut self.state {
            transcoder.write(&held, last, out);
        }
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
}
