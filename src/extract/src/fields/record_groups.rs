//! Reads where a list goes on whose records a program named `dataproxy` hands out in groups, as XML: the lists of many
//! offices are written so, and their script (jpage) asks for the groups with the parameters that stand in its call:
//!
//! ```text
//! $("#312").jpage({ totalRecord: 118, proxyUrl: "/module/web/jpage/dataproxy.jsp", perPage: 15, groupSize: 3,
//!                   ajaxParam: { webid: 4, columnid: "77", unitid: "312" } })
//! ```
//!
//! The records themselves may name the next group (`<nextgroup>`), which [`is_group`] knows by its address. Nothing is
//! run; a parameter that is no literal makes a call unreadable, and no address is guessed.

use std::sync::LazyLock;

use memchr::memmem::Finder;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use regex::{Captures, Regex};

use crate::literals::compile_regex;
use crate::page::address::is_address;
use crate::page::quoted::{quoted, unescaped};

/// Begin of the name of the program.
const PROGRAM: &str = "dataproxy.";
/// End of the name of the call, `jpage(` in any case.
const CALL: &str = "age(";
/// String literals of a script that are looked at.
const MAX_LITERALS: usize = 20_000;
/// Lists of one page.
const MAX_CALLS: usize = 8;
/// Bytes before and behind the address in which the options of its call are.
const BEFORE: usize = 1_500;
const BEHIND: usize = 3_000;
/// Groups of one list, and records and pages in a group.
const MAX_GROUPS: usize = 200;
const MAX_RECORDS: usize = 500;
/// Pages in a group where the call does not say it, as the script has it.
const PAGES: usize = 3;

static TOTAL: LazyLock<Regex> = LazyLock::new(|| number_of("totalRecords?"));
static PER_PAGE: LazyLock<Regex> = LazyLock::new(|| number_of("perPage"));
static GROUP_SIZE: LazyLock<Regex> = LazyLock::new(|| number_of("groupSize"));
static PARAMETERS: LazyLock<Regex> = LazyLock::new(|| {
    compile_regex(r#"(?i)\b(?:ajaxParams?|params?|data)["']?\s*:\s*\{([^{}]*)\}"#)
});
/// A parameter with a literal value, and what ends it.
static PARAMETER: LazyLock<Regex> = LazyLock::new(|| {
    compile_regex(r#"^\s*["']?(\w+)["']?\s*:\s*(?:'([^'\\]*)'|"([^"\\]*)"|(-?\d+))\s*(?:,|$)"#)
});

/// What a parameter's value keeps in an address.
const VALUE: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.');

fn number_of(name: &str) -> Regex {
    compile_regex(&format!(r#"(?i)\b{name}["']?\s*:\s*["']?(\d{{1,7}})\b"#))
}

/// Whether an address is that of a group of records.
pub(crate) fn is_group(address: &str) -> bool {
    let bytes = address.as_bytes();
    let end = memchr::memchr2(b'?', b'#', bytes).unwrap_or(bytes.len());
    let path = bytes.get(..end).unwrap_or_default();
    let begin = memchr::memrchr(b'/', path).map_or(0, |at| at + 1);
    path.get(begin..begin + PROGRAM.len())
        .is_some_and(|name| name.eq_ignore_ascii_case(PROGRAM.as_bytes()))
}

/// Whether an address is one of [`groups`], which name all others of their list.
pub(crate) fn is_counted_group(address: &str) -> bool {
    is_group(address) && address.contains("startrecord=")
}

/// The addresses of all groups of the lists that a script asks for, each with the number of the group from 1.
pub(crate) fn groups(script: &str) -> impl Iterator<Item = (usize, String)> + '_ {
    // Hardly a script has one, and each is asked.
    static CALLS: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(PROGRAM));
    let has_calls = CALLS.find(script.as_bytes()).is_some();
    let literals = quoted(script).take(if has_calls { MAX_LITERALS } else { 0 });
    let calls = literals.filter(|literal| !literal.is_part && literal.raw.contains(PROGRAM));
    let calls = calls.take(MAX_CALLS).filter_map(|literal| {
        let at = literal.raw.as_ptr() as usize - script.as_ptr() as usize;
        Call::read(script, at, &unescaped(literal.raw))
    });
    calls.flat_map(Call::addresses)
}

/// A list in groups.
struct Call {
    program: String,
    /// The parameters as a query, without the numbers of the records.
    query: String,
    total: usize,
    per_page: usize,
    per_group: usize,
}

impl Call {
    /// Reads the options around the address at `at`.
    fn read(script: &str, at: usize, address: &str) -> Option<Self> {
        if !is_address(address) || !is_group(address) {
            return None;
        }
        let begin = script.ceil_char_boundary(at.saturating_sub(BEFORE));
        let end = script.floor_char_boundary(at + BEHIND);
        let (before, behind) = (script.get(begin..at)?, script.get(at..end)?);
        // The options of another list are none of this one's.
        let own = behind.find(PROGRAM)? + PROGRAM.len();
        let others = [CALL, PROGRAM].map(|other| behind.get(own..)?.find(other));
        let other = others.into_iter().flatten().min();
        let behind = behind.get(..other.map_or(behind.len(), |other| own + other))?;
        let before = before.rsplit(PROGRAM).next()?.rsplit(CALL).next()?;
        let number = |of: &Regex| {
            let found = of.captures(behind).or_else(|| of.captures(before))?;
            found.get(1)?.as_str().parse::<usize>().ok()
        };
        let (program, query) = address.split_once('?').unwrap_or((address, ""));
        let parameters = PARAMETERS
            .captures(behind)
            .or_else(|| PARAMETERS.captures(before))?;
        let mut query = without_records(query);
        query.extend(read_parameters(parameters.get(1)?.as_str())?);
        let per_page = number(&PER_PAGE)?.clamp(1, MAX_RECORDS);
        let pages = number(&GROUP_SIZE).unwrap_or(PAGES);
        Some(Self {
            program: program.to_owned(),
            query: query.join("&"),
            total: number(&TOTAL)?,
            per_page,
            per_group: (per_page * pages.clamp(1, MAX_RECORDS)).min(MAX_RECORDS),
        })
    }

    fn addresses(self) -> impl Iterator<Item = (usize, String)> {
        let groups = self.total.div_ceil(self.per_group).min(MAX_GROUPS);
        (0..groups).map(move |group| {
            let first = group * self.per_group + 1;
            let last = self.total.min(first + self.per_group - 1);
            let address = format!(
                "{}?startrecord={first}&endrecord={last}&perpage={}&{}",
                self.program, self.per_page, self.query
            );
            (group + 1, address)
        })
    }
}

/// The parameters of a query that do not say which records.
fn without_records(query: &str) -> Vec<String> {
    let records = ["startrecord=", "endrecord=", "perpage=", "page="];
    let parts = query.split('&').filter(|part| !part.is_empty());
    let kept = parts.filter(|part| !records.iter().any(|name| part.starts_with(name)));
    kept.map(str::to_owned).collect()
}

/// The parameters of a call; none if one of them is no literal.
fn read_parameters(mut text: &str) -> Option<Vec<String>> {
    let mut found = Vec::new();
    while !text.trim().is_empty() {
        let parameter: Captures<'_> = PARAMETER.captures(text)?;
        let value = (2..=4).find_map(|at| parameter.get(at))?.as_str();
        let value = utf8_percent_encode(value, VALUE);
        found.push(format!("{}={value}", parameter.get(1)?.as_str()));
        text = text.get(parameter.get(0)?.end()..)?;
    }
    Some(found).filter(|found| !found.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(script: &str) -> String {
        let found = groups(script).map(|(number, address)| format!("{number} {address}"));
        found.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn groups_of_a_call() {
        let call = r##"$(function(){ $("#312").jpage({ dataBefore:'<ul>', totalRecord:118,
            proxyUrl:'/m/jpage/dataproxy.jsp', perPage:20, groupSize:2, barPosition:'bottom',
            ajaxParam:{ col:1, webid:4, path:'/', columnid:'77', webname:'水务局' } }); });"##;
        let query = "col=1&webid=4&path=%2F&columnid=77&webname=%E6%B0%B4%E5%8A%A1%E5%B1%80";
        assert_eq!(
            addresses(call),
            [(1, 40), (41, 80), (81, 118)]
                .into_iter()
                .enumerate()
                .map(|(n, (first, last))| format!(
                    "{} /m/jpage/dataproxy.jsp?startrecord={first}&endrecord={last}&perpage=20&{query}",
                    n + 1
                ))
                .collect::<Vec<_>>()
                .join("\n")
        );
    }

    #[test]
    fn groups_of_other_calls() {
        for (script, want) in [
            (
                "new Jpage({\"ajaxParam\":{\"unitid\":\"9\"},\"perPage\":\"15\",\"totalRecord\":\"30\",\"proxyUrl\":\"dataproxy.do\"})",
                "1 dataproxy.do?startrecord=1&endrecord=30&perpage=15&unitid=9",
            ),
            (
                "$.ajax({url:'/m/dataproxy.jsp?startrecord=1&endrecord=45&perpage=15&col=1',data:{columnid:8}}); o={totalRecord:7,perPage:15}",
                "1 /m/dataproxy.jsp?startrecord=1&endrecord=7&perpage=15&col=1&columnid=8",
            ),
            // Two lists: each has its own options.
            (
                "a.jpage({totalRecord:5,proxyUrl:'/a/dataproxy.jsp',perPage:9,ajaxParam:{unitid:1}});\
                 b.jpage({totalRecord:6,proxyUrl:'/b/dataproxy.jsp',perPage:8,ajaxParam:{unitid:2}});",
                "1 /a/dataproxy.jsp?startrecord=1&endrecord=5&perpage=9&unitid=1\n\
                 1 /b/dataproxy.jsp?startrecord=1&endrecord=6&perpage=8&unitid=2",
            ),
            // What a script puts together is no address.
            (
                "x.jpage({totalRecord:5,proxyUrl:'/a/dataproxy.jsp',perPage:9,ajaxParam:{unitid:own(1)}})",
                "",
            ),
            (
                "x.jpage({totalRecord:5,proxyUrl:base+'/dataproxy.jsp',perPage:9,ajaxParam:{unitid:1}})",
                "",
            ),
            (
                "x.jpage({proxyUrl:'/a/dataproxy.jsp',perPage:9,ajaxParam:{unitid:1}})",
                "",
            ),
            (
                "x.load({totalRecord:5,proxyUrl:'/a/items.jsp',perPage:9,ajaxParam:{unitid:1}})",
                "",
            ),
        ] {
            assert_eq!(addresses(script), want, "{script}");
        }
    }

    #[test]
    fn groups_are_bounded() {
        let call = "a.jpage({totalRecord:9999999,proxyUrl:'/dataproxy.jsp',perPage:1,groupSize:1,ajaxParam:{a:1}});";
        assert_eq!(groups(call).count(), MAX_GROUPS);
        assert_eq!(groups(&call.repeat(50)).count(), MAX_CALLS * MAX_GROUPS);
        let huge = call
            .replace("perPage:1", "perPage:0")
            .replace("groupSize:1", "groupSize:9999999");
        assert_eq!(groups(&huge).count(), MAX_GROUPS);
    }
}
