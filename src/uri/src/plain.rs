//! Addresses that are canonical as they stand, as most references of the web are. In: a reference. Out: where its parts
//! end. One look at each byte tells so, while a parser makes the address anew, piece by piece. Never guesses: what is
//! called plain here comes out of the parser unchanged, and what is not goes there.

use super::percent::{is_allowed, is_canonical_escape};
use super::strip::is_of_visit;

/// Where the parts of a plain address or reference end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ends {
    /// Of the path.
    pub(super) path: usize,
    /// Of the query, or of the path if there is none: a fragment is dropped.
    pub(super) all: usize,
}

/// End of the host of a whole address, and the ends of what follows, which may be nothing.
pub(super) fn address(text: &str) -> Option<(usize, Ends)> {
    let rest = text.strip_prefix("http")?;
    let rest = rest.strip_prefix('s').unwrap_or(rest);
    let rest = rest.strip_prefix("://")?;
    let host = text.len() - rest.len() + host_end(rest.as_bytes())?;
    let Ends { path, all } = match text.get(host..)? {
        "" => Ends { path: 0, all: 0 },
        rest => path_and_query(rest)?,
    };
    Some((
        host,
        Ends {
            path: host + path,
            all: host + all,
        },
    ))
}

/// End of a host, at a slash or the end: small letters, digits and single hyphens, and a last label of letters only, so
/// that neither numbers nor Punycode are to be read.
fn host_end(text: &[u8]) -> Option<usize> {
    let mut before = b'.';
    let mut only_letters = true;
    for (at, byte) in text.iter().chain(b"/").enumerate() {
        let joins = matches!(before, b'.' | b'-');
        match byte {
            b'a'..=b'z' => {}
            b'0'..=b'9' => only_letters = false,
            b'-' if !joins => only_letters = false,
            b'.' if !joins => only_letters = true,
            b'/' if !joins && only_letters => return Some(at),
            _ => return None,
        }
        before = *byte;
    }
    None
}

/// Ends of a path, or a part of one that begins with a segment, and its query.
pub(super) fn path_and_query(text: &str) -> Option<Ends> {
    let text = text.as_bytes();
    let path = path_end(text)?;
    let all = match text.get(path) {
        Some(b'?') => query_end(text, path + 1)?,
        _ => path,
    };
    // Two slashes begin a host, not a path.
    (all > 0 && !text.starts_with(b"//")).then_some(Ends { path, all })
}

/// Bytes that stand in a path and ask no question; a dot may make a segment that means another place, and semicolons and
/// brackets a session.
const IN_PATH: [bool; 256] = {
    let mut plain = [false; 256];
    let mut at = 0;
    while at < 128 {
        let b = at as u8;
        plain[at] = is_allowed(b) && !matches!(b, b'?' | b'.' | b';' | b'(');
        at += 1;
    }
    plain
};

/// End of the path that `text` begins with.
fn path_end(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        let rest = text.get(at..)?;
        at += rest
            .iter()
            .take_while(|b| IN_PATH[usize::from(**b)])
            .count();
        match text.get(at) {
            None | Some(b'?' | b'#') => return Some(at),
            Some(b'.') if at > 0 && text[at - 1] != b'/' => at += 1,
            Some(b'%') if is_canonical_escape(text.get(at..)?) => at += 3,
            Some(_) => return None,
        }
    }
}

/// End of the query that begins at `from`: no parameter is empty or names a visit.
fn query_end(text: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        // The parser escapes an apostrophe in a query.
        let plain = |b: &&u8| is_allowed(**b) && **b != b'\'';
        at += text.get(at..)?.iter().take_while(plain).count();
        match text.get(at) {
            None | Some(b'#') => break,
            Some(b'%') if is_canonical_escape(text.get(at..)?) => at += 3,
            Some(_) => return None,
        }
    }
    let query = str::from_utf8(text.get(from..at)?).ok()?;
    let stays = |parameter: &str| {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        !parameter.is_empty() && !is_of_visit(name, value)
    };
    query.split('&').all(stays).then_some(at)
}
