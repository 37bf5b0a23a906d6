//! Turns at servers: hosts in different partitions, of different nodes, may have names that lead to one IP address. In: which
//! addresses this node wants to ask. Out: whether it may. An address is asked by one node at a time, and rests between two nodes as
//! it does between two hosts of one. A node has the turn at each address that it asks, from the first question on; where hosts of
//! other partitions are known to be there too, turns are short.

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
            *shared = store.shared_ips()?;
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
                match used.contains(&ip) {
                    true => ask.push(ip),
                    false => over.push(ip),
                }
            }
        }
        let over: Vec<(IpAddr, i64)> = over
            .into_iter()
            .map(|ip| (ip, self.addresses.rest_ms(ip, now_ms)))
            .collect();
        store.end_turns(&over)?;
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
        let got: HashSet<IpAddr> = store.take_turns(&ask)?.into_iter().collect();
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
        store.end_turns(&unused)?;
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
        if let Err(error) = store.end_turns(&held) {
            tracing::debug!(%error, "turns end by themselves");
        }
    }
}
