//! What the digits of a text may be part of. In: a text whose digits are ASCII. Out: a [`Shape`]: the patterns of dates
//! that need not be tried. Never says that there is a date.

/// What the digits of a text may be part of: most patterns need not be tried.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Shape {
    /// Four digits with a sign behind them that parts days, or eight digits.
    pub(super) year_first: bool,
    /// Four digits with a word and a number before them.
    pub(super) named: bool,
    /// Signs behind digits that part numbers.
    pub(super) parts: u32,
    /// One of them is a dash.
    pub(super) dash: bool,
}

impl Shape {
    /// Reads a text once.
    pub(super) fn of(text: &str) -> Self {
        let mut shape = Self::default();
        // Digits in a row, numbers that have ended, bytes of letters in a row.
        let (mut run, mut numbers, mut letters) = (0u32, 0u32, 0u32);
        let (mut worded, mut was_letter) = (false, false);
        // The last byte that is no blank and belongs to no character of several bytes.
        let mut before = 0;
        // A year may go on behind one blank.
        let mut year = false;
        for byte in text.bytes() {
            if byte.is_ascii_digit() {
                run += 1;
                shape.year_first |= run >= 8;
                shape.named |= run >= 4 && worded && numbers > 0;
                (letters, year, before) = (0, run >= 4, b'0');
                continue;
            }
            let part = matches!(byte, b'-' | b'/' | b'.');
            shape.year_first |= year && (part || byte == b'_' || byte >= 0x80);
            // Blanks may stand between.
            if part && before == b'0' {
                shape.parts += 1;
                shape.dash |= byte == b'-';
            }
            year &= run > 0 && matches!(byte, b' ' | b'\t'..=b'\r');
            numbers += u32::from(run > 0);
            run = 0;
            was_letter = match byte {
                0x80..=0xBF => was_letter,
                // Months have no names in the characters that begin with others.
                0xC3..=0xE1 => true,
                _ => byte.is_ascii_alphabetic(),
            };
            letters = if was_letter { letters + 1 } else { 0 };
            worded |= letters >= 3;
            match byte {
                b' ' | b'\t'..=b'\r' | 0x80.. => {}
                _ => before = byte,
            }
        }
        shape
    }
}
