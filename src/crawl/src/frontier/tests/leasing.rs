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
fn an_empty_frontier_is_idle() {
    let mut crawl = Crawl::new(Config::default());
    assert_eq!(crawl.next(), Next::Idle);
    assert_eq!(crawl.frontier.in_flight(), 0);
}

#[test]
fn hubs_come_first_then_links_by_depth_in_the_order_of_finding() {
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
fn a_link_of_a_hub_overtakes_a_backlog_that_is_in_memory() {
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
fn a_backlog_of_one_host_never_starves_another() {
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
fn more_hosts_than_fit_in_memory_all_have_their_turn() {
    let mut crawl = Crawl::new(Config {
        active_hosts: 3,
        ..at_once()
    });
    let urls: Vec<String> = (0..20)
        .flat_map(|h| (0..5).map(move |p| format!("http://h{h}.test/{p}")))
        .collect();
    crawl.offer(&urls);
    assert_eq!(crawl.drain().len(), 100);
}

#[test]
fn a_lease_is_not_given_twice_before_its_commit() {
    let mut crawl = Crawl::new(Config {
        connections_per_host: 10,
        queue_batch: 2,
        ..at_once()
    });
    crawl.offer(&numbered("a", 0..9));
    let leases: Vec<Lease> = (0..9).map(|_| crawl.lease()).collect();
    let mut ids: Vec<i64> = leases.iter().map(|l| l.record.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 9);
    for lease in &leases {
        crawl.finish(lease, &came());
    }
    assert_eq!(crawl.next(), Next::Idle, "finished but not committed");
    crawl.commit();
    assert_eq!(crawl.next(), Next::Idle);
}

#[test]
fn released_leases_are_due_again_at_once() {
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

#[test]
fn what_was_not_committed_is_fetched_again_after_a_crash_and_nothing_else() {
    let mut crawl = Crawl::new(at_once());
    crawl.offer(&["http://a.test/1", "http://b.test/1", "http://c.test/1"]);
    let first = crawl.lease();
    crawl.finish(&first, &came());
    let (second, _third) = (crawl.lease(), crawl.lease());
    crawl.commit();
    crawl.finish(&second, &came());
    let mut crawl = crawl.reopen();
    let again = crawl.drain();
    assert_eq!(again.len(), 2);
    assert!(
        again
            .iter()
            .all(|(_, url)| *url != first.record.uri.as_str())
    );
    assert_eq!(crawl.reopen().drain().len(), 0);
}

/// The process dies while it visits this page; nothing was committed since its lease.
fn dies_during(crawl: Crawl, lease: &Lease) -> Crawl {
    std::mem::forget(InFlight::open(crawl.store.dir()).begin(lease.record.id));
    crawl.reopen()
}

#[test]
fn a_page_that_is_there_at_every_crash_goes_last_and_is_given_up_at_the_end() {
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
fn a_cycle_makes_hubs_due_again_and_articles_not() {
    let mut crawl = Crawl::new(at_once());
    let site: Arc<str> = Arc::from("s");
    crawl.batch.urls = vec![
        NewUrl::seed(uri("http://a.test/"), &site),
        Crawl::link("http://a.test/article", 1),
    ];
    crawl.commit();
    assert_eq!(crawl.drain().len(), 2);
    crawl.now_ms += 3_600_000;
    let due = crawl.begin_cycle();
    assert_eq!(due, 1);
    assert_eq!(paths(&crawl.drain()), ["/"]);
    let record = crawl.store.site("s").unwrap().unwrap();
    assert_eq!((record.cycles, record.last_cycle_ms.is_some()), (1, true));
}

#[test]
fn pages_of_a_host_and_of_a_site_are_limited_until_the_next_cycle() {
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
fn urls_of_a_site_that_is_taken_out_wait_until_it_comes_back() {
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
fn a_page_that_becomes_due_later_is_waited_for() {
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
fn each_queue_of_a_host_fetches_and_rests_by_itself() {
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
fn what_protects_a_host_holds_for_all_of_its_queues() {
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
fn a_host_rests_after_a_restart_until_all_of_its_queues_have() {
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
fn the_number_of_queues_may_change_while_pages_are_under_way() {
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
