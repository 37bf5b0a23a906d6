//! The part of a host's work that is in memory: its due URLs, distributed over its queues. Takes URLs that were read
//! from the store or just found and returns the first of a queue; never holds a URL twice, and never one whose lease is
//! not committed yet.
//!
//! Invariant: every due URL of the host is in `ready`, in `hand`, or (unless `complete`) no earlier in the order
//! (rank, due time, row) than all of `ready`. So the order is that of the store, whatever is added meanwhile.
//!
//! Which queue a URL belongs to, and which URL of a host goes first.
//!
//! A host has one queue, or as many as its site asks for; then the hash of the whole address modulo their number is the queue of a
//! URL. A queue fetches one page at a time and rests for its own delay; what protects the host (`Retry-After`, backing off,
//! `Crawl-delay`, limits) is the host's, for all of its queues.

use std::collections::{BTreeSet, VecDeque};

use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};
use taojin_uri::{CrawlUri, QueueHash};

use super::leasing::Lease;
use super::politeness;
use crate::store::{
    Cause, DueUrl, HELD_MS, HostRecord, RANKS, Reader, StoreError, UrlClass, UrlId, UrlState,
};

/// `ready` may grow to this many batches by links that were just found, before the last go back to the store.
const GROWTH: usize = 4;

/// Each so many leases of a host one goes to what has waited longest, whatever its rank: what comes first is never all.
const AGED_EVERY: u64 = 8;

/// With several queues: leases of the host before one of them that has nothing in memory looks into the store again.
const LOOK_AGAIN: u64 = 16;

/// One queue of a host: what is leased by turns and paced.
#[derive(Debug, Default)]
pub(super) struct Queue {
    /// Fetches under way.
    pub(super) in_flight: u32,
    /// Leases since it came into memory.
    leased: u64,
    /// It rests until then, where it has a delay of its own; Unix milliseconds.
    pub(super) not_before_ms: i64,
}

/// The queues of a host.
#[derive(Debug)]
pub(super) struct HostQueues {
    /// Politeness and counters of the host.
    pub(super) host: HostRecord,
    /// At least one.
    pub(super) list: Vec<Queue>,
    hash: QueueHash,
    /// Of which URLs it is known in which queue they are.
    numbers: HashMap<UrlId, u32>,
    /// Due URLs in order.
    ready: BTreeSet<DueUrl>,
    /// Those that have waited longest of what is in the store beyond `ready`, oldest first.
    aged: VecDeque<DueUrl>,
    /// Leased, or finished and not committed.
    hand: HashSet<UrlId>,
    /// Fetches under way.
    pub(super) in_flight: u32,
    /// Leases since the host came into memory.
    pub(super) leased: u64,
    /// How many those were when `ready` was filled.
    filled_at: u64,
    /// The store has no due URL beyond `ready` and `hand`.
    complete: bool,
    /// A URL in the store becomes due then; `HELD_MS` if none does.
    refresh_ms: i64,
    /// `ready` was never filled or may lack URLs that became due otherwise.
    stale: bool,
    /// Changed since its record was written.
    pub(super) dirty: bool,
    /// Had its pages of this cycle.
    pub(super) limited: bool,
    /// Its partition goes to another node.
    pub(super) leaving: bool,
}

impl HostQueues {
    /// Of a host with so many queues, at least one.
    pub(super) fn new(host: HostRecord, queues: u32, hash: QueueHash) -> Self {
        let mut new = HostQueues {
            host,
            list: Vec::new(),
            hash,
            numbers: HashMap::new(),
            ready: BTreeSet::new(),
            aged: VecDeque::new(),
            hand: HashSet::new(),
            in_flight: 0,
            leased: 0,
            filled_at: 0,
            complete: false,
            refresh_ms: HELD_MS,
            stale: true,
            dirty: false,
            limited: false,
            leaving: false,
        };
        new.set_number_of_queues(queues);
        new
    }

    /// From now on it has so many queues; what is under way of others ends as it is.
    pub(super) fn set_number_of_queues(&mut self, queues: u32) {
        let queues = queues.max(1) as usize;
        if queues != self.list.len() {
            self.list.resize_with(queues, Queue::default);
            self.numbers.clear();
            self.stale = true;
        }
    }

    /// How many queues it has.
    pub(super) fn number_of_queues(&self) -> u32 {
        u32::try_from(self.list.len()).unwrap_or(u32::MAX)
    }

    /// Whether one of its queues may have one more fetch under way, where a host with one queue may have `connections`. Several queues
    /// ask together only a host that was asked before, so that its robots.txt is known, and that asks for no delay itself.
    pub(super) fn has_room(&self, queue: u32, connections: u32) -> bool {
        let of_queue = self.list.get(queue as usize).map_or(0, |q| q.in_flight);
        let (of_host_most, of_queue_most) = match self.number_of_queues() {
            1 => (connections.max(1), connections.max(1)),
            queues if self.host.fetched > 0 && !self.has_crawl_delay() => (queues, 1),
            _ => (1, 1),
        };
        self.in_flight < of_host_most && of_queue < of_queue_most
    }

    /// Whether each of its queues has a delay of its own; if not, the host has one.
    pub(super) fn rests_by_queue(&self) -> bool {
        self.list.len() > 1 && !self.has_crawl_delay()
    }

    fn has_crawl_delay(&self) -> bool {
        self.host
            .crawl_delay_ms
            .is_some_and(|delay_ms| delay_ms > 0)
    }

    /// Until when each of its queues rests, with the host.
    fn rests(&self) -> impl Iterator<Item = i64> + '_ {
        let of_host = self.host.not_before_ms;
        self.list
            .iter()
            .map(move |queue| of_host.max(queue.not_before_ms))
    }

    /// When a queue may be asked.
    pub(super) fn not_before_ms(&self, queue: u32) -> i64 {
        self.rests().nth(queue as usize).unwrap_or(HELD_MS)
    }

    /// When one of its queues may be asked.
    pub(super) fn first_ms(&self) -> i64 {
        self.rests().min().unwrap_or(HELD_MS)
    }

    /// When all of its queues will have rested.
    pub(super) fn rested_ms(&self) -> i64 {
        self.rests().max().unwrap_or(HELD_MS)
    }

    /// The record of the host as it is kept: it rests until all of its queues have rested.
    pub(super) fn record(&self) -> HostRecord {
        let mut record = self.host.clone();
        let until_ms = self.rested_ms();
        if until_ms > record.not_before_ms {
            record.not_before_ms = until_ms;
            record.cause = Cause::Delay;
        }
        record
    }

    /// A fetch of one of its queues has begun.
    pub(super) fn begin(&mut self, queue: u32) {
        self.in_flight += 1;
        self.leased += 1;
        if let Some(queue) = self.list.get_mut(queue as usize) {
            queue.in_flight += 1;
            queue.leased += 1;
        }
    }

    /// And has ended.
    pub(super) fn end(&mut self, queue: u32) {
        self.in_flight = self.in_flight.saturating_sub(1);
        if let Some(queue) = self.list.get_mut(queue as usize) {
            queue.in_flight = queue.in_flight.saturating_sub(1);
        }
    }

    /// After a fetch: the queue rests where each has a delay of its own, else the host.
    pub(super) fn rest(&mut self, queue: u32, (delay_ms, cause): (i64, Cause), now_ms: i64) {
        let until_ms = now_ms + delay_ms;
        if !self.rests_by_queue() {
            politeness::hold(&mut self.host, until_ms, cause, now_ms);
        } else if let Some(queue) = self.list.get_mut(queue as usize) {
            queue.not_before_ms = until_ms;
        }
    }

    /// All fetches that were under way are given up.
    pub(super) fn end_all(&mut self) {
        self.in_flight = 0;
        for queue in &mut self.list {
            queue.in_flight = 0;
        }
    }

    /// At rest once these are committed.
    pub(super) fn will_rest(&self, committed: &HashSet<UrlId>) -> bool {
        self.in_flight == 0 && self.hand.iter().all(|id| committed.contains(id))
    }

    /// When a URL that is not due yet will be.
    pub(super) fn refresh_ms(&self) -> i64 {
        self.refresh_ms
    }

    /// Something is due, as far as is known.
    pub(super) fn has_due(&self) -> bool {
        !self.ready.is_empty() || !self.is_complete()
    }

    /// Whether all that is due is in memory.
    pub(super) fn is_complete(&self) -> bool {
        self.complete && !self.stale
    }

    /// Reads the store again before the next URL is given out.
    pub(super) fn invalidate(&mut self) {
        self.stale = true;
    }

    /// Takes the first due URL of a queue, reading from the store where needed. `None`: nothing of it is due, as far as is known.
    pub(super) fn pop(
        &mut self,
        store: &Reader,
        queue: u32,
        batch: usize,
        now_ms: i64,
    ) -> Result<Option<UrlId>, StoreError> {
        let wanting = self.ready.is_empty() && !self.complete;
        if self.stale || wanting || now_ms >= self.refresh_ms {
            self.refill(store, batch, now_ms)?;
        }
        let mut chosen = self.choose(store, queue)?;
        if chosen.is_none() && !self.complete && self.leased >= self.filled_at + LOOK_AGAIN {
            self.refill(store, batch, now_ms)?;
            chosen = self.choose(store, queue)?;
        }
        Ok(chosen)
    }

    /// Takes the next one of a queue out: the first in order, but now and then the oldest.
    fn choose(&mut self, store: &Reader, queue: u32) -> Result<Option<UrlId>, StoreError> {
        let leased = self.list.get(queue as usize).map_or(0, |q| q.leased);
        let of_aged = self
            .aged
            .iter()
            .filter(|_| leased % AGED_EVERY == AGED_EVERY - 1);
        let count = self.number_of_queues();
        let mut found = None;
        for url in of_aged.chain(&self.ready) {
            // One that was released while it waited may stand in both lists.
            if self.hand.contains(&url.id) {
                continue;
            }
            let number = match (count, self.numbers.get(&url.id)) {
                (1, _) => 0,
                (_, Some(number)) => *number,
                (_, None) => {
                    let number = store
                        .url(url.id)?
                        .map_or(0, |record| queue_number(&record.uri, count, self.hash));
                    self.numbers.insert(url.id, number);
                    number
                }
            };
            if number == queue {
                found = Some(*url);
                break;
            }
        }
        if let Some(url) = found {
            self.ready.remove(&url);
            self.aged.retain(|aged| aged.id != url.id);
            self.numbers.remove(&url.id);
            self.hand.insert(url.id);
        }
        Ok(found.map(|url| url.id))
    }

    fn refill(&mut self, store: &Reader, batch: usize, now_ms: i64) -> Result<(), StoreError> {
        // What is in hand is due in the store still: ask for as much more.
        let limit = batch.max(1) * self.list.len() + self.hand.len();
        let due = store.due(self.host.id, now_ms, limit)?;
        self.complete = due.len() < limit;
        self.ready = due
            .into_iter()
            .filter(|url| !self.hand.contains(&url.id))
            .collect();
        self.aged.clear();
        if let Some(last) = self.ready.last().filter(|_| !self.complete) {
            let aged = batch.div_ceil(usize::try_from(AGED_EVERY).unwrap_or(8));
            let oldest =
                store.oldest_due(self.host.id, now_ms, last.rank + 1, aged + self.hand.len())?;
            let free = oldest
                .into_iter()
                .filter(|url| !self.hand.contains(&url.id));
            self.aged = free.take(aged).collect();
        }
        self.refresh_ms = store
            .next_due(self.host.id, Some(now_ms))?
            .unwrap_or(HELD_MS);
        self.stale = false;
        self.filled_at = self.leased;
        if !self.numbers.is_empty() {
            let in_memory = self.ready.iter().chain(&self.aged).map(|url| url.id);
            let in_memory: HashSet<UrlId> = in_memory.collect();
            self.numbers.retain(|id, _| in_memory.contains(id));
        }
        Ok(())
    }

    /// A URL that the store has now. Due ones join the queue if they belong before its end.
    pub(super) fn add(&mut self, url: DueUrl, batch: usize, now_ms: i64) {
        if url.due_ms >= HELD_MS || self.hand.contains(&url.id) {
            return;
        }
        if url.due_ms > now_ms {
            self.refresh_ms = self.refresh_ms.min(url.due_ms);
            return;
        }
        let before_end = self.ready.last().is_some_and(|last| url < *last);
        if self.stale || !(self.complete || before_end) {
            return;
        }
        self.ready.insert(url);
        if self.ready.len() > GROWTH * batch.max(1) * self.list.len() {
            self.ready.pop_last();
            self.complete = false;
        }
    }

    /// Takes this URL; false if it is leased, or finished and not committed.
    pub(super) fn take(&mut self, id: UrlId) -> bool {
        self.ready.retain(|url| url.id != id);
        self.aged.retain(|url| url.id != id);
        self.hand.insert(id)
    }

    /// The commit of this URL is done, or its lease was given back.
    pub(super) fn put_down(&mut self, id: UrlId) {
        self.hand.remove(&id);
    }

    /// Gives a lease back: the URL is as due as it was.
    pub(super) fn put_back(&mut self, lease: &Lease, batch: usize, now_ms: i64) {
        let record = &lease.record;
        self.put_down(record.id);
        let url = DueUrl {
            rank: record.visit.rank,
            due_ms: record.visit.due_ms.unwrap_or(now_ms),
            id: record.id,
        };
        let fits = self.complete || self.ready.last().is_some_and(|last| url < *last);
        if fits {
            self.add(url, batch, now_ms);
        } else {
            self.invalidate();
        }
    }
}

/// Links of equal depth share a rank up to this depth.
const DEEPEST: u8 = 8;
/// Rank of pages that are asked for in every cycle.
pub(super) const HUB_RANK: u8 = 0;
/// Rank of articles that are looked at again.
pub(super) const RECHECK_RANK: u8 = DEEPEST + 4;
/// Rank of pages that were in flight when the program crashed.
pub(super) const SUSPECT_RANK: u8 = RANKS - 1;

/// Which of the `queues` (at least 1) of its host a URL is in, from 0.
pub(super) fn queue_number(uri: &CrawlUri, queues: u32, hash: QueueHash) -> u32 {
    match queues {
        0 | 1 => 0,
        _ => hash.shard(uri.as_str(), queues),
    }
}

/// Name of the queue of a URL: its host, and `+k` where the host has several.
pub fn queue_name(uri: &CrawlUri, queues: u32, hash: QueueHash) -> String {
    match (uri.authority(), queues) {
        (host, 0 | 1) => host.to_owned(),
        (host, _) => format!("{host}+{}", queue_number(uri, queues, hash)),
    }
}

/// Place of a new URL among the due URLs of its host: links on hubs, then the rest, each by depth. The next page of a list
/// takes turns with the pages that this one leads to.
pub(super) fn rank(class: UrlClass, hops: u16, on_hub: bool) -> u8 {
    let depth = u8::try_from(hops).unwrap_or(u8::MAX).min(DEEPEST);
    match class {
        UrlClass::Seed | UrlClass::Feed | UrlClass::Sitemap => HUB_RANK,
        UrlClass::Hub => 2 + depth,
        UrlClass::Article | UrlClass::Unknown | UrlClass::Attachment => {
            1 + depth + u8::from(!on_hub)
        }
    }
}

/// Place of a URL that was visited and is to be visited again.
pub(super) fn revisit_rank(class: UrlClass, state: UrlState) -> u8 {
    match (class.is_hub(), state) {
        (true, _) => HUB_RANK,
        (false, UrlState::New) => RECHECK_RANK - 1,
        (false, _) => RECHECK_RANK,
    }
}
