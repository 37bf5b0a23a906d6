//! `taojin site add` asks a site what it has and writes a file that crawls it.

use std::fs;

use crate::support::small_web::{Reply, SmallWeb, article};
use crate::support::world::{Home, Web};

/// Output of a command: exit code, what it printed, what it said beside.
fn run(web: &SmallWeb, args: &[&str]) -> (Option<i32>, String, String) {
    let output = web.taojin(args).output().expect("taojin runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

/// The hosts that a test adds to the small web.
fn hosts(names: &[&str]) -> String {
    let line = |name: &&str| format!("\"{name}\" = \"127.0.0.1\"\n");
    names.iter().map(line).collect()
}

/// Without a scheme both are tried; the commands that are printed work as they stand; the site is found by the name
/// that it gives itself.
#[test]
fn a_site_is_added_by_its_host_and_found_by_its_own_name() {
    let web = SmallWeb::new(&hosts(&["b.test"]));
    let link = format!("http://b.test:{}/news/1.html", web.port);
    web.set(
        "b.test/",
        Reply::page(&format!(
            "<title>石油天然气门户_西部油气网</title><ul><li><a href=\"{link}\">储气库注气创出新高的一条新闻</a></li></ul>"
        )),
    );
    let text = article("储气库注气创出新高_要闻_西部油气网", "");
    web.set("b.test/news/1.html", Reply::page(&text));
    let address = format!("b.test:{}", web.port);
    let (code, printed, said) = run(&web, &["site", "add", &address]);
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains(&format!("took http://{address}/: it answers")),
        "{said}"
    );
    assert!(printed.contains("西部油气网, 1 link, 0 feeds"), "{printed}");

    let commands: Vec<&str> = printed
        .lines()
        .filter_map(|line| line.strip_prefix("  taojin "))
        .collect();
    assert_eq!(commands.len(), 2, "{printed}");
    for command in commands {
        let done = std::process::Command::new("sh")
            .args(["-c", &format!("\"$TAOJIN\" {command}")])
            .env("TAOJIN", env!("CARGO_BIN_EXE_taojin"))
            .output()
            .expect("a shell");
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(0), "{command}: {said}");
    }
    let name = format!("b.test-{}", web.port);
    for query in ["site:西部油气网", "site:b.test", &format!("site:{name}")] {
        let answer = web.json(&["search", "--json", query]);
        assert_eq!(answer["total"], 1, "{query}: {answer}");
        assert_eq!(answer["hits"][0]["site"], name.as_str());
    }
    assert_eq!(
        web.json(&["search", "--json", "site:东部油气网"])["total"],
        0
    );
    let without = web.json(&["search", "--json", "储气库 -site:西部油气网"]);
    assert_eq!(without["total"], 0);

    let (_, list, _) = run(&web, &["site", "list"]);
    assert!(list.contains(&format!("{name}  西部油气网")), "{list}");
    assert!(list.contains("1 documents, last crawl 2"), "{list}");
    assert!(list.contains("not crawled yet"), "site a was not: {list}");
    let (_, lines, _) = run(&web, &["site", "list", "--json"]);
    let site = lines
        .lines()
        .map(|l| serde_json::from_str::<serde_json::Value>(l).expect("JSON"))
        .find(|s| s["name"] == name.as_str())
        .expect("the site");
    assert_eq!(site["title"], "西部油气网");
    assert_eq!(site["documents"], 1);
    assert!(site["last_cycle_ms"].is_i64() && site["next_cycle_ms"].is_i64());
    assert!(site["last_error"].is_null() && site["seeds"].is_array());
    let status = web.json(&["status", "--json"]);
    assert_eq!(status["sites"][1]["title"], "西部油气网");

    for again in [address.clone(), format!("http://{address}/news/")] {
        let (code, _, said) = run(&web, &["site", "add", &again]);
        assert_eq!(code, Some(2), "{said}");
        assert!(
            said.contains(&name) && said.trim().lines().count() == 1,
            "{said}"
        );
    }
}

/// What cannot be added is said in one line that a person understands, and nothing is written.
#[test]
fn what_is_no_site_is_refused_in_plain_words() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = closed.local_addr().expect("its address").port();
    drop(closed);
    let web = SmallWeb::new(&hosts(&["b.test", "c.test", "d.test"]));
    web.set("c.test/", Reply::status(500));
    web.set("d.test/", Reply::page("<title>不欢迎</title>"));
    web.set(
        "d.test/robots.txt",
        Reply::page("User-agent: *\nDisallow: /\n"),
    );
    let (down, failing) = (format!("b.test:{port}"), web.url("c.test/"));
    for (args, code, parts) in [
        (
            vec![format!("http://{down}/")],
            1,
            vec![
                format!("connection refused by {down}"),
                "--no-probe".to_owned(),
            ],
        ),
        (
            vec![down.clone()],
            1,
            vec![
                format!("https://{down}/: connection refused"),
                format!("http://{down}/: connection refused"),
            ],
        ),
        (
            vec![format!("https://c.test:{}/", web.port)],
            1,
            vec!["broke the connection off before TLS was agreed on".to_owned()],
        ),
        (
            vec![failing],
            1,
            vec!["the server failed (HTTP 500)".to_owned()],
        ),
        (
            vec![web.url("d.test/")],
            2,
            vec!["robots.txt does not let taojin in (line 2: Disallow: /)".to_owned()],
        ),
        (
            vec!["./page.html".to_owned()],
            2,
            vec!["is a file here and no site".to_owned()],
        ),
        (
            vec![
                web.url("d.test/"),
                "--name".to_owned(),
                "a/b".to_owned(),
                "--no-probe".to_owned(),
            ],
            2,
            vec!["name = \"a/b\": use 1 to 64 letters".to_owned()],
        ),
    ] {
        let mut all = vec!["site", "add"];
        all.extend(args.iter().map(String::as_str));
        let (exit, printed, said) = run(&web, &all);
        assert_eq!(exit, Some(code), "{args:?}: {said}");
        assert_eq!(
            (printed.as_str(), said.trim().lines().count()),
            ("", 1),
            "{said}"
        );
        for part in parts {
            assert!(said.contains(&part), "{said} should contain {part}");
        }
    }
    let (_, list, _) = run(&web, &["site", "list", "--json"]);
    assert_eq!(list.lines().count(), 1, "only site a: {list}");
}

/// An address that leads to another host, and a Chinese name.
#[test]
fn the_file_names_the_hosts_that_the_address_leads_to() {
    let web = SmallWeb::new(&hosts(&["moved.test", "www.moved.test", "中文.test"]));
    let there = web.url("www.moved.test/");
    web.set(
        "moved.test/",
        Reply::status(301).header(&format!("Location: {there}")),
    );
    web.set("www.moved.test/", Reply::page("<title>搬家网</title>"));
    web.set("xn--fiq228c.test/", Reply::page("<title>首页</title>"));
    let (code, printed, said) = run(&web, &["site", "add", &web.url("moved.test/"), "--dry-run"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains(&format!("took {there}")), "{said}");
    let file: toml::Table = printed.parse().expect("TOML");
    assert_eq!(file["title"].as_str(), Some("搬家网"));
    let port = web.port;
    let named = format!("[\"www.moved.test:{port}\", \"moved.test:{port}\"]");
    assert_eq!(file["scope"]["hosts"].to_string(), named);

    let (code, _, said) = run(&web, &["site", "add", &web.url("中文.test/")]);
    assert_eq!(code, Some(0), "{said}");
    let (code, checked, said) = run(&web, &["check"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(checked.contains("site           中文.test:"), "{checked}");
}

#[test]
fn a_probed_site_file_names_what_the_site_has_and_crawls_it() {
    let web = Web::sample();
    let home = Home::new(
        &web,
        "min_delay_ms = 1\nmax_delay_ms = 1\nconnections_per_ip = 12",
    );
    let sites = home.path().join("sites.d");
    fs::remove_dir_all(&sites).expect("removed");
    let site = &web.server.sites()[0];
    let (name, seed) = (&*site.name, web.server.url(site, &site.home));

    let added = home
        .taojin(&["site", "add", &seed, "--name", name])
        .output()
        .expect("taojin runs");
    assert!(
        added.status.success(),
        "{}",
        String::from_utf8_lossy(&added.stderr)
    );
    let text = fs::read_to_string(sites.join(format!("{name}.toml"))).expect("the file");
    assert!(text.contains(".xml\"]"), "its feed is named: {text}");
    let crawled = home
        .taojin(&["crawl", "--json"])
        .output()
        .expect("taojin runs");
    assert!(
        crawled.status.success(),
        "{}",
        String::from_utf8_lossy(&crawled.stderr)
    );
    let host = web.server.authority(site);
    let indexed = home.indexed();
    let wanted: Vec<String> = web
        .planted()
        .into_iter()
        .filter(|u| u.contains(&host))
        .collect();
    assert!(
        !wanted.is_empty() && wanted.iter().all(|u| indexed.contains_key(u)),
        "not all of {wanted:?}"
    );

    let gone = home
        .taojin(&[
            "site",
            "add",
            &format!("http://{host}/no-such-page"),
            "--name",
            "other",
        ])
        .output()
        .expect("taojin runs");
    assert!(!gone.status.success());
    assert!(
        !sites.join("other.toml").exists(),
        "nothing is written for a page that is not there"
    );
}

/// People read a sentence, programs the word that they know.
#[test]
fn a_refused_connection_is_told_in_words() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let down = format!(
        "a.test:{}",
        closed.local_addr().expect("its address").port()
    );
    drop(closed);
    let web = SmallWeb::new("");
    let site = format!("seeds = [\"http://{down}/\"]\n[scope]\nhosts = [\"{down}\"]\n");
    fs::write(web.path().join("sites.d/a.toml"), site).expect("site file");
    let _ = run(&web, &["crawl", "--site", "a"]);
    let sentence = format!("connection refused by {down}");
    let status = web.json(&["status", "--json"]);
    let error = status["sites"][0]["last_error"]
        .as_str()
        .unwrap_or_default();
    assert!(error.contains(&sentence), "{status}");
    let why = web.json(&["why", "--json", &format!("http://{down}/")]);
    let error = why["error"].as_str().unwrap_or_default();
    assert!(error.contains(&sentence), "{why}");
    let log = fs::read_to_string(web.path().join("data/log/crawl.log")).expect("the crawl log");
    assert!(
        log.contains("\"reason\":\"robots.txt: connection-refused\""),
        "{log}"
    );
    let (code, _, said) = run(&web, &["extract", &format!("http://{down}/x.html")]);
    assert_ne!(code, Some(0));
    assert!(said.contains(&sentence), "{said}");
}
