//! What the spelling of an address says of the page behind it. In: the URL of a [`Page`]. Out: points.

use super::Page;

/// Threads of forums are neither articles nor lists.
pub(super) fn address_of_talk(page: &Page) -> bool {
    let Some(url) = &page.url else {
        return false;
    };
    let host = url.host();
    let path = url.path().to_ascii_lowercase();
    let last = path.trim_end_matches('/').rsplit('/').next();
    if last.is_none_or(is_board) {
        return false;
    }
    if host.starts_with("forum") || host.starts_with("bbs.") {
        return true;
    }
    let numbered = last.is_some_and(|last| last.bytes().all(|b| b.is_ascii_digit()));
    path.split('/').any(|segment| {
        let (name, rest) = segment
            .find(['.', '-'])
            .and_then(|at| segment.split_at_checked(at))
            .unwrap_or((segment, ""));
        // `thread-12-1-1.html` is a thread, `forum-of-nations` is not.
        let rest = rest.strip_prefix('-').unwrap_or("0");
        let is_talk = matches!(
            name,
            "forum"
                | "forums"
                | "thread"
                | "threads"
                | "topic"
                | "discussion"
                | "discussions"
                | "questions"
                | "bbs"
                | "viewtopic"
                | "showthread"
        );
        (is_talk && rest.starts_with(|c: char| c.is_ascii_digit())) || (segment == "t" && numbered)
    })
}

/// The list of threads of a board is no thread, and no article either.
pub(super) fn address_of_board(page: &Page) -> bool {
    let path = page.url.as_ref().map(|url| url.path().to_ascii_lowercase());
    let last = path.as_deref().and_then(|path| path.rsplit('/').next());
    last.is_some_and(|last| !last.is_empty() && is_board(last))
}

/// A board, or the start page of all: `forum-12-1.html`, `viewforum.php`.
fn is_board(last: &str) -> bool {
    last.is_empty()
        || ["forum-", "forumdisplay", "viewforum"]
            .iter()
            .any(|name| last.starts_with(name))
}

/// Points of the address: `/2016/05/09/0015.shtml` is a detail page, `/` and `/list_2.html` are not.
pub(super) fn address_sign(page: &Page) -> i32 {
    let Some(url) = &page.url else {
        return 0;
    };
    let path = url.path();
    let query_digits = query_number(url.query().unwrap_or_default());
    let mut segments = path.split('/').filter(|segment| !segment.is_empty()).rev();
    let last = segments.next().unwrap_or_default();
    if last.is_empty() {
        return if query_digits >= 3 { 0 } else { -4 };
    }
    let stem = stem(last);
    if is_list_word(&stem) {
        let above = segments.next().unwrap_or_default();
        return if digits(above) >= 6 || words(above) >= 4 {
            1
        } else {
            -3
        };
    }
    let in_list = path.split('/').any(|part| {
        matches!(
            part,
            "tag" | "tags" | "category" | "categories" | "page" | "author"
        )
    });
    if in_list {
        return -2;
    }
    let digits = digits(path) + query_digits;
    if digits >= 5 || words(&stem) >= 4 {
        2
    } else {
        i32::from(digits >= 3) - i32::from(path.ends_with('/') && words(&stem) < 3)
    }
}

fn stem(segment: &str) -> String {
    segment
        .split('.')
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase()
}

fn digits(text: &str) -> usize {
    text.bytes().filter(u8::is_ascii_digit).count()
}

/// Digits of the longest number of the query whose name ends in `id`.
fn query_number(query: &str) -> usize {
    query
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .filter(|(name, value)| {
            name.to_ascii_lowercase().ends_with("id") && value.bytes().all(|b| b.is_ascii_digit())
        })
        .map(|(_, value)| value.len())
        .max()
        .unwrap_or(0)
}

fn words(text: &str) -> usize {
    text.split(['-', '_'])
        .filter(|word| !word.is_empty())
        .count()
}

/// `index`, `list_2` and the like.
fn is_list_word(stem: &str) -> bool {
    let name = stem.trim_end_matches(|c: char| !c.is_ascii_alphabetic());
    matches!(
        name,
        "index" | "list" | "default" | "home" | "category" | "tag" | "channel" | "more"
    )
}
