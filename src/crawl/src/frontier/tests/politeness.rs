//! Delays, backoff, connections: by host and by address.

use super::*;
use crate::frontier::politeness;
use crate::store::HostRecord;

const SECOND: i64 = 1_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;

fn exact() -> Config {
    Config {
        jitter: 0.0,
        ..Config::default()
    }
}

fn report(outcome: VisitOutcome) -> FetchReport {
    FetchReport::new(outcome, 100)
}

/// Enters the end of a fetch of a host with one queue.
fn record_fetch(
    config: &Config,
    host: &mut HostRecord,
    report: &FetchReport,
    site: Option<i64>,
    now_ms: i64,
) {
    let usual = politeness::record_fetch(config, host, report, site, now_ms);
    if let Some((delay_ms, cause)) = usual {
        politeness::hold(host, now_ms + delay_ms, cause, now_ms);
    }
}

/// Ends one fetch of `host` after the rest it had, and gives (rest that follows, cause).
fn rest(
    config: &Config,
    host: &mut HostRecord,
    report: &FetchReport,
    site: Option<i64>,
) -> (i64, Cause) {
    let now_ms = host.not_before_ms.max(1_800_000_000_000);
    record_fetch(config, host, report, site, now_ms);
    (host.not_before_ms - now_ms, host.cause)
}

#[test]
fn delay_follows_fetch_time() {
    for (elapsed_ms, delay_ms) in [
        (0, 1_000),
        (100, 1_000),
        (400, 2_000),
        (5_000, 25_000),
        (60_000, 30_000),
    ] {
        let mut host = HostRecord::default();
        let answer = FetchReport::new(VisitOutcome::Page, elapsed_ms);
        assert_eq!(
            rest(&exact(), &mut host, &answer, None),
            (delay_ms, Cause::Delay),
            "after {elapsed_ms} ms"
        );
    }
}

#[test]
fn delay_jitter_is_bounded() {
    let config = Config::default();
    let answer = FetchReport::new(VisitOutcome::Page, 1_000);
    let run = || -> Vec<i64> {
        let mut host = HostRecord {
            id: 7,
            ..HostRecord::default()
        };
        (0..200)
            .map(|_| rest(&config, &mut host, &answer, None).0)
            .collect()
    };
    let delays = run();
    assert_eq!(delays, run());
    assert!(delays.iter().all(|d| (4_500..=5_500).contains(d)));
    assert!(delays.iter().min() < Some(&4_700) && delays.iter().max() > Some(&5_300));
}

#[test]
fn delay_of_robots_and_site() {
    let answer = |crawl_delay_ms| FetchReport {
        crawl_delay_ms,
        ..report(VisitOutcome::Page)
    };
    let mut host = HostRecord::default();
    let first = rest(&exact(), &mut host, &answer(Some(7_000)), None);
    assert_eq!(first, (7_000, Cause::CrawlDelay));
    let kept = rest(&exact(), &mut host, &answer(None), None);
    assert_eq!(kept, (7_000, Cause::CrawlDelay), "robots.txt is remembered");
    let site = rest(&exact(), &mut host, &answer(None), Some(9_000));
    assert_eq!(site, (9_000, Cause::SiteDelay));
    let long = rest(&exact(), &mut host, &answer(Some(HOUR)), None);
    assert_eq!(long, (300 * SECOND, Cause::CrawlDelay));
    let negative = rest(&exact(), &mut host, &answer(Some(-5)), None);
    assert_eq!(negative, (SECOND, Cause::Delay));
}

#[test]
fn backoff_doubles_then_is_forgiven() {
    let (config, mut host) = (exact(), HostRecord::default());
    let throttled = report(VisitOutcome::Busy);
    for factor in [1, 2, 4, 8] {
        let expected = (factor * MINUTE, Cause::Throttled);
        assert_eq!(rest(&config, &mut host, &throttled, None), expected);
    }
    // An answer soon after does not forgive.
    rest(&config, &mut host, &report(VisitOutcome::Page), None);
    let soon = rest(&config, &mut host, &throttled, None);
    assert_eq!(soon, (16 * MINUTE, Cause::Throttled));
    host.not_before_ms += 31 * MINUTE;
    rest(&config, &mut host, &report(VisitOutcome::Page), None);
    assert_eq!(host.backoff_level, 0);
    let anew = rest(&config, &mut host, &throttled, None);
    assert_eq!(anew, (MINUTE, Cause::Throttled));
}

#[test]
fn backoff_ends_at_a_day() {
    let (config, mut host) = (exact(), HostRecord::default());
    let mut last = 0;
    for _ in 0..40 {
        last = rest(&config, &mut host, &report(VisitOutcome::Busy), None).0;
    }
    assert_eq!(last, 24 * HOUR);
}

#[test]
fn backoff_obeys_retry_after() {
    for (asked, given) in [
        (0, SECOND),
        (90 * SECOND, 90 * SECOND),
        (HOUR, HOUR),
        (72 * HOUR, 24 * HOUR),
        (i64::MAX, 24 * HOUR),
    ] {
        let mut host = HostRecord::default();
        let throttled = FetchReport {
            retry_after_ms: Some(asked),
            ..report(VisitOutcome::Busy)
        };
        assert_eq!(rest(&exact(), &mut host, &throttled, None).0, given);
    }
}

#[test]
fn backoff_counts_parallel_once() {
    let (config, mut host) = (exact(), HostRecord::default());
    let now_ms = 1_800_000_000_000;
    for _ in 0..5 {
        let throttled = report(VisitOutcome::Busy);
        record_fetch(&config, &mut host, &throttled, None, now_ms);
    }
    assert_eq!(host.not_before_ms, now_ms + MINUTE);
    // A good answer to one of them does not end the rest.
    let good = report(VisitOutcome::Page);
    record_fetch(&config, &mut host, &good, None, now_ms);
    assert_eq!(host.not_before_ms, now_ms + MINUTE);
    assert_eq!(host.cause, Cause::Throttled);
}

#[test]
fn backoff_of_unreachable_host() {
    let (config, mut host) = (exact(), HostRecord::default());
    for factor in [1, 2, 4] {
        let expected = (factor * 15 * MINUTE, Cause::Unreachable);
        let gone = report(VisitOutcome::Unreachable);
        assert_eq!(rest(&config, &mut host, &gone, None), expected);
    }
    let answer = rest(&config, &mut host, &report(VisitOutcome::Page), None);
    assert_eq!(answer, (SECOND, Cause::Delay));
    assert_eq!((host.errors, host.backoff_level), (0, 0));
}

#[test]
fn host_parked_after_errors() {
    let (config, mut host) = (exact(), HostRecord::default());
    for n in 1..20 {
        let (_, cause) = rest(&config, &mut host, &report(VisitOutcome::ServerError), None);
        assert_eq!(cause, Cause::Delay, "error {n}");
    }
    let broken = FetchReport {
        failure: Some(Failure::Reset),
        ..report(VisitOutcome::Unreachable)
    };
    let parked = rest(&config, &mut host, &broken, None);
    assert_eq!(parked, (24 * HOUR, Cause::Parked));
    let again = rest(&config, &mut host, &report(VisitOutcome::ServerError), None);
    assert_eq!(again.1, Cause::Parked, "one look a day");
    rest(&config, &mut host, &report(VisitOutcome::Page), None);
    let (_, cause) = rest(&config, &mut host, &report(VisitOutcome::ServerError), None);
    assert_eq!(cause, Cause::Delay, "an answer ends it");
}

#[test]
fn unvisited_host_has_no_delay() {
    let (config, mut host) = (exact(), HostRecord::default());
    rest(&config, &mut host, &report(VisitOutcome::Disallowed), None);
    assert_eq!(host, HostRecord::default());
}

#[test]
fn host_has_one_connection() {
    let mut crawl = Crawl::new(exact());
    crawl.offer(&["http://a.test/1", "http://a.test/2", "http://b.test/1"]);
    let both = [crawl.lease(), crawl.lease()];
    assert_ne!(both[0].record.host, both[1].record.host);
    assert_eq!(crawl.next(), Next::Idle, "both hosts are busy");
    let first = both
        .iter()
        .find(|l| l.record.uri.as_str() == "http://a.test/1");
    crawl.finish(first.unwrap(), &report(VisitOutcome::Page));
    let wait = Next::Wait {
        until_ms: crawl.now_ms + SECOND,
        due: true,
    };
    assert_eq!(crawl.next(), wait);
    crawl.now_ms += SECOND;
    assert_eq!(crawl.lease().record.uri.as_str(), "http://a.test/2");
}

#[test]
fn hosts_share_ip_delay() {
    let mut crawl = Crawl::new(exact());
    crawl.offer(&[
        "http://a.test/1",
        "http://a.test/2",
        "http://b.test/1",
        "http://b.test/2",
    ]);
    let ip = "192.0.2.1".parse().ok();
    let answer = FetchReport {
        ip,
        ..report(VisitOutcome::Page)
    };
    for _ in 0..2 {
        let lease = crawl.lease();
        crawl.finish(&lease, &answer);
    }
    crawl.now_ms += 2 * SECOND;
    let lease = crawl.lease();
    assert_eq!(crawl.next(), Next::Idle, "the address is busy");
    crawl.finish(&lease, &answer);
    let wait = Next::Wait {
        until_ms: crawl.now_ms + SECOND,
        due: true,
    };
    assert_eq!(crawl.next(), wait, "and rests");
    crawl.now_ms += SECOND;
    let last = crawl.lease();
    assert_ne!(last.record.host, lease.record.host);
}

#[test]
fn backoff_survives_crash() {
    let mut crawl = Crawl::new(exact());
    crawl.offer(&["http://a.test/1", "http://a.test/2"]);
    let lease = crawl.lease();
    let throttled = FetchReport {
        retry_after_ms: Some(HOUR),
        error: Some("status 429".to_owned()),
        ..report(VisitOutcome::Busy)
    };
    crawl.finish(&lease, &throttled);
    crawl.commit();
    let until_ms = crawl.now_ms + HOUR;
    let mut crawl = crawl.reopen();
    // In a cluster, clocks may differ by so much.
    assert!(
        matches!(crawl.next(), Next::Wait { until_ms: u, .. } if (until_ms..=until_ms + 100).contains(&u))
    );
    let why = Explanation::for_host(&crawl.store, &exact(), "a.test", None, crawl.now_ms)
        .unwrap()
        .unwrap();
    assert_eq!(why.cause, Cause::RetryAfter);
    assert_eq!(why.next_fetch_ms, Some(until_ms));
    assert_eq!((why.due, why.delay_ms), (1, SECOND));
    assert_eq!(why.host.last_error.as_deref(), Some("status 429"));
    let nobody = Explanation::for_host(&crawl.store, &exact(), "b.test", None, crawl.now_ms);
    assert_eq!(nobody.unwrap(), None);
}

/// The process before may have asked any host just before its lease ended.
#[test]
fn takeover_delays_each_host() {
    let mut crawl = Crawl::new(exact());
    crawl.frontier.taken_over_ms = (0..256).map(|part| (part, i64::MAX)).collect();
    crawl.offer(&["http://a.test/1"]);
    let begun_ms = crawl.now_ms;
    match crawl.next() {
        Next::Wait { until_ms, .. } => assert_eq!(until_ms, begun_ms + SECOND),
        other => panic!("the host is asked at once: {other:?}"),
    }
    crawl.now_ms += SECOND;
    let lease = crawl.lease();
    crawl.finish(&lease, &report(VisitOutcome::Page));
    // Hosts that come into memory later have rested meanwhile.
    crawl.offer(&["http://b.test/1"]);
    assert_eq!(crawl.lease().record.uri.as_str(), "http://b.test/1");
}

#[test]
fn robots_txt_alone_rests_host() {
    let config = exact();
    for (requests, rests) in [(0, false), (1, true)] {
        let mut host = HostRecord {
            elapsed_ms: 700,
            ..HostRecord::default()
        };
        let refused = FetchReport {
            requests,
            elapsed_ms: None,
            ..report(VisitOutcome::Disallowed)
        };
        record_fetch(&config, &mut host, &refused, None, HOUR);
        assert_eq!(host.not_before_ms > HOUR, rests, "{requests} requests");
        assert_eq!(host.elapsed_ms, 700, "robots.txt says nothing of pages");
    }
}

#[test]
fn host_rests_as_long_as_another_turn_heard() {
    let (config, mut host) = (exact(), HostRecord::default());
    let put_off = FetchReport {
        requests: 0,
        not_before_ms: Some(3 * HOUR),
        ..report(VisitOutcome::Unwanted)
    };
    record_fetch(&config, &mut host, &put_off, None, HOUR);
    assert_eq!(
        (host.not_before_ms, host.cause),
        (3 * HOUR, Cause::RetryAfter)
    );
    assert_eq!(host.fetched, 0);
}
