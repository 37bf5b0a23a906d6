//! Executes the operator's commands.
//!
//! Inside the daemon the crawl loop does, since it owns the frontier and the store: [`CrawlLoop::handle_request`]. Where that takes
//! time, the response comes from [`Watches`]; a page that was on its way while it was purged does not come back. Without a
//! daemon [`execute_alone`] works on a store that was just opened, and holds the lock of the data directory meanwhile.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::sync::mpsc::Sender;

use super::{PendingRequest, Reply, Response, Step, stopping};
use crate::config::{self, LoadedConfig};
use crate::daemon::crawl::crawl_log::LogLine;
use crate::daemon::crawl::crawl_loop::CrawlLoop;
use crate::daemon::crawl::sites::SiteRun;
use crate::daemon::learn::templates::Seen;
use crate::daemon::report::tally::CrawlTally;
use crate::daemon::watchdog::Worker;
use crate::daemon::{index, now_ms};
use crate::documents::IndexAt;
use crate::serve::{Command, CommandDone, CommandError};
use taojin_crawl::schedule::Site;
use taojin_crawl::scope::{Refusal, Scope};
use taojin_crawl::store::{NewUrl, Purged, Store, UrlClass, UrlId, UrlRecord};
use taojin_search::analyze::Analyzer;
use taojin_search::index::IndexError;
use taojin_uri::CrawlUri;

/// Addresses that may wait for their hosts ahead of the queues: requested one by one.
const ASKED: usize = 1_000;

type CommandResult<T> = Result<T, CommandError>;

/// Returns the documents that the index has of a site: none if there is no index yet.
fn indexed_documents(index: &IndexAt, site: &str) -> CommandResult<Vec<u64>> {
    match index.open(&Analyzer::new(&[])) {
        Ok(reader) => Ok(reader.fingerprints_of_site(site)?),
        Err(IndexError::Missing(_)) => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
}

/// Parses the URL that a person wrote.
pub(super) fn parse_url(text: &str) -> CommandResult<CrawlUri> {
    CrawlUri::parse(text).map_err(|e| CommandError::InvalidUrl {
        url: text.to_owned(),
        reason: e.to_string(),
    })
}

/// Returns the site of this name, if it is crawled.
pub(super) fn find_crawled<'a>(sites: &'a [Site], name: &str) -> CommandResult<&'a Site> {
    let Some(site) = sites.iter().find(|s| s.name == name) else {
        return Err(unknown_site(name, sites.iter().map(|s| s.name.as_str())));
    };
    if !site.enabled {
        let site = name.to_owned();
        return Err(CommandError::SiteDisabled { site });
    }
    Ok(site)
}

pub(super) fn unknown_site<'a>(site: &str, known: impl Iterator<Item = &'a str>) -> CommandError {
    let known: Vec<&str> = known.collect();
    CommandError::UnknownSite {
        site: site.to_owned(),
        similar: config::nearest(site, &known).map(str::to_owned),
    }
}

/// Refuses to crawl a site that the operator has paused.
pub(in crate::daemon) fn ensure_not_paused(store: &Store, name: &str) -> CommandResult<()> {
    let record = store.site(name)?;
    if record.is_some_and(|site| site.paused_ms.is_some()) {
        let site = name.to_owned();
        return Err(CommandError::SitePaused { site });
    }
    Ok(())
}

/// Refuses to fetch a URL that was taken down.
pub(super) fn ensure_not_taken_down(store: &Store, uri: &CrawlUri) -> CommandResult<()> {
    if store.takedown(uri)?.is_some() {
        let url = uri.to_string();
        return Err(CommandError::TakenDown { url });
    }
    Ok(())
}

/// Returns the site in whose scope a URL is, and how many links from a seed it counts; else why no site takes it.
pub(super) fn find_site_for(sites: &[Site], uri: &CrawlUri) -> CommandResult<(Arc<str>, u16)> {
    let mut reasons = Vec::new();
    for site in sites.iter().filter(|s| s.enabled) {
        let entries = site.addresses().unwrap_or_default();
        let mut named = entries
            .seeds
            .iter()
            .chain(&entries.feeds)
            .chain(&entries.sitemaps);
        let hops = u16::from(!named.any(|entry| entry == uri));
        let Ok(scope) = Scope::new(site) else {
            continue;
        };
        match scope.check(uri, hops, 0, now_ms()) {
            Ok(()) => return Ok((Arc::from(site.name.as_str()), hops)),
            Err(Refusal::Host) => {}
            Err(refusal) => reasons.push(format!("site {}: {}", site.name, refusal.describe())),
        }
    }
    let url = uri.to_string();
    Err(if reasons.is_empty() {
        let host = uri.authority().to_string();
        CommandError::UnknownHost { url, host }
    } else {
        CommandError::OutOfScope { url, reasons }
    })
}

/// Pauses or resumes a site.
pub(super) fn set_paused(
    store: &mut Store,
    sites: &[Site],
    name: &str,
    paused: bool,
    now_ms: i64,
) -> CommandResult<CommandDone> {
    find_crawled(sites, name)?;
    let before = store.site(name)?;
    let before = before.and_then(|record| record.paused_ms);
    let since = paused.then(|| before.unwrap_or(now_ms));
    store.set_operator_pause(&Arc::from(name), since, now_ms)?;
    Ok(CommandDone {
        site: Some(name.to_owned()),
        paused_ms: since,
        ..CommandDone::default()
    })
}

/// Takes all of a site out. `each` is told how many addresses are gone so far.
pub(super) fn purge_site(
    store: &mut Store,
    sites: &[Site],
    index: &IndexAt,
    name: &str,
    now_ms: i64,
    each: impl FnMut(usize),
) -> CommandResult<(CommandDone, Purged)> {
    let configured = sites.iter().any(|s| s.name == name);
    let indexed = indexed_documents(index, name)?;
    let record = store.site(name)?;
    if !configured && record.is_none() && indexed.is_empty() {
        let known = store.sites()?;
        let known = known.iter().map(|r| &*r.name);
        return Err(unknown_site(
            name,
            sites.iter().map(|s| s.name.as_str()).chain(known),
        ));
    }
    let purged = store
        .purge()
        .site(name, configured, &indexed, now_ms, each)?;
    let done = CommandDone {
        site: Some(name.to_owned()),
        documents: Some(purged.documents.len() as u64),
        urls: Some(purged.urls as u64),
        ..CommandDone::default()
    };
    Ok((done, purged))
}

/// Takes a document down.
pub(super) fn purge_url(
    store: &mut Store,
    uri: &CrawlUri,
    now_ms: i64,
) -> CommandResult<(CommandDone, Purged)> {
    // An imported document has no address among those that are crawled.
    let before = store.document(uri.fingerprint())?;
    let imported = before.is_some_and(|row| row.body.is_some());
    let mut purged = store.purge().page(uri, now_ms)?;
    if imported && !purged.documents.contains(&uri.fingerprint()) {
        purged.documents.push(uri.fingerprint());
    }
    let done = CommandDone {
        url: Some(uri.to_string()),
        documents: Some(purged.documents.len() as u64),
        addresses: purged.addresses.iter().map(ToString::to_string).collect(),
        ..CommandDone::default()
    };
    Ok((done, purged))
}

/// Lifts a takedown; the fingerprints of the addresses come with it.
pub(super) fn allow(
    store: &mut Store,
    uri: &CrawlUri,
    now_ms: i64,
) -> CommandResult<(CommandDone, Vec<u64>)> {
    let lifted = store.purge().allow(uri, now_ms)?;
    if lifted.is_empty() {
        let url = uri.to_string();
        return Err(CommandError::NotTakenDown { url });
    }
    let done = CommandDone {
        url: Some(uri.to_string()),
        addresses: lifted.iter().map(|t| t.url.clone()).collect(),
        ..CommandDone::default()
    };
    let fingerprints = lifted.iter().map(|t| t.fingerprint).collect();
    Ok((done, fingerprints))
}

/// Executes a command that fetches nothing, without a daemon.
pub fn execute_alone(
    loaded: &LoadedConfig,
    mut store: Store,
    command: &Command,
    now_ms: i64,
) -> CommandResult<CommandDone> {
    let (sites, place) = (&loaded.sites, IndexAt::new(loaded));
    let store = &mut store;
    match command {
        Command::SetPaused { site, paused } => set_paused(store, sites, site, *paused, now_ms),
        Command::Purge { site, .. } => {
            let (done, _) = purge_site(store, sites, &place, site, now_ms, |_| {})?;
            update_index(loaded)?;
            Ok(done)
        }
        Command::PurgeUrl { url } => {
            let uri = parse_url(url)?;
            let (done, _) = purge_url(store, &uri, now_ms)?;
            update_index(loaded)?;
            Ok(done)
        }
        Command::Allow { url } => {
            let uri = parse_url(url)?;
            Ok(allow(store, &uri, now_ms)?.0)
        }
        Command::Crawl { .. } | Command::Visit { .. } | Command::Reindex | Command::Status => {
            let text = "no crawler runs on this data folder; start it with: taojin run";
            Err(CommandError::NoCrawler(text.to_owned()))
        }
    }
}

/// Brings every change into the index.
fn update_index(loaded: &LoadedConfig) -> CommandResult<()> {
    index::catch_up(loaded).map_err(|e| {
        let e = format!("{e:#}; the next crawl or run removes it from the index");
        CommandError::failed(e)
    })
}

impl CrawlLoop {
    /// Executes the command of a request, or refuses it.
    pub(in crate::daemon) fn handle_request(&mut self, request: &PendingRequest, now: i64) {
        let reply = if self.stop_at.is_some() {
            Err(stopping())
        } else {
            self.execute(request, now)
        };
        let reply = match reply {
            Ok(None) => return,
            Ok(Some(reply)) => reply,
            Err(error) => Reply::Now(Response::Refused(error)),
        };
        // An error means that nobody waits for it.
        let _ = request.reply.try_send(reply);
    }

    /// Returns `None` if the response comes once it was visited.
    fn execute(&mut self, request: &PendingRequest, now: i64) -> CommandResult<Option<Reply>> {
        let done = match &request.command {
            Command::Crawl {
                sites,
                recheck,
                wait,
            } => {
                let (started, due) = self.crawl_now(sites, *recheck, now)?;
                if *wait {
                    self.orders.watches.sites(started, &request.reply, now);
                    return Ok(None);
                }
                CommandDone {
                    site: sites.first().cloned(),
                    due: Some(due as u64),
                    next_cycle_ms: sites.first().and_then(|name| self.next_cycle(name)),
                    ..CommandDone::default()
                }
            }
            Command::Visit { url, wait } => {
                let record = self.request_visit(url, now)?;
                let done = requested(&record);
                if *wait {
                    self.orders.watches.url(record.id, done, &request.reply);
                    return Ok(None);
                }
                done
            }
            Command::SetPaused { site, paused } => self.set_paused(site, *paused, now)?,
            Command::Purge { site, forget } => {
                if *forget {
                    self.configured.retain(|s| s.name != *site);
                    self.reload_sites(now)?;
                }
                return self.purge_site(site, now).map(Some);
            }
            Command::PurgeUrl { url } => return self.purge_url(url, now).map(Some),
            Command::Allow { url } => self.allow(url, now)?,
            // The socket handles these itself.
            Command::Reindex | Command::Status => CommandDone::default(),
        };
        Ok(Some(Reply::Now(Response::Done(done))))
    }

    /// Begins a cycle of these sites, or of all that are due. The names of those that began, and how many
    /// addresses became due.
    fn crawl_now(
        &mut self,
        names: &[String],
        recheck: bool,
        now: i64,
    ) -> CommandResult<(BTreeSet<Arc<str>>, usize)> {
        for name in names {
            find_crawled(&self.configured, name)?;
            ensure_not_paused(&self.store, name)?;
        }
        self.ensure_disk_space()?;
        let wanted = |run: &SiteRun| {
            if names.is_empty() {
                run.is_wanted(recheck, now)
            } else {
                names.iter().any(|n| **n == *run.name)
            }
        };
        let chosen: BTreeSet<Arc<str>> = self
            .sites
            .values()
            .filter(|run| wanted(run))
            .map(|run| Arc::clone(&run.name))
            .collect();
        let mut due = 0;
        for name in &chosen {
            due += self.start_cycle(name, now).map_err(CommandError::failed)?;
            if recheck {
                self.frontier.recheck_articles(&mut self.store, name, now)?;
            }
        }
        Ok((chosen, due))
    }

    /// Refuses while the disk is low.
    fn ensure_disk_space(&mut self) -> CommandResult<()> {
        if !self.is_paused() {
            return Ok(());
        }
        let why = self.shared.pause().reason().unwrap_or_default();
        Err(CommandError::NotNow(format!("crawling pauses: {why}")))
    }

    fn next_cycle(&self, name: &str) -> Option<i64> {
        self.sites.get(name).and_then(|run| run.next_ms())
    }

    /// Asks for one address, ahead of the queue of its host.
    pub(in crate::daemon) fn request_visit(
        &mut self,
        text: &str,
        now: i64,
    ) -> CommandResult<UrlRecord> {
        let uri = parse_url(text)?;
        ensure_not_taken_down(&self.store, &uri)?;
        let (mut site, hops) = find_site_for(&self.configured, &uri)?;
        if self.orders.asked.len() >= ASKED {
            let message = "too many addresses wait for their hosts; try again later";
            return Err(CommandError::NotNow(message.to_owned()));
        }
        let mut known = self.store.lookup(&uri)?;
        if let Some(record) = &known {
            site = Arc::clone(&record.site);
            find_crawled(&self.configured, &site)?;
        }
        ensure_not_paused(&self.store, &site)?;
        self.ensure_disk_space()?;
        if known.is_none() {
            let class = match hops {
                0 => UrlClass::Seed,
                _ => UrlClass::Unknown,
            };
            self.batch.urls.push(NewUrl {
                class,
                ..NewUrl::link(uri.clone(), &site, hops)
            });
            self.write_batch(now).map_err(CommandError::failed)?;
            known = self.store.lookup(&uri)?;
        }
        let Some(record) = known else {
            let message = format!("{uri}: is not taken up; `taojin why {uri}` says more");
            return Err(CommandError::Invalid(message));
        };
        // If the program is killed before the visit, the next run makes it.
        self.store.make_due(record.id, now)?;
        if !self.orders.asked.contains(&record.id) {
            self.orders.asked.push(record.id);
        }
        Ok(record)
    }

    fn set_paused(&mut self, name: &str, paused: bool, now: i64) -> CommandResult<CommandDone> {
        find_crawled(&self.configured, name)?;
        self.write_batch(now).map_err(CommandError::failed)?;
        let mut done = set_paused(&mut self.store, &self.configured, name, paused, now)?;
        self.reload_sites(now)?;
        if !paused {
            done.next_cycle_ms = self.next_cycle(name);
        }
        tracing::info!(site = name, paused, "paused or resumed by the operator");
        Ok(done)
    }

    fn purge_site(&mut self, name: &str, now: i64) -> CommandResult<Reply> {
        // What has ended is purged with the rest, and not half of it.
        self.write_batch(now).map_err(CommandError::failed)?;
        let heartbeat = self.shared.heartbeat(Worker::CrawlLoop);
        let purged = purge_site(
            &mut self.store,
            &self.configured,
            &self.index,
            name,
            now,
            |_| heartbeat.record(),
        );
        // Also after a failure some of it may be gone.
        let mut forgotten = Vec::new();
        for id in self.frontier.leased() {
            let row = self.store.url(id)?;
            forgotten.extend(row.is_none().then_some(id));
        }
        self.orders.forgotten.extend(forgotten);
        self.frontier.rows_are_gone();
        let (mut done, purged) = purged?;
        if let Some(learner) = &self.learner {
            let _ = learner.try_send(Seen::Purged(name.to_owned()));
        }
        self.reload_sites(now)?;
        done.next_cycle_ms = self.next_cycle(name);
        tracing::info!(
            site = name,
            urls = purged.urls,
            documents = purged.documents.len(),
            "purged"
        );
        Ok(self.after_index(done, &purged))
    }

    fn purge_url(&mut self, text: &str, now: i64) -> CommandResult<Reply> {
        let uri = parse_url(text)?;
        self.write_batch(now).map_err(CommandError::failed)?;
        let (done, purged) = purge_url(&mut self.store, &uri, now)?;
        let addresses = purged.addresses.iter();
        self.frontier
            .takedowns()
            .add(addresses.map(|a| a.fingerprint()));
        let is_leased = |id: &&UrlId| self.frontier.leased().any(|leased| leased == **id);
        let on_their_way: Vec<UrlId> = purged.ids.iter().filter(is_leased).copied().collect();
        self.orders.forgotten.extend(on_their_way);
        self.orders.asked.retain(|id| !purged.ids.contains(id));
        tracing::info!(url = %uri, addresses = purged.addresses.len(), "taken down");
        Ok(self.after_index(done, &purged))
    }

    /// The answer comes when nothing of it is found any more.
    fn after_index(&self, done: CommandDone, purged: &Purged) -> Reply {
        let seq = u64::try_from(purged.document_seq).unwrap_or_default();
        self.shared.index().set_document_seq(seq);
        // A full channel means that the indexer has been poked already.
        let _ = self.index_wake.try_send(());
        Reply::AfterIndex(seq, Response::Done(done))
    }

    fn allow(&mut self, text: &str, now: i64) -> CommandResult<CommandDone> {
        let uri = parse_url(text)?;
        let (done, fingerprints) = allow(&mut self.store, &uri, now)?;
        self.frontier.allow_again(fingerprints);
        Ok(done)
    }

    /// Reads the state of the sites again.
    fn reload_sites(&mut self, now: i64) -> CommandResult<()> {
        let sites = self.configured.clone();
        self.apply_sites(&sites, now).map_err(CommandError::failed)
    }
}

/// Returns the state of a URL that waits for its visit.
fn requested(record: &UrlRecord) -> CommandDone {
    CommandDone {
        site: Some(record.site.to_string()),
        url: Some(record.uri.to_string()),
        due: Some(1),
        ..CommandDone::default()
    }
}

/// Everybody who waits.
#[derive(Debug, Default)]
pub(in crate::daemon) struct Watches(Vec<Watch>);

#[derive(Debug)]
struct Watch {
    what: What,
    reply: Sender<Reply>,
}

#[derive(Debug)]
enum What {
    /// A cycle of these sites.
    Sites(BTreeSet<Arc<str>>, Box<CrawlTally>),
    /// One visit; it is told once it is durable.
    Url(UrlId, Box<CommandDone>),
}

impl Watch {
    fn end(&self, response: Response) {
        // Steps leave room for it; a closed channel means that nobody waits.
        let _ = self.reply.try_send(Reply::Now(response));
    }
}

impl Watches {
    pub(super) fn sites(&mut self, sites: BTreeSet<Arc<str>>, reply: &Sender<Reply>, now: i64) {
        let what = What::Sites(sites, Box::new(CrawlTally::new(now)));
        self.add(what, reply);
    }

    pub(super) fn url(&mut self, id: UrlId, asked: CommandDone, reply: &Sender<Reply>) {
        self.add(What::Url(id, Box::new(asked)), reply);
    }

    fn add(&mut self, what: What, reply: &Sender<Reply>) {
        self.0.push(Watch {
            what,
            reply: reply.clone(),
        });
    }

    /// Whether somebody waits for the visit of this URL.
    pub(in crate::daemon) fn waits_for(&self, id: UrlId) -> bool {
        let of_url = |watch: &Watch| matches!(&watch.what, What::Url(asked, _) if *asked == id);
        self.0.iter().any(of_url)
    }

    /// A visit has ended.
    pub(in crate::daemon) fn visited(
        &mut self,
        id: UrlId,
        line: &LogLine,
        wasted: bool,
        left: u64,
    ) {
        for watch in &mut self.0 {
            match &mut watch.what {
                What::Sites(sites, summary) if sites.contains(line.site.as_str()) => {
                    summary.add(line, wasted);
                    // The last place is for the end.
                    if watch.reply.capacity() > 1 {
                        let step = Reply::Now(Response::Step(Step::new(line, left)));
                        let _ = watch.reply.try_send(step);
                    }
                }
                What::Url(asked, done) if *asked == id => {
                    done.outcome = Some(line.outcome.as_str().to_owned());
                    done.status = line.status;
                    done.reason.clone_from(&line.reason);
                    done.document = line.document.map(|change| change.as_str().to_owned());
                }
                _ => {}
            }
        }
    }

    /// What has ended is durable now; `new` has the addresses that were found, by site.
    pub(in crate::daemon) fn committed<'a>(
        &mut self,
        new: impl Iterator<Item = (&'a Arc<str>, usize)>,
    ) {
        for (site, count) in new {
            for watch in &mut self.0 {
                if let What::Sites(sites, summary) = &mut watch.what
                    && sites.contains(site)
                {
                    summary.add_new_urls(count);
                }
            }
        }
        self.0.retain(|watch| match &watch.what {
            What::Url(_, done) if done.outcome.is_some() => {
                watch.end(Response::Done(CommandDone::clone(done)));
                false
            }
            _ => true,
        });
    }

    /// The URL will not be visited soon.
    pub(in crate::daemon) fn put_off(&mut self, id: UrlId, reason: &str) {
        self.0.retain(|watch| match &watch.what {
            What::Url(asked, done) if *asked == id && done.outcome.is_none() => {
                let reason = Some(reason.to_owned());
                watch.end(Response::Done(CommandDone {
                    reason,
                    ..CommandDone::clone(done)
                }));
                false
            }
            _ => true,
        });
    }

    /// Ends the waiting for cycles of sites that are over, or all of it while nothing is fetched (`paused` says why). A
    /// summary is filled in by `sum_up` before it is sent.
    pub(in crate::daemon) fn end_cycles(
        &mut self,
        paused: Option<&str>,
        is_over: impl Fn(&str) -> bool,
        mut sum_up: impl FnMut(&BTreeSet<Arc<str>>, &mut CrawlTally) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        self.0.retain(|watch| !watch.reply.is_closed());
        let mut waiting = Vec::new();
        for mut watch in std::mem::take(&mut self.0) {
            let What::Sites(sites, summary) = &mut watch.what else {
                waiting.push(watch);
                continue;
            };
            if paused.is_none() && !sites.iter().all(|name| is_over(name)) {
                waiting.push(watch);
                continue;
            }
            summary.set_paused(paused.map(str::to_owned));
            sum_up(sites, summary)?;
            let end = Response::Crawled(Box::new(std::mem::take(summary).into_summary()));
            watch.end(end);
        }
        self.0 = waiting;
        Ok(())
    }

    pub(in crate::daemon) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Nothing more comes.
    pub(in crate::daemon) fn stop(&mut self) {
        self.refuse(&stopping());
    }

    fn refuse(&mut self, why: &CommandError) {
        for watch in self.0.drain(..) {
            watch.end(Response::Refused(why.clone()));
        }
    }
}
