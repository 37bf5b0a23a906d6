//! Locks, foreign files, full disks, cut logs, dead processes.

use super::*;

#[test]
fn lock_refuses_second_writer() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let message = Store::open(dir.path()).unwrap_err().to_string();
    let pid = std::process::id().to_string();
    assert!(
        message.contains("in use") && message.contains(&pid),
        "{message}"
    );
    drop(store);
    Store::open(dir.path()).unwrap();
}

#[test]
fn reader_creates_no_database() {
    let dir = tempfile::tempdir().unwrap();
    let error = Reader::open(dir.path()).unwrap_err();
    assert!(matches!(error, StoreError::Missing { .. }), "{error}");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn open_refuses_foreign_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("crawl.sqlite");
    std::fs::write(
        &path,
        "this is not a database, but it is long enough to be one".repeat(99),
    )
    .unwrap();
    let before = std::fs::read(&path).unwrap();
    for error in [
        Store::open(dir.path()).unwrap_err(),
        Reader::open(dir.path()).unwrap_err(),
    ] {
        assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
        assert!(error.to_string().contains("crawl.sqlite"));
    }
    assert_eq!(std::fs::read(&path).unwrap(), before);
    std::fs::remove_file(&path).unwrap();
    let foreign = rusqlite::Connection::open(&path).unwrap();
    foreign
        .execute_batch("CREATE TABLE diary (day TEXT)")
        .unwrap();
    drop(foreign);
    let error = Store::open(dir.path()).unwrap_err();
    assert!(error.to_string().contains("another program"), "{error}");
}

#[test]
fn open_refuses_newer_store() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    file(&store)
        .pragma_update(None, "user_version", 99)
        .unwrap();
    drop(store);
    let error = Store::open(dir.path()).unwrap_err();
    assert!(
        matches!(error, StoreError::Newer { found: 99, .. }),
        "{error}"
    );
}

#[test]
fn commit_retries_after_full_disk() {
    let (_dir, mut store) = new_store();
    offer(&mut store, &["http://a.cn/1"]);
    let before = store.counts().unwrap();
    let limit = |store: &Store, pages: i64| {
        file(store)
            .pragma_update_and_check(None, "max_page_count", pages, |row| row.get::<_, i64>(0))
            .unwrap();
    };
    limit(&store, 1);
    let texts: Vec<String> = (0..500).map(|i| format!("http://new{i}.cn/")).collect();
    let mut page = visited(
        &store,
        "http://a.cn/1",
        "http://a.cn/x",
        says(vec![b' '; 50_000]),
    );
    page.outlinks = texts.iter().map(|t| link(t)).collect();
    let batch = Batch {
        pages: vec![page],
        ..Batch::default()
    };
    let error = store.commit(&batch, NOW).unwrap_err();
    assert!(matches!(error, StoreError::Full { .. }), "{error}");
    assert_eq!(store.counts().unwrap(), before);
    limit(&store, 1 << 30);
    let done = store.commit(&batch, NOW).unwrap();
    assert_eq!((done.inserted.len(), done.document_seq), (500, 1));
    let found = store.lookup(&uri("http://new7.cn/")).unwrap();
    assert!(found.is_some());
}

#[test]
fn wal_cut_keeps_commits() {
    let dir = tempfile::tempdir().unwrap();
    let wal = dir.path().join("crawl.sqlite-wal");
    let mut store = Store::open(dir.path()).unwrap();
    offer(&mut store, &["http://a.cn/0"]);
    let mut ends = vec![std::fs::metadata(&wal).unwrap().len()];
    for i in 0..3 {
        let (text, outlink) = (format!("http://a.cn/{i}"), format!("http://a.cn/{}", i + 1));
        let page = visited(&store, &text, &outlink, says(vec![b'x'; 100]));
        commit_pages(&mut store, vec![page]);
        ends.push(std::fs::metadata(&wal).unwrap().len());
    }
    assert!(
        ends.windows(2).all(|w| w[0] < w[1]),
        "each commit must append: {ends:?}"
    );
    let (first, last) = (ends[0], ends[3]);
    // In the last commit all cuts near the ends of frames, where headers and checksums lie; a net over the rest.
    let frame = 8192 + 24;
    let near = |cut: u64| (cut - 32) % frame <= 26 || (cut - 32) % frame >= frame - 2;
    let cuts =
        (first..=last).filter(|c| (*c >= ends[2] && near(*c)) || c % 509 == 0 || last - c < 40);
    for cut in cuts {
        let copy = copy_of(dir.path());
        let file = std::fs::OpenOptions::new()
            .write(true)
            .open(copy.path().join("crawl.sqlite-wal"))
            .unwrap();
        file.set_len(cut).unwrap();
        drop(file);
        let store = Store::open(copy.path()).unwrap();
        let commits = ends.iter().filter(|end| **end <= cut).count() - 1;
        let urls = store.counts().unwrap().total("urls");
        assert_eq!(
            usize::try_from(urls).unwrap(),
            commits + 1,
            "cut at {cut} of {ends:?}"
        );
        assert_eq!(store.documents_after(0, 10).unwrap().len(), commits);
        assert_eq!(store.document_seq, i64::try_from(commits).unwrap());
        assert!(
            store
                .lookup(&uri(&format!("http://a.cn/{commits}")))
                .unwrap()
                .is_some()
        );
    }
}

#[test]
fn killed_process_keeps_commits() {
    let (dir, mut store) = new_store();
    offer(&mut store, &["http://a.cn/1"]);
    let page = visited(&store, "http://a.cn/1", "http://a.cn/2", DocOp::Delete);
    let batch = Batch {
        pages: vec![page],
        ..Batch::default()
    };
    store.commit(&batch, NOW).unwrap();
    let in_flight = InFlight::open(dir.path());
    drop(in_flight.begin(2));
    let _under_way = in_flight.begin(1);
    // The copy is what a killed process leaves: nothing was closed.
    let copy = copy_of(dir.path());
    let mut after = Store::open(copy.path()).unwrap();
    assert_eq!(after.counts().unwrap(), store.counts().unwrap());
    assert_eq!(after.recover(3, 10, 15).unwrap(), [1]);
    assert_eq!(after.url(1).unwrap().unwrap().crashes, 1);
    assert!(after.recover(3, 10, 15).unwrap().is_empty());
    in_flight.clear();
    let stopped = copy_of(dir.path());
    let mut after = Store::open(stopped.path()).unwrap();
    assert!(after.recover(3, 10, 15).unwrap().is_empty());
}
