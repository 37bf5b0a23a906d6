//! The documents are in the store, and the index is made from it: whatever happens to the index, none is missing.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use serde_json::Value;

use crate::cli::Place;

pub(crate) fn import(place: &Place, urls: &[(&str, &str)]) {
    let mut child = place
        .command(&["import", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("taojin runs");
    let mut input = child.stdin.take().expect("its input");
    for (url, text) in urls {
        let line =
            serde_json::json!({"url": url, "title": "日报", "text": text, "kind": "article"});
        writeln!(input, "{line}").expect("it reads");
    }
    drop(input);
    assert!(child.wait().expect("it ends").success());
}

/// Addresses of the hits for a text.
pub(crate) fn hits(place: &Place, text: &str) -> Vec<String> {
    let output = place.run(&["search", "--json", text]);
    let found: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    let hits = found["hits"].as_array().expect("hits");
    let url = |hit: &Value| hit["url"].as_str().unwrap_or_default().to_owned();
    let mut urls: Vec<String> = hits.iter().map(url).collect();
    urls.sort();
    urls
}

fn run(place: &Place, args: &[&str]) -> String {
    let output = place.run(args);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{args:?}: {said}");
    said
}

const ONE: &str = "http://a.example/1";
const TWO: &str = "http://a.example/2";

#[test]
fn a_lost_index_is_made_again_from_the_store() {
    let place = Place::new("", &[]);
    import(&place, &[(ONE, "页岩气产量创新高"), (TWO, "储气库注气")]);
    fs::remove_dir_all(place.path().join("data/index")).expect("the index is lost");
    run(&place, &["reindex"]);
    assert_eq!(hits(&place, "\"页岩气\""), [ONE]);
    assert_eq!(hits(&place, "\"储气库\""), [TWO]);
}

#[test]
fn a_restored_store_beside_a_newer_index_loses_nothing_of_what_comes_next() {
    let place = Place::new("", &[]);
    let store = place.path().join("data/crawl.sqlite");
    import(&place, &[(ONE, "页岩气产量创新高")]);
    let backup = fs::read(&store).expect("a backup");
    let later: Vec<String> = (2..9).map(|n| format!("http://a.example/{n}")).collect();
    let later: Vec<(&str, &str)> = later
        .iter()
        .map(|url| (url.as_str(), "储气库注气"))
        .collect();
    import(&place, &later);
    assert_eq!(hits(&place, "\"储气库\"").len(), 7);

    fs::write(&store, backup).expect("the store is restored");
    for rest in ["crawl.sqlite-wal", "crawl.sqlite-shm"] {
        let _ = fs::remove_file(place.path().join("data").join(rest));
    }
    // So many that they would take all the numbers that the index has seen before.
    let new: Vec<String> = (10..30).map(|n| format!("http://a.example/{n}")).collect();
    let new: Vec<(&str, &str)> = new.iter().map(|url| (url.as_str(), "煤层气勘探")).collect();
    import(&place, &new);
    let found = place.run(&["search", "--json", "\"煤层气\""]);
    let found: Value = serde_json::from_slice(&found.stdout).expect("an answer");
    assert_eq!(found["total"], 20);
    assert_eq!(hits(&place, "\"页岩气\""), [ONE]);
    assert!(
        hits(&place, "\"储气库\"").is_empty(),
        "the store has none of them"
    );
}

#[test]
fn reindexing_that_is_killed_leaves_the_old_index_and_goes_on() {
    let place = Place::new("", &[]);
    let urls: Vec<String> = (0..3_000)
        .map(|n| format!("http://a.example/{n}"))
        .collect();
    let text = "川南页岩气水平井产量创新高，储气库全部转入注气。".repeat(20);
    let documents: Vec<(&str, &str)> = urls
        .iter()
        .map(|url| (url.as_str(), text.as_str()))
        .collect();
    import(&place, &documents);
    let count = |place: &Place| -> u64 {
        let output = place.run(&["search", "--json", "\"页岩气\""]);
        let found: Value = serde_json::from_slice(&output.stdout).expect("an answer");
        found["total"].as_u64().expect("a number")
    };
    assert_eq!(count(&place), 3_000);
    let fresh = place.path().join("data/index.new");
    for _ in 0..3 {
        let mut child = place.command(&["reindex"]).spawn().expect("taojin runs");
        while !fresh.exists() && child.try_wait().expect("its state").is_none() {
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        let _ = child.kill();
        child.wait().expect("it ends");
        assert_eq!(count(&place), 3_000);
    }
    run(&place, &["reindex"]);
    assert!(!fresh.exists());
    assert_eq!(count(&place), 3_000);
}

/// The newer program may come back: nothing of its index is touched.
#[test]
fn a_downgrade_refuses_the_newer_index_and_keeps_it() {
    let place = Place::new("[serve]\nlisten = \"127.0.0.1:0\"\n", &[]);
    import(&place, &[(ONE, "页岩气产量创新高")]);
    let index = place.path().join("data/index");
    let meta = index.join("meta.json");
    let text = fs::read_to_string(&meta).expect("the list of segments");
    let ours = format!("\\\"format\\\":{}", taojin_search::index::FORMAT);
    let newer = text.replace(&ours, "\\\"format\\\":99");
    assert_ne!(newer, text);
    fs::write(&meta, &newer).expect("written");
    let daemon = place.run(&["run"]);
    let code = daemon.status.code();
    assert_eq!(code, Some(2), "it would be started again for ever");
    for args in [&["search", "页岩气"][..], &["reindex"]] {
        let said = place.refused(args);
        assert!(
            said.contains("format 99") && said.contains("install the newer taojin again"),
            "{args:?}: {said}"
        );
    }
    assert_eq!(fs::read_to_string(&meta).expect("still there"), newer);
    // What the message says to do.
    fs::rename(&index, place.path().join("kept")).expect("moved away");
    run(&place, &["reindex"]);
    assert_eq!(hits(&place, "\"页岩气\""), [ONE]);
}
