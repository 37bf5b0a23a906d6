//! Tree construction: the stack of open elements and the array of nodes that grows. Nodes are in document order with the
//! parents that a browser would give them. Never recurses; each step is bounded by the depth limit.
//!
//! The rules are those of the HTML standard, as far as they move text between elements. Two of them differ, since the array
//! only grows at its end: content that a browser moves before a table closes the table here, and a second table of the same
//! path continues after it; and the ends of subtrees are computed when the page is finished.

use taojin_uri::CrawlUri;

use super::config::Config;
use super::hiding::{PageHiding, can_hide};
use super::markup::{Content, Markup, Pieces, TagEnd};
use super::measure::Measure;
use super::open::{Formatting, InsertionContext, OpenElement, Phase, Shift};
use super::script::Scripts;
use super::tag::{Attr, TAGS};
use super::tag_path::PathTable;
use super::text_counts::{Readable, TextCounts, is_skipped};
use super::{Attribute, CharsetSource, Node, NodeId, Page, Span, Tag, leads};

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
    pub(super) hiding: PageHiding,
    pub(super) stack: Vec<OpenElement>,
    /// How many elements of each tag are open, so that most questions of scope need no search.
    pub(super) open: Vec<u32>,
    pub(super) formatting: Formatting,
    pub(super) text: TextState,
    pub(super) scripts: Scripts,
    /// How the bytes that come next are read.
    pub(super) content: Content,
    pub(super) phase: Phase,
    pub(super) quirks: Option<bool>,
    /// The head after its end, until the body begins.
    pub(super) head: Option<OpenElement>,
    /// The open form, which forbids another.
    pub(super) form: Option<NodeId>,
    /// Elements that were not put on the stack because it is full.
    overflow: u32,
    pub(super) limits: Config,
    pub(super) truncated: Option<&'static str>,
    /// Nodes that may still be moved by formatting that ends inside a block.
    pub(super) movable: usize,
}

/// What the next piece of text has to know of what is before it.
#[derive(Debug, Default)]
pub(super) struct TextState {
    /// White space was seen and is owed if something of the same line follows.
    pub(super) owed_space: bool,
    /// Nothing of the current line has been shown yet, so white space shows nothing.
    pub(super) line_shows: bool,
    /// Arena offset where the raw text of the last text node begins that is not decoded yet.
    pub(super) raw_from: Option<u32>,
    pub(super) has_entity: bool,
    /// Content that comes now is moved out of the table it is in.
    pub(super) fostering: bool,
    /// The first line break after `<pre>` is not shown.
    pub(super) skip_newline: bool,
    /// Whether the text node that was appended last is read.
    pub(super) readable: Readable,
    /// What came after `<iframe/>` or the like, which HTML reads as its text, as long as its end tag has not come.
    pub(super) swallowed: Option<Swallowed>,
}

/// Text of an element that closes itself although only its end tag does so in HTML.
#[derive(Debug)]
pub(super) struct Swallowed {
    pub(super) tag: Tag,
    pub(super) bytes: Vec<u8>,
}

impl Tree {
    pub(super) fn new(limits: Config) -> Self {
        Self {
            open: vec![0; TAGS],
            movable: MOVED_NODES,
            limits,
            scripts: Scripts::new(),
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

    pub(super) fn current(&self) -> Option<OpenElement> {
        self.stack.last().copied()
    }

    pub(super) fn current_tag(&self) -> Tag {
        self.stack.last().map_or(Tag::OTHER, |open| open.tag)
    }

    pub(super) fn context(&self) -> InsertionContext {
        self.stack
            .last()
            .map_or(InsertionContext::Body, |open| open.context)
    }

    pub(super) fn is_open(&self, tag: Tag) -> bool {
        self.open[tag.0 as usize] > 0
    }

    /// Appends a node under the current element (or where content of a table is moved to).
    fn push_node(&mut self, tag: Tag, parent: Option<OpenElement>, span: Span) -> NodeId {
        self.count_text();
        let id = self.nodes.len() as NodeId;
        let path = match parent {
            Some(open) if tag == Tag::TEXT => open.path,
            Some(open) => {
                let is_link = leads(tag, span.of(&self.attributes));
                self.paths.intern(Some(open.path), tag, is_link)
            }
            None => self.paths.intern(None, tag, false),
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

    /// Element under which content goes now: the current one, but for content that may not be in a table the
    /// table's parent.
    pub(super) fn insertion_parent(&mut self) -> Option<OpenElement> {
        let current = self.current()?;
        let outer = |open: &OpenElement| open.is_html(Tag::TABLE) || open.is_html(Tag::TEMPLATE);
        if self.fosters(current)
            && let Some(outer) = self.stack.iter().rposition(outer)
        {
            // A template holds what is next to the parts of a table in it; a table never.
            let parent = outer.saturating_sub(usize::from(self.stack[outer].tag == Tag::TABLE));
            for open in self.stack.iter_mut().skip(parent + 1) {
                open.stale = true;
            }
            return self.fresh(parent);
        }
        self.fresh(self.stack.len() - 1)
    }

    fn fosters(&self, current: OpenElement) -> bool {
        self.text.fostering
            && !current.foreign
            && matches!(
                current.tag,
                Tag::TABLE | Tag::TBODY | Tag::THEAD | Tag::TFOOT | Tag::TR
            )
    }

    /// The open element at `index`; when its subtree was interrupted, a second element of the same path continues.
    fn fresh(&mut self, index: usize) -> Option<OpenElement> {
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
            Tag::TABLE => InsertionContext::Table,
            Tag::TBODY | Tag::THEAD | Tag::TFOOT => InsertionContext::TableBody,
            Tag::TR => InsertionContext::Row,
            Tag::TD | Tag::TH => InsertionContext::Cell,
            Tag::CAPTION => InsertionContext::Caption,
            Tag::COLGROUP => InsertionContext::ColumnGroup,
            Tag::TEMPLATE => InsertionContext::Template,
            _ => outer,
        };
        let readable = readable_inside(tag, self.hiding.hides_last(node), parent);
        self.push_open(OpenElement {
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

    pub(super) fn push_open(&mut self, open: OpenElement) {
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

    pub(super) fn pop(&mut self) -> Option<OpenElement> {
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

    /// Notes that the element that was appended last hides what is in it, if it does.
    pub(super) fn note_if_hidden(&mut self, node: NodeId) {
        let Node { tag, span, .. } = self.nodes[node as usize];
        // A script shows it, above the page.
        if tag == Tag::DIALOG {
            self.hiding.hide(node);
            return;
        }
        if !self.hiding.may_hide(span) || matches!(tag, Tag::TEXT | Tag::HTML | Tag::BODY) {
            return;
        }
        let from = span.start as usize;
        let attributes = self.attributes.get(from..from + span.len as usize);
        let value = |span: Span| {
            let range = span.start as usize..(span.start + span.len) as usize;
            let bytes = self.arena.get(range).unwrap_or_default();
            simdutf8::basic::from_utf8(bytes).unwrap_or_default()
        };
        if self
            .hiding
            .hides(tag, attributes.unwrap_or_default(), value)
        {
            self.hiding.hide(node);
        }
    }

    /// Counts the node that was appended last, if it is a text: it is complete when the next one comes.
    pub(super) fn count_text(&mut self) {
        let Some(last) = self.nodes.last().filter(|last| last.tag == Tag::TEXT) else {
            return;
        };
        let readable = self.text.readable;
        if readable == Readable::Never {
            return;
        }
        let range = last.span.start as usize..(last.span.start + last.span.len) as usize;
        let bytes = self.arena.get(range).unwrap_or_default();
        let (measure, is_tidy) = Measure::and_tidy(bytes);
        if measure == Measure::default() {
            return;
        }
        let path = last.path;
        let is_hidden = readable == Readable::Hidden;
        if !is_hidden {
            self.paths.count(path, &measure);
        }
        self.texts.push(TextCounts {
            node: self.nodes.len() as NodeId - 1,
            path,
            measure,
            is_tidy,
            is_hidden,
        });
    }

    /// Nodes were moved: those that were counted have other numbers, may have other paths, and may be shown now, since what
    /// hid them is no longer around them.
    pub(super) fn recount_moved(&mut self, shift: Shift) {
        self.hiding.forget_from(shift.block);
        for node in shift.block..self.nodes.len() as NodeId {
            self.note_if_hidden(node);
        }
        let hidden = self.hiding.find_hidden(&self.nodes, shift.block);
        let from = self.texts.partition_point(|text| text.node < shift.block);
        for text in self.texts.iter_mut().skip(from) {
            text.node = shift.apply(text.node);
            let path = self.nodes[text.node as usize].path;
            let was_hidden = text.is_hidden;
            text.is_hidden = hidden[(text.node - shift.block) as usize];
            match (was_hidden, text.is_hidden) {
                (false, false) if path != text.path => {
                    self.paths.move_count(text.path, path, &text.measure);
                }
                (true, false) => self.paths.count(path, &text.measure),
                _ => {}
            }
            text.path = path;
        }
    }

    /// The page, once its last byte was read.
    pub(super) fn finish(
        mut self,
        url: Option<CrawlUri>,
        charset: String,
        charset_source: CharsetSource,
    ) -> Page {
        self.finish_text();
        self.count_text();
        // Parents come before their children, so one pass backwards finds the end of each subtree.
        for at in (1..self.nodes.len()).rev() {
            let (parent, end) = (self.nodes[at].parent as usize, self.nodes[at].end);
            let parent = &mut self.nodes[parent];
            parent.end = parent.end.max(end);
        }
        self.nodes.shrink_to_fit();
        self.attributes.shrink_to_fit();
        self.texts.shrink_to_fit();
        let (paths, path_counts) = self.paths.finish();
        // A copy as long as the text, which costs less than to shrink the arena and to check it byte by byte.
        let arena = match simdutf8::basic::from_utf8(&self.arena) {
            Ok(text) => text.to_owned(),
            Err(_) => String::from_utf8_lossy(&self.arena).into_owned(),
        };
        Page {
            url,
            charset,
            charset_source,
            truncated: self.truncated,
            nodes: self.nodes,
            arena,
            attributes: self.attributes,
            paths,
            path_counts,
            texts: self.texts,
            hidden: self.hiding.into_elements(),
            scripts: self.scripts.finish(),
        }
    }
}

impl Tree {
    /// A run of tags and texts, as it is in the page.
    pub(super) fn markup(&mut self, run: &[u8]) {
        if self.is_full() {
            return;
        }
        let mut pieces = Pieces::new(run, self.content);
        while let Some(piece) = pieces.next() {
            if !matches!(piece, Markup::Text(..)) {
                // The end tag has come: what was before it is text after all.
                if let Some(Swallowed { tag, bytes }) = self.text.swallowed.take() {
                    self.characters(&bytes, Content::from_tag(tag).kind());
                }
                self.finish_text();
            }
            match piece {
                Markup::Text(text, kind) => match &mut self.text.swallowed {
                    Some(swallowed) => swallowed.bytes.extend_from_slice(text),
                    None => self.characters(text, kind),
                },
                Markup::Start { name } => self.read_start_tag(name, &mut pieces),
                Markup::End { name } => self.end_tag(name),
                Markup::Doctype(rest) => self.doctype(rest),
                Markup::Bound => {}
            }
        }
        self.content = pieces.content();
    }

    /// A tag alone, of a page whose text is not read.
    pub(super) fn tag(&mut self, run: &[u8]) {
        self.markup(run);
        self.content = Content::Markup;
        self.text.swallowed = None;
    }

    fn read_start_tag(&mut self, name: &[u8], pieces: &mut Pieces<'_>) {
        let tag = Tag::from_name(name);
        // White space that is owed belongs to the text before, so it comes before the values of attributes.
        self.begin_tag(tag);
        let start = self.attributes.len();
        let mut colored = false;
        let end = pieces.attributes(|name, value| {
            if let Some(name) = Attr::from_name(name).filter(|name| name.is_kept_of(tag)) {
                self.keep_attribute(name, value);
            } else if tag == Tag::FONT {
                colored |= is_font_attribute(name);
            }
        });
        if end == TagEnd::Missing || self.is_full() {
            return;
        }
        if !self.current().as_ref().is_some_and(OpenElement::is_drawing) {
            let content = Content::from_tag(tag);
            pieces.enter(content);
            let is_text = !matches!(content, Content::Markup | Content::Plain);
            if is_text && end == TagEnd::SelfClosing {
                let bytes = Vec::new();
                self.text.swallowed = Some(Swallowed { tag, bytes });
            }
        }
        self.start_tag(StartTag {
            tag,
            name_hash: name_hash(tag, name),
            attributes: Span {
                start: start as u32,
                len: (self.attributes.len() - start) as u32,
            },
            self_closing: end == TagEnd::SelfClosing,
            colored,
        });
    }

    fn doctype(&mut self, rest: &[u8]) {
        if self.phase == Phase::Start && self.quirks.is_none() {
            self.quirks = Some(doctype_asks_for_quirks(rest));
        }
    }

    #[inline]
    fn keep_attribute(&mut self, name: Attr, raw: &[u8]) {
        // Styles are long; only those that can hide are of use.
        if name == Attr::Style && !can_hide(raw) {
            return;
        }
        self.hiding.note(self.attributes.len(), name, raw);
        let value = self.keep_value(raw);
        self.attributes.push(Attribute { name, value });
    }

    fn keep_value(&mut self, raw: &[u8]) -> Span {
        let limit = if raw.starts_with(b"data:") {
            DATA_URL_BYTES
        } else {
            self.limits.max_attribute_bytes
        };
        let raw = cut_at_char(raw, limit);
        let start = self.arena.len() as u32;
        if memchr::memchr(b'&', raw).is_some() {
            let value = htmlize::unescape_bytes_in(raw, htmlize::Context::Attribute);
            self.arena.extend_from_slice(&value);
        } else {
            self.arena.extend_from_slice(raw);
        }
        Span {
            start,
            len: self.arena.len() as u32 - start,
        }
    }
}

/// A picture in an attribute is no URL; its beginning shows its type.
const DATA_URL_BYTES: usize = 32;

/// The longest beginning of at most `limit` bytes that does not split a UTF-8 character.
fn cut_at_char(bytes: &[u8], limit: usize) -> &[u8] {
    let mut end = limit.min(bytes.len());
    while end < bytes.len() && end > 0 && bytes[end] & 0xC0 == 0x80 {
        end -= 1;
    }
    bytes.get(..end).unwrap_or_default()
}

/// FNV-1a over the lower-case name: distinguishes elements with unknown names.
pub(super) fn name_hash(tag: Tag, name: &[u8]) -> u32 {
    if tag != Tag::OTHER {
        return 0;
    }
    name.iter().fold(0x811C_9DC5, |hash, b| {
        (hash ^ u32::from(b.to_ascii_lowercase())).wrapping_mul(0x0100_0193)
    })
}

/// A start tag whose attributes are kept already.
#[derive(Debug, Clone, Copy)]
pub(super) struct StartTag {
    pub(super) tag: Tag,
    /// See [`super::open::OpenElement::name_hash`].
    pub(super) name_hash: u32,
    /// Range in the attribute table.
    pub(super) attributes: Span,
    pub(super) self_closing: bool,
    /// A `<font>` with an attribute of its own, which no drawing has.
    pub(super) colored: bool,
}

pub(super) fn is_font_attribute(name: &[u8]) -> bool {
    [&b"color"[..], b"face", b"size"]
        .iter()
        .any(|n| name.eq_ignore_ascii_case(n))
}

/// Public identifiers (lower case) that ask for quirks mode by their beginning.
const QUIRKY_PREFIXES: &[&[u8]] = &[
    b"-//w3c//dtd html 3",
    b"-//w3c//dtd html 4.0 transitional",
    b"-//w3c//dtd html 4.0 frameset",
    b"-//w3c//dtd html experimental",
    b"-//w3c//dtd w3 html",
    b"-//w3o//dtd",
    b"-//ietf//dtd html",
    b"-//netscape",
    b"-//microsoft",
    b"-//softquad",
    b"-//as//dtd html",
    b"-//advasoft",
    b"-//webtechs",
    b"-//sun microsystems",
    b"-//spyglass",
    b"+//silmaril",
    b"html",
];

/// Those that do so only without a system identifier.
const QUIRKY_WITHOUT_SYSTEM: &[&[u8]] = &[
    b"-//w3c//dtd html 4.01 transitional",
    b"-//w3c//dtd html 4.01 frameset",
];

/// Whether the part of a doctype after the word `DOCTYPE` asks for quirks mode.
pub(super) fn doctype_asks_for_quirks(rest: &[u8]) -> bool {
    let lower = rest.trim_ascii().to_ascii_lowercase();
    let Some(after_name) = lower.strip_prefix(b"html") else {
        return true;
    };
    let after_name = after_name.trim_ascii();
    if let Some(ids) = after_name.strip_prefix(b"public") {
        let mut quoted = ids.split(|&b| b == b'"' || b == b'\'');
        let public = quoted.nth(1).unwrap_or_default();
        let system = quoted.nth(1);
        let starts = |prefixes: &[&[u8]]| prefixes.iter().any(|p| public.starts_with(p));
        return starts(QUIRKY_PREFIXES) || (system.is_none() && starts(QUIRKY_WITHOUT_SYSTEM));
    }
    false
}

/// Whether the texts in an element are read; `outer` is the element around it.
pub(super) fn readable_inside(tag: Tag, hides: bool, outer: Option<OpenElement>) -> Readable {
    let outer = outer.map_or(Readable::Shown, |open| open.readable);
    if is_skipped(tag) {
        Readable::Never
    } else if hides {
        outer.max(Readable::Hidden)
    } else {
        outer
    }
}

#[cfg(test)]
mod tests {
    use super::doctype_asks_for_quirks;

    #[test]
    fn quirks_by_doctype() {
        for (rest, quirky) in [
            (&b" html"[..], false),
            (b" HTML ", false),
            (b"", true),
            (b" svg", true),
            (b" HTML PUBLIC \"-//W3C//DTD HTML 4.01 Transitional//EN\"", true),
            (
                b" HTML PUBLIC \"-//W3C//DTD HTML 4.01 Transitional//EN\" \"http://www.w3.org/TR/html4/loose.dtd\"",
                false,
            ),
            (b" HTML PUBLIC \"-//W3C//DTD HTML 4.0 Transitional//EN\" \"x\"", true),
            (b" html PUBLIC '-//W3C//DTD XHTML 1.0 Transitional//EN' 'x'", false),
        ] {
            assert_eq!(doctype_asks_for_quirks(rest), quirky, "{rest:?}");
        }
    }
}
