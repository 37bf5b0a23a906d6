//! Headings of a file: those of its text, and which of its first lines may be its title.

use crate::Heading;
use crate::honesty::clean;

/// Paragraphs and tables among which the title is looked for.
pub(crate) const TITLE_BLOCKS: usize = 12;
/// Length of a title that nothing marks as one, in characters.
const TITLE_CHARS: std::ops::RangeInclusive<usize> = 4..=50;

/// Headings of one file that are kept, and characters of each.
const MAX_HEADINGS: usize = 2_000;
const HEADING_CHARS: usize = 200;

/// Adds a heading of this level, 1 to 6.
pub(crate) fn push_heading(level: u8, text: &str, headings: &mut Vec<Heading>) {
    if headings.len() < MAX_HEADINGS && text.chars().count() <= HEADING_CHARS {
        headings.push(Heading {
            level: level.clamp(1, 6),
            text: text.to_owned(),
        });
    }
}

/// Headings as the lines of a cleaned text have them.
pub(crate) fn clean_headings(headings: Vec<Heading>) -> Vec<Heading> {
    let cleaned = headings.into_iter().map(|heading| Heading {
        text: clean(&heading.text).trim().to_owned(),
        ..heading
    });
    cleaned.filter(|heading| !heading.text.is_empty()).collect()
}

/// Adds a paragraph to `headings` if it may be the title. `block`: which it is of those with text, from 1. `is_marked`: it looks like a
/// heading; the first may be one without it.
pub(crate) fn push_if_title(text: &str, is_marked: bool, block: usize, headings: &mut Vec<String>) {
    if block <= TITLE_BLOCKS && (is_marked || (block == 1 && is_title_like(text))) {
        headings.push(text.to_owned());
    }
}

/// Whether a first line may be a title though nothing marks it: it is short, and neither a sentence nor a labelled value.
fn is_title_like(text: &str) -> bool {
    let text = text.trim();
    TITLE_CHARS.contains(&text.chars().count())
        && !text.contains(['。', '，', '；', '：', ':', '!', '！', '\n'])
}
