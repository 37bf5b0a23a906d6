//! A page that appears, changes twice and goes: `changes`, `history`, `changed:`, the pages and exports tell it, of a
//! running daemon; and a copy that is kept from `/api/changes` is the same as the store.

use std::collections::BTreeMap;
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use super::{Daemon, refused, run, said, site, site_with, wait_until};
use crate::support::small_web::{Reply, SmallWeb, article};

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
        let (status, body) = daemon.ask("GET", &target, None, false);
        assert_eq!(status, 200, "{body}");
        let answer: Value = serde_json::from_str(&body).expect("JSON");
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
    run(web, &["visit", &url]);
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

fn export(web: &SmallWeb) -> (Vec<Value>, Vec<Value>, String) {
    let file = |name: &str| web.path().join(name).to_string_lossy().into_owned();
    let (out, mark, gone) = (file("out"), file("mark"), file("gone"));
    let output = run(
        web,
        &[
            "export",
            "-o",
            &out,
            "--since-watermark",
            &mark,
            "--deleted",
            &gone,
        ],
    );
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{errors}");
    let lines = |path: &str| -> Vec<Value> {
        let text = fs::read_to_string(path).expect("the file");
        text.lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect()
    };
    (lines(&out), lines(&gone), errors)
}

#[test]
fn a_page_that_changes_twice_and_goes_is_told_everywhere() {
    let (web, address) = site_with(&PAGES, "[revisit]\ngone_after_ms = 1\n");
    let daemon = Daemon::start(&web, address);
    daemon.wait_for(3);
    let first = web.json(&["changes", "--json"]);
    let changes = first["changes"].as_array().expect("changes");
    assert!(
        changes.len() == 3
            && changes
                .iter()
                .all(|c| c["change"] == "new" && c["version"] == 1),
        "{first}"
    );
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
    let shown = said(&run(&web, &["history", &url]));
    assert!(
        shown.contains("[-山坡上-]{+河谷里+}连续工作了[-3-]{+30+}天"),
        "{shown}"
    );
    assert!(shown.contains("gone since"), "{shown}");
    let id = history["id"].as_str().expect("an id");
    let encoded = format!("/api/history?url={}", url.replace(':', "%3A"));
    let (status, body) = daemon.ask("GET", &encoded, None, false);
    assert_eq!(
        (status, serde_json::from_str(&body).ok()),
        (200, Some(history.clone()))
    );
    wait_until("the index has it", || daemon.hits("q=&limit=50").len() == 2);
    let (status, body) = daemon.ask("GET", &format!("/doc/{id}"), None, false);
    assert_eq!(status, 410);
    assert!(
        body.contains("河谷里") && body.contains("<del>山坡上</del>"),
        "{body}"
    );

    let (all, gone, errors) = export(&web);
    assert_eq!(all.len(), 0, "{all:?}");
    assert_eq!(gone.len(), 1, "{gone:?}");
    assert_eq!(
        (&gone[0]["id"], &gone[0]["why"]),
        (&history["id"], &Value::from("deleted"))
    );
    assert!(
        errors.contains("1 to remove") && errors.contains("complete up to change 6"),
        "{errors}"
    );
    assert_eq!(export(&web).1.len(), 0, "each is told once");

    run(&web, &["purge", &web.url(PAGES[1]), "--yes"]);
    let taken = web.json(&["history", &web.url(PAGES[1]), "--json"]);
    assert_eq!(taken["state"], "taken_down");
    assert_eq!(
        taken["versions"].as_array().map(Vec::len),
        Some(0),
        "{taken}"
    );
    let (code, line) = refused(&web, &["history", &web.url("a.test/none.html")]);
    assert!(
        code == Some(1) && line.contains("nothing is known"),
        "{line}"
    );
}

#[test]
fn a_copy_of_another_history_is_told_and_an_export_too() {
    let (web, address) = site(&PAGES[..1]);
    let daemon = Daemon::start(&web, address);
    daemon.wait_for(1);
    let copy = Copy::whole(&daemon);
    export(&web);
    assert_eq!(daemon.stop(), Some(0));
    // Another store in its place: the same numbers mean something else.
    fs::remove_dir_all(web.path().join("data")).expect("the data folder goes");
    web.crawl();
    let (code, line) = refused(&web, &["changes", "--since", &copy.cursor]);
    assert!(
        code == Some(2) && line.contains("another history"),
        "{line}"
    );
    let daemon = Daemon::start(&web, address);
    let target = format!("/api/changes?since={}", copy.cursor);
    let (status, body) = daemon.ask("GET", &target, None, false);
    assert!(status == 410 && body.contains("since=0"), "{status} {body}");
    let mark = web.path().join("mark");
    let before = fs::read(&mark).expect("the mark");
    let file = |name: &str| web.path().join(name).to_string_lossy().into_owned();
    let (out, gone, mark_name) = (file("out"), file("gone"), file("mark"));
    let args = [
        "export",
        "-o",
        &out,
        "--since-watermark",
        &mark_name,
        "--deleted",
        &gone,
    ];
    let (code, line) = refused(&web, &args);
    assert!(
        code == Some(2) && line.contains("another history"),
        "{line}"
    );
    assert_eq!(fs::read(&mark).expect("the mark"), before);
}
