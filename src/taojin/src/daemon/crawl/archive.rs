//! Replays WARC archives instead of fetching: [`Replay`] reads WARC and ARC files and yields their responses in the order in which
//! they were archived.

use std::collections::VecDeque;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;

use super::visit::body::{BodyForm, PageBody};
use super::visit::visitor::{ArchivedResponse, VisitSource, VisitTask};
use super::visit::{EndedLease, FinishedVisit};
use crate::config::Config;
use crate::daemon::now_ms;
use taojin_crawl::fetch::{self, Head, Record, Want, WarcError, WarcReader};
use taojin_crawl::frontier::Lease;
use taojin_crawl::scope::Scope;
use taojin_crawl::store::{UrlClass, UrlRecord, UrlVisit};
use taojin_extract as extract;
use taojin_extract::Document;
use taojin_extract::page::Page;
use taojin_uri::CrawlUri;

/// Site of archived pages that no configured site takes.
pub(crate) const SITE: &str = "warc";

/// Room for the header of an archived answer beside its body.
const HEADER_BYTES: u64 = 64 << 10;

/// The archives of a pass, read one after the other.
pub(crate) struct Replay {
    files: VecDeque<PathBuf>,
    reader: Option<(PathBuf, WarcReader)>,
    max_block_bytes: u64,
    scopes: Vec<(Arc<str>, Arc<Scope>)>,
    other: Arc<str>,
    /// Answers that are being read.
    in_flight: usize,
    /// Answers that were read and are not stored yet.
    arrived: Vec<FinishedVisit>,
    /// Files that could not be read, or not to their end.
    problems: Vec<String>,
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
            from: VisitSource::Archive(Box::new(archived)),
        })
    }

    /// An answer was read.
    pub(crate) fn take(&mut self, ended: EndedLease) {
        self.in_flight = self.in_flight.saturating_sub(1);
        // Nothing is asked for an archive, so nothing has to wait.
        if let EndedLease::Visited(finished) = ended {
            self.arrived.push(*finished);
        }
    }

    /// An answer was given to be read.
    pub(crate) fn note_sent(&mut self) {
        self.in_flight += 1;
    }

    /// Answers that are being read.
    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Answers that were read and are not stored yet.
    pub(crate) fn arrived(&self) -> usize {
        self.arrived.len()
    }

    /// Answers that are in memory.
    pub(crate) fn held(&self) -> usize {
        self.in_flight + self.arrived.len()
    }

    /// Takes the answers that were read.
    pub(crate) fn take_arrived(&mut self) -> Vec<FinishedVisit> {
        std::mem::take(&mut self.arrived)
    }

    /// Takes what was wrong with the files.
    pub(crate) fn take_problems(&mut self) -> Vec<String> {
        std::mem::take(&mut self.problems)
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
        document.asks.noindex |= head.noindex;
        document.asks.nofollow |= head.nofollow;
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
    match body.into_form() {
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
        template: None,
        first_seen_ms: 0,
        crashes: 0,
        visit: UrlVisit::default(),
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
