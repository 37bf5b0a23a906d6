//! The language of a page. In: what the page declares and its text. Out: a primary language tag. A cheap
//! guess: scripts decide for the languages that have their own, else the declaration stands.

/// Characters looked at.
const SAMPLE: usize = 2_000;

/// `zh`, `en`, `ja` … of a text, `declared` being `html lang` or the like.
pub(super) fn language_of(declared: Option<&str>, text: &str) -> Option<String> {
    let declared = declared
        .map(|d| {
            d.trim()
                .split(['-', '_', ','])
                .next()
                .unwrap_or_default()
                .to_ascii_lowercase()
        })
        .filter(|d| (2..=3).contains(&d.len()) && d.bytes().all(|b| b.is_ascii_lowercase()));
    let mut counts = Counts::default();
    for c in text.chars().take(SAMPLE) {
        counts.add(c);
    }
    counts.script_language().map(str::to_owned).or_else(|| {
        // A Latin text under lang=zh is a template's default, not a statement.
        let latin = counts.latin > 40 && counts.latin > 20 * counts.cjk();
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

#[derive(Default)]
struct Counts {
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
}

impl Counts {
    fn add(&mut self, c: char) {
        if c.is_ascii() {
            self.latin += u32::from(c.is_ascii_alphabetic());
            return;
        }
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
