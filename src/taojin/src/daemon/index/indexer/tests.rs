//! Documents that cannot be indexed: skipped by name, and the rest continues.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;

use super::super::embedded::EmbeddedEngine;
use super::super::{catch_up, embedded_indexer, rebuild_index};
use super::*;
use crate::config::{Config, LoadedConfig};
use crate::daemon::now_ms;
use crate::documents::{StoreDocuments, encode, open_index};
use crate::serve::Words;
use taojin_crawl::store::{Batch, DocOp, NewDocument, Store};
use taojin_extract::{Document, Kind};
use taojin_search::analyze::Analyzer;
use taojin_search::index::{self, DocumentSource, SourceError, StoredDocument};

/// The documents of a store, which bring down whoever asks for one of them.
struct Trap {
    documents: StoreDocuments,
    set: Arc<AtomicBool>,
}

impl DocumentSource for Trap {
    fn get(&self, fingerprint: u64, seq: u64) -> Result<Option<StoredDocument>, SourceError> {
        assert!(!self.set.load(Ordering::SeqCst), "a trap for a reprint");
        self.documents.get(fingerprint, seq)
    }

    fn find(&self, url: &str) -> Result<Option<u64>, SourceError> {
        self.documents.find(url)
    }
}

struct TestStore {
    loaded: LoadedConfig,
    store: Mutex<Store>,
    _dir: tempfile::TempDir,
}

impl TestStore {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let config = Config {
            data_dir: dir.path().to_owned(),
            ..Config::default()
        };
        let loaded = LoadedConfig {
            file: None,
            config,
            sites: Vec::new(),
        };
        let store = Mutex::new(crate::daemon::open_store(&loaded).unwrap());
        Self {
            loaded,
            store,
            _dir: dir,
        }
    }

    fn put(&self, fingerprint: u64, new: NewDocument) {
        let batch = Batch {
            documents: vec![(fingerprint, DocOp::Upsert(new))],
            ..Batch::default()
        };
        self.store.lock().unwrap().commit(&batch, now_ms()).unwrap();
    }

    fn put_text(&self, fingerprint: u64, text: &str) {
        let document = Document {
            url: format!("http://a.example/{fingerprint}"),
            text: text.to_owned(),
            kind: Kind::Article,
            ..Document::default()
        };
        self.put(fingerprint, encode(&document, 5));
    }

    /// A document of a site.
    fn put_of_site(&self, site: &str, fingerprint: u64, text: &str) {
        let document = Document {
            url: format!("http://{site}.example/{fingerprint}"),
            site: Some(site.to_owned()),
            text: text.to_owned(),
            kind: Kind::Article,
            ..Document::default()
        };
        self.put(fingerprint, encode(&document, 5));
    }

    fn put_damaged(&self, fingerprint: u64) {
        self.put(
            fingerprint,
            NewDocument {
                url: format!("http://a.example/{fingerprint}"),
                site: String::new(),
                body: b"(\xb5/\xfd damaged".to_vec(),
            },
        );
    }

    fn indexer(&self, shared: &Shared) -> Indexer<EmbeddedEngine> {
        let reader = self.store.lock().unwrap().reader().unwrap();
        let analyzer = self.loaded.analyzer().unwrap();
        let indexer = embedded_indexer(&self.loaded, &analyzer, reader, shared, true);
        let mut indexer = indexer.unwrap();
        indexer.open_now().unwrap();
        indexer
    }

    fn documents(&self) -> u64 {
        open_index(&self.loaded, &Analyzer::new(&[]))
            .unwrap()
            .num_docs()
            .unwrap()
    }

    fn left_out(&self) -> Vec<(String, String)> {
        let noted = index::noted(&self.loaded.index_dir()).unwrap();
        let left = noted.left_out.listed.into_iter();
        left.map(|left| (left.url, left.reason)).collect()
    }
}

/// A text long enough to be compared with others.
fn text(of: &str) -> String {
    format!("{of}号井日产原油超过设计产量，储气库全部转入注气阶段，管网调度正常。").repeat(8)
}

#[test]
fn indexer_skips_damaged_document() {
    let place = TestStore::new();
    place.put_text(1, &text("甲"));
    place.put_damaged(2);
    place.put_text(3, &text("乙"));
    let shared = Shared::default();
    let mut indexer = place.indexer(&shared);
    indexer.take_all().unwrap();
    assert_eq!(place.documents(), 2);
    let left = place.left_out();
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].0, "http://a.example/2");
    assert!(left[0].1.contains("document 0000000000000002"), "{left:?}");

    // The document comes again, and whole.
    place.put_text(2, &text("丙"));
    indexer.take_all().unwrap();
    assert_eq!((place.documents(), place.left_out().len()), (3, 0));
}

/// One of a site is not behind all of another, and a committed number means everything up to it.
#[test]
fn indexer_takes_sites_in_turns() {
    let place = TestStore::new();
    let many = 3 * ROWS as u64;
    for n in 1..=many {
        place.put_of_site("bad", n, &text(&n.to_string()));
    }
    for n in many + 1..=many + 5 {
        place.put_of_site("good", n, &text(&n.to_string()));
    }
    let shared = Shared::default();
    let mut indexer = place.indexer(&shared);
    let mut state = FeedState::new(indexer.last_seq());
    // How many are taken at once depends on the time that they take.
    while state.waiting < 10 {
        let before = state.waiting;
        indexer.add_rows(&mut state).unwrap();
        assert!(state.has_more && state.waiting > before);
    }
    let (seq, count) = (state.seq, state.waiting as u64);
    indexer.commit(seq).unwrap();
    let reader = open_index(&place.loaded, &Analyzer::new(&[])).unwrap();
    let mut good = reader.fingerprints_of_site("good").unwrap();
    good.sort_unstable();
    assert_eq!(good, Vec::from_iter(many + 1..=many + 5));
    assert_eq!(
        seq,
        count - 5,
        "the other site's are counted as far as they go"
    );
    // A change of a document that is there ahead of its number comes again, the one it replaces does not.
    place.put_of_site("good", many + 2, &text("改"));
    place.put_of_site("bad", many, &text("改"));

    // After a crash everything from that number on is taken in again: the index is the same.
    drop(indexer);
    let mut indexer = place.indexer(&shared);
    assert_eq!(indexer.last_seq(), seq);
    indexer.take_all().unwrap();
    assert_eq!(place.documents(), many + 5);
    assert_eq!(indexer.last_seq(), many + 7);
    let reader = open_index(&place.loaded, &Analyzer::new(&[])).unwrap();
    for fingerprint in [many, many + 2] {
        let stored = reader.document(fingerprint).unwrap().unwrap();
        assert!(stored.document.text.starts_with("改号"), "{fingerprint}");
    }
}

/// The index of a row that panics is opened again without it, whatever it was doing.
#[test]
fn indexer_quarantines_crashing_document() {
    let place = TestStore::new();
    let original = text("甲");
    place.put_text(1, &original);
    let shared = Shared::default();
    let mut indexer = place.indexer(&shared);
    indexer.take_all().unwrap();
    // The trap goes off when the next one, a reprint, is compared with it.
    let set = Arc::new(AtomicBool::new(true));
    indexer.engine.documents = Arc::new(Trap {
        documents: StoreDocuments::new(&place.loaded.config.data_dir),
        set: Arc::clone(&set),
    });
    indexer.writer = None;
    indexer.open().unwrap();
    place.put_text(2, &original);
    place.put_text(3, "另一篇：页岩气钻机到位。");
    // A second one before the first is committed: each must be known while the other is searched for.
    place.put_text(4, &original);
    shared.index().set_document_seq(4);

    let (wake, woken) = sync_channel(1);
    let indexing = thread::spawn(move || indexer.run(&woken));
    let began = Instant::now();
    while shared.index().indexed() < 4 {
        assert!(
            began.elapsed() < Duration::from_secs(20),
            "it is tried for ever"
        );
        let _ = wake.try_send(());
        thread::sleep(Duration::from_millis(10));
    }
    drop(wake);
    indexing.join().unwrap();
    assert_eq!(place.documents(), 2);
    let left = place.left_out();
    let urls: Vec<&str> = left.iter().map(|(url, _)| url.as_str()).collect();
    assert_eq!(urls, ["http://a.example/2", "http://a.example/4"]);
    assert!(
        left[0].1.contains("panicked: a trap for a reprint"),
        "{left:?}"
    );
    assert!(
        shared.liveness().trouble(Instant::now()).is_none(),
        "it is over"
    );

    // The same program does not try it again, another one does.
    set.store(false, Ordering::SeqCst);
    drop(place.indexer(&shared));
    assert_eq!(place.left_out().len(), 2);
    let meta = place.loaded.index_dir().join("meta.json");
    let old = std::fs::read_to_string(&meta).unwrap();
    let version = format!("\\\"program\\\":\\\"{}\\\"", env!("CARGO_PKG_VERSION"));
    assert!(old.contains(&version), "{old}");
    std::fs::write(
        &meta,
        old.replace(&version, "\\\"program\\\":\\\"0.0.1\\\""),
    )
    .unwrap();
    drop(place.indexer(&shared));
    assert_eq!((place.documents(), place.left_out().len()), (4, 0));
}

#[test]
fn rebuild_waits_for_disk() {
    let place = TestStore::new();
    place.put_text(1, &text("甲"));
    let shared = Shared::default();
    shared
        .pause()
        .set(Some(Words::new("disk low", "磁盘空间不足")));
    shared.index().request_rebuild();
    let indexer = place.indexer(&shared);
    place.put_text(2, &text("乙"));
    shared.index().set_document_seq(2);
    let (wake, woken) = sync_channel(1);
    let indexing = thread::spawn(move || indexer.run(&woken));
    let wait_for = |what: &str, is_so: &dyn Fn() -> bool| {
        let began = Instant::now();
        while !is_so() {
            assert!(began.elapsed() < Duration::from_secs(20), "{what}");
            let _ = wake.try_send(());
            thread::sleep(Duration::from_millis(5));
        }
    };
    wait_for("the old index stands still", &|| {
        shared.index().indexed() == 2
    });
    place.put_text(3, &text("丙"));
    shared.index().set_document_seq(3);
    wait_for("the old index stands still", &|| {
        shared.index().indexed() == 3
    });
    // Turns enough for three documents, had they been taken.
    let progress = shared
        .index()
        .rebuild_progress()
        .expect("a new index is begun");
    assert_eq!(progress.seq, 0);

    shared.pause().set(None);
    wait_for("the new index is not made", &|| {
        shared.index().rebuild_progress().is_none()
    });
    drop(wake);
    indexing.join().unwrap();
    assert_eq!(place.documents(), 3);
}

/// Documents that lie together in a damaged page of the database, numbers and all.
#[test]
fn indexer_skips_damaged_log_page() {
    let place = TestStore::new();
    let document = |n: u64| {
        let document = Document {
            url: format!("http://a.example/{n:04}"),
            text: text(&n.to_string()),
            kind: Kind::Article,
            ..Document::default()
        };
        (n, DocOp::Upsert(encode(&document, 5)))
    };
    let batch = Batch {
        documents: (1..=300).map(document).collect(),
        ..Batch::default()
    };
    place
        .store
        .lock()
        .unwrap()
        .commit(&batch, now_ms())
        .unwrap();
    let TestStore {
        loaded,
        store,
        _dir,
    } = place;
    drop(store);
    let path = loaded.config.data_dir.join("crawl.sqlite");
    let mut bytes = std::fs::read(&path).unwrap();
    let url = b"http://a.example/0150";
    let page = bytes.chunks_mut(8192).find(|page| {
        // A leaf of a table, not of an index.
        page[0] == 13 && page.windows(url.len()).any(|w| w == url)
    });
    page.unwrap()[0] = 0;
    std::fs::write(&path, bytes).unwrap();
    let store = Mutex::new(crate::daemon::open_store(&loaded).unwrap());
    let place = TestStore {
        loaded,
        store,
        _dir,
    };
    place.indexer(&Shared::default()).take_all().unwrap();
    let documents = place.documents();
    assert!((250..300).contains(&documents), "{documents}");
    let left = place.left_out();
    assert_eq!(left.len(), 1, "{left:?}");
    assert!(left[0].0.starts_with("changes "), "{left:?}");
    assert!(
        left[0].1.contains("taojin restore --replace --damaged"),
        "{left:?}"
    );
}

/// Seen from outside, what waits gets older while nobody takes it.
#[test]
fn index_lag_grows() {
    let place = TestStore::new();
    place.put_text(1, &text("甲"));
    let board = crate::daemon::StatusBoard::new(&place.loaded, None);
    let first = board.read(0).unwrap();
    assert_eq!(first.index.outbox_lag, 1);
    thread::sleep(Duration::from_millis(30));
    let later = board.read(0).unwrap();
    assert!(
        later.index.index_lag_ms >= first.index.index_lag_ms + 30,
        "{first:?} {later:?}"
    );
    place.indexer(&Shared::default()).take_all().unwrap();
    let done = board.read(1).unwrap();
    assert_eq!((done.index.outbox_lag, done.index.index_lag_ms), (0, 0));
}

/// The text of the first site began the group, although that of the second one is indexed before it where sites take turns. A rebuild
/// keeps the order of the log.
#[test]
fn groups_of_reprints_follow_the_log() {
    let place = TestStore::new();
    let reprint = text("甲");
    for n in 1..=5 {
        place.put_of_site("first", n, &text(&n.to_string()));
    }
    place.put_of_site("first", 6, &reprint);
    place.put_of_site("second", 7, &reprint);
    let groups = || {
        let reader = open_index(&place.loaded, &Analyzer::new(&[])).unwrap();
        let query = index::Query {
            grouped: false,
            limit: 50,
            ..index::Query::default()
        };
        let found = reader.search(&query).unwrap();
        let group = |hit: index::FoundDocument| (hit.stored.fingerprint, hit.group);
        let mut groups: Vec<_> = found.documents.into_iter().map(group).collect();
        groups.sort_unstable();
        assert_eq!(groups.len(), 7);
        groups
    };
    catch_up(&place.loaded).unwrap();
    let by_command = groups();
    assert!(by_command[5].1.is_some() && by_command[5].1 == by_command[6].1);
    rebuild_index(&place.loaded, false, |_| {}).unwrap();
    assert_eq!(groups(), by_command);
}
