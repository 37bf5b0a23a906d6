//! Reads the comments that an endpoint answers as JSON or JSONP: what a page shows once its script has run.
//!
//! [`read_answer`] takes the body. A comment is an object of a list with a text and a writer or a time, whatever the names of the
//! keys around it; replies in it follow it. Keys are compared by their letters and digits alone, in lower case.

use std::collections::HashSet;
use std::fmt;

use serde_json::{Map, Value};

use super::MAX_CHARS;
use crate::date::stamp::{Clock, Stamp};
use crate::date::text::parse_value;
use crate::document::Comment;
use crate::lines::outline::Outline;
use crate::page::{Hints, Page};
use crate::paragraphs::join_paragraphs;

/// Comments that are read of one answer at most.
pub const MAX_COMMENTS: usize = 500;
/// Lists and objects inside each other that are looked into.
const MAX_DEPTH: usize = 32;
/// Longest name of a person or time as printed, in characters.
const MAX_NAME_CHARS: usize = 100;
/// Longest name of a function that an answer in JSONP calls, in bytes.
const MAX_FUNCTION: usize = 100;
/// Unix times above this are in milliseconds: in seconds they would be in the year 5138.
const MAX_UNIX_S: i64 = 100_000_000_000;
/// Smaller numbers are no Unix times: they would be in 1973.
const MIN_UNIX_S: i64 = 100_000_000;

/// Keys of a comment's text, the surest first; of its writer; of the name inside of an object about a person.
const TEXTS: [&str; 14] = [
    "content",
    "commentcontent",
    "commenttext",
    "commentbody",
    "replycontent",
    "contenttext",
    "comment",
    "text",
    "body",
    "message",
    "rendered",
    "html",
    "raw",
    "msg",
];
const AUTHORS: [&str; 20] = [
    "author",
    "authorname",
    "nickname",
    "nick",
    "username",
    "user",
    "uname",
    "userinfo",
    "screenname",
    "displayname",
    "name",
    "member",
    "creator",
    "poster",
    "postedby",
    "commentator",
    "visitor",
    "fromuser",
    "from",
    "customer",
];
const NAMES: [&str; 8] = [
    "name",
    "nickname",
    "nick",
    "displayname",
    "screenname",
    "username",
    "uname",
    "login",
];
/// Parts of keys of the time of a comment, from the surest to the least, and of times of something else.
const TIMES: [&str; 6] = ["publish", "creat", "ctime", "post", "time", "date"];
const OTHER_TIMES: [&str; 5] = ["modif", "update", "edit", "zone", "delete"];
const VOTES: [&str; 18] = [
    "likes",
    "like",
    "likecount",
    "likescount",
    "likenum",
    "votes",
    "vote",
    "upvotes",
    "up",
    "ups",
    "diggcount",
    "digg",
    "agreecount",
    "agree",
    "praisecount",
    "supportcount",
    "zan",
    "score",
];
const ANSWERED: [&str; 12] = [
    "replyto",
    "replytoname",
    "replytouser",
    "replyuser",
    "replyusername",
    "replynickname",
    "tousername",
    "touser",
    "tonickname",
    "atuser",
    "parentauthor",
    "parentname",
];
/// Keys that are true of a comment which is not to be seen.
const HIDDEN: [&str; 4] = ["deleted", "isdeleted", "hidden", "isspam"];
/// Parts of the key of a list of comments.
const LISTS: [&str; 5] = ["comment", "repl", "review", "pinglun", "post"];

/// Why an answer holds no comments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerError {
    /// It is no JSON.
    NoJson,
    /// It is JSON without any list.
    NoList,
}

impl fmt::Display for AnswerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AnswerError::NoJson => "the answer is no JSON",
            AnswerError::NoList => "the answer holds no list of comments",
        })
    }
}

/// The comments of an answer in its order, each before its replies, [`MAX_COMMENTS`] at most; times are resolved by `clock`. None of
/// a list that is empty or of something else.
///
/// # Errors
/// Where the answer is no JSON, or holds no list.
pub fn read_answer(body: &[u8], clock: &Clock) -> Result<Vec<Comment>, AnswerError> {
    let text = decode(body);
    let json = unwrap_call(text.trim());
    let value: Value = serde_json::from_str(json).map_err(|_| AnswerError::NoJson)?;
    let mut reader = AnswerReader {
        clock,
        comments: Vec::new(),
        known: HashSet::new(),
        has_list: false,
    };
    let place = Place {
        answers: None,
        is_item: false,
        is_named: false,
        depth: 0,
    };
    reader.read(&value, &place);
    if reader.has_list {
        Ok(reader.comments)
    } else {
        Err(AnswerError::NoList)
    }
}

/// UTF-8, or else the usual charset of Chinese sites.
fn decode(body: &[u8]) -> String {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    match simdutf8::basic::from_utf8(body) {
        Ok(text) => text.to_owned(),
        Err(_) => encoding_rs::GB18030.decode(body).0.into_owned(),
    }
}

/// The argument of `callback(…);`, or what there is.
fn unwrap_call(text: &str) -> &str {
    let inner = || {
        let text = text.strip_prefix("/**/").unwrap_or(text).trim_start();
        let (function, rest) = text.split_once('(')?;
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.' | ' ');
        let is_call = function.len() <= MAX_FUNCTION && function.chars().all(is_name);
        let rest = rest.trim_end().trim_end_matches(';').trim_end();
        rest.strip_suffix(')').filter(|_| is_call)
    };
    if text.starts_with(['{', '[']) {
        text
    } else {
        inner().unwrap_or(text)
    }
}

/// Where a value is.
struct Place<'a> {
    /// Who wrote the comment that it is in.
    answers: Option<&'a str>,
    /// It is an item of a list, or of an object whose keys are numbers.
    is_item: bool,
    /// A list around it is called one of comments.
    is_named: bool,
    depth: usize,
}

struct AnswerReader<'c> {
    clock: &'c Clock,
    comments: Vec<Comment>,
    /// Writer and text of those: the newest and the most liked are often two lists.
    known: HashSet<(Option<String>, String)>,
    has_list: bool,
}

impl AnswerReader<'_> {
    fn read(&mut self, value: &Value, place: &Place<'_>) {
        if place.depth > MAX_DEPTH || self.comments.len() >= MAX_COMMENTS {
            return;
        }
        let depth = place.depth + 1;
        match value {
            Value::Array(items) => {
                self.has_list = true;
                let item = Place {
                    is_item: true,
                    depth,
                    ..*place
                };
                items.iter().for_each(|value| self.read(value, &item));
            }
            Value::Object(map) => {
                let comment = (place.is_item).then(|| self.comment(map, place)).flatten();
                let author = comment.as_ref().and_then(|comment| comment.author.clone());
                if let Some(comment) = comment {
                    self.add(comment);
                }
                let is_keyed_list = is_keyed_list(map);
                self.has_list |= is_keyed_list;
                for (key, value) in map {
                    let key = letters(key);
                    let inner = Place {
                        answers: author.as_deref().or(place.answers),
                        is_item: is_keyed_list,
                        is_named: place.is_named || LISTS.iter().any(|list| key.contains(list)),
                        depth,
                    };
                    self.read(value, &inner);
                }
            }
            _ => {}
        }
    }

    fn add(&mut self, comment: Comment) {
        let is_new = self
            .known
            .insert((comment.author.clone(), comment.text.clone()));
        if is_new {
            self.comments.push(comment);
        }
    }

    /// The comment that an object is.
    fn comment(&self, map: &Map<String, Value>, place: &Place<'_>) -> Option<Comment> {
        let fields: Vec<(String, &Value)> = map.iter().map(|(k, v)| (letters(k), v)).collect();
        let of_key = |key: &str| fields.iter().find(|(k, _)| k == key).map(|(_, v)| *v);
        let first = |keys: &[&str], read: &dyn Fn(&Value) -> Option<String>| {
            keys.iter().find_map(|key| read(of_key(key)?))
        };
        let is_true = |key: &&str| of_key(key).is_some_and(|v| v == &Value::Bool(true));
        let has_title = of_key("title")
            .and_then(Value::as_str)
            .is_some_and(|t| !t.is_empty());
        // What has a title is an article, unless it is one of a list of reviews.
        if HIDDEN.iter().any(is_true) || (has_title && !place.is_named) {
            return None;
        }
        let text = first(&TEXTS, &|value| text_of(value, &TEXTS))?;
        let text = plain(&text);
        let author = first(&AUTHORS, &|value| name_of(value));
        let published = self.time(&fields);
        if text.is_empty() || (author.is_none() && published.is_none()) {
            return None;
        }
        let reply_to = first(&ANSWERED, &|value| name_of(value));
        let votes = VOTES.iter().find_map(|key| of_key(key)?.as_i64());
        Some(Comment {
            opening: false,
            author,
            published,
            text,
            reply_to: reply_to.or_else(|| place.answers.map(str::to_owned)),
            votes,
        })
    }

    /// When it was written: by the surest key whose value is a time.
    fn time(&self, fields: &[(String, &Value)]) -> Option<String> {
        TIMES.iter().find_map(|part| {
            let is_it = |key: &str| {
                key.contains(part) && !OTHER_TIMES.iter().any(|other| key.contains(other))
            };
            let mut times = fields.iter().filter(|(key, _)| is_it(key));
            times.find_map(|(_, value)| self.time_of(value))
        })
    }

    fn time_of(&self, value: &Value) -> Option<String> {
        let printed = match value {
            Value::Number(number) => {
                return Some(self.unix_time(number.as_i64()?)?.iso(self.clock));
            }
            Value::String(text) => text.trim(),
            _ => return None,
        };
        let number = printed.parse::<i64>().ok();
        if let Some(time) = number.and_then(|number| self.unix_time(number)) {
            return Some(time.iso(self.clock));
        }
        let has_digit = printed.bytes().any(|b| b.is_ascii_digit());
        let is_short = printed.chars().count() <= MAX_NAME_CHARS;
        match parse_value(printed, self.clock) {
            Some(time) if is_short => Some(time.iso(self.clock)),
            _ => (number.is_none() && is_short && has_digit).then(|| printed.to_owned()),
        }
    }

    fn unix_time(&self, number: i64) -> Option<Stamp> {
        let ms = match number {
            MIN_UNIX_S..MAX_UNIX_S => number * 1_000,
            MAX_UNIX_S.. => number,
            _ => return None,
        };
        Stamp::from_unix_ms(ms, self.clock)
    }
}

/// An object whose values are objects under numbers: a list by another name.
fn is_keyed_list(map: &Map<String, Value>) -> bool {
    let is_numbered = |key: &String| key.bytes().any(|b| b.is_ascii_digit());
    !map.is_empty() && map.iter().all(|(key, v)| is_numbered(key) && v.is_object())
}

/// A string that says something, or the one of an object under one of these keys.
fn text_of(value: &Value, keys: &[&str]) -> Option<String> {
    let said = |value: &Value| {
        let text = value.as_str()?.trim();
        (!text.is_empty()).then(|| text.to_owned())
    };
    match value {
        Value::Object(map) => keys.iter().find_map(|key| {
            let mut inner = map.iter().filter(|(k, _)| letters(k) == *key);
            inner.find_map(|(_, value)| said(value))
        }),
        value => said(value),
    }
}

/// A name, or that of a person who is an object.
fn name_of(value: &Value) -> Option<String> {
    let name = text_of(value, &NAMES)?;
    let name = plain(&name).replace('\n', " ");
    (!name.is_empty() && name.chars().count() <= MAX_NAME_CHARS).then_some(name)
}

/// A text without its markup, one paragraph a line, of [`MAX_CHARS`] at most.
fn plain(text: &str) -> String {
    let cut = text.char_indices().nth(MAX_CHARS);
    let text = cut.map_or(text, |(end, _)| text.get(..end).unwrap_or_default());
    if !text.contains(['<', '&']) {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        return lines.collect::<Vec<_>>().join("\n");
    }
    let hints = Hints {
        charset: Some("utf-8".to_owned()),
        ..Hints::default()
    };
    let page = Page::parse(text.as_bytes(), hints);
    let outline = Outline::new(&page, false);
    let all: Vec<usize> = (0..outline.lines.len()).collect();
    join_paragraphs(&page, &outline, &all).text
}

/// Letters and digits of a key, in lower case.
fn letters(key: &str) -> String {
    let letters = key.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}
