//! What `ARCHITECTURE.md`, the decisions and the page of papers name in backticks is there: files, tests, and other names of
//! the source.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use pulldown_cmark::{Event, Tag, TagEnd};

use super::{documents, events, inline_code, read};
use crate::support::ROOT;

/// What a path of the repository begins with.
const TOP: [&str; 10] = [
    "src/",
    "tests/",
    "config/",
    "docs/",
    "index/",
    "packaging/",
    "benches/",
    "systemd/",
    ".ci/",
    ".github/",
];
/// Directories and files whose words a document may name.
const SOURCES: [&str; 9] = [
    "src",
    "tests",
    "benches",
    "packaging",
    "config",
    "systemd",
    ".ci",
    ".cargo",
    "Cargo.toml",
];
/// Longer files are data.
const MAX_SOURCE_BYTES: u64 = 1 << 20;
const SOURCE_ENDINGS: [&str; 9] = [
    "rs", "toml", "sql", "yml", "yaml", "py", "pyi", "service", "json",
];

/// The page of papers in both languages; each has a row for each part of a paper.
const PAPERS: [&str; 2] = ["docs/papers.md", "docs/papers.zh-CN.md"];
/// Columns of a row of these: the part, what it says, where it lives, its tests, what differs and why, figures.
const WHERE: usize = 2;
const DIFFERS: usize = 4;
const COLUMNS: usize = 6;

/// The words of the source, and those that are functions.
#[derive(Debug, Default)]
struct Names {
    words: BTreeSet<String>,
    functions: BTreeSet<String>,
}

impl Names {
    fn add(&mut self, text: &str) {
        let mut is_function = false;
        for word in text.split(|c: char| !c.is_alphanumeric() && c != '_') {
            if is_function && !word.is_empty() {
                self.functions.insert(word.to_owned());
            }
            is_function = word == "fn";
            if !self.words.contains(word) {
                self.words.insert(word.to_owned());
            }
        }
    }

    fn add_files(&mut self, path: &Path) {
        if path.is_dir() {
            for entry in fs::read_dir(path).expect("a directory").flatten() {
                self.add_files(&entry.path());
            }
            return;
        }
        let is_source = match path.extension().and_then(|e| e.to_str()) {
            Some(ending) => SOURCE_ENDINGS.contains(&ending),
            // Scripts have no ending; pages of webs may have none either, and are no words of ours.
            None => ["packaging", ".ci"]
                .iter()
                .any(|folder| path.starts_with(Path::new(ROOT).join(folder))),
        };
        let is_short = path.metadata().is_ok_and(|m| m.len() < MAX_SOURCE_BYTES);
        if is_source
            && is_short
            && let Ok(text) = fs::read_to_string(path)
        {
            self.add(&text);
        }
    }
}

/// `a/{b,c}.rs` is `a/b.rs` and `a/c.rs`.
fn expand(path: &str) -> Vec<String> {
    let group = path.split_once('{').and_then(|(before, rest)| {
        let (choices, after) = rest.split_once('}')?;
        Some((before, choices, after))
    });
    match group {
        None => vec![path.to_owned()],
        Some((before, choices, after)) => {
            let choices = choices.split(',').map(str::trim);
            let paths = choices.flat_map(|choice| expand(&format!("{before}{choice}{after}")));
            paths.collect()
        }
    }
}

/// Whether a path is there; a `*` in its last part stands for anything.
fn exists(root: &Path, path: &str) -> bool {
    let Some((before, after)) = path.split_once('*') else {
        return root.join(path).exists();
    };
    let (folder, start) = before.rsplit_once('/').unwrap_or(("", before));
    let entries = fs::read_dir(root.join(folder))
        .into_iter()
        .flatten()
        .flatten();
    let mut names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.any(|name| name.starts_with(start) && name.ends_with(after))
}

/// Whether a text in backticks is one name of the source: a type, or words with `_` between them.
fn is_name(code: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let begins = code.chars().next().unwrap_or('_');
    let is_type = begins.is_ascii_uppercase() && code.chars().any(|c| c.is_ascii_lowercase());
    code.chars().all(is_word) && begins.is_ascii_alphabetic() && (is_type || code.contains('_'))
}

/// The texts in backticks in the columns of tables whose head is "test".
fn tests_of_tables(markdown: &str) -> Vec<String> {
    let (mut found, mut column, mut columns) = (Vec::new(), 0, BTreeSet::new());
    let mut is_head = false;
    for event in events(markdown) {
        match event {
            Event::Start(Tag::Table(_)) => columns.clear(),
            Event::Start(Tag::TableHead) => (is_head, column) = (true, 0),
            Event::End(TagEnd::TableHead) => is_head = false,
            Event::Start(Tag::TableRow) => column = 0,
            Event::End(TagEnd::TableCell) => column += 1,
            Event::Text(text) if is_head && matches!(&*text, "test" | "tests" | "测试") => {
                columns.insert(column);
            }
            Event::Code(code) if !is_head && columns.contains(&column) => {
                found.push(code.to_string());
            }
            // Behind a table no column is one of tests.
            Event::End(TagEnd::Table) => columns.clear(),
            _ => {}
        }
    }
    found
}

/// A cell of a table: all its text, and the texts in backticks.
#[derive(Debug, Default)]
struct Cell {
    text: String,
    codes: Vec<String>,
}

/// The rows of all tables, heads left out.
fn rows(markdown: &str) -> Vec<Vec<Cell>> {
    let (mut rows, mut is_head) = (Vec::<Vec<Cell>>::new(), false);
    for event in events(markdown) {
        let cell = rows.last_mut().and_then(|row| row.last_mut());
        match (event, cell) {
            (Event::Start(Tag::TableHead), _) => is_head = true,
            (Event::End(TagEnd::TableHead), _) => is_head = false,
            (Event::Start(Tag::TableRow), _) => rows.push(Vec::new()),
            (Event::Start(Tag::TableCell), _) if !is_head => {
                rows.last_mut().expect("in a row").push(Cell::default());
            }
            (Event::Text(text), Some(cell)) => cell.text.push_str(&text),
            (Event::Code(code), Some(cell)) => {
                cell.text.push_str(&code);
                cell.codes.push(code.to_string());
            }
            // What follows a table is in no cell.
            (Event::End(TagEnd::Table), _) => rows.push(Vec::new()),
            _ => {}
        }
    }
    rows.retain(|row| !row.is_empty());
    rows
}

/// The rows of parts of papers that name no file of the code and give no reason for that.
fn parts_without_code(rows: &[Vec<Cell>]) -> Vec<&str> {
    let mut without = Vec::new();
    for row in rows.iter().filter(|row| row.len() == COLUMNS) {
        let has_code = row[WHERE].codes.iter().any(|code| code.contains('/'));
        if !has_code && row[DIFFERS].text.trim().is_empty() {
            without.push(row[0].text.as_str());
        }
    }
    without
}

/// What a document names and the source has not.
fn missing(document: &str, markdown: &str, root: &Path, names: &Names) -> Vec<String> {
    let mut missing = Vec::new();
    let is_path = |code: &str| TOP.iter().any(|top| code.starts_with(top));
    for code in inline_code(markdown) {
        if is_path(&code) && !code.contains(' ') {
            let (path, item) = match code.split_once("::") {
                Some((path, item)) => (path, Some(item)),
                None => (code.as_str(), None),
            };
            for path in expand(path).iter().filter(|path| !exists(root, path)) {
                missing.push(format!("{document}: no file {path}"));
            }
            let name = item.map(|item| item.trim_end_matches("()"));
            let name = name.and_then(|item| item.rsplit("::").next());
            if let Some(name) = name
                && let Ok(text) = fs::read_to_string(root.join(path))
                && !text
                    .split(|c: char| !c.is_alphanumeric() && c != '_')
                    .any(|w| w == name)
            {
                missing.push(format!("{document}: no {name} in {path}"));
            }
        } else if is_name(&code) && !names.words.contains(&code) {
            missing.push(format!("{document}: no {code} in the source"));
        }
    }
    for test in tests_of_tables(markdown) {
        if !is_path(&test) && is_name(&test) && !names.functions.contains(&test) {
            missing.push(format!("{document}: no test {test}"));
        }
    }
    missing
}

#[test]
fn documents_name_what_is_there() {
    let root = Path::new(ROOT);
    let mut names = Names::default();
    for source in SOURCES {
        names.add_files(&root.join(source));
    }
    assert!(names.functions.len() > 4_000, "{}", names.functions.len());
    let documents = documents().into_iter();
    let about_source: Vec<String> = documents
        .filter(|name| {
            name == "ARCHITECTURE.md"
                || name.starts_with("docs/decisions/")
                || PAPERS.contains(&name.as_str())
        })
        .collect();
    let mut found = Vec::new();
    for document in about_source {
        found.extend(missing(&document, &read(&document), root, &names));
    }
    assert!(found.is_empty(), "not in the source:\n{}", found.join("\n"));
}

/// Each part of a paper has a file or a reason, and both languages name the same.
#[test]
fn papers_name_code_or_a_reason() {
    let [english, chinese] = PAPERS.map(|document| rows(&read(document)));
    assert!(english.len() > 30, "{} rows", english.len());
    for rows in [&english, &chinese] {
        assert_eq!(parts_without_code(rows), Vec::<&str>::new());
    }
    let codes = |rows: &[Vec<Cell>]| -> Vec<Vec<Vec<String>>> {
        let of_row = |row: &Vec<Cell>| row.iter().map(|cell| cell.codes.clone()).collect();
        rows.iter().map(of_row).collect()
    };
    assert_eq!(codes(&english), codes(&chinese));
}

#[test]
fn part_without_code_is_reported() {
    let sample = "| part | says | where | tests | what differs, and why | figure |\n|---|---|---|---|---|---|\n\
        | coded | x | `src/a.rs` | | | |\n| reasoned | x | | | nobody wants it | |\n| named | x | `word` | | | 1 |\n\n\
        | what | why |\n|---|---|\n| other | table |\n\nText with `code`.\n";
    let rows = rows(sample);
    assert_eq!(rows.len(), 4);
    assert_eq!(parts_without_code(&rows), ["named"]);
}

#[test]
fn missing_name_is_reported() {
    let sample = "`src/b.rs` `src/{b,d/e}.rs` `src/d/` `src/b.rs::known` `src/*.rs` `a_word_here` `KnownType` `plain` `[a] b_c`\n\n\
        `src/gone.rs` `src/{b,gone2}.rs` `src/b.rs::gone3` `tests/*.txt` `gone_word` `GoneType` `HTTP`\n\n\
        | what | test |\n|---|---|\n| `a_word_here` | `known`, `is_there`, `src/b.rs`, `a_word_here` |\n\n`is_there`\n";
    let root = tempfile::tempdir().expect("temporary directory");
    fs::create_dir_all(root.path().join("src/d")).expect("made");
    fs::write(root.path().join("src/b.rs"), "fn known() {}").expect("written");
    fs::write(root.path().join("src/d/e.rs"), "").expect("written");
    let mut names = Names::default();
    names.add("struct KnownType { a_word_here: u8 } fn is_there() {} async fn known() {}");
    let found = missing("A.md", sample, root.path(), &names);
    let expected = [
        "A.md: no file src/gone.rs",
        "A.md: no file src/gone2.rs",
        "A.md: no gone3 in src/b.rs",
        "A.md: no file tests/*.txt",
        "A.md: no gone_word in the source",
        "A.md: no GoneType in the source",
        "A.md: no test a_word_here",
    ];
    assert_eq!(found, expected);
}
