//! The outputs that programs depend on.

use super::filled;
use crate::support::folder::{Folder, assert_has};

#[test]
fn import_replaces_by_url() {
    let folder = filled();
    let answer = folder.json(&["search", "页岩气", "--json"]);
    assert_eq!(answer["total"], 1);
    let hit = &answer["hits"][0];
    assert_eq!(hit["title"], "页岩气开发再提速");
    for key in [
        "id",
        "url",
        "title",
        "site",
        "published",
        "snippet",
        "score",
    ] {
        assert!(hit.get(key).is_some(), "no {key} in a hit");
    }
    let dated = folder.json(&["search", "储气库", "--until", "2016-04", "--json"]);
    assert_eq!(dated["total"], 0);
}

#[test]
fn import_skips_invalid_lines() {
    let folder = Folder::new("", &[]);
    let good = "{\"url\":\"http://a.example/1\",\"title\":\"好\",\"text\":\"好文章\"}";
    folder.write("d.jsonl", format!("{good}\n\nno json\n{{\"url\":\"\"}}\n"));
    let counts = folder
        .run(&["import", "d.jsonl", "--json"])
        .failed(1)
        .json();
    assert_eq!(
        (&counts["imported"], &counts["skipped"]),
        (&1.into(), &2.into())
    );
}

#[test]
fn extract_json_has_documented_keys() {
    let folder = Folder::new("", &[]);
    folder.write("p.html", "<html><title>标题在此一见 - 某网</title><h1>标题在此一见</h1><p>正文第一段，有逗号，也有句号。</p><p>正文第二段，也是这样的。</p>");
    let url = "http://a.example/x.html";
    let lines = folder.lines(&["extract", "p.html", "p.html", "--url", url, "--json"]);
    assert_eq!(lines.len(), 2);
    for key in [
        "url",
        "title",
        "published",
        "author",
        "text",
        "comments",
        "links",
        "kind",
        "method",
        "charset",
    ] {
        assert!(lines[0].get(key).is_some(), "no {key}");
    }
    assert_eq!(lines[0]["url"], url);
}

#[test]
fn site_add_list_remove() {
    let folder = Folder::new("", &[]);
    let add = ["site", "add", "https://www.news.example/", "--no-probe"];
    folder.done(&add);
    let written = folder.read("sites.d/news.example.toml");
    assert_has(&written, &["# ", "www.news.example"]);
    folder.done(&["check"]);
    assert_has(&folder.refused(&add), &["news.example"]);
    assert_has(&folder.done(&["site", "list"]), &["news.example"]);
    folder.done(&["site", "remove", "news.example"]);
    assert!(!folder.file("sites.d/news.example.toml").exists());
}

/// Addresses are decided on as the crawler writes them, and the rule that decided is named.
#[test]
fn robots_names_deciding_rule() {
    let folder = Folder::new("", &[]);
    let rules = "User-agent: *\nDisallow: /private\nAllow: /private/open\nDisallow: /a-%2A.html\nDisallow: /b-%24\nDisallow: /新\nAllow: /\n";
    folder.write("robots.txt", rules);
    for (path, said, line) in [
        ("/private/x", "refused", "line 2"),
        ("/private/open", "allowed", "line 3"),
        ("/a-*.html", "refused", "line 4"),
        ("/b-$", "refused", "line 5"),
        ("/%E6%96%B0", "refused", "line 6"),
        ("/a-x.html", "allowed", "line 7"),
    ] {
        for url in [format!("https://www.ridge.example{path}"), path.to_owned()] {
            let decided = folder.done(&["robots", "robots.txt", "--url", &url]);
            assert!(
                decided.starts_with(said) && decided.contains(line),
                "{decided}"
            );
        }
    }
}

#[test]
fn completions_for_each_shell() {
    let folder = Folder::new("", &[]);
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert_has(&folder.done(&["completions", shell]), &["taojin"]);
    }
}
