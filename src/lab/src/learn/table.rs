//! What was learned as tables. In: weights and trees. Out: [`Weights`], and the text of `src/extract/src/classify/weights.rs`, a tree a
//! line, so that it can be read. Never learns.

use std::fmt::Write as _;

use super::boost::{Forest, Grown};
use taojin_extract::learn::{Names, TYPES, Tree, Weights};

/// Weights are kept in thousandths.
const UNIT: f32 = 1_000.0;

/// What was learned, rounded as it is kept.
pub(super) fn weights(
    names: &Names,
    first: &[f32],
    page: &[Vec<f32>],
    forest: &Forest,
    kept: &[usize],
) -> Weights {
    let line = |(name, weight): (&&'static str, &f32)| (*name, thousandths(*weight));
    let of_page = |(k, name): (usize, &&'static str)| {
        (
            *name,
            std::array::from_fn(|class| thousandths(page[class][k])),
        )
    };
    Weights {
        first: names.first.iter().zip(first).map(line).collect(),
        page: names.page.iter().enumerate().map(of_page).collect(),
        kept: kept.iter().map(|k| *k as u16).collect(),
        bias: thousandths(forest.bias),
        trees: forest.trees.iter().map(tree).collect(),
    }
}

/// A tree that stopped early asks what nothing exceeds: the answer is always no.
fn tree(grown: &Grown) -> Tree {
    let ask = |at| {
        let asked = grown.asks.get(at);
        asked.map_or((0, f32::MAX), |(f, least)| (*f as u16, rounded(*least)))
    };
    let vote = |at| grown.votes.get(at).map_or(0, |v| thousandths(*v));
    Tree {
        asks: std::array::from_fn(ask),
        votes: std::array::from_fn(vote),
    }
}

/// The source of the tables.
pub(super) fn source(weights: &Weights, names: &Names) -> String {
    let mut out = String::from(
        "//! Weights of the extraction: a learned table. In: nothing. Out: thousandths with the names of their features, and\n\
         //! trees. Made by `taojin eval DIR --learn FILE`; never edited by hand.\n\n\
         use super::trees::Tree;\n\n\
         /// Log-odds that a line is text, from what is known of the line alone.\n\
         pub(super) const FIRST: &[(&str, i16)] = &[\n",
    );
    for (name, weight) in weights.first.iter() {
        let _ = writeln!(out, "    ({name:?}, {weight}),");
    }
    let _ = writeln!(
        out,
        "];\n\n/// Log-odds of each type of page ({}).\npub(super) const PAGE: &[(&str, [i16; {}])] = &[",
        TYPES.join(", "),
        TYPES.len()
    );
    for (name, of_types) in weights.page.iter() {
        let _ = writeln!(out, "    ({name:?}, {of_types:?}),");
    }
    let _ = writeln!(
        out,
        "];\n\n/// Features of the line alone that the trees ask for, by their number in [`FIRST`].\n\
         pub(super) const KEPT: &[u16] = &{:?};\n\n\
         /// Thousandths that the votes of the trees are added to.\n\
         pub(super) const BIAS: i16 = {};\n\n\
         /// Trees over a line's second features, the types of its page and [`KEPT`], in this order.\n\
         pub(super) const TREES: &[Tree] = &[",
        weights.kept, weights.bias
    );
    let kept = weights.kept.iter().map(|k| names.first[usize::from(*k)]);
    let asked = names.second.iter().copied().chain(TYPES).chain(kept);
    let asked: Vec<&str> = asked.collect();
    for tree in weights.trees.iter() {
        write_tree(tree, &asked, &mut out);
    }
    out.push_str("];\n");
    out
}

/// A tree, with the names of what it asks in a comment.
fn write_tree(tree: &Tree, names: &[&str], out: &mut String) {
    let real = tree.asks.iter().filter(|(_, least)| *least < f32::MAX);
    let said = real.map(|(feature, least)| {
        let name = names.get(usize::from(*feature)).copied();
        format!("{} > {least:?}", name.unwrap_or_default())
    });
    let said: Vec<String> = said.collect();
    let asks = tree.asks.iter().map(|(feature, least)| match least {
        least if *least < f32::MAX => format!("({feature}, {least:?})"),
        _ => format!("({feature}, f32::MAX)"),
    });
    let asks: Vec<String> = asks.collect();
    let _ = writeln!(
        out,
        "    // {}\n    Tree {{ asks: [{}], votes: {:?} }},",
        said.join("; "),
        asks.join(", "),
        tree.votes
    );
}

fn thousandths(weight: f32) -> i16 {
    (weight * UNIT)
        .round()
        .clamp(f32::from(i16::MIN), f32::from(i16::MAX)) as i16
}

/// A cut, as exactly as it is kept.
fn rounded(value: f32) -> f32 {
    (value * 1e4).round() / 1e4
}
