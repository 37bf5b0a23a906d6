//! A query made wider. In: what a person typed. Out: its parts that narrow the result, and the query without its quotes
//! or its dates.

use super::is_date;
use super::pieces::{Piece, Sign, pieces};
use super::tree::{Node, parts};

/// A part of a query that narrows its result: a field or a refused word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Narrowing {
    /// As typed.
    pub text: String,
    /// The query without it.
    pub rest: String,
}

/// The parts of a query that narrow its result, in their order.
pub fn narrowings(typed: &str) -> Vec<Narrowing> {
    let parts = parts(typed, pieces(typed), &mut Vec::new());
    let text = |at: usize| {
        let place = parts.get(at).map(|part| part.at.clone());
        place.and_then(|at| typed.get(at)).unwrap_or_default()
    };
    let without = |left_out: usize| {
        let others = (0..parts.len()).filter(|at| *at != left_out);
        let others: Vec<&str> = others.map(text).collect();
        others.join(" ")
    };
    let narrowing = |at: usize| Narrowing {
        text: text(at).to_owned(),
        rest: without(at),
    };
    let narrows = |at: &usize| parts.get(*at).is_some_and(|part| part.node.narrows());
    (0..parts.len()).filter(narrows).map(narrowing).collect()
}

/// A query without its quotes: the words may stand apart.
pub fn without_quotes(typed: &str) -> String {
    let mut out = String::new();
    let mut end = 0;
    for placed in pieces(typed) {
        let Piece::Text(text) = &placed.piece else {
            continue;
        };
        if text.quoted && text.field.is_none() && text.sign != Sign::Minus {
            out.push_str(typed.get(end..placed.at.start).unwrap_or_default());
            out.push_str(&text.text);
            end = placed.at.end;
        }
    }
    out.push_str(typed.get(end..).unwrap_or_default());
    out
}

/// A query without its dates.
pub fn without_dates(typed: &str) -> String {
    let parts = parts(typed, pieces(typed), &mut Vec::new()).into_iter();
    let dated = |node: &Node| matches!(node, Node::Text(text) if is_date(text));
    let kept = parts.filter(|part| !dated(&part.node));
    let kept: Vec<&str> = kept.filter_map(|part| typed.get(part.at)).collect();
    kept.join(" ")
}
