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
                crawl.finish(&lease, &FetchReport::new(VisitOutcome::Page, 1));
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
    let urls: Vec<String> = (0..pages).map(|n| format!("http://a.test/{n}")).collect();
    crawl.offer(&urls.iter().map(String::as_str).collect::<Vec<_>>());
    crawl
}

#[test]
fn rechecks_that_bring_nothing_are_paid_for() {
    let mut crawl = met(100);
    assert_eq!(day(&mut crawl, None, false), 100);
    let second = day(&mut crawl, None, false);
    assert!((20..=22).contains(&second), "{second}");
    // What was spent outlives the process, and those that waited come first when it is given back.
    let mut crawl = crawl.reopen();
    let more: Vec<String> = (0..60).map(|n| format!("http://b.test/{n}")).collect();
    crawl.offer(&more.iter().map(String::as_str).collect::<Vec<_>>());
    let third = day(&mut crawl, None, false);
    assert!((60..=66).contains(&third), "{third}");
    // After a month everything is looked at again.
    crawl.now_ms += 30 * DAY_MS;
    assert_eq!(day(&mut crawl, None, false), 160);
}

#[test]
fn rechecks_that_are_worth_it_or_cheap_never_wait() {
    for (etag, changed) in [(Some("e"), false), (None, true)] {
        let mut crawl = met(100);
        for _ in 0..4 {
            assert_eq!(day(&mut crawl, etag, changed), 100, "{etag:?} {changed}");
        }
    }
}

#[test]
fn a_recheck_of_everything_waits_for_nothing() {
    let mut crawl = met(100);
    day(&mut crawl, None, false);
    let site: Arc<str> = Arc::from("s");
    crawl
        .frontier
        .recheck_articles(&mut crawl.store, &site, crawl.now_ms)
        .unwrap();
    assert_eq!(day(&mut crawl, None, false), 100);
}
