//! Takedowns and purges: what is left, what is counted, what the index is told.

use std::collections::BTreeMap;

use super::*;

fn counted(store: &Store) -> SiteCounts {
    let mut counts = store.counts().unwrap().sites.remove("s").unwrap();
    counts.retain(|_, count| *count != 0);
    counts
}

fn document(store: &Store, text: &str) -> FinishedPage {
    let op = says("{}");
    let page = visited(store, text, text, op);
    FinishedPage {
        outlinks: Vec::new(),
        ..page
    }
}

#[test]
fn takedown_takes_all_aliases() {
    let (dir, mut store) = new_store();
    offer(
        &mut store,
        &["http://a.cn/1", "http://a.cn/2", "http://a.cn/3"],
    );
    let first = document(&store, "http://a.cn/1");
    let mut alias = document(&store, "http://a.cn/2");
    alias.visit.documented = false;
    alias.visit.alias_of = Some(first.id);
    alias.document = None;
    commit_pages(&mut store, vec![first, alias]);
    let before = store.last_document_seq().unwrap();

    let done = store.purge().page(&uri("http://a.cn/2"), NOW + 5).unwrap();
    let addresses: Vec<&str> = done.addresses.iter().map(CrawlUri::as_str).collect();
    assert_eq!(addresses, ["http://a.cn/1", "http://a.cn/2"]);
    assert_eq!(done.documents, [fingerprint(&store, "http://a.cn/1")]);
    let rows = store.documents_after(before, 10).unwrap();
    assert!(rows.iter().all(|row| row.body.is_none()));
    assert_eq!(rows.last().map(|row| row.seq), Some(done.document_seq));
    let expected = [("new", 1), ("refused", 2), ("urls", 3)];
    let expected = expected.map(|(name, count)| (name.to_owned(), count));
    assert_eq!(counted(&store), SiteCounts::from(expected));
    // Twice is no more than once.
    store.purge().page(&uri("http://a.cn/1"), NOW + 9).unwrap();
    assert_eq!(store.takedowns().unwrap().len(), 2);
    let found = store.takedown(&uri("http://a.cn/1")).unwrap().unwrap();
    assert_eq!(found.at_ms, NOW + 5);

    drop(store);
    let mut store = Store::open(dir.path()).unwrap();
    let lifted = store
        .purge()
        .allow(&uri("http://a.cn/1"), NOW + 10)
        .unwrap();
    assert_eq!(lifted.len(), 2);
    assert!(store.takedowns().unwrap().is_empty());
    let record = known(&store, "http://a.cn/2");
    assert_eq!(record.visit.state, UrlState::New);
    assert_eq!(record.visit.due_ms, Some(NOW + 10));
    let expected = [("new", 3), ("urls", 3)].map(|(name, count)| (name.to_owned(), count));
    assert_eq!(counted(&store), SiteCounts::from(expected));
}

#[test]
fn takedown_removes_template_page() {
    let (dir, mut store) = new_store();
    offer(&mut store, &["http://a.cn/1"]);
    let mut templates = TemplateStore::open(dir.path()).unwrap();
    let page = TemplatePage {
        id: 0,
        url: "http://a.cn/1".to_owned(),
        seen_ms: NOW,
        seen: vec![1],
        html: Some(vec![2]),
    };
    let pages = [("s".to_owned(), page)];
    let waiting = |n| BTreeMap::from([("s".to_owned(), n)]);
    assert_eq!(templates.add_pages(&pages, 9, 9).unwrap(), waiting(1));
    store.purge().page(&uri("http://a.cn/1"), NOW).unwrap();
    assert!(store.templates().waiting_pages("s").unwrap().is_empty());
    assert_eq!(templates.add_pages(&pages, 9, 9).unwrap(), waiting(0));
}

#[test]
fn purge_keeps_pause_only() {
    let (dir, mut store) = new_store();
    offer(&mut store, &["http://a.cn/1", "http://a.cn/2"]);
    let page = document(&store, "http://a.cn/1");
    commit_pages(&mut store, vec![page]);
    store.set_operator_pause(&site(), Some(NOW), NOW).unwrap();
    let fits = TemplateFit {
        site: "s".to_owned(),
        matched: 3,
        ..TemplateFit::default()
    };
    let mut templates = TemplateStore::open(dir.path()).unwrap();
    templates.set_fits(&[fits]).unwrap();

    let mut told = Vec::new();
    let done = store
        .purge()
        .site("s", true, &[7], NOW, |gone| told.push(gone))
        .unwrap();
    assert_eq!((done.urls, told), (2, vec![2, 2]));
    let mut documents = vec![7, fingerprint(&store, "http://a.cn/1")];
    documents.sort_unstable();
    assert_eq!(done.documents, documents);
    assert_eq!(store.last_document_seq().unwrap(), done.document_seq);
    assert_eq!(store.site("s").unwrap().unwrap().paused_ms, Some(NOW));
    assert!(counted(&store).is_empty());
    assert!(store.templates().fits().unwrap().is_empty());
    assert!(store.lookup(&uri("http://a.cn/2")).unwrap().is_none());
    offer(&mut store, &["http://a.cn/2"]);
    assert!(store.lookup(&uri("http://a.cn/2")).unwrap().is_some());
}

/// Whether these bytes stand anywhere in the files of the store.
fn is_in_files(dir: &std::path::Path, wanted: &[u8]) -> bool {
    std::fs::read_dir(dir).unwrap().any(|entry| {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        bytes.windows(wanted.len()).any(|window| window == wanted)
    })
}

#[test]
fn takedown_overwrites_files() {
    let (dir, mut store) = new_store();
    // Too random to be compressed, and long enough for pages of its own.
    let body = |seed: u64| -> Vec<u8> {
        let hash = |n: u64| xxhash_rust::xxh3::xxh3_64_with_seed(&n.to_le_bytes(), seed);
        (0..9_000).map(|n| hash(n).to_le_bytes()[0]).collect()
    };
    let versions: Vec<Vec<u8>> = (1..=3).map(body).collect();
    for version in &versions {
        let batch = Batch {
            documents: vec![(fingerprint(&store, "http://a.cn/"), says(version.clone()))],
            ..Batch::default()
        };
        store.commit(&batch, NOW).unwrap();
    }
    let is_there = |version: &Vec<u8>| {
        let mut pieces = version.chunks_exact(300);
        pieces.any(|piece| is_in_files(dir.path(), piece))
    };
    assert!(versions.iter().all(is_there), "none is compressed");
    store.purge().page(&uri("http://a.cn/"), NOW).unwrap();
    assert!(!versions.iter().any(is_there));
}

/// Documents that were imported have no address of their own; so many of them take a while, in which a daemon must be heard.
#[test]
fn purge_reports_progress() {
    let (_dir, mut store) = new_store();
    let imported: Vec<u64> = (1..=5_001).collect();
    let batch = Batch {
        documents: imported.iter().map(|n| (*n, says("{}"))).collect(),
        ..Batch::default()
    };
    store.commit(&batch, NOW).unwrap();
    let mut told = 0;
    let done = store
        .purge()
        .site("s", false, &imported, NOW, |_| told += 1);
    let done = done.unwrap();
    assert_eq!((done.documents.len(), told), (5_001, 2));
    let last = store.documents_after(0, 20_000).unwrap();
    assert!(last.iter().all(|row| row.body.is_none()));
    assert_eq!(done.document_seq, 10_002);
}
