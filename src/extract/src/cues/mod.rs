//! The words by which parts of pages are recognised, by section and over all languages.
//!
//! Each language has one file in `languages`. Under a heading `[section]` are words, one or several on a line with `|`
//! between; letters count alike in both cases. `colou?r`, `[ab]`, `(a|b)c` stand for several words, `␣` for a blank at either
//! end. A new language is a new file and a line in [`FILES`]; a section that a language has no words for is skipped.
//!
//! Names of classes, of meta elements and of parts of addresses, which are the same in all languages, are in `web.txt`, whose
//! head explains its sections.
//!
//! | section | words |
//! |---|---|
//! | `KIND.begins` | a line of this [`phrases::Phrase`] begins with, whatever follows |
//! | `KIND.alone` | such a line consists of, but for punctuation |
//! | `KIND.anywhere` | are only in such a line |
//! | `KIND.label` | such a line begins with, before a colon |
//! | `KIND.pattern` | regular expressions, one on a line, of other such lines |
//! | `KIND.pattern.begins`, `KIND.pattern.has` | a line that a pattern matches begins with one of these or has one of those |
//! | `notice.anywhere` | are only in a notice of the site, which is no text wherever it stands |
//! | `teaser.label` | before a colon and a link to another text |
//! | `published.label`, `source.beside_date`, `crumbs.home` | parts of the patterns in [`phrases`] |
//! | `line.shop`, `line.talk`, `line.reading`, `line.call`, `line.time` | counted to estimate the type of a page |
//! | `title.talk`, `title.reference`, `title.shop`, `title.how` | the same, in the title; the last at its beginning |
//! | `page.number`, `page.next`, `page.previous`, `page.other` | links to other pages; `#` is a number, without blanks |
//! | `page.loads` | buttons that load more of a list into its page |
//! | `page.continues` | links to the next page of a text, and of a list to each of its texts |
//! | `comment.tools`, `comment.tools.begins` | buttons and labels around comments |
//! | `comment.answer_tools` | buttons that only comments and posts have |
//! | `comment.counted` | what a number at a comment may count |
//! | `fact.time`, `fact.place`, `fact.fee`, `fact.people` | labels of when and where an event is, its price, who holds it |
//! | `date.published`, `date.modified` | before the day of first publication, of the last change |
//! | `date.published.alone`, `date.published.after` | the same, not within a word of Chinese but behind these |
//! | `source.named`, `author.named`, `author.photographer` | before a colon and the name; where the script has no blanks |
//! | `author.desk`, `author.reporter`, `author.editor`, `author.beside`, `author.next` | before and around the names of reporters; begin what follows a name |
//! | `author.bare`, `source.bare`, `author.not` | before a name without a colon; behind these, and no name |
//! | `author.by` | before a name, at the beginning of a line |
//! | `agency.ends` | the last words in the name of an agency |
//! | `comment.heading`, `comment.heading.counter`, `comment.heading.before`, `comment.heading.after`, `comment.heading.on` | parts of the headings of comments |
//! | `comment.name.before`, `comment.name.after` | around a writer's name |
//! | `comment.voted`, `comment.reply_to` | next to the number of votes; before the name of whom a comment answers |
//! | `site.general`, `site.before`, `site.after` | titles that name no site; around the name of a site in a title |
//! | `error.says`, `error.status` | error pages say; words next to the number 404 |
//! | `blocking.says`, `blocking.login` | pages say that let nobody past; titles of pages to sign in |
//! | `eras` | a line for each era: the year before its first, a blank, its name |
//! | `months` | a line for each month: its number, a blank, its names and short forms |

pub(crate) mod line_cues;
pub(crate) mod phrases;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;

use crate::literals::{Beginnings, Literals, compile_regex, expand_spelling};

/// The file of Chinese.
const CHINESE: &str = include_str!("languages/zh.txt");

macro_rules! files {
    ($($language:literal)*) => {
        [$(include_str!(concat!("languages/", $language, ".txt")),)* CHINESE, WEB]
    };
}

/// The files of all languages, and that of the web.
const FILES: [&str; 31] = files! {
    "ar" "cs" "da" "de" "el" "en" "es" "fi" "fr" "hi" "hu" "id" "is" "it" "ja" "ko" "lt" "nl" "no" "pl" "pt" "ro" "ru" "sk" "sv"
    "th" "tr" "uk" "vi"
};

/// The words that belong to no language.
const WEB: &str = include_str!("web.txt");

/// The characters of the Chinese words that are written otherwise in Taiwan and Hong Kong, as pairs.
const TRADITIONAL: &str = include_str!("languages/zh.traditional.txt");

/// The lines of each section. Those of Chinese are in both spellings, so that no text need be folded for them.
static SECTIONS: LazyLock<HashMap<&str, Vec<String>>> = LazyLock::new(|| {
    let pairs = TRADITIONAL.lines().filter(|line| !line.starts_with('#'));
    let pairs = pairs.flat_map(str::split_whitespace).filter_map(|pair| {
        let mut chars = pair.chars();
        Some((chars.next()?, chars.next()?))
    });
    let pairs: HashMap<char, char> = pairs.collect();
    let traditional = |line: &str| -> String {
        let chars = line.chars();
        chars.map(|c| pairs.get(&c).copied().unwrap_or(c)).collect()
    };
    let mut sections: HashMap<&str, Vec<String>> = HashMap::new();
    for file in FILES {
        let mut section = "";
        let lines = file
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'));
        for line in lines {
            match parse_heading(line) {
                Some(name) => section = name,
                None => {
                    let lines = sections.entry(section).or_default();
                    lines.push(line.to_owned());
                    let other = traditional(line);
                    if file == CHINESE && other != line {
                        lines.push(other);
                    }
                }
            }
        }
    }
    sections
});

/// The name of a section. A line of words may begin with a bracket too, but has more than one.
fn parse_heading(line: &str) -> Option<&str> {
    let name = line.strip_prefix('[')?.strip_suffix(']')?;
    let of_name = |c: char| c.is_ascii_lowercase() || matches!(c, '_' | '.');
    name.chars().all(of_name).then_some(name)
}

/// The lines of a section in all languages; none for a section that no language has.
pub(crate) fn lines(section: &str) -> &'static [String] {
    SECTIONS.get(section).map_or(&[], Vec::as_slice)
}

/// The words of a section in all languages as alternatives of a pattern.
pub(crate) fn alternatives(section: &str) -> String {
    lines(section).join("|").replace('␣', " ")
}

/// Each word of a section in all languages.
pub(crate) fn words(section: &str) -> Vec<String> {
    let words = lines(section).iter().flat_map(|line| expand_spelling(line));
    words.map(|word| word.replace('␣', " ")).collect()
}

/// Each word of a section, and where a letter outside ASCII has two cases also with a capital first and all in capitals: for
/// matchers that know the two cases of ASCII only.
fn words_in_cases(section: &str) -> Vec<String> {
    let cases = |word: String| {
        let mut cases = vec![word];
        if !cases[0].is_ascii() {
            let upper = cases[0].to_uppercase();
            let mut chars = cases[0].chars();
            let first = chars.next().into_iter().flat_map(char::to_uppercase);
            let capital: String = first.chain(chars).collect();
            cases.extend([capital, upper]);
            cases.dedup();
        }
        cases
    };
    words(section).into_iter().flat_map(cases).collect()
}

/// A matcher of the words of sections, with the bits for those of each.
pub(crate) fn compile_seen(sections: &[(&str, u32)]) -> Literals {
    let words = sections.iter().flat_map(|(section, bits)| {
        let words = words_in_cases(section).into_iter();
        words.map(|word| (word, *bits))
    });
    Literals::new(words)
}

/// A matcher of the words of sections at the beginning of a text.
pub(crate) fn compile_begun(sections: &[&str]) -> Beginnings {
    let words = sections.iter().flat_map(|section| words_in_cases(section));
    Beginnings::new(words.map(|word| (word, 1)))
}

/// A pattern in which `<SECTION>` stands for the words of a section.
pub(crate) fn compile_pattern(pattern: &str) -> Regex {
    compile_regex(&with_words(pattern))
}

fn with_words(pattern: &str) -> String {
    let mut parts = pattern.split('<');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |out, part| {
        let (section, behind) = part.split_once('>').unwrap_or_default();
        out + &alternatives(section) + behind
    })
}
