//! The page as lines: runs of text that no block boundary breaks. In: a [`Page`]. Out: [`Lines`] in document
//! order with what was counted in each and the marks it inherits. Hidden and unreadable parts are left out.

use super::marks::{MarkReader, Marks, is_hidden};
use super::measure::Measure;
use crate::page::{NodeId, Page, PathId, Tag};

/// Most lines kept of a page; the rest of a longer page is not looked at.
const MAX_LINES: usize = 60_000;

/// One line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line {
    /// First text node.
    pub first: NodeId,
    /// One past the last text node.
    pub end: NodeId,
    /// Nearest block element around it.
    pub block: NodeId,
    /// Tag path of that block.
    pub path: PathId,
    /// Counts of the whole line.
    pub all: Measure,
    /// Counts of what is inside links.
    pub linked: Measure,
    /// Number of links in it.
    pub links: u16,
    /// A `br` stands before it, in the same block.
    pub after_break: bool,
    /// Marks of the elements around it; spread by the outline.
    pub marks: Marks,
    /// Share of the page's prose in the innermost element marked against being text.
    pub marked_share: f32,
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
}

/// An open element that matters to the texts inside it.
struct Open {
    end: NodeId,
    block: NodeId,
    link: bool,
}

impl Lines {
    /// The lines of `page`. Elements that the page hides are looked at only with `hidden_too`.
    pub(super) fn of(page: &Page, hidden_too: bool) -> Self {
        let mut out = Self::default();
        let mut open = vec![Open {
            end: NodeId::MAX,
            block: 0,
            link: false,
        }];
        let mut reader = MarkReader::default();
        let mut last_link = NodeId::MAX;
        let mut broken = true;
        let mut after_break = false;
        let mut at: NodeId = 0;
        let nodes = page.nodes();
        while let Some(node) = nodes.get(at as usize) {
            while open.last().is_some_and(|o| o.end <= at) {
                // Leaving a block ends the line, though the text after it may share its parent block.
                let left = open.pop().expect("the loop saw it");
                broken |= open.last().is_some_and(|o| o.block != left.block);
            }
            let top = open.last().expect("the first entry never ends");
            if node.tag == Tag::TEXT {
                let all = Measure::of(page.text(at));
                if all == Measure::default() {
                    at += 1;
                    continue;
                }
                if broken || out.lines.is_empty() {
                    if out.lines.len() >= MAX_LINES {
                        break;
                    }
                    out.lines.push(Line {
                        first: at,
                        end: at,
                        block: top.block,
                        path: page.node(top.block).path,
                        all: Measure::default(),
                        linked: Measure::default(),
                        links: 0,
                        after_break,
                        marks: Marks::default(),
                        marked_share: 0.0,
                    });
                    last_link = NodeId::MAX;
                }
                (broken, after_break) = (false, false);
                let line = out.lines.last_mut().expect("one was just there or pushed");
                line.end = at + 1;
                line.all.add(all);
                if top.link {
                    line.linked.add(all);
                    let link = open.iter().rfind(|o| o.link).map_or(0, |o| o.end);
                    line.links = line.links.saturating_add(u16::from(link != last_link));
                    last_link = link;
                }
                at += 1;
                continue;
            }
            if is_skipped(node.tag) || (!hidden_too && is_hidden(page, at)) {
                at = node.end;
                continue;
            }
            let block = node.tag.is_block();
            if node.tag == Tag::BR || node.tag == Tag::HR {
                broken = true;
                after_break = true;
            } else if block {
                broken = true;
                after_break = false;
            }
            let marks = reader.marks(page, at);
            if marks != Marks::default() {
                out.marked.push(Marked { node: at, marks });
            }
            let link = node.tag == Tag::A;
            if (block || link) && node.end > at + 1 {
                let entry = Open {
                    end: node.end,
                    block: if block { at } else { top.block },
                    link: top.link || link,
                };
                open.push(entry);
            }
            at += 1;
        }
        out
    }
}

/// True for elements whose text is never read.
pub(super) fn is_skipped(tag: Tag) -> bool {
    // Of the replaced elements a picture has no text, and the others' text is for when they fail.
    // Ruby annotations say again how the word before them sounds.
    tag.is_invisible()
        || (tag.is_replaced() && tag != Tag::IMG)
        || matches!(tag, Tag::OBJECT | Tag::OPTGROUP | Tag::RT | Tag::RP)
}
