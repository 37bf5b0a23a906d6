//! A [`Cursor`] reads a text piece by piece, like a pattern without alternatives. Each method returns the place behind what
//! it read, or `None`. Letters match in both cases. Never backtracks.

use std::sync::LazyLock;

use regex::Regex;

use crate::literals::compile_regex;

/// A place in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

/// Letters, with the signs that are on them in Thai and Hindi, and characters of Chinese other than the usual.
static LETTER: LazyLock<Regex> = LazyLock::new(|| compile_regex(r"(?i)[\p{L}\p{M}]"));
static HAN: LazyLock<Regex> = LazyLock::new(|| compile_regex(r"\p{Han}"));

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str, at: usize) -> Self {
        Self { text, at }
    }

    /// Bytes before it.
    pub(crate) fn at(self) -> usize {
        self.at
    }

    /// The text from a place before it up to here.
    pub(crate) fn since(self, from: Self) -> &'a str {
        self.text.get(from.at..self.at).unwrap_or_default()
    }

    fn rest(self) -> &'a [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    fn on(self, bytes: usize) -> Self {
        Self::new(self.text, self.at + bytes)
    }

    pub(crate) fn byte(self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// The character that is here.
    #[inline]
    pub(crate) fn char(self) -> Option<char> {
        match self.byte()? {
            byte if byte.is_ascii() => Some(char::from(byte)),
            _ => self.text.get(self.at..)?.chars().next(),
        }
    }

    /// The place behind a character that is here.
    pub(crate) fn behind(self, char: char) -> Self {
        self.on(char.len_utf8())
    }

    /// Behind what `read` finds, if anything.
    #[inline]
    pub(crate) fn maybe(self, read: impl FnOnce(Self) -> Option<Self>) -> Self {
        read(self).unwrap_or(self)
    }

    pub(crate) fn start(self) -> Option<Self> {
        (self.at == 0).then_some(self)
    }

    pub(crate) fn end(self) -> Option<Self> {
        (self.at == self.text.len()).then_some(self)
    }

    /// A word of ASCII begins or ends here.
    pub(crate) fn bound(self) -> Option<Self> {
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let bytes = self.text.as_bytes();
        let before = bytes.get(self.at.wrapping_sub(1)).is_some_and(is_word);
        let behind = bytes.get(self.at).is_some_and(is_word);
        (before != behind).then_some(self)
    }

    /// Digits: not fewer than `least`, at most `most`.
    #[inline]
    pub(crate) fn digits(self, least: usize, most: usize) -> Option<Self> {
        let digits = self.rest().iter().take_while(|byte| byte.is_ascii_digit());
        let count = digits.take(most).count();
        (count >= least).then(|| self.on(count))
    }

    /// A year of our days.
    pub(crate) fn year(self) -> Option<Self> {
        self.one(&["19", "20"])?.digits(2, 2)
    }

    /// Hour and minute.
    pub(crate) fn clock(self) -> Option<Self> {
        self.digits(1, 2)?.one(&[":"])?.digits(2, 2)
    }

    /// White space: one character of it.
    #[inline]
    pub(crate) fn blank(self) -> Option<Self> {
        let char = self.char().filter(|char| char.is_whitespace())?;
        Some(self.behind(char))
    }

    pub(crate) fn maybe_blank(self) -> Self {
        self.maybe(Self::blank)
    }

    /// All white space, if any.
    pub(crate) fn blanks(self) -> Self {
        let mut place = self;
        while let Some(next) = place.blank() {
            place = next;
        }
        place
    }

    pub(crate) fn some_blanks(self) -> Option<Self> {
        self.blank().map(Self::blanks)
    }

    /// White space and hyphens, if any.
    pub(crate) fn dashes(self) -> Self {
        let mut place = self;
        while let Some(next) = place.blank().or_else(|| place.one(&["-"])) {
            place = next;
        }
        place
    }

    pub(crate) fn some_dashes(self) -> Option<Self> {
        Some(self.dashes()).filter(|end| *end != self)
    }

    /// The first of these words that is here; none is the beginning of one behind it.
    #[inline]
    pub(crate) fn one(self, words: &[&str]) -> Option<Self> {
        let byte = self.byte()?.to_ascii_lowercase();
        // A letter that is spelled in another way.
        let odd = (0x80..0xE3).contains(&byte);
        let begun = |word: &&&str| odd || word.as_bytes().first() == Some(&byte);
        words.iter().filter(begun).find_map(|word| self.word(word))
    }

    /// Behind one of them, if any is here.
    #[inline]
    pub(crate) fn maybe_one(self, words: &[&str]) -> Self {
        self.one(words).unwrap_or(self)
    }

    fn word(self, word: &str) -> Option<Self> {
        let here = self.rest().get(..word.len())?;
        if here.eq_ignore_ascii_case(word.as_bytes()) {
            return Some(self.on(word.len()));
        }
        // A character of Chinese has no other case.
        (here.first()? < &0xE3)
            .then(|| self.odd_word(word))
            .flatten()
    }

    /// A word with letters whose other case is not that of ASCII.
    fn odd_word(self, word: &str) -> Option<Self> {
        let mut chars = self.text.get(self.at..)?.chars();
        let stands = word
            .chars()
            .all(|char| chars.next().is_some_and(|other| parse_small(other) == char));
        stands.then(|| Self::new(self.text, self.text.len() - chars.as_str().len()))
    }

    /// Letters of any script: not fewer than `least`, at most `most`.
    pub(crate) fn letters(self, least: usize, most: usize) -> Option<Self> {
        self.run(least, most, is_letter)
    }

    /// Letters from A to Z.
    pub(crate) fn latin(self, least: usize, most: usize) -> Option<Self> {
        self.run(least, most, |char| parse_small(char).is_ascii_lowercase())
    }

    /// Characters of a kind that has all letters of ASCII.
    fn run(self, least: usize, most: usize, is: impl Fn(char) -> bool) -> Option<Self> {
        let ascii = self.rest().iter().take(most);
        let mut count = ascii.take_while(|byte| byte.is_ascii_alphabetic()).count();
        let mut place = self.on(count);
        while count < most
            && let Some(char) = place.char().filter(|char| is(*char))
        {
            place = place.behind(char);
            count += 1;
        }
        (count >= least).then_some(place)
    }

    /// A character of Chinese.
    pub(crate) fn is_han(char: char) -> bool {
        ('\u{4E00}'..='\u{9FFF}').contains(&char) || (!char.is_ascii() && is(&HAN, char))
    }
}

/// A letter of any script.
pub(crate) fn is_letter(char: char) -> bool {
    char.is_ascii_alphabetic()
        || ('\u{4E00}'..='\u{9FFF}').contains(&char)
        || !(char.is_ascii() || ('\u{2000}'..='\u{206F}').contains(&char)) && is(&LETTER, char)
}

fn is(class: &Regex, char: char) -> bool {
    class.is_match(char.encode_utf8(&mut [0; 4]))
}

/// The small letter that counts the same.
fn parse_small(char: char) -> char {
    match char {
        'ſ' => 's',
        'ᲁ' => 'д',
        // Its small letter is two characters, the first of them an `i`.
        'İ' => char,
        _ if char.is_ascii() => char.to_ascii_lowercase(),
        _ => char.to_lowercase().next().unwrap_or(char),
    }
}
