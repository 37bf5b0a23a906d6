//! The clock of a crawl, in Unix milliseconds.
//!
//! It is the system's, or in a simulation starts at another moment and runs faster, so that ten days pass in half an hour.
//! Timeouts of the network stay real.
//!
//! Where several machines share a store, all of them go by the time of its database: clocks that differ do not matter.
//!
//! It never goes back: when the system's clock is set back, it continues from where it was, at its own pace, until the
//! program is started again. Otherwise everything that waits for a moment would wait so much longer.

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::now_ms;
use super::shared::lock;
use super::watchdog::{Heartbeat, Worker};
use taojin_crawl::fetch;
use taojin_crawl::store::NodeLease;

/// A system clock that is set back by more than this is told of.
const TOLD_MS: i64 = 60_000;

/// What time it is for the crawl.
#[derive(Debug, Clone, Default)]
pub struct Clock(Kind);

#[derive(Debug, Clone)]
enum Kind {
    System(Arc<Mutex<Steady>>),
    Simulated(Simulated),
}

impl Default for Kind {
    fn default() -> Self {
        Kind::System(Arc::default())
    }
}

#[derive(Debug, Clone)]
struct Simulated {
    began: Instant,
    from_ms: i64,
    speed: f64,
}

/// The last moment at which the system's clock was believed.
#[derive(Debug, Default)]
struct Steady {
    /// Whoever knows the time of the database, if that counts.
    database: Option<NodeLease>,
    believed: Option<(Instant, i64)>,
    told: bool,
}

impl Steady {
    /// The time, where the system's clock says `system_ms` at the moment `at`.
    fn now_ms(&mut self, at: Instant, system_ms: i64) -> i64 {
        let own_ms = self.believed.map(|(since, ms)| {
            let passed = at.saturating_duration_since(since).as_millis();
            ms.saturating_add(i64::try_from(passed).unwrap_or(i64::MAX))
        });
        match own_ms {
            Some(own_ms) if own_ms > system_ms => {
                let is_far = own_ms - system_ms > TOLD_MS;
                if is_far && !std::mem::replace(&mut self.told, true) {
                    tracing::warn!(
                        back_s = (own_ms - system_ms) / 1000,
                        "the system's clock was set back; the crawl goes by its own until the next start"
                    );
                }
                own_ms
            }
            _ => {
                self.believed = Some((at, system_ms));
                self.told = false;
                system_ms
            }
        }
    }
}

impl Clock {
    /// One that stands at `from_ms` now and runs `speed` times as fast as the system's.
    pub fn simulated(from_ms: i64, speed: f64) -> Self {
        Self(Kind::Simulated(Simulated {
            began: Instant::now(),
            from_ms,
            speed: speed.max(f64::MIN_POSITIVE),
        }))
    }

    /// From now on the time of the database counts. A simulation has its own.
    pub(super) fn go_by(&self, database: NodeLease) {
        if let Kind::System(steady) = &self.0 {
            let mut steady = lock(steady);
            let differs_ms = now_ms() - database.database_ms();
            if differs_ms.abs() > TOLD_MS {
                let differs_s = differs_ms / 1000;
                tracing::warn!(
                    differs_s,
                    "the clock of this machine differs from that of the database, which counts"
                );
            }
            steady.believed = None;
            steady.database = Some(database);
        }
    }

    /// The time, Unix milliseconds.
    pub fn now_ms(&self) -> i64 {
        match &self.0 {
            Kind::System(steady) => {
                let mut steady = lock(steady);
                let database_ms = steady.database.as_ref().map(NodeLease::database_ms);
                steady.now_ms(Instant::now(), database_ms.unwrap_or_else(now_ms))
            }
            Kind::Simulated(s) => {
                s.from_ms + (s.began.elapsed().as_secs_f64() * 1000.0 * s.speed) as i64
            }
        }
    }

    /// How long the crawl's `ms` milliseconds really take.
    pub(super) fn real(&self, ms: i64) -> Duration {
        let real = Duration::from_millis(ms.max(0).unsigned_abs());
        match &self.0 {
            Kind::System(_) => real,
            Kind::Simulated(s) => real.div_f64(s.speed),
        }
    }
}

impl fetch::Clock for Clock {
    fn now_ms(&self) -> i64 {
        self.now_ms()
    }

    fn sleep(&self, ms: i64) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(tokio::time::sleep(self.real(ms)))
    }
}

/// The crawl's clock inside of a visit. The watchdog learns of each wait before it begins.
#[derive(Debug)]
pub(super) struct FetchClock {
    clock: Clock,
    fetching: Heartbeat,
}

impl FetchClock {
    /// With the heartbeat of [`Worker::Fetching`].
    pub(super) fn new(clock: Clock, fetching: Heartbeat) -> Self {
        Self { clock, fetching }
    }
}

impl fetch::Clock for FetchClock {
    fn now_ms(&self) -> i64 {
        self.clock.now_ms()
    }

    fn sleep(&self, ms: i64) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        // A visit that waits for a host which asks for minutes is not stuck; but what it waits for comes.
        let limit = Worker::Fetching.limit() + self.clock.real(ms);
        self.fetching.expect_within(limit);
        fetch::Clock::sleep(&self.clock, ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simulated_clock_runs_faster() {
        let clock = Clock::simulated(5_000, 100.0);
        assert!(clock.now_ms() >= 5_000);
        assert_eq!(clock.real(1_000), Duration::from_millis(10));
        assert_eq!(Clock::default().real(1_000), Duration::from_secs(1));
        assert_eq!(clock.real(-5), Duration::ZERO);
    }

    #[test]
    fn steady_clock_never_goes_back() {
        const DAY_MS: i64 = 86_400_000;
        let (began, mut steady) = (Instant::now(), Steady::default());
        let after = |s: u64| began + Duration::from_secs(s);
        assert_eq!(steady.now_ms(began, 5 * DAY_MS), 5 * DAY_MS);
        assert_eq!(steady.now_ms(after(10), 4 * DAY_MS), 5 * DAY_MS + 10_000);
        // It continues at the pace of real time, whatever the system says meanwhile.
        assert_eq!(
            steady.now_ms(after(30), 4 * DAY_MS + 20_000),
            5 * DAY_MS + 30_000
        );
        assert_eq!(steady.now_ms(after(40), 370 * DAY_MS), 370 * DAY_MS);
        assert_eq!(steady.now_ms(after(50), 5 * DAY_MS), 370 * DAY_MS + 10_000);
    }
}
