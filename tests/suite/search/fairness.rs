//! One reader of a server beside another who asks for all that it can do.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::daemon::Daemon;
use crate::support::folder::Folder;
use crate::support::http::Answer;
use crate::support::{say, wait_until};

/// Connections of the greedy reader: more than the searches that run at once.
const GREEDY: usize = 40;
/// Searches of which the median is taken.
const SEARCHES: usize = 15;

/// Ends the greedy reader's requests, also when an assertion fails.
struct EndOnDrop<'a>(&'a AtomicBool);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A request that the proxy says comes from this address.
fn ask(serving: &Daemon, client: &str, target: &str) -> Answer {
    let header = format!("X-Forwarded-For: {client}");
    serving.send("GET", target, "", &[&header])
}

/// The median of how long these requests of a client take.
fn median(serving: &Daemon, client: &str, target: &str, count: usize) -> Duration {
    let mut took: Vec<Duration> = (0..count)
        .map(|_| {
            let started = Instant::now();
            let answer = ask(serving, client, target);
            assert_eq!(answer.status, 200, "{}", answer.body);
            started.elapsed()
        })
        .collect();
    took.sort();
    took[took.len() / 2]
}

/// Eight comparisons at once cost hundreds of times what a search does. Forty of them under way must not make another reader wait for
/// even one of them.
#[test]
fn greedy_reader_leaves_searches_quick() {
    let config = "[serve]\nclient_header = \"x-forwarded-for\"\nrequests_per_minute = 100000\n";
    let folder = Folder::new(config, &[]);
    let words = [
        "气田", "压裂", "煤炭", "运价", "产量", "港口", "库存", "集输",
    ];
    folder.import((0..3_000).map(|n: usize| {
        let topic: String = (0..60).map(|at| words[(n * 7 + at * at) % 8]).collect();
        json!({
            "url": format!("http://s{}.example/{n}", n % 3),
            "site": format!("s{}", n % 3),
            "title": format!("第{n}号简报"),
            "text": format!("{topic}。编号{n}，记者走访了当地的{}个班组。", n * 31),
            "published": format!("20{:02}-{:02}-{:02}T08:00:00+08:00", n % 20, n % 12 + 1, n % 28 + 1),
            "kind": "article",
        })
    }));
    let serving = Daemon::serving(&folder);
    let mut pairs = url::form_urlencoded::Serializer::new(String::new());
    for word in words {
        pairs.append_pair("q", word);
    }
    let trends = format!("/api/trends?{}", pairs.finish());
    let search = "/api/search?q=%E7%BC%96%E5%8F%B72741&limit=1";
    let alone = median(&serving, "192.0.2.2", search, SEARCHES);
    let comparison = median(&serving, "192.0.2.3", &trends, 3);
    let (done, sent) = (AtomicBool::new(false), AtomicUsize::new(0));
    let beside = thread::scope(|scope| {
        let _end = EndOnDrop(&done);
        for _ in 0..GREEDY {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    sent.fetch_add(1, Ordering::Relaxed);
                    ask(&serving, "192.0.2.1", &trends);
                }
            });
        }
        wait_until("the greedy reader asks", || {
            sent.load(Ordering::Relaxed) >= GREEDY
        });
        median(&serving, "192.0.2.2", search, SEARCHES)
    });
    say(&format!(
        "a search alone {alone:?}, beside the greedy reader {beside:?}; a comparison {comparison:?}"
    ));
    assert!(
        beside < comparison,
        "a search took {alone:?} alone and {beside:?} beside the greedy reader, a comparison {comparison:?}"
    );
}
