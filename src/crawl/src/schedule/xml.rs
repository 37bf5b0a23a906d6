//! Bytes of a feed or sitemap to text that an XML reader takes. Out: UTF-8, bounded. Unpacks gzip, obeys a byte
//! order mark and the XML declaration, drops what XML forbids.

use std::io::Read;

use encoding_rs::{Encoding, UTF_8};

/// Unpacked text beyond this is cut off: the sitemap protocol allows 50 MB, of which 50,000 links are kept anyway.
pub(super) const MAX_BYTES: u64 = 32 << 20;

/// Decoded text, and whether it was cut.
pub(super) fn text(bytes: &[u8]) -> (String, bool) {
    let mut unpacked = Vec::new();
    let mut cut = false;
    let raw = if bytes.starts_with(&[0x1F, 0x8B]) {
        // A damaged end leaves what came before it.
        let read = flate2::read::MultiGzDecoder::new(bytes)
            .take(MAX_BYTES)
            .read_to_end(&mut unpacked);
        cut = read.is_err();
        unpacked.as_slice()
    } else {
        bytes
    };
    let limit = usize::try_from(MAX_BYTES).unwrap_or(usize::MAX);
    cut |= raw.len() >= limit;
    let raw = raw.get(..limit).unwrap_or(raw);
    let encoding = declared(raw).unwrap_or(UTF_8);
    let (decoded, _, _) = encoding.decode(raw);
    let clean = decoded
        .trim_start()
        .chars()
        .filter(|c| !c.is_control() || matches!(c, '\n' | '\r' | '\t'))
        .collect();
    (clean, cut)
}

/// An entity as text; unknown ones stay as they are.
pub(super) fn reference(part: &quick_xml::events::BytesRef<'_>) -> String {
    if let Ok(Some(c)) = part.resolve_char_ref() {
        return c.to_string();
    }
    match &**part {
        "amp" => "&".to_owned(),
        "lt" => "<".to_owned(),
        "gt" => ">".to_owned(),
        "quot" => "\"".to_owned(),
        "apos" => "'".to_owned(),
        other => format!("&{other};"),
    }
}

/// `encoding` of the XML declaration, unless the bytes prove to be UTF-8.
fn declared(raw: &[u8]) -> Option<&'static Encoding> {
    let head = raw.get(..200).unwrap_or(raw);
    let head = String::from_utf8_lossy(head);
    let declaration = head.split("?>").next()?;
    let value = declaration.split("encoding").nth(1)?;
    let value = value.trim_start_matches([' ', '=']);
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let label = value.split(quote).nth(1)?;
    let encoding = Encoding::for_label(label.as_bytes())?;
    let is_utf8 = encoding != UTF_8 && !raw.is_ascii() && std::str::from_utf8(raw).is_ok();
    Some(if is_utf8 { UTF_8 } else { encoding })
}

/// Milliseconds of a date as feeds and sitemaps write it: W3C (`2026-11-03`, `2026-11-03T08:00+08:00`) or RFC 2822.
pub(super) fn date_ms(text: &str) -> Option<i64> {
    let text = text.trim();
    let zoned = chrono::DateTime::parse_from_rfc3339(text)
        .or_else(|_| chrono::DateTime::parse_from_rfc2822(text))
        .or_else(|_| chrono::DateTime::parse_from_str(text, "%Y-%m-%dT%H:%M%:z"))
        .or_else(|_| chrono::DateTime::parse_from_str(text, "%Y-%m-%dT%H:%M:%S%.f%z"))
        .or_else(|_| chrono::DateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S %z"));
    if let Ok(at) = zoned {
        return Some(at.timestamp_millis());
    }
    for format in [
        "%Y-%m-%dT%H:%M:%S%.f",
        "%Y-%m-%d %H:%M:%S",
        "%Y-%m-%dT%H:%M",
    ] {
        if let Ok(at) = chrono::NaiveDateTime::parse_from_str(text, format) {
            return Some(at.and_utc().timestamp_millis());
        }
    }
    let day = text.get(..10).unwrap_or(text);
    ["%Y-%m-%d", "%Y/%m/%d", "%Y%m%d"]
        .iter()
        .find_map(|format| chrono::NaiveDate::parse_from_str(day, format).ok())
        .or_else(|| chrono::NaiveDate::parse_from_str(&format!("{text}-01"), "%Y-%m-%d").ok())
        .and_then(|day| day.and_hms_opt(0, 0, 0))
        .map(|at| at.and_utc().timestamp_millis())
}
