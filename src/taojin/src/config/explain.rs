//! TOML as people write it. In: the text of a file. Out: the value, and every mistake in it with its line, its key, the
//! value, and an example of what may stand there. A key with a mistake counts as left out, so that the next one is
//! found as well.

use std::ops::Range;
use std::path::Path;

use serde::de::DeserializeOwned;
use toml::Table;
use toml::de::{DeTable, DeValue};

use super::limits;
use super::nearest;
use super::problem::Problem;
use super::units;

/// Mistakes of one file that are named.
const MAX_PROBLEMS: usize = 50;
/// Longest value that is shown, in characters.
const SHOWN_CHARS: usize = 60;

/// What may stand for keys that are empty or left out by default.
const EXAMPLES: &[(&str, &str)] = &[
    ("seeds", "[\"https://www.example.com/\"]"),
    ("feeds", "[\"https://www.example.com/feed.xml\"]"),
    ("sitemaps", "[\"https://www.example.com/sitemap.xml\"]"),
    ("name", "\"example\""),
    ("title", "\"西部油气网\""),
    ("lexicons", "[\"oil-gas\"]"),
    ("synonyms", "[\"oil-gas\"]"),
    ("delay_ms", "2000"),
    ("max_pages_per_cycle", "5000"),
    ("scope.hosts", "[\"www.example.com\"]"),
    ("scope.include", "[\"/news/\"]"),
    ("scope.exclude", "[\"/login\"]"),
    ("scope.documents", "[\"/film/\"]"),
    ("terms.accept_above", "0.8"),
    ("terms.lexicon", "\"terms.txt\""),
    ("fetch.robots_agent", "\"taojin\""),
    ("fetch.allow_addresses", "[\"10.0.0.0/8\"]"),
    ("fetch.hosts", "{ \"news.example\" = \"127.0.0.1:8080\" }"),
    ("fetch.proxy", "\"http://127.0.0.1:3128\""),
    ("warc.dir", "\"/var/lib/taojin/warc\""),
    ("serve.public_url", "\"https://search.example.org/\""),
    ("serve.allowed_hosts", "[\"search.example.org\"]"),
    ("serve.token_file", "\"$CREDENTIALS_DIRECTORY/token\""),
    ("serve.client_header", "\"x-forwarded-for\""),
    ("follow.name", "\"deep-sea\""),
    ("follow.title", "\"深海油气\""),
    ("follow.query", "\"深海 OR 深水\""),
    ("follow.sites", "[\"example\"]"),
    ("follow.webhook", "\"http://127.0.0.1:9000/taojin\""),
];

/// A key of a file: where it and its value stand.
pub(super) struct Entry {
    /// With the names of its sections.
    pub(super) key: String,
    name: Range<usize>,
    pub(super) value: Range<usize>,
    is_section: bool,
}

/// Reads a file. `defaults` gives the examples. Without a value the text is no TOML at all.
pub(super) fn parse<T: DeserializeOwned>(
    file: &Path,
    text: &str,
    defaults: &Table,
) -> (Option<T>, Vec<Problem>) {
    let mut rest = units::resolved(text);
    let mut problems = Vec::new();
    while problems.len() < MAX_PROBLEMS {
        let error = match toml::from_str(&rest) {
            Ok(value) => return (Some(value), problems),
            Err(error) => error,
        };
        let at = error.span().map_or(0, |span| span.start);
        let entry = entries(&rest).and_then(|all| entry_at(all, at));
        let shown = entry.as_ref().map(|e| shown(&rest, e)).unwrap_or_default();
        problems.push(Problem {
            file: Some(file.to_owned()),
            line: Some(line_at(&rest, at)),
            text: explain(error.message(), entry.as_ref(), &shown, defaults),
        });
        match entry {
            Some(entry) => leave_out(&mut rest, &entry),
            None => break,
        }
    }
    (None, problems)
}

/// The line on which a key stands; the first of its elements if it has several.
pub(super) fn line_of(text: &str, key: &str) -> Option<usize> {
    let all = entries(text)?;
    let entry = all.iter().find(|e| e.key == key)?;
    Some(line_at(text, entry.name.start))
}

/// The example of what may stand for a key: the default, where there is one.
pub(super) fn example(key: &str, defaults: &Table) -> Option<String> {
    let written = EXAMPLES.iter().find(|(k, _)| *k == key);
    if let Some((_, example)) = written {
        return Some((*example).to_owned());
    }
    let mut names = key.split('.');
    let first = defaults.get(names.next()?)?;
    let value = names.try_fold(first, |value, name| value.get(name))?;
    (!value.is_table()).then(|| value.to_string())
}

/// Keys that have an example of their own, those without a default among them.
pub(super) fn extra_keys() -> impl Iterator<Item = &'static str> {
    EXAMPLES.iter().map(|(key, _)| *key)
}

/// Every key of a text that is TOML, in the order in which they are kept.
pub(super) fn entries(text: &str) -> Option<Vec<Entry>> {
    let table = DeTable::parse(text).ok()?;
    let mut all = Vec::new();
    collect("", table.get_ref(), text, &mut all);
    Some(all)
}

fn collect(prefix: &str, table: &DeTable<'_>, text: &str, all: &mut Vec<Entry>) {
    for (name, value) in table {
        let key = match prefix {
            "" => name.get_ref().to_string(),
            _ => format!("{prefix}.{}", name.get_ref()),
        };
        let after = text.get(name.span().end..).unwrap_or_default();
        all.push(Entry {
            name: name.span(),
            value: value.span(),
            is_section: after
                .trim_start_matches([' ', '\t', '"', '\''])
                .starts_with(']'),
            key: key.clone(),
        });
        match value.get_ref() {
            DeValue::Table(section) => collect(&key, section, text, all),
            DeValue::Array(items) => {
                for section in items.iter().filter_map(|i| i.get_ref().as_table()) {
                    collect(&key, section, text, all);
                }
            }
            _ => {}
        }
    }
}

/// The innermost key that a place belongs to.
fn entry_at(all: Vec<Entry>, at: usize) -> Option<Entry> {
    let holds = |e: &Entry| e.name.contains(&at) || e.value.contains(&at);
    all.into_iter()
        .filter(holds)
        .max_by_key(|e| e.key.matches('.').count())
}

/// Takes a key, or a whole section, out of the text; lines keep their numbers.
fn leave_out(text: &mut String, entry: &Entry) {
    let range = match entry.is_section {
        false => entry.name.start..entry.value.end.max(entry.name.end),
        true => {
            let before = text.get(..entry.name.start).unwrap_or_default();
            let start = before.rfind('\n').map_or(0, |n| n + 1);
            let after = text.get(entry.name.end..).unwrap_or_default();
            let end = after.find("\n[").map_or(text.len(), |n| entry.name.end + n);
            start..end
        }
    };
    let blank = |c: char| if c == '\n' { '\n' } else { ' ' };
    let old = text.get(range.clone()).unwrap_or_default();
    let new: String = old.chars().map(blank).collect();
    text.replace_range(range, &new);
}

fn line_at(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|b| *b == b'\n').count() + 1
}

/// The value as it is written, in short; a secret is not shown.
fn shown(text: &str, entry: &Entry) -> String {
    if entry.key.ends_with("token") || entry.key.ends_with("secret") {
        return "…".to_owned();
    }
    let value = text.get(entry.value.clone()).unwrap_or_default();
    let line = value.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN_CHARS) {
        Some((cut, _)) => format!("{}…", line.get(..cut).unwrap_or_default()),
        None => line,
    }
}

/// A message of the parser as a person would say it.
fn explain(message: &str, entry: Option<&Entry>, shown: &str, defaults: &Table) -> String {
    let message = message.lines().collect::<Vec<_>>().join(" ");
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let Some(entry) = entry else {
        return format!("this is not TOML: {message}; write key = value, texts in \"quotes\"");
    };
    let key = &entry.key;
    if message.starts_with("unknown field")
        && let Some((name, known)) = quoted.split_first()
    {
        return match nearest(name, known) {
            Some(near) => format!("unknown key `{name}`; did you mean `{near}`?"),
            None => format!("unknown key `{name}`; known here: {}", known.join(", ")),
        };
    }
    let for_example = |key: &str| {
        let example = example(key, defaults);
        example.map_or(String::new(), |e| format!(", for example {e}"))
    };
    if message.starts_with("missing field") {
        let name = format!("{key}.{}", quoted.first().copied().unwrap_or_default());
        return format!("{name} is missing: write it{}", for_example(&name));
    }
    if entry.is_section || message.contains("expected struct") || message.contains("expected a map")
    {
        return format!("{key} is a section: write [{key}] on a line of its own, its keys below");
    }
    let mend = match message.rsplit_once("expected ").map(|(_, e)| e) {
        _ if message.starts_with("unknown variant") => {
            let known: Vec<String> = quoted.iter().skip(1).map(|v| format!("\"{v}\"")).collect();
            return format!("{key} = {shown}: write one of {}", known.join(", "));
        }
        Some("a boolean") => "write true or false".to_owned(),
        Some("a sequence") => "write a list in [brackets]".to_owned(),
        Some("a string" | "path string" | "a borrowed string") => {
            "write a text in \"quotes\"".to_owned()
        }
        Some("f32" | "f64") => match limits::allowed(key) {
            Some(allowed) => format!("write a number: {allowed}"),
            None => "write a number".to_owned(),
        },
        Some(kind) if is_whole(kind) => match limits::allowed(key) {
            Some(allowed) => format!("write a whole number: {allowed}{}", units::hint(key)),
            None => "write a whole number".to_owned(),
        },
        _ if message.contains("socket address") => {
            "write an address and a port in \"quotes\"".to_owned()
        }
        _ => message,
    };
    format!("{key} = {shown}: {mend}{}", for_example(key))
}

/// Whether a type's name is that of whole numbers.
fn is_whole(kind: &str) -> bool {
    kind == "usize"
        || kind
            .strip_prefix(['u', 'i'])
            .is_some_and(|bits| bits.parse::<u8>().is_ok())
}
