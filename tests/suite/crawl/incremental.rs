//! Ten days of sites that add and change articles, crawled once a day. The time is passed in: nothing waits.

use serde_json::Value;
use taojin::daemon::{self, Clock, Mode, Options, Summary};
use taojin_demo::trial::TrialPlan;

use crate::support::trial::{SITE, Trial};

const DAYS: u32 = 10;
const DAY_MS: i64 = 86_400_000;
/// Noon of the day before the first crawl.
const BEGIN_MS: i64 = 1_790_000_000_000 / DAY_MS * DAY_MS + DAY_MS / 2;

/// What one day's crawl did.
struct Day {
    summary: Summary,
    /// Articles of the web that are not in the index.
    missing: usize,
    /// Requests by the server's own log, robots.txt left out, and those of them that were answered 304.
    requests: usize,
    not_modified: usize,
}

fn crawl_days(trial: &Trial) -> Vec<Day> {
    let loaded = trial.loaded();
    let runtime = tokio::runtime::Runtime::new().expect("runtime");
    let mut days = Vec::new();
    for day in 0..DAYS {
        trial.web.set_day(day);
        let options = Options {
            clock: Clock::simulated(BEGIN_MS + i64::from(day) * DAY_MS, 1.0),
            ..Options::quiet(Mode::Pass {
                sites: vec![SITE.to_owned()],
                recheck: false,
            })
        };
        let summary = runtime
            .block_on(daemon::run(&loaded, options, std::future::pending()))
            .expect("a crawl");
        let indexed = trial.indexed();
        assert!(indexed.values().all(|n| *n == 1), "a page is there twice");
        let log = trial.take_hits();
        let pages = log.iter().filter(|hit| hit.target != "/robots.txt");
        days.push(Day {
            summary,
            missing: trial.missing(&indexed).len(),
            requests: pages.clone().count(),
            not_modified: pages.filter(|hit| hit.status == 304).count(),
        });
    }
    days
}

/// Share of a day's requests that came whole and brought nothing new.
fn wasted(day: &Day) -> f64 {
    day.summary.wasted as f64 / day.requests as f64
}

fn table(days: &[Day]) -> String {
    let mut text = "day  requests  304  new  changed  wasted  missing\n".to_owned();
    for (n, day) in days.iter().enumerate() {
        let s = &day.summary;
        text.push_str(&format!(
            "{n:<4} {:<9} {:<4} {:<4} {:<8} {:<7} {}\n",
            day.requests,
            day.not_modified,
            s.documents_new,
            s.documents_changed,
            s.wasted,
            day.missing
        ));
    }
    text
}

fn plan() -> TrialPlan {
    TrialPlan {
        seed: 3,
        hosts: 2,
        articles: 100,
        daily: 30,
        changing: 0.02,
        ..TrialPlan::default()
    }
}

const AT_ONCE: &str = "min_delay_ms = 0\nmax_delay_ms = 0\njitter = 0.0";

/// Each day's new articles are all found, and most requests bring something new.
fn days_of(plan: TrialPlan) -> (Vec<Day>, String) {
    let trial = Trial::new(plan, AT_ONCE, "");
    let days = crawl_days(&trial);
    let table = table(&days);
    crate::support::say(&table);
    for (n, day) in days.iter().enumerate() {
        assert_eq!(day.missing, 0, "day {n} missed new articles\n{table}");
        let share = wasted(day);
        assert!(n < 3 || share <= 0.1, "day {n} wasted {share:.2}\n{table}");
    }
    (days, table)
}

#[test]
fn daily_crawl_finds_new_articles() {
    let (days, table) = days_of(plan());
    for day in &days {
        let json: Value = serde_json::to_value(&day.summary).expect("a summary");
        assert_eq!(json["recall_estimate"], 1.0, "{table}");
    }
    let (first, last) = (&days[0], &days[9]);
    assert!(first.summary.documents_new >= 200, "{table}");
    assert!(last.requests < first.requests * 2, "{table}");
}

#[test]
fn daily_crawl_without_validators() {
    let (days, table) = days_of(TrialPlan {
        validators: false,
        ..plan()
    });
    assert!(days.iter().all(|day| day.not_modified == 0), "{table}");
    // Some are looked at again all the same.
    let again = days.iter().map(|d| d.summary.documents_unchanged).max();
    assert!(again >= Some(10), "{table}");
}
