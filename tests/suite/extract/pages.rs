//! Hand-made pages, each about one thing that goes wrong on the web: what comes out against what must.
//!
//! `tests/pages/x.html` holds the bytes as a server would send them, `x.expected.json` what the case pins:
//! - `about`: the point, in a sentence.
//! - `url`, `header_charset`, `robots_header`: what is known of the page besides its bytes.
//! - any field of the JSON form of a document: it must be equal; null means that there must be none.
//! - `text_contains`, `text_lacks`: the text has, or has not, each of these.
//! - `links_kind`: address → kind; null means that it must not be among the links.
//! - `known_gap`: key → why it is not met yet. Such a key must still fail: a mended gap is taken out.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value};
use similar::{Algorithm, capture_diff_slices};
use taojin_extract::page::{Builder, Hints, Page};
use taojin_extract::{Context, Document, extract};
use taojin_uri::CrawlUri;

/// 2026-11-20 10:00 in China.
const NOW_MS: i64 = 1_795_140_000_000;
/// Fewest cases.
const CASES: usize = 253;
/// Most gaps; the number only ever goes down.
const GAPS: usize = 0;
/// Fields of a document that a case may pin.
const FIELDS: [&str; 17] = [
    "meta",
    "attachments",
    "images",
    "comment_endpoints",
    "canonical",
    "title",
    "published",
    "author",
    "source",
    "text",
    "comments",
    "kind",
    "charset",
    "language",
    "noindex",
    "nofollow",
    "links",
];

#[derive(Debug, Deserialize)]
struct Case {
    about: String,
    url: String,
    header_charset: Option<String>,
    robots_header: Option<String>,
    #[serde(default)]
    known_gap: BTreeMap<String, String>,
    #[serde(default)]
    text_contains: Vec<String>,
    #[serde(default)]
    text_lacks: Vec<String>,
    #[serde(default)]
    links_kind: BTreeMap<String, Option<String>>,
    #[serde(flatten)]
    fields: Map<String, Value>,
}

impl Case {
    fn hints(&self) -> Hints {
        Hints {
            url: Some(CrawlUri::parse(&self.url).expect("a case has a good address")),
            charset: self.header_charset.clone(),
            ..Hints::default()
        }
    }

    fn document(&self, page: &Page) -> Document {
        let context = Context {
            now_ms: Some(NOW_MS),
            robots_header: self.robots_header.as_deref(),
            ..Context::default()
        };
        extract(page, &context)
    }

    /// The keys that are not met, each with what came instead.
    fn faults(&self, document: &Document) -> BTreeMap<String, String> {
        let came = serde_json::to_value(document).expect("a document is JSON");
        let mut out = BTreeMap::new();
        for (key, expected) in &self.fields {
            let value = came.get(key).cloned().unwrap_or(match expected {
                Value::Bool(_) => Value::Bool(false),
                _ => Value::Null,
            });
            if value != *expected {
                out.insert(key.clone(), difference(expected, &value));
            }
        }
        let mut lists: BTreeMap<&str, String> = BTreeMap::new();
        for piece in &self.text_contains {
            if !document.text.contains(piece) {
                let _ = writeln!(lists.entry("text_contains").or_default(), "    - {piece}");
            }
        }
        for piece in &self.text_lacks {
            if document.text.contains(piece) {
                let _ = writeln!(lists.entry("text_lacks").or_default(), "    + {piece}");
            }
        }
        for (url, expected) in &self.links_kind {
            let link = document.links.iter().find(|link| link.url == *url);
            let kind = link.map(|link| format!("{:?}", link.kind).to_lowercase());
            if kind != *expected {
                let _ = writeln!(
                    lists.entry("links_kind").or_default(),
                    "    {url}: {kind:?} instead of {expected:?}"
                );
            }
        }
        for (key, mut text) in lists {
            if key.starts_with("text") {
                let _ = write!(
                    text,
                    "    the text is:\n{}",
                    indented("      ", &document.text)
                );
            }
            out.insert(key.to_owned(), text);
        }
        out
    }
}

fn indented(before: &str, text: &str) -> String {
    text.lines()
        .map(|line| format!("{before}{line}\n"))
        .collect()
}

/// What was expected and what came; of texts line by line.
fn difference(expected: &Value, came: &Value) -> String {
    match (expected, came) {
        (Value::String(a), Value::String(b)) if a.contains('\n') || b.contains('\n') => {
            let (a, b): (Vec<&str>, Vec<&str>) = (a.lines().collect(), b.lines().collect());
            let ops = capture_diff_slices(Algorithm::Myers, &a, &b);
            let changes = ops.iter().flat_map(|op| op.iter_changes(&a, &b));
            let shown = changes.map(|c| format!("    {} {}\n", c.tag(), c.value()));
            shown.collect()
        }
        _ => format!("    - {expected}\n    + {came}\n"),
    }
}

fn folder() -> PathBuf {
    Path::new(crate::support::ROOT).join("tests/pages")
}

/// Name, case and bytes of every page, in order of name.
fn cases() -> Vec<(String, Case, Vec<u8>)> {
    let mut names: Vec<String> = fs::read_dir(folder())
        .expect("the folder is there")
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            name.strip_suffix(".html").map(str::to_owned)
        })
        .collect();
    names.sort();
    names
        .into_iter()
        .map(|name| {
            let json = fs::read_to_string(folder().join(format!("{name}.expected.json")))
                .unwrap_or_else(|e| panic!("{name} has no expectation: {e}"));
            let case = serde_json::from_str(&json).unwrap_or_else(|e| panic!("{name}: {e}"));
            let bytes = fs::read(folder().join(format!("{name}.html"))).expect("just listed");
            (name, case, bytes)
        })
        .collect()
}

#[test]
fn page_cases() {
    let mut report = String::new();
    let mut gaps = String::new();
    let cases = cases();
    for (name, case, bytes) in &cases {
        let document = case.document(&Page::parse(bytes, case.hints()));
        let mut faults = case.faults(&document);
        for (key, why) in &case.known_gap {
            match faults.remove(key) {
                Some(_) => {
                    let _ = writeln!(gaps, "  {name} {key}: {why}");
                }
                None => {
                    let _ = writeln!(report, "{name}: {key} is right now, so it is no known gap");
                }
            }
        }
        for (key, fault) in faults {
            let _ = write!(report, "{name}: {key} ({})\n{fault}", case.about);
        }
    }
    let count = gaps.lines().count();
    if count != GAPS {
        let _ = writeln!(report, "{count} known gaps, {GAPS} are counted");
    }
    assert!(report.is_empty(), "\n{report}\nknown gaps:\n{gaps}");
}

#[test]
fn page_cases_are_complete() {
    let cases = cases();
    assert!(cases.len() >= CASES, "only {} cases", cases.len());
    for (name, case, _) in &cases {
        for key in case.fields.keys() {
            assert!(FIELDS.contains(&key.as_str()), "{name}: unknown key {key}");
        }
        let keys = case.fields.len()
            + case.text_contains.len()
            + case.text_lacks.len()
            + case.links_kind.len();
        assert!(keys > 0, "{name} pins nothing");
        assert!(
            !case.about.is_empty(),
            "{name} does not say what it is about"
        );
    }
    let expectations = fs::read_dir(folder())
        .expect("the folder is there")
        .flatten()
        .filter(|entry| entry.path().extension().is_some_and(|e| e == "json"))
        .count();
    assert_eq!(expectations, cases.len(), "an expectation without a page");
}

#[test]
fn page_is_independent_of_pieces() {
    for (name, case, bytes) in &cases() {
        let whole = Page::parse(bytes, case.hints());
        let document = case.document(&whole);
        for sizes in [&[1][..], &[2], &[3, 1, 7, 2], &[61, 1, 1021], &[4096, 5]] {
            let mut builder = Builder::new(case.hints());
            let (mut rest, mut turn) = (&bytes[..], 0);
            while !rest.is_empty() {
                let (piece, after) = rest.split_at(sizes[turn % sizes.len()].min(rest.len()));
                builder.feed(piece);
                builder.feed(&[]);
                (rest, turn) = (after, turn + 1);
            }
            let page = builder.finish();
            assert_eq!(
                case.document(&page),
                document,
                "{name} in pieces of {sizes:?}"
            );
            assert!(page == whole, "{name} in pieces of {sizes:?}");
        }
    }
}
