//! Moving a store into PostgreSQL and back: record by record the same, all of it or nothing.

use rusqlite::types::Value;

use super::on_postgres::{in_schema, server};
use super::records::offered;
use super::*;
use crate::store::backup::TABLES;
use taojin_uri::FingerprintKey;

/// Addresses of three domains and an address literal, with a port, twins and references across partitions.
const ADDRESSES: &[&str] = &[
    "http://www.oil.com.cn/1",
    "http://news.oil.com.cn:8080/2",
    "https://gas.example.org/3",
    "http://127.0.0.7:4000/4",
    "http://油.中国/5",
    "http://www.oil.com.cn/6",
];

/// Rows of the tables that no helper of these tests fills.
const MORE: &str = "
UPDATE url SET via = 3, alias_of = 1, target = 'http://gas.example.org/3', error = 'x' WHERE id = 2;
UPDATE url SET via = 1 WHERE id IN (3, 4, 5);
UPDATE site SET paused = 1, paused_ms = 5, cycles = 7, last_error = 'late', last_cycle_ms = 9;
UPDATE host SET not_before_ms = 77, ip = '127.0.0.1', crawl_delay_ms = 2000, last_error = 'reset', fetched = 3 WHERE id = 2;
INSERT INTO follow (name, asked, seq, fetched_ms, told_ms, log_seq) VALUES ('topic', '页岩气', 4, 5, NULL, 2);
INSERT INTO follow_hit (id, follow, fingerprint, delivery, state, change, known, later) VALUES (41, 'topic', -8, NULL, 0, 1, 1, NULL);
INSERT INTO template (id, site, version, learned_ms, pages, data) VALUES (9, 's', 2, 3, 4, x'00ff');
INSERT INTO template_page (id, site, template_id, url, seen_ms, seen, html) VALUES (6, 's', 9, 'http://a.cn/', 1, x'01', NULL);
INSERT INTO template_fit (site, matched, unmatched, note, note_ms) VALUES ('s', 1, 2, NULL, NULL);
INSERT INTO takedown (fingerprint, url, named, at_ms) VALUES (-5, 'http://a.cn/x', -5, 6);
INSERT INTO dictionary (id, made_at, data) VALUES (3, 4, x'beef');
";

/// A store in a file with something in every table.
fn filled(dir: &Path) -> Vec<String> {
    let mut store = Store::open(dir).unwrap();
    offer(&mut store, ADDRESSES);
    let pages = ADDRESSES[..3]
        .iter()
        .map(|text| {
            visited(
                &store,
                text,
                ADDRESSES[3],
                says(format!("{{\"text\":\"{text}\"}}")),
            )
        })
        .collect();
    commit_pages(&mut store, pages);
    let again = visited(
        &store,
        ADDRESSES[0],
        ADDRESSES[4],
        says("{\"text\":\"another\"}"),
    );
    commit_pages(&mut store, vec![again]);
    file(&store).execute_batch(MORE).unwrap();
    rows(&store)
}

/// The rows of all tables as text, with addresses in the place of their numbers.
fn rows(store: &Store) -> Vec<String> {
    let conn = file(store);
    let mut found = Vec::new();
    for table in TABLES {
        let names: Vec<String> = conn
            .prepare(&format!("SELECT name FROM pragma_table_info('{table}')"))
            .unwrap()
            .query_map([], |row| row.get(0))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        let values = names.iter().map(|name| match (table, name.as_str()) {
            ("url", "id" | "via" | "alias_of") => {
                format!("(SELECT a.url FROM url a WHERE a.id = x.{name})")
            }
            ("host", "id") => "authority".to_owned(),
            ("url" | "host_site", "host_id") => {
                format!("(SELECT h.authority FROM host h WHERE h.id = x.{name})")
            }
            _ => name.clone(),
        });
        let values: Vec<String> = values.collect();
        let mut select = conn
            .prepare(&format!("SELECT {} FROM {table} x", values.join(", ")))
            .unwrap();
        let all = select.query_map([], |row| {
            let values: Vec<Value> = (0..names.len()).map(|i| row.get(i).unwrap()).collect();
            Ok(format!("{table} {values:?}"))
        });
        found.extend(all.unwrap().map(Result::unwrap));
    }
    found.retain(|row| !row.starts_with("meta [Text(\"seen_upto\")"));
    found.sort();
    found
}

#[test]
fn move_round_trip() {
    let Some(server) = server("moving a store into PostgreSQL and back") else {
        return;
    };
    let dirs = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let [one, node, back] = [0, 1, 2].map(|i| dirs[i].path());
    let before = filled(one);
    for table in TABLES {
        assert!(
            before.iter().any(|row| row.starts_with(table)),
            "{table} is empty"
        );
    }
    let place = in_schema(node, &server.url());
    let mut told = CopyProgress { done: 0, all: 0 };
    let moved = import(one, &place, |at| told = at).unwrap();
    assert_eq!(moved.rows_of("url"), ADDRESSES.len() as u64);

    // It works there: known addresses are known, new rows of the crawl and of followers get numbers of their own.
    let mut store = Store::open(&place).unwrap();
    let found = store.lookup(&uri(ADDRESSES[1])).unwrap().unwrap();
    assert_eq!(part_of_row(found.id), partition(&uri(ADDRESSES[1])));
    assert_eq!(offer(&mut store, ADDRESSES).inserted, []);
    let own = store.cluster().first_share();
    store.take_share(&own).unwrap();
    assert_eq!(
        offer(&mut store, &["http://www.oil.com.cn/new"])
            .inserted
            .len(),
        1
    );
    // An address that was sent to another node and not taken up.
    let sent = Batch {
        foreign: vec![offered("http://else.example.net/sent")],
        ..Batch::default()
    };
    store.commit(&sent, NOW).unwrap();
    let refused = export(&place, back, |_| {}).unwrap_err().to_string();
    assert!(refused.contains("stop all nodes first"), "{refused}");
    drop(store);

    let refused = import(one, &place, |_| {}).unwrap_err().to_string();
    assert!(refused.contains("addresses already"), "{refused}");
    let moved = export(&place, back, |_| {}).unwrap();
    assert_eq!(moved.rows_of("document"), 4);
    let refused = export(&place, back, |_| {}).unwrap_err().to_string();
    assert!(refused.contains("name another folder"), "{refused}");

    let store = Store::open(back).unwrap();
    for new in ["http://www.oil.com.cn/new", "http://else.example.net/sent"] {
        assert!(store.lookup(&uri(new)).unwrap().is_some(), "{new}");
    }
    let sent = store.lookup(&uri("http://else.example.net/sent")).unwrap();
    let announced = sent.unwrap().announced.unwrap();
    assert_eq!(announced.name, "附件1", "it was kept on the way");
    let mut after = rows(&store);
    after.retain(|row| !row.contains("oil.com.cn/new") && !row.contains("else.example.net"));
    let is_count =
        |row: &&String| row.starts_with("counter") || row.starts_with("meta [Text(\"url_id\")");
    let left = |rows: &[String]| -> Vec<String> {
        let rows = rows.iter().filter(|row| !is_count(row));
        rows.cloned().collect()
    };
    for (now, then) in left(&after).iter().zip(left(&before)) {
        assert_eq!(*now, then);
    }
    assert_eq!(left(&after).len(), left(&before).len());
    let total = |name: &str| store.counts().unwrap().total(name);
    assert_eq!(total("urls"), ADDRESSES.len() as i64 + 2);
    assert_eq!(total("documents"), 3);
}

/// A store that was made before there were keys, whose documents keep their identifiers.
#[test]
fn move_without_key() {
    let Some(server) = server("moving a store without a key into PostgreSQL and back") else {
        return;
    };
    let dirs = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let [one, node, back] = [0, 1, 2].map(|i| dirs[i].path());
    let mut store = Store::open(one).unwrap();
    let delete = "DELETE FROM meta WHERE name LIKE 'fingerprint_key%'; PRAGMA user_version = 1";
    file(&store).execute_batch(delete).unwrap();
    drop(store);
    store = Store::open(one).unwrap();
    assert_eq!(store.addresses().key(), FingerprintKey::NONE);
    offer(&mut store, ADDRESSES);
    drop(store);
    let place = in_schema(node, &server.url());
    import(one, &place, |_| {}).unwrap();
    store = Store::open(&place).unwrap();
    assert_eq!(offer(&mut store, ADDRESSES).inserted, []);
    drop(store);
    export(&place, back, |_| {}).unwrap();
    store = Store::open(back).unwrap();
    assert_eq!(store.addresses().key(), FingerprintKey::NONE);
    assert_eq!(offer(&mut store, ADDRESSES).inserted, []);
}

#[test]
fn move_refusal_changes_nothing() {
    let Some(server) = server("moves that are refused") else {
        return;
    };
    let dirs = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let [one, node, empty] = [0, 1, 2].map(|i| dirs[i].path());
    let before = filled(one);
    let place = in_schema(node, &server.url());
    assert!(matches!(
        import(empty, &place, |_| {}),
        Err(StoreError::Missing { .. })
    ));
    let missing = export(&place, empty, |_| {}).unwrap_err();
    assert!(matches!(missing, StoreError::Missing { .. }), "{missing}");
    let at_work = Store::open(one).unwrap();
    assert!(matches!(
        import(one, &place, |_| {}),
        Err(StoreError::Locked { .. })
    ));
    drop(at_work);

    // A row that the database refuses: nothing of the others is there afterwards.
    let broken = Store::open(one).unwrap();
    file(&broken)
        .execute_batch("INSERT INTO takedown (fingerprint, url, named, at_ms) VALUES (1, 'http://a.cn/y', 'no number', 6)")
        .unwrap();
    drop(broken);
    let refused = import(one, &place, |_| {}).unwrap_err();
    assert!(!refused.to_string().contains('\n'), "{refused}");
    let mended = Store::open(one).unwrap();
    file(&mended)
        .execute_batch("DELETE FROM takedown WHERE fingerprint = 1")
        .unwrap();
    assert_eq!(rows(&mended), before);
    drop(mended);
    import(one, &place, |_| {}).unwrap();
}

#[test]
fn database_facts_of_tables() {
    let Some(server) = server("facts of a database") else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let place = in_schema(dir.path(), &server.url());
    let before = DatabaseFacts::read(&place, || NOW).unwrap();
    assert_eq!(
        (before.tables, before.nodes, before.is_durable),
        (0, 0, false)
    );
    assert!(
        before.ahead_ms < -1_000_000,
        "the clock of this test is in the future"
    );
    assert!(DatabaseFacts::set_up(&place).unwrap());
    assert!(!DatabaseFacts::set_up(&place).unwrap());
    let after = DatabaseFacts::read(&place, || NOW).unwrap();
    assert_eq!(after.tables, after.tables_known);
}
