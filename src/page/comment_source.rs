//! The addresses in a script that speak of comments: where a page loads them from when it does not show any. In: the
//! bytes of a script. Out: the addresses, quoted, one a line. Never runs anything.

use std::sync::LazyLock;

use regex::bytes::Regex;

/// Most places of a script that are looked at; a program says "comment" everywhere.
const MAX_PLACES: usize = 60;
/// Longest way from such a place to the quote on either side, in bytes.
const MAX_SIDE: usize = 200;

/// The quoted addresses of a script that speak of comments.
pub(super) fn comment_addresses(script: &[u8]) -> Vec<u8> {
    static WORD: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new("omment|pinglun|gentie|liuyan|disqus|changyan|giscus|livere|duoshuo|waline|twikoo|/reply|/replies")
            .expect("a constant pattern")
    });
    let mut out = Vec::new();
    let mut from = 0;
    for found in WORD.find_iter(script).take(MAX_PLACES) {
        if found.start() < from {
            continue;
        }
        if let Some((start, end)) = quoted(script, found.start(), found.end()) {
            from = end;
            let address = &script[start..end];
            let begins = |with: &[u8]| address.starts_with(with);
            if begins(b"/") || begins(b"\\/") || begins(b"http") {
                out.push(b'"');
                out.extend_from_slice(address);
                out.extend_from_slice(b"\"\n");
            }
        }
    }
    out
}

/// The bounds of the quoted word around a place.
fn quoted(script: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
    let low = start.saturating_sub(MAX_SIDE);
    let before = script.get(low..start)?.iter().rposition(|b| is_bound(*b))? + low;
    let quote = *script.get(before).filter(|b| is_quote(**b))?;
    let high = (end + MAX_SIDE).min(script.len());
    let after = script.get(end..high)?.iter().position(|b| is_bound(*b))? + end;
    (script.get(after) == Some(&quote)).then_some((before + 1, after))
}

fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}

/// What an address never holds.
fn is_bound(byte: u8) -> bool {
    is_quote(byte) || byte.is_ascii_whitespace() || matches!(byte, b'<' | b'>' | b'{' | b'}' | b';')
}
