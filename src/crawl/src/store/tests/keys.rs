//! The exact set of known addresses: newest fingerprints in memory, sorted ones on their way, old ones in runs.

use std::collections::{BTreeMap, BTreeSet};

use super::super::runs::{self, Entry, Merge, Run};
use super::*;

/// Keys in memory before they are sorted.
const LIMIT: usize = 50;

fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

fn address(n: u64) -> String {
    format!("http://h{}.cn/{n}", n % 5)
}

fn max_pages(store: &Store, pages: i64) {
    file(store)
        .pragma_update_and_check(None, "max_page_count", pages, |row| row.get::<_, i64>(0))
        .unwrap();
}

fn number(store: &Store, sql: &str) -> i64 {
    file(store).query_row(sql, [], |row| row.get(0)).unwrap()
}

/// Every address of the model and no other is known, to the writing side and next to it.
fn check(store: &Store, model: &BTreeSet<u64>, most: u64) {
    let uris: Vec<CrawlUri> = (0..most).map(|n| uri(&address(n))).collect();
    let free = store
        .addresses()
        .free(&uris.iter().collect::<Vec<_>>())
        .unwrap();
    let known: Vec<bool> = free.iter().map(Option::is_none).collect();
    let expected: Vec<bool> = (0..most).map(|n| model.contains(&n)).collect();
    assert_eq!(known, expected);
    let reader = store.reader().unwrap();
    for n in (0..most).step_by(17) {
        let found = reader.lookup(&uri(&address(n))).unwrap();
        assert_eq!(found.is_some(), model.contains(&n), "{n}");
    }
    let rows = number(store, "SELECT count(*) FROM url");
    assert_eq!(rows, i64::try_from(model.len()).unwrap());
}

#[test]
fn keys_survive_failures() {
    let mut state = 0x5eed_u64;
    let (mut dir, most) = (tempfile::tempdir().unwrap(), 1_500);
    let mut store = Store::open(dir.path()).unwrap();
    store.keys.limit = LIMIT;
    let mut model = BTreeSet::new();
    for round in 0..120 {
        let offered: Vec<u64> = (0..next(&mut state) % 40)
            .map(|_| next(&mut state) % most)
            .collect();
        let texts: Vec<String> = offered.iter().map(|n| address(*n)).collect();
        let batch = Batch {
            urls: texts.iter().map(|t| link(t)).collect(),
            ..Batch::default()
        };
        if round % 7 == 3 {
            max_pages(&store, 1);
            let failed = store.commit(&batch, NOW).is_err();
            max_pages(&store, 1 << 30);
            if !failed {
                model.extend(offered.iter().copied());
            }
        }
        let before = model.len();
        let done = store.commit(&batch, NOW).unwrap();
        model.extend(offered);
        assert_eq!(done.inserted.len(), model.len() - before);
        if round % 10 == 9 {
            // What a killed process leaves: nothing was closed.
            let copy = copy_of(dir.path());
            drop(store);
            dir = copy;
            store = Store::open(dir.path()).unwrap();
            store.keys.limit = LIMIT;
            check(&store, &model, most);
        }
    }
    check(&store, &model, most);
    let mut in_runs = 0;
    runs::for_each(file(&store), |_| in_runs += 1).unwrap();
    assert!(in_runs > 500, "the test must fill runs");
    let merged = number(&store, "SELECT max(entries) FROM seen_run");
    assert!(merged >= 4 * LIMIT as i64, "the test must merge runs");
    assert_eq!(forget_site(&mut store), model.len());
    check(&store, &BTreeSet::new(), most);
}

/// Makes one run of others, a few entries at a time.
fn complete(store: &Store, mut merge: Merge) -> Run {
    while !merge.step(file(store), 7).unwrap() {}
    let run = merge.run;
    file(store)
        .execute(
            "INSERT INTO seen_run VALUES (?1, ?2)",
            [run.id, run.entries],
        )
        .unwrap();
    run
}

#[test]
fn runs_merge_keeps_rows() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let tx = file(&store).unchecked_transaction().unwrap();
    let (mut state, mut model) = (7, BTreeMap::new());
    let mut parts = Vec::new();
    for id in 1..=5 {
        let mut new: Vec<Entry> = (0..400).map(|i| (next(&mut state), i << 24 | id)).collect();
        // An address that was forgotten and found again, many that differ in the last bits only, and both ends.
        new.extend(model.iter().take(9).map(|(hash, _)| (*hash, 1 << 39)));
        new.extend((0..400).map(|i| (77 << 17 | (i * 5 + id).cast_unsigned(), id)));
        new.extend([
            (id.cast_unsigned() - 1, id),
            (u64::MAX - id.cast_unsigned(), id),
        ]);
        new.sort_unstable();
        new.dedup_by_key(|(hash, _)| *hash);
        model.extend(new.iter().copied());
        parts.push(complete(&store, Merge::of_entries(id, new)));
    }
    for run in &parts {
        file(&store)
            .execute("DELETE FROM seen_run WHERE run = ?1", [run.id])
            .unwrap();
    }
    let run = complete(&store, Merge::of_runs(runs::LAST_RUN, &parts));
    assert_eq!(runs::live(file(&store)).unwrap(), [run]);
    assert_eq!(run.entries, i64::try_from(model.len()).unwrap());
    assert_eq!(
        runs::with_blocks(file(&store)).unwrap(),
        [1, 2, 3, 4, 5, runs::LAST_RUN]
    );
    for part in &parts {
        while !runs::clear(file(&store), part.id, 2).unwrap() {}
    }
    assert_eq!(runs::with_blocks(file(&store)).unwrap(), [runs::LAST_RUN]);
    let gone: Vec<u64> = model.keys().copied().step_by(3).collect();
    for hash in &gone {
        runs::remove(file(&store), &[run], *hash).unwrap();
        model.remove(hash);
    }
    let mut found = Vec::new();
    runs::for_each(file(&store), |hash| found.push(hash)).unwrap();
    assert_eq!(found, model.keys().copied().collect::<Vec<_>>());
    for hash in gone.iter().chain(model.keys()) {
        for hash in [*hash, hash ^ 1] {
            let at = runs::find(file(&store), run.id, hash).unwrap();
            assert_eq!(at, model.get(&hash).copied());
        }
    }
    let sizes = "SELECT count(*) FROM seen WHERE length(entries) <= 300 * 13";
    assert!(number(&store, sizes) > 5);
    tx.commit().unwrap();
}

#[test]
fn row_numbers_are_unique() {
    let (dir, mut store) = new_store();
    let first = offer(&mut store, &["http://a.cn/1", "http://a.cn/2"]);
    assert_eq!(forget_site(&mut store), 2);
    drop(store);
    let mut store = Store::open(dir.path()).unwrap();
    assert!(store.lookup(&uri("http://a.cn/1")).unwrap().is_none());
    let second = offer(&mut store, &["http://a.cn/2", "http://a.cn/3"]);
    assert_eq!(second.inserted.len(), 2);
    assert!(second.inserted[0].due.id > first.inserted[1].due.id);
}
