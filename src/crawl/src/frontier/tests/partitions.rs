//! Several nodes over one store. Needs PostgreSQL: where the suites run on files there is one node, and nothing to test.

use std::time::{Duration, Instant};

use super::*;
use crate::store::partition;
use crate::store::tests::on_postgres::{self, expire_leases};

/// Two nodes of one store, as they are after the first has handed half of its partitions over; none on a file.
fn two_nodes() -> Option<[Crawl; 2]> {
    let mut first = Crawl::new(at_once());
    if !first.frontier.partitions().are_shared() {
        return None;
    }
    assert_eq!(first.frontier.partitions().len(), 256);
    let mut second = beside(&first);
    assert!(second.frontier.partitions().is_empty());
    first.share();
    first.share();
    second.share();
    for crawl in [&first, &second] {
        assert_eq!(crawl.frontier.partitions().len(), 128);
    }
    Some([first, second])
}

/// Another node of the same store.
fn beside(first: &Crawl) -> Crawl {
    let dir = tempfile::tempdir().unwrap();
    let place = on_postgres::beside(first.store.place(), dir.path());
    let mut store = Store::open(place).unwrap();
    let config = first.frontier.config().clone();
    let mut frontier = Frontier::open(&mut store, config).unwrap();
    let site = site("s", &["*.test"]);
    frontier
        .set_sites(&mut store, scopes(&[site]), first.now_ms)
        .unwrap();
    Crawl {
        _dir: dir,
        store,
        frontier,
        batch: Batch::default(),
        now_ms: first.now_ms,
    }
}

impl Crawl {
    fn share(&mut self) -> bool {
        self.frontier
            .share_partitions(&mut self.store, self.now_ms)
            .unwrap()
    }

    /// Waits until this node has all partitions, as it does once the leases of the others have run out.
    fn take_all(&mut self) {
        let end = Instant::now() + Duration::from_secs(60);
        while self.frontier.partitions().len() < 256 {
            assert!(Instant::now() < end, "nobody's partitions are not taken");
            expire_leases(self.store.place());
            if !self.share() {
                std::thread::sleep(Duration::from_millis(100));
            }
        }
    }

    fn take_up(&mut self) -> CommitReport {
        self.frontier
            .take_up_sent(&self.store, &mut self.batch)
            .unwrap();
        self.commit()
    }

    /// Addresses of hosts that are this node's, and of as many that are not.
    fn own_and_others(&self) -> (Vec<String>, Vec<String>) {
        let all = (0..40).map(|n| format!("http://h{n}.test/1"));
        all.partition(|text| self.frontier.partitions().has_uri(&uri(text)))
    }
}

#[test]
fn foreign_link_is_crawled_once() {
    let Some([mut first, mut second]) = two_nodes() else {
        return;
    };
    let (own, others) = first.own_and_others();
    assert!(own.len() > 5 && others.len() > 5, "{own:?}");
    let all: Vec<&str> = own.iter().chain(&others).map(String::as_str).collect();
    assert_eq!(first.offer(&all).new_urls, own.len());
    // Found again before anybody has taken them up: sent once.
    first.offer(&all);
    let waiting = first.store.cluster().waiting().unwrap();
    assert_eq!(waiting.addresses, others.len() as i64);
    assert_eq!(first.drain().len(), own.len(), "none of the other node's");
    let report = second.take_up();
    assert_eq!(report.new_urls, others.len());
    assert_eq!(second.store.cluster().waiting().unwrap().addresses, 0);
    assert_eq!(second.drain().len(), others.len());
    // Both know all of them now.
    assert_eq!(first.offer(&all).new_urls + second.offer(&all).new_urls, 0);
    assert_eq!(first.store.cluster().waiting().unwrap().addresses, 0);
    assert_eq!(first.store.counts().unwrap().total("urls"), 40);
}

#[test]
fn foreign_link_reaches_successor() {
    let Some([mut first, second]) = two_nodes() else {
        return;
    };
    let (own, others) = first.own_and_others();
    let all: Vec<&str> = own.iter().chain(&others).map(String::as_str).collect();
    assert_eq!(first.offer(&all).new_urls, own.len());
    drop(second);
    first.take_all();
    // Found once more before they are taken up, as every page of a site links to its start page.
    first.offer(&all);
    first.take_up();
    assert_eq!(first.store.counts().unwrap().total("urls"), 40);
    assert_eq!(first.store.cluster().waiting().unwrap().addresses, 0);
    assert_eq!(first.drain().len(), 40);
}

#[test]
fn partition_hand_over_waits_for_leases() {
    let mut first = Crawl::new(at_once());
    if !first.frontier.partitions().are_shared() {
        return;
    }
    let all: Vec<String> = (0..40).map(|n| format!("http://h{n}.test/1")).collect();
    first.offer(&all);
    let under_way: Vec<Lease> = (0..40).map(|_| first.lease()).collect();
    let mut second = beside(&first);
    first.share();
    assert!(first.frontier.is_giving_back());
    second.share();
    let free = second.frontier.partitions().clone();
    let busy = |lease: &&Lease| free.has_uri(&lease.record.uri);
    assert_eq!(
        under_way.iter().filter(busy).count(),
        0,
        "a busy partition was given away"
    );
    for lease in &under_way {
        first.finish(lease, &FetchReport::new(VisitOutcome::Page, 5));
    }
    first.commit();
    first.share();
    assert!(!first.frontier.is_giving_back());
    second.share();
    assert_eq!(second.frontier.partitions().len(), 128);
    assert!(second.drain().is_empty() && first.drain().is_empty());
    // What is found from now on belongs to whoever has it.
    for text in &all {
        let other = text.replace("/1", "/2");
        let is_first = first.frontier.partitions().has_uri(&uri(&other));
        assert_ne!(is_first, second.frontier.partitions().has_uri(&uri(&other)));
        assert!((0..256).contains(&partition(&uri(&other))));
        assert_eq!(first.offer(&[&other]).new_urls, usize::from(is_first));
    }
    let taken = second.take_up().new_urls;
    assert_eq!(first.drain().len() + second.drain().len(), 40);
    assert!(taken > 5);
}

#[test]
fn lost_node_is_succeeded_after_delay() {
    let mut first = Crawl::new(Config::default());
    if !first.frontier.partitions().are_shared() {
        return;
    }
    let all: Vec<String> = (0..9).map(|n| format!("http://h{n}.test/1")).collect();
    first.offer(&all);
    let lost: Vec<Lease> = (0..3).map(|_| first.lease()).collect();
    let mut second = beside(&first);
    // A node that has just come takes nobody's place: the database may have been away.
    expire_leases(first.store.place());
    assert!(!second.share());
    // The first is paused for longer than its lease.
    second.take_all();
    let begun_ms = second.now_ms;
    match second.next() {
        Next::Wait { until_ms, .. } => {
            let delay_ms = second.frontier.config().min_delay_ms;
            assert!(
                until_ms > begun_ms + delay_ms / 2,
                "{}",
                until_ms - begun_ms
            );
        }
        other => panic!("a host is asked at once: {other:?}"),
    }
    assert_eq!(second.drain().len(), 9);
    // What the first does when it wakes counts for nothing.
    for lease in &lost {
        first.finish(lease, &FetchReport::new(VisitOutcome::Page, 5));
    }
    let woken = first
        .frontier
        .commit(&mut first.store, &mut first.batch, first.now_ms);
    assert!(matches!(woken, Err(StoreError::Fenced { .. })), "{woken:?}");
}

#[test]
fn shared_ip_turns_starve_nobody() {
    let Some(mut nodes) = two_nodes() else {
        return;
    };
    let shared = "10.0.0.7".parse().unwrap();
    let at = |ip| FetchReport {
        ip: Some(ip),
        ..FetchReport::new(VisitOutcome::Page, 5)
    };
    let (own, others) = nodes[0].own_and_others();
    for (crawl, mine) in nodes.iter_mut().zip([own, others]) {
        // The first page of each host tells its address; the second wants its turn.
        for (n, text) in mine.iter().enumerate() {
            crawl.offer(&[text]);
            let lease = crawl.lease();
            let alone = format!("10.{}.0.{n}", u8::from(n > 0)).parse().unwrap();
            crawl.finish(&lease, &at(if n < 3 { shared } else { alone }));
            crawl.commit();
        }
        let more: Vec<String> = mine.iter().map(|text| format!("{text}2")).collect();
        crawl.offer(&more);
    }
    let mut asked = [0, 0];
    let mut turns = Vec::new();
    for _ in 0..200 {
        let mut at_once = 0;
        for (node, crawl) in nodes.iter_mut().enumerate() {
            crawl.now_ms += 250;
            crawl
                .frontier
                .take_turns(&crawl.store, crawl.now_ms)
                .unwrap();
            let Next::Fetch(lease) = crawl.next() else {
                continue;
            };
            if lease.ip == Some(shared) {
                at_once += 1;
                asked[node] += 1;
                if turns.last() != Some(&node) {
                    turns.push(node);
                }
            }
            crawl.finish(&lease, &at(lease.ip.unwrap()));
            let more = format!("{}x", lease.record.uri);
            crawl.offer(&[&more]);
        }
        assert!(at_once <= 1, "both nodes asked the server");
    }
    assert!(asked.iter().all(|n| *n > 10), "{asked:?} {turns:?}");
    assert!(turns.len() >= 4, "{turns:?}");
}

#[test]
fn ip_turn_ends_with_node() {
    let Some([mut first, mut second]) = two_nodes() else {
        return;
    };
    let ip = "10.0.0.8".parse().unwrap();
    let now_ms = first.now_ms.max(second.now_ms);
    let asks = |crawl: &mut Crawl, now_ms: i64| {
        crawl.frontier.has_turn(ip, now_ms);
        crawl.frontier.take_turns(&crawl.store, now_ms).unwrap();
        crawl.frontier.has_turn(ip, now_ms)
    };
    assert!(asks(&mut first, now_ms));
    assert!(!asks(&mut second, now_ms), "the first one has it");
    first.frontier.end_turns(&first.store, now_ms);
    assert!(asks(&mut second, now_ms + 1));
    assert!(!asks(&mut first, now_ms + 1));
    // No host of it is in memory: it is given back with the partitions.
    second
        .frontier
        .end_unused_turns(&second.store, now_ms + 2)
        .unwrap();
    assert!(asks(&mut first, now_ms + 2));
}
