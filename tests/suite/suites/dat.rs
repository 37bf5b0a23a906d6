//! The file form of html5lib's suites: cases that begin with `#data`, with sections that begin with `#`.
//! In: the bytes of a file. Out: cases in order.

use std::fs;
use std::path::Path;

use crate::suites::outline::{Outline, name};

/// One case of a `.dat` file.
#[derive(Debug, Default)]
pub(super) struct Case {
    /// The page.
    pub(super) data: Vec<u8>,
    /// The other sections: name without `#`, text.
    sections: Vec<(String, String)>,
}

const SECTIONS: [&str; 8] = [
    "errors",
    "new-errors",
    "document-fragment",
    "script-off",
    "script-on",
    "document",
    "encoding",
    "about",
];

impl Case {
    pub(super) fn section(&self, name: &str) -> Option<&str> {
        self.sections
            .iter()
            .find(|(section, _)| section == name)
            .map(|(_, text)| text.as_str())
    }

    /// The tree that must come out.
    pub(super) fn outline(&self) -> Outline {
        expected(self.section("document").unwrap_or_default())
    }
}

/// The cases of a file.
pub(super) fn cases(file: &Path) -> Vec<Case> {
    let bytes = fs::read(file).expect("the file was listed");
    let mut cases: Vec<Case> = Vec::new();
    let mut in_data = false;
    for line in bytes.split(|&b| b == b'\n') {
        if line == b"#data" {
            cases.push(Case::default());
            in_data = true;
            continue;
        }
        let Some(case) = cases.last_mut() else {
            continue;
        };
        let section = line
            .strip_prefix(b"#")
            .and_then(|name| SECTIONS.iter().find(|s| s.as_bytes() == name));
        match section {
            Some(section) => {
                in_data = false;
                case.sections.push(((*section).to_owned(), String::new()));
            }
            None if in_data => {
                case.data.extend_from_slice(line);
                case.data.push(b'\n');
            }
            None => {
                if let Some((_, text)) = case.sections.last_mut() {
                    text.push_str(&String::from_utf8_lossy(line));
                    text.push('\n');
                }
            }
        }
    }
    for case in &mut cases {
        case.data.pop();
    }
    cases
}

/// The `.dat` files of a folder and of the folders in it, in order of name.
pub(super) fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "dat") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// The outline of a tree as the suites print it: `| ` and two blanks a level before each node.
fn expected(dump: &str) -> Outline {
    let mut entries: Vec<String> = Vec::new();
    for line in dump.trim_end_matches('\n').lines() {
        match line.strip_prefix("| ") {
            Some(entry) => entries.push(entry.to_owned()),
            None => {
                if let Some(entry) = entries.last_mut() {
                    entry.push('\n');
                    entry.push_str(line);
                }
            }
        }
    }
    let mut outline = Outline::default();
    // Depth in the dump and path of each open element; the contents of a template are a level of their own.
    let mut open: Vec<(usize, String)> = Vec::new();
    for entry in &entries {
        let rest = entry.trim_start_matches(' ');
        let depth = entry.len() - rest.len();
        while open.last().is_some_and(|(above, _)| *above >= depth) {
            open.pop();
        }
        let parent = open.last().map(|(_, path)| path.clone());
        if let Some(text) = rest.strip_prefix('"') {
            let text = text.trim_end().trim_end_matches('"');
            outline.text(parent.unwrap_or_default(), text);
        } else if rest == "content" {
            open.push((depth, parent.unwrap_or_default()));
        } else if let Some(element) = element_name(rest) {
            let path = match parent {
                Some(parent) => format!("{parent}.{}", name(element)),
                None => name(element).to_owned(),
            };
            outline.element(path.clone());
            open.push((depth, path));
        }
    }
    outline.finish()
}

/// The name in `<p>` or `<svg path>`; nothing for comments, doctypes, instructions and attributes.
fn element_name(entry: &str) -> Option<&str> {
    let inner = entry.strip_prefix('<')?.strip_suffix('>')?;
    if inner.starts_with(['!', '?']) {
        return None;
    }
    let local = inner
        .strip_prefix("svg ")
        .or_else(|| inner.strip_prefix("math "))
        .unwrap_or(inner);
    Some(local)
}
