//! Sequences of pages, their alignment, essential and optional nodes on the example of the thesis.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::page;
use crate::page::Page;
use crate::template::align::{Symbol, align, weight};
use crate::template::nodes::Nodes;
use crate::template::regions::slot_key;
use crate::template::sequence::{Sequence, Token, TokenKind, split_label};

fn symbols(text: &str) -> Vec<Symbol> {
    let symbol = |byte: u8| Symbol {
        id: u64::from(byte),
        weight: 1,
    };
    text.bytes().map(symbol).collect()
}

/// What both sequences have in common, in letters.
fn common(a: &str, b: &str) -> String {
    let pairs = align(&symbols(a), &symbols(b));
    pairs
        .iter()
        .map(|(at, _)| a.as_bytes()[*at] as char)
        .collect()
}

/// Weight of the heaviest common subsequence by the whole table.
fn heaviest(a: &[Symbol], b: &[Symbol]) -> u32 {
    let mut row = vec![0; b.len() + 1];
    for x in a {
        let mut before = 0;
        for (at, y) in b.iter().enumerate() {
            let above = row[at + 1];
            row[at + 1] = if x.id == y.id {
                above.max(before + x.weight)
            } else {
                above.max(row[at])
            };
            before = above;
        }
    }
    row[b.len()]
}

/// The symbols of `a` that it and `b` have exactly once.
fn once_in_both(a: &[Symbol], b: &[Symbol]) -> Vec<Symbol> {
    let is_once =
        |all: &[Symbol], id: u64| all.iter().filter(|symbol| symbol.id == id).count() == 1;
    let symbols = a.iter().copied();
    symbols
        .filter(|symbol| is_once(a, symbol.id) && is_once(b, symbol.id))
        .collect()
}

#[test]
fn align_thesis_examples() {
    let [one, two, three] = ["athubeatcdlxe", "athubeatcdpkue", "aorzbcdlxe"];
    assert_eq!(common(one, two), "athubeatcde");
    assert_eq!(common(one, three), "abcdlxe");
    assert_eq!(common("", two), "");
    assert_eq!(common("abc", "xyz"), "");
    // Neighbours that were exchanged: the heavier one stays.
    let light = |id| Symbol { id, weight: 1 };
    let heavy = |id| Symbol { id, weight: 9 };
    let (a, b) = ([light(1), heavy(2)], [heavy(2), light(1)]);
    assert_eq!(align(&a, &b), [(1, 0)]);
}

#[test]
fn align_weight_by_depth() {
    assert!(weight(0, false) > weight(9, false) && weight(9, false) > weight(40, false));
    assert_eq!(weight(63, true), 3 * weight(63, false));
    assert!(weight(u16::MAX, false) > 0);
}

#[test]
fn align_bounded_time() {
    // Few names and no two sequences alike: no anchors, no common ends.
    let many = |seed: u64| -> Vec<Symbol> {
        let ids = (0..12_000u64).map(|n| crate::similarity::mix(seed, n) % 3);
        ids.map(|id| Symbol { id, weight: 1 }).collect()
    };
    let (a, b) = (many(1), many(2));
    let began = Instant::now();
    let pairs = align(&a, &b);
    assert!(pairs.len() > 3_000, "{}", pairs.len());
    // The whole table would have 144 million cells.
    assert!(
        began.elapsed() < Duration::from_secs(5),
        "{:?}",
        began.elapsed()
    );
}

proptest! {
    #[test]
    fn align_equal_pairs_in_order(a in "[a-e]{0,60}", b in "[a-e]{0,60}") {
        let (a, b) = (symbols(&a), symbols(&b));
        let pairs = align(&a, &b);
        for (x, y) in &pairs {
            prop_assert_eq!(a[*x].id, b[*y].id);
        }
        for next in pairs.windows(2) {
            prop_assert!(next[0].0 < next[1].0 && next[0].1 < next[1].1);
        }
        // Ends and anchors are taken first, so it may be lighter than the best, but not than the anchors.
        let (once_a, once_b) = (once_in_both(&a, &b), once_in_both(&b, &a));
        prop_assert!(pairs.len() as u32 >= heaviest(&once_a, &once_b));
        prop_assert_eq!(align(&a, &a).len(), a.len());
    }

    #[test]
    fn align_heaviest_sequence(a in "[ab]{2,12}", b in "[ab]{2,12}") {
        // No anchors, since each letter is there twice, and no common ends.
        let (a, b) = (symbols(&format!("c{a}ababd")), symbols(&format!("e{b}ababf")));
        let own: u32 = align(&a, &b).iter().map(|(at, _)| a[*at].weight).sum();
        prop_assert_eq!(own, heaviest(&a, &b));
    }

    #[test]
    fn align_any_html_with_itself(html in "(<(div|p|b|td|li|/div|/p|/li)>|甲|乙：|丙 ){0,80}") {
        let page = page(&html);
        let sequence = Sequence::new(&page);
        let nodes = Nodes::learn(&[&sequence.tokens, &sequence.tokens, &sequence.tokens]);
        let alignment = nodes.align(&sequence.tokens, &sequence.layout);
        prop_assert_eq!(alignment.at.len(), sequence.tokens.len());
        prop_assert!(alignment.missing < 1e-6, "{} of {}", alignment.missing, html);
    }
}

/// A block for each letter.
pub(super) fn letters(text: &str) -> Vec<Token> {
    let token = |byte: u8| Token {
        name: u64::from(byte),
        depth: 0,
        kind: TokenKind::Block,
        label: 0,
    };
    text.bytes().map(token).collect()
}

#[test]
fn nodes_thesis_example() {
    let members = ["athubeatcdlxe", "athubeatcdpkue", "aorzbcdlxe"].map(letters);
    let members: Vec<&[Token]> = members.iter().map(Vec::as_slice).collect();
    let learned = Nodes::learn(&members);
    let of = |is_essential: bool| -> String {
        let nodes = learned.nodes.iter();
        let nodes = nodes.filter(|node| learned.is_essential(node) == is_essential);
        nodes.map(|node| node.name as u8 as char).collect()
    };
    assert_eq!(of(true), "abcde");
    // What one page alone has, orz and pku, is no part of the template.
    assert_eq!(of(false), "thueatlx");
    assert!(Nodes::learn(&[]).nodes.is_empty());
    let one = Nodes::learn(&members[..1]);
    assert_eq!(one.nodes.len(), 13);
}

#[test]
fn nodes_align_part_in_another_element() {
    let html = |n: u32, from: &str, to: &str| {
        format!(
            "<body><div id=top>首页</div>{from}<div id=info><p><b>导演:</b><span>人{n}</span></p></div>{to}<p>版权</p></body>"
        )
    };
    let pages: Vec<Page> = (0..4).map(|n| page(&html(n, "", ""))).collect();
    let sequences: Vec<Sequence> = pages.iter().map(Sequence::new).collect();
    let tokens: Vec<&[Token]> = sequences.iter().map(|s| s.tokens.as_slice()).collect();
    let nodes = Nodes::learn(&tokens);
    let place_of_value = |page: &Page| {
        let sequence = Sequence::new(page);
        let alignment = nodes.align(&sequence.tokens, &sequence.layout);
        let is_value = |node: &u32| page.text(*node).starts_with('人');
        let at = sequence
            .nodes
            .iter()
            .position(is_value)
            .expect("it is there");
        (slot_key(&alignment, at), alignment.missing)
    };
    let wrapped = place_of_value(&page(&html(9, "<section>", "</section>")));
    assert_eq!(wrapped.0, place_of_value(&pages[0]).0);
    // Only the element that is now in another one.
    assert!(wrapped.1 < 0.1, "{}", wrapped.1);
}

#[test]
fn slot_label_ends_at_colon() {
    assert_eq!(split_label("片长: 171 分钟"), Some(("片长", "171 分钟")));
    assert_eq!(split_label("导演：陈凯歌"), Some(("导演", "陈凯歌")));
    for text in [
        "http://a.test/",
        "12:30",
        "导演：",
        "：陈凯歌",
        "导演",
        "",
        "ＡＢ｛：｝",
    ] {
        assert_eq!(split_label(text), None, "{text}");
    }
}
