//! Splits a `<title>` at its joints, and finds the name of a site in the titles of its pages. `og:site_name` is trusted
//! first; else the name is what the titles of two pages have in common.

use std::sync::LazyLock;

use super::head::Head;
use super::likeness::{Forms, normal_form};
use crate::cues;
use crate::page::Page;

/// Signs that join a headline with section and site in `<title>`.
const JOINTS: [char; 14] = [
    '-', '_', '|', '—', '–', '·', '»', '«', '｜', 'ㅣ', '>', '<', '丨', '•',
];

/// The parts of a `<title>`: what is before each joint and what is after it.
#[derive(Debug, Default)]
pub(crate) struct TitleParts {
    /// The whole title, cleaned.
    pub whole: String,
    /// Beginnings that end at a joint, longest first; the whole is the first.
    pub heads: Vec<String>,
    /// Ends that begin after a joint, longest first.
    pub tails: Vec<String>,
    /// Single parts between joints.
    pub parts: Vec<String>,
}

/// A `<title>` with all that a headline may be compared with.
#[derive(Debug, Default)]
pub(crate) struct Title {
    /// What it is made of.
    pub parts: TitleParts,
    /// Normal form of the whole.
    pub form: Vec<char>,
    /// Normal forms of its parts.
    pub forms: Forms,
}

impl Title {
    /// Reads the text of a `<title>`.
    pub(crate) fn parse(title: &str) -> Self {
        let parts = TitleParts::split(title);
        Self {
            form: normal_form(&parts.whole),
            forms: parts.forms(),
            parts,
        }
    }
}

impl TitleParts {
    /// Splits a title. A hyphen inside a word or number (`5G-A`, `2019-09`) is no joint.
    pub(crate) fn split(title: &str) -> Self {
        let whole = title.trim().to_owned();
        let joints = find_joints(&whole);
        let mut out = Self {
            heads: vec![whole.clone()],
            ..Self::default()
        };
        let mut from = 0;
        for (start, end) in &joints {
            out.parts.push(piece(&whole, from, *start));
            out.tails.push(piece(&whole, *end, whole.len()));
            from = *end;
        }
        out.parts.push(piece(&whole, from, whole.len()));
        out.heads.extend(
            joints
                .iter()
                .rev()
                .map(|(start, _)| piece(&whole, 0, *start)),
        );
        out.whole = whole;
        for list in [&mut out.heads, &mut out.tails, &mut out.parts] {
            list.retain(|s| !s.is_empty());
        }
        // Forums end their titles so; it is no headline, however long it is.
        out.parts.retain(|part| !is_maker(part));
        out
    }

    /// True for a title with a single part, as most headings are.
    pub(crate) fn is_single(title: &str) -> bool {
        let title = title.trim();
        if find_joints(title).is_empty() {
            !trimmed(title).is_empty()
        } else {
            Self::split(title).parts.len() == 1
        }
    }

    /// Normal forms of everything the title may be compared by.
    fn forms(&self) -> Forms {
        let all = self.heads.iter().chain(&self.tails).chain(&self.parts);
        let named = self.heads.iter().map(|head| without_bracket(head));
        Forms::new(all.map(String::as_str).chain(named))
    }
}

/// A title without the bracket at its end, in which some sites name themselves: `情书 (某网)`.
pub(super) fn without_bracket(title: &str) -> &str {
    let title = title.trim_end();
    let pairs = [('(', ')'), ('（', '）'), ('[', ']'), ('【', '】')];
    let pair = pairs.iter().find(|pair| title.ends_with(pair.1));
    let before = pair.and_then(|pair| title.rfind(pair.0));
    let before = before.and_then(|at| title.get(..at)).map(str::trim_end);
    before.filter(|before| !before.is_empty()).unwrap_or(title)
}

/// The name of the program that made the page: `Powered by Discuz!`.
fn is_maker(part: &str) -> bool {
    const BEGINNING: &str = "powered by";
    let head = part.get(..BEGINNING.len());
    head.is_some_and(|head| head.eq_ignore_ascii_case(BEGINNING))
}

fn piece(text: &str, from: usize, to: usize) -> String {
    trimmed(text.get(from..to).unwrap_or_default()).to_owned()
}

fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || c == ':' || JOINTS.contains(&c))
}

/// Joints of a title that are checked.
const MAX_JOINTS: usize = 12;

/// Byte ranges of the joints, at most [`MAX_JOINTS`].
fn find_joints(title: &str) -> Vec<(usize, usize)> {
    let mut out = Vec::new();
    let signs = title.char_indices();
    for (at, c) in signs.filter(|(_, c)| *c == ':' || JOINTS.contains(c)) {
        if out.len() == MAX_JOINTS {
            break;
        }
        let from = at + c.len_utf8();
        let last = title
            .get(..at)
            .and_then(|before| before.chars().next_back());
        let after = title.get(from..).and_then(|behind| behind.chars().next());
        // `Headline :: Section` and `Headline : Site`; a colon in a sentence has no space before it.
        let spaced = last == Some(' ') && matches!(after, Some(' ' | ':'));
        if c == ':' && (spaced || last == Some(':')) {
            out.push((at, from));
            continue;
        }
        if !JOINTS.contains(&c) {
            continue;
        }
        let word = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
        let loose = matches!(c, '_' | '|' | '»' | '｜' | '丨') || !(word(last) && word(after));
        if loose {
            out.push((at, from));
        }
    }
    out
}

/// Longer texts are slogans.
const MAX_NAME_CHARS: usize = 40;
/// Parts of titles that name no site; what is before and behind the name in the title of a front page.
static WORDS: LazyLock<[Vec<String>; 3]> =
    LazyLock::new(|| ["site.general", "site.before", "site.after"].map(cues::words));

/// The name of the site that `page` is of, if it is known.
pub fn find_site_title(page: &Page, other: Option<&Page>) -> Option<String> {
    let head = Head::read(page);
    if let Some(name) = head.site_name.and_then(clean_name) {
        return Some(name);
    }
    let here = list_names(&head.title);
    if let Some(other) = other {
        let there = list_names(&Head::read(other).title);
        if let Some(common) = there.iter().rev().find(|name| here.contains(name)) {
            return Some(common.clone());
        }
    }
    let is_front = page.url.as_ref().is_some_and(|u| u.path_and_query() == "/");
    if is_front {
        here.into_iter().next()
    } else {
        here.into_iter().next_back()
    }
}

/// The parts of a title that may be the name of a site.
fn list_names(title: &str) -> Vec<String> {
    let parts = TitleParts::split(title).parts;
    parts.iter().filter_map(|part| clean_name(part)).collect()
}

fn clean_name(text: &str) -> Option<String> {
    let text: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let mut text = text.trim();
    if is_general(text) {
        return None;
    }
    let [_, before, after] = &*WORDS;
    for before in before {
        let begins = |head: &str| head.to_lowercase() == *before;
        let rest = text.split_at_checked(before.len());
        text = rest
            .filter(|(head, _)| begins(head))
            .map_or(text, |(_, rest)| rest);
    }
    for after in after {
        let rest = text.strip_suffix(after.as_str()).unwrap_or(text);
        // 新华网 is left of 新华网首页; of 一首页 nothing would be.
        text = if rest.chars().count() >= 2 {
            rest
        } else {
            text
        };
    }
    let text = text.trim();
    let fits = (2..=MAX_NAME_CHARS).contains(&text.chars().count());
    (fits && !is_general(text)).then(|| text.to_owned())
}

fn is_general(text: &str) -> bool {
    WORDS[0].contains(&text.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::Hints;
    use taojin_uri::CrawlUri;

    fn page(url: &str, head: &str) -> Page {
        let hints = Hints {
            url: CrawlUri::parse(url).ok(),
            ..Hints::default()
        };
        Page::parse(
            format!("<head>{head}</head><body><p>油</p>").as_bytes(),
            hints,
        )
    }

    #[test]
    fn site_title_from_pages() {
        let article = "<title>塔里木油田日产创新高_新闻中心_西部油气网</title>";
        // Address, head of the page, whether there is another page, name.
        let rows = "\
            http://a.cn/ => <title>西部油气网</title> => => 西部油气网
            http://a.cn/ => <title>首页 - 西部油气网</title> => => 西部油气网
            http://a.cn/ => <title>西部油气网首页</title> => => 西部油气网
            http://a.cn/ => <title>石油天然气门户_西部油气网</title> => article => 西部油气网
            http://a.cn/news/ => <title>新闻中心 | 西部油气网</title> => => 西部油气网
            http://a.cn/ => <meta property=og:site_name content='Oil &amp; Gas'><title>Front</title> => article => Oil & Gas
            http://a.cn/ => <title>Home</title> => =>
            http://a.cn/ => => =>";
        for row in rows.lines() {
            let mut cells = row.split("=>").map(str::trim);
            let [url, front, other, wanted] = std::array::from_fn(|_| cells.next().unwrap());
            let other = (!other.is_empty()).then(|| page("http://a.cn/1.html", article));
            let found = find_site_title(&page(url, front), other.as_ref());
            assert_eq!(found.unwrap_or_default(), wanted, "{front}");
        }
    }
}
