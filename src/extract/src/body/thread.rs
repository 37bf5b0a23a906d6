//! Comments and posts around the main text: removes comments from the kept lines or, on a page that is a thread, adds every
//! post, and resolves the times of the comments that [`crate::comments`] found.

use std::collections::HashSet;

use crate::comments;
use crate::comments::{FoundComment, FoundComments};
use crate::date::stamp::Clock;
use crate::date::text::find_dates;
use crate::document::Comment;
use crate::lines::hints::Marks;
use crate::lines::outline::Outline;
use crate::page::{NodeId, Page};

/// Share of the chosen text that must be left when comments are taken out of it: with less, they are the text.
const LEFT: f32 = 0.25;

/// Probability of being a thread from which what is said on a page is its text, though it looks like comments.
const TALK: f32 = 0.6;

/// Probability below which a page with few comments is no thread, though the first of them looks like the one that opens it.
const NO_TALK: f32 = 0.2;

/// Fewer comments than this do not outweigh the text: they are parts of it that look like comments. The second number is
/// the share of the chosen text that must be left then.
const FEW: usize = 3;
const MOST_LEFT: f32 = 0.5;

/// Tokens that are a text, however long the comments below it.
const TEXT_TOKENS: u32 = 150;

/// Most tokens of a post that is only the card of who wrote the next.
const CARD_TOKENS: u32 = 8;

/// Share of the posts' text that must be outside what is called comments, for those to be remarks.
const ANSWERS: f32 = 0.1;

/// Longest line of a record that is not the comment's text and goes with it: name, time, buttons.
const BESIDE_TOKENS: u32 = 15;

/// The comments of a page.
pub(crate) fn find(page: &Page, outline: &Outline) -> FoundComments {
    let called = outline
        .marked
        .iter()
        .filter(|m| m.marks.any(Marks::COMMENT));
    let marked: Vec<NodeId> = called.map(|m| m.node).collect();
    comments::find(page, &marked)
}

/// Puts the posts of a thread into the lines of the text, or takes comments out of them. `talk` is how likely the page is a
/// thread by all else. True for a thread.
pub(crate) fn settle_posts(
    page: &Page,
    outline: &Outline,
    found: &FoundComments,
    talk: f32,
    lines: &mut Vec<usize>,
) -> bool {
    if found.comments.is_empty() {
        return false;
    }
    let tokens = |lines: &[usize]| outline.tokens_of(lines);
    let posts = find_post_lines(outline, found);
    let inside: Vec<bool> = find_record_lines(outline, found);
    let mut rest = lines.clone();
    // A record may hold more than the comment; of that only what is too short for a paragraph goes with it.
    rest.retain(|i| {
        posts.binary_search(i).is_err()
            && (!inside[*i] || (!found.thread && outline.lines[*i].all.tokens > BESIDE_TOKENS))
    });
    let left = tokens(&rest) as f32 / tokens(lines).max(1) as f32;
    let much = left >= LEFT || tokens(&rest) >= TEXT_TOKENS;
    let is_few = found.comments.len() < FEW;
    let few = is_few && left < MOST_LEFT;
    if !found.thread || (is_few && talk < NO_TALK) {
        if talk >= TALK {
            lines.extend(posts);
            lines.sort_unstable();
            lines.dedup();
        } else if much && !few {
            *lines = rest;
        }
        return false;
    }
    let (Some(first), Some(last)) = (posts.first().copied(), posts.last().copied()) else {
        return false;
    };
    // Above the posts is the question they answer, below them the foot of the page.
    let opened = found.opening.is_some();
    rest.retain(|i| (*i < first && !opened) || (first..=last).contains(i));
    let mut beside = find_cards(page, outline, found);
    beside.extend(find_remarks(page, outline, found, &posts));
    let is_card = |i: &usize| {
        let line = &outline.lines[*i];
        line.marks.any(Marks::AUTHOR) && line.all.tokens <= BESIDE_TOKENS
    };
    rest.retain(|i| *i < first || !is_card(i));
    rest.extend(posts);
    rest.retain(|i| !beside.contains(i));
    rest.sort_unstable();
    rest.dedup();
    *lines = rest;
    true
}

/// The lines of what readers remark on answers, where these are not called comments and hold much of the thread.
fn find_remarks(
    page: &Page,
    outline: &Outline,
    found: &FoundComments,
    posts: &[usize],
) -> Vec<usize> {
    let called = |post: &&FoundComment| outline.marks_at(post.range.start).any(Marks::COMMENT);
    let depth = |post: &FoundComment| page.node(post.range.start).depth;
    let answers = found.comments.iter().filter(|post| !called(post));
    let Some(level) = answers.map(depth).min() else {
        return Vec::new();
    };
    let opening = found.opening.as_ref().map_or(0, |o| o.range.end);
    let (mut all, mut answered) = (0, 0);
    for line in posts.iter().map(|i| &outline.lines[*i]) {
        let answer = line.first >= opening && !line.marks.any(Marks::COMMENT);
        all += line.all.tokens;
        answered += if answer { line.all.tokens } else { 0 };
    }
    if (answered as f32) < ANSWERS * all as f32 {
        return Vec::new();
    }
    // In page order, those inside others after them: no line is checked twice.
    let mut lines = Vec::new();
    let mut next = 0;
    let called = found.comments.iter().filter(called);
    for post in called.filter(|post| depth(post) > level) {
        let end = outline.line_at(post.range.end);
        lines.extend(outline.line_at(post.range.start).max(next)..end);
        next = next.max(end);
    }
    lines
}

/// The lines of posts that mention who wrote them: cards, signatures. Where all of a post is called so, the name means
/// something else, such as that the one who asked answers.
fn find_cards(page: &Page, outline: &Outline, found: &FoundComments) -> HashSet<usize> {
    let mut out = HashSet::new();
    for post in found.opening.iter().chain(&found.comments) {
        let line_of = |node: &NodeId| outline.line_of(page, *node);
        let mut lines: Vec<usize> = post.nodes.iter().map(line_of).collect();
        lines.dedup();
        let whole = outline.tokens_of(&lines);
        lines.retain(|i| outline.lines[*i].marks.any(Marks::AUTHOR));
        if outline.tokens_of(&lines) < whole || whole <= CARD_TOKENS {
            out.extend(lines);
        }
    }
    out
}

/// For each line whether it lies in the record of a comment.
fn find_record_lines(outline: &Outline, found: &FoundComments) -> Vec<bool> {
    let mut out = vec![false; outline.lines.len()];
    let mut at = 0;
    // Comments are in page order, those inside others after them: the furthest end counts.
    let mut end = 0;
    let mut records = found.opening.iter().chain(&found.comments).peekable();
    while at < outline.lines.len() {
        let line = &outline.lines[at];
        while let Some(record) = records.next_if(|r| r.range.start <= line.first) {
            end = end.max(record.range.end);
        }
        out[at] = line.first < end;
        at += 1;
    }
    out
}

/// The lines of the posts' texts.
fn find_post_lines(outline: &Outline, found: &FoundComments) -> Vec<usize> {
    let posts = found.opening.iter().chain(&found.comments);
    let mut nodes: Vec<NodeId> = posts.flat_map(|p| p.nodes.iter().copied()).collect();
    nodes.sort_unstable();
    let mut next = nodes.iter().copied().peekable();
    let mut out = Vec::new();
    for (at, line) in outline.lines.iter().enumerate() {
        while next.next_if(|n| *n < line.first).is_some() {}
        if next.peek().is_some_and(|n| *n < line.end) {
            out.push(at);
        }
    }
    out
}

/// The comments for the document.
pub(crate) fn resolve_comments(found: FoundComments, clock: &Clock) -> Vec<Comment> {
    let out = found.comments.into_iter().map(|c| Comment {
        author: c.author,
        published: c.time.map(|time| resolve_time(&time, clock)),
        text: c.text,
        reply_to: c.reply_to,
        votes: c.votes,
    });
    out.collect()
}

/// ISO 8601 where the time can be read, else as printed.
fn resolve_time(time: &str, clock: &Clock) -> String {
    match find_dates(time, clock).first() {
        Some(found) => found.stamp.iso(clock),
        None => time.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::Hints;

    #[test]
    fn settle_single_comment() {
        let html = "<div id=a>储气库扩建工程日前通过验收，注气能力比去年提高三成。</div><div id=b>写得好</div>";
        let page = Page::parse(html.as_bytes(), Hints::default());
        let outline = Outline::new(&page, false);
        let post = |line: usize| FoundComment {
            range: outline.lines[line].block..outline.lines[line].end,
            nodes: vec![outline.lines[line].first],
            ..FoundComment::default()
        };
        let found = FoundComments {
            opening: Some(post(0)),
            comments: vec![post(1)],
            thread: true,
        };
        let settled = |talk| {
            let mut lines = vec![0];
            (
                settle_posts(&page, &outline, &found, talk, &mut lines),
                lines,
            )
        };
        assert_eq!(settled(0.02), (false, vec![0]));
        assert_eq!(settled(0.9), (true, vec![0, 1]));
    }
}
