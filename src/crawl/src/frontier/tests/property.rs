//! Whatever the order of events: every URL that is due is leased once.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

#[derive(Debug, Clone)]
enum Step {
    /// Offer URL number n (host n mod 5) again or for the first time.
    Offer(Vec<u16>),
    Lease,
    /// End the n-th open lease.
    Finish(usize, VisitOutcome, Option<Failure>),
    Release(usize),
    Commit,
    Crash,
    Pass(i64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let outcome = prop_oneof![
        4 => Just((VisitOutcome::Page, None)),
        1 => Just((VisitOutcome::Busy, None)),
        1 => Just((VisitOutcome::Unreachable, Some(Failure::Reset))),
        1 => Just((VisitOutcome::Disallowed, None)),
    ];
    let step = prop_oneof![
        2 => prop::collection::vec(0u16..60, 1..12).prop_map(Step::Offer),
        6 => Just(Step::Lease),
        4 => (0usize..8, outcome).prop_map(|(i, (o, failure))| Step::Finish(i, o, failure)),
        1 => (0usize..8).prop_map(Step::Release),
        3 => Just(Step::Commit),
        1 => Just(Step::Crash),
        3 => (0i64..40_000).prop_map(Step::Pass),
    ];
    prop::collection::vec(step, 1..90)
}

fn address(n: u16) -> String {
    format!("http://h{}.test/{n}", n % 5)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_url_is_fetched_once(
        steps in steps(),
        connections in 1u32..4,
        queues in 1u32..5,
        batch in 1usize..6,
        active in 1usize..6,
    ) {
        let config = Config {
            connections_per_host: connections,
            queue_batch: batch,
            active_hosts: active,
            ..Config::default()
        };
        let mut crawl = Crawl::new(config);
        crawl.set_queues(queues);
        let mut offered = std::collections::BTreeSet::new();
        let mut waiting: Vec<u16> = Vec::new();
        let mut open: Vec<Lease> = Vec::new();
        let mut done: BTreeMap<String, u32> = BTreeMap::new();
        let mut uncommitted: Vec<String> = Vec::new();
        for step in steps {
            match step {
                Step::Offer(urls) => {
                    crawl.batch.urls.extend(urls.iter().map(|n| Crawl::link(&address(*n), 1)));
                    waiting.extend(urls);
                }
                Step::Lease => {
                    if let Next::Fetch(lease) = crawl.next() {
                        let url = lease.record.uri.to_string();
                        let same_host = open.iter().filter(|l| l.record.host == lease.record.host).count();
                        let most = if queues > 1 { queues } else { connections };
                        prop_assert!(u32::try_from(same_host).unwrap() < most);
                        prop_assert!(queues == 1 || open.iter().all(|l| l.queue != lease.queue), "one page of a queue");
                        prop_assert!(open.iter().all(|l| l.record.id != lease.record.id), "{url} is out already");
                        prop_assert!(!uncommitted.contains(&url), "{url} is not committed");
                        prop_assert_eq!(done.get(&url), None, "{} was done", url);
                        open.push(*lease);
                    }
                }
                Step::Finish(i, outcome, failure) if !open.is_empty() => {
                    let lease = open.remove(i % open.len());
                    let report = FetchReport { failure, ..FetchReport::new(outcome, 50) };
                    crawl.finish(&lease, &report);
                    uncommitted.push(lease.record.uri.to_string());
                }
                Step::Release(i) if !open.is_empty() => {
                    let lease = open.remove(i % open.len());
                    crawl.frontier.release(&lease, crawl.now_ms);
                }
                Step::Commit => {
                    crawl.commit();
                    offered.extend(waiting.drain(..));
                    for url in uncommitted.drain(..) {
                        *done.entry(url).or_default() += 1;
                    }
                }
                Step::Crash => {
                    open.clear();
                    uncommitted.clear();
                    waiting.clear();
                    crawl = crawl.reopen();
                    crawl.set_queues(queues);
                }
                Step::Pass(ms) => crawl.now_ms += ms,
                Step::Finish(..) | Step::Release(_) => {}
            }
        }
        for lease in std::mem::take(&mut open) {
            crawl.frontier.release(&lease, crawl.now_ms);
        }
        crawl.commit();
        offered.extend(waiting);
        for url in uncommitted {
            *done.entry(url).or_default() += 1;
        }
        for (_, url) in crawl.drain() {
            *done.entry(url).or_default() += 1;
        }
        let expected: BTreeMap<String, u32> = offered.iter().map(|n| (address(*n), 1)).collect();
        prop_assert_eq!(done, expected);
    }
}
