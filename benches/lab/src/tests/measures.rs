//! Measures of structure as finders of comments: what counts as found, and what the table and the drawing show.

use std::fs;

use taojin_eval::{Extraction, PageFilter, choose};

use crate::comment_measures::{comment_measures, measure_lines};
use crate::measure_plot::measure_plot;

/// A page of eight records, of which the gold has six: the other two are made alike and say something else.
fn corpus() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("temporary directory");
    let said = |n: usize| format!("第{n}位读者说这条新闻写得很好，应该多写{n}篇");
    let record = |text: &str| {
        format!("<li><div class=c><div><a><b><i>名</i></b></a></div><p>{text}</p></div></li>")
    };
    let mut html = String::from("<body><div><div><ul>");
    for n in 0..6 {
        html.push_str(&record(&said(n)));
    }
    html.push_str(&record("猜你喜欢"));
    html.push_str(&record("热门推荐"));
    html.push_str("</ul></div></div></body>");
    let gold = serde_json::json!({"id": "a", "comments": (0..6).map(said).collect::<Vec<_>>()});
    fs::create_dir_all(dir.path().join("a<b/html")).expect("folders");
    fs::write(dir.path().join("a<b/html/a.html"), html).expect("written");
    fs::write(dir.path().join("a<b/gold.jsonl"), gold.to_string()).expect("written");
    dir
}

#[test]
fn a_block_that_holds_a_comment_is_right_and_one_that_does_not_is_wrong() {
    let dir = corpus();
    let choice = PageFilter::default();
    let (sets, _) = choose(dir.path(), &choice).expect("a corpus");
    let extraction = Extraction::default();
    let rows = comment_measures(&sets, &choice, &extraction).expect("measured");
    // The extraction, and six measures at ten thresholds.
    assert_eq!(rows.len(), 61);
    let pol = rows
        .iter()
        .find(|r| r.measure == "POL" && r.alike == Some(0.8));
    let [precision, recall, _] = pol.and_then(|r| r.comments).expect("gold has comments");
    assert!((precision - 0.75).abs() < 1e-9 && (recall - 1.0).abs() < 1e-9);
    assert_eq!(measure_lines(&rows).len(), 62);
    let drawn = measure_plot(&rows);
    assert!(drawn.contains("a&lt;b: F1 of comments") && !drawn.contains("a<b"));
}
