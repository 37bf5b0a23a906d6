//! What is kept of a script: where it names the time of publication, and the addresses in it that speak of comments,
//! where a page loads them from when it does not show any. In: the bytes of a script. Out: [`Told`]. Never runs
//! anything; looks at each byte once.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

/// Bytes kept before and after the name of the time of publication in a script.
const AROUND: (usize, usize) = (160, 120);
/// Bytes from one such place to the next: a script may name the time in its settings and again in its data.
const APART: usize = 1024;
/// Most places of 16 KB of a script that are looked at; a program says "comment" everywhere.
const MAX_PLACES: usize = 240;
/// Longest way from such a place to the quote on either side, in bytes.
const MAX_SIDE: usize = 200;

/// Names of the time of publication: some sites, WeChat among them, say it nowhere else.
const PUBLICATION: [&str; 8] = [
    "publish_time",
    "publishTime",
    "publish_date",
    "publishDate",
    "pubTime",
    "pubDate",
    "datePublished",
    "deployDt",
];
/// What addresses of comments have in them.
const COMMENTS: [&str; 13] = [
    "omment", "pinglun", "gentie", "liuyan", "disqus", "changyan", "giscus", "livere", "duoshuo",
    "waline", "twikoo", "/reply", "/replies",
];

/// What a script tells.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Told<'a> {
    /// The parts that name the time of publication.
    pub publications: Vec<&'a [u8]>,
    /// The quoted addresses that speak of comments, one a line.
    pub addresses: Vec<u8>,
}

/// Reads a script.
pub(super) fn read(script: &[u8]) -> Told<'_> {
    static WORDS: LazyLock<AhoCorasick> = LazyLock::new(|| {
        AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostFirst)
            .build(PUBLICATION.into_iter().chain(COMMENTS))
            .expect("few constant words")
    });
    let mut told = Told::default();
    let (mut next_publication, mut from, mut places) = (0, 0, 0);
    for found in WORDS.find_iter(script) {
        let (start, end) = (found.start(), found.end());
        if found.pattern().as_usize() < PUBLICATION.len() {
            if start >= next_publication {
                told.publications.push(around(script, start, end));
                next_publication = start + APART;
            }
        } else if places < MAX_PLACES {
            places += 1;
            if start >= from
                && let Some((start, end)) = quoted(script, start, end)
            {
                from = end;
                add(&script[start..end], &mut told.addresses);
            }
        }
    }
    told
}

/// The bytes around a place, cut between characters.
fn around(script: &[u8], start: usize, end: usize) -> &[u8] {
    let continues = |at: &usize| script.get(*at).is_some_and(|b| b & 0xC0 == 0x80);
    let mut start = start.saturating_sub(AROUND.0);
    while continues(&start) {
        start += 1;
    }
    let mut end = (end + AROUND.1).min(script.len());
    while continues(&end) {
        end -= 1;
    }
    script.get(start..end).unwrap_or_default()
}

fn add(address: &[u8], out: &mut Vec<u8>) {
    let begins = |with: &[u8]| address.starts_with(with);
    if begins(b"/") || begins(b"\\/") || begins(b"http") {
        out.push(b'"');
        out.extend_from_slice(address);
        out.extend_from_slice(b"\"\n");
    }
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
