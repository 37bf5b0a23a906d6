//! Tags in the bytes between texts and comments. In: a run of markup that the tokenizer has already delimited.
//! Out: each tag with its name, and the attributes of a start tag as slices. Never allocates, reads each byte once,
//! never looks outside the run.

use memchr::memchr;

/// A piece of markup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Markup<'a> {
    /// `<name`; its attributes have to be read next.
    Start { name: &'a [u8] },
    /// `</name>`.
    End { name: &'a [u8] },
    /// `<!DOCTYPE …>`: what stands after the word.
    Doctype(&'a [u8]),
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

/// The tags of a run of markup in order.
pub(super) struct Tags<'a> {
    rest: &'a [u8],
}

const SPACE: u8 = 1;
/// Ends the name of a tag.
const NAME_END: u8 = 2;
/// Ends the name of an attribute.
const KEY_END: u8 = 4;
/// Ends a value without quotes.
const VALUE_END: u8 = 8;
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

pub(super) const fn is_space(byte: u8) -> bool {
    CLASSES[byte as usize] & SPACE != 0
}

/// Length of the beginning without a byte of this class.
fn until(class: u8, bytes: &[u8]) -> usize {
    bytes
        .iter()
        .position(|&b| CLASSES[b as usize] & class != 0)
        .unwrap_or(bytes.len())
}

impl<'a> Tags<'a> {
    pub(super) fn new(run: &'a [u8]) -> Self {
        Self { rest: run }
    }

    fn take(&mut self, len: usize) -> &'a [u8] {
        let (head, tail) = self.rest.split_at(len.min(self.rest.len()));
        self.rest = tail;
        head
    }

    /// Reads the attributes of the start tag whose name came last, in order; a value is raw and without quotes.
    pub(super) fn attributes(&mut self, mut each: impl FnMut(&'a [u8], &'a [u8])) -> TagEnd {
        let mut slash = false;
        loop {
            let Some(&first) = self.rest.first() else {
                return TagEnd::Missing;
            };
            match first {
                b'>' => {
                    self.take(1);
                    return if slash {
                        TagEnd::SelfClosing
                    } else {
                        TagEnd::Open
                    };
                }
                b'/' => {
                    slash = true;
                    self.take(1);
                }
                _ if is_space(first) => {
                    self.take(1);
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

    fn key(&mut self) -> &'a [u8] {
        // A name may begin with `=`, oddly enough.
        let len = until(KEY_END, self.rest.get(1..).unwrap_or_default());
        self.take(len + 1)
    }

    /// The value of the attribute whose name was read; empty if it has none, `None` if the page ends in it.
    fn value(&mut self) -> Option<&'a [u8]> {
        self.skip_space();
        if self.rest.first() != Some(&b'=') {
            return Some(&[]);
        }
        self.take(1);
        self.skip_space();
        match self.rest.first() {
            Some(&quote @ (b'"' | b'\'')) => {
                self.take(1);
                let len = memchr(quote, self.rest)?;
                let value = self.take(len);
                self.take(1);
                Some(value)
            }
            _ => {
                let len = until(VALUE_END, self.rest);
                Some(self.take(len))
            }
        }
    }

    fn skip_space(&mut self) {
        while self.rest.first().copied().is_some_and(is_space) {
            self.take(1);
        }
    }

    /// `<!…>` and `<?…>`: steps over it and gives what stands after the word when it is a doctype.
    fn declaration(&mut self) -> Option<&'a [u8]> {
        let run = self.rest;
        if run.starts_with(b"<![CDATA[") {
            self.take(9);
            return None;
        }
        let end = memchr(b'>', run).unwrap_or(run.len());
        self.take(end + 1);
        let body = run.get(2..end).unwrap_or_default();
        let (word, rest) = body.split_at_checked(7)?;
        word.eq_ignore_ascii_case(b"doctype").then_some(rest)
    }
}

impl<'a> Iterator for Tags<'a> {
    type Item = Markup<'a>;

    fn next(&mut self) -> Option<Markup<'a>> {
        loop {
            // Tags mostly stand side by side.
            if self.rest.first() != Some(&b'<') {
                let at = memchr(b'<', self.rest)?;
                self.take(at);
            }
            match *self.rest.get(1)? {
                b'/' => {
                    self.take(2);
                    let len = until(NAME_END, self.rest);
                    let name = self.take(len);
                    // Browsers read attributes of end tags only to find their ends.
                    let end = self.attributes(|_, _| {});
                    if end != TagEnd::Missing && name.first().is_some_and(u8::is_ascii_alphabetic) {
                        return Some(Markup::End { name });
                    }
                }
                b'!' | b'?' => {
                    if let Some(rest) = self.declaration() {
                        return Some(Markup::Doctype(rest));
                    }
                }
                first if first.is_ascii_alphabetic() => {
                    self.take(1);
                    let len = until(NAME_END, self.rest);
                    let name = self.take(len);
                    return Some(Markup::Start { name });
                }
                _ => {
                    self.take(1);
                }
            }
        }
    }
}
