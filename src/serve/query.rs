//! The query language. In: what a person typed. Out: a [`Query`] for the index, and notes on what was taken as
//! text although it looks like syntax. Never fails: odd text is searched literally. Options that a person gives
//! one by one (`--since`) have their own strict readers.
//!
//! ```text
//! 页岩气 开发            words: documents with all of them first
//! "海洋石油 122"         these very characters
//! -钻井  -"招聘启事"     without
//! LNG OR 液化天然气      one of both is enough
//! title:油价             in the title        site:cnpc.com.cn  author:张三  source:新华社  url:2026/11
//! since:2026-11-01 until:2026-11-05   published on these days and between; also 2026-11 and 2026
//! ```

use chrono::{Datelike, Days, FixedOffset, Months, NaiveDate, TimeZone};

use crate::index::{Clause, Group, Occur, Query, Target};

/// Longest query in characters; the rest is left out.
pub const MAX_QUERY_CHARS: usize = 300;
/// Most phrases, fields and refused words of one query; further ones become plain words.
const MAX_GROUPS: usize = 32;

/// A query and what should be said about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parsed {
    /// What to ask the index.
    pub query: Query,
    /// Remarks for the person, each a sentence without a full stop.
    pub notes: Vec<String>,
}

/// Why an option of a search cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    /// Not a date.
    #[error("{0:?} is not a date: write 2026-11-05, 2026-11 or 2026")]
    Date(String),
    /// The first day is after the last.
    #[error("since {0} is after until {1}")]
    Order(String, String),
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
}

/// Reads a query. Dates without offset are of `utc_offset_minutes`.
pub fn parse(typed: &str, utc_offset_minutes: i32) -> Parsed {
    let mut parser = Parser {
        parsed: Parsed {
            query: Query::default(),
            notes: Vec::new(),
        },
        words: Vec::new(),
        utc_offset_minutes,
    };
    let (text, rest) = match typed.char_indices().nth(MAX_QUERY_CHARS) {
        Some((cut, _)) => typed.split_at_checked(cut).unwrap_or((typed, "")),
        None => (typed, ""),
    };
    if !rest.is_empty() {
        let note = format!("only the first {MAX_QUERY_CHARS} characters were searched");
        parser.parsed.notes.push(note);
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

/// First moment of a day, month or year, Unix milliseconds.
pub fn parse_since(text: &str, utc_offset_minutes: i32) -> Result<i64, QueryError> {
    span(text, utc_offset_minutes)
        .map(|(first, _)| first)
        .ok_or_else(|| QueryError::Date(text.to_owned()))
}

/// First moment after a day, month or year, Unix milliseconds.
pub fn parse_until(text: &str, utc_offset_minutes: i32) -> Result<i64, QueryError> {
    span(text, utc_offset_minutes)
        .map(|(_, after)| after)
        .ok_or_else(|| QueryError::Date(text.to_owned()))
}

/// Both ends of a range given as options; an empty text is no limit.
pub fn parse_range(
    since: Option<&str>,
    until: Option<&str>,
    utc_offset_minutes: i32,
) -> Result<(Option<i64>, Option<i64>), QueryError> {
    let given = |text: Option<&str>| {
        text.map(str::trim)
            .filter(|t| !t.is_empty())
            .map(str::to_owned)
    };
    let (since, until) = (given(since), given(until));
    let first = since
        .as_deref()
        .map(|text| parse_since(text, utc_offset_minutes))
        .transpose()?;
    let after = until
        .as_deref()
        .map(|text| parse_until(text, utc_offset_minutes))
        .transpose()?;
    match (first, after) {
        (Some(a), Some(b)) if a >= b => Err(QueryError::Order(
            since.unwrap_or_default(),
            until.unwrap_or_default(),
        )),
        range => Ok(range),
    }
}

fn span(text: &str, utc_offset_minutes: i32) -> Option<(i64, i64)> {
    let text: String = text
        .trim()
        .chars()
        .map(|c| match c {
            '０'..='９' => char::from_u32(u32::from(c) - 0xFEE0).unwrap_or(c),
            '/' | '.' | '年' | '月' | '－' => '-',
            c => c,
        })
        .collect();
    let text = text.trim_end_matches('日').trim_end_matches('-');
    let mut parts = text.split('-');
    let number = |part: Option<&str>| -> Option<Option<u32>> {
        match part {
            None => Some(None),
            Some(digits) if (1..=4).contains(&digits.len()) => digits.parse().ok().map(Some),
            Some(_) => None,
        }
    };
    let year = number(parts.next())??;
    let (month, day) = (number(parts.next())?, number(parts.next())?);
    if parts.next().is_some() || !(1900..=2999).contains(&year) {
        return None;
    }
    let first = NaiveDate::from_ymd_opt(year.cast_signed(), month.unwrap_or(1), day.unwrap_or(1))?;
    let after = match (month, day) {
        (_, Some(_)) => first.checked_add_days(Days::new(1))?,
        (Some(_), None) => first.checked_add_months(Months::new(1))?,
        (None, None) => NaiveDate::from_ymd_opt(first.year() + 1, 1, 1)?,
    };
    let offset = FixedOffset::east_opt(utc_offset_minutes.checked_mul(60)?)?;
    let ms = |date: NaiveDate| {
        offset
            .from_local_datetime(&date.and_hms_opt(0, 0, 0)?)
            .single()
            .map(|time| time.timestamp_millis())
    };
    Some((ms(first)?, ms(after)?))
}

struct Parser {
    parsed: Parsed,
    words: Vec<String>,
    utc_offset_minutes: i32,
}

impl Parser {
    fn piece(&mut self, piece: &Piece) {
        let filter = &mut self.parsed.query.filter;
        let date = match piece.field {
            Some(Field::Since) if !piece.minus => parse_since(&piece.text, self.utc_offset_minutes)
                .map(|ms| filter.since_ms = filter.since_ms.max(Some(ms))),
            Some(Field::Until) if !piece.minus => parse_until(&piece.text, self.utc_offset_minutes)
                .map(|ms| filter.until_ms = Some(filter.until_ms.map_or(ms, |old| old.min(ms)))),
            Some(Field::Target(_)) | None => {
                let plain = piece.field.is_none() && !piece.quoted && !piece.minus;
                if plain || self.parsed.query.groups.len() >= MAX_GROUPS {
                    self.words.push(piece.raw.clone());
                } else {
                    let occur = if piece.minus {
                        Occur::Without
                    } else {
                        Occur::Must
                    };
                    self.parsed.query.groups.push(Group {
                        occur,
                        any: vec![clause(piece)],
                    });
                }
                return;
            }
            Some(_) => Err(QueryError::Date(piece.text.clone())),
        };
        if let Err(error) = date {
            let note = format!("{}: {error}; searched as text", piece.raw);
            self.parsed.notes.push(note);
            self.words.push(piece.raw.clone());
        }
    }

    fn group(&mut self, alternatives: &[&Piece]) {
        if self.parsed.query.groups.len() >= MAX_GROUPS {
            self.words
                .extend(alternatives.iter().map(|p| p.raw.clone()));
            return;
        }
        self.parsed.query.groups.push(Group {
            occur: Occur::Must,
            any: alternatives.iter().map(|piece| clause(piece)).collect(),
        });
    }
}

fn clause(piece: &Piece) -> Clause {
    let (target, text) = match piece.field {
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
        |piece: &Piece| !piece.minus && !matches!(piece.field, Some(Field::Since | Field::Until));
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
    let (minus, body) = match text.strip_prefix(['-', '－', '−']) {
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
        "site" | "站点" => Field::Target(Target::Site),
        "author" | "作者" => Field::Target(Target::Author),
        "source" | "来源" => Field::Target(Target::Source),
        "url" | "inurl" => Field::Target(Target::Url),
        "since" => Field::Since,
        "until" => Field::Until,
        _ => return None,
    };
    Some((field, value))
}
