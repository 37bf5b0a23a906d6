//! The documents of the repository: their links, their sizes, what they name of the source, and the commands they show.

mod baseline;
mod commands;
mod links;
mod references;
mod sizes;

use std::fs;
use std::path::{Path, PathBuf};

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use crate::support::ROOT;

/// Directories without documents of ours: what is built, what git keeps, pages as tests, what editors keep.
const SKIPPED: [&str; 4] = ["target", ".git", "tests/pages", "node_modules"];

/// Returns all Markdown files of the repository, by their paths from its top.
fn documents() -> Vec<String> {
    let mut files = Vec::new();
    add_documents(Path::new(ROOT), Path::new(""), &mut files);
    files.sort();
    assert!(files.contains(&"README.md".to_owned()), "{files:?}");
    files
}

fn add_documents(root: &Path, below: &Path, files: &mut Vec<String>) {
    let entries = fs::read_dir(root.join(below)).expect("a directory");
    for entry in entries.flatten() {
        let path: PathBuf = below.join(entry.file_name());
        let name = path.to_string_lossy().into_owned();
        let kind = entry.file_type().expect("a kind");
        if kind.is_dir() && !SKIPPED.contains(&name.as_str()) {
            add_documents(root, &path, files);
        } else if kind.is_file() && name.ends_with(".md") {
            files.push(name);
        }
    }
}

fn read(document: &str) -> String {
    let text = fs::read_to_string(Path::new(ROOT).join(document));
    text.unwrap_or_else(|e| panic!("{document}: {e}"))
}

fn events(markdown: &str) -> Parser<'_> {
    Parser::new_ext(markdown, Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES)
}

/// A fenced block of code: its language and its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CodeBlock {
    pub(crate) language: String,
    pub(crate) text: String,
}

pub(crate) fn code_blocks(markdown: &str) -> Vec<CodeBlock> {
    let mut blocks = Vec::new();
    let mut open: Option<CodeBlock> = None;
    for event in events(markdown) {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(language))) => {
                let (language, text) = (language.to_string(), String::new());
                open = Some(CodeBlock { language, text });
            }
            Event::Text(part) => {
                if let Some(block) = &mut open {
                    block.text += &part;
                }
            }
            Event::End(TagEnd::CodeBlock) => blocks.extend(open.take()),
            _ => {}
        }
    }
    blocks
}

/// Returns the texts in backticks.
fn inline_code(markdown: &str) -> Vec<String> {
    let code = events(markdown).filter_map(|event| match event {
        Event::Code(code) => Some(code.to_string()),
        _ => None,
    });
    code.collect()
}
