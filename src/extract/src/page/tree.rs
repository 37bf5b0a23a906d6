//! The open elements and the array that grows. In: tags and texts in the order of the page. Out: nodes in document
//! order with the parents that a browser would give them. Never recurses; each step is bounded by the depth limit.
//!
//! The rules are those of the HTML standard's tree construction, kept to what moves text between elements. Two things
//! are told differently, since the array only grows at its end: content that a browser moves before a table closes
//! the table here and a second table of the same path goes on after it; and the ends of subtrees are computed when
//! the page is finished.

use super::attr::Attr;
use super::config::Config;
use super::content::Content;
use super::formatting::Formatting;
use super::open::{Context, Open, Phase};
use super::state::States;
use super::tag::TAGS;
use super::tag_path::PathTable;
use super::text_counts::{Readable, TextCounts};
use super::{Attribute, Node, NodeId, Span, Tag};

/// Nodes that may be moved while one page is parsed; past this the formatting element just ends. Real pages stay
/// below a hundredth of it.
const MOVED_NODES: usize = 1 << 20;

/// Nodes, and bytes of text, of a usual page.
const USUAL_NODES: usize = 2048;
const USUAL_TEXT_BYTES: usize = 64 << 10;

#[derive(Debug, Default)]
pub(super) struct Tree {
    pub(super) nodes: Vec<Node>,
    pub(super) arena: Vec<u8>,
    pub(super) attributes: Vec<Attribute>,
    pub(super) paths: PathTable,
    pub(super) texts: Vec<TextCounts>,
    /// Attributes that can hide what is in their element, in order: few have one.
    pub(super) hiding: Vec<u32>,
    /// Elements that hide what is in them, in order.
    pub(super) hidden: Vec<NodeId>,
    pub(super) stack: Vec<Open>,
    /// How many elements of each tag are open, so that most questions of scope need no search.
    pub(super) open: Vec<u32>,
    pub(super) formatting: Formatting,
    pub(super) text: TextState,
    pub(super) states: States,
    /// How the bytes that come next are read.
    pub(super) content: Content,
    pub(super) phase: Phase,
    pub(super) quirks: Option<bool>,
    /// The head after its end, until the body begins.
    pub(super) head: Option<Open>,
    /// The open form, which forbids another.
    pub(super) form: Option<NodeId>,
    /// Elements that were not put on the stack because it is full.
    overflow: u32,
    pub(super) limits: Config,
    pub(super) truncated: Option<&'static str>,
    /// Nodes that may still be moved by formatting that ends inside a block.
    pub(super) movable: usize,
}

/// What the next piece of text has to know of what stands before it.
#[derive(Debug, Default)]
pub(super) struct TextState {
    /// White space was seen and is owed if something of the same line follows.
    pub(super) owed_space: bool,
    /// Nothing of the current line has been shown yet, so white space shows nothing.
    pub(super) line_shows: bool,
    /// Arena offset where the raw text of the last text node begins that is not decoded yet.
    pub(super) raw_from: Option<u32>,
    pub(super) has_entity: bool,
    /// Content that comes now is moved out of the table it stands in.
    pub(super) fostering: bool,
    /// The first line break after `<pre>` is not shown.
    pub(super) skip_newline: bool,
    /// Whether the text node that was appended last is read.
    pub(super) readable: Readable,
}

impl Tree {
    pub(super) fn new(limits: Config) -> Self {
        Self {
            open: vec![0; TAGS],
            movable: MOVED_NODES,
            limits,
            // Room for a usual page, so that little is moved while they grow.
            nodes: Vec::with_capacity(USUAL_NODES),
            attributes: Vec::with_capacity(USUAL_NODES),
            arena: Vec::with_capacity(USUAL_TEXT_BYTES),
            texts: Vec::with_capacity(USUAL_NODES / 4),
            ..Self::default()
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.nodes.len() >= self.limits.max_nodes
    }

    /// A page without a doctype is in quirks mode.
    pub(super) fn is_quirky(&self) -> bool {
        self.quirks.unwrap_or(true)
    }

    pub(super) fn current(&self) -> Option<Open> {
        self.stack.last().copied()
    }

    pub(super) fn current_tag(&self) -> Tag {
        self.stack.last().map_or(Tag::OTHER, |open| open.tag)
    }

    pub(super) fn context(&self) -> Context {
        self.stack.last().map_or(Context::Body, |open| open.context)
    }

    pub(super) fn is_open(&self, tag: Tag) -> bool {
        self.open[tag.0 as usize] > 0
    }

    /// Appends a node under the current element (or where content of a table is moved to).
    fn push_node(&mut self, tag: Tag, parent: Option<Open>, span: Span) -> NodeId {
        self.count_text();
        let id = self.nodes.len() as NodeId;
        let path = match parent {
            Some(open) if tag == Tag::TEXT => open.path,
            Some(open) => self.paths.intern(Some(open.path), tag),
            None => self.paths.intern(None, tag),
        };
        let (parent_id, depth) = match parent {
            Some(open) => (open.node, self.nodes[open.node as usize].depth + 1),
            None => (id, 0),
        };
        self.nodes.push(Node {
            tag,
            depth,
            parent: parent_id,
            end: id + 1,
            path,
            span,
        });
        self.note_if_hidden(id);
        if self.nodes.len() == self.limits.max_nodes {
            self.truncated = Some("nodes");
        }
        id
    }

    /// Appends a text node under the place where content goes now.
    pub(super) fn push_text(&mut self, start: u32) -> Option<NodeId> {
        let parent = self.insertion_parent()?;
        let id = self.push_node(Tag::TEXT, Some(parent), Span { start, len: 0 });
        self.text.readable = parent.readable;
        Some(id)
    }

    /// Element under which content goes now: the current one, but for content that may not stand in a table the
    /// table's parent.
    pub(super) fn insertion_parent(&mut self) -> Option<Open> {
        let current = self.current()?;
        let outer = |open: &Open| open.is_html(Tag::TABLE) || open.is_html(Tag::TEMPLATE);
        if self.fosters(current)
            && let Some(outer) = self.stack.iter().rposition(outer)
        {
            // A template holds what stands beside the parts of a table in it; a table never.
            let parent = outer.saturating_sub(usize::from(self.stack[outer].tag == Tag::TABLE));
            for open in self.stack.iter_mut().skip(parent + 1) {
                open.stale = true;
            }
            return self.fresh(parent);
        }
        self.fresh(self.stack.len() - 1)
    }

    fn fosters(&self, current: Open) -> bool {
        self.text.fostering
            && !current.foreign
            && matches!(
                current.tag,
                Tag::TABLE | Tag::TBODY | Tag::THEAD | Tag::TFOOT | Tag::TR
            )
    }

    /// The open element at `index`; when its subtree was interrupted, a second element of the same path goes on.
    fn fresh(&mut self, index: usize) -> Option<Open> {
        if !self.stack.get(index)?.stale {
            return self.stack.get(index).copied();
        }
        let from = (0..index)
            .rev()
            .find(|&at| !self.stack[at].stale)
            .map_or(0, |at| at + 1);
        for at in from..=index {
            let parent = at.checked_sub(1).map(|above| self.stack[above]);
            let span = self.nodes[self.stack[at].node as usize].span;
            let node = self.push_node(self.stack[at].tag, parent, span);
            let open = &mut self.stack[at];
            (open.node, open.path) = (node, self.nodes[node as usize].path);
            open.stale = false;
        }
        self.stack.get(index).copied()
    }

    /// Appends an element and makes it the current one.
    pub(super) fn insert(&mut self, tag: Tag, name_hash: u32, span: Span) -> NodeId {
        let parent = self.insertion_parent();
        let node = self.push_node(tag, parent, span);
        if self.stack.len() >= self.limits.max_depth {
            self.overflow += 1;
            self.truncated.get_or_insert("depth");
            return node;
        }
        let outer = self.context();
        let context = match tag {
            Tag::TABLE => Context::Table,
            Tag::TBODY | Tag::THEAD | Tag::TFOOT => Context::TableBody,
            Tag::TR => Context::Row,
            Tag::TD | Tag::TH => Context::Cell,
            Tag::CAPTION => Context::Caption,
            Tag::COLGROUP => Context::ColumnGroup,
            Tag::TEMPLATE => Context::Template,
            _ => outer,
        };
        let readable = self.readable(node, tag, parent);
        self.push_open(Open {
            readable,
            tag,
            context,
            foreign: false,
            holds_html: false,
            node,
            path: self.nodes[node as usize].path,
            name_hash,
            stale: false,
        });
        node
    }

    pub(super) fn push_open(&mut self, open: Open) {
        self.stack.push(open);
        self.open[open.tag.0 as usize] += 1;
    }

    /// Appends an element that holds nothing.
    pub(super) fn insert_void(&mut self, tag: Tag, span: Span) {
        let parent = self.insertion_parent();
        self.push_node(tag, parent, span);
    }

    /// An end tag of an element that did not fit on the stack.
    pub(super) fn leave_overflow(&mut self) -> bool {
        let was_over = self.overflow > 0;
        self.overflow = self.overflow.saturating_sub(1);
        was_over
    }

    pub(super) fn pop(&mut self) -> Option<Open> {
        let open = self.stack.pop()?;
        self.open[open.tag.0 as usize] -= 1;
        Some(open)
    }

    /// Closes everything from stack index `index` on.
    pub(super) fn pop_to(&mut self, index: usize) {
        while self.stack.len() > index {
            self.pop();
        }
    }

    /// Takes one element out of the stack; what is open inside stays open.
    pub(super) fn remove_open(&mut self, index: usize) {
        let open = self.stack.remove(index);
        self.open[open.tag.0 as usize] -= 1;
    }

    /// The value of an attribute among those of a tag, as it is kept.
    pub(super) fn kept_value(&self, attributes: Span, name: Attr) -> Option<&[u8]> {
        let from = attributes.start as usize;
        self.attributes
            .get(from..from + attributes.len as usize)?
            .iter()
            .find(|attribute| attribute.name == name)
            .and_then(|attribute| {
                let from = attribute.value.start as usize;
                self.arena.get(from..from + attribute.value.len as usize)
            })
    }
}
