//! XML as a flat sequence of nodes, lenient and without recursion. Entities that a file defines itself are not expanded.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use taojin_extract::page::decode_text;

/// A start tag with its local name, a text, or the local name of an end tag. Empty elements have both tags.
pub(crate) enum Node<'a> {
    Start(&'a str, Attributes<'a>),
    Text(&'a str),
    End(&'a str),
}

/// Attributes of a start tag.
pub(crate) struct Attributes<'a>(&'a BytesStart<'a>);

impl Attributes<'_> {
    /// Returns an attribute by its local name.
    pub(crate) fn get(&self, name: &str) -> Option<String> {
        let mut attributes = self.0.attributes();
        let found = attributes
            .with_checks(false)
            .flatten()
            .find(|a| a.key.local_name().as_ref() == name)?;
        let value = found.normalized_value(quick_xml::XmlVersion::default());
        Some(value.map_or_else(|_| found.value.to_string(), |value| value.into_owned()))
    }

    /// Returns all attributes with this local name, whatever their prefixes.
    pub(crate) fn all(&self, name: &str) -> Vec<String> {
        let mut attributes = self.0.attributes();
        let attributes = attributes.with_checks(false).flatten();
        let named = attributes.filter(|a| a.key.local_name().as_ref() == name);
        named.map(|a| a.value.to_string()).collect()
    }

    /// Returns the numbers of an attribute, which blanks divide.
    pub(crate) fn numbers(&self, name: &str) -> Vec<f32> {
        let value = self.get(name).unwrap_or_default();
        value
            .split_whitespace()
            .filter_map(|word| word.parse().ok())
            .filter(|number: &f32| number.is_finite())
            .collect()
    }
}

/// Hands each node of a document to `each`, up to the first fault that cannot be skipped.
pub(crate) fn walk(bytes: &[u8], mut each: impl FnMut(Node<'_>)) {
    let text = decode_text(bytes, None);
    let mut reader = Reader::from_str(&text);
    let config = reader.config_mut();
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    config.allow_dangling_amp = true;
    config.expand_empty_elements = true;
    loop {
        match reader.read_event() {
            Ok(Event::Start(tag)) => each(Node::Start(tag.local_name().as_ref(), Attributes(&tag))),
            Ok(Event::End(tag)) => each(Node::End(tag.local_name().as_ref())),
            Ok(Event::Text(text)) => each(Node::Text(&text)),
            Ok(Event::CData(text)) => each(Node::Text(&text)),
            Ok(Event::GeneralRef(part)) => {
                let character = part.resolve_char_ref().ok().flatten();
                let mut utf8 = [0; 4];
                each(Node::Text(match (&*part, character) {
                    (_, Some(c)) => c.encode_utf8(&mut utf8),
                    ("amp", _) => "&",
                    ("lt", _) => "<",
                    ("gt", _) => ">",
                    ("quot", _) => "\"",
                    ("apos", _) => "'",
                    ("nbsp", _) => " ",
                    _ => "",
                }));
            }
            Ok(Event::Eof) | Err(_) => return,
            Ok(_) => {}
        }
    }
}

/// Returns the texts of the elements with these names, each with the name, in their order.
pub(crate) fn find_texts(bytes: &[u8], names: &[&str]) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut is_open = false;
    walk(bytes, |node| match node {
        Node::Start(name, _) if names.contains(&name) => {
            found.push((name.to_owned(), String::new()));
            is_open = true;
        }
        Node::Text(text) if is_open => {
            if let Some((_, last)) = found.last_mut() {
                last.push_str(text);
            }
        }
        Node::End(name) if names.contains(&name) => is_open = false,
        _ => {}
    });
    found
}
