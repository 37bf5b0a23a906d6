//! `kill -9` at random instants of a crawl of changing pages with faults: afterwards every page is in the index once,
//! and the server was hardly asked for anything twice.
//!
//! `TAOJIN_LONG=1 cargo test -p taojin --test suite kill::` is the full size.

use std::thread;
use std::time::Duration;

use taojin_demo::trial::TrialPlan;

use crate::support::folder::RunExt as _;
use crate::support::lots::Lots;
use crate::support::postgres::server;
use crate::support::trial::{SITE, Trial, fetched_again};
use crate::support::{say, scaled};

/// Kills in one crawl; short and long.
const KILLS: [u32; 2] = [12, 100];
/// Pages of the web.
const PAGES: [u32; 2] = [400, 2_000];
/// Articles of a host; its lists come on top.
const ARTICLES: u32 = 95;
/// Seed of the instants.
const SEED: u64 = 0x7a0_711;
/// Pages are committed this often at least, in milliseconds.
const COMMIT_MS: u32 = 200;
/// All hosts together may be asked this often, in milliseconds.
const PAGE_MS: u32 = 10;
/// Passes after the last kill in which pages that failed are asked for again.
const LAST_PASSES: u32 = 12;

fn hosts(pages: u32) -> u32 {
    (pages / 100).max(2)
}

/// The web, and a crawler that takes a hundred pages a second of it.
fn trial(pages: u32, store: &str) -> Trial {
    let hosts = hosts(pages);
    let plan = TrialPlan {
        seed: 11,
        hosts,
        articles: ARTICLES.min(pages / hosts),
        changing: 0.2,
        faults: 0.05,
        slow_ms: 100,
        ..TrialPlan::default()
    };
    let frontier = format!(
        "min_delay_ms = {delay}\nmax_delay_ms = {delay}\njitter = 0.0\nconnect_backoff_ms = 50\n\
         throttle_backoff_ms = 50\nmax_retry_after_ms = 50\npark_after_errors = 0",
        delay = hosts * PAGE_MS
    );
    let more = "max_retry_after_ms = 50\n[revisit]\nretry_ms = 50\nmax_retry_ms = 200\n";
    Trial::new(plan, &frontier, &format!("{more}{store}"))
}

/// Crawls and is killed, again and again: some pages after its start, and somewhere between two transactions. How often
/// a running crawl was hit.
fn kill_again_and_again(trial: &Trial, kills: u32, pages: u32, mut each: impl FnMut(u32)) -> u32 {
    let mut lots = Lots(SEED);
    let mut hit = 0;
    for round in 0..kills {
        trial.web.set_day(round / 4);
        each(round);
        let asked = trial.requests() + 1 + lots.below((pages / kills) as usize) as u64;
        let mut crawl = trial.taojin(&["crawl"]).started();
        while trial.requests() < asked && crawl.ended().is_none() {
            thread::sleep(Duration::from_millis(1));
        }
        thread::sleep(Duration::from_millis(lots.next() % u64::from(COMMIT_MS)));
        hit += u32::from(crawl.ended().is_none());
    }
    hit
}

/// Passes until nothing is left that failed.
fn finish(trial: &Trial) {
    for _ in 0..LAST_PASSES {
        let summary = trial.json(&["crawl", "--site", SITE, "--json"]);
        let failed = |word: &str| summary["outcomes"][word].as_u64().unwrap_or(0);
        let words = ["busy", "server_error", "unreachable"];
        if summary["waiting"] == 0 && words.into_iter().all(|word| failed(word) == 0) {
            return;
        }
        thread::sleep(Duration::from_millis(250));
    }
}

#[test]
fn killed_crawl_loses_nothing() {
    killed_and_whole("", |_| {});
}

/// Every fourth time the database crashes too.
#[test]
fn killed_crawl_on_postgres() {
    let Some(mut server) = server("kills of a crawl on PostgreSQL") else {
        return;
    };
    let store = format!("[store]\nurl = {:?}\n", server.url());
    killed_and_whole(&store, |round| {
        if round % 4 == 3 {
            server.crash();
        }
    });
}

fn killed_and_whole(store: &str, each: impl FnMut(u32)) {
    let kills = scaled(KILLS);
    let pages = scaled(PAGES);
    let trial = trial(pages, store);
    let hit = kill_again_and_again(&trial, kills, pages, each);
    assert!(hit > kills / 2, "only {hit} kills hit a running crawl");
    finish(&trial);

    let indexed = trial.indexed();
    let missing = trial.missing(&indexed);
    let again = fetched_again(&trial.take_hits());
    say(&format!(
        "{hit} of {kills} kills hit a running crawl of {} articles: {} lost or twice, {again} fetched again",
        trial.articles().len(),
        missing.len()
    ));
    assert!(missing.is_empty(), "not there once: {missing:?}");
    assert!(indexed.values().all(|n| *n == 1), "a page is there twice");
    // Pages that were fetched and not yet committed when the kill came. Only the loop that commits lets a host be asked again, so
    // however busy the machine is, they are what the delay permits between two commits and what was under way of each host.
    let most = hit * (COMMIT_MS / PAGE_MS + 2 * hosts(pages));
    assert!(
        again <= most,
        "{again} pages were fetched again after {hit} kills"
    );
}
