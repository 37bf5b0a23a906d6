//! Pages that cannot be asked whether they have changed.

use super::*;

const DAY_MS: i64 = 86_400_000;

/// Fetches what is due, each page with the same text as ever, due again a day later; how many.
fn day(crawl: &mut Crawl, etag: Option<&str>, changed: bool) -> usize {
    let mut fetched = 0;
    loop {
        match crawl.next() {
            Next::Fetch(lease) => {
                fetched += 1;
                crawl.finish(&lease, &came());
                let visit = &mut crawl.batch.pages.last_mut().unwrap().visit;
                visit.digest = Some(7);
                visit.etag = etag.map(str::to_owned);
                visit.interval_ms = DAY_MS;
                visit.due_ms = Some(crawl.now_ms + DAY_MS);
                if changed && is_blind(&lease.record) {
                    crawl.frontier.book_recheck("s", true, false);
                }
            }
            _ if crawl.frontier.has_changes(crawl.now_ms) || !crawl.batch.pages.is_empty() => {
                crawl.commit();
            }
            _ => break,
        }
    }
    crawl.now_ms += DAY_MS;
    fetched
}

fn met(pages: usize) -> Crawl {
    let mut crawl = Crawl::new(at_once());
    crawl.offer(&numbered("a", 0..pages));
    crawl
}

#[test]
fn recheck_without_change_costs_budget() {
    let mut crawl = met(100);
    assert_eq!(day(&mut crawl, None, false), 100);
    let second = day(&mut crawl, None, false);
    assert!((20..=22).contains(&second), "{second}");
    // What was spent outlives the process, and those that waited come first when it is given back.
    let mut crawl = crawl.reopen();
    crawl.offer(&numbered("b", 0..60));
    let third = day(&mut crawl, None, false);
    assert!((60..=66).contains(&third), "{third}");
    // After a month everything is looked at again.
    crawl.now_ms += 30 * DAY_MS;
    assert_eq!(day(&mut crawl, None, false), 160);
}

#[test]
fn recheck_worthwhile_never_waits() {
    for (etag, changed) in [(Some("e"), false), (None, true)] {
        let mut crawl = met(100);
        for _ in 0..4 {
            assert_eq!(day(&mut crawl, etag, changed), 100, "{etag:?} {changed}");
        }
    }
}

#[test]
fn recheck_everything_ignores_budget() {
    let mut crawl = met(100);
    day(&mut crawl, None, false);
    let site: Arc<str> = Arc::from("s");
    crawl
        .frontier
        .recheck_articles(&mut crawl.store, &site, crawl.now_ms)
        .unwrap();
    assert_eq!(day(&mut crawl, None, false), 100);
}

/// How many addresses the store has.
fn stored(crawl: &Crawl) -> i64 {
    crawl.store.counts().unwrap().total("urls")
}

/// What the cycle counted as left out.
fn left_out(crawl: &Crawl) -> i64 {
    crawl.store.counts().unwrap().total(SITE_FULL)
}

#[test]
fn site_urls_are_bounded() {
    let mut crawl = Crawl::new(Config {
        max_urls_per_site: 100,
        ..at_once()
    });
    let trap = |from: usize, to: usize| -> Vec<String> {
        (from..to).map(|n| format!("http://a.test/{n}")).collect()
    };
    let offer = |crawl: &mut Crawl, urls: &[String]| crawl.offer(urls);
    // One list passes the limit in one go.
    let report = offer(&mut crawl, &trap(0, 5_000));
    assert_eq!(report.new_urls, 100);
    assert_eq!(report.refused[&Refusal::SiteFull], 4_900);
    assert_eq!(stored(&crawl), 100);
    crawl.commit();
    assert_eq!(left_out(&crawl), 4_900);
    // The same after a restart, and what is met again is not counted twice.
    let mut crawl = crawl.reopen();
    let report = offer(&mut crawl, &trap(50, 6_000));
    assert_eq!((report.new_urls, report.seen), (0, 50));
    assert_eq!(stored(&crawl), 100);
    // What is known is crawled, and what a person names is taken up.
    assert_eq!(crawl.drain().len(), 100);
    crawl.batch.urls = vec![NewUrl::seed(uri("http://b.test/"), &Arc::from("s"))];
    assert_eq!(crawl.commit().new_urls, 1);
    assert_eq!(crawl.drain().len(), 1);
}

#[test]
fn scope_counts_refused_links() {
    let mut crawl = Crawl::new(at_once());
    let report = crawl.offer(&[
        "http://a.test/1",
        "http://elsewhere.com/",
        "http://a.test/c/2190/01/",
    ]);
    assert_eq!(report.new_urls, 1);
    assert_eq!(report.refused.get(&Refusal::Host), Some(&1));
    assert_eq!(report.refused.get(&Refusal::Calendar), Some(&1));
    let mut other = Crawl::link("http://a.test/2", 1);
    other.site = Arc::from("nobody");
    crawl.batch.urls = vec![other];
    let report = crawl.commit();
    assert_eq!(report.refused.get(&Refusal::UnknownSite), Some(&1));
}

/// Paths of what is leased until nothing is due, in order.
fn leased_paths(crawl: &mut Crawl) -> Vec<String> {
    let fetched = crawl.drain();
    let path = |(_, url): (i64, String)| url.split_once(".test").unwrap().1.to_owned();
    let mut paths: Vec<String> = fetched.into_iter().map(path).collect();
    paths.sort_unstable();
    paths
}

/// The site of these tests with what it excludes.
fn excluding(patterns: &[&str]) -> Site {
    let mut site = site("s", &["*.test"]);
    site.scope.exclude = patterns.iter().map(|text| (*text).to_owned()).collect();
    site
}

#[test]
fn exclude_added_later_stops_stored_urls() {
    let mut crawl = Crawl::new(at_once());
    let file = NewUrl {
        class: UrlClass::Attachment,
        ..Crawl::link("http://a.test/secret/1.pdf", 2)
    };
    crawl.batch.urls = vec![
        Crawl::link("http://a.test/open", 1),
        Crawl::link("http://a.test/secret/1", 1),
        file,
    ];
    assert_eq!(crawl.commit().new_urls, 3);
    crawl.set_site(excluding(&["/secret/"]));
    assert_eq!(leased_paths(&mut crawl), ["/open"]);
    let id = crawl.store.lookup(&uri("http://a.test/secret/1")).unwrap();
    let asked = crawl
        .frontier
        .lease_now(&crawl.store, id.unwrap().id, crawl.now_ms);
    assert_eq!(asked.unwrap(), LeaseOutcome::Never);
    // They wait for a cycle: one that begins when the pattern is gone again fetches them.
    crawl.begin_cycle();
    assert_eq!(leased_paths(&mut crawl), [""; 0]);
    crawl.set_site(excluding(&[]));
    crawl.begin_cycle();
    assert_eq!(leased_paths(&mut crawl), ["/secret/1", "/secret/1.pdf"]);
}

#[test]
fn scope_narrowed_later_stops_stored_urls() {
    let mut crawl = Crawl::new(at_once());
    crawl.offer(&["http://a.test/1", "http://b.test/1"]);
    let seed: Arc<str> = Arc::from("s");
    crawl.batch.urls = vec![NewUrl::seed(uri("http://a.test/start"), &seed)];
    crawl.commit();
    let mut narrow = site("s", &["a.test"]);
    narrow.scope.include = vec!["/news/".to_owned()];
    crawl.set_site(narrow);
    // A seed needs no pattern.
    assert_eq!(leased_paths(&mut crawl), ["/start"]);
}
