//! Finds readers' comments and the posts of a thread. [`FoundComments`] holds each comment with author, time as printed, text,
//! parent and votes. Never fails; a page without signs of comments costs one pass over its short texts.
//!
//! Records are proposed by the names of elements around signs of time; records without one are joined if their leaf paths
//! are like those of their neighbours (POL: Zhu et al. 2013, in [`crate::similarity::pol`]). Other repeated structures
//! (menus, recommendation grids, lists of categories) are excluded by who speaks, when, how differently, and by their share
//! of links.

pub mod answer;
mod author;
mod endpoints;
mod fields;
mod groups;
mod proposal;
mod record;
#[cfg(test)]
mod tests;
mod thread;
pub(crate) mod time_cues;
pub(crate) mod verdict;
mod words;

use std::collections::BTreeMap;
use std::ops::Range;
use time_cues as signs;
use verdict as judge;

pub use endpoints::{find_endpoints, find_json_endpoints};

use crate::page::{NodeId, Page};
use fields::RecordFields;
use groups::Group;
use record::{ElementNames, Record};

/// Longest text of one comment, in characters; the rest is cut off.
const MAX_CHARS: usize = 20_000;

/// One comment or post.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FoundComment {
    /// The nodes of its record, those of its answers included when they are inside.
    pub range: Range<NodeId>,
    /// The text nodes of its text.
    pub nodes: Vec<NodeId>,
    /// The text nodes of name and time.
    pub heads: Vec<NodeId>,
    /// Who wrote it, as printed.
    pub author: Option<String>,
    /// When: the machine's form where the page has one, else as printed.
    pub time: Option<String>,
    /// What it says, one paragraph a line.
    pub text: String,
    /// Whom it answers, where it names one.
    pub reply_to: Option<String>,
    /// Votes for it.
    pub votes: Option<i64>,
    /// Index of the comment inside whose record it is.
    pub parent: Option<usize>,
}

/// The comments of a page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FoundComments {
    /// In page order, without the first post of a thread.
    pub comments: Vec<FoundComment>,
    /// Those of them that the page prints again: hot comments among all, answers in a hidden copy.
    pub repeated: Vec<FoundComment>,
    /// First post of a thread, when it is a record like those that answer it.
    pub opening: Option<FoundComment>,
    /// By URL, names and place they look like the posts of a thread.
    pub looks_like_thread: bool,
}

/// The comments of a page. `marked` are the elements whose names speak of comments, in document order; extraction
/// knows them already.
pub fn find(page: &Page, marked: &[NodeId]) -> FoundComments {
    let signs = signs::find_time_signs(page);
    if signs.len() < 2 && (marked.is_empty() || signs.is_empty()) && marked.len() < 2 {
        return FoundComments::default();
    }
    let url = page.url.as_ref();
    let forum = url.is_some_and(|url| thread::is_forum(url.as_str()));
    let kinds = groups::group_by_key(page, &signs, marked);
    let timed: Vec<NodeId> = signs.iter().map(|s| s.node).collect();
    let mut names = ElementNames::new(page);
    let mut groups = groups::find_groups(page, &mut names, &kinds, &signs, marked);
    groups
        .iter_mut()
        .filter(|g| g.records.len() > 1)
        .for_each(|g| groups::join(page, g));
    let mut blocks = find_accepted(page, &mut names, &groups, &timed, marked, forum, false);
    if blocks.is_empty() {
        blocks = find_accepted(page, &mut names, &groups, &timed, marked, forum, true);
    }
    thread::arrange_threads(page, blocks)
}

/// A group that is a comment block.
struct CommentBlock {
    comments: Vec<FoundComment>,
    signs: judge::CommentSigns,
}

/// Reads the groups, innermost first, and keeps those that are comments; with `unnamed`, also those that only their voices
/// identify.
fn find_accepted(
    page: &Page,
    names: &mut ElementNames,
    groups: &[Group],
    timed: &[NodeId],
    marked: &[NodeId],
    forum: bool,
    unnamed: bool,
) -> Vec<CommentBlock> {
    let mut out = Vec::new();
    let mut holes: BTreeMap<NodeId, NodeId> = BTreeMap::new();
    for group in groups.iter().rev() {
        if !judge::may_speak(page, &group.records, timed, marked, forum, unnamed) {
            continue;
        }
        let mut around = holes.clone();
        around.extend(group.records.iter().map(|r| (r.start, r.end)));
        let read = |range: &Range<NodeId>| Record::read(page, names, range.clone(), &around);
        let records: Vec<Record> = group.records.iter().map(read).collect();
        let mut fields = fields::read_fields(page, &records, timed);
        judge::drop_unlike(&mut fields);
        let forum = forum && !group.nested;
        let Some(signs) = judge::judge_group(page, &records, &mut fields, marked, [forum, unnamed])
        else {
            continue;
        };
        holes = around;
        let comments = records.into_iter().zip(fields);
        let comments = comments.filter(|(_, fields)| !fields.text.is_empty());
        out.push(CommentBlock {
            comments: comments
                .map(|(record, fields)| make_comment(page, record, fields))
                .collect(),
            signs,
        });
    }
    out
}

fn make_comment(page: &Page, record: Record, fields: RecordFields) -> FoundComment {
    let text = match fields.text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => fields.text.get(..end).unwrap_or_default().to_owned(),
        None => fields.text,
    };
    FoundComment {
        range: record.range,
        nodes: fields.nodes,
        heads: fields.heads,
        author: fields.author,
        time: fields.time.and_then(|sign| signs::print_time(page, sign)),
        text,
        reply_to: fields.reply_to,
        votes: fields.votes,
        parent: None,
    }
}
