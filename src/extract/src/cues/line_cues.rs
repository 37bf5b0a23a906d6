//! Counts words and signs in short lines that are typical of a type of page.

use crate::cues;
use crate::page::measure::Measure;

/// What short lines of a page say, counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct LineSigns {
    /// Amounts of money.
    pub prices: u32,
    /// Add to cart and its kin.
    pub shop: u32,
    /// Reply, quote, joined: what is around posts.
    pub talk: u32,
    /// Min read, by: what is around articles.
    pub reading: u32,
    /// Get a quote, call now, learn more: what companies ask for.
    pub call: u32,
    /// Dates and times relative to now.
    pub times: u32,
    /// Lines that end in a question mark.
    pub questions: u32,
}

/// Longest line that is checked, in tokens.
const SHORT: u32 = 12;

/// The sections of words in the order of the counts they raise.
const SECTIONS: [&str; LISTS] = [
    "line.shop",
    "line.talk",
    "line.reading",
    "line.call",
    "line.time",
];

/// Number of the sections.
pub(crate) const LISTS: usize = 5;

/// The words with a bit for the section of each.
pub(crate) fn list_words() -> impl Iterator<Item = (String, u32)> {
    let sections = SECTIONS.iter().enumerate();
    sections.flat_map(|(at, section)| {
        cues::words(section)
            .into_iter()
            .map(move |word| (word, 1 << at))
    })
}

/// True for lines short enough to be counted.
pub(crate) fn is_short(measure: &Measure) -> bool {
    measure.tokens <= SHORT
}

impl LineSigns {
    /// Counts what a short line says; `seen` are the bits of the [`list_words`] in it.
    pub(crate) fn add(&mut self, text: &str, measure: &Measure, seen: u32) {
        self.questions += u32::from(text.ends_with(['?', '？']));
        if measure.numbers > 0 && text.contains(['$', '€', '£', '¥', '￥']) {
            self.prices += 1;
        }
        let counts = [
            &mut self.shop,
            &mut self.talk,
            &mut self.reading,
            &mut self.call,
            &mut self.times,
        ];
        for (at, count) in counts.into_iter().enumerate() {
            *count += seen >> at & 1;
        }
    }
}
