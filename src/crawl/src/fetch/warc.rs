//! Writes archives of what was fetched: WARC/1.1 files (ISO 28500:2017) with a request and a response or revisit record
//! for each finished [`Exchange`], one gzip member a record, so that a reader can start at any record. Never decides
//! what is archived, never reads a clock.
//!
//! A file is `….warc.gz.open` until it is full or closed. What a crash leaves open is cut back to its last whole
//! record at the next start and closed; no record that was written before is lost.
//!
//! The heads of requests and responses are written in the form of HTTP/1.1 (RFC 9112), whichever version was spoken;
//! `warc_reader` reads them.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::bufread::GzDecoder;
use flate2::write::GzEncoder;
use reqwest::Response;
use reqwest::header::{self, HeaderName, HeaderValue};
use ring::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY};
use taojin_uri::CrawlUri;
use xxhash_rust::xxh3::xxh3_128;

use super::decode::CODING_OVERHEAD_BYTES;
use super::request::{Fetched, Head, Sink};

/// The name of a file that is being written.
const OPEN_SUFFIX: &str = ".open";

/// What a revisit record says when the server answered 304 (WARC/1.1 §6.7.3).
const NOT_MODIFIED: &str = "http://netpreserve.org/warc/1.1/revisit/server-not-modified";

/// One request and its answer as they went over the wire; a [`Sink`] that passes everything on to another.
///
/// Holds the body as it came, before decompression, up to a limit: what is beyond goes to the page only, and the record
/// says that it is cut.
pub(super) struct Exchange<'a> {
    page: &'a mut dyn Sink,
    request: Vec<u8>,
    response: Vec<u8>,
    body: Vec<u8>,
    /// The body is kept up to this, in bytes.
    max_bytes: usize,
    is_cut: bool,
}

impl<'a> Exchange<'a> {
    /// Records what goes to `page`, of its body at most `max_body_bytes` and the little that a coding may add to them.
    pub(super) fn new(page: &'a mut dyn Sink, max_body_bytes: u64) -> Self {
        let max_bytes = max_body_bytes.saturating_add(CODING_OVERHEAD_BYTES);
        Self {
            page,
            request: Vec::new(),
            response: Vec::new(),
            body: Vec::new(),
            max_bytes: usize::try_from(max_bytes).unwrap_or(usize::MAX),
            is_cut: false,
        }
    }
}

impl Sink for Exchange<'_> {
    fn begin(&mut self, head: &Head) {
        self.page.begin(head);
    }

    fn chunk(&mut self, bytes: &[u8]) -> ControlFlow<()> {
        self.page.chunk(bytes)
    }

    fn wants_wire(&self) -> bool {
        true
    }

    fn heads(&mut self, request: Vec<u8>, response: Vec<u8>) {
        self.request = request;
        self.response = response;
    }

    fn wire(&mut self, bytes: &[u8]) {
        let room = self.max_bytes.saturating_sub(self.body.len());
        let kept = bytes.get(..room).unwrap_or(bytes);
        self.is_cut |= kept.len() < bytes.len();
        self.body.extend_from_slice(kept);
    }
}

/// Writes archives into one directory.
pub(super) struct Archive {
    folder: PathBuf,
    max_file_bytes: u64,
    software: String,
    open: Option<Open>,
    serial: u32,
}

struct Open {
    path: PathBuf,
    file: File,
    bytes: u64,
    /// Some of it may not be on the disk.
    unsynced: bool,
}

impl Archive {
    /// Opens the directory, makes it if need be, and mends and closes what a crash left open. A file that has
    /// grown to `max_file_bytes` is closed and a new one begun; `software` is named in each.
    pub(super) fn open(folder: &Path, max_file_bytes: u64, software: &str) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|e| e == "open") {
                repair(&path)?;
            }
        }
        Ok(Self {
            folder: folder.to_owned(),
            max_file_bytes,
            software: software.to_owned(),
            open: None,
            serial: 0,
        })
    }

    /// Archives one exchange that ended at `now_ms`; without an answer there is nothing to archive.
    pub(super) fn write(
        &mut self,
        uri: &CrawlUri,
        exchange: &Exchange<'_>,
        fetched: &Fetched,
        now_ms: i64,
    ) -> io::Result<()> {
        if fetched.head.status == 0 {
            return Ok(());
        }
        let date = date(now_ms);
        let mut common = vec![("WARC-Date", date), ("WARC-Target-URI", uri.to_string())];
        if let Some(address) = fetched.remote {
            common.push(("WARC-IP-Address", address.to_string()));
        }
        let response_id = self.id(uri.as_str(), now_ms);
        let request_id = self.id(uri.as_str(), now_ms);
        let mut response = common.clone();
        response.push(("WARC-Record-ID", response_id.clone()));
        let kind = if fetched.head.status == 304 {
            response.push(("WARC-Profile", NOT_MODIFIED.to_owned()));
            "revisit"
        } else {
            response.push(("WARC-Payload-Digest", sha1(&[&exchange.body])));
            "response"
        };
        if exchange.is_cut {
            response.push(("WARC-Truncated", "length".to_owned()));
        } else if !fetched.whole && fetched.head.status != 304 && fetched.wire_bytes > 0 {
            response.push(("WARC-Truncated", "unspecified".to_owned()));
        }
        let block = [exchange.response.as_slice(), &exchange.body];
        let response = member(
            kind,
            "application/http; msgtype=response",
            &response,
            &block,
        )?;
        common.push(("WARC-Record-ID", request_id));
        common.push(("WARC-Concurrent-To", response_id));
        let block = [exchange.request.as_slice()];
        let request = member(
            "request",
            "application/http; msgtype=request",
            &common,
            &block,
        )?;
        self.append(&[&response, &request], now_ms)
    }

    /// The present file, if some of it may not be on the disk: to be synced by the caller, without holding up those who
    /// write. What was written before is on the disk then.
    pub(super) fn unsynced(&mut self) -> io::Result<Option<File>> {
        match &mut self.open {
            Some(open) if open.unsynced => {
                open.unsynced = false;
                open.file.try_clone().map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Closes the present file under its final name.
    pub(super) fn close(&mut self) -> io::Result<()> {
        if let Some(open) = self.open.take() {
            open.file.sync_all()?;
            fs::rename(&open.path, closed(&open.path))?;
        }
        Ok(())
    }

    fn append(&mut self, members: &[&[u8]], now_ms: i64) -> io::Result<()> {
        if self
            .open
            .as_ref()
            .is_some_and(|o| o.bytes >= self.max_file_bytes)
        {
            self.close()?;
        }
        let mut open = match self.open.take() {
            Some(open) => open,
            None => self.begin(now_ms)?,
        };
        // after a failure (disk full) the file is left out: it is mended at the next start
        for bytes in members {
            open.file.write_all(bytes)?;
            open.bytes += bytes.len() as u64;
        }
        open.unsynced = true;
        self.open = Some(open);
        Ok(())
    }

    fn begin(&mut self, now_ms: i64) -> io::Result<Open> {
        let digits: String = date(now_ms).chars().filter(char::is_ascii_digit).collect();
        let name = loop {
            self.serial += 1;
            let name = format!("taojin-{digits}-{:05}.warc.gz", self.serial);
            if !self.folder.join(&name).exists() {
                break name;
            }
        };
        let path = self.folder.join(format!("{name}{OPEN_SUFFIX}"));
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&path)?;
        // Its records are promised once they are synced; without this a power loss could take the whole file.
        File::open(&self.folder)?.sync_all()?;
        let headers = [
            ("WARC-Date", date(now_ms)),
            ("WARC-Record-ID", self.id(&name, now_ms)),
            ("WARC-Filename", name),
        ];
        let software = &self.software;
        let fields = format!("software: {software}\r\nformat: WARC File Format 1.1\r\n");
        let info = member(
            "warcinfo",
            "application/warc-fields",
            &headers,
            &[fields.as_bytes()],
        )?;
        if let Err(error) = file.write_all(&info) {
            // A full disk: nothing of use is in it, and one more would come with each try.
            let _ = fs::remove_file(&path);
            return Err(error);
        }
        let bytes = info.len() as u64;
        Ok(Open {
            path,
            file,
            bytes,
            unsynced: true,
        })
    }

    /// A UUID of version 8 (RFC 9562): a hash of what is recorded, when, and the number of the record.
    fn id(&mut self, text: &str, now_ms: i64) -> String {
        self.serial = self.serial.wrapping_add(1);
        let seed = format!("{text}\n{now_ms}\n{}\n{:?}", self.serial, self.folder);
        let hash = format!("{:032x}", xxh3_128(seed.as_bytes()));
        let part = |from: usize, to: usize| hash.get(from..to).unwrap_or_default();
        let (a, b, c, d, e) = (
            part(0, 8),
            part(8, 12),
            part(12, 15),
            part(15, 18),
            part(18, 30),
        );
        format!("<urn:uuid:{a}-{b}-8{c}-a{d}-{e}>")
    }
}

impl Drop for Archive {
    fn drop(&mut self) {
        // what cannot be closed now is mended at the next start
        let _ = self.close();
    }
}

/// One record as one gzip member.
fn member(
    kind: &str,
    content_type: &str,
    headers: &[(&str, String)],
    block: &[&[u8]],
) -> io::Result<Vec<u8>> {
    let length: usize = block.iter().map(|b| b.len()).sum();
    let mut head = format!("WARC/1.1\r\nWARC-Type: {kind}\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    let digest = sha1(block);
    head.push_str(&format!(
        "WARC-Block-Digest: {digest}\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\n\r\n"
    ));
    let mut encoder = GzEncoder::new(Vec::with_capacity(length / 3 + 512), Compression::fast());
    encoder.write_all(head.as_bytes())?;
    for part in block {
        encoder.write_all(part)?;
    }
    encoder.write_all(b"\r\n\r\n")?;
    encoder.finish()
}

/// `sha1:` and base 32 (RFC 4648), the form that tools compare; it guards against accidents, not against enemies.
fn sha1(parts: &[&[u8]]) -> String {
    let mut context = Context::new(&SHA1_FOR_LEGACY_USE_ONLY);
    parts.iter().for_each(|p| context.update(p));
    let mut text = "sha1:".to_owned();
    let digest = context.finish();
    for five in digest.as_ref().chunks(5) {
        let bits = five.iter().fold(0u64, |bits, &b| bits << 8 | u64::from(b));
        for shift in (0..8).rev() {
            let index = usize::try_from(bits >> (5 * shift) & 31).expect("five bits");
            text.push(char::from(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[index]));
        }
    }
    text
}

/// ISO 8601 with milliseconds, which WARC/1.1 allows.
fn date(now_ms: i64) -> String {
    let date = chrono::DateTime::from_timestamp_millis(now_ms).unwrap_or_default();
    date.format("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

fn closed(path: &Path) -> PathBuf {
    path.with_extension("")
}

/// Cuts a file back to its last whole member and gives it its final name; one without any goes.
fn repair(path: &Path) -> io::Result<()> {
    let whole = whole_bytes(BufReader::new(File::open(path)?));
    if whole == 0 {
        return fs::remove_file(path);
    }
    let file = OpenOptions::new().write(true).open(path)?;
    file.set_len(whole)?;
    file.sync_all()?;
    fs::rename(path, closed(path))
}

/// How many bytes the whole gzip members at the start of the source take.
fn whole_bytes(source: impl Read) -> u64 {
    let mut source = Counted {
        inner: BufReader::new(source),
        taken: 0,
    };
    let mut whole = 0;
    loop {
        match source.fill_buf() {
            Ok(bytes) if !bytes.is_empty() => {}
            _ => return whole,
        }
        let mut decoder = GzDecoder::new(source);
        if io::copy(&mut decoder, &mut io::sink()).is_err() {
            return whole;
        }
        source = decoder.into_inner();
        whole = source.taken;
    }
}

/// Counts what a decoder takes, which is exactly its member.
struct Counted<R> {
    inner: R,
    taken: u64,
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(out)?;
        self.taken += read as u64;
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, bytes: usize) {
        self.taken += bytes as u64;
        self.inner.consume(bytes);
    }
}

/// The head of a GET request.
pub(super) fn request_head<'h>(
    uri: &CrawlUri,
    headers: impl Iterator<Item = (&'h HeaderName, &'h HeaderValue)>,
) -> Vec<u8> {
    let (path, host) = (uri.path_and_query(), uri.authority());
    let start = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n");
    head_bytes(start, headers)
}

/// The head of an answer, without the transfer coding that its body has lost.
pub(super) fn response_head(response: &Response) -> Vec<u8> {
    let start = format!("HTTP/1.1 {}\r\n", response.status());
    let headers = response.headers().iter();
    head_bytes(
        start,
        headers.filter(|(name, _)| **name != header::TRANSFER_ENCODING),
    )
}

fn head_bytes<'h>(
    start: String,
    headers: impl Iterator<Item = (&'h HeaderName, &'h HeaderValue)>,
) -> Vec<u8> {
    let mut head = start.into_bytes();
    for (name, value) in headers {
        head.extend_from_slice(name.as_str().as_bytes());
        head.extend_from_slice(b": ");
        head.extend_from_slice(value.as_bytes());
        head.extend_from_slice(b"\r\n");
    }
    head.extend_from_slice(b"\r\n");
    head
}
