//! `kill -9` at random instants of a crawl: afterwards every page is in the index once.

use std::collections::HashMap;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use taojin::demo::World;

use crate::world::{Home, NOW_MS, Web};

/// Kills in one crawl.
const KILLS: u32 = 30;
/// Articles of the site that is crawled; lists and feeds come on top.
const ARTICLES: usize = 520;
/// Pages that were fetched and not yet committed when the kill came: 1 % of the site. Ten in 29 kills were measured.
const REFETCHES_PER_KILL: u32 = 5;
/// Seed of the instants.
const SEED: u64 = 0x7a0_711;

/// Articles that came whole more than once, from the server's own log.
fn fetched_again(web: &Web) -> u32 {
    let planted = web.planted();
    let mut times: HashMap<String, u32> = HashMap::new();
    for hit in web.server.log_of_hits() {
        if hit.status == 200 && !hit.conditional {
            let url = format!("http://{}{}", hit.authority, hit.target);
            *times.entry(url).or_default() += 1;
        }
    }
    let more = |url: &String| times.get(url).map_or(0, |n| n.saturating_sub(1));
    planted.iter().map(more).sum()
}

/// SplitMix64 (Steele, Lea, Flood 2014): the instants are the same in every run.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[test]
fn every_page_is_there_once_after_thirty_kills() {
    let web = Web::start(|port| World::generate_sized(11, NOW_MS, port, ARTICLES));
    // Slow enough for all kills to fall into the crawl: six hosts, each page 60 ms after the last.
    let home = Home::new(
        &web,
        "min_delay_ms = 60\nmax_delay_ms = 60\njitter = 0.0\nconnections_per_ip = 6\nconnect_backoff_ms = 50",
    );
    let mut state = SEED;
    let mut killed = 0;
    for _ in 0..KILLS {
        let mut crawl = home
            .taojin(&["crawl"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("taojin starts");
        thread::sleep(Duration::from_millis(next(&mut state) % 700));
        killed += u32::from(crawl.try_wait().expect("its state").is_none());
        // SIGKILL; an error means that it has ended by itself.
        let _ = crawl.kill();
        crawl.wait().expect("its end");
    }
    assert!(
        killed > KILLS / 2,
        "only {killed} kills hit a running crawl"
    );
    let last = home
        .taojin(&["crawl", "--json"])
        .output()
        .expect("taojin runs");
    assert!(
        last.status.success(),
        "{}",
        String::from_utf8_lossy(&last.stderr)
    );

    let indexed = home.indexed();
    let planted = web.planted();
    let lost: Vec<_> = planted
        .iter()
        .filter(|url| !indexed.contains_key(*url))
        .collect();
    let twice: Vec<_> = indexed.iter().filter(|(_, n)| **n > 1).collect();
    assert!(
        lost.is_empty(),
        "{} of {} lost, the first {:?}",
        lost.len(),
        planted.len(),
        lost.first()
    );
    assert!(twice.is_empty(), "twice: {twice:?}");
    let again = fetched_again(&web);
    assert!(
        again <= killed * REFETCHES_PER_KILL,
        "{again} pages were fetched again after {killed} kills"
    );
}
