//! The layout of the source: imports point one way, and what is dear (async, tantivy, lol_html, threads) stays
//! where ARCHITECTURE.md says it is. Reads `src/`; changes nothing.

use std::fs;
use std::path::{Path, PathBuf};

/// Which modules a module may import besides itself.
const ALLOWED: &[(&str, &[&str])] = &[
    ("uri", &[]),
    ("literals", &[]),
    ("analyze", &[]),
    ("terms", &["analyze"]),
    ("page", &["uri", "literals"]),
    ("store", &["uri"]),
    ("similarity", &["page"]),
    ("comments", &["page", "similarity", "literals"]),
    ("template", &["page", "similarity"]),
    (
        "extract",
        &["uri", "page", "template", "comments", "analyze", "literals"],
    ),
    ("schedule", &["uri", "store"]),
    ("frontier", &["uri", "store"]),
    ("fetch", &["uri"]),
    ("index", &["uri", "extract", "analyze", "similarity"]),
    ("serve", &["extract", "index", "store", "analyze"]),
    ("export", &["extract", "index"]),
    (
        "eval",
        &[
            "uri",
            "page",
            "similarity",
            "template",
            "comments",
            "extract",
            "analyze",
            "terms",
        ],
    ),
    (
        "config",
        &[
            "uri", "page", "extract", "template", "analyze", "schedule", "frontier", "fetch",
            "index", "serve", "terms",
        ],
    ),
    ("daemon", ANY),
    ("demo", ANY),
    ("cli", ANY),
    ("lib", ANY),
    ("main", &["cli"]),
];

const ANY: &[&str] = &["*"];

/// A text that may stand only in files under these prefixes.
const CONFINED: &[(&str, &[&str])] = &[
    ("lol_html::", &["page/builder"]),
    ("tantivy::", &["index/", "analyze/tokenizer"]),
    ("rusqlite::", &["store/"]),
    ("parquet::", &["export/"]),
    (
        "async fn",
        &["fetch/", "serve/", "daemon/", "demo/", "cli/"],
    ),
    ("tokio::spawn", &["daemon/", "demo/", "cli/"]),
    ("thread::spawn", &["daemon/"]),
    ("thread::Builder", &["daemon/"]),
    ("SystemTime::now", &["daemon/", "cli/", "demo/", "serve/"]),
];

/// The rules that `text`, the source at `file` (relative to `src/`), breaks.
fn violations(file: &str, text: &str) -> Vec<String> {
    let module = file
        .split('/')
        .next()
        .unwrap_or_default()
        .trim_end_matches(".rs");
    if file.contains("/tests") || file.ends_with("tests.rs") {
        return Vec::new();
    }
    let Some((_, allowed)) = ALLOWED.iter().find(|(name, _)| *name == module) else {
        return vec![format!(
            "{file}: module {module} is not in the table of this test"
        )];
    };
    let mut found = Vec::new();
    let code: Vec<&str> = text
        .lines()
        .filter(|l| !l.trim_start().starts_with("//"))
        .collect();
    for import in imports(&code.join("\n")) {
        let fine = import == module || *allowed == ANY || allowed.contains(&import.as_str());
        if !fine {
            found.push(format!("{file}: {module} must not import {import}"));
        }
    }
    for (needle, places) in CONFINED {
        let here = places.iter().any(|p| file.starts_with(p));
        if !here && code.iter().any(|l| l.contains(needle)) {
            found.push(format!(
                "{file}: `{needle}` is allowed only in {}",
                places.join(", ")
            ));
        }
    }
    found
}

/// Top-level modules of the crate that the code names, as `crate::x` or inside `use crate::{x::…, y}`.
fn imports(code: &str) -> Vec<String> {
    let known: Vec<&str> = ALLOWED.iter().map(|(name, _)| *name).collect();
    let mut found = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = code.get(at + "crate::".len()..).unwrap_or_default();
        let names: Vec<String> = match rest.strip_prefix('{') {
            Some(group) => top_level_names(group),
            None => vec![first_word(rest)],
        };
        found.extend(names.into_iter().filter(|n| known.contains(&n.as_str())));
    }
    found.sort();
    found.dedup();
    found
}

/// Names at the first level of a `{…}` group.
fn top_level_names(group: &str) -> Vec<String> {
    let (mut depth, mut names, mut start) = (0usize, Vec::new(), true);
    for (i, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => start = true,
            c if start && depth == 0 && c.is_alphabetic() => {
                names.push(first_word(group.get(i..).unwrap_or_default()));
                start = false;
            }
            _ => {}
        }
    }
    names
}

fn first_word(text: &str) -> String {
    text.chars()
        .take_while(|c| c.is_alphanumeric() || *c == '_')
        .collect()
}

fn sources(dir: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).expect("src can be read").flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, into);
        } else if path.extension().is_some_and(|e| e == "rs") {
            into.push(path);
        }
    }
}

#[test]
fn imports_point_one_way() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    assert!(files.len() > 30, "only {} source files found", files.len());
    let mut found = Vec::new();
    for path in files {
        let name = path
            .strip_prefix(&root)
            .expect("below src")
            .to_string_lossy()
            .replace('\\', "/");
        found.extend(violations(
            &name,
            &fs::read_to_string(&path).expect("source is UTF-8"),
        ));
    }
    assert!(found.is_empty(), "forbidden edges:\n{}", found.join("\n"));
}

#[test]
fn a_forbidden_import_is_found() {
    let bad = [
        ("page/walk.rs", "use crate::extract::Document;"),
        ("page/walk.rs", "fn f() { crate::store::open() }"),
        (
            "frontier/queue.rs",
            "use crate::{uri::CrawlUri, fetch::Fetcher};",
        ),
        (
            "frontier/queue.rs",
            "use crate::{\n    uri::{CrawlUri, Hash},\n    index,\n};",
        ),
        ("extract/title.rs", "use lol_html::HtmlRewriter;"),
        ("serve/api.rs", "use tantivy::Index;"),
        ("schedule/cron.rs", "async fn wait() {}"),
        ("index/writer.rs", "std::thread::spawn(|| ());"),
        ("frontier/mod.rs", "let now = SystemTime::now();"),
        ("unheard_of/mod.rs", ""),
    ];
    for (file, text) in bad {
        assert!(
            !violations(file, text).is_empty(),
            "{file}: {text} should be refused"
        );
    }
}

#[test]
fn an_allowed_import_is_left_alone() {
    let good = [
        (
            "page/walk.rs",
            "use crate::uri::CrawlUri;\nuse crate::page::Node;",
        ),
        ("page/walk.rs", "// crate::extract does that\n"),
        (
            "index/writer.rs",
            "use crate::{analyze::Analyzer, extract::Document};\nuse tantivy::Index;",
        ),
        (
            "daemon/mod.rs",
            "use crate::serve;\nstd::thread::spawn(|| ());",
        ),
    ];
    for (file, text) in good {
        assert_eq!(
            violations(file, text),
            Vec::<String>::new(),
            "{file}: {text}"
        );
    }
}
