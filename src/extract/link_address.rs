//! What the address of a link says by words that many sites use. In: path and query of a canonical address, which are
//! ASCII. Out: whether it is a list, or no page to read at all. Never looks at anything but the address.

/// Endings of files that are no pages.
const FILES: [&str; 26] = [
    "jpg", "jpeg", "png", "gif", "webp", "svg", "ico", "css", "js", "zip", "rar", "7z", "exe",
    "apk", "dmg", "mp3", "mp4", "avi", "mov", "pdf", "doc", "docx", "xls", "xlsx", "ppt", "pptx",
];
/// Names of pages that serve the visitor or the site.
const SERVICES: [&str; 19] = [
    "login", "logout", "signin", "signup", "register", "passport", "user", "account", "cart",
    "search", "share", "print", "feedback", "about", "contact", "privacy", "terms", "help",
    "download",
];
/// Parameters that ask for another form of a page.
const FORMS: [&str; 3] = ["share", "replytocom", "print"];
/// Names of lists.
const LISTS: [&str; 16] = [
    "index", "list", "default", "node", "channel", "home", "category", "tag", "tags", "topic",
    "topics", "section", "page", "archive", "archives", "author",
];
/// Parameters that count the pages of a list.
const PAGES: [&str; 6] = ["page", "p", "pn", "pageno", "start", "offset"];

/// A picture or another file, a page to log in, to share, to search.
pub(super) fn is_useless(path: &str) -> bool {
    let file = path
        .rsplit_once('.')
        .is_some_and(|(_, end)| is_any(end, &FILES));
    let service = |(word, rest): (&str, &str)| {
        let ends = rest.is_empty() || rest.starts_with(['.', '?']);
        ends && is_any(word, &SERVICES)
    };
    let form = |parameter: &str| {
        parameter
            .split_once('=')
            .is_some_and(|(name, _)| is_any(name, &FORMS))
    };
    file || words(path).any(service) || path.split(['?', '&']).skip(1).any(form)
}

/// A list or one of its further pages.
pub(super) fn is_list(path: &str) -> bool {
    let named = |(word, rest): (&str, &str)| {
        let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '-' | '_'));
        let ends = rest.is_empty() || rest.starts_with('.');
        ends && is_any(word, &LISTS)
    };
    let counted = path
        .rsplit_once(['?', '&'])
        .and_then(|(_, last)| last.split_once('='))
        .is_some_and(|(name, value)| {
            let number = !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit());
            number && is_any(name, &PAGES)
        });
    path.ends_with('/') || counted || words(path).any(named)
}

/// The letters that each part between slashes begins with, and the rest of that part.
fn words(path: &str) -> impl Iterator<Item = (&str, &str)> {
    path.split('/').skip(1).map(|part| {
        let letters = part
            .bytes()
            .position(|b| !b.is_ascii_alphabetic())
            .unwrap_or(part.len());
        part.split_at(letters)
    })
}

fn is_any(word: &str, words: &[&str]) -> bool {
    words.iter().any(|known| word.eq_ignore_ascii_case(known))
}
