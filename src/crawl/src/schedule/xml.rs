//! Bytes of a feed or sitemap to text that an XML reader takes: all at once ([`text`]) or piece by piece ([`TextStream`]).
//! Out: UTF-8, bounded. Unpacks gzip, obeys a byte order mark and the XML declaration, drops what XML forbids.

use std::io::{Read, Write};

use encoding_rs::{Decoder, Encoding, UTF_8};
use flate2::write::MultiGzDecoder;

/// Unpacked text of a feed beyond this is cut off. Feeds have some hundred kilobytes, and a few copies of the text are in
/// memory while it is read.
const MAX_BYTES: u64 = 8 << 20;

/// A stream is decoded once so much of it is there: enough to tell its encoding.
const START_BYTES: usize = 16 << 10;

/// Gzip is unpacked in slices of this size, of which each becomes at most 1,032 times as much.
const SLICE_BYTES: usize = 2 << 10;

/// Turns a body into text while it arrives.
pub(super) struct TextStream {
    unpack: Option<Box<MultiGzDecoder<Vec<u8>>>>,
    decoder: Option<Decoder>,
    /// Unpacked bytes whose encoding is not known yet.
    start: Vec<u8>,
    taken_bytes: u64,
    is_first: bool,
    /// The packed bytes are damaged: nothing comes any more.
    pub(super) damaged: bool,
    /// Bytes after unpacking.
    unpacked_bytes: u64,
}

impl TextStream {
    pub(super) fn new() -> Self {
        Self {
            unpack: None,
            decoder: None,
            start: Vec::new(),
            taken_bytes: 0,
            is_first: true,
            damaged: false,
            unpacked_bytes: 0,
        }
    }

    /// Takes the next bytes as they came; each piece of text goes to `give`, as long as it says true.
    pub(super) fn feed(&mut self, bytes: &[u8], give: &mut dyn FnMut(&str, u64) -> bool) -> bool {
        if self.taken_bytes == 0 && bytes.starts_with(&[0x1F, 0x8B]) {
            self.unpack = Some(Box::new(MultiGzDecoder::new(Vec::new())));
        }
        self.taken_bytes += bytes.len() as u64;
        bytes
            .chunks(SLICE_BYTES)
            .all(|slice| !self.damaged && self.slice(slice, give))
    }

    fn slice(&mut self, slice: &[u8], give: &mut dyn FnMut(&str, u64) -> bool) -> bool {
        let Some(unpack) = &mut self.unpack else {
            return self.decode(slice, false, give);
        };
        self.damaged |= unpack.write_all(slice).is_err();
        let unpacked = std::mem::take(unpack.get_mut());
        self.decode(&unpacked, false, give)
    }

    /// Ends the body.
    pub(super) fn finish(&mut self, give: &mut dyn FnMut(&str, u64) -> bool) {
        let mut rest = Vec::new();
        if let Some(unpack) = self.unpack.as_mut().filter(|_| !self.damaged) {
            self.damaged |= unpack.try_finish().is_err();
            rest = std::mem::take(unpack.get_mut());
        }
        self.decode(&rest, true, give);
    }

    fn decode(
        &mut self,
        bytes: &[u8],
        is_last: bool,
        give: &mut dyn FnMut(&str, u64) -> bool,
    ) -> bool {
        self.unpacked_bytes += bytes.len() as u64;
        let start;
        let bytes = match &self.decoder {
            Some(_) => bytes,
            None => {
                self.start.extend_from_slice(bytes);
                if self.start.len() < START_BYTES && !is_last {
                    return true;
                }
                start = std::mem::take(&mut self.start);
                start.as_slice()
            }
        };
        let decoder = self
            .decoder
            .get_or_insert_with(|| declared(bytes).unwrap_or(UTF_8).new_decoder());
        let room = decoder.max_utf8_buffer_length(bytes.len());
        let mut text = String::with_capacity(room.unwrap_or_default());
        let _ = decoder.decode_to_string(bytes, &mut text, is_last);
        let mut text = clean(&text);
        if self.is_first {
            text = text.trim_start().to_owned();
            self.is_first = text.is_empty();
        }
        give(&text, self.unpacked_bytes)
    }
}

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
    (clean(decoded.trim_start()), cut)
}

/// Text without the characters that XML forbids.
fn clean(text: &str) -> String {
    let allowed = |c: &char| !c.is_control() || matches!(c, '\n' | '\r' | '\t');
    text.chars().filter(allowed).collect()
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
    // A piece may end inside of a character.
    let valid = match std::str::from_utf8(raw) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none(),
    };
    let is_utf8 = encoding != UTF_8 && !raw.is_ascii() && valid;
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
