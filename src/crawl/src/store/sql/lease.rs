//! The lease of a node: the right to fetch and to write for some seconds at a time, renewed on a connection of its own. In: the
//! number of its place. Out: whether it holds, and the time of the database, by which all nodes go.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use tokio_postgres::Client;

use super::node::NOW_MS;
use super::tls::Way;
use super::{Error, Result};

/// A lease lasts so long after its renewal was asked for. Other nodes take over after it.
pub(super) const TERM: Duration = Duration::from_secs(15);
/// It is renewed so often: three renewals may fail before anything has to wait.
const RENEW_EVERY: Duration = Duration::from_secs(3);
/// Nothing is fetched so long before its end: a fetch that is broken off needs a moment to end.
const MARGIN: Duration = Duration::from_secs(3);
/// Who holds its lease for so long without a break has seen that the database is there, and that who did not renew its own
/// meanwhile is gone.
const SETTLED: Duration = Duration::from_secs(7);
/// The end of a lease is looked for so often where one waits for it: a machine that was asleep notices when it wakes.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// The same where the database is silent.
const LOOK_SOON: Duration = Duration::from_millis(100);
/// The lease of a node whose place was taken.
const LOST: i64 = i64::MIN;
/// With each renewal the clock goes this far at most towards the time of the database: a thousandth of the time between.
const STEP_MS: i64 = 3;
/// A clock that is further off is set at once: no answer was so late.
const LEAP_MS: i64 = 1_000;

/// Whether this process may go on: the right to fetch and to write that a node has for some seconds at a time.
#[derive(Debug, Clone, Default)]
pub struct NodeLease {
    /// By [`since_start_ms`]; [`LOST`] once another node has the place.
    ends_ms: Arc<AtomicI64>,
    /// Since when it is held without a break, by the same clock.
    since_ms: Arc<AtomicI64>,
    /// What the database's time is ahead of [`since_start_ms`].
    ahead_ms: Arc<AtomicI64>,
    /// Whether the last renewal failed.
    is_silent: Arc<watch::Sender<bool>>,
    /// Whether a database that is silent is not waited for any more.
    hurries: Arc<AtomicBool>,
}

impl NodeLease {
    /// Begins where it was asked for at this time.
    pub(super) fn begin(&self, asked_ms: i64) {
        self.since_ms.store(asked_ms, Ordering::Relaxed);
        self.renew(asked_ms);
    }

    /// Whether the database did not answer when it was asked last, some seconds ago at most.
    pub fn is_silent(&self) -> bool {
        *self.is_silent.borrow()
    }

    /// What came of asking the database before there is a lease.
    pub fn set_silent(&self, is_silent: bool) {
        self.is_silent.send_replace(is_silent);
    }

    /// The process is to end: a database that is silent is not waited for any more.
    pub fn hurry(&self) {
        self.hurries.store(true, Ordering::Relaxed);
    }

    /// Waits until it is of no use to wait for the database: it is silent, and the lease is not held any more or the process is to
    /// end.
    pub(super) async fn given_up(&self) {
        loop {
            let mut silent = self.is_silent.subscribe();
            // The sender is a part of this.
            let _ = silent.wait_for(|silent| *silent).await;
            if self.is_given_up() {
                return;
            }
            sleep(LOOK_SOON).await;
        }
    }

    /// Whether it is of no use to wait for the database.
    pub(super) fn is_given_up(&self) -> bool {
        let is_over = self.hurries.load(Ordering::Relaxed) || !self.is_held();
        self.is_silent() && is_over
    }

    /// The time of the database, Unix milliseconds, by which all nodes go: it may be late by the time that an answer takes.
    pub fn database_ms(&self) -> i64 {
        since_start_ms() + self.ahead_ms.load(Ordering::Relaxed)
    }

    /// The database has said what time it is. Answers are late, each by another time: a clock that followed them at once would
    /// leap, and every rest of a host in between would be too short.
    pub(super) fn note_time(&self, database_ms: i64) {
        let known_ms = self.ahead_ms.load(Ordering::Relaxed);
        let off_ms = database_ms - since_start_ms() - known_ms;
        let step_ms = match off_ms.abs() {
            LEAP_MS.. => off_ms,
            _ => off_ms.clamp(-STEP_MS, STEP_MS),
        };
        self.ahead_ms.store(known_ms + step_ms, Ordering::Relaxed);
    }

    /// Whether it holds for some seconds more. False while the database cannot be reached for too long; it may come back.
    pub fn is_held(&self) -> bool {
        self.left_ms(since_start_ms()) > 0
    }

    /// Whether another node has the place.
    pub fn is_lost(&self) -> bool {
        self.ends_ms.load(Ordering::Relaxed) == LOST
    }

    /// Waits until the lease is no longer held.
    pub async fn in_doubt(&self) {
        loop {
            match u64::try_from(self.left_ms(since_start_ms())) {
                Ok(left_ms @ 1..) => sleep(LOOK_EVERY.min(Duration::from_millis(left_ms))).await,
                _ => return,
            }
        }
    }

    /// Milliseconds until nothing may be fetched any more, at this time since the machine was started.
    fn left_ms(&self, now_ms: i64) -> i64 {
        let ends_ms = self.ends_ms.load(Ordering::Relaxed);
        ends_ms.saturating_sub(now_ms).saturating_sub(ms(MARGIN))
    }

    /// Whether it has been held for a while without a break. After the database was away, the leases of all nodes may have run
    /// out, and each needs a moment to renew its own.
    pub(super) fn is_settled(&self) -> bool {
        let now_ms = since_start_ms();
        let ends_ms = self.ends_ms.load(Ordering::Relaxed);
        now_ms < ends_ms && now_ms - self.since_ms.load(Ordering::Relaxed) >= ms(SETTLED)
    }

    fn renew(&self, asked_ms: i64) {
        if asked_ms >= self.ends_ms.load(Ordering::Relaxed) {
            self.since_ms.store(asked_ms, Ordering::Relaxed);
        }
        self.ends_ms.store(asked_ms + ms(TERM), Ordering::Relaxed);
        self.set_silent(false);
    }
}

/// Renews a lease until it is dropped.
pub(super) struct Heartbeat {
    runtime: Option<Runtime>,
}

impl Heartbeat {
    pub(super) fn start(way: Way, session: i64, lease: NodeLease) -> Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("lease")
            .enable_all()
            .build()
            .map_err(|e| Error::Unreachable(e.to_string()))?;
        runtime.spawn(keep(way, session, lease));
        Ok(Heartbeat {
            runtime: Some(runtime),
        })
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

async fn keep(way: Way, session: i64, lease: NodeLease) {
    let mut client = None;
    loop {
        sleep(RENEW_EVERY).await;
        let asked_ms = since_start_ms();
        let renewed = timeout(RENEW_EVERY, renew(&way, session, &mut client)).await;
        match renewed {
            Ok(Ok(Some(database_ms))) => {
                lease.renew(asked_ms);
                lease.note_time(database_ms);
            }
            Ok(Ok(None)) => {
                lease.ends_ms.store(LOST, Ordering::Relaxed);
                tracing::error!("another node has taken the place of this one");
                return;
            }
            Ok(Err(error)) => {
                tracing::warn!(?error, "the lease was not renewed");
                lease.set_silent(true);
                client = None;
            }
            Err(_) => {
                tracing::warn!("the lease was not renewed in time");
                lease.set_silent(true);
                client = None;
            }
        }
    }
}

/// The time of the database; none once another node has the place. A lease that ran out and was not taken is good again.
async fn renew(way: &Way, session: i64, client: &mut Option<Client>) -> Result<Option<i64>> {
    let client = match client {
        Some(client) => client,
        None => client.insert(way.connect(RENEW_EVERY).await?),
    };
    let term = ms(TERM);
    let sql = format!(
        "UPDATE node AS own SET expires_ms = {NOW_MS} + {term}, rival = NULL FROM node AS before \
         WHERE own.session = {session} AND before.session = {session} RETURNING own.expires_ms - {term}, before.rival"
    );
    let renewed = client.query_typed(&sql, &[]).await?;
    let Some(row) = renewed.first() else {
        return Ok(None);
    };
    if let Some(rival) = row.try_get::<_, Option<String>>(1)? {
        tracing::error!(
            "a node on {rival} has tried to start with the name of this data folder and was refused: was the folder copied?"
        );
    }
    Ok(Some(row.try_get(0)?))
}

/// Milliseconds since the machine was started, asleep or not.
pub(super) fn since_start_ms() -> i64 {
    #[cfg(target_os = "linux")]
    let clock = rustix::time::ClockId::Boottime;
    #[cfg(not(target_os = "linux"))]
    let clock = rustix::time::ClockId::Monotonic;
    let time = rustix::time::clock_gettime(clock);
    time.tv_sec * 1_000 + time.tv_nsec / 1_000_000
}

pub(super) fn ms(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_ends_some_seconds_before_another_node_may_have_the_place() {
        let lease = NodeLease::default();
        lease.begin(-ms(TERM));
        lease.renew(1_000);
        let most_ms = ms(TERM) - ms(MARGIN);
        assert_eq!(lease.left_ms(1_000), most_ms);
        assert_eq!(lease.left_ms(1_000 + most_ms), 0);
        // Held from this moment on, it is settled after a while, and not again before that after it ran out.
        let lease = NodeLease::default();
        lease.begin(since_start_ms());
        assert!(!lease.is_settled());
        lease.since_ms.fetch_sub(ms(SETTLED), Ordering::Relaxed);
        lease.renew(since_start_ms());
        assert!(lease.is_settled());
        lease.ends_ms.store(since_start_ms() - 1, Ordering::Relaxed);
        assert!(!lease.is_settled());
        lease.renew(since_start_ms());
        assert!(lease.is_held() && !lease.is_settled());
        lease.ends_ms.store(LOST, Ordering::Relaxed);
        // Late answers hardly move the clock, a wrong one is set right.
        let far = since_start_ms() + 1_000_000_000_000;
        lease.note_time(far);
        let hand = lease.ahead_ms.load(Ordering::Relaxed);
        lease.note_time(far - 40);
        lease.note_time(far + 500);
        let moved = lease.ahead_ms.load(Ordering::Relaxed) - hand;
        assert!(moved.abs() <= STEP_MS, "{moved}");
        assert!(lease.is_lost() && lease.left_ms(0) < 0);
    }
}
