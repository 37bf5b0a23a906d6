//! The log of documents: numbers, versions, forgetting.

use super::*;
use crate::store::{Change, DocumentRow, Retention};

const DAY_MS: i64 = 86_400_000;

fn put(store: &mut Store, fingerprint: u64, op: DocOp) -> i64 {
    change_document(store, fingerprint, op, NOW)
}

fn bodies(store: &Store, rows: &[DocumentRow]) -> Vec<Option<String>> {
    assert!(rows.iter().all(|row| row.url == "http://a.cn/"));
    rows.iter()
        .map(|row| store.body(row).unwrap())
        .map(|body| body.map(|b| String::from_utf8(b).unwrap()))
        .collect()
}

fn said(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn log_numbers_are_unique() {
    let (dir, mut store) = new_store();
    assert_eq!(put(&mut store, 1, says("a")), 1);
    assert_eq!(put(&mut store, 2, says("b")), 2);
    assert_eq!(put(&mut store, 2, DocOp::Delete), 3);
    store.set_retention(Retention {
        tombstone_days: 1,
        ..Retention::default()
    });
    let later = NOW + 2 * DAY_MS;
    assert_eq!(store.forget_old_documents(later).unwrap(), 1);
    drop(store);
    let mut store = Store::open(dir.path()).unwrap();
    assert_eq!(store.last_document_seq().unwrap(), 3);
    assert_eq!(put(&mut store, 3, says("c")), 4);
}

#[test]
fn log_ignores_absent_delete() {
    let (_dir, mut store) = new_store();
    assert_eq!(put(&mut store, 1, DocOp::Delete), 0);
    put(&mut store, 1, says("a"));
    assert_eq!(put(&mut store, 1, DocOp::Delete), 2);
    assert_eq!(put(&mut store, 1, DocOp::Delete), 2);
}

#[test]
fn log_lists_latest_change() {
    let (_dir, mut store) = new_store();
    put(&mut store, 1, says("a1"));
    put(&mut store, 2, says("b1"));
    put(&mut store, 1, says("a2"));
    put(&mut store, 3, says("c1"));
    put(&mut store, 2, DocOp::Delete);
    let all = store.documents_after(0, 10).unwrap();
    assert_eq!(all.iter().map(|r| r.seq).collect::<Vec<_>>(), [3, 4, 5]);
    assert_eq!(bodies(&store, &all), [said("a2"), said("c1"), None]);
    let changes = |since: i64| -> Vec<Change> {
        let rows = store.documents_after(since, 10).unwrap();
        rows.iter().map(|row| row.change_since(since)).collect()
    };
    assert_eq!(changes(0), [Change::New, Change::New, Change::Deleted]);
    assert_eq!(changes(2), [Change::Changed, Change::New, Change::Deleted]);
    assert_eq!(store.documents_after(0, 2).unwrap().len(), 2);
    assert_eq!(store.documents_waiting(3).unwrap(), 2);
    assert_eq!(store.present_documents().unwrap(), 2);
    assert_eq!(store.present_between(0, 5).unwrap(), [(1, 3), (3, 4)]);
    assert_eq!(store.present_between(3, 4).unwrap(), [(3, 4)]);
}

#[test]
fn log_returned_document_is_new() {
    let (_dir, mut store) = new_store();
    put(&mut store, 1, says("one"));
    change_document(&mut store, 1, says("two"), NOW + 1);
    change_document(&mut store, 1, DocOp::Delete, NOW + 2);
    change_document(&mut store, 1, says("three"), NOW + 3);
    let history = store.document_history(1).unwrap();
    assert_eq!(
        bodies(&store, &history),
        [said("three"), None, said("two"), said("one")]
    );
    let numbers: Vec<_> = history
        .iter()
        .map(|row| (row.version, row.changed_ms))
        .collect();
    assert_eq!(
        numbers,
        [(4, NOW + 3), (3, NOW + 2), (2, NOW + 1), (1, NOW)]
    );
    let last = &history[0];
    assert_eq!((last.first_seq, last.first_seen_ms), (4, NOW));
    assert_eq!(last.change_since(3), Change::New);
    assert_eq!(store.document(1).unwrap().as_ref(), Some(last));
    assert_eq!(
        store.document_version(2).unwrap().as_ref(),
        Some(&history[2])
    );
}

#[test]
fn log_versions_are_bounded() {
    let (_dir, mut store) = new_store();
    store.set_retention(Retention {
        versions: 2,
        version_days: 10,
        tombstone_days: 1,
    });
    for i in 0..5 {
        change_document(&mut store, 1, says(format!("{i}")), NOW + i * DAY_MS);
    }
    let kept = store.document_history(1).unwrap();
    assert_eq!(bodies(&store, &kept), [said("4"), said("3"), said("2")]);
    change_document(&mut store, 2, says("x"), NOW);
    change_document(&mut store, 2, DocOp::Delete, NOW + DAY_MS);
    // "2" was replaced on the third day, "x" on the first.
    assert_eq!(store.forget_old_documents(NOW + DAY_MS).unwrap(), 0);
    assert_eq!(store.forget_old_documents(NOW + 12 * DAY_MS).unwrap(), 2);
    assert_eq!(store.document(2).unwrap(), None);
    assert_eq!(store.document_history(1).unwrap().len(), 3);
    assert_eq!(store.forget_old_documents(NOW + 400 * DAY_MS).unwrap(), 2);
    assert_eq!(
        bodies(&store, &store.document_history(1).unwrap()),
        [said("4")]
    );
}

#[test]
fn log_takedown_leaves_nothing() {
    let (_dir, mut store) = new_store();
    let address = uri("http://a.cn/");
    let fingerprint = store.addresses().key().fingerprint(&address);
    put(&mut store, fingerprint, says("secret one"));
    put(&mut store, fingerprint, says("secret two"));
    let done = store.purge().page(&address, NOW).unwrap();
    assert_eq!(done.document_seq, 3);
    let history = store.document_history(fingerprint).unwrap();
    assert_eq!(bodies(&store, &history), [None]);
}

#[test]
fn log_failed_commit_writes_nothing() {
    let (_dir, mut store) = new_store();
    put(&mut store, 1, says("a"));
    file(&store)
        .execute_batch(
            "CREATE TRIGGER no BEFORE INSERT ON document BEGIN SELECT raise(ABORT, 'no'); END",
        )
        .unwrap();
    let batch = Batch {
        documents: vec![(1, says("b"))],
        ..Batch::default()
    };
    store.commit(&batch, NOW).unwrap_err();
    assert_eq!(
        bodies(&store, &store.document_history(1).unwrap()),
        [said("a")]
    );
    file(&store).execute_batch("DROP TRIGGER no").unwrap();
    assert_eq!(store.commit(&batch, NOW).unwrap().document_seq, 2);
}

#[test]
fn store_id_is_unique() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let id = |dir: &Path| Store::open(dir).unwrap().identity().unwrap().id;
    assert_eq!(id(one.path()), id(one.path()));
    assert_ne!(id(one.path()), id(two.path()));
}
