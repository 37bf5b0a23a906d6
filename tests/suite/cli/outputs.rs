//! The outputs that programs depend on.

use std::fs;

use serde_json::Value;

use super::{Place, imported, text};

#[test]
fn imported_documents_are_found_and_replaced_by_url() {
    let place = imported();
    let answer: Value =
        serde_json::from_str(&text(&place.run(&["search", "页岩气", "--json"]))).expect("JSON");
    assert_eq!(answer["total"], 1);
    assert_eq!(answer["hits"][0]["title"], "页岩气开发再提速");
    for key in [
        "id",
        "url",
        "title",
        "site",
        "published",
        "snippet",
        "score",
    ] {
        assert!(answer["hits"][0].get(key).is_some(), "no {key} in a hit");
    }
    let dated: Value = serde_json::from_str(&text(&place.run(&[
        "search",
        "储气库",
        "--until",
        "2016-04",
        "--json",
    ])))
    .expect("JSON");
    assert_eq!(dated["total"], 0);
}

#[test]
fn lines_that_are_no_documents_are_skipped_and_said() {
    let place = Place::new("", &[]);
    let file = place.path().join("d.jsonl");
    fs::write(&file, "{\"url\":\"http://a.example/1\",\"title\":\"好\",\"text\":\"好文章\"}\n\nno json\n{\"url\":\"\"}\n").expect("file");
    let output = place.run(&["import", file.to_str().expect("UTF-8"), "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let counts: Value = serde_json::from_str(&text(&output)).expect("JSON");
    assert_eq!(
        (&counts["imported"], &counts["skipped"]),
        (&Value::from(1), &Value::from(2))
    );
}

#[test]
fn extract_prints_the_documented_keys() {
    let place = Place::new("", &[]);
    let page = place.path().join("p.html");
    fs::write(&page, "<html><title>标题在此一见 - 某网</title><h1>标题在此一见</h1><p>正文第一段，有逗号，也有句号。</p><p>正文第二段，也是这样的。</p>").expect("page");
    let page = page.to_str().expect("UTF-8");
    let output = place.run(&[
        "extract",
        page,
        page,
        "--url",
        "http://a.example/x.html",
        "--json",
    ]);
    assert!(output.status.success());
    let lines: Vec<Value> = text(&output)
        .lines()
        .map(|l| serde_json::from_str(l).expect("JSON"))
        .collect();
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
    assert_eq!(lines[0]["url"], "http://a.example/x.html");
}

#[test]
fn a_site_is_added_listed_and_removed() {
    let place = Place::new("", &[]);
    let added = place.run(&["site", "add", "https://www.news.example/", "--no-probe"]);
    assert!(
        added.status.success(),
        "{}",
        String::from_utf8_lossy(&added.stderr)
    );
    let file = place.path().join("sites.d/news.example.toml");
    let written = fs::read_to_string(&file).expect("the file");
    assert!(
        written.contains("# ") && written.contains("www.news.example"),
        "{written}"
    );
    assert!(place.run(&["check"]).status.success());
    let again = place.refused(&["site", "add", "https://www.news.example/", "--no-probe"]);
    assert!(again.contains("news.example"), "{again}");
    assert!(text(&place.run(&["site", "list"])).contains("news.example"));
    assert!(
        place
            .run(&["site", "remove", "news.example"])
            .status
            .success()
    );
    assert!(!file.exists());
}

#[test]
fn robots_names_the_rule_that_decided() {
    let place = Place::new("", &[]);
    let file = place.path().join("robots.txt");
    fs::write(
        &file,
        "User-agent: *\nDisallow: /private\nAllow: /private/open\n",
    )
    .expect("robots.txt");
    let file = file.to_str().expect("UTF-8");
    let output = place.run(&[
        "robots",
        file,
        "--agent",
        "taojin",
        "--url",
        "/private/x",
        "--url",
        "/private/open",
        "--url",
        "/",
    ]);
    assert!(output.status.success());
    let text = text(&output);
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines[0].starts_with("refused") && lines[0].contains("line 2"),
        "{}",
        lines[0]
    );
    assert!(
        lines[1].starts_with("allowed") && lines[1].contains("line 3"),
        "{}",
        lines[1]
    );
    assert!(lines[2].starts_with("allowed"), "{}", lines[2]);
}

#[test]
fn robots_decides_on_addresses_as_the_crawler_writes_them() {
    let place = Place::new("", &[]);
    let file = place.path().join("robots.txt");
    let rules = "User-agent: *\nDisallow: /a-%2A.html\nDisallow: /b-%24\nDisallow: /新\nAllow: /\n";
    fs::write(&file, rules).expect("robots.txt");
    let file = file.to_str().expect("UTF-8");
    let site = "https://www.ridge.example";
    for (path, allowed) in [
        ("/a-*.html", false),
        ("/b-$", false),
        ("/%E6%96%B0", false),
        ("/a-x.html", true),
    ] {
        for url in [format!("{site}{path}"), path.to_owned()] {
            let said = text(&place.run(&["robots", file, "--url", &url]));
            assert_eq!(said.starts_with("allowed"), allowed, "{said}");
        }
    }
}

#[test]
fn completions_exist_for_each_shell() {
    let place = Place::new("", &[]);
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(
            text(&place.run(&["completions", shell])).contains("taojin"),
            "{shell}"
        );
    }
}
