//! A store that was set back to a backup: its index follows by itself, wherever that is, and is never that of another store.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::support::daemon::{Daemon, LISTEN};
use crate::support::folder::{Folder, assert_has, text};
use crate::support::opensearch::Engine;
use crate::support::wait_until;

fn url(number: u32) -> String {
    format!("https://a.example/{number}")
}

fn import(folder: &Folder, texts: &[(u32, &str)]) {
    let texts: Vec<(String, String)> = texts
        .iter()
        .map(|(number, word)| (url(*number), format!("{word}第{number}号公告")))
        .collect();
    let texts: Vec<(&str, &str)> = texts
        .iter()
        .map(|(u, t)| (u.as_str(), t.as_str()))
        .collect();
    folder.import_texts(&texts);
}

/// What a daemon finds, once it is ready: each document's address and text.
fn found(daemon: &Daemon) -> BTreeSet<(String, String)> {
    wait_until("the index is complete", || daemon.get("/readyz").0 == 200);
    let answer = daemon.json("/api/search?q=&limit=50&grouped=false");
    let hits = answer["hits"].as_array().expect("hits");
    assert_eq!(
        answer["total"].as_u64(),
        Some(hits.len() as u64),
        "{answer}"
    );
    let document = |hit: &Value| {
        let document = daemon.json(&format!("/api/docs/{}", text(&hit["id"])));
        (text(&hit["url"]), text(&document["text"]))
    };
    hits.iter().map(document).collect()
}

/// What the backup has.
fn backed_up() -> BTreeSet<(String, String)> {
    let document = |number| (url(number), format!("储气库第{number}号公告"));
    (1..=6).map(document).collect()
}

/// Backs up, goes on, and restores.
fn set_back(folder: &Folder) {
    import(folder, &[1, 2, 3, 4, 5, 6].map(|number| (number, "储气库")));
    folder.done(&["backup", "copy.sqlite"]);
    import(folder, &[(7, "页岩气"), (8, "页岩气"), (1, "天然气")]);
    folder.done(&["purge", &url(2), "--yes"]);
    assert_eq!(folder.total("天然气"), 1);
    folder.done(&["restore", "--replace", "copy.sqlite"]);
}

fn assert_follows(folder: &Folder) {
    set_back(folder);
    let daemon = Daemon::start(folder);
    assert_eq!(found(&daemon), backed_up());
    assert_eq!(daemon.status()["outbox_lag"], 0, "nothing waits");
    // It goes on from there.
    drop(daemon);
    import(folder, &[(9, "页岩气")]);
    assert_eq!((folder.total("页岩气"), folder.total("天然气")), (1, 0));
    // Again, before anything has looked at the index.
    folder.done(&["restore", "--replace", "copy.sqlite"]);
    folder.done(&["restore", "--replace", "copy.sqlite"]);
    import(folder, &[(10, "煤层气")]);
    assert_eq!((folder.total("储气库"), folder.total("页岩气")), (6, 0));
}

#[test]
fn embedded_index_follows_restored_store() {
    let folder = Folder::new(LISTEN, &[]);
    assert_follows(&folder);

    // A server without a crawl is not ready over what another process has to make again.
    folder.done(&["restore", "--replace", "copy.sqlite"]);
    let server = Daemon::serving(&folder);
    let (status, body) = server.get("/readyz");
    assert_eq!(status, 503, "{body}");
    folder.done(&["reindex"]);
    assert_eq!(found(&server), backed_up());
}

#[test]
fn remote_index_follows_restored_store() {
    let Some(engine) = Engine::start("remote_index_follows_restored_store", 1) else {
        return;
    };
    let config = LISTEN.to_owned() + &engine.settings();
    let folder = Folder::new(&config, &[]);
    assert_follows(&folder);

    // Under another name an index is made, and is ready without a new document.
    folder.done(&["restore", "--replace", "copy.sqlite"]);
    folder.configure("index = \"second\"\n");
    let daemon = Daemon::start(&folder);
    assert_eq!(found(&daemon), backed_up());
    drop(daemon);

    // On another machine nobody knows whether the store that the index was made from is still in use.
    let other = Folder::new(&(config + "index = \"second\"\n"), &[]);
    other.done(&["restore", &folder.arg("copy.sqlite")]);
    for command in [&["reindex"][..], &["import", "--rebuild"]] {
        let refused = other.run(command);
        assert_ne!(refused.code, Some(0), "{refused:?}");
        let parts = ["was made from another store", "taojin reindex --take-over"];
        assert_has(&refused.err, &parts);
    }
    other.done(&["reindex", "--take-over"]);
    assert_eq!(other.total("储气库"), 6);
    let daemon = Daemon::start(&other);
    assert_eq!(found(&daemon), backed_up());
}
