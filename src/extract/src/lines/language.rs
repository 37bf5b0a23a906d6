//! Guesses the language of a page: scripts decide for languages that have their own, else the declaration of the page
//! counts.

use crate::literals::count_bytes;

/// Characters checked.
const SAMPLE: usize = 2_000;
/// Bytes of texts from which no more are checked.
const ENOUGH: usize = 4_000;

/// The letters of a text by script.
#[derive(Debug, Default)]
pub(crate) struct Scripts {
    han: u32,
    kana: u32,
    hangul: u32,
    cyrillic: u32,
    arabic: u32,
    thai: u32,
    greek: u32,
    hebrew: u32,
    devanagari: u32,
    latin: u32,
    /// Characters checked.
    seen: usize,
    /// Bytes of all texts.
    bytes: usize,
}

impl Scripts {
    /// Counts the letters of a text; false when there is enough to judge by.
    pub(crate) fn add(&mut self, text: &str) -> bool {
        let mut rest = text;
        while self.seen < SAMPLE && !rest.is_empty() {
            let ascii = if rest.is_ascii() {
                None
            } else {
                rest.bytes().position(|b| b >= 0x80)
            };
            let ascii = ascii.unwrap_or(rest.len()).min(SAMPLE - self.seen);
            let (latin, behind) = rest.split_at(ascii);
            self.latin += count_bytes(latin.as_bytes(), |b| b.is_ascii_alphabetic()) as u32;
            self.seen += ascii;
            // U+4000 to U+9FFF.
            let (chars, _) = behind.as_bytes().as_chunks::<3>();
            let is_han = |char: &&[u8; 3]| matches!(char, [0xE4..=0xE9, ..]);
            let han = chars.iter().take_while(is_han).count();
            let han = han.min(SAMPLE - self.seen);
            self.han += han as u32;
            self.seen += han;
            let mut others = behind.get(3 * han..).unwrap_or_default().chars();
            rest = others.as_str();
            if let Some(c) = others
                .next()
                .filter(|c| !c.is_ascii() && self.seen < SAMPLE)
            {
                self.count(c);
                self.seen += 1;
                rest = others.as_str();
            }
        }
        self.bytes += text.len();
        self.seen < SAMPLE && self.bytes <= ENOUGH
    }

    /// Counts a character outside ASCII.
    fn count(&mut self, c: char) {
        match c {
            '\u{c0}'..='\u{24f}' => self.latin += 1,
            '\u{3040}'..='\u{30ff}' => self.kana += 1,
            '\u{3400}'..='\u{9fff}' | '\u{20000}'..='\u{2fa1f}' => self.han += 1,
            '\u{ac00}'..='\u{d7af}' => self.hangul += 1,
            '\u{400}'..='\u{4ff}' => self.cyrillic += 1,
            '\u{600}'..='\u{6ff}' => self.arabic += 1,
            '\u{e00}'..='\u{e7f}' => self.thai += 1,
            '\u{370}'..='\u{3ff}' => self.greek += 1,
            '\u{590}'..='\u{5ff}' => self.hebrew += 1,
            '\u{900}'..='\u{97f}' => self.devanagari += 1,
            _ => {}
        }
    }

    /// `zh`, `en`, `ja` … of a page with these letters, `declared` being `html lang` or the like.
    pub(crate) fn language(&self, declared: Option<&str>) -> Option<String> {
        let declared = declared
            .map(|d| {
                d.trim()
                    .split(['-', '_', ','])
                    .next()
                    .unwrap_or_default()
                    .to_ascii_lowercase()
            })
            .filter(|d| (2..=3).contains(&d.len()) && d.bytes().all(|b| b.is_ascii_lowercase()));
        self.script_language().map(str::to_owned).or_else(|| {
            // A Latin text under lang=zh is a template's default, not a statement.
            let latin = self.latin > 40 && self.latin > 20 * self.cjk();
            let claims_other = declared
                .as_deref()
                .is_some_and(|d| matches!(d, "zh" | "ja" | "ko" | "ru" | "ar"));
            if latin && claims_other {
                Some("en".to_owned())
            } else {
                declared
            }
        })
    }

    fn cjk(&self) -> u32 {
        self.han + self.kana + self.hangul
    }

    /// The language that a script stands for, when it has a good part of the letters.
    fn script_language(&self) -> Option<&'static str> {
        // A CJK character says as much as three Latin letters.
        let floor = (self.latin / 6).max(4);
        if self.kana > floor / 2 && self.kana * 8 > self.han {
            return Some("ja");
        }
        [
            (self.hangul, "ko"),
            (self.han, "zh"),
            (self.thai, "th"),
            (self.hebrew, "he"),
            (self.devanagari, "hi"),
            (self.greek, "el"),
        ]
        .into_iter()
        .find(|(n, _)| *n > floor)
        .map(|(_, tag)| tag)
    }
}
