//! Figures that operators go by: they add up, they are there from the first second, and each is counted somewhere.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::health::figure;
use crate::support::daemon::Daemon;
use crate::support::world::{FAST, Home, Web};

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value}"))
}

#[test]
fn metrics_after_crawl_add_up() {
    let web = Web::start(150);
    let home = Home::new(&web, FAST);
    home.done(&["crawl"]);
    let status = home.json(&["status", "--json"]);
    assert_eq!(number(&status["outbox_lag"]), 0);
    assert!(number(&status["documents"]) >= 150);

    // After one pass each article was fetched once: it was learned from, waits, or had a template already.
    let mut learned: BTreeMap<String, u64> = BTreeMap::new();
    for template in home.lines(&["templates", "list", "--json"]) {
        let site = template["site"].as_str().expect("a site").to_owned();
        *learned.entry(site).or_default() += number(&template["pages"]);
    }
    assert!(!learned.is_empty(), "no template was learned");
    for site in status["sites"].as_array().expect("sites") {
        let name = site["name"].as_str().expect("a name");
        let [known, waiting, unmatched] =
            ["learned", "waiting", "unmatched"].map(|key| number(&site["templates"][key]));
        let pages = learned.get(name).copied().unwrap_or(0);
        assert_eq!((known, known + waiting), (pages, unmatched), "{name}");
    }

    let serving = Daemon::serving(&home);
    let (_, metrics) = serving.get("/metrics");
    let value = |name: &str| figure(&metrics, name).unwrap_or_else(|| panic!("no {name}"));
    for (name, wanted) in [
        (
            "taojin_index_documents",
            number(&status["documents"]) as f64,
        ),
        ("taojin_outbox_lag", 0.0),
        ("taojin_status_up", 1.0),
        ("taojin_activity{activity=\"read_only\"}", 1.0),
        ("taojin_searches_total{outcome=\"ok\"}", 0.0),
    ] {
        assert_eq!(value(name), wanted, "{name}");
    }
    for positive in [
        "taojin_urls{state=\"fetched\"}",
        "taojin_hosts{state=\"open\"}",
        "taojin_sites",
        "taojin_index_size_bytes",
        "taojin_store_size_bytes",
        "taojin_disk_free_bytes",
        "process_start_time_seconds",
    ] {
        assert!(value(positive) > 0.0, "{positive}");
    }
    let first = status["sites"][0]["name"].as_str().expect("a name");
    let last = value(&format!(
        "taojin_site_last_cycle_timestamp_seconds{{site=\"{first}\"}}"
    ));
    let read = number(&status["sites"][0]["last_cycle_ms"]) as f64 / 1_000.0;
    assert!((last - read).abs() < 1.0, "{last} {read}");
    assert!(!metrics.contains("taojin_bloom"), "nothing is crawled here");
    assert_eq!(serving.get("/readyz").0, 200);
}

/// What is described and never counted would stay at 0 for ever.
#[test]
fn counters_are_all_used() {
    let src = Path::new(crate::support::ROOT).join("src");
    let names = fs::read_to_string(src.join("serve/src/metrics.rs")).expect("the names");
    let names: Vec<&str> = names
        .lines()
        .filter_map(|line| line.strip_prefix("pub const ")?.split(':').next())
        .collect();
    assert!(names.len() >= 8, "{names:?}");
    let mut code = String::new();
    let mut folders = vec![src];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)
            .expect("src")
            .map(|e| e.expect("readable").path())
        {
            if entry.is_dir() && !entry.ends_with("tests") {
                folders.push(entry);
            } else if entry.extension().is_some_and(|e| e == "rs")
                && !entry.ends_with("serve/src/metrics.rs")
            {
                code.push_str(&fs::read_to_string(&entry).expect("readable"));
            }
        }
    }
    for name in names {
        assert!(
            code.contains(name),
            "{name} is described and nobody counts it"
        );
    }
}
