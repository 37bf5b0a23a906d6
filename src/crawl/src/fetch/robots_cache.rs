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

use super::gate::{Gate, Purpose, Refused, Trouble, Turn};
use super::request::{Fetched, Request, Sink};
use super::robots::{MAX_ROBOTS_BYTES, Robots, Rule};
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
pub(super) struct Verdict {
    /// Allowed or not, and why.
    pub(super) access: Access,
    /// The delay that the file asks for, in milliseconds.
    pub(super) crawl_delay_ms: Option<i64>,
    /// The sitemaps that the file names.
    pub(super) sitemaps: Arc<[CrawlUri]>,
}

/// Allowed or not, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Access {
    /// Allowed, by this rule if one matched.
    Allowed(Option<Rule>),
    /// Refused by this rule.
    Refused(Rule),
    /// The file could not be had: nothing may be fetched before then.
    Unreachable {
        /// When it is tried again, Unix milliseconds.
        retry_at_ms: i64,
        /// How the last try ended.
        trouble: Trouble,
    },
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
    pub(super) trouble: Option<Trouble>,
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
pub(super) struct RobotsCache {
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
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// Returns whether `uri` may be fetched now; fetches its robots.txt, through the gate, if none is known or it is a day old.
    pub(super) async fn verdict(&self, gate: &Gate, uri: &CrawlUri, turn: &mut Turn) -> Verdict {
        let robots_txt = uri.robots_txt();
        let slot = self.slot(robots_txt.as_str(), gate.now_ms());
        // who comes second waits here and finds the file read
        let mut known = slot.lock().await;
        if !known.is_fresh(gate.now_ms(), gate.config().robots_ttl_ms) {
            known.refresh(gate, &robots_txt, turn).await;
            self.account(robots_txt.as_str(), known.heap_bytes());
        }
        known.verdict(uri, gate.now_ms())
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
    fn verdict(&self, uri: &CrawlUri, now_ms: i64) -> Verdict {
        let Some(rules) = &self.rules else {
            let retry_at_ms = self.fresh_until_ms.max(now_ms);
            let unknown = || Trouble::new(VisitOutcome::Unreachable, String::new());
            return Verdict {
                access: Access::Unreachable {
                    retry_at_ms,
                    trouble: self.trouble.clone().unwrap_or_else(unknown),
                },
                crawl_delay_ms: None,
                sitemaps: Arc::new([]),
            };
        };
        Verdict {
            access: match rules.robots.decide(uri) {
                Ok(rule) => Access::Allowed(rule.cloned()),
                Err(rule) => Access::Refused(rule.clone()),
            },
            crawl_delay_ms: rules.robots.crawl_delay_ms(),
            sitemaps: Arc::clone(&rules.sitemaps),
        }
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.rules.as_ref().map_or(0, |rules| {
            let sitemaps: usize = rules.sitemaps.iter().map(|s| s.as_str().len() + 96).sum();
            rules.robots.heap_bytes() + sitemaps
        })
    }

    /// Fetches the file, and what it redirects to.
    async fn refresh(&mut self, gate: &Gate, robots_txt: &CrawlUri, turn: &mut Turn) {
        let mut redirects = 0;
        let mut target = robots_txt.clone();
        loop {
            let mut request = Request::any(target.clone());
            if let Some(rules) = &self.rules {
                request.etag.clone_from(&rules.etag);
                request.last_modified.clone_from(&rules.last_modified);
            }
            let mut file = FileSink::default();
            let purpose = Purpose::RobotsTxt {
                is_elsewhere: target.path() != "/robots.txt",
            };
            // The gate asks for a verdict before each fetch but this one: without the box their futures would hold each other.
            let fetched = Box::pin(gate.fetch(&request, purpose, turn, &mut file)).await;
            let now_ms = gate.now_ms();
            let fetched = match fetched {
                Ok(fetched) => fetched,
                Err(refused) => return self.fail(refusal(refused), 0, now_ms),
            };
            if let Some(to) = fetched.redirect_target()
                && redirects < gate.config().max_redirects
            {
                redirects += 1;
                target.clone_from(to);
                continue;
            }
            match fetched.outcome {
                _ if fetched.is_page_or_beginning() => {
                    let robots = Robots::parse(&file.bytes, gate.config().robots_token());
                    self.learn(robots, robots_txt, &fetched, now_ms);
                }
                // not there, or hidden behind too many redirects or a wrong one
                _ if is_absent(&fetched) => {
                    self.learn(Robots::default(), robots_txt, &fetched, now_ms);
                }
                VisitOutcome::NotModified => self.confirm(now_ms),
                _ => {
                    let trouble = Trouble {
                        failure: fetched.failure,
                        status: Some(fetched.head.status).filter(|status| *status > 0),
                        ..Trouble::new(fetched.outcome, fetched.describe())
                    };
                    return self.fail(trouble, fetched.asked_pause_ms().unwrap_or(0), now_ms);
                }
            }
            self.failures = 0;
            self.trouble = None;
            self.fresh_until_ms = now_ms.saturating_add(gate.config().robots_ttl_ms);
            return;
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

    /// Keeps what is known for a month, and tries again later and later, as late as the server asks.
    fn fail(&mut self, trouble: Trouble, asked_ms: i64, now_ms: i64) {
        let stale = |r: &Rules| now_ms.saturating_sub(r.read_ms) > MAX_STALE_MS;
        if self.rules.as_ref().is_some_and(stale) {
            self.rules = None;
        }
        let doubled = FIRST_RETRY_MS.saturating_mul(1 << self.failures.min(10));
        self.failures = self.failures.saturating_add(1);
        self.trouble = Some(trouble);
        self.fresh_until_ms = now_ms.saturating_add(doubled.min(MAX_RETRY_MS).max(asked_ms));
    }
}

/// Why the file cannot be had that the gate does not let us ask for.
fn refusal(refused: Refused) -> Trouble {
    match refused {
        Refused::Rules(rule) | Refused::OnTheWay(rule) => {
            Trouble::new(VisitOutcome::Unwanted, rule.describe())
        }
        Refused::Robots(rule) => Trouble::new(VisitOutcome::Unwanted, rule.pattern),
        Refused::RobotsAway(trouble) => trouble,
        Refused::Later(_) => Trouble::new(
            VisitOutcome::Busy,
            "its host asked for a long pause".to_owned(),
        ),
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
    pub(super) fn save(&self, path: &Path, agent: &str) -> io::Result<()> {
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
    pub(super) fn open(path: &Path, agent: &str) -> Self {
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
