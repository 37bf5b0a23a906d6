//! The index in OpenSearch, so that several nodes search one.
//!
//! One node of a cluster writes it for all; another takes over when it is silent.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::IndexProgress;
use super::engine::{Claim, Engine, Opened, Pace};
use super::feeding::LogFeed;
use crate::config::LoadedConfig;
use crate::daemon::Shared;
use crate::daemon::watchdog::{Heartbeat, Worker};
use crate::documents::{RemoteAt, StoreDocuments};
use crate::serve::metrics;
use taojin_crawl::store::StoreIdentity;
use taojin_search::analyze::Analyzer;
use taojin_search::index::remote::{Origin, RemoteLease, RemoteState, RemoteWriter};
use taojin_search::index::{self, IndexWriter as _};

/// A document is searchable this long after it came in, plus the time of a commit: three requests.
const COMMIT_AFTER: Duration = Duration::from_secs(1);
/// Changes between two commits while there are always more.
const COMMIT_ROWS: usize = 4_096;
/// How often a holder says that it is there, and others look whether it is.
pub(super) const BEAT_EVERY: Duration = Duration::from_secs(5);
/// A holder that was silent for so long by the clock of the one who waits is gone.
pub(super) const SILENT: Duration = Duration::from_secs(20);
/// Time without new documents after which the engine is to write what it has into its files.
const FLUSH_AFTER: Duration = Duration::from_secs(15);
/// How often the documents of index and store are counted, beside the first time.
const AUDIT_EVERY: Duration = Duration::from_secs(3_600);
/// The same after they differed: an engine remembers for a minute that somebody deleted a document there, and takes it from
/// nobody meanwhile.
const AUDIT_AGAIN: Duration = Duration::from_secs(120);

/// The index in an engine, and the right to write it.
pub(super) struct RemoteEngine {
    at: RemoteAt,
    analyzer: Analyzer,
    config: index::Config,
    documents: Arc<StoreDocuments>,
    store: StoreIdentity,
    candidate: Candidate,
    lease: Option<RemoteLease>,
    last_beat: Instant,
    next_audit: Instant,
    is_flushed: bool,
    progress: Arc<IndexProgress>,
    heartbeat: Heartbeat,
}

/// This program as one of those that could write the index, of which one at a time does.
struct Candidate {
    /// As the state of the index names its holder.
    name: String,
    /// Whether no other one can be there: the store is a file of this machine, which this program has locked.
    is_alone: bool,
    /// The state that was seen last, and since when it is the same.
    seen: Option<(RemoteState, Instant)>,
}

impl Candidate {
    fn new(is_alone: bool) -> Self {
        Self {
            name: some_name(),
            is_alone,
            seen: None,
        }
    }

    /// Whether nobody else holds the index by this state.
    fn is_unopposed(&self, state: &RemoteState) -> bool {
        self.is_alone || state.holder.is_empty() || state.holder == self.name
    }

    /// Whether the holder is gone: its state has not changed for [`SILENT`]. To be asked every few seconds.
    fn may_take_over(&mut self, state: RemoteState, now: Instant) -> bool {
        match &self.seen {
            Some((seen, since)) if *seen == state => {
                now.saturating_duration_since(*since) >= SILENT
            }
            _ => {
                self.seen = Some((state, now));
                false
            }
        }
    }
}

impl RemoteEngine {
    /// What is asked of the engine ends once a stop has no more time for it.
    pub(super) fn new(
        loaded: &LoadedConfig,
        at: RemoteAt,
        analyzer: &Analyzer,
        store: StoreIdentity,
        shared: &Shared,
    ) -> Self {
        let stop = shared.lifecycle().engine_stop().clone();
        let place = loaded.store_place();
        let now = Instant::now();
        Self {
            at: RemoteAt {
                index: at.index.with_stop(stop),
                ..at
            },
            analyzer: analyzer.clone(),
            config: loaded.config.index.clone(),
            candidate: Candidate::new(!place.is_postgres()),
            documents: Arc::new(StoreDocuments::new(place)),
            store,
            lease: None,
            last_beat: now,
            next_audit: now,
            is_flushed: false,
            progress: Arc::clone(shared.index()),
            heartbeat: shared.heartbeat(Worker::Indexer),
        }
    }

    fn lease(&self) -> anyhow::Result<&RemoteLease> {
        (self.lease.as_ref()).ok_or_else(|| anyhow::Error::msg("the index is not held"))
    }

    /// Mends the index where it has another number of documents than the store: somebody changed it there, or what it had
    /// confirmed was lost. Returns whether it had.
    fn audit(&mut self, writer: &mut RemoteWriter, log: &mut LogFeed) -> anyhow::Result<bool> {
        let seq = writer.last_seq();
        let number = i64::try_from(seq).unwrap_or(i64::MAX);
        let store = log.reader().present_documents()?;
        let waiting = log.reader().documents_waiting(number)?;
        let waiting = u64::try_from(waiting).unwrap_or_default();
        let index = writer.num_docs()? + writer.left_out().count();
        if index.abs_diff(store) <= waiting {
            tracing::debug!(index, store, "index and store have the same documents");
            return Ok(false);
        }
        tracing::warn!(
            index,
            store,
            "index and store have different numbers of documents; they are compared"
        );
        let mut repaired: HashSet<u64> = HashSet::new();
        let mut after = 0;
        while after < seq {
            self.heartbeat.record();
            self.keep_claim()?;
            let (listed, until) = writer.listed_after(after)?;
            let stored = log.reader().present_between(after, until)?;
            let [there, wanted] = [&listed, &stored].map(|of| of.iter().collect::<HashSet<_>>());
            for (fingerprint, version) in there.symmetric_difference(&wanted) {
                match log.reader().document(*fingerprint)? {
                    // The log brings it.
                    Some(row) if row.seq > number => continue,
                    Some(row) => log.add(&row, writer)?,
                    None => writer.delete(*fingerprint, *version)?,
                }
                // An altered one is here and there, and counts once.
                repaired.insert(*fingerprint);
            }
            after = until;
        }
        writer.commit(seq)?;
        let repaired = repaired.len() as u64;
        ::metrics::counter!(metrics::INDEX_REPAIRED_TOTAL).increment(repaired);
        tracing::warn!(
            documents = repaired,
            "the search index was repaired from the store"
        );
        Ok(true)
    }
}

impl Engine for RemoteEngine {
    type Writer = RemoteWriter;

    fn pace(&self) -> Pace {
        Pace {
            commit_after: COMMIT_AFTER,
            commit_rows: COMMIT_ROWS,
        }
    }

    fn claim(&mut self, log: &LogFeed, takes_over: bool) -> anyhow::Result<Claim> {
        // What was held before is read again: another one may have it.
        self.lease = None;
        let state = self.at.index.state()?;
        let seq = state.served.seq;
        let is_free = self.candidate.is_unopposed(&state)
            || self.candidate.may_take_over(state, Instant::now());
        if !is_free {
            return Ok(Claim::Others { seq });
        }
        let origin = Origin {
            store: self.store.id,
            replaced: self.store.replaced.clone(),
            last_seq: log.last_seq()?,
            takes_over,
        };
        let index = self.at.index.clone();
        let lease = RemoteLease::take(index, self.at.layout, &origin, &self.candidate.name)?;
        self.last_beat = Instant::now();
        match lease.remove_orphans() {
            Ok(names) => names.iter().for_each(|name| {
                tracing::warn!(index = %name, "an index that nobody uses was deleted there");
            }),
            // Room is lost, and nothing else.
            Err(error) => tracing::debug!("indexes that nobody uses are not deleted: {error}"),
        }
        self.lease = Some(lease);
        tracing::info!(index = %self.at.index.place(), from = seq, "this node writes the search index");
        Ok(Claim::Ours)
    }

    fn open(&mut self) -> anyhow::Result<Opened<RemoteWriter>> {
        let lease = self.lease()?;
        let documents = self.documents.clone();
        let opened = RemoteWriter::open(lease, &self.analyzer, &self.config, documents)?;
        let Some(writer) = opened else {
            tracing::warn!(
                "the search index was made from another history of the documents: it is rebuilt from the store"
            );
            return Ok(Opened {
                writer: None,
                seq: 0,
                needs_rebuild: true,
            });
        };
        Ok(Opened::writable(writer, lease.has_fresh()))
    }

    fn open_fresh(&mut self, last_seq: u64) -> anyhow::Result<RemoteWriter> {
        let open = || -> anyhow::Result<RemoteWriter> {
            let (lease, documents) = (self.lease()?, self.documents.clone());
            let opened = RemoteWriter::open_fresh(lease, &self.analyzer, &self.config, documents);
            Ok(opened?)
        };
        let writer = open()?;
        if writer.last_seq() <= last_seq {
            return Ok(writer);
        }
        self.lease()?.discard_fresh()?;
        open()
    }

    fn discard_fresh(&mut self) -> anyhow::Result<()> {
        Ok(self.lease()?.discard_fresh()?)
    }

    fn put_in_place(
        &mut self,
        _old: Option<RemoteWriter>,
        fresh: RemoteWriter,
    ) -> anyhow::Result<RemoteWriter> {
        let writer = fresh.put_in_place()?;
        // Nothing of a large fill is to be replayed there.
        flush(&writer);
        Ok(writer)
    }

    fn keep_claim(&mut self) -> anyhow::Result<()> {
        if self.last_beat.elapsed() >= BEAT_EVERY {
            let lease = self.lease()?;
            lease.record_heartbeat()?;
            self.progress.set_colour(lease.colour()?);
            self.last_beat = Instant::now();
        }
        Ok(())
    }

    fn tidy(
        &mut self,
        writer: &mut RemoteWriter,
        log: &mut LogFeed,
        quiet: Duration,
    ) -> anyhow::Result<()> {
        if quiet < FLUSH_AFTER {
            self.is_flushed = false;
        } else if !self.is_flushed {
            self.is_flushed = true;
            flush(writer);
        }
        if Instant::now() >= self.next_audit {
            let differed = self.audit(writer, log)?;
            self.next_audit = Instant::now() + if differed { AUDIT_AGAIN } else { AUDIT_EVERY };
        }
        Ok(())
    }

    /// Another one takes the place of this one at once.
    fn close(&mut self, writer: Option<RemoteWriter>, is_command: bool) -> anyhow::Result<()> {
        if let Some(writer) = writer.filter(|_| is_command) {
            flush(&writer);
        }
        match self.lease.take() {
            Some(lease) => Ok(lease.release()?),
            None => Ok(()),
        }
    }
}

/// Has an engine write what it has taken in into its files. All that a failure costs is time after a crash there, and roles of before do
/// not have the right.
fn flush(writer: &RemoteWriter) {
    if let Err(error) = writer.flush() {
        tracing::debug!("the search index is not flushed: {error}");
    }
}

/// A name that no other one has.
fn some_name() -> String {
    use std::hash::{BuildHasher as _, Hasher as _};
    // Keys from the system's source of chance.
    let chance = std::hash::RandomState::new().build_hasher().finish();
    format!("{chance:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidate_waits_for_silence() {
        let held_by = |holder: &str, beat| RemoteState {
            holder: holder.to_owned(),
            beat,
            ..RemoteState::default()
        };
        let mut candidate = Candidate::new(false);
        assert!(candidate.is_unopposed(&held_by("", 1)));
        assert!(candidate.is_unopposed(&held_by(&candidate.name, 1)));
        assert!(!candidate.is_unopposed(&held_by("other", 1)));
        assert!(Candidate::new(true).is_unopposed(&held_by("other", 1)));

        let start = Instant::now();
        for (beat, at, expected, case) in [
            (1, Duration::ZERO, false, "first seen"),
            (1, SILENT - BEAT_EVERY, false, "silent for a while"),
            (2, SILENT, false, "heard again"),
            (2, SILENT * 2 - BEAT_EVERY, false, "counted from then"),
            (2, SILENT * 2, true, "silent for long"),
        ] {
            let is_free = candidate.may_take_over(held_by("other", beat), start + at);
            assert_eq!(is_free, expected, "{case}");
        }
    }
}
