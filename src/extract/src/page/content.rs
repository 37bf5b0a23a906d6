//! What stands between a start tag and the next tag when it is not markup: scripts, styles, titles, CDATA. In: the
//! bytes after the tag. Out: how many of them are text. Reads each byte once, and never looks past the run.
//!
//! The rules are those of the HTML standard's tokenizer. lol_html follows them as well and cuts no end tag, no `<!--`
//! and no `-->` in two, so that a run can be read by itself.

use memchr::{memchr, memchr2, memmem};

use super::Tag;
use super::byte_class::ends_name;

/// How the bytes that come next are read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Content {
    /// As markup.
    #[default]
    Markup,
    /// As text up to the end tag of this element.
    Element(Tag),
    /// As a script.
    Script(Escape),
    /// As text up to `]]>`.
    Cdata,
    /// As text, whatever comes.
    Plain,
}

/// How a text is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextKind {
    /// Ordinary text: entities are decoded.
    Data,
    /// Script, style, CDATA and the like: as it stands.
    Raw,
}

/// A script may hold a comment, and that whole scripts with their end tags.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Escape {
    #[default]
    No,
    /// After `<!--`.
    Comment,
    /// After `<script>` in that.
    Script,
}

impl Content {
    /// How the content of an element of HTML is read.
    pub(super) fn of(tag: Tag) -> Self {
        match tag {
            Tag::SCRIPT => Self::Script(Escape::No),
            Tag::PLAINTEXT => Self::Plain,
            Tag::TITLE
            | Tag::TEXTAREA
            | Tag::STYLE
            | Tag::XMP
            | Tag::IFRAME
            | Tag::NOEMBED
            | Tag::NOFRAMES
            | Tag::NOSCRIPT => Self::Element(tag),
            _ => Self::Markup,
        }
    }

    /// Whether entities are decoded in it.
    pub(super) fn kind(self) -> TextKind {
        match self {
            Self::Markup | Self::Element(Tag::TITLE | Tag::TEXTAREA) => TextKind::Data,
            _ => TextKind::Raw,
        }
    }

    /// Length of the text that the bytes begin with, and how what comes after it is read.
    pub(super) fn text_len(self, bytes: &[u8]) -> (usize, Self) {
        let (end, if_none) = match self {
            Self::Markup => (Some(0), self),
            Self::Element(tag) => (end_tag(bytes, tag.name().as_bytes()), self),
            Self::Script(escape) => {
                let (end, escape) = script_end(bytes, escape);
                (end, Self::Script(escape))
            }
            Self::Cdata => (memmem::find(bytes, b"]]>"), self),
            Self::Plain => (None, self),
        };
        match end {
            Some(end) => (end, Self::Markup),
            None => (bytes.len(), if_none),
        }
    }
}

/// Where the end tag of this name begins.
fn end_tag(bytes: &[u8], name: &[u8]) -> Option<usize> {
    memchr::memchr_iter(b'<', bytes).find(|&at| is_tag(bytes, at + 1, b"/", name))
}

/// Whether `before` and this name stand here, and the name ends there.
fn is_tag(bytes: &[u8], at: usize, before: &[u8], name: &[u8]) -> bool {
    let Some(rest) = bytes.get(at..).and_then(|rest| rest.strip_prefix(before)) else {
        return false;
    };
    let ends = rest.get(name.len()).is_some_and(|&b| ends_name(b));
    ends && rest[..name.len()].eq_ignore_ascii_case(name)
}

/// Where the end tag of a script begins, and what the script is in after these bytes.
fn script_end(bytes: &[u8], mut escape: Escape) -> (Option<usize>, Escape) {
    let mut at = 0;
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        let next = match escape {
            Escape::No => memchr(b'<', rest),
            Escape::Comment | Escape::Script => memchr2(b'<', b'-', rest),
        };
        let Some(next) = next else {
            return (None, escape);
        };
        at += next + 1;
        let ends = |before| is_tag(bytes, at, before, b"script");
        escape = match escape {
            _ if bytes[at - 1] == b'-' => match bytes[at..].starts_with(b"->") {
                true => Escape::No,
                false => escape,
            },
            Escape::No | Escape::Comment if ends(b"/") => return (Some(at - 1), escape),
            Escape::No if bytes[at..].starts_with(b"!--") => {
                // Its dashes may be those of its end.
                at += 1;
                Escape::Comment
            }
            Escape::Comment if ends(b"") => Escape::Script,
            Escape::Script if ends(b"/") => Escape::Comment,
            _ => escape,
        };
    }
}
