//! Writes a [`Document`] as XML: one `document` element, one field a line. The result is well-formed for any page:
//! characters that XML does not allow are removed.

use super::document::{Comment, Document};

/// The document as one element. Fields without a value are skipped; the text has one `p` for each paragraph.
pub fn to_xml(document: &Document) -> String {
    let mut out = String::from("<document>\n");
    let mut field = |name: &str, value: Option<&str>| {
        if let Some(value) = value.filter(|v| !v.is_empty()) {
            out.push_str("  ");
            write_element(&mut out, name, &[], value);
        }
    };
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
    field("confidence", Some(&format!("{:.2}", document.confidence)));
    write_list(&mut out, "text", document.text.lines(), |out, line| {
        write_element(out, "p", &[], line);
    });
    write_list(&mut out, "images", &document.images, |out, image| {
        let after = image.after.to_string();
        let places = [("url", image.url.as_deref()), ("after", Some(&after))];
        write_element(out, "image", &places, &image.alt);
    });
    write_list(
        &mut out,
        "meta",
        document.meta.iter(),
        |out, (label, value)| {
            write_element(out, "field", &[("label", Some(label))], value);
        },
    );
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
            escape(out, value);
            out.push('"');
        }
    }
    out.push('>');
    escape(out, text);
    out.push_str(&format!("</{name}>\n"));
}

/// Text for content and attributes; characters that XML 1.0 forbids are skipped.
fn escape(out: &mut String, text: &str) {
    for char in text.chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => out.push(char),
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => {}
            _ => out.push(char),
        }
    }
}
