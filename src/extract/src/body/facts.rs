//! Adds the facts of an event or a notice to the text: when, where, for how much, by whom. They are labels and short values
//! in rows, cells or lines of their own, so that the models find them just too unlike prose.
//!
//! [`add_facts`] needs labels of two different facts between the headline and the last line of the text.

use std::sync::LazyLock;

use super::Body;
use crate::cues;
use crate::cues::phrases::Phrase;
use crate::lines::hints::Marks;
use crate::lines::outline::Outline;
use crate::literals::Beginnings;
use crate::page::{NodeId, Page};

/// Longest line that is a label or a value, in tokens; a longer one is a paragraph.
const FACT_TOKENS: u32 = 80;
/// Most lines of the element that holds the facts: 30 lose pages with a description among them, 100 gain nothing.
const MAX_LINES: usize = 60;
/// Fewest different facts.
const MIN_FACTS: u32 = 2;
/// Marks of parts that state facts of something else. The head of a page or of a text may state its own.
const ELSEWHERE: Marks = Marks::AGAINST.with(Marks::CAPTION).without(Marks::HEADER);

/// Labels, each with a bit for the fact that it names.
static LABELS: LazyLock<Beginnings> = LazyLock::new(|| {
    let sections = ["fact.time", "fact.place", "fact.fee", "fact.people"];
    let words = sections.iter().enumerate().flat_map(|(at, section)| {
        let words = cues::words(section).into_iter();
        words.map(move |word| (word, 1 << at))
    });
    Beginnings::new(words)
});

/// The bits of the facts that a line names with a label, which ends the line or is before a sign.
fn read_label(text: &str) -> u32 {
    const SIGNS: [char; 10] = ['：', ':', '|', '｜', '│', '/', '／', '】', ']', '〕'];
    let text = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    let labels = LABELS.of_text(text).filter(|(_, length)| {
        let behind = text.get(*length..).unwrap_or_default().trim_start();
        behind.is_empty() || behind.starts_with(SIGNS)
    });
    labels.fold(0, |facts, (fact, _)| facts | fact)
}

/// Adds the lines of facts between the headline, which is line `title`, and the last line of the text: all short ones of the
/// innermost element around the labels. Adds nothing without a headline, with labels of fewer than [`MIN_FACTS`] facts, or
/// where that element is long.
pub(crate) fn add_facts(page: &Page, outline: &Outline, title: Option<usize>, body: &mut Body) {
    let (Some(title), Some(last)) = (title, body.lines.last().copied()) else {
        return;
    };
    let may_be_fact = |at: &usize| {
        let line = &outline.lines[*at];
        line.all.tokens <= FACT_TOKENS
            && !line.marks.any(ELSEWHERE)
            && matches!(body.phrases[*at], None | Some(Phrase::Source))
    };
    let mut facts = 0u32;
    let mut around = None;
    for at in (title + 1..=last).filter(may_be_fact) {
        let line = &outline.lines[at];
        let fact = read_label(outline.text(page, line));
        if fact != 0 {
            facts |= fact;
            around = Some(find_common_ancestor(
                page,
                around.unwrap_or(line.block),
                line.block,
            ));
        }
    }
    let Some(around) = around.filter(|_| facts.count_ones() >= MIN_FACTS) else {
        return;
    };
    let range = outline.range(page, around);
    let range = range.start.max(title + 1)..range.end.min(last + 1);
    if range.len() <= MAX_LINES {
        let added: Vec<usize> = range.filter(may_be_fact).collect();
        body.lines.extend(added);
        body.lines.sort_unstable();
        body.lines.dedup();
    }
}

/// The innermost element that holds both.
fn find_common_ancestor(page: &Page, a: NodeId, b: NodeId) -> NodeId {
    let holds = |node: &NodeId| page.subtree(*node).contains(&b);
    let mut above = std::iter::once(a).chain(page.ancestors(a));
    above.find(holds).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_label_needs_end_or_sign() {
        for (text, facts, case) in [
            ("活動地點", 0b10, "all of a line, in the spelling of Taiwan"),
            ("【时间】12月3日", 1, "in brackets"),
            ("Venue: Hall 3", 0b10, "before a colon"),
            ("票价｜300 元", 0b100, "before a bar"),
            ("时间过得真快。", 0, "the beginning of a sentence"),
            ("Where we stand", 0, "the beginning of a heading"),
        ] {
            assert_eq!(read_label(text), facts, "{case}");
        }
    }
}
