//! Documents and sites that are taken down, and stay away.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use super::{SAME, copies, site, site_with};
use crate::support::daemon::Daemon;
use crate::support::folder::assert_has;
use crate::support::small_web::{Reply, SmallWeb, article};
use crate::support::wait_until;
use crate::support::webhook::receiver;

/// Nothing of the document is found, and nothing brings it back.
fn stays_away(web: &SmallWeb) {
    for page in SAME {
        let why = web.why(page);
        assert!(why["taken_down_ms"].is_i64(), "{why}");
        assert_eq!(why["in_index"], false, "{why}");
        assert_has(&web.refused(&["visit", &web.url(page)]), &["taken down"]);
    }
    web.forget_log();
    web.json(&["crawl", "--site", "a", "--recheck", "--json"]);
    for page in SAME {
        assert_eq!(web.asked(page), 0, "{page} was asked for again");
        assert!(!web.indexed().contains_key(page), "{page} is back");
    }
    assert_eq!(web.indexed().len(), 2);
}

#[test]
fn purge_survives_kill_and_rebuild() {
    let web = copies();
    let daemon = Daemon::start(&web);
    daemon.wait_for_documents(3);
    let taken = web
        .indexed()
        .keys()
        .find(|u| SAME.contains(&u.as_str()))
        .cloned();
    let taken = taken.expect("one of the two has the document");
    let alias = SAME.iter().find(|a| **a != taken).expect("the other");
    let hit = daemon.hits("q=%E4%B8%8B%E6%9E%B6&limit=1");
    let id = hit[0]["id"].as_str().expect("an id").to_owned();

    // Nobody can be asked here, so nothing is done without --yes.
    let line = web.refused(&["purge", &web.url(alias)]);
    assert_has(&line, &["--yes", &web.url(&taken)]);
    let done = web.json(&["purge", &web.url(alias), "--yes", "--json"]);
    assert_eq!(done["documents"], 1, "{done}");
    assert_eq!(done["addresses"].as_array().map(Vec::len), Some(2));
    // At once: no search, no page, no feed has it.
    assert_eq!(daemon.hits("q=%E4%B8%8B%E6%9E%B6"), Vec::<Value>::new());
    assert_eq!(daemon.get(&format!("/api/docs/{id}")).0, 404);
    assert_eq!(daemon.get(&format!("/doc/{id}")).0, 410);
    let feed = daemon.get("/feed.json?q=").1;
    assert!(!feed.contains("下架") && feed.contains("岩心"), "{feed}");
    // Killed right after it answered.
    drop(daemon);
    stays_away(&web);

    web.done(&["import", "--rebuild"]);
    stays_away(&web);
    let daemon = Daemon::start(&web);
    stays_away(&web);

    let lifted = web.json(&["purge", "--allow", &web.url(&taken), "--json"]);
    assert_eq!(lifted["addresses"].as_array().map(Vec::len), Some(2));
    daemon.wait_for_documents(3);
    assert_has(
        &web.refused(&["purge", "--allow", &web.url(&taken)]),
        &["was not taken down"],
    );
    assert_eq!(daemon.stop(), Some(0));
}

#[test]
fn purge_without_daemon() {
    let web = copies();
    web.crawl();
    assert_eq!(web.indexed().len(), 3);
    let text = web.done(&["purge", &web.url(SAME[0]), "--yes"]);
    assert_has(&text, &["1 document taken down", "WARC"]);
    assert_eq!(web.indexed().len(), 2);
    stays_away(&web);
    // An address that was never crawled is refused when it turns up.
    let never = web.url("a.test/never.html");
    web.json(&["purge", &never, "--yes", "--json"]);
    web.set_article("a.test/never.html", "从未抓取");
    web.seed(&["a.test/n/2.html", "a.test/n/3.html", "a.test/never.html"]);
    stays_away(&web);
    assert_eq!(web.asked("a.test/never.html"), 0);
    web.json(&["purge", "--allow", &web.url(SAME[1]), "--json"]);
    web.crawl();
    assert_eq!(web.indexed().len(), 3);
}

#[test]
fn purge_drops_page_in_flight() {
    let web = site(&["a.test/n/1.html"]);
    let daemon = Daemon::start(&web);
    daemon.wait_for_documents(1);
    let slow = |title: &str, links: &str| {
        let body = article(title, "").replace("</body>", &format!("{links}</body>"));
        Reply::page(&body).after(Duration::from_millis(1500))
    };
    let link = format!(
        "<a href=\"{}\">更早的消息在此</a>",
        web.url("a.test/n/8.html")
    );
    web.set_article("a.test/n/8.html", "更早的消息");
    web.set("a.test/n/9.html", slow("慢慢到来的新闻", &link));
    web.seed(&["a.test/n/1.html", "a.test/n/9.html"]);
    let begun = daemon.post("/api/sites/a/visit", "");
    assert_eq!(begun.0, 200, "{begun:?}");
    wait_until("the slow page is asked for", || {
        web.asked("a.test/n/9.html") == 1
    });
    // A host is asked for one page at a time: the next one is asked for when the slow one has come.
    let other = web.url("a.test/none.html");
    let wait_for_slow_page = || web.run(&["visit", &other]);
    let done = web.json(&["purge", "a", "--yes", "--json"]);
    assert_eq!(done["documents"], 1, "{done}");
    assert!(done["next_cycle_ms"].is_i64(), "{done}");
    assert!(daemon.hits("q=").is_empty());
    wait_for_slow_page();
    assert!(daemon.hits("q=").is_empty(), "it came back");
    assert_eq!(web.asked("a.test/n/8.html"), 0, "its links came back");
    let status = web.json(&["status", "--json"]);
    assert_eq!(status["sites"][0]["documents"], 0, "{status}");
    assert_eq!(status["sites"][0]["urls"]["fetched"], 0, "{status}");

    // The same of one address.
    web.seed(&["a.test/n/9.html"]);
    web.forget_log();
    assert_eq!(daemon.post("/api/sites/a/visit", "").0, 200);
    wait_until("the slow page is asked for", || {
        web.asked("a.test/n/9.html") == 1
    });
    let url = web.url("a.test/n/9.html");
    web.json(&["purge", &url, "--yes", "--json"]);
    wait_for_slow_page();
    assert!(daemon.hits("q=").is_empty(), "it came back");
    // The site is still configured: what was not taken down is found anew.
    web.seed(&["a.test/n/1.html", "a.test/n/9.html"]);
    web.json(&["crawl", "--site", "a", "--json"]);
    daemon.wait_for_documents(1);
    assert_eq!(daemon.stop(), Some(0));
}

#[test]
fn site_remove_forget() {
    for with_daemon in [true, false] {
        let web = site(&["a.test/n/1.html", "a.test/n/2.html"]);
        web.json(&["crawl", "--site", "a", "--json"]);
        // A document that was imported under the name of the site goes as well.
        web.import([json!({"url": "http://elsewhere.test/x.html", "title": "导入的新闻", "text": "一段导入的文字。",
                           "site": "a", "kind": "article"})]);
        assert_eq!(web.indexed().len(), 3);
        let daemon = with_daemon.then(|| Daemon::start(&web));
        assert_has(
            &web.refused(&["site", "remove", "aa", "--forget"]),
            &["did you mean a?"],
        );
        let removed = web.done(&["site", "remove", "a", "--forget"]);
        assert_has(&removed, &["3 documents"]);
        assert!(!web.file("sites.d/a.toml").exists());
        assert_eq!(web.indexed().len(), 0);
        if let Some(daemon) = daemon {
            web.forget_log();
            let (status, _) = daemon.post("/api/sites/a/visit", "");
            assert_eq!(status, 404, "it is crawled still");
            let other = format!("seeds = [\"{}\"]\n", web.url("www.a.test/"));
            web.write("sites.d/b.toml", other);
            daemon.signal("-HUP");
            wait_until("another site is crawled", || web.asked("www.a.test/") > 0);
            assert_eq!(web.asked("a.test/"), 0);
            assert_eq!(daemon.stop(), Some(0));
        }
        let counts = web.json(&["status", "--json"]);
        assert_eq!(counts["documents"], 0, "{counts}");
    }
}

#[test]
fn purge_drops_waiting_webhook() {
    let fine = Arc::<AtomicBool>::default();
    let is_fine = Arc::clone(&fine);
    let status = move || {
        if is_fine.load(Ordering::SeqCst) {
            200
        } else {
            503
        }
    };
    let (hook, received) = receiver(status);
    let follow = format!("[[follow]]\nname = \"t\"\nquery = \"消息\"\nwebhook = \"{hook}\"\n");
    let web = site_with(&["a.test/n/1.html"], &follow);
    let daemon = Daemon::start(&web);
    daemon.wait_for_documents(1);
    daemon.wait_for_status("the topic is followed", |status| {
        status["follows"].to_string().contains("\"told\"")
    });
    web.set_article("a.test/n/2.html", "要撤下的消息");
    web.set_article("a.test/n/3.html", "留下来的消息");
    web.seed(&["a.test/n/2.html", "a.test/n/3.html"]);
    web.done(&["crawl", "--site", "a"]);
    daemon.wait_for_status("both wait to be told", |status| {
        status["follows"][0]["waiting"] == 2 && status["follows"][0]["last_error"].is_string()
    });
    web.done(&["purge", &web.url("a.test/n/2.html"), "--yes"]);
    fine.store(true, Ordering::SeqCst);
    let told = received.iter().filter(|posted| posted.answered == 200);
    let told = told
        .inspect(|posted| assert!(!posted.body.contains("要撤下的消息")))
        .any(|posted| posted.body.contains("留下来的消息"));
    assert!(told);
    assert_eq!(daemon.stop(), Some(0));
}
