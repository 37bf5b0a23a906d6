//! Joins the pieces of a query into a tree, with remarks on operators that join nothing. Never fails: what joins
//! nothing is text.
//!
//! `NEAR` binds first, then `AND`, then `OR`, and a blank last: `进口 LNG OR 管道气` asks for 进口 and one of the others.
//!
//! It also widens a query: it lists the parts that narrow the result, and returns the query without its quotes or its
//! dates.

use std::ops::Range;

use super::pieces::{Field, Piece, Placed, Sign, Text, pieces, plain};
use super::{Misread, Note, is_date};
use crate::index::Target;

/// Deepest parentheses; deeper ones are text.
const MAX_DEPTH: usize = 8;

/// A part of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node {
    Text(Text),
    /// Put next to each other.
    Beside(Vec<Node>),
    And(Vec<Node>),
    Or(Vec<Node>),
    /// Without this.
    Not(Box<Node>),
    /// This, whatever the other words are.
    Needed(Box<Node>),
    /// Searched for here.
    In(Target, Box<Node>),
    Near(Text, Text, u32),
}

/// A part of the query that stands in no parentheses, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) node: Node,
    pub(super) at: Range<usize>,
}

/// All parts of a query.
pub(super) fn parts(typed: &str, pieces: Vec<Placed>, notes: &mut Vec<Note>) -> Vec<Part> {
    let mut joiner = Joiner {
        typed,
        pieces,
        at: 0,
        notes,
    };
    joiner.settle_parentheses();
    let mut parts = Vec::new();
    while joiner.at < joiner.pieces.len() {
        let start = joiner.place().start;
        if let Some(node) = joiner.or() {
            let end = joiner.end();
            parts.push(Part {
                node,
                at: start..end,
            });
        }
    }
    parts
}

struct Joiner<'a> {
    typed: &'a str,
    pieces: Vec<Placed>,
    at: usize,
    notes: &'a mut Vec<Note>,
}

impl Joiner<'_> {
    /// Makes text of parentheses that are not closed, close nothing or are too deep.
    fn settle_parentheses(&mut self) {
        let mut open: Vec<usize> = Vec::new();
        let mut odd: Vec<(usize, Misread)> = Vec::new();
        for (at, placed) in self.pieces.iter().enumerate() {
            match placed.piece {
                Piece::Open { .. } => open.push(at),
                Piece::Close => match open.pop() {
                    Some(begin) if open.len() >= MAX_DEPTH => {
                        odd.push((begin, Misread::Depth));
                        odd.push((at, Misread::Depth));
                    }
                    Some(_) => {}
                    None => odd.push((at, Misread::Parenthesis)),
                },
                _ => {}
            }
        }
        odd.extend(open.into_iter().map(|at| (at, Misread::Parenthesis)));
        for (at, why) in odd {
            self.make_text(at, why);
        }
    }

    /// Makes text of a piece that joins nothing, and says so.
    fn make_text(&mut self, at: usize, why: Misread) {
        let Some(placed) = self.pieces.get_mut(at) else {
            return;
        };
        let text = self.typed.get(placed.at.clone()).unwrap_or_default();
        placed.piece = plain(text, Some(why));
    }

    fn piece(&self, ahead: usize) -> Option<&Piece> {
        self.pieces.get(self.at + ahead).map(|placed| &placed.piece)
    }

    fn place(&self) -> Range<usize> {
        self.pieces.get(self.at).map_or(0..0, |p| p.at.clone())
    }

    /// End of the piece before this one.
    fn end(&self) -> usize {
        let before = self.at.checked_sub(1).and_then(|at| self.pieces.get(at));
        before.map_or(0, |placed| placed.at.end)
    }

    /// What stands next to each other, up to the end or the closing parenthesis.
    fn beside(&mut self) -> Option<Node> {
        let mut all = Vec::new();
        while !matches!(self.piece(0), None | Some(Piece::Close)) {
            all.extend(self.or());
        }
        joined(all, Node::Beside)
    }

    fn or(&mut self) -> Option<Node> {
        let mut any: Vec<Node> = self.and().into_iter().collect();
        while self.joins(&Piece::Or, !any.is_empty()) {
            any.extend(self.and());
        }
        joined(any, Node::Or)
    }

    fn and(&mut self) -> Option<Node> {
        let mut all: Vec<Node> = self.unit().into_iter().collect();
        while self.joins(&Piece::And, !all.is_empty()) {
            all.extend(self.unit());
        }
        joined(all, Node::And)
    }

    /// Whether this operator stands here between two parts; steps behind it if it does.
    fn joins(&mut self, operator: &Piece, before: bool) -> bool {
        if self.piece(0) != Some(operator) {
            return false;
        }
        let starts =
            |piece: Option<&Piece>| matches!(piece, Some(Piece::Text(_) | Piece::Open { .. }));
        let refused = self.piece(1) == Some(&Piece::Not) && starts(self.piece(2));
        if before && (refused || starts(self.piece(1))) {
            self.at += 1;
            return true;
        }
        false
    }

    /// A text, a group in parentheses, or what is refused.
    fn unit(&mut self) -> Option<Node> {
        match self.piece(0)?.clone() {
            Piece::Not if matches!(self.piece(1), Some(Piece::Text(_) | Piece::Open { .. })) => {
                self.at += 1;
                self.unit().map(|node| Node::Not(Box::new(node)))
            }
            Piece::Open { sign, field } => {
                self.at += 1;
                let inside = self.beside();
                // The closing parenthesis: `settle_parentheses` left only pairs.
                self.at += 1;
                let node = inside?;
                let node = match field {
                    Some(Field::Target(target)) => Node::In(target, Box::new(node)),
                    Some(field) => node.under(&field),
                    None => node,
                };
                Some(signed(node, sign))
            }
            Piece::Text(text) => {
                let start = self.place();
                self.at += 1;
                if let Some(why) = text.misread {
                    let piece = self.typed.get(start).unwrap_or_default().to_owned();
                    self.notes.push(Note::NotSyntax { piece, why });
                }
                Some(self.near(text))
            }
            _ => {
                self.make_text(self.at, Misread::Operator);
                self.unit()
            }
        }
    }

    /// A text, with the one that is to stand near it.
    fn near(&mut self, first: Text) -> Node {
        if let (Some(&Piece::Near(within)), Some(Piece::Text(second))) =
            (self.piece(0), self.piece(1))
        {
            let plain = |text: &Text| text.sign == Sign::None && text.field.is_none();
            let long = |text: &Text| text.text.chars().count() > 1;
            if plain(&first) && plain(second) && long(&first) && long(second) {
                let second = second.clone();
                self.at += 2;
                return Node::Near(first, second, within);
            }
        }
        let sign = first.sign;
        signed(Node::Text(first), sign)
    }
}

fn signed(node: Node, sign: Sign) -> Node {
    match sign {
        Sign::None => node,
        Sign::Plus => Node::Needed(Box::new(node)),
        Sign::Minus => Node::Not(Box::new(node)),
    }
}

fn joined(mut all: Vec<Node>, join: impl Fn(Vec<Node>) -> Node) -> Option<Node> {
    match all.len() {
        0 => None,
        1 => all.pop(),
        _ => Some(join(all)),
    }
}

impl Node {
    /// The same with each text under this label, where it has no field of its own.
    fn under(self, label: &Field) -> Self {
        let all = |nodes: Vec<Node>| nodes.into_iter().map(|node| node.under(label)).collect();
        match self {
            Node::Text(text) => Node::Text(Text {
                field: text.field.or_else(|| Some(label.clone())),
                ..text
            }),
            Node::Beside(nodes) => Node::Beside(all(nodes)),
            Node::And(nodes) => Node::And(all(nodes)),
            Node::Or(nodes) => Node::Or(all(nodes)),
            Node::Not(node) => Node::Not(Box::new(node.under(label))),
            Node::Needed(node) => Node::Needed(Box::new(node.under(label))),
            Node::In(target, node) => Node::In(target, node),
            // Values have no places: both must stand there.
            Node::Near(a, b, _) => Node::And(vec![Node::Text(a), Node::Text(b)]).under(label),
        }
    }

    /// Whether it leaves documents out that the words around it find.
    pub(super) fn narrows(&self) -> bool {
        match self {
            Node::Text(text) => text.field.is_some(),
            Node::Not(_) | Node::In(..) => true,
            Node::And(all) | Node::Or(all) => all.iter().any(Node::narrows),
            Node::Beside(_) | Node::Needed(_) | Node::Near(..) => false,
        }
    }

    /// Returns the text of a `site:` that is not refused.
    fn site(&self) -> Option<String> {
        match self {
            Node::Text(text) if text.field == Some(Field::Target(Target::Site)) => {
                Some(text.text.clone())
            }
            _ => None,
        }
    }

    /// How many texts it has.
    pub(super) fn texts(&self) -> usize {
        match self {
            Node::Text(_) => 1,
            Node::Near(..) => 2,
            Node::Not(inner) | Node::In(_, inner) | Node::Needed(inner) => inner.texts(),
            Node::Beside(all) | Node::And(all) | Node::Or(all) => all.iter().map(Node::texts).sum(),
        }
    }
}

/// A part of a query that narrows its result: a field or a refused word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Narrowing {
    /// As typed.
    pub text: String,
    /// The query without it.
    pub rest: String,
    /// The site, as typed, where it is nothing but `site:` with one.
    pub site: Option<String>,
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
        site: parts.get(at).and_then(|part| part.node.site()),
    };
    let narrows = |at: &usize| parts.get(*at).is_some_and(|part| part.node.narrows());
    (0..parts.len()).filter(narrows).map(narrowing).collect()
}

/// The phrases of a query in quotes, as they stand in these, without those of a field and refused ones.
pub fn quoted(typed: &str) -> Vec<String> {
    let all = pieces(typed).into_iter();
    let texts = all.filter_map(|placed| match placed.piece {
        Piece::Text(text) if is_phrase(&text) => Some(text.text),
        _ => None,
    });
    texts.collect()
}

fn is_phrase(text: &Text) -> bool {
    text.quoted && text.field.is_none() && text.sign != Sign::Minus
}

/// A query without its quotes: the words may stand apart.
pub fn without_quotes(typed: &str) -> String {
    without_quotes_around(typed, |_| true)
}

/// A query without the quotes around some of its phrases.
pub fn without_quotes_around(typed: &str, is_chosen: impl Fn(&str) -> bool) -> String {
    let mut out = String::new();
    let mut end = 0;
    for placed in pieces(typed) {
        let Piece::Text(text) = &placed.piece else {
            continue;
        };
        if is_phrase(text) && is_chosen(&text.text) {
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
