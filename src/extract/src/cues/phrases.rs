//! Classifies short lines that are not part of a text: 责任编辑, 相关阅读, ©, "Share this". Longer lines are prose, whatever they
//! contain.

use std::sync::{LazyLock, OnceLock};

use regex::Regex;

use super::line_cues as line_signs;
use crate::cues::{lines, with_words, words_in_cases};
use crate::literals::{Beginnings, Literals, compile_regex};

/// Longest line that is checked, in bytes.
pub(crate) const MAX_BYTES: usize = 400;

/// Kinds of lines that are not text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phrase {
    /// Copyright, licence, registration of the site: nothing below it is text.
    Footer,
    /// Heading of a list of other articles: the list below it is not text.
    Related,
    /// Editor, proof-reader, reporter's card.
    Editor,
    /// Original title of a reprint.
    OriginalTitle,
    /// Share, print, font size, read aloud, favourites.
    Tools,
    /// Number of comments, box to write one.
    Comments,
    /// Source and date line.
    Source,
    /// Invitation to click, subscribe, download an app, scan a code.
    Promo,
    /// Rights and liability notes under the text.
    Legal,
    /// Previous and next article, page numbers.
    Paging,
    /// Tags and categories.
    Tags,
    /// Where one is: 首页 > 新闻.
    Crumbs,
    /// Files that belong to the text.
    Attachment,
}

/// How the lines of a kind are recognised, besides the words in the sections of the kind.
struct Rule {
    kind: Phrase,
    /// Name of the kind in the files of languages.
    name: &'static str,
    /// What more lines of the kind say in every language, `<…>` standing for the words of a section. Asked of a line only where
    /// [`Rule::beginnings`], `KIND.pattern.has` or a digit lets it match.
    patterns: &'static [&'static str],
}

const fn rule(kind: Phrase, name: &'static str, patterns: &'static [&'static str]) -> Rule {
    Rule {
        kind,
        name,
        patterns,
    }
}

/// The rules in the order of [`Phrase`].
const RULES: [Rule; 13] = [
    rule(Phrase::Footer, "footer", &[]),
    rule(Phrase::Related, "related", &[]),
    rule(
        Phrase::Editor,
        "editor",
        &[r"^\W*(<editor.label>)\W*[：:丨|/]"],
    ),
    rule(
        Phrase::OriginalTitle,
        "original_title",
        &[r"^\W*(<original_title.label>)\W*[：:]"],
    ),
    rule(Phrase::Tools, "tools", &[]),
    rule(Phrase::Comments, "comments", &[]),
    rule(
        Phrase::Source,
        "source",
        &[
            r"^\W*(<source.label>)\W{0,2}[：:丨|]",
            r"^\W*(<published.label>)\W{0,3}[：:]?\s*\D{0,6}(19|20)?\d\d\W",
            r"^\W*(19|20)\d\d[-/.年]\d{1,2}[-/.月]\d{1,2}日?[^。！？]{0,60}(<source.beside_date>)",
            r"^\W*(19|20)\d\d[-/.年]\d{1,2}[-/.月]\d{1,2}日?\s*(\d{1,2}[:：]\d\d([:：]\d\d)?)?\W*$",
        ],
    ),
    rule(Phrase::Promo, "promo", &[]),
    rule(Phrase::Legal, "legal", &[]),
    rule(
        Phrase::Paging,
        "paging",
        &[r"^\W*(<paging.label>)\s*[:：|»›>→–—]"],
    ),
    rule(
        Phrase::Tags,
        "tags",
        &[r"^\W*(<tags.label>)\W*[：:]", r"^#\S+(\s+#\S+)*$"],
    ),
    rule(
        Phrase::Crumbs,
        "crumbs",
        &[
            r"^\W*(<crumbs.label>)\W*[：:]",
            r"^\W*(<crumbs.home>)\s*[>»/›]",
        ],
    ),
    rule(
        Phrase::Attachment,
        "attachment",
        &[r"^\W*(<attachment.label>)\W*\d*\W*[：:.．、]"],
    ),
];

/// The kinds that have words which stand alone.
const ALONE: [Phrase; 3] = [Phrase::Tools, Phrase::Promo, Phrase::Paging];

/// Number of the kinds, and of the bits of what may be.
const KINDS: usize = RULES.len();
/// Where the bits of what is sure begin.
const SURE_BITS: usize = KINDS;
/// Where those of other words begin that are searched for on the way.
const OTHER_BITS: usize = 2 * KINDS;
/// The bit of words that only notices have.
const NOTICE_BIT: u32 = 1 << 31;
const _: () = assert!(OTHER_BITS + line_signs::LISTS <= 31);
/// Where those of kinds begin whose words stand alone; they are numbered as in [`ALONE`].
const ALONE_BITS: usize = 2 * KINDS;
const _: () = assert!(ALONE_BITS + ALONE.len() <= 32);

/// Kinds whose patterns a line may match that begins with a number.
const NUMBERED: u32 = bit(Phrase::Comments) | bit(Phrase::Source);

const fn bit(kind: Phrase) -> u32 {
    1 << kind as u32
}

impl Rule {
    fn section(&self, part: &str) -> String {
        format!("{}.{part}", self.name)
    }

    /// The words of a section of the kind with the bit of the kind, moved by `shift`.
    fn words(&self, part: &str, shift: usize) -> impl Iterator<Item = (String, u32)> {
        let bits = bit(self.kind) << shift;
        let words = words_in_cases(&self.section(part)).into_iter();
        words.map(move |word| (word, bits))
    }

    /// The words that a line of the kind, or one that its patterns may match, begins with after punctuation.
    fn beginnings(&self) -> impl Iterator<Item = (String, u32)> {
        let labels = self.patterns.iter().filter_map(|pattern| {
            let (section, _) = pattern.strip_prefix(r"^\W*(<")?.split_once('>')?;
            Some(words_in_cases(section))
        });
        let labels = labels.flatten().map(|word| (word, bit(self.kind)));
        let alone = ALONE.iter().position(|kind| *kind == self.kind);
        let alone = alone.into_iter().flat_map(|at| {
            let words = words_in_cases(&self.section("alone")).into_iter();
            words.map(move |word| (word, 1 << (ALONE_BITS + at)))
        });
        self.words("pattern.begins", 0)
            .chain(labels)
            .chain(self.words("begins", SURE_BITS))
            .chain(alone)
    }

    /// All patterns of the kind as one.
    fn compiled(&self) -> Regex {
        let with_words = self.patterns.iter().map(|pattern| with_words(pattern));
        let of_language = lines(&self.section("pattern")).iter().cloned();
        let all: Vec<String> = with_words.chain(of_language).collect();
        compile_regex(&format!("(?i){}", all.join("|")))
    }
}

static FIRST: LazyLock<Beginnings> =
    LazyLock::new(|| Beginnings::new(RULES.iter().flat_map(Rule::beginnings)));
static ANYWHERE: LazyLock<Literals> = LazyLock::new(|| {
    let sure = RULES
        .iter()
        .flat_map(|rule| rule.words("anywhere", SURE_BITS));
    let patterns = RULES.iter().flat_map(|rule| rule.words("pattern.has", 0));
    let other = line_signs::list_words().map(|(word, bit)| (word, bit << OTHER_BITS));
    let notices = words_in_cases("notice.anywhere").into_iter();
    let notices = notices.map(|word| (word, NOTICE_BIT));
    Literals::new(patterns.chain(sure).chain(other).chain(notices))
});

/// Made when a line first may match: a crawl of one language never needs most of them.
static REGEXES: [OnceLock<Regex>; KINDS] = [const { OnceLock::new() }; KINDS];

fn matches(at: usize, text: &str) -> bool {
    REGEXES[at]
        .get_or_init(|| RULES[at].compiled())
        .is_match(text)
}

/// The words that are in a text, all found in one pass.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SeenWords(u32);

impl SeenWords {
    /// Looks for them.
    pub(crate) fn new(text: &str) -> Self {
        Self(ANYWHERE.seen(text.as_bytes()))
    }

    /// The bits of [`line_signs::list_words`].
    pub(crate) fn signs(self) -> u32 {
        (self.0 & !NOTICE_BIT) >> OTHER_BITS
    }

    /// Whether a notice says so, which is no text wherever it stands: whose opinion the site does not share, who may read on,
    /// what cookies are for.
    pub(crate) fn is_notice(self) -> bool {
        self.0 & NOTICE_BIT != 0
    }
}

/// The first kind in the order of [`Phrase`] that the line matches, which is trimmed.
pub(crate) fn classify_phrase(text: &str, seen: SeenWords) -> Option<Phrase> {
    if text.is_empty() || text.len() > MAX_BYTES {
        return None;
    }
    let begun = begun(text);
    let sure = (begun | seen.0) >> SURE_BITS;
    let mut left = (begun | seen.0 | sure) & ((1 << KINDS) - 1);
    while left != 0 {
        let at = left.trailing_zeros() as usize;
        if sure >> at & 1 == 1 || matches(at, text) {
            return Some(RULES[at].kind);
        }
        left &= left - 1;
    }
    None
}

/// A bit for each kind that the text may be of or is by what it begins with, after signs.
fn begun(text: &str) -> u32 {
    let first = strip_signs(text);
    let mut begun = 0;
    if text.starts_with('#') {
        begun |= bit(Phrase::Tags);
    }
    if first.starts_with(|c: char| c.is_ascii_digit()) {
        begun |= NUMBERED;
    }
    for (bits, len) in FIRST.of_text(first) {
        begun |= bits & ((1 << ALONE_BITS) - 1);
        let alone = bits >> ALONE_BITS;
        let behind = first.get(len..).unwrap_or_default();
        if alone != 0 && strip_signs(behind).is_empty() {
            let kinds = ALONE.iter().enumerate();
            let named = kinds.filter(|(at, _)| alone >> at & 1 == 1);
            begun |= named.fold(0, |all, (_, kind)| all | bit(*kind)) << SURE_BITS;
        }
    }
    begun
}

/// A text from its first letter or digit on.
pub(crate) fn strip_signs(text: &str) -> &str {
    static LETTER: LazyLock<Regex> = LazyLock::new(|| compile_regex(r"\w"));
    // As most texts do; the pattern takes 1 % of the way to a document to say so.
    if text.starts_with(char::is_alphabetic) {
        return text;
    }
    let first = LETTER
        .find(text)
        .map_or(text.len(), |letter| letter.start());
    text.get(first..).unwrap_or_default()
}
