//! Saved pages: the same tree again, and nothing that runs, loads or leads elsewhere.

use std::sync::Arc;

use super::page;
use crate::page::Tag;
use crate::template::{Field, Guide, Keys, Template, frame, framed_html, write_html};

const HOSTILE: &str = "<html><head><title>标题 & 一</title><meta property=og:title content='a\"b'>\
    <script>alert(1)</script><style>p{background:url(http://x.test/)}</style><link rel=stylesheet href=//x.test/></head>\
    <body onload=alert(1)><h1 onclick='x()'>标题</h1><p class=\"t\">一 &lt;script&gt; 二<img src=http://x.test/i.png onerror=x()>\
    <a href='javascript:alert(1)' title='\"><script>'>链接</a></p><iframe src=//x.test></iframe><object data=x></object>\
    <svg><script>alert(2)</script></svg><form action=//x.test><input name=a></form></body></html>";

#[test]
fn saved_html_same_blocks() {
    let first = page(HOSTILE);
    let again = page(&write_html(&first));
    let texts = |page: &crate::page::Page| page.inline_text(0);
    assert_eq!(texts(&first), texts(&again));
    assert_eq!(Keys::new(&first).set(), Keys::new(&again).set());
    // A second time nothing changes any more.
    assert_eq!(write_html(&again), write_html(&page(&write_html(&again))));
    let title = again.nodes().iter().position(|n| n.tag == Tag::TITLE);
    assert!(title.is_some_and(|at| again.inline_text(at as u32) == "标题 & 一"));
}

#[test]
fn saved_html_is_inert() {
    let hostile = page(HOSTILE);
    let keys = Keys::new(&hostile);
    let template = Arc::new(Template::default());
    let guide = Guide::new(&template, &keys, &hostile);
    let shown = frame(&framed_html(
        &hostile,
        &guide,
        &|_| true,
        &|field| field.map_or("other", Field::name),
        None,
    ))
    .to_ascii_lowercase();
    for bad in [
        "<script",
        "javascript:",
        "onload",
        "onclick",
        "onerror",
        "x.test",
        "<iframe",
        "<object",
        "<link",
        "<img",
        "href=",
        "src=",
    ] {
        assert!(!shown.contains(bad), "{bad}");
    }
    assert!(shown.contains("default-src 'none'"));
    assert!(shown.contains("data-region="));
    // A place without a field has a name too.
    assert!(shown.contains("title=\"other · 0 %\""));
}

#[test]
fn saved_html_deep_page() {
    let deep = page(&"<div>".repeat(5_000));
    assert!(write_html(&deep).len() < 200_000);
}
