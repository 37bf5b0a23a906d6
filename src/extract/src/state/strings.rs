//! Reads the strings of data in scripts, in JSON or nearly so: names without quotes, an assignment or a call around it, cut
//! off in the middle. Each string comes with its key and the objects and lists around it. Never recurses and reads each
//! byte a bounded number of times.

use std::collections::HashMap;

use percent_encoding::percent_decode_str;

use super::{arguments, flat};
use crate::page::quoted::{closing, unescaped};

/// Index into [`Strings::holders`].
pub(super) type HolderId = usize;

/// Most strings kept of a page; a state with a long article and its comments has some thousands.
const MAX_STRINGS: usize = 50_000;
/// Most objects and lists.
const MAX_HOLDERS: usize = 100_000;
/// How often a string of data may hold data again.
const MAX_LEVEL: u32 = 3;
/// A shorter string holds no data worth reading.
const LEAST_DATA: usize = 32;
/// Longest key, in bytes; of a longer one the rest is not kept.
const MAX_KEY: usize = 64;
/// Digits of a time in seconds or more.
const TIME_DIGITS: usize = 10;
/// What the scripts are called through which React streams its state.
const FLIGHT: &str = "__next_f";

/// A string of the data, or a number that may be a time.
#[derive(Debug)]
pub(super) struct DataString {
    /// Its key, in lower case; that of the list around it if it has none.
    pub(super) key: String,
    /// Its text without escapes.
    pub(super) text: String,
    /// The object or list that it is in.
    pub(super) holder: HolderId,
}

/// An object, a list, or what is in brackets.
#[derive(Debug)]
pub(super) struct Holder {
    /// What it is in; the first is its own.
    pub(super) parent: HolderId,
    pub(super) is_list: bool,
    key: String,
    /// The strings in it, those of what it holds too.
    pub(super) strings: std::ops::Range<usize>,
}

/// All strings in the order of the scripts.
#[derive(Debug, Default)]
pub(super) struct Strings {
    pub(super) said: Vec<DataString>,
    pub(super) holders: Vec<Holder>,
}

impl Strings {
    /// The strings of these scripts.
    pub(super) fn read<'s>(scripts: impl Iterator<Item = &'s str>) -> Self {
        let mut strings = Self::default();
        let root = strings.open(0, true, String::new());
        let mut flight = String::new();
        for script in scripts {
            if script
                .get(..script.floor_char_boundary(200))
                .is_some_and(|head| head.contains(FLIGHT))
            {
                add_literals(script, &mut flight);
            } else {
                strings.data(script, root, String::new(), 0);
            }
        }
        strings.flight(&flight, root);
        strings.holders[root].strings.end = strings.said.len();
        strings
    }

    /// The key of an object or list.
    pub(super) fn key_of(&self, holder: HolderId) -> &str {
        &self.holders[holder].key
    }

    /// Adds the data of a text, percent-encoded or not; false if it does not look like data.
    fn data(&mut self, text: &str, holder: HolderId, key: String, level: u32) -> bool {
        let begin = text.trim_start();
        let decoded;
        let text = if begin.starts_with("%7B") || begin.starts_with("%5B") {
            decoded = percent_decode_str(begin).decode_utf8_lossy();
            &*decoded
        } else if level == 0 || looks_like_data(begin) {
            text
        } else {
            return false;
        };
        let flat = (level == 0 && begin.starts_with('['))
            .then(|| flat::unflatten(text))
            .flatten();
        let text = flat.as_deref().unwrap_or(text);
        let inner = self.open(holder, false, key);
        self.scan(text, inner, level);
        true
    }

    fn scan(&mut self, text: &str, root: HolderId, level: u32) {
        let bytes = text.as_bytes();
        let (mut at, mut open) = (0, root);
        // Raw line breaks inside strings are the most common error of hand-made JSON.
        let is_json = text.trim_start().starts_with(['{', '[']);
        let (mut key, mut word) = (String::new(), "");
        let arguments = arguments::read(text);
        while let Some(&byte) = bytes.get(at) {
            at += 1;
            match byte {
                b'"' | b'\'' | b'`' => {
                    let (end, is_whole) = closing(bytes, at, is_json);
                    let value = text.get(at..end).unwrap_or_default();
                    at = end + 1;
                    if !is_whole {
                        continue;
                    }
                    let value = unescaped(value);
                    let mut next = bytes[at..].iter();
                    if next.find(|b| !b.is_ascii_whitespace()) == Some(&b':') {
                        key = short(&value).to_owned();
                    } else {
                        self.say(std::mem::take(&mut key), value, open, level);
                    }
                    word = "";
                }
                b'{' | b'[' | b'(' => {
                    open = self.open(open, byte == b'[', std::mem::take(&mut key))
                }
                b'}' | b']' | b')' if open != root => open = self.close(open),
                b',' | b';' => (key, word) = (String::new(), ""),
                b':' | b'=' if key.is_empty() => short(word).clone_into(&mut key),
                _ if is_name(byte) => {
                    let rest = bytes[at..].iter();
                    let end = at + rest.take_while(|b| is_name(**b)).count();
                    word = text.get(at - 1..end).unwrap_or_default();
                    at = end;
                    let value = arguments.get(word).filter(|_| !key.is_empty());
                    if let Some(value) = value.filter(|_| !calls_or_names(bytes, at)) {
                        self.say(std::mem::take(&mut key), value.clone(), open, level);
                    } else if word.len() >= TIME_DIGITS && word.bytes().all(|b| b.is_ascii_digit())
                    {
                        self.say(std::mem::take(&mut key), word.to_owned(), open, MAX_LEVEL);
                    }
                }
                _ => {}
            }
        }
        while open != root {
            open = self.close(open);
        }
        self.close(root);
    }

    fn open(&mut self, parent: HolderId, is_list: bool, key: String) -> HolderId {
        if self.holders.len() >= MAX_HOLDERS {
            return parent;
        }
        self.holders.push(Holder {
            parent,
            is_list,
            key,
            strings: self.said.len()..usize::MAX,
        });
        self.holders.len() - 1
    }

    fn close(&mut self, holder: HolderId) -> HolderId {
        let holder = &mut self.holders[holder];
        holder.strings.end = self.said.len();
        holder.parent
    }

    /// Adds a string, or what is in it if that is data.
    fn say(&mut self, mut key: String, text: String, holder: HolderId, level: u32) {
        if key.is_empty() && self.holders[holder].is_list {
            self.holders[holder].key.clone_into(&mut key);
        }
        let may_hold = level < MAX_LEVEL && text.len() >= LEAST_DATA;
        if may_hold && self.data(&text, holder, key.clone(), level + 1) {
            return;
        }
        if !text.trim().is_empty() && self.said.len() < MAX_STRINGS {
            key.make_ascii_lowercase();
            self.said.push(DataString { key, text, holder });
        }
    }

    /// What React streams: rows with a number each. A long text is a row of its own, and `$` with its number is where it
    /// belongs.
    fn flight(&mut self, rows: &str, root: HolderId) {
        // Each is put in one place, so that nothing grows.
        let mut texts: HashMap<&str, &str> = HashMap::new();
        let mut rest = rows;
        while let Some((number, row)) = rest.split_once(':') {
            let number = number.trim_start();
            let text = row.strip_prefix('T').and_then(|row| {
                let (len, text) = row.split_once(',')?;
                let len = usize::from_str_radix(len, 16).ok()?;
                Some(text.split_at(text.floor_char_boundary(len)))
            });
            let end = row.find('\n').map_or(row.len(), |end| end + 1);
            let (row, behind) = text.unwrap_or_else(|| row.split_at(end));
            if text.is_some() {
                texts.insert(number, row);
            } else {
                self.data(row, root, String::new(), 0);
            }
            rest = behind;
        }
        for said in &mut self.said {
            let named = said.text.strip_prefix('$');
            if let Some(text) = named.and_then(|number| texts.remove(number)) {
                text.clone_into(&mut said.text);
            }
        }
    }
}

/// Whether a string holds an object or a list. A headline may begin with a word in brackets: `[Photo] …`.
fn looks_like_data(text: &str) -> bool {
    let within = |open, close| text.trim().strip_prefix(open)?.strip_suffix(close);
    let begins = |inner: &str| {
        let first = inner.trim_start().bytes().next();
        first.is_some_and(|b| b"\"'{[-".contains(&b) || b.is_ascii_digit())
    };
    within('{', '}').is_some() || within('[', ']').is_some_and(begins)
}

/// Appends the strings of a script to one another.
fn add_literals(script: &str, out: &mut String) {
    let bytes = script.as_bytes();
    let mut at = 0;
    while let Some(quote) = memchr::memchr2(b'"', b'\'', &bytes[at..]) {
        at += quote + 1;
        let (end, is_whole) = closing(bytes, at, false);
        if is_whole {
            out.push_str(&unescaped(script.get(at..end).unwrap_or_default()));
        }
        at = bytes.len().min(end + 1);
    }
}

/// Whether a word is more than itself: `a.x`, `a(`, `a:`.
fn calls_or_names(bytes: &[u8], at: usize) -> bool {
    let mut behind = bytes.iter().skip(at);
    let next = behind.find(|b| !b.is_ascii_whitespace());
    next.is_some_and(|b| matches!(b, b'.' | b'(' | b'[' | b':' | b'='))
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'-')
}

/// The first bytes of a key.
fn short(key: &str) -> &str {
    key.split_at(key.floor_char_boundary(MAX_KEY)).0
}
