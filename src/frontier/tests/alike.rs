//! Pages that hardly differ, and the turns of sections and of what waits long.

use super::*;

#[test]
fn a_form_whose_pages_are_all_alike_is_followed_no_further() {
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
fn a_trap_is_known_after_a_crash_and_a_damaged_file_forgets_it() {
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
fn a_query_that_grows_over_the_same_page_is_followed_no_further() {
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
fn articles_of_one_form_are_no_trap_however_many() {
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
fn what_waits_longest_gets_its_turn_before_a_flood_of_better_ones_ends() {
    let mut crawl = Crawl::new(at_once());
    crawl.batch.urls = vec![Crawl::link("http://a.test/deep", 8)];
    crawl.commit();
    crawl.now_ms += 1;
    let flood: Vec<String> = (0..1_000).map(|i| format!("http://a.test/{i}")).collect();
    crawl.offer(&flood.iter().map(String::as_str).collect::<Vec<_>>());
    let fetched = crawl.drain();
    assert_eq!(fetched.len(), 1_001);
    let at = fetched
        .iter()
        .position(|(_, url)| url.ends_with("/deep"))
        .unwrap();
    assert!(at < 20, "it came after {at} others");
}

#[test]
fn the_sections_of_a_host_take_turns_when_it_has_several_queues() {
    let mut crawl = Crawl::new(at_once());
    let mut scope = SiteScope::new("s", &["*.test"]);
    scope.parallel_queues = 8;
    let a = "http://a.test/forum/".to_owned();
    let others = ["news", "blog", "data", "video"].map(|s| format!("http://a.test/{s}/"));
    let queue = |text: &String| queue_key(&uri(text), 8);
    let b = others.iter().find(|b| queue(b) != queue(&a)).unwrap();
    crawl
        .frontier
        .set_sites(&mut crawl.store, &[scope], crawl.now_ms)
        .unwrap();
    let forum = (0..200).map(|i| format!("{a}{i}"));
    let texts: Vec<String> = forum.chain((0..10).map(|i| format!("{b}{i}"))).collect();
    crawl.offer(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    let fetched = crawl.drain();
    assert_eq!(fetched.len(), 210);
    let last = fetched
        .iter()
        .rposition(|(_, url)| url.starts_with(b.as_str()))
        .unwrap();
    assert!(last < 100, "the small section ended after {last} pages");
}

#[test]
fn shards_share_out_hosts_and_leave_none_out() {
    let hosts: Vec<String> = (0..60).map(|i| format!("http://h{i}.test/")).collect();
    let texts: Vec<&str> = hosts.iter().map(String::as_str).collect();
    let mut taken = 0;
    for shard in 0..3 {
        let mut crawl = Crawl::new(Config {
            shards: 3,
            shard,
            ..at_once()
        });
        let report = crawl.offer(&texts);
        let others = report
            .refused
            .get(&Refusal::OtherShard)
            .copied()
            .unwrap_or(0);
        assert_eq!(report.new_urls + others, 60);
        assert!((10..30).contains(&report.new_urls), "{}", report.new_urls);
        taken += report.new_urls;
    }
    assert_eq!(taken, 60);
}
