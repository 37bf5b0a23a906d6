//! Pages that hardly differ, and the turns of what waits long.

use super::*;

#[test]
fn trap_of_equal_pages_ends() {
    let mut crawl = Crawl::new(at_once());
    let month = |n: usize| {
        format!(
            "http://a.test/calendar/{}/{:02}/",
            2000 + n / 12,
            n % 12 + 1
        )
    };
    for n in 0..60 {
        crawl.frontier.note_outline(&uri(&month(n)), None, 7);
    }
    let report = crawl.offer(&[
        &month(70),
        "http://a.test/news/70/",
        "http://b.test/calendar/2030/01/",
    ]);
    assert_eq!(report.new_urls, 2);
    assert_eq!(report.refused.get(&Refusal::Alike), Some(&1));
}

#[test]
fn trap_survives_crash() {
    let mut crawl = Crawl::new(at_once());
    let month = |n: usize| format!("http://a.test/calendar/{n}/");
    for n in 0..60 {
        crawl.frontier.note_outline(&uri(&month(n)), None, 7);
    }
    crawl.commit();
    let mut crawl = crawl.reopen();
    assert_eq!(crawl.offer(&[&month(70)]).new_urls, 0);
    let file = crawl.store.dir().join("alike.forms");
    let mut bytes = std::fs::read(&file).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&file, bytes).unwrap();
    let mut crawl = crawl.reopen();
    assert_eq!(crawl.offer(&[&month(70)]).new_urls, 1);
}

#[test]
fn trap_of_growing_query_ends() {
    let mut crawl = Crawl::new(at_once());
    for n in 0..60 {
        let text = format!("http://a.test/list?sort={n}&filter=x{n}&page={n}");
        crawl
            .frontier
            .note_outline(&uri(&text), None, u64::from(n % 2 == 0));
    }
    let report = crawl.offer(&[
        "http://a.test/list?sort=a&filter=b&page=99",
        "http://a.test/list?id=3",
    ]);
    assert_eq!(
        (report.new_urls, report.refused.get(&Refusal::Alike)),
        (1, Some(&1))
    );
}

#[test]
fn trap_excludes_articles() {
    let mut crawl = Crawl::new(at_once());
    for n in 0..5_000u64 {
        let text = format!("http://a.test/news/{n}.html");
        // A third of them is broken in the same way.
        crawl
            .frontier
            .note_outline(&uri(&text), None, if n % 3 == 0 { 1 } else { n });
    }
    assert_eq!(crawl.offer(&["http://a.test/news/9999.html"]).new_urls, 1);
}

#[test]
fn trap_excludes_archive_lists() {
    let mut crawl = Crawl::new(at_once());
    let list = |n: u64| uri(&format!("http://a.test/list_{n}.html"));
    let day = |n: u64| uri(&format!("http://a.test/cal/{n}/"));
    for n in 1..300u64 {
        crawl.frontier.note_outline(&list(n), Some(&list(n - 1)), 7);
        let article = uri(&format!("http://a.test/a/{n}.html"));
        crawl
            .frontier
            .note_outline(&article, Some(&list(n)), n + 100);
        // Months that lead to days, and days to months, all empty.
        let month = uri(&format!("http://a.test/cal/m{n}/"));
        crawl.frontier.note_outline(&month, Some(&day(n)), 8);
        crawl.frontier.note_outline(&day(n), Some(&month), 9);
    }
    let report = crawl.offer(&[
        "http://a.test/list_300.html",
        "http://a.test/cal/300/",
        "http://a.test/cal/m300/",
    ]);
    assert_eq!(report.new_urls, 1);
    assert_eq!(report.refused.get(&Refusal::Alike), Some(&2));
}

#[test]
fn repeats_error_page_of_host() {
    let mut crawl = Crawl::new(at_once());
    crawl.offer(&["http://a.test/1", "http://a.test/2", "http://b.test/1"]);
    let record = |text: &str| crawl.store.lookup(&uri(text)).unwrap().unwrap();
    let [first, second, other] =
        ["http://a.test/1", "http://a.test/2", "http://b.test/1"].map(record);
    let frontier = &mut crawl.frontier;
    assert!(!frontier.repeats(&first, 7, true));
    assert!(!frontier.repeats(&first, 7, true), "the same page again");
    assert!(!frontier.repeats(&second, 8, true), "another text");
    assert!(frontier.repeats(&second, 7, true));
    assert!(!frontier.repeats(&other, 7, true), "another host");
}

#[test]
fn repeats_bounds_equal_pages() {
    let mut crawl = Crawl::new(at_once());
    let urls = numbered("a", 0..20);
    crawl.offer(&urls);
    let frontier = &mut crawl.frontier;
    let followed = urls.iter().filter(|text| {
        let record = crawl.store.lookup(&uri(text)).unwrap().unwrap();
        !frontier.repeats(&record, 7, false)
    });
    assert_eq!(followed.count(), 8);
    let first = crawl.store.lookup(&uri(&urls[0])).unwrap().unwrap();
    assert!(
        !frontier.repeats(&first, 7, false),
        "one of the first, again"
    );
}

#[test]
fn queue_serves_oldest_in_flood() {
    let mut crawl = Crawl::new(at_once());
    crawl.batch.urls = vec![Crawl::link("http://a.test/deep", 8)];
    crawl.commit();
    crawl.now_ms += 1;
    crawl.offer(&numbered("a", 0..1_000));
    let fetched = crawl.drain();
    assert_eq!(fetched.len(), 1_001);
    let at = fetched
        .iter()
        .position(|(_, url)| url.ends_with("/deep"))
        .unwrap();
    assert!(at < 20, "it came after {at} others");
}
