//! Records, cycles, sites.

use super::*;

#[test]
fn record_round_trip() {
    let (_dir, mut store) = new_store();
    offer(&mut store, &["http://a.cn/1"]);
    let new = known(&store, "http://a.cn/1");
    assert_eq!(
        (new.visit.state, new.first_seen_ms, &*new.site),
        (UrlState::New, NOW, "s")
    );
    assert_eq!(new.visit.due_ms, Some(NOW));
    let page = visited(&store, "http://a.cn/1", "http://b.cn/2", says("{}"));
    let done = commit_pages(&mut store, vec![page.clone()]);
    assert_eq!(done.inserted.len(), 1);
    let record = store.url(new.id).unwrap().unwrap();
    assert_eq!(record.visit, page.visit);
    let found = known(&store, "http://b.cn/2");
    assert_eq!(found.via, Some(new.id));
    assert_eq!(store.lookup(&uri("http://c.cn/")).unwrap(), None);
    assert_eq!(store.host("b.cn").unwrap().unwrap().next_due_ms, Some(NOW));
}

#[test]
fn statement_stays_compiled() {
    let (_dir, store) = new_store();
    let file = store.conn.sqlite().expect("SQLite");
    let sql = "SELECT id FROM url WHERE host_id = ?1 LIMIT ?2";
    let mut statement = file.prepare(sql).unwrap();
    for limit in 1..4 {
        let mut rows = statement.query([1, limit]).unwrap();
        assert!(rows.next().unwrap().is_none());
    }
    assert_eq!(
        statement.get_status(rusqlite::StatementStatus::RePrepare),
        0
    );
}

pub(super) fn offered(text: &str) -> NewUrl {
    NewUrl {
        class: UrlClass::Attachment,
        announced: Some(Box::new(Announcement {
            name: "附件1".to_owned(),
            page_url: "http://a.cn/1".to_owned(),
            page_title: Some("通知".to_owned()),
            published: None,
            listed: None,
        })),
        ..link(text)
    }
}

#[test]
fn known_address_takes_day_of_list() {
    let (_dir, mut store) = new_store();
    let listed = |day: &str| {
        Box::new(Announcement {
            page_url: "http://a.cn/feed".to_owned(),
            listed: Some(day.to_owned()),
            ..Announcement::default()
        })
    };
    let page = link("http://a.cn/7");
    let address = page.uri.clone();
    let first = Batch {
        urls: vec![page],
        announced: vec![
            (address.clone(), listed("2026-06-03")),
            (uri("http://a.cn/never"), listed("2026-06-04")),
        ],
        ..Batch::default()
    };
    store.commit(&first, NOW).unwrap();
    let later = Batch {
        announced: vec![(address, listed("2026-06-09"))],
        ..Batch::default()
    };
    store.commit(&later, NOW).unwrap();
    let known = known(&store, "http://a.cn/7").announced;
    assert_eq!(known, Some(listed("2026-06-03")), "the first stays");
}

#[test]
fn attachment_keeps_what_its_page_says() {
    let (dir, mut store) = new_store();
    let file = offered("http://a.cn/1.pdf");
    let batch = Batch {
        urls: vec![file.clone()],
        ..Batch::default()
    };
    store.commit(&batch, NOW).unwrap();
    assert_eq!(known(&store, "http://a.cn/1.pdf").announced, file.announced);
    // A store of before has no place for it, and gains one.
    let sql = "ALTER TABLE url DROP COLUMN announced";
    store.conn.run_script(sql).unwrap();
    drop(store);
    let mut store = Store::open(dir.path()).unwrap();
    assert_eq!(known(&store, "http://a.cn/1.pdf").announced, None);
    let file = offered("http://a.cn/2.pdf");
    let batch = Batch {
        urls: vec![file.clone()],
        ..Batch::default()
    };
    store.commit(&batch, NOW).unwrap();
    assert_eq!(known(&store, "http://a.cn/2.pdf").announced, file.announced);
}

#[test]
fn commit_adds_urls_once() {
    let (_dir, mut store) = new_store();
    let first = offer(
        &mut store,
        &["http://a.cn/1", "http://a.cn/2", "http://a.cn/1"],
    );
    assert_eq!(first.inserted.len(), 2);
    let second = offer(&mut store, &["http://a.cn/2"]);
    assert_eq!(second.inserted.len(), 0);
    let page = visited(&store, "http://a.cn/1", "http://a.cn/2", says("{}"));
    commit_pages(&mut store, vec![page]);
    let counts = store.counts().unwrap();
    let all: Vec<i64> = ["urls", "new", "fetched", "documents"]
        .iter()
        .map(|name| counts.total(name))
        .collect();
    assert_eq!(all, [2, 1, 1, 1]);
    assert_eq!(counts.hosts, 1);
}

#[test]
fn due_urls_are_ordered() {
    let (_dir, mut store) = new_store();
    let mut batch = Batch::default();
    for (text, rank, due_ms) in [
        ("http://a.cn/late", 1, NOW + 5),
        ("http://a.cn/second", 1, NOW - 1),
        ("http://a.cn/third", 1, NOW - 1),
        ("http://a.cn/last", 12, NOW - 100),
        ("http://a.cn/first", 0, NOW),
        ("http://a.cn/held", 0, HELD_MS),
    ] {
        batch.urls.push(NewUrl {
            rank,
            due_ms: Some(due_ms),
            ..link(text)
        });
    }
    store.commit(&batch, NOW).unwrap();
    let host = store.host("a.cn").unwrap().unwrap().id;
    let due = store.due(host, NOW, 10).unwrap();
    let names: Vec<String> = due
        .iter()
        .map(|d| store.url(d.id).unwrap().unwrap().uri.path().to_owned())
        .collect();
    assert_eq!(names, ["/first", "/second", "/third", "/last"]);
    assert_eq!(store.due(host, NOW, 2).unwrap(), due[..2]);
    assert_eq!(store.next_due(host, Some(NOW)).unwrap(), Some(NOW + 5));
    assert_eq!(
        store.hosts_due(&[], &Partitions::ALL, NOW, 10).unwrap(),
        [host]
    );
    assert!(
        store
            .hosts_due(&[], &Partitions::ALL, NOW - 101, 10)
            .unwrap()
            .is_empty()
    );
}

#[test]
fn reader_sees_commits() {
    let (dir, mut store) = new_store();
    let reader = store.reader().unwrap();
    assert_eq!(reader.counts().unwrap().total("urls"), 0);
    offer(&mut store, &["http://a.cn/1"]);
    assert_eq!(reader.counts().unwrap().total("urls"), 1);
    assert!(reader.lookup(&uri("http://a.cn/1")).unwrap().is_some());
    let id = known(&store, "http://a.cn/1").id;
    assert_eq!(&*reader.url(id).unwrap().unwrap().site, "s");
    drop(store);
    let alone = Reader::open(dir.path()).unwrap();
    assert_eq!(alone.counts().unwrap().total("urls"), 1);
}

/// Loss of power: the log ends anywhere. What is there is the state after some commit, and no commit that ended
/// before the cut is missing.
#[test]
fn begin_cycle_makes_due() {
    let (_dir, mut store) = new_store();
    let mut batch = Batch::default();
    for (text, class) in [
        ("http://a.cn/", UrlClass::Seed),
        ("http://a.cn/quiet", UrlClass::Hub),
        ("http://a.cn/busy", UrlClass::Hub),
        ("http://a.cn/gone", UrlClass::Hub),
        ("http://a.cn/x", UrlClass::Article),
    ] {
        batch.urls.push(NewUrl {
            class,
            ..link(text)
        });
    }
    store.commit(&batch, NOW).unwrap();
    let mut pages = Vec::new();
    for (text, class, state, interval_ms) in [
        ("http://a.cn/", UrlClass::Seed, UrlState::Failed, 999_999),
        (
            "http://a.cn/quiet",
            UrlClass::Hub,
            UrlState::Fetched,
            999_999,
        ),
        ("http://a.cn/busy", UrlClass::Hub, UrlState::Fetched, 0),
        ("http://a.cn/gone", UrlClass::Hub, UrlState::Gone, 0),
        ("http://a.cn/x", UrlClass::Article, UrlState::Fetched, 0),
    ] {
        let mut page = visited(&store, text, "http://a.cn/", DocOp::Delete);
        page.visit.class = class;
        page.visit.state = state;
        page.visit.interval_ms = interval_ms;
        page.visit.due_ms = None;
        pages.push(page);
    }
    commit_pages(&mut store, pages);
    assert_eq!(
        store
            .begin_cycle(&site(), &Partitions::ALL, 0, NOW + 1_000)
            .unwrap(),
        2
    );
    let host = store.host("a.cn").unwrap().unwrap().id;
    let due = store.due(host, NOW + 1_000, 10).unwrap();
    let id = |text| known(&store, text).id;
    let expected = [id("http://a.cn/"), id("http://a.cn/busy")];
    assert_eq!(due.iter().map(|d| d.id).collect::<Vec<_>>(), expected);
    let record = store.site("s").unwrap().unwrap();
    assert_eq!(
        (record.cycles, record.last_cycle_ms),
        (1, Some(NOW + 1_000))
    );
    assert_eq!(store.recheck_articles(&site(), 12, NOW + 2_000).unwrap(), 0);
}

#[test]
fn forgotten_site_leaves_deletes() {
    let (_dir, mut store) = new_store();
    offer(&mut store, &["http://a.cn/1", "http://a.cn/2"]);
    let other: Arc<str> = Arc::from("other");
    let batch = Batch {
        urls: vec![NewUrl::link(uri("http://a.cn/kept"), &other, 1)],
        ..Batch::default()
    };
    store.commit(&batch, NOW).unwrap();
    let page = visited(&store, "http://a.cn/1", "http://a.cn/2", says("{}"));
    commit_pages(&mut store, vec![page]);
    assert_eq!(forget_site(&mut store), 2);
    assert_eq!(forget_site(&mut store), 0);
    let rows = store.documents_after(1, 10).unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!((rows[0].seq, rows[0].body.is_none()), (2, true));
    assert!(store.lookup(&uri("http://a.cn/1")).unwrap().is_none());
    assert!(store.lookup(&uri("http://a.cn/kept")).unwrap().is_some());
    let names: Vec<String> = store
        .sites()
        .unwrap()
        .iter()
        .map(|s| s.name.to_string())
        .collect();
    assert_eq!(names, ["other"]);
    offer(&mut store, &["http://a.cn/1"]);
    assert!(store.lookup(&uri("http://a.cn/1")).unwrap().is_some());
}

#[test]
fn forgotten_site_ignores_late_page() {
    let (_dir, mut store) = new_store();
    offer(&mut store, &["http://a.cn/1"]);
    let page = visited(&store, "http://a.cn/1", "http://a.cn/2", says("{}"));
    forget_site(&mut store);
    let done = commit_pages(&mut store, vec![page]);
    assert_eq!(done.document_seq, 0);
    assert!(done.inserted.is_empty(), "its link came back");
    assert!(store.site("s").unwrap().is_none());
    assert!(store.documents_after(0, 10).unwrap().is_empty());
}

/// The page of `text` as a visit leaves it, with a document that says `content`, or as another's alias.
fn tied(store: &Store, text: &str, content: Option<u64>, alias_of: Option<UrlId>) -> FinishedPage {
    let op = says("{}");
    let mut page = visited(store, text, text, op);
    page.visit.content = content;
    page.visit.alias_of = alias_of;
    page.visit.documented = alias_of.is_none() && content.is_some();
    page
}

#[test]
fn aliases_released_on_change() {
    for (content, documented, released) in [
        (Some(5), true, vec![]),
        (Some(6), true, vec!["http://a.cn/2"]),
        (None, false, vec!["http://a.cn/2", "http://a.cn/3"]),
    ] {
        let (_dir, mut store) = new_store();
        offer(
            &mut store,
            &["http://a.cn/1", "http://a.cn/2", "http://a.cn/3"],
        );
        let first = known(&store, "http://a.cn/1").id;
        let pages = vec![
            tied(&store, "http://a.cn/1", Some(5), None),
            tied(&store, "http://a.cn/2", Some(5), Some(first)),
            tied(&store, "http://a.cn/3", None, Some(first)),
        ];
        commit_pages(&mut store, pages);
        assert_eq!(store.aliases(first).unwrap().len(), 2);
        let related = |content| {
            let third = uri("http://a.cn/3");
            store.relatives(&third, "s", content).unwrap().alike
        };
        assert_eq!((related(5), related(6)), (vec![first], vec![]));
        let mut page = tied(&store, "http://a.cn/1", content, None);
        page.visit.documented = documented;
        let done = commit_pages(&mut store, vec![page]);
        let found: Vec<String> = done
            .released
            .iter()
            .map(|(_, due)| store.url(due.id).unwrap().unwrap())
            .inspect(|r| assert_eq!((r.visit.etag.as_ref(), r.visit.digest), (None, None)))
            .map(|r| r.uri.to_string())
            .collect();
        assert_eq!(found, released, "{content:?}");
        assert_eq!(store.aliases(first).unwrap().len(), 2 - released.len());
    }
}

#[test]
fn superseded_document_moves_aliases() {
    let (_dir, mut store) = new_store();
    offer(
        &mut store,
        &["http://a.cn/1", "http://a.cn/2", "http://a.cn/3"],
    );
    let id = |store: &Store, text: &str| known(store, text).id;
    let first = id(&store, "http://a.cn/1");
    let mut naming = tied(&store, "http://a.cn/1", Some(5), None);
    naming.visit.target = Some("http://a.cn/3".to_owned());
    let alias = tied(&store, "http://a.cn/2", Some(5), Some(first));
    commit_pages(&mut store, vec![naming, alias]);
    let third = uri("http://a.cn/3");
    assert_eq!(store.naming(&third).unwrap(), [first]);
    let related = store.relatives(&third, "s", 5).unwrap();
    assert_eq!(
        (related.naming, related.alike),
        (vec![first], vec![first]),
        "named, and of the same text"
    );
    let mut canonical = tied(&store, "http://a.cn/3", Some(6), None);
    canonical.yielding = vec![first];
    commit_pages(&mut store, vec![canonical]);
    let third = id(&store, "http://a.cn/3");
    assert_eq!(
        store.aliases(third).unwrap(),
        [first, id(&store, "http://a.cn/2")]
    );
    assert_eq!(
        store.naming(&uri("http://a.cn/3")).unwrap(),
        Vec::<UrlId>::new()
    );
    let counts = store.counts().unwrap();
    assert_eq!(
        (counts.total("documents"), counts.total("checked_s")),
        (1, NOW / 1000)
    );
    let last = store.documents_after(0, 10).unwrap().pop().unwrap();
    assert_eq!(
        (last.fingerprint, last.body.is_none()),
        (fingerprint(&store, "http://a.cn/1"), true)
    );
}

/// A crawl that ran while the clock was a year ahead leaves no moment that the next one would wait a year for.
#[test]
fn clock_ahead_is_cut() {
    const YEAR: i64 = 365 * 86_400_000;
    let (_dir, mut store) = new_store();
    offer(&mut store, &["http://a.cn/1"]);
    let longest_ms = 2_000;
    assert_eq!(store.set_clock_right(NOW, longest_ms).unwrap(), None);
    let mut page = visited(&store, "http://a.cn/1", "http://a.cn/2", says("{}"));
    page.visit.due_ms = Some(NOW + YEAR + 5);
    page.visit.interval_ms = 5;
    let mut host = store.host("a.cn").unwrap().unwrap();
    host.not_before_ms = NOW + YEAR + 1_000;
    let batch = Batch {
        pages: vec![page],
        hosts: vec![host],
        ..Batch::default()
    };
    store.commit(&batch, NOW + YEAR).unwrap();
    let found = known(&store, "http://a.cn/2");
    assert_eq!(found.visit.due_ms, Some(NOW + YEAR));

    assert_eq!(store.set_clock_right(NOW, longest_ms).unwrap(), Some(YEAR));
    let due = |url: &str| known(&store, url).visit.due_ms;
    assert_eq!(due("http://a.cn/1"), Some(NOW + 5));
    assert_eq!(due("http://a.cn/2"), Some(NOW), "never visited");
    let host = store.host("a.cn").unwrap().unwrap();
    assert_eq!(host.not_before_ms, NOW + 1_000);
    assert_eq!(
        store
            .hosts_due(&[], &Partitions::ALL, NOW + 1_000, 9)
            .unwrap()
            .len(),
        1
    );
    assert_eq!(
        store.set_clock_right(NOW, longest_ms).unwrap(),
        None,
        "done"
    );
}

#[test]
fn holder_while_open() {
    let (dir, store) = new_store();
    let found = holder(dir.path()).expect("the store is open");
    assert_eq!(found.pid, std::process::id());
    assert!(found.since_ms > 1_700_000_000_000);
    drop(store);
    // The lock file stays, and nobody holds it.
    assert_eq!(holder(dir.path()), None);
    assert_eq!(holder(&dir.path().join("missing")), None);
}
