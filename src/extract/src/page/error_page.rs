//! Error pages that are served as if all were well. In: a [`Page`] and its [`Shape`]. Out: whether the page as a whole
//! says so: in its title, in a heading, or in a sentence of a page that has hardly anything else. What an item of a
//! list says never counts.

use std::sync::LazyLock;

use super::shape::Shown;
use super::walk::char_count;
use super::{NodeId, Page, Shape, Tag};
use crate::cues;
use crate::literals::Literals;

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

/// What error pages say that are served as if all were well, and words beside which the number 404 is a status and does not
/// count anything.
static WORDS: LazyLock<Literals> =
    LazyLock::new(|| cues::seen(&[("error.says", SAYS), ("error.status", STATUS)]));
const SAYS: u32 = 1;
const STATUS: u32 = 2;

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
    WORDS.seen(text.as_bytes()) & SAYS != 0 || says_status(text)
}

/// Whether the number 404 stands for a status: alone, before a dash, or beside a word of errors. "R404", "No. 404" and
/// "第404期" are other numbers.
fn says_status(text: &str) -> bool {
    if !text.contains("404") || char_count(text) > MAX_STATUS_CHARS {
        return false;
    }
    text.match_indices("404").any(|(at, number)| {
        let before = text.get(..at).unwrap_or_default();
        let after = text.get(at + number.len()..).unwrap_or_default();
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
        leads || WORDS.seen(text.as_bytes()) & STATUS != 0
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
