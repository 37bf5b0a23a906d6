//! Error pages that are served as if all were well. In: a [`Page`] and its [`Shape`]. Out: whether the page as a whole
//! says so: in its title, in a heading, or in a sentence of a page that has hardly anything else. What an item of a
//! list says never counts.

use super::shape::Shown;
use super::walk::char_count;
use super::{NodeId, Page, Shape, Tag};

/// An error page has less than this in one column: news about errors has more.
const ERROR_COLUMN_UNITS: u32 = 1500;
/// And if the error is told in the text and not in the title, less than this on the whole page.
const ERROR_TEXT_UNITS: u32 = 3000;
/// A longer text tells a story.
const MAX_STATEMENT_BYTES: usize = 300;
/// Of a title or heading with a number that stands for the status.
const MAX_STATUS_CHARS: usize = 40;
/// With more links a page may name the error only in its title or in a heading.
const MAX_LINKS: u32 = 40;
/// Elements looked at around a text for a heading or an item of a list.
const MAX_CLIMB: usize = 6;

/// What error pages say that are served as if all were well.
const ERROR_PHRASES: [&str; 21] = [
    "页面不存在",
    "页面没有找到",
    "页面未找到",
    "找不到页面",
    "找不到网页",
    "无法找到",
    "您访问的页面",
    "你访问的页面",
    "您要访问的页面",
    "您查看的页面",
    "网页不存在",
    "内容不存在",
    "文章不存在",
    "文章已被删除",
    "内容已被删除",
    "页面出错",
    "出错了",
    "not found",
    "page cannot be found",
    "page doesn't exist",
    "page does not exist",
];
/// Beside one of these the number 404 is a status and does not count anything.
const STATUS_WORDS: [&str; 10] = [
    "error",
    "404 page",
    "http",
    "oops",
    "sorry",
    "错误",
    "页面",
    "抱歉",
    "提示",
    "找不到",
];

/// Whether the page says that there is no such page. `texts` are its shown texts.
pub(super) fn says_error(page: &Page, texts: &[Shown], shape: &Shape) -> bool {
    if shape.column >= ERROR_COLUMN_UNITS {
        return false;
    }
    if page.title_text().is_some_and(|title| says(&title)) {
        return true;
    }
    let short = shape.text - shape.link_text.min(shape.text) < ERROR_TEXT_UNITS / 2
        && shape.text < ERROR_TEXT_UNITS;
    short
        && texts.iter().any(|shown| {
            let text = page.text(shown.id);
            shown.link == 0
                && text.len() <= MAX_STATEMENT_BYTES
                && says(text)
                && match standing(page, shown.id) {
                    Standing::Heading => true,
                    Standing::Item => false,
                    Standing::Text => shape.links <= MAX_LINKS,
                }
        })
}

/// Whether a title, heading or sentence says that there is no such page.
fn says(text: &str) -> bool {
    let lower = text.to_lowercase();
    ERROR_PHRASES.iter().any(|phrase| lower.contains(phrase)) || says_status(&lower)
}

/// Whether the number 404 stands for a status: alone, before a dash, or beside a word of errors. "R404", "No. 404" and
/// "第404期" are other numbers.
fn says_status(lower: &str) -> bool {
    if !lower.contains("404") || char_count(lower) > MAX_STATUS_CHARS {
        return false;
    }
    lower.match_indices("404").any(|(at, number)| {
        let before = lower.get(..at).unwrap_or_default();
        let after = lower.get(at + number.len()..).unwrap_or_default();
        let joined =
            |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || "._-/".contains(c));
        if joined(before.chars().next_back())
            || before.ends_with('第')
            || after.starts_with(|c: char| c.is_ascii_alphanumeric())
        {
            return false;
        }
        let leads = before.trim().is_empty()
            && !after
                .trim_start()
                .starts_with(|c: char| c.is_alphanumeric());
        leads || STATUS_WORDS.iter().any(|word| lower.contains(word))
    })
}

/// What part of the page a text is.
enum Standing {
    Heading,
    /// One of several of its kind.
    Item,
    Text,
}

fn standing(page: &Page, text: NodeId) -> Standing {
    let (mut at, mut standing) = (text, Standing::Text);
    for _ in 0..MAX_CLIMB {
        at = page.node(at).parent;
        match page.node(at).tag {
            Tag::H1 | Tag::H2 | Tag::H3 => standing = Standing::Heading,
            Tag::LI | Tag::DT | Tag::DD | Tag::OPTION => return Standing::Item,
            Tag::BODY => break,
            _ => {}
        }
    }
    standing
}
