//! Writes a page as HTML again, with the same text in the same elements but without anything that runs, loads or leads
//! elsewhere. Markup is never copied: every byte is written from the tree.

use super::assign::Guide;
use super::observation::Field;
use crate::page::{Attr, NodeId, Page, Tag};

/// Deepest element written; what lies below is in its place.
const MAX_DEPTH: u16 = 200;

/// The page for keeping: reads back as the same tree, head data included.
pub fn write_html(page: &Page) -> String {
    write(page, &mut |page, id, out| {
        for (attr, value) in page.attributes_of(id) {
            if let Some(name) = kept_name(attr) {
                attribute(out, name, value);
            }
        }
    })
}

/// The page for looking at: each block with text carries its region, its field and whether it is essential, and with
/// `link` a link to it with the key of the region appended; no URL of the page is left. `name` says what a field is
/// called, and a region that has none.
pub fn framed_html(
    page: &Page,
    guide: &Guide<'_>,
    chosen: &dyn Fn(NodeId) -> bool,
    name: &dyn Fn(Option<Field>) -> &'static str,
    link: Option<&str>,
) -> String {
    let mut has_text = vec![false; page.nodes().len()];
    for (id, node) in page.nodes().iter().enumerate() {
        if node.tag == Tag::TEXT && !page.text(id as NodeId).trim().is_empty() {
            has_text[page.block_of(id as NodeId) as usize] = true;
        }
    }
    write(page, &mut |page, id, out| {
        if !page.node(id).tag.is_block() || !has_text[id as usize] {
            return;
        }
        let key = guide.keys.fine(id);
        attribute(out, "data-region", &format!("{key:016x}"));
        if let Some(field) = guide.template.field(key) {
            attribute(out, "data-field", field.name());
        }
        if guide.template.labels.contains_key(&key) {
            attribute(out, "data-said", "1");
        }
        let part = match guide.template.region(key) {
            Some(region) if guide.template.is_essential(region) => "essential",
            Some(_) => "optional",
            None => "unknown",
        };
        attribute(out, "data-part", part);
        if chosen(id) {
            attribute(out, "data-ratio", "1");
        }
        let place = guide
            .template
            .region(key)
            .map_or(0.0, |r| guide.template.presence(r));
        let name = name(guide.template.field(key));
        attribute(out, "title", &format!("{name} · {:.0} %", place * 100.0));
        if let Some(link) = link {
            // A link of ours as the first thing in the block; the frame shows it as the name of the region.
            out.push_str("><a class=\"tj\" target=\"_top\"");
            attribute(out, "href", &format!("{link}{key:016x}#label"));
            out.push('>');
            escape(name, out);
            out.push_str("</a");
        }
    })
}

fn kept_name(attr: Attr) -> Option<&'static str> {
    Some(match attr {
        Attr::Id => "id",
        Attr::Class => "class",
        Attr::Name => "name",
        Attr::Property => "property",
        Attr::Itemprop => "itemprop",
        Attr::Content => "content",
        Attr::Href => "href",
        Attr::Alt => "alt",
        Attr::Title => "title",
        Attr::Rel => "rel",
        Attr::Type => "type",
        Attr::Datetime => "datetime",
        Attr::Style => "style",
        Attr::Hidden => "hidden",
        Attr::Role => "role",
        Attr::AriaHidden => "aria-hidden",
        Attr::Lang => "lang",
        Attr::Colspan => "colspan",
        Attr::Rowspan => "rowspan",
        _ => return None,
    })
}

/// Elements that are never written: they run, load or cover.
fn is_left_out(tag: Tag) -> bool {
    let of_head = matches!(tag, Tag::HEAD | Tag::TITLE | Tag::META);
    (tag.is_invisible() && !of_head)
        || tag.is_replaced()
        || matches!(
            tag,
            Tag::OBJECT | Tag::APPLET | Tag::NOFRAMES | Tag::NOEMBED
        )
}

fn write(page: &Page, attributes: &mut dyn FnMut(&Page, NodeId, &mut String)) -> String {
    let mut out = String::from("<!DOCTYPE html>\n");
    let mut open: Vec<(NodeId, Tag)> = Vec::new();
    let mut at: NodeId = 0;
    while let Some(node) = page.nodes().get(at as usize) {
        while let Some((end, tag)) = open.last().copied()
            && end <= at
        {
            close(&mut out, tag);
            open.pop();
        }
        if node.tag == Tag::TEXT {
            escape(page.text(at), &mut out);
        } else if is_left_out(node.tag) && at != 0 {
            at = node.end;
            continue;
        } else if node.depth <= MAX_DEPTH {
            let tag = match node.tag {
                Tag::OTHER => Tag::SPAN,
                // What browsers read without entities.
                Tag::XMP | Tag::PLAINTEXT | Tag::LISTING => Tag::PRE,
                tag => tag,
            };
            out.push('<');
            out.push_str(tag.name());
            attributes(page, at, &mut out);
            out.push('>');
            if !tag.is_void() {
                open.push((node.end, tag));
            }
        }
        at += 1;
    }
    while let Some((_, tag)) = open.pop() {
        close(&mut out, tag);
    }
    out
}

fn close(out: &mut String, tag: Tag) {
    out.push_str("</");
    out.push_str(tag.name());
    out.push('>');
}

fn attribute(out: &mut String, name: &str, value: &str) {
    out.push(' ');
    out.push_str(name);
    out.push_str("=\"");
    escape(value, out);
    out.push('"');
}

fn escape(text: &str, out: &mut String) {
    out.push_str(&htmlize::escape_all_quotes(text));
}

/// The colour behind a field in a frame.
pub fn colour(field: Field) -> &'static str {
    match field {
        Field::Title => "#ffe9a8",
        Field::Published => "#cfe8ff",
        Field::Author => "#e3d7ff",
        Field::Source => "#d7f0ee",
        Field::Body => "#d9f2d0",
        Field::Comments => "#ffdcc2",
        Field::Boilerplate => "#e4e4e4",
    }
}

/// A whole document for a sandboxed frame around a page made by [`framed_html`]: nothing may run or load, the regions are
/// coloured.
pub fn frame(page: &str) -> String {
    let page = page.trim_start_matches("<!DOCTYPE html>\n");
    let rule = |field: Field| {
        let (name, colour) = (field.name(), colour(field));
        format!("[data-field={name}]{{background:{colour}}}")
    };
    let colours: String = Field::ALL.into_iter().map(rule).collect();
    format!("<!DOCTYPE html>\n{FRAME_HEAD}{colours}</style>{page}")
}

/// Policy and shapes of a frame; its colours come behind it.
const FRAME_HEAD: &str = concat!(
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
    "<meta name=\"viewport\" content=\"width=device-width\"><style>",
    ":root{color-scheme:light;background:#fff;color:#222}",
    "body{font:15px/1.6 sans-serif;padding:.6em;overflow-wrap:anywhere}a{color:inherit}",
    "h1,h2,h3{font-size:1.25em;line-height:1.35;margin:.3em 0}",
    "[data-region]{outline:1px dashed #aaa;outline-offset:1px;margin:3px 0}",
    "[data-part=essential]{outline-style:solid}[data-part=unknown]{outline-color:#eee}",
    "[data-field=boilerplate],[data-field=boilerplate] *{color:#666;font-size:11px;line-height:1.25;margin-block:1px}",
    // Menus in lines, so that the text comes into view sooner.
    "li[data-field=boilerplate]{display:inline-block;margin:1px 8px 1px 0}",
    "[data-said]{outline:2px solid #b3261e}[data-ratio]{box-shadow:-4px 0 0 #2e7d32}",
    "[data-region]:hover{outline:2px solid #1a56b0}",
    "a.tj{font:11px sans-serif;background:#fff;color:#1a56b0;border:1px solid #1a56b0;border-radius:4px;",
    "padding:1px 6px;margin-right:6px;text-decoration:none;opacity:.55}",
    "[data-region]:hover>a.tj,a.tj:focus{opacity:1;background:#1a56b0;color:#fff}"
);
