//! Tags and texts in the bytes between comments. In: a run that the tokenizer has already delimited: no tag is cut.
//! Out: each text; each tag with its name, and the attributes of a start tag as slices. Never allocates, reads each
//! byte once, never looks outside the run.

use memchr::memchr;

use super::byte_class::{KEY_END, NAME_END, VALUE_END, is_space, until};
use super::content::{Content, TextKind};

/// A piece of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Markup<'a> {
    /// Text, with entities as they stand. It may come in pieces.
    Text(&'a [u8], TextKind),
    /// `<name`; its attributes have to be read next.
    Start { name: &'a [u8] },
    /// `</name>`.
    End { name: &'a [u8] },
    /// `<!DOCTYPE …>`: what stands after the word.
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
