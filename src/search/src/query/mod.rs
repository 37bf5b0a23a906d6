//! The query language. [`parse`] turns typed text into a [`Query`] for the index, with notes on what was taken as text
//! although it looks like syntax. Never fails: odd text is searched literally.
//!
//! ```text
//! 页岩气 开发            words: a document has all of a few, most of many
//! "海洋石油 122"         these very characters
//! -钻井  !钻井  NOT 钻井  without
//! a AND b   +a           needed, whatever the other words are
//! LNG OR 液化天然气      one of both is enough
//! (a OR b) -(c d)        groups
//! title:油价  title:(a OR b)  site:cnpc.com.cn  author:张三  source:新华社  url:2026/11
//! 字号:国发〔2026〕12号  发布机构:能源局      what a notice's table says under a label
//! SU*                    letters and digits that begin so
//! 油价 NEAR/5 上涨       with five characters between them at most
//! date:2026-11  date:2026-11-01..2026-11-05
//! comments:涨价          in what readers say below the text
//! https://a.example/1    the document that stands there, and those that print the address
//! changed:7d             new or changed in the last seven days; also as date:
//! since:2026-11-01 until:2026-11-05   published on these days and between; also 2026-11, 2026 and 7d
//! ```

pub mod dates;
pub mod highlight;
mod pieces;
pub mod snippet;
#[cfg(test)]
mod tests;
mod tree;

use crate::analyze::normalize;
use crate::index::{Clause, Form, Group, Occur, Query, Target, is_comparison, is_notice_label};
use dates::{Calendar, DateError};
pub use pieces::is_label;
use pieces::{Field, Sign, Text, pieces};
pub use tree::{
    Narrowing, narrowings, quoted, without_dates, without_quotes, without_quotes_around,
};
use tree::{Node, parts};

/// Longest query in characters; the rest is left out.
pub const MAX_QUERY_CHARS: usize = 300;
/// Most texts that are more than plain words; further ones become plain words.
const MAX_TEXTS: usize = 32;

/// A query and what should be said about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parsed {
    /// What to ask the index.
    pub query: Query,
    /// Remarks for the person.
    pub notes: Vec<Note>,
}

/// What should be said about a query; printed in English, a sentence without a full stop.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Note {
    /// The rest was left out.
    #[error("only the first {MAX_QUERY_CHARS} characters were searched")]
    Cut,
    /// It looks like a date filter, but is no date.
    #[error("{piece}: {error}; searched as text")]
    NoDate {
        /// As typed.
        piece: String,
        /// Why it is none.
        error: DateError,
    },
    /// It looks like syntax, but is none.
    #[error("{piece}: {why}; searched as text")]
    NotSyntax {
        /// As typed.
        piece: String,
        /// Why it is none.
        why: Misread,
    },
    /// No document has a phrase of a longer query as it stands.
    #[error("{piece}: no document has this as it stands; searched without the quotes")]
    NoPhrase {
        /// Without the quotes.
        piece: String,
    },
    /// No document is of this site.
    #[error("site:{site}: no document here is of a site of this name or host")]
    NoSite {
        /// As typed.
        site: String,
    },
}

/// Why something that looks like syntax is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Misread {
    /// An operator with nothing to join.
    #[error("there is nothing to join on both sides")]
    Operator,
    /// A parenthesis without its other half.
    #[error("the other parenthesis is missing")]
    Parenthesis,
    /// Too many parentheses in each other.
    #[error("too many parentheses in each other")]
    Depth,
    /// A quote without its other half, or with nothing inside.
    #[error("the quotes are not closed, or empty")]
    Quote,
    /// A field without a value.
    #[error("nothing stands behind the colon")]
    Empty,
    /// A field that not all documents have.
    #[error("there is no such field, unless pages themselves have it")]
    Field,
    /// A star elsewhere than behind letters and digits.
    #[error("a star works behind letters and digits only")]
    Star,
    /// A date where only texts can be joined.
    #[error("dates cannot be joined by OR, put in parentheses or refused")]
    Date,
    /// More than so many.
    #[error("a query has at most {MAX_TEXTS} phrases, fields and operators")]
    TooMany,
}

/// Reads a query, its dates by `calendar`.
pub fn parse(typed: &str, calendar: &Calendar) -> Parsed {
    let mut parser = Parser {
        query: Query::default(),
        notes: Vec::new(),
        words: Vec::new(),
        texts: 0,
        calendar,
    };
    let (text, rest) = match typed.char_indices().nth(MAX_QUERY_CHARS) {
        Some((cut, _)) => typed.split_at_checked(cut).unwrap_or((typed, "")),
        None => (typed, ""),
    };
    if !rest.is_empty() {
        parser.notes.push(Note::Cut);
    }
    for part in parts(text, pieces(text), &mut parser.notes) {
        parser.part(part.node, text.get(part.at).unwrap_or_default());
    }
    parser.query.words = parser.words.join(" ");
    Parsed {
        query: parser.query,
        notes: parser.notes,
    }
}

struct Parser<'a> {
    query: Query,
    notes: Vec<Note>,
    words: Vec<String>,
    /// Texts that are more than plain words.
    texts: usize,
    calendar: &'a Calendar,
}

impl Parser<'_> {
    /// A part that stands in no parentheses.
    fn part(&mut self, node: Node, typed: &str) {
        match node {
            Node::Beside(all) => all.into_iter().for_each(|node| self.part(node, typed)),
            Node::And(all) => {
                for node in all {
                    match node {
                        Node::Text(text) if is_plain(&text) => {
                            self.group(Node::Needed(Box::new(Node::Text(text))), typed);
                        }
                        node => self.part(node, typed),
                    }
                }
            }
            Node::Text(text) if is_date(&text) => self.date(&text),
            Node::Needed(node) if matches!(&*node, Node::Text(text) if is_date(text)) => {
                self.part(*node, typed);
            }
            // No document can be refused for a date: it is searched as it stands.
            Node::Not(node) if matches!(&*node, Node::Text(text) if is_date(text)) => {
                self.words.push(typed.to_owned());
                let (piece, why) = (typed.to_owned(), Misread::Date);
                self.notes.push(Note::NotSyntax { piece, why });
            }
            Node::Text(text) if is_plain(&text) => match address(&text.text) {
                Some(address) if self.texts + 2 <= MAX_TEXTS => {
                    self.texts += 2;
                    self.query.groups.push(at_address(address));
                }
                _ => self.push_word(text.text),
            },
            node => self.group(node, typed),
        }
    }

    /// A sign of percent belongs to the number before it, whatever stands between them.
    fn push_word(&mut self, word: String) {
        let is_percent = matches!(&*normalize(&word), "%" | "‰");
        match self.words.last_mut() {
            Some(number) if is_percent && number.ends_with(char::is_numeric) => {
                number.push_str(&word);
            }
            _ => self.words.push(word),
        }
    }

    fn group(&mut self, node: Node, typed: &str) {
        self.texts += node.texts();
        if self.texts > MAX_TEXTS {
            let (piece, why) = (typed.to_owned(), Misread::TooMany);
            let said =
                |note: &Note| matches!(note, Note::NotSyntax { why: said, .. } if *said == why);
            if !self.notes.iter().any(said) {
                self.notes.push(Note::NotSyntax { piece, why });
            }
            self.words.push(typed.to_owned());
            return;
        }
        let group = self.made(node, Target::Anywhere);
        self.query.groups.push(group);
    }

    /// A group of alternatives.
    fn made(&mut self, node: Node, target: Target) -> Group {
        let (occur, node) = match node {
            Node::Not(node) => (Occur::Without, *node),
            node => (Occur::Must, node),
        };
        let any = match node {
            Node::Or(any) => any
                .into_iter()
                .map(|node| self.clause(node, target))
                .collect(),
            node => vec![self.clause(node, target)],
        };
        Group { occur, any }
    }

    fn clause(&mut self, node: Node, target: Target) -> Clause {
        let all = |groups| Clause {
            form: Form::All(groups),
            ..Clause::default()
        };
        match node {
            Node::Text(text) => self.text(text, target),
            Node::In(target, node) => match *node {
                node @ Node::Or(_) => all(vec![self.made(node, target)]),
                node => self.clause(node, target),
            },
            Node::Needed(node) => self.clause(*node, target),
            Node::Near(first, second, within) => Clause {
                target,
                text: first.text,
                form: Form::Near {
                    other: second.text,
                    within,
                },
            },
            node @ (Node::Not(_) | Node::Or(_)) => all(vec![self.made(node, target)]),
            Node::And(nodes) => all(nodes
                .into_iter()
                .map(|node| self.made(node, target))
                .collect()),
            Node::Beside(nodes) => {
                let mut words: Vec<String> = Vec::new();
                let mut groups = Vec::new();
                for node in nodes {
                    match node {
                        Node::Text(text) if is_plain(&text) => words.push(text.text),
                        node => groups.push(self.made(node, target)),
                    }
                }
                let words = (!words.is_empty()).then(|| Clause::words(target, words.join(" ")));
                match (words, groups.is_empty()) {
                    (Some(words), true) => words,
                    (words, _) => {
                        groups.extend(words.map(|words| Group {
                            occur: Occur::Must,
                            any: vec![words],
                        }));
                        all(groups)
                    }
                }
            }
        }
    }

    fn text(&mut self, text: Text, target: Target) -> Clause {
        let target = match text.field {
            Some(Field::Target(target)) => target,
            Some(Field::Label(label)) => return labelled(&label, text.text, text.quoted),
            None => target,
            Some(_) => {
                let (piece, why) = (text.raw.clone(), Misread::Date);
                self.notes.push(Note::NotSyntax { piece, why });
                return Clause::words(target, text.raw);
            }
        };
        if text.quoted {
            return Clause::literal(target, text.text);
        }
        if let Some(start) = text.text.strip_suffix(['*', '＊']) {
            if !start.is_empty() && start.chars().all(is_run) {
                let form = Form::Prefix;
                let text = start.to_owned();
                return Clause { target, text, form };
            }
            let (piece, why) = (text.text.clone(), Misread::Star);
            self.notes.push(Note::NotSyntax { piece, why });
        }
        Clause::words(target, text.text)
    }

    /// Narrows the time of publication or of the last change.
    fn date(&mut self, text: &Text) {
        let (calendar, filter) = (self.calendar, &mut self.query.filter);
        let value = text.text.as_str();
        let published = |first: &str, last: &str| calendar.range(Some(first), Some(last));
        let done = match text.field {
            Some(Field::Since) => published(value, "").map(|r| filter.narrow_published(r)),
            Some(Field::Until) => published("", value).map(|r| filter.narrow_published(r)),
            Some(Field::Changed) => calendar.span(value).map(|r| filter.narrow_changed(r)),
            _ => {
                let (first, last) = ends(value);
                published(first, last).map(|r| filter.narrow_published(r))
            }
        };
        if let Err(error) = done {
            let piece = text.raw.clone();
            self.words.push(piece.clone());
            self.notes.push(Note::NoDate { piece, error });
        }
    }
}

/// Whether a text is nothing but words.
fn is_plain(text: &Text) -> bool {
    let star = text.misread.is_none() && text.text.ends_with(['*', '＊']);
    text.sign == Sign::None && text.field.is_none() && !text.quoted && !star
}

fn is_date(text: &Text) -> bool {
    !matches!(text.field, None | Some(Field::Target(_) | Field::Label(_)))
}

/// A value under a label: what looks like a label, but none of notices, may as well be text.
fn labelled(label: &str, value: String, quoted: bool) -> Clause {
    let is_compared = !quoted && is_comparison(&value);
    let text = format!("{label}:{value}");
    let field = Clause::literal(Target::Meta, text.clone());
    if is_notice_label(label) || is_compared {
        return field;
    }
    let text = if quoted {
        Clause::literal(Target::Anywhere, text)
    } else {
        Clause::words(Target::Anywhere, text)
    };
    let either = Group {
        occur: Occur::Must,
        any: vec![field, text],
    };
    Clause {
        form: Form::All(vec![either]),
        ..Clause::default()
    }
}

/// A letter or digit of a script with spaces.
fn is_run(c: char) -> bool {
    c.is_alphanumeric() && !crate::analyze::is_cjk(c)
}

/// What stands behind the scheme of an address.
fn address(text: &str) -> Option<&str> {
    let (scheme, rest) = text.split_once("://")?;
    let web = ["http", "https"]
        .iter()
        .any(|web| scheme.eq_ignore_ascii_case(web));
    // Who prints an address often leaves its last slash out.
    let rest = rest.trim_end_matches('/');
    (web && rest.starts_with(char::is_alphanumeric)).then_some(rest)
}

/// The document that stands at an address, and those that print it.
fn at_address(address: &str) -> Group {
    let clause = |target| Clause::literal(target, address);
    Group {
        occur: Occur::Must,
        any: vec![clause(Target::Url), clause(Target::Anywhere)],
    }
}

/// First and last of `2026-11-01..2026-11-05`; one day, month or year is both.
fn ends(range: &str) -> (&str, &str) {
    range.split_once("..").unwrap_or((range, range))
}
