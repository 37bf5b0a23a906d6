//! What is kept of scripts while a page arrives: the time of publication and the URLs of comment endpoints
//! ([`ScriptHints`]), and the text of the scripts themselves, above all of those that hold the state of an application
//! ([`Scripts`]). Runs nothing and
//! reads each byte once.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

use super::NodeId;

/// Bytes kept before and after the name of the time of publication in a script.
const AROUND: (usize, usize) = (160, 120);
/// Bytes from one such place to the next: a script may name the time in its settings and again in its data.
const APART: usize = 1024;
/// Most places of 16 KB of a script that are checked; a program says "comment" everywhere.
const MAX_PLACES: usize = 240;
/// Longest way from such a place to the quote on either side, in bytes.
const MAX_SIDE: usize = 200;

/// Names of the time of publication: some sites, WeChat among them, say it nowhere else.
const PUBLICATION: [&str; 24] = [
    "publish_time",
    "publishTime",
    "publishtime",
    "publish_date",
    "publishDate",
    "publishdate",
    "published_at",
    "publishedAt",
    "publish_at",
    "pubTime",
    "pubtime",
    "pub_time",
    "pubDate",
    "pubdate",
    "pub_date",
    "releaseTime",
    "releaseDate",
    "datePublished",
    "deployDt",
    "reateTime =",
    "reateTime=",
    "ct = ",
    "ct=\"",
    "ct='",
];
/// What URLs of comments have in them.
const COMMENTS: [&str; 13] = [
    "omment", "pinglun", "gentie", "liuyan", "disqus", "changyan", "giscus", "livere", "duoshuo",
    "waline", "twikoo", "/reply", "/replies",
];

/// What a script states.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ScriptHints<'a> {
    /// The parts that name the time of publication.
    pub publications: Vec<&'a [u8]>,
    /// The quoted URLs that speak of comments, one a line.
    pub addresses: Vec<u8>,
}

/// Reads a script.
pub(super) fn read(script: &[u8]) -> ScriptHints<'_> {
    static WORDS: LazyLock<AhoCorasick> = LazyLock::new(|| {
        AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostFirst)
            .build(PUBLICATION.into_iter().chain(COMMENTS))
            .expect("few constant words")
    });
    let mut told = ScriptHints::default();
    let (mut next_publication, mut from, mut places) = (0, 0, 0);
    for found in WORDS.find_iter(script) {
        let (start, end) = (found.start(), found.end());
        if found.pattern().as_usize() < PUBLICATION.len() {
            // A name of two letters is the end of many others.
            let before = start.checked_sub(1).and_then(|at| script.get(at));
            let is_other = script.get(start) == Some(&b'c')
                && before.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
            if start >= next_publication && !is_other {
                told.publications.push(cut_around(script, start, end));
                next_publication = start + APART;
            }
        } else if places < MAX_PLACES {
            places += 1;
            if start >= from
                && let Some((start, end)) = find_quoted(script, start, end)
            {
                from = end;
                add(&script[start..end], &mut told.addresses);
            }
        }
    }
    told
}

/// The bytes around a place, cut between characters.
fn cut_around(script: &[u8], start: usize, end: usize) -> &[u8] {
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
fn find_quoted(script: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
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

/// What a URL never holds.
fn is_bound(byte: u8) -> bool {
    is_quote(byte) || byte.is_ascii_whitespace() || matches!(byte, b'<' | b'>' | b'{' | b'}' | b';')
}

/// Bytes at the beginning of a script by which it is recognised.
const HEAD: usize = 512;
/// The name that data is given is so near to the beginning of the script, in bytes.
const MAX_NAME: usize = 100;
/// Bytes kept of all data of a page: the state of a long article with its comments has some hundred thousand.
const MAX_DATA_BYTES: usize = 2 << 20;
/// Bytes kept of all other scripts: those that write a list or its pages are short.
const MAX_CODE_BYTES: usize = 256 << 10;

/// Names of data that may be behind other statements of a script.
const NAMES: [&[u8]; 7] = [
    b"_STATE",
    b"_DATA",
    b"__NUXT__",
    b"__next_f",
    b"globalContent",
    b"initialState",
    b"msg_title",
];

/// A script of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Script {
    /// Its element.
    pub(crate) node: NodeId,
    /// What is kept of it, as it is.
    pub(crate) text: String,
    /// It holds data: JSON, or JSON with a name before it.
    pub(crate) is_data: bool,
}

/// The scripts of a page while they arrive.
#[derive(Debug, Default)]
pub(super) struct Scripts {
    kept: Vec<RawScript>,
    /// Bytes that may still be kept, of code and of data.
    room: [usize; 2],
    /// The script that arrives.
    current: Option<NodeId>,
    /// Its bytes, as long as they are too few to decide.
    head: Vec<u8>,
    /// Whether it is known what the script is.
    is_decided: bool,
}

#[derive(Debug)]
struct RawScript {
    node: NodeId,
    bytes: Vec<u8>,
    is_data: bool,
}

impl Scripts {
    pub(super) fn new() -> Self {
        Self {
            room: [MAX_CODE_BYTES, MAX_DATA_BYTES],
            ..Self::default()
        }
    }

    /// The next bytes of the script `node`; `is_json` if its type says so.
    pub(super) fn add(&mut self, node: NodeId, is_json: bool, raw: &[u8]) {
        if self.current != Some(node) {
            self.settle();
            self.current = Some(node);
            self.is_decided = is_json;
            if is_json {
                self.begin(true);
            }
        }
        if self.is_decided {
            self.keep(raw);
        } else if self.head.is_empty() && raw.len() >= HEAD {
            self.decide(raw);
        } else {
            self.head.extend_from_slice(raw);
            if self.head.len() >= HEAD {
                self.settle();
            }
        }
    }

    /// All scripts have come.
    pub(super) fn finish(mut self) -> Vec<Script> {
        self.settle();
        let text = |bytes: Vec<u8>| match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        };
        let scripts = self.kept.into_iter().map(|script| Script {
            node: script.node,
            text: text(script.bytes),
            is_data: script.is_data,
        });
        scripts.collect()
    }

    fn settle(&mut self) {
        let head = std::mem::take(&mut self.head);
        if !self.is_decided && !head.is_empty() {
            self.decide(&head);
        }
    }

    fn decide(&mut self, head: &[u8]) {
        self.is_decided = true;
        self.begin(has_data(head.get(..HEAD).unwrap_or(head)));
        self.keep(head);
    }

    fn begin(&mut self, is_data: bool) {
        self.kept.extend(self.current.map(|node| RawScript {
            node,
            bytes: Vec::new(),
            is_data,
        }));
    }

    fn keep(&mut self, raw: &[u8]) {
        let Some(script) = self.kept.last_mut() else {
            return;
        };
        let room = &mut self.room[usize::from(script.is_data)];
        let taken = raw.len().min(*room);
        *room -= taken;
        script
            .bytes
            .extend_from_slice(raw.get(..taken).unwrap_or_default());
    }
}

/// Whether a script is data: JSON, percent-encoded or not; JSON that is given a name or pushed onto a list; or one that names
/// what frameworks call their state.
fn has_data(head: &[u8]) -> bool {
    let head = head.trim_ascii_start();
    let begins_data = |bytes: &[u8]| {
        let bytes = bytes.trim_ascii_start();
        let opens = [
            &b"{"[..],
            b"[",
            b"\"{",
            b"'{",
            b"%7B",
            b"%5B",
            b"JSON.parse(",
        ];
        opens.iter().any(|opens| bytes.starts_with(opens))
    };
    let named = || {
        let sign = head.iter().take(MAX_NAME).position(|b| *b == b'=')?;
        head.get(sign + 1..)
    };
    begins_data(head)
        || named().is_some_and(begins_data)
        || NAMES
            .iter()
            .any(|name| memchr::memmem::find(head, name).is_some())
}
