//! Finds the rest of what has an end and a beginning of its own, lists, tables of data and listings, where a part of it is kept or
//! a kept line is right above; and the headings of what is kept. A reader misses an item between two others, and a heading above
//! its paragraph.

use std::ops::Range;

use super::{MARKED, find_prose_ends, kept_of};
use crate::body::judgement::mean_odds;
use crate::classify::features::View;
use crate::lines::Line;
use crate::lines::outline::Outline;
use crate::lines::table::Tables;
use crate::page::{NodeId, Page, PathId, Tag};

/// Elements around a line that are looked at.
const LEVELS: usize = 20;
/// Share of its tokens that must be kept for the rest to be added.
const KEPT_SHARE: f32 = 0.5;
/// Share of linked tokens above which it is there to lead elsewhere: of a list, and of a table of data. These and the others by
/// cross-validation over the sets with gold.
const LINKED_SHARE: f32 = 0.5;
const LINKED_DATA: f32 = 0.7;
/// Odds that its lines must have on average: those below a kept line, and those of a table of data anywhere.
const LEAST_ODDS: f32 = -4.0;
const LEAST_DATA_ODDS: f32 = -3.0;
/// Share of its lines that may be called something else than text: the column of a table that is called a header.
const MARKED_SHARE: f32 = 0.3;

/// Lines of the lists, tables of data and listings behind the first paragraph that belong to the kept `lines`.
pub(super) fn find_whole_parts(
    page: &Page,
    view: &View<'_>,
    odds: &[f32],
    lines: &[usize],
) -> Vec<usize> {
    let outline = view.outline;
    let mut more = Vec::new();
    let (Some((first, _)), Some(last)) = (find_prose_ends(outline, lines), lines.last()) else {
        return more;
    };
    // A page without a doctype has a table inside the paragraph before it that was not ended.
    let block = outline.lines[*last].block;
    let mut parts = Parts {
        page,
        outline,
        lines,
        tables: Tables::new(page, outline),
        within: first + 1..last + 1,
        homes: [block, page.node(block).parent],
    };
    let mut at = first + 1;
    while at <= (last + 1).min(outline.lines.len() - 1) {
        let Some((part, range)) = parts.find_outermost(at) else {
            at += 1;
            continue;
        };
        at = range.end.max(at + 1);
        if parts.is_of_text(part, &range, odds) {
            more.extend(range);
        }
    }
    more
}

/// What has an end and a beginning of its own among the lines of a text.
struct Parts<'a> {
    page: &'a Page,
    outline: &'a Outline,
    /// The kept ones.
    lines: &'a [usize],
    tables: Tables<'a>,
    /// Where such a part may be: behind the first paragraph. One that a kept line is in may end later.
    within: Range<usize>,
    /// A table right in one of these may be below the last line.
    homes: [NodeId; 2],
}

impl Parts<'_> {
    /// The outermost list, table of data or listing around a line, with its lines.
    fn find_outermost(&mut self, at: usize) -> Option<(NodeId, Range<usize>)> {
        let (page, outline) = (self.page, self.outline);
        let block = outline.lines[at].block;
        let mut found = None;
        for id in std::iter::once(block)
            .chain(page.ancestors(block))
            .take(LEVELS)
        {
            let range = outline.range(page, id);
            let node = page.node(id);
            let is_within = range.end <= self.within.end || !kept_of(self.lines, &range).is_empty();
            let is_below = || node.tag == Tag::TABLE && self.homes.contains(&node.parent);
            if range.start < self.within.start {
                break;
            }
            if !is_within && !is_below() {
                continue;
            }
            let is_part = match node.tag {
                Tag::UL | Tag::OL | Tag::PRE => true,
                Tag::TABLE => self.tables.holds_data(id),
                _ => false,
            };
            if is_part {
                found = Some((id, range));
            }
        }
        found
    }

    /// Whether all of a part is text.
    fn is_of_text(&self, part: NodeId, range: &Range<usize>, odds: &[f32]) -> bool {
        let outline = self.outline;
        let kept = kept_of(self.lines, range);
        if kept.len() == range.len() {
            return false;
        }
        let is_table = self.page.node(part).tag == Tag::TABLE;
        let marked = range
            .clone()
            .filter(|at| outline.lines[*at].marks.any(MARKED));
        let allowed = if is_table { MARKED_SHARE } else { 0.0 };
        if marked.count() as f32 > allowed * range.len() as f32 {
            return false;
        }
        let sum = outline.sum(range.clone());
        let tokens = sum.tokens.max(1) as f32;
        let linked = sum.linked as f32 / tokens;
        let mean = mean_odds(odds, range.clone());
        let is_begun = !kept.is_empty() && outline.tokens_of(kept) as f32 >= KEPT_SHARE * tokens;
        let is_below = range.start > 0 && self.lines.binary_search(&(range.start - 1)).is_ok();
        let is_listed = linked <= LINKED_SHARE && (is_begun || is_below && mean > LEAST_ODDS);
        is_listed || is_table && linked <= LINKED_DATA && mean > LEAST_DATA_ODDS
    }
}

/// Headings among the lines: behind the first paragraph those right above a kept line, and everywhere those with the tag path of a
/// kept one, as the parts of a text have headings alike. One that is a link must have a kept line on both sides: there are other articles under their headlines.
pub(super) fn find_headings(page: &Page, outline: &Outline, lines: &[usize]) -> Vec<usize> {
    let (Some(first), Some(last)) = (lines.first(), lines.last()) else {
        return Vec::new();
    };
    let prose = find_prose_ends(outline, lines).map_or(*last, |(first, _)| first);
    let kept = lines.iter().map(|at| &outline.lines[*at]);
    let mut paths: Vec<PathId> = kept
        .filter(|line| is_heading(page, line))
        .map(|line| line.path)
        .collect();
    paths.sort_unstable();
    paths.dedup();
    let is_kept = |at: usize| lines.binary_search(&at).is_ok();
    let mut found: Vec<usize> = Vec::new();
    // From the end, as headings are above each other.
    for at in (first + 1..*last).rev() {
        let line = &outline.lines[at];
        if !is_heading(page, line) || is_kept(at) {
            continue;
        }
        let is_above = is_kept(at + 1) || found.last() == Some(&(at + 1));
        let may_be_like = at > prose || line.links == 0;
        let is_like = || may_be_like && paths.binary_search(&line.path).is_ok();
        let is_link = line.linked.tokens * 3 > line.all.tokens * 2;
        if is_above && at > prose && (!is_link || is_kept(at - 1)) || is_like() {
            found.push(at);
        }
    }
    found
}

/// A heading of a part of a text.
fn is_heading(page: &Page, line: &Line) -> bool {
    let tag = page.node(line.block).tag;
    tag.is_heading() && tag != Tag::H1 && !line.marks.any(MARKED)
}
