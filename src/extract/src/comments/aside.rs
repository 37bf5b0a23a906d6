//! What of a record is not its own text although it reads like text: a comment that it answers, the rest of the line of
//! name and time. In: a [`Record`] and the roles of its pieces. Out: the roles, changed. Never finds the text itself.

use std::collections::HashSet;

use super::keys;
use super::record::{Piece, Record, Role};
use super::{author, time_cues as signs, words};
use crate::page::{NodeId, Page};

/// Longest rest of the line of name and time that is not kept, in bytes.
const HEAD_LINE_BYTES: usize = 90;

/// Marks what stands in a quoted comment: an element that is called so, or that tells a time and has text of its own
/// beside the record's name, time and other text.
pub(super) fn mark_quotes(
    page: &Page,
    record: &Record,
    roles: &mut [Role],
    time: Option<usize>,
    name: Option<usize>,
) {
    let mut own = vec![false; record.elements.len()];
    for piece in time.into_iter().chain(name) {
        for element in record.around(&record.pieces[piece]) {
            own[element] = true;
        }
    }
    let mut quotes: HashSet<usize> = HashSet::new();
    for (at, piece) in record.pieces.iter().enumerate() {
        if roles[at] != Role::Time || Some(at) == time {
            continue;
        }
        let outermost = record.around(piece).take_while(|e| !own[*e]).last();
        // The same time once more is the record's own, printed for a narrow screen.
        let again = time.is_some_and(|t| same_time(page, record.pieces[t].node, piece.node));
        if let Some(element) =
            outermost.filter(|e| !again && is_quote(page, record, roles, *e, name))
        {
            quotes.insert(element);
        }
    }
    for (at, element) in record.elements.iter().enumerate().skip(1) {
        if !own[at] && keys::is_called(page, element.node, words::ANSWERED) {
            quotes.insert(at);
        }
    }
    if quotes.is_empty() {
        return;
    }
    let inside: Vec<bool> = record
        .pieces
        .iter()
        .map(|piece| record.around(piece).any(|e| quotes.contains(&e)))
        .collect();
    let outside = (0..roles.len()).any(|at| !inside[at] && roles[at] == Role::Text);
    if outside {
        for (at, inside) in inside.into_iter().enumerate() {
            if inside && roles[at] != Role::Time {
                roles[at] = Role::Quote;
            }
        }
    }
}

/// True for an element with a second time that has the name of a writer too, or hardly any text.
fn is_quote(
    page: &Page,
    record: &Record,
    roles: &[Role],
    element: usize,
    name: Option<usize>,
) -> bool {
    let node = record.elements[element].node;
    if keys::is_called(page, node, words::QUOTE) {
        return true;
    }
    let end = page.node(node).end;
    let mut bytes = 0;
    let mut writer = false;
    for (piece, role) in record.pieces.iter().zip(roles) {
        if (node..end).contains(&piece.node) && *role == Role::Text {
            bytes += piece.text.len();
            let another = name.is_none_or(|n| record.pieces[n].text != piece.text);
            writer |=
                another && !piece.text.starts_with('@') && author::looks_named(page, record, piece);
        }
    }
    writer || bytes <= HEAD_LINE_BYTES
}

fn same_time(page: &Page, a: NodeId, b: NodeId) -> bool {
    signs::printed(page, a) == signs::printed(page, b)
}

/// Marks what stands on the lines of the time and the name when there is text on other lines.
pub(super) fn mark_heads(
    record: &Record,
    roles: &mut [Role],
    time: Option<usize>,
    name: Option<usize>,
) {
    let lines: HashSet<u32> = time
        .into_iter()
        .chain(name)
        .map(|p| record.pieces[p].line)
        .collect();
    let on_head = |piece: &Piece| lines.contains(&piece.line);
    let elsewhere = record
        .pieces
        .iter()
        .zip(roles.iter())
        .any(|(p, r)| *r == Role::Text && !on_head(p));
    if !elsewhere {
        return;
    }
    for line in lines {
        let texts = || {
            record
                .pieces
                .iter()
                .zip(roles.iter())
                .filter(|(p, r)| p.line == line && **r == Role::Text)
        };
        if texts().map(|(p, _)| p.text.len()).sum::<usize>() > HEAD_LINE_BYTES {
            continue;
        }
        for (piece, role) in record.pieces.iter().zip(roles.iter_mut()) {
            if piece.line == line && *role == Role::Text {
                *role = Role::Head;
            }
        }
    }
}
