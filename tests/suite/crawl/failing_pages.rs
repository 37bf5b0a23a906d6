//! Pages and sites that fail in a pass of `taojin crawl`: each failure is told, and none of them holds up the rest.

use std::net::TcpListener;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::crawl::pass::{Folder, news, of, serve};
use crate::support::small_web::{Reply, SmallWeb, article};
/// Unclean stops in a row during which a page was being visited before it is given up.
const TRIES: usize = 10;

#[test]
fn a_page_that_ends_the_process_each_time_is_put_aside() {
    let folder = Folder::new();
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let site = news(1);
    let port = serve(move |path| {
        if path == "/1.html" {
            counted.fetch_add(1, Ordering::SeqCst);
            // Whatever it is that such a page does, the process ends before it is through.
            thread::sleep(Duration::from_secs(600));
        }
        site(path)
    });
    folder.site("wells", port, "");
    for tried in 0..TRIES {
        let mut crawl = folder.taojin(&["crawl"]);
        let crawl = crawl.stdout(Stdio::null()).stderr(Stdio::null());
        let mut crawl = crawl.spawn().expect("taojin starts");
        while asked.load(Ordering::SeqCst) == tried {
            let ended = crawl.try_wait().expect("its state");
            assert!(ended.is_none(), "given up after {tried} tries");
            thread::sleep(Duration::from_millis(5));
        }
        crawl.kill().expect("killed");
        crawl.wait().expect("ended");
    }
    let (_, _, errors) = folder.json(&["crawl", "--json"]);
    assert_eq!(asked.load(Ordering::SeqCst), TRIES, "{errors}");
    let url = format!("http://127.0.0.1:{port}/1.html");
    let (why, _, _) = folder.json(&["why", &url, "--json"]);
    assert!(
        why.to_string().contains("in flight at every crash"),
        "{why}"
    );
}

#[test]
fn a_site_that_gives_nothing_is_a_failure_that_says_why() {
    let folder = Folder::new();
    let no_robots = |status: u16, header: &'static str| {
        move |path: &str| match path {
            "/robots.txt" => Reply::status(404),
            _ if header.is_empty() => Reply::status(status),
            _ => Reply::status(status).header(header),
        }
    };
    folder.site("broken", serve(no_robots(500, "")), "");
    folder.site("busy", serve(no_robots(429, "Retry-After: 3600")), "");
    let forbidding = serve(|path| match path {
        "/robots.txt" => Reply::page("User-agent: *\n\nDisallow: /\n"),
        _ => Reply::page("never asked for"),
    });
    folder.site("forbidden", forbidding, "");
    folder.site("closed", serve(|_| Reply::status(500)), "");
    let free = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let nobody = free.local_addr().expect("its address").port();
    drop(free);
    folder.site("nobody", nobody, "");
    let refused = format!("connection refused at 127.0.0.1:{nobody}; next try at ");
    let wanted = [
        ("broken", "every answer was HTTP 500; next try at "),
        ("busy", "every answer was HTTP 429; next try at "),
        (
            "forbidden",
            "robots.txt forbids the start page (line 3: Disallow: /)",
        ),
        (
            "closed",
            "robots.txt answers HTTP 500, so the site is not asked",
        ),
        ("nobody", refused.as_str()),
    ];
    let crawled = folder.run(&["crawl"]);
    let told = String::from_utf8_lossy(&crawled.stdout).into_owned();
    let errors = String::from_utf8_lossy(&crawled.stderr).into_owned();
    assert_eq!(crawled.status.code(), Some(1), "{told}{errors}");
    assert!(!told.contains("of the articles found"), "{told}");
    let status = folder.run(&["status"]);
    let text = String::from_utf8_lossy(&status.stdout).into_owned();
    assert!(!text.contains("of the articles found"), "{text}");
    let (json, _, _) = folder.json(&["status", "--json"]);
    for (name, sentence) in wanted {
        let line = format!("{name}: {sentence}");
        assert_eq!(errors.matches(&line).count(), 1, "{line}: {errors}");
        assert!(
            told.contains(&format!("site {name}: failed: {sentence}")),
            "{told}"
        );
        assert!(text.contains(&format!("failed: {sentence}")), "{text}");
        let verdict = &of(&json, name)["verdict"];
        assert_eq!(verdict["level"], "failed", "{json}");
    }
    // Asked again at once there is nothing to fetch, and that is no success either.
    let again = folder.run(&["crawl", "--site", "nobody"]);
    assert_eq!(again.status.code(), Some(1), "{again:?}");
}

/// They are answered 200 and have a text, and yet nothing of the site came.
#[test]
fn a_site_that_asks_to_sign_in_is_no_success() {
    let folder = Folder::new();
    let login = "<title>用户登录</title><h1>用户登录</h1><form><input name=user><input type=password></form>";
    let front = news(6);
    let asking = serve(move |path| match path {
        "/robots.txt" => Reply::status(404),
        "/" => front(path),
        "/1.html" | "/2.html" => Reply::status(302).header("Location: /user/login?back=1"),
        _ => Reply::page(login),
    });
    folder.site("asking", asking, "");
    folder.site("open", serve(news(3)), "");
    // It is left alone for a minute after three of them, and longer each time.
    folder.set(
        "throttle_backoff_ms = \"1min\"",
        "throttle_backoff_ms = \"1ms\"",
    );
    let crawled = folder.run(&["crawl"]);
    let told = String::from_utf8_lossy(&crawled.stdout).into_owned();
    let sentence = "asked for a login or a human check";
    let (json, _, _) = folder.json(&["status", "--json"]);
    for (name, level, turned_away, is_said) in
        [("asking", "partial", 7, true), ("open", "ok", 0, false)]
    {
        let site = of(&json, name);
        assert_eq!(site["verdict"]["level"], level, "{site}");
        assert_eq!(site["cycle"]["turned_away"], turned_away, "{site}");
        let line = told
            .lines()
            .find(|line| line.starts_with(&format!("site {name}: ")));
        let line = line.unwrap_or_else(|| panic!("no line of {name}: {told}"));
        assert_eq!(line.contains(sentence), is_said, "{line}");
    }
}

#[test]
fn an_error_is_forgotten_when_the_last_cycle_had_none() {
    let web = SmallWeb::new("[revisit]\nretry_ms = 400\n");
    web.seed(&["a.test/1.html", "a.test/old.html"]);
    web.set("a.test/1.html", Reply::status(500));
    web.crawl();
    let state = web.json(&["status", "--json"]);
    let error = of(&state, "a")["last_error"].as_str().unwrap_or_default();
    assert!(error.contains("/1.html: HTTP 500"), "{state}");
    assert_eq!(of(&state, "a")["errors"], 1, "the 404 is no error: {state}");
    web.set("a.test/1.html", Reply::page(&article("回来了的报道", "")));
    thread::sleep(Duration::from_millis(500));
    web.crawl();
    let state = web.json(&["status", "--json"]);
    assert_eq!(
        (&of(&state, "a")["errors"], &of(&state, "a")["last_error"]),
        (&0.into(), &Value::Null),
        "{state}"
    );
    assert_eq!(of(&state, "a")["verdict"]["level"], "ok", "{state}");
}
