//! Collects the operator's [`Status`] from the store, the index and, in the daemon, the state that its threads share.
//!
//! [`StatusBoard::read`] opens its own reading connection for each call, and never writes.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use tokio::sync::watch;

use super::summary::{Freshness, number, totals};
use super::verdict::VerdictTerms;
use crate::config::LoadedConfig;
use crate::daemon::crawl::{disk, sites};
use crate::daemon::index::IndexTrouble;
use crate::daemon::reloading::{Current, titles};
use crate::daemon::review::terms::TermReviewer;
use crate::daemon::watchdog::{Liveness, WorkerState};
use crate::daemon::{Shared, node_place, now_ms};
use crate::documents::IndexAt;
use crate::serve::{
    Activity, ClusterStatus, CycleCounts, EngineHostStatus, Follow, FollowStatus, HostCounts,
    HostStatus, IndexState, IndexStatus, LeftOutDocument, LeftOutStatus, NodeStatus, QueueCounts,
    SeenFilter, SiteStatus, Status, StatusSource, TemplateStatus, TermsStatus, Topics, UrlCounts,
    Words, WorkerStatus,
};
use taojin_crawl::frontier::{self, Cause, Explanation};
use taojin_crawl::store::{
    self, Counts, FollowRecord, HostRecord, Partitions, Reader, SiteCounts, StoreError, StorePlace,
};
use taojin_search::index::remote::{self, Colour, HostState};
use taojin_search::index::{IndexError, SiteTitles, SkippedDocuments};

/// Hosts in trouble that are shown.
const HOSTS: usize = 24;
/// Documents wait for the index for a second or two; longer than this, somebody should look.
const INDEX_LAG_MS: u64 = 60_000;

/// What a [`Status`] is made from.
#[derive(Clone)]
pub struct StatusBoard {
    data_dir: PathBuf,
    store: StorePlace,
    index: IndexAt,
    /// Sites and topics.
    current: watch::Receiver<Current>,
    frontier: frontier::Config,
    limits: disk::Limits,
    verdicts: VerdictTerms,
    terms: TermReviewer,
    /// Present alongside a running daemon.
    shared: Option<Arc<Shared>>,
    started_ms: i64,
}

impl StatusBoard {
    /// The board of this configuration; `shared` when the daemon runs in this process.
    pub fn new(loaded: &LoadedConfig, shared: Option<Arc<Shared>>) -> Self {
        Self {
            data_dir: loaded.config.data_dir.clone(),
            store: match &shared {
                Some(shared) => node_place(loaded, shared.node()),
                None => loaded.store_place(),
            },
            index: IndexAt::new(loaded),
            current: watch::channel(Current::new(loaded)).1,
            frontier: loaded.config.frontier.clone(),
            limits: disk::Limits::new(&loaded.config.crawl),
            verdicts: VerdictTerms::new(&loaded.config),
            terms: TermReviewer::new(loaded),
            shared,
            started_ms: now_ms(),
        }
    }

    /// The same board, of sites and topics that may change.
    pub(crate) fn now(self, current: watch::Receiver<Current>) -> Self {
        Self { current, ..self }
    }

    /// The sites and topics of each moment.
    pub(crate) fn current(&self) -> watch::Receiver<Current> {
        self.current.clone()
    }

    /// What readers call the sites of each moment.
    pub(crate) fn titles(&self) -> SiteTitles {
        titles(self.current.clone())
    }

    /// Returns the topics of each moment.
    pub(crate) fn topics(&self) -> Topics {
        let current = self.current.clone();
        Arc::new(move || current.borrow().follows.clone())
    }

    /// The state of this moment; `documents` is how many can be found, where there is an index.
    pub fn read(&self, documents: u64) -> anyhow::Result<Status> {
        let now = now_ms();
        let (mut activity, note) = self.activity();
        // One that crawls once answers no commands.
        let other = self.shared.is_none().then(|| store::holder(&self.data_dir));
        let other = other.flatten();
        if other.is_some() {
            activity = Activity::Running;
        }
        let own = self.shared.as_ref().map(|_| std::process::id());
        let mut status = Status {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            now_ms: now,
            started_ms: other.map_or(self.started_ms, |other| other.since_ms),
            pid: own.or(other.map(|other| other.pid)),
            activity,
            note,
            documents,
            disk: disk::used(&self.data_dir, self.index.dir(), self.store.is_postgres()),
            terms: self.terms(),
            workers: self.workers(),
            left_out: left_out(self.index.left_out()),
            ..Status::default()
        };
        let reader = match Reader::open(&self.store) {
            Ok(reader) => reader,
            // What the process itself knows is told all the same.
            Err(error @ StoreError::Unreachable { .. }) => {
                status.note = Words::new(error.to_string(), "");
                return Ok(status);
            }
            // An index that was only imported has no store.
            Err(StoreError::Missing { .. }) => return Ok(status),
            Err(error) => return Err(error.into()),
        };
        let counts = reader.counts()?;
        if !self.store.duties().serves {
            status.documents = counts.total("documents").unsigned_abs();
        }
        status.index = self.index_status(&reader, now)?;
        if let Some(remote) = self.index.remote() {
            status.disk.index_bytes = remote::size_bytes(&remote.index).unwrap_or_default();
        }
        status.urls = urls(&totals(&counts));
        status.urls.in_flight = self.shared.as_ref().map_or(0, |s| s.crawl().in_flight());
        status.sites = self.sites(&reader, &counts, now)?;
        status.hosts = self.hosts(&reader, now)?;
        status.cluster = cluster(&reader)?;
        status.follows = self.follows(&reader)?;
        let hosts = frontier::HostCounts::read(&reader, now)?;
        status.host_counts = host_counts(&hosts);
        status.seen_filter = self
            .shared
            .as_ref()
            .and_then(|s| s.crawl().frontier())
            .map(filter);
        status.queues = QueueCounts {
            queues: u64::try_from(counts.hosts).unwrap_or_default(),
            ready: reader.hosts_due(&[], &Partitions::ALL, now, 10_000)?.len() as u64,
            waiting: status.host_counts.backing_off + status.host_counts.limited,
            parked: status.host_counts.parked,
            due: status.sites.iter().map(|s| s.due).sum(),
        };
        Ok(status)
    }

    /// How the index does: as this process knows it, or as it is found.
    fn index_status(&self, reader: &Reader, now: i64) -> anyhow::Result<IndexStatus> {
        if !self.store.duties().serves {
            return Ok(IndexStatus::default());
        }
        let (committed, trouble) = match &self.shared {
            Some(shared) => (shared.index().indexed(), shared.index().trouble()),
            None => self.look_at_index(reader)?,
        };
        let (outbox_lag, index_lag_ms) = self.lag(reader, committed, now)?;
        let known = self.shared.as_ref().map(|shared| shared.index());
        let is_filling = known.is_some_and(|index| !index.is_caught_up());
        let state = match (&trouble, known.and_then(|index| index.colour())) {
            (Some(trouble), _) => trouble.state,
            (None, Some(Colour::Red)) => IndexState::Red,
            (None, _) if is_filling => IndexState::Filling,
            (None, _) if index_lag_ms > INDEX_LAG_MS => IndexState::Behind,
            (None, Some(Colour::Yellow)) => IndexState::Yellow,
            (None, _) => IndexState::Ready,
        };
        let hosts = self.index.remote().map(|remote| remote.index.hosts());
        Ok(IndexStatus {
            outbox_lag,
            index_lag_ms,
            state,
            since_ms: trouble.as_ref().map(|trouble| trouble.since_ms),
            trouble: trouble.map(|trouble| trouble.text),
            engine_hosts: hosts.into_iter().flatten().map(engine_host).collect(),
        })
    }

    /// The last change that an index has which another process writes, if any does, and what is wrong with it.
    fn look_at_index(&self, reader: &Reader) -> anyhow::Result<(u64, Option<IndexTrouble>)> {
        let noted = match self.index.noted() {
            Ok(noted) => noted,
            Err(error) => return Ok((0, Some(IndexTrouble::new(&error.into())))),
        };
        let remote = self.index.remote();
        if let Some(remote) = remote.filter(|_| noted.seq > 0)
            && noted.store != reader.identity()?.id
        {
            let other = IndexError::RemoteOtherStore(remote.index.place());
            return Ok((0, Some(IndexTrouble::new(&other.into()))));
        }
        Ok((noted.seq, None))
    }

    /// How many changes the index lacks after `committed`, and for how long the first of them has waited, in milliseconds.
    fn lag(&self, reader: &Reader, committed: u64, now: i64) -> anyhow::Result<(u64, u64)> {
        let seq = i64::try_from(committed).unwrap_or(i64::MAX);
        let Some(first) = reader.documents_after_without_bodies(seq, 1)?.pop() else {
            return Ok((0, 0));
        };
        let waiting = match &self.shared {
            // Counting them all would cost the more the more there are.
            Some(shared) => shared.index().lag().max(1),
            None => u64::try_from(reader.documents_waiting(seq)?).unwrap_or_default(),
        };
        let waited_ms = u64::try_from(now.saturating_sub(first.changed_ms)).unwrap_or_default();
        Ok((waiting, waited_ms))
    }

    /// What the daemon does, and what the operator must know. Beside no daemon: what one would do.
    fn activity(&self) -> (Activity, Words) {
        match &self.shared {
            Some(shared) if shared.lifecycle().is_stopping() => {
                (Activity::Stopping, Words::default())
            }
            Some(shared) => match shared.pause().reason() {
                Some(why) => (Activity::Paused, why),
                None => (Activity::Running, note(shared)),
            },
            None => {
                let room = disk::free_space(&self.data_dir);
                let low = room.and_then(|(free, total)| self.limits.problem(free, total, false));
                (Activity::ReadOnly, low.unwrap_or_default())
            }
        }
    }

    fn workers(&self) -> Vec<WorkerStatus> {
        let liveness = self.shared.as_ref().map(|shared| shared.liveness());
        liveness.map(workers).unwrap_or_default()
    }

    /// `None` if somebody spoilt a file: the log of who uses it says what.
    fn terms(&self) -> Option<TermsStatus> {
        let (counts, mark) = (self.terms.counts().ok()?, self.terms.mark().ok()?);
        Some(TermsStatus {
            proposed: counts.proposed,
            accepted: counts.accepted,
            rejected: counts.rejected,
            looked_ms: (mark.at_ms > 0).then_some(mark.at_ms),
            recut: self
                .shared
                .as_ref()
                .and_then(|shared| shared.index().recut()),
        })
    }

    fn follows(&self, reader: &Reader) -> anyhow::Result<Vec<FollowStatus>> {
        let mut records = FollowRecord::list(reader)?;
        let current = self.current.borrow();
        let hooked =
            |follow: &Follow, name: &str| follow.name == name && !follow.webhook.is_empty();
        records.retain(|record| current.follows.iter().any(|f| hooked(f, &record.name)));
        let status = |record: FollowRecord| FollowStatus {
            next_ms: (record.tries > 0).then_some(record.next_ms),
            name: record.name,
            waiting: record.waiting,
            told: record.told,
            given_up: record.given_up,
            told_ms: record.told_ms,
            last_error: record.last_error,
        };
        Ok(records.into_iter().map(status).collect())
    }

    fn sites(&self, reader: &Reader, counts: &Counts, now: i64) -> anyhow::Result<Vec<SiteStatus>> {
        let next = self
            .shared
            .as_ref()
            .map(|s| s.crawl().next_cycles())
            .unwrap_or_default();
        let mut templates = template_status(reader)?;
        let mut list = Vec::new();
        let sites = self.current.borrow().sites.clone();
        for site in &sites {
            let record = reader.site(&site.name)?;
            let last_cycle_ms = record.as_ref().and_then(|r| r.last_cycle_ms);
            let paused_ms = record.as_ref().and_then(|r| r.paused_ms);
            let last_error = record.and_then(|r| r.last_error);
            let planned = || {
                if paused_ms.is_some() || !site.enabled {
                    return None;
                }
                let schedule = site.cron().ok()?;
                last_cycle_ms.and_then(|last| schedule.next_after(last))
            };
            let counted = counts.sites.get(&site.name).cloned().unwrap_or_default();
            let freshness = Freshness::from_counts(&counted);
            let (frontier, terms) = (&self.frontier, self.verdicts);
            let verdict = sites::site_verdict(reader, &counted, site, frontier, terms, now)?;
            list.push(SiteStatus {
                name: site.name.clone(),
                title: site.title.clone(),
                queues: site.queues,
                last_cycle_ms,
                paused_ms,
                next_cycle_ms: next.get(&site.name).copied().unwrap_or_else(planned),
                documents: number(&counted, "documents"),
                unconfirmed: number(&counted, "unconfirmed"),
                urls: urls(&counted),
                due: number(&counted, "new"),
                verdict,
                errors: number(&counted, "cycle_errors"),
                cycle: CycleCounts {
                    visits: number(&counted, "cycle_visits"),
                    new_documents: number(&counted, "cycle_new"),
                    wasted: number(&counted, "cycle_wasted"),
                    not_modified: number(&counted, "cycle_not_modified"),
                    turned_away: sites::turned_away(&counted),
                    queue_visits: sites::queue_visits(&counted, site),
                },
                recall_estimate: freshness.recall(),
                mean_age_ms: freshness.mean_age_ms(now),
                last_error,
                templates: templates.remove(&site.name).unwrap_or_default(),
            });
        }
        Ok(list)
    }

    fn hosts(&self, reader: &Reader, now: i64) -> anyhow::Result<Vec<HostStatus>> {
        let mut list = Vec::new();
        for host in reader.hosts_in_trouble(now + self.frontier.max_delay_ms, HOSTS)? {
            let explained =
                Explanation::for_host(reader, &self.frontier, &host.authority, None, now)?;
            list.push(host_status(&host, explained.as_ref()));
        }
        Ok(list)
    }
}

fn engine_host(host: HostState) -> EngineHostStatus {
    let since = host.since.duration_since(SystemTime::UNIX_EPOCH);
    let since_ms = since.map_or(0, |since| since.as_millis());
    EngineHostStatus {
        address: host.address,
        is_up: host.is_up,
        since_ms: i64::try_from(since_ms).unwrap_or(i64::MAX),
    }
}

/// Templates by site.
fn template_status(reader: &Reader) -> anyhow::Result<BTreeMap<String, TemplateStatus>> {
    let count = |n: i64| u64::try_from(n).unwrap_or_default();
    let mut sites: BTreeMap<String, TemplateStatus> = BTreeMap::new();
    for fit in reader.templates().fits()? {
        let site = sites.entry(fit.site).or_default();
        (site.matched, site.unmatched) = (count(fit.matched), count(fit.unmatched));
        (site.note, site.note_ms) = (fit.note, fit.note_ms);
    }
    for (site, waiting) in reader.templates().waiting_counts()? {
        sites.entry(site).or_default().waiting = count(waiting);
    }
    for (site, waiting) in reader.templates().awaiting_fields()? {
        sites.entry(site).or_default().awaiting_fields = count(waiting);
    }
    for (site, used, learned) in reader.templates().counts()? {
        let site = sites.entry(site).or_default();
        (site.used, site.learned) = (count(used), count(learned));
    }
    Ok(sites)
}

/// The board as the server asks it.
pub fn status_source(
    board: StatusBoard,
    documents: impl Fn() -> u64 + Send + Sync + 'static,
) -> StatusSource {
    Arc::new(move || board.read(documents()).map_err(|e| format!("{e:#}")))
}

fn host_status(host: &HostRecord, explained: Option<&Explanation>) -> HostStatus {
    let cause = explained
        .map(|e| e.cause.as_str().to_owned())
        .unwrap_or_default();
    HostStatus {
        host: host.authority.to_string(),
        state: explained.map_or("", |e| state(e.cause)).to_owned(),
        delay_ms: explained.map_or(0, |e| e.delay_ms.unsigned_abs()),
        cause,
        next_fetch_ms: explained.and_then(|e| e.next_fetch_ms),
        queued: explained.map_or(0, |e| e.due as u64),
        queue_eta_ms: explained.map_or(0, |e| e.eta_ms),
        last_error: host.last_error.clone(),
    }
}

fn host_counts(counts: &frontier::HostCounts) -> HostCounts {
    let number = |n: i64| u64::try_from(n).unwrap_or_default();
    HostCounts {
        open: number(counts.open),
        backing_off: number(counts.backing_off),
        parked: number(counts.parked),
        limited: number(counts.limited),
    }
}

fn filter(stats: frontier::Stats) -> SeenFilter {
    let new = stats.seen_new + stats.seen_false_positives;
    SeenFilter {
        addresses: stats.seen_addresses,
        false_positives: stats.seen_false_positives,
        error_ratio: stats.seen_false_positives as f64 / new.max(1) as f64,
    }
}

fn state(cause: Cause) -> &'static str {
    match cause {
        Cause::Parked => "parked",
        Cause::RetryAfter | Cause::Throttled | Cause::Unreachable | Cause::TurnedAway => {
            "backing off"
        }
        Cause::CycleLimit => "limited",
        _ => "slow",
    }
}

fn urls(counts: &SiteCounts) -> UrlCounts {
    UrlCounts {
        waiting: number(counts, "new"),
        in_flight: 0,
        fetched: number(counts, "fetched"),
        refused: number(counts, "refused"),
        failed: number(counts, "failed"),
        gone: number(counts, "gone"),
    }
}

/// The nodes that share the store, if it may be shared.
fn cluster(reader: &Reader) -> anyhow::Result<Option<ClusterStatus>> {
    if !reader.cluster().may_be_shared() {
        return Ok(None);
    }
    let waiting = reader.cluster().waiting()?;
    let nodes = reader
        .cluster()
        .nodes()?
        .into_iter()
        .map(|node| NodeStatus {
            id: node.id,
            host: node.host,
            session: node.session,
            version: node.version,
            started_ms: node.started_ms,
            lease_ms: node.lease_ms,
            partitions: node.partitions.unsigned_abs(),
            commits: node.commits.unsigned_abs(),
            draining: node.draining,
            crawls: node.crawls,
            serves: node.serves,
            leads: node.leads,
        });
    Ok(Some(ClusterStatus {
        nodes: nodes.collect(),
        waiting_addresses: waiting.addresses.unsigned_abs(),
        oldest_waiting_ms: waiting.oldest_ms,
    }))
}

/// What the operator must know of a daemon that crawls; empty when all is well.
pub(super) fn note(shared: &Shared) -> Words {
    let anew = shared.index().rebuild_progress().map(|at| {
        let (seq, last) = (at.seq, at.last);
        Words::new(
            format!("the index is being rebuilt: change {seq} of {last}"),
            format!("正在重建索引：变更 {seq} / {last}"),
        )
    });
    let index = shared.index();
    let trouble = shared.liveness().trouble(Instant::now());
    trouble
        .or_else(|| index.trouble().map(|trouble| trouble.words(index.lag())))
        .or_else(|| shared.reload().problem())
        .or(anew)
        .unwrap_or_default()
}

/// How the workers do.
pub(super) fn workers(liveness: &Liveness) -> Vec<WorkerStatus> {
    let status = |state: WorkerState| WorkerStatus {
        name: state.worker.name().to_owned(),
        alive: !state.stuck,
        idle_ms: u64::try_from(state.idle.as_millis()).unwrap_or(u64::MAX),
        problem: state.problem,
    };
    let states = liveness.states(Instant::now());
    states.into_iter().map(status).collect()
}

/// What the index could not take.
pub(super) fn left_out(all: SkippedDocuments) -> LeftOutStatus {
    LeftOutStatus {
        count: all.count(),
        documents: all
            .listed
            .into_iter()
            .map(|left| LeftOutDocument {
                url: left.url,
                reason: left.reason,
            })
            .collect(),
    }
}
