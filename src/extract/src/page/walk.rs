//! Reading a page: which text is shown, where its lines break, how long it is. In: a [`Page`] and a range of nodes.
//! Out: node numbers, counts, text for people. Never recurses; one pass over the range.

use std::ops::Range;

use super::{Attr, Attribute, NodeId, Page, Span, Tag};

impl Page {
    /// The page's `<body>` (or the root when it has none); `None` for an empty page.
    pub fn body(&self) -> Option<NodeId> {
        if self.nodes().is_empty() {
            return None;
        }
        let body = self.children(0).find(|&id| self.node(id).tag == Tag::BODY);
        Some(body.unwrap_or(0))
    }

    /// The element itself asks not to be shown: the `hidden` attribute, or `display: none` or `visibility: hidden`
    /// in its own style. Style sheets are not read. What is `hidden=until-found` is text that a reader finds by searching the
    /// page, as the HTML standard says of it. Never the whole body: pages that hide it show it by script.
    pub fn is_hidden(&self, id: NodeId) -> bool {
        self.hidden.binary_search(&id).is_ok()
    }

    /// The elements from `from` on that ask not to be shown.
    pub(crate) fn hidden_from(&self, from: NodeId) -> Hidden<'_> {
        let before = self.hidden.partition_point(|id| *id < from);
        Hidden(self.hidden.get(before..).unwrap_or_default())
    }

    /// The whole subtree shows nothing: an invisible tag or a hidden element.
    pub fn is_skipped(&self, id: NodeId) -> bool {
        self.node(id).tag.is_invisible() || self.is_hidden(id)
    }

    /// Nodes of the range that are shown, in order: invisible and hidden subtrees are left out whole. The range
    /// should be one of siblings, as [`Page::subtree`] gives it.
    pub fn shown(&self, range: Range<NodeId>) -> impl Iterator<Item = NodeId> + '_ {
        let end = range.end.min(self.nodes().len() as NodeId);
        let mut next = range.start;
        let mut hidden = self.hidden_from(next);
        std::iter::from_fn(move || {
            while next < end {
                let id = next;
                if self.node(id).tag.is_invisible() || hidden.has(id) {
                    next = self.node(id).end;
                } else {
                    next += 1;
                    return Some(id);
                }
            }
            None
        })
    }

    /// The shown text nodes of the range, in order.
    pub fn shown_texts(&self, range: Range<NodeId>) -> impl Iterator<Item = NodeId> + '_ {
        self.shown(range)
            .filter(|&id| self.node(id).tag == Tag::TEXT)
    }

    /// The nearest block element around a node (the root at last).
    pub fn block_of(&self, id: NodeId) -> NodeId {
        self.ancestors(id)
            .find(|&above| self.node(above).tag.is_block())
            .unwrap_or(0)
    }

    /// The text of `<title>`.
    pub(super) fn title_text(&self) -> Option<String> {
        let at = self.nodes().iter().position(|n| n.tag == Tag::TITLE)?;
        Some(self.inline_text(at as NodeId))
    }

    /// Text of a subtree in one line, for titles and links; shown or not.
    pub fn inline_text(&self, id: NodeId) -> String {
        let mut text = String::new();
        for at in self.subtree(id) {
            let node = self.node(at);
            match node.tag {
                Tag::TEXT => push_collapsed(&mut text, self.text(at)),
                Tag::BR => push_collapsed(&mut text, " "),
                tag if tag.is_block() => push_collapsed(&mut text, " "),
                _ => {}
            }
        }
        let len = text.trim_end().len();
        text.truncate(len);
        text
    }
}

/// Characters (Unicode scalar values) of a text without white space at its ends; a run of white space counts once.
pub fn char_count(text: &str) -> usize {
    let mut count = 0;
    let mut space = false;
    for char in text.trim().chars() {
        let is_space = char.is_whitespace();
        count += usize::from(!(is_space && space));
        space = is_space;
    }
    count
}

/// Elements that ask not to be shown, for who asks of one element after the other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hidden<'p>(&'p [NodeId]);

impl Hidden<'_> {
    /// See [`Page::is_hidden`]; each call asks of a later element than the one before.
    pub(crate) fn has(&mut self, id: NodeId) -> bool {
        while let [first, rest @ ..] = self.0
            && *first < id
        {
            self.0 = rest;
        }
        self.0.first() == Some(&id)
    }
}

/// Whether an element with these attributes hides what is in it, see [`Page::is_hidden`].
pub(super) fn hides<'a>(attributes: &[Attribute], value: impl Fn(Span) -> &'a str) -> bool {
    // React sends late parts of a page behind the rest (`<div hidden id="S:2">`), and a script puts them in their place.
    let is_streamed = || {
        let id = attributes.iter().find(|a| a.name == Attr::Id);
        let number = id.and_then(|id| value(id.value).strip_prefix("S:"));
        number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_hexdigit()))
    };
    let hides = |attribute: &Attribute| match attribute.name {
        Attr::Hidden => {
            !value(attribute.value).eq_ignore_ascii_case("until-found") && !is_streamed()
        }
        Attr::Style => style_hides(value(attribute.value)),
        _ => false,
    };
    attributes.iter().any(hides)
}

fn style_hides(style: &str) -> bool {
    style.split(';').any(|rule| {
        let Some((property, value)) = rule.split_once(':') else {
            return false;
        };
        let value = value.trim().split(['!', ' ']).next().unwrap_or_default();
        let property = property.trim();
        (property.eq_ignore_ascii_case("display") && value.eq_ignore_ascii_case("none"))
            || (property.eq_ignore_ascii_case("visibility") && value.eq_ignore_ascii_case("hidden"))
    })
}

/// Not seen and not white space, but found between characters: zero-width space and byte order mark.
fn is_nothing(char: char) -> bool {
    matches!(char, '\u{200B}' | '\u{FEFF}')
}

/// Whether white space, or what is nothing, may begin with this byte.
fn may_part(byte: u8) -> bool {
    matches!(byte, b'\t'..=b'\r' | b' ' | 0xC2 | 0xE1..=0xE3 | 0xEF)
}

/// Appends a text, runs of white space as one blank.
fn push_collapsed(out: &mut String, text: &str) {
    out.reserve(text.len());
    let mut rest = text;
    loop {
        let end = rest.bytes().position(may_part);
        let (word, from) = rest.split_at(end.unwrap_or(rest.len()));
        out.push_str(word);
        let mut chars = from.chars();
        match chars.next() {
            None => return,
            Some(space) if space.is_whitespace() => {
                if !out.is_empty() && !out.ends_with(' ') {
                    out.push(' ');
                }
            }
            Some(char) if is_nothing(char) => {}
            Some(char) => out.push(char),
        }
        rest = chars.as_str();
    }
}
