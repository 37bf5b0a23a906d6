//! The daemon as systemd sees it: it becomes ready, takes up sites on SIGHUP, refuses a second one on the same data,
//! and stops on SIGTERM with everything durable.

mod clock;
mod control;
mod figures;
mod health;
mod stop;
mod structure;

use crate::support::daemon::Daemon;
use crate::support::folder::assert_has;
use crate::support::wait_until;
use crate::support::webhook::receiver;
use crate::support::world::{FAST, Home, Web};

#[test]
fn reload_adds_site() {
    let web = Web::start(60);
    let home = Home::new(&web, FAST);
    let mut sites = home.take_sites();
    let (late, kept) = sites.remove(0);
    for (name, text) in sites {
        home.write(&name, text);
    }
    let mut daemon = Daemon::under_systemd(&home);
    daemon.wait_for_documents(10);
    // An archive is read by a process of its own, which must not write beside the daemon.
    let second = home.refused(&["crawl", "--warc", "taojin.toml"]);
    assert_has(&second, &["another"]);

    home.write(&late, kept);
    daemon.signal("-HUP");
    daemon.wait_for_documents(60);
    assert_eq!(daemon.get("/healthz").0, 200);
    assert_has(&daemon.get("/metrics").1, &["taojin_fetches_total"]);
    home.done(&["status", "--json"]);

    daemon.signal("-TERM");
    daemon.wait_for_notice("STOPPING=1");
    assert_eq!(daemon.process.wait(), Some(0));
    let indexed = home.indexed();
    for url in web.planted() {
        assert_eq!(indexed.get(&url), Some(&1), "{url}");
    }
}

/// A topic that comes with SIGHUP has its feed and its webhook at once; one that is gone has neither.
#[test]
fn reload_adds_and_removes_topic() {
    let web = Web::start(20);
    let home = Home::new(&web, FAST);
    let sites = home.take_sites();
    let daemon = Daemon::start(&home);
    let feed = || daemon.get("/feeds/late.atom").0;
    assert_eq!(feed(), 404);

    let (hook, received) = receiver(|| 200);
    let text = home.read("taojin.toml");
    home.configure(&format!(
        "[[follow]]\nname = \"late\"\nquery = \"的\"\nwebhook = \"{hook}\"\n"
    ));
    daemon.signal("-HUP");
    // It is listed once it has noted where the index stands: what comes from now on is told.
    daemon.wait_for_status("the topic is followed", |status| {
        status["follows"].to_string().contains("\"late\"")
    });
    assert_eq!(feed(), 200);
    for (name, text) in &sites {
        home.write(name, text);
    }
    daemon.signal("-HUP");
    let told = received.recv_timeout(crate::support::PATIENCE);
    assert_has(&told.expect("a hit is told").body, &["\"late\""]);

    home.write("taojin.toml", text);
    daemon.signal("-HUP");
    wait_until("the topic is gone", || feed() == 404);
    assert!(!daemon.status().to_string().contains("\"late\""));
    assert_eq!(daemon.stop(), Some(0));
}

#[test]
fn full_disk_pauses_crawl() {
    let web = Web::start(20);
    let home = Home::new(&web, FAST);
    let (room, none) = ("min_free_bytes = 0", "min_free_bytes = 1000000000000000000");
    home.replace("taojin.toml", room, none);
    let pass = home.run(&["crawl"]).failed(1);
    assert_has(&pass.err, &["disk low", "crawl.min_free_bytes"]);

    let daemon = Daemon::start(&home);
    daemon.wait_for_status("the crawl pauses", |status| {
        status["activity"] == "paused" && status.to_string().contains("disk low")
    });
    assert_eq!(web.requests(), 0, "pages were fetched onto a full disk");
    assert_eq!(daemon.stop(), Some(0));

    // With room, the same data folder crawls what it had not.
    home.replace("taojin.toml", none, room);
    home.done(&["crawl"]);
    assert!(home.indexed().len() >= 20);
}

/// A mistake that a reload finds stops nothing, is told where the operator looks, and is forgotten when it is mended.
#[test]
fn reload_refuses_mistake() {
    let web = Web::start(20);
    let home = Home::new(&web, FAST);
    let sites = home.take_sites();
    let [(first, text), (second, later), ..] = sites.as_slice() else {
        panic!("two sites are needed");
    };
    let titled = format!("title = \"第一油气网\"\n{text}");
    home.write(first, &titled);
    let daemon = Daemon::under_systemd(&home);
    daemon.wait_for_documents(1);

    for (broken, told) in [
        (format!("{titled}include = [\"~(\"]\n"), "unclosed group"),
        (
            format!("queues = \"two\"\n{titled}"),
            "write a whole number",
        ),
        ("seeds = [\n".to_owned(), "this is not TOML"),
    ] {
        home.write(first, &broken);
        daemon.signal("-HUP");
        daemon.wait_for_status("the refusal is told", |status| {
            let note = status["note"].as_str().unwrap_or_default();
            note.starts_with("the last reload was refused: ")
                && note.contains(&**first)
                && note.contains(told)
        });
        daemon.wait_for_notice("STATUS=the last reload was refused");
        let log = home.read("daemon.log");
        let line = log.lines().find(|l| l.contains(told)).unwrap_or_default();
        assert_has(line, &["ERROR", "reload refused"]);
        // The site is the one that was there before, and searches are answered.
        assert_eq!(daemon.status()["sites"][0]["title"], "第一油气网");
        assert!(daemon.documents() > 0);
    }
    assert_eq!(daemon.get("/healthz").0, 200);

    home.write(first, &titled);
    home.write(second, later);
    let before = daemon.documents();
    daemon.signal("-HUP");
    daemon.wait_for_status("the mistake is forgotten", |status| {
        status["note"] == "" && status["sites"].as_array().is_some_and(|s| s.len() == 2)
    });
    daemon.wait_for_documents(before + 1);

    // Readers see the site's own name, and may search by it.
    let page = daemon.get("/?q=site:%E7%AC%AC%E4%B8%80%E6%B2%B9%E6%B0%94%E7%BD%91");
    assert_has(&page.1, &["class=\"site\">第一油气网<"]);
    assert_has(&daemon.get("/status").1, &["第一油气网"]);
}

/// What the first lines of the log say, with no site at all.
#[test]
fn start_logs_first_steps() {
    let web = Web::start(20);
    let home = Home::new(&web, FAST);
    home.take_sites();
    let daemon = Daemon::under_systemd(&home);
    let log = home.read("daemon.log");
    let config = home.arg("taojin.toml");
    let parts = [
        format!("taojin {} starts", env!("CARGO_PKG_VERSION")),
        format!("configuration: {config}"),
        format!("data folder: {}", home.arg("data")),
        format!("web page: http://127.0.0.1:{}/", daemon.port),
        format!("no site yet in {}", home.arg("sites.d")),
        format!("`taojin --config {config} site add URL`"),
        format!("`kill -HUP {}`", daemon.process.id()),
    ];
    assert_has(&log, &parts);
    // Moments are moments, with their zone.
    let moment = log.get(..30).unwrap_or_default();
    let moment = chrono::DateTime::parse_from_str(moment, "%Y-%m-%d %H:%M:%S%.3f %:z");
    assert!(moment.is_ok(), "{log}");
}
