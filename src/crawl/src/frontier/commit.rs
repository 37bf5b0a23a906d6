//! Making finished pages and their links durable. In: a batch. Out: what became of it. Links go through the scope
//! of their site, then the filter of seen URLs, then the store; a failed commit changes nothing that matters and
//! may be tried again with the same batch.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::Frontier;
use super::queue::{HostQueues, rank, revisit_rank};
use super::scope::Refusal;
use super::sites::{BLIND_SPENT, CYCLE_PAGES, Site};
use taojin_uri::CrawlUri;

use crate::store::{
    Batch, Committed, DueUrl, HELD_MS, HostId, NewUrl, Store, StoreError, UrlClass, UrlId,
};

/// A host whose rest is longer than this gives up its place in memory when others wait for one.
const LONG_REST_MS: i64 = 60_000;

/// And so does one that has had this many leases in a row.
const LONG_TURN: u64 = 1_000;

/// How many addresses each site may still take up, while a batch is sifted.
struct Room(HashMap<Arc<str>, i64>);

impl Room {
    fn is_full(&self, link: &NewUrl) -> bool {
        !is_named(link) && self.0.get(&link.site).is_some_and(|room| *room <= 0)
    }

    /// Whether the link has room; takes it.
    fn take(&mut self, link: &NewUrl) -> bool {
        let fits = !self.is_full(link);
        if let Some(room) = self.0.get_mut(&link.site).filter(|_| fits) {
            *room -= 1;
        }
        fits
    }
}

/// Whether a person named this address in the settings.
fn is_named(link: &NewUrl) -> bool {
    link.class == UrlClass::Seed || link.hops == 0
}

/// What became of a batch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommitReport {
    /// URLs that are new.
    pub new_urls: usize,
    /// Links that were met before.
    pub seen: usize,
    /// Links refused, by rule.
    pub refused: BTreeMap<Refusal, usize>,
    /// Number of the last change of a document.
    pub document_seq: i64,
}

impl Frontier {
    /// Writes the batch in one durable transaction. Ranks and host records are filled in here. On an error the batch is to be given again.
    pub fn commit(
        &mut self,
        store: &mut Store,
        batch: &mut Batch,
        now_ms: i64,
    ) -> Result<CommitReport, StoreError> {
        let mut report = CommitReport::default();
        self.seen.note_others(store, &self.parts)?;
        self.sift(store, batch, &mut report, now_ms)?;
        for page in &mut batch.pages {
            page.visit.rank = revisit_rank(page.visit.class, page.visit.state);
        }
        self.add_hosts(batch, now_ms);
        let done = store.commit(batch, now_ms)?;
        self.update_memory(batch, &done, now_ms);
        self.seen.advance(store, &self.parts);
        self.seen.save(store.dir(), false);
        if self.alike.news {
            self.alike.save(store.dir());
        }
        report.new_urls = done.inserted.len();
        report.document_seq = done.document_seq;
        Ok(report)
    }

    /// Whether there is anything to write even without finished pages. When [`Frontier::next`] has nothing to fetch
    /// and this is true, commit and ask again: hosts may have made room for others.
    pub fn has_changes(&self, now_ms: i64) -> bool {
        let nothing = HashSet::new();
        !self.hold.is_empty()
            || self
                .hosts
                .values()
                .any(|q| q.dirty || self.is_leaving(q, &nothing, now_ms))
    }

    /// Whether a host gives up its place in memory once these pages are committed.
    fn is_leaving(&self, queues: &HostQueues, committed: &HashSet<UrlId>, now_ms: i64) -> bool {
        let long = queues.host.not_before_ms > now_ms + LONG_REST_MS || queues.leased > LONG_TURN;
        let done = !queues.has_due() || queues.limited || queues.leaving || (self.crowded && long);
        done && queues.will_rest(committed)
    }

    /// Leaves only links that are in scope and new.
    fn sift(
        &mut self,
        store: &Store,
        batch: &mut Batch,
        report: &mut CommitReport,
        now_ms: i64,
    ) -> Result<(), StoreError> {
        let found_on: Vec<UrlId> = batch.pages.iter().map(|page| page.id).collect();
        let pages = batch.pages.iter_mut();
        let lists = pages
            .map(|page| (page.visit.class.is_hub(), &mut page.outlinks))
            .chain(std::iter::once((true, &mut batch.urls)));
        let mut lists: Vec<(bool, &mut Vec<NewUrl>)> = lists.collect();
        self.drop_refused_and_seen(&mut lists, report, now_ms);
        let known = self.look_up(store, &lists)?;
        let mut room = self.room();
        let mut foreign = Vec::new();
        for (i, (_, links)) in lists.into_iter().enumerate() {
            links.retain_mut(|link| {
                if !link.is_new && known.contains(&link.uri.fingerprint()) {
                    report.seen += 1;
                    return false;
                }
                // Whatever is left was looked up, or needed no look-up.
                link.is_new = true;
                let fits = room.take(link);
                if !fits {
                    self.leave_out(link, report);
                } else if !self.parts.has_uri(&link.uri) {
                    foreign.push(NewUrl {
                        via: found_on.get(i).copied().or(link.via),
                        ..link.clone()
                    });
                    return false;
                }
                fits
            });
        }
        batch.foreign.append(&mut foreign);
        Ok(())
    }

    /// How many addresses each site may still take up.
    fn room(&self) -> Room {
        let most = self.config.max_urls_per_site;
        let of_site = |(name, site): (&Arc<str>, &Site)| (Arc::clone(name), most - site.urls);
        Room(self.sites.iter().map(of_site).collect())
    }

    /// Counts a new address for which its site has no room.
    fn leave_out(&mut self, link: &NewUrl, report: &mut CommitReport) {
        *report.refused.entry(Refusal::SiteFull).or_default() += 1;
        if let Some(site) = self.sites.get_mut(&link.site) {
            site.skip(link.uri.fingerprint(), Refusal::SiteFull);
        }
    }

    /// Drops links that are out of scope or surely known, ranks the others, and marks those that are surely new.
    fn drop_refused_and_seen(
        &mut self,
        lists: &mut [(bool, &mut Vec<NewUrl>)],
        report: &mut CommitReport,
        now_ms: i64,
    ) {
        let mut here = HashSet::new();
        let mut skipped = Vec::new();
        let room = self.room();
        for (on_hub, links) in &mut *lists {
            links.retain_mut(|link| {
                let hash = link.uri.fingerprint();
                // A full site's new addresses are not to fill the filter either.
                let allowed = match room.is_full(link) && !self.may_be_known(&link.uri) {
                    true => self.allow(link, now_ms).and(Err(Refusal::SiteFull)),
                    false => self.allow(link, now_ms),
                };
                if let Err(refusal) = allowed {
                    *report.refused.entry(refusal).or_default() += 1;
                    skipped.push((Arc::clone(&link.site), hash, refusal));
                    return false;
                }
                link.rank = rank(link.class, link.hops, *on_hub);
                if self.seen.is_confirmed(hash) || !here.insert(hash) {
                    report.seen += 1;
                    return false;
                }
                // The filter knows the addresses of this node's partitions only.
                link.is_new = self.parts.has_uri(&link.uri) && self.seen.take(&link.uri);
                self.seen.new += u64::from(link.is_new);
                true
            });
        }
        for (site, hash, refusal) in skipped {
            if let Some(site) = self.sites.get_mut(&site)
                && !self.seen.contains(hash)
            {
                site.skip(hash, refusal);
            }
        }
        for link in lists.iter().flat_map(|(_, links)| links.iter()) {
            if let Some(site) = self.sites.get_mut(&link.site) {
                site.follow(link.uri.fingerprint());
            }
        }
    }

    /// The fingerprints of those links that the filter is not sure of and the store knows.
    fn look_up(
        &mut self,
        store: &Store,
        lists: &[(bool, &mut Vec<NewUrl>)],
    ) -> Result<HashSet<u64>, StoreError> {
        let links = lists.iter().flat_map(|(_, links)| links.iter());
        let doubtful: Vec<_> = links.filter(|l| !l.is_new).map(|l| &l.uri).collect();
        self.seen.with_store += doubtful.len() as u64;
        let mut known = HashSet::new();
        for (uri, is_known) in doubtful.iter().zip(store.known(&doubtful)?) {
            let hash = uri.fingerprint();
            if is_known {
                self.seen.confirm(hash);
                known.insert(hash);
            } else if self.parts.has_uri(uri) {
                self.seen.false_positives += 1;
            }
        }
        Ok(known)
    }

    /// Whether the store may have an address. Of partitions that are other nodes', or not read yet, the filter knows nothing.
    fn may_be_known(&self, uri: &CrawlUri) -> bool {
        !self.parts.has_uri(uri)
            || !self.seen.is_whole(uri)
            || self.seen.contains(uri.fingerprint())
    }

    fn allow(&self, link: &NewUrl, now_ms: i64) -> Result<(), Refusal> {
        let site = self.sites.get(&link.site).ok_or(Refusal::UnknownSite)?;
        if self.taken_down.contains(&link.uri.fingerprint()) {
            return Err(Refusal::TakenDown);
        }
        let hops = if link.class == UrlClass::Seed {
            0
        } else {
            link.hops
        };
        site.scope.check(&link.uri, hops, link.redirects, now_ms)?;
        if hops > 0 && self.alike.is_trap(&link.uri) {
            return Err(Refusal::Alike);
        }
        Ok(())
    }

    /// Adds what changed of hosts, and which of them leave memory.
    fn add_hosts(&mut self, batch: &mut Batch, now_ms: i64) {
        let committed: HashSet<_> = batch.pages.iter().map(|page| page.id).collect();
        batch.hosts.clear();
        batch.reschedule.clear();
        batch.hold = self
            .hold
            .iter()
            .map(|(_, url)| (url.id, url.due_ms))
            .collect();
        for (name, site) in &self.sites {
            if site.unsaved_pages != 0 {
                let key = (Arc::clone(name), Cow::Borrowed(CYCLE_PAGES));
                batch.counters.insert(key, site.unsaved_pages);
            }
            if site.unsaved_spent() != 0 {
                let key = (Arc::clone(name), Cow::Borrowed(BLIND_SPENT));
                batch.counters.insert(key, site.unsaved_spent());
            }
            for (counter, amount) in site.unsaved.iter().filter(|(_, amount)| **amount != 0) {
                let key = (Arc::clone(name), Cow::Borrowed(*counter));
                batch.counters.insert(key, *amount);
            }
        }
        for (id, queues) in &self.hosts {
            if queues.dirty {
                batch.hosts.push(queues.record());
            }
            if self.is_leaving(queues, &committed, now_ms) {
                let floor_ms = if queues.limited {
                    HELD_MS
                } else {
                    queues.rested_ms()
                };
                batch.reschedule.push((*id, floor_ms));
            }
        }
    }

    /// Counts new addresses to their sites.
    fn count_urls(&mut self, done: &Committed) {
        for of_site in done.inserted.chunk_by(|a, b| a.site == b.site) {
            let id = of_site[0].site;
            if let Some(site) = self.sites.values_mut().find(|site| site.id == id) {
                site.urls += i64::try_from(of_site.len()).unwrap_or(i64::MAX);
            }
        }
    }

    /// Brings memory in line with what was written.
    fn update_memory(&mut self, batch: &Batch, done: &Committed, now_ms: i64) {
        let size = self.config.queue_batch;
        for (host, url) in std::mem::take(&mut self.hold) {
            if let Some(queues) = self.hosts.get_mut(&host) {
                queues.put_down(url.id);
                queues.add(url, size, now_ms);
            }
        }
        for queues in self.hosts.values_mut() {
            queues.dirty = false;
        }
        for site in self.sites.values_mut() {
            site.unsaved_pages = 0;
            site.saved_spent += site.unsaved_spent();
            site.unsaved.clear();
        }
        let mut touched = HashSet::new();
        for page in &batch.pages {
            if let Some(queues) = self.hosts.get_mut(&page.host) {
                queues.put_down(page.id);
            }
            if let Some(due_ms) = page.visit.due_ms {
                let (rank, id) = (page.visit.rank, page.id);
                self.add_due(page.host, DueUrl { rank, due_ms, id }, now_ms, &mut touched);
            }
        }
        for (host, _) in &done.rescheduled {
            self.hosts.remove(host);
        }
        let inserted = done.inserted.iter().map(|url| (url.host, url.due));
        for (host, due) in inserted.chain(done.released.iter().copied()) {
            self.add_due(host, due, now_ms, &mut touched);
        }
        self.count_urls(done);
        for (_, due_ms) in &done.rescheduled {
            self.activate_ms = self.activate_ms.min(due_ms.unwrap_or(HELD_MS));
        }
        if self.crowded && !done.rescheduled.is_empty() {
            self.activate_ms = now_ms;
        }
        for host in touched {
            self.enqueue(host, now_ms);
        }
    }
    /// A URL is due at some time: it waits in the queue of its host, or for its host to come into memory.
    fn add_due(&mut self, host: HostId, url: DueUrl, now_ms: i64, touched: &mut HashSet<HostId>) {
        match self.hosts.get_mut(&host) {
            Some(queues) => {
                queues.add(url, self.config.queue_batch, now_ms);
                touched.insert(host);
            }
            None => self.activate_ms = self.activate_ms.min(url.due_ms),
        }
    }
}
