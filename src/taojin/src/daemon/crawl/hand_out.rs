//! Handing out leases. In: what the frontier has ready, the room there is. Out: work for the fetch tasks.

use std::time::Instant;

use super::state::CrawlLoop;
use super::visited::Work;
use crate::daemon::Mode;
use taojin_crawl::frontier::{Asked, Lease, Next};

impl CrawlLoop {
    /// Hands out leases until a limit is reached; gives what the frontier says then.
    pub(super) fn hand_out(&mut self, now: i64) -> anyhow::Result<Next> {
        if self.is_paused() {
            // The daemon waits for room; a single pass ends.
            return Ok(match self.mode {
                Mode::Forever => Next::Wait {
                    until_ms: now + 1000,
                    due: true,
                },
                _ => Next::Idle,
            });
        }
        if !self.store.is_leased()? {
            // The lease comes back with the database.
            return Ok(Next::Wait {
                until_ms: now + 1000,
                due: true,
            });
        }
        if self.replay.is_some() {
            return Ok(self.hand_out_archived(now));
        }
        let mut soonest = None;
        loop {
            let full = self.frontier.in_flight() >= self.config.max_connections;
            let lagging = self.shared.is_lagging(self.config.max_outbox);
            if self.stop_at.is_some() || full || lagging {
                return Ok(Next::Wait {
                    until_ms: now + 1000,
                    due: true,
                });
            }
            if !self.orders.asked.is_empty() {
                soonest = self.hand_out_asked(now)?;
            }
            if matches!(self.mode, Mode::Visit { .. }) {
                return Ok(wait_for(Next::Idle, soonest));
            }
            match self.frontier.next(&self.store, now)? {
                Next::Fetch(lease) => {
                    if !self.dispatch(*lease, now) {
                        return Ok(Next::Idle);
                    }
                }
                other => return Ok(wait_for(other, soonest)),
            }
        }
    }

    /// Gives a lease to the fetch side, or back to the frontier; whether it was taken. The channel has room for every connection, so
    /// it is refused only when the fetch side is gone.
    fn dispatch(&mut self, lease: Lease, now: i64) -> bool {
        let work = Work {
            open: self.orders.open.remove(&lease.record.id),
            lease,
            archived: None,
        };
        let sent = self.leases.try_send(work);
        if let Err(refused) = sent {
            self.frontier.release(&refused.into_inner().lease, now);
            return false;
        }
        true
    }

    /// Whether the disk is too full for more.
    pub(crate) fn is_paused(&mut self) -> bool {
        let low = self.disk.look(Instant::now()).map(str::to_owned);
        if low.is_some() {
            self.summary.paused.clone_from(&low);
        }
        let paused = low.is_some();
        self.shared.set_paused(low);
        paused
    }

    /// Hands out what was asked for, as far as the hosts may be asked; when the next of it may be.
    fn hand_out_asked(&mut self, now: i64) -> anyhow::Result<Option<i64>> {
        let patience = i64::try_from(self.config.pass_patience_ms).unwrap_or(i64::MAX);
        let mut soonest: Option<i64> = None;
        let asked = std::mem::take(&mut self.orders.asked);
        for (at, &id) in asked.iter().enumerate() {
            let answer = self.frontier.lease_now(&self.store, id, now);
            let answer = answer.inspect_err(|_| self.orders.asked.extend(&asked[at..]))?;
            match answer {
                Asked::Fetch(lease) => {
                    if !self.dispatch(*lease, now) {
                        self.orders.asked.push(id);
                    }
                }
                Asked::Later(at_ms) => {
                    soonest = Some(soonest.map_or(at_ms, |s| s.min(at_ms)));
                    if at_ms - now > patience {
                        let wait_s = (at_ms - now) / 1000;
                        let reason = format!(
                            "its host may not be asked for another {wait_s} s; it is visited then"
                        );
                        self.orders.watches.put_off(id, &reason);
                    }
                    self.orders.asked.push(id);
                }
                Asked::UnderWay => {}
                Asked::Elsewhere => {
                    self.orders.open.remove(&id);
                    self.store.make_due(id, now)?;
                    self.orders.watches.put_off(
                        id,
                        "another node crawls its host, and visits it when its turn comes",
                    );
                }
                Asked::Never => {
                    self.orders.open.remove(&id);
                    self.orders
                        .watches
                        .put_off(id, "it may not be visited any more");
                }
            }
        }
        Ok(soonest)
    }
}

/// What the frontier says, but no later than something that was asked for by hand.
fn wait_for(next: Next, soonest: Option<i64>) -> Next {
    match (next, soonest) {
        (next, None) => next,
        (Next::Wait { until_ms, .. }, Some(at_ms)) => Next::Wait {
            until_ms: until_ms.min(at_ms),
            due: true,
        },
        (_, Some(until_ms)) => Next::Wait {
            until_ms,
            due: true,
        },
    }
}
