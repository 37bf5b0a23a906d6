//! What the address of a link says by words that many sites use. In: path and query of a canonical address, which are
//! ASCII. Out: whether it is a list, a detail page, or no page to read at all. Never looks at anything but the
//! address.

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
/// Names of the folders or files of detail pages, with a number behind them.
static DETAILS: Words = Words::of(&[
    "t", "c", "doc", "art", "content", "detail", "article", "news", "info", "post", "thread", "p",
    "a", "show", "item", "id",
]);
/// Parameters whose value is the number of a detail page.
static NUMBERS: Words = Words::of(&["id", "aid", "tid", "newsid", "articleid", "docid", "p"]);
/// Longest of the words that are looked for.
const LONGEST: usize = 10;

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
            assert!(word.len() <= LONGEST, "a word is not found that is longer");
            lengths[(word[0] % 32) as usize] |= 1 << word.len();
            at += 1;
        }
        Self { words, lengths }
    }

    /// A bit for each length of the words that begin as `text` does.
    fn lengths(&self, text: &str) -> u32 {
        let first = text.bytes().next().unwrap_or_default();
        self.lengths[usize::from(first % 32)]
    }

    fn has(&self, word: &str) -> bool {
        word.len() <= LONGEST
            && self.lengths(word) >> word.len() & 1 == 1
            && self
                .words
                .iter()
                .any(|known| word.eq_ignore_ascii_case(known))
    }
}

/// What an address says of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Said {
    /// A picture or another file, a page to log in, to share, to search.
    pub useless: bool,
    /// A list or one of its further pages.
    pub list: bool,
}

/// Reads path and query.
pub(crate) fn said(path: &str) -> Said {
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

/// The letters behind each slash, where they are no more than a word has, and all the rest.
fn words(path: &str) -> impl Iterator<Item = (&str, &str)> {
    memchr::memchr_iter(b'/', path.as_bytes()).filter_map(|slash| {
        let rest = path.get(slash + 1..)?;
        let letters = rest.bytes().take(LONGEST + 1);
        let len = letters.take_while(u8::is_ascii_alphabetic).count();
        (len <= LONGEST).then(|| rest.split_at(len))
    })
}

/// Whether path and query look like those of a detail page: with a date, a long number, a name of details with a number,
/// a slug of several words.
pub(crate) fn is_detail(path: &str) -> bool {
    let bytes = path.as_bytes();
    let file = last_segment(bytes);
    let folder = last_segment(bytes.strip_suffix(b"/").unwrap_or(bytes));
    let behind = |mark: usize| path.get(mark + 1..).unwrap_or_default();
    begins_with_number(file)
        || is_document(file)
        || is_slug(folder)
        || memchr::memchr_iter(b'/', bytes)
            .map(behind)
            .any(|rest| is_dated(rest.as_bytes()) || is_numbered(rest))
        || memchr::memchr2_iter(b'?', b'&', bytes)
            .map(behind)
            .any(numbers_a_page)
}

fn last_segment(path: &[u8]) -> &[u8] {
    let slash = memchr::memrchr(b'/', path);
    let segment = slash.and_then(|slash| path.get(slash + 1..));
    segment.unwrap_or_default()
}

/// `t20190907_123.html`, `12345`.
fn begins_with_number(file: &[u8]) -> bool {
    let is_letter = |b: &u8| b.is_ascii_alphabetic() || matches!(b, b'_' | b'-');
    let letters = file.iter().take_while(|b| is_letter(b)).count();
    let number = file.get(letters..letters + 4);
    number.is_some_and(|number| number.iter().all(u8::is_ascii_digit))
}

/// A name that ends in `.html` or one of its kind.
fn is_document(file: &[u8]) -> bool {
    let endings = [&b".html"[..], b".htm", b".shtml", b".shtm"];
    endings.iter().any(|ending| {
        let stem = file.len().checked_sub(ending.len());
        let parts = stem.and_then(|stem| file.split_at_checked(stem));
        parts.is_some_and(|(stem, there)| {
            there.eq_ignore_ascii_case(ending) && stem.iter().any(u8::is_ascii_alphanumeric)
        })
    })
}

/// Four words or more with hyphens between.
fn is_slug(segment: &[u8]) -> bool {
    let (mut next, mut words) = (1, 1);
    for at in memchr::memchr_iter(b'-', segment) {
        if at >= next && at + 1 < segment.len() {
            next = at + 2;
            words += 1;
        }
    }
    words >= 4
}

/// A year and a month, or also a day, with something behind: `2019/09/07/x`, `201909/x`.
fn is_dated(text: &[u8]) -> bool {
    let digit = |at: usize| text.get(at).is_some_and(u8::is_ascii_digit);
    if !(text.starts_with(b"19") || text.starts_with(b"20")) || !digit(2) || !digit(3) {
        return false;
    }
    let parts = |at: usize| matches!(text.get(at), Some(b'-' | b'/' | b'_'));
    let behind = |at: usize| at + usize::from(parts(at));
    // Where a number may end that has one digit, or two of which the first is at most `most`.
    let ends = |at: usize, most: u8| {
        let small = text.get(at).is_some_and(|b| (b'0'..=most).contains(b));
        let one = digit(at).then_some(at + 1);
        let two = (small && digit(at + 1)).then_some(at + 2);
        one.into_iter().chain(two)
    };
    let goes_on = |at: usize| parts(at) && text.get(at + 1).is_some_and(|b| *b != b'/');
    ends(behind(4), b'1').any(|month| goes_on(month) || ends(behind(month), b'3').any(goes_on))
}

/// A name of details with a number behind: `article/5f3a`, `id-1234`.
fn is_numbered(text: &str) -> bool {
    let is_code = |text: &[u8]| {
        let code = text.get(..4);
        code.is_some_and(|code| code.iter().all(|b| b.is_ascii_hexdigit() || *b == b'-'))
    };
    let lengths = DETAILS.lengths(text);
    let mut lengths = (1..=LONGEST).filter(|len| lengths >> len & 1 == 1);
    lengths.any(|len| {
        let Some((name, rest)) = text.split_at_checked(len) else {
            return false;
        };
        let rest = rest.as_bytes();
        let parted = matches!(rest.first(), Some(b'-' | b'_' | b'/'));
        (is_code(rest) || (parted && rest.get(1..).is_some_and(is_code))) && DETAILS.has(name)
    })
}

/// A parameter whose value is the number of a page.
fn numbers_a_page(parameter: &str) -> bool {
    let name = parameter.bytes().take(LONGEST + 1).position(|b| b == b'=');
    let Some((name, value)) = name.and_then(|at| parameter.split_at_checked(at)) else {
        return false;
    };
    let number = value.as_bytes().get(1..3);
    number.is_some_and(|number| number.iter().all(u8::is_ascii_digit)) && NUMBERS.has(name)
}
