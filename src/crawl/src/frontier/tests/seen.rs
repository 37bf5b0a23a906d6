//! The filter in front of the exact set.

use super::*;
use taojin_uri::FingerprintKey;

#[test]
fn links_are_new_once() {
    let mut crawl = Crawl::new(at_once());
    let first = crawl.offer(&["http://a.test/1", "http://a.test/2", "http://a.test/1"]);
    assert_eq!((first.new_urls, first.seen), (2, 1));
    let second = crawl.offer(&["http://a.test/2", "http://a.test/3"]);
    assert_eq!((second.new_urls, second.seen), (1, 1));
    let asked = crawl.frontier.seen.with_store;
    crawl.offer(&["http://a.test/2"]);
    assert_eq!(
        crawl.frontier.seen.with_store, asked,
        "confirmed links cost no look-up"
    );
}

#[test]
fn offer_names_finding_page() {
    let mut crawl = Crawl::new(at_once());
    crawl.offer(&["http://a.test/1", "http://b.test/1"]);
    for links in [
        vec!["http://a.test/x", "http://a.test/y"],
        vec!["http://a.test/x"],
    ] {
        let lease = crawl.lease();
        let links = links.iter().map(|t| Crawl::link(t, 2)).collect();
        crawl.finish_with(&lease, &came(), links);
    }
    let report = crawl.commit();
    assert_eq!(report.new_urls, 2);
    let found = crawl
        .store
        .lookup(&uri("http://a.test/x"))
        .unwrap()
        .unwrap();
    let via = crawl.store.url(found.via.unwrap()).unwrap().unwrap();
    assert!(via.uri.as_str().ends_with("/1"));
}

#[test]
fn full_filter_loses_nothing() {
    let mut crawl = Crawl::new(Config {
        seen_error: 1.0,
        seen_capacity: 1,
        ..at_once()
    });
    let urls: Vec<String> = (0..2_000)
        .map(|i| format!("http://h{}.test/{i}", i % 7))
        .collect();
    for chunk in urls.chunks(100) {
        crawl.offer(chunk);
    }
    assert!(
        crawl.frontier.seen.false_positives > 0,
        "the test must force some"
    );
    assert_eq!(crawl.drain().len(), 2_000);
}

#[test]
fn filter_error_is_bounded() {
    let mut seen = Seen::new(FingerprintKey::NONE, 0.001, 1_000);
    let hash = |i: u64| i.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (i << 7);
    for i in 0..50_000 {
        seen.insert(hash(i));
    }
    assert!((0..50_000).all(|i| seen.contains(hash(i))));
    let wrong = (50_000..150_000)
        .filter(|i| seen.contains(hash(*i)))
        .count();
    assert!(wrong <= 100, "{wrong} of 100,000 is more than a thousandth");
}

#[test]
fn filter_survives_crash() {
    let mut crawl = Crawl::new(at_once());
    crawl.offer(&["http://a.test/1", "http://a.test/2"]);
    let mut crawl = crawl.reopen();
    let report = crawl.offer(&["http://a.test/1", "http://a.test/2", "http://a.test/3"]);
    assert_eq!((report.new_urls, report.seen), (1, 2));
}

#[test]
fn saved_filter_is_completed() {
    let mut crawl = Crawl::new(at_once());
    crawl.offer(&["http://a.test/1", "http://a.test/2"]);
    crawl.frontier.close(&crawl.store);
    let file = crawl.store.dir().join("seen.filter");
    assert!(file.exists());
    // Found after the file was written, and not saved again.
    crawl.offer(&["http://a.test/3"]);
    let mut crawl = crawl.reopen();
    let report = crawl.offer(&["http://a.test/1", "http://a.test/3", "http://a.test/4"]);
    assert_eq!((report.new_urls, report.seen), (1, 2));
    assert_eq!(crawl.frontier.seen.false_positives, 0);
    // Each way of being wrong costs a rebuild.
    let good = std::fs::read(&file).unwrap();
    let mut flipped = good.clone();
    flipped[40] ^= 1;
    for bytes in [
        &[],
        &good[..20],
        &good[..good.len() - 1],
        flipped.as_slice(),
        b"TJSEEN99",
    ] {
        std::fs::write(&file, bytes).unwrap();
        crawl = crawl.reopen();
        let report = crawl.offer(&["http://a.test/1", "http://a.test/4"]);
        assert_eq!(
            (report.new_urls, report.seen),
            (0, 2),
            "{} bytes",
            bytes.len()
        );
    }
}
