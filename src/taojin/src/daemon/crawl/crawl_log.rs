//! The crawl log: one JSON object a line for each fetch, in `log/crawl.log` of the data directory, rotated by size. A log that
//! cannot be written never stops the crawl: it is reported and tried again with the next lines, and how many are missing is said.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::visit::{FurtherPart, PartKind};
use taojin_crawl::fetch::Fetched;
use taojin_crawl::store::UrlRecord;
use taojin_crawl::{DocumentChange, VisitOutcome};

/// One line of the crawl log. The names of the fields are stable.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct LogLine {
    /// When the fetch ended: RFC 3339, UTC.
    pub time: String,
    /// Name of the site.
    pub site: String,
    /// The URL.
    pub url: String,
    /// The queue that it came from: its host, and `+k` where that has several; empty for one of an archive.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub queue: String,
    /// How it ended, as [`VisitOutcome::as_str`].
    pub outcome: VisitOutcome,
    /// HTTP status, when an answer came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Why it was refused or failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Decoded bytes of the body.
    pub bytes: u64,
    /// Milliseconds from the request to the last byte.
    pub elapsed_ms: i64,
    /// What the URL is for: seed, hub, feed, sitemap, article, unknown.
    pub class: &'static str,
    /// What the page is: article, hub, error, other; absent when there was no page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<&'static str>,
    /// Links from a seed.
    pub hops: u16,
    /// Links in the page that are in scope.
    pub outlinks: usize,
    /// What became of the document: `new`, `changed`, `unchanged`, `deleted`, `duplicate` (another address has it),
    /// `moved` (another address had it, and this is the canonical one); absent when there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document: Option<DocumentChange>,
    /// When it is fetched next, RFC 3339; absent: with the site's next cycle, or never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

impl LogLine {
    /// What is said of any fetch of a URL; `fetched` is none where it was not asked for.
    pub(super) fn from_fetch(record: &UrlRecord, fetched: Option<&Fetched>, now_ms: i64) -> Self {
        Self {
            time: time(now_ms),
            site: record.site.to_string(),
            url: record.uri.to_string(),
            outcome: fetched.map_or(VisitOutcome::Unwanted, |f| f.outcome),
            status: fetched.map(|f| f.head.status).filter(|s| *s > 0),
            bytes: fetched.map_or(0, |f| f.body_bytes),
            elapsed_ms: fetched.map_or(0, |f| i64::try_from(f.elapsed_ms).unwrap_or(i64::MAX)),
            class: record.visit.class.as_str(),
            hops: record.hops,
            ..Self::default()
        }
    }

    /// The line of the fetch of a further part of an article.
    pub(super) fn from_further_part(record: &UrlRecord, part: &FurtherPart, now_ms: i64) -> Self {
        let of = match part.kind {
            PartKind::Page => "a later page of",
            PartKind::Comments => "the comments of",
        };
        Self {
            url: part.uri.to_string(),
            reason: Some(format!("{of} {}", record.uri)),
            ..Self::from_fetch(record, Some(&part.fetched), now_ms)
        }
    }
}

/// RFC 3339 in UTC, to the millisecond.
pub(super) fn time(ms: i64) -> String {
    chrono::DateTime::from_timestamp_millis(ms)
        .map(|t| t.to_rfc3339_opts(chrono::SecondsFormat::Millis, true))
        .unwrap_or_default()
}

/// The log. Lines are kept until [`CrawlLog::flush`] appends them to the file.
#[derive(Debug)]
pub(crate) struct CrawlLog {
    path: PathBuf,
    buffer: Vec<u8>,
    /// Lines in the buffer.
    lines: u64,
    /// Lines that did not reach the file, since it could not be written.
    lost: u64,
    max_bytes: u64,
    keep: u32,
}

impl CrawlLog {
    /// Opens `dir/crawl.log` for appending. Sets a log over `max_bytes` aside as `crawl.log.1` and so on up to
    /// `keep` old ones.
    pub(crate) fn open(dir: &Path, max_bytes: u64, keep: u32) -> io::Result<Self> {
        fs::create_dir_all(dir)?;
        let mut log = Self {
            path: dir.join("crawl.log"),
            buffer: Vec::new(),
            lines: 0,
            lost: 0,
            max_bytes,
            keep,
        };
        log.append()?;
        Ok(log)
    }

    /// Adds a line; it reaches the file with the next [`CrawlLog::flush`].
    pub(crate) fn write(&mut self, line: &LogLine) {
        let length = self.buffer.len();
        if serde_json::to_writer(&mut self.buffer, line).is_err() {
            self.buffer.truncate(length);
            return;
        }
        self.buffer.push(b'\n');
        self.lines += 1;
    }

    /// Appends what is buffered, then rotates if the log has become too large. A full disk must not stop the crawl: lines that
    /// cannot be written are counted as lost.
    pub(crate) fn flush(&mut self) {
        if self.lines == 0 {
            return;
        }
        let result = self.append();
        let lines = std::mem::take(&mut self.lines);
        self.buffer.clear();
        let path = self.path.display();
        match result {
            Ok(()) if self.lost > 0 => {
                let lost = std::mem::take(&mut self.lost);
                tracing::warn!(%path, lost, "crawl log is written again, these lines are missing");
            }
            Ok(()) => {}
            Err(error) => {
                if self.lost == 0 {
                    tracing::error!(%path, %error, "crawl log cannot be written, going on without it until it can");
                }
                self.lost += lines;
            }
        }
    }

    fn append(&mut self) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.create(true).read(true).append(true);
        let mut file = options.open(&self.path)?;
        let length = end_torn_line(&mut file)?;
        file.write_all(&self.buffer)?;
        if length + self.buffer.len() as u64 >= self.max_bytes {
            self.rotate()?;
        }
        Ok(())
    }

    fn rotate(&self) -> io::Result<()> {
        let old = |n: u32| self.path.with_extension(format!("log.{n}"));
        for n in (1..self.keep).rev() {
            if old(n).exists() {
                fs::rename(old(n), old(n + 1))?;
            }
        }
        if self.keep > 0 {
            fs::rename(&self.path, old(1))?;
        }
        File::create(&self.path).map(drop)
    }
}

/// A crash can leave half a line at the end: close it, so that the next line stands alone. Gives the length.
fn end_torn_line(file: &mut File) -> io::Result<u64> {
    let length = file.metadata()?.len();
    if length == 0 {
        return Ok(0);
    }
    file.seek(SeekFrom::Start(length - 1))?;
    let mut last = [0u8; 1];
    file.read_exact(&mut last)?;
    if last[0] == b'\n' {
        return Ok(length);
    }
    file.write_all(b"\n")?;
    Ok(length + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(n: usize) -> LogLine {
        LogLine {
            time: "2026-11-20T00:00:00Z".to_owned(),
            site: "s".to_owned(),
            queue: String::new(),
            url: format!("http://a.example/{n}"),
            outcome: VisitOutcome::Page,
            status: Some(200),
            reason: None,
            bytes: 10,
            elapsed_ms: 1,
            class: "article",
            kind: Some("article"),
            hops: 1,
            outlinks: 0,
            document: Some(DocumentChange::New),
            next: None,
        }
    }

    #[test]
    fn log_rotates_by_size() {
        let dir = tempfile::tempdir().unwrap();
        let mut log = CrawlLog::open(dir.path(), 400, 2).unwrap();
        for n in 0..20 {
            log.write(&line(n));
            log.flush();
        }
        let mut names: Vec<String> = fs::read_dir(dir.path())
            .unwrap()
            .map(|e| e.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        assert_eq!(names, ["crawl.log", "crawl.log.1", "crawl.log.2"]);
        let old = fs::read_to_string(dir.path().join("crawl.log.1")).unwrap();
        assert!(
            old.lines()
                .all(|l| serde_json::from_str::<serde_json::Value>(l).is_ok())
        );
    }

    #[test]
    fn log_recovers_after_failure() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("crawl.log");
        // A file of a full disk: opens, and takes no byte.
        std::os::unix::fs::symlink("/dev/full", &path).unwrap();
        let mut log = CrawlLog::open(dir.path(), 1 << 20, 2).unwrap();
        for n in 0..5 {
            log.write(&line(n));
        }
        log.flush();
        assert_eq!(log.lost, 5);
        // Still full.
        log.write(&line(5));
        log.flush();
        assert_eq!(log.lost, 6);
        // There is room again.
        fs::remove_file(&path).unwrap();
        log.write(&line(7));
        log.flush();
        assert_eq!(log.lost, 0);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains("a.example/7"), "{text}");
        assert_eq!(text.lines().count(), 1);
    }

    #[test]
    fn log_closes_torn_line() {
        let dir = tempfile::tempdir().unwrap();
        let mut log = CrawlLog::open(dir.path(), 1 << 20, 2).unwrap();
        log.write(&line(1));
        log.flush();
        drop(log);
        let path = dir.path().join("crawl.log");
        let whole = fs::read(&path).unwrap();
        for cut in 0..=whole.len() {
            fs::write(&path, &whole[..cut]).unwrap();
            let mut log = CrawlLog::open(dir.path(), 1 << 20, 2).unwrap();
            log.write(&line(2));
            log.flush();
            let text = fs::read_to_string(&path).unwrap();
            let last = text.lines().last().unwrap();
            assert!(
                serde_json::from_str::<serde_json::Value>(last).is_ok(),
                "cut at {cut}: {text}"
            );
        }
    }
}
