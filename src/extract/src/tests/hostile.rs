//! Any bytes end in a document. How the time grows is measured by `benches/hostile.rs`.

use proptest::prelude::*;

use crate::page::{Hints, Page};
use crate::{Config, Context, explain, extract};

#[test]
fn extract_empty_page() {
    let document = extract(&Page::parse(b"", Hints::default()), &Context::default());
    assert_eq!((document.text.as_str(), document.title), ("", None));
    assert_eq!(document.method, "none");
    assert_eq!(document.provenance.confidence, 0.0);
}

#[test]
fn trace_lines_and_reasons() {
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
    fn extract_any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..2_000)) {
        let document = extract(&Page::parse(&bytes, Hints::default()), &Context::default());
        prop_assert!((0.0..=1.0).contains(&document.provenance.confidence));
    }

    #[test]
    fn extract_any_markup(parts in proptest::collection::vec(
        prop_oneof![
            Just("<div class='content'>"), Just("</div>"), Just("<p>"), Just("<table><tr><td>"),
            Just("<a href='/1.html'>"), Just("</a>"), Just("<h1>"), Just("<br>"), Just("<time datetime='x'>"),
            Just("长河油田，注水试验。"), Just("2019年13月40日 25:61"), Just("© 版权所有"), Just("相关阅读"),
            Just("<script type='application/ld+json'>{\"@graph\":["), Just("</script>"), Just("<noscript>"),
            Just("<title>a - b_c|d</title>"), Just("&#x110000;"), Just("\u{200f}x\u{0}"),
        ], 0..60)) {
        let html = parts.concat();
        let document = extract(&Page::parse(html.as_bytes(), Hints::default()), &Context::default());
        prop_assert!((0.0..=1.0).contains(&document.provenance.confidence));
    }

    #[test]
    fn document_without_controls(controls in proptest::collection::vec(
        (0u32..0xA0).prop_filter_map("a control", |n| char::from_u32(n).filter(|c| c.is_control())), 12)) {
        let document = extract(&controlled(&controls), &Context::default());
        prop_assert!(document.text.contains("注水试验见到成效"), "{}", document.text);
        prop_assert!(document.title.is_some() && document.comments.len() == 2);
        let json = serde_json::to_value(&document).unwrap();
        prop_assert_eq!(strings_with_controls(&json), Vec::<String>::new());
    }
}

/// A page that has control characters wherever a document takes its fields from, as they are, as references and in JSON.
fn controlled(controls: &[char]) -> Page {
    let mut next = controls.iter().cycle().copied();
    let mut html = String::new();
    let parts = concat!(
        "<html lang='zh@'><head><title>长河油田注@水试验</title><meta name=author content='张@三'>",
        "<link rel=canonical href='/2@.html'><script type='application/ld+json'>",
        "{\"%type\":\"NewsArticle\",\"author\":{\"name\":\"李^四\"},\"headline\":\"长河油田^注水试验\"}</script>",
        "</head><body><h1>长河油田注@水试验</h1><p>来源：石油@报 作者：张@三 2024-05-06",
        "<div class=content><p>长河油田@注水试验见到成效，日产油量提高三成，含水率下降四个百分点，生产平稳。",
        "<p>下一步，这套做法将推广@到另外两个区块，预计新增产能十五万吨。<img src='/a.png' alt='井@场'></div>",
        "<ul class=comment-list>",
        "<li class=comment><b class=author>甲@乙</b><time>2024-05-07 10:00</time><p>这项@试验做得很好，值得推广。</li>",
        "<li class=comment><b class=author>丙@丁</b><time>2024-05-07 11:00</time><p>希望@早日见到更多的区块投产。</li>",
        "</ul><a href='/3.html'>相关@报道</a>",
    );
    for c in parts.chars() {
        match (c, next.next().unwrap_or_default()) {
            ('@', control) => html.extend(format!("{control}&#x{:x};", u32::from(control)).chars()),
            ('^', control) => html.push_str(&format!("\\u{:04x}", u32::from(control))),
            ('%', _) => html.push('@'),
            (c, _) => html.push(c),
        }
    }
    Page::parse(html.as_bytes(), Hints::default())
}

fn strings_with_controls(json: &serde_json::Value) -> Vec<String> {
    use serde_json::Value;
    let is_bad = |text: &str| {
        text.chars()
            .any(|c| c.is_control() && c != '\n' && c != '\t')
    };
    match json {
        Value::String(text) => Vec::from_iter(is_bad(text).then(|| text.clone())),
        Value::Array(items) => items.iter().flat_map(strings_with_controls).collect(),
        Value::Object(fields) => fields.values().flat_map(strings_with_controls).collect(),
        _ => Vec::new(),
    }
}
