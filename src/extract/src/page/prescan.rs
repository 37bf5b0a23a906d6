//! The declaration of a charset in the page itself. In: bytes from the beginning of a page. Out: the charset that a
//! `<meta>` (or an XML declaration) names, as the HTML standard's "prescan a byte stream to determine its encoding"
//! finds it. Never looks past the bytes; reads each once.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};
use memchr::{memchr, memmem};

use super::byte_class::is_space;
use super::content::Content;
use super::markup::{Pieces, TagEnd};

/// The charset that the bytes name.
pub(super) fn prescan(bytes: &[u8]) -> Option<&'static Encoding> {
    if let Some(declaration) = bytes.strip_prefix(b"<?xml")
        && let Some(found) = xml_encoding(declaration)
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
            if let Some(found) = charset_of_meta(&mut pieces)? {
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

fn xml_encoding(declaration: &[u8]) -> Option<&'static Encoding> {
    let end = declaration.iter().position(|&b| b == b'>')?;
    let declaration = declaration.get(..end)?;
    let at = declaration.windows(8).position(|w| w == b"encoding")?;
    charset_of(quoted_or_bare(after_equals(declaration.get(at + 8..)?)?)?)
}

/// What follows `=` with white space around it.
fn after_equals(bytes: &[u8]) -> Option<&[u8]> {
    let rest = bytes.trim_ascii_start().strip_prefix(b"=")?;
    Some(rest.trim_ascii_start())
}

/// A label in quotes (which must close) or up to white space or a semicolon.
fn quoted_or_bare(bytes: &[u8]) -> Option<&[u8]> {
    if let Some(&quote @ (b'"' | b'\'')) = bytes.first() {
        let inner = bytes.get(1..)?;
        return inner.get(..inner.iter().position(|&b| b == quote)?);
    }
    let end = bytes.iter().position(|&b| is_space(b) || b == b';');
    bytes.get(..end.unwrap_or(bytes.len()))
}

/// The standard's "extracting a character encoding from a meta element".
fn in_content(content: &[u8]) -> Option<&'static Encoding> {
    let mut rest = content;
    loop {
        let at = rest
            .windows(7)
            .position(|w| w.eq_ignore_ascii_case(b"charset"))?;
        rest = rest.get(at + 7..)?;
        if let Some(value) = after_equals(rest) {
            return charset_of(quoted_or_bare(value)?);
        }
    }
}

/// The charset that the attributes of a `<meta>` name; the outer `None` when the bytes end in it.
fn charset_of_meta(pieces: &mut Pieces<'_>) -> Option<Option<&'static Encoding>> {
    let (mut is_pragma, mut from_charset, mut from_content) = (false, None, None);
    let mut seen: [bool; 3] = [false; 3];
    let end = pieces.attributes(|name, value| {
        let known = [&b"http-equiv"[..], b"content", b"charset"]
            .iter()
            .position(|known| name.eq_ignore_ascii_case(known));
        // Of two attributes of one name the first counts.
        match known.filter(|&which| !std::mem::replace(&mut seen[which], true)) {
            Some(0) => is_pragma = value.eq_ignore_ascii_case(b"content-type"),
            Some(1) => from_content = in_content(value),
            Some(_) => from_charset = charset_of(value),
            None => {}
        }
    });
    let found = from_charset.or(from_content.filter(|_| is_pragma && !seen[2]));
    (end != TagEnd::Missing).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::prescan;

    fn name(bytes: &[u8]) -> Option<&'static str> {
        prescan(bytes).map(encoding_rs::Encoding::name)
    }

    #[test]
    fn declarations_count_where_a_browser_sees_them() {
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
