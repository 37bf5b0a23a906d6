//! What the HTML standard makes of markup that is not well-formed; the paths are those of html5ever.

use super::{page, texts};
use crate::page::{Attr, Config, Hints, Page, Tag};

fn check(html: &str, expected: &[&str]) {
    assert_eq!(texts(&page(html)), expected, "{html}");
}

#[test]
fn html_head_and_body_are_implied() {
    check("x", &["html.body x"]);
    check(
        "<title>t</title><p>x",
        &["html.head.title t", "html.body.p x"],
    );
    check(
        "<html><head><title>t</title></head><body>x</body></html>y",
        &["html.head.title t", "html.body xy"],
    );
    assert!(page("").nodes().is_empty());
    assert!(page("<!-- only this -->").nodes().is_empty());
}

#[test]
fn end_tags_that_may_be_left_out_are_implied() {
    check(
        "<p>a<p>b<div>c",
        &["html.body.p a", "html.body.p b", "html.body.div c"],
    );
    check(
        "<ul><li>a<li>b<ul><li>c</ul><li>d</ul>e",
        &[
            "html.body.ul.li a",
            "html.body.ul.li b",
            "html.body.ul.li.ul.li c",
            "html.body.ul.li d",
            "html.body e",
        ],
    );
    check(
        "<dl><dt>a<dd>b<dt>c</dl>",
        &[
            "html.body.dl.dt a",
            "html.body.dl.dd b",
            "html.body.dl.dt c",
        ],
    );
    check(
        "<select><option>a<option>b</select>c",
        &[
            "html.body.select.option a",
            "html.body.select.option b",
            "html.body c",
        ],
    );
    check("<p>a<h2>b", &["html.body.p a", "html.body.h2 b"]);
    check(
        "<p>a<button><p>b",
        &["html.body.p a", "html.body.p.button.p b"],
    );
}

#[test]
fn tables_close_their_parts_and_stray_end_tags_do_not_leave_a_cell() {
    check(
        "<table><tr><td>a<td>b<tr><td>c</table>d",
        &[
            "html.body.table.tbody.tr.td a",
            "html.body.table.tbody.tr.td b",
            "html.body.table.tbody.tr.td c",
            "html.body d",
        ],
    );
    check(
        "<div><table><tr><td>a</div>b</td></tr></table>c</div>",
        &["html.body.div.table.tbody.tr.td ab", "html.body.div c"],
    );
    check(
        "<table><caption>a<thead><tr><th>b<tbody><tr><td>c",
        &[
            "html.body.table.caption a",
            "html.body.table.thead.tr.th b",
            "html.body.table.tbody.tr.td c",
        ],
    );
}

#[test]
fn content_that_may_not_stand_in_a_table_is_moved_out() {
    check(
        "<table>a<tr><td>b</td></tr>c<tr><td>d</table>",
        &[
            "html.body a",
            "html.body.table.tbody.tr.td b",
            "html.body c",
            "html.body.table.tbody.tr.td d",
        ],
    );
    check(
        "<table><tr><div>a</div><td>b",
        &["html.body.div a", "html.body.table.tbody.tr.td b"],
    );
}

#[test]
fn a_table_closes_a_paragraph_unless_the_page_is_in_quirks_mode() {
    check(
        "<!doctype html><p>a<table><tr><td>b",
        &["html.body.p a", "html.body.table.tbody.tr.td b"],
    );
    check(
        "<p>a<table><tr><td>b",
        &["html.body.p a", "html.body.p.table.tbody.tr.td b"],
    );
}

#[test]
fn open_formatting_goes_on_in_the_next_block() {
    check(
        "<p><b>a<p>b</b>c",
        &["html.body.p.b a", "html.body.p.b b", "html.body.p c"],
    );
    check(
        "<div><font>a</div><div>b</font>c</div>",
        &[
            "html.body.div.font a",
            "html.body.div.font b",
            "html.body.div c",
        ],
    );
    check(
        "<a>a<a>b</a>c",
        &["html.body.a a", "html.body.a b", "html.body c"],
    );
}

#[test]
fn formatting_that_ends_inside_a_block_is_taken_apart() {
    check(
        "<b>a<p>b</b>c",
        &["html.body.b a", "html.body.p.b b", "html.body.p c"],
    );
    check(
        "<div><a>a<div>b<div>c</div></a>d</div>",
        &[
            "html.body.div.a a",
            "html.body.div.div.a b",
            "html.body.div.div.a.div c",
            "html.body.div.div d",
        ],
    );
    check(
        "<b><i>a<p>b</b>c</i>d",
        &[
            "html.body.b.i a",
            "html.body.p.i.b b",
            "html.body.p.i c",
            "html.body.p d",
        ],
    );
}

#[test]
fn a_form_ends_without_ending_what_is_open_inside() {
    check(
        "<form><div>a</form>b</div>c",
        &["html.body.form.div ab", "html.body c"],
    );
    check("<form>a<form>b", &["html.body.form ab"]);
}

#[test]
fn stray_end_tags_change_nothing() {
    check("a</div></span></li></td>b", &["html.body ab"]);
    check("<div>a</span>b</div>", &["html.body.div ab"]);
    check("<h2>a</h3>b", &["html.body.h2 a", "html.body b"]);
    check(
        "<x-a>a<x-b>b</x-a>c",
        &[
            "html.body.unknown a",
            "html.body.unknown.unknown b",
            "html.body c",
        ],
    );
}

#[test]
fn a_stray_end_of_a_paragraph_parts_lines() {
    let page = page("<div>a</p>b</div>");
    assert_eq!(page.inline_text(0), "a b");
    assert_eq!(page.nodes().iter().filter(|n| n.tag == Tag::P).count(), 1);
}

#[test]
fn raw_text_is_no_markup() {
    check(
        "<script>if (a<b) '<p>x</p>'</script><style>p{}</style>y",
        &["html.body y"],
    );
    check(
        "<script type='application/ld+json'>{\"a\":\"<b>&amp;\"}</script>",
        &["html.head.script {\"a\":\"<b>&amp;\"}"],
    );
    check(
        "<textarea><p>&lt;a</textarea>b",
        &["html.body.textarea <p><a", "html.body b"],
    );
    check("<title>a<b>&amp;</title>", &["html.head.title a<b>&"]);
    check(
        "<body><noscript><img src=a></noscript>b",
        &["html.body.noscript <img src=a>", "html.body b"],
    );
    check(
        "<script><!-- <script>'</script>' --></script>y<style></styles><p></style>z",
        &["html.body y", "html.body z"],
    );
    check(
        "<svg/><script>if (a<b) '<p>x</p>'</script>y",
        &["html.body y"],
    );
    check(
        "<svg>a&lt;<![CDATA[b<i>&lt;]]>&lt;</svg>",
        &["html.body.svg a<b<i>&lt;<"],
    );
    check("<!-- <p>a --><![CDATA[b]]>c", &["html.body c"]);
    check("<p>a<!-- <p> --!>b</p><!doctype x>", &["html.body.p ab"]);
}

#[test]
fn a_script_keeps_each_place_that_names_the_time_of_publication() {
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
fn drawings_keep_their_names_to_themselves() {
    check(
        "<svg><title>a</title><p>b</svg>c",
        &["html.body.svg.title a", "html.body.p bc"],
    );
    check(
        "<svg/>a<svg><path/></svg>b",
        &["html.body a", "html.body b"],
    );
    check(
        "<svg><foreignObject><p>a</p></foreignObject></svg>b",
        &["html.body.svg.foreignobject.p a", "html.body b"],
    );
}

#[test]
fn white_space_is_kept_only_where_it_shows() {
    check(
        "<div>\n  <p> a\n\n b </p>\n</div>",
        &["html.body.div.p a b"],
    );
    check(
        "<p><b>a</b> <i>b</i>\n</p>",
        &["html.body.p.b a", "html.body.p  ", "html.body.p.i b"],
    );
    check(
        "<p>a <b>b</b> c",
        &["html.body.p a ", "html.body.p.b b", "html.body.p  c"],
    );
    check("<pre>\n a\n  b</pre>", &["html.body.pre  a\n  b"]);
    check("a<br> b", &["html.body a", "html.body b"]);
}

#[test]
fn entities_are_decoded_once_in_text_and_attributes() {
    check(
        "a&amp;lt;&nbsp;&#x4E2D;&#25991;&copy &bogus; &",
        &["html.body a&lt;\u{a0}中文© &bogus; &"],
    );
    let page = page("<a href='/x?a=1&amp;b=2&copy=3' title=\"a > b\">t</a>");
    let a = page.nodes().iter().position(|n| n.tag == Tag::A).unwrap() as u32;
    assert_eq!(page.attr(a, Attr::Href), Some("/x?a=1&b=2&copy=3"));
    assert_eq!(page.attr(a, Attr::Title), Some("a > b"));
    assert_eq!(page.attr(a, Attr::Class), None);
    assert_eq!(page.attr(a + 1, Attr::Href), None, "a text has none");
}

#[test]
fn odd_attributes_are_read_as_browsers_do() {
    let page = page("<a HREF = /a id class=x/y href=/b title='a\">'>t</a>");
    let a = page.nodes().iter().position(|n| n.tag == Tag::A).unwrap() as u32;
    assert_eq!(page.attr(a, Attr::Href), Some("/a"), "the first counts");
    assert_eq!(page.attr(a, Attr::Id), Some(""));
    assert_eq!(page.attr(a, Attr::Class), Some("x/y"));
    assert_eq!(page.attr(a, Attr::Title), Some("a\">"));
    assert_eq!(texts(&page), ["html.body.a t"]);
}

#[test]
fn deep_nesting_stops_at_the_limit_and_the_rest_stays_readable() {
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
fn long_attribute_values_and_pictures_in_them_are_cut_between_characters() {
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
fn every_name_of_the_table_finds_itself_in_any_case() {
    for number in 2..crate::page::tag::TAGS as u16 {
        let name = Tag(number).name();
        assert_eq!(Tag::from_name(name.as_bytes()), Tag(number), "{name}");
        let upper = name.to_ascii_uppercase();
        assert_eq!(Tag::from_name(upper.as_bytes()), Tag(number), "{upper}");
    }
}

#[test]
fn other_names_are_other() {
    for name in [
        "", "x-card", "divv", "di", "h7", "#text", "unknown", "spa\0",
    ] {
        assert_eq!(Tag::from_name(name.as_bytes()), Tag::OTHER, "{name:?}");
    }
    assert_eq!(Tag(9999).name(), "unknown");
    assert!(!Tag(9999).is_block());
}

#[test]
fn predicates_tell_elements_apart() {
    assert!(Tag::BR.is_void() && !Tag::DIV.is_void());
    assert!(Tag::P.is_block() && Tag::SPAN.is_inline() && Tag::TEXT.is_inline());
    assert!(Tag::H3.is_heading() && !Tag::HEADER.is_heading());
    assert!(Tag::SCRIPT.is_invisible() && Tag::TITLE.is_invisible() && !Tag::A.is_invisible());
}

#[test]
fn attribute_names_are_found_in_any_case_and_others_dropped() {
    assert_eq!(Attr::from_name(b"HREF"), Some(Attr::Href));
    assert_eq!(Attr::from_name(b"data-original"), Some(Attr::DataOriginal));
    assert_eq!(Attr::from_name(b"onclick"), None);
    assert_eq!(Attr::from_name(b"a-name-longer-than-any-known"), None);
}

fn path_of(page: &Page, tag: Tag) -> u32 {
    page.nodes().iter().find(|n| n.tag == tag).unwrap().path
}

#[test]
fn equal_paths_are_interned_once() {
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
