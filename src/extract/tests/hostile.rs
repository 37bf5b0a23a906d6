//! Any bytes end in a document, in linear time.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use crate::extract::{Config, Context, explain, extract};
use crate::page::{Hints, Page};

fn took(html: &str) -> Duration {
    let page = Page::parse(html.as_bytes(), Hints::default());
    let start = Instant::now();
    let _ = extract(&page, &Context::default());
    start.elapsed()
}

/// Pages that grow with `n` in ways that have made extractors quadratic.
fn hostile(n: usize) -> Vec<(&'static str, String)> {
    let sentence = "长河油田注水试验见到成效，日产油量提高三成。";
    vec![
        (
            "nested blocks",
            format!("{}{sentence}", "<div class='content'>".repeat(n)),
        ),
        (
            "blocks that each hold a text",
            format!("<div>{sentence}").repeat(n / 4),
        ),
        (
            "headings",
            format!(
                "<title>{sentence}</title>{}",
                "<h1>长河油田见到成效的试验</h1>".repeat(n)
            ),
        ),
        (
            "links",
            "<a href='/a/1.html'>长河油田注水试验</a> ".repeat(n),
        ),
        ("dates", "<p class='date'>2019-09-07 13:43</p>".repeat(n)),
        ("one line", format!("<p>{}", sentence.repeat(n))),
        (
            "marks",
            "<div class='comment-list related share'><p>x</p></div>".repeat(n),
        ),
        (
            "table",
            format!("<table>{}", "<tr><td>井号<td>日产".repeat(n)),
        ),
        (
            "joints",
            format!("<title>{}</title><p>{sentence}", "油-气_".repeat(n)),
        ),
    ]
}

#[test]
fn time_grows_with_the_page_and_not_with_its_square() {
    const N: usize = 4_000;
    let pairs = hostile(N).into_iter().zip(hostile(4 * N));
    for ((name, small), (_, large)) in pairs {
        took(&small);
        let least = |html: &str| (0..3).map(|_| took(html)).min().unwrap_or_default();
        let (a, b) = (least(&small), least(&large));
        // Four times the page: 4 is linear, 16 is quadratic. Short times are noise.
        let bound = a.max(Duration::from_millis(20)) * 9;
        assert!(
            b <= bound,
            "{name}: {a:?} for one, {b:?} for four times as much"
        );
    }
}

#[test]
fn an_empty_page_is_a_document_without_anything() {
    let document = extract(&Page::parse(b"", Hints::default()), &Context::default());
    assert_eq!((document.text.as_str(), document.title), ("", None));
    assert_eq!(document.method, "none");
    assert_eq!(document.confidence, 0.0);
}

#[test]
fn the_trace_tells_the_lines_kept_and_why() {
    let html = "<title>注水试验见效</title><h1>注水试验见效</h1><div class=content>\
        <p>长河油田注水试验见到成效，日产油量提高三成，含水率下降四个百分点。\
        <p>下一步，这套做法将推广到另外两个区块，预计新增产能十五万吨。</div>\
        <p>版权所有：油气前沿杂志社，未经授权不得转载。";
    let page = Page::parse(html.as_bytes(), Hints::default());
    let (document, trace) = explain(&page, &Context::default(), &Config::default());
    let kept: Vec<&str> = trace
        .lines
        .iter()
        .filter(|l| l.kept)
        .map(|l| l.text.as_str())
        .collect();
    assert_eq!(kept.join("\n"), document.text);
    assert_eq!(trace.lines.len(), 4);
    assert!(trace.lines.iter().all(|l| !l.reasons.is_empty()));
    assert_eq!(
        trace.titles.first().map(|t| t.text.as_str()),
        document.title.as_deref()
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_bytes_end_in_a_document(bytes in proptest::collection::vec(any::<u8>(), 0..2_000)) {
        let document = extract(&Page::parse(&bytes, Hints::default()), &Context::default());
        prop_assert!((0.0..=1.0).contains(&document.confidence));
    }

    #[test]
    fn any_markup_ends_in_a_document(parts in proptest::collection::vec(
        prop_oneof![
            Just("<div class='content'>"), Just("</div>"), Just("<p>"), Just("<table><tr><td>"),
            Just("<a href='/1.html'>"), Just("</a>"), Just("<h1>"), Just("<br>"), Just("<time datetime='x'>"),
            Just("长河油田，注水试验。"), Just("2019年13月40日 25:61"), Just("© 版权所有"), Just("相关阅读"),
            Just("<script type='application/ld+json'>{\"@graph\":["), Just("</script>"), Just("<noscript>"),
            Just("<title>a - b_c|d</title>"), Just("&#x110000;"), Just("\u{200f}x\u{0}"),
        ], 0..60)) {
        let html = parts.concat();
        let document = extract(&Page::parse(html.as_bytes(), Hints::default()), &Context::default());
        prop_assert!((0.0..=1.0).contains(&document.confidence));
    }
}
