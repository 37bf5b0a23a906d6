//! Optional sequences: the example of the thesis, sequences within sequences, and the choice between alternatives.

use proptest::prelude::*;
use serde_json::json;

use super::page;
use super::sequences::letters;
use crate::template::nodes::Nodes;
use crate::template::optional::{Alternative, Gap, OutlineNode};
use crate::template::sequence::{Layout, Sequence, Token};
use crate::template::{Config, Template, learn};

fn learned(members: &[&str]) -> Nodes {
    let members: Vec<Vec<Token>> = members.iter().map(|text| letters(text)).collect();
    let members: Vec<&[Token]> = members.iter().map(Vec::as_slice).collect();
    Nodes::learn(&members)
}

fn letter(nodes: &Nodes, at: usize) -> char {
    nodes
        .nodes
        .get(at)
        .map_or('$', |node| node.name as u8 as char)
}

/// Gaps in letters: `b: thu 4 | orz 2` are two alternatives before b, on four pages and two.
fn in_letters(nodes: &Nodes, gaps: &[Gap]) -> Vec<String> {
    let alternative = |it: &Alternative| {
        let letters: String = it.nodes.iter().map(|at| letter(nodes, *at)).collect();
        let within = in_letters(nodes, &it.gaps).join(", ");
        let within = if within.is_empty() {
            within
        } else {
            format!(" ({within})")
        };
        format!("{letters} {}{within}", it.pages)
    };
    let gap = |gap: &Gap| {
        let all: Vec<String> = gap.alternatives.iter().map(alternative).collect();
        format!("{}: {}", letter(nodes, gap.before), all.join(" | "))
    };
    gaps.iter().map(gap).collect()
}

/// The nodes that a page is aligned with, in letters.
fn aligned(nodes: &Nodes, text: &str) -> String {
    let tokens = letters(text);
    let alignment = nodes.align(&tokens, &Layout::new(&tokens));
    let found = alignment.at.iter().zip(&alignment.is_node);
    let found = found.filter_map(|(at, is_node)| (*at).filter(|_| *is_node));
    found.map(|at| letter(nodes, at)).collect()
}

const MEMBERS: [&str; 6] = [
    "athubeatcdlxe",
    "athubeatcdlxe",
    "athubeatcdpkue",
    "athubeatcdpkue",
    "aorzbcdlxe",
    "aorzbcdlxe",
];

#[test]
fn gaps_thesis_example() {
    let nodes = learned(&MEMBERS);
    let gaps = in_letters(&nodes, nodes.gaps());
    assert_eq!(gaps, ["b: thu 4 | orz 2", "c: eat 4", "e: lx 4 | pku 2"]);
}

#[test]
fn gaps_nested() {
    let nodes = learned(&["axyzb", "axqyzb", "ab", "axyzb", "axqyzb", "ab", "axyzb"]);
    assert_eq!(in_letters(&nodes, nodes.gaps()), ["b: xyz 5 (y: q 2)"]);
}

#[test]
fn outline_lists_sequences() {
    let members = ["axyzb", "axqyzb", "akb", "axyzb", "axqyzb", "akb", "axyzb"];
    let mut nodes = learned(&members);
    let line = |nodes: &Nodes, it: &OutlineNode| {
        let letter = letter(nodes, it.node);
        let Some(begins) = it.begins else {
            return format!("{}{letter}", it.level);
        };
        let mark = if begins.is_alternative { "|" } else { "?" };
        format!("{}{letter}{mark}{:.2}", it.level, begins.share)
    };
    let lines = |nodes: &Nodes| -> Vec<String> {
        let outline = nodes.outline();
        outline.iter().map(|it| line(nodes, it)).collect()
    };
    let between = ["1x?0.71", "2q?0.40", "1y", "1z", "1k|0.29"];
    assert_eq!(lines(&nodes), [&["0a"][..], &between, &["0b"]].concat());
    // A text that a person lets vary keeps what is before it.
    nodes.release(nodes.nodes.len() - 1);
    assert_eq!(
        lines(&nodes),
        [&["0a"][..], &between, &["1b?1.00"]].concat()
    );
    assert!(Nodes::default().outline().is_empty());
}

#[test]
fn gaps_at_both_ends() {
    let nodes = learned(&["xab", "xab", "aby", "aby"]);
    assert_eq!(in_letters(&nodes, nodes.gaps()), ["a: x 2", "$: y 2"]);
    assert!(learned(&["ab", "ab"]).gaps().is_empty());
    assert!(learned(&[]).gaps().is_empty());
}

#[test]
fn align_chooses_better_alternative() {
    let nodes = learned(&MEMBERS);
    for (page, expected, case) in [
        ("abcde", "abcde", "none of them"),
        ("athubcdlxe", "athubcdlxe", "one in each gap"),
        (
            "athubcdpkue",
            "athubcdpkue",
            "alternatives of two gaps that no page had together",
        ),
        ("athurzbcde", "athubcde", "more of the first"),
        ("atorzbcde", "aorzbcde", "more of the second"),
        ("atrbcde", "atbcde", "as much of both: that of more pages"),
        ("ahbcde", "ahbcde", "a part of one"),
    ] {
        assert_eq!(aligned(&nodes, page), expected, "{case}");
        let tokens = letters(page);
        let alignment = nodes.align(&tokens, &Layout::new(&tokens));
        assert_eq!(alignment.missing, 0.0, "{case}");
    }
}

#[test]
fn nodes_repeat() {
    let html = |n: usize| format!("<ul>{}</ul><p>一</p>", "<li><a>甲</a></li>".repeat(n));
    let pages = [html(3), html(1), html(4)].map(|html| Sequence::new(&page(&html)).tokens);
    let pages: Vec<&[Token]> = pages.iter().map(Vec::as_slice).collect();
    let nodes = Nodes::learn(&pages);
    let repeated = nodes.nodes.iter().filter(|node| node.repeats).count();
    assert_eq!(repeated, 1);
    assert!(
        Nodes::learn(&pages[1..2])
            .nodes
            .iter()
            .all(|node| !node.repeats)
    );
}

fn nested(gaps: &[Gap]) -> usize {
    let within = gaps.iter().flat_map(|gap| &gap.alternatives);
    let deepest = within.map(|it| nested(&it.gaps)).max();
    deepest.map_or(0, |deepest| deepest + 1)
}

#[test]
fn gaps_bounded() {
    // Each two of sixteen letters: hardly two pages have more than one in common.
    let letters: Vec<char> = ('A'..='P').collect();
    let pair = |(at, one): (usize, &char)| {
        let others = letters[at + 1..].iter();
        let pairs: Vec<String> = others.map(|other| format!("a{one}{other}z")).collect();
        pairs
    };
    let many: Vec<String> = letters.iter().enumerate().flat_map(pair).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let nodes = learned(&many);
    assert_eq!(nodes.gaps().len(), 1);
    assert_eq!(nodes.gaps()[0].alternatives.len(), 12);
    // Of each ten pages one has a letter more than the one before.
    let stairs: Vec<String> = (1..=10)
        .map(|n| "aABCDEFGHI".chars().take(n).collect())
        .collect();
    let stairs: Vec<&str> = stairs.iter().map(String::as_str).collect();
    let depth = nested(learned(&stairs).gaps());
    assert!((1..=5).contains(&depth), "{depth}");
}

#[test]
fn template_without_gaps_unread() {
    // Of a version that knew elements by their depths: it is learned again.
    let html = |n: usize| page(&format!("<div><h1>标题{n}</h1><p>一{n}</p></div>"));
    let seen: Vec<_> = (0..4)
        .map(|n| {
            let page = html(n);
            let keys = crate::template::Keys::new(&page);
            crate::template::Observation::new(&page, &keys, Vec::new())
        })
        .collect();
    let learned = learn(&seen, &Config::default());
    let mut saved = serde_json::to_value(&learned.templates[0]).unwrap();
    assert_eq!(
        serde_json::from_value::<Template>(saved.clone()).unwrap(),
        learned.templates[0]
    );
    saved["nodes"].as_object_mut().unwrap().remove("gaps");
    assert!(serde_json::from_value::<Template>(saved).is_err());
}

/// A file may be damaged or made by hand; a page laid on such nodes would end the visit.
#[test]
fn gaps_of_missing_nodes_unread() {
    let nodes = json!({
        "nodes": [], "pages": 3, "known": [], "repeated": [],
        "gaps": [{ "before": 0, "alternatives": [{ "nodes": [], "pages": 2,
            "gaps": [{ "before": 0, "alternatives": [{ "nodes": [4], "pages": 1, "gaps": [] }] }] }] }],
    });
    let error = serde_json::from_value::<Nodes>(nodes).unwrap_err();
    assert_eq!(error.to_string(), "a gap names node 4 of 0");
}

proptest! {
    #[test]
    fn align_one_alternative_in_each_gap(
        members in prop::collection::vec("a[b-f]{0,6}g[b-f]{0,6}h", 2..8),
        page in "a[b-f]{0,8}g[b-f]{0,8}h",
    ) {
        let twice: Vec<&str> = members.iter().chain(&members).map(String::as_str).collect();
        let nodes = learned(&twice);
        let tokens = letters(&page);
        let alignment = nodes.align(&tokens, &Layout::new(&tokens));
        prop_assert!(alignment.at.windows(2).all(|next| next[0] <= next[1]));
        let found: Vec<usize> = std::iter::zip(&alignment.at, &alignment.is_node)
            .filter_map(|(at, is_node)| (*at).filter(|_| *is_node))
            .collect();
        prop_assert!(found.windows(2).all(|next| next[0] < next[1]));
        let outline = nodes.outline();
        let is_listed = |node: &usize| outline.iter().any(|it| it.node == *node);
        prop_assert!((0..nodes.nodes.len()).all(|node| is_listed(&node)));
        for gap in nodes.gaps() {
            let alternatives: Vec<Vec<usize>> = gap.alternatives.iter().map(Alternative::all_nodes).collect();
            let own: Vec<&usize> = found.iter().filter(|at| alternatives.iter().flatten().any(|n| n == *at)).collect();
            let has_all = |nodes: &Vec<usize>| own.iter().all(|at| nodes.contains(at));
            prop_assert!(own.is_empty() || alternatives.iter().any(has_all));
        }
    }
}
