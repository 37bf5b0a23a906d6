//! Asking for one URL: ahead of the queue, and never sooner than its host may be asked.

use super::*;

fn politely() -> Config {
    Config {
        min_delay_ms: 1_000,
        max_delay_ms: 1_000,
        jitter: 0.0,
        ..Config::default()
    }
}

fn ask(crawl: &mut Crawl, text: &str) -> LeaseOutcome {
    let id = crawl.store.lookup(&uri(text)).unwrap().unwrap().id;
    crawl
        .frontier
        .lease_now(&crawl.store, id, crawl.now_ms)
        .unwrap()
}

#[test]
fn lease_now_overtakes_queue() {
    let mut crawl = Crawl::new(politely());
    crawl.offer(&numbered("a", 0..50));
    let answered = FetchReport::new(VisitOutcome::Page, 10);
    let LeaseOutcome::Fetch(lease) = ask(&mut crawl, "http://a.test/40") else {
        panic!("it may be fetched");
    };
    // One connection a host: nothing else meanwhile, whoever asks.
    assert_eq!(ask(&mut crawl, "http://a.test/40"), LeaseOutcome::UnderWay);
    let soon = crawl.now_ms + 100;
    assert_eq!(
        ask(&mut crawl, "http://a.test/41"),
        LeaseOutcome::Later(soon)
    );
    assert!(!matches!(crawl.next(), Next::Fetch(_)));
    crawl.finish(&lease, &answered);
    let rested = crawl.now_ms + 1_000;
    assert_eq!(
        ask(&mut crawl, "http://a.test/41"),
        LeaseOutcome::Later(rested)
    );
    crawl.commit();
    crawl.now_ms = rested;
    let LeaseOutcome::Fetch(lease) = ask(&mut crawl, "http://a.test/41") else {
        panic!("its host has rested");
    };
    crawl.finish(&lease, &answered);
    crawl.commit();
    // All others come once, at their pace.
    let fetched = crawl.drain();
    assert_eq!(fetched.len(), 48, "{fetched:?}");
    assert!(fetched.windows(2).all(|two| two[1].0 - two[0].0 >= 1_000));
}

#[test]
fn lease_refuses_taken_down_url() {
    let mut crawl = Crawl::new(at_once());
    crawl.offer(&["http://a.test/1", "http://a.test/2"]);
    let gone = uri("http://a.test/1");
    crawl.store.purge().page(&gone, crawl.now_ms).unwrap();
    crawl.frontier.takedowns().add([gone.to_string()]);
    assert_eq!(ask(&mut crawl, "http://a.test/1"), LeaseOutcome::Never);
    let never = uri("http://a.test/never");
    crawl.store.purge().page(&never, crawl.now_ms).unwrap();
    // As after a restart.
    let mut crawl = crawl.reopen();
    let report = crawl.offer(&["http://a.test/1", "http://a.test/never"]);
    assert_eq!(report.refused.get(&Refusal::TakenDown), Some(&2));
    let now = crawl.now_ms;
    crawl.begin_cycle();
    let fetched: Vec<String> = crawl.drain().into_iter().map(|(_, url)| url).collect();
    assert_eq!(fetched, ["http://a.test/2"]);

    crawl.store.purge().allow(&gone, now).unwrap();
    crawl.frontier.allow_again([gone.as_str()]);
    let fetched: Vec<String> = crawl.drain().into_iter().map(|(_, url)| url).collect();
    assert_eq!(fetched, ["http://a.test/1"]);
}

/// An operator has told another node, which has stored it.
#[test]
fn takedown_of_another_node_is_obeyed() {
    let mut crawl = Crawl::new(at_once());
    crawl.offer(&["http://a.test/1"]);
    let gone = uri("http://a.test/1");
    let gate = crawl.frontier.takedowns().clone();
    crawl.store.purge().page(&gone, crawl.now_ms).unwrap();
    assert!(!gate.contains(&gone));
    crawl.frontier.read_sites(&crawl.store).unwrap();
    assert!(gate.contains(&gone), "the gate has the same set");
    assert_eq!(ask(&mut crawl, "http://a.test/1"), LeaseOutcome::Never);

    let now = crawl.now_ms;
    crawl.store.purge().allow(&gone, now).unwrap();
    crawl.frontier.read_sites(&crawl.store).unwrap();
    assert_eq!(crawl.drain().len(), 1);
}

#[test]
fn lease_waits_for_paused_site() {
    let mut crawl = Crawl::new(at_once());
    crawl.offer(&["http://a.test/1", "http://a.test/2"]);
    let site: Arc<str> = Arc::from("s");
    let now = crawl.now_ms;
    crawl
        .store
        .set_operator_pause(&site, Some(now), now)
        .unwrap();
    let mut crawl = crawl.reopen();
    assert_eq!(ask(&mut crawl, "http://a.test/1"), LeaseOutcome::Never);
    assert!(crawl.drain().is_empty());
    crawl.store.set_operator_pause(&site, None, now).unwrap();
    let mut crawl = crawl.reopen();
    assert_eq!(crawl.drain().len(), 2);
}

#[test]
fn offer_after_purge_is_new() {
    let mut crawl = Crawl::new(at_once());
    crawl.offer(&["http://a.test/1"]);
    assert_eq!(crawl.drain().len(), 1);
    // Known for certain, so that the store is not asked again.
    assert_eq!(crawl.offer(&["http://a.test/1"]).seen, 1);
    crawl.store.purge().site("s", true, &[], 0, |_| {}).unwrap();
    crawl.frontier.rows_are_gone();
    assert_eq!(crawl.offer(&["http://a.test/1"]).new_urls, 1);
    assert_eq!(crawl.drain().len(), 1);
}
