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

impl Measure {
    /// Counts of `text`.
    pub(super) fn of(text: &str) -> Self {
        if text.is_ascii() {
            return Self::of_ascii(text.as_bytes());
        }
        let mut m = Self::default();
        let mut in_word = false;
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            let is_cjk = !c.is_ascii() && is_cjk(c);
            if c.is_ascii_alphanumeric() || (!c.is_ascii() && !is_cjk && is_letter(c)) {
                if !in_word {
                    m.tokens += 1;
                    m.numbers += u32::from(c.is_ascii_digit());
                }
                in_word = true;
                continue;
            }
            in_word = false;
            if is_cjk {
                m.tokens += 1;
                m.cjk += 1;
                continue;
            }
            match c {
                '，' | '。' | '；' | '：' | '？' | '！' | '、' | '؟' | '،' | '।' => {
                    m.marks += 1
                }
                ',' | '.' | ';' | ':' | '?' | '!' => {
                    let ends = chars
                        .peek()
                        .is_none_or(|n| !n.is_ascii_alphanumeric() && *n != '/');
                    m.marks += u32::from(ends);
                }
                '|' | '>' | '»' | '·' | '/' | '›' | '•' | '｜' => m.bars += 1,
                _ => {}
            }
        }
        m
    }

    /// The same for text of ASCII alone.
    fn of_ascii(text: &[u8]) -> Self {
        let mut m = Self::default();
        let mut in_word = false;
        for (at, &b) in text.iter().enumerate() {
            let is_word = b.is_ascii_alphanumeric();
            if is_word && !in_word {
                m.tokens += 1;
                m.numbers += u32::from(b.is_ascii_digit());
            }
            in_word = is_word;
            match b {
                b',' | b'.' | b';' | b':' | b'?' | b'!' => {
                    let next = text.get(at + 1);
                    let ends = next.is_none_or(|n| !n.is_ascii_alphanumeric() && *n != b'/');
                    m.marks += u32::from(ends);
                }
                b'|' | b'>' | b'/' => m.bars += 1,
                _ => {}
            }
        }
        m
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

/// A letter or digit outside ASCII. The block of dashes and curly quotes has none, and they are common.
fn is_letter(c: char) -> bool {
    !matches!(c, '\u{2010}'..='\u{206f}') && c.is_alphanumeric()
}

/// True if the text ends as a sentence does.
pub(super) fn ends_sentence(text: &str) -> bool {
    text.trim_end()
        .trim_end_matches(['”', '"', '’', '\'', ')', '）', '」', '』', '»'])
        .ends_with(['。', '.', '！', '!', '？', '?', '…', '；', ':', '：'])
}
