//! Writes a [`Document`] as XML: one `document` element, one field a line. The result is well-formed for any page:
//! characters that XML does not allow are removed, and a label that is no name of an element is an attribute.

use super::document::{Comment, Document};
use super::fields::meta::Typed;

/// The document as one element. Fields without a value are skipped; the text has one `p` for each paragraph, and what the page
/// labels is a `field` each in `meta`.
pub fn to_xml(document: &Document) -> String {
    write_document(document, &[], |out| {
        write_list(out, "meta", document.meta.iter(), |out, (label, value)| {
            write_element(out, "field", &[("label", Some(label))], value);
        });
    })
}

/// The document as a record: as [`to_xml`], but each labelled field is an element of its name in `fields`, and `more` stands before
/// all else, by names that must be those of elements.
///
/// A number has its `number` and `unit` as attributes, a day its `date`. What is no name of an element is a `field` with the
/// attribute `name`.
pub fn to_xml_record(document: &Document, more: &[(&str, &str)]) -> String {
    let typed = document.meta.typed().0;
    let type_of = |label: &str| {
        let found = typed.iter().find(|(own, _)| own == label);
        found.map(|(_, typed)| typed)
    };
    write_document(document, more, |out| {
        write_list(
            out,
            "fields",
            document.meta.iter(),
            |out, (label, value)| {
                write_field(out, label, value, type_of(label));
            },
        );
    })
}

fn write_field(out: &mut String, label: &str, value: &str, typed: Option<&Typed>) {
    let (name, label) = if is_element_name(label) {
        (label, None)
    } else {
        ("field", Some(label))
    };
    match typed {
        Some(Typed::Number { number, unit }) => {
            let number = number.to_string();
            let unit = Some(unit.as_str()).filter(|unit| !unit.is_empty());
            let attributes = [("name", label), ("number", Some(&number)), ("unit", unit)];
            write_element(out, name, &attributes, value);
        }
        Some(Typed::Day { date }) => {
            let date = date.to_string();
            write_element(out, name, &[("name", label), ("date", Some(&date))], value);
        }
        Some(Typed::List(_)) | None => write_element(out, name, &[("name", label)], value),
    }
}

/// Whether a label is the name of an element (XML 1.0 §2.3) that means nothing else: no prefix of a namespace, nothing reserved, and
/// not that of the element for all others.
fn is_element_name(label: &str) -> bool {
    let is_start = |c: char| {
        matches!(c, 'A'..='Z' | '_' | 'a'..='z' | '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{2ff}'
            | '\u{370}'..='\u{37d}' | '\u{37f}'..='\u{1fff}' | '\u{200c}' | '\u{200d}' | '\u{2070}'..='\u{218f}'
            | '\u{2c00}'..='\u{2fef}' | '\u{3001}'..='\u{d7ff}' | '\u{f900}'..='\u{fdcf}' | '\u{fdf0}'..='\u{fffd}'
            | '\u{10000}'..='\u{effff}')
    };
    let is_inner = |c: char| {
        let is_mark = matches!(
            c,
            '\u{b7}' | '\u{300}'..='\u{36f}' | '\u{203f}' | '\u{2040}'
        );
        is_start(c) || is_mark || matches!(c, '-' | '.' | '0'..='9')
    };
    let is_reserved = label
        .get(..3)
        .is_some_and(|start| start.eq_ignore_ascii_case("xml"));
    label.starts_with(is_start) && label.chars().all(is_inner) && !is_reserved && label != "field"
}

/// The document with `more` before its fields and what `labelled` writes among them.
fn write_document(
    document: &Document,
    more: &[(&str, &str)],
    labelled: impl Fn(&mut String),
) -> String {
    let mut out = String::from("<document>\n");
    let mut field = |name: &str, value: Option<&str>| {
        if let Some(value) = value.filter(|v| !v.is_empty()) {
            out.push_str("  ");
            write_element(&mut out, name, &[], value);
        }
    };
    for (name, value) in more {
        field(name, Some(value));
    }
    field("url", Some(&document.url));
    field("canonical", document.canonical.as_deref());
    field("site", document.site.as_deref());
    field("title", document.title.as_deref());
    field("published", document.published.as_deref());
    field("author", document.author.as_deref());
    field("source", document.source.as_deref());
    field("language", document.language.as_deref());
    field("kind", Some(document.kind.name()));
    field("method", Some(&document.method));
    field("charset", Some(&document.charset));
    field(
        "confidence",
        Some(&format!("{:.2}", document.provenance.confidence)),
    );
    write_list(&mut out, "text", document.text.lines(), |out, line| {
        write_element(out, "p", &[], line);
    });
    write_list(&mut out, "images", &document.images, |out, image| {
        let after = image.after.to_string();
        let places = [("url", image.url.as_deref()), ("after", Some(&after))];
        write_element(out, "image", &places, &image.alt);
    });
    labelled(&mut out);
    write_list(
        &mut out,
        "attachments",
        &document.attachments,
        |out, file| {
            let known = Some(file.format.as_str()).filter(|format| !format.is_empty());
            let attributes = [("url", Some(file.url.as_str())), ("format", known)];
            write_element(out, "attachment", &attributes, &file.name);
        },
    );
    write_list(&mut out, "file", &document.file, |out, file| {
        let (bytes, pages) = (file.bytes.to_string(), file.pages.map(|n| n.to_string()));
        let attributes = [
            ("bytes", Some(bytes.as_str())),
            ("pages", pages.as_deref()),
            ("page_url", file.page_url.as_deref()),
            ("page_title", file.page_title.as_deref()),
        ];
        write_element(out, "format", &attributes, &file.format);
        for part in &file.parts {
            let after = part.after.to_string();
            write_element(out, "part", &[("after", Some(&after))], &part.name);
        }
    });
    write_list(&mut out, "comments", &document.comments, write_comment);
    write_list(
        &mut out,
        "comment_endpoints",
        &document.comment_endpoints,
        |out, url| {
            write_element(out, "url", &[], url);
        },
    );
    write_list(&mut out, "links", &document.links, |out, link| {
        write_element(out, "link", &[("url", Some(&link.url))], &link.text);
    });
    out.push_str("</document>\n");
    out
}

fn write_comment(out: &mut String, comment: &Comment) {
    let votes = comment.votes.map(|n| n.to_string());
    let fields = [
        ("author", comment.author.as_deref()),
        ("published", comment.published.as_deref()),
        ("reply_to", comment.reply_to.as_deref()),
        ("votes", votes.as_deref()),
        ("opening", comment.opening.then_some("true")),
    ];
    write_element(out, "comment", &fields, &comment.text);
}

/// An element with one line for each item; nothing for no items.
fn write_list<T>(
    out: &mut String,
    name: &str,
    items: impl IntoIterator<Item = T>,
    each: impl Fn(&mut String, T),
) {
    let mut items = items.into_iter().peekable();
    if items.peek().is_none() {
        return;
    }
    out.push_str(&format!("  <{name}>\n"));
    for item in items {
        out.push_str("    ");
        each(out, item);
    }
    out.push_str(&format!("  </{name}>\n"));
}

fn write_element(out: &mut String, name: &str, attributes: &[(&str, Option<&str>)], text: &str) {
    out.push('<');
    out.push_str(name);
    for (name, value) in attributes {
        if let Some(value) = value {
            out.push_str(&format!(" {name}=\""));
            escape(out, value, true);
            out.push('"');
        }
    }
    out.push('>');
    escape(out, text, false);
    out.push_str(&format!("</{name}>\n"));
}

/// Text for content, or for an attribute. Characters that XML 1.0 forbids are skipped; line ends that a parser would change are
/// written as references.
fn escape(out: &mut String, text: &str, is_attribute: bool) {
    for char in text.chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\r' => out.push_str("&#13;"),
            '\n' if is_attribute => out.push_str("&#10;"),
            '\t' if is_attribute => out.push_str("&#9;"),
            '\t' | '\n' => out.push(char),
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => {}
            _ => out.push(char),
        }
    }
}
