//! Posts of a thread, whose words are both in its text and in its comments. In: the paragraphs of a text and the comments
//! below it. Out: which paragraph is which comment's, so that a page shows it once. Compares line by line; never changes
//! a document.

use std::collections::HashMap;

use taojin_extract::Comment;

/// Share of a comment's characters that must stand in the text for the comment to be a post of it. The rest is the card of
/// its writer or a signature.
const SHARE_IN_TEXT: f32 = 0.5;

/// For each paragraph the comment that it belongs to. Posts and paragraphs are both in the order of the page.
pub(crate) fn owners(paragraphs: &[&str], comments: &[Comment]) -> Vec<Option<usize>> {
    let mut posts: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, comment) in comments.iter().enumerate() {
        for line in lines(&comment.text) {
            let known = posts.entry(line).or_default();
            if known.last() != Some(&at) {
                known.push(at);
            }
        }
    }
    let mut current = 0;
    let mut owners: Vec<Option<usize>> = Vec::with_capacity(paragraphs.len());
    for paragraph in paragraphs {
        let with_it = posts.get(paragraph).map(Vec::as_slice).unwrap_or_default();
        let next = with_it.partition_point(|post| *post < current);
        let owner = with_it.get(next).copied();
        current = owner.unwrap_or(current);
        owners.push(owner);
    }
    let mut in_text = vec![0; comments.len()];
    for (paragraph, owner) in paragraphs.iter().zip(&owners) {
        if let Some(chars) = owner.and_then(|post| in_text.get_mut(post)) {
            *chars += paragraph.chars().count();
        }
    }
    let is_post = |at: &usize| {
        let all: usize = comments.get(*at).map_or(0, |comment| {
            lines(&comment.text).map(|line| line.chars().count()).sum()
        });
        let inside = in_text.get(*at).copied().unwrap_or_default();
        inside as f32 >= SHARE_IN_TEXT * all as f32
    };
    owners.iter().map(|owner| owner.filter(is_post)).collect()
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comments(texts: &[&str]) -> Vec<Comment> {
        let comment = |text: &&str| Comment {
            text: (*text).to_owned(),
            ..Comment::default()
        };
        texts.iter().map(comment).collect()
    }

    #[test]
    fn a_post_is_found_in_the_text_of_its_thread() {
        let text = ["开头", "顶", "先看流程图", "再去巡检", "顶"];
        let posts = comments(&["顶", "先看流程图\n\n再去巡检", "顶"]);
        let owners = owners(&text, &posts);
        assert_eq!(owners, [None, Some(0), Some(1), Some(1), Some(2)]);
    }

    #[test]
    fn a_card_and_a_signature_do_not_hide_a_post() {
        let text = ["Why does it hiss?", "It is the seat, change it soon."];
        let posts = comments(&["Member\nIt is the seat, change it soon.\nA kettle"]);
        assert_eq!(owners(&text, &posts), [None, Some(0)]);
    }

    #[test]
    fn a_comment_that_quotes_a_paragraph_is_no_post() {
        let text = ["油价上涨。", "第二段。"];
        let posts = comments(&["油价上涨。\n这话去年也说过，后来跌了一半还多，谁还会相信呢"]);
        assert_eq!(owners(&text, &posts), [None, None]);
    }
}
