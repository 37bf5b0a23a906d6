//! Two addresses with one fingerprint are two.

use super::super::addresses::{read_key, write_key};
use super::super::schema::FIRST_WITH_KEY;
use super::*;
use taojin_uri::FingerprintKey;

/// xxh3 gives them one fingerprint; see the tests of [`FingerprintKey`].
const VICTIM: &str = "http://victim.example/notice/t20261129_00000001.html?from=0000000000000000000000000000000000000000000000000000000000000000000000";
const OTHER: &str = "http://other.example/a/00000000000000000000000000000000000000000aaaaaaaaaabeenkgaaaaaaaaaabidfocaaaaaaaaaaafmnbbaaaaaaaaaaadiamk";

/// A store as it was made before there were keys.
fn store_without_key() -> (tempfile::TempDir, Store) {
    let (dir, store) = new_store();
    write_key(&store.conn, FingerprintKey::NONE).unwrap();
    drop(store);
    let store = Store::open(dir.path()).unwrap();
    assert_eq!(store.addresses().key(), FingerprintKey::NONE);
    (dir, store)
}

/// The body of the document at an address; none if it is gone.
fn body_at(store: &Store, text: &str) -> Option<Vec<u8>> {
    let address = uri(text);
    let row = |reader: &Reader, key: u64| reader.document(key).unwrap();
    let found = row(store, store.addresses().document_key(&address).unwrap());
    let beside = store.reader().unwrap();
    let key = beside.addresses().document_key(&address).unwrap();
    assert_eq!(row(&beside, key), found);
    let row = found?;
    store.body(&row).unwrap()
}

fn are_known<const N: usize>(store: &Store, addresses: &[&CrawlUri; N]) -> [bool; N] {
    let free = store.addresses().free(addresses).unwrap();
    let known: Vec<bool> = free.iter().map(Option::is_none).collect();
    known.try_into().unwrap()
}

fn shows(store: &Store, text: &str) -> FinishedPage {
    let op = DocOp::Upsert(NewDocument {
        url: text.to_owned(),
        site: "s".to_owned(),
        body: text.into(),
    });
    let page = visited(store, text, text, op);
    FinishedPage {
        outlinks: Vec::new(),
        ..page
    }
}

#[test]
fn key_of_store_is_random_and_stays() {
    let (dir, store) = new_store();
    let key = store.addresses().key();
    assert_ne!(key, FingerprintKey::NONE);
    let (_other, other) = new_store();
    assert_ne!(other.addresses().key(), key);
    let reader = Reader::open(store.place()).unwrap();
    assert_eq!(reader.addresses().key(), key);
    drop(store);
    assert_eq!(Store::open(dir.path()).unwrap().addresses().key(), key);
}

#[test]
fn computed_address_is_another() {
    for make in [new_store, store_without_key] {
        let (dir, mut store) = make();
        assert_eq!(offer(&mut store, &[OTHER]).inserted.len(), 1);
        assert!(store.lookup(&uri(VICTIM)).unwrap().is_none());
        let asked = [&uri(OTHER), &uri(VICTIM)];
        assert_eq!(are_known(&store, &asked), [true, false]);
        // One after the other, and in one transaction.
        assert_eq!(
            offer(&mut store, &[VICTIM, VICTIM, OTHER]).inserted.len(),
            1
        );
        assert_eq!(are_known(&store, &asked), [true, true]);
        let pages = vec![shows(&store, OTHER), shows(&store, VICTIM)];
        commit_pages(&mut store, pages);
        for text in [OTHER, VICTIM] {
            assert_eq!(known(&store, text).uri.as_str(), text);
            let beside = store.reader().unwrap().lookup(&uri(text)).unwrap();
            assert_eq!(beside, Some(known(&store, text)));
            assert_eq!(body_at(&store, text), Some(text.into()));
        }

        // A takedown is of one of them, however often it is made and lifted.
        let purged = store.purge().page(&uri(OTHER), NOW).unwrap();
        assert_eq!(purged.documents.len(), 1);
        assert_eq!(body_at(&store, OTHER), None);
        assert_eq!(body_at(&store, VICTIM), Some(VICTIM.into()));
        assert!(store.takedown(&uri(VICTIM)).unwrap().is_none());
        store.purge().page(&uri(VICTIM), NOW).unwrap();
        assert_eq!(body_at(&store, VICTIM), None);
        let down: Vec<String> = store
            .takedowns()
            .unwrap()
            .into_iter()
            .map(|t| t.url)
            .collect();
        assert_eq!(down, [OTHER, VICTIM]);
        assert_eq!(store.purge().allow(&uri(OTHER), NOW).unwrap().len(), 1);
        assert!(store.takedown(&uri(VICTIM)).unwrap().is_some());

        drop(store);
        let store = Store::open(dir.path()).unwrap();
        assert_eq!(are_known(&store, &asked), [true, true]);
    }
}

#[test]
fn computed_address_in_one_batch_is_another() {
    let (_dir, mut store) = store_without_key();
    let mut urls: Vec<NewUrl> = [OTHER, VICTIM, OTHER].map(link).into();
    for url in &mut urls {
        // As by a filter that knows neither.
        url.free = Some(fingerprint(&store, url.uri.as_str()));
    }
    let batch = Batch {
        urls,
        ..Batch::default()
    };
    assert_eq!(store.commit(&batch, NOW).unwrap().inserted.len(), 2);
    assert_eq!(known(&store, VICTIM).uri, uri(VICTIM));
}

#[test]
fn imported_document_keeps_its_address() {
    let (_dir, mut store) = store_without_key();
    for text in [OTHER, VICTIM, OTHER] {
        let key = store.addresses().document_key(&uri(text)).unwrap();
        assert_eq!(
            store
                .reader()
                .unwrap()
                .addresses()
                .document_key(&uri(text))
                .unwrap(),
            key
        );
        let op = DocOp::Upsert(NewDocument {
            url: text.to_owned(),
            site: "s".to_owned(),
            body: text.into(),
        });
        change_document(&mut store, key, op, NOW);
    }
    assert_eq!(store.present_documents().unwrap(), 2);
    assert_eq!(body_at(&store, VICTIM), Some(VICTIM.into()));
    store.purge().page(&uri(OTHER), NOW).unwrap();
    assert_eq!(body_at(&store, VICTIM), Some(VICTIM.into()));
}

#[test]
fn salvaged_store_finds_its_addresses() {
    /// What is wrong with the store, what makes it so, and whether documents keep their identifiers.
    const CASES: [(&str, &str, bool); 3] = [
        ("only damaged elsewhere", "SELECT 1", true),
        (
            "made before there were keys",
            "PRAGMA user_version = 1",
            true,
        ),
        (
            "lost its key",
            "DELETE FROM meta WHERE name LIKE 'fingerprint_key%'",
            false,
        ),
    ];
    assert_eq!(FIRST_WITH_KEY, 2);
    for (case, sql, keeps_ids) in CASES {
        let (dir, mut store) = if case.starts_with("made") {
            store_without_key()
        } else {
            new_store()
        };
        offer(&mut store, &[OTHER, VICTIM]);
        let pages = vec![shows(&store, VICTIM)];
        commit_pages(&mut store, pages);
        let gone = "http://a.cn/gone";
        store.purge().page(&uri(gone), NOW).unwrap();
        let before = store.addresses().document_key(&uri(VICTIM)).unwrap();
        file(&store).execute_batch(sql).unwrap();
        if case.starts_with("made") {
            let delete = "DELETE FROM meta WHERE name LIKE 'fingerprint_key%'";
            file(&store).execute_batch(delete).unwrap();
        }
        drop(store);
        restore_damaged(dir.path(), &dir.path().join("crawl.sqlite")).unwrap();
        let store = Store::open(dir.path()).unwrap();
        assert_eq!(
            are_known(&store, &[&uri(OTHER), &uri(VICTIM)]),
            [true, true],
            "{case}"
        );
        assert_eq!(body_at(&store, VICTIM), Some(VICTIM.into()), "{case}");
        assert!(store.takedown(&uri(gone)).unwrap().is_some(), "{case}");
        let same = store.addresses().document_key(&uri(VICTIM)).unwrap() == before;
        assert_eq!(same, keeps_ids, "{case}");
        let is_random = read_key(&store.conn).unwrap() != FingerprintKey::NONE;
        assert_eq!(is_random, !case.starts_with("made"), "{case}");
    }
}
