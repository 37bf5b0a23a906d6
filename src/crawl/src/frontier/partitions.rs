//! The partitions of a store that several nodes share. In: the store's word which of them are this node's. Out: hosts that it
//! begins with, hosts that it ends with before another node has them; addresses that other nodes found for it.

use super::Frontier;
use super::queue::HUB_RANK;
use crate::store::{Batch, Gained, Moved, Partition, Partitions, Store, StoreError, part_of_row};

/// Addresses of other nodes taken up at once.
const TAKEN_UP: usize = 2_000;

impl Frontier {
    /// The partitions whose hosts this node crawls.
    pub fn partitions(&self) -> &Partitions {
        &self.parts
    }

    /// Whether this node does what is done by one node only: sending hits to webhooks, forgetting old versions.
    pub fn leads(&self) -> bool {
        self.leads
    }

    /// Whether partitions wait to be given back.
    pub fn is_giving_back(&self) -> bool {
        !self.leaving.is_empty()
    }

    /// Takes an even share of the partitions and gives back what is too many, as soon as nothing of it is under way. Does
    /// nothing where there is one node only. Whether something has changed.
    pub fn share_partitions(&mut self, store: &mut Store, now_ms: i64) -> Result<bool, StoreError> {
        if !self.parts.are_shared() {
            return Ok(false);
        }
        let given_back = self.give_back(store)?;
        if given_back {
            self.end_unused_turns(store, now_ms)?;
        }
        let gained = self.take_share(store)?;
        if !self.to_catch_up.is_empty() {
            let parts = std::mem::replace(&mut self.to_catch_up, Partitions::none());
            store.catch_up_cycles(&parts, HUB_RANK, now_ms)?;
        }
        self.seen.read_some(store, &self.parts)?;
        Ok(given_back || gained)
    }

    /// Takes what is free of an even share of the partitions, and ends with what is too many. Whether there is more.
    pub(super) fn take_share(&mut self, store: &mut Store) -> Result<bool, StoreError> {
        let share = store.take_share(&self.parts)?;
        self.leads = share.leads;
        self.leave(&share);
        self.gain(store, &share.gained)
    }

    /// Takes up partitions that are this node's from now on. Whether there are any.
    pub(super) fn gain(&mut self, store: &Store, gained: &[Gained]) -> Result<bool, StoreError> {
        for part in gained {
            self.parts.add(part.part);
            self.to_catch_up.add(part.part);
            self.leaving.remove(&part.part);
            let since_ms = match part.rests {
                true => &mut self.taken_over_ms,
                false => &mut self.handed_over_ms,
            };
            since_ms.insert(part.part, i64::MAX);
        }
        if gained.is_empty() {
            return Ok(false);
        }
        tracing::info!(partitions = self.parts.len(), "partitions taken over");
        self.seen.note_others(store, &self.parts)?;
        // What was known of them may be gone since: their last node may have deleted rows.
        self.seen.doubt_all();
        self.activate_ms = i64::MIN;
        Ok(true)
    }

    /// No host of these is asked any more.
    fn leave(&mut self, share: &Moved) {
        for &part in &share.surplus {
            self.parts.remove(part);
            self.leaving.insert(part);
            for (host, queues) in &mut self.hosts {
                if part_of_row(*host) == part {
                    queues.leaving = true;
                    queues.list.iter_mut().for_each(|queue| queue.ticket = 0);
                }
            }
        }
    }

    /// Gives back those of which nothing is in memory any more.
    fn give_back(&mut self, store: &mut Store) -> Result<bool, StoreError> {
        let busy: Vec<Partition> = self
            .hosts
            .keys()
            .chain(self.hold.iter().map(|(host, _)| host))
            .chain(self.leases.values())
            .map(|host| part_of_row(*host))
            .collect();
        let free: Vec<Partition> = self
            .leaving
            .iter()
            .copied()
            .filter(|part| !busy.contains(part))
            .collect();
        if free.is_empty() {
            return Ok(false);
        }
        store.give_back(&free)?;
        for part in &free {
            self.leaving.remove(part);
            self.taken_over_ms.remove(part);
            self.handed_over_ms.remove(part);
        }
        tracing::info!(
            partitions = self.parts.len(),
            given_back = free.len(),
            "partitions given back"
        );
        Ok(true)
    }

    /// Puts addresses that other nodes have found for this one into a batch. Whether there were any.
    pub fn take_up_sent(&mut self, store: &Store, batch: &mut Batch) -> Result<bool, StoreError> {
        if !batch.taken_up.is_empty() {
            return Ok(false);
        }
        let sent = store.sent_here(&self.parts, TAKEN_UP)?;
        for (hash, url) in sent {
            batch.taken_up.push(hash);
            batch.urls.extend(url);
        }
        Ok(!batch.taken_up.is_empty())
    }
}
