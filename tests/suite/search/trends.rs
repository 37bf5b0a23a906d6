//! Queries side by side over time, by the real program over documents whose figures are known: those of the sample web, which
//! knows what it published, and invented ones.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::support::daemon::Daemon;
use crate::support::folder::{Folder, assert_has};
use crate::support::world::{FAST, Home, Web};

/// A query string of these queries.
fn asked(queries: &[&str], more: &str) -> String {
    let mut pairs = url::form_urlencoded::Serializer::new(String::new());
    for query in queries {
        pairs.append_pair("q", query);
    }
    format!("{}{more}", pairs.finish())
}

fn trends(serving: &Daemon, queries: &[&str], more: &str) -> Value {
    serving.json(&format!("/api/trends?{}", asked(queries, more)))
}

#[test]
fn trends_of_sample_web() {
    let web = Web::sample();
    let home = Home::new(&web, FAST);
    home.done(&["crawl"]);
    let articles = web.server.articles();
    let mut reprints: BTreeMap<&str, usize> = BTreeMap::new();
    for original in articles.iter().filter_map(|a| a.reprint_of.as_deref()) {
        *reprints.entry(original).or_default() += 1;
    }
    let mut originals: Vec<(&str, usize)> = reprints.into_iter().collect();
    originals.sort_by_key(|(url, copies)| (std::cmp::Reverse(*copies), *url));
    assert!(originals.len() >= 3, "the sample web has reprints");
    let serving = Daemon::serving(&home);
    for (url, _) in originals.into_iter().take(3) {
        let original = articles.iter().find(|a| a.url == url).expect("an article");
        // A run of its text that says which documents hold it.
        let run: String = original.text.concat().chars().skip(5).take(16).collect();
        let holders: Vec<_> = articles
            .iter()
            .filter(|article| article.text.concat().contains(&run))
            .collect();
        let mut days: BTreeMap<String, u64> = BTreeMap::new();
        for article in &holders {
            let day = article.published.get(..10).expect("a day").to_owned();
            *days.entry(day).or_default() += 1;
        }
        let query = format!("\"{run}\"");
        let found = trends(&serving, &[&query], "&unit=day&since=2000-01-01");
        assert_eq!(
            found["unit"], "month",
            "days and weeks of decades are too many points"
        );
        assert_eq!(found["notes"].as_array().map(Vec::len), Some(1));
        let found = trends(&serving, &[&query], "&unit=day");
        let found = &found["queries"][0];
        assert_eq!(found["total"], holders.len(), "{run}: {found}");
        assert_eq!(found["undated"], 0);
        let counts = found["counts"].as_array().expect("counts").iter();
        let counted: BTreeMap<String, u64> = counts
            .map(|point| {
                let start = point["start"].as_str().expect("a day").to_owned();
                (start, point["documents"].as_u64().expect("a count"))
            })
            .filter(|(_, documents)| *documents > 0)
            .collect();
        assert_eq!(counted, days, "{run}");
        let story = &found["stories"][0];
        let copies = (holders.iter()).filter(|a| a.reprint_of.as_deref() == Some(url));
        let copies = copies.count();
        assert_eq!(story["documents"], copies + 1, "{run}: {story}");
        assert_eq!(story["first"]["site"], *original.site, "{run}: {story}");
    }
}

#[test]
fn trends_json_csv_and_page() {
    // Ten days with ten reports each. Of those of the gas field one a day speaks of it, then two; the fracturing comes up in
    // the second half only.
    let mut documents = Vec::new();
    for day in 1..=10 {
        for n in 0..10 {
            let gas = n == 0 || (n == 1 && day > 5);
            let topic = match (gas, day > 5) {
                (true, true) => "青石岭气田完成重复压裂作业，产量回升",
                (true, false) => "青石岭气田检修集输管线，产量平稳",
                (false, _) => "港口煤炭库存变化，运价小幅调整",
            };
            documents.push(json!({
                "url": format!("http://s{}.example/{day}/{n}", n % 3),
                "site": format!("s{}", n % 3),
                "title": format!("第{day}日第{n}号简报"),
                "text": format!("{topic}。编号{day}之{n}，记者走访了当地的{}个班组。", day * 10 + n),
                "published": format!("2026-05-{day:02}T08:00:00+08:00"),
                "kind": "article",
            }));
        }
    }
    let folder = Folder::new("", &[]);
    folder.import(documents);
    let serving = Daemon::serving(&folder);
    let found = trends(&serving, &["青石岭气田", "煤炭"], "");
    assert_eq!(
        (&found["unit"], &found["middle"]),
        (&"day".into(), &"2026-05-06".into())
    );
    let gas = &found["queries"][0];
    assert_eq!(gas["total"], 15);
    let shares: Vec<f64> = gas["counts"]
        .as_array()
        .expect("counts")
        .iter()
        .map(|point| point["share"].as_f64().expect("a share"))
        .collect();
    assert_eq!(shares, [[0.1; 5], [0.2; 5]].concat());
    assert_eq!(gas["sites"][0], json!({"site": "s0", "documents": 10}));
    let rising = &gas["rising"][0];
    assert_eq!(
        (&rising["before"], &rising["since"]),
        (&0.into(), &10.into()),
        "{gas}"
    );
    let term = rising["term"].as_str().expect("a term");
    assert!("完成重复压裂作业回升".contains(term), "{gas}");
    assert_eq!(found["queries"][1]["total"], 85);
    assert_eq!(found["queries"][1]["rising"], json!([]), "{found}");

    let query = asked(&["青石岭气田", "煤炭"], "&format=csv");
    let (_, csv) = serving.get(&format!("/api/trends?{query}"));
    let rows: Vec<&str> = csv.lines().collect();
    assert_eq!(rows[1], "2026-05-01,10,1,0.100000,9,0.900000");
    assert_eq!(rows[10], "2026-05-10,10,2,0.200000,8,0.800000");
    assert_eq!(rows.len(), 11);
    let query = asked(&["青石岭气田", "煤炭"], "&lang=zh");
    assert_has(
        &serving.get(&format!("/trends?{query}")).1,
        &[
            "2026-05-10: 青石岭气田 2 · 煤炭 8",
            "2026-05-06 以来上升的词",
        ],
    );
    let (_, all) = serving.get("/api/search?q=%E7%85%A4%E7%82%AD&format=csv&limit=1000");
    assert_eq!(all.lines().count(), 86);
}
