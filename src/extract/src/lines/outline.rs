//! Lines and elements together. An [`Outline`] answers in constant time what a subtree holds; marks of elements are spread
//! to the lines they cover.

use super::hints::Marks;
use super::{Line, Lines, Marked};
use crate::page::{NodeId, Page};

/// A mark against being text is not believed of an element that holds more than this share of the page's
/// prose: it names the layout, not the part.
const TRUSTED_SHARE: f32 = 0.5;
/// Prose between the headline and such an element from which it is believed: there the text is, and the
/// element is a long list of comments or of other articles.
const OTHER_TEXT: u32 = 30;
/// Tokens from which a line with few links counts as prose.
const PROSE_TOKENS: u32 = 12;

/// Sums over a range of lines.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct LineSum {
    /// Number of lines.
    pub lines: u32,
    /// Tokens of all lines.
    pub tokens: u32,
    /// Tokens inside links.
    pub linked: u32,
    /// Tokens of prose lines.
    pub prose: u32,
    /// Sentence marks.
    pub marks: u32,
}

/// Lines of a page with prefix sums over its nodes.
#[derive(Debug, Default)]
pub(crate) struct Outline {
    /// In document order.
    pub lines: Vec<Line>,
    /// Elements with marks.
    pub marked: Vec<Marked>,
    /// Lines that the page hides are among them.
    pub reads_hidden: bool,
    /// Texts of lines that the page does not have as they are shown.
    texts: String,
    /// For each node the number of lines that begin before it; one more entry at the end.
    before: Vec<u32>,
    /// Sums over the first i lines.
    sums: Vec<LineSum>,
}

/// True for a line that reads like a sentence rather than a label or a link.
pub(crate) fn is_prose(line: &Line) -> bool {
    line.all.tokens >= PROSE_TOKENS
        && line.all.marks > 0
        && line.linked.tokens * 3 < line.all.tokens
}

impl Outline {
    /// The outline of `page`; see [`Lines::new`] for `hidden_too`.
    pub(crate) fn new(page: &Page, hidden_too: bool) -> Self {
        let Lines {
            lines,
            marked,
            texts,
        } = Lines::new(page, hidden_too);
        let mut before = Vec::with_capacity(page.nodes().len() + 1);
        let mut next = 0;
        for node in 0..=page.nodes().len() as NodeId {
            before.push(next);
            while lines.get(next as usize).is_some_and(|l| l.first == node) {
                next += 1;
            }
        }
        let mut sums = Vec::with_capacity(lines.len() + 1);
        let mut sum = LineSum::default();
        sums.push(sum);
        for line in &lines {
            sum.lines += 1;
            sum.tokens += line.all.tokens;
            sum.linked += line.linked.tokens;
            sum.prose += if is_prose(line) { line.all.tokens } else { 0 };
            sum.marks += line.all.marks;
            sums.push(sum);
        }
        Self {
            lines,
            marked,
            reads_hidden: hidden_too,
            texts,
            before,
            sums,
        }
    }

    /// The text of a line, trimmed, with single blanks.
    pub(crate) fn text<'t>(&'t self, page: &'t Page, line: &Line) -> &'t str {
        line.text(page, &self.texts)
    }

    /// Range of lines that begin inside the subtree of `node`.
    pub(crate) fn range(&self, page: &Page, node: NodeId) -> std::ops::Range<usize> {
        let end = page.node(node).end;
        self.before[node as usize] as usize..self.before[end as usize] as usize
    }

    /// Sums over lines `range`.
    pub(crate) fn sum(&self, range: std::ops::Range<usize>) -> LineSum {
        let (a, b) = (
            self.sums[range.start],
            self.sums[range.end.max(range.start)],
        );
        LineSum {
            lines: b.lines - a.lines,
            tokens: b.tokens - a.tokens,
            linked: b.linked - a.linked,
            prose: b.prose - a.prose,
            marks: b.marks - a.marks,
        }
    }

    /// Sums over all lines.
    pub(crate) fn total(&self) -> LineSum {
        self.sums.last().copied().unwrap_or_default()
    }

    /// Index of the first line that begins at or after `node`.
    pub(crate) fn line_at(&self, node: NodeId) -> usize {
        self.before.get(node as usize).copied().unwrap_or_default() as usize
    }

    /// The marks of that line.
    pub(crate) fn marks_at(&self, node: NodeId) -> Marks {
        let line = self.lines.get(self.line_at(node));
        line.map(|line| line.marks).unwrap_or_default()
    }

    /// Tokens of these lines together.
    pub(crate) fn tokens_of(&self, lines: &[usize]) -> u32 {
        lines.iter().map(|at| self.lines[*at].all.tokens).sum()
    }

    /// Index of the line that holds `node`: the last that begins before its end.
    pub(crate) fn line_of(&self, page: &Page, node: NodeId) -> usize {
        self.line_at(page.node(node).end).saturating_sub(1)
    }

    /// Spreads the marks of elements to the lines they cover; `title` is the line of the headline, if it was
    /// found.
    pub(crate) fn spread_marks(&mut self, page: &Page, title: Option<usize>) {
        let prose = self.total().prose.max(1) as f32;
        let mut open: Vec<(NodeId, Marks, f32, bool)> = Vec::new();
        let mut next = 0;
        for at in 0..self.lines.len() {
            let first = self.lines[at].first;
            while let Some(marked) = self.marked.get(next).filter(|m| m.node < first) {
                next += 1;
                let range = self.range(page, marked.node);
                let share = self.sum(range.clone()).prose as f32 / prose;
                let holds_title = title.is_none_or(|t| range.contains(&t));
                let wide = share > TRUSTED_SHARE && holds_title;
                let between = title.map_or(0..0, |t| t.min(range.start)..range.start);
                let alone = share > TRUSTED_SHARE && self.sum(between).prose < OTHER_TEXT;
                let own = if wide {
                    marked
                        .marks
                        .without(Marks::AGAINST.with(Marks::AUTHOR).with(Marks::ABOUT))
                } else {
                    marked.marks
                };
                let end = page.node(marked.node).end;
                while open.last().is_some_and(|o| o.0 <= marked.node) {
                    open.pop();
                }
                let (above, outer, outer_alone) =
                    open.last().map(|o| (o.1, o.2, o.3)).unwrap_or_default();
                let against = own.any(Marks::AGAINST);
                let (share, alone) = if against {
                    (share, alone)
                } else {
                    (outer, outer_alone)
                };
                open.push((end, above.with(own), share, alone));
            }
            while open.last().is_some_and(|o| o.0 <= first) {
                open.pop();
            }
            // An element with a part of the line, such as a number of comments at its beginning, does not mark it.
            let end = self.lines[at].end;
            let around = open.iter().rev().find(|o| o.0 >= end);
            let (marks, share, alone) = around.map(|o| (o.1, o.2, o.3)).unwrap_or_default();
            let line = &mut self.lines[at];
            (line.marks, line.marked_share, line.marked_alone) = (marks, share, alone);
        }
    }
}
