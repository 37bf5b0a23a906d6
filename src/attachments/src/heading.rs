//! Tells which lines of a Word document may be its title.

/// Paragraphs and tables among which the title is looked for.
pub(crate) const TITLE_BLOCKS: usize = 12;
/// Length of a title that nothing marks as one, in characters.
const TITLE_CHARS: std::ops::RangeInclusive<usize> = 4..=50;

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
