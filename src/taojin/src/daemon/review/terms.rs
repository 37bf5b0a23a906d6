//! Domain terms: discovering and reviewing them.
//!
//! [`TermReviewer`] keeps the review list and the lexicon file of accepted terms. People decide, on the command line or the
//! web page; only terms above `terms.accept_above` are accepted without them, all those of a run at once. During a crawl,
//! discovery waits until no documents arrive any more and then works at most half of the time, so that neither crawl nor
//! searches wait for it.
//!
//! The lexicon file is the truth: what is in it is in use, whoever wrote it there. Accepting a term is one rename
//! of that file, so a kill at any instruction leaves the old file or the new one.

use std::collections::BTreeSet;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{fs, thread};

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

use super::term_corpus::{Budget, CORPUS_FILE, KeptCorpus, ReadDocuments};
use crate::config::{LoadedConfig, read_term_patterns};
use crate::daemon::index::IndexProgress;
use crate::daemon::shared::{Lifecycle, Shared};
use crate::daemon::{now_ms, spawn_thread};
use crate::documents::open_index;
use crate::serve::{ReviewList, ReviewTerm, SourceError, TermReview};
use taojin_crawl::store::{TermCounts, TermList, TermMark, TermRecord, TermState};
use taojin_search::analyze::{Analyzer, Lexicon, Term, edited, normalize, term_problem};
use taojin_search::index::Reader;
use taojin_search::terms::{self, Evidence, Found};

/// How often is looked whether the crawl is over.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// The crawl is over when the index took nothing for this long.
const QUIET: Duration = Duration::from_secs(30);
/// Also a crawl that never ends gets its terms found this often.
const LONGEST_WAIT: Duration = Duration::from_secs(6 * 3_600);
/// With fewer new documents, or a smaller share of them, the terms would be the same. A large index needs no more than are
/// read anyway.
const NEW_DOCUMENTS: (u64, u64) = (20, 1_000);
const NEW_SHARE: u64 = 20;
/// Least time between two looks: each may change the lexicon, and whatever depends on it is done again.
const SHORTEST_WAIT: Duration = Duration::from_secs(3_600);
/// Accepted terms that the log names.
const LOGGED_TERMS: usize = 30;
/// Terms that entered by themselves on the page, best first.
const LISTED_ENTERED: usize = 100;
/// A look that takes longer than this is given up; 16 million characters take some three minutes.
const LONGEST_LOOK: Duration = Duration::from_secs(1_200);
/// What is added to the niceness of the thread: as much as there is.
#[cfg(target_os = "linux")]
const LOWEST_PRIORITY: i32 = 19;
/// Longest pause in one piece: so long a stop of the daemon may wait.
const PAUSE: Duration = Duration::from_millis(50);

/// What the review list keeps of a term beside its counts.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TermFacts {
    /// Sentences that show its use.
    pub evidence: Vec<Evidence>,
    /// C-value.
    pub c_value: f64,
    /// NC-value.
    pub nc_value: f64,
    /// Entropy of its less free side, in bits.
    pub freedom: f64,
    /// Cohesion in bits; none for one word.
    pub cohesion: Option<f64>,
    /// Contrast with general text in bits.
    pub contrast: f64,
    /// Part-of-speech pattern.
    pub pattern: String,
    /// Whether the general dictionary has it.
    pub in_dictionary: bool,
}

impl TermFacts {
    /// What is kept of a term that was found.
    pub fn from_term(found: &Found) -> Self {
        let measured = &found.candidate;
        Self {
            evidence: found.evidence.clone(),
            c_value: measured.nested.c_value,
            nc_value: measured.nested.nc_value,
            freedom: measured.freedom,
            cohesion: measured.cohesion,
            contrast: measured.contrast,
            pattern: measured.pattern.pattern.name(),
            in_dictionary: measured.in_dictionary,
        }
    }

    /// As the review list has it; empty for terms that were never found but only decided about.
    pub fn read(record: &TermRecord) -> Self {
        serde_json::from_str(&record.facts).unwrap_or_default()
    }
}

/// What came of a look for terms.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KeptTerms {
    /// Terms on the review list now.
    pub proposed: usize,
    /// Terms that were accepted by themselves.
    pub accepted: Vec<String>,
}

impl KeptTerms {
    /// What entered the lexicon and the way back, in a line; none if nothing did.
    pub fn entered(&self) -> Option<String> {
        let named = self.accepted.get(..LOGGED_TERMS).unwrap_or(&self.accepted);
        let more = if named.len() < self.accepted.len() {
            " …"
        } else {
            ""
        };
        (!named.is_empty()).then(|| {
            format!(
                "{} terms entered the lexicon: {}{more}; `taojin terms reject TERM` takes one out",
                self.accepted.len(),
                named.join(" ")
            )
        })
    }
}

/// Where terms are decided about.
#[derive(Debug, Clone)]
pub struct TermReviewer {
    loaded: LoadedConfig,
}

impl TermReviewer {
    /// The review of this configuration.
    pub fn new(loaded: &LoadedConfig) -> Self {
        Self {
            loaded: loaded.clone(),
        }
    }

    /// Puts terms into the lexicon file; what is there already stays. How many are new there. An error names the
    /// first text that cannot be a term; then nothing is changed.
    pub fn accept(&self, terms: &[String]) -> anyhow::Result<usize> {
        self.accept_as(TermState::Accepted, terms)
    }

    fn accept_as(&self, state: TermState, terms: &[String]) -> anyhow::Result<usize> {
        for term in terms {
            if let Some(problem) = term_problem(term) {
                anyhow::bail!("{term:?}: {problem}");
            }
        }
        let named = terms
            .iter()
            .map(|term| (normal(term), term.trim().to_owned()));
        self.add(state, terms, named.collect())
    }

    /// Accepts all terms of a lexicon, with their tags. How many are new.
    pub fn import(&self, lexicon: &Lexicon) -> anyhow::Result<usize> {
        let lines = lexicon.terms().map(|term| match &term.tag {
            Some(tag) => format!("{}\t{tag}", term.text),
            None => term.text.clone(),
        });
        let lines: Vec<String> = lines.collect();
        let named = lexicon
            .terms()
            .map(|term| (term.text.clone(), term.text.clone()));
        self.add(TermState::Accepted, &lines, named.collect())
    }

    /// Adds lines to the lexicon file and notes the decision about the terms (normal form, as written) in them.
    fn add(
        &self,
        state: TermState,
        lines: &[String],
        named: Vec<(String, String)>,
    ) -> anyhow::Result<usize> {
        let before = self.accepted_set()?;
        let add: Vec<&str> = lines.iter().map(String::as_str).collect();
        let new: BTreeSet<&String> = named
            .iter()
            .map(|(normal, _)| normal)
            .filter(|normal| !before.contains(*normal))
            .collect();
        let new = new.len();
        self.decide(state, named, |text| edited(text, &add, &[], &[]))?;
        Ok(new)
    }

    /// Takes terms out of use and off the list, for good. A term of another lexicon is taken out by a line `-term` in
    /// the file of accepted ones. How many were in use.
    pub fn reject(&self, terms: &[String]) -> anyhow::Result<usize> {
        let given: BTreeSet<String> = self
            .loaded
            .given_lexicons()?
            .iter()
            .flat_map(|lexicon| lexicon.terms().map(|term| term.text.clone()))
            .collect();
        let before = self.accepted_set()?;
        let normals: BTreeSet<String> = terms.iter().map(|term| normal(term)).collect();
        let remove: Vec<&str> = normals.iter().map(String::as_str).collect();
        let elsewhere = normals.iter().filter(|term| given.contains(*term));
        let without: Vec<&str> = elsewhere.map(String::as_str).collect();
        let named = terms
            .iter()
            .map(|term| (normal(term), term.trim().to_owned()));
        self.decide(TermState::Rejected, named.collect(), |text| {
            edited(text, &[], &remove, &without)
        })?;
        let in_use = |term: &&String| before.contains(*term) || given.contains(*term);
        Ok(normals.iter().filter(in_use).count())
    }

    /// Puts what was found on the review list, in place of what was proposed before, and accepts what
    /// `terms.accept_above` says.
    pub fn keep(&self, found: &[Found], mark: TermMark) -> anyhow::Result<KeptTerms> {
        let mut list = TermList::open(&self.loaded.config.data_dir)?;
        let records: Vec<TermRecord> = found
            .iter()
            .map(|found| record(found, mark.at_ms))
            .collect::<anyhow::Result<_>>()?;
        list.propose(&records, mark)?;
        let (name, text) = self.file()?;
        let lexicon = Lexicon::parse(&name, &text)?;
        let removed: BTreeSet<&str> = lexicon.removed().collect();
        let mut accepted = Vec::new();
        let config = &self.loaded.config.terms;
        // Nodes that share a store have lexicons of their own: a term of one alone would make them answer differently.
        let may_enter = !self.loaded.store_place().is_postgres();
        for found in found
            .iter()
            .filter(|found| may_enter && found.is_sure(config))
        {
            let normal = &found.candidate.normal;
            let known = list.get(normal)?;
            let open = known.is_some_and(|known| known.state == TermState::Proposed);
            if open && !removed.contains(&**normal) && term_problem(&found.term).is_none() {
                accepted.push(found.term.clone());
            }
        }
        drop(list);
        if !accepted.is_empty() {
            self.accept_as(TermState::Entered, &accepted)?;
        }
        let proposed = self.counts()?.proposed;
        Ok(KeptTerms {
            proposed: usize::try_from(proposed).unwrap_or(usize::MAX),
            accepted,
        })
    }

    /// The terms of the lexicon file, in its order.
    pub fn accepted(&self) -> anyhow::Result<Vec<Term>> {
        let (name, text) = self.file()?;
        Ok(Lexicon::parse(&name, &text)?.terms().cloned().collect())
    }

    /// Terms on the review list with this decision, best first.
    pub fn list(
        &self,
        state: TermState,
        offset: usize,
        limit: usize,
    ) -> anyhow::Result<Vec<TermRecord>> {
        match self.review()? {
            Some(list) => Ok(list.list(state, offset, limit)?),
            None => Ok(Vec::new()),
        }
    }

    /// Terms that entered the lexicon by themselves and are still there, best first.
    pub fn entered(&self, limit: usize) -> anyhow::Result<Vec<TermRecord>> {
        let in_use = self.accepted_set()?;
        let mut all = self.list(TermState::Entered, 0, usize::MAX)?;
        all.retain(|record| in_use.contains(&record.normal));
        all.truncate(limit);
        Ok(all)
    }

    /// How many terms there are; accepted ones counted in the file.
    pub fn counts(&self) -> anyhow::Result<TermCounts> {
        let counts = self.review()?.map(|list| list.counts()).transpose()?;
        Ok(TermCounts {
            accepted: self.accepted()?.len() as u64,
            ..counts.unwrap_or_default()
        })
    }

    /// Up to where was looked last.
    pub fn mark(&self) -> anyhow::Result<TermMark> {
        let mark = self.review()?.map(|list| list.mark()).transpose()?;
        Ok(mark.unwrap_or_default())
    }

    fn review(&self) -> anyhow::Result<Option<TermList>> {
        let dir = &self.loaded.config.data_dir;
        Ok(TermList::exists(dir)
            .then(|| TermList::open(dir))
            .transpose()?)
    }

    fn accepted_set(&self) -> anyhow::Result<BTreeSet<String>> {
        Ok(self.accepted()?.into_iter().map(|term| term.text).collect())
    }

    /// Name and text of the lexicon file; one that is not there is empty.
    fn file(&self) -> anyhow::Result<(String, String)> {
        let path = self.loaded.accepted_terms();
        let name = path.display().to_string();
        match fs::read_to_string(&path) {
            Ok(text) => Ok((name, text)),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok((name, String::new())),
            Err(e) => Err(e).context(format!("{name} cannot be read")),
        }
    }

    fn decide(
        &self,
        state: TermState,
        named: Vec<(String, String)>,
        change: impl FnOnce(&str) -> String,
    ) -> anyhow::Result<()> {
        let mut list = TermList::open(&self.loaded.config.data_dir)?;
        list.alone(state, now_ms(), || {
            let (name, text) = self.file()?;
            let changed = change(&text);
            Lexicon::parse(&name, &changed)?;
            if changed != text {
                replace(&self.loaded.accepted_terms(), &changed)
                    .with_context(|| format!("{name} cannot be written"))?;
            }
            anyhow::Ok(named)
        })?;
        Ok(())
    }
}

impl TermReview for TermReviewer {
    fn list(&self, offset: usize, limit: usize) -> Result<ReviewList, SourceError> {
        let read = || {
            let counts = self.counts()?;
            let records = TermReviewer::list(self, TermState::Proposed, offset, limit)?;
            let entered = self.entered(LISTED_ENTERED)?;
            anyhow::Ok(ReviewList {
                proposed: counts.proposed,
                accepted: counts.accepted,
                rejected: counts.rejected,
                entered: entered.into_iter().map(|record| record.term).collect(),
                terms: records.iter().map(review_term).collect(),
            })
        };
        read().map_err(failed)
    }

    fn accept(&self, terms: &[String]) -> Result<usize, SourceError> {
        TermReviewer::accept(self, terms).map_err(failed)
    }

    fn reject(&self, terms: &[String]) -> Result<usize, SourceError> {
        TermReviewer::reject(self, terms).map_err(failed)
    }
}

fn failed(error: anyhow::Error) -> SourceError {
    SourceError::Failed(format!("{error:#}"))
}

fn review_term(record: &TermRecord) -> ReviewTerm {
    let facts = TermFacts::read(record);
    let marked = |evidence: Evidence| crate::serve::Marked {
        marks: std::iter::once(evidence.mark.0..evidence.mark.1).collect(),
        text: evidence.sentence,
    };
    ReviewTerm {
        term: record.term.clone(),
        termhood: record.termhood,
        occurrences: record.occurrences,
        documents: record.documents,
        in_dictionary: facts.in_dictionary,
        evidence: facts.evidence.into_iter().map(marked).collect(),
    }
}

fn record(found: &Found, now_ms: i64) -> anyhow::Result<TermRecord> {
    let measured = &found.candidate;
    Ok(TermRecord {
        normal: measured.normal.clone(),
        term: found.term.clone(),
        termhood: measured.termhood,
        occurrences: u64::from(measured.occurrences),
        documents: u64::from(measured.documents),
        facts: serde_json::to_string(&TermFacts::from_term(found))?,
        state: TermState::Proposed,
        found_ms: now_ms,
        decided_ms: None,
    })
}

fn normal(term: &str) -> String {
    normalize(term).trim().to_owned()
}

/// Writes a file so that a reader, also after a crash, finds the old text or the new one. A link is followed, the
/// rights of the file stay.
fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let dir = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(dir)?;
    let mut file = tempfile::NamedTempFile::new_in(dir)?;
    file.write_all(text.as_bytes())?;
    let rights = match fs::metadata(&path) {
        Ok(meta) => meta.permissions(),
        Err(_) => fs::Permissions::from_mode(0o644),
    };
    file.as_file().set_permissions(rights)?;
    file.as_file().sync_all()?;
    file.persist(&path)?;
    fs::File::open(dir)?.sync_all()
}

/// What a search for terms found, before it is put on the review list.
#[derive(Debug)]
pub struct DiscoveredTerms {
    /// The terms, best first.
    pub found: Vec<Found>,
    /// Up to where was looked.
    pub mark: TermMark,
    /// What of the documents was read for it.
    pub documents: ReadDocuments,
}

/// Finds the terms of an index; none if `go_on` said no. Only documents that are new since the last search are read, within
/// `budget`.
pub fn discover_in_index(
    loaded: &LoadedConfig,
    reader: &Reader,
    config: &terms::Config,
    budget: Budget,
    go_on: &mut dyn FnMut() -> bool,
) -> anyhow::Result<Option<DiscoveredTerms>> {
    let mark = TermMark {
        seq: reader.last_seq()?,
        at_ms: now_ms(),
    };
    let path = loaded.config.data_dir.join(CORPUS_FILE);
    let kept = KeptCorpus::load(&path, read_term_patterns(loaded)?);
    let budget = budget.chars(config.max_chars);
    let Some((kept, documents)) = kept.read_new(reader, budget, go_on)? else {
        return Ok(None);
    };
    // It only saves work.
    if let Err(error) = kept.save(&path) {
        tracing::warn!(file = %path.display(), %error, "the words of the documents cannot be kept for the next search for terms");
    }
    let dictionary = reader.analyzer().dictionary();
    let found = kept.discover(reader, &dictionary, config, go_on)?;
    Ok(found.map(|found| DiscoveredTerms {
        found,
        mark,
        documents,
    }))
}

/// What came of a search for terms after a crawl.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TermSearch {
    /// Too little is new, or the last search was too recent.
    NotDue,
    /// It was stopped, or took too long. The next one takes up what this one left.
    Stopped,
    /// It failed, for the reason in the log. The next one takes up what this one left.
    Failed,
    /// It was done.
    Done {
        /// What of the documents was read for it.
        documents: ReadDocuments,
        /// What went onto the review list.
        kept: KeptTerms,
    },
}

/// Finds terms in what is new and puts them on the review list.
fn find_terms(
    loaded: &LoadedConfig,
    analyzer: &Analyzer,
    go_on: &mut dyn FnMut() -> bool,
) -> anyhow::Result<TermSearch> {
    let reader = open_index(loaded, analyzer)?;
    let config = &loaded.config.terms;
    let discovered = discover_in_index(loaded, &reader, config, Budget::Share, go_on)?;
    let Some(discovered) = discovered else {
        return Ok(TermSearch::Stopped);
    };
    let kept = TermReviewer::new(loaded).keep(&discovered.found, discovered.mark)?;
    Ok(TermSearch::Done {
        documents: discovered.documents,
        kept,
    })
}

/// Whether enough documents, and enough time, came after the last look. A clock that was set back counts as time.
fn is_due(mark: TermMark, indexed: u64, now_ms: i64) -> bool {
    let (least, most) = NEW_DOCUMENTS;
    let wanted = (mark.seq / NEW_SHARE).clamp(least, most);
    let waited_ms = u64::try_from(now_ms.saturating_sub(mark.at_ms)).unwrap_or(u64::MAX);
    indexed >= mark.seq.saturating_add(wanted) && Duration::from_millis(waited_ms) >= SHORTEST_WAIT
}

/// Looks for terms after a single pass over the sites, if the configuration asks for it and enough is new, at low priority
/// and until `stop` ends. The log says what it found.
pub async fn find_terms_after_crawl(
    loaded: &LoadedConfig,
    stop: impl Future<Output = ()>,
) -> TermSearch {
    if !loaded.config.terms.after_crawl || !loaded.config.cluster.serve {
        return TermSearch::NotDue;
    }
    let (loaded, started) = (loaded.clone(), Instant::now());
    let is_stopping = Arc::new(AtomicBool::new(false));
    let is_stopped = Arc::clone(&is_stopping);
    let search = move || {
        lower_priority();
        let mark = TermReviewer::new(&loaded).mark()?;
        let analyzer = loaded.analyzer()?;
        // A pass that found nothing may have made no index.
        let Ok(reader) = open_index(&loaded, &analyzer) else {
            return Ok(TermSearch::NotDue);
        };
        let indexed = reader.last_seq()?;
        drop(reader);
        if !is_due(mark, indexed, now_ms()) {
            return Ok(TermSearch::NotDue);
        }
        find_terms(&loaded, &analyzer, &mut || {
            !is_stopped.load(Ordering::Relaxed) && started.elapsed() < LONGEST_LOOK
        })
    };
    let mut searching = tokio::task::spawn_blocking(search);
    let done = tokio::select! {
        done = &mut searching => done,
        () = stop => {
            is_stopping.store(true, Ordering::Relaxed);
            searching.await
        }
    };
    let outcome = done.context("the search for terms panicked");
    log(outcome.and_then(|outcome| outcome), started)
}

/// Lets all other threads of the machine go first. Only this thread, and only where a thread has a priority of its own.
fn lower_priority() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::nice(LOWEST_PRIORITY) {
        tracing::debug!(%error, "the search for terms keeps its priority");
    }
}

/// Says what a search for terms has brought, and returns it.
fn log(outcome: anyhow::Result<TermSearch>, started: Instant) -> TermSearch {
    let took_s = started.elapsed().as_secs();
    let outcome = outcome.unwrap_or_else(|error| {
        tracing::error!(error = %format!("{error:#}"), "terms cannot be looked for");
        TermSearch::Failed
    });
    match &outcome {
        TermSearch::Done { documents, kept } => {
            let ReadDocuments { read, new } = *documents;
            tracing::info!(
                read,
                new,
                proposed = kept.proposed,
                took_s,
                "looked for terms"
            );
            if read < new {
                tracing::info!(
                    "terms: the newest {read} of {new} new documents were read: more would cost more than a small part of the crawl"
                );
            }
            if let Some(entered) = kept.entered() {
                tracing::info!("{entered}");
            }
        }
        TermSearch::Stopped => tracing::debug!(took_s, "the search for terms was given up"),
        TermSearch::NotDue | TermSearch::Failed => {}
    }
    outcome
}

/// Looks for terms beside the crawl until the daemon stops, if the configuration asks for it.
pub(crate) fn start_looking(
    loaded: &LoadedConfig,
    analyzer: &Analyzer,
    shared: &Shared,
) -> anyhow::Result<()> {
    if loaded.config.terms.after_crawl {
        let beside = BackgroundPace {
            loaded: loaded.clone(),
            analyzer: analyzer.clone(),
            index: Arc::clone(shared.index()),
            lifecycle: Arc::clone(shared.lifecycle()),
        };
        spawn_thread("terms", move || beside.run())?;
    }
    Ok(())
}

struct BackgroundPace {
    loaded: LoadedConfig,
    analyzer: Analyzer,
    index: Arc<IndexProgress>,
    lifecycle: Arc<Lifecycle>,
}

impl BackgroundPace {
    fn run(self) {
        lower_priority();
        let mut mark = TermReviewer::new(&self.loaded).mark().unwrap_or_default();
        let mut waiting = Instant::now();
        let (mut last, mut since) = (self.index.indexed(), Instant::now());
        loop {
            thread::sleep(LOOK_EVERY);
            if self.lifecycle.is_stopping() {
                return;
            }
            let indexed = self.index.indexed();
            if indexed != last {
                (last, since) = (indexed, Instant::now());
            }
            let over = since.elapsed() >= QUIET && self.index.lag() == 0;
            let late = waiting.elapsed() >= LONGEST_WAIT;
            let now_ms = now_ms();
            if !(over || late) || !is_due(mark, indexed, now_ms) {
                continue;
            }
            // Also where the look fails: it would fail again at once.
            mark = TermMark {
                seq: indexed,
                at_ms: now_ms,
            };
            waiting = Instant::now();
            self.look();
        }
    }

    fn look(&self) {
        let mut pace = Pace::new();
        let outcome = find_terms(&self.loaded, &self.analyzer, &mut || {
            pace.rest();
            !self.lifecycle.is_stopping() && pace.started.elapsed() < LONGEST_LOOK
        });
        log(outcome, pace.started);
    }
}

/// Rests as long as was worked.
struct Pace {
    started: Instant,
    since: Instant,
}

impl Pace {
    fn new() -> Self {
        let now = Instant::now();
        Self {
            started: now,
            since: now,
        }
    }

    fn rest(&mut self) {
        let worked = self.since.elapsed();
        // Shorter rests would cost more than they give.
        if worked >= Duration::from_millis(5) {
            thread::sleep(worked.min(PAUSE));
            self.since = Instant::now();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn look_is_due_after_enough_documents_and_time() {
        const HOUR_MS: i64 = 3_600_000;
        for (seq, indexed, waited_ms, is_due_now, case) in [
            (0, 19, i64::MAX, false, "too few for a first look"),
            (0, 20, i64::MAX, true, "enough for a first look"),
            (1_000, 1_049, HOUR_MS, false, "a small share is new"),
            (1_000, 1_050, HOUR_MS, true, "a share is new"),
            (1_000, 2_000, HOUR_MS - 1, false, "too soon after the last"),
            (1_000_000, 1_001_000, HOUR_MS, true, "as much as is read"),
            (1_000, 2_000, -5, true, "the clock was set back"),
            (1_000, 20, HOUR_MS, false, "the index was made again"),
        ] {
            let mark = TermMark { seq, at_ms: 0 };
            assert_eq!(is_due(mark, indexed, waited_ms), is_due_now, "{case}");
        }
    }

    #[test]
    fn entered_terms_are_named_with_the_way_back() {
        let kept = |n: usize| KeptTerms {
            proposed: 0,
            accepted: (0..n).map(|n| format!("词{n}")).collect(),
        };
        assert_eq!(kept(0).entered(), None);
        assert_eq!(
            kept(2).entered().as_deref(),
            Some("2 terms entered the lexicon: 词0 词1; `taojin terms reject TERM` takes one out")
        );
        let many = kept(500).entered().expect("some entered");
        assert!(
            many.starts_with("500 terms") && many.contains("词29 …;"),
            "{many}"
        );
    }
}
