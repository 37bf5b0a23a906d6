//! Sites and addresses that are visited now, and sites that are left alone.

use serde_json::Value;

use super::site;
use crate::support::daemon::Daemon;
use crate::support::folder::{Process, assert_has};
use crate::support::small_web::SmallWeb;

#[test]
fn crawl_hands_over_to_daemon() {
    let web = site(&["a.test/n/1.html"]);
    let daemon = Daemon::start(&web);
    daemon.wait_for_documents(1);

    let pages: Vec<String> = (1..=6).map(|n| format!("a.test/n/{n}.html")).collect();
    for (n, page) in pages.iter().enumerate().skip(1) {
        web.set_article(page, &format!("第{n}号岩心样品"));
    }
    web.seed(&pages.iter().map(String::as_str).collect::<Vec<_>>());
    let counts = web.json(&["crawl", "--site", "a", "--json"]);
    assert_eq!(counts["documents_new"], 5, "{counts}");
    assert_eq!(counts["new_urls"], 5, "{counts}");
    assert!(counts["visits"].as_u64() >= Some(6), "{counts}");
    daemon.wait_for_documents(6);

    // For a person, the same lines as alone.
    let told = web.done(&["crawl", "--site", "a"]);
    assert_has(&told, &["documents: 0 new"]);
    // Nothing is due: nothing is visited, and that is soon said.
    let idle = web.json(&["crawl", "--json"]);
    assert_eq!(idle["visits"], 0, "{idle}");

    assert_has(
        &web.refused(&["crawl", "--site", "b"]),
        &["did you mean a?"],
    );
    // Configured, but the daemon was not told yet.
    let late = format!(
        "seeds = [\"{}\"]
",
        web.url("www.a.test/late")
    );
    web.write("sites.d/late.toml", late);
    assert_has(&web.refused(&["crawl", "--site", "late"]), &["reload"]);
    assert_eq!(daemon.stop(), Some(0));
}

#[test]
fn crawl_recheck_fetches_again() {
    let web = site(&["a.test/n/1.html", "a.test/n/2.html"]);
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
fn status_equals_api() {
    let web = site(&["a.test/n/1.html"]);
    web.json(&["crawl", "--json"]);
    assert!(web.json(&["status", "--json"]).get("pid").is_none());
    assert!(
        web.run(&["status"])
            .out
            .contains("\ndaemon     none runs\n")
    );
    let daemon = Daemon::start(&web);
    daemon.wait_for_documents(1);
    let pid = daemon.process.id();
    let told = web.done(&["status"]);
    let running = format!("\ndaemon     running, pid {pid}, since 2");
    assert!(
        told.starts_with("summary    ") && told.contains(&running),
        "{told}"
    );
    let mut api: Value =
        serde_json::from_str(&daemon.signed("GET", "/api/status", "").1).expect("JSON");
    let mut own = web.json(&["status", "--json"]);
    // What moves by itself from one moment to the next.
    for both in [&mut api, &mut own] {
        let all = both.as_object_mut().expect("an object");
        for key in ["now_ms", "disk", "workers", "sites"] {
            all.remove(key);
        }
    }
    assert_eq!(own, api);
    assert_eq!(own["pid"].to_string(), pid);
    assert_eq!(daemon.stop(), Some(0));
}

#[test]
fn visit_with_and_without_daemon() {
    let web = site(&["a.test/n/1.html"]);
    let visits = |web: &SmallWeb, n: usize| {
        let page = format!("a.test/unlinked/{n}.html");
        web.set_article(&page, &format!("未链接的第{n}页"));
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
        assert_has(
            &web.refused(&["visit", "http://other.test/x"]),
            &["no site has the host other.test"],
        );
        assert_has(
            &web.refused(&["visit", &web.url("a.test/private/x")]),
            &["excluded by the site's scope"],
        );
        assert_has(&web.refused(&["visit", "ab"]), &["did you mean a?"]);
        // A failed visit is no success.
        let gone = web.run(&["visit", &web.url("a.test/nothing.html")]);
        assert_has(&gone.failed(1).out, &["404"]);
    };
    let excluded = web.read("sites.d/a.toml") + "exclude = [\"/private/\"]\n";
    web.write("sites.d/a.toml", excluded);

    visits(&web, 1);
    refusals(&web);
    assert_eq!(
        web.asked("a.test/n/1.html"),
        0,
        "only what was asked for is visited"
    );
    let daemon = Daemon::start(&web);
    daemon.wait_for_documents(2);
    visits(&web, 2);
    refusals(&web);
    let site = web.json(&["visit", "a", "--json"]);
    assert!(site["visits"].as_u64() >= Some(1), "{site}");
    assert_eq!(daemon.stop(), Some(0));
}

/// What else is due keeps no single visit going, and is not visited by it.
#[test]
fn visit_alone_leaves_due_addresses() {
    let web = site(&["a.test/n/1.html", "a.test/n/2.html"]);
    let visit = |address: &str, code: i32| {
        let mut alone = Process::of(&mut web.taojin(&["visit", &web.url(address)]));
        assert_eq!(alone.wait(), Some(code), "{address}");
    };
    visit("a.test/", 0);
    visit("a.test/nothing.html", 1);
    assert_eq!(web.asked("a.test/n/1.html"), 0);
    assert_eq!(web.crawl()["documents_new"], 2);
}

#[test]
fn pause_holds_until_resume() {
    let web = site(&["a.test/n/1.html"]);
    let daemon = Daemon::start(&web);
    daemon.wait_for_documents(1);
    let paused = web.json(&["pause", "a", "--json"]);
    let since = paused["paused_ms"].as_i64().expect("a time");
    // Twice is no other time.
    assert_eq!(web.json(&["pause", "a", "--json"])["paused_ms"], since);

    let held = |web: &SmallWeb| {
        web.forget_log();
        assert_has(
            &web.run(&["crawl", "--site", "a"]).failed(1).err,
            &["taojin resume a"],
        );
        web.run(&["visit", &web.url("a.test/n/1.html")]).failed(1);
        assert_eq!(web.asked("a.test/"), 0);
        let status = web.json(&["status", "--json"]);
        assert_eq!(status["sites"][0]["paused_ms"], since, "{status}");
        assert_eq!(status["sites"][0]["next_cycle_ms"], Value::Null);
        for args in [&["site", "list"][..], &["status"]] {
            assert_has(&web.done(args), &["paused by the operator since"]);
        }
    };
    held(&web);
    let titled = format!("title = \"甲\"\n{}", web.read("sites.d/a.toml"));
    web.write("sites.d/a.toml", titled);
    daemon.signal("-HUP");
    daemon.wait_for_status("the site is read again", |status| {
        status["sites"][0]["title"] == "甲"
    });
    held(&web);
    assert_eq!(daemon.stop(), Some(0));
    held(&web);
    let daemon = Daemon::start(&web);
    held(&web);
    let (_, page) = daemon.get("/status?lang=en");
    assert!(page.contains("Paused by the operator"), "{page}");

    web.set_article("a.test/n/2.html", "恢复以后的新闻");
    web.seed(&["a.test/n/1.html", "a.test/n/2.html"]);
    let resumed = web.json(&["resume", "a", "--json"]);
    assert!(resumed["next_cycle_ms"].is_i64(), "{resumed}");
    let counts = web.json(&["crawl", "--site", "a", "--json"]);
    assert_eq!(counts["documents_new"], 1, "{counts}");
    assert_eq!(daemon.stop(), Some(0));
    // Without a daemon.
    web.json(&["pause", "a", "--json"]);
    web.run(&["crawl", "--site", "a"]).failed(1);
    web.json(&["resume", "a", "--json"]);
    web.json(&["crawl", "--site", "a", "--json"]);
}
