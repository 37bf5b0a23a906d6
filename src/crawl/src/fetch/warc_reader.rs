//! Archives of the web. In: a WARC (ISO 28500) or ARC file, plain or compressed, whole or broken. Out: its
//! [`Record`]s, one after the other, each bounded. What cannot be read is skipped up to the next record and
//! counted; a file that ends too early gives all that is whole before its end. Never writes, never interprets
//! a page.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::GzDecoder;

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
        let source: Box<dyn BufRead + Send> = match is_gzip {
            true => Box::new(BufReader::new(Members::new(source))),
            false => Box::new(source),
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
    let kind = match target.starts_with("filedesc:") {
        true => "warcinfo",
        false => "response",
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
