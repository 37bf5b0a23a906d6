//! Documents and sites that are taken down, and stay away.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::{Daemon, SAME, copies, refused, run, said, site, site_with, wait_until};
use crate::support::small_web::{Reply, SmallWeb, article};

/// Nothing of the document is found, and nothing brings it back.
fn stays_away(web: &SmallWeb) {
    for page in SAME {
        let why = web.json(&["why", &web.url(page), "--json"]);
        assert!(why["taken_down_ms"].is_i64(), "{why}");
        assert_eq!(why["in_index"], false, "{why}");
        let (code, line) = refused(web, &["visit", &web.url(page)]);
        assert_eq!(code, Some(2));
        assert!(line.contains("taken down"), "{line}");
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
fn a_takedown_holds_whatever_happens_after_it() {
    let (web, address) = copies();
    let daemon = Daemon::start(&web, address);
    daemon.wait_for(3);
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
    let (code, line) = refused(&web, &["purge", &web.url(alias)]);
    assert_eq!(code, Some(2));
    assert!(
        line.contains("--yes") && line.contains(&web.url(&taken)),
        "{line}"
    );
    let done = web.json(&["purge", &web.url(alias), "--yes", "--json"]);
    assert_eq!(done["documents"], 1, "{done}");
    assert_eq!(
        done["addresses"].as_array().map(Vec::len),
        Some(2),
        "{done}"
    );
    // At once: no search, no page, no feed has it.
    assert_eq!(daemon.hits("q=%E4%B8%8B%E6%9E%B6"), Vec::<Value>::new());
    assert_eq!(
        daemon.ask("GET", &format!("/api/docs/{id}"), None, false).0,
        404
    );
    assert_eq!(daemon.ask("GET", &format!("/doc/{id}"), None, false).0, 410);
    let feed = daemon.ask("GET", "/feed.json?q=", None, false).1;
    assert!(!feed.contains("下架") && feed.contains("岩心"), "{feed}");
    // Killed right after it answered.
    daemon.kill();
    stays_away(&web);

    let rebuilt = run(&web, &["import", "--rebuild"]);
    assert!(rebuilt.status.success(), "{rebuilt:?}");
    stays_away(&web);
    let daemon = Daemon::start(&web, address);
    stays_away(&web);

    let lifted = web.json(&["purge", "--allow", &web.url(&taken), "--json"]);
    assert_eq!(
        lifted["addresses"].as_array().map(Vec::len),
        Some(2),
        "{lifted}"
    );
    daemon.wait_for(3);
    let (code, line) = refused(&web, &["purge", "--allow", &web.url(&taken)]);
    assert_eq!(code, Some(2));
    assert!(line.contains("was not taken down"), "{line}");
    assert_eq!(daemon.stop(), Some(0));
}

#[test]
fn a_takedown_without_a_daemon_is_the_same() {
    let (web, _) = copies();
    web.crawl();
    assert_eq!(web.indexed().len(), 3);
    let output = run(&web, &["purge", &web.url(SAME[0]), "--yes"]);
    let text = said(&output);
    assert!(output.status.success(), "{output:?}");
    assert!(
        text.contains("1 document taken down") && text.contains("WARC"),
        "{text}"
    );
    assert_eq!(web.indexed().len(), 2);
    stays_away(&web);
    // An address that was never crawled is refused when it turns up.
    let never = web.url("a.test/never.html");
    web.json(&["purge", &never, "--yes", "--json"]);
    web.set("a.test/never.html", Reply::page(&article("从未抓取", "")));
    web.seed(&["a.test/n/2.html", "a.test/n/3.html", "a.test/never.html"]);
    stays_away(&web);
    assert_eq!(web.asked("a.test/never.html"), 0);
    web.json(&["purge", "--allow", &web.url(SAME[1]), "--json"]);
    web.crawl();
    assert_eq!(web.indexed().len(), 3);
}

#[test]
fn a_page_that_was_on_its_way_does_not_come_back_after_the_purge() {
    let (web, address) = site(&["a.test/n/1.html"]);
    let daemon = Daemon::start(&web, address);
    daemon.wait_for(1);
    let slow = |title: &str, links: &str| {
        let body = article(title, "").replace("</body>", &format!("{links}</body>"));
        Reply::page(&body).after(Duration::from_millis(1500))
    };
    let link = format!(
        "<a href=\"{}\">更早的消息在此</a>",
        web.url("a.test/n/8.html")
    );
    web.set("a.test/n/8.html", Reply::page(&article("更早的消息", "")));
    web.set("a.test/n/9.html", slow("慢慢到来的新闻", &link));
    web.seed(&["a.test/n/1.html", "a.test/n/9.html"]);
    let begun = daemon.post("/api/sites/a/visit", None);
    assert_eq!(begun.0, 200, "{begun:?}");
    wait_until("the slow page is asked for", || {
        web.asked("a.test/n/9.html") == 1
    });
    let done = web.json(&["purge", "a", "--yes", "--json"]);
    assert_eq!(done["documents"], 1, "{done}");
    assert!(done["next_cycle_ms"].is_i64(), "{done}");
    assert!(daemon.hits("q=").is_empty());
    // Longer than the page takes.
    thread::sleep(Duration::from_millis(2500));
    assert!(daemon.hits("q=").is_empty(), "it came back");
    assert_eq!(web.asked("a.test/n/8.html"), 0, "its links came back");
    let status = web.json(&["status", "--json"]);
    assert_eq!(status["sites"][0]["documents"], 0, "{status}");
    assert_eq!(status["sites"][0]["urls"]["fetched"], 0, "{status}");

    // The same of one address.
    web.seed(&["a.test/n/9.html"]);
    web.forget_log();
    assert_eq!(daemon.post("/api/sites/a/visit", None).0, 200);
    wait_until("the slow page is asked for", || {
        web.asked("a.test/n/9.html") == 1
    });
    let url = web.url("a.test/n/9.html");
    web.json(&["purge", &url, "--yes", "--json"]);
    thread::sleep(Duration::from_millis(2500));
    assert!(daemon.hits("q=").is_empty(), "it came back");
    // The site is still configured: what was not taken down is found anew.
    web.seed(&["a.test/n/1.html", "a.test/n/9.html"]);
    web.json(&["crawl", "--site", "a", "--json"]);
    daemon.wait_for(1);
    assert_eq!(daemon.stop(), Some(0));
}

#[test]
fn a_site_is_removed_with_all_it_had_beside_the_daemon_and_alone() {
    for with_daemon in [true, false] {
        let (web, address) = site(&["a.test/n/1.html", "a.test/n/2.html"]);
        web.json(&["crawl", "--site", "a", "--json"]);
        // A document that was imported under the name of the site goes as well.
        let imported = web.path().join("more.jsonl");
        let text = "{\"url\":\"http://elsewhere.test/x.html\",\"title\":\"导入的新闻\",\"text\":\"一段导入的文字。\",\
                    \"site\":\"a\",\"kind\":\"article\"}\n";
        fs::write(&imported, text).expect("written");
        let import = run(&web, &["import", imported.to_str().expect("a path")]);
        assert!(import.status.success(), "{import:?}");
        assert_eq!(web.indexed().len(), 3);
        let daemon = with_daemon.then(|| Daemon::start(&web, address));
        let (code, line) = refused(&web, &["site", "remove", "aa", "--forget"]);
        assert_eq!(code, Some(2));
        assert!(line.contains("did you mean a?"), "{line}");
        let output = run(&web, &["site", "remove", "a", "--forget"]);
        assert!(output.status.success(), "{output:?}");
        assert!(said(&output).contains("3 documents"), "{}", said(&output));
        assert!(!web.path().join("sites.d/a.toml").exists());
        assert_eq!(web.indexed().len(), 0);
        if let Some(daemon) = daemon {
            web.forget_log();
            let (status, _) = daemon.post("/api/sites/a/visit", None);
            assert_eq!(status, 404, "it is crawled still");
            daemon.signal("-HUP");
            thread::sleep(Duration::from_millis(500));
            assert_eq!(web.asked("a.test/"), 0);
            assert_eq!(daemon.stop(), Some(0));
        }
        let counts = web.json(&["status", "--json"]);
        assert_eq!(counts["documents"], 0, "{counts}");
    }
}

/// A receiver that answers 503 until it is told otherwise; the bodies that it was sent.
fn receiver() -> (String, Arc<AtomicBool>, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("its address");
    let (fine, bodies) = (Arc::<AtomicBool>::default(), Arc::default());
    let (is_fine, sent) = (Arc::clone(&fine), Arc::<Mutex<Vec<String>>>::clone(&bodies));
    // Ends with the test's process.
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(stream.try_clone().expect("a stream"));
            let (mut length, mut line) = (0, String::new());
            while reader.read_line(&mut line).is_ok_and(|n| n > 2) {
                if let Some(n) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                    length = n.trim().parse().unwrap_or(0);
                }
                line.clear();
            }
            let mut body = vec![0; length];
            if reader.read_exact(&mut body).is_err() {
                continue;
            }
            let fine = is_fine.load(Ordering::SeqCst);
            if fine {
                let mut sent = sent.lock().expect("no panic");
                sent.push(String::from_utf8_lossy(&body).into_owned());
            }
            let status = if fine { 200 } else { 503 };
            let answer =
                format!("HTTP/1.1 {status} X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    (format!("http://{address}/"), fine, bodies)
}

#[test]
fn a_hit_that_waits_for_its_webhook_is_not_sent_after_the_takedown() {
    let (hook, fine, bodies) = receiver();
    let follow = format!("[[follow]]\nname = \"t\"\nquery = \"消息\"\nwebhook = \"{hook}\"\n");
    let (web, address) = site_with(&["a.test/n/1.html"], &follow);
    let daemon = Daemon::start(&web, address);
    daemon.wait_for(1);
    wait_until("the topic is followed", || {
        daemon
            .ask("GET", "/api/status", None, false)
            .1
            .contains("\"told\"")
    });
    web.set("a.test/n/2.html", Reply::page(&article("要撤下的消息", "")));
    web.set("a.test/n/3.html", Reply::page(&article("留下来的消息", "")));
    web.seed(&["a.test/n/2.html", "a.test/n/3.html"]);
    web.json(&["crawl", "--site", "a", "--json"]);
    wait_until("both wait to be told", || {
        let (_, status) = daemon.ask("GET", "/api/status", None, false);
        let status: Value = serde_json::from_str(&status).unwrap_or(Value::Null);
        status["follows"][0]["waiting"] == 2 && status["follows"][0]["last_error"].is_string()
    });
    let url = web.url("a.test/n/2.html");
    web.json(&["purge", &url, "--yes", "--json"]);
    fine.store(true, Ordering::SeqCst);
    wait_until("the other was told", || {
        bodies
            .lock()
            .expect("no panic")
            .iter()
            .any(|b| b.contains("留下来的消息"))
    });
    let bodies = bodies.lock().expect("no panic").join("");
    assert!(!bodies.contains("要撤下的消息"), "{bodies}");
    assert_eq!(daemon.stop(), Some(0));
}
