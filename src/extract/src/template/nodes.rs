//! Essential and optional nodes (Qiu 2013). In: the simplified sequences of a cluster's pages. Out: [`Piece`]s:
//! `[optional] essential optional … essential [optional]`, optional ones with their alternatives and how often each
//! occurs, repeated records as `+`.
//!
//! Every page is aligned to the medoid. An essential node stands on at least 95 % of the pages: folding common
//! subsequences page by page, as printed, depends on the order and lets one odd page empty the template.

use std::collections::HashMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::align::align;
use super::observation::Observation;
use super::repeats::{Token, merge};
use crate::similarity::mix;

/// Share of the pages on which an essential node stands.
pub(super) const QUORUM: f32 = 0.95;
/// Alternatives kept of one optional node, the most frequent ones.
const MAX_ALTERNATIVES: usize = 6;
/// Pieces of a gap so alike are one alternative.
const SAME_PIECE: f32 = 0.5;

/// One element of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// Hash of its name.
    pub name: u64,
    /// Blocks above it.
    pub depth: u16,
    /// Its fine key.
    pub key: u64,
    /// It stands for one or more equal siblings.
    pub plus: bool,
}

/// A run of a template.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Piece {
    /// Nodes that stand on (almost) every page, one after the other.
    Essential(Vec<Node>),
    /// Nodes that stand on some: each alternative with the share of the pages that have it.
    Optional(Vec<(f32, Vec<Node>)>),
}

/// The sequence of an observation with repeats merged.
pub fn sequence_of(seen: &Observation) -> Vec<Node> {
    let tokens: Vec<Token> = seen
        .nodes
        .iter()
        .map(|n| Token {
            label: n.name,
            depth: n.depth,
            plus: false,
        })
        .collect();
    let merged = merge(&tokens);
    let nodes = merged.tokens.iter().zip(&merged.places);
    nodes
        .map(|(token, place)| Node {
            name: token.label,
            depth: token.depth,
            key: seen.nodes[*place].key,
            plus: token.plus,
        })
        .collect()
}

/// Two nodes are the same when name and depth are; whether they repeat may differ from page to page.
fn symbol(node: &Node) -> u64 {
    mix(node.name, u64::from(node.depth))
}

/// Pieces of the template of these sequences; `medoid` is the index of the one in the middle.
pub(super) fn pieces(sequences: &[Vec<Node>], medoid: usize) -> Vec<Piece> {
    let symbols: Vec<Vec<u64>> = sequences
        .iter()
        .map(|s| s.iter().map(symbol).collect())
        .collect();
    let Some(middle) = sequences.get(medoid) else {
        return Vec::new();
    };
    let frame = Frame::of(&symbols, medoid);
    let mut pieces = Vec::new();
    for gap in 0..=frame.essential.len() {
        let alternatives = alternatives(&frame, gap, sequences, &symbols);
        if !alternatives.is_empty() {
            pieces.push(Piece::Optional(alternatives));
        }
        let Some(at) = frame.essential.get(gap) else {
            continue;
        };
        let plus = frame.plus(sequences, gap);
        let node = Node {
            plus,
            ..middle[*at]
        };
        match pieces.last_mut() {
            Some(Piece::Essential(run)) => run.push(node),
            _ => pieces.push(Piece::Essential(vec![node])),
        }
    }
    pieces
}

/// The essential places of the medoid, and where each member has them.
struct Frame {
    essential: Vec<usize>,
    /// For each member, for each essential node, its place; none when the member lacks it.
    places: Vec<Vec<Option<usize>>>,
    lengths: Vec<usize>,
}

impl Frame {
    fn of(symbols: &[Vec<u64>], medoid: usize) -> Self {
        let middle = &symbols[medoid];
        let mut counts = vec![0u32; middle.len()];
        let aligned: Vec<HashMap<usize, usize>> = symbols
            .iter()
            .map(|other| align(middle, other).into_iter().collect())
            .collect();
        for places in &aligned {
            for at in places.keys() {
                counts[*at] += 1;
            }
        }
        let wanted = QUORUM * symbols.len() as f32;
        let essential: Vec<usize> = (0..middle.len())
            .filter(|at| counts[*at] as f32 >= wanted)
            .collect();
        let places = aligned
            .iter()
            .map(|a| essential.iter().map(|e| a.get(e).copied()).collect())
            .collect();
        Self {
            essential,
            places,
            lengths: symbols.iter().map(Vec::len).collect(),
        }
    }

    /// What member `m` has between the essential nodes before and after the gap; none if it lacks one of them.
    fn gap(&self, m: usize, gap: usize) -> Option<Range<usize>> {
        let places = &self.places[m];
        let from = match gap.checked_sub(1) {
            None => 0,
            Some(before) => places[before]? + 1,
        };
        let to = match places.get(gap) {
            None => self.lengths[m],
            Some(place) => (*place)?,
        };
        (from < to).then_some(from..to)
    }

    fn plus(&self, sequences: &[Vec<Node>], essential: usize) -> bool {
        self.places
            .iter()
            .zip(sequences)
            .filter_map(|(places, nodes)| nodes.get(places[essential]?))
            .any(|node| node.plus)
    }
}

/// The alternatives of a gap, the most frequent first.
fn alternatives(
    frame: &Frame,
    gap: usize,
    sequences: &[Vec<Node>],
    symbols: &[Vec<u64>],
) -> Vec<(f32, Vec<Node>)> {
    let mut groups: Vec<(u32, Vec<u64>, Vec<Node>)> = Vec::new();
    let mut known: HashMap<&[u64], usize> = HashMap::new();
    for m in 0..sequences.len() {
        let Some(range) = frame.gap(m, gap) else {
            continue;
        };
        let piece = &symbols[m][range.clone()];
        match known.get(piece) {
            Some(at) => groups[*at].0 += 1,
            None => {
                known.insert(piece, groups.len());
                groups.push((1, piece.to_vec(), sequences[m][range].to_vec()));
            }
        }
    }
    groups.sort_by_key(|g| std::cmp::Reverse(g.0));
    let mut kept: Vec<(u32, Vec<u64>, Vec<Node>)> = Vec::new();
    for (count, piece, nodes) in groups {
        let like = kept.iter().position(|(_, other, _)| {
            let longer = other.len().max(piece.len()) as f32;
            align(other, &piece).len() as f32 >= SAME_PIECE * longer
        });
        match like {
            // What both have in common stands for both.
            Some(at) => {
                let (n, other, kept_nodes) = &mut kept[at];
                let common = align(other, &piece);
                *n += count;
                *kept_nodes = common.iter().map(|(i, _)| kept_nodes[*i]).collect();
                *other = common.iter().map(|(i, _)| other[*i]).collect();
            }
            None if kept.len() < MAX_ALTERNATIVES => kept.push((count, piece, nodes)),
            None => {}
        }
    }
    let all = sequences.len() as f32;
    kept.into_iter()
        .map(|(count, _, nodes)| (count as f32 / all, nodes))
        .collect()
}
