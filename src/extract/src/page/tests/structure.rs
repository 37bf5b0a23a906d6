//! What the HTML standard makes of markup that is not well-formed; the paths are those of html5ever.

use super::{page, texts};
use crate::page::{Attr, Config, Hints, Page, Tag};

/// Markup and its texts with their tag paths without `html.`, by what they are about.
const TREES: &str = r#"
# implied html, head and body
x => body x
<title>t</title><p>x => head.title t | body.p x
<html><head><title>t</title></head><body>x</body></html>y => head.title t | body xy
# implied end tags
<p>a<p>b<div>c => body.p a | body.p b | body.div c
<ul><li>a<li>b<ul><li>c</ul><li>d</ul>e => body.ul.li a | body.ul.li b | body.ul.li.ul.li c | body.ul.li d | body e
<dl><dt>a<dd>b<dt>c</dl> => body.dl.dt a | body.dl.dd b | body.dl.dt c
<select><option>a<option>b</select>c => body.select.option a | body.select.option b | body c
<p>a<h2>b => body.p a | body.h2 b
<p>a<button><p>b => body.p a | body.p.button.p b
# parts of tables
<table><tr><td>a<td>b<tr><td>c</table>d => body.table.tbody.tr.td a | body.table.tbody.tr.td b | body.table.tbody.tr.td c | body d
<div><table><tr><td>a</div>b</td></tr></table>c</div> => body.div.table.tbody.tr.td ab | body.div c
<table><caption>a<thead><tr><th>b<tbody><tr><td>c => body.table.caption a | body.table.thead.tr.th b | body.table.tbody.tr.td c
# content moved out of a table
<table>a<tr><td>b</td></tr>c<tr><td>d</table> => body a | body.table.tbody.tr.td b | body c | body.table.tbody.tr.td d
<table><tr><div>a</div><td>b => body.div a | body.table.tbody.tr.td b
# a table in a paragraph, with and without quirks
<!doctype html><p>a<table><tr><td>b => body.p a | body.table.tbody.tr.td b
<p>a<table><tr><td>b => body.p a | body.p.table.tbody.tr.td b
# formatting left open
<p><b>a<p>b</b>c => body.p.b a | body.p.b b | body.p c
<div><font>a</div><div>b</font>c</div> => body.div.font a | body.div.font b | body.div c
<a>a<a>b</a>c => body.a a | body.a b | body c
# formatting that ends inside a block
<b>a<p>b</b>c => body.b a | body.p.b b | body.p c
<div><a>a<div>b<div>c</div></a>d</div> => body.div.a a | body.div.div.a b | body.div.div.a.div c | body.div.div d
<b><i>a<p>b</b>c</i>d => body.b.i a | body.p.i.b b | body.p.i c | body.p d
# forms
<form><div>a</form>b</div>c => body.form.div ab | body c
<form>a<form>b => body.form ab
# stray end tags
a</div></span></li></td>b => body ab
<div>a</span>b</div> => body.div ab
<h2>a</h3>b => body.h2 a | body b
<x-a>a<x-b>b</x-a>c => body.unknown a | body.unknown.unknown b | body c
# raw text and comments
<script>if (a<b) '<p>x</p>'</script><style>p{}</style>y => body y
<script type='application/ld+json'>{"a":"<b>&amp;"}</script> => head.script {"a":"<b>&amp;"}
<textarea><p>&lt;a</textarea>b => body.textarea <p><a | body b
<title>a<b>&amp;</title> => head.title a<b>&
<body><noscript><img src=a></noscript>b => body.noscript <img src=a> | body b
<script><!-- <script>'</script>' --></script>y<style></styles><p></style>z => body y | body z
<svg/><script>if (a<b) '<p>x</p>'</script>y => body y
<svg>a&lt;<![CDATA[b<i>&lt;]]>&lt;</svg> => body.svg a<b<i>&lt;<
<!-- <p>a --><![CDATA[b]]>c => body c
<p>a<!-- <p> --!>b</p><!doctype x> => body.p ab
# drawings
<svg><title>a</title><p>b</svg>c => body.svg.title a | body.p bc
<svg/>a<svg><path/></svg>b => body a | body b
<svg><foreignObject><p>a</p></foreignObject></svg>b => body.svg.foreignobject.p a | body b
# white space
<div>\n  <p> a\n\n b </p>\n</div> => body.div.p a b
<p><b>a</b> <i>b</i>\n</p> => body.p.b a | body.p   | body.p.i b
<p>a <b>b</b> c => body.p a  | body.p.b b | body.p  c
<pre>\n a\n  b</pre> => body.pre  a\n  b
a<br> b => body a | body b
"#;

#[test]
fn tree_as_in_browsers() {
    let mut label = "";
    for row in TREES.trim().lines() {
        let Some((html, expected)) = row.split_once(" => ") else {
            label = row;
            continue;
        };
        let expected: Vec<String> = expected
            .split(" | ")
            .map(|t| format!("html.{}", newlines(t)))
            .collect();
        assert_eq!(texts(&page(&newlines(html))), expected, "{label}: {html}");
    }
}

fn newlines(text: &str) -> String {
    text.replace("\\n", "\n")
}

#[test]
fn empty_page_without_nodes() {
    assert!(page("").nodes().is_empty());
    assert!(page("<!-- only this -->").nodes().is_empty());
}

#[test]
fn stray_p_end_breaks_line() {
    let page = page("<div>a</p>b</div>");
    assert_eq!(page.inline_text(0), "a b");
    assert_eq!(page.nodes().iter().filter(|n| n.tag == Tag::P).count(), 1);
}

#[test]
fn script_keeps_publication_times() {
    let between = "x".repeat(2000);
    let html = format!(
        "<p>a<script>publishTime='2019-09-07';\n{between}publishTime='2020-01-01'\n</script> b"
    );
    let page = page(&html);
    let script = page.nodes().iter().position(|n| n.tag == Tag::SCRIPT);
    let told = page.text(script.unwrap() as u32 + 1);
    assert!(told.contains("'2019-09-07'") && told.contains("'2020-01-01'"));
    assert!(told.len() < 1000);
}

#[test]
fn entities_decoded_once() {
    let text = page("a&amp;lt;&nbsp;&#x4E2D;&#25991;&copy &bogus; &");
    assert_eq!(texts(&text), ["html.body a&lt;\u{a0}中文© &bogus; &"]);
    let page = page("<a href='/x?a=1&amp;b=2&copy=3' title=\"a > b\">t</a>");
    let a = page.nodes().iter().position(|n| n.tag == Tag::A).unwrap() as u32;
    assert_eq!(page.attr(a, Attr::Href), Some("/x?a=1&b=2&copy=3"));
    assert_eq!(page.attr(a, Attr::Title), Some("a > b"));
    assert_eq!(page.attr(a, Attr::Class), None);
    assert_eq!(page.attr(a + 1, Attr::Href), None, "a text has none");
}

#[test]
fn attributes_as_in_browsers() {
    let page = page("<a HREF = /a id class=x/y href=/b title='a\">'>t</a>");
    let a = page.nodes().iter().position(|n| n.tag == Tag::A).unwrap() as u32;
    assert_eq!(page.attr(a, Attr::Href), Some("/a"), "the first counts");
    assert_eq!(page.attr(a, Attr::Id), Some(""));
    assert_eq!(page.attr(a, Attr::Class), Some("x/y"));
    assert_eq!(page.attr(a, Attr::Title), Some("a\">"));
    assert_eq!(texts(&page), ["html.body.a t"]);
}

#[test]
fn depth_limit_keeps_rest() {
    let html = format!("{}x{}y", "<div>".repeat(40), "</div>".repeat(40));
    let hints = Hints {
        limits: Config {
            max_depth: 10,
            ..Config::default()
        },
        ..Hints::default()
    };
    let page = Page::parse(html.as_bytes(), hints);
    assert_eq!(page.truncated, Some("depth"));
    let deepest = page.nodes().iter().map(|n| n.depth).max().unwrap();
    assert_eq!(deepest, 10);
    assert_eq!(texts(&page).last().unwrap(), "html.body y");
}

#[test]
fn attribute_value_limit() {
    let html = format!(
        "<img alt='{}' src='data:image/png;base64,{}'>",
        "中".repeat(3000),
        "A".repeat(9000)
    );
    let page = page(&html);
    let img = page.nodes().iter().position(|n| n.tag == Tag::IMG).unwrap() as u32;
    assert_eq!(page.attr(img, Attr::Alt).unwrap().chars().count(), 4096 / 3);
    assert_eq!(page.attr(img, Attr::Src).unwrap().len(), 32);
}

#[test]
fn tag_names_any_case() {
    for number in 2..crate::page::tag::TAGS as u16 {
        let name = Tag(number).name();
        assert_eq!(Tag::from_name(name.as_bytes()), Tag(number), "{name}");
        let upper = name.to_ascii_uppercase();
        assert_eq!(Tag::from_name(upper.as_bytes()), Tag(number), "{upper}");
    }
}

#[test]
fn tag_unknown_names() {
    for name in [
        "", "x-card", "divv", "di", "h7", "#text", "unknown", "spa\0",
    ] {
        assert_eq!(Tag::from_name(name.as_bytes()), Tag::OTHER, "{name:?}");
    }
    assert_eq!(Tag(9999).name(), "unknown");
    assert!(!Tag(9999).is_block());
}

#[test]
fn tag_predicates() {
    assert!(Tag::BR.is_void() && !Tag::DIV.is_void());
    assert!(Tag::P.is_block() && Tag::SPAN.is_inline() && Tag::TEXT.is_inline());
    assert!(Tag::H3.is_heading() && !Tag::HEADER.is_heading());
    assert!(Tag::SCRIPT.is_invisible() && Tag::TITLE.is_invisible() && !Tag::A.is_invisible());
}

#[test]
fn attr_names_any_case() {
    assert_eq!(Attr::from_name(b"HREF"), Some(Attr::Href));
    assert_eq!(Attr::from_name(b"data-original"), Some(Attr::DataOriginal));
    assert_eq!(Attr::from_name(b"onfocus"), None);
    assert_eq!(Attr::from_name(b"a-name-longer-than-any-known"), None);
}

#[test]
fn paths_interned_once() {
    let page = super::page("<div><p>a</p><p>b</p><ul><li><b>c</b></ul></div>");
    let paragraphs: Vec<u32> = page
        .nodes()
        .iter()
        .filter(|n| n.tag == Tag::P)
        .map(|n| n.path)
        .collect();
    assert_eq!(paragraphs[0], paragraphs[1]);
    assert_eq!(
        page.path_name(path_of(&page, Tag::B)),
        "html.body.div.ul.li.b"
    );
}

fn path_of(page: &Page, tag: Tag) -> u32 {
    page.nodes().iter().find(|n| n.tag == tag).unwrap().path
}

#[test]
fn anchor_without_address_is_no_link() {
    let page =
        page("<div><a name=top><p>a</p><a href=/b>b</a><a onclick='go()'>c</a><a id=d>d</a></div>");
    let of_text = |text: &str| {
        let at = (0..page.nodes().len() as u32).find(|id| page.text(*id) == text);
        page.paths()[page.node(at.unwrap()).path as usize].is_link
    };
    assert_eq!(
        ["a", "b", "c", "d"].map(of_text),
        [false, true, true, false]
    );
}
