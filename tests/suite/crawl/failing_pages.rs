//! Pages and sites that fail in a pass of `taojin crawl`: each failure is told, and none of them holds up the rest.

use serde_json::Value;

use super::{add_site, news, of, shipped};
use crate::support::folder::assert_has;
use crate::support::http::{Reply, Request, free_port, serve};
use crate::support::small_web::SmallWeb;
use crate::support::wait_until;

#[test]
fn failed_site_reports_cause() {
    let folder = shipped();
    let no_robots = |status: u16, header: &'static str| {
        move |request: &Request| match &*request.path {
            "/robots.txt" => Reply::status(404),
            _ if header.is_empty() => Reply::status(status),
            _ => Reply::status(status).header(header),
        }
    };
    let forbidding = |request: &Request| match &*request.path {
        "/robots.txt" => Reply::page("User-agent: *\n\nDisallow: /\n"),
        _ => Reply::page("never asked for"),
    };
    let nobody = free_port();
    let unreachable = format!("connection refused at 127.0.0.1:{nobody}; next try at ");
    let sites = [
        (
            "broken",
            serve(no_robots(500, "")),
            "every answer was HTTP 500; next try at ",
        ),
        (
            "busy",
            serve(no_robots(429, "Retry-After: 3600")),
            "every answer was HTTP 429; next try at ",
        ),
        (
            "forbidden",
            serve(forbidding),
            "robots.txt forbids the start page (line 3: Disallow: /)",
        ),
        (
            "closed",
            serve(|_| Reply::status(500)),
            "robots.txt answers HTTP 500, so the site is not asked",
        ),
        ("nobody", nobody, &unreachable),
    ];
    for (name, port, _) in sites {
        add_site(&folder, name, port, "");
    }
    let crawled = folder.run(&["crawl"]).failed(1);
    let status = folder.done(&["status"]);
    let json = folder.json(&["status", "--json"]);
    for told in [&crawled.out, &status] {
        assert!(!told.contains("of the articles found"), "{told}");
    }
    for (name, _, sentence) in sites {
        let line = format!("{name}: {sentence}");
        assert_eq!(crawled.err.matches(&line).count(), 1, "{}", crawled.err);
        assert_has(&crawled.out, &[format!("site {name}: failed: {sentence}")]);
        assert_has(&status, &[format!("failed: {sentence}")]);
        assert_eq!(of(&json, name)["verdict"]["level"], "failed", "{json}");
    }
    // Asked again at once there is nothing to fetch, and that is no success either.
    folder.run(&["crawl", "--site", "nobody"]).failed(1);
}

/// They are answered 200 and have a text, and yet nothing of the site came.
#[test]
fn login_wall_is_partial_verdict() {
    let folder = shipped();
    let login = "<title>用户登录</title><h1>用户登录</h1><form><input name=user><input type=password></form>";
    let front = news(6);
    let asking = serve(move |request| match &*request.path {
        "/robots.txt" => Reply::status(404),
        "/" => front(request),
        "/1.html" | "/2.html" => Reply::status(302).header("Location: /user/login?back=1"),
        _ => Reply::page(login),
    });
    add_site(&folder, "asking", asking, "");
    add_site(&folder, "open", serve(news(3)), "");
    // It is left alone for a minute after three of them, and longer each time.
    let (shipped, short) = (
        "throttle_backoff_ms = \"1min\"",
        "throttle_backoff_ms = \"1ms\"",
    );
    folder.replace("taojin.toml", shipped, short);
    let told = folder.run(&["crawl"]).out;
    let json = folder.json(&["status", "--json"]);
    for (name, level, turned_away, is_said) in
        [("asking", "partial", 7, true), ("open", "ok", 0, false)]
    {
        let site = of(&json, name);
        assert_eq!(site["verdict"]["level"], level, "{site}");
        assert_eq!(site["cycle"]["turned_away"], turned_away, "{site}");
        let start = format!("site {name}: ");
        let line = told.lines().find(|line| line.starts_with(&start));
        let is_there = line.is_some_and(|l| l.contains("asked for a login or a human check"));
        assert!(line.is_some() && is_there == is_said, "{told}");
    }
}

#[test]
fn last_error_clears_after_success() {
    let web = SmallWeb::new("[revisit]\nretry_ms = 400\n");
    web.seed(&["a.test/1.html", "a.test/old.html"]);
    web.set("a.test/1.html", Reply::status(500));
    web.crawl();
    let state = web.json(&["status", "--json"]);
    let site = of(&state, "a");
    assert_has(&site["last_error"].to_string(), &["/1.html: HTTP 500"]);
    assert_eq!(site["errors"], 1, "the 404 is no error: {state}");
    web.set_article("a.test/1.html", "回来了的报道");
    let before = web.asked("a.test/1.html");
    wait_until("it is tried again", || {
        web.crawl();
        web.asked("a.test/1.html") > before
    });
    let state = web.json(&["status", "--json"]);
    let site = of(&state, "a");
    assert_eq!(
        (&site["errors"], &site["last_error"]),
        (&0.into(), &Value::Null),
        "{state}"
    );
    assert_eq!(site["verdict"]["level"], "ok", "{state}");
}
