//! Parts of a text that do not read like it: a list of facts below a heading between two paragraphs, or after the last. In:
//! the lines kept, with the odds of all. Out: the lines of such parts. Never looks outside the element that the
//! paragraphs stand in, never takes links or what is marked as something else.

use std::collections::HashMap;
use std::ops::Range;

use foldhash::fast::RandomState;

use super::select::mean_odds;
use crate::classify::features::View;
use crate::cues::phrases::Phrase;
use crate::lines::hints::Marks;
use crate::lines::outline::is_prose;
use crate::page::{NodeId, Page, Tag};

/// Share of the kept text that must stand right in one element.
const HOME_SHARE: f32 = 0.5;
/// Of so many tokens of a part one may be linked.
const UNLINKED: u32 = 4;
/// Fewest tokens of a line of such a part, on average.
const LINE_TOKENS: u32 = 4;
/// Most lines of such a part; this and the others by cross-validation over sites.
const MOST_LINES: usize = 40;
/// Odds that its lines must have on average.
const LEAST_ODDS: f32 = -3.0;
/// Fewest tokens of a sentence that is a link as a whole, and the odds it must have.
const SENTENCE_TOKENS: u32 = 12;
const LEAST_LINKED_ODDS: f32 = -1.5;
/// Marks that such a part must not have.
const MARKED: Marks = Marks::AGAINST
    .with(Marks::AUTHOR)
    .with(Marks::ABOUT)
    .with(Marks::CAPTION);

/// Lines of the parts among the paragraphs in `kept`, which is in order, and right below the last.
pub(crate) fn lines(page: &Page, view: &View<'_>, odds: &[f32], kept: &[usize]) -> Vec<usize> {
    let mut more = Vec::new();
    let Some((home, paragraphs)) = home(page, view, kept) else {
        return more;
    };
    let mut next = home + 1;
    while next < page.node(home).end {
        let child = page.node(next);
        let part = view.outline.range(page, next);
        next = child.end.max(next + 1);
        let below = part.start > paragraphs.end;
        let known =
            kept.partition_point(|i| *i < part.start) < kept.partition_point(|i| *i < part.end);
        if part.is_empty() || part.start < paragraphs.start || known {
            continue;
        }
        let more_of_it = is_plain(view, odds, part.clone(), below)
            || is_linked_sentence(view, odds, part.clone());
        if more_of_it && !(below && child.tag == Tag::DIV) {
            more.extend(part);
        } else if below && child.tag != Tag::FIGURE {
            break;
        }
    }
    more
}

/// The element right in which most of the kept text stands, with its first and last paragraph.
fn home(page: &Page, view: &View<'_>, kept: &[usize]) -> Option<(NodeId, Range<usize>)> {
    let all = &view.outline.lines;
    let mut parents: HashMap<NodeId, (u32, Range<usize>), RandomState> = HashMap::default();
    for i in kept.iter().filter(|i| is_prose(&all[**i])) {
        let parent = page.node(all[*i].block).parent;
        let (tokens, range) = parents.entry(parent).or_insert((0, *i..*i));
        *tokens += all[*i].all.tokens;
        range.end = *i;
    }
    let whole: u32 = kept.iter().map(|i| all[*i].all.tokens).sum();
    let most = parents
        .into_iter()
        .max_by_key(|(node, (tokens, _))| (*tokens, std::cmp::Reverse(*node)));
    most.filter(|(_, (tokens, _))| *tokens as f32 >= HOME_SHARE * whole as f32)
        .map(|(node, (_, range))| (node, range))
}

/// True for a paragraph that is a link as a whole, like the one before it in all else.
fn is_linked_sentence(view: &View<'_>, odds: &[f32], part: Range<usize>) -> bool {
    let lines = &view.outline.lines;
    let (at, Some(before)) = (part.start, part.start.checked_sub(1)) else {
        return false;
    };
    part.len() == 1
        && view.ends[at]
        && lines[at].all.tokens >= SENTENCE_TOKENS
        && lines[at].path == lines[before].path
        && lines[at].marks == lines[before].marks
        && view.phrases[at].is_none()
        && odds[at] > LEAST_LINKED_ODDS
}

/// True for a part that has words rather than links or labels and does not call itself something else. `below` the last
/// paragraph a day may close the text.
fn is_plain(view: &View<'_>, odds: &[f32], part: Range<usize>, below: bool) -> bool {
    let sum = view.outline.sum(part.clone());
    part.len() <= MOST_LINES
        && sum.linked * UNLINKED <= sum.tokens
        && sum.tokens >= LINE_TOKENS * sum.lines
        && mean_odds(odds, part.clone()) > LEAST_ODDS
        && part.clone().all(|i| {
            (view.phrases[i].is_none() || (below && view.phrases[i] == Some(Phrase::Source)))
                && !view.outline.lines[i].marks.any(MARKED)
        })
}
