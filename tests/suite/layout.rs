//! What Cargo can't say about the layout of the source. Cargo keeps the edges between crates; this test keeps those between
//! the modules of a crate, and what is costly (async, threads, tantivy, lol_html, clocks) where [`CONFINED`] says.
//! Reads `src/`; changes nothing. [`sizes`] limits the sizes of types.

mod sizes;

use std::fs;
use std::path::{Path, PathBuf};

/// Which modules of its crate a module may import; a module that is not named here may import all.
const ALLOWED: &[(&str, &[&str])] = &[
    ("extract/literals", &[]),
    ("extract/times", &["literals"]),
    ("extract/page", &["literals", "times"]),
    ("extract/similarity", &["page"]),
    ("extract/template", &["page", "similarity"]),
    (
        "extract/comments",
        &["page", "similarity", "literals", "times"],
    ),
    ("search/analyze", &[]),
    ("search/terms", &["analyze"]),
    ("search/index", &["analyze"]),
    ("search/query", &["analyze", "index"]),
    ("crawl/store", &[]),
    ("crawl/schedule", &["store"]),
    ("crawl/scope", &["store", "schedule"]),
    ("crawl/frontier", &["store", "schedule", "scope"]),
    ("crawl/fetch", &["scope"]),
    ("taojin/export", &[]),
    ("taojin/config", &[]),
    ("taojin/daemon", &["config"]),
];

/// A text that may stand only in files under these prefixes.
const CONFINED: &[(&str, &[&str])] = &[
    ("lol_html::", &["extract/page/builder"]),
    ("tantivy::", &["search/index/", "search/analyze/tokenizer"]),
    ("rusqlite::", &["crawl/store/"]),
    ("parquet::", &["taojin/export/"]),
    (
        "async fn",
        &[
            "attachments/contained",
            "crawl/store/sql/",
            "crawl/fetch/",
            "serve/",
            "taojin/",
            "demo/",
        ],
    ),
    (
        "tokio::spawn",
        &["crawl/store/sql/", "taojin/daemon/", "taojin/cli/", "demo/"],
    ),
    (
        "thread::spawn",
        &["taojin/daemon/", "search/index/remote/writer"],
    ),
    ("thread::Builder", &["taojin/daemon/"]),
    ("SystemTime::now", &["taojin/", "demo/"]),
    ("Utc::now", &["serve/", "taojin/", "demo/"]),
    ("Local::now", &["taojin/", "demo/"]),
];

/// The rules that `text` breaks. `file` is relative to `src/` and without the inner `src/` of a crate.
fn violations(file: &str, text: &str) -> Vec<String> {
    if file.contains("/tests") {
        return Vec::new();
    }
    let without_tests = text.split("\n#[cfg(test)]\nmod tests {").next();
    let code: Vec<&str> = without_tests
        .unwrap_or_default()
        .lines()
        .filter(|l| !l.trim_start().starts_with("//"))
        .collect();
    let mut found = Vec::new();
    if let Some((module, allowed)) = rule(file) {
        let own = module.rsplit('/').next().unwrap_or_default();
        for import in imports(module, &code.join("\n")) {
            if import != own && !allowed.contains(&import.as_str()) {
                found.push(format!("{file}: {module} must not import {import}"));
            }
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

/// The entry of [`ALLOWED`] for a file.
fn rule(file: &str) -> Option<(&'static str, &'static [&'static str])> {
    let stands_in = |module: &str| {
        file.strip_prefix(module)
            .is_some_and(|rest| rest.starts_with(['/', '.']))
    };
    ALLOWED
        .iter()
        .find(|(module, _)| stands_in(module))
        .copied()
}

/// Modules of the crate that the code names as `crate::x` or inside `use crate::{x::…, y}`, as far as the table
/// knows them.
fn imports(module: &str, code: &str) -> Vec<String> {
    let of_crate = module.split('/').next().unwrap_or_default();
    let is_known = |name: &String| {
        let full = format!("{of_crate}/{name}");
        ALLOWED.iter().any(|(known, _)| *known == full)
    };
    let mut found = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = code.get(at + "crate::".len()..).unwrap_or_default();
        let names: Vec<String> = match rest.strip_prefix('{') {
            Some(group) => top_level_names(group),
            None => vec![first_word(rest)],
        };
        found.extend(names.into_iter().filter(is_known));
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
    let root = Path::new(crate::support::ROOT).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    assert!(files.len() > 300, "only {} source files found", files.len());
    for (module, _) in ALLOWED {
        let (of_crate, name) = module.split_once('/').expect("crate/module");
        let folder = root.join(of_crate).join("src").join(name);
        assert!(folder.is_dir(), "{module} is gone: mend the table");
    }
    let mut found = Vec::new();
    for path in files {
        let name = path
            .strip_prefix(&root)
            .expect("below src")
            .to_string_lossy()
            .replacen("/src/", "/", 1);
        let text = fs::read_to_string(&path).expect("source is UTF-8");
        found.extend(violations(&name, &text));
    }
    assert!(found.is_empty(), "forbidden:\n{}", found.join("\n"));
}

#[test]
fn forbidden_import_is_reported() {
    let bad = [
        ("extract/page/walk.rs", "use crate::template::Guide;"),
        ("extract/page/walk.rs", "fn f() { crate::comments::find() }"),
        (
            "crawl/frontier/queue.rs",
            "use crate::{\n    store::{Store, UrlId},\n    fetch,\n};",
        ),
        ("taojin/config/mod.rs", "use crate::daemon::Clock;"),
        ("extract/fields/title.rs", "use lol_html::HtmlRewriter;"),
        ("serve/api/mod.rs", "use tantivy::Index;"),
        ("crawl/schedule/cron.rs", "async fn wait() {}"),
        ("search/index/writer.rs", "std::thread::spawn(|| ());"),
        ("crawl/frontier/mod.rs", "let now = SystemTime::now();"),
        ("extract/date/mod.rs", "let now = chrono::Utc::now();"),
    ];
    for (file, text) in bad {
        assert!(
            !violations(file, text).is_empty(),
            "{file}: {text} should be refused"
        );
    }
}
