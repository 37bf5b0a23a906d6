//! Finds the text in the data from which a script renders a page: the string that reads like prose, with title, time and
//! names next to it. One rule for all frameworks: strings are rated by content and place, keys only by words that all
//! frameworks use.

mod arguments;
mod flat;
mod items;
mod strings;
#[cfg(test)]
mod tests;

pub(crate) use self::items::{DataItem, find_items};
use self::strings::{HolderId, Strings};
use crate::page::measure::Measure;
use crate::page::{Attr, NodeId, Page, Script, Tag};

/// Longest strings that are checked, and those that are weighed as texts: code may be longer than paragraphs.
const MAX_LOOKS: usize = 512;
const MAX_TEXTS: usize = 16;
/// How far above the text its title may be, in objects and lists.
const MAX_UP: usize = 5;
/// A text without the page's title next to it has so many tokens.
const LONG: u32 = 60;
/// A title has so many characters, and so many times as many as it are the most that a page's title has: what is shorter
/// names a section.
const TITLE_CHARS: usize = 4;
const TITLE_SHARE: usize = 3;
/// Most titles that a page is requested.
const MAX_TITLES: usize = 8;
/// Longest title, in bytes.
const MAX_TITLE: usize = 600;
/// Of so many characters of prose at most one is a sign of code.
const CHARS_A_SIGN: usize = 40;

/// The key of the text in JSON-LD.
const DECLARED: &str = "articlebody";
/// Keys of titles, of texts, of times from the surest to the least, of writers and of media.
const TITLES: [&str; 4] = ["title", "headline", "subject", "name"];
const TEXTS: [&str; 6] = ["content", "body", "text", "article", "html", "detail"];
const TIMES: [&str; 8] = [
    "publish", "pubdate", "pubtime", "pub_", "issued", "create", "date", "time",
];
const AUTHORS: [&str; 8] = [
    "author",
    "authorname",
    "author_name",
    "writer",
    "nickname",
    "nick_name",
    "screen_name",
    "username",
];
const SOURCES: [&str; 7] = [
    "source",
    "sourcename",
    "source_name",
    "medianame",
    "media_name",
    "copyfrom",
    "origin_name",
];

/// A text that a script shows.
#[derive(Debug, Default)]
pub(crate) struct DataText {
    /// The text as markup, or as plain text.
    pub(crate) text: String,
    /// Whether it is markup.
    pub(crate) is_markup: bool,
    /// The page's own title is next to it.
    pub(crate) is_titled: bool,
    pub(crate) title: Option<String>,
    /// What may be the time of publication, surest first.
    pub(crate) times: Vec<String>,
    pub(crate) author: Option<String>,
    pub(crate) source: Option<String>,
}

/// What may be the time of publication next to the page's title, surest first: of a page whose text stands in the page.
pub(crate) fn find_times(page: &Page, titles: &[&str]) -> Vec<String> {
    let scripts = data_of(page).map(|script| script.text.as_str());
    let data = Data::new(Strings::read(scripts), titles);
    let records = data.titles.iter().take(MAX_TITLES);
    let times = records.map(|at| data.times(data.strings.said[*at].holder));
    let said = |at: usize| data.strings.said[at].text.clone();
    let mut found = times.filter(|times| !times.is_empty());
    found
        .next()
        .unwrap_or_default()
        .into_iter()
        .map(said)
        .collect()
}

/// The best text with at least `enough` tokens; `titles` are what the page says that it is called.
pub(crate) fn find(page: &Page, titles: &[&str], enough: u32) -> Option<DataText> {
    let json_ld = page.nodes().iter().enumerate().filter(|(id, node)| {
        let kind = || page.attr(*id as NodeId, Attr::Type).unwrap_or_default();
        node.tag == Tag::SCRIPT && kind().contains("json")
    });
    let json_ld = json_ld
        .flat_map(|(id, _)| page.children(id as NodeId))
        .map(|id| page.text(id));
    let scripts = data_of(page)
        .map(|script| script.text.as_str())
        .chain(json_ld);
    let data = Data::new(Strings::read(scripts), titles);
    let is_address = |at: &usize| data.strings.said[*at].text.starts_with("http");
    let mut longest: Vec<usize> = (0..data.strings.said.len()).collect();
    longest.retain(|at| !is_address(at));
    longest.sort_by_key(|at| std::cmp::Reverse(data.strings.said[*at].text.len()));
    let texts = longest.into_iter().take(MAX_LOOKS);
    let reads_well = |at: &usize| prose(&data.strings.said[*at].text).is_some();
    let texts = texts.filter(reads_well).take(MAX_TEXTS);
    let texts = texts.filter_map(|at| data.candidate(at, enough));
    // Of the same text with and without paragraphs the one that has them.
    let best = texts.max_by(|a, b| a.score.total_cmp(&b.score))?;
    Some(data.found(&best))
}

/// The scripts of a page that hold data.
fn data_of(page: &Page) -> impl Iterator<Item = &Script> {
    page.scripts().iter().filter(|script| script.is_data)
}

/// A string, or several of one list, as the text of the page.
struct DataCandidate {
    strings: Vec<usize>,
    score: f32,
    /// Where the title is, and what title and text are in.
    title: Option<usize>,
    record: HolderId,
    is_titled: bool,
}

struct Data {
    strings: Strings,
    /// The strings that are what the page is called, or all of it but the name of the site.
    titles: Vec<usize>,
}

impl Data {
    fn new(strings: Strings, titles: &[&str]) -> Self {
        let titles: Vec<String> = titles
            .iter()
            .take(MAX_TITLES)
            .map(|title| letters(title))
            .collect();
        let is_title = |text: &str| {
            let own = letters(text);
            let count = own.chars().count();
            let most = count * TITLE_SHARE;
            let mut titles = titles.iter();
            count >= TITLE_CHARS && titles.any(|t| t.contains(&own) && t.chars().count() <= most)
        };
        let said = strings.said.iter().enumerate();
        let titles = said
            .filter(|(_, said)| said.text.len() <= MAX_TITLE && is_title(&said.text))
            .map(|(at, _)| at)
            .collect();
        Self { strings, titles }
    }

    fn candidate(&self, at: usize, enough: u32) -> Option<DataCandidate> {
        let said = &self.strings.said[at];
        let (strings, holder, one_of_many) = self.list(at);
        let measure = strings
            .iter()
            .filter_map(|at| prose(&self.strings.said[*at].text));
        let tokens = measure.map(|m| m.tokens).sum::<u32>();
        if tokens < enough {
            return None;
        }
        let around = self.around(holder);
        let own = around.iter().enumerate().find_map(|(up, holder)| {
            let within = self.within(*holder);
            let first = self.titles.partition_point(|at| *at < within.start);
            let title = self.titles.get(first).filter(|at| within.contains(at))?;
            Some((up, *title, *holder))
        });
        let has_paragraphs = strings.len() > 1 || is_markup(&said.text) || said.text.contains('\n');
        let score = tokens as f32 * if has_paragraphs { 1.1 } else { 1.0 };
        if let Some((up, title, record)) = own.filter(|(up, ..)| !one_of_many || *up < 2) {
            return Some(DataCandidate {
                strings,
                score: score * (8.0 - up as f32),
                title: Some(title),
                record,
                is_titled: true,
            });
        }
        if said.key == DECLARED {
            return Some(DataCandidate {
                strings,
                score,
                title: None,
                record: holder,
                is_titled: false,
            });
        }
        // Nothing says that this is what the page is about but that it looks like an article.
        let near = around.into_iter().take(2);
        let (title, record) = near
            .filter_map(|holder| {
                let keyed = |at: &usize| {
                    TITLES
                        .iter()
                        .any(|key| self.strings.said[*at].key.ends_with(key))
                        && self.strings.said[*at].holder == holder
                };
                Some((self.within(holder).find(keyed)?, holder))
            })
            .next()?;
        let has_time = self.beside(record).any(|at| self.time_rank(at).is_some());
        let is_article = tokens >= LONG && has_time && self.has_key(at, &TEXTS);
        (is_article && !one_of_many).then_some(DataCandidate {
            strings,
            score,
            title: Some(title),
            record,
            is_titled: false,
        })
    }

    /// The strings that go with one: the paragraphs of a list, where its items are no articles or comments of their own.
    /// Also what they are in, and whether it is one of several such.
    fn list(&self, at: usize) -> (Vec<usize>, HolderId, bool) {
        let said = &self.strings.said[at];
        let mut best = (vec![at], said.holder, false);
        for holder in self.around(said.holder) {
            if !self.strings.holders[holder].is_list {
                continue;
            }
            let same = |at: &usize| self.strings.said[*at].key == said.key;
            let items: Vec<usize> = self.within(holder).filter(same).collect();
            if items.len() <= best.0.len() {
                continue;
            }
            let records = self
                .within(holder)
                .filter(|at| self.is_of_record(*at))
                .count();
            if records * 2 >= items.len() {
                best.2 = true;
                break;
            }
            (best.0, best.1) = (items, holder);
        }
        best
    }

    /// Whether a string mentions an article or comment of its own.
    fn is_of_record(&self, at: usize) -> bool {
        ["title", "headline", "name"].contains(&&*self.strings.said[at].key)
            || self.has_key(at, &AUTHORS)
            || self.time_rank(at).is_some()
    }

    /// What a string is in, the nearest first.
    fn around(&self, holder: HolderId) -> Vec<HolderId> {
        let up = |holder: &HolderId| {
            let parent = self.strings.holders[*holder].parent;
            (parent != *holder).then_some(parent)
        };
        std::iter::successors(Some(holder), up)
            .take(MAX_UP)
            .collect()
    }

    fn within(&self, holder: HolderId) -> std::ops::Range<usize> {
        let strings = &self.strings.holders[holder].strings;
        strings.start..strings.end.min(self.strings.said.len())
    }

    /// The strings that are in a record itself or in an object of it: the name of its author.
    fn beside(&self, record: HolderId) -> impl Iterator<Item = usize> {
        self.within(record).filter(move |at| {
            let holder = self.strings.said[*at].holder;
            let above = &self.strings.holders[self.strings.holders[holder].parent];
            holder == record || (self.strings.holders[holder].parent == record && !above.is_list)
        })
    }

    fn has_key(&self, at: usize, keys: &[&str]) -> bool {
        keys.contains(&&*self.strings.said[at].key)
    }

    /// The place of its key among those of times, if it is one.
    fn time_rank(&self, at: usize) -> Option<usize> {
        let said = &self.strings.said[at];
        let is_time =
            said.text.len() <= 40 && said.text.bytes().filter(u8::is_ascii_digit).count() >= 6;
        let changed = || said.key.contains("modif") || said.key.contains("update");
        let rank = || TIMES.iter().position(|time| said.key.contains(time));
        (is_time && !changed()).then(rank)?
    }

    /// The times that stand in a record, surest first.
    fn times(&self, record: HolderId) -> Vec<usize> {
        let rank = |at| Some((self.time_rank(at)?, at));
        let mut times: Vec<(usize, usize)> = self.beside(record).filter_map(rank).collect();
        times.sort_unstable();
        times.into_iter().map(|(_, at)| at).collect()
    }

    fn found(&self, best: &DataCandidate) -> DataText {
        let texts: Vec<&str> = best
            .strings
            .iter()
            .map(|at| self.strings.said[*at].text.as_str())
            .collect();
        let is_markup = texts.iter().any(|text| is_markup(text));
        let mut times = self.times(best.record);
        if times.is_empty() {
            // The only one of the text, wherever in it that is.
            let is_time = |at: &usize| self.time_rank(*at).is_some();
            let mut within = self.within(best.record).filter(is_time);
            times.extend(within.next().filter(|_| within.next().is_none()));
        }
        let named = |keys: &[&str], within: &[&str]| {
            let mut beside = self.beside(best.record);
            let at = beside.find(|at| {
                let said = &self.strings.said[*at];
                let inside = || within.contains(&self.strings.key_of(said.holder));
                self.has_key(*at, keys) || (said.key == "name" && inside())
            })?;
            Some(self.strings.said[at].text.clone())
        };
        DataText {
            text: if is_markup {
                texts.iter().map(|text| as_markup(text)).collect()
            } else {
                htmlize::unescape(texts.join("\n")).into_owned()
            },
            is_markup,
            is_titled: best.is_titled,
            title: best
                .title
                .map(|at| self.strings.said[at].text.trim().to_owned()),
            times: times
                .into_iter()
                .map(|at| self.strings.said[at].text.clone())
                .collect(),
            author: named(&AUTHORS, &["author", "user", "creator"]),
            source: named(&SOURCES, &["source", "media", "publisher"]),
        }
    }
}

/// Letters and digits alone, in lower case: two spellings of one title have the same.
fn letters(text: &str) -> String {
    text.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

fn is_markup(text: &str) -> bool {
    ["</", "<p", "<br", "&lt;/", "&lt;p", "&lt;br"]
        .iter()
        .any(|tag| text.contains(tag))
}

/// A string as markup: what is none yet as a paragraph.
fn as_markup(text: &str) -> String {
    match (is_markup(text), text.contains('<')) {
        (true, true) => text.to_owned(),
        (true, false) => htmlize::unescape(text).into_owned(),
        (false, _) => format!("<p>{}</p>", htmlize::escape_text(text)),
    }
}

/// The counts of a text, without those of its markup, if it reads like prose.
fn prose(text: &str) -> Option<Measure> {
    let mut shown = String::with_capacity(text.len());
    let text = as_plain(text);
    let mut rest = &*text;
    while let Some((before, tag)) = rest.split_once('<') {
        shown.push_str(before);
        shown.push(' ');
        rest = tag.split_once('>').map_or("", |(_, behind)| behind);
    }
    shown.push_str(rest);
    let measure = Measure::new(&shown);
    let signs = shown
        .bytes()
        .filter(|b| matches!(b, b'{' | b'}' | b'=' | b';' | b'\\' | b'<' | b'_'));
    let is_code = signs.count() * CHARS_A_SIGN > shown.chars().count();
    let has_words = shown.contains(' ') || measure.cjk > 0;
    (measure.marks > 0 && has_words && !is_code).then_some(measure)
}

fn as_plain(text: &str) -> std::borrow::Cow<'_, str> {
    if text.contains('<') {
        text.into()
    } else {
        htmlize::unescape(text)
    }
}
