//! The clock of a crawl. In: the system's. Out: Unix milliseconds, as the system has them, or in a simulation from
//! another moment on and faster, so that ten days pass in half an hour. Time-outs of the network stay real.

use std::time::{Duration, Instant};

use super::now_ms;

/// What time it is for the crawl.
#[derive(Debug, Clone, Default)]
pub struct Clock(Option<Simulated>);

#[derive(Debug, Clone)]
struct Simulated {
    began: Instant,
    from_ms: i64,
    speed: f64,
}

impl Clock {
    /// One that stands at `from_ms` now and runs `speed` times as fast as the system's.
    pub fn simulated(from_ms: i64, speed: f64) -> Self {
        Self(Some(Simulated {
            began: Instant::now(),
            from_ms,
            speed: speed.max(f64::MIN_POSITIVE),
        }))
    }

    /// The time, Unix milliseconds.
    pub fn now_ms(&self) -> i64 {
        match &self.0 {
            None => now_ms(),
            Some(s) => s.from_ms + (s.began.elapsed().as_secs_f64() * 1000.0 * s.speed) as i64,
        }
    }

    /// How long the crawl's `ms` milliseconds really take.
    pub(super) fn real(&self, ms: i64) -> Duration {
        let real = Duration::from_millis(ms.max(0).unsigned_abs());
        match &self.0 {
            None => real,
            Some(s) => real.div_f64(s.speed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_simulated_clock_begins_where_it_is_told_and_waits_less() {
        let clock = Clock::simulated(5_000, 100.0);
        assert!(clock.now_ms() >= 5_000);
        assert_eq!(clock.real(1_000), Duration::from_millis(10));
        assert_eq!(Clock::default().real(1_000), Duration::from_secs(1));
        assert_eq!(clock.real(-5), Duration::ZERO);
    }
}
