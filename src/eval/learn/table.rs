//! The learned tables as source. In: weights and trees. Out: the text of `src/extract/weights.rs`, a tree a line, so that
//! it can be read. Never learns.

use std::fmt::Write as _;

use super::Tables;
use crate::extract::learn::{DEPTH, TYPES};

/// Weights are kept in thousandths.
const UNIT: f32 = 1_000.0;

/// The source of the tables.
pub(super) fn source(tables: &Tables) -> String {
    let mut out = String::from(
        "//! Weights of the extraction: a learned table. In: nothing. Out: thousandths with the names of their features, and\n\
         //! trees. Made by `taojin eval DIR --learn FILE`; never edited by hand.\n\n\
         use super::trees::Tree;\n\n\
         /// Log-odds that a line is text, from what is known of the line alone.\n\
         pub(super) const FIRST: &[(&str, i16)] = &[\n",
    );
    for (name, weight) in tables.names.first.iter().zip(&tables.first) {
        let _ = writeln!(out, "    ({name:?}, {}),", thousandths(*weight));
    }
    let _ = writeln!(
        out,
        "];\n\n/// Log-odds of each type of page ({}).\npub(super) const PAGE: &[(&str, [i16; {}])] = &[",
        TYPES.join(", "),
        TYPES.len()
    );
    for (k, name) in tables.names.page.iter().enumerate() {
        let weights: Vec<String> = tables
            .page
            .iter()
            .map(|w| thousandths(w[k]).to_string())
            .collect();
        let _ = writeln!(out, "    ({name:?}, [{}]),", weights.join(", "));
    }
    let kept: Vec<String> = tables.kept.iter().map(usize::to_string).collect();
    let _ = writeln!(
        out,
        "];\n\n/// Features of the line alone that the trees ask for, by their number in [`FIRST`].\n\
         pub(super) const KEPT: &[u16] = &[{}];\n\n\
         /// Thousandths that the votes of the trees are added to.\n\
         pub(super) const BIAS: i16 = {};\n\n\
         /// Trees over a line's second features, the types of its page and [`KEPT`], in this order.\n\
         pub(super) const TREES: &[Tree] = &[",
        kept.join(", "),
        thousandths(tables.forest.bias)
    );
    let names = names(tables);
    for tree in &tables.forest.trees {
        // A tree that stopped early asks what nothing exceeds: the answer is always no.
        let mut asks = tree.asks.clone();
        asks.resize(DEPTH, (0, f32::MAX));
        let asked = tree.asks.iter().map(|(feature, least)| {
            let name = names.get(*feature).copied().unwrap_or_default();
            format!("{name} > {}", rounded(*least))
        });
        let asked: Vec<String> = asked.collect();
        let asks: Vec<String> = asks
            .iter()
            .map(|(f, least)| format!("({f}, {})", rounded(*least)))
            .collect();
        let mut votes: Vec<String> = tree
            .votes
            .iter()
            .map(|v| thousandths(*v).to_string())
            .collect();
        votes.resize(1 << DEPTH, "0".to_owned());
        let _ = writeln!(
            out,
            "    // {}\n    Tree {{ asks: [{}], votes: [{}] }},",
            asked.join("; "),
            asks.join(", "),
            votes.join(", ")
        );
    }
    out.push_str("];\n");
    out
}

/// Names of what the trees ask for, by number.
fn names(tables: &Tables) -> Vec<&'static str> {
    let kept = tables.kept.iter().map(|k| tables.names.first[*k]);
    tables
        .names
        .second
        .iter()
        .copied()
        .chain(TYPES)
        .chain(kept)
        .collect()
}

fn thousandths(weight: f32) -> i16 {
    (weight * UNIT)
        .round()
        .clamp(f32::from(i16::MIN), f32::from(i16::MAX)) as i16
}

/// A value as source, always with a point.
fn rounded(value: f32) -> String {
    if value == f32::MAX {
        return "f32::MAX".to_owned();
    }
    format!("{:?}", (value * 1e4).round() / 1e4)
}
