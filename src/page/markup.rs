//! Tags in the bytes between texts and comments. In: a run of markup that the tokenizer has already delimited.
//! Out: each tag with its name and its attributes as slices. Never allocates, never looks outside the run.

/// A piece of markup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Markup<'a> {
    /// `<name attributes>`; the attributes are still raw.
    Start {
        name: &'a [u8],
        attributes: &'a [u8],
        self_closing: bool,
    },
    /// `</name>`.
    End { name: &'a [u8] },
    /// `<!DOCTYPE …>`: what stands after the word.
    Doctype(&'a [u8]),
}

/// The tags of a run of markup in order.
pub(super) struct Tags<'a> {
    rest: &'a [u8],
}

impl<'a> Tags<'a> {
    pub(super) fn new(run: &'a [u8]) -> Self {
        Self { rest: run }
    }

    /// What stands up to the `>` that ends the tag; quotes hide a `>`. Advances past it.
    fn tag_body(&mut self, from: usize) -> Option<&'a [u8]> {
        let run = self.rest;
        let end = tag_end(run, from)?;
        self.rest = run.get(end + 1..).unwrap_or_default();
        run.get(from..end)
    }

    /// `<!…>` and `<?…>`: steps over it and gives what stands after the word when it is a doctype.
    fn declaration(&mut self) -> Option<&'a [u8]> {
        let run = self.rest;
        if run.starts_with(b"<![CDATA[") {
            self.rest = run.get(9..).unwrap_or_default();
            return None;
        }
        let end = position(b'>', run).unwrap_or(run.len());
        self.rest = run.get(end + 1..).unwrap_or_default();
        let body = run.get(2..end).unwrap_or_default();
        let (word, rest) = body.split_at_checked(7)?;
        word.eq_ignore_ascii_case(b"doctype").then_some(rest)
    }
}

impl<'a> Iterator for Tags<'a> {
    type Item = Markup<'a>;

    fn next(&mut self) -> Option<Markup<'a>> {
        loop {
            let at = position(b'<', self.rest)?;
            self.rest = self.rest.get(at..)?;
            match *self.rest.get(1)? {
                b'/' => {
                    let body = self.tag_body(2)?;
                    let (name, _) = split_name(body);
                    if name.first().is_some_and(u8::is_ascii_alphabetic) {
                        return Some(Markup::End { name });
                    }
                }
                b'!' | b'?' => {
                    if let Some(rest) = self.declaration() {
                        return Some(Markup::Doctype(rest));
                    }
                }
                first if first.is_ascii_alphabetic() => {
                    let body = self.tag_body(1)?;
                    let (name, attributes) = split_name(body);
                    let self_closing = attributes.last() == Some(&b'/');
                    return Some(Markup::Start {
                        name,
                        attributes,
                        self_closing,
                    });
                }
                _ => self.rest = self.rest.get(1..)?,
            }
        }
    }
}

/// Position of the first `needle`.
fn position(needle: u8, haystack: &[u8]) -> Option<usize> {
    haystack.iter().position(|&b| b == needle)
}

pub(super) const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\t' | b'\r' | b'\x0C')
}

fn split_name(body: &[u8]) -> (&[u8], &[u8]) {
    let end = body
        .iter()
        .position(|&b| is_space(b) || b == b'/')
        .unwrap_or(body.len());
    body.split_at(end)
}

/// Index of the `>` that ends a tag whose name starts at `from`. A quote opens a value only after `=`.
fn tag_end(run: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        let offset = run
            .get(at..)?
            .iter()
            .position(|&b| matches!(b, b'>' | b'='))?;
        at += offset;
        if run[at] == b'>' {
            return Some(at);
        }
        at += 1;
        while run.get(at).copied().is_some_and(is_space) {
            at += 1;
        }
        match run.get(at) {
            Some(&quote @ (b'"' | b'\'')) => {
                at += 1;
                at += position(quote, run.get(at..)?)? + 1;
            }
            _ => {
                at += run
                    .get(at..)?
                    .iter()
                    .position(|&b| is_space(b) || b == b'>')?
            }
        }
    }
}

/// The attributes of a start tag: name and raw value, in order.
pub(super) struct Attributes<'a> {
    rest: &'a [u8],
}

impl<'a> Attributes<'a> {
    pub(super) fn new(raw: &'a [u8]) -> Self {
        Self { rest: raw }
    }

    fn take(&mut self, len: usize) -> &'a [u8] {
        let (head, tail) = self.rest.split_at(len.min(self.rest.len()));
        self.rest = tail;
        head
    }

    fn skip(&mut self, what: impl Fn(u8) -> bool) {
        let len = self
            .rest
            .iter()
            .position(|&b| !what(b))
            .unwrap_or(self.rest.len());
        self.take(len);
    }

    fn until(&mut self, what: impl Fn(u8) -> bool) -> &'a [u8] {
        let len = self
            .rest
            .iter()
            .position(|&b| what(b))
            .unwrap_or(self.rest.len());
        self.take(len)
    }
}

impl<'a> Iterator for Attributes<'a> {
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        self.skip(|b| is_space(b) || b == b'/');
        if self.rest.is_empty() {
            return None;
        }
        // A name may begin with `=`, oddly enough.
        let lead = usize::from(self.rest.first() == Some(&b'='));
        let name_len = lead
            + self
                .rest
                .get(lead..)?
                .iter()
                .position(|&b| is_space(b) || matches!(b, b'/' | b'='))
                .unwrap_or(self.rest.len() - lead);
        let name = self.take(name_len);
        self.skip(is_space);
        if self.rest.first() != Some(&b'=') {
            return Some((name, &[]));
        }
        self.take(1);
        self.skip(is_space);
        let value = match self.rest.first() {
            Some(&quote @ (b'"' | b'\'')) => {
                self.take(1);
                let value = self.until(|b| b == quote);
                self.take(1);
                value
            }
            _ => self.until(is_space),
        };
        Some((name, value))
    }
}
