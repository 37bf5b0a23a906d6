//! Finds where a page loads its comments from by script: URLs in scripts and frames that mention comments, and names of
//! comment services. Fetches nothing.

use std::sync::LazyLock;

use crate::cues;
use crate::literals::Literals;
use crate::page::{Attr, NodeId, Page, Tag};

/// Longest script that is read, in bytes; of longer ones the head is.
const MAX_SCRIPT: usize = 200_000;
/// Most URLs reported.
const MAX_FOUND: usize = 8;

/// What a URL of comments has in it.
static WORDS: LazyLock<Vec<String>> = LazyLock::new(|| cues::words("link.comments"));

/// One look whether any of them is there: most scripts and URLs have none.
static ANY_WORD: LazyLock<Literals> = LazyLock::new(|| cues::compile_seen(&[("link.comments", 1)]));

/// Longest way from the beginning of a URL to such a word, and behind it, in characters.
const MAX_SIDE: usize = 200;

/// Endings of files that are no comments: the program and the style of the comment box.
const FILES: [&str; 8] = [
    ".css", ".png", ".jpg", ".gif", ".svg", ".woff", ".woff2", ".map",
];

/// The URLs, absolute where the page's own is known, each once, in the order of the page.
pub fn find_endpoints(page: &Page) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for (at, node) in page.nodes().iter().enumerate() {
        let id = at as NodeId;
        match node.tag {
            Tag::SCRIPT => {
                let text = page
                    .children(id)
                    .map(|child| page.text(child))
                    .next()
                    .unwrap_or_default();
                let head = text.get(..MAX_SCRIPT).unwrap_or(text);
                if ANY_WORD.stand_in(head) {
                    quoted(head).for_each(|found| add(page, found, &mut out));
                }
                if let Some(src) = page.attr(id, Attr::Src).filter(|src| is_service(src)) {
                    add(page, src, &mut out);
                }
            }
            Tag::IFRAME => {
                if let Some(src) = page.attr(id, Attr::Src).filter(|src| is_service(src)) {
                    add(page, src, &mut out);
                }
            }
            _ => {}
        }
        if out.len() >= MAX_FOUND {
            break;
        }
    }
    out
}

/// A URL, and nothing else, that speaks of comments.
fn is_service(src: &str) -> bool {
    is_address(src) && !src.contains(is_bound)
}

/// The quoted URLs of a script that speak of comments.
fn quoted(script: &str) -> impl Iterator<Item = &str> {
    let mut open = None;
    memchr::memchr3_iter(b'"', b'\'', b'`', script.as_bytes()).filter_map(move |at| {
        let inner = open.and_then(|from| script.get(from..at));
        let found = inner.filter(|inner| is_service(inner));
        // The quote behind a URL does not begin another.
        open = found.is_none().then_some(at + 1);
        found
    })
}

/// What a URL never holds.
fn is_bound(char: char) -> bool {
    matches!(char, '"' | '\'' | '`' | '<' | '>') || char.is_whitespace()
}

/// `https://…` or `/…`, slashes perhaps escaped, with a word of comments behind the first slash.
fn is_address(text: &str) -> bool {
    // Most of what scripts quote is no URL.
    if !text.starts_with(['h', 'H', '/', '\\']) {
        return false;
    }
    let scheme = |scheme: &str| {
        let (first, rest) = text.split_at_checked(scheme.len())?;
        first.eq_ignore_ascii_case(scheme).then_some(rest)
    };
    let rest = ["https:", "http:"].into_iter().find_map(scheme);
    let Some(rest) = behind_slash(rest.unwrap_or(text)) else {
        return false;
    };
    let stands = ANY_WORD.stand_in(rest);
    if !stands || rest.len() <= MAX_SIDE {
        return stands;
    }
    let rest = rest.to_ascii_lowercase();
    // How far the word may be from the beginning at most, and must at least to be near enough to the end.
    let second = behind_slash(&rest).map_or(0, |behind| rest.len() - behind.len());
    let room = MAX_SIDE + second;
    let most = rest.char_indices().nth(room).map_or(rest.len(), |c| c.0);
    let least = rest
        .char_indices()
        .rev()
        .nth(MAX_SIDE - 1)
        .map_or(0, |c| c.0);
    WORDS.iter().any(|word| {
        let mut places = rest.match_indices(word.as_str()).map(|(at, _)| at);
        places.any(|at| at <= most && at + word.len() >= least)
    })
}

/// What is behind a slash, perhaps an escaped one, at the beginning.
fn behind_slash(text: &str) -> Option<&str> {
    text.strip_prefix('\\').unwrap_or(text).strip_prefix('/')
}

fn add(page: &Page, found: &str, out: &mut Vec<String>) {
    let address = found.replace("\\/", "/");
    let path = address.split(['?', '#']).next().unwrap_or_default();
    if FILES.iter().any(|end| path.ends_with(end)) {
        return;
    }
    let absolute = match &page.url {
        Some(url) => url.join(&address).map(|u| u.as_str().to_owned()).ok(),
        None => Some(address),
    };
    if let Some(absolute) = absolute.filter(|a| !out.contains(a)) {
        out.push(absolute);
    }
}
