//! Files whose content is no longer what was written: a flipped bit in the index, a lost page or the whole of the store, a
//! store of a newer version. The program notices, says what to do, and nothing disappears without a word.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use taojin::documents::decode;
use taojin_crawl::store::Reader;

use crate::support::daemon::LISTEN;
use crate::support::folder::{Folder, assert_has};
use crate::support::{say, scaled};

const DOCUMENTS: usize = 120;
/// Pages of the store that are damaged one by one; all with `TAOJIN_LONG`.
const PAGES: usize = 16;
const PAGE_BYTES: usize = 8192;
/// What opens the store and the index as a start of the daemon does.
const START: [&str; 2] = ["import", "/dev/null"];
const RESTORE: [&str; 3] = ["restore", "--replace", "copy.sqlite"];

fn address(n: usize) -> String {
    format!("http://a.example/{n}")
}

/// Documents with these numbers in edition `edition`, each long enough for some pages of the store.
fn fill(folder: &Folder, numbers: std::ops::Range<usize>, edition: usize) {
    let text = |n: usize| {
        let wells = (0..60).map(|w| format!("第{}号水平井产量{}吨。", n * 61 + w, w * edition));
        wells.collect::<String>()
    };
    let documents: Vec<(String, String)> = numbers.map(|n| (address(n), text(n))).collect();
    let documents = documents.iter().map(|(url, text)| (&**url, &**text));
    let documents: Vec<(&str, &str)> = documents.collect();
    folder.import_texts(&documents);
}

fn found(folder: &Folder) -> BTreeSet<String> {
    let found = folder.indexed();
    assert!(found.values().all(|n| *n == 1), "{found:?}");
    found.into_keys().collect()
}

fn file_of_kind(index: &Path, kind: &str) -> PathBuf {
    let entries = fs::read_dir(index).expect("an index");
    let mut files = entries.map(|e| e.expect("an entry").path());
    let ends = |path: &PathBuf| path.to_str().is_some_and(|text| text.ends_with(kind));
    files
        .find(ends)
        .unwrap_or_else(|| panic!("no {kind} in {}", index.display()))
}

#[test]
fn index_bit_flip_rebuilds() {
    let folder = Folder::new("", &[]);
    let all: BTreeSet<String> = (0..DOCUMENTS).map(address).collect();
    let index = folder.file("data/index");
    fill(&folder, 0..DOCUMENTS, 1);
    let kinds = [
        ".term",
        ".idx",
        ".pos",
        ".fieldnorm",
        ".fast",
        ".store",
        ".del",
        "meta.json",
        ".managed.json",
    ];
    for (edition, kind) in (2..).zip(kinds) {
        // Some are replaced, so that there is a file of those as well.
        fill(&folder, 0..5, edition);
        for part in 0..3 {
            if kind == ".del" {
                fill(&folder, 0..5, edition * 10 + part);
            }
            let file = file_of_kind(&index, kind);
            let mut bytes = fs::read(&file).expect("a file");
            // The last byte of a file of JSON is a line break.
            let at = [0, bytes.len() / 2, bytes.len() - 2][part];
            if kind.ends_with(".json") {
                bytes.truncate(at)
            } else {
                bytes[at] ^= 1
            }
            fs::write(&file, bytes).expect("damage");
            let search = folder.run(&["search", "--json", "\"水平井\""]);
            search.without_panic(&format!("{kind} {at}"));
            let start = folder.run(&START).good();
            assert_has(&start.err, &["the index is rebuilt", "index.damaged"]);
            assert_eq!(found(&folder), all, "{kind} {at}");
        }
    }
}

/// Documents that can be read, and whether all rows can.
fn readable(data: &Path) -> (BTreeSet<String>, bool) {
    let mut urls = BTreeSet::new();
    let Ok(reader) = Reader::open(data) else {
        return (urls, false);
    };
    let Ok(rows) = reader.documents_after(0, usize::MAX) else {
        return (urls, false);
    };
    let mut whole = true;
    for row in rows {
        match decode(&reader, &row) {
            Ok(Some(stored)) => {
                urls.insert(stored.document.url);
            }
            Ok(None) => {}
            Err(_) => whole = false,
        }
    }
    (urls, whole)
}

#[test]
fn store_page_damage_is_named() {
    let folder = Folder::new("", &[]);
    let data = folder.data_dir();
    fill(&folder, 0..DOCUMENTS, 1);
    folder.done(&["backup", "copy.sqlite"]);
    let store = data.join("crawl.sqlite");
    let good = fs::read(&store).expect("the store");
    let pages = good.len() / PAGE_BYTES;
    let step = scaled([pages.div_ceil(PAGES), 1]);
    let (mut refused, mut unharmed) = (0, 0);
    for page in (0..pages).step_by(step) {
        let mut bad = good.clone();
        bad[page * PAGE_BYTES..(page + 1) * PAGE_BYTES].fill(0xa5);
        fs::write(&store, bad).expect("damage");
        let what = format!("page {page}");
        let start = folder.run(&START).without_panic(&what);
        match start.code {
            Some(0) => {
                // Not met on the way. What is read of it later is an error, and never less than before without one.
                let (urls, whole) = readable(&data);
                assert!(
                    !whole || urls.len() == DOCUMENTS,
                    "{what}: {} documents, and no word",
                    urls.len()
                );
                unharmed += 1;
            }
            _ => {
                let line = start.err;
                assert_eq!(line.lines().count(), 1, "{what}: {line}");
                assert_has(&line, &["damaged", "taojin restore"]);
                refused += 1;
            }
        }
        for beside in ["crawl.sqlite-wal", "crawl.sqlite-shm"] {
            let _ = fs::remove_file(data.join(beside));
        }
    }
    assert!(refused > 0);
    let mut bad = good.clone();
    bad[..PAGE_BYTES].fill(0xa5);
    fs::write(&store, bad).expect("damage");
    folder.done(&RESTORE);
    folder.done(&START);
    assert_eq!(found(&folder).len(), DOCUMENTS);
    say(&format!(
        "{refused} damaged pages were named at the start, {unharmed} were not met by it"
    ));
}

#[test]
fn store_loss_is_refused() {
    let folder = Folder::new("", &[]);
    let data = folder.data_dir();
    fill(&folder, 0..3, 1);
    folder.done(&["backup", "copy.sqlite"]);
    fs::remove_file(data.join("crawl.sqlite")).expect("the store is lost");
    // Once more: what the first try left is no store either.
    for _ in 0..2 {
        let line = folder.refused(&START);
        assert_has(&line, &["taojin restore --replace", "index"]);
        assert!(data.join("index/meta.json").exists());
    }
    folder.done(&RESTORE);
    folder.done(&START);
    assert_eq!(found(&folder).len(), 3);
    // Or on purpose.
    fs::remove_file(data.join("crawl.sqlite")).expect("the store goes");
    fs::remove_dir_all(data.join("index")).expect("the index goes");
    folder.done(&START);
    assert!(found(&folder).is_empty());
}

#[test]
fn store_of_newer_version_is_refused() {
    let folder = Folder::new(LISTEN, &[]);
    fill(&folder, 0..3, 1);
    let store = folder.file("data/crawl.sqlite");
    let mut newer = fs::read(&store).expect("the store");
    // `user_version` in the header of SQLite.
    newer[60..64].copy_from_slice(&99_u32.to_be_bytes());
    fs::write(&store, &newer).expect("a newer store");
    let index = |folder: &Folder| {
        let names = fs::read_dir(folder.file("data/index")).expect("the index");
        let names = names.map(|e| e.expect("an entry").file_name());
        names.collect::<BTreeSet<_>>()
    };
    let before = index(&folder);
    for command in [
        &["import", "/dev/null"][..],
        &["run"],
        &["reindex"],
        &["search", "水平井"],
    ] {
        let ran = folder.run(command).without_panic("a newer store");
        assert_ne!(ran.code, Some(0), "{command:?}");
        assert_has(&ran.err, &["99", "newer taojin"]);
    }
    assert!(fs::read(&store).expect("the store") == newer);
    assert_eq!(index(&folder), before);
}
