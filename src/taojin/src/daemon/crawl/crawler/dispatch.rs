//! Hands leases to the fetch tasks: what was requested one by one first, then what the frontier gives out, or the answers of an archive.

use tokio::sync::mpsc;

use super::orders::Orders;
use crate::config::CrawlConfig;
use crate::daemon::crawl::archive::Replay;
use crate::daemon::crawl::visit::visitor::VisitTask;
use taojin_crawl::frontier::{Frontier, Lease, LeaseOutcome, Next};
use taojin_crawl::store::Store;

/// The way to the fetch tasks, and the limits of what they have at once.
pub(super) struct Dispatch {
    leases: mpsc::Sender<VisitTask>,
    /// Archives that the pages come from, instead of the network.
    replay: Option<Replay>,
    /// Only what was requested one by one is given out.
    only_requested: bool,
    max_connections: usize,
    /// A requested URL that must wait longer for its host is reported as put off, in milliseconds.
    patience_ms: i64,
}

/// There is more, and it may be tried again soon.
pub(super) fn in_a_second(now: i64) -> Next {
    Next::Wait {
        until_ms: now + 1000,
        due: true,
    }
}

impl Dispatch {
    pub(super) fn new(
        leases: mpsc::Sender<VisitTask>,
        replay: Option<Replay>,
        only_requested: bool,
        config: &CrawlConfig,
    ) -> Self {
        Self {
            leases,
            replay,
            only_requested,
            max_connections: config.max_connections,
            patience_ms: i64::try_from(config.pass_patience_ms).unwrap_or(i64::MAX),
        }
    }

    /// The archives that are read, if any are.
    pub(super) fn replay(&self) -> Option<&Replay> {
        self.replay.as_ref()
    }

    /// The same, to take what they gave.
    pub(super) fn replay_mut(&mut self) -> Option<&mut Replay> {
        self.replay.as_mut()
    }

    /// Whether a page is being fetched, or read from an archive.
    pub(super) fn is_busy(&self, frontier: &Frontier) -> bool {
        frontier.in_flight() > 0 || self.replay.as_ref().is_some_and(Replay::is_busy)
    }

    /// Hands out leases until a limit is reached; gives what the frontier says then.
    pub(super) fn hand_out(
        &mut self,
        orders: &mut Orders,
        frontier: &mut Frontier,
        store: &mut Store,
        now: i64,
    ) -> anyhow::Result<Next> {
        let mut soonest = None;
        loop {
            if frontier.in_flight() >= self.max_connections {
                return Ok(in_a_second(now));
            }
            if !orders.is_empty() {
                soonest = self.hand_out_requested(orders, frontier, store, now)?;
            }
            if self.only_requested {
                return Ok(wait_for(Next::Idle, soonest));
            }
            match frontier.next(store, now)? {
                Next::Fetch(lease) => {
                    if !self.send(*lease, orders, frontier, now) {
                        return Ok(Next::Idle);
                    }
                }
                other => return Ok(wait_for(other, soonest)),
            }
        }
    }

    /// Gives a lease to the fetch tasks, or back to the frontier; whether it was taken. The channel has room for every connection, so
    /// it is refused only when the fetch tasks are gone.
    fn send(&self, lease: Lease, orders: &mut Orders, frontier: &mut Frontier, now: i64) -> bool {
        let from = orders.source(lease.record.id);
        let sent = self.leases.try_send(VisitTask { lease, from });
        if let Err(refused) = sent {
            frontier.release(&refused.into_inner().lease, now);
            return false;
        }
        true
    }

    /// Hands out what was requested, as far as the hosts may be asked; when the next of it may be, Unix milliseconds.
    fn hand_out_requested(
        &self,
        orders: &mut Orders,
        frontier: &mut Frontier,
        store: &mut Store,
        now: i64,
    ) -> anyhow::Result<Option<i64>> {
        let mut soonest: Option<i64> = None;
        let requested = orders.take_requested();
        for (at, &id) in requested.iter().enumerate() {
            let leased = frontier.lease_now(store, id, now);
            let leased =
                leased.inspect_err(|_| orders.request_again(requested[at..].iter().copied()))?;
            match leased {
                LeaseOutcome::Fetch(lease) => {
                    if !self.send(*lease, orders, frontier, now) {
                        orders.request_again([id]);
                    }
                }
                LeaseOutcome::Later(at_ms) => {
                    soonest = Some(soonest.map_or(at_ms, |s| s.min(at_ms)));
                    if at_ms - now > self.patience_ms {
                        let wait_s = (at_ms - now) / 1000;
                        let reason = format!(
                            "its host may not be asked for another {wait_s} s; it is visited then"
                        );
                        orders.watches().put_off(id, &reason);
                        // It is due in the store: a later crawl makes the visit.
                        if self.only_requested {
                            orders.drop_article(id);
                            continue;
                        }
                    }
                    orders.request_again([id]);
                }
                LeaseOutcome::UnderWay => {}
                LeaseOutcome::Elsewhere => {
                    orders.drop_article(id);
                    store.make_due(id, now)?;
                    let reason = "another node crawls its host, and visits it when its turn comes";
                    orders.watches().put_off(id, reason);
                }
                LeaseOutcome::Never => {
                    orders.drop_article(id);
                    orders
                        .watches()
                        .put_off(id, "it may not be visited any more");
                }
            }
        }
        Ok(soonest)
    }

    /// Hands out archived answers until there is no more room.
    pub(super) fn hand_out_archived(&mut self, now: i64) -> Next {
        loop {
            let Some(replay) = &mut self.replay else {
                return Next::Idle;
            };
            if replay.held() >= self.max_connections {
                return in_a_second(now);
            }
            let Some(task) = replay.next(now) else {
                return Next::Idle;
            };
            // The channel has room for every connection, so this fails only when the fetch tasks are gone.
            if self.leases.try_send(task).is_err() {
                return Next::Idle;
            }
            replay.note_sent();
        }
    }
}

/// What the frontier says, but no later than something that was requested.
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
