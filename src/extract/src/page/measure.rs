//! Counts what can be counted in a text without knowing its language. [`Measure`] takes one pass and no allocation.

/// Counts of one text; they add up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Measure {
    /// CJK characters plus runs of other letters and digits: the unit that makes languages comparable.
    pub tokens: u32,
    /// Sentence marks `，。；：？！、,.;:?!`, those of numbers and URLs skipped.
    pub marks: u32,
    /// Runs that begin with a digit.
    pub numbers: u32,
    /// Signs that menus and bars are made of: `|`, `>`, `»`, `·`, `/`.
    pub bars: u32,
    /// CJK characters.
    pub cjk: u32,
}

/// What the character before was, as far as it matters to the next: any but the following,
const OTHER: u8 = 0;
/// a letter or digit,
const WORD: u8 = 1;
/// a sentence mark of ASCII, which counts unless a word or a URL continues behind it,
const MARK: u8 = 2;
/// a blank.
const BLANK: u8 = 3;

/// What each byte of ASCII is to the next.
const SORTS: [u8; 128] = {
    let mut sorts = [OTHER; 128];
    let mut at = 0;
    while at < 128 {
        sorts[at] = match at as u8 {
            b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => WORD,
            b',' | b'.' | b';' | b':' | b'?' | b'!' => MARK,
            b' ' => BLANK,
            _ => OTHER,
        };
        at += 1;
    }
    sorts
};

/// Bits of each of the five counts that are added up as one number.
const BITS: usize = 12;
/// Bytes of which none of the counts overflows.
const RUN: usize = (1 << BITS) - 1;
/// Places of the counts: tokens, numbers, bars, marks and white space that is no single blank.
const TOKENS: usize = 0;
const NUMBERS: usize = BITS;
const BARS: usize = 2 * BITS;
const MARKS: usize = 3 * BITS;
const ODD: usize = 4 * BITS;

/// What a byte of ASCII adds to the counts, by the sort of the character before it: one addition a byte.
const COUNTS: [[u64; 128]; 4] = {
    let mut counts = [[0; 128]; 4];
    let mut before = 0;
    while before < 4 {
        let mut at = 0;
        while at < 128 {
            counts[before as usize][at] = counts_of(before, at as u8);
            at += 1;
        }
        before += 1;
    }
    counts
};

const fn counts_of(before: u8, byte: u8) -> u64 {
    let sort = SORTS[byte as usize];
    let begins = sort == WORD && before != WORD;
    let number = begins && byte.is_ascii_digit();
    let bar = matches!(byte, b'|' | b'>' | b'/');
    let marked = before == MARK && sort != WORD && byte != b'/';
    let odd = byte < b' ' || (sort == BLANK && before == BLANK);
    (begins as u64) << TOKENS
        | (number as u64) << NUMBERS
        | (bar as u64) << BARS
        | (marked as u64) << MARKS
        | (odd as u64) << ODD
}

/// Counts on their way through a text.
#[derive(Debug, Default)]
struct Survey {
    measure: Measure,
    /// Sort of the character before.
    before: u8,
    /// White space was seen that is no single blank.
    odd: bool,
}

impl Survey {
    fn new(bytes: &[u8]) -> Self {
        let mut survey = Self::default();
        let mut at = 0;
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            at += match rest {
                [0..0x80, ..] => survey.ascii(rest),
                // Nearly all Chinese characters: U+4E00 to U+9FFF.
                [0xE5..=0xE9, _, _, ..] | [0xE4, 0xB8..=0xBF, _, ..] => {
                    survey.cjk();
                    3
                }
                _ => {
                    let (char, len) = first_char(rest);
                    survey.wide(char);
                    len
                }
            };
        }
        survey.end_mark();
        survey
    }

    /// Counts the bytes of ASCII that come next, at least one, and returns how many they are.
    fn ascii(&mut self, rest: &[u8]) -> usize {
        let (mut counts, mut before, mut read) = (0, self.before, 0);
        for byte in rest.iter().take(RUN).take_while(|byte| byte.is_ascii()) {
            let byte = usize::from(byte & 0x7F);
            counts += COUNTS[usize::from(before & 3)][byte];
            before = SORTS[byte];
            read += 1;
        }
        let count = |place: usize| (counts >> place) as u32 & RUN as u32;
        let m = &mut self.measure;
        m.tokens += count(TOKENS);
        m.numbers += count(NUMBERS);
        m.bars += count(BARS);
        m.marks += count(MARKS);
        self.odd |= count(ODD) > 0;
        self.before = before;
        read
    }

    /// The sentence mark before, if one is, is before no word.
    fn end_mark(&mut self) {
        self.measure.marks += u32::from(self.before == MARK);
    }

    fn cjk(&mut self) {
        self.end_mark();
        self.measure.tokens += 1;
        self.measure.cjk += 1;
        self.before = OTHER;
    }

    /// Counts a character outside ASCII.
    fn wide(&mut self, char: char) {
        if is_cjk(char) {
            return self.cjk();
        }
        self.end_mark();
        let before = std::mem::take(&mut self.before);
        let m = &mut self.measure;
        if is_letter(char) {
            let begins = u32::from(before != WORD);
            m.tokens += begins;
            m.numbers += begins * u32::from(is_eastern_digit(char));
            self.before = WORD;
            return;
        }
        match char {
            '，' | '。' | '；' | '：' | '？' | '！' | '、' | '؟' | '،' | '।' => {
                m.marks += 1
            }
            '»' | '·' | '›' | '•' | '｜' => m.bars += 1,
            _ => self.odd |= char.is_whitespace(),
        }
    }
}

/// The character that UTF-8 begins with, and its length; the replacement character for a byte that begins none.
fn first_char(bytes: &[u8]) -> (char, usize) {
    let len = match bytes {
        [0xF0..=0xFF, ..] => 4,
        [0xE0..=0xEF, ..] => 3,
        _ => 2,
    };
    let text = bytes.get(..len).map(std::str::from_utf8);
    match text {
        Some(Ok(text)) => (text.chars().next().unwrap_or_default(), len),
        _ => (char::REPLACEMENT_CHARACTER, 1),
    }
}

impl Measure {
    /// Counts of `text`.
    pub(crate) fn new(text: &str) -> Self {
        Survey::new(text.as_bytes()).measure
    }

    /// Counts of a text in UTF-8, and whether all white space in it is single blanks, as in nearly all texts of a page.
    pub(crate) fn and_tidy(text: &[u8]) -> (Self, bool) {
        let survey = Survey::new(text);
        (survey.measure, !survey.odd)
    }

    /// Adds the counts of the text that follows.
    pub(crate) fn add(&mut self, other: Measure) {
        self.tokens += other.tokens;
        self.marks += other.marks;
        self.numbers += other.numbers;
        self.bars += other.bars;
        self.cjk += other.cjk;
    }
}

/// A digit of Arabic or Persian.
pub(crate) fn is_eastern_digit(c: char) -> bool {
    matches!(c, '\u{660}'..='\u{669}' | '\u{6f0}'..='\u{6f9}')
}

/// A letter or digit outside ASCII, as `char::is_alphanumeric` says, which is slow for the signs and accented letters that
/// are common.
pub(crate) fn is_letter(c: char) -> bool {
    match c {
        '\u{a0}'..='\u{a9}' | '\u{2010}'..='\u{206f}' | '\u{3001}'..='\u{3004}' => false,
        '\u{3008}'..='\u{301f}' | '\u{ff01}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff20}' => false,
        'À'..='ɏ' => !matches!(c, '×' | '÷'),
        _ => c.is_alphanumeric(),
    }
}

/// True if the text ends as a sentence does.
pub(crate) fn ends_sentence(text: &str) -> bool {
    text.trim_end()
        .trim_end_matches(['”', '"', '’', '\'', ')', '）', '」', '』', '»'])
        .ends_with(['。', '.', '！', '!', '？', '?', '…', '；', ':', '：'])
}

/// True for characters of scripts that write words without spaces.
pub(crate) fn is_cjk(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{2fa1f}')
}
