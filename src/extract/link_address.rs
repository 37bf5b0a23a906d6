//! What the address of a link says by words that many sites use. In: path and query of a canonical address, which are
//! ASCII. Out: whether it is a list, or no page to read at all. Never looks at anything but the address.

/// Endings of files that are no pages.
static FILES: Words = Words::of(&[
    "jpg", "jpeg", "png", "gif", "webp", "svg", "ico", "css", "js", "zip", "rar", "7z", "exe",
    "apk", "dmg", "mp3", "mp4", "avi", "mov", "pdf", "doc", "docx", "xls", "xlsx", "ppt", "pptx",
]);
/// Names of pages that serve the visitor or the site.
static SERVICES: Words = Words::of(&[
    "login", "logout", "signin", "signup", "register", "passport", "user", "account", "cart",
    "search", "share", "print", "feedback", "about", "contact", "privacy", "terms", "help",
    "download",
]);
/// Parameters that ask for another form of a page.
static FORMS: Words = Words::of(&["share", "replytocom", "print"]);
/// Names of lists.
static LISTS: Words = Words::of(&[
    "index", "list", "default", "node", "channel", "home", "category", "tag", "tags", "topic",
    "topics", "section", "page", "archive", "archives", "author",
]);
/// Parameters that count the pages of a list.
static PAGES: Words = Words::of(&["page", "p", "pn", "pageno", "start", "offset"]);

/// Words to compare with in any case.
struct Words {
    words: &'static [&'static str],
    /// By the first letter of a word, a bit for each length: most of what is asked about needs no more.
    lengths: [u32; 32],
}

impl Words {
    const fn of(words: &'static [&'static str]) -> Self {
        let mut lengths = [0; 32];
        let mut at = 0;
        while at < words.len() {
            let word = words[at].as_bytes();
            lengths[(word[0] % 32) as usize] |= 1 << word.len();
            at += 1;
        }
        Self { words, lengths }
    }

    fn has(&self, word: &str) -> bool {
        let first = word.bytes().next().unwrap_or_default();
        let lengths = self.lengths[usize::from(first % 32)];
        word.len() < 32
            && lengths >> word.len() & 1 == 1
            && self
                .words
                .iter()
                .any(|known| word.eq_ignore_ascii_case(known))
    }
}

/// What an address says of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Said {
    /// A picture or another file, a page to log in, to share, to search.
    pub useless: bool,
    /// A list or one of its further pages.
    pub list: bool,
}

/// Reads path and query.
pub(super) fn said(path: &str) -> Said {
    let dot = memchr::memrchr(b'.', path.as_bytes());
    let ending = dot.and_then(|dot| path.get(dot + 1..));
    let mut said = Said {
        useless: ending.is_some_and(|ending| FILES.has(ending)),
        list: path.ends_with('/'),
    };
    for (word, rest) in words(path) {
        said.useless |= SERVICES.has(word) && is_end(rest, |b| matches!(b, b'/' | b'.' | b'?'));
        said.list |= LISTS.has(word) && {
            let number = |c: char| c.is_ascii_digit() || matches!(c, '-' | '_');
            is_end(rest.trim_start_matches(number), |b| {
                matches!(b, b'/' | b'.')
            })
        };
    }
    let first = memchr::memchr2(b'?', b'&', path.as_bytes());
    let query = first.and_then(|at| path.get(at + 1..));
    let mut last_counts = false;
    for parameter in query.into_iter().flat_map(|query| query.split(['?', '&'])) {
        let (name, value) = parameter.split_once('=').unwrap_or_default();
        said.useless |= FORMS.has(name);
        let is_number = !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit());
        last_counts = is_number && PAGES.has(name);
    }
    said.list |= last_counts;
    said
}

/// Whether nothing is left, or what ends a word.
fn is_end(rest: &str, ends: impl Fn(u8) -> bool) -> bool {
    rest.bytes().next().is_none_or(ends)
}

/// The letters behind each slash, and all the rest.
fn words(path: &str) -> impl Iterator<Item = (&str, &str)> {
    let behind_slash = |from: usize| {
        let slash = path.bytes().skip(from).position(|b| b == b'/')?;
        Some(from + slash + 1)
    };
    let mut next = behind_slash(0);
    std::iter::from_fn(move || {
        let rest = path.get(next?..)?;
        let letters = rest.bytes().position(|b| !b.is_ascii_alphabetic());
        let (word, rest) = rest.split_at(letters.unwrap_or(rest.len()));
        next = behind_slash(path.len() - rest.len());
        Some((word, rest))
    })
}
