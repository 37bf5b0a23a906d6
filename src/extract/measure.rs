//! What can be counted in a text without knowing its language. In: a text. Out: [`Measure`]. One pass, no
//! allocation.

use super::likeness::is_cjk;

/// Counts of one text; they add up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Measure {
    /// CJK characters plus runs of other letters and digits: the unit that makes languages comparable.
    pub tokens: u32,
    /// Sentence marks `，。；：？！、,.;:?!`, those of numbers and addresses left out.
    pub marks: u32,
    /// Runs that begin with a digit.
    pub numbers: u32,
    /// Signs that menus and bars are made of: `|`, `>`, `»`, `·`, `/`.
    pub bars: u32,
    /// CJK characters.
    pub cjk: u32,
}

/// Sorts of ASCII characters: a letter or digit …
const WORD: u8 = 1;
/// … a digit …
const DIGIT: u8 = 2;
/// … a sign of bars …
const BAR: u8 = 4;
/// … a sentence mark, which is nothing else.
const MARK: u8 = 2;

/// The sorts of each byte.
const SORTS: [u8; 256] = {
    let mut sorts = [0; 256];
    let mut at = 0u8;
    while at < 0x80 {
        sorts[at as usize] = match at {
            b'0'..=b'9' => WORD | DIGIT,
            b'a'..=b'z' | b'A'..=b'Z' => WORD,
            b'|' | b'>' | b'/' => BAR,
            b',' | b'.' | b';' | b':' | b'?' | b'!' => MARK,
            _ => 0,
        };
        at += 1;
    }
    sorts
};

impl Measure {
    /// Counts of `text`.
    pub(super) fn of(text: &str) -> Self {
        let mut m = Self::default();
        let bytes = text.as_bytes();
        let (mut at, mut before) = (0, 0);
        let (mut tokens, mut numbers, mut bars) = (0u32, 0u32, 0u32);
        while let Some(&b) = bytes.get(at) {
            if b >= 0x80 {
                let char = text.get(at..).and_then(|rest| rest.chars().next());
                let char = char.unwrap_or_default();
                before = m.wide(char, before);
                at += char.len_utf8();
                continue;
            }
            let sort = SORTS[usize::from(b)];
            let begins = sort & !before & WORD;
            tokens += u32::from(begins);
            numbers += u32::from(begins & (sort >> 1));
            bars += u32::from(sort >> 2);
            at += 1;
            if sort == MARK {
                let next = bytes.get(at);
                let ends = next.is_none_or(|n| !n.is_ascii_alphanumeric() && *n != b'/');
                m.marks += u32::from(ends);
            }
            before = sort & WORD;
        }
        m.tokens += tokens;
        m.numbers += numbers;
        m.bars += bars;
        m
    }

    /// Counts a character outside ASCII; `before` and the result are [`WORD`] inside a run of letters.
    fn wide(&mut self, char: char, before: u8) -> u8 {
        if is_cjk(char) {
            self.tokens += 1;
            self.cjk += 1;
            return 0;
        }
        if is_letter(char) {
            self.tokens += u32::from(before ^ WORD);
            return WORD;
        }
        match char {
            '，' | '。' | '；' | '：' | '？' | '！' | '、' | '؟' | '،' | '।' => {
                self.marks += 1;
            }
            '»' | '·' | '›' | '•' | '｜' => self.bars += 1,
            _ => {}
        }
        0
    }

    /// Adds the counts of the text that follows.
    pub(super) fn add(&mut self, other: Measure) {
        self.tokens += other.tokens;
        self.marks += other.marks;
        self.numbers += other.numbers;
        self.bars += other.bars;
        self.cjk += other.cjk;
    }
}

/// A letter or digit outside ASCII. The signs that are common are no letters, and to look them up is dear.
fn is_letter(c: char) -> bool {
    let sign = matches!(c, '\u{a0}'..='\u{a9}' | '\u{2010}'..='\u{206f}' | '\u{3001}'..='\u{3004}'
        | '\u{3008}'..='\u{301f}' | '\u{ff01}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff20}');
    !sign && c.is_alphanumeric()
}

/// True if the text ends as a sentence does.
pub(super) fn ends_sentence(text: &str) -> bool {
    text.trim_end()
        .trim_end_matches(['”', '"', '’', '\'', ')', '）', '」', '』', '»'])
        .ends_with(['。', '.', '！', '!', '？', '?', '…', '；', ':', '：'])
}
