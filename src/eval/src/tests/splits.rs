//! Templates against the models alone on random splits of a small site whose text the models find by themselves.

use std::fs;

use crate::{Extraction, PageFilter, choose, compare_splits, format_splits};
use taojin_extract as extract;
use taojin_extract::page;
use taojin_extract::template;

/// Page `n` of a site: three paragraphs of its own, and a line that is on every page.
fn article(n: usize) -> (String, String) {
    let part = |k: usize| {
        format!(
            "第{n}号井第{k}次试采昨日结束，日产量稳定在{}万立方米左右，指挥部决定在同一构造再部署{}口评价井。",
            n * 3 + k,
            k + 1
        )
    };
    let text: Vec<String> = (1..4).map(part).collect();
    let html = format!(
        "<html><head><title>第{n}号井试采结束</title></head><body><div class=nav><a href=/>首页</a></div>\
         <div class=main><h1>第{n}号井试采结束</h1><div class=text><p>{}</p></div></div>\
         <div class=foot>南缘日报社 版权所有</div></body></html>",
        text.join("</p><p>")
    );
    (html, text.join("\n"))
}

#[test]
fn splits_count_and_size() {
    let dir = tempfile::tempdir().expect("temporary directory");
    let set = dir.path().join("set");
    fs::create_dir_all(set.join("html")).expect("folders");
    let mut gold = String::new();
    for n in 0..14 {
        let (html, text) = article(n);
        fs::write(set.join(format!("html/a{n}.html")), html).expect("written");
        let url = format!("http://daily.example/{n}.html");
        let line = serde_json::json!({"id": format!("a{n}"), "url": url, "text": text});
        gold.push_str(&format!("{line}\n"));
    }
    fs::write(set.join("gold.jsonl"), gold).expect("written");
    let choice = PageFilter::default();
    let (sets, _) = choose(dir.path(), &choice).expect("a folder");
    let extraction = Extraction {
        now_ms: 1_790_000_000_000,
        page: page::Config::default(),
        extract: extract::Config::default(),
        unseen: None,
    };
    let config = template::Config::default();
    let rows = compare_splits(&sets, &choice, &extraction, &config, 3, |_| ()).expect("readable");
    // Half of 14 pages, and ten; thirty there are not.
    let sizes: Vec<_> = rows
        .iter()
        .map(|r| (r.learned_from, r.judged, r.splits))
        .collect();
    assert_eq!(sizes, [(7, 7, 3), (10, 4, 3)]);
    for row in &rows {
        assert_eq!(row.site, "daily.example");
        assert!(row.ratio > 0.9 && row.guided >= row.ratio, "{row:?}");
        assert_eq!((row.worse_text, row.lost), (0, 0));
        assert!(row.least.abs() < 1e-9 && row.worse.is_empty());
    }
    assert_eq!(format_splits(&rows).len(), 3);
    // The same seeds, the same splits.
    let again = compare_splits(&sets, &choice, &extraction, &config, 3, |_| ()).expect("readable");
    assert_eq!(again, rows);
}
