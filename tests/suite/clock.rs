//! The system's clock is wrong for a while, and nothing stops for it.

use std::time::Duration;

use taojin::config;
use taojin::daemon::{self, Clock, Mode, Options};
use taojin_demo::World;

use crate::world::{Home, NOW_MS, Web};

const YEAR_MS: i64 = 365 * 86_400_000;
/// Longest wait for anything.
const PATIENCE: Duration = Duration::from_secs(30);

/// A daemon ran while the clock was a year ahead. The next one, with the right time, crawls at once; every page is there
/// once.
#[test]
fn a_crawl_goes_on_after_a_clock_that_was_a_year_ahead() {
    let web = Web::start(|port| World::generate_sized(5, NOW_MS, port, 20));
    let home = Home::new(&web, "min_delay_ms = 1\nmax_delay_ms = 1");
    let loaded = config::load(Some(&home.path().join("taojin.toml")), None).expect("good");
    let runtime = tokio::runtime::Runtime::new().expect("runtime");
    runtime.block_on(async {
        let pass = Mode::Pass {
            sites: Vec::new(),
            recheck: false,
        };
        let now_ms = Clock::default().now_ms();
        let ahead = Options {
            clock: Clock::simulated(now_ms + YEAR_MS, 1.0),
            ..Options::quiet(pass)
        };
        let summary = daemon::run(&loaded, ahead, std::future::pending()).await;
        assert!(summary.expect("it ends well").documents_new > 0);

        let before = web.server.total();
        let asked = async {
            while web.server.total() == before {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let shutdown = async {
            let asked = tokio::time::timeout(PATIENCE, asked).await;
            asked.expect("nothing is asked for until the clock says next year");
        };
        let right = daemon::run(&loaded, Options::quiet(Mode::Forever), shutdown).await;
        right.expect("it ends well");
    });
    let indexed = home.indexed();
    for url in web.planted() {
        assert_eq!(indexed.get(&url), Some(&1), "{url}");
    }
}
