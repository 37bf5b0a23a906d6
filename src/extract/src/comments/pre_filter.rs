//! Whether any group of a page can be comments, decided before groups are made. In: the kinds of elements at which
//! records may begin. Out: false where [`judge`] would turn down whatever groups they make. Never reads a record.
//!
//! The first record of a group begins at an element of a kind: what is joined to a group later stands behind one of its
//! records. Outside forums [`judge::may_speak`] asks of it that it be called a comment, or stand below a heading of
//! comments, or that there be a button of comments in the first records. Where no element of a kind is called so or
//! stands so, and the page has no such button, no group passes.

use super::groups::Kind;
use super::time_cues::trimmed;
use super::{headings, verdict as judge, words};
use crate::page::{NodeId, Page, Tag};

/// True when a group of elements of one kind may be comments. `timed` are the signs of time.
pub(super) fn may_speak(page: &Page, kinds: &[Kind], timed: &[NodeId], marked: &[NodeId]) -> bool {
    let mut begins: Vec<NodeId> = kinds
        .chunk_by(|a, b| a.0 == b.0)
        .filter(|same| same.len() > 1 || may_stand_alone(page, same[0].1, timed, marked))
        .flat_map(|same| same.iter().map(|(_, id)| *id))
        .collect();
    begins.sort_unstable();
    begins.dedup();
    let is_marked = |id: &NodeId| marked.binary_search(id).is_ok();
    // What was looked at once and is not called so need not be looked at again below another element.
    let mut seen = vec![false; page.nodes().len()];
    let mut around = begins
        .iter()
        .flat_map(|id| judge::elements_around(page, *id))
        .filter(|id| !std::mem::replace(&mut seen[*id as usize], true));
    begins.iter().any(is_marked)
        || around.any(|id| judge::is_comment(page, id, marked))
        || has_word(page, &begins)
}

/// A record that nothing repeats must itself be called a comment and tell a time.
fn may_stand_alone(page: &Page, id: NodeId, timed: &[NodeId], marked: &[NodeId]) -> bool {
    marked.binary_search(&id).is_ok() && judge::tells_time(page, &page.subtree(id), timed)
}

/// The page has a button of comments, or one of the elements stands below a heading of comments.
fn has_word(page: &Page, begins: &[NodeId]) -> bool {
    let mut begins = begins.iter().peekable();
    if begins.peek().is_none() {
        return false;
    }
    // Texts that a heading may still stand above.
    let mut below = 0;
    for (at, node) in page.nodes().iter().enumerate() {
        let at = at as NodeId;
        if begins.next_if(|id| **id == at).is_some() && below > 0 {
            return true;
        }
        if node.tag != Tag::TEXT {
            continue;
        }
        let text = trimmed(page.text(at));
        if text.is_empty() {
            continue;
        }
        below -= usize::from(below > 0);
        if words::is_answer_tool(text) {
            return true;
        }
        if headings::is_heading(text) {
            below = judge::HEADING_TEXTS;
        }
    }
    false
}
