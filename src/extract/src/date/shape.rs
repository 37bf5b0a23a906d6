//! What the digits of a text may be part of. In: a text whose digits are ASCII. Out: a [`Shape`]: the patterns of dates
//! that need not be tried. Never says that there is a date.

/// What the digits of a text may be part of: most patterns need not be tried.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Shape {
    /// A year with two numbers behind it, or eight digits.
    pub(crate) year_first: bool,
    /// A year with a word and a number before it.
    pub(crate) named: bool,
    /// Two numbers and a year behind them.
    pub(crate) day_first: bool,
    /// A month and a day without a year of four digits before them.
    pub(crate) month_day: bool,
}

/// Most bytes between the numbers of a date: a sign and two blanks, of three bytes each.
const GAP: usize = 9;

/// What stands between two numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Joint {
    /// Something else.
    #[default]
    None,
    /// `-`, `/`, `.` or `年`, and nothing beside it.
    Bare(u8),
    /// A sign that may part the numbers of a date, maybe with blanks.
    Sign,
    /// `月`, maybe with blanks.
    Month,
}

impl Joint {
    fn of(gap: &[u8]) -> Self {
        const MONTH: &[u8] = "月".as_bytes();
        let wide = gap.iter().any(|b| *b >= 0x80);
        match gap {
            [sign @ (b'-' | b'/' | b'.')] => Self::Bare(*sign),
            _ if gap == "年".as_bytes() => Self::Bare(0),
            _ if gap.len() > GAP => Self::None,
            _ if wide && gap.windows(MONTH.len()).any(|w| w == MONTH) => Self::Month,
            _ if wide || matches!(trimmed(gap), [b'-' | b'/' | b'.' | b'_']) => Self::Sign,
            _ => Self::None,
        }
    }
}

/// Digits in a row.
#[derive(Debug, Clone, Copy, Default)]
struct Number {
    /// How many; 0 of the number before the first.
    len: usize,
    /// What stands between it and the number before.
    joint: Joint,
}

impl Number {
    fn is_short(self) -> bool {
        (1..=2).contains(&self.len)
    }
}

impl Shape {
    /// Reads a text once.
    pub(crate) fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut shape = Self::default();
        // A number of one or two digits stood behind a word.
        let mut worded = false;
        let (mut first, mut second) = (Number::default(), Number::default());
        let mut end = 0;
        while let Some((start, len)) = next_number(bytes, end) {
            let (before, gap) = (bytes.get(..start), bytes.get(end..start));
            let (before, gap) = (before.unwrap_or_default(), gap.unwrap_or_default());
            let joint = if second.len > 0 {
                Joint::of(gap)
            } else {
                Joint::None
            };
            let third = Number { len, joint };
            shape.add(first, second, third);
            if len == 8 {
                shape.year_first |= matches!(
                    bytes.get(start..),
                    Some([b'1', b'9', ..] | [b'2', b'0', ..])
                );
            }
            shape.named |= len == 4 && (worded || (second.is_short() && behind_month(before)));
            worded = worded || (third.is_short() && behind_word(before));
            (first, second, end) = (second, third, start + len);
        }
        shape
    }

    /// Notes what three numbers in a row may be.
    fn add(&mut self, first: Number, second: Number, third: Number) {
        if third.joint == Joint::None {
            return;
        }
        let year = matches!(second.joint, Joint::Bare(_)) && first.len >= 4;
        let dashed = third.joint == Joint::Bare(b'-') && second.len == 2 && third.len == 2;
        let named = third.joint == Joint::Month && second.is_short() && third.is_short();
        self.month_day |= (dashed || named) && !year;
        if second.joint == Joint::None {
            return;
        }
        self.year_first |= first.len == 4 && second.len <= 3 && third.is_short();
        // Years of two digits stand behind dots and zeros.
        let short = third.len == 2 && first.len == 2 && second.len == 2;
        self.day_first |= first.is_short() && second.is_short() && (third.len == 4 || short);
    }
}

/// The next digits from `from`: where they begin and how many they are.
fn next_number(bytes: &[u8], from: usize) -> Option<(usize, usize)> {
    let rest = bytes.get(from..)?;
    let skipped = rest.iter().position(u8::is_ascii_digit)?;
    let digits = rest.get(skipped..)?.iter();
    Some((
        from + skipped,
        digits.take_while(|b| b.is_ascii_digit()).count(),
    ))
}

/// True if a number may be the day behind the name of a month: `September 7`.
fn behind_word(before: &[u8]) -> bool {
    let word = trimmed_end(before, is_blank);
    let blank = word.len() < before.len();
    ends_in_letter(word.strip_suffix(b".").unwrap_or(word), blank)
}

/// True if a number may be the year behind the name of a month: `7. September, 2019`.
fn behind_month(before: &[u8]) -> bool {
    let word = trimmed_end(before, |b| is_blank(b) || matches!(b, b'-' | b',' | b'.'));
    ends_in_letter(word, true)
}

/// True if the last character may be a letter of the name of a month, or a blank outside ASCII. Letters of ASCII count
/// only with a `blank` behind them. Months have no names in the characters that begin with bytes beyond E2.
fn ends_in_letter(text: &[u8], blank: bool) -> bool {
    let lead = text.iter().rev().find(|b| !matches!(b, 0x80..=0xBF));
    lead.is_some_and(|b| matches!(b, 0xC2..=0xE2) || (blank && b.is_ascii_alphabetic()))
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

fn trimmed_end(mut text: &[u8], is_left_out: impl Fn(u8) -> bool) -> &[u8] {
    while let [rest @ .., last] = text
        && is_left_out(*last)
    {
        text = rest;
    }
    text
}

fn trimmed(text: &[u8]) -> &[u8] {
    let first = text.iter().position(|b| !is_blank(*b));
    trimmed_end(text.get(first.unwrap_or(0)..).unwrap_or_default(), is_blank)
}
