//! Finds where a page loads its comments from by script: URLs in scripts and frames that mention comments, and names of
//! comment services. [`find_json_endpoints`] are those of them that a script of the page reads as JSON. Fetches nothing.

use std::sync::LazyLock;

use taojin_uri::CrawlUri;

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

/// Endings of what answers no JSON, in addition to those.
const PAGES: [&str; 5] = [".js", ".html", ".htm", ".shtml", ".xhtml"];

/// Beginnings of the last part of a path that writes: who reads must not ask for it.
const WRITES: [&str; 16] = [
    "add", "post", "submit", "save", "publish", "create", "insert", "send", "delete", "remove",
    "like", "vote", "digg", "report", "upload", "login",
];

/// Words of the key before a URL of comments, in lower case.
const KEYS: [&str; 5] = ["comment", "reply", "pinglun", "gentie", "评论"];

/// Longest such key, in bytes.
const MAX_KEY: usize = 60;

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
                let head = head_of(text);
                if ANY_WORD.stand_in(head) {
                    quoted(head, |_, inner| is_service(inner))
                        .for_each(|(_, found)| add(page, found, &mut out));
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

/// The URLs from which a script of the page reads its comments as JSON: named by an attribute, by a link of that type, or quoted in a
/// script, as a URL of comments or under a key that speaks of them. What a script completes first is none, nor what it writes to.
pub fn find_json_endpoints(page: &Page) -> Vec<CrawlUri> {
    let mut out: Vec<CrawlUri> = Vec::new();
    for (at, node) in page.nodes().iter().enumerate() {
        let id = at as NodeId;
        let named = page.attr(id, Attr::DataComments);
        if let Some(found) = named.filter(|found| found.contains('/') && !found.contains(is_bound))
        {
            add_json(page, found, &mut out);
        }
        if node.tag == Tag::LINK {
            out_of_link(page, id, &mut out);
        }
        if out.len() >= MAX_FOUND {
            return out;
        }
    }
    for script in page.scripts() {
        let script = head_of(&script.text);
        let is_named = |from: usize, inner: &str| {
            is_service(inner) || (is_path(inner) && is_called_comments(script, from))
        };
        for (from, found) in quoted(script, is_named) {
            if !is_completed(script, from, found) {
                add_json(page, found, &mut out);
            }
            if out.len() >= MAX_FOUND {
                return out;
            }
        }
    }
    out
}

/// The beginning of a script, as far as it is read.
fn head_of(script: &str) -> &str {
    script
        .get(..script.floor_char_boundary(MAX_SCRIPT))
        .unwrap_or_default()
}

/// `<link type="application/json" href="…">` whose URL or relation speaks of comments.
fn out_of_link(page: &Page, id: NodeId, out: &mut Vec<CrawlUri>) {
    let kind = page.attr(id, Attr::Type).unwrap_or_default();
    let rel = page.attr(id, Attr::Rel).unwrap_or_default();
    let Some(href) = page.attr(id, Attr::Href) else {
        return;
    };
    if kind.contains("json") && (is_service(href) || has_key(rel)) {
        add_json(page, href, out);
    }
}

/// The quoted texts of a script that are wanted, and where they begin; `is_wanted` is told both.
fn quoted(
    script: &str,
    is_wanted: impl Fn(usize, &str) -> bool,
) -> impl Iterator<Item = (usize, &str)> {
    let mut open = None;
    memchr::memchr3_iter(b'"', b'\'', b'`', script.as_bytes()).filter_map(move |at| {
        let inner = open.and_then(|from| Some((from, script.get(from..at)?)));
        let found = inner.filter(|(from, inner)| is_wanted(*from, inner));
        // The quote behind a URL does not begin another.
        open = found.is_none().then_some(at + 1);
        found
    })
}

/// A URL or absolute path, whatever it speaks of.
fn is_path(text: &str) -> bool {
    let is_address = [
        "https://",
        "http://",
        "https:\\/\\/",
        "http:\\/\\/",
        "/",
        "\\/",
    ];
    text.len() > 2
        && text.len() <= MAX_SIDE * 2
        && is_address.iter().any(|begin| text.starts_with(begin))
        && !text.contains(is_bound)
}

fn has_key(text: &str) -> bool {
    let text = text.to_lowercase();
    KEYS.iter().any(|key| text.contains(key))
}

/// Whether the key before a quoted text speaks of comments: `"commentUrl": "…"`, `commentsApi = "…"`. `from` is where the text begins.
fn is_called_comments(script: &str, from: usize) -> bool {
    let Some(before) = script.get(..from.saturating_sub(1)) else {
        return false;
    };
    let before = before.trim_end();
    let Some(before) = before.strip_suffix([':', '=']) else {
        return false;
    };
    let before = before.trim_end().trim_end_matches(['"', '\'']);
    let is_key = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '$');
    let mut start = before.len();
    for (at, c) in before.char_indices().rev() {
        if !is_key(c) || before.len() - at > MAX_KEY {
            break;
        }
        start = at;
    }
    has_key(before.get(start..).unwrap_or_default())
}

/// Whether a script puts the URL together from this and more: `"…?id=" + id`, or a template.
fn is_completed(script: &str, from: usize, found: &str) -> bool {
    let before = script.get(..from.saturating_sub(1)).unwrap_or_default();
    let behind = script.get(from + found.len() + 1..).unwrap_or_default();
    let decoded = percent_encoding::percent_decode_str(found).decode_utf8_lossy();
    let is_template = decoded.contains(['{', '}', '$', '%']);
    is_template || before.trim_end().ends_with('+') || behind.trim_start().starts_with('+')
}

fn add_json(page: &Page, found: &str, out: &mut Vec<CrawlUri>) {
    let Some(url) = &page.url else {
        return;
    };
    let Ok(uri) = url.join(&found.replace("\\/", "/")) else {
        return;
    };
    let path = uri.path().to_ascii_lowercase();
    let last = path.rsplit('/').next().unwrap_or_default();
    let mut files = FILES.iter().chain(&PAGES);
    let is_page = files.any(|end| path.ends_with(end)) || uri == *url;
    let writes = WRITES.iter().any(|verb| last.starts_with(verb));
    if !is_page && !writes && !out.contains(&uri) {
        out.push(uri);
    }
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
