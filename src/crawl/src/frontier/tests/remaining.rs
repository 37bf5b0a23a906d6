//! What is left to do, for passes and for the ends of cycles.

use super::*;

fn span(crawl: &Crawl, since_ms: i64, patience_ms: i64) -> Span {
    Span {
        since_ms,
        now_ms: crawl.now_ms,
        patience_ms,
    }
}

impl Crawl {
    fn has_work(&self, patience_ms: i64) -> bool {
        let span = span(self, self.now_ms, patience_ms);
        self.frontier.has_work(&self.store, &span).unwrap()
    }

    fn is_done(&self, patience_ms: i64) -> bool {
        let span = span(self, self.now_ms, patience_ms);
        self.frontier.is_site_done(&self.store, "s", &span).unwrap()
    }
}

#[test]
fn remaining_counts_host_with_urls() {
    let mut crawl = Crawl::new(Config::default());
    assert!(!crawl.has_work(60_000) && crawl.is_done(60_000));
    crawl.offer(&["http://a.test/"]);
    assert!(crawl.has_work(60_000) && !crawl.is_done(60_000));
    let lease = crawl.lease();
    assert!(!crawl.is_done(60_000), "it is being fetched");
    let link = Crawl::link("http://a.test/1", 2);
    let answered = FetchReport::new(VisitOutcome::Page, 10);
    crawl.finish_with(&lease, &answered, vec![link]);
    crawl.commit();
    // The host rests: there is nothing to fetch now, and yet something to wait for.
    assert!(matches!(crawl.next(), Next::Wait { .. }));
    assert!(crawl.has_work(60_000) && !crawl.is_done(60_000));
    assert!(
        !crawl.has_work(10) && crawl.is_done(10),
        "beyond the patience"
    );
    assert_eq!(crawl.drain().len(), 1);
    assert!(!crawl.has_work(60_000) && crawl.is_done(60_000));
}

#[test]
fn remaining_names_resting_host() {
    let mut crawl = Crawl::new(Config::default());
    crawl.offer(&["http://a.test/1", "http://a.test/2"]);
    let lease = crawl.lease();
    let report = FetchReport {
        retry_after_ms: Some(7_200_000),
        ..FetchReport::new(VisitOutcome::Busy, 10)
    };
    crawl.finish(&lease, &report);
    crawl.commit();
    assert!(!crawl.has_work(60_000) && crawl.is_done(60_000));
    let span = span(&crawl, crawl.now_ms, 60_000);
    let resting = crawl.frontier.resting(&crawl.store, &span).unwrap();
    let wanted = Resting {
        host: Arc::from("a.test"),
        until_ms: crawl.now_ms + 7_200_000,
        cause: Cause::RetryAfter,
    };
    assert_eq!(resting, [wanted]);
}

#[test]
fn remaining_excludes_later_intervals() {
    let mut crawl = Crawl::new(at_once());
    crawl.offer(&["http://a.test/1"]);
    let began_ms = crawl.now_ms;
    let lease = crawl.lease();
    let answered = FetchReport::new(VisitOutcome::Page, 10);
    crawl.finish(&lease, &answered);
    let visit = &mut crawl.batch.pages[0].visit;
    visit.interval_ms = 1_000;
    visit.due_ms = Some(crawl.now_ms + 1_000);
    crawl.commit();
    crawl.now_ms += 5_000;
    let has_work = |since_ms| {
        let span = span(&crawl, since_ms, 60_000);
        crawl.frontier.has_work(&crawl.store, &span).unwrap()
    };
    assert!(!has_work(began_ms), "it was visited in this pass");
    assert!(has_work(began_ms + 1), "the next pass takes it");
}

#[test]
fn pass_leases_named_sites_only() {
    let mut crawl = Crawl::new(at_once());
    let sites = [
        site("s", &["a.test", "shared.test"]),
        site("t", &["b.test", "shared.test"]),
    ];
    let now_ms = crawl.now_ms;
    crawl
        .frontier
        .set_sites(&mut crawl.store, scopes(&sites), now_ms)
        .unwrap();
    let url = |text: &str, site: &str| NewUrl::link(uri(text), &Arc::from(site), 1);
    crawl.batch.urls = vec![
        url("http://a.test/", "s"),
        url("http://b.test/", "t"),
        url("http://shared.test/s", "s"),
        url("http://shared.test/t", "t"),
    ];
    crawl.commit();
    crawl.frontier.give_out_only(&[Arc::from("s")]);
    let mut fetched = Vec::new();
    while let Next::Fetch(lease) = crawl.next() {
        fetched.push(lease.record.uri.to_string());
        crawl.finish(&lease, &FetchReport::new(VisitOutcome::Page, 10));
        crawl.commit();
    }
    // The URL of the other site that was met on the shared host is put off.
    crawl.commit();
    fetched.sort();
    assert_eq!(fetched, ["http://a.test/", "http://shared.test/s"]);
    assert!(!crawl.has_work(60_000));
    crawl.frontier.give_out_only(&[]);
    assert!(crawl.has_work(60_000), "the other site's URLs are as due");
}

#[test]
fn refused_links_counted_once() {
    let mut crawl = Crawl::new(at_once());
    let mut site = site("s", &["*.test"]);
    site.scope.max_hops = 1;
    site.scope.exclude = vec!["/no/".to_owned()];
    let now_ms = crawl.now_ms;
    crawl
        .frontier
        .set_sites(&mut crawl.store, scopes(&[site]), now_ms)
        .unwrap();
    crawl.offer(&["http://a.test/1", "http://a.test/no/1", "http://b.other/"]);
    let far = |text: &str| Crawl::link(text, 2);
    for _ in 0..2 {
        // What is known already is no address left out, however far this link is.
        crawl.batch.urls = vec![
            far("http://a.test/2"),
            far("http://a.test/3"),
            far("http://a.test/1"),
            far("http://a.test/no/1"),
        ];
        crawl.commit();
    }
    let count = |crawl: &Crawl, name: &str| {
        let counts = crawl.store.counts().unwrap();
        counts.sites["s"].get(name).copied().unwrap_or_default()
    };
    assert_eq!(count(&crawl, BEYOND_HOPS), 2);
    assert_eq!(count(&crawl, OUT_OF_SCOPE), 1);
    // A shorter way to one of them is found.
    crawl.offer(&["http://a.test/3"]);
    assert_eq!(count(&crawl, BEYOND_HOPS), 1);
}
