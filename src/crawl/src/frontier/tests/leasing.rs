//! Order, fairness, limits, crashes.

use std::collections::{HashMap, HashSet};

use super::*;
use taojin_uri::QueueHash;

fn paths(fetched: &[(i64, String)]) -> Vec<&str> {
    fetched
        .iter()
        .map(|(_, url)| url.split_once(".test").unwrap().1)
        .collect()
}

#[test]
fn lease_order_hubs_then_depth() {
    let mut crawl = Crawl::new(at_once());
    let site: Arc<str> = Arc::from("s");
    crawl.batch.urls = vec![
        Crawl::link("http://a.test/deep", 5),
        Crawl::link("http://a.test/second", 2),
        Crawl::link("http://a.test/third", 2),
        NewUrl::seed(uri("http://a.test/"), &site),
        NewUrl {
            class: UrlClass::Feed,
            ..Crawl::link("http://a.test/feed", 9)
        },
    ];
    crawl.commit();
    let fetched = crawl.drain();
    assert_eq!(
        paths(&fetched),
        ["/", "/feed", "/second", "/third", "/deep"]
    );
}

#[test]
fn lease_order_fresh_link_overtakes_backlog() {
    let mut crawl = Crawl::new(Config {
        queue_batch: 4,
        ..at_once()
    });
    let backlog: Vec<String> = (0..50).map(|i| format!("http://a.test/old/{i}")).collect();
    crawl.batch.urls = backlog.iter().map(|t| Crawl::link(t, 6)).collect();
    crawl.commit();
    let lease = crawl.lease();
    let fresh = vec![Crawl::link("http://a.test/fresh", 1)];
    crawl.finish_with(&lease, &came(), fresh);
    crawl.commit();
    assert_eq!(crawl.lease().record.uri.as_str(), "http://a.test/fresh");
}

#[test]
fn lease_order_starves_no_host() {
    let mut crawl = Crawl::new(at_once());
    let big = numbered("big", 0..300);
    let mut all: Vec<&str> = big.iter().map(String::as_str).collect();
    all.extend([
        "http://small.test/1",
        "http://small.test/2",
        "http://small.test/3",
    ]);
    crawl.offer(&all);
    let fetched = crawl.drain();
    let small: Vec<usize> = (0..fetched.len())
        .filter(|&i| fetched[i].1.starts_with("http://small"))
        .collect();
    assert_eq!(fetched.len(), 303);
    assert!(small.iter().all(|&i| i < 8), "small host waited: {small:?}");
}

#[test]
fn release_makes_url_due() {
    let mut crawl = Crawl::new(at_once());
    crawl.offer(&["http://a.test/1", "http://b.test/1"]);
    let (one, two) = (crawl.lease(), crawl.lease());
    assert_eq!(crawl.next(), Next::Idle);
    crawl.frontier.release(&one, crawl.now_ms);
    assert_eq!(crawl.lease().record.id, one.record.id);
    crawl.frontier.release_all();
    assert_eq!(crawl.frontier.in_flight(), 0);
    let again = [crawl.lease().record.id, crawl.lease().record.id];
    assert!(again.contains(&one.record.id) && again.contains(&two.record.id));
}

/// The process dies while it visits this page; nothing was committed since its lease.
fn dies_during(crawl: Crawl, lease: &Lease) -> Crawl {
    std::mem::forget(InFlight::open(crawl.store.dir()).begin(lease.record.id));
    crawl.reopen()
}

#[test]
fn crashing_page_is_given_up() {
    let mut crawl = Crawl::new(at_once());
    crawl.offer(&["http://a.test/bad", "http://a.test/good"]);
    let bad = crawl.lease();
    assert!(bad.record.uri.as_str().ends_with("bad"));
    crawl = dies_during(crawl, &bad);
    for _ in 1..3 {
        let lease = crawl.lease();
        assert_eq!(lease.record.id, bad.record.id);
        crawl = dies_during(crawl, &lease);
    }
    assert_eq!(crawl.store.url(bad.record.id).unwrap().unwrap().crashes, 3);
    let good = crawl.lease();
    assert_ne!(good.record.id, bad.record.id);
    crawl.finish(&good, &came());
    crawl.commit();
    for _ in 3..10 {
        let lease = crawl.lease();
        assert_eq!(lease.record.id, bad.record.id);
        crawl = dies_during(crawl, &lease);
    }
    assert_eq!(crawl.next(), Next::Idle);
    let record = crawl.store.url(bad.record.id).unwrap().unwrap();
    assert_eq!(record.visit.state, UrlState::Failed);
}

#[test]
fn cycle_page_limits_hold() {
    for (of_host, of_site) in [(3, None), (1_000, Some(3))] {
        let mut crawl = Crawl::new(Config {
            pages_per_host_per_cycle: of_host,
            ..at_once()
        });
        let site = Site {
            max_pages_per_cycle: of_site,
            ..site("s", &["*.test"])
        };
        crawl.set_site(site);
        crawl.offer(&numbered("a", 0..5));
        assert_eq!(crawl.drain().len(), 3);
        crawl.now_ms += 1_000;
        crawl.begin_cycle();
        assert_eq!(crawl.drain().len(), 2, "the rest comes with the next cycle");
    }
}

#[test]
fn removed_site_waits() {
    let mut crawl = Crawl::new(at_once());
    crawl.offer(&["http://a.test/1", "http://a.test/2"]);
    let other = site("other", &["b.test"]);
    crawl.set_site(other);
    assert_eq!(crawl.drain().len(), 0);
    let site = site("s", &["*.test"]);
    crawl.set_site(site);
    assert_eq!(crawl.drain().len(), 2);
}

#[test]
fn next_waits_until_due() {
    let mut crawl = Crawl::new(at_once());
    crawl.offer(&["http://a.test/1"]);
    let lease = crawl.lease();
    crawl.finish(&lease, &came());
    let due_ms = crawl.now_ms + 86_400_000;
    crawl.batch.pages[0].visit.due_ms = Some(due_ms);
    crawl.commit();
    let wait = Next::Wait {
        until_ms: due_ms,
        due: false,
    };
    assert_eq!(crawl.next(), wait);
    crawl.now_ms = due_ms;
    assert_eq!(crawl.lease().record.id, lease.record.id);
}

/// A crawl of one host with so many queues.
fn with_queues(queues: u32, config: Config) -> Crawl {
    let mut crawl = Crawl::new(config);
    crawl.set_queues(queues);
    crawl.offer(&numbered("a", 0..400));
    crawl
}

/// The leases that there are now.
fn leases(crawl: &mut Crawl) -> Vec<Lease> {
    std::iter::from_fn(|| match crawl.next() {
        Next::Fetch(lease) => Some(*lease),
        _ => None,
    })
    .collect()
}

#[test]
fn queues_are_paced_apart() {
    assert_eq!(
        queue_name(&uri("http://a.test/x"), 1, QueueHash::Xxh3),
        "a.test"
    );
    let config = Config {
        queue_batch: 16,
        jitter: 0.0,
        ..Config::default()
    };
    let mut crawl = with_queues(4, config);
    let first = leases(&mut crawl);
    assert_eq!(first.len(), 1, "the host was never asked");
    crawl.finish(&first[0], &came());
    crawl.commit();
    // Each queue gives one page at a time, its own, and rests alone.
    let mut rests = HashMap::from([(first[0].queue.clone(), crawl.now_ms + 1_000)]);
    let mut under_way: Vec<Lease> = leases(&mut crawl);
    assert_eq!(under_way.len(), 3, "all but the one that rests");
    let mut fetched = HashSet::from([first[0].record.id]);
    while fetched.len() < 400 {
        let names: HashSet<_> = under_way.iter().map(|lease| &lease.queue).collect();
        assert_eq!(
            names.len(),
            under_way.len(),
            "one page of a queue at a time"
        );
        for lease in under_way.drain(..) {
            let key = queue_name(&lease.record.uri, 4, QueueHash::Xxh3);
            assert_eq!(*lease.queue, *key);
            assert!(
                rests
                    .get(&lease.queue)
                    .is_none_or(|until| crawl.now_ms >= *until)
            );
            assert!(fetched.insert(lease.record.id), "twice");
            crawl.finish(&lease, &came());
            rests.insert(lease.queue.clone(), crawl.now_ms + 1_000);
        }
        crawl.commit();
        crawl.now_ms += 100;
        under_way = leases(&mut crawl);
    }
    assert_eq!(rests.len(), 4);
}

#[test]
fn queues_share_host_backoff() {
    let busy = FetchReport {
        retry_after_ms: Some(60_000),
        ..FetchReport::new(VisitOutcome::Busy, 1)
    };
    let slow = FetchReport {
        crawl_delay_ms: Some(5_000),
        ..FetchReport::new(VisitOutcome::Page, 1)
    };
    for (report, rest_ms) in [(busy, 60_000), (slow, 5_000)] {
        let mut crawl = with_queues(8, Config::default());
        let first = crawl.lease();
        crawl.finish(&first, &came());
        crawl.commit();
        crawl.now_ms += 10_000;
        let all = leases(&mut crawl);
        assert_eq!(all.len(), 8);
        crawl.finish(&all[0], &report);
        assert!(leases(&mut crawl).is_empty(), "{report:?}");
        for lease in &all[1..] {
            crawl.finish(lease, &came());
        }
        crawl.commit();
        crawl.now_ms += rest_ms - 1;
        assert!(leases(&mut crawl).is_empty(), "{report:?}");
        crawl.now_ms += 1;
        let next = leases(&mut crawl).len();
        // A Crawl-delay lies between any two pages.
        assert_eq!(
            next,
            if report.crawl_delay_ms.is_some() {
                1
            } else {
                8
            }
        );
    }
}

#[test]
fn queues_delay_survives_restart() {
    let config = Config {
        jitter: 0.0,
        ..Config::default()
    };
    let mut crawl = with_queues(4, config);
    let first = crawl.lease();
    crawl.finish(&first, &came());
    crawl.commit();
    let record = crawl.store.host("a.test").unwrap().unwrap();
    assert!(record.not_before_ms >= crawl.now_ms + 1_000);
}

#[test]
fn queues_change_under_way() {
    let mut crawl = with_queues(8, at_once());
    let first = crawl.lease();
    crawl.finish(&first, &came());
    crawl.commit();
    let eight = leases(&mut crawl);
    assert_eq!(eight.len(), 8);
    crawl.set_queues(1);
    assert!(leases(&mut crawl).is_empty(), "eight are under way");
    for lease in &eight {
        crawl.finish(lease, &came());
    }
    crawl.commit();
    assert_eq!(leases(&mut crawl).len(), 1);
}
