//! Judges whether comment blocks look like comments under a text or like the posts of a thread, by the URL, the names of the
//! records, and whether a text precedes them; [`crate::body::thread::is_thread`] decides. The first post of a thread is separated if it is a
//! record like its replies.

use std::sync::LazyLock;

use foldhash::{HashSet, HashSetExt as _};

use super::{CommentBlock, FoundComment, FoundComments, words};
use crate::cues;
use crate::page::{NodeId, Page, Tag};

/// Bytes of plain text in long pieces before the first record from which an article is there.
const ARTICLE_BYTES: usize = 180;
/// Levels above a record whose element may hold its answers.
const AROUND: usize = 2;
/// Nodes of a record among which the headline is sought.
const HEADLINE_NODES: usize = 60;
/// Shortest piece that counts as such, in bytes.
const PIECE_BYTES: usize = 45;

/// Puts the blocks of a page in order.
pub(super) fn arrange_threads(page: &Page, blocks: Vec<CommentBlock>) -> FoundComments {
    let url = page.url.as_ref().map(|u| u.as_str()).unwrap_or_default();
    let main = blocks
        .iter()
        .max_by_key(|b| b.comments.iter().map(|c| c.text.len()).sum::<usize>());
    let Some(main) = main else {
        return FoundComments::default();
    };
    let first = main
        .comments
        .iter()
        .map(|c| c.range.start)
        .min()
        .unwrap_or(0);
    let signs = main.signs;
    let forum = is_forum(url) || (signs.posts && may_be_forum(url));
    let posts = signs.posts && main.comments.len() > 1;
    let before = count_plain_bytes(page, first);
    let named = main.comments.first().is_some_and(|c| c.author.is_some());
    let opens = named
        && before < ARTICLE_BYTES
        && (signs.posts || !signs.called)
        && !has_heading_above(page, first);
    let thread = forum || opens || (posts && before < ARTICLE_BYTES);
    let mut comments: Vec<FoundComment> = blocks.into_iter().flat_map(|b| b.comments).collect();
    comments.retain(|c| (opens && c.range.start == first) || !has_headline(page, c));
    comments.sort_by_key(|c| (c.range.start, std::cmp::Reverse(c.range.end)));
    let opening = (opens && comments.len() > 1)
        .then(|| comments.iter().position(|c| c.range.start == first))
        .flatten()
        .map(|at| comments.remove(at));
    let repeated = take_repeated(&mut comments);
    nest_comments(page, &mut comments);
    FoundComments {
        comments,
        repeated,
        opening,
        looks_like_thread: thread,
    }
}

/// The record of the article itself: the page's headline is in it.
fn has_headline(page: &Page, comment: &FoundComment) -> bool {
    let nodes = comment.range.clone().take(HEADLINE_NODES);
    nodes
        .into_iter()
        .any(|id| page.node(id).tag == Tag::H1 && !page.inline_text(id).is_empty())
}

/// Takes out the comments that are printed again: hot comments among all. The first one stays.
fn take_repeated(comments: &mut Vec<FoundComment>) -> Vec<FoundComment> {
    let mut seen = HashSet::new();
    let is_repeated =
        |c: &mut FoundComment| !seen.insert((c.author.clone(), c.time.clone(), c.text.clone()));
    comments.extract_if(.., is_repeated).collect()
}

/// Sets for each comment the one that it answers by its place: the one inside whose record it is, or the first of the
/// element in which it is deeper.
fn nest_comments(page: &Page, comments: &mut [FoundComment]) {
    let mut open: Vec<(usize, NodeId, u16)> = Vec::new();
    for at in 0..comments.len() {
        let range = comments[at].range.clone();
        let depth = page.node(range.start).depth;
        while open
            .last()
            .is_some_and(|top| top.1 <= range.start || top.2 >= depth)
        {
            open.pop();
        }
        comments[at].parent = open.last().map(|top| top.0);
        if comments[at].reply_to.is_none() {
            comments[at].reply_to = open.last().and_then(|top| comments[top.0].author.clone());
        }
        // What is in the element around a record, but deeper, answers it.
        let around = page
            .ancestors(range.start)
            .take(AROUND)
            .map(|id| page.node(id).end);
        open.push((at, around.fold(range.end, NodeId::max), depth));
    }
}

/// Bytes of text outside links in long pieces between the headline (without one: the beginning) and a node.
fn count_plain_bytes(page: &Page, end: NodeId) -> usize {
    let mut sum = 0;
    let headline = (0..end).rev().find(|id| page.node(*id).tag == Tag::H1);
    let mut at = headline.map_or(page.body().unwrap_or(0), |id| page.node(id).end);
    while at < end {
        let node = page.node(at);
        if node.tag == Tag::TEXT {
            let len = page.text(at).trim().len();
            sum += if len >= PIECE_BYTES { len } else { 0 };
        } else if at > 0
            && node.end <= end
            && (node.tag == Tag::A || node.tag.is_heading() || page.is_skipped(at))
        {
            at = node.end;
            continue;
        }
        at += 1;
    }
    sum
}

/// The text right before the records is a heading of comments: `3 条评论`, `Comments`. A link to the latest answer is
/// none.
fn has_heading_above(page: &Page, start: NodeId) -> bool {
    let is_link = |id: NodeId| {
        page.ancestors(id)
            .take(3)
            .any(|a| page.node(a).tag == Tag::A)
    };
    (0..start)
        .rev()
        .filter(|id| page.node(*id).tag == Tag::TEXT && !page.text(*id).trim().is_empty())
        .take(2)
        .any(|id| words::is_heading(page.text(id).trim()) && !is_link(id))
}

/// URLs of forums and of sites of questions and answers.
pub(super) fn is_forum(url: &str) -> bool {
    static PARTS: LazyLock<Vec<String>> = LazyLock::new(|| cues::words("link.forum"));
    PARTS.iter().any(|part| url.contains(part.as_str()))
}

/// The same for words that other sites use too.
fn may_be_forum(url: &str) -> bool {
    static PARTS: LazyLock<Vec<String>> = LazyLock::new(|| cues::words("link.forum.perhaps"));
    PARTS.iter().any(|part| url.contains(part.as_str()))
}
