//! What a tag does to the open elements: implied end tags, implied html, head and body, tables, forms, and foreign content
//! (SVG and MathML) up to the HTML that ends it. Stray end tags change nothing.

use super::open::{InsertionContext, OpenElement, Phase};
use super::tag::Attr;
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
        if self.current().as_ref().is_some_and(OpenElement::is_drawing) && self.foreign_start(start)
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
                InsertionContext::Body => break,
                InsertionContext::Cell | InsertionContext::Caption => self.start_in_cell(tag),
                InsertionContext::Table | InsertionContext::TableBody | InsertionContext::Row => {
                    self.start_in_table(tag, attributes)
                }
                InsertionContext::ColumnGroup => self.start_in_column_group(tag, attributes),
                InsertionContext::Template => self.start_in_template(tag),
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
            _ if tag.is_table_part() => {
                // Outside of a table it is none; what it leads to stays, in an element that shows nothing.
                let mut names = [Attr::DataHref, Attr::DataUrl, Attr::OnClick].into_iter();
                if names.any(|name| self.kept_value(attributes, name).is_some()) {
                    self.insert_void(Tag::SLOT, attributes);
                }
                return;
            }
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
        if !tag.closes_p() && !is_plain_insert(tag) {
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
fn is_plain_insert(tag: Tag) -> bool {
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

    /// In SVG or MathML: true when the tag is handled, false when it ends that content or is in a part of it
    /// that holds HTML.
    pub(super) fn foreign_start(&mut self, start: StartTag) -> bool {
        let tag = start.tag;
        if tag.breaks_out() || start.colored {
            while self.current().as_ref().is_some_and(OpenElement::is_drawing) {
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

impl Tree {
    /// An end tag.
    pub(super) fn end_tag(&mut self, name: &[u8]) {
        if self.is_full() {
            return;
        }
        let tag = Tag::from_name(name);
        self.text.skip_newline = false;
        if tag.is_block() {
            self.break_line();
        } else {
            self.settle_space();
        }
        if self.phase < Phase::Body && !self.is_open(Tag::TEMPLATE) {
            if self.end_before_body(tag) {
                return;
            }
            self.open_body(super::Span::default());
        }
        if self.leave_overflow() {
            return;
        }
        if self.phase == Phase::Frameset {
            if self.current_tag() == tag && self.stack.len() > 1 {
                self.pop();
            }
            return;
        }
        if self.current().is_some_and(|open| open.foreign) && self.end_foreign(tag) {
            return;
        }
        self.end_in_context(tag, super::tree::name_hash(tag, name));
    }

    /// False when the tag is one that begins the body, oddly enough.
    fn end_before_body(&mut self, tag: Tag) -> bool {
        if self.current_tag() == tag && tag != Tag::HTML && tag != Tag::HEAD {
            self.pop();
        } else if tag == Tag::HEAD && self.phase == Phase::Head {
            self.end_head();
        } else {
            return !matches!(tag, Tag::BODY | Tag::HTML | Tag::BR);
        }
        true
    }

    fn end_foreign(&mut self, tag: Tag) -> bool {
        if matches!(tag, Tag::P | Tag::BR) {
            while self.current().as_ref().is_some_and(OpenElement::is_drawing) {
                self.pop();
            }
            return false;
        }
        for at in (0..self.stack.len()).rev() {
            let open = self.stack[at];
            if !open.foreign {
                return false;
            }
            if open.tag == tag {
                self.pop_to(at);
                return true;
            }
        }
        false
    }

    fn end_in_context(&mut self, tag: Tag, hash: u32) {
        // Each turn either handles the tag or closes at least one element.
        loop {
            match self.context() {
                InsertionContext::Body => break,
                InsertionContext::Cell | InsertionContext::Caption => match tag {
                    Tag::TD | Tag::TH | Tag::CAPTION => {
                        self.close_cell(tag);
                        return;
                    }
                    Tag::TABLE | Tag::TBODY | Tag::THEAD | Tag::TFOOT | Tag::TR => {
                        if self.table_scope(tag).is_none() {
                            return;
                        }
                        match self.innermost_cell() {
                            Some(at) => {
                                self.pop_to(at);
                                self.formatting.clear_to_marker();
                            }
                            None => return,
                        }
                    }
                    Tag::COL | Tag::COLGROUP => return,
                    _ => break,
                },
                InsertionContext::Table | InsertionContext::TableBody | InsertionContext::Row => {
                    if tag.is_table_part() || tag == Tag::TABLE {
                        self.close_table_part(tag);
                        return;
                    }
                    break;
                }
                InsertionContext::ColumnGroup => {
                    if tag == Tag::TEMPLATE {
                        break;
                    }
                    if tag == Tag::COL || self.current_tag() != Tag::COLGROUP {
                        return;
                    }
                    self.pop();
                    if tag == Tag::COLGROUP {
                        return;
                    }
                }
                InsertionContext::Template => {
                    if tag != Tag::TEMPLATE && self.current_tag() == Tag::TEMPLATE {
                        return;
                    }
                    break;
                }
            }
        }
        self.end_in_body(tag, hash);
    }

    pub(super) fn innermost_cell(&self) -> Option<usize> {
        self.stack
            .iter()
            .rposition(|open| !open.foreign && open.tag.is_cell())
    }

    fn close_cell(&mut self, tag: Tag) {
        if let Some(at) = self.table_scope(tag) {
            self.pop_to(at);
            self.formatting.clear_to_marker();
        }
    }

    fn close_table_part(&mut self, tag: Tag) {
        if matches!(
            tag,
            Tag::TD | Tag::TH | Tag::CAPTION | Tag::COL | Tag::COLGROUP
        ) {
            return;
        }
        if let Some(at) = self.table_scope(tag) {
            self.pop_to(at);
        }
    }

    /// Stack index of an element in table scope.
    pub(super) fn table_scope(&self, tag: Tag) -> Option<usize> {
        if !self.is_open(tag) {
            return None;
        }
        for at in (0..self.stack.len()).rev() {
            let open = self.stack[at];
            if open.is_html(tag) {
                return Some(at);
            }
            if !open.foreign && matches!(open.tag, Tag::TABLE | Tag::HTML | Tag::TEMPLATE) {
                return None;
            }
        }
        None
    }

    /// Stack index of the innermost element that is wanted and in scope; `extra` bounds the scope further.
    pub(super) fn scope_position(
        &self,
        wanted: impl Fn(Tag) -> bool,
        extra: impl Fn(Tag) -> bool,
    ) -> Option<usize> {
        for at in (0..self.stack.len()).rev() {
            let open = self.stack[at];
            if wanted(open.tag) && !open.foreign {
                return Some(at);
            }
            if open.is_scope() || (extra(open.tag) && !open.foreign) {
                return None;
            }
        }
        None
    }

    /// Closes elements whose end tag may be skipped, but for one tag.
    pub(super) fn imply_ends(&mut self, keep: Option<Tag>) {
        while let Some(open) = self.current() {
            if !open.tag.has_implied_end() || keep == Some(open.tag) {
                return;
            }
            self.pop();
        }
    }

    /// Stack index of the innermost element of this tag that is in scope; `bounds` are more bounds of the scope.
    pub(super) fn in_scope(&self, tag: Tag, bounds: &[Tag]) -> Option<usize> {
        if !self.is_open(tag) {
            return None;
        }
        self.scope_position(|open| open == tag, |open| bounds.contains(&open))
    }

    /// Closes an open paragraph; false if there is none.
    pub(super) fn close_p(&mut self) -> bool {
        self.end_scoped(Tag::P, &[Tag::BUTTON])
    }

    fn end_in_body(&mut self, tag: Tag, hash: u32) {
        match tag {
            Tag::BODY | Tag::HTML | Tag::HEAD => {}
            Tag::P => {
                if !self.close_p() {
                    // A stray end is an empty paragraph: it parts lines.
                    self.text.fostering = self.context().is_table();
                    self.insert_void(Tag::P, super::Span::default());
                    self.text.fostering = false;
                }
            }
            Tag::BR => {
                self.break_line();
                self.reopen_formatting();
                self.insert_void(Tag::BR, super::Span::default());
            }
            Tag::FORM => self.end_form(),
            Tag::LI => {
                self.end_scoped(tag, &[Tag::OL, Tag::UL]);
            }
            Tag::TEMPLATE => self.end_template(),
            Tag::APPLET | Tag::MARQUEE | Tag::OBJECT => {
                if self.end_scoped(tag, &[]) {
                    self.formatting.clear_to_marker();
                }
            }
            _ if tag.is_heading() => {
                if let Some(at) = self.scope_position(Tag::is_heading, |_| false) {
                    self.pop_to(at);
                }
            }
            _ if tag.is_formatting() => self.end_formatting(tag),
            _ if tag.closes_scope() || matches!(tag, Tag::DT | Tag::DD) => {
                self.end_scoped(tag, &[]);
            }
            _ => self.end_ordinary(tag, hash),
        }
    }

    /// Closes an element of this tag that is in scope; false if there is none.
    pub(super) fn end_scoped(&mut self, tag: Tag, bounds: &[Tag]) -> bool {
        let at = self.in_scope(tag, bounds);
        if let Some(at) = at {
            self.pop_to(at);
        }
        at.is_some()
    }

    fn end_form(&mut self) {
        let Some(form) = self.form.take() else {
            return;
        };
        if self.in_scope(Tag::FORM, &[]).is_none() {
            return;
        }
        self.imply_ends(None);
        if let Some(at) = self.stack.iter().rposition(|open| open.node == form) {
            self.remove_open(at);
        }
    }

    fn end_template(&mut self) {
        if let Some(at) = self
            .stack
            .iter()
            .rposition(|open| open.tag == Tag::TEMPLATE)
        {
            self.pop_to(at);
            self.formatting.clear_to_marker();
        }
    }

    /// End tag of an element without rules of its own: closes the nearest, unless a special element lies between.
    pub(super) fn end_ordinary(&mut self, tag: Tag, hash: u32) {
        if !self.is_open(tag) {
            return;
        }
        for at in (0..self.stack.len()).rev() {
            let open = self.stack[at];
            if open.tag == tag && open.name_hash == hash {
                self.pop_to(at);
                return;
            }
            if open.is_special() {
                return;
            }
        }
    }
}

/// Parts of a table that hold rows.
const SECTIONS: [Tag; 3] = [Tag::TBODY, Tag::THEAD, Tag::TFOOT];

/// What a table's rules made of a tag.
pub(super) enum Turn {
    /// Handled.
    Done,
    /// Something was closed: look again.
    Again,
    /// To be handled as in the body.
    AsBody,
}

impl Tree {
    pub(super) fn start_in_cell(&mut self, tag: Tag) -> Turn {
        if !tag.is_table_part() {
            return Turn::AsBody;
        }
        match self.innermost_cell() {
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

    pub(super) fn start_in_table(&mut self, tag: Tag, attributes: Span) -> Turn {
        let context = self.context();
        if tag.is_table_part() && !self.may_begin_part(tag, context) {
            return Turn::Done;
        }
        match tag {
            Tag::TD | Tag::TH => {
                self.start_cell(tag, attributes, context);
                Turn::Done
            }
            Tag::TR => self.start_row(attributes, context),
            Tag::TBODY | Tag::THEAD | Tag::TFOOT | Tag::CAPTION | Tag::COLGROUP | Tag::COL => {
                self.clear_to(&[Tag::TABLE]);
                if tag == Tag::COL {
                    self.insert(Tag::COLGROUP, 0, Span::default());
                    return Turn::Again;
                }
                let node = self.insert(tag, 0, attributes);
                if tag == Tag::CAPTION {
                    self.bound_formatting(node);
                }
                Turn::Done
            }
            Tag::TABLE => self.start_table_in_table(),
            Tag::STYLE | Tag::SCRIPT | Tag::TEMPLATE => {
                self.insert_head_element(tag, attributes);
                Turn::Done
            }
            Tag::INPUT if self.is_hidden_input(attributes) => {
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

    /// A cell, with the section and row that it needs.
    fn start_cell(&mut self, tag: Tag, attributes: Span, context: InsertionContext) {
        match context {
            InsertionContext::Row => self.clear_to(&[Tag::TR]),
            InsertionContext::TableBody => self.clear_to(&SECTIONS),
            _ => self.clear_to(&[Tag::TABLE]),
        }
        if context == InsertionContext::Table {
            self.insert(Tag::TBODY, 0, Span::default());
        }
        if context != InsertionContext::Row {
            self.insert(Tag::TR, 0, Span::default());
        }
        let node = self.insert(tag, 0, attributes);
        self.bound_formatting(node);
    }

    /// A row, with the section that it needs.
    fn start_row(&mut self, attributes: Span, context: InsertionContext) -> Turn {
        if context == InsertionContext::Row {
            self.clear_to(&[Tag::TR]);
            self.pop();
            return Turn::Again;
        }
        if context == InsertionContext::TableBody {
            self.clear_to(&SECTIONS);
        } else {
            self.clear_to(&[Tag::TABLE]);
            self.insert(Tag::TBODY, 0, Span::default());
        }
        self.insert(Tag::TR, 0, attributes);
        Turn::Done
    }

    /// In a template of rows or cells there is no row or section around them that another part could follow.
    fn may_begin_part(&self, tag: Tag, context: InsertionContext) -> bool {
        match (context, tag) {
            (_, Tag::TD | Tag::TH) | (InsertionContext::TableBody, Tag::TR) => true,
            (InsertionContext::Row, _) => self.table_scope(Tag::TR).is_some(),
            (InsertionContext::TableBody, _) => SECTIONS
                .iter()
                .any(|&section| self.table_scope(section).is_some()),
            _ => true,
        }
    }

    /// The first tag in a template says which part of a page it is a template of.
    pub(super) fn start_in_template(&mut self, tag: Tag) -> Turn {
        let context = match tag {
            _ if tag.belongs_in_head() => return Turn::AsBody,
            Tag::CAPTION | Tag::COLGROUP | Tag::TBODY | Tag::TFOOT | Tag::THEAD => {
                InsertionContext::Table
            }
            Tag::COL => InsertionContext::ColumnGroup,
            Tag::TR => InsertionContext::TableBody,
            Tag::TD | Tag::TH => InsertionContext::Row,
            _ => InsertionContext::Body,
        };
        if let Some(template) = self.stack.last_mut() {
            template.context = context;
        }
        Turn::Again
    }

    fn start_table_in_table(&mut self) -> Turn {
        match self.table_scope(Tag::TABLE) {
            Some(at) => {
                self.pop_to(at);
                Turn::Again
            }
            None => Turn::Done,
        }
    }

    pub(super) fn start_in_column_group(&mut self, tag: Tag, attributes: Span) -> Turn {
        if tag == Tag::COL {
            self.insert_void(tag, attributes);
            return Turn::Done;
        }
        if tag == Tag::TEMPLATE {
            self.insert_head_element(tag, attributes);
            return Turn::Done;
        }
        if self.current_tag() != Tag::COLGROUP {
            return Turn::Done;
        }
        self.pop();
        Turn::Again
    }

    fn is_hidden_input(&self, attributes: Span) -> bool {
        self.kept_value(attributes, Attr::Type)
            .is_some_and(|value| value.eq_ignore_ascii_case(b"hidden"))
    }
}
