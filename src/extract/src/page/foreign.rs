//! SVG and MathML inside a page. In: tags. Out: nodes that keep those names to themselves; HTML that is no part of a
//! drawing ends it.

use super::open::Open;
use super::start_tag::StartTag;
use super::tree::Tree;
use super::{NodeId, Tag};

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
