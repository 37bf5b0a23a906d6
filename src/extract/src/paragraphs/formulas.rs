//! Formulas of a line, in LaTeX: what a page writes between `\(` and `\)`, says of a `<math>`, or gives as the text of a picture.

use std::ops::Range;

use crate::lines::Line;
use crate::lines::outline::Outline;
use crate::page::{Attr, NodeId, Page, Tag};

/// Longest formula, in bytes.
const MAX_FORMULA: usize = 2_000;
/// Formulas of one line.
const MAX_FORMULAS: usize = 200;

/// The formula that a picture shows, if it is one of a formula.
pub(crate) fn of_picture(page: &Page, id: NodeId) -> Option<&str> {
    let alt = page.attr(id, Attr::Alt)?.trim();
    let class = page.attr(id, Attr::Class).unwrap_or_default();
    let source = page.attr(id, Attr::Src).unwrap_or_default();
    let mut names = class.split_ascii_whitespace();
    let is_called =
        names.any(|name| name.starts_with("mwe-math") || matches!(name, "latex" | "tex" | "math"));
    let is_made = [
        "latex.php",
        "latex.codecogs.com",
        "/equation?tex=",
        "/math/render/",
    ]
    .iter()
    .any(|maker| source.contains(maker));
    (is_called || is_made).then(|| simplify(alt)).flatten()
}

/// A formula without what only sets its size.
fn simplify(formula: &str) -> Option<&str> {
    let inner = formula
        .strip_prefix("{\\displaystyle")
        .and_then(|rest| rest.strip_suffix('}'));
    let inner = inner.unwrap_or(formula).trim().trim_matches('$').trim();
    (!inner.is_empty() && inner.len() <= MAX_FORMULA).then_some(inner)
}

/// A formula of a line, and the element that shows it.
pub(super) struct Shown<'a> {
    node: NodeId,
    formula: &'a str,
}

/// The formulas that the elements of a line show, pictures behind its last text too.
pub(super) fn find<'a>(page: &'a Page, outline: &Outline, line: &Line) -> Vec<Shown<'a>> {
    let next = outline.lines.get(outline.line_at(line.end));
    let next = next.map_or(NodeId::MAX, |next| next.first);
    let end = page.node(line.block).end.min(next).max(line.end);
    let formulas = (line.first..end).filter_map(|node| {
        let formula = match page.node(node).tag {
            Tag::IMG => of_picture(page, node),
            Tag::MATH => find_annotation(page, node),
            _ => None,
        };
        formula.map(|formula| Shown { node, formula })
    });
    formulas.take(MAX_FORMULAS).collect()
}

/// The spans of these formulas in a line whose `texts` are there.
pub(super) fn place(
    page: &Page,
    formulas: &[Shown<'_>],
    texts: &[(NodeId, Range<usize>)],
) -> Vec<(Range<usize>, String)> {
    let range_of = |node: NodeId| {
        let end = page.node(node).end;
        let from = texts.partition_point(|(text, _)| *text < node);
        let inside = texts.iter().skip(from).take_while(|(text, _)| *text < end);
        let before = from.checked_sub(1).map_or(0, |at| texts[at].1.end);
        let ranges = inside.map(|(_, range)| range.clone());
        ranges
            .reduce(|all, range| all.start..range.end)
            .unwrap_or(before..before)
    };
    let placed = formulas
        .iter()
        .map(|shown| (range_of(shown.node), shown.formula.to_owned()));
    placed.collect()
}

/// What is between `\(` and `\)`, `\[` and `\]`, with the ranges of it and these signs.
pub(super) fn find_delimited(text: &str) -> Vec<(Range<usize>, String)> {
    let mut found = Vec::new();
    let mut from = 0;
    for _ in 0..MAX_FORMULAS {
        let rest = text.get(from..).unwrap_or_default();
        let Some(at) = rest
            .match_indices('\\')
            .map(|(at, _)| at)
            .find(|at| matches!(rest.as_bytes().get(at + 1), Some(b'(' | b'[')))
        else {
            break;
        };
        let start = from + at;
        let inner = text.get(start + 2..).unwrap_or_default();
        let sign = if rest.as_bytes().get(at + 1) == Some(&b'(') {
            "\\)"
        } else {
            "\\]"
        };
        from = start + 2;
        if let Some(length) = inner.find(sign) {
            from += length + sign.len();
            let formula = inner.get(..length).and_then(simplify);
            found.extend(formula.map(|formula| (start..from, formula.to_owned())));
        }
    }
    found
}

/// What a `<math>` says that it is in LaTeX.
fn find_annotation(page: &Page, math: NodeId) -> Option<&str> {
    let mut inside = page.subtree(math);
    let annotation = inside.find(|id| page.node(*id).tag == Tag::ANNOTATION)?;
    let text = page.children(annotation).map(|id| page.text(id)).next()?;
    simplify(text.trim())
}
