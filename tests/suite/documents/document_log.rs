//! The documents are in the store, and the index is made from it: whatever happens to the index, none is missing.

use std::fs;

use crate::support::daemon::LISTEN;
use crate::support::folder::{Folder, RunExt as _, assert_has};
use crate::support::wait_until;

const ONE: &str = "http://a.example/1";

/// Imports one text under each of these addresses.
fn import_same(folder: &Folder, numbers: std::ops::Range<u32>, text: &str) {
    let urls: Vec<String> = numbers.map(|n| format!("http://a.example/{n}")).collect();
    let documents: Vec<(&str, &str)> = urls.iter().map(|url| (&**url, text)).collect();
    folder.import_texts(&documents);
}

#[test]
fn restored_store_with_newer_index() {
    let folder = Folder::new("", &[]);
    let store = folder.file("data/crawl.sqlite");
    folder.import_texts(&[(ONE, "页岩气产量创新高")]);
    let backup = fs::read(&store).expect("a backup");
    import_same(&folder, 2..9, "储气库注气");
    assert_eq!(folder.total("\"储气库\""), 7);

    fs::write(&store, backup).expect("the store is restored");
    for rest in ["crawl.sqlite-wal", "crawl.sqlite-shm"] {
        let _ = fs::remove_file(folder.data_dir().join(rest));
    }
    // So many that they would take all the numbers that the index has seen before.
    import_same(&folder, 10..30, "煤层气勘探");
    assert_eq!(folder.total("\"煤层气\""), 20);
    assert_eq!(folder.hits("\"页岩气\""), [ONE]);
    // The store has none of them.
    assert_eq!(folder.total("\"储气库\""), 0);
}

#[test]
fn reindex_killed_keeps_old_index() {
    let folder = Folder::new("", &[]);
    let text = "川南页岩气水平井产量创新高，储气库全部转入注气。".repeat(20);
    import_same(&folder, 0..3_000, &text);
    assert_eq!(folder.total("\"页岩气\""), 3_000);
    let fresh = folder.file("data/index.new");
    for _ in 0..3 {
        let mut reindex = folder.taojin(&["reindex"]).started();
        wait_until("the new index is begun", || {
            fresh.exists() || reindex.ended().is_some()
        });
        drop(reindex);
        assert_eq!(folder.total("\"页岩气\""), 3_000);
    }
    folder.done(&["reindex"]);
    assert!(!fresh.exists());
    assert_eq!(folder.total("\"页岩气\""), 3_000);
}

/// The newer program may come back: nothing of its index is touched.
#[test]
fn downgrade_refuses_newer_index() {
    let folder = Folder::new(LISTEN, &[]);
    folder.import_texts(&[(ONE, "页岩气产量创新高")]);
    let ours = format!("\\\"format\\\":{}", taojin_search::index::FORMAT);
    folder.replace("data/index/meta.json", &ours, "\\\"format\\\":99");
    let newer = folder.read("data/index/meta.json");
    // After another code it would be started again for ever.
    folder.run(&["run"]).failed(2);
    for args in [&["search", "页岩气"][..], &["reindex"]] {
        let said = folder.refused(args);
        assert_has(&said, &["format 99", "install the newer taojin again"]);
    }
    assert_eq!(folder.read("data/index/meta.json"), newer);
    // What the message says to do.
    fs::rename(folder.file("data/index"), folder.file("kept")).expect("moved away");
    folder.done(&["reindex"]);
    assert_eq!(folder.hits("\"页岩气\""), [ONE]);
}
