//! Tags that are too long to be read. In: bytes. Out: where such a tag begins and ends. Reads each byte once.

/// A tag that the tokenizer fails at, which has no room for so many attributes, is at least so long.
const LONG_TAG_BYTES: usize = 64 << 10;

/// Where in a tag that is left out the page has come.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Skip {
    /// The quote that has to close.
    quote: Option<u8>,
    /// An equals sign was the last, but for white space: only there a quote opens a value.
    value: bool,
}

impl Skip {
    /// Bytes up to the end of the tag; `None` when it goes on after all of them.
    pub(super) fn end(&mut self, bytes: &[u8]) -> Option<usize> {
        for (at, &b) in bytes.iter().enumerate() {
            match (self.quote, b) {
                (Some(quote), _) if b == quote => *self = Skip::default(),
                (Some(_), _) => {}
                (None, b'>') => return Some(at + 1),
                (None, b'"' | b'\'') if self.value => self.quote = Some(b),
                (None, b'=') => self.value = true,
                (None, _) => self.value &= b.is_ascii_whitespace(),
            }
        }
        None
    }
}

/// Where the first tag begins that is long enough to be what a tokenizer fails at.
pub(super) fn long_tag(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        let rest = bytes.get(at..)?;
        at += rest
            .windows(2)
            .position(|w| w[0] == b'<' && w[1].is_ascii_alphabetic())?;
        let tag = bytes.get(at..)?;
        let len = Skip::default().end(tag).unwrap_or(tag.len());
        if len >= LONG_TAG_BYTES {
            return Some(at);
        }
        at += len;
    }
}
