//! Headings, lists, tables and listings of a text as one tree, from which Markdown, HTML and pages are written.

use std::ops::Range;

use super::{BlockKind, Container, MAX_DEPTH, Structure};
use crate::document::Image;

/// A part of a text. Paragraphs and pictures are named by their numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Element {
    /// A heading of this level, 1 to 6.
    Heading(u8, u32),
    /// A paragraph.
    Paragraph(u32),
    /// What is under a picture or above a table.
    Caption(u32),
    /// A listing: these paragraphs are its lines.
    Code(Range<u32>),
    /// A table: these paragraphs are its rows.
    Table(Range<u32>),
    /// A picture.
    Picture(usize),
    /// A quotation.
    Quote(Vec<Element>),
    /// A list, with the number of its first item where it has numbers.
    List(Option<u32>, Vec<Vec<Element>>),
}

/// The elements of a text, in order. They nest at most twice as deep as lists and quotations are kept.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ElementTree {
    /// The outermost ones.
    pub elements: Vec<Element>,
}

impl ElementTree {
    /// The elements of a text of so many paragraphs.
    pub fn new(paragraphs: u32, structure: &Structure, images: &[Image]) -> Self {
        let mut tree = Building::default();
        let mut blocks = structure.blocks.iter().peekable();
        let mut images = images.iter().enumerate().peekable();
        for at in 0..paragraphs {
            while blocks.next_if(|block| block.at < at).is_some() {}
            let block = blocks.next_if(|block| block.at == at);
            let (kind, containers, begins) =
                block.map_or((&BlockKind::Plain, &[][..], 0), |block| {
                    (
                        &block.kind,
                        block.containers.as_slice(),
                        usize::from(block.begins),
                    )
                });
            let containers = containers.get(..MAX_DEPTH).unwrap_or(containers);
            let goes_on = tree.find_common(containers, begins);
            // A table or a listing is not cut by the pictures in it.
            if !tree.goes_on_with(kind, goes_on, containers.len()) {
                while let Some((picture, _)) = images.next_if(|(_, image)| image.after <= at) {
                    tree.show(picture, containers, goes_on);
                }
            }
            tree.open(containers, goes_on);
            tree.add(at, kind);
        }
        tree.close_to(0);
        let mut elements = tree.elements;
        elements.extend(images.map(|(picture, _)| Element::Picture(picture)));
        Self { elements }
    }
}

/// A tree that is being built.
#[derive(Default)]
struct Building {
    /// What is in nothing.
    elements: Vec<Element>,
    /// The open containers, from the outermost, each with what is in it so far.
    open: Vec<(Container, Vec<Element>)>,
}

impl Building {
    /// How many of the open containers a paragraph goes on with.
    fn find_common(&self, containers: &[Container], begins: usize) -> usize {
        let most = containers.len().saturating_sub(begins);
        let open = self.open.iter().zip(containers).take(most);
        open.take_while(|((open, _), container)| open == *container)
            .count()
    }

    /// Whether a paragraph is a further row or line of the element that was added last.
    fn goes_on_with(&self, kind: &BlockKind, goes_on: usize, depth: usize) -> bool {
        let is_same_place = goes_on == self.open.len() && depth == goes_on;
        let first = match kind {
            BlockKind::Row(row) => row.first,
            BlockKind::Code(line) => line.first,
            _ => true,
        };
        is_same_place && !first
    }

    /// Closes what the next paragraph does not go on with, and opens what it begins.
    fn open(&mut self, containers: &[Container], goes_on: usize) {
        self.close_to(goes_on);
        let new = containers.iter().skip(goes_on);
        self.open
            .extend(new.map(|container| (*container, Vec::new())));
    }

    fn current(&mut self) -> &mut Vec<Element> {
        self.open
            .last_mut()
            .map_or(&mut self.elements, |(_, elements)| elements)
    }

    fn close_to(&mut self, depth: usize) {
        while self.open.len() > depth {
            let Some((container, inside)) = self.open.pop() else {
                return;
            };
            let number = match container {
                Container::Quote => {
                    self.current().push(Element::Quote(inside));
                    continue;
                }
                Container::Item => None,
                Container::Number(number) => Some(number),
            };
            match self.current().last_mut() {
                Some(Element::List(first, items)) if is_next(*first, items.len(), number) => {
                    items.push(inside);
                }
                _ => self.current().push(Element::List(number, vec![inside])),
            }
        }
    }

    /// A picture before a paragraph: in the item before, if the next one is of the same list.
    fn show(&mut self, picture: usize, containers: &[Container], goes_on: usize) {
        let next = containers.get(goes_on).copied();
        let open = self.open.get(goes_on).map(|(container, _)| *container);
        let is_between = matches!(
            (open, next),
            (Some(Container::Item), Some(Container::Item))
                | (Some(Container::Number(_)), Some(Container::Number(_)))
        );
        self.close_to(goes_on + usize::from(is_between));
        self.current().push(Element::Picture(picture));
    }

    fn add(&mut self, at: u32, kind: &BlockKind) {
        let element = match kind {
            BlockKind::Plain => Element::Paragraph(at),
            BlockKind::Heading(level) => Element::Heading((*level).clamp(1, 6), at),
            BlockKind::Caption => Element::Caption(at),
            BlockKind::Row(row) => match self.current().last_mut() {
                Some(Element::Table(rows)) if !row.first && rows.end == at => {
                    rows.end = at + 1;
                    return;
                }
                _ => Element::Table(at..at + 1),
            },
            BlockKind::Code(line) => match self.current().last_mut() {
                Some(Element::Code(lines)) if !line.first && lines.end == at => {
                    lines.end = at + 1;
                    return;
                }
                _ => Element::Code(at..at + 1),
            },
        };
        self.current().push(element);
    }
}

/// Whether an item with this number is the next of a list of `count` items.
fn is_next(first: Option<u32>, count: usize, number: Option<u32>) -> bool {
    match (first, number) {
        (None, None) => true,
        (Some(first), Some(number)) => first.saturating_add(count as u32) == number,
        _ => false,
    }
}
