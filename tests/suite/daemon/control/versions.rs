//! A page that appears, changes twice and goes: `changes`, `history`, `changed:`, the pages and exports tell it, of a
//! running daemon; and a copy that is kept from `/api/changes` is the same as the store.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use super::{site, site_with};
use crate::support::daemon::Daemon;
use crate::support::folder::assert_has;
use crate::support::small_web::{Reply, SmallWeb, article};
use crate::support::wait_until;

const PAGES: [&str; 3] = ["a.test/n/1.html", "a.test/n/2.html", "a.test/n/3.html"];

/// Documents somewhere else, by id.
#[derive(Default)]
struct Copy {
    documents: BTreeMap<String, Value>,
    cursor: String,
}

impl Copy {
    /// Takes in one answer; whether there is more.
    fn ask(&mut self, daemon: &Daemon, limit: usize) -> bool {
        let since = if self.cursor.is_empty() {
            "0"
        } else {
            &self.cursor
        };
        let target = format!("/api/changes?since={since}&limit={limit}&text=true");
        let answer = daemon.json(&target);
        for change in answer["changes"].as_array().expect("changes") {
            let id = change["id"].as_str().expect("an id").to_owned();
            match change["change"].as_str() {
                Some("deleted") => drop(self.documents.remove(&id)),
                _ => drop(self.documents.insert(id, change["document"].clone())),
            }
        }
        self.cursor = answer["next"].as_str().expect("a cursor").to_owned();
        answer["more"] == true
    }

    fn whole(daemon: &Daemon) -> Self {
        let mut copy = Copy::default();
        while copy.ask(daemon, 100) {}
        copy
    }
}

/// Visits a page that answers differently now, and waits until the log has the change after `cursor`.
fn now_answers(web: &SmallWeb, page: &str, reply: Reply, change: &str, cursor: &str) {
    web.set(page, reply);
    let url = web.url(page);
    web.run(&["visit", &url]);
    wait_until(&format!("{page} is {change}"), || {
        let found = web.json(&["changes", "--since", cursor, "--json"]);
        let all = found["changes"].as_array().expect("changes");
        all.iter().any(|c| c["url"] == url && c["change"] == change)
    });
}

/// Says that something is finished when it goes.
struct EndsWith<'a>(&'a AtomicBool);

impl Drop for EndsWith<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// An export of what is new since the last one.
const EXPORT: [&str; 7] = [
    "export",
    "-o",
    "out",
    "--since-watermark",
    "mark",
    "--deleted",
    "gone",
];

/// What is there and what is gone since the last export, and what was said of it.
fn export(web: &SmallWeb) -> (Vec<Value>, Vec<Value>, String) {
    let said = web.run(&EXPORT).good().err;
    let lines = |name: &str| -> Vec<Value> {
        let text = web.read(name);
        let lines = text.lines();
        lines
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect()
    };
    (lines("out"), lines("gone"), said)
}

#[test]
fn history_and_changes_agree() {
    let web = site_with(&PAGES, "[revisit]\ngone_after_ms = 1\n");
    let daemon = Daemon::start(&web);
    daemon.wait_for_documents(3);
    let first = web.json(&["changes", "--json"]);
    let changes = first["changes"].as_array().expect("changes");
    let is_new = |c: &Value| c["change"] == "new" && c["version"] == 1;
    assert!(changes.len() == 3 && changes.iter().all(is_new), "{first}");
    let cursor = first["next"].as_str().expect("a cursor").to_owned();
    let (all, gone, _) = export(&web);
    assert_eq!((all.len(), gone.len()), (3, 0));

    let finished = AtomicBool::new(false);
    let (page, url) = (PAGES[0], web.url(PAGES[0]));
    std::thread::scope(|scope| {
        // It ends also when something here fails.
        let ends = EndsWith(&finished);
        // Asks all the time, with every size of answer.
        let copying = scope.spawn(|| {
            let mut copy = Copy::default();
            let mut size = 0;
            while !finished.load(Ordering::Relaxed) {
                size = size % 3 + 1;
                copy.ask(&daemon, size);
            }
            while copy.ask(&daemon, 1) {}
            copy
        });
        let second =
            article("第0号岩心样品", "").replace("山坡上连续工作了3天", "河谷里连续工作了30天");
        now_answers(&web, page, Reply::page(&second), "changed", &cursor);
        let third = second.replace("等待下一步的结果公布", "结果已经公布");
        let before = web.json(&["changes", "--since", &cursor, "--json"]);
        let before = before["next"].as_str().expect("a cursor").to_owned();
        now_answers(&web, page, Reply::page(&third), "changed", &before);
        let page_of = |query: &str| daemon.hits(&format!("q={query}&limit=50")).len();
        wait_until("the index has it", || {
            page_of("changed:1d+%22%E6%B2%B3%E8%B0%B7%22") == 1
        });
        assert_eq!(page_of("changed:2020"), 0);
        now_answers(&web, page, Reply::status(410), "deleted", &cursor);
        drop(ends);
        let copy = copying.join().expect("a copy");
        assert_eq!(copy.documents, Copy::whole(&daemon).documents);
        assert_eq!(copy.documents.len(), 2);
    });

    let history = web.json(&["history", &url, "--json"]);
    assert_eq!(history["state"], "gone");
    let versions = history["versions"].as_array().expect("versions");
    let changes: Vec<&str> = versions
        .iter()
        .filter_map(|v| v["change"].as_str())
        .collect();
    assert_eq!(changes, ["deleted", "changed", "changed", "new"]);
    assert_has(
        &web.done(&["history", &url]),
        &["[-山坡上-]{+河谷里+}连续工作了[-3-]{+30+}天", "gone since"],
    );
    let id = history["id"].as_str().expect("an id");
    let encoded = format!("/api/history?url={}", url.replace(':', "%3A"));
    assert_eq!(daemon.json(&encoded), history);
    wait_until("the index has it", || daemon.hits("q=&limit=50").len() == 2);
    let (status, body) = daemon.get(&format!("/doc/{id}"));
    assert_eq!(status, 410);
    assert_has(&body, &["河谷里", "<del>山坡上</del>"]);

    let (all, gone, errors) = export(&web);
    assert_eq!(all.len(), 0, "{all:?}");
    assert_eq!(gone.len(), 1, "{gone:?}");
    assert_eq!(gone[0]["id"], history["id"]);
    assert_eq!(gone[0]["why"], "deleted");
    assert_has(&errors, &["1 to remove", "complete up to change 6"]);
    assert_eq!(export(&web).1.len(), 0, "each is told once");

    web.run(&["purge", &web.url(PAGES[1]), "--yes"]);
    let taken = web.json(&["history", &web.url(PAGES[1]), "--json"]);
    assert_eq!(taken["state"], "taken_down");
    assert_eq!(taken["versions"], json!([]));
    assert_has(
        &web.run(&["history", &web.url("a.test/none.html")])
            .failed(1)
            .err,
        &["nothing is known"],
    );
}

#[test]
fn changes_refuse_foreign_cursor() {
    let web = site(&PAGES[..1]);
    let daemon = Daemon::start(&web);
    daemon.wait_for_documents(1);
    let copy = Copy::whole(&daemon);
    export(&web);
    assert_eq!(daemon.stop(), Some(0));
    // Another store in its place: the same numbers mean something else.
    std::fs::remove_dir_all(web.data_dir()).expect("the data folder goes");
    web.crawl();
    let line = web.refused(&["changes", "--since", &copy.cursor]);
    assert_has(&line, &["another history"]);
    let daemon = Daemon::start(&web);
    let (status, body) = daemon.get(&format!("/api/changes?since={}", copy.cursor));
    assert!(status == 410 && body.contains("since=0"), "{status} {body}");
    let before = web.read("mark");
    assert_has(&web.refused(&EXPORT), &["another history"]);
    assert_eq!(web.read("mark"), before);
}
