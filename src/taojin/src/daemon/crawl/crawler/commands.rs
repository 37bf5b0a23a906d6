//! Executes the operator's commands inside of the daemon: the crawler does, since it owns the frontier and the store.
//!
//! Where a command takes time, its response comes from the [`Watches`](crate::daemon::control::Watches); a page that was on its way while
//! it was purged does not come back.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Crawler;
use crate::daemon::control::commands::{
    CommandResult, allow, ensure_not_paused, ensure_not_taken_down, find_crawled, find_site_for,
    parse_url, purge_site, purge_url, set_paused,
};
use crate::daemon::control::{PendingRequest, Reply, Response, stopping};
use crate::daemon::learn::templates::Seen;
use crate::daemon::watchdog::Worker;
use crate::serve::{Command, CommandDone, CommandError};
use taojin_crawl::store::{NewUrl, Purged, UrlClass, UrlId, UrlRecord};

/// The commands that a crawler executes.
pub(super) struct Commands<'a> {
    crawler: &'a mut Crawler,
}

impl<'a> Commands<'a> {
    pub(super) fn new(crawler: &'a mut Crawler) -> Self {
        Self { crawler }
    }

    /// Executes the command of a request, or refuses it.
    pub(super) fn handle(&mut self, request: &PendingRequest, now: i64) {
        let reply = if self.crawler.inbox.is_stopping() {
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
                    self.crawler
                        .orders
                        .watches()
                        .sites(started, &request.reply, now);
                    return Ok(None);
                }
                CommandDone {
                    site: sites.first().cloned(),
                    due: Some(due as u64),
                    next_cycle_ms: self.next_cycle(sites.first()),
                    ..CommandDone::default()
                }
            }
            Command::Visit { url, wait } => {
                let record = self.request_visit(url, now)?;
                let done = requested(&record);
                if *wait {
                    self.crawler
                        .orders
                        .watches()
                        .url(record.id, done, &request.reply);
                    return Ok(None);
                }
                done
            }
            Command::SetPaused { site, paused } => self.set_paused(site, *paused, now)?,
            Command::Purge { site, forget } => {
                if *forget {
                    self.crawler.cycles.forget(site);
                    self.reload_sites(now)?;
                }
                return self.purge_site(site, now).map(Some);
            }
            Command::PurgeUrl { url } => return self.purge_url(url, now).map(Some),
            Command::Allow { url } => self.allow(url, now)?,
            // The socket handles these itself.
            Command::Reindex | Command::TakeOverIndex | Command::Status => CommandDone::default(),
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
            find_crawled(self.crawler.cycles.configured(), name)?;
            ensure_not_paused(self.crawler.committer.store(), name)?;
        }
        self.ensure_disk_space()?;
        let runs = self.crawler.cycles.runs().filter(|(name, run)| {
            if names.is_empty() {
                run.is_wanted(recheck, now)
            } else {
                names.iter().any(|n| **n == ***name)
            }
        });
        let chosen: BTreeSet<Arc<str>> = runs.map(|(name, _)| Arc::clone(name)).collect();
        let mut due = 0;
        for name in &chosen {
            let started = self.crawler.start_cycle(name, recheck, now);
            due += started.map_err(CommandError::failed)?;
        }
        Ok((chosen, due))
    }

    /// Refuses while the disk is low.
    fn ensure_disk_space(&mut self) -> CommandResult<()> {
        if !self.crawler.is_paused() {
            return Ok(());
        }
        let why = self.crawler.shared.pause().reason().unwrap_or_default();
        Err(CommandError::NotNow(format!("crawling pauses: {}", why.en)))
    }

    fn next_cycle(&self, name: Option<&String>) -> Option<i64> {
        self.crawler.cycles.next_ms(name?)
    }

    /// Asks for one address, ahead of the queue of its host.
    pub(super) fn request_visit(&mut self, text: &str, now: i64) -> CommandResult<UrlRecord> {
        let uri = parse_url(text)?;
        let (cycles, store) = (&self.crawler.cycles, self.crawler.committer.store());
        ensure_not_taken_down(store, &uri)?;
        let (mut site, hops) = find_site_for(cycles.configured(), &uri)?;
        if self.crawler.orders.is_full() {
            let message = "too many addresses wait for their hosts; try again later";
            return Err(CommandError::NotNow(message.to_owned()));
        }
        let mut known = store.lookup(&uri)?;
        if let Some(record) = &known {
            site = Arc::clone(&record.site);
            find_crawled(cycles.configured(), &site)?;
        }
        ensure_not_paused(store, &site)?;
        self.ensure_disk_space()?;
        if known.is_none() {
            let class = match hops {
                0 => UrlClass::Seed,
                _ => UrlClass::Unknown,
            };
            self.crawler.committer.add_urls([NewUrl {
                class,
                ..NewUrl::link(uri.clone(), &site, hops)
            }]);
            self.write_batch(now)?;
            known = self.crawler.committer.store().lookup(&uri)?;
        }
        let Some(record) = known else {
            let message = format!("{uri}: is not taken up; `taojin why {uri}` says more");
            return Err(CommandError::Invalid(message));
        };
        // If the program is killed before the visit, the next run makes it.
        self.crawler
            .committer
            .store_mut()
            .make_due(record.id, now)?;
        self.crawler.orders.request(record.id);
        Ok(record)
    }

    fn set_paused(&mut self, name: &str, paused: bool, now: i64) -> CommandResult<CommandDone> {
        find_crawled(self.crawler.cycles.configured(), name)?;
        self.write_batch(now)?;
        let sites = self.crawler.cycles.configured();
        let store = self.crawler.committer.store_mut();
        let mut done = set_paused(store, sites, name, paused, now)?;
        self.reload_sites(now)?;
        if !paused {
            done.next_cycle_ms = self.crawler.cycles.next_ms(name);
        }
        tracing::info!(site = name, paused, "paused or resumed by the operator");
        Ok(done)
    }

    fn purge_site(&mut self, name: &str, now: i64) -> CommandResult<Reply> {
        // What has ended is purged with the rest, and not half of it.
        self.write_batch(now)?;
        let heartbeat = self.crawler.shared.heartbeat(Worker::CrawlLoop);
        let sites = self.crawler.cycles.configured();
        let index = &self.crawler.purging.index;
        let store = self.crawler.committer.store_mut();
        let purged = purge_site(store, sites, index, name, now, |_| heartbeat.record());
        // Also after a failure some of it may be gone.
        let mut gone = Vec::new();
        for id in self.crawler.frontier.leased() {
            let row = self.crawler.committer.store().url(id)?;
            gone.extend(row.is_none().then_some(id));
        }
        self.crawler.orders.forget(&[], gone);
        self.crawler.frontier.rows_are_gone();
        let (mut done, purged) = purged?;
        if let Some(learner) = &self.crawler.purging.learner {
            let _ = learner.try_send(Seen::Purged(name.to_owned()));
        }
        self.reload_sites(now)?;
        done.next_cycle_ms = self.crawler.cycles.next_ms(name);
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
        self.write_batch(now)?;
        let (done, purged) = purge_url(self.crawler.committer.store_mut(), &uri, now)?;
        let addresses = purged.addresses.iter();
        let frontier = &self.crawler.frontier;
        frontier.takedowns().add(addresses.map(ToString::to_string));
        let in_flight: Vec<UrlId> = frontier
            .leased()
            .filter(|id| purged.ids.contains(id))
            .collect();
        self.crawler.orders.forget(&purged.ids, in_flight);
        tracing::info!(url = %uri, addresses = purged.addresses.len(), "taken down");
        Ok(self.after_index(done, &purged))
    }

    /// The answer comes when nothing of it is found any more.
    fn after_index(&self, done: CommandDone, purged: &Purged) -> Reply {
        let seq = u64::try_from(purged.document_seq).unwrap_or_default();
        self.crawler.shared.index().set_document_seq(seq);
        self.crawler.committer.wake_indexer();
        Reply::AfterIndex(seq, Response::Done(done))
    }

    fn allow(&mut self, text: &str, now: i64) -> CommandResult<CommandDone> {
        let uri = parse_url(text)?;
        let done = allow(self.crawler.committer.store_mut(), &uri, now)?;
        let addresses = done.addresses.iter().map(String::as_str);
        self.crawler.frontier.allow_again(addresses);
        Ok(done)
    }

    fn write_batch(&mut self, now: i64) -> CommandResult<()> {
        self.crawler.write_batch(now).map_err(CommandError::failed)
    }

    /// Reads the state of the sites again.
    fn reload_sites(&mut self, now: i64) -> CommandResult<()> {
        let sites = self.crawler.cycles.configured().to_vec();
        let taken = self.crawler.take_up_sites(sites, now);
        taken.map_err(CommandError::failed)
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
