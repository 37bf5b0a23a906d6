//! Reads a range of nodes: the shown text, its line breaks, its length, and its [`Shape`], that is how much of it is prose
//! and how much is links. One pass without recursion; words are read only to exclude copyright notices from the prose.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use encoding_rs::Encoding;
use foldhash::fast::RandomState;
use regex::Regex;

use super::{Attr, NodeId, Page, Tag};

impl Page {
    /// The page's `<body>` (or the root when it has none); `None` for an empty page.
    pub fn body(&self) -> Option<NodeId> {
        if self.nodes().is_empty() {
            return None;
        }
        let body = self.children(0).find(|&id| self.node(id).tag == Tag::BODY);
        Some(body.unwrap_or(0))
    }

    /// The element itself asks not to be shown: by the `hidden` attribute, or by its own style or a simple rule of the page's
    /// style sheets (`display: none`, `visibility: hidden`, text of size 0, cut to nothing, beyond the edge), or its name or role
    /// says that it is read aloud or laid over the page (`sr-only`, `role=dialog`). What is `hidden=until-found` is text that a reader finds by searching the
    /// page, as the HTML standard says of it. Never the whole body: pages that hide it show it by script.
    pub fn is_hidden(&self, id: NodeId) -> bool {
        self.hidden.binary_search(&id).is_ok()
    }

    /// The elements from `from` on that ask not to be shown.
    pub(crate) fn hidden_from(&self, from: NodeId) -> Hidden<'_> {
        let before = self.hidden.partition_point(|id| *id < from);
        Hidden(self.hidden.get(before..).unwrap_or_default())
    }

    /// The whole subtree shows nothing: an invisible tag or a hidden element.
    pub fn is_skipped(&self, id: NodeId) -> bool {
        self.node(id).tag.is_invisible() || self.is_hidden(id)
    }

    /// Nodes of the range that are shown, in order: invisible and hidden subtrees are skipped whole. The range
    /// should be one of siblings, as [`Page::subtree`] gives it.
    pub fn shown(&self, range: Range<NodeId>) -> impl Iterator<Item = NodeId> + '_ {
        let end = range.end.min(self.nodes().len() as NodeId);
        let mut next = range.start;
        let mut hidden = self.hidden_from(next);
        std::iter::from_fn(move || {
            while next < end {
                let id = next;
                if self.node(id).tag.is_invisible() || hidden.has(id) {
                    next = self.node(id).end;
                } else {
                    next += 1;
                    return Some(id);
                }
            }
            None
        })
    }

    /// The shown text nodes of the range, in order.
    pub fn shown_texts(&self, range: Range<NodeId>) -> impl Iterator<Item = NodeId> + '_ {
        self.shown(range)
            .filter(|&id| self.node(id).tag == Tag::TEXT)
    }

    /// The nearest block element around a node (the root at last).
    pub fn block_of(&self, id: NodeId) -> NodeId {
        self.ancestors(id)
            .find(|&above| self.node(above).tag.is_block())
            .unwrap_or(0)
    }

    /// The text of `<title>`.
    pub(super) fn title_text(&self) -> Option<String> {
        let at = self.nodes().iter().position(|n| n.tag == Tag::TITLE)?;
        Some(self.inline_text(at as NodeId))
    }

    /// Text of a subtree in one line, for titles and links; shown or not.
    pub fn inline_text(&self, id: NodeId) -> String {
        let mut text = String::new();
        for at in self.subtree(id) {
            let node = self.node(at);
            match node.tag {
                Tag::TEXT => push_collapsed(&mut text, self.text(at)),
                Tag::BR => push_collapsed(&mut text, " "),
                tag if tag.is_block() => push_collapsed(&mut text, " "),
                _ => {}
            }
        }
        let len = text.trim_end().len();
        text.truncate(len);
        text
    }
}

/// Characters (Unicode scalar values) of a text without white space at its ends; a run of white space counts once.
pub fn count_chars(text: &str) -> usize {
    let mut count = 0;
    let mut space = false;
    for char in text.trim().chars() {
        let is_space = char.is_whitespace();
        count += usize::from(!(is_space && space));
        space = is_space;
    }
    count
}

/// Elements that ask not to be shown, for who asks of one element after the other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hidden<'p>(&'p [NodeId]);

impl Hidden<'_> {
    /// See [`Page::is_hidden`]; each call asks of a later element than the one before.
    pub(crate) fn has(&mut self, id: NodeId) -> bool {
        while let [first, rest @ ..] = self.0
            && *first < id
        {
            self.0 = rest;
        }
        self.0.first() == Some(&id)
    }
}

/// Not seen and not white space, but found between characters: zero-width space and byte order mark.
fn is_nothing(char: char) -> bool {
    matches!(char, '\u{200B}' | '\u{FEFF}')
}

/// Whether white space, or what is nothing, may begin with this byte.
fn may_part(byte: u8) -> bool {
    matches!(byte, b'\t'..=b'\r' | b' ' | 0xC2 | 0xE1..=0xE3 | 0xEF)
}

/// Appends a text, runs of white space as one blank.
fn push_collapsed(out: &mut String, text: &str) {
    out.reserve(text.len());
    let mut rest = text;
    loop {
        let end = rest.bytes().position(may_part);
        let (word, from) = rest.split_at(end.unwrap_or(rest.len()));
        out.push_str(word);
        let mut chars = from.chars();
        match chars.next() {
            None => return,
            Some(space) if space.is_whitespace() => {
                if !out.is_empty() && !out.ends_with(' ') {
                    out.push(' ');
                }
            }
            Some(char) if is_nothing(char) => {}
            Some(char) => out.push(char),
        }
        rest = chars.as_str();
    }
}

/// A block is prose from this many units of text that is no link …
const PROSE_UNITS: u32 = 200;
/// … or with a sentence mark from this many.
const SENTENCE_UNITS: u32 = 100;
/// What copyright notices say and articles hardly ever: such a block is no prose, however long it is.
static LEGAL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new("版权所有|Copyright|©|ICP备|授权的媒体|稿件来源|转载稿|依法追究")
        .expect("a constant pattern")
});
/// Units of a character inside and outside ASCII.
const ASCII_UNITS: u32 = 4;
const WIDE_UNITS: u32 = 10;
/// A link with so much text reads like a headline.
const HEADLINE_UNITS: u32 = 60;

/// How a page divides into prose and links. Lengths are in units: ten for a character outside ASCII, four for one
/// inside, so that a Chinese and an English text that say the same measure about the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Shape {
    /// Shown text.
    pub text: u32,
    /// Of it, text inside links.
    pub link_text: u32,
    /// Links with text, pictures skipped.
    pub links: u32,
    /// Links whose text is as long as a headline.
    pub headlines: u32,
    /// Longest text of one block outside links.
    pub longest: u32,
    /// Text of blocks that read like prose.
    pub prose: u32,
    /// Blocks that read like prose.
    pub prose_blocks: u32,
    /// Most prose under one parent.
    pub column: u32,
    /// Ends of sentences (。！？ and their ASCII forms) outside links.
    pub sentences: u32,
}

/// A text node that is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shown {
    /// The node.
    pub(super) id: NodeId,
    /// End of the link around it, 0 outside links.
    pub(super) link: NodeId,
}

/// The shown texts of the page's body, in order.
pub(super) fn shown_texts(page: &Page) -> Vec<Shown> {
    let Some(body) = page.body() else {
        return Vec::new();
    };
    let mut out = Vec::with_capacity(page.nodes().len() / 2);
    let mut link = 0;
    for id in page.shown(page.subtree(body)) {
        let node = page.node(id);
        if id >= link {
            link = 0;
        }
        match node.tag {
            Tag::A if page.attr(id, Attr::Href).is_some() => link = node.end.max(link),
            Tag::TEXT => out.push(Shown { id, link }),
            _ => {}
        }
    }
    out
}

impl Shape {
    /// Measures a page by its shown texts.
    pub(super) fn new(page: &Page, texts: &[Shown]) -> Shape {
        let mut measuring = Measuring::default();
        let mut link_end = 0;
        let mut link_units = 0;
        for Shown { id, link } in texts.iter().copied() {
            if link != link_end && link_units > 0 {
                measuring.link(link_units);
                link_units = 0;
            }
            link_end = link;
            let (units, sentences) = measure(page.text(id), link > 0);
            if link > 0 {
                link_units += units;
            }
            measuring.text(page, id, units, sentences, link > 0);
        }
        if link_units > 0 {
            measuring.link(link_units);
        }
        measuring.finish(page)
    }

    /// Share of the text that is inside links, 0 to 1; 0 for a page without text.
    pub fn link_share(&self) -> f64 {
        f64::from(self.link_text) / f64::from(self.text.max(1))
    }
}

#[derive(Default)]
struct Measuring {
    shape: Shape,
    columns: HashMap<NodeId, u32, RandomState>,
    block: NodeId,
    /// Parent of the last text, which is in the block.
    parent: NodeId,
    plain: u32,
    linked: u32,
    sentences: u32,
    /// The block is a copyright notice.
    legal: bool,
}

impl Measuring {
    fn link(&mut self, units: u32) {
        self.shape.links += 1;
        self.shape.headlines += u32::from(units >= HEADLINE_UNITS);
    }

    fn text(&mut self, page: &Page, id: NodeId, units: u32, sentences: u32, in_link: bool) {
        let parent = page.node(id).parent;
        if parent != self.parent {
            self.parent = parent;
            let block = page.block_of(id);
            if block != self.block {
                self.close_block(page);
                self.block = block;
            }
        }
        self.shape.text += units;
        if in_link {
            self.shape.link_text += units;
            self.linked += units;
        } else {
            self.plain += units;
            self.sentences += sentences;
            self.legal |= units >= SENTENCE_UNITS && LEGAL.is_match(page.text(id));
        }
    }

    fn close_block(&mut self, page: &Page) {
        let shape = &mut self.shape;
        shape.longest = shape.longest.max(self.plain);
        shape.sentences += self.sentences;
        let is_long = self.plain >= PROSE_UNITS;
        let is_sentence = self.sentences > 0 && self.plain >= SENTENCE_UNITS;
        if (is_long || is_sentence) && self.plain > self.linked && !self.legal {
            shape.prose += self.plain;
            shape.prose_blocks += 1;
            let parent = page.node(self.block).parent;
            *self.columns.entry(parent).or_default() += self.plain;
        }
        (self.plain, self.linked, self.sentences, self.legal) = (0, 0, 0, false);
    }

    fn finish(mut self, page: &Page) -> Shape {
        self.close_block(page);
        self.shape.column = self.columns.values().copied().max().unwrap_or(0);
        self.shape
    }
}

/// Units of a text and, outside links, the sentences that end in it.
fn measure(text: &str, in_link: bool) -> (u32, u32) {
    let (mut units, mut sentences) = (0, 0);
    let mut rest = text;
    while !rest.is_empty() {
        let (ascii, wide) = rest.split_at(Encoding::ascii_valid_up_to(rest.as_bytes()));
        units += count_ascii_units(ascii.as_bytes());
        if !in_link && !ascii.is_empty() {
            sentences += count_ascii_sentences(ascii.as_bytes(), wide);
        }
        rest = wide;
        while let Some(first) = rest.bytes().next().filter(|b| !b.is_ascii()) {
            // Most characters are Han, which neither part words nor end sentences.
            if matches!(first, 0xE4..=0xE9) {
                units += WIDE_UNITS;
                rest = rest.get(3..).unwrap_or_default();
                continue;
            }
            let mut chars = rest.chars();
            let char = chars.next().unwrap_or_default();
            rest = chars.as_str();
            units += if char.is_whitespace() { 0 } else { WIDE_UNITS };
            sentences += u32::from(matches!(char, '。' | '！' | '？'));
        }
    }
    (units, sentences)
}

/// White space of `char`, which the vertical tab is too.
fn is_space(b: u8) -> bool {
    (b == b' ') | (b.wrapping_sub(b'\t') < 5)
}

fn count_ascii_units(text: &[u8]) -> u32 {
    // Blocks of a fixed length are counted in one step.
    let (blocks, rest) = text.as_chunks::<16>();
    let shown = |bytes: &[u8]| bytes.iter().map(|b| u8::from(!is_space(*b))).sum::<u8>();
    let in_blocks: u32 = blocks.iter().map(|block| u32::from(shown(block))).sum();
    (in_blocks + u32::from(shown(rest))).saturating_mul(ASCII_UNITS)
}

/// Sentences that end in ASCII text: white space or nothing is behind the mark.
fn count_ascii_sentences(text: &[u8], after: &str) -> u32 {
    let marks = memchr::memchr3_iter(b'.', b'!', b'?', text);
    let ends = marks.filter(|at| match text.get(at + 1) {
        Some(next) => is_space(*next),
        None => after.chars().next().is_none_or(char::is_whitespace),
    });
    ends.count() as u32
}
