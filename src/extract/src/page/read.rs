//! Puts the tags and texts of a page into its tree. In: runs of bytes between comments. Out: calls of the tree's rules in
//! the order of the page.

use super::attr::Attr;
use super::content::Content;
use super::markup::{Markup, Pieces, TagEnd};
use super::open::{Open, Phase};
use super::quirks::doctype_asks_for_quirks;
use super::start_tag::{StartTag, is_font_attribute, name_hash};
use super::tree::Tree;
use super::{Attribute, Span, Tag};

impl Tree {
    /// A run of tags and texts, as it stands in the page.
    pub(super) fn markup(&mut self, run: &[u8]) {
        if self.is_full() {
            return;
        }
        let mut pieces = Pieces::new(run, self.content);
        while let Some(piece) = pieces.next() {
            if !matches!(piece, Markup::Text(..)) {
                self.finish_text();
            }
            match piece {
                Markup::Text(text, kind) => self.characters(text, kind),
                Markup::Start { name } => self.read_start_tag(name, &mut pieces),
                Markup::End { name } => self.end_tag(name),
                Markup::Doctype(rest) => self.doctype(rest),
                Markup::Bound => {}
            }
        }
        self.content = pieces.content();
    }

    /// A tag alone, of a page whose text is not read.
    pub(super) fn tag(&mut self, run: &[u8]) {
        self.markup(run);
        self.content = Content::Markup;
    }

    fn read_start_tag(&mut self, name: &[u8], pieces: &mut Pieces<'_>) {
        let tag = Tag::from_name(name);
        // White space that is owed belongs to the text before, so it comes before the values of attributes.
        self.begin_tag(tag);
        let start = self.attributes.len();
        let mut colored = false;
        let end = pieces.attributes(|name, value| {
            if let Some(name) = Attr::from_name(name) {
                self.keep_attribute(name, value);
            } else if tag == Tag::FONT {
                colored |= is_font_attribute(name);
            }
        });
        if end == TagEnd::Missing || self.is_full() {
            return;
        }
        if !self.current().as_ref().is_some_and(Open::is_drawing) {
            pieces.enter(Content::of(tag));
        }
        self.start_tag(StartTag {
            tag,
            name_hash: name_hash(tag, name),
            attributes: Span {
                start: start as u32,
                len: (self.attributes.len() - start) as u32,
            },
            self_closing: end == TagEnd::SelfClosing,
            colored,
        });
    }

    fn doctype(&mut self, rest: &[u8]) {
        if self.phase == Phase::Start && self.quirks.is_none() {
            self.quirks = Some(doctype_asks_for_quirks(rest));
        }
    }

    #[inline]
    fn keep_attribute(&mut self, name: Attr, raw: &[u8]) {
        // Styles are long; only those that can hide are of use.
        if name == Attr::Style && !can_hide(raw) {
            return;
        }
        if matches!(name, Attr::Style | Attr::Hidden) {
            self.hiding.push(self.attributes.len() as u32);
        }
        let value = self.keep_value(raw);
        self.attributes.push(Attribute { name, value });
    }

    fn keep_value(&mut self, raw: &[u8]) -> Span {
        let limit = if raw.starts_with(b"data:") {
            DATA_URL_BYTES
        } else {
            self.limits.max_attribute_bytes
        };
        let raw = cut_at_char(raw, limit);
        let start = self.arena.len() as u32;
        if memchr::memchr(b'&', raw).is_some() {
            let value = htmlize::unescape_bytes_in(raw, htmlize::Context::Attribute);
            self.arena.extend_from_slice(&value);
        } else {
            self.arena.extend_from_slice(raw);
        }
        Span {
            start,
            len: self.arena.len() as u32 - start,
        }
    }
}

/// A picture in an attribute is no address; its beginning tells its type.
const DATA_URL_BYTES: usize = 32;

/// The longest beginning of at most `limit` bytes that does not split a UTF-8 character.
fn cut_at_char(bytes: &[u8], limit: usize) -> &[u8] {
    let mut end = limit.min(bytes.len());
    while end < bytes.len() && end > 0 && bytes[end] & 0xC0 == 0x80 {
        end -= 1;
    }
    bytes.get(..end).unwrap_or_default()
}

fn can_hide(style: &[u8]) -> bool {
    let names = |word: &[u8], first: [u8; 2]| {
        memchr::memchr2_iter(first[0], first[1], style).any(|at| {
            let there = style.get(at..at + word.len());
            there.is_some_and(|there| there.eq_ignore_ascii_case(word))
        })
    };
    names(b"none", *b"nN") || names(b"hidden", *b"hH")
}
