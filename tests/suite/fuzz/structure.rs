//! What holds of the Markdown and the HTML of every document, whatever its page was.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use taojin_extract::Document;
use taojin_extract::structure::{ELEMENTS, SpanKind};

/// Elements without an end tag.
const VOID: [&str; 2] = ["br", "img"];

pub(super) fn assert_written(document: &Document) {
    read_strictly(&document.html());
    let shown = shown_letters(&document.markdown());
    let blocks = document.structure.blocks();
    let spans = blocks.iter().flat_map(|block| &block.spans);
    let is_changed = |kind: &SpanKind| matches!(kind, SpanKind::Formula(_) | SpanKind::Marker);
    let shows_all = document.images.iter().all(|image| image.url.is_some());
    if shows_all && !spans.map(|span| &span.2).any(is_changed) {
        assert_eq!(shown, letters(&document.text));
    }
}

fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

/// The letters and digits that a reader of Markdown shows.
fn shown_letters(markdown: &str) -> String {
    let mut in_picture = false;
    let mut shown = String::new();
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Image { dest_url, .. }) => {
                assert_address(&dest_url);
                in_picture = true;
            }
            Event::Start(Tag::Link { dest_url, .. }) => assert_address(&dest_url),
            Event::End(TagEnd::Image) => in_picture = false,
            Event::Text(text) | Event::Code(text) if !in_picture => shown.push_str(&text),
            Event::Html(html) | Event::InlineHtml(html) => panic!("{html} in {markdown}"),
            _ => {}
        }
    }
    letters(&shown)
}

fn assert_address(url: &str) {
    assert!(
        url.starts_with("http://") || url.starts_with("https://"),
        "{url}"
    );
}

/// Reads HTML as strictly as it is written: elements of the closed set that end in order, the attributes of three of them, and
/// nothing that is not escaped.
fn read_strictly(html: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = html;
    while let Some((before, inside)) = rest.split_once('<') {
        assert_escaped(before);
        let (tag, behind) = inside.split_once('>').expect("a tag ends");
        rest = behind;
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "in {html}");
            continue;
        }
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        assert!(ELEMENTS.contains(&name), "{tag}");
        assert_attributes(name, attributes);
        if !VOID.contains(&name) {
            open.push(name);
        }
    }
    assert_escaped(rest);
    assert!(open.is_empty(), "{open:?} in {html}");
}

fn assert_attributes(name: &str, attributes: &str) {
    let mut rest = attributes;
    let mut names = Vec::new();
    while !rest.is_empty() {
        let (key, value) = rest.split_once("=\"").expect("a value in quotes");
        let (value, behind) = value.split_once('"').expect("a value that ends");
        assert_escaped(value);
        match key {
            "href" | "src" => assert_address(value),
            "start" => assert!(value.parse::<u32>().is_ok(), "{value}"),
            _ => {}
        }
        names.push(key);
        rest = behind.trim_start();
    }
    let allowed: &[&str] = match name {
        "a" => &["href"],
        "img" => &["src", "alt"],
        "ol" => &["start"],
        _ => &[],
    };
    assert!(
        names.iter().all(|name| allowed.contains(name)),
        "{name} {attributes}"
    );
}

fn assert_escaped(text: &str) {
    assert!(!text.contains(['<', '>', '"']), "{text}");
    let known = ["amp;", "lt;", "gt;", "quot;"];
    for behind in text.split('&').skip(1) {
        assert!(known.iter().any(|name| behind.starts_with(name)), "{text}");
    }
}
