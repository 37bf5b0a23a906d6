//! Tags that are too long to be read. In: bytes. Out: where such a tag begins and ends. Reads each byte once.

/// A tag that the tokenizer fails at, which has no room for so many attributes, is at least so long.
const LONG_TAG_BYTES: usize = 64 << 10;
/// And a longer one is left out when it has more attributes than this: the tokenizer notes each in some ten times as
/// many bytes as it has.
const MAX_ATTRIBUTES: usize = 4096;
/// A longer one is left out whatever it holds. Pictures in attributes are shorter.
const MAX_TAG_BYTES: usize = 3 << 19;

/// Where in a tag that is left out the page has come.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Skip {
    /// The quote that has to close.
    quote: Option<u8>,
    /// An equals sign was the last, but for white space: only there a quote opens a value.
    value: bool,
    /// White space outside of quotes, about as much as there are attributes.
    blanks: usize,
}

impl Skip {
    /// Bytes up to the end of the tag; `None` when it goes on after all of them.
    pub(super) fn end(&mut self, bytes: &[u8]) -> Option<usize> {
        for (at, &b) in bytes.iter().enumerate() {
            match (self.quote, b) {
                (Some(quote), _) if b == quote => {
                    self.quote = None;
                    self.value = false;
                }
                (Some(_), _) => {}
                (None, b'>') => return Some(at + 1),
                (None, b'"' | b'\'') if self.value => self.quote = Some(b),
                (None, b'=') => self.value = true,
                (None, _) if b.is_ascii_whitespace() => self.blanks += 1,
                (None, _) => self.value = false,
            }
        }
        None
    }
}

/// Whether the tag that these bytes begin with, and that has no end yet, should be left out.
pub(super) fn is_too_long(bytes: &[u8]) -> bool {
    let is_tag = bytes.get(1).is_some_and(u8::is_ascii_alphabetic);
    if !is_tag || bytes.len() <= LONG_TAG_BYTES {
        return false;
    }
    let mut skip = Skip::default();
    let _ = skip.end(bytes);
    bytes.len() > MAX_TAG_BYTES || skip.blanks > MAX_ATTRIBUTES
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
