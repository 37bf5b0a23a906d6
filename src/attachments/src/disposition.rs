//! The header `Content-Disposition` of an answer: whether the body is to be saved, and under which name (RFC 6266).
//!
//! Names come in every form that a browser understands: RFC 5987 with its charset, words of mail (RFC 2047), percent escapes, and bare
//! UTF-8 or GBK, which whoever read the header has decoded.

use encoding_rs::Encoding;
use mail_parser::MessageParser;
use mail_parser::decoders::html::html_to_text;

use crate::package::decode_name;

/// Characters of a name: file systems take 255 bytes.
const MAX_NAME_CHARS: usize = 255;
/// A header that is longer names no file.
const MAX_BYTES: usize = 8192;

/// What the header says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Disposition {
    /// The body is a file to be saved.
    pub is_attachment: bool,
    /// The name of the file, without folders.
    pub file_name: Option<String>,
}

impl Disposition {
    /// Reads the value of the header. What is not understood is left out.
    pub fn parse(value: &str) -> Self {
        let value = value.trim();
        if value.len() > MAX_BYTES {
            return Self::default();
        }
        let kind = value.split(';').next().unwrap_or_default().trim();
        Self {
            // Some servers send the name alone.
            is_attachment: kind.eq_ignore_ascii_case("attachment") || kind.contains('='),
            file_name: find_extended(value)
                .or_else(|| find_plain(value))
                .and_then(|name| clean_name(&name)),
        }
    }
}

/// Returns the parameters in their order, in lower case, with their values as sent.
fn parameters(value: &str) -> Vec<(String, String)> {
    let mut parameters = Vec::new();
    let (mut current, mut is_quoted, mut is_escaped) = (String::new(), false, false);
    for c in value.chars().chain([';']) {
        match c {
            ';' if !is_quoted => {
                if let Some((name, value)) = current.split_once('=') {
                    parameters.push((name.trim().to_lowercase(), value.trim().to_owned()));
                }
                current.clear();
            }
            '"' if !is_escaped => {
                is_quoted = !is_quoted;
                current.push(c);
            }
            c => current.push(c),
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    // A quote that is never closed.
    if let Some((name, value)) = current.split_once('=') {
        parameters.push((
            name.trim().to_lowercase(),
            value.trim_end_matches(';').trim().to_owned(),
        ));
    }
    parameters
}

/// Returns the name of RFC 5987: `charset'language'escapes`.
fn find_extended(value: &str) -> Option<String> {
    let parameters = parameters(value);
    let (_, value) = parameters.iter().find(|(name, _)| name == "filename*")?;
    let value = value.trim_matches('"');
    let mut pieces = value.splitn(3, '\'');
    let (Some(charset), Some(_), Some(escaped)) = (pieces.next(), pieces.next(), pieces.next())
    else {
        return Some(decode_escapes(value, None));
    };
    Some(decode_escapes(escaped, Some(charset)))
}

fn find_plain(value: &str) -> Option<String> {
    let parameters = parameters(value);
    let (_, value) = parameters
        .iter()
        .find(|(name, _)| name == "filename" || name == "name")?;
    let value = value.strip_prefix('"').unwrap_or(value);
    let value = value
        .strip_suffix('"')
        .unwrap_or(value)
        .replace("\\\"", "\"");
    if value.contains("=?") {
        return decode_words(&value);
    }
    Some(decode_escapes(&value, None))
}

/// Decodes the words of RFC 2047 as a mail with them would be.
fn decode_words(value: &str) -> Option<String> {
    let mail = format!("Subject: {value}\r\n\r\n");
    let message = MessageParser::default().parse(mail.as_bytes())?;
    message.subject().map(str::to_owned)
}

/// Decodes percent escapes, if they are some.
fn decode_escapes(value: &str, charset: Option<&str>) -> String {
    let bytes: Vec<u8> = percent_encoding::percent_decode_str(value).collect();
    if bytes == value.as_bytes() {
        return value.to_owned();
    }
    match std::str::from_utf8(&bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => decode_bytes(&bytes, charset),
    }
}

fn decode_bytes(bytes: &[u8], charset: Option<&str>) -> String {
    let encoding = charset.and_then(|charset| Encoding::for_label(charset.trim().as_bytes()));
    let decoded = encoding
        .and_then(|encoding| encoding.decode_without_bom_handling_and_without_replacement(bytes));
    decoded.map_or_else(|| decode_name(bytes), |name| name.into_owned())
}

/// Returns the last step of a path without what no name has.
fn clean_name(name: &str) -> Option<String> {
    let name = if name.contains('&') {
        html_to_text(name)
    } else {
        name.to_owned()
    };
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let name: String = name
        .chars()
        .filter(|c| !c.is_control())
        .take(MAX_NAME_CHARS)
        .collect();
    let name = name.trim().trim_matches('"').trim();
    let is_lost = name.contains('\u{fffd}') || name.starts_with("??");
    (!name.is_empty() && !is_lost).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::Disposition;

    #[test]
    fn name_has_many_forms() {
        for (value, name) in [
            ("attachment; filename=\"水价表.xlsx\"", Some("水价表.xlsx")),
            ("attachment;filename=水价 表.xlsx", Some("水价 表.xlsx")),
            (
                "attachment; FileName*=UTF-8''%E6%B0%B4%E4%BB%B7.xlsx; filename=x.xlsx",
                Some("水价.xlsx"),
            ),
            (
                "attachment; filename=??.xlsx; filename*=gbk'zh-CN'%CB%AE%BC%DB.xlsx",
                Some("水价.xlsx"),
            ),
            (
                "attachment; filename=%E6%B0%B4%E4%BB%B7.xlsx",
                Some("水价.xlsx"),
            ),
            (
                "attachment; filename=\"%CB%AE%BC%DB.xlsx\"",
                Some("水价.xlsx"),
            ),
            (
                "attachment; filename=\"=?UTF-8?B?5rC05Lu3Lnhsc3g=?=\"",
                Some("水价.xlsx"),
            ),
            (
                "attachment; filename=\"=?GB2312?Q?=CB=AE=BC=DB.xlsx?=\"",
                Some("水价.xlsx"),
            ),
            (
                "attachment; filename=\"D:\\upload\\a;b.doc\"",
                Some("a;b.doc"),
            ),
            ("filename=a.pdf", Some("a.pdf")),
            ("attachment; filename=\"100%.pdf\"", Some("100%.pdf")),
            ("attachment; filename=\"???.pdf\"", None),
            ("attachment", None),
        ] {
            let read = Disposition::parse(value);
            assert!(read.is_attachment, "{value}");
            assert_eq!(read.file_name.as_deref(), name, "{value}");
        }
        assert!(!Disposition::parse("inline; filename=a.html").is_attachment);
    }
}
