//! Cuts a query into pieces: words and phrases with their signs and fields, operators and parentheses, each with its
//! place. Never decides what an operator joins.

use std::ops::Range;

use super::Misread;
use crate::index::{Target, is_notice_label};

/// What one piece is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    Text(Text),
    /// A parenthesis with the sign and the field that stand before it.
    Open {
        sign: Sign,
        field: Option<Field>,
    },
    Close,
    And,
    Or,
    Not,
    /// So many characters between the texts on both sides at most.
    Near(u32),
}

/// A word or a phrase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Text {
    pub(super) sign: Sign,
    pub(super) field: Option<Field>,
    /// Without sign, field and quotes.
    pub(super) text: String,
    pub(super) quoted: bool,
    /// As typed, with all of these.
    pub(super) raw: String,
    /// Why a part that looks like syntax is none.
    pub(super) misread: Option<Misread>,
}

/// A piece and where it stands in what was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Placed {
    pub(super) piece: Piece,
    pub(super) at: Range<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Sign {
    #[default]
    None,
    /// `+`: needed.
    Plus,
    /// `-` or `!`: refused.
    Minus,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Field {
    Target(Target),
    /// A labelled field of a page.
    Label(String),
    Since,
    Until,
    Date,
    Changed,
}

/// Characters that `NEAR` allows between two texts if it does not say.
const NEAR_DEFAULT: u32 = 10;
/// Most characters that it can allow: a paragraph.
const NEAR_MAX: u32 = 200;
/// Longest label of a field of a page, in characters.
const MAX_LABEL_CHARS: usize = 10;
/// Longest name that a colon can make look like a field, in characters.
const MAX_NAME_CHARS: usize = 16;

/// All pieces of a query.
pub(super) fn pieces(typed: &str) -> Vec<Placed> {
    let mut cutter = Cutter { open: 0 };
    let mut all = Vec::new();
    let mut at = 0;
    loop {
        let rest = typed.get(at..).unwrap_or_default();
        let blank = rest.len() - rest.trim_start().len();
        let rest = rest.trim_start();
        let Some((piece, length)) = cutter.piece(rest) else {
            return all;
        };
        let start = at + blank;
        at = start + length;
        all.push(Placed {
            piece,
            at: start..at,
        });
    }
}

struct Cutter {
    /// Parentheses that are not closed yet.
    open: usize,
}

impl Cutter {
    /// The first piece of a text and its length; none of an empty one.
    fn piece(&mut self, text: &str) -> Option<(Piece, usize)> {
        let first = text.chars().next()?;
        if let Some(found) = self.mark(text, first) {
            return Some(found);
        }
        let (sign, signed) = take_sign(text);
        let (field, value) = match take_field(signed) {
            Some((field, value)) => (Some(field), value),
            None => (None, signed),
        };
        let before = text.len() - value.len();
        if let Some(inside) = value.strip_prefix(['(', '（'])
            && matches!(field, None | Some(Field::Target(_) | Field::Label(_)))
        {
            self.open += 1;
            return Some((Piece::Open { sign, field }, text.len() - inside.len()));
        }
        if let Some((content, after)) = take_quoted(value) {
            let length = text.len() - after.len();
            let known = !content.trim().is_empty();
            let piece = Text {
                sign: if known { sign } else { Sign::None },
                field: field.filter(|_| known),
                text: if known { content } else { head(text, length) }.to_owned(),
                quoted: known,
                raw: head(text, length).to_owned(),
                misread: (!known).then_some(Misread::Quote),
            };
            return Some((Piece::Text(piece), length));
        }
        let end = self.word_end(value);
        let content = head(value, end);
        if content.trim().is_empty() {
            // A field or a sign without a value is text.
            let length = match before {
                0 => first.len_utf8(),
                _ => before,
            };
            let meant = match &field {
                Some(Field::Label(label)) => is_notice_label(label),
                other => other.is_some(),
            };
            let misread = meant.then_some(Misread::Empty);
            return Some((plain(head(text, length), misread), length));
        }
        let length = before + end;
        if sign == Sign::None
            && field.is_none()
            && let Some(operator) = operator(content)
        {
            return Some((operator, length));
        }
        let misread = match content.chars().next() {
            Some(open) if closing(open).is_some() => Some(Misread::Quote),
            _ if field.is_none() => unknown_field(content),
            // Pages may have it, or somebody mistyped one that all documents have.
            _ if matches!(&field, Some(Field::Label(name)) if name.is_ascii()) => {
                Some(Misread::Field)
            }
            _ => None,
        };
        let piece = Text {
            sign,
            field,
            text: content.to_owned(),
            quoted: false,
            raw: head(text, length).to_owned(),
            misread,
        };
        Some((Piece::Text(piece), length))
    }

    /// A mark that is a piece by itself.
    fn mark(&mut self, text: &str, first: char) -> Option<(Piece, usize)> {
        match first {
            ')' | '）' if self.open > 0 => {
                self.open -= 1;
                Some((Piece::Close, first.len_utf8()))
            }
            '|' | '｜' => {
                let rest = text.trim_start_matches(['|', '｜']);
                Some((Piece::Or, text.len() - rest.len()))
            }
            _ => None,
        }
    }

    /// End of an unquoted word: a blank, a quote that opens a phrase, a stroke, or the parenthesis that closes a group.
    fn word_end(&self, text: &str) -> usize {
        let mut inner: usize = 0;
        for (i, c) in text.char_indices() {
            let opens = i > 0
                && closing(c).is_some()
                && take_quoted(text.get(i..).unwrap_or_default()).is_some();
            match c {
                '(' | '（' => inner += 1,
                ')' | '）' if inner > 0 => inner -= 1,
                ')' | '）' if self.open > 0 => return i,
                '|' | '｜' => return i,
                _ if opens || c.is_whitespace() => return i,
                _ => {}
            }
        }
        text.len()
    }
}

fn head(text: &str, length: usize) -> &str {
    text.get(..length).unwrap_or(text)
}

/// A piece that is nothing but text.
pub(super) fn plain(text: &str, misread: Option<Misread>) -> Piece {
    Piece::Text(Text {
        sign: Sign::None,
        field: None,
        text: text.to_owned(),
        quoted: false,
        raw: text.to_owned(),
        misread,
    })
}

fn take_sign(text: &str) -> (Sign, &str) {
    let signed = |marks: [char; 3]| {
        let body = text.strip_prefix(marks)?;
        let next = body.chars().next()?;
        (!next.is_whitespace() && !marks.contains(&next)).then_some(body)
    };
    if let Some(body) = signed(['-', '－', '−']) {
        return (Sign::Minus, body);
    }
    if let Some(body) = signed(['+', '＋', '+']) {
        return (Sign::Plus, body);
    }
    let meant = |c: char| c.is_alphanumeric() || closing(c).is_some() || matches!(c, '(' | '（');
    match signed(['!', '！', '!']) {
        Some(body) if body.starts_with(meant) => (Sign::Minus, body),
        _ => (Sign::None, text),
    }
}

/// An operator that stands alone: in capitals, or its Chinese name.
fn operator(word: &str) -> Option<Piece> {
    match word {
        "与" | "且" | "與" => return Some(Piece::And),
        "或" => return Some(Piece::Or),
        "非" => return Some(Piece::Not),
        _ => {}
    }
    let half: String = word.chars().map(half_width).collect();
    match half.as_str() {
        "AND" | "&&" => Some(Piece::And),
        "OR" => Some(Piece::Or),
        "NOT" => Some(Piece::Not),
        "NEAR" => Some(Piece::Near(NEAR_DEFAULT)),
        other => {
            let within = other.strip_prefix("NEAR/")?.parse().ok()?;
            (1..=NEAR_MAX)
                .contains(&within)
                .then_some(Piece::Near(within))
        }
    }
}

fn half_width(c: char) -> char {
    match c {
        '！'..='～' => char::from_u32(u32::from(c) - 0xFEE0).unwrap_or(c),
        c => c,
    }
}

pub(super) fn closing(open: char) -> Option<&'static [char]> {
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

/// What looks like a field and is none: a short name with a colon after it. A full-width colon after Chinese is a mark of a
/// sentence.
fn unknown_field(text: &str) -> Option<Misread> {
    let (name, value) = text.split_once(':')?;
    let named = name.chars().count() <= MAX_NAME_CHARS && name.chars().all(char::is_alphabetic);
    let looks = named && !name.is_empty() && !value.is_empty() && !value.starts_with("//");
    looks.then_some(Misread::Field)
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
        "kind" | "类别" => Field::Target(Target::Kind),
        "filetype" | "文件类型" => Field::Target(Target::FileType),
        "url" | "inurl" => Field::Target(Target::Url),
        "since" => Field::Since,
        "until" => Field::Until,
        "date" | "日期" => Field::Date,
        "changed" | "更新" => Field::Changed,
        _ if is_notice_label(name) => Field::Label(name.to_owned()),
        // Behind other words the wide colon is a mark of a sentence.
        _ if is_label(name) && text.starts_with(&format!("{name}:")) => {
            Field::Label(name.to_owned())
        }
        _ => return None,
    };
    Some((field, value))
}

/// Whether a word before a colon may be the label of a field of a page.
pub fn is_label(name: &str) -> bool {
    let is_han = |c: char| matches!(c, '\u{3400}'..='\u{9FFF}');
    let count = name.chars().count();
    let of_han = count <= MAX_LABEL_CHARS && name.chars().all(is_han);
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '/' | '_');
    let of_letters = count <= MAX_NAME_CHARS
        && name.starts_with(char::is_alphabetic)
        && name.chars().all(is_part);
    count >= 2 && (of_han || of_letters)
}
