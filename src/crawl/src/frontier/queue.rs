//! The part of a host's work queue that is in memory. In: due URLs read from the store or just found. Out: the
//! first of them. Never holds a URL twice, and never one whose lease is not committed yet.
//!
//! Invariant: every due URL of the host is in `ready`, in `hand`, or (unless `complete`) no earlier in the order
//! (rank, due time, row) than all of `ready`. So the order is that of the store, whatever is added meanwhile.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

use super::assign;
use super::lease::Lease;
use crate::store::{DueUrl, HELD_MS, HostRecord, Reader, StoreError, UrlId};
use taojin_uri::QueueHash;

/// `ready` may grow to this many batches by links that were just found, before the last go back to the store.
const GROWTH: usize = 4;

/// Each so many leases of a host one goes to what has waited longest, whatever its rank: what comes first is never all.
const AGED_EVERY: u64 = 8;

#[derive(Debug)]
pub(super) struct Queue {
    /// Politeness and counters of the host.
    pub(super) host: HostRecord,
    /// Due URLs in order.
    ready: BTreeSet<DueUrl>,
    /// Those that have waited longest of what is in the store beyond `ready`, oldest first.
    aged: VecDeque<DueUrl>,
    /// Work queues that the host is divided into, and of which URLs it is known in which they are.
    pub(super) parallel: u32,
    pub(super) hash: QueueHash,
    lanes: HashMap<UrlId, u32>,
    /// Leased, or finished and not committed.
    hand: HashSet<UrlId>,
    /// Fetches under way.
    pub(super) in_flight: u32,
    /// Leases since the queue came into memory.
    pub(super) leased: u64,
    /// The store has no due URL beyond `ready` and `hand`.
    complete: bool,
    /// A URL in the store becomes due then; `HELD_MS` if none does.
    refresh_ms: i64,
    /// `ready` was never filled or may lack URLs that became due otherwise.
    stale: bool,
    /// Changed since its record was written.
    pub(super) dirty: bool,
    /// The only entry of the heap that counts for this queue; 0: none.
    pub(super) ticket: u64,
    /// Had its pages of this cycle.
    pub(super) limited: bool,
    /// Its partition goes to another node.
    pub(super) leaving: bool,
}

impl Queue {
    pub(super) fn new(host: HostRecord) -> Self {
        Queue {
            host,
            ready: BTreeSet::new(),
            aged: VecDeque::new(),
            parallel: 1,
            hash: QueueHash::default(),
            lanes: HashMap::new(),
            hand: HashSet::new(),
            in_flight: 0,
            leased: 0,
            complete: false,
            refresh_ms: HELD_MS,
            stale: true,
            dirty: false,
            ticket: 0,
            limited: false,
            leaving: false,
        }
    }

    /// Due URLs in memory that are not leased.
    pub(super) fn len(&self) -> usize {
        self.ready.len()
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

    /// Takes the first due URL, reading from the store where needed. `None`: nothing is due.
    pub(super) fn pop(
        &mut self,
        store: &Reader,
        batch: usize,
        now_ms: i64,
    ) -> Result<Option<UrlId>, StoreError> {
        let wanting = self.ready.is_empty() && !self.complete;
        if self.stale || wanting || now_ms >= self.refresh_ms {
            self.refill(store, batch, now_ms)?;
        }
        loop {
            let Some(id) = self.choose(store)? else {
                return Ok(None);
            };
            // One that was released while it waited may stand in both lists.
            if self.hand.insert(id) {
                return Ok(Some(id));
            }
        }
    }

    /// Takes the next one out: the first in order, but now and then the oldest, and with several work queues each in
    /// turn.
    fn choose(&mut self, store: &Reader) -> Result<Option<UrlId>, StoreError> {
        if self.leased % AGED_EVERY == AGED_EVERY - 1
            && let Some(oldest) = self.aged.pop_front()
        {
            return Ok(Some(oldest.id));
        }
        if self.parallel > 1 {
            let turn = u32::try_from(self.leased % u64::from(self.parallel)).unwrap_or(0);
            for url in &self.ready {
                let lane = match self.lanes.get(&url.id) {
                    Some(lane) => *lane,
                    None => {
                        let uri = store.url(url.id)?.map(|record| record.uri);
                        let lane =
                            uri.map_or(0, |uri| assign::lane(&uri, self.parallel, self.hash));
                        self.lanes.insert(url.id, lane);
                        lane
                    }
                };
                if lane == turn {
                    let url = *url;
                    self.ready.remove(&url);
                    self.lanes.remove(&url.id);
                    return Ok(Some(url.id));
                }
            }
        }
        let first = self.ready.pop_first();
        Ok(first.map(|url| url.id))
    }

    fn refill(&mut self, store: &Reader, batch: usize, now_ms: i64) -> Result<(), StoreError> {
        // What is in hand is due in the store still: ask for as much more.
        let lanes = usize::try_from(self.parallel.max(1)).unwrap_or(1);
        let limit = batch.max(1) * lanes + self.hand.len();
        let due = store.due(self.host.id, now_ms, limit)?;
        self.complete = due.len() < limit;
        self.ready = due
            .into_iter()
            .filter(|url| !self.hand.contains(&url.id))
            .collect();
        self.lanes.clear();
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
        if self.ready.len() > GROWTH * batch.max(1) {
            self.ready.pop_last();
            self.complete = false;
        }
    }

    /// Takes this URL out of turn; false if it is leased, or finished and not committed.
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
