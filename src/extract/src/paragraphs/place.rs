//! Where a line is: in a heading, a caption, a `<pre>`, in items and quotations.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::spans::Mark;
use crate::lines::outline::Outline;
use crate::page::{Attr, NodeId, Page, Tag};
use crate::structure::{BlockKind, Container, MAX_DEPTH};

/// Most tokens and lines of an item.
const ITEM_TOKENS: u32 = 400;
const ITEM_LINES: u32 = 8;

/// The elements that items and quotations are, from the outermost.
pub(super) type Containers = Vec<(NodeId, Container)>;

/// Where a line is.
#[derive(Debug, Clone, Default)]
pub(super) struct Place {
    /// What the paragraph is by the elements around it.
    pub(super) kind: BlockKind,
    /// The `<pre>` around it.
    pub(super) pre: Option<NodeId>,
    /// The element around it that is called a listing, without being a `<pre>`.
    pub(super) listing: Option<NodeId>,
    /// The containers that it is in.
    pub(super) containers: Containers,
    /// The elements around its block that mark all of it: a link, or what is set off.
    pub(super) around: Vec<Mark>,
}

/// The places of the lines of one text.
pub(super) struct Places<'a> {
    page: &'a Page,
    outline: &'a Outline,
    /// The element that holds the whole text: neither it nor what is around it says anything of a part.
    top: NodeId,
    /// The containers of the paragraph before.
    before: Vec<NodeId>,
    /// For each list with numbers the last item that was seen, and its number.
    numbers: HashMap<NodeId, (NodeId, u32), RandomState>,
}

impl<'a> Places<'a> {
    pub(super) fn new(page: &'a Page, outline: &'a Outline, kept: &[usize]) -> Self {
        let ends = kept.first().zip(kept.last());
        let top = ends.map_or(0, |(first, last)| {
            let (first, last) = (outline.lines[*first].first, outline.lines[*last].first);
            let mut above = page.ancestors(last);
            above
                .find(|id| page.subtree(*id).contains(&first))
                .unwrap_or(0)
        });
        Self {
            page,
            outline,
            top,
            before: Vec::new(),
            numbers: HashMap::default(),
        }
    }

    /// Where a line of this block is.
    pub(super) fn read(&mut self, block: NodeId) -> Place {
        let page = self.page;
        let mut place = Place::default();
        let top = self.top;
        let around = std::iter::once(block).chain(page.ancestors(block));
        for id in around.take_while(|id| *id != 0) {
            let tag = page.node(id).tag;
            if matches!(tag, Tag::PRE | Tag::LISTING) && place.pre.is_none() {
                place.pre = Some(id);
            }
            if id <= top {
                continue;
            }
            if place.listing.is_none() && is_called_code(page, id) {
                place.listing = Some(id);
            }
            match tag {
                Tag::LI if self.is_listed(id) => {
                    let container = self.item(id);
                    place.containers.push((id, container));
                }
                Tag::BLOCKQUOTE => place.containers.push((id, Container::Quote)),
                Tag::FIGCAPTION | Tag::CAPTION => place.kind = BlockKind::Caption,
                _ => {
                    if let Some(level) = heading_level(tag) {
                        place.kind = BlockKind::Heading(level);
                    } else if id != block {
                        place.around.extend(Mark::of(page, id));
                    }
                }
            }
        }
        let outer = place.containers.len().saturating_sub(MAX_DEPTH);
        place.containers.drain(..outer);
        place.containers.reverse();
        place.around.reverse();
        place
    }

    /// Whether an item is one of a list, and not a part of the page's layout: a post, an article.
    fn is_listed(&self, id: NodeId) -> bool {
        let sum = self.outline.sum(self.outline.range(self.page, id));
        sum.tokens <= ITEM_TOKENS && sum.lines <= ITEM_LINES
    }

    /// An item, with its number where its list has some.
    fn item(&mut self, id: NodeId) -> Container {
        let page = self.page;
        let list = page.node(id).parent;
        if page.node(list).tag != Tag::OL {
            return Container::Item;
        }
        let is_item = |id: &NodeId| page.node(*id).tag == Tag::LI;
        let number = match self.numbers.get(&list).copied() {
            Some((last, number)) if last <= id => {
                let mut number = number;
                let mut at = last;
                while at < id {
                    at = page.node(at).end;
                    number += u32::from(is_item(&at));
                }
                number
            }
            _ => page
                .children(list)
                .take_while(|child| *child <= id)
                .filter(is_item)
                .count() as u32,
        };
        self.numbers.insert(list, (id, number));
        Container::Number(number)
    }

    /// The containers of the next paragraph, and how many of them begin with it.
    pub(super) fn enter(&mut self, containers: Containers) -> (Vec<Container>, u8) {
        let same = self.before.iter().zip(&containers);
        let going_on = same.take_while(|(before, (id, _))| *before == id).count();
        self.before.clear();
        self.before.extend(containers.iter().map(|(id, _)| *id));
        let begins = containers.len() - going_on;
        let kinds = containers.into_iter().map(|(_, container)| container);
        (kinds.collect(), begins as u8)
    }
}

/// Whether an element is a box of code by its class.
fn is_called_code(page: &Page, id: NodeId) -> bool {
    const NAMES: [&str; 7] = [
        "code",
        "codeblock",
        "code-block",
        "code_block",
        "sourcecode",
        "syntaxhighlighter",
        "dp-highlighter",
    ];
    let class = page.attr(id, Attr::Class).unwrap_or_default();
    let mut names = class.split_ascii_whitespace();
    page.node(id).tag == Tag::DIV
        && names.any(|name| NAMES.iter().any(|known| name.eq_ignore_ascii_case(known)))
}

fn heading_level(tag: Tag) -> Option<u8> {
    let levels = [Tag::H1, Tag::H2, Tag::H3, Tag::H4, Tag::H5, Tag::H6];
    let at = levels.iter().position(|level| *level == tag)?;
    Some(at as u8 + 1)
}
