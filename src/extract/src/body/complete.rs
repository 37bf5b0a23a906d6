//! Adds lines that belong to the kept ones though they do not read like text: tables, the rest of a block, attachments named
//! right below, and whole parts among the paragraphs or right below the last, such as lists of facts. Never removes a line.

mod wholes;

use std::collections::HashMap;
use std::ops::Range;

use foldhash::fast::RandomState;

use super::judgement::mean_odds;
use crate::classify::features::View;
use crate::cues::phrases::Phrase;
use crate::lines::hints::Marks;
use crate::lines::outline::{Outline, is_prose};
use crate::page::address::format_of_name;
use crate::page::{NodeId, Page, Tag};

/// Longest cell of a data table, in tokens; longer ones are paragraphs of a layout.
const CELL_TOKENS: u32 = 40;
/// Odds below which a line is none, whatever is beside it in its block: notices are ruled out so.
const LEAST_BLOCK_ODDS: f32 = -4.5;
/// Most attachments below a text.
const ATTACHMENTS: usize = 20;

/// Adds what belongs to kept lines though it does not read like text: the rest of a block, attachments named right below; then
/// parts that are among paragraphs; then whole lists, tables and listings, and headings.
pub(super) fn add_related(page: &Page, view: &View<'_>, odds: &[f32], lines: &mut Vec<usize>) {
    let outline = view.outline;
    let mut more = find_block_lines(view, odds, lines);
    if let Some(last) = lines.last().copied() {
        let below = (last + 1..outline.lines.len()).take(ATTACHMENTS);
        let names_file = |i: usize| {
            format_of_name(outline.text(page, &outline.lines[i])).is_some()
                && outline.lines[i].links > 0
        };
        more.extend(
            below.take_while(|i| view.phrases[*i] == Some(Phrase::Attachment) || names_file(*i)),
        );
    }
    add(lines, more);
    // What stands below a heading is found by it.
    add(lines, wholes::find_headings(page, outline, lines));
    add(lines, find_gap_lines(page, view, odds, lines));
    add(lines, wholes::find_whole_parts(page, view, odds, lines));
    add(lines, wholes::find_headings(page, outline, lines));
}

fn add(lines: &mut Vec<usize>, more: Vec<usize>) {
    lines.extend(more);
    lines.sort_unstable();
    lines.dedup();
}

/// The first and the last of some lines that are prose.
fn find_prose_ends(outline: &Outline, lines: &[usize]) -> Option<(usize, usize)> {
    let prose = |i: &&usize| is_prose(&outline.lines[**i]);
    let first = lines.iter().find(prose)?;
    Some((*first, *lines.iter().rfind(prose)?))
}

/// Lines of the blocks of which a line is kept: what `<br>` parts is text as one or not at all, but for links, notices and
/// paragraphs.
fn find_block_lines(view: &View<'_>, odds: &[f32], lines: &[usize]) -> Vec<usize> {
    let mut more = Vec::new();
    // The first line that was not looked at: in a block of many lines none is read again for each.
    let mut next = 0;
    for i in lines {
        if *i < next {
            continue;
        }
        let block = view.outline.lines[*i].block;
        let is_beside = |at: &usize| {
            let line = &view.outline.lines[*at];
            line.block == block
                && line.links == 0
                && line.all.tokens <= CELL_TOKENS
                && odds[*at] > LEAST_BLOCK_ODDS
                && view.phrases[*at].is_none()
        };
        more.extend((next..*i).rev().take_while(is_beside));
        let below = (i + 1..odds.len()).take_while(is_beside).count();
        next = i + 1 + below;
        more.extend(i + 1..next);
    }
    more
}

/// Those of the kept lines that are in a range.
fn kept_of<'l>(lines: &'l [usize], range: &Range<usize>) -> &'l [usize] {
    let from = lines.partition_point(|line| *line < range.start);
    let to = lines.partition_point(|line| *line < range.end);
    lines.get(from..to).unwrap_or_default()
}

/// Share of the kept text that must be right in one element.
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
/// Most lines of a note behind the last paragraph, and the odds that they must have on average.
const NOTE_LINES: usize = 6;
const LEAST_NOTE_ODDS: f32 = -6.0;
/// Marks that such a part must not have.
const MARKED: Marks = Marks::AGAINST
    .with(Marks::AUTHOR)
    .with(Marks::ABOUT)
    .with(Marks::CAPTION);

/// Lines of the parts among the paragraphs in `kept`, which is in order, and right below the last.
pub(crate) fn find_gap_lines(
    page: &Page,
    view: &View<'_>,
    odds: &[f32],
    kept: &[usize],
) -> Vec<usize> {
    let mut more = Vec::new();
    let Some((home, paragraphs)) = home(page, view, kept) else {
        return more;
    };
    let in_article = std::iter::once(home)
        .chain(page.ancestors(home))
        .any(|id| page.node(id).tag == Tag::ARTICLE);
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
            || (below
                && child.tag == Tag::ASIDE
                && in_article
                && is_note(view, odds, part.clone()))
            || is_linked_sentence(view, odds, part.clone());
        if more_of_it && !(below && child.tag == Tag::DIV) {
            more.extend(part);
        } else if below && child.tag != Tag::FIGURE {
            break;
        }
    }
    more
}

/// The element right in which most of the kept text is, with its first and last paragraph.
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

/// True for a note behind the last paragraph of an article: an `aside` of sentences without a link.
fn is_note(view: &View<'_>, odds: &[f32], part: Range<usize>) -> bool {
    let sum = view.outline.sum(part.clone());
    let mut lines = part.clone().map(|i| &view.outline.lines[i]);
    part.len() <= NOTE_LINES
        && sum.linked == 0
        && sum.tokens >= LINE_TOKENS * sum.lines
        && mean_odds(odds, part.clone()) > LEAST_NOTE_ODDS
        && lines.clone().any(is_prose)
        && lines.all(|line| !line.marks.without(Marks::ASIDE).any(MARKED))
        && part.clone().all(|i| view.phrases[i].is_none())
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
