//! Commands inside the crawl loop. In: a request. Out: the store and the frontier as it asks, and an answer; where it
//! takes time, a watch. A page that was on its way while it was purged does not come back.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::actions;
use super::{Answer, Reply, Request, Wish, stopping};
use crate::daemon::crawl::state::CrawlLoop;
use crate::daemon::learn::templates::Seen;
use crate::daemon::liveness::Worker;
use crate::serve::{CommandDone, CommandRefused, SiteCommand, Why};
use taojin_crawl::store::{NewUrl, Purged, UrlClass, UrlId, UrlRecord};

/// Addresses that may wait for their hosts ahead of the queues: asked for one by one.
const ASKED: usize = 1_000;

type Outcome<T> = Result<T, CommandRefused>;

impl CrawlLoop {
    /// Carries out a request, or refuses it.
    pub(in crate::daemon) fn take_wish(&mut self, wish: &Wish, now: i64) {
        let reply = match self.stop_at {
            Some(_) => Err(stopping()),
            None => self.carry_out(wish, now),
        };
        let reply = match reply {
            Ok(None) => return,
            Ok(Some(reply)) => reply,
            Err(refused) => Reply::Now(Answer::Refused(refused)),
        };
        // An error means that nobody waits for it.
        let _ = wish.reply.try_send(reply);
    }

    /// None: the answer comes when it was visited.
    fn carry_out(&mut self, wish: &Wish, now: i64) -> Outcome<Option<Reply>> {
        let done = |done| Ok(Some(Reply::Now(Answer::Done(done))));
        match &wish.request {
            Request::Crawl { sites, recheck } => {
                let begun = self.crawl_now(sites, *recheck, now)?;
                self.orders.watches.sites(begun, &wish.reply, now);
                Ok(None)
            }
            Request::Fetch { url } => {
                let record = self.ask_for(url, now)?;
                self.orders
                    .watches
                    .url(record.id, asked(&record), &wish.reply);
                Ok(None)
            }
            // The socket answers these itself; nobody else asks here.
            Request::Reindex => {
                self.shared.ask_reindex();
                done(CommandDone::default())
            }
            Request::Status => done(CommandDone::default()),
            Request::Command(command) => match command {
                SiteCommand::Visit { site } => done(self.begin_now(site, now)?),
                SiteCommand::VisitUrl { url } => done(asked(&self.ask_for(url, now)?)),
                SiteCommand::Pause { site } => done(self.set_paused(site, true, now)?),
                SiteCommand::Resume { site } => done(self.set_paused(site, false, now)?),
                SiteCommand::Purge { site } => self.purge_site(site, now).map(Some),
                SiteCommand::Forget { site } => {
                    self.configured.retain(|s| s.name != *site);
                    self.look_again(now)?;
                    self.purge_site(site, now).map(Some)
                }
                SiteCommand::PurgeUrl { url } => self.purge_url(url, now).map(Some),
                SiteCommand::Allow { url } => done(self.allow(url, now)?),
            },
        }
    }

    /// Begins a cycle of these sites, or of all that are due. The names of those that began.
    fn crawl_now(
        &mut self,
        names: &[String],
        recheck: bool,
        now: i64,
    ) -> Outcome<BTreeSet<Arc<str>>> {
        for name in names {
            actions::crawled(&self.configured, name)?;
            actions::not_paused(&self.store, name)?;
        }
        self.room()?;
        let wanted = |run: &crate::daemon::crawl::site_run::SiteRun| match names.is_empty() {
            true => run.is_wanted(recheck, now),
            false => names.iter().any(|n| **n == **run.name()),
        };
        let chosen: BTreeSet<Arc<str>> = self
            .sites
            .values()
            .filter(|run| wanted(run))
            .map(|run| Arc::clone(run.name()))
            .collect();
        for name in &chosen {
            self.begin_cycle(name, now)?;
            if recheck {
                self.frontier.recheck_articles(&mut self.store, name, now)?;
            }
        }
        Ok(chosen)
    }

    fn begin_now(&mut self, name: &str, now: i64) -> Outcome<CommandDone> {
        actions::crawled(&self.configured, name)?;
        actions::not_paused(&self.store, name)?;
        self.room()?;
        let name: Arc<str> = Arc::from(name);
        let due = self.begin_cycle(&name, now)?;
        Ok(CommandDone {
            site: Some(name.to_string()),
            due: Some(due as u64),
            next_cycle_ms: self.next_cycle(&name),
            ..CommandDone::default()
        })
    }

    /// Refuses while the disk is low.
    fn room(&mut self) -> Outcome<()> {
        if !self.is_paused() {
            return Ok(());
        }
        let why = self.shared.paused().unwrap_or_default();
        Err(CommandRefused::new(
            Why::NotNow,
            format!("crawling pauses: {why}"),
        ))
    }

    fn next_cycle(&self, name: &str) -> Option<i64> {
        self.sites.get(name).and_then(|run| run.next_ms())
    }

    /// Asks for one address, ahead of the queue of its host.
    pub(in crate::daemon) fn ask_for(&mut self, text: &str, now: i64) -> Outcome<UrlRecord> {
        let uri = actions::address(text)?;
        actions::not_taken_down(&self.store, &uri)?;
        let (mut site, hops) = actions::home(&self.configured, &uri)?;
        if self.orders.asked.len() >= ASKED {
            let message = "too many addresses wait for their hosts; try again later";
            return Err(CommandRefused::new(Why::NotNow, message));
        }
        let mut known = self.store.lookup(&uri)?;
        if let Some(record) = &known {
            site = Arc::clone(&record.site);
            actions::crawled(&self.configured, &site)?;
        }
        actions::not_paused(&self.store, &site)?;
        self.room()?;
        if known.is_none() {
            let class = match hops {
                0 => UrlClass::Seed,
                _ => UrlClass::Unknown,
            };
            self.batch.urls.push(NewUrl {
                class,
                ..NewUrl::link(uri.clone(), &site, hops)
            });
            self.write_batch(now)?;
            known = self.store.lookup(&uri)?;
        }
        let Some(record) = known else {
            let message = format!("{uri}: is not taken up; `taojin why {uri}` says more");
            return Err(CommandRefused::new(Why::Mistake, message));
        };
        // If the program is killed before the visit, the next run makes it.
        self.store.make_due(record.id, now)?;
        if !self.orders.asked.contains(&record.id) {
            self.orders.asked.push(record.id);
        }
        Ok(record)
    }

    fn set_paused(&mut self, name: &str, paused: bool, now: i64) -> Outcome<CommandDone> {
        actions::crawled(&self.configured, name)?;
        self.write_batch(now)?;
        let mut done = actions::pause(&mut self.store, &self.configured, name, paused, now)?;
        self.look_again(now)?;
        if !paused {
            done.next_cycle_ms = self.next_cycle(name);
        }
        tracing::info!(site = name, paused, "paused or resumed by the operator");
        Ok(done)
    }

    fn purge_site(&mut self, name: &str, now: i64) -> Outcome<Reply> {
        // What has ended is purged with the rest, and not half of it.
        self.write_batch(now)?;
        let shared = Arc::clone(&self.shared);
        let purged = actions::purge_site(
            &mut self.store,
            &self.configured,
            &self.index,
            name,
            now,
            |_| shared.beat(Worker::CrawlLoop),
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
        self.look_again(now)?;
        done.next_cycle_ms = self.next_cycle(name);
        tracing::info!(
            site = name,
            urls = purged.urls,
            documents = purged.documents.len(),
            "purged"
        );
        Ok(self.after_index(done, &purged))
    }

    fn purge_url(&mut self, text: &str, now: i64) -> Outcome<Reply> {
        let uri = actions::address(text)?;
        self.write_batch(now)?;
        let (done, purged) = actions::purge_url(&mut self.store, &uri, now)?;
        let addresses = purged.addresses.iter();
        self.frontier.take_down(addresses.map(|a| a.fingerprint()));
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
        self.shared.set_document_seq(seq);
        // A full channel means that the indexer has been poked already.
        let _ = self.index_poke.try_send(());
        Reply::AfterIndex(seq, Answer::Done(done))
    }

    fn allow(&mut self, text: &str, now: i64) -> Outcome<CommandDone> {
        let uri = actions::address(text)?;
        let (done, fingerprints) = actions::allow(&mut self.store, &uri, now)?;
        self.frontier.allow_again(fingerprints);
        Ok(done)
    }

    /// Reads the state of the sites again.
    fn look_again(&mut self, now: i64) -> Outcome<()> {
        let sites = self.configured.clone();
        Ok(self.take_sites(&sites, now)?)
    }
}

/// An address that waits for its visit.
fn asked(record: &UrlRecord) -> CommandDone {
    CommandDone {
        site: Some(record.site.to_string()),
        url: Some(record.uri.to_string()),
        due: Some(1),
        ..CommandDone::default()
    }
}
