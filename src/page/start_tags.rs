//! What a start tag does to the open elements: implied ends, implied html, head and body, tables, forms, SVG.

use super::attr::Attr;
use super::markup::Attributes;
use super::tree::{Context, Phase, Tree};
use super::{NodeId, Tag};

/// FNV-1a over the lower-case name: tells elements with unknown names apart.
pub(super) fn name_hash(tag: Tag, name: &[u8]) -> u32 {
    if tag != Tag::OTHER {
        return 0;
    }
    name.iter().fold(0x811C_9DC5, |hash, b| {
        (hash ^ u32::from(b.to_ascii_lowercase())).wrapping_mul(0x0100_0193)
    })
}

impl Tree {
    /// A start tag.
    pub(super) fn start_tag(&mut self, name: &[u8], attributes: &[u8], self_closing: bool) {
        if self.is_full() {
            return;
        }
        let tag = Tag::from_name(name);
        let hash = name_hash(tag, name);
        self.text.skip_newline = false;
        if tag.is_block() || tag == Tag::BR {
            self.break_line();
        } else {
            self.settle_space();
        }
        if self.current().is_some_and(|open| open.foreign)
            && self.foreign_start(tag, hash, attributes, self_closing)
        {
            return;
        }
        if self.phase < Phase::Body && !self.start_before_body(tag, attributes) {
            return;
        }
        if self.phase == Phase::Frameset {
            self.start_in_frameset(tag, attributes);
            return;
        }
        self.dispatch(tag, hash, attributes, self_closing);
        if tag.is_replaced() {
            self.show_in_line();
        }
    }

    fn dispatch(&mut self, tag: Tag, hash: u32, attributes: &[u8], self_closing: bool) {
        // Each turn either handles the tag or closes at least one element.
        loop {
            let handled = match self.context() {
                Context::Body => break,
                Context::Cell | Context::Caption => self.start_in_cell(tag),
                Context::Table | Context::TableBody | Context::Row => {
                    self.start_in_table(tag, attributes)
                }
                Context::ColumnGroup => self.start_in_column_group(tag, attributes),
                Context::Select => self.start_in_select(tag, attributes),
            };
            match handled {
                Turn::Done => return,
                Turn::Again => {}
                Turn::AsBody => break,
            }
        }
        self.text.fostering = self.context().is_table();
        self.start_in_body(tag, hash, attributes, self_closing);
        self.text.fostering = false;
    }

    /// Before the body: true when the tag still has to be handled as body content.
    fn start_before_body(&mut self, tag: Tag, attributes: &[u8]) -> bool {
        if self.stack.is_empty() {
            let given = if tag == Tag::HTML { attributes } else { b"" };
            self.insert(Tag::HTML, 0, given);
        }
        match tag {
            Tag::HTML => return false,
            Tag::HEAD => {
                if self.phase == Phase::Start {
                    self.insert(Tag::HEAD, 0, attributes);
                    self.phase = Phase::Head;
                }
                return false;
            }
            Tag::BODY => {
                self.open_body(attributes);
                return false;
            }
            Tag::FRAMESET => {
                self.close_head();
                self.insert(Tag::FRAMESET, 0, attributes);
                self.phase = Phase::Frameset;
                return false;
            }
            _ => {}
        }
        if self.is_open(Tag::TEMPLATE) {
            return true;
        }
        if !tag.belongs_in_head() {
            self.open_body(b"");
            return true;
        }
        if self.phase == Phase::Start {
            self.insert(Tag::HEAD, 0, b"");
            self.phase = Phase::Head;
        }
        // What belongs in the head and comes after it goes under the root here; it shows nothing either way.
        self.insert_head_element(tag, attributes);
        false
    }

    fn insert_head_element(&mut self, tag: Tag, attributes: &[u8]) {
        if tag.is_void() {
            self.insert_void(tag, attributes);
        } else {
            self.insert(tag, 0, attributes);
            if tag == Tag::TEMPLATE {
                self.formatting.push_marker();
            }
        }
    }

    fn close_head(&mut self) {
        if self.stack.is_empty() {
            self.insert(Tag::HTML, 0, b"");
        }
        if self.phase == Phase::Start {
            self.insert(Tag::HEAD, 0, b"");
        }
        self.pop_to(1);
        self.phase = Phase::AfterHead;
    }

    /// Ends the head and begins the body.
    pub(super) fn open_body(&mut self, attributes: &[u8]) {
        self.close_head();
        self.insert(Tag::BODY, 0, attributes);
        self.phase = Phase::Body;
        self.break_line();
    }

    fn start_in_frameset(&mut self, tag: Tag, attributes: &[u8]) {
        match tag {
            Tag::FRAMESET | Tag::NOFRAMES => {
                self.insert(tag, 0, attributes);
            }
            Tag::FRAME => self.insert_void(tag, attributes),
            _ => {}
        }
    }

    fn start_in_cell(&mut self, tag: Tag) -> Turn {
        if !tag.is_table_part() {
            return Turn::AsBody;
        }
        let cell = |t| matches!(t, Tag::TD | Tag::TH | Tag::CAPTION);
        match self.stack.iter().rposition(|open| cell(open.tag)) {
            Some(at) => {
                self.pop_to(at);
                self.formatting.clear_to_marker();
                Turn::Again
            }
            None => Turn::Done,
        }
    }

    /// Closes what is open inside the innermost of these tags.
    fn clear_to(&mut self, keep: &[Tag]) {
        while let Some(open) = self.current() {
            if keep.contains(&open.tag) || matches!(open.tag, Tag::HTML | Tag::TEMPLATE) {
                return;
            }
            self.pop();
        }
    }

    fn start_in_table(&mut self, tag: Tag, attributes: &[u8]) -> Turn {
        let sections = [Tag::TBODY, Tag::THEAD, Tag::TFOOT];
        let context = self.context();
        match tag {
            Tag::TD | Tag::TH => {
                match context {
                    Context::Row => self.clear_to(&[Tag::TR]),
                    Context::TableBody => self.clear_to(&sections),
                    _ => self.clear_to(&[Tag::TABLE]),
                }
                if context == Context::Table {
                    self.insert(Tag::TBODY, 0, b"");
                }
                if context != Context::Row {
                    self.insert(Tag::TR, 0, b"");
                }
                self.insert(tag, 0, attributes);
                self.formatting.push_marker();
                Turn::Done
            }
            Tag::TR => {
                if context == Context::Row {
                    self.clear_to(&[Tag::TR]);
                    self.pop();
                    return Turn::Again;
                }
                if context == Context::TableBody {
                    self.clear_to(&sections);
                } else {
                    self.clear_to(&[Tag::TABLE]);
                    self.insert(Tag::TBODY, 0, b"");
                }
                self.insert(tag, 0, attributes);
                Turn::Done
            }
            Tag::TBODY | Tag::THEAD | Tag::TFOOT | Tag::CAPTION | Tag::COLGROUP | Tag::COL => {
                self.clear_to(&[Tag::TABLE]);
                if tag == Tag::COL {
                    self.insert(Tag::COLGROUP, 0, b"");
                    return Turn::Again;
                }
                self.insert(tag, 0, attributes);
                if tag == Tag::CAPTION {
                    self.formatting.push_marker();
                }
                Turn::Done
            }
            Tag::TABLE => self.start_table_in_table(),
            Tag::STYLE | Tag::SCRIPT | Tag::TEMPLATE => {
                self.insert_head_element(tag, attributes);
                Turn::Done
            }
            Tag::INPUT if is_hidden_input(attributes) => {
                self.insert_void(tag, attributes);
                Turn::Done
            }
            Tag::FORM => {
                if self.form.is_none() {
                    let node = self.insert(tag, 0, attributes);
                    self.form = Some(node);
                    if self.current().is_some_and(|open| open.node == node) {
                        self.pop();
                    }
                }
                Turn::Done
            }
            _ => Turn::AsBody,
        }
    }

    fn start_table_in_table(&mut self) -> Turn {
        match self.stack.iter().rposition(|open| open.tag == Tag::TABLE) {
            Some(at) => {
                self.pop_to(at);
                Turn::Again
            }
            None => Turn::Done,
        }
    }

    fn start_in_column_group(&mut self, tag: Tag, attributes: &[u8]) -> Turn {
        if tag == Tag::COL {
            self.insert_void(tag, attributes);
            return Turn::Done;
        }
        if tag == Tag::TEMPLATE {
            self.insert_head_element(tag, attributes);
            return Turn::Done;
        }
        self.clear_to(&[Tag::COLGROUP]);
        self.pop();
        Turn::Again
    }

    fn start_in_select(&mut self, tag: Tag, attributes: &[u8]) -> Turn {
        match tag {
            Tag::OPTION | Tag::OPTGROUP | Tag::HR => {
                if self.current_tag() == Tag::OPTION {
                    self.pop();
                }
                if tag != Tag::OPTION && self.current_tag() == Tag::OPTGROUP {
                    self.pop();
                }
                if tag == Tag::HR {
                    self.insert_void(tag, attributes);
                } else {
                    self.insert(tag, 0, attributes);
                }
                Turn::Done
            }
            Tag::SCRIPT | Tag::TEMPLATE => {
                self.insert_head_element(tag, attributes);
                Turn::Done
            }
            Tag::SELECT | Tag::INPUT | Tag::KEYGEN | Tag::TEXTAREA => {
                self.close_select();
                if tag == Tag::SELECT {
                    Turn::Done
                } else {
                    Turn::Again
                }
            }
            _ if tag.is_table_part() || tag == Tag::TABLE => {
                self.close_select();
                Turn::Again
            }
            _ => Turn::Done,
        }
    }

    pub(super) fn close_select(&mut self) {
        match self.stack.iter().rposition(|open| open.tag == Tag::SELECT) {
            Some(at) => self.pop_to(at),
            None => {
                self.pop();
            }
        }
    }

    fn start_in_body(&mut self, tag: Tag, hash: u32, attributes: &[u8], self_closing: bool) {
        match tag {
            Tag::HTML | Tag::HEAD | Tag::BODY | Tag::FRAMESET | Tag::FRAME => return,
            _ if tag.is_table_part() => return,
            _ if tag.belongs_in_head() => {
                self.insert_head_element(tag, attributes);
                return;
            }
            Tag::FORM if self.form.is_some() && !self.is_open(Tag::TEMPLATE) => return,
            Tag::LI => self.close_list_item(&[Tag::LI]),
            Tag::DT | Tag::DD => self.close_list_item(&[Tag::DT, Tag::DD]),
            Tag::A | Tag::NOBR => self.close_same_formatting(tag),
            Tag::BUTTON => self.close_button(),
            Tag::OPTION | Tag::OPTGROUP if self.current_tag() == Tag::OPTION => {
                self.pop();
            }
            Tag::RB | Tag::RTC | Tag::RP | Tag::RT if self.is_open(Tag::RUBY) => {
                let keep = matches!(tag, Tag::RP | Tag::RT).then_some(Tag::RTC);
                self.imply_ends(keep);
            }
            _ => {}
        }
        let table_closes_p = tag == Tag::TABLE && !self.is_quirky();
        if tag.closes_p() || matches!(tag, Tag::LI | Tag::DT | Tag::DD) || table_closes_p {
            self.close_p();
        }
        if tag.is_heading() && self.current_tag().is_heading() {
            self.pop();
        }
        if !tag.closes_p() && !plain_insert(tag) {
            self.reopen_formatting();
        }
        self.insert_in_body(tag, hash, attributes, self_closing);
    }

    fn insert_in_body(&mut self, tag: Tag, hash: u32, attributes: &[u8], self_closing: bool) {
        if tag.is_void() {
            let tag = if tag == Tag::IMAGE { Tag::IMG } else { tag };
            self.insert_void(tag, attributes);
            return;
        }
        let node = self.insert(tag, hash, attributes);
        if tag.is_formatting() {
            self.push_formatting(node);
        }
        match tag {
            Tag::APPLET | Tag::MARQUEE | Tag::OBJECT => self.formatting.push_marker(),
            Tag::PRE | Tag::LISTING | Tag::TEXTAREA => self.text.skip_newline = true,
            Tag::FORM => self.form = Some(node),
            Tag::SVG | Tag::MATH => self.enter_foreign(node, self_closing),
            _ => {}
        }
    }

    fn enter_foreign(&mut self, node: NodeId, self_closing: bool) {
        if let Some(open) = self.stack.last_mut()
            && open.node == node
        {
            open.foreign = true;
            open.context = Context::Body;
            if self_closing {
                self.pop();
            }
        }
    }

    /// In SVG or MathML: true when the tag is handled, false when it ends that content or stands in a part of it
    /// that holds HTML.
    fn foreign_start(
        &mut self,
        tag: Tag,
        hash: u32,
        attributes: &[u8],
        self_closing: bool,
    ) -> bool {
        let font = tag == Tag::FONT
            && Attributes::new(attributes).any(|(name, _)| {
                [&b"color"[..], b"face", b"size"]
                    .iter()
                    .any(|n| name.eq_ignore_ascii_case(n))
            });
        if tag.breaks_out() || font {
            while self.current().is_some_and(|open| open.foreign) {
                self.pop();
            }
            return false;
        }
        let node = self.insert(tag, hash, attributes);
        let Some(open) = self.stack.last_mut().filter(|open| open.node == node) else {
            return true;
        };
        let holds_html = matches!(
            tag,
            Tag::FOREIGN_OBJECT
                | Tag::DESC
                | Tag::MI
                | Tag::MO
                | Tag::MN
                | Tag::MS
                | Tag::MTEXT
                | Tag::TITLE
        );
        open.foreign = !holds_html;
        if self_closing {
            self.pop();
        }
        true
    }

    fn close_list_item(&mut self, items: &[Tag]) {
        if !items.iter().any(|tag| self.is_open(*tag)) {
            return;
        }
        for at in (0..self.stack.len()).rev() {
            let tag = self.stack[at].tag;
            if items.contains(&tag) {
                self.pop_to(at);
                return;
            }
            if tag.is_special() && !matches!(tag, Tag::ADDRESS | Tag::DIV | Tag::P) {
                return;
            }
        }
    }

    fn close_button(&mut self) {
        if self.is_open(Tag::BUTTON)
            && let Some(at) = self.scope_position(|t| t == Tag::BUTTON, |_| false)
        {
            self.pop_to(at);
        }
    }
}

/// What a table's rules made of a tag.
enum Turn {
    /// Handled.
    Done,
    /// Something was closed: look again.
    Again,
    /// To be handled as in the body.
    AsBody,
}

fn is_hidden_input(attributes: &[u8]) -> bool {
    Attributes::new(attributes).any(|(name, value)| {
        Attr::from_name(name) == Some(Attr::Type) && value.eq_ignore_ascii_case(b"hidden")
    })
}

/// Elements that do not reopen left-open formatting although they do not close a paragraph.
fn plain_insert(tag: Tag) -> bool {
    matches!(
        tag,
        Tag::LI
            | Tag::DT
            | Tag::DD
            | Tag::TABLE
            | Tag::TEXTAREA
            | Tag::IFRAME
            | Tag::NOEMBED
            | Tag::PARAM
            | Tag::SOURCE
            | Tag::TRACK
            | Tag::RB
            | Tag::RTC
            | Tag::RP
            | Tag::RT
    )
}
