//! What a start tag does to the open elements: implied ends, implied html, head and body, tables, forms; SVG and MathML, which
//! keep their names to themselves until HTML that is no part of a drawing ends them.

use super::open::{Context, Open, Phase};
use super::table_rules::Turn;
use super::tree::{StartTag, Tree};
use super::{NodeId, Span, Tag};

impl Tree {
    /// Settles what a start tag does to the text before it.
    pub(super) fn begin_tag(&mut self, tag: Tag) {
        self.text.skip_newline = false;
        if tag.is_block() || tag == Tag::BR {
            self.break_line();
        } else {
            self.settle_space();
        }
    }

    /// A start tag.
    pub(super) fn start_tag(&mut self, start: StartTag) {
        let StartTag {
            tag, attributes, ..
        } = start;
        if self.current().as_ref().is_some_and(Open::is_drawing) && self.foreign_start(start) {
            return;
        }
        if self.phase < Phase::Body && !self.start_before_body(tag, attributes) {
            return;
        }
        if self.phase == Phase::Frameset {
            self.start_in_frameset(tag, attributes);
            return;
        }
        self.dispatch(start);
        if tag.is_replaced() {
            self.show_in_line();
        }
    }

    fn dispatch(&mut self, start: StartTag) {
        let StartTag {
            tag, attributes, ..
        } = start;
        // Each turn either handles the tag or closes at least one element.
        loop {
            let handled = match self.context() {
                Context::Body => break,
                Context::Cell | Context::Caption => self.start_in_cell(tag),
                Context::Table | Context::TableBody | Context::Row => {
                    self.start_in_table(tag, attributes)
                }
                Context::ColumnGroup => self.start_in_column_group(tag, attributes),
                Context::Template => self.start_in_template(tag),
            };
            match handled {
                Turn::Done => return,
                Turn::Again => {}
                Turn::AsBody => break,
            }
        }
        self.text.fostering = self.context().is_table();
        self.start_in_body(start);
        self.text.fostering = false;
    }

    /// Before the body: true when the tag still has to be handled as body content.
    fn start_before_body(&mut self, tag: Tag, attributes: Span) -> bool {
        if self.stack.is_empty() {
            let given = if tag == Tag::HTML {
                attributes
            } else {
                Span::default()
            };
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
            self.open_body(Span::default());
            return true;
        }
        if self.phase == Phase::Start {
            self.insert(Tag::HEAD, 0, Span::default());
            self.phase = Phase::Head;
        }
        if self.phase == Phase::AfterHead {
            self.insert_into_closed_head(tag, attributes);
        } else {
            self.insert_head_element(tag, attributes);
        }
        false
    }

    /// What belongs in the head and comes after its end still goes there: the body has not begun.
    fn insert_into_closed_head(&mut self, tag: Tag, attributes: Span) {
        let Some(head) = self.head.filter(|_| self.stack.len() == 1) else {
            return self.insert_head_element(tag, attributes);
        };
        self.push_open(head);
        self.insert_head_element(tag, attributes);
        self.remove_open(1);
    }

    pub(super) fn insert_head_element(&mut self, tag: Tag, attributes: Span) {
        if tag.is_void() {
            self.insert_void(tag, attributes);
        } else {
            let node = self.insert(tag, 0, attributes);
            if tag == Tag::TEMPLATE {
                self.bound_formatting(node);
            }
        }
    }

    fn close_head(&mut self) {
        if self.stack.is_empty() {
            self.insert(Tag::HTML, 0, Span::default());
        }
        if self.phase == Phase::Start {
            self.insert(Tag::HEAD, 0, Span::default());
        }
        self.end_head();
    }

    /// The head is complete, though what belongs there may still come.
    pub(super) fn end_head(&mut self) {
        if self.phase < Phase::AfterHead {
            self.head = self.stack.get(1).copied();
        }
        self.pop_to(1);
        self.phase = Phase::AfterHead;
    }

    /// Ends the head and begins the body.
    pub(super) fn open_body(&mut self, attributes: Span) {
        self.close_head();
        self.insert(Tag::BODY, 0, attributes);
        self.phase = Phase::Body;
        self.break_line();
    }

    fn start_in_frameset(&mut self, tag: Tag, attributes: Span) {
        match tag {
            Tag::FRAMESET | Tag::NOFRAMES => {
                self.insert(tag, 0, attributes);
            }
            Tag::FRAME => self.insert_void(tag, attributes),
            _ => {}
        }
    }

    fn start_in_body(&mut self, start: StartTag) {
        let StartTag {
            tag, attributes, ..
        } = start;
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
            Tag::A => self.close_same_formatting(tag),
            Tag::NOBR if self.in_scope(tag, &[]).is_some() => self.close_same_formatting(tag),
            Tag::BUTTON => {
                self.end_scoped(tag, &[]);
            }
            Tag::SELECT | Tag::INPUT => {
                let was_open = self.end_scoped(Tag::SELECT, &[]);
                if was_open && tag == Tag::SELECT {
                    return;
                }
            }
            Tag::OPTION | Tag::OPTGROUP => self.close_option(tag),
            Tag::RB | Tag::RTC | Tag::RP | Tag::RT if self.in_scope(Tag::RUBY, &[]).is_some() => {
                let keep = matches!(tag, Tag::RP | Tag::RT).then_some(Tag::RTC);
                self.imply_ends(keep);
            }
            _ => {}
        }
        let table_closes_p = tag == Tag::TABLE && !self.is_quirky();
        if tag.closes_p() || matches!(tag, Tag::LI | Tag::DT | Tag::DD) || table_closes_p {
            self.close_p();
        }
        if tag == Tag::HR && self.in_scope(Tag::SELECT, &[]).is_some() {
            self.imply_ends(None);
        }
        if tag.is_heading() && self.current_tag().is_heading() {
            self.pop();
        }
        if !tag.closes_p() && !plain_insert(tag) {
            self.reopen_formatting();
        }
        self.insert_in_body(start);
    }

    fn insert_in_body(&mut self, start: StartTag) {
        let StartTag {
            tag, attributes, ..
        } = start;
        if tag.is_void() {
            let tag = if tag == Tag::IMAGE { Tag::IMG } else { tag };
            self.insert_void(tag, attributes);
            return;
        }
        let node = self.insert(tag, start.name_hash, attributes);
        if tag.is_formatting() {
            self.push_formatting(node);
        }
        match tag {
            Tag::APPLET | Tag::MARQUEE | Tag::OBJECT => self.bound_formatting(node),
            Tag::PRE | Tag::LISTING | Tag::TEXTAREA => self.text.skip_newline = true,
            Tag::FORM => self.form = Some(node),
            Tag::SVG | Tag::MATH => self.enter_foreign(node, start.self_closing),
            _ => {}
        }
    }

    fn close_list_item(&mut self, items: &[Tag]) {
        if !items.iter().any(|tag| self.is_open(*tag)) {
            return;
        }
        for at in (0..self.stack.len()).rev() {
            let open = self.stack[at];
            let tag = open.tag;
            if items.contains(&tag) && !open.foreign {
                self.pop_to(at);
                return;
            }
            if open.is_special() && !matches!(tag, Tag::ADDRESS | Tag::DIV | Tag::P) {
                return;
            }
        }
    }

    fn close_option(&mut self, tag: Tag) {
        if self.in_scope(Tag::SELECT, &[]).is_some() {
            self.imply_ends((tag == Tag::OPTION).then_some(Tag::OPTGROUP));
        } else if self.current_tag() == Tag::OPTION {
            self.pop();
        }
    }
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

impl Tree {
    pub(super) fn enter_foreign(&mut self, node: NodeId, self_closing: bool) {
        if let Some(open) = self.stack.last_mut()
            && open.node == node
        {
            open.foreign = true;
            if self_closing {
                self.pop();
            }
        }
    }

    /// In SVG or MathML: true when the tag is handled, false when it ends that content or stands in a part of it
    /// that holds HTML.
    pub(super) fn foreign_start(&mut self, start: StartTag) -> bool {
        let tag = start.tag;
        if tag.breaks_out() || start.colored {
            while self.current().as_ref().is_some_and(Open::is_drawing) {
                self.pop();
            }
            return false;
        }
        let context = self.context();
        let node = self.insert(tag, start.name_hash, start.attributes);
        let Some(open) = self.stack.last_mut().filter(|open| open.node == node) else {
            return true;
        };
        open.foreign = true;
        open.context = context;
        open.holds_html = matches!(
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
        if start.self_closing {
            self.pop();
        }
        true
    }
}
