//! One spelling for percent-encoded text (RFC 3986 §6.2.2). In: the path or query of a parsed URL. Out: the same
//! with unreserved characters decoded, hex digits in upper case, stray `%` and characters that RFC 3986 does
//! not allow encoded. Never decodes a reserved character: `%2F` and `/` are two different paths.

use std::borrow::Cow;

const HEX: &[u8; 16] = b"0123456789ABCDEF";

/// Brings the percent-encoding of a path or query, or a part of one, into its one canonical spelling.
pub fn canonical_escapes(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    if bytes.iter().all(|&b| is_allowed(b)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut i = 0;
    while let Some(&b) = bytes.get(i) {
        let escaped = match (b, bytes.get(i + 1), bytes.get(i + 2)) {
            (b'%', Some(&high), Some(&low)) => hex_value(high).zip(hex_value(low)),
            _ => None,
        };
        if let Some((high, low)) = escaped {
            let value = high << 4 | low;
            if is_unreserved(value) {
                out.push(char::from(value));
            } else {
                push_escape(&mut out, value);
            }
            i += 3;
        } else {
            if is_allowed(b) {
                out.push(char::from(b));
            } else {
                push_escape(&mut out, b);
            }
            i += 1;
        }
    }
    Cow::Owned(out)
}

fn push_escape(out: &mut String, value: u8) {
    out.push('%');
    out.push(char::from(HEX[usize::from(value >> 4)]));
    out.push(char::from(HEX[usize::from(value & 15)]));
}

fn hex_value(digit: u8) -> Option<u8> {
    char::from(digit)
        .to_digit(16)
        .and_then(|v| u8::try_from(v).ok())
}

const fn is_unreserved(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_' | b'~')
}

/// The bytes that may stand unescaped in a path or query: unreserved, sub-delims, and `:@/?`.
const ALLOWED: [bool; 256] = {
    let mut allowed = [false; 256];
    let mut at = 0;
    while at < 128 {
        let b = at as u8;
        allowed[at] = is_unreserved(b)
            || matches!(
                b,
                b'!' | b'$' | b'&'..=b',' | b';' | b'=' | b':' | b'@' | b'/' | b'?'
            );
        at += 1;
    }
    allowed
};

/// Whether a byte may stand unescaped in a path or query.
pub(super) const fn is_allowed(b: u8) -> bool {
    ALLOWED[b as usize]
}

/// Whether `text` begins with an escape that stays as it is: of a character that needs it, in capitals.
pub(super) fn is_canonical_escape(text: &[u8]) -> bool {
    let digit = |at: usize| {
        let digit = text.get(at)?;
        let canonical = !digit.is_ascii_lowercase();
        hex_value(*digit).filter(|_| canonical)
    };
    let value = digit(1).zip(digit(2)).map(|(high, low)| high << 4 | low);
    text.first() == Some(&b'%') && value.is_some_and(|value| !is_unreserved(value))
}
