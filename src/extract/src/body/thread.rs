//! Comments and posts around the main text. [`Posts`] are those of a page with their lines; [`settle_posts`] takes comments out
//! of the kept lines or, on a page that is a thread, adds every post. [`is_thread`] is the only place where that is decided.

use foldhash::{HashSet, HashSetExt as _};

use crate::classify::page_type::{PageType, TALK};
use crate::comments;
use crate::comments::{FoundComment, FoundComments};
use crate::date::stamp::Clock;
use crate::date::text::find_dates;
use crate::document::Comment;
use crate::lines::hints::Marks;
use crate::lines::outline::Outline;
use crate::page::{NodeId, Page};
use crate::paragraphs::join_paragraphs;

/// Share of the chosen text that must be left when comments are taken out of it: with less, they are the text.
const LEFT: f32 = 0.25;

/// Probability of being a talk from which a page is a thread: of one whose records look like posts by URL, names and place, and
/// of one whose records look like comments.
const POSTS: f32 = 0.2;
const COMMENTS: f32 = 0.5;
/// Share of the chosen text outside the records from which an article stands there: what looks like comments is comments.
/// On a page that is a talk by its type, a text of fewer tokens is what the posts talk about, if they hold so many times as many.
const ARTICLE: f32 = 0.75;
const ARTICLE_TOKENS: u32 = 300;
const MUCH_TALK: u32 = 3;

/// Fewer comments than this do not outweigh the text: they are parts of it that look like comments. The second number is
/// the share of the chosen text that must be left then.
const FEW: usize = 3;
const MOST_LEFT: f32 = 0.5;

/// Tokens that are a text, however long the comments below it.
pub(super) const TEXT_TOKENS: u32 = 60;

/// Most tokens of a post that is only the card of who wrote the next.
const CARD_TOKENS: u32 = 8;

/// Share of the posts' text that must be outside what is called comments, for those to be remarks.
const ANSWERS: f32 = 0.1;

/// Longest line of a record that is not the comment's text and goes with it: name, time, buttons.
const BESIDE_TOKENS: u32 = 15;

/// The comments and posts of a page, with the lines that they are.
#[derive(Debug, Default)]
pub(crate) struct Posts {
    /// What was found.
    pub found: FoundComments,
    /// The lines of their texts, in order.
    pub lines: Vec<usize>,
    /// The lines of their names and times and of comments that are printed again, in order.
    beside: Vec<usize>,
    /// For each line of the page whether it is in the record of one.
    inside: Vec<bool>,
}

impl Posts {
    /// The comments and posts of a page.
    pub(crate) fn find(page: &Page, outline: &Outline) -> Self {
        let called = outline
            .marked
            .iter()
            .filter(|m| m.marks.any(Marks::COMMENT));
        let marked: Vec<NodeId> = called.map(|m| m.node).collect();
        Self::new(outline, comments::find(page, &marked))
    }

    fn new(outline: &Outline, found: FoundComments) -> Self {
        if found.comments.is_empty() {
            return Self::default();
        }
        let posts = || found.opening.iter().chain(&found.comments);
        let heads = posts().chain(&found.repeated).flat_map(|p| &p.heads);
        let again = found.repeated.iter().flat_map(|post| &post.nodes);
        Self {
            lines: find_lines(outline, posts().flat_map(|post| &post.nodes)),
            beside: find_lines(outline, heads.chain(again)),
            inside: find_record_lines(outline, &found),
            found,
        }
    }

    /// The comments for the document. Those of a thread begin with the post that opens it: a record like its replies, or else
    /// what stands above them in the text, whose lines are `body`.
    pub(crate) fn into_comments(
        mut self,
        page: &Page,
        outline: &Outline,
        thread_body: Option<&[usize]>,
        clock: &Clock,
    ) -> Vec<Comment> {
        let opening = thread_body.and_then(|body| {
            let record = self.found.opening.take();
            let record = record.map(|post| resolve_comment(post, clock));
            record.or_else(|| self.find_question(page, outline, body))
        });
        let opening = opening.map(|post| Comment {
            opening: true,
            ..post
        });
        let replies = self.found.comments.into_iter();
        let replies = replies.map(|post| resolve_comment(post, clock));
        opening.into_iter().chain(replies).collect()
    }

    /// What stands in the text above all posts.
    fn find_question(&self, page: &Page, outline: &Outline, body: &[usize]) -> Option<Comment> {
        let first = self.lines.first()?;
        let above: Vec<usize> = body.iter().copied().take_while(|at| at < first).collect();
        let text = join_paragraphs(page, outline, &above).text;
        (!text.is_empty()).then(|| Comment {
            text,
            ..Comment::default()
        })
    }
}

/// Whether the posts of a page of this type are its text, as far as they and the lines chosen without them say.
pub(crate) fn is_thread(
    outline: &Outline,
    posts: &Posts,
    types: &PageType,
    chosen: &[usize],
) -> bool {
    if posts.lines.is_empty() {
        return false;
    }
    if posts.found.looks_like_thread {
        return types.0[TALK] >= POSTS;
    }
    let outside: Vec<usize> = chosen
        .iter()
        .copied()
        .filter(|i| !posts.inside[*i])
        .collect();
    let tokens = outline.tokens_of(&outside);
    let share = tokens as f32 / outline.tokens_of(chosen).max(1) as f32;
    let is_talked_of =
        tokens < ARTICLE_TOKENS && outline.tokens_of(&posts.lines) > MUCH_TALK * tokens;
    types.0[TALK] >= COMMENTS && (share < ARTICLE || is_talked_of)
}

/// The lines of the text without those of comments.
fn drop_comments(outline: &Outline, posts: &Posts, lines: &[usize]) -> Vec<usize> {
    let mut rest = lines.to_vec();
    // A record may hold more than the comment; of that only name, time and what is too short for a paragraph go too.
    rest.retain(|i| {
        posts.lines.binary_search(i).is_err()
            && posts.beside.binary_search(i).is_err()
            && (!posts.inside[*i] || outline.lines[*i].all.tokens > BESIDE_TOKENS)
    });
    rest
}

/// Where the lines chosen are only comments on a page that is no thread: for each line of the page whether it may be
/// chosen when the comments may not. `None` where enough else is chosen.
pub(crate) fn prefer_article(
    outline: &Outline,
    posts: &Posts,
    types: &PageType,
    chosen: &[usize],
) -> Option<Vec<bool>> {
    let is_few = posts.found.comments.len() < FEW;
    if posts.lines.is_empty() || is_few || is_thread(outline, posts, types, chosen) {
        return None;
    }
    let rest = drop_comments(outline, posts, chosen);
    if outline.tokens_of(&rest) >= TEXT_TOKENS {
        return None;
    }
    let all: Vec<usize> = (0..outline.lines.len()).collect();
    let mut open = vec![false; all.len()];
    for line in drop_comments(outline, posts, &all) {
        open[line] = true;
    }
    Some(open)
}

/// Takes comments out of the lines of the text, where enough of it is left.
pub(crate) fn leave_out_comments(outline: &Outline, posts: &Posts, lines: &mut Vec<usize>) {
    if posts.lines.is_empty() {
        return;
    }
    let rest = drop_comments(outline, posts, lines);
    let tokens = outline.tokens_of(&rest);
    let left = tokens as f32 / outline.tokens_of(lines).max(1) as f32;
    let is_few = posts.found.comments.len() < FEW && left < MOST_LEFT;
    if (left >= LEFT || tokens >= TEXT_TOKENS) && !is_few {
        *lines = rest;
    }
}

/// Puts the posts of a thread into the lines of its text.
pub(crate) fn add_posts(page: &Page, outline: &Outline, posts: &Posts, lines: &mut Vec<usize>) {
    let found = &posts.found;
    let (Some(first), Some(last)) = (posts.lines.first().copied(), posts.lines.last().copied())
    else {
        return;
    };
    let mut rest = lines.clone();
    rest.retain(|i| !posts.inside[*i]);
    // Above the posts is the question they answer, below them the foot of the page.
    let opened = found.opening.is_some();
    rest.retain(|i| (*i < first && !opened) || (first..=last).contains(i));
    let mut beside = find_cards(page, outline, found);
    beside.extend(find_remarks(page, outline, found, &posts.lines));
    let is_card = |i: &usize| {
        let line = &outline.lines[*i];
        line.marks.any(Marks::AUTHOR) && line.all.tokens <= BESIDE_TOKENS
    };
    rest.retain(|i| *i < first || !is_card(i));
    rest.extend(&posts.lines);
    rest.retain(|i| !beside.contains(i));
    rest.sort_unstable();
    rest.dedup();
    *lines = rest;
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

/// The lines that some nodes are in.
fn find_lines<'n>(outline: &Outline, nodes: impl Iterator<Item = &'n NodeId>) -> Vec<usize> {
    let mut nodes: Vec<NodeId> = nodes.copied().collect();
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

fn resolve_comment(found: FoundComment, clock: &Clock) -> Comment {
    Comment {
        author: found.author,
        published: found.time.map(|time| resolve_time(&time, clock)),
        text: found.text,
        reply_to: found.reply_to,
        votes: found.votes,
        opening: false,
    }
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
    use crate::classify::learned::TYPES;
    use crate::page::Hints;

    const STORY: &str = "<p id=a>储气库扩建工程日前通过验收，注气能力比去年提高三成。</p>";

    /// A page whose first line is a text and whose others are records.
    struct Example {
        page: Page,
        outline: Outline,
        posts: Posts,
    }

    impl Example {
        fn new(html: &str, has_opening: bool, looks_like_thread: bool) -> Self {
            let page = Page::parse(html.as_bytes(), Hints::default());
            let outline = Outline::new(&page, false);
            let post = |line: usize| FoundComment {
                range: outline.lines[line].block..outline.lines[line].end,
                nodes: vec![outline.lines[line].first],
                text: outline.text(&page, &outline.lines[line]).to_owned(),
                ..FoundComment::default()
            };
            let found = FoundComments {
                opening: has_opening.then(|| post(0)),
                comments: (1..outline.lines.len()).map(post).collect(),
                looks_like_thread,
                ..FoundComments::default()
            };
            let posts = Posts::new(&outline, found);
            Self {
                page,
                outline,
                posts,
            }
        }

        fn is_thread(&self, talk: f32, chosen: &[usize]) -> bool {
            let mut types = PageType([0.0; TYPES]);
            types.0[TALK] = talk;
            is_thread(&self.outline, &self.posts, &types, chosen)
        }

        fn comments(self, thread_body: Option<&[usize]>) -> Vec<(String, bool)> {
            let clock = Clock {
                now_ms: None,
                offset_min: None,
                month_first: false,
                republic: false,
            };
            let all = self
                .posts
                .into_comments(&self.page, &self.outline, thread_body, &clock);
            all.into_iter().map(|c| (c.text, c.opening)).collect()
        }
    }

    #[test]
    fn thread_by_type_and_chosen_text() {
        let html = format!("{STORY}<div>写得好</div><div>同意楼上</div>");
        for (looks_like_thread, talk, chosen, expected, case) in [
            (true, 0.02, &[0, 1, 2][..], false, "posts under an article"),
            (true, 0.3, &[0], true, "posts on a page that may be talk"),
            (
                false,
                0.3,
                &[0, 1, 2],
                false,
                "comments on a page that may be talk",
            ),
            (false, 0.9, &[1, 2], true, "comments that are the text"),
            (
                false,
                0.99,
                &[0],
                false,
                "a few comments under a short text",
            ),
        ] {
            let example = Example::new(&html, false, looks_like_thread);
            assert_eq!(example.is_thread(talk, chosen), expected, "{case}");
        }
        let comments = "<div>希望多一些这样的报道，让大家了解情况。</div>".repeat(40);
        for (text, expected, case) in [
            (STORY.to_owned(), true, "what a talk is about"),
            (
                STORY.replace("，", &"，注气能力提高三成".repeat(40)),
                false,
                "an article with comments",
            ),
        ] {
            let example = Example::new(&format!("{text}{comments}"), false, false);
            assert_eq!(example.is_thread(0.99, &[0]), expected, "{case}");
        }
        let without = Example::new(STORY, false, true);
        assert!(!without.is_thread(1.0, &[0]), "no posts");
    }

    #[test]
    fn add_posts_whole_thread() {
        let html = format!("{STORY}<div>写得好</div><div>同意楼上</div>");
        let example = Example::new(&html, true, true);
        let mut lines = vec![0];
        add_posts(&example.page, &example.outline, &example.posts, &mut lines);
        assert_eq!(lines, [0, 1, 2]);
    }

    #[test]
    fn leave_out_comments_by_rest() {
        let comments = "<div>写得好，希望多一些这样的报道，让大家了解情况。</div>".repeat(20);
        for (paragraphs, expected, case) in [
            (1, 21, "too little is left: the comments are the text"),
            (3, 3, "a short text is left"),
        ] {
            let html = STORY.repeat(paragraphs) + &comments;
            let mut example = Example::new(&html, false, false);
            let first = example.outline.lines[paragraphs].first;
            let mut found = std::mem::take(&mut example.posts.found);
            found.comments.retain(|c| c.nodes[0] >= first);
            let posts = Posts::new(&example.outline, found);
            let mut lines: Vec<usize> = (0..example.outline.lines.len()).collect();
            leave_out_comments(&example.outline, &posts, &mut lines);
            assert_eq!(lines.len(), expected, "{case}");
        }
    }

    /// An article of three paragraphs with four comments below it, each with a long line of title, time and name.
    fn story_with_comments() -> Example {
        let head = "<h4># re: 储气库扩建工程日前通过验收 2024-05-07 10:00 张三</h4>";
        let html = STORY.repeat(3) + &format!("{head}<div>写得好，希望多一些。</div>").repeat(4);
        let mut example = Example::new(&html, false, false);
        let lines = &example.outline.lines;
        let comment = |at: usize| FoundComment {
            range: lines[at].block..lines[at + 1].end,
            nodes: vec![lines[at + 1].first],
            heads: vec![lines[at].first],
            ..FoundComment::default()
        };
        let found = FoundComments {
            comments: (3..11).step_by(2).map(comment).collect(),
            ..FoundComments::default()
        };
        example.posts = Posts::new(&example.outline, found);
        example
    }

    #[test]
    fn leave_out_comments_long_heads() {
        let example = story_with_comments();
        let mut lines: Vec<usize> = (0..11).collect();
        leave_out_comments(&example.outline, &example.posts, &mut lines);
        assert_eq!(lines, [0, 1, 2]);
    }

    #[test]
    fn leave_out_comments_printed_again() {
        let mut example = story_with_comments();
        let mut found = std::mem::take(&mut example.posts.found);
        found.repeated = found.comments.split_off(3);
        let posts = Posts::new(&example.outline, found);
        let mut lines: Vec<usize> = (0..11).collect();
        leave_out_comments(&example.outline, &posts, &mut lines);
        assert_eq!(lines, [0, 1, 2]);
    }

    #[test]
    fn prefer_article_over_comments() {
        let example = story_with_comments();
        let comments: Vec<usize> = (3..11).collect();
        let all: Vec<usize> = (0..11).collect();
        let article = Some((0..11).map(|line| line < 3).collect());
        for (talk, chosen, expected, case) in [
            (0.1, &comments, article, "comments won over the article"),
            (0.1, &all, None, "the article is chosen too"),
            (0.9, &comments, None, "a thread"),
        ] {
            let mut types = PageType([0.0; TYPES]);
            types.0[TALK] = talk;
            let open = prefer_article(&example.outline, &example.posts, &types, chosen);
            assert_eq!(open, expected, "{case}");
        }
    }

    #[test]
    fn comments_begin_with_opening_of_thread() {
        let html = format!("{STORY}<div>写得好</div>");
        let story = "储气库扩建工程日前通过验收，注气能力比去年提高三成。".to_owned();
        let reply = ("写得好".to_owned(), false);
        for (has_opening, thread_body, expected, case) in [
            (
                true,
                Some(&[0, 1][..]),
                vec![(story.clone(), true), reply.clone()],
                "a record",
            ),
            (
                false,
                Some(&[0, 1]),
                vec![(story, true), reply.clone()],
                "what stands above",
            ),
            (false, Some(&[1]), vec![reply.clone()], "nothing above"),
            (false, None, vec![reply], "comments below an article"),
        ] {
            let comments = Example::new(&html, has_opening, true).comments(thread_body);
            assert_eq!(comments, expected, "{case}");
        }
    }
}
