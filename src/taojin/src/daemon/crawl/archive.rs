//! WARC archives: replaying them instead of fetching, and archiving what the crawl fetches.
//!
//! [`Replay`] reads WARC and ARC files and yields their responses in the order in which they were archived. [`WarcSink`]
//! writes; it never fails a visit: an archive that cannot be written (full disk) is reported and tried again later.

use std::collections::VecDeque;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::Context as _;

use super::reading::{BodyForm, PageBody};
use super::visit::{ArchivedResponse, FinishedVisit, VisitTask};
use crate::config::Config;
use crate::daemon::now_ms;
use crate::daemon::shared::lock;
use taojin_crawl::fetch::{
    self, Archive, Exchange, Fetched, Head, Record, Want, WarcError, WarcReader,
};
use taojin_crawl::frontier::{Lease, Scope};
use taojin_crawl::store::{UrlClass, UrlRecord, Visit};
use taojin_extract as extract;
use taojin_extract::Document;
use taojin_extract::page::Page;
use taojin_uri::CrawlUri;

/// Site of archived pages that no configured site takes.
pub(crate) const SITE: &str = "warc";

/// Room for the header of an archived answer beside its body.
const HEADER_BYTES: u64 = 64 << 10;

/// Pause after an archive could not be written.
const RETRY_AFTER: Duration = Duration::from_secs(60);

/// The archives of a pass, read one after the other.
pub(crate) struct Replay {
    files: VecDeque<PathBuf>,
    reader: Option<(PathBuf, WarcReader)>,
    max_block_bytes: u64,
    scopes: Vec<(Arc<str>, Arc<Scope>)>,
    other: Arc<str>,
    /// Answers that are being read.
    pub(crate) in_flight: usize,
    /// Answers that were read and are not stored yet.
    pub(crate) arrived: Vec<FinishedVisit>,
    /// Files that could not be read, or not to their end.
    pub(crate) problems: Vec<String>,
}

impl Replay {
    /// The files in this order; at most `max_body_bytes` of each page.
    pub(crate) fn new(
        files: &[PathBuf],
        max_body_bytes: u64,
        scopes: Vec<(Arc<str>, Arc<Scope>)>,
    ) -> Self {
        Self {
            files: files.iter().cloned().collect(),
            reader: None,
            max_block_bytes: max_body_bytes.saturating_add(HEADER_BYTES),
            scopes,
            other: Arc::from(SITE),
            in_flight: 0,
            arrived: Vec::new(),
            problems: Vec::new(),
        }
    }

    /// The next answer, or none after the last.
    pub(crate) fn next(&mut self, now_ms: i64) -> Option<VisitTask> {
        loop {
            if self.reader.is_none() {
                let path = self.files.pop_front()?;
                match open(&path, self.max_block_bytes) {
                    Ok(reader) => self.reader = Some((path, reader)),
                    Err(error) => self.problems.push(format!("{}: {error:#}", path.display())),
                }
                continue;
            }
            let (path, reader) = self.reader.as_mut()?;
            match reader.read_record() {
                Ok(Some(record)) => {
                    if let Some(work) = self.work(record, now_ms) {
                        return Some(work);
                    }
                }
                end => {
                    self.problems.extend(problem(path, reader, end.err()));
                    self.reader = None;
                }
            }
        }
    }

    fn work(&self, record: Record, now_ms: i64) -> Option<VisitTask> {
        if !matches!(record.kind.as_str(), "response" | "resource") {
            return None;
        }
        let uri = target(&record)?;
        let takes = |scope: &Scope| scope.check(&uri, 0, 0, 0).is_ok();
        let site = self.scopes.iter().find(|(_, scope)| takes(scope));
        let site = site.map_or(&self.other, |(name, _)| name);
        let at_ms = record.date.as_deref().and_then(time).unwrap_or(now_ms);
        let lease = Lease::archived(unknown(uri, Arc::clone(site)));
        let archived = ArchivedResponse {
            record,
            at_ms: at_ms.min(now_ms),
        };
        Some(VisitTask {
            lease,
            archived: Some(Box::new(archived)),
            open: None,
        })
    }

    /// An answer was read.
    pub(crate) fn take(&mut self, finished: FinishedVisit) {
        self.in_flight = self.in_flight.saturating_sub(1);
        self.arrived.push(finished);
    }

    /// Whether answers are on their way.
    pub(crate) fn is_busy(&self) -> bool {
        self.in_flight > 0 || !self.arrived.is_empty()
    }
}

/// The documents of an archive, one for each page with a body, in order. Goes on after a broken record; what is wrong
/// with the file comes back in words.
pub fn documents_of_archive(
    path: &Path,
    config: &Config,
    mut each: impl FnMut(Document) -> anyhow::Result<()>,
) -> anyhow::Result<Option<String>> {
    pages_of_archive(path, config, |page, head, at_ms| {
        let context = extract::Context {
            now_ms: Some(at_ms),
            ..Default::default()
        };
        let mut document = extract::extract_with(&page, &context, &config.extract);
        document.noindex |= head.noindex;
        document.nofollow |= head.nofollow;
        each(document)
    })
}

/// The pages of an archive with the head of the answer and the time of the record, in order; as
/// [`documents_of_archive`].
pub(crate) fn pages_of_archive(
    path: &Path,
    config: &Config,
    mut each: impl FnMut(Page, Head, i64) -> anyhow::Result<()>,
) -> anyhow::Result<Option<String>> {
    let max_block_bytes = config.fetch.max_body_bytes.saturating_add(HEADER_BYTES);
    let mut reader = open(path, max_block_bytes)?;
    loop {
        match reader.read_record() {
            Ok(Some(record)) => {
                if let Some((page, head)) = page_of(&record, config) {
                    let at_ms = record.date.as_deref().and_then(time);
                    each(page, head, at_ms.unwrap_or_else(now_ms))?;
                }
            }
            Ok(None) => return Ok(problem(path, &reader, None)),
            Err(error) => return Err(error.into()),
        }
    }
}

fn page_of(record: &Record, config: &Config) -> Option<(Page, Head)> {
    let uri = target(record)?;
    let mut body = PageBody::new(&config.page, uri, UrlClass::Unknown);
    let (_, fetched) = fetch::replay(record, &config.fetch, Want::Page, &mut body)?;
    match body.form {
        BodyForm::Html(builder) if fetched.is_page_or_beginning() => {
            Some((builder.finish(), fetched.head))
        }
        _ => None,
    }
}

fn open(path: &Path, max_block_bytes: u64) -> anyhow::Result<WarcReader> {
    let file = File::open(path)?;
    WarcReader::new(file, max_block_bytes).context("cannot be read")
}

/// What is wrong with an archive that was read to its end.
fn problem(path: &Path, reader: &WarcReader, error: Option<WarcError>) -> Option<String> {
    let path = path.display();
    match error {
        Some(error) => Some(format!("{path}: {error}")),
        None if reader.is_broken() => Some(format!("{path}: breaks off before its end")),
        None if reader.skipped_bytes() > 0 => Some(format!(
            "{path}: {} bytes belong to no record",
            reader.skipped_bytes()
        )),
        None => None,
    }
}

/// The page that a record is of. What a crawler requested its own sake is none.
fn target(record: &Record) -> Option<CrawlUri> {
    let uri = CrawlUri::parse(record.target.as_deref()?).ok()?;
    (uri.path() != "/robots.txt").then_some(uri)
}

/// The record of an address before the store was asked.
fn unknown(uri: CrawlUri, site: Arc<str>) -> UrlRecord {
    UrlRecord {
        id: 0,
        host: 0,
        uri,
        site,
        hops: 1,
        redirects: 0,
        via: None,
        announced: None,
        first_seen_ms: 0,
        crashes: 0,
        visit: Visit::default(),
    }
}

/// `2014-01-03T03:03:21Z` of WARC or `20140103030321` of ARC in Unix milliseconds.
pub(crate) fn time(text: &str) -> Option<i64> {
    if let Ok(time) = chrono::DateTime::parse_from_rfc3339(text) {
        return Some(time.timestamp_millis());
    }
    let time = chrono::NaiveDateTime::parse_from_str(text, "%Y%m%d%H%M%S").ok()?;
    Some(time.and_utc().timestamp_millis())
}

/// The archive that all fetch tasks write to.
pub(crate) struct WarcSink {
    state: Mutex<State>,
}

struct State {
    archive: Archive,
    failed: Option<Instant>,
    /// Answers left out since it could not be written.
    lost: u64,
}

impl WarcSink {
    /// Archives into `dir`; a file is closed when it has grown to `max_bytes`.
    pub(crate) fn open(dir: &Path, max_bytes: u64) -> std::io::Result<Self> {
        let software = concat!("taojin/", env!("CARGO_PKG_VERSION"));
        Ok(Self {
            state: Mutex::new(State {
                archive: Archive::open(dir, max_bytes, software)?,
                failed: None,
                lost: 0,
            }),
        })
    }

    /// Archives one exchange that ended at `now_ms`.
    pub(crate) fn write(
        &self,
        uri: &CrawlUri,
        exchange: &Exchange<'_>,
        fetched: &Fetched,
        now_ms: i64,
    ) {
        let mut state = lock(&self.state);
        if state.failed.is_some_and(|at| at.elapsed() < RETRY_AFTER) {
            state.lost += 1;
            return;
        }
        match state.archive.write(uri, exchange, fetched, now_ms) {
            Ok(()) if state.lost > 0 => {
                let lost = std::mem::take(&mut state.lost);
                tracing::warn!(lost, "archive is written again, these answers are missing");
            }
            Ok(()) => {}
            Err(error) => {
                tracing::error!(%error, "archive cannot be written, pages go without for a minute");
                state.failed = Some(Instant::now());
                state.lost += 1;
            }
        }
    }

    /// Brings what was archived so far onto the disk, before the pages of it are committed.
    pub(crate) fn sync(&self) {
        let unsynced = lock(&self.state).archive.unsynced();
        let synced = unsynced.and_then(|file| file.map_or(Ok(()), |file| file.sync_data()));
        if let Err(error) = synced {
            tracing::error!(%error, "archive cannot be brought onto the disk");
        }
    }

    /// Returns the present file its final name.
    pub(crate) fn close(&self) {
        if let Err(error) = lock(&self.state).archive.close() {
            tracing::error!(%error, "archive cannot be closed; it will be at the next start");
        }
    }
}
