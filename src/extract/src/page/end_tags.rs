//! What an end tag does to the open elements. Stray end tags change nothing.

use super::Tag;
use super::open::{Context, Open, Phase};
use super::tree::Tree;

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
            while self.current().as_ref().is_some_and(Open::is_drawing) {
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
                Context::Body => break,
                Context::Cell | Context::Caption => match tag {
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
                Context::Table | Context::TableBody | Context::Row => {
                    if tag.is_table_part() || tag == Tag::TABLE {
                        self.close_table_part(tag);
                        return;
                    }
                    break;
                }
                Context::ColumnGroup => {
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
                Context::Template => {
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

    /// Closes elements whose end tag may be left out, but for one tag.
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
