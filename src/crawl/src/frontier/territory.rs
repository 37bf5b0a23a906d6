//! What this node may ask of a store that several nodes share: the partitions whose hosts it crawls, and turns at servers.
//!
//! The store says which partitions are this node's. Hosts of a partition are ended with before another node has them; addresses that
//! other nodes found for it are taken up.
//!
//! Hosts in different partitions, of different nodes, may have names that lead to one IP address. An address is asked by one node at
//! a time, and rests between two nodes as it does between two hosts of one. A node has the turn at each address that it asks, from
//! the first question on; where hosts of other partitions are known to be there too, turns are short.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;

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
            store.cluster().catch_up_cycles(&parts, HUB_RANK, now_ms)?;
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
            let since_ms = if part.rests {
                &mut self.taken_over_ms
            } else {
                &mut self.handed_over_ms
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
                    for queue in 0..queues.number_of_queues() {
                        self.line.remove(*host, queue);
                    }
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
            .chain(self.leases.values().map(|(host, _)| host))
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
        let sent = store.cluster().sent_here(&self.parts, TAKEN_UP)?;
        for (hash, url) in sent {
            batch.taken_up.push(hash);
            batch.urls.extend(url);
        }
        Ok(!batch.taken_up.is_empty())
    }
}

/// A node asks a shared server for so long, then others come first.
const TURN_MS: i64 = 5_000;
/// A node that had a turn wants none for so long, so that others find the server free.
const STAND_BACK_MS: i64 = 1_000;
/// A host whose server is another node's is looked at again after so long.
pub(super) const LOOK_AGAIN_MS: i64 = 250;
/// A turn that nobody else is known to want is renewed so often, while hosts of this node are at the address.
const RENEW_EVERY_MS: i64 = 7_000;
/// It is not relied on for longer after it was renewed: well below the time after which another node may have it.
const RELIED_ON_MS: i64 = 15_000;
/// Which servers are shared is read so often: names seldom move.
const READ_EVERY_MS: i64 = 30_000;

/// The turns of this node.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// Addresses of hosts in several partitions.
    shared: HashSet<IpAddr>,
    read_ms: Option<i64>,
    /// This node's.
    held: HashMap<IpAddr, Held>,
    wanted: HashSet<IpAddr>,
    /// Not wanted again before.
    stand_back_ms: HashMap<IpAddr, i64>,
}

/// A turn of this node.
#[derive(Debug, Clone, Copy)]
struct Held {
    since_ms: i64,
    renewed_ms: i64,
}

impl Turns {
    /// Whether this node may ask a server now. If not, it waits for its turn.
    pub(super) fn may_ask(&mut self, ip: IpAddr, now_ms: i64) -> bool {
        let is_shared = self.shared.contains(&ip);
        let may_ask = self.held.get(&ip).is_some_and(|held| {
            let is_short = is_shared && now_ms >= held.since_ms + TURN_MS;
            now_ms < held.renewed_ms + RELIED_ON_MS && !is_short
        });
        if !may_ask {
            self.wanted.insert(ip);
        }
        may_ask
    }
}

impl Frontier {
    /// Whether turns are wanted, or held that others want as well.
    pub fn takes_turns(&self) -> bool {
        let Turns {
            wanted,
            held,
            shared,
            ..
        } = &self.turns;
        !wanted.is_empty() || held.keys().any(|ip| shared.contains(ip))
    }

    /// Whether a server at this address may be asked; where there is one node only, always.
    pub(super) fn has_turn(&mut self, ip: IpAddr, now_ms: i64) -> bool {
        !self.parts.are_shared() || self.turns.may_ask(ip, now_ms)
    }

    /// Ends turns that are over, renews the others and asks for those that are wanted. Nothing where there is one node only.
    pub fn take_turns(&mut self, store: &Store, now_ms: i64) -> Result<(), StoreError> {
        if !self.parts.are_shared() {
            return Ok(());
        }
        let Turns {
            shared,
            read_ms,
            held,
            wanted,
            stand_back_ms,
        } = &mut self.turns;
        if read_ms.is_none_or(|read_ms| now_ms >= read_ms + READ_EVERY_MS) {
            *read_ms = Some(now_ms);
            *shared = store.cluster().shared_ips()?;
            stand_back_ms.retain(|_, until_ms| *until_ms > now_ms);
        }
        let is_busy = |ip: IpAddr| {
            let address = self.addresses.get(ip);
            address.is_some_and(|address| address.in_flight > 0)
        };
        let (mut over, mut ask) = (Vec::new(), Vec::new());
        let mut used: Option<HashSet<IpAddr>> = None;
        for (&ip, turn) in &*held {
            let is_old = now_ms >= turn.renewed_ms + RENEW_EVERY_MS;
            if is_busy(ip) {
                ask.extend(is_old.then_some(ip));
            } else if shared.contains(&ip) {
                over.extend((now_ms >= turn.since_ms + TURN_MS).then_some(ip));
            } else if is_old {
                let queues = self.hosts.values();
                let used = used.get_or_insert_with(|| queues.filter_map(|q| q.host.ip).collect());
                if used.contains(&ip) {
                    ask.push(ip)
                } else {
                    over.push(ip)
                }
            }
        }
        let over: Vec<(IpAddr, i64)> = over
            .into_iter()
            .map(|ip| (ip, self.addresses.rest_ms(ip, now_ms)))
            .collect();
        store.cluster().end_turns(&over)?;
        for (ip, rest_ms) in over {
            held.remove(&ip);
            if shared.contains(&ip) {
                stand_back_ms.insert(ip, now_ms + rest_ms + STAND_BACK_MS);
            }
        }
        wanted.retain(|ip| {
            stand_back_ms
                .get(ip)
                .is_none_or(|until_ms| *until_ms <= now_ms)
        });
        ask.extend(wanted.drain());
        let got: HashSet<IpAddr> = store.cluster().take_turns(&ask)?.into_iter().collect();
        for ip in ask {
            let turn = held.remove(&ip).filter(|_| got.contains(&ip));
            let since_ms = turn.map_or(now_ms, |turn| turn.since_ms);
            if got.contains(&ip) {
                let renewed_ms = now_ms;
                held.insert(
                    ip,
                    Held {
                        since_ms,
                        renewed_ms,
                    },
                );
            }
        }
        Ok(())
    }

    /// Gives back the turns at addresses of which no host is in memory: those of partitions that another node has now.
    pub(super) fn end_unused_turns(
        &mut self,
        store: &Store,
        now_ms: i64,
    ) -> Result<(), StoreError> {
        let queues = self.hosts.values();
        let used: HashSet<IpAddr> = queues.filter_map(|queue| queue.host.ip).collect();
        let unused = self.turns.held.keys().filter(|ip| !used.contains(ip));
        let unused: Vec<_> = unused
            .map(|ip| (*ip, self.addresses.rest_ms(*ip, now_ms)))
            .collect();
        store.cluster().end_turns(&unused)?;
        for (ip, _) in unused {
            self.turns.held.remove(&ip);
        }
        Ok(())
    }

    /// Gives all turns back, since this node fetches nothing more: what is under way is broken off.
    pub fn end_turns(&mut self, store: &Store, now_ms: i64) {
        let longest_ms = self.config.max_delay_ms.max(self.config.min_delay_ms);
        let held = std::mem::take(&mut self.turns.held).into_keys();
        let rest = |ip: IpAddr| match self.addresses.get(ip) {
            Some(address) if address.in_flight > 0 => (ip, longest_ms),
            _ => (ip, self.addresses.rest_ms(ip, now_ms)),
        };
        let held: Vec<_> = held.map(rest).collect();
        if let Err(error) = store.cluster().end_turns(&held) {
            tracing::debug!(%error, "turns end by themselves");
        }
    }
}
