//! Turns at servers that several nodes share: hosts in different partitions whose names lead to one IP address. In: which of them
//! this node wants to ask. Out: whether it may. A server is asked by one node at a time, and rests between two nodes as it does
//! between two hosts of one. Servers whose hosts are all of one partition, most of them, cost nothing.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;

use super::Frontier;
use crate::store::{Store, StoreError};

/// A node asks a shared server for so long, then others come first.
const TURN_MS: i64 = 5_000;
/// A node that had a turn wants none for so long, so that others find the server free.
const STAND_BACK_MS: i64 = 1_000;
/// A host whose server is another node's is looked at again after so long.
pub(super) const LOOK_AGAIN_MS: i64 = 250;
/// Which servers are shared is read so often: names seldom move.
const READ_EVERY_MS: i64 = 30_000;

/// The turns of this node.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// Addresses of hosts in several partitions.
    shared: HashSet<IpAddr>,
    read_ms: Option<i64>,
    /// This node's, and since when.
    held: HashMap<IpAddr, i64>,
    wanted: HashSet<IpAddr>,
    /// Not wanted again before.
    stand_back_ms: HashMap<IpAddr, i64>,
}

impl Turns {
    /// Whether this node may ask a server now. If not, it waits for its turn.
    pub(super) fn may_ask(&mut self, ip: IpAddr, now_ms: i64) -> bool {
        if !self.shared.contains(&ip) {
            return true;
        }
        let is_held = self.held.get(&ip);
        let may_ask = is_held.is_some_and(|since_ms| now_ms < since_ms + TURN_MS);
        if !may_ask {
            self.wanted.insert(ip);
        }
        may_ask
    }
}

impl Frontier {
    /// Whether turns are wanted or held.
    pub fn takes_turns(&self) -> bool {
        !self.turns.wanted.is_empty() || !self.turns.held.is_empty()
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
            *shared = store.shared_ips()?;
            stand_back_ms.retain(|_, until_ms| *until_ms > now_ms);
        }
        let state = |ip: IpAddr| self.addresses.get(ip);
        let is_over = |(ip, since_ms): (&IpAddr, &i64)| {
            let busy = state(*ip).is_some_and(|address| address.in_flight > 0);
            (now_ms >= since_ms + TURN_MS && !busy).then_some(*ip)
        };
        let over: Vec<IpAddr> = held.iter().filter_map(is_over).collect();
        for ip in over {
            let rest_ms = state(ip).map_or(0, |address| (address.not_before_ms - now_ms).max(0));
            store.end_turn(ip, rest_ms)?;
            held.remove(&ip);
            stand_back_ms.insert(ip, now_ms + rest_ms + STAND_BACK_MS);
        }
        wanted.retain(|ip| {
            stand_back_ms
                .get(ip)
                .is_none_or(|until_ms| *until_ms <= now_ms)
        });
        let ask: Vec<IpAddr> = held.keys().chain(&*wanted).copied().collect();
        wanted.clear();
        let got: HashSet<IpAddr> = store.take_turns(&ask)?.into_iter().collect();
        held.retain(|ip, _| got.contains(ip));
        for ip in got {
            held.entry(ip).or_insert(now_ms);
        }
        Ok(())
    }
}
