//! Splits a page into lines: runs of text without a block boundary, in document order, each with its counts and inherited
//! marks. Hidden and unreadable parts are excluded.

mod copies;
pub(crate) mod hints;
pub(crate) mod language;
pub(crate) mod outline;
pub(crate) mod render;
pub(crate) mod table;

use std::ops::Range;

use crate::page::measure::Measure;
use crate::page::{Attr, Hidden, NodeId, Page, PathId, Tag, TextCounts, is_link, is_skipped};
use hints::{MarkReader, Marks};
use render::{render_line, render_texts};

/// Most lines kept of a page; the rest of a longer page is not checked.
const MAX_LINES: usize = 60_000;

/// One line.
#[derive(Debug, Clone)]
pub(super) struct Line {
    /// First text node.
    pub first: NodeId,
    /// One past the last text node.
    pub end: NodeId,
    /// Nearest block element around it.
    pub block: NodeId,
    /// Tag path of that block.
    pub path: PathId,
    /// Where its text is, in bytes: in that of its only text node, or in [`Lines::texts`].
    text: Range<u32>,
    /// Its text is in [`Lines::texts`].
    is_made: bool,
    /// Counts of the whole line.
    pub all: Measure,
    /// Counts of what is inside links.
    pub linked: Measure,
    /// Number of links in it.
    pub links: u16,
    /// A `br` is before it, in the same block.
    pub after_break: bool,
    /// Marks of the elements around it; spread by the outline.
    pub marks: Marks,
    /// Share of the page's prose in the innermost element marked against being text.
    pub marked_share: f32,
    /// That element holds most of the page's prose, and there is none between the headline and it.
    pub marked_alone: bool,
}

/// An element with marks of its own.
#[derive(Debug, Clone, Copy)]
pub(super) struct Marked {
    /// The element.
    pub node: NodeId,
    /// Its own marks, those of its ancestors not counted.
    pub marks: Marks,
}

/// The lines of a page and the elements that carry marks.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// In document order.
    pub lines: Vec<Line>,
    /// In document order.
    pub marked: Vec<Marked>,
    /// The texts of lines that are not in the page as they are shown.
    pub texts: String,
}

/// An open element that matters to the texts inside it.
#[derive(Debug, Clone, Copy)]
struct OpenBlock {
    end: NodeId,
    block: NodeId,
    /// End of the link around it, 0 outside links.
    link: NodeId,
}

impl Lines {
    /// The lines of `page`. Elements that the page hides are checked only with `hidden_too`.
    pub(super) fn new(page: &Page, hidden_too: bool) -> Self {
        let mut walk = Walk::new(page);
        let mut at: NodeId = 0;
        while let Some(node) = page.nodes().get(at as usize) {
            walk.leave(at);
            if node.tag == Tag::TEXT {
                if !walk.text(at) {
                    break;
                }
            } else if is_skipped(node.tag)
                || (!hidden_too && walk.hidden.has(at))
                || walk.is_counter(at)
            {
                at = node.end;
                continue;
            } else {
                walk.element(at);
            }
            at += 1;
        }
        let mut out = walk.out;
        out.make_texts(page);
        if !hidden_too {
            copies::drop_copies(page, &mut out);
        }
        out
    }

    /// Makes the texts of lines that are more than one text node or hold odd white space.
    fn make_texts(&mut self, page: &Page) {
        let Self { lines, texts, .. } = self;
        for line in lines.iter_mut().filter(|line| line.is_made) {
            let start = texts.len() as u32;
            render_line(page, line, texts);
            line.text = start..texts.len() as u32;
        }
    }
}

impl Line {
    /// Tokens outside links.
    pub(crate) fn plain_tokens(&self) -> u32 {
        self.all.tokens.saturating_sub(self.linked.tokens)
    }

    /// Says of each of its texts that shows something where that is in the text of the line.
    pub(crate) fn shown_texts(
        &self,
        page: &Page,
        text: &str,
        mut shown: impl FnMut(NodeId, Range<usize>),
    ) {
        if self.is_made {
            let mut again = String::with_capacity(text.len());
            render_texts(page, self.first..self.end, &mut again, shown);
        } else {
            shown(self.first, 0..text.len());
        }
    }

    /// Its text on one line, trimmed; `texts` are those of [`Lines`].
    pub(super) fn text<'t>(&self, page: &'t Page, texts: &'t str) -> &'t str {
        let whole = if self.is_made {
            texts
        } else {
            page.text(self.first)
        };
        let Range { start, end } = self.text;
        whole.get(start as usize..end as usize).unwrap_or_default()
    }
}

/// The state of the pass over the page.
struct Walk<'a> {
    page: &'a Page,
    out: Lines,
    /// Open blocks and links; the first entry stands for the page and never ends.
    open: Vec<OpenBlock>,
    reader: MarkReader<'a>,
    /// The next text begins a line.
    broken: bool,
    /// A `br` is before it.
    after_break: bool,
    /// The first of the texts that have no word and are before the first word of the line: `-` of `-<b>7</b>`.
    head: Option<NodeId>,
    /// End of the last link that was counted.
    last_link: NodeId,
    /// The texts of the page that come next, with their counts.
    texts: &'a [TextCounts],
    /// The elements that hide what is in them.
    hidden: Hidden<'a>,
}

impl<'a> Walk<'a> {
    fn new(page: &'a Page) -> Self {
        Self {
            page,
            out: Lines {
                lines: Vec::with_capacity(page.texts().len().min(MAX_LINES)),
                ..Lines::default()
            },
            open: vec![OpenBlock {
                end: NodeId::MAX,
                block: 0,
                link: 0,
            }],
            reader: MarkReader::new(page),
            broken: true,
            after_break: false,
            head: None,
            last_link: 0,
            texts: page.texts(),
            hidden: page.hidden_from(0),
        }
    }

    fn top(&self) -> OpenBlock {
        *self.open.last().expect("the first entry never ends")
    }

    /// A number in an inline element that is called a count of comments: it may be glued to the text of its line.
    fn is_counter(&mut self, at: NodeId) -> bool {
        let node = self.page.node(at);
        if node.end != at + 2 || node.tag.is_block() || self.page.node(at + 1).tag != Tag::TEXT {
            return false;
        }
        let number = self.page.text(at + 1).trim();
        let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
        let is_count = |class: &str| class.contains("count") || class.contains("num");
        is_number
            && self.page.attr(at, Attr::Class).is_some_and(is_count)
            && self.reader.marks(at).any(Marks::COMMENT)
    }

    /// Closes what ends before node `at`. Leaving a block ends the line, though the text after it may share its
    /// parent block.
    fn leave(&mut self, at: NodeId) {
        while self.top().end <= at {
            let left = self.top();
            self.open.pop();
            if self.top().block != left.block {
                self.break_line();
            }
        }
    }

    /// The next text begins a line.
    fn break_line(&mut self) {
        self.broken = true;
        self.head = None;
    }

    /// Adds a text to the line or begins one; false when there are too many.
    fn text(&mut self, at: NodeId) -> bool {
        while let [first, rest @ ..] = self.texts
            && first.node < at
        {
            self.texts = rest;
        }
        let Some(counts) = self.texts.first().filter(|first| first.node == at) else {
            self.signs(at);
            return true;
        };
        let (text, all, tidy) = (self.page.text(at), counts.measure, counts.is_tidy);
        let top = self.top();
        let first = self.head.take().unwrap_or(at);
        if self.broken {
            if self.out.lines.len() >= MAX_LINES {
                return false;
            }
            let shown = trimmed(text);
            self.out.lines.push(self.new_line(first, top.block, shown));
            self.last_link = 0;
        }
        (self.broken, self.after_break) = (false, false);
        let line = self
            .out
            .lines
            .last_mut()
            .expect("one was just there or pushed");
        line.is_made |= !tidy || line.first != at;
        line.end = at + 1;
        line.all.add(all);
        if top.link != 0 {
            line.linked.add(all);
            line.links = line
                .links
                .saturating_add(u16::from(top.link != self.last_link));
            self.last_link = top.link;
        }
        true
    }

    /// Adds a text without a word to the line that is open, or keeps it for the one that its next word begins. It is shown with
    /// the line and counts for nothing.
    fn signs(&mut self, at: NodeId) {
        if !self.page.text(at).contains(is_sign) {
            return;
        }
        match self.out.lines.last_mut().filter(|_| !self.broken) {
            Some(line) => {
                line.end = at + 1;
                line.is_made = true;
            }
            None => {
                self.head.get_or_insert(at);
            }
        }
    }

    fn new_line(&self, at: NodeId, block: NodeId, text: Range<u32>) -> Line {
        Line {
            first: at,
            end: at,
            block,
            path: self.page.node(block).path,
            text,
            is_made: false,
            all: Measure::default(),
            linked: Measure::default(),
            links: 0,
            after_break: self.after_break,
            marks: Marks::default(),
            marked_share: 0.0,
            marked_alone: false,
        }
    }

    /// Notes what an element does to the lines and its marks.
    fn element(&mut self, at: NodeId) {
        let node = self.page.node(at);
        let block = node.tag.is_block();
        let broken = node.tag == Tag::BR || node.tag == Tag::HR;
        if broken || block {
            self.break_line();
            self.after_break = broken;
        }
        // What holds nothing marks nothing: pictures, icons, fields.
        let marks = if node.end > at + 1 {
            self.reader.marks(at)
        } else {
            Marks::default()
        };
        if marks != Marks::default() {
            self.out.marked.push(Marked { node: at, marks });
        }
        let link = is_link(self.page, at);
        if (block || link) && node.end > at + 1 {
            let top = self.top();
            self.open.push(OpenBlock {
                end: node.end,
                block: if block { at } else { top.block },
                link: if link { node.end } else { top.link },
            });
        }
    }
}

/// A character that is seen, and no picture of a font of icons (those have no code of their own in Unicode).
fn is_sign(char: char) -> bool {
    !char.is_whitespace()
        && !char.is_control()
        && !matches!(char, '\u{200B}'..='\u{200F}' | '\u{FEFF}' | '\u{E000}'..='\u{F8FF}')
}

/// Where a text is without the single blanks at its ends.
fn trimmed(text: &str) -> Range<u32> {
    let start = u32::from(text.starts_with(' '));
    let end = text.len() as u32 - u32::from(text.ends_with(' '));
    start..end.max(start)
}
