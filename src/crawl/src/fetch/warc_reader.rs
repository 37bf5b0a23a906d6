//! Reads archives of the web: WARC (ISO 28500) and ARC files, plain or compressed, whole or broken. Returns their
//! [`Record`]s in order, each bounded. What cannot be read is skipped up to the next record and counted; a file that
//! ends too early returns all that is whole before its end. Never writes, never interprets a page.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::GzDecoder;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use taojin_uri::CrawlUri;

use super::decode::{BodyLimits, Decoder};
use super::limits::Config;
use super::request::{ContentClass, Fetched, Head, HeadContext, Request, Sink, Want, encoding};
use crate::outcome::{Failure, VisitOutcome};

/// The longest line of a record's header that is read, in bytes; tracking URLs run to 8 KiB.
const MAX_LINE_BYTES: usize = 64 << 10;

/// No writer sends more header lines.
const MAX_HEADER_LINES: usize = 256;

/// Why an archive cannot be read on.
#[derive(Debug, thiserror::Error)]
pub enum WarcError {
    /// The file itself cannot be read.
    #[error("archive: {0}")]
    Io(#[from] io::Error),
    /// There is no record in it at all.
    #[error("neither a WARC nor an ARC file")]
    NotAnArchive,
}

/// One record: its header, and its block as far as the limit allows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Record {
    /// `response`, `request`, `warcinfo`, `revisit`, `resource` …
    pub kind: String,
    /// What was fetched, as written.
    pub target: Option<String>,
    /// When, as written: ISO 8601, in ARC 14 digits.
    pub date: Option<String>,
    /// Type of the block.
    pub content_type: Option<String>,
    /// All header lines.
    pub headers: Vec<(String, String)>,
    /// The block: for a response the HTTP header and body as they came.
    pub block: Vec<u8>,
    /// The block was longer than the limit, or the file ended inside it.
    pub cut: bool,
}

impl Record {
    /// The first header of this name, whatever its case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self
            .headers
            .iter()
            .find(|(n, _)| n.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

/// Reads the records of an archive.
pub struct WarcReader {
    source: Box<dyn BufRead + Send>,
    max_block_bytes: u64,
    /// Bytes that belonged to no record.
    skipped_bytes: u64,
    records: u64,
    /// The source broke off: what is left of the present record is the last.
    broken: bool,
}

impl WarcReader {
    /// A reader that keeps at most `max_block_bytes` of each record.
    pub fn new(source: impl Read + Send + 'static, max_block_bytes: u64) -> io::Result<Self> {
        let mut source = BufReader::new(source);
        let is_gzip = source.fill_buf()?.starts_with(&[0x1F, 0x8B]);
        let source: Box<dyn BufRead + Send> = if is_gzip {
            Box::new(BufReader::new(Members::new(source)))
        } else {
            Box::new(source)
        };
        Ok(Self {
            source,
            max_block_bytes,
            skipped_bytes: 0,
            records: 0,
            broken: false,
        })
    }

    /// Bytes so far that belonged to no record.
    pub fn skipped_bytes(&self) -> u64 {
        self.skipped_bytes
    }

    /// Whether the file broke off in the middle.
    pub fn is_broken(&self) -> bool {
        self.broken
    }

    /// The next record, or none at the end.
    pub fn read_record(&mut self) -> Result<Option<Record>, WarcError> {
        while let Some(line) = self.line()? {
            let head = match line.as_slice() {
                b"" => continue,
                l if l.starts_with(b"WARC/") => Some(self.warc_head()?),
                l => arc_head(l),
            };
            let Some((mut record, length)) = head else {
                self.skipped_bytes += line.len() as u64;
                continue;
            };
            self.block(&mut record, length)?;
            self.records += 1;
            return Ok(Some(record));
        }
        match self.records {
            0 => Err(WarcError::NotAnArchive),
            _ => Ok(None),
        }
    }

    /// A line without its end; none at the end of the file. Of a line over the limit the rest counts as the next.
    fn line(&mut self) -> Result<Option<Vec<u8>>, WarcError> {
        if self.broken {
            return Ok(None);
        }
        let mut line = Vec::new();
        let mut limited = (&mut self.source).take(MAX_LINE_BYTES as u64);
        if let Err(error) = limited.read_until(b'\n', &mut line) {
            self.break_off(error)?;
        }
        if line.is_empty() {
            return Ok(None);
        }
        while matches!(line.last(), Some(b'\n' | b'\r')) {
            line.pop();
        }
        Ok(Some(line))
    }

    fn warc_head(&mut self) -> Result<(Record, u64), WarcError> {
        let mut record = Record::default();
        while let Some(line) = self.line()?.filter(|l| !l.is_empty()) {
            let line = String::from_utf8_lossy(&line);
            if let Some((name, value)) = line.split_once(':')
                && record.headers.len() < MAX_HEADER_LINES
            {
                let header = (name.trim().to_owned(), value.trim().to_owned());
                record.headers.push(header);
            }
        }
        let length = record.header("content-length").and_then(|l| l.parse().ok());
        // old versions of wget write the address in angle brackets
        let target = record.header("warc-target-uri");
        record.target = target.map(|t| t.trim_matches(['<', '>']).to_owned());
        let kind = record.header("warc-type").unwrap_or_default();
        record.kind = kind.to_ascii_lowercase();
        record.date = record.header("warc-date").map(str::to_owned);
        record.content_type = record.header("content-type").map(str::to_owned);
        Ok((record, length.unwrap_or(0)))
    }

    fn block(&mut self, record: &mut Record, length: u64) -> Result<(), WarcError> {
        let kept = length.min(self.max_block_bytes);
        let mut limited = (&mut self.source).take(kept);
        let read = limited.read_to_end(&mut record.block);
        let mut missing = record.block.len() as u64 != kept;
        let result = read.and_then(|_| {
            let mut rest = (&mut self.source).take(length - kept);
            io::copy(&mut rest, &mut io::sink())
        });
        match result {
            Ok(skipped) => missing |= skipped != length - kept,
            Err(error) => self.break_off(error)?,
        }
        record.cut = missing || kept < length || self.broken;
        Ok(())
    }

    /// A broken compressed stream is the end of the archive; a broken disk is an error.
    fn break_off(&mut self, error: io::Error) -> Result<(), WarcError> {
        use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
        if !matches!(error.kind(), InvalidData | InvalidInput | UnexpectedEof) {
            return Err(error.into());
        }
        self.broken = true;
        Ok(())
    }
}

/// `URL address date type length`, the header of ARC files; the URL may have spaces.
fn arc_head(line: &[u8]) -> Option<(Record, u64)> {
    let line = std::str::from_utf8(line).ok()?;
    let mut fields = line.rsplitn(5, ' ');
    let length = fields.next()?.parse().ok()?;
    let content_type = fields.next()?.to_owned();
    let date = fields.next()?;
    let address = fields.next()?;
    let target = fields.next()?;
    let is_date = date.len() >= 8 && date.bytes().all(|b| b.is_ascii_digit());
    if !target.contains(':') || !is_date || !address.contains(['.', ':']) {
        return None;
    }
    let kind = if target.starts_with("filedesc:") {
        "warcinfo"
    } else {
        "response"
    };
    let record = Record {
        kind: kind.to_owned(),
        target: Some(target.to_owned()),
        date: Some(date.to_owned()),
        content_type: Some(content_type),
        ..Record::default()
    };
    Some((record, length))
}

/// Gzip members one after the other as one stream, each ended at its own end so that its place is known.
pub(super) struct Members<R: BufRead> {
    /// None only inside `read`.
    decoder: Option<GzDecoder<R>>,
}

impl<R: BufRead> Members<R> {
    pub(super) fn new(source: R) -> Self {
        Self {
            decoder: Some(GzDecoder::new(source)),
        }
    }
}

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            let Some(decoder) = &mut self.decoder else {
                return Ok(0);
            };
            let read = decoder.read(out)?;
            if read > 0 || out.is_empty() {
                return Ok(read);
            }
            let Some(mut source) = self.decoder.take().map(GzDecoder::into_inner) else {
                return Ok(0);
            };
            if source.fill_buf()?.is_empty() {
                return Ok(0);
            }
            self.decoder = Some(GzDecoder::new(source));
        }
    }
}

/// Gives the answer in `record` to `sink`; none if the record is not an answer to a request for a page.
pub fn replay(
    record: &Record,
    config: &Config,
    want: Want,
    sink: &mut dyn Sink,
) -> Option<(CrawlUri, Fetched)> {
    let uri = CrawlUri::parse(record.target.as_deref()?).ok()?;
    let (status, headers, body) = match record.kind.as_str() {
        "response" => http(&record.block)?,
        "resource" => (200, resource_headers(record), record.block.as_slice()),
        _ => return None,
    };
    let asked = HeadContext {
        uri: &uri,
        agent: config.robots_token(),
        now_ms: 0,
        max_retry_after_ms: config.max_retry_after_ms,
    };
    let request = Request {
        want,
        ..Request::page(uri.clone())
    };
    let mut fetched = Fetched::of_head(Head::read(status, &headers, &asked), &request);
    if fetched.outcome == VisitOutcome::Page {
        let chunked = headers.get("transfer-encoding").is_some();
        let joined = chunked.then(|| unchunked(body)).flatten();
        let body = joined.as_deref().unwrap_or(body);
        deliver(body, &encoding(&headers), config, sink, &mut fetched);
        // a record cut behind the end of its page lost nothing
        let declared = fetched.head.content_length.unwrap_or(u64::MAX);
        if record.cut && fetched.outcome == VisitOutcome::Page && fetched.wire_bytes < declared {
            fetched.fail(Failure::Truncated);
        }
    }
    Some((uri, fetched))
}

fn deliver(
    body: &[u8],
    encoding: &str,
    config: &Config,
    sink: &mut dyn Sink,
    fetched: &mut Fetched,
) {
    let limits = BodyLimits {
        max_bytes: match fetched.head.class {
            ContentClass::Other => config.max_attachment_bytes,
            _ => config.max_body_bytes,
        },
        max_ratio: config.max_ratio,
    };
    // some archives keep the header of a coding that they took off the body
    let encoding = if is_coded(body, encoding) {
        encoding
    } else {
        ""
    };
    let Some(mut decoder) = Decoder::new(encoding, limits) else {
        return fetched.fail(Failure::Decode);
    };
    sink.begin(&fetched.head);
    let mut deliver = |bytes: &[u8]| sink.chunk(bytes).is_continue();
    let end = match decoder.feed(body, &mut deliver) {
        Ok(true) => decoder.finish(&mut deliver),
        end => end,
    };
    fetched.wire_bytes = body.len() as u64;
    fetched.body_bytes = decoder.decoded_bytes();
    match end {
        Ok(whole) => fetched.whole = whole,
        Err(failure) => fetched.fail(failure),
    }
}

/// Bytes by which plain text is told from a coding that has no mark: nearly all compressed ones have a control character among
/// so many.
const PLAIN: usize = 64;

/// Whether the body begins as the coding says; with a coding that has no mark, whether it begins as no text does.
fn is_coded(body: &[u8], encoding: &str) -> bool {
    match encoding.to_ascii_lowercase().as_str() {
        "gzip" | "x-gzip" => body.starts_with(&[0x1F, 0x8B]),
        "zstd" => body.starts_with(&[0x28, 0xB5, 0x2F, 0xFD]),
        _ => {
            let start = body.get(..PLAIN).unwrap_or(body);
            start
                .iter()
                .any(|b| b.is_ascii_control() && !b.is_ascii_whitespace())
        }
    }
}

fn resource_headers(record: &Record) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let content_type = record.content_type.as_deref().map(HeaderValue::from_str);
    if let Some(Ok(value)) = content_type {
        headers.insert("content-type", value);
    }
    headers
}

/// Status, headers and body of an HTTP answer; none if it does not begin as one.
fn http(block: &[u8]) -> Option<(u16, HeaderMap, &[u8])> {
    let mut lines = Lines { rest: block };
    let status_line = lines.next()?;
    let status = status_line
        .strip_prefix(b"HTTP/")?
        .split(|b| *b == b' ')
        .nth(1)?;
    let status = std::str::from_utf8(status).ok()?.parse().ok()?;
    let mut headers = HeaderMap::new();
    while let Some(line) = lines.next().filter(|l| !l.is_empty()) {
        let Some(colon) = line.iter().position(|b| *b == b':') else {
            continue;
        };
        let (name, value) = line.split_at(colon);
        let name = HeaderName::from_bytes(name.trim_ascii());
        let value = HeaderValue::from_bytes(value.get(1..).unwrap_or_default().trim_ascii());
        if let (Ok(name), Ok(value)) = (name, value) {
            // fails only with tens of thousands of lines
            let _ = headers.try_append(name, value);
        }
    }
    Some((status, headers, lines.rest))
}

/// The body without its chunks (RFC 9112 §7.1), as far as they go; none if it does not begin with one.
fn unchunked(body: &[u8]) -> Option<Vec<u8>> {
    let mut joined = Vec::with_capacity(body.len());
    let mut lines = Lines { rest: body };
    let mut is_first = true;
    while let Some(line) = lines.next() {
        let digits = line
            .split(|b| *b == b';')
            .next()
            .unwrap_or_default()
            .trim_ascii();
        let digits = std::str::from_utf8(digits).ok();
        let Some(size) = digits.and_then(|d| usize::from_str_radix(d, 16).ok()) else {
            return (!is_first).then_some(joined);
        };
        is_first = false;
        let (chunk, rest) = lines.rest.split_at(size.min(lines.rest.len()));
        joined.extend_from_slice(chunk);
        lines.rest = rest.strip_prefix(b"\r\n").unwrap_or(rest);
        if size == 0 {
            break;
        }
    }
    Some(joined)
}

/// Lines without their ends; what is left after the last one read is the body.
struct Lines<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Lines<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        let end = self.rest.iter().position(|b| *b == b'\n');
        let (line, rest) = self.rest.split_at(end.map_or(self.rest.len(), |e| e + 1));
        self.rest = rest;
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    }
}
