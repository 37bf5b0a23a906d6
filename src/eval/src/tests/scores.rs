//! Scores of pages, rates of sets, differences of runs.

use crate::{Gold, Overlap, PageScore, Run, Tally, compare, format_run, report};
use taojin_extract::{Comment, Document, Kind};

fn gold(json: serde_json::Value) -> Gold {
    serde_json::from_value(json).expect("gold")
}

fn document(title: Option<&str>, published: &str, text: &str, comments: &[&str]) -> Document {
    let comment = |text: &&str| Comment {
        text: (*text).to_owned(),
        ..Comment::default()
    };
    Document {
        title: title.map(str::to_owned),
        published: Some(published.to_owned()),
        text: text.to_owned(),
        comments: comments.iter().map(comment).collect(),
        kind: Kind::Article,
        ..Document::default()
    }
}

/// Four pages, of which one is not there.
fn pages() -> Vec<PageScore> {
    let a = gold(serde_json::json!({
        "id": "a", "lang": "en", "title": "Ａ \"b\"", "published": "2020-01-02T00:00",
        "text": "one two three four five six", "comments": ["a b c d e f g h i j", "x y", "x y"],
    }));
    let b = gold(serde_json::json!({
        "id": "b", "lang": "zh", "title": "t", "published": "--01-02", "text": "油气勘探开发",
        "comments": [{"text": "好", "author": "甲"}],
    }));
    let c = gold(
        serde_json::json!({"id": "c", "lang": "zh", "title": "c", "text": "。", "published": "2020年1月2日"}),
    );
    let e = gold(
        serde_json::json!({"id": "e", "lang": "en", "text": "gone for ever and ever", "published": "2021-1-1"}),
    );
    let words = "one two three four five seven eight";
    let of_a = document(
        Some("a b"),
        "2020-01-02",
        words,
        &["a b c d e f g h i", "x y", "z"],
    );
    let of_b = document(Some("t"), "2020-01-02", "勘探开发油", &[]);
    let of_c = document(None, "2020-01-03", "", &[]);
    vec![
        PageScore::new("x", &a, Some(&of_a), false),
        PageScore::new("x", &b, Some(&of_b), false),
        PageScore::new("x", &c, Some(&of_c), false),
        PageScore::new("x", &e, None, false),
    ]
}

fn run(pages: Vec<PageScore>) -> Run {
    Run {
        pages,
        ..Run::default()
    }
}

#[test]
fn rates_as_reference_scorer() {
    let row = Tally::from_pages(&pages()).row();
    assert_eq!((row.pages, row.missing, row.text), (4, 1, Some(4)));
    assert_eq!(
        (row.f1, row.p, row.r, row.page),
        (Some(0.3562), Some(0.5), Some(0.2766), Some(0.4929))
    );
    assert_eq!((row.title, row.date), (Some(0.3333), Some(0.3333)));
    assert_eq!(
        (row.comments_p, row.comments_r, row.comments_f1),
        (Some(0.6667), Some(0.5), Some(0.5714))
    );
    assert_eq!(row.kind, Some(0.75));
    assert_eq!(row.mb_per_s, None);
}

#[test]
fn rates_by_language() {
    let whole = report(&run(pages()), 9, true, Vec::new());
    let zh = whole["x"].languages["zh"];
    assert_eq!((zh.pages, zh.f1, zh.page), (2, Some(0.4), Some(0.7)));
    assert_eq!((zh.p, zh.r), (Some(0.5), Some(0.3333)));
    assert_eq!((zh.title, zh.date), (Some(0.5), Some(0.0)));
    assert_eq!(zh.comments_f1, Some(0.0));
    let worst = [(0.0, "e"), (0.4, "b"), (0.571, "a"), (1.0, "c")];
    assert_eq!(
        whole["x"].worst,
        Some(worst.map(|(f1, id)| (f1, id.to_owned())).to_vec())
    );
}

#[test]
fn score_skips_unknown_fields() {
    let empty = gold(
        serde_json::json!({"id": "a", "title": "", "text": "", "published": "昨天", "comments": []}),
    );
    let score = PageScore::new(
        "x",
        &empty,
        Some(&document(Some("t"), "", "text", &["c"])),
        false,
    );
    assert_eq!(
        (score.text, score.title, score.date, score.comments),
        (None, None, None, None)
    );
    let row = Tally::from_pages([&score]).row();
    assert_eq!((row.text, row.title, row.date), (None, None, None));
    let json = serde_json::to_value(row).expect("JSON");
    assert_eq!(
        json,
        serde_json::json!({"pages": 1, "missing": 0, "kind": 1.0})
    );
}

#[test]
fn score_kind_article_or_list() {
    let judged = |page_type: Option<&str>, title: Option<&str>, hubs, kind| {
        let gold = gold(serde_json::json!({"id": "a", "page_type": page_type, "title": title}));
        let document = Document {
            kind,
            ..Document::default()
        };
        PageScore::new("x", &gold, Some(&document), hubs).kind
    };
    let title = Some("t");
    assert_eq!(judged(None, title, false, Kind::Article), Some(true));
    assert_eq!(judged(None, title, false, Kind::Hub), Some(false));
    assert_eq!(judged(None, None, false, Kind::Article), None);
    assert_eq!(judged(None, None, true, Kind::Hub), Some(true));
    assert_eq!(judged(None, None, true, Kind::Other), Some(false));
    assert_eq!(judged(Some("list"), None, true, Kind::Hub), Some(true));
    assert_eq!(
        judged(Some("article"), title, false, Kind::Other),
        Some(false)
    );
    assert_eq!(judged(Some("forum"), title, false, Kind::Other), Some(true));
    assert_eq!(
        judged(Some("forum"), title, false, Kind::Article),
        Some(false)
    );
}

#[test]
fn comments_matched_once() {
    let twice = gold(serde_json::json!({"id": "a", "comments": ["x y", "x y"]}));
    let once = document(None, "", "", &["x y z w", "x y"]);
    let score = PageScore::new("x", &twice, Some(&once), false);
    let comments = score.comments.expect("judged");
    assert_eq!((comments.right, comments.given, comments.gold), (1, 2, 2));
}

#[test]
fn difference_names_changed_fields() {
    let before = pages();
    let mut now = pages();
    now[0].text = Some(Overlap {
        right: 3.0,
        extra: 0.0,
        missed: 0.0,
    });
    now[1].title = Some(false);
    now[2].id = "new".to_owned();
    let differences = compare(&run(now.clone()), &run(before));
    assert_eq!(differences.len(), 1);
    let difference = &differences[0];
    assert_eq!((difference.only_now, difference.only_before), (1, 1));
    assert_eq!((difference.before.pages, difference.now.pages), (3, 3));
    let named = |changes: &[crate::FieldChange]| {
        let named = changes.iter().map(|c| (c.id.clone(), c.field, c.gain()));
        named.collect::<Vec<_>>()
    };
    assert_eq!(named(&difference.worse), [("b".to_owned(), "title", -1.0)]);
    assert_eq!(
        named(&difference.better),
        [("a".to_owned(), "text", 0.4286)]
    );
    let now = run(now);
    let text = format_run(&now, &report(&now, 0, false, differences)).join("\n");
    assert!(
        text.contains("worse: 1\n  -1.000  title    1.000 → 0.000  x/b"),
        "{text}"
    );
    assert!(
        text.contains("better: 1\n  +0.429  text     0.571 → 1.000  x/a"),
        "{text}"
    );
    assert!(
        text.contains("not compared: 1 pages only now, 1 only before"),
        "{text}"
    );
}

#[test]
fn difference_of_same_run() {
    let differences = compare(&run(pages()), &run(pages()));
    assert!(differences[0].worse.is_empty() && differences[0].better.is_empty());
    let other_set = compare(&run(pages()), &Run::default());
    assert_eq!((other_set[0].only_now, other_set[0].now.pages), (4, 0));
}
