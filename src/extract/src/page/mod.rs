//! The page before extraction: one flat array of nodes in document order, built while the bytes arrive. Parsing never fails
//! and never recurses; nothing in this module depends on a site.
//!
//! A subtree is the slice `nodes[i..nodes[i].end]`; text and attribute values live in one arena; tag paths
//! are interned. Every later algorithm works on this array by index.

pub(crate) mod address;
mod builder;
mod config;
mod decode;
mod formatting;
mod hiding;
mod kind;
mod links;
mod markup;
pub(crate) mod measure;
mod naming;
mod open;
pub(crate) mod quoted;
mod records;
mod rules;
mod script;
mod tag;
mod tag_path;
#[cfg(test)]
mod tests;
mod text;
mod text_counts;
mod transcode;
mod tree;
mod walk;

pub use builder::{Builder, Hints};
pub use config::Config;
pub use decode::decode_text;
pub(crate) use kind::HUB_LINKS;
pub use kind::{HEAD_BYTES, Judged, Kind, KindSigns, classify_page, detect_foreign_format, kind};
pub use links::{LinkRole, RawLink, find_base, links, refresh_target, resolve};
pub(crate) use links::{follow, has_word};
pub(crate) use script::Script;
pub use tag::{Attr, Attrs, Tag};
pub use tag_path::{PathCounts, TagPath};
pub(crate) use text_counts::{TextCounts, is_skipped};
pub(crate) use walk::Hidden;
pub use walk::{Shape, count_chars};

use taojin_uri::CrawlUri;

/// Index of a node in document order (preorder).
pub type NodeId = u32;

/// Index of an interned tag path in [`Page::paths`].
pub type PathId = u32;

/// One element or one text node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Node {
    /// Element name, or [`Tag::TEXT`].
    pub tag: Tag,
    /// Distance from the root, which has depth 0.
    pub depth: u16,
    /// The parent; the root is its own parent.
    pub parent: NodeId,
    /// One past the last node of this subtree.
    pub end: NodeId,
    /// Tag path of the element; a text node has its parent's.
    pub path: PathId,
    /// Text node: byte range in the text arena. Element: range in the attribute table.
    span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Span {
    start: u32,
    len: u32,
}

impl Span {
    /// The attributes of an element among those of its page.
    fn of(self, attributes: &[Attribute]) -> &[Attribute] {
        let start = self.start as usize;
        let range = start..start + self.len as usize;
        attributes.get(range).unwrap_or_default()
    }
}

/// One kept attribute of an element; names outside [`Attr`] are dropped while parsing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Attribute {
    name: Attr,
    value: Span,
}

/// How the charset was found, surest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CharsetSource {
    /// Byte order mark.
    Bom,
    /// The bytes are valid UTF-8 with multi-byte sequences (or prove the declared one wrong).
    Content,
    /// Content-Type of the response.
    Header,
    /// `<meta charset>` or its http-equiv form.
    Meta,
    /// Statistical guess.
    Guess,
    /// Nothing said and nothing to guess from.
    #[default]
    Default,
}

/// A parsed page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    /// URL the page was fetched from, when known; references are resolved against it (and `<base>`).
    pub url: Option<CrawlUri>,
    /// Name of the charset that the bytes were decoded with (WHATWG name, lower case).
    pub charset: String,
    /// How that charset was found.
    pub charset_source: CharsetSource,
    /// The limit that cut the page short, if one did.
    pub truncated: Option<&'static str>,
    nodes: Vec<Node>,
    arena: String,
    attributes: Vec<Attribute>,
    paths: Vec<TagPath>,
    texts: Vec<TextCounts>,
    /// Elements that hide what is in them, in order.
    hidden: Vec<NodeId>,
    path_counts: Vec<PathCounts>,
    scripts: Vec<Script>,
}

/// Whether an element is a link: an `<a>` with an address, or one that a script follows. One that has neither, as
/// `<a name="top">`, marks a place, and when its end tag is missing what it holds is the rest of the page.
pub(crate) fn is_link(page: &Page, id: NodeId) -> bool {
    leads(page.node(id).tag, page.kept_attributes(id))
}

/// Whether an element of this name and attributes is a link, see [`is_link`].
fn leads(tag: Tag, attributes: &[Attribute]) -> bool {
    let leads = |name| {
        matches!(
            name,
            Attr::Href | Attr::OnClick | Attr::DataHref | Attr::DataUrl
        )
    };
    tag == Tag::A && attributes.iter().any(|attribute| leads(attribute.name))
}

impl Page {
    /// All nodes in document order; node 0 is the root. Empty for an empty page.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// All tag paths; indexed by [`PathId`].
    pub fn paths(&self) -> &[TagPath] {
        &self.paths
    }

    /// What was counted under each tag path while the page arrived; indexed by [`PathId`]. Texts that the page hides are
    /// not in it.
    pub fn path_counts(&self) -> &[PathCounts] {
        &self.path_counts
    }

    /// The texts that can be read, hidden ones too, in document order, each with its counts.
    pub(crate) fn texts(&self) -> &[TextCounts] {
        &self.texts
    }

    /// The node at `id`.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id as usize]
    }

    /// Decoded text of a text node; empty for an element.
    pub fn text(&self, id: NodeId) -> &str {
        let node = self.node(id);
        if node.tag == Tag::TEXT {
            self.slice(node.span)
        } else {
            ""
        }
    }

    /// Value of an attribute of an element, entities decoded.
    pub fn attr(&self, id: NodeId, name: Attr) -> Option<&str> {
        let mut attributes = self.kept_attributes(id).iter();
        let attribute = attributes.find(|attribute| attribute.name == name)?;
        Some(self.slice(attribute.value))
    }

    /// True if any element has the attribute.
    pub fn has_attr(&self, name: Attr) -> bool {
        self.attributes.iter().any(|a| a.name == name)
    }

    /// The kept attributes of an element in the order of the page, entities decoded.
    pub fn attributes_of(&self, id: NodeId) -> impl Iterator<Item = (Attr, &str)> {
        let attributes = self.kept_attributes(id).iter();
        attributes.map(|attribute| (attribute.name, self.slice(attribute.value)))
    }

    fn kept_attributes(&self, id: NodeId) -> &[Attribute] {
        let node = self.node(id);
        match node.tag {
            Tag::TEXT => &[],
            _ => node.span.of(&self.attributes),
        }
    }

    /// Which attributes an element has: most have none of those that a stage asks for, and their values need not be looked
    /// at then.
    pub fn attribute_names(&self, id: NodeId) -> Attrs {
        let mut names = Attrs::default();
        for attribute in self.kept_attributes(id) {
            names.add(attribute.name);
        }
        names
    }

    /// Bytes of memory that the page takes, without its URL.
    pub fn memory_bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>()
            + self.arena.capacity()
            + self.attributes.capacity() * size_of::<Attribute>()
            + self.paths.capacity() * (size_of::<TagPath>() + size_of::<PathCounts>())
            + self.hidden.capacity() * size_of::<NodeId>()
            + self.texts.capacity() * size_of::<TextCounts>()
            + self
                .scripts
                .iter()
                .map(|script| script.text.capacity())
                .sum::<usize>()
    }

    /// The scripts, as they are and as far as they are kept. JSON-LD is among the nodes instead.
    pub(crate) fn scripts(&self) -> &[Script] {
        &self.scripts
    }

    /// Child nodes in order.
    pub fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let end = self.node(id).end;
        let mut next = id + 1;
        std::iter::from_fn(move || {
            (next < end).then(|| {
                let child = next;
                next = self.node(child).end;
                child
            })
        })
    }

    /// Ancestors from the parent up to the root.
    pub fn ancestors(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let mut at = id;
        std::iter::from_fn(move || {
            (at != 0).then(|| {
                at = self.node(at).parent;
                at
            })
        })
    }

    /// Nodes of the subtree, the root of it first.
    pub fn subtree(&self, id: NodeId) -> std::ops::Range<NodeId> {
        id..self.node(id).end
    }

    fn slice(&self, span: Span) -> &str {
        self.arena
            .get(span.start as usize..(span.start + span.len) as usize)
            .unwrap_or_default()
    }
}
