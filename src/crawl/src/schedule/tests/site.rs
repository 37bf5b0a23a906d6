//! Files of `sites.d`.

use super::*;

const SMALL: &str = r#"seeds = ["https://www.example.cn/news/"]"#;

fn parse(text: &str) -> Site {
    let text = format!("name = \"example\"\n{text}");
    toml::from_str(&text).unwrap()
}

#[test]
fn a_seed_is_enough() {
    let site = parse(SMALL);
    site.check().unwrap();
    assert!(site.enabled && site.robots_sitemaps);
    assert_eq!(site.hosts(), ["www.example.cn", "example.cn"]);
    assert_eq!(site.cron().unwrap().zone(), chrono_tz::Asia::Shanghai);
    assert_eq!(
        site.addresses().unwrap().seeds,
        [uri("https://www.example.cn/news/")]
    );
}

#[test]
fn site_seed_www_twin() {
    let site = parse(r#"seeds = ["http://a.cn/", "http://127.0.0.1:8080/", "http://a.cn/b"]"#);
    assert_eq!(site.hosts(), ["a.cn", "www.a.cn", "127.0.0.1:8080"]);
    let text = format!("{SMALL}\n[scope]\nhosts = [\"*.B.cn\"]");
    assert_eq!(parse(&text).hosts(), ["*.b.cn"]);
}

/// The list for operators has every key that a file may have, with its default.
#[test]
fn site_keys_are_complete() {
    let text = include_str!("../../../../../config/sites.d/README.md");
    let (_, list) = text.split_once("```toml\n").unwrap();
    let (list, _) = list.split_once("```").unwrap();
    assert_eq!(toml::from_str::<Site>(list).unwrap(), Site::default());
    let full = Site {
        max_pages_per_cycle: Some(5_000),
        delay_ms: Some(2_000),
        ..Site::default()
    };
    let written = toml::to_string(&full).unwrap();
    let keys = |text: &str| -> Vec<String> {
        let lines = text.lines().map(|line| line.trim_start_matches("# "));
        let keys = lines.filter_map(|line| line.split_once(" = "));
        keys.map(|(key, _)| key.to_owned()).collect()
    };
    let listed = keys(list);
    let missing: Vec<String> = keys(&written)
        .into_iter()
        .filter(|key| !listed.contains(key))
        .collect();
    assert!(
        missing.is_empty(),
        "not in config/sites.d/README.md: {missing:?}"
    );
}

#[test]
fn site_keys_round_trip() {
    let mut site = parse(SMALL);
    site.max_pages_per_cycle = Some(100);
    site.delay_ms = Some(2_000);
    site.scope.exclude = vec!["~\\?print=".to_owned()];
    let text = toml::to_string(&site).unwrap();
    assert_eq!(toml::from_str::<Site>(&text).unwrap(), site);
}

#[test]
fn site_error_names_problem() {
    let with = |line: &str| format!("{SMALL}\n{line}");
    for (text, parts) in [
        (String::new(), vec!["seeds", "at least one"]),
        (with("schedule = \"61 * * * *\""), vec!["minute", "0-59"]),
        (
            with("time_zone = \"Beijing\""),
            vec!["Beijing", "Asia/Shanghai"],
        ),
        (
            with("[scope]\nhosts = [\"http://a.cn/\"]"),
            vec!["scope.hosts", "write a host"],
        ),
        (
            "seeds = [\"a.cn\"]".to_owned(),
            vec!["seeds", "a.cn", "whole address"],
        ),
        ("seeds = [\"ftp://a.cn/\"]".to_owned(), vec!["seeds", "ftp"]),
    ] {
        let message = parse(&text).check().unwrap_err().to_string();
        assert!(
            parts.iter().all(|p| message.contains(p)),
            "{text}\n→ {message}"
        );
    }
    let named = Site {
        name: "a/b".to_owned(),
        ..parse(SMALL)
    };
    assert!(named.check().unwrap_err().to_string().contains("letters"));
}
