//! The commands that the documents show are commands of this program: each is parsed, whether a test can run it or not.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser as _};
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser as MarkdownParser, Tag, TagEnd};

use crate::cli::{Cli, search};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Splits lines of a shell into the calls of the program, without redirections and comments.
fn calls(lines: &str) -> Vec<Vec<String>> {
    let (mut calls, mut call, mut quote): (Vec<Vec<String>>, Vec<String>, Option<char>) =
        (Vec::new(), Vec::new(), None);
    let (mut word, mut is_comment, mut is_file) = (None::<String>, false, false);
    for c in lines.chars().chain(['\n']) {
        let ends = quote.is_none() && matches!(c, '\n' | '&' | '|' | ';' | '<' | '>' | ')');
        if is_comment && c != '\n' {
            continue;
        }
        if ends || quote.is_none() && c.is_whitespace() {
            if let Some(word) = word.take()
                && !std::mem::take(&mut is_file)
            {
                call.push(word);
            }
            if matches!(c, '<' | '>') {
                is_file = true;
            } else if ends {
                calls.push(std::mem::take(&mut call));
                (is_comment, is_file) = (false, false);
            }
        } else if quote == Some(c) {
            quote = None;
        } else if quote.is_none() && matches!(c, '\'' | '"') {
            quote = Some(c);
            word.get_or_insert_default();
        } else if quote.is_none() && word.is_none() && c == '#' {
            is_comment = true;
        } else {
            word.get_or_insert_default().push(c);
        }
    }
    // What stands before the name of a program.
    let is_before = |word: &&String| {
        matches!(word.as_str(), "sudo" | "exec" | "do" | "then" | "if") || word.contains('=')
    };
    let ours = calls.into_iter().filter_map(|mut call| {
        let start = call.iter().take_while(is_before).count();
        (call.get(start).is_some_and(|word| word == "taojin")).then(|| call.split_off(start))
    });
    ours.filter(|call| call.len() > 1).collect()
}

/// The lines of a document after `$ ` and `> ` in blocks of `console`, and the code within its prose.
fn shown_commands(markdown: &str) -> (Vec<String>, Vec<String>) {
    let (mut lines, mut prose, mut is_console): (Vec<String>, Vec<String>, bool) =
        (Vec::new(), Vec::new(), false);
    for event in MarkdownParser::new_ext(markdown, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(language))) => {
                is_console = &*language == "console";
            }
            Event::End(TagEnd::CodeBlock) => is_console = false,
            Event::Text(text) if is_console => {
                let shown = text.lines();
                let typed = shown.filter_map(|l| l.strip_prefix("$ ").or(l.strip_prefix("> ")));
                lines.extend(typed.map(str::to_owned));
            }
            Event::Code(code) => prose.push(code.to_string()),
            _ => {}
        }
    }
    (lines, prose)
}

fn mistake(call: &[String]) -> Option<clap::Error> {
    let words: Vec<OsString> = call.iter().map(OsString::from).collect();
    let parsed = Cli::try_parse_from(search::mark_words(&Cli::command(), words));
    parsed.err().filter(|error| error.use_stderr())
}

/// The calls of a document that the program refuses. In prose, `FILE` and `N` stand for values and `…` for more: there only
/// the names of commands and options count.
fn refused(document: &str, markdown: &str) -> Vec<String> {
    let (lines, prose) = shown_commands(markdown);
    let in_lines = calls(&lines.join("\n")).into_iter();
    let mut found: Vec<String> = in_lines
        .filter_map(|call| {
            Some(format!(
                "{document}: {}: {}",
                call.join(" "),
                mistake(&call)?
            ))
        })
        .collect();
    let is_command = |call: &Vec<String>| {
        let name = call.get(1).map_or("", String::as_str);
        name.starts_with(|c: char| c.is_ascii_lowercase() || c == '-')
    };
    let in_prose = prose.iter().flat_map(|code| calls(code));
    for call in in_prose.filter(is_command) {
        let names = call.into_iter();
        let names: Vec<String> = names
            .filter(|word| !word.contains(['[', '…', '\\']))
            .collect();
        if let Some(error) = mistake(&names)
            && matches!(
                error.kind(),
                ErrorKind::UnknownArgument | ErrorKind::InvalidSubcommand
            )
        {
            found.push(format!("{document}: `{}`: {error}", names.join(" ")));
        }
    }
    found
}

#[test]
fn commands_of_documents_parse() {
    let mut documents = vec![
        "README.md".into(),
        "README.zh-CN.md".into(),
        "packaging/README.md".into(),
    ];
    for folder in ["docs", "docs/decisions"] {
        let entries = fs::read_dir(Path::new(ROOT).join(folder))
            .into_iter()
            .flatten();
        let names = entries.flatten().map(|entry| entry.file_name());
        let names = names.filter_map(|name| name.into_string().ok());
        documents.extend(
            names
                .filter(|name| name.ends_with(".md"))
                .map(|name| format!("{folder}/{name}")),
        );
    }
    let (mut found, mut count) = (Vec::new(), 0);
    for document in documents {
        let text = fs::read_to_string(Path::new(ROOT).join(&document)).unwrap();
        count += calls(&shown_commands(&text).0.join("\n")).len();
        found.extend(refused(&document, &text));
    }
    assert!(count > 30, "only {count} commands found");
    assert!(
        found.is_empty(),
        "not commands of this program:\n{}",
        found.join("\n")
    );
}

#[test]
fn wrong_command_is_reported() {
    let text = "```console\n$ sudo taojin check && taojin status --jsn\n$ taojin search '页岩气 -招聘' > hits.txt   # --no\nout\n\
                $ taojin extract --url \"http://a.example/#x\" - < page.html | taojin import -\n$ for f in *; do\n>   taojin visit\n> done\n$ journalctl -u taojin -f\n```\n\
                `taojin crawl --site NAME [--recheck] …` `taojin crawl --sit` `taojin nothing` `taojin COMMAND --help` `cargo test -p taojin --test x` `taojin --data-dir DIR changes --since N`\n";
    let found = refused("a.md", text);
    let firsts: Vec<&str> = found
        .iter()
        .filter_map(|f| f.split(": error").next())
        .collect();
    let expected = [
        "a.md: taojin status --jsn",
        "a.md: taojin visit",
        "a.md: `taojin crawl --sit`",
        "a.md: `taojin nothing`",
    ];
    assert_eq!(firsts, expected, "{found:#?}");
}
