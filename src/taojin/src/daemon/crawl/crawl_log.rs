//! The crawl log: one JSON object a line for each fetch. In: what happened. Out: `crawl.log` in the data
//! folder's `log`, rotated by size. Never loses the crawl: a log that cannot be written is reported, tried again after a
//! while, and what it lacks is told.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Serialize;

use taojin_crawl::{DocumentChange, VisitOutcome};

/// One line of the crawl log. The names of the fields are stable.
#[derive(Debug, Clone, PartialEq, Serialize)]
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

/// The open log.
#[derive(Debug)]
pub(crate) struct CrawlLog {
    path: PathBuf,
    file: Option<BufWriter<File>>,
    bytes: u64,
    max_bytes: u64,
    keep: u32,
    /// Lines given since the last flush.
    unflushed: u64,
    /// Lines that did not reach the file, since it could not be written.
    lost: u64,
    retry_after: Duration,
    failed: Option<Instant>,
}

/// Pause before a log that could not be written (full disk) is opened again.
const RETRY_AFTER: Duration = Duration::from_secs(10);

impl CrawlLog {
    /// Opens `dir/crawl.log` for appending. Sets a log over `max_bytes` aside as `crawl.log.1` and so on up to
    /// `keep` old ones.
    pub(crate) fn open(dir: &Path, max_bytes: u64, keep: u32) -> io::Result<Self> {
        fs::create_dir_all(dir)?;
        let path = dir.join("crawl.log");
        let mut file = OpenOptions::new().create(true).append(true).open(&path)?;
        let bytes = end_torn_line(&path, &mut file)?;
        Ok(Self {
            path,
            file: Some(BufWriter::new(file)),
            bytes,
            max_bytes,
            keep,
            unflushed: 0,
            lost: 0,
            retry_after: RETRY_AFTER,
            failed: None,
        })
    }

    /// Adds a line; it reaches the file with the next [`CrawlLog::flush`].
    pub(crate) fn write(&mut self, line: &LogLine) {
        let Ok(mut text) = serde_json::to_vec(line) else {
            return;
        };
        text.push(b'\n');
        self.unflushed += 1;
        let Some(file) = &mut self.file else { return };
        self.bytes += text.len() as u64;
        let result = file.write_all(&text);
        self.give_up_on(result);
    }

    /// Writes what is buffered, then rotates if the log has become too large. One that could not be written is tried again
    /// after a while.
    pub(crate) fn flush(&mut self) {
        if self.file.is_none() {
            self.lost += std::mem::take(&mut self.unflushed);
            if self
                .failed
                .is_some_and(|at| at.elapsed() >= self.retry_after)
            {
                self.reopen();
            }
            return;
        }
        let result = self.file.as_mut().map_or(Ok(()), BufWriter::flush);
        if result.is_ok() && std::mem::take(&mut self.unflushed) > 0 && self.lost > 0 {
            let lost = std::mem::take(&mut self.lost);
            tracing::warn!(path = %self.path.display(), lost, "crawl log is written again, these lines are missing");
        }
        self.give_up_on(result);
        if self.bytes >= self.max_bytes && self.file.is_some() {
            let result = self.rotate();
            self.give_up_on(result);
        }
    }

    fn reopen(&mut self) {
        let opened = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.path)
            .and_then(|mut file| Ok((end_torn_line(&self.path, &mut file)?, file)));
        match opened {
            Ok((bytes, file)) => {
                self.file = Some(BufWriter::new(file));
                self.bytes = bytes;
            }
            Err(_) => self.failed = Some(Instant::now()),
        }
    }

    fn rotate(&mut self) -> io::Result<()> {
        let old = |n: u32| self.path.with_extension(format!("log.{n}"));
        if self.keep == 0 {
            fs::remove_file(&self.path)?;
        } else {
            for n in (1..self.keep).rev() {
                if old(n).exists() {
                    fs::rename(old(n), old(n + 1))?;
                }
            }
            fs::rename(&self.path, old(1))?;
        }
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.path)?;
        self.file = Some(BufWriter::new(file));
        self.bytes = 0;
        Ok(())
    }

    /// A full disk must not stop the crawl: say it and go on without a log for a while.
    fn give_up_on(&mut self, result: io::Result<()>) {
        let Err(error) = result else { return };
        if self.lost == 0 {
            let path = self.path.display();
            tracing::error!(%path, %error, "crawl log cannot be written, going on without it until it can");
        }
        if let Some(file) = self.file.take() {
            // What is buffered is not tried again: it could end in the middle of a line.
            let _ = file.into_parts();
        }
        self.lost += std::mem::take(&mut self.unflushed);
        self.failed = Some(Instant::now());
    }
}

/// A crash can leave half a line at the end: close it, so that the next line stands alone. Gives the length.
fn end_torn_line(path: &Path, file: &mut File) -> io::Result<u64> {
    use std::io::{Read, Seek, SeekFrom};
    let length = file.metadata()?.len();
    if length == 0 {
        return Ok(0);
    }
    let mut reader = File::open(path)?;
    reader.seek(SeekFrom::Start(length - 1))?;
    let mut last = [0u8; 1];
    reader.read_exact(&mut last)?;
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
    fn rotates_by_size_and_keeps_so_many() {
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
    fn a_log_that_could_not_be_written_comes_back() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("crawl.log");
        // A file of a full disk: opens, and takes no byte.
        std::os::unix::fs::symlink("/dev/full", &path).unwrap();
        let mut log = CrawlLog::open(dir.path(), 1 << 20, 2).unwrap();
        log.retry_after = Duration::ZERO;
        for n in 0..5 {
            log.write(&line(n));
        }
        log.flush();
        assert_eq!(log.lost, 5);
        // Still full.
        log.flush();
        log.write(&line(5));
        log.flush();
        assert_eq!(log.lost, 6);
        // There is room again.
        fs::remove_file(&path).unwrap();
        log.write(&line(6));
        log.flush();
        assert_eq!(log.lost, 7);
        log.write(&line(7));
        log.flush();
        assert_eq!(log.lost, 0);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains("a.example/7"), "{text}");
        assert_eq!(text.lines().count(), 1);
    }

    #[test]
    fn a_torn_last_line_spoils_no_other() {
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
