//! Finds lines that a page holds again for a machine: a copy of the text to be mailed or printed, and a list that a script
//! shows instead of a `<select>`. Reads no line of a page that repeats none.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use foldhash::fast::RandomState;
use xxhash_rust::xxh3::xxh3_64;

use super::{Line, Lines};
use crate::page::{Attr, NodeId, Page, Tag, is_skipped};

/// Shorter lines repeat in every text, in tokens.
const LEAST_TOKENS: u32 = 8;
/// Elements around a repeated line that are searched for a name.
const MAX_UP: usize = 12;
/// Most repeated lines around which one is searched, and bytes of a class or id that are read.
const MAX_REPEATED: usize = 2000;
const MAX_NAME_BYTES: usize = 200;
/// Most elements that are weighed as copies.
const MAX_ELEMENTS: usize = 32;
/// Percent of the tokens of a copy that are also outside of it.
const LEAST_SHARE: u32 = 80;
/// Parts of classes and ids of elements that are not shown as they are.
const COPY_NAMES: [&str; 7] = [
    "print", "mail", "hide", "hidden", "mobile", "desktop", "-none",
];

/// Least options of a select, and least texts of the list that repeats them.
const LEAST_OPTIONS: usize = 4;
/// Most options that are read.
const MAX_OPTIONS: usize = 4096;

/// Drops the lines that are there for a machine.
pub(super) fn drop_copies(page: &Page, lines: &mut Lines) {
    let mut dropped = vec![false; lines.lines.len()];
    find_copies(page, lines, &mut dropped);
    find_select_lists(page, &lines.lines, &mut dropped);
    if dropped.contains(&true) {
        let mut dropped = dropped.into_iter();
        lines.lines.retain(|_| !dropped.next().unwrap_or_default());
    }
}

/// Marks the lines of elements that are named as copies and are copies.
fn find_copies(page: &Page, lines: &Lines, dropped: &mut [bool]) {
    let Lines { lines, texts, .. } = lines;
    let is_long = |line: &Line| line.all.tokens >= LEAST_TOKENS;
    let hash = |line: &Line| xxh3_64(line.text(page, texts).as_bytes());
    // Of each line; `None` of a short one.
    let hashes: Vec<Option<u64>> = lines
        .iter()
        .map(|line| is_long(line).then(|| hash(line)))
        .collect();
    let mut counts: HashMap<u64, u32, RandomState> = HashMap::default();
    for hash in hashes.iter().flatten() {
        *counts.entry(*hash).or_default() += 1;
    }
    if counts.values().all(|count| *count == 1) {
        return;
    }
    let both = lines.iter().zip(&hashes);
    let repeated = both.filter(|(_, hash)| hash.is_some_and(|hash| counts[&hash] > 1));
    let mut elements: Vec<NodeId> = Vec::new();
    // Whether an element is named as a copy: the same ones are around most lines.
    let mut named: HashMap<NodeId, bool, RandomState> = HashMap::default();
    for (line, _) in repeated.take(MAX_REPEATED) {
        let element = find_copy_element(page, line, &mut named);
        elements.extend(element.filter(|element| !elements.contains(element)));
        if elements.len() >= MAX_ELEMENTS {
            break;
        }
    }
    for element in elements {
        let start = lines.partition_point(|line| line.first < element);
        let end = lines.partition_point(|line| line.first < page.node(element).end);
        // An element in it may be dropped already.
        let inside: Vec<(u32, u64)> = (start..end)
            .filter(|at| !dropped[*at])
            .filter_map(|at| Some((lines[at].all.tokens, hashes[at]?)))
            .collect();
        for (_, hash) in &inside {
            counts.entry(*hash).and_modify(|count| *count -= 1);
        }
        let tokens: u32 = inside.iter().map(|(tokens, _)| tokens).sum();
        let outside = inside.iter().filter(|(_, hash)| counts[hash] > 0);
        let outside: u32 = outside.map(|(tokens, _)| tokens).sum();
        if outside * 100 >= tokens * LEAST_SHARE {
            dropped[start..end].fill(true);
        } else {
            for (_, hash) in &inside {
                counts.entry(*hash).and_modify(|count| *count += 1);
            }
        }
    }
}

/// Marks the lines of lists that repeat the options of a `<select>`: its texts follow one another and are nothing else, and
/// the select is among them, or just before or behind.
fn find_select_lists(page: &Page, lines: &[Line], dropped: &mut [bool]) {
    let options = read_options(page);
    if options.len() < LEAST_OPTIONS {
        return;
    }
    let is_select = |id: &NodeId| page.node(*id).tag == Tag::SELECT;
    let is_option = |line: &Line| texts_of(page, line).all(|text| options.contains(text));
    let mut start = 0;
    for run in lines.chunk_by(|a, b| is_option(a) == is_option(b)) {
        let end = start + run.len();
        let before = start.checked_sub(1).map_or(0, |at| lines[at].first);
        let behind = lines
            .get(end)
            .map_or(page.nodes().len() as NodeId, |line| line.first);
        let texts = run.iter().map(|line| texts_of(page, line).count());
        if is_option(&run[0])
            && texts.sum::<usize>() >= LEAST_OPTIONS
            && (before..behind).any(|id| is_select(&id))
        {
            dropped[start..end].fill(true);
        }
        start = end;
    }
}

/// The nearest element around a line that is named as a copy; `known` has what was looked at already.
fn find_copy_element(
    page: &Page,
    line: &Line,
    known: &mut HashMap<NodeId, bool, RandomState>,
) -> Option<NodeId> {
    let around = [line.block].into_iter().chain(page.ancestors(line.block));
    let mut around = around
        .take(MAX_UP)
        .take_while(|id| page.node(*id).tag != Tag::BODY && *id != 0);
    around.find(|id| {
        *known
            .entry(*id)
            .or_insert_with(|| is_named_as_copy(page, *id))
    })
}

fn is_named_as_copy(page: &Page, id: NodeId) -> bool {
    static NAMES: LazyLock<AhoCorasick> = LazyLock::new(|| {
        let names = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .build(COPY_NAMES);
        names.expect("a few short words")
    });
    let is_copy = |value: &str| {
        let end = value.floor_char_boundary(MAX_NAME_BYTES);
        NAMES.is_match(value.get(..end).unwrap_or_default())
    };
    let names = [Attr::Class, Attr::Id].into_iter();
    names.filter_map(|name| page.attr(id, name)).any(is_copy)
}

/// The texts of the options of all selects, those without a letter left out.
fn read_options(page: &Page) -> HashSet<&str, RandomState> {
    let nodes = page.nodes().iter().enumerate();
    let options = nodes.filter(|(_, node)| node.tag == Tag::OPTION);
    let options = options
        .take(MAX_OPTIONS)
        .flat_map(|(id, _)| page.children(id as NodeId));
    let texts = options.map(|id| page.text(id).trim());
    // Numbers are in tables too.
    let is_name = |text: &&str| text.contains(char::is_alphabetic);
    texts.filter(is_name).collect()
}

/// The texts of a line that are read.
fn texts_of<'p>(page: &'p Page, line: &Line) -> impl Iterator<Item = &'p str> {
    let texts = (line.first..line.end).filter(|id| {
        let node = page.node(*id);
        node.tag == Tag::TEXT
            && !page
                .ancestors(*id)
                .take(2)
                .any(|above| is_skipped(page.node(above).tag))
    });
    texts
        .map(|id| page.text(id).trim())
        .filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::Hints;

    const STORY: &str = "<p>采油三厂的集输站建成已有三十年，今年春天开始改造。</p>\
        <p>站长介绍，改造之后每天可以多处理三百方采出水。</p>";

    /// The texts of the lines of a page.
    fn lines(html: &str) -> Vec<String> {
        let page = Page::parse(html.as_bytes(), Hints::default());
        let Lines { lines, texts, .. } = Lines::new(&page, false);
        lines
            .iter()
            .map(|line| line.text(&page, &texts).to_owned())
            .collect()
    }

    #[test]
    fn named_copies_dropped() {
        let once = lines(&format!("<div>{STORY}</div>"));
        for name in [
            "id=mailContents",
            "class='hide x'",
            "class=print-version",
            "class=MobileOnly",
        ] {
            let copied = format!("<div {name}>{STORY}<p>打印</p></div>");
            let with =
                |before: &str, behind: &str| lines(&format!("{before}<div>{STORY}</div>{behind}"));
            assert_eq!(with("", &copied), once, "{name}");
            assert_eq!(with(&copied, ""), once, "{name}");
            // The only one stays, as does what holds more than a copy.
            assert_eq!(lines(&copied).len(), 3, "{name}");
            let more = "<p>三厂计划明年再改造两座集输站，资金已经列入年度预算，设计方案由油田设计院完成。</p>";
            let longer = format!("<div {name}>{STORY}{more}</div>");
            assert_eq!(with("", &longer).len(), 5, "{name}");
        }
        let unnamed = lines(&format!("<div>{STORY}</div><div class=quote>{STORY}</div>"));
        assert_eq!(unnamed.len(), 4);
        // Of two copies that are both named one stays.
        let both = lines(&format!(
            "<div class=hide>{STORY}</div><div class=hide>{STORY}</div>"
        ));
        assert_eq!(both, once);
    }

    #[test]
    fn lists_that_repeat_a_select_dropped() {
        let cities = ["长河", "大港", "华北", "胜利"];
        let options: String = cities
            .map(|city| format!("<option>{city}</option>"))
            .concat();
        let list: String = cities.map(|city| format!("<li>{city}</li>")).concat();
        let html = format!("<p>甲</p><select>{options}</select><ul>{list}</ul><p>乙</p>");
        assert_eq!(lines(&html), ["甲", "乙"]);
        let joined: String = cities.map(|city| format!("<i>{city}</i>")).concat();
        let html = format!("<select>{options}</select><div>{joined}</div><p>长河</p>乙");
        assert_eq!(lines(&html), ["乙"]);
        let html = format!("<select>{options}</select><p>长河</p><p>甲</p><p>大港</p>");
        assert_eq!(lines(&html), ["长河", "甲", "大港"]);
        assert_eq!(lines(&format!("<ul>{list}</ul>")).len(), 4);
        let html = format!("<select>{options}</select><p>甲</p><ul>{list}</ul>");
        assert_eq!(lines(&html).len(), 5);
        let numbers = ["6", "3", "19", "24"];
        let options: String = numbers.map(|n| format!("<option>{n}</option>")).concat();
        let cells: String = numbers.map(|n| format!("<td>{n}</td>")).concat();
        let html = format!("<select>{options}</select><table><tr>{cells}</table>");
        assert_eq!(lines(&html).len(), 4);
    }
}
