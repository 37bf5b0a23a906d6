//! Start tags inside tables, where only some elements may stand. In: a tag. Out: whether it is handled,
//! something was closed so that it has to be looked at again, or it counts as content of the body.

use super::open::Context;
use super::tag::Attr;
use super::tree::Tree;
use super::{Span, Tag};

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
    fn start_cell(&mut self, tag: Tag, attributes: Span, context: Context) {
        match context {
            Context::Row => self.clear_to(&[Tag::TR]),
            Context::TableBody => self.clear_to(&SECTIONS),
            _ => self.clear_to(&[Tag::TABLE]),
        }
        if context == Context::Table {
            self.insert(Tag::TBODY, 0, Span::default());
        }
        if context != Context::Row {
            self.insert(Tag::TR, 0, Span::default());
        }
        let node = self.insert(tag, 0, attributes);
        self.bound_formatting(node);
    }

    /// A row, with the section that it needs.
    fn start_row(&mut self, attributes: Span, context: Context) -> Turn {
        if context == Context::Row {
            self.clear_to(&[Tag::TR]);
            self.pop();
            return Turn::Again;
        }
        if context == Context::TableBody {
            self.clear_to(&SECTIONS);
        } else {
            self.clear_to(&[Tag::TABLE]);
            self.insert(Tag::TBODY, 0, Span::default());
        }
        self.insert(Tag::TR, 0, attributes);
        Turn::Done
    }

    /// In a template of rows or cells there is no row or section around them that another part could follow.
    fn may_begin_part(&self, tag: Tag, context: Context) -> bool {
        match (context, tag) {
            (_, Tag::TD | Tag::TH) | (Context::TableBody, Tag::TR) => true,
            (Context::Row, _) => self.table_scope(Tag::TR).is_some(),
            (Context::TableBody, _) => SECTIONS
                .iter()
                .any(|&section| self.table_scope(section).is_some()),
            _ => true,
        }
    }

    /// The first tag in a template says which part of a page it is a template of.
    pub(super) fn start_in_template(&mut self, tag: Tag) -> Turn {
        let context = match tag {
            _ if tag.belongs_in_head() => return Turn::AsBody,
            Tag::CAPTION | Tag::COLGROUP | Tag::TBODY | Tag::TFOOT | Tag::THEAD => Context::Table,
            Tag::COL => Context::ColumnGroup,
            Tag::TR => Context::TableBody,
            Tag::TD | Tag::TH => Context::Row,
            _ => Context::Body,
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
