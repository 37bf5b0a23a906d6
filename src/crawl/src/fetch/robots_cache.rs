//! Caches the robots.txt of every authority that is crawled and returns a [`Verdict`] for a URL. A file is fetched once
//! however many tasks need it at the same moment, kept for a day, and for longer while its server fails. Never reads a
//! clock, never decides what happens to a refused page.
//!
//! RFC 9309 §2.3.1: a file that is not there (4xx) allows everything; one that cannot be had (429, 5xx, network)
//! refuses everything until it can.
//!
//! The cache is saved to a file and loaded at the next start, so that a restart fetches no file again that is an hour
//! old. A saved file that is missing, damaged or of another user agent costs requests, never a wrong verdict.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex as MapMutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use taojin_uri::CrawlUri;
use tokio::sync::Mutex;

use super::client::Fetcher;
use super::request::{Fetched, Request, Sink};
use super::robots::{MAX_ROBOTS_BYTES, Robots, Rule};
use super::warc::Exchange;
use crate::outcome::{Failure, VisitOutcome};

/// A crawl of more sites at once than this asks some twice a day.
const MAX_ENTRIES: usize = 20_000;

/// Most files are a kilobyte of rules for us; hostile ones must not fill the memory.
const MAX_BYTES: usize = 32 << 20;

/// First wait after a failure, doubled with each further one; also the time a stale file is kept in between.
const FIRST_RETRY_MS: i64 = 60_000;

/// Longest wait after failures.
const MAX_RETRY_MS: i64 = 6 * 3_600_000;

/// Longest wait that a server may ask for with `Retry-After`.
const MAX_ASKED_MS: i64 = 24 * 3_600_000;

/// How long after its end a file is used while its server fails. RFC 9309 §2.3.1.4 speaks of 30 days.
const MAX_STALE_MS: i64 = 30 * 24 * 3_600_000;

/// Whether a page may be fetched, and what else its robots.txt says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// Allowed or not, and why.
    pub access: Access,
    /// The delay that the file asks for, in milliseconds.
    pub crawl_delay_ms: Option<i64>,
    /// The sitemaps that the file names.
    pub sitemaps: Arc<[CrawlUri]>,
    /// How many requests were made for it now; they count towards politeness.
    pub requests: u32,
    /// Why the file could not be had, as a sentence; empty if it could.
    pub trouble: String,
}

/// Takes an exchange with a server for an archive.
pub type Archived<'a> = &'a (dyn Fn(&CrawlUri, &Exchange<'_>, &Fetched) + Send + Sync);

/// Allowed or not, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    /// Allowed, by this rule if one matched.
    Allowed(Option<Rule>),
    /// Refused by this rule.
    Refused(Rule),
    /// The file could not be had: nothing may be fetched before then.
    Unreachable {
        /// When it is tried again, Unix milliseconds.
        retry_at_ms: i64,
        /// How the last try ended: the word of its [`Failure`], or else of its [`VisitOutcome`].
        word: &'static str,
        /// The status of the last answer, if one came.
        status: Option<u16>,
    },
}

impl Access {
    /// Whether the page may be fetched now.
    pub fn is_allowed(&self) -> bool {
        matches!(self, Access::Allowed(_))
    }
}

/// What is known of one file.
#[derive(Default)]
pub(super) struct Known {
    /// The rules, once they were read; a file that is not there has none.
    pub(super) rules: Option<Rules>,
    /// Until then nothing is asked again.
    pub(super) fresh_until_ms: i64,
    /// Failures in a row, and how the last one ended.
    pub(super) failures: u32,
    pub(super) word: &'static str,
    pub(super) status: Option<u16>,
    pub(super) trouble: String,
}

pub(super) struct Rules {
    pub(super) robots: Robots,
    pub(super) sitemaps: Arc<[CrawlUri]>,
    pub(super) etag: Option<String>,
    pub(super) last_modified: Option<String>,
    pub(super) read_ms: i64,
}

pub(super) struct Slot {
    pub(super) known: Arc<Mutex<Known>>,
    pub(super) bytes: usize,
    pub(super) used_ms: i64,
}

/// robots.txt files by authority, for one agent.
#[derive(Default)]
pub struct RobotsCache {
    slots: MapMutex<Slots>,
}

#[derive(Default)]
pub(super) struct Slots {
    pub(super) by_file: HashMap<String, Slot>,
    /// The sum of all `Slot::bytes`.
    pub(super) bytes: usize,
}

impl RobotsCache {
    /// An empty cache.
    pub fn new() -> Self {
        Self::default()
    }

    /// Says whether `uri` may be fetched at `now_ms`; asks for its robots.txt if none is known or it is a day old, and
    /// shows `archive` each exchange of that.
    pub async fn verdict(
        &self,
        fetcher: &Fetcher,
        uri: &CrawlUri,
        now_ms: i64,
        archive: Option<Archived<'_>>,
    ) -> Verdict {
        let robots_txt = uri.robots_txt();
        let slot = self.slot(robots_txt.as_str(), now_ms);
        // who comes second waits here and finds the file read
        let mut known = slot.lock().await;
        let mut requests = 0;
        if !known.is_fresh(now_ms, fetcher.config().robots_ttl_ms) {
            requests = known.refresh(fetcher, &robots_txt, now_ms, archive).await;
            self.account(robots_txt.as_str(), known.heap_bytes());
        }
        known.verdict(uri, now_ms, requests)
    }

    /// Never held across an await; a panic elsewhere leaves it whole enough for a cache.
    pub(super) fn locked(&self) -> MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn slot(&self, key: &str, now_ms: i64) -> Arc<Mutex<Known>> {
        let mut slots = self.locked();
        if let Some(slot) = slots.by_file.get_mut(key) {
            slot.used_ms = now_ms;
            return Arc::clone(&slot.known);
        }
        if slots.by_file.len() >= MAX_ENTRIES || slots.bytes > MAX_BYTES {
            slots.evict();
        }
        let known = Arc::new(Mutex::new(Known::default()));
        let slot = Slot {
            known: Arc::clone(&known),
            bytes: 0,
            used_ms: now_ms,
        };
        slots.by_file.insert(key.to_owned(), slot);
        known
    }

    fn account(&self, key: &str, bytes: usize) {
        let mut slots = self.locked();
        if let Some(slot) = slots.by_file.get_mut(key) {
            let before = std::mem::replace(&mut slot.bytes, bytes);
            slots.bytes = slots.bytes + bytes - before;
        }
    }
}

impl Slots {
    /// Drops the eighth of the files that was not used for longest, and goes on while too much memory is held.
    fn evict(&mut self) {
        let mut used: Vec<(i64, String)> = Vec::with_capacity(self.by_file.len());
        used.extend(
            self.by_file
                .iter()
                .map(|(key, slot)| (slot.used_ms, key.clone())),
        );
        used.sort_unstable();
        let least = used.len().div_ceil(8);
        for (i, (_, key)) in used.iter().enumerate() {
            if i >= least && self.bytes <= MAX_BYTES / 8 * 7 {
                break;
            }
            self.drop_file(key);
        }
    }

    fn drop_file(&mut self, key: &str) {
        if let Some(slot) = self.by_file.remove(key) {
            self.bytes -= slot.bytes;
        }
    }
}

impl Known {
    fn verdict(&self, uri: &CrawlUri, now_ms: i64, requests: u32) -> Verdict {
        let Some(rules) = &self.rules else {
            let retry_at_ms = self.fresh_until_ms.max(now_ms);
            return Verdict {
                access: Access::Unreachable {
                    retry_at_ms,
                    word: self.word,
                    status: self.status,
                },
                crawl_delay_ms: None,
                sitemaps: Arc::new([]),
                requests,
                trouble: format!("its robots.txt cannot be had: {}", self.trouble),
            };
        };
        Verdict {
            access: match rules.robots.decide(uri) {
                Ok(rule) => Access::Allowed(rule.cloned()),
                Err(rule) => Access::Refused(rule.clone()),
            },
            crawl_delay_ms: rules.robots.crawl_delay_ms(),
            sitemaps: Arc::clone(&rules.sitemaps),
            requests,
            trouble: String::new(),
        }
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.rules.as_ref().map_or(0, |rules| {
            let sitemaps: usize = rules.sitemaps.iter().map(|s| s.as_str().len() + 96).sum();
            rules.robots.heap_bytes() + sitemaps
        })
    }

    /// Asks for the file; returns how many requests that took.
    async fn refresh(
        &mut self,
        fetcher: &Fetcher,
        robots_txt: &CrawlUri,
        now_ms: i64,
        archive: Option<Archived<'_>>,
    ) -> u32 {
        let mut requests = 0;
        let mut target = robots_txt.clone();
        let config = fetcher.config();
        loop {
            let mut request = Request::any(target.clone(), now_ms);
            if let Some(rules) = &self.rules {
                request.etag.clone_from(&rules.etag);
                request.last_modified.clone_from(&rules.last_modified);
            }
            let mut file = FileSink::default();
            let fetched = match archive {
                None => fetcher.fetch(&request, &mut file).await,
                Some(archive) => {
                    let mut exchange = Exchange::new(&mut file, config.max_body_bytes);
                    let fetched = fetcher.fetch(&request, &mut exchange).await;
                    archive(&target, &exchange, &fetched);
                    fetched
                }
            };
            requests += 1;
            if let Some(to) = fetched.redirect_target()
                && requests <= config.max_redirects
            {
                target.clone_from(to);
                continue;
            }
            match fetched.outcome {
                _ if fetched.is_page_or_beginning() => {
                    let robots = Robots::parse(&file.bytes, config.robots_token());
                    self.learn(robots, robots_txt, &fetched, now_ms);
                }
                // not there, or hidden behind too many redirects or a wrong one
                _ if is_absent(&fetched) => {
                    self.learn(Robots::default(), robots_txt, &fetched, now_ms);
                }
                VisitOutcome::NotModified => self.confirm(now_ms),
                _ => {
                    self.fail(&fetched, now_ms);
                    self.trouble = fetched.describe();
                    return requests;
                }
            }
            self.failures = 0;
            self.fresh_until_ms = now_ms.saturating_add(config.robots_ttl_ms);
            return requests;
        }
    }

    fn learn(&mut self, robots: Robots, robots_txt: &CrawlUri, fetched: &Fetched, now_ms: i64) {
        self.rules = Some(Rules {
            sitemaps: robots.sitemaps(robots_txt).into(),
            robots,
            etag: fetched.head.etag.clone(),
            last_modified: fetched.head.last_modified.clone(),
            read_ms: now_ms,
        });
    }

    /// Whether what is known still holds. Known for longer than ever planned it was by a clock that was ahead.
    fn is_fresh(&self, now_ms: i64, ttl_ms: i64) -> bool {
        let longest_ms = ttl_ms.max(MAX_RETRY_MS).max(MAX_ASKED_MS);
        let left_ms = self.fresh_until_ms.saturating_sub(now_ms);
        left_ms > 0 && left_ms <= longest_ms
    }

    fn confirm(&mut self, now_ms: i64) {
        if let Some(rules) = &mut self.rules {
            rules.read_ms = now_ms;
        }
    }

    /// Keeps what is known for a month, and tries again later and later.
    fn fail(&mut self, fetched: &Fetched, now_ms: i64) {
        let stale = |r: &Rules| now_ms.saturating_sub(r.read_ms) > MAX_STALE_MS;
        if self.rules.as_ref().is_some_and(stale) {
            self.rules = None;
        }
        let doubled = FIRST_RETRY_MS.saturating_mul(1 << self.failures.min(10));
        let asked = fetched.asked_pause_ms().unwrap_or(0);
        self.failures = self.failures.saturating_add(1);
        self.word = fetched
            .failure
            .map_or(fetched.outcome.as_str(), Failure::as_str);
        self.status = Some(fetched.head.status).filter(|status| *status > 0);
        self.fresh_until_ms = now_ms.saturating_add(doubled.min(MAX_RETRY_MS).max(asked));
    }
}

/// Any 4xx but 429 is an answer: there is no file (RFC 9309 §2.3.1.3).
fn is_absent(fetched: &Fetched) -> bool {
    let redirect =
        fetched.outcome == VisitOutcome::Redirect || fetched.failure == Some(Failure::BadRedirect);
    redirect || (matches!(fetched.head.status, 400..=499) && fetched.head.status != 429)
}

/// Takes as much of the file as is read.
#[derive(Default)]
struct FileSink {
    bytes: Vec<u8>,
}

impl Sink for FileSink {
    fn chunk(&mut self, bytes: &[u8]) -> ControlFlow<()> {
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len() > MAX_ROBOTS_BYTES {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

/// Changes with the form of the file and with what is taken out of a robots.txt.
const FORM: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Saved {
    form: u32,
    agent: String,
    files: Vec<SavedFile>,
}

#[derive(Serialize, Deserialize)]
struct SavedFile {
    url: String,
    fresh_until_ms: i64,
    read_ms: i64,
    etag: Option<String>,
    last_modified: Option<String>,
    robots: Robots,
}

impl RobotsCache {
    /// Writes what is known for the agent of this token; replaces the file at once or not at all.
    pub fn save(&self, path: &Path, agent: &str) -> io::Result<()> {
        let saved = Saved {
            form: FORM,
            agent: agent.to_owned(),
            files: self.saved_files(),
        };
        let fresh = path.with_extension("new");
        let mut file = BufWriter::new(File::create(&fresh)?);
        serde_json::to_writer(&mut file, &saved)?;
        file.flush()?;
        file.into_inner()
            .map_err(io::IntoInnerError::into_error)?
            .sync_all()?;
        fs::rename(&fresh, path)
    }

    /// A cache with what was saved for this agent; empty if there is nothing to be used.
    pub fn open(path: &Path, agent: &str) -> Self {
        let cache = RobotsCache::new();
        let Ok(file) = File::open(path) else {
            return cache;
        };
        match serde_json::from_reader::<_, Saved>(BufReader::new(file)) {
            Ok(saved) if saved.form == FORM && saved.agent == agent => {
                saved.files.into_iter().for_each(|file| cache.put(file));
            }
            Ok(_) => tracing::info!(
                "saved robots.txt files are of another version or agent, asked for again"
            ),
            Err(error) => {
                tracing::warn!(%error, path = %path.display(), "saved robots.txt files cannot be read, asked for again");
            }
        }
        cache
    }

    fn saved_files(&self) -> Vec<SavedFile> {
        let slots = self.locked();
        let mut files = Vec::new();
        for (url, slot) in &slots.by_file {
            // One that is being asked for right now is asked for again after the restart.
            let Ok(known) = slot.known.try_lock() else {
                continue;
            };
            let Some(rules) = &known.rules else { continue };
            files.push(SavedFile {
                url: url.clone(),
                fresh_until_ms: known.fresh_until_ms,
                read_ms: rules.read_ms,
                etag: rules.etag.clone(),
                last_modified: rules.last_modified.clone(),
                robots: rules.robots.clone(),
            });
        }
        files
    }

    fn put(&self, file: SavedFile) {
        let Ok(uri) = CrawlUri::parse(&file.url) else {
            return;
        };
        let known = Known {
            rules: Some(Rules {
                sitemaps: file.robots.sitemaps(&uri).into(),
                robots: file.robots,
                etag: file.etag,
                last_modified: file.last_modified,
                read_ms: file.read_ms,
            }),
            fresh_until_ms: file.fresh_until_ms,
            ..Known::default()
        };
        let bytes = known.heap_bytes();
        let mut slots = self.locked();
        slots.bytes += bytes;
        let slot = Slot {
            known: Arc::new(Mutex::new(known)),
            bytes,
            used_ms: file.read_ms,
        };
        slots.by_file.insert(file.url, slot);
    }
}
