//! Splits a run of markup without comments, in which no tag is cut, into texts and tags. Attributes of start tags are
//! slices; after a script, style or title comes the number of bytes that are its text. Never allocates and reads each byte
//! once.

use memchr::{memchr, memchr2, memmem};

use super::Tag;

/// A piece of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Markup<'a> {
    /// Text, with entities as they are. It may come in pieces.
    Text(&'a [u8], TextKind),
    /// `<name`; its attributes have to be read next.
    Start { name: &'a [u8] },
    /// `</name>`.
    End { name: &'a [u8] },
    /// `<!DOCTYPE …>`: what is after the word.
    Doctype(&'a [u8]),
    /// `<![CDATA[`, its end, or `</>`: a text ends here.
    Bound,
}

/// How a start tag ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TagEnd {
    /// With `>`.
    Open,
    /// With `/>`.
    SelfClosing,
    /// Not at all: the page ends inside the tag, which is then none.
    Missing,
}

/// The pieces of a run in order.
pub(super) struct Pieces<'a> {
    rest: &'a [u8],
    content: Content,
}

impl<'a> Pieces<'a> {
    /// The pieces of a run that begins in content of this kind.
    pub(super) fn new(run: &'a [u8], content: Content) -> Self {
        Self { rest: run, content }
    }

    /// What the next run begins in.
    pub(super) fn content(&self) -> Content {
        self.content
    }

    /// What follows the tag that came last is content of this kind.
    pub(super) fn enter(&mut self, content: Content) {
        self.content = content;
    }

    /// What is left of the run.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    #[inline]
    fn advance(&mut self, len: usize) -> &'a [u8] {
        let (head, tail) = self.rest.split_at(len.min(self.rest.len()));
        self.rest = tail;
        head
    }

    /// The name of the tag that begins with `opening` here.
    fn name(&mut self, opening: &[u8]) -> &'a [u8] {
        self.advance(opening.len());
        let len = until(NAME_END, self.rest);
        self.advance(len)
    }

    /// Reads the attributes of the start tag whose name came last, in order; a value is raw and without quotes.
    #[inline]
    pub(super) fn attributes(&mut self, mut each: impl FnMut(&'a [u8], &'a [u8])) -> TagEnd {
        let mut slash = false;
        loop {
            let Some(&first) = self.rest.first() else {
                return TagEnd::Missing;
            };
            match first {
                b'>' => {
                    self.advance(1);
                    return if slash {
                        TagEnd::SelfClosing
                    } else {
                        TagEnd::Open
                    };
                }
                b'/' => {
                    slash = true;
                    self.advance(1);
                }
                _ if is_space(first) => {
                    self.advance(1);
                }
                _ => {
                    slash = false;
                    let name = self.key();
                    let Some(value) = self.value() else {
                        // What looks like tags after it is part of the value.
                        self.rest = &[];
                        return TagEnd::Missing;
                    };
                    each(name, value);
                }
            }
        }
    }

    #[inline]
    fn key(&mut self) -> &'a [u8] {
        // A name may begin with `=`, oddly enough.
        let len = until(KEY_END, self.rest.get(1..).unwrap_or_default());
        self.advance(len + 1)
    }

    /// The value of the attribute whose name was read; empty if it has none, `None` if the page ends in it.
    #[inline]
    fn value(&mut self) -> Option<&'a [u8]> {
        self.skip_space();
        if self.rest.first() != Some(&b'=') {
            return Some(&[]);
        }
        self.advance(1);
        self.skip_space();
        match self.rest.first() {
            Some(&quote @ (b'"' | b'\'')) => {
                self.advance(1);
                let len = memchr(quote, self.rest)?;
                let value = self.advance(len);
                self.advance(1);
                Some(value)
            }
            _ => {
                let len = until(VALUE_END, self.rest);
                Some(self.advance(len))
            }
        }
    }

    fn skip_space(&mut self) {
        while self.rest.first().copied().is_some_and(is_space) {
            self.advance(1);
        }
    }

    /// What `<!` begins here: comments are not in the run.
    fn declaration(&mut self) -> Option<Markup<'a>> {
        let run = self.rest;
        if run.starts_with(b"<![CDATA[") {
            self.advance(b"<![CDATA[".len());
            self.content = Content::Cdata;
            return Some(Markup::Bound);
        }
        let end = memchr(b'>', run).unwrap_or(run.len());
        self.advance(end + 1);
        let body = run.get(2..end).unwrap_or_default();
        let (word, rest) = body.split_at_checked(7)?;
        word.eq_ignore_ascii_case(b"doctype")
            .then_some(Markup::Doctype(rest))
    }

    /// Text up to the next `<` after the first `skipped` bytes.
    fn text(&mut self, skipped: usize) -> Markup<'a> {
        let rest = self.rest.get(skipped..).unwrap_or_default();
        let len = memchr(b'<', rest).unwrap_or(rest.len());
        Markup::Text(self.advance(skipped + len), TextKind::Data)
    }

    /// Text of a script or the like, or the end of CDATA; `None` when it is over, or the run is.
    fn other_text(&mut self) -> Option<Markup<'a>> {
        let (content, (len, next)) = (self.content, self.content.text_len(self.rest));
        if len == 0 && content == Content::Cdata && !self.rest.is_empty() {
            self.content = next;
            self.advance(b"]]>".len());
            return Some(Markup::Bound);
        }
        if content != Content::Cdata {
            self.content = next;
        }
        (len > 0).then(|| Markup::Text(self.advance(len), content.kind()))
    }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = Markup<'a>;

    fn next(&mut self) -> Option<Markup<'a>> {
        if self.content != Content::Markup
            && let Some(piece) = self.other_text()
        {
            return Some(piece);
        }
        loop {
            if *self.rest.first()? != b'<' {
                return Some(self.text(0));
            }
            match self.rest.get(1) {
                Some(b'/') => match self.rest.get(2) {
                    Some(b'>') => {
                        self.advance(b"</>".len());
                        return Some(Markup::Bound);
                    }
                    Some(first) if first.is_ascii_alphabetic() => {
                        let name = self.name(b"</");
                        // Browsers read attributes of end tags only to find their ends.
                        if self.attributes(|_, _| {}) != TagEnd::Missing {
                            return Some(Markup::End { name });
                        }
                    }
                    _ => return Some(self.text(2)),
                },
                Some(b'!') => {
                    if let Some(declared) = self.declaration() {
                        return Some(declared);
                    }
                }
                Some(first) if first.is_ascii_alphabetic() => {
                    let name = self.name(b"<");
                    return Some(Markup::Start { name });
                }
                _ => return Some(self.text(1)),
            }
        }
    }
}

/// White space of HTML.
const SPACE: u8 = 1;
/// Ends the name of a tag.
pub(super) const NAME_END: u8 = 2;
/// Ends the name of an attribute.
pub(super) const KEY_END: u8 = 4;
/// Ends a value without quotes.
pub(super) const VALUE_END: u8 = 8;
const CLASSES: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut classes = [0; 256];
    let spaces = b" \n\t\r\x0C";
    let mut i = 0;
    while i < spaces.len() {
        classes[spaces[i] as usize] = SPACE | NAME_END | KEY_END | VALUE_END;
        i += 1;
    }
    classes[b'/' as usize] = NAME_END | KEY_END;
    classes[b'=' as usize] = KEY_END;
    classes[b'>' as usize] = NAME_END | KEY_END | VALUE_END;
    classes
}

/// White space of HTML.
pub(super) const fn is_space(byte: u8) -> bool {
    CLASSES[byte as usize] & SPACE != 0
}

/// Whether the name of a tag ends before this byte.
pub(super) const fn ends_name(byte: u8) -> bool {
    CLASSES[byte as usize] & NAME_END != 0
}

/// Length of the beginning without a byte of this class.
#[inline]
pub(super) fn until(class: u8, bytes: &[u8]) -> usize {
    bytes
        .iter()
        .position(|&b| CLASSES[b as usize] & class != 0)
        .unwrap_or(bytes.len())
}

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
    /// Script, style, CDATA and the like: as it is.
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
    pub(super) fn from_tag(tag: Tag) -> Self {
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

/// Where the next start tag of this name begins.
pub(super) fn find_tag(bytes: &[u8], name: &[u8]) -> Option<usize> {
    memchr::memchr_iter(b'<', bytes).find(|&at| is_tag(bytes, at + 1, b"", name))
}

/// Where the end tag of this name begins.
fn end_tag(bytes: &[u8], name: &[u8]) -> Option<usize> {
    memchr::memchr_iter(b'<', bytes).find(|&at| is_tag(bytes, at + 1, b"/", name))
}

/// Whether `before` and this name are here, and the name ends there.
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
            _ if bytes[at - 1] == b'-' => {
                if bytes[at..].starts_with(b"->") {
                    Escape::No
                } else {
                    escape
                }
            }
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
