//! `taojin site add` asks a site what it has and writes a file that crawls it.

use std::process::Command;

use crate::support::folder::{RunExt as _, assert_has};
use crate::support::http::free_port;
use crate::support::small_web::{Reply, SmallWeb};
use crate::support::world::{FAST, Home, Web};

/// The small web with more hosts.
fn web_of(names: &[&str]) -> SmallWeb {
    let line = |name: &&str| format!("\"{name}\" = \"127.0.0.1\"\n");
    SmallWeb::new(&names.iter().map(line).collect::<String>())
}

/// Without a scheme both are tried; the commands that are printed work as they stand; the site is found by the name
/// that it gives itself.
#[test]
fn site_add_by_host() {
    let web = web_of(&["b.test"]);
    let link = web.url("b.test/news/1.html");
    web.set_page(
        "b.test/",
        &format!(
            "<title>石油天然气门户_西部油气网</title><ul><li><a href=\"{link}\">储气库注气创出新高的一条新闻</a></li></ul>"
        ),
    );
    web.set_article("b.test/news/1.html", "储气库注气创出新高_要闻_西部油气网");
    let address = format!("b.test:{}", web.port);
    let added = web.run(&["site", "add", &address]).good();
    assert_has(&added.err, &[format!("took http://{address}/: it answers")]);
    assert_has(&added.out, &["西部油气网, 1 link, 0 feeds"]);

    let commands = added.out.lines();
    let commands: Vec<&str> = commands
        .filter_map(|line| line.strip_prefix("  taojin "))
        .collect();
    assert_eq!(commands.len(), 2, "{}", added.out);
    for command in commands {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("\"$TAOJIN\" {command}")]);
        shell
            .env("TAOJIN", env!("CARGO_BIN_EXE_taojin"))
            .ran()
            .good();
    }
    let name = format!("b.test-{}", web.port);
    for query in ["site:西部油气网", "site:b.test", &format!("site:{name}")] {
        let answer = web.json(&["search", "--json", query]);
        assert_eq!(answer["total"], 1, "{query}: {answer}");
        assert_eq!(answer["hits"][0]["site"], *name);
    }
    assert_eq!(web.total("site:东部油气网"), 0);
    assert_eq!(web.total("储气库 -site:西部油气网"), 0);

    let list = web.done(&["site", "list"]);
    let named = format!("{name}  西部油气网");
    // Site a was not crawled.
    assert_has(
        &list,
        &[&named, "1 documents, last crawl 2", "not crawled yet"],
    );
    let sites = web.lines(&["site", "list", "--json"]);
    let site = sites.iter().find(|s| s["name"] == *name).expect("the site");
    assert_eq!(site["title"], "西部油气网");
    assert_eq!(site["documents"], 1);
    assert!(site["last_cycle_ms"].is_i64() && site["next_cycle_ms"].is_i64());
    assert!(site["last_error"].is_null() && site["seeds"].is_array());
    let status = web.json(&["status", "--json"]);
    assert_eq!(status["sites"][1]["title"], "西部油气网");

    for again in [address.clone(), format!("http://{address}/news/")] {
        assert_has(&web.refused(&["site", "add", &again]), &[&name]);
    }
}

/// What cannot be added is said in one line that a person understands, and nothing is written.
#[test]
fn site_add_refuses_non_sites() {
    let web = web_of(&["b.test", "c.test", "d.test"]);
    web.set("c.test/", Reply::status(500));
    web.set_page("d.test/", "<title>不欢迎</title>");
    web.set_page("d.test/robots.txt", "User-agent: *\nDisallow: /\n");
    let down = format!("b.test:{}", free_port());
    let [down_at, tls, failing, closed] = [
        format!("http://{down}/"),
        format!("https://c.test:{}/", web.port),
        web.url("c.test/"),
        web.url("d.test/"),
    ];
    let refused_by = format!("connection refused by {down}");
    let both = ["https", "http"].map(|s| format!("{s}://{down}/: connection refused"));
    for (args, code, parts) in [
        (&[&*down_at][..], 1, &[&*refused_by, "--no-probe"][..]),
        (&[&down], 1, &[&both[0], &both[1]]),
        (
            &[&tls],
            1,
            &["broke the connection off before TLS was agreed on"],
        ),
        (&[&failing], 1, &["the server failed (HTTP 500)"]),
        (
            &[&closed],
            2,
            &["robots.txt does not let taojin in (line 2: Disallow: /)"],
        ),
        (&["./page.html"], 2, &["is a file here and no site"]),
        (
            &[&closed, "--name", "a/b", "--no-probe"],
            2,
            &["name = \"a/b\": use 1 to 64 letters"],
        ),
    ] {
        let ran = web.run(&[&["site", "add"], args].concat()).failed(code);
        assert_eq!((&*ran.out, ran.err.trim().lines().count()), ("", 1));
        assert_has(&ran.err, parts);
    }
    let list = web.lines(&["site", "list", "--json"]);
    assert_eq!(list.len(), 1, "only site a: {list:?}");
}

/// An address that leads to another host, and a Chinese name.
#[test]
fn site_add_follows_redirects() {
    let web = web_of(&["moved.test", "www.moved.test", "中文.test"]);
    let there = web.url("www.moved.test/");
    web.set(
        "moved.test/",
        Reply::status(301).header(&format!("Location: {there}")),
    );
    web.set_page("www.moved.test/", "<title>搬家网</title>");
    web.set_page("xn--fiq228c.test/", "<title>首页</title>");
    let added = web.run(&["site", "add", &web.url("moved.test/"), "--dry-run"]);
    let added = added.good();
    assert_has(&added.err, &[format!("took {there}")]);
    let file: toml::Table = added.out.parse().expect("TOML");
    assert_eq!(file["title"].as_str(), Some("搬家网"));
    let port = web.port;
    let named = format!("[\"www.moved.test:{port}\", \"moved.test:{port}\"]");
    assert_eq!(file["scope"]["hosts"].to_string(), named);

    web.done(&["site", "add", &web.url("中文.test/")]);
    assert_has(&web.done(&["check"]), &["site           中文.test:"]);
}

#[test]
fn site_add_probes_feeds() {
    let web = Web::sample();
    let home = Home::new(&web, FAST);
    home.take_sites();
    let site = &web.server.sites()[0];
    let (name, seed) = (&*site.name, web.server.url(site, &site.home));

    home.done(&["site", "add", &seed, "--name", name]);
    // Its feed is named.
    assert_has(&home.read(&format!("sites.d/{name}.toml")), &[".xml\"]"]);
    home.done(&["crawl"]);
    let host = web.server.authority(site);
    let indexed = home.indexed();
    let mut wanted = web.planted();
    wanted.retain(|url| url.contains(&host));
    assert!(!wanted.is_empty());
    wanted.retain(|url| !indexed.contains_key(url));
    assert!(wanted.is_empty(), "{wanted:?} were not found");

    let gone = format!("http://{host}/no-such-page");
    let gone = home.run(&["site", "add", &gone, "--name", "other"]);
    assert_ne!(gone.code, Some(0));
    assert!(
        !home.file("sites.d/other.toml").exists(),
        "nothing is written for a page that is not there"
    );
}

/// People read a sentence, programs the word that they know.
#[test]
fn refused_connection_is_described() {
    let down = format!("a.test:{}", free_port());
    let web = SmallWeb::new("");
    let site = format!("seeds = [\"http://{down}/\"]\n[scope]\nhosts = [\"{down}\"]\n");
    web.write("sites.d/a.toml", site);
    web.run(&["crawl", "--site", "a"]);
    let sentence = [format!("connection refused by {down}")];
    let status = web.json(&["status", "--json"]);
    assert_has(&status["sites"][0]["last_error"].to_string(), &sentence);
    let why = web.json(&["why", "--json", &format!("http://{down}/")]);
    assert_has(&why["error"].to_string(), &sentence);
    assert_has(
        &web.read("data/log/crawl.log"),
        &["\"reason\":\"robots.txt: connection-refused\""],
    );
    let extracted = web.run(&["extract", &format!("http://{down}/x.html")]);
    assert_ne!(extracted.code, Some(0));
    assert_has(&extracted.err, &sentence);
}
