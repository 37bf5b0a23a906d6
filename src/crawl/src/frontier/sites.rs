//! The sites that are crawled at present: their rules, the start of a cycle, and which of their URLs may be leased.
//! [`Site`]s count what is not in the store yet.

use std::collections::BTreeMap;
use std::sync::Arc;

use foldhash::{HashMap, HashMapExt};

use super::Frontier;
use super::queue::{HUB_RANK, HostQueues, RECHECK_RANK};
use super::shares::Shares;
use taojin_uri::QueueHash;

use crate::DAY_MS;
use crate::scope::{Refusal, Scope};
use crate::store::{
    DueUrl, HELD_MS, HostId, SiteId, Store, StoreError, UrlClass, UrlId, UrlRecord, UrlState,
};

impl Frontier {
    /// Takes up the sites that are crawled from now on. URLs of other sites are held until their site comes back.
    pub fn set_sites(
        &mut self,
        store: &mut Store,
        scopes: Vec<Scope>,
        now_ms: i64,
    ) -> Result<(), StoreError> {
        let counts = store.counts()?;
        let mut taken = HashMap::new();
        for scope in scopes {
            let name: Arc<str> = Arc::from(scope.rules().name.as_str());
            let known = store.site(&name)?;
            let id = store.add_site(&name)?;
            if known.as_ref().is_none_or(|site| site.paused) {
                store.pause_site(&name, false, now_ms)?;
            }
            let count = |of: &str| counts.sites.get(&*name).and_then(|c| c.get(of)).copied();
            let mut site = Site::new(id, Arc::new(scope));
            site.paused = known.as_ref().is_some_and(|site| site.paused_ms.is_some());
            site.last_cycle_ms = known.and_then(|site| site.last_cycle_ms).unwrap_or(0);
            site.cycle_pages = count(CYCLE_PAGES).unwrap_or(0);
            site.urls = count(URLS).unwrap_or(0);
            site.saved_spent = count(BLIND_SPENT).unwrap_or(0);
            site.budget.spent = site.saved_spent as f64 / 1e3;
            taken.insert(name, site);
        }
        // A node that only serves needs no site files, and says nothing about sites.
        let says = store.place().duties().crawls;
        for site in store.sites()?.into_iter().filter(|_| says) {
            if !taken.contains_key(&site.name) && !site.paused {
                store.pause_site(&site.name, true, now_ms)?;
            }
        }
        self.sites = taken;
        self.file_hosts.forget();
        let number =
            |(host, known): (&HostId, &HostQueues)| (*host, self.queues_of(&known.host.authority));
        let numbers: Vec<(HostId, u32)> = self.hosts.iter().map(number).collect();
        for (host, queues) in numbers {
            if let Some(known) = self.hosts.get_mut(&host) {
                known.set_number_of_queues(queues);
                let site = site_of(&self.sites, &known.host.authority);
                self.line.set_site(host, site);
            }
        }
        self.reconsider();
        Ok(())
    }

    /// From now on only URLs of these sites are given out; of all, if none is named. For a pass over some sites: what
    /// the others have left stays as it is.
    pub fn give_out_only(&mut self, names: &[Arc<str>]) {
        let id = |name: &Arc<str>| self.sites.get(name).map(|site| site.id);
        self.only = names.iter().filter_map(id).collect();
    }

    /// How the connections are shared out from now on. Before, each site may have all.
    pub fn set_shares(&mut self, shares: Shares) {
        *self.line.shares() = shares;
    }

    /// The sites that are crawled with their scopes: for the gate.
    pub fn scopes(&self) -> impl Iterator<Item = (Arc<str>, Arc<Scope>)> + '_ {
        let sites = self.sites.iter();
        sites.map(|(name, site)| (Arc::clone(name), Arc::clone(&site.scope)))
    }

    /// Starts a cycle of a site: its hubs become due. How many.
    pub fn begin_cycle(
        &mut self,
        store: &mut Store,
        site: &Arc<str>,
        now_ms: i64,
    ) -> Result<usize, StoreError> {
        let due = store.begin_cycle(site, &self.parts, HUB_RANK, now_ms)?;
        if let Some(site) = self.sites.get_mut(site) {
            site.begin_cycle(now_ms);
        }
        self.reconsider();
        Ok(due)
    }

    /// Makes every known article of a site due now. How many.
    pub fn recheck_articles(
        &mut self,
        store: &mut Store,
        site: &Arc<str>,
        now_ms: i64,
    ) -> Result<usize, StoreError> {
        let due = store.recheck_articles(site, RECHECK_RANK, now_ms)?;
        if let Some(site) = self.sites.get_mut(site) {
            site.budget.waived = true;
        }
        self.reconsider();
        Ok(due)
    }

    /// Takes up what the operator has told another node: sites that pause or go on.
    pub fn read_sites(&mut self, store: &Store) -> Result<(), StoreError> {
        let taken_down = store.takedowns()?;
        let taken_down = taken_down.into_iter().map(|takedown| takedown.url);
        let mut has_news = self.taken_down.replace(taken_down);
        for record in store.sites()? {
            if let Some(site) = self.sites.get_mut(&record.name) {
                let paused = record.paused_ms.is_some();
                has_news |= std::mem::replace(&mut site.paused, paused) != paused;
            }
        }
        if has_news {
            self.reconsider();
        }
        Ok(())
    }

    /// Reads the store again for all hosts: what was held or limited may be due now.
    pub(super) fn reconsider(&mut self) {
        let hosts: Vec<HostId> = self.hosts.keys().copied().collect();
        for host in hosts {
            if let Some(queue) = self.hosts.get_mut(&host) {
                queue.limited = false;
                queue.invalidate();
            }
            self.enqueue(host, i64::MIN);
        }
        self.activate_ms = i64::MIN;
    }
}

/// Counter of a site that the store sets back when a cycle begins.
pub(super) const CYCLE_PAGES: &str = "cycle_pages";

/// Counter of a site: its addresses. The store keeps it up.
pub(super) const URLS: &str = "urls";

/// Counter of a site: what its blind rechecks have cost, in thousandths. The word is stored.
pub(super) const BLIND_SPENT: &str = "blind_debt";

/// Counter of a cycle: URLs that `max_pages_per_cycle` of the site puts off to the next one.
pub const SITE_LIMITS: &str = "cycle_site_limits";

/// Counter of a cycle: hosts that had their `pages_per_host_per_cycle`.
pub const HOST_LIMITS: &str = "cycle_host_limits";

/// Counter of a cycle: attachments of a site that the time for reading them puts off to the next one.
pub const READING_LIMITS: &str = "cycle_reading_limits";

/// Counter of a cycle: addresses that were found and are not followed, since they are beyond `max_hops`.
pub const BEYOND_HOPS: &str = "cycle_beyond_hops";

/// Counter of a cycle: addresses of the site's hosts that were found and are not followed, since `include` or `exclude`
/// keeps them out.
pub const OUT_OF_SCOPE: &str = "cycle_out_of_scope";

/// Counter of a cycle: addresses that were found and are not taken up, since the site has its `max_urls_per_site`.
pub const SITE_FULL: &str = "cycle_site_full";

/// Addresses of a site remembered as not followed, 24 bytes each; what is beyond is not counted.
pub const MAX_SKIPPED: usize = 10_000;

/// The site that a host is counted to before a page of it is fetched; 0 if it is of none. Where it is of several, the one that
/// was made first.
pub(super) fn site_of(sites: &HashMap<Arc<str>, Site>, authority: &str) -> SiteId {
    let own = sites
        .values()
        .filter(|site| site.scope.has_authority(authority));
    let near = || {
        sites
            .values()
            .filter(|site| site.scope.has_files_at(authority))
    };
    let id = |site: &Site| site.id;
    let own = own.map(id).min();
    own.or_else(|| near().map(id).min()).unwrap_or_default()
}

/// Whether nothing is given out but URLs of one site.
pub(super) fn is_one_site(sites: &HashMap<Arc<str>, Site>, only: &[SiteId]) -> bool {
    sites.len() <= 1 || only.len() == 1
}

/// A site in the frontier.
#[derive(Debug)]
pub(super) struct Site {
    pub(super) id: SiteId,
    pub(super) scope: Arc<Scope>,
    pub(super) last_cycle_ms: i64,
    pub(super) cycle_pages: i64,
    /// Its addresses in the store.
    pub(super) urls: i64,
    /// Part of `cycle_pages` that is not in the store yet.
    pub(super) unsaved_pages: i64,
    /// What its blind rechecks have cost.
    pub(super) budget: Budget,
    /// The same in the store, in thousandths.
    pub(super) saved_spent: i64,
    /// Counters of the cycle that are not in the store yet.
    pub(super) unsaved: BTreeMap<&'static str, i64>,
    /// Addresses found in this cycle that are not followed, with the counter of the rule that says so.
    skipped: HashMap<u64, &'static str>,
    /// The log has been told in this cycle that addresses are left out.
    told_full: bool,
    /// The operator has paused it.
    pub(super) paused: bool,
}

impl Site {
    /// A site that was never crawled.
    pub(super) fn new(id: SiteId, scope: Arc<Scope>) -> Self {
        Site {
            id,
            scope,
            last_cycle_ms: 0,
            cycle_pages: 0,
            urls: 0,
            unsaved_pages: 0,
            budget: Budget::default(),
            saved_spent: 0,
            unsaved: BTreeMap::new(),
            skipped: HashMap::new(),
            told_full: false,
            paused: false,
        }
    }

    /// A cycle begins.
    pub(super) fn begin_cycle(&mut self, now_ms: i64) {
        self.last_cycle_ms = now_ms;
        self.cycle_pages = 0;
        self.unsaved_pages = 0;
        self.budget.waived = false;
        self.budget.reading = ReadingTime::default();
        self.unsaved.clear();
        self.skipped.clear();
        self.told_full = false;
    }

    /// An address that was never met is refused: counted once a cycle, under the setting that could be changed.
    pub(super) fn skip(&mut self, hash: u64, refusal: Refusal) {
        let counter = match refusal {
            Refusal::Hops => BEYOND_HOPS,
            Refusal::Excluded | Refusal::NotIncluded => OUT_OF_SCOPE,
            Refusal::SiteFull => SITE_FULL,
            _ => return,
        };
        if counter == SITE_FULL && !std::mem::replace(&mut self.told_full, true) {
            let (site, urls) = (&self.scope.rules().name, self.urls);
            tracing::warn!(%site, urls, "site has its frontier.max_urls_per_site, new addresses of it are left out");
        }
        if self.skipped.len() < MAX_SKIPPED && self.skipped.insert(hash, counter).is_none() {
            *self.unsaved.entry(counter).or_default() += 1;
        }
    }

    /// Whether there are addresses that are not followed.
    pub(super) fn has_skipped(&self) -> bool {
        !self.skipped.is_empty()
    }

    /// It is followed after all: a shorter way leads to it.
    pub(super) fn follow(&mut self, hash: u64) {
        if let Some(counter) = self.skipped.remove(&hash) {
            *self.unsaved.entry(counter).or_default() -= 1;
        }
    }

    /// What the store is to add to what it has as spent, in thousandths.
    pub(super) fn unsaved_spent(&self) -> i64 {
        (self.budget.spent * 1e3) as i64 - self.saved_spent
    }
}

/// A page that was not seen for this long is fetched whatever it costs: a deletion is noticed within a month.
const MAX_WAIT_MS: i64 = 30 * DAY_MS;
/// A list after one to two times this: those of a site, found together, take turns.
const MAX_LIST_WAIT_MS: i64 = 7 * DAY_MS;
/// Turns that they take.
const TURNS: u32 = 256;
/// A recheck that must wait waits at least this long.
const MIN_WAIT_MS: i64 = 3_600_000;
/// A pass over other sites came upon it, on a host that they share: it waits until that pass is probably over.
const OTHER_SITE_MS: i64 = 600_000;

/// What is to become of a due URL.
pub(super) enum Admission {
    /// It is fetched.
    Now,
    /// Its turn comes with the next cycle of its site.
    NextCycle,
    /// It is due again then.
    Later(i64),
    /// Reading its attachments has taken the site all the time that it has for that.
    ReadingLimit,
    /// Its site had its pages of this cycle.
    SiteLimit,
    /// Its host had its pages of this cycle.
    HostLimit,
}

/// A URL that waits for the next cycle of its site.
pub(super) fn until_next_cycle(id: UrlId, rank: u8) -> DueUrl {
    DueUrl {
        rank,
        due_ms: HELD_MS,
        id,
    }
}

impl Frontier {
    /// Whether a URL may be fetched in this cycle of its site and host.
    pub(super) fn admit(&self, record: &UrlRecord, now_ms: i64) -> Admission {
        let Some(site) = self.sites.get(&record.site) else {
            return Admission::NextCycle;
        };
        if !self.only.is_empty() && !self.only.contains(&site.id) {
            return Admission::Later(now_ms + OTHER_SITE_MS);
        }
        if site.paused || self.check_rules(site, record, now_ms).is_err() {
            return Admission::NextCycle;
        }
        let full = site.scope.rules().max_pages_per_cycle;
        if full.is_some_and(|max| site.cycle_pages >= max) {
            return Admission::SiteLimit;
        }
        if record.visit.class == UrlClass::Attachment && site.budget.reading.is_spent() {
            return Admission::ReadingLimit;
        }
        let Some(queues) = self.hosts.get(&record.host) else {
            return Admission::NextCycle;
        };
        let turn = i64::from(QueueHash::Xxh3.shard(record.uri.as_str(), TURNS));
        let max_wait_ms = if record.visit.class.is_hub() {
            MAX_LIST_WAIT_MS / i64::from(TURNS) * (i64::from(TURNS) + turn)
        } else {
            MAX_WAIT_MS
        };
        let seen_ms = record.visit.fetched_ms.unwrap_or(i64::MIN);
        if site.budget.is_spent() && is_blind(record) && now_ms < seen_ms + max_wait_ms {
            return Admission::Later(now_ms + record.visit.interval_ms.max(MIN_WAIT_MS));
        }
        let pages = if queues.host.cycle_ms < site.last_cycle_ms {
            0
        } else {
            queues.host.cycle_pages
        };
        if pages >= self.config.pages_per_host_per_cycle {
            return Admission::HostLimit;
        }
        Admission::Now
    }

    /// The host had its pages: it rests until a cycle of one of its sites begins.
    pub(super) fn limit(&mut self, host: HostId, record: &UrlRecord) {
        self.note_limit(&record.site, HOST_LIMITS);
        if let Some(queues) = self.hosts.get_mut(&host) {
            queues.put_down(record.id);
            queues.invalidate();
            queues.limited = true;
        }
    }

    /// Counts a URL of a site that a limit puts off to the next cycle.
    pub(super) fn note_limit(&mut self, site: &str, counter: &'static str) {
        if let Some(site) = self.sites.get_mut(site) {
            *site.unsaved.entry(counter).or_default() += 1;
        }
    }

    /// Books what became of a fetch: whether it was a blind recheck ([`is_blind`]), and whether the page came whole and
    /// said nothing new.
    pub fn book_recheck(&mut self, site: &str, blind: bool, wasted: bool) {
        let Some(site) = self.sites.get_mut(site) else {
            return;
        };
        match (blind, wasted) {
            (true, false) => site.budget.refund(),
            (false, true) => site.budget.charge(),
            _ => {}
        }
    }
}

/// What a fetch of the site gives back of one that was for nothing.
const GIVEN_BACK: f64 = 0.03;
/// Blind rechecks before a site that has changed nothing must wait: a small site is looked at whole.
const MAX_SPENT: f64 = 20.0;
/// Lists are asked for whatever they cost; what is beyond this is forgotten.
const MAX_COUNTED: f64 = 40.0;

/// Whether the page was read before and its server cannot say that it has not changed.
pub fn is_blind(record: &UrlRecord) -> bool {
    let visit = &record.visit;
    let found_ms = visit
        .changed_ms
        .unwrap_or(i64::MAX)
        .saturating_sub(record.first_seen_ms);
    let quiet = visit.unchanged > 1 || (visit.unchanged == 1 && found_ms < DAY_MS);
    let archive = visit.class == UrlClass::Hub && quiet;
    visit.state == UrlState::Fetched
        && visit.digest.is_some()
        && (archive || !visit.class.is_hub())
        && visit.etag.is_none()
        && visit.last_modified.is_none()
}

/// What blind rechecks of a site have cost, as far as it was not given back.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Budget {
    pub(super) spent: f64,
    /// Every known article is asked for, whatever it costs.
    pub(super) waived: bool,
    /// What reading its attachments took in this cycle.
    pub(super) reading: ReadingTime,
}

/// Time that reading the attachments of a site may take in a cycle: some ten thousand usual files, and two hundred of the worst.
pub const MAX_READING_MS: i64 = 3_600_000;

/// Time that reading attachments took, in milliseconds.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct ReadingTime(i64);

impl ReadingTime {
    /// An attachment was read.
    pub(super) fn add(&mut self, reading_ms: i64) {
        self.0 = self.0.saturating_add(reading_ms.max(0));
    }

    /// Whether no more attachments are read in this cycle.
    fn is_spent(self) -> bool {
        self.0 >= MAX_READING_MS
    }
}

impl Budget {
    pub(super) fn is_spent(&self) -> bool {
        !self.waived && self.spent >= MAX_SPENT
    }

    /// A fetch begins.
    pub(super) fn begin(&mut self, record: &UrlRecord) {
        self.spent = (self.spent - GIVEN_BACK).max(0.0);
        if is_blind(record) {
            self.charge();
        }
    }

    pub(super) fn charge(&mut self) {
        self.spent = (self.spent + 1.0).min(MAX_COUNTED);
    }

    /// A blind recheck found something, or did not take place.
    pub(super) fn refund(&mut self) {
        self.spent = (self.spent - 1.0).max(0.0);
    }
}
