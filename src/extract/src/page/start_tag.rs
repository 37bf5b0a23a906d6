//! A start tag that is to be put into the tree. In: its name and attributes. Out: a [`StartTag`].

use super::{Span, Tag};

/// FNV-1a over the lower-case name: tells elements with unknown names apart.
pub(super) fn name_hash(tag: Tag, name: &[u8]) -> u32 {
    if tag != Tag::OTHER {
        return 0;
    }
    name.iter().fold(0x811C_9DC5, |hash, b| {
        (hash ^ u32::from(b.to_ascii_lowercase())).wrapping_mul(0x0100_0193)
    })
}

/// A start tag whose attributes are kept already.
#[derive(Debug, Clone, Copy)]
pub(super) struct StartTag {
    pub(super) tag: Tag,
    /// See [`super::open::Open::name_hash`].
    pub(super) name_hash: u32,
    /// Range in the attribute table.
    pub(super) attributes: Span,
    pub(super) self_closing: bool,
    /// A `<font>` with an attribute of its own, which no drawing has.
    pub(super) colored: bool,
}

pub(super) fn is_font_attribute(name: &[u8]) -> bool {
    [&b"color"[..], b"face", b"size"]
        .iter()
        .any(|n| name.eq_ignore_ascii_case(n))
}
