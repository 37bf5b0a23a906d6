//! Sites and addresses that are visited now, and sites that are left alone.

use std::fs;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::{Daemon, refused, run, said, site};
use crate::support::small_web::{Reply, SmallWeb, article};

#[test]
fn a_crawl_beside_the_daemon_is_handed_over_and_told_to_its_end() {
    let (web, address) = site(&["a.test/n/1.html"]);
    let daemon = Daemon::start(&web, address);
    daemon.wait_for(1);

    let pages: Vec<String> = (1..=6).map(|n| format!("a.test/n/{n}.html")).collect();
    for (n, page) in pages.iter().enumerate().skip(1) {
        web.set(page, Reply::page(&article(&format!("第{n}号岩心样品"), "")));
    }
    web.seed(&pages.iter().map(String::as_str).collect::<Vec<_>>());
    let counts = web.json(&["crawl", "--site", "a", "--json"]);
    assert_eq!(counts["documents_new"], 5, "{counts}");
    assert_eq!(counts["new_urls"], 5, "{counts}");
    assert!(counts["visits"].as_u64() >= Some(6), "{counts}");
    daemon.wait_for(6);

    // For a person, the same lines as alone.
    let output = run(&web, &["crawl", "--site", "a"]);
    assert!(output.status.success());
    assert!(
        said(&output).contains("documents: 0 new"),
        "{}",
        said(&output)
    );
    // Nothing is due: nothing is visited, and that is soon said.
    let idle = web.json(&["crawl", "--json"]);
    assert_eq!(idle["visits"], 0, "{idle}");

    let (code, line) = refused(&web, &["crawl", "--site", "b"]);
    assert_eq!(code, Some(2));
    assert!(line.contains("did you mean a?"), "{line}");
    // Configured, but the daemon was not told yet.
    let file = web.path().join("sites.d/late.toml");
    let late = format!("seeds = [\"http://www.a.test:{}/late\"]\n", web.port);
    fs::write(&file, late).expect("site file");
    let (code, line) = refused(&web, &["crawl", "--site", "late"]);
    assert_eq!(code, Some(2));
    assert!(line.contains("reload"), "{line}");
    assert_eq!(daemon.stop(), Some(0));
}

#[test]
fn a_recheck_right_after_a_pass_asks_again_with_and_without_a_site() {
    let (web, _) = site(&["a.test/n/1.html", "a.test/n/2.html"]);
    web.json(&["crawl", "--json"]);
    for args in [
        &["crawl", "--recheck", "--json"][..],
        &["crawl", "--site", "a", "--recheck", "--json"],
    ] {
        web.forget_log();
        let counts = web.json(args);
        assert_eq!(web.asked("a.test/n/1.html"), 1, "{args:?}: {counts}");
    }
}

#[test]
fn status_says_whether_a_daemon_runs_and_answers_as_the_api_does() {
    let (web, address) = site(&["a.test/n/1.html"]);
    web.json(&["crawl", "--json"]);
    assert!(web.json(&["status", "--json"]).get("pid").is_none());
    assert!(said(&run(&web, &["status"])).starts_with("daemon     none runs\n"));
    let daemon = Daemon::start(&web, address);
    daemon.wait_for(1);
    let pid = daemon.child.id();
    let told = said(&run(&web, &["status"]));
    assert!(
        told.starts_with(&format!("daemon     running, pid {pid}, since 2")),
        "{told}"
    );
    let (status, body) = daemon.ask("GET", "/api/status", None, true);
    assert_eq!(status, 200, "{body}");
    let mut api: Value = serde_json::from_str(&body).expect("JSON");
    let mut own = web.json(&["status", "--json"]);
    // What moves by itself from one moment to the next.
    for both in [&mut api, &mut own] {
        let all = both.as_object_mut().expect("an object");
        for key in ["now_ms", "disk", "workers", "sites"] {
            all.remove(key);
        }
    }
    assert_eq!(own, api);
    assert_eq!(own["pid"], pid);
    // A configuration that cannot be read is not taken over. The status says so, also after it is mended and until the daemon
    // has read it.
    let file = web.path().join("sites.d/wrong.toml");
    fs::write(&file, "seeds = 1\n").expect("site file");
    daemon.signal("-HUP");
    super::wait_until("the reload is refused", || {
        let (_, body) = daemon.ask("GET", "/api/status", None, true);
        body.contains("the last reload was refused: ")
    });
    fs::remove_file(&file).expect("site file");
    let note = web.json(&["status", "--json"])["note"].clone();
    let note = note.as_str().unwrap_or_default();
    assert!(
        note.starts_with("the last reload was refused: ") && note.contains("wrong.toml"),
        "{note}"
    );
    assert_eq!(daemon.stop(), Some(0));
}

#[test]
fn an_address_is_visited_now_with_a_daemon_and_without() {
    let (web, address) = site(&["a.test/n/1.html"]);
    let visits = |web: &SmallWeb, n: usize| {
        let page = format!("a.test/unlinked/{n}.html");
        web.set(
            &page,
            Reply::page(&article(&format!("未链接的第{n}页"), "")),
        );
        let url = web.url(&page);
        let done = web.json(&["visit", &url, "--json"]);
        assert_eq!(done["document"], "new", "{done}");
        assert_eq!(done["status"], 200, "{done}");
        assert_eq!(web.asked(&page), 1);
        // Again: the same address, which has not changed.
        let again = web.json(&["visit", &url, "--json"]);
        assert_eq!(again["outcome"], "not_modified", "{again}");
        assert_eq!(web.asked(&page), 2);
    };
    let refusals = |web: &SmallWeb| {
        let (code, line) = refused(web, &["visit", "http://other.test/x"]);
        assert_eq!(code, Some(2));
        assert!(line.contains("no site has the host other.test"), "{line}");
        let (code, line) = refused(web, &["visit", &web.url("a.test/private/x")]);
        assert_eq!(code, Some(2));
        assert!(line.contains("excluded by the site's scope"), "{line}");
        let (code, line) = refused(web, &["visit", "ab"]);
        assert_eq!(code, Some(2));
        assert!(line.contains("did you mean a?"), "{line}");
        let gone = run(web, &["visit", &web.url("a.test/nothing.html")]);
        assert_eq!(gone.status.code(), Some(1), "a failed visit is no success");
        assert!(said(&gone).contains("404"), "{}", said(&gone));
    };
    let file = web.path().join("sites.d/a.toml");
    let text = fs::read_to_string(&file).expect("site file");
    fs::write(&file, format!("{text}exclude = [\"/private/\"]\n")).expect("site file");

    visits(&web, 1);
    refusals(&web);
    assert_eq!(
        web.asked("a.test/n/1.html"),
        0,
        "only what was asked for is visited"
    );
    let daemon = Daemon::start(&web, address);
    daemon.wait_for(2);
    visits(&web, 2);
    refusals(&web);
    let site = web.json(&["visit", "a", "--json"]);
    assert!(site["visits"].as_u64() >= Some(1), "{site}");
    assert_eq!(daemon.stop(), Some(0));
}

#[test]
fn a_paused_site_is_left_alone_until_it_is_resumed() {
    let (web, address) = site(&["a.test/n/1.html"]);
    let daemon = Daemon::start(&web, address);
    daemon.wait_for(1);
    let paused = web.json(&["pause", "a", "--json"]);
    let since = paused["paused_ms"].as_i64().expect("a time");
    // Twice is no other time.
    assert_eq!(web.json(&["pause", "a", "--json"])["paused_ms"], since);

    let held = |web: &SmallWeb| {
        web.forget_log();
        let (code, line) = refused(web, &["crawl", "--site", "a"]);
        assert_eq!(code, Some(1));
        assert!(line.contains("taojin resume a"), "{line}");
        let (code, _) = refused(web, &["visit", &web.url("a.test/n/1.html")]);
        assert_eq!(code, Some(1));
        assert_eq!(web.asked("a.test/"), 0);
        let status = web.json(&["status", "--json"]);
        assert_eq!(status["sites"][0]["paused_ms"], since, "{status}");
        assert_eq!(status["sites"][0]["next_cycle_ms"], Value::Null);
        let list = said(&run(web, &["site", "list"]));
        assert!(list.contains("paused by the operator since"), "{list}");
        let status = said(&run(web, &["status"]));
        assert!(status.contains("paused by the operator since"), "{status}");
    };
    held(&web);
    daemon.signal("-HUP");
    thread::sleep(Duration::from_millis(700));
    held(&web);
    assert_eq!(daemon.stop(), Some(0));
    held(&web);
    let daemon = Daemon::start(&web, address);
    held(&web);
    let (_, page) = daemon.ask("GET", "/status?lang=en", None, false);
    assert!(page.contains("Paused by the operator"), "{page}");

    web.set(
        "a.test/n/2.html",
        Reply::page(&article("恢复以后的新闻", "")),
    );
    web.seed(&["a.test/n/1.html", "a.test/n/2.html"]);
    let resumed = web.json(&["resume", "a", "--json"]);
    assert!(resumed["next_cycle_ms"].is_i64(), "{resumed}");
    let counts = web.json(&["crawl", "--site", "a", "--json"]);
    assert_eq!(counts["documents_new"], 1, "{counts}");
    assert_eq!(daemon.stop(), Some(0));
    // Without a daemon.
    web.json(&["pause", "a", "--json"]);
    let (code, _) = refused(&web, &["crawl", "--site", "a"]);
    assert_eq!(code, Some(1));
    web.json(&["resume", "a", "--json"]);
    web.json(&["crawl", "--site", "a", "--json"]);
}
