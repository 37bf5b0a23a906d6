//! Reads the call by which many systems of offices write the pages of a list: `createPageHTML(12, 0, "index", "html")`, and
//! its kin, which have the number of pages, the current one, and the stem and ending of their names.

use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::page::quoted::{closing, unescaped};

/// Longest list of arguments, in bytes.
const MAX_ARGUMENTS: usize = 400;
/// Bytes of a name.
const MAX_NAME: usize = 40;
/// Calls of a script that are looked at, and places where a name may get its value.
const MAX_CALLS: usize = 200;
const MAX_VALUES: usize = 8;
/// Pages beyond which a number is none of pages.
const MAX_TOTAL: usize = 10_000;
/// Endings of the names of pages.
const ENDINGS: [&str; 9] = [
    "html", "htm", "shtml", "shtm", "jhtml", "php", "jsp", "asp", "aspx",
];

/// The pages of a list or text as a call names them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PagerCall {
    /// How many there are.
    pub(crate) total: usize,
    /// The number of the current one in its name, 0 for the first: it is 0 or 1 in the call.
    current: usize,
    /// The second page has the number 1 in its name, and not 2.
    from_zero: bool,
    stem: String,
    ending: String,
}

impl PagerCall {
    /// The first page, where this is a later one, and the pages behind it: number from 1 as readers count, and name.
    pub(crate) fn others(&self) -> impl Iterator<Item = (usize, String)> + '_ {
        let stem = self.stem.trim_end_matches(['_', '-']);
        // The front page of a directory mostly has no name, and led here.
        let name = stem.rsplit('/').next().unwrap_or_default();
        let is_front = matches!(name, "index" | "default");
        let first = (self.current > 0 && !is_front).then(|| (1, format!("{stem}.{}", self.ending)));
        first.into_iter().chain(self.following())
    }

    fn following(&self) -> impl Iterator<Item = (usize, String)> + '_ {
        // The names have these numbers; of a later page it is not known how they begin, but the first has told.
        let last = if self.from_zero {
            self.total - 1
        } else {
            self.total
        };
        let first = self.current.max(usize::from(!self.from_zero)) + 1;
        let numbers: Range<usize> = first..last + 1;
        let joint = joint(&self.stem);
        numbers.map(move |number| {
            let shown = number + usize::from(self.from_zero);
            (
                shown,
                format!("{}{joint}{number}.{}", self.stem, self.ending),
            )
        })
    }
}

/// What is between the stem of a name and the number of a page.
fn joint(stem: &str) -> &'static str {
    if stem.ends_with(['_', '-']) { "" } else { "_" }
}

/// The number of a page in its name, `index_3.html`; 0 where it has none.
fn own_number(name: &str, stem: &str) -> usize {
    let stem = stem.rsplit('/').next().unwrap_or_default();
    let rest = name
        .strip_prefix(stem)
        .and_then(|rest| rest.strip_prefix(joint(stem)));
    let digits = rest.and_then(|rest| rest.split('.').next());
    digits.and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

/// The call in a script of the page with this name, the last part of its path.
pub(crate) fn find(script: &str, name: &str) -> Option<PagerCall> {
    static NAME: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("age"));
    let places = NAME.find_iter(script.as_bytes());
    let calls = places.filter_map(|at| call_begins(script, at));
    calls.take(MAX_CALLS).find_map(|at| read(script, at, name))
}

/// Where the arguments begin of a call whose name speaks of pages at `at`: `createPageHTML(`.
fn call_begins(script: &str, at: usize) -> Option<usize> {
    let bytes = script.as_bytes();
    let before = bytes.get(at.checked_sub(1)?)?;
    let is_name = |b: &&u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$');
    let rest = bytes
        .get(at..)
        .filter(|_| before.eq_ignore_ascii_case(&b'p'))?;
    let end = at + rest.iter().take(MAX_NAME).take_while(is_name).count();
    let behind = bytes.get(end..)?;
    let blanks = behind.iter().take_while(|b| **b == b' ').count();
    (behind.get(blanks) == Some(&b'(')).then_some(end + blanks + 1)
}

#[derive(Debug)]
enum Argument {
    Number(usize),
    Text(String),
    Other,
}

/// Reads the arguments that begin at `at`.
fn read(script: &str, at: usize, name: &str) -> Option<PagerCall> {
    let arguments = arguments(script, at)?;
    let numbers = |argument: &Argument| match argument {
        Argument::Number(number) => Some(*number),
        Argument::Text(text) => text.trim().parse().ok(),
        Argument::Other => None,
    };
    arguments.windows(4).find_map(|four| {
        let [a, b, Argument::Text(stem), Argument::Text(ending)] = four else {
            return None;
        };
        let (a, b) = (numbers(a)?, numbers(b)?);
        let (total, current) = (a.max(b), a.min(b));
        let ending = ending.trim_start_matches('.');
        let is_ending = ENDINGS
            .iter()
            .any(|known| ending.eq_ignore_ascii_case(known));
        let is_stem = !stem.is_empty()
            && stem.parse::<usize>().is_err()
            && stem
                .chars()
                .all(|c| c.is_alphanumeric() || "_-./".contains(c));
        if !is_ending || !is_stem || !(2..=MAX_TOTAL).contains(&total) {
            return None;
        }
        let own = own_number(name, stem);
        // Who counts from one says 1 on the first page, whose name has no number.
        let from_zero = !(own == 0 && current == 1);
        Some(PagerCall {
            total,
            current: own,
            from_zero,
            stem: stem.clone(),
            ending: ending.to_owned(),
        })
    })
}

/// The arguments of a call up to its end.
fn arguments(script: &str, from: usize) -> Option<Vec<Argument>> {
    let end = script.floor_char_boundary(from + MAX_ARGUMENTS);
    let text = script.get(from..end)?;
    let bytes = text.as_bytes();
    let (mut at, mut begin, mut found) = (0, 0, Vec::new());
    loop {
        match bytes.get(at)? {
            b'"' | b'\'' => {
                let (end, is_whole) = closing(bytes, at + 1, false);
                if !is_whole {
                    return None;
                }
                at = end;
            }
            b'(' | b'{' | b'+' | b';' => return None,
            b',' => {
                found.push(argument(script, text.get(begin..at)?.trim()));
                begin = at + 1;
            }
            b')' => {
                found.push(argument(script, text.get(begin..at)?.trim()));
                return Some(found);
            }
            _ => {}
        }
        at += 1;
    }
}

/// A literal, or a name with the value that the script gives it.
fn argument(script: &str, text: &str) -> Argument {
    if let Some(literal) = literal(text) {
        return literal;
    }
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$');
    if text.is_empty() || !text.chars().all(is_name) {
        return Argument::Other;
    }
    let places = memchr::memmem::find_iter(script.as_bytes(), text.as_bytes());
    let mut values = places.take(MAX_VALUES).filter_map(|at| {
        let before = script.get(..at)?.chars().next_back();
        let behind = script
            .get(at + text.len()..)?
            .trim_start()
            .strip_prefix('=')?;
        if before.is_some_and(is_name) || behind.starts_with('=') {
            return None;
        }
        let behind = behind.trim_start();
        let end = if behind.starts_with(['"', '\'']) {
            closing(behind.as_bytes(), 1, false).0 + 1
        } else {
            behind
                .find(|c: char| !c.is_ascii_digit())
                .unwrap_or(behind.len())
        };
        literal(behind.get(..end)?)
    });
    values.next().unwrap_or(Argument::Other)
}

fn literal(text: &str) -> Option<Argument> {
    if let Ok(number) = text.parse() {
        return Some(Argument::Number(number));
    }
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let inner = text.strip_prefix(quote)?.strip_suffix(quote)?;
    Some(Argument::Text(unescaped(inner)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pager_call_names() {
        for (script, name, want) in [
            (
                "createPageHTML(3, 0, \"index\", \"html\");",
                "",
                "2:index_1.html 3:index_2.html",
            ),
            (
                "createPageHTML(4, 2, 'list', 'shtml')",
                "list_2.shtml",
                "1:list.shtml 4:list_3.shtml",
            ),
            (
                "createPageHTML('box', 3, 1, 'ab12', '.html', 57)",
                "",
                "2:ab12_2.html 3:ab12_3.html",
            ),
            (
                "createPageHTML(3, 1, 'index', 'html')",
                "index_1.html",
                "3:index_2.html",
            ),
            (
                "createPageHTML('box', 3, 2, 'ab12', 'html', 57)",
                "ab12_2.html",
                "1:ab12.html",
            ),
            (
                "var n = 3, cur = 0; showPage(n, cur, './index_', 'htm')",
                "",
                "2:./index_1.htm 3:./index_2.htm",
            ),
            (
                "Createpage(\"3\",\"0\",\"index\",\"html\")",
                "",
                "2:index_1.html 3:index_2.html",
            ),
            ("createPageHTML(1, 0, \"index\", \"html\")", "", "-"),
            (
                "function createPageHTML(n, cur, name, end) { f(n) }",
                "",
                "-",
            ),
            ("createPageHTML(3, 0, stem + id, \"html\")", "", "-"),
            ("draw(3, 0, \"index\", \"html\")", "", "-"),
            ("setPage(3, 0, \"red\", \"blue\")", "", "-"),
        ] {
            let names = find(script, name).map(|call| {
                let names = call
                    .others()
                    .map(|(number, name)| format!("{number}:{name}"));
                names.collect::<Vec<_>>().join(" ")
            });
            assert_eq!(names.as_deref().unwrap_or("-"), want, "{script}");
        }
    }
}
