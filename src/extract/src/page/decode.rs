//! Detects the charset of a page and decodes it, from blocks of bytes and the charset in the response header. Bytes that do
//! not decode become U+FFFD.
//!
//! While all bytes are ASCII the question stays open, since every charset that pages use decodes them alike. From
//! the first other byte on a bounded stretch is held back and then decides, together with what was declared.

use encoding_rs::{
    Encoding, GB18030, GBK, ISO_2022_JP, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED,
};
use memchr::{memchr, memmem};

use super::CharsetSource;
use super::markup::{Content, Pieces, TagEnd, is_space};
use super::transcode::{
    Transcoder, Utf8Evidence, count_non_ascii, decodes, emit_valid, guess_charset, looks_utf16,
    split_utf8, stands_in_pairs,
};

/// Bytes held back from the first byte that is not ASCII: enough text to distinguish charsets.
const HELD_BYTES: usize = 8 << 10;
/// A declaration may be split over two blocks; so much of the last one is checked again.
const PRESCAN_OVERLAP_BYTES: usize = 512;
/// Declarations after this many bytes are not searched for (browsers stop at 1024).
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
            self.meta = prescan_charset(block);
        } else {
            self.overlap.extend_from_slice(block);
            self.meta = prescan_charset(&self.overlap);
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
        let evidence = Utf8Evidence::new(held);
        let header = self.header.map(|e| (e, CharsetSource::Header));
        let meta = self.meta.map(|e| (e, CharsetSource::Meta));
        // Servers say ISO-8859-1 of every page unless they are configured otherwise: the page itself knows better.
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
        let (utf8, rest) = split_utf8(held);
        if utf8 > count_non_ascii(&rest) {
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
        let guessed = guess_charset(&rest, self.tld.as_deref());
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

/// Decodes a whole text as a page is decoded; `charset` is what was declared of it elsewhere.
pub fn decode_text(bytes: &[u8], charset: Option<&str>) -> String {
    let mut text = String::with_capacity(bytes.len());
    Decoder::new(charset, None).decode(bytes, true, &mut |piece| text.push_str(piece));
    text
}

/// The charset that the bytes name.
pub(super) fn prescan_charset(bytes: &[u8]) -> Option<&'static Encoding> {
    if let Some(declaration) = bytes.strip_prefix(b"<?xml")
        && let Some(found) = read_xml_encoding(declaration)
    {
        return Some(found);
    }
    let mut rest = bytes;
    loop {
        rest = rest.get(memchr(b'<', rest)?..)?;
        if rest.starts_with(b"<!--") {
            // The dashes that begin a comment may end it too.
            let end = memmem::find(rest.get(2..)?, b"-->")?;
            rest = rest.get(2 + end + 3..)?;
        } else if is_meta(rest) {
            let mut pieces = Pieces::new(rest.get(6..)?, Content::Markup);
            if let Some(found) = read_meta_charset(&mut pieces)? {
                return Some(found);
            }
            rest = pieces.rest();
        } else if is_tag(rest) {
            let end = rest.iter().position(|&b| is_space(b) || b == b'>')?;
            let mut pieces = Pieces::new(rest.get(end..)?, Content::Markup);
            if pieces.attributes(|_, _| {}) == TagEnd::Missing {
                return None;
            }
            rest = pieces.rest();
        } else if matches!(rest.get(1), Some(b'!' | b'/' | b'?')) {
            rest = rest.get(memchr(b'>', rest)?..)?;
        } else {
            rest = rest.get(1..)?;
        }
    }
}

fn is_meta(rest: &[u8]) -> bool {
    rest.get(1..5)
        .is_some_and(|name| name.eq_ignore_ascii_case(b"meta"))
        && rest.get(5).is_some_and(|&b| is_space(b) || b == b'/')
}

fn is_tag(rest: &[u8]) -> bool {
    match rest.get(1) {
        Some(b'/') => rest.get(2).is_some_and(u8::is_ascii_alphabetic),
        Some(first) => first.is_ascii_alphabetic(),
        None => false,
    }
}

/// A label as a page means it: UTF-16 there means UTF-8, since the bytes could be read.
fn charset_of(label: &[u8]) -> Option<&'static Encoding> {
    let encoding = Encoding::for_label(label)?;
    if encoding == UTF_16LE || encoding == UTF_16BE {
        Some(UTF_8)
    } else if encoding == X_USER_DEFINED {
        Some(WINDOWS_1252)
    } else {
        Some(encoding)
    }
}

fn read_xml_encoding(declaration: &[u8]) -> Option<&'static Encoding> {
    let end = declaration.iter().position(|&b| b == b'>')?;
    let declaration = declaration.get(..end)?;
    let at = declaration.windows(8).position(|w| w == b"encoding")?;
    charset_of(read_quoted_or_bare(skip_equals(
        declaration.get(at + 8..)?,
    )?)?)
}

/// What follows `=` with white space around it.
fn skip_equals(bytes: &[u8]) -> Option<&[u8]> {
    let rest = bytes.trim_ascii_start().strip_prefix(b"=")?;
    Some(rest.trim_ascii_start())
}

/// A label in quotes (which must close) or up to white space or a semicolon.
fn read_quoted_or_bare(bytes: &[u8]) -> Option<&[u8]> {
    if let Some(&quote @ (b'"' | b'\'')) = bytes.first() {
        let inner = bytes.get(1..)?;
        return inner.get(..inner.iter().position(|&b| b == quote)?);
    }
    let end = bytes.iter().position(|&b| is_space(b) || b == b';');
    bytes.get(..end.unwrap_or(bytes.len()))
}

/// The standard's "extracting a character encoding from a meta element".
fn find_in_content(content: &[u8]) -> Option<&'static Encoding> {
    let mut rest = content;
    loop {
        let at = rest
            .windows(7)
            .position(|w| w.eq_ignore_ascii_case(b"charset"))?;
        rest = rest.get(at + 7..)?;
        if let Some(value) = skip_equals(rest) {
            return charset_of(read_quoted_or_bare(value)?);
        }
    }
}

/// The charset that the attributes of a `<meta>` name; the outer `None` when the bytes end in it.
fn read_meta_charset(pieces: &mut Pieces<'_>) -> Option<Option<&'static Encoding>> {
    let (mut is_pragma, mut from_charset, mut from_content) = (false, None, None);
    let mut seen: [bool; 3] = [false; 3];
    let end = pieces.attributes(|name, value| {
        let known = [&b"http-equiv"[..], b"content", b"charset"]
            .iter()
            .position(|known| name.eq_ignore_ascii_case(known));
        // Of two attributes of one name the first counts.
        match known.filter(|&which| !std::mem::replace(&mut seen[which], true)) {
            Some(0) => is_pragma = value.eq_ignore_ascii_case(b"content-type"),
            Some(1) => from_content = find_in_content(value),
            Some(_) => from_charset = charset_of(value),
            None => {}
        }
    });
    let found = from_charset.or(from_content.filter(|_| is_pragma && !seen[2]));
    (end != TagEnd::Missing).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::prescan_charset;

    fn name(bytes: &[u8]) -> Option<&'static str> {
        prescan_charset(bytes).map(encoding_rs::Encoding::name)
    }

    #[test]
    fn prescan_as_in_browsers() {
        for (page, expected) in [
            (&b"<meta charset=gbk>"[..], Some("GBK")),
            (b"<META/charset='Big5'>", Some("Big5")),
            (
                b"<meta http-equiv=content-type content='text/html;charset=euc-kr'>",
                Some("EUC-KR"),
            ),
            (b"<meta content='text/html;charset=euc-kr'>", None),
            (b"<meta charset=\"gbk>", None),
            (b"<meta charset=gbk", None),
            (b"<metacharset=gbk>", None),
            (
                b"<!-- <meta charset=big5> --><meta charset=gbk>",
                Some("GBK"),
            ),
            (b"<!--><meta charset=gbk>", Some("GBK")),
            (
                b"<p title='<meta charset=big5>'><meta charset=gbk>",
                Some("GBK"),
            ),
            (b"<meta charset=nonsense><meta charset=gbk>", Some("GBK")),
            (b"<meta charset=gbk charset=big5>", Some("GBK")),
            (b"<meta charset=utf-16le>", Some("UTF-8")),
            (
                b"<?xml version='1.0' encoding='gb2312'?><html>",
                Some("GBK"),
            ),
            (b"<", None),
            (b"<meta", None),
            (b"<meta charset", None),
            (b"<!--", None),
            (b"", None),
        ] {
            assert_eq!(name(page), expected, "{}", String::from_utf8_lossy(page));
        }
    }
}
