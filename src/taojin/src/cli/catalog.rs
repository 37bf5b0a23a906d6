//! Words errors and warnings for the terminal in Chinese, by a catalogue as gettext has one.
//!
//! Messages are made in English; `text/errors.zh.txt` has pairs of an English message and its Chinese one. Only words depend
//! on it: exit codes and repairs go by types. What a type says in both languages is no entry. A message that no entry fits stays
//! English.
//!
//! A place is named by a digit (`{1}`) if it holds a value, which stays as it is, and by a letter if it holds a message: a small
//! one if that may be anything else as well, a capital one if the entry fits only with a message or nothing there, and `E` if
//! that is the end of one, such as a hint.

use std::sync::LazyLock;

use crate::daemon::reason_in_chinese;
use taojin_crawl::frontier::Cause;
use taojin_crawl::scope::Refusal;

/// A message holds values from outside, so it is taken apart in so many steps at most; a real one takes a tenth. This bounds
/// the depth of the recursion as well.
const MAX_STEPS: usize = 600;
/// To search so much text counts as a step.
const STEP_BYTES: usize = 4096;

static CATALOG: LazyLock<Catalog> =
    LazyLock::new(|| Catalog::parse(include_str!("text/errors.zh.txt")));

/// Returns the message in Chinese, or `None` if the catalogue does not have it.
pub(super) fn translate(message: &str) -> Option<String> {
    let mut steps = MAX_STEPS;
    CATALOG.translate(message, false, &mut steps)
}

/// The Chinese words of a type whose English ones these are.
fn words_of_types(text: &str) -> Option<String> {
    let refusal = Refusal::ALL.into_iter().find(|r| r.describe() == text);
    let refusal = refusal.map(Refusal::describe_in_chinese);
    let cause = || Cause::parse(text).map(|cause| cause.in_chinese().to_owned());
    refusal.or_else(cause).or_else(|| reason_in_chinese(text))
}

/// A piece of an entry.
#[derive(Debug, Clone, Copy)]
enum Part {
    Text(&'static str),
    Place(char),
}

/// A message in both languages.
#[derive(Debug)]
struct Entry {
    english: Vec<Part>,
    chinese: Vec<Part>,
}

/// All entries, those with the longest fixed text first.
#[derive(Debug)]
struct Catalog {
    entries: Vec<Entry>,
}

impl Catalog {
    /// Reads pairs of lines; empty lines and those that begin with `#` are skipped.
    fn parse(text: &'static str) -> Self {
        let mut lines = text
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'));
        let mut entries = Vec::new();
        while let (Some(english), Some(chinese)) = (lines.next(), lines.next()) {
            entries.push(Entry {
                english: parts(english),
                chinese: parts(chinese.trim_start()),
            });
        }
        entries.sort_by_key(|entry| {
            std::cmp::Reverse(fixed(&entry.english).map(str::len).sum::<usize>())
        });
        Self { entries }
    }

    /// Translates a whole message, or only what can be the end of one: it begins with fixed text.
    fn translate(&self, message: &str, is_end: bool, steps: &mut usize) -> Option<String> {
        *steps = steps.checked_sub(message.len() / STEP_BYTES)?;
        if let Some(known) = words_of_types(message) {
            return Some(known);
        }
        self.entries.iter().find_map(|entry| {
            let is_value_first = matches!(entry.english.first(), Some(Part::Place(_)));
            if is_end && is_value_first || !fixed(&entry.english).all(|text| message.contains(text))
            {
                return None;
            }
            let values = self.fit(&entry.english, message, steps)?;
            let words = |part: &Part| match part {
                Part::Text(text) => (*text).to_owned(),
                Part::Place(name) => values
                    .iter()
                    .find(|(of, _)| of == name)
                    .map_or(String::new(), |(_, value)| value.clone()),
            };
            Some(entry.chinese.iter().map(words).collect())
        })
    }

    /// Returns what is in the places if the text consists of these parts. The first fit counts, with short values first.
    fn fit(&self, parts: &[Part], text: &str, steps: &mut usize) -> Option<Vec<(char, String)>> {
        *steps = steps.checked_sub(1)?;
        match parts {
            [] => text.is_empty().then(Vec::new),
            [Part::Text(fixed), rest @ ..] => self.fit(rest, text.strip_prefix(fixed)?, steps),
            [Part::Place(name)]
                if name.is_ascii_digit() && ends_before(text, ": ", true).next().is_some() =>
            {
                None
            }
            [Part::Place(name)] => Some(vec![(*name, self.value(*name, text, steps)?)]),
            [Part::Place(name), rest @ ..] => {
                let next = match rest.first() {
                    Some(Part::Text(next)) => next,
                    _ => "",
                };
                let is_message = !name.is_ascii_digit();
                ends_before(text, next, is_message).find_map(|end| {
                    let (value, behind) = text.split_at_checked(end)?;
                    let mut values = self.fit(rest, behind, steps)?;
                    values.push((*name, self.value(*name, value, steps)?));
                    Some(values)
                })
            }
        }
    }

    /// Returns what a place shows in Chinese, or `None` if nothing of the kind can be there.
    fn value(&self, name: char, text: &str, steps: &mut usize) -> Option<String> {
        if name.is_ascii_digit() {
            return (!text.is_empty()).then(|| text.to_owned());
        }
        if text.is_empty() {
            return Some(String::new());
        }
        let translated = self.translate(text, name == 'E', steps);
        translated.or_else(|| name.is_ascii_lowercase().then(|| text.to_owned()))
    }
}

/// A line of the catalogue in pieces.
fn parts(line: &'static str) -> Vec<Part> {
    let mut parts = Vec::new();
    for piece in line.split_inclusive('}') {
        let (text, place) = piece.split_once('{').unwrap_or((piece, ""));
        parts.extend((!text.is_empty()).then_some(Part::Text(text)));
        parts.extend(place.chars().next().map(Part::Place));
    }
    parts
}

fn fixed(parts: &[Part]) -> impl Iterator<Item = &'static str> {
    parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(*text),
        Part::Place(_) => None,
    })
}

/// Returns where the text of a place may end: before `next`, and not inside of quotes, in which a value may say anything.
/// What precedes `: ` is a value of its own, so only a message goes on behind it.
fn ends_before(text: &str, next: &str, is_message: bool) -> impl Iterator<Item = usize> {
    let (mut is_quoted, mut before) = (false, ' ');
    let mut inside = text.char_indices();
    let ends = std::iter::from_fn(move || {
        for (at, c) in inside.by_ref() {
            let behind = text.get(at..)?;
            let is_end = !is_quoted && behind.starts_with(next);
            if !is_message && !is_quoted && !next.starts_with(": ") && behind.starts_with(": ") {
                inside = "".char_indices();
                return None;
            }
            match (c, before) {
                // Escaped, or named as a mark.
                ('"', '\\' | '`') => {}
                ('"', _) => is_quoted = !is_quoted,
                // What is too long to be shown ends so.
                ('…', _) => is_quoted = false,
                _ => {}
            }
            before = if (c, before) == ('\\', '\\') { ' ' } else { c };
            if is_end {
                return Some(at);
            }
        }
        None
    });
    ends.chain(next.is_empty().then_some(text.len()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::io::Error;
    use std::net::ToSocketAddrs as _;
    use std::path::Path;

    use super::*;

    /// The texts of the sources below a folder, as they are when they run.
    fn sources(folder: &Path, texts: &mut String) {
        for entry in fs::read_dir(folder).expect("a folder of sources") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                sources(&path, texts);
            } else if path.extension().is_some_and(|e| e == "rs") && !path.ends_with(file!()) {
                let text = fs::read_to_string(&path).expect("a source");
                let mut lines = text.split("\\\n");
                texts.push_str(lines.next().unwrap_or_default());
                lines.for_each(|line| texts.push_str(line.trim_start()));
            }
        }
    }

    /// What the tags of a template show or ask, by the last name of each path: `t.s.documents` is `documents`. A text that is
    /// there in both languages counts once.
    fn shown(template: &str) -> BTreeSet<String> {
        let between = |open: &'static str, close: &'static str| {
            let tags = template.split(open).skip(1);
            tags.filter_map(move |rest| rest.split(close).next())
        };
        let mut names = BTreeSet::new();
        for tag in between("{{", "}}").chain(between("{%", "%}")) {
            let code: Vec<&str> = tag.split('"').step_by(2).collect();
            let code = code.join(" ");
            let paths = code.split(|c: char| !c.is_alphanumeric() && !"_.:".contains(c));
            let fields = paths.filter_map(|path| path.rsplit_once(['.', ':']));
            names.extend(fields.map(|(_, name)| name.trim_end_matches("_zh").to_owned()));
        }
        names.remove("");
        names
    }

    /// By these a template words what a type says; the other language may do so in another way.
    const WORDING: [&str; 11] = [
        "change",
        "class_in_chinese",
        "describe",
        "field",
        "in_chinese",
        "level",
        "localized",
        "name",
        "outcome",
        "state_in_chinese",
        "zh",
    ];

    /// A person who reads Chinese is told the same.
    #[test]
    fn templates_show_the_same_fields() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/cli/text");
        let read = |name: &str| fs::read_to_string(folder.join(name)).expect("a template");
        let mut pairs = 0;
        for entry in fs::read_dir(&folder).expect("a folder of templates") {
            let name = entry.expect("an entry").file_name();
            let name = name.to_str().expect("UTF-8");
            let Some(stem) = name
                .strip_suffix(".zh.txt")
                .filter(|stem| *stem != "errors")
            else {
                continue;
            };
            let (english, chinese) = (read(&format!("{stem}.txt")), read(name));
            let lacks = |names: BTreeSet<String>, other: &str| {
                let names = names.into_iter();
                // A field of the template's own type has no path in the English one.
                let lacking = names.filter(|name| {
                    !other.contains(name.as_str()) && !WORDING.contains(&name.as_str())
                });
                lacking.collect::<Vec<_>>()
            };
            assert_eq!(
                lacks(shown(&english), &chinese),
                [""; 0],
                "{name} lacks these"
            );
            assert_eq!(
                lacks(shown(&chinese), &english),
                [""; 0],
                "{stem}.txt lacks these"
            );
            pairs += 1;
        }
        assert!(pairs > 10, "{pairs} templates in both languages");
    }

    /// An English text that changes leaves its entry without use.
    #[test]
    fn entries_have_messages() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut known = String::new();
        sources(&root.join("src"), &mut known);
        known = known.replace("\\\"", "\"");
        let mistakes = fs::read_to_string(root.join("tests/config-mistakes.json"));
        known.push_str(&mistakes.expect("mistakes").replace("\\\"", "\""));
        let of_system = [2, 13, 17, 20, 21, 28, 30, 98, 99, 111].map(Error::from_raw_os_error);
        known.extend(of_system.map(|error| error.to_string()));
        known.extend(["proxy", "dns", "search", "robots"].map(|step| format!("{step:<14} ")));
        known.extend(["x", "", "999"].map(|n| n.parse::<u8>().expect_err("a mistake").to_string()));
        let unknown_host = ("..", 0).to_socket_addrs().expect_err("no such host");
        known.push_str(&unknown_host.to_string());
        // What clap, glibc, std and SQLite say.
        known.push_str(
            "0 is not in 2..=20, Name or service not known, Temporary failure in name resolution, \
             stream did not contain valid UTF-8, file is not a database, database disk image is malformed",
        );
        let missing: Vec<&str> = CATALOG
            .entries
            .iter()
            .flat_map(|entry| fixed(&entry.english))
            .flat_map(|text| text.split("; ").flat_map(|text| text.split(": ")))
            .filter(|text| !known.contains(text))
            .collect();
        assert!(missing.is_empty(), "not said by the program: {missing:#?}");
    }

    /// Both sides of an entry have the same places, and no English is left in a Chinese one by mistake.
    #[test]
    fn entries_keep_places() {
        let places = |parts: &[Part]| {
            let names = parts.iter().filter_map(|part| match part {
                Part::Place(name) => Some(*name),
                Part::Text(_) => None,
            });
            let mut names: Vec<char> = names.collect();
            names.sort_unstable();
            names
        };
        for entry in &CATALOG.entries {
            assert_eq!(places(&entry.english), places(&entry.chinese), "{entry:?}");
        }
    }

    #[test]
    fn translate_engine_trouble() {
        let place = "the search index at http://a:9200,http://b:9200/oil-v3: ";
        let place_zh = "搜索索引 http://a:9200,http://b:9200/oil-v3：";
        for (english, chinese) in [
            (
                "no connection to http://a:9200: Connection refused (os error 111) (since 2026-11-29 08:00:00); \
                 no answer from http://b:9200 within 1 s; is it running, and is search.url right?",
                "无法连接 http://a:9200：连接被拒绝（自 2026-11-29 08:00:00 起）；\
                 http://b:9200 在 1 秒内没有响应；搜索引擎是否在运行？search.url 是否正确？",
            ),
            (
                "http://a:9200 speaks TLS only (since 2026-11-29 08:00:00); write https:// in search.url",
                "http://a:9200 只接受 TLS（自 2026-11-29 08:00:00 起）；请在 search.url 中写 https://",
            ),
            (
                "the answer of http://a:9200 is no JSON: is search.url the address of OpenSearch?",
                "http://a:9200 的响应不是 JSON：search.url 是不是 OpenSearch 的地址？",
            ),
            (
                "it is starting and has not read its indexes yet: wait a while; x: y",
                "正在启动，还没有读入索引：请稍候；x: y",
            ),
        ] {
            let translated = translate(&format!("{place}{english}"));
            assert_eq!(translated, Some(format!("{place_zh}{chinese}")));
        }
    }

    #[test]
    fn translate_keeps_values() {
        let long = "油".repeat(100_000);
        assert_eq!(
            translate("x: judged to be a list page").as_deref(),
            Some("x: 判断为列表页")
        );
        let hostile = [
            "{1} {A} {} }{",
            "a: b: c: d",
            "use 1 or more",
            "x: there is no such file: use 1 or more, for example 3",
            "a\u{7}\u{1b}[31m",
            &long,
        ];
        for value in hostile {
            for (english, chinese) in [
                (
                    format!(
                        "x.toml line 3: title = {value:?}: use one line of 100 characters at most, for example 油"
                    ),
                    format!(
                        "x.toml 第 3 行: title = {value:?}: 只能有一行，最多 100 个字符，例如 油"
                    ),
                ),
                (
                    format!("{value}: no enabled site has this name; did you mean x?"),
                    format!("{value}: 没有叫这个名称且已启用的站点；是不是 x？"),
                ),
                (
                    format!(
                        "no crawl data at {value}: run `taojin crawl` or `taojin run` first, or name the right --data-dir"
                    ),
                    format!(
                        "{value} 没有抓取数据：请先运行 taojin crawl 或 taojin run，或用 --data-dir 指定正确的目录"
                    ),
                ),
            ] {
                assert_eq!(translate(&english), Some(chinese));
            }
        }
        assert_eq!(translate("no entry has this"), None);
        // However often a message could be taken apart.
        assert_eq!(translate(&"a: ".repeat(100_000)), None);
    }
}
