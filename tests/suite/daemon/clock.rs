//! The system's clock is wrong for a while, and nothing stops for it.

use std::time::Duration;

use taojin::daemon::{self, Clock, Mode, Options};

use crate::support::PATIENCE;
use crate::support::world::{FAST, Home, Web};

const DAY_MS: i64 = 86_400_000;
const YEAR_MS: i64 = 365 * DAY_MS;

/// A daemon ran while the clock was a year ahead. The next one, with the right time, crawls at once; every page is there
/// once.
#[test]
fn clock_back_by_a_year() {
    let now_ms = Clock::default().now_ms();
    crawls_under(now_ms + YEAR_MS, now_ms);
}

/// The clock of a running service is set back by a day, as by a battery that is empty: it does not wait for a day.
#[test]
fn clock_back_by_a_day() {
    let now_ms = Clock::default().now_ms();
    crawls_under(now_ms, now_ms - DAY_MS);
}

/// A first daemon crawls by one clock, the next one goes on by another.
fn crawls_under(first_ms: i64, next_ms: i64) {
    let web = Web::start(20);
    let home = Home::new(&web, FAST);
    let loaded = home.loaded();
    let runtime = tokio::runtime::Runtime::new().expect("runtime");
    runtime.block_on(async {
        let pass = Mode::Pass {
            sites: Vec::new(),
            recheck: false,
        };
        let by = |mode, begin_ms| Options {
            clock: Clock::simulated(begin_ms, 1.0),
            ..Options::quiet(mode)
        };
        let summary = daemon::run(&loaded, by(pass, first_ms), std::future::pending()).await;
        assert!(summary.expect("it ends well").documents_new > 0);

        let before = web.requests();
        let asked = async {
            while web.requests() == before {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let shutdown = async {
            let asked = tokio::time::timeout(PATIENCE, asked).await;
            asked.expect("nothing is asked for until the clock says what it said before");
        };
        let next = daemon::run(&loaded, by(Mode::Forever, next_ms), shutdown).await;
        next.expect("it ends well");
    });
    let indexed = home.indexed();
    for url in web.planted() {
        assert_eq!(indexed.get(&url), Some(&1), "{url}");
    }
}
