//! Tests of the store: failure first.

mod addresses;
mod bodies;
mod crash;
mod cursor;
mod documents;
mod follows;
mod keys;
mod moving;
pub(crate) mod on_postgres;
mod purge;
mod records;
mod shape;
mod terms;
mod used_templates;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::open::lock;
use super::*;
use crate::outcome::{Failure, Truncation};
use taojin_uri::CrawlUri;

const NOW: i64 = 1_800_000_000_000;

fn uri(text: &str) -> CrawlUri {
    CrawlUri::parse(text).unwrap()
}

fn site() -> Arc<str> {
    Arc::from("s")
}

/// SQLite's own connection, for tests of what only files have.
fn file(store: &Store) -> &rusqlite::Connection {
    store.conn.sqlite().unwrap()
}

fn link(text: &str) -> NewUrl {
    NewUrl::link(uri(text), &site(), 1)
}

fn offer(store: &mut Store, texts: &[&str]) -> Committed {
    let batch = Batch {
        urls: texts.iter().map(|t| link(t)).collect(),
        ..Batch::default()
    };
    store.commit(&batch, NOW).unwrap()
}

/// An empty store in a directory of its own.
fn new_store() -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    (dir, store)
}

/// The record of an address that the store has.
fn known(store: &Store, text: &str) -> UrlRecord {
    store.lookup(&uri(text)).unwrap().unwrap()
}

/// Changes one document; the number of the change.
fn change_document(store: &mut Store, fingerprint: u64, op: DocOp, now_ms: i64) -> i64 {
    let batch = Batch {
        documents: vec![(fingerprint, op)],
        ..Batch::default()
    };
    store.commit(&batch, now_ms).unwrap().document_seq
}

/// A document that says this.
fn says(body: impl Into<Vec<u8>>) -> DocOp {
    DocOp::Upsert(NewDocument {
        url: "http://a.cn/".to_owned(),
        site: "s".to_owned(),
        body: body.into(),
    })
}

/// The first fingerprint of an address.
fn fingerprint(store: &Store, text: &str) -> u64 {
    store.addresses().key().fingerprint(&uri(text))
}

/// A visit of `text` that found a document and one link.
fn visited(store: &Store, text: &str, outlink: &str, document: DocOp) -> FinishedPage {
    let record = known(store, text);
    FinishedPage {
        id: record.id,
        host: record.host,
        uri: record.uri,
        visit: UrlVisit {
            state: UrlState::Fetched,
            class: UrlClass::Article,
            due_ms: Some(NOW + 1_000),
            rank: 12,
            interval_ms: 86_400_000,
            status: Some(200),
            etag: Some("\"1\"".to_owned()),
            last_modified: Some("Tue, 03 Nov 2026 00:00:00 GMT".to_owned()),
            digest: Some(u64::MAX),
            fetched_ms: Some(NOW),
            changed_ms: Some(NOW),
            not_found_since_ms: None,
            unchanged: 3,
            errors: 0,
            documented: document != DocOp::Delete,
            target: None,
            error: None,
            truncation: Some(Truncation {
                failure: Failure::Truncated,
                wire_bytes: 90,
            }),
            content: Some(u64::MAX - 1),
            alias_of: None,
            confirmed_ms: Some(NOW),
            answer: None,
        },
        template: None,
        outlinks: vec![link(outlink)],
        document: Some(document),
        other_document: None,
        yielding: Vec::new(),
    }
}

fn commit_pages(store: &mut Store, pages: Vec<FinishedPage>) -> Committed {
    let batch = Batch {
        pages,
        ..Batch::default()
    };
    store.commit(&batch, NOW).unwrap()
}

fn copy_of(dir: &Path) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    for name in ["crawl.sqlite", "crawl.sqlite-wal", "in_flight"] {
        if dir.join(name).exists() {
            std::fs::copy(dir.join(name), copy.path().join(name)).unwrap();
        }
    }
    copy
}

#[test]
fn lock_is_free_again_while_children_start() {
    let dir = tempfile::tempdir().unwrap();
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // Each child has the lock that is held at its fork until it runs its program.
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                Command::new("true").status().unwrap();
            }
        });
        let outcome = (0..300).try_for_each(|_| lock(dir.path()).map(drop));
        is_done.store(true, Ordering::Relaxed);
        outcome.unwrap();
    });
}

/// Forgets the site `s`; how many URLs it had.
pub(super) fn forget_site(store: &mut Store) -> usize {
    store
        .purge()
        .site("s", false, &[], NOW, |_| {})
        .unwrap()
        .urls
}
