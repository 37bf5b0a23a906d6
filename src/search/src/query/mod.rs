//! The query language. In: what a person typed. Out: a [`Query`] for the index, and notes on what was taken as
//! text although it looks like syntax. Never fails: odd text is searched literally.
//!
//! ```text
//! 页岩气 开发            words: documents with all of them first
//! "海洋石油 122"         these very characters
//! -钻井  -"招聘启事"     without
//! LNG OR 液化天然气      one of both is enough
//! title:油价             in the title        site:cnpc.com.cn  author:张三  source:新华社  url:2026/11
//! 字号:国发〔2026〕12号  发布机构:能源局      what a notice's table says under a label
//! date:2026-11  date:2026-11-01..2026-11-05
//! comments:涨价          in what readers say below the text
//! https://a.example/1    the document that stands there, and those that print the address
//! changed:7d             new or changed in the last seven days; also as date:
//! since:2026-11-01 until:2026-11-05   published on these days and between; also 2026-11, 2026 and 7d
//! ```

pub mod dates;
pub mod highlight;
pub mod snippet;
#[cfg(test)]
mod tests;

use crate::index::{Clause, Group, Occur, Query, Target, is_notice_label};
use dates::{Calendar, DateError};

/// Longest query in characters; the rest is left out.
pub const MAX_QUERY_CHARS: usize = 300;
/// Most phrases, fields and refused words of one query; further ones become plain words.
const MAX_GROUPS: usize = 32;

/// What refuses the word behind it.
const MINUS: [char; 3] = ['-', '－', '−'];
/// Longest label of a field of a page, in characters.
const MAX_LABEL_CHARS: usize = 10;

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
}

/// One blank-separated piece of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Piece {
    minus: bool,
    field: Option<Field>,
    text: String,
    quoted: bool,
    /// As typed, for when it turns out to be no syntax.
    raw: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Target(Target),
    Since,
    Until,
    Date,
    Changed,
}

/// Reads a query, its dates by `calendar`.
pub fn parse(typed: &str, calendar: &Calendar) -> Parsed {
    let mut parser = Parser {
        parsed: Parsed {
            query: Query::default(),
            notes: Vec::new(),
        },
        words: Vec::new(),
        calendar,
    };
    let (text, rest) = match typed.char_indices().nth(MAX_QUERY_CHARS) {
        Some((cut, _)) => typed.split_at_checked(cut).unwrap_or((typed, "")),
        None => (typed, ""),
    };
    if !rest.is_empty() {
        parser.parsed.notes.push(Note::Cut);
    }
    let pieces = split(text);
    let mut at = 0;
    while let Some(piece) = pieces.get(at) {
        let alternatives = alternatives(&pieces, at);
        if alternatives.len() > 1 {
            parser.group(&alternatives);
            at += alternatives.len() * 2 - 1;
        } else {
            parser.piece(piece);
            at += 1;
        }
    }
    parser.parsed.query.words = parser.words.join(" ");
    parser.parsed
}

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
    let pieces = split(typed);
    let mut parts: Vec<(String, bool)> = Vec::new();
    let mut at = 0;
    while at < pieces.len() {
        let alternatives = alternatives(&pieces, at);
        let narrows = |piece: &&Piece| piece.field.is_some() || piece.minus;
        let typed: Vec<&str> = alternatives
            .iter()
            .map(|piece| piece.raw.as_str())
            .collect();
        parts.push((typed.join(" OR "), alternatives.iter().any(narrows)));
        at += alternatives.len() * 2 - 1;
    }
    let without = |left_out: usize| {
        let others = parts.iter().enumerate().filter(|(at, _)| *at != left_out);
        let others: Vec<&str> = others.map(|(_, (text, _))| text.as_str()).collect();
        others.join(" ")
    };
    let narrowing = |(at, (text, narrows)): (usize, &(String, bool))| {
        narrows.then(|| Narrowing {
            text: text.clone(),
            rest: without(at),
        })
    };
    parts.iter().enumerate().filter_map(narrowing).collect()
}

struct Parser<'a> {
    parsed: Parsed,
    words: Vec<String>,
    calendar: &'a Calendar,
}

impl Parser<'_> {
    fn piece(&mut self, piece: &Piece) {
        let date = match piece.field {
            Some(Field::Since) if !piece.minus => self.dates(&piece.text, ""),
            Some(Field::Until) if !piece.minus => self.dates("", &piece.text),
            Some(Field::Date) if !piece.minus => {
                let (first, last) = ends(&piece.text);
                self.dates(first, last)
            }
            Some(Field::Changed) if !piece.minus => {
                let span = self.calendar.span(&piece.text);
                span.map(|span| self.parsed.query.filter.narrow_changed(span))
            }
            Some(Field::Target(_)) | None => {
                let plain = piece.field.is_none() && !piece.quoted && !piece.minus;
                let room = self.parsed.query.groups.len() < MAX_GROUPS;
                if plain
                    && room
                    && let Some(address) = address(&piece.raw)
                {
                    self.parsed.query.groups.push(at_address(address));
                } else if plain || !room {
                    self.words.push(piece.raw.clone());
                } else {
                    let occur = if piece.minus {
                        Occur::Without
                    } else {
                        Occur::Must
                    };
                    self.parsed.query.groups.push(Group {
                        occur,
                        any: clauses(piece),
                    });
                }
                return;
            }
            Some(_) => Err(DateError::Date(piece.text.clone())),
        };
        if let Err(error) = date {
            self.words.push(piece.raw.clone());
            let piece = piece.raw.clone();
            self.parsed.notes.push(Note::NoDate { piece, error });
        }
    }

    /// Narrows the time of publication; an empty end is no limit.
    fn dates(&mut self, first: &str, last: &str) -> Result<(), DateError> {
        let range = self.calendar.range(Some(first), Some(last))?;
        self.parsed.query.filter.narrow_published(range);
        Ok(())
    }

    fn group(&mut self, alternatives: &[&Piece]) {
        if self.parsed.query.groups.len() >= MAX_GROUPS {
            self.words
                .extend(alternatives.iter().map(|p| p.raw.clone()));
            return;
        }
        self.parsed.query.groups.push(Group {
            occur: Occur::Must,
            any: alternatives
                .iter()
                .flat_map(|piece| clauses(piece))
                .collect(),
        });
    }
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
    let clause = |target| Clause {
        target,
        text: address.to_owned(),
        literal: true,
    };
    Group {
        occur: Occur::Must,
        any: vec![clause(Target::Url), clause(Target::Anywhere)],
    }
}

/// First and last of `2026-11-01..2026-11-05`; one day, month or year is both.
fn ends(range: &str) -> (&str, &str) {
    range.split_once("..").unwrap_or((range, range))
}

/// What a piece asks for: what looks like a label, but none of notices, may as well be text.
fn clauses(piece: &Piece) -> Vec<Clause> {
    let own = clause(piece);
    let label = own.text.split(':').next().unwrap_or_default();
    let may_be_text = own.target == Target::Meta && !is_notice_label(label);
    let text = may_be_text.then(|| Clause {
        target: Target::Anywhere,
        text: piece.raw.trim_start_matches(MINUS).to_owned(),
        literal: piece.minus,
    });
    std::iter::once(own).chain(text).collect()
}

fn clause(piece: &Piece) -> Clause {
    let (target, text) = match piece.field {
        // The label is part of what is asked for.
        Some(Field::Target(Target::Meta)) => {
            let label = piece
                .raw
                .trim_start_matches(MINUS)
                .split([':', '：'])
                .next();
            (
                Target::Meta,
                format!("{}:{}", label.unwrap_or_default(), piece.text),
            )
        }
        Some(Field::Target(target)) => (target, piece.text.clone()),
        Some(_) => (Target::Anywhere, piece.raw.clone()),
        None => (Target::Anywhere, piece.text.clone()),
    };
    Clause {
        target,
        text,
        literal: piece.quoted,
    }
}

/// The pieces joined by OR from `at` on: one when there is no OR, or when it joins dates or refused words.
fn alternatives(pieces: &[Piece], at: usize) -> Vec<&Piece> {
    let joins =
        |piece: &Piece| !piece.minus && matches!(piece.field, None | Some(Field::Target(_)));
    let mut found: Vec<&Piece> = pieces.get(at).into_iter().collect();
    let mut next = at + 1;
    while let (Some(or), Some(other)) = (pieces.get(next), pieces.get(next + 1)) {
        if !is_or(or)
            || is_or(other)
            || !joins(other)
            || !found.iter().all(|p| joins(p) && !is_or(p))
        {
            break;
        }
        found.push(other);
        next += 2;
    }
    found
}

fn is_or(piece: &Piece) -> bool {
    !piece.quoted
        && !piece.minus
        && piece.field.is_none()
        && matches!(piece.text.as_str(), "OR" | "|" | "||" | "ＯＲ")
}

/// Whether a word before a colon may be the label of a field of a page.
fn is_label(name: &str) -> bool {
    let is_han = |c: char| matches!(c, '\u{3400}'..='\u{9FFF}');
    (2..=MAX_LABEL_CHARS).contains(&name.chars().count()) && name.chars().all(is_han)
}

/// Cuts a query at blanks outside of quotes.
fn split(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (piece, after) = take_piece(rest);
        if !piece.text.trim().is_empty() || piece.field.is_some() {
            pieces.push(piece);
        } else if !piece.quoted && !piece.raw.trim().is_empty() {
            pieces.push(Piece {
                minus: false,
                text: piece.raw.clone(),
                ..piece
            });
        }
        rest = after.trim_start();
    }
    pieces
}

fn take_piece(text: &str) -> (Piece, &str) {
    let (minus, body) = match text.strip_prefix(MINUS) {
        Some(body) if body.starts_with(|c: char| !c.is_whitespace() && c != '-') => (true, body),
        _ => (false, text),
    };
    let (field, value) =
        take_field(body).map_or((None, body), |(field, value)| (Some(field), value));
    let (quoted, content, after) = match take_quoted(value) {
        Some((content, after)) => (true, content, after),
        None => {
            let end = word_end(value);
            let (content, after) = value.split_at_checked(end).unwrap_or((value, ""));
            (false, content, after)
        }
    };
    let raw_len = text.len() - after.len();
    let raw = text.get(..raw_len).unwrap_or(text);
    // A field without a value (`title:`) is text.
    let empty_field = field.is_some() && content.trim().is_empty();
    let piece = Piece {
        minus: minus && !empty_field,
        field: field.filter(|_| !empty_field),
        text: if empty_field { raw } else { content }.to_owned(),
        quoted: quoted && !empty_field,
        raw: raw.to_owned(),
    };
    (piece, after)
}

/// End of an unquoted word: a blank, or a quote that opens a phrase behind it.
fn word_end(text: &str) -> usize {
    for (i, c) in text.char_indices() {
        let opens = i > 0
            && closing(c).is_some()
            && take_quoted(text.get(i..).unwrap_or_default()).is_some();
        if c.is_whitespace() || opens {
            return i;
        }
    }
    text.len()
}

fn closing(open: char) -> Option<&'static [char]> {
    match open {
        '"' | '＂' => Some(&['"', '＂']),
        '“' | '”' => Some(&['”', '“']),
        '「' => Some(&['」']),
        '『' => Some(&['』']),
        _ => None,
    }
}

/// The text between quotes, if the text begins with a quote that is closed.
fn take_quoted(text: &str) -> Option<(&str, &str)> {
    let open = text.chars().next()?;
    let inner = text.get(open.len_utf8()..)?;
    let end = inner.find(closing(open)?)?;
    let close = inner.get(end..)?.chars().next()?;
    Some((inner.get(..end)?, inner.get(end + close.len_utf8()..)?))
}

fn take_field(text: &str) -> Option<(Field, &str)> {
    let (name, value) = text.split_once([':', '：'])?;
    // `https://…` is an address, not a field.
    if value.starts_with("//") {
        return None;
    }
    let field = match name.to_ascii_lowercase().as_str() {
        "title" | "标题" => Field::Target(Target::Title),
        "comments" | "comment" | "评论" => Field::Target(Target::Comments),
        "site" | "站点" => Field::Target(Target::Site),
        "author" | "作者" => Field::Target(Target::Author),
        "source" | "来源" => Field::Target(Target::Source),
        "url" | "inurl" => Field::Target(Target::Url),
        "since" => Field::Since,
        "until" => Field::Until,
        "date" | "日期" => Field::Date,
        "changed" | "更新" => Field::Changed,
        _ if is_label(name) => Field::Target(Target::Meta),
        _ => return None,
    };
    Some((field, value))
}
