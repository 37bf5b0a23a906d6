//! Words, names and dates for the examples of `/help` ([`Examples::anywhere`]) and, of documents that are here, for those of the
//! description of the API ([`Examples::read`]). The latter searches often, so the server keeps the outcome for a while.

use std::collections::BTreeMap;

use chrono::{DateTime, FixedOffset, Months, NaiveDate};
use taojin_search::index::{Sort, is_notice_label};

use super::params::quoted;
use super::source::{DocumentHit, SearchRequest, SearchSource, SourceError};
use crate::pages::view::outward;

/// Newest documents that are looked at, and sites of which some are.
const NEWEST: usize = 30;
const SITES: usize = 12;
const OF_SITE: usize = 3;
/// Words that pairs are tried of.
const WORDS: usize = 8;
/// Longest name, value or address of a document that is taken.
const CHARS_MAX: usize = 60;
/// Characters of a phrase.
const PHRASE_CHARS: usize = 6;
/// Age of examples, in milliseconds.
const FRESH_MS: i64 = 300_000;
/// Periods before now, shortest first.
const PERIODS: [&str; 5] = ["24h", "7d", "1m", "1y", "10y"];

/// What stands where nothing better is known, as in a terminal.
const DEFAULTS: [(&str, &str); 20] = [
    ("word", "页岩气"),
    ("word2", "开发"),
    ("other", "招聘"),
    ("other2", "期货"),
    ("title_word", "油价"),
    ("title_other", "气价"),
    ("phrase", "日产原油"),
    ("prefix", "SU"),
    ("title_prefix", "LNG"),
    ("site", "cnpc.com.cn"),
    ("other_site", "sohu.com"),
    ("author", "张三"),
    ("source", "新华社"),
    ("comment", "涨价"),
    ("label", "字号:国发〔2026〕12号"),
    ("label2", "发布机构:能源局"),
    ("part", "html"),
    ("address", "https://www.cnpc.com.cn/"),
    ("recent", "7d"),
    ("changed", "7d"),
];

/// Values by their names in the texts of examples.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Examples {
    made_ms: i64,
    values: BTreeMap<&'static str, String>,
    /// They are of documents that are here.
    are_of_index: bool,
}

impl Examples {
    /// Examples of documents that may not be here, with the dates of this moment.
    pub(crate) fn anywhere(now: DateTime<FixedOffset>) -> Examples {
        let values = DEFAULTS.map(|(name, value)| (name, value.to_owned()));
        let mut examples = Examples {
            made_ms: now.timestamp_millis(),
            values: values.into(),
            are_of_index: false,
        };
        examples.set_dates(now.date_naive());
        let month = now.format("%Y-%m").to_string();
        examples.values.insert("changed_month", month);
        examples
    }

    /// Examples of documents that are here.
    pub(crate) fn read(
        source: &dyn SearchSource,
        now: DateTime<FixedOffset>,
    ) -> Result<Examples, SourceError> {
        let mut examples = Self::anywhere(now);
        let index = Index {
            source,
            now_ms: now.timestamp_millis(),
        };
        examples.fill(&index)?;
        examples.are_of_index = examples.values.contains_key("document_id");
        Ok(examples)
    }

    /// Whether they are new enough.
    pub(crate) fn serves(&self, now_ms: i64) -> bool {
        // An index that was empty has something soon.
        (0..FRESH_MS).contains(&now_ms.saturating_sub(self.made_ms)) && self.are_of_index
    }

    /// The values by their names.
    pub(crate) fn values(&self) -> &BTreeMap<&'static str, String> {
        &self.values
    }

    fn set(&mut self, name: &'static str, value: Option<impl Into<String>>) {
        if let Some(value) = value {
            self.values.insert(name, value.into());
        }
    }

    /// A day of publication, the month and year around it, and the day a month before.
    fn set_dates(&mut self, day: NaiveDate) {
        let earlier = day.checked_sub_months(Months::new(1)).unwrap_or(day);
        self.set("day", Some(day.to_string()));
        self.set("earlier", Some(earlier.to_string()));
        self.set("month", Some(day.format("%Y-%m").to_string()));
        self.set("year", Some(day.format("%Y").to_string()));
    }

    fn fill(&mut self, index: &Index<'_>) -> Result<(), SourceError> {
        let Newest {
            hits,
            related,
            sites,
        } = index.newest()?;
        let titles: Vec<&str> = hits.iter().map(|hit| hit.title.text.as_str()).collect();
        let mut words: Vec<String> = related.into_iter().filter(|w| is_plain(w)).collect();
        words.extend(titles.iter().flat_map(|title| pieces(title)).take(WORDS));
        words.dedup();
        if let Some((word, word2)) = index.pair(&words, |a, b| format!("{a} NEAR/5 {b}"))? {
            self.set_words(index, &words, word, word2)?;
        }
        self.set(
            "found_word",
            index.first(&words, |word| Ok(index.total(word)? > 0))?,
        );
        self.set(
            "typed",
            index.first(&words, |word| index.is_completed(word))?,
        );
        let document = hits.iter().find(|hit| outward(&hit.url).is_some());
        let document = document.or(hits.first());
        self.set("document_id", document.map(|hit| hit.id.as_str()));
        self.set("document_url", document.and_then(|hit| outward(&hit.url)));
        self.set("document_site", sites.first().map(String::as_str));
        let first = |of: fn(&DocumentHit) -> Option<String>| hits.iter().find_map(of);
        self.set(
            "phrase",
            titles.iter().find_map(|title| run(title, PHRASE_CHARS)),
        );
        self.set(
            "title_prefix",
            titles.iter().find_map(|title| prefix(title)),
        );
        let text_prefix = hits.iter().find_map(|hit| prefix(&hit.snippet.text));
        let title_prefix = self.values["title_prefix"].clone();
        self.set("prefix", text_prefix.or(Some(title_prefix)));
        let site = |at: usize| sites.get(at).map(|site| site_value(index.source, site));
        self.set("site", site(0));
        self.set("other_site", site(1));
        self.set("author", first(|hit| name_of(hit.author.as_ref())));
        self.set("source", first(|hit| name_of(hit.source.as_ref())));
        self.set("part", first(|hit| path_part(&hit.url)));
        let whole = |url: &String| is_short(url) && !url.contains(char::is_whitespace);
        let address = hits.iter().filter_map(|hit| outward(&hit.url)).find(whole);
        self.set("address", address);
        let labels = hits.iter().flat_map(|hit| hit.meta.iter());
        let labels = labels.filter(|(label, value)| is_notice_label(label) && is_short(value));
        let mut labels = labels.map(|(label, value)| format!("{label}:{}", quoted(value)));
        let label = labels.next();
        let name = |text: &str| text.split(':').next().map(str::to_owned);
        let known = label.as_deref().and_then(name);
        self.set("label2", labels.find(|other| name(other) != known));
        self.set("label", label);
        self.set("comment", index.comment(&hits)?);
        Ok(())
    }

    fn set_words(
        &mut self,
        index: &Index<'_>,
        words: &[String],
        word: &str,
        word2: &str,
    ) -> Result<(), SourceError> {
        let all = index.total(word)?;
        let mut others = Vec::new();
        for other in words
            .iter()
            .filter(|other| *other != word && *other != word2)
        {
            // An example that leaves nothing out teaches nothing.
            if (1..all).contains(&index.total(&format!("{word} -{other}"))?) {
                others.push(other.as_str());
            }
            if others.len() == 2 {
                break;
            }
        }
        self.set("other", others.first().copied());
        self.set("other2", others.last().copied());
        let mut in_titles = Vec::new();
        for word in words {
            if in_titles.len() < 2 && index.total(&format!("title:{word}"))? > 0 {
                in_titles.push(word.as_str());
            }
        }
        self.set("title_word", in_titles.first().copied());
        self.set("title_other", in_titles.last().copied());
        for (name, field) in [("recent", "since"), ("changed", "changed")] {
            for period in PERIODS {
                if index.total(&format!("{word} {field}:{period}"))? > 0 {
                    self.set(name, Some(period));
                    break;
                }
            }
        }
        if let Some(day) = index.last_day(word)? {
            self.set_dates(day);
        }
        self.set("word", Some(word));
        self.set("word2", Some(word2));
        Ok(())
    }
}

/// What examples are made of.
struct Newest {
    /// The newest documents, and some of each site after them.
    hits: Vec<DocumentHit>,
    /// Terms that the newest have in common.
    related: Vec<String>,
    /// Largest first.
    sites: Vec<String>,
}

/// What is asked of the index.
struct Index<'a> {
    source: &'a dyn SearchSource,
    now_ms: i64,
}

impl Index<'_> {
    fn request(&self, limit: usize) -> SearchRequest {
        SearchRequest {
            sort: Sort::Date,
            now_ms: self.now_ms,
            limit,
            ..SearchRequest::default()
        }
    }

    fn total(&self, text: &str) -> Result<u64, SourceError> {
        let request = SearchRequest {
            text: text.to_owned(),
            ..self.request(0)
        };
        self.source.search(&request).map(|found| found.total)
    }

    fn newest(&self) -> Result<Newest, SourceError> {
        let everything = SearchRequest {
            facets: true,
            ..self.request(NEWEST)
        };
        let found = self.source.search(&everything)?;
        let facets = found.facets.unwrap_or_default();
        let sites = facets.sites.into_iter().map(|count| count.site);
        let sites: Vec<String> = sites.filter(|site| is_short(site)).take(SITES).collect();
        let mut hits = found.hits;
        for site in &sites {
            let of_site = SearchRequest {
                sites: vec![site.clone()],
                ..self.request(OF_SITE)
            };
            hits.extend(self.source.search(&of_site)?.hits);
        }
        Ok(Newest {
            hits,
            related: facets.related,
            sites,
        })
    }

    /// The first of the words of which this is true.
    fn first<'w>(
        &self,
        words: &'w [String],
        is_so: impl Fn(&str) -> Result<bool, SourceError>,
    ) -> Result<Option<&'w str>, SourceError> {
        for word in words.iter().take(WORDS) {
            if is_so(word)? {
                return Ok(Some(word));
            }
        }
        Ok(None)
    }

    /// Whether something is suggested to who types this.
    fn is_completed(&self, typed: &str) -> Result<bool, SourceError> {
        Ok(!self.source.suggest(typed, 1)?.is_empty())
    }

    /// Two words whose query finds something.
    fn pair<'w>(
        &self,
        words: &'w [String],
        query: impl Fn(&str, &str) -> String,
    ) -> Result<Option<(&'w str, &'w str)>, SourceError> {
        for (at, word) in words.iter().enumerate().take(WORDS) {
            for other in words.iter().skip(at + 1).take(WORDS) {
                let is_apart = !word.contains(other.as_str()) && !other.contains(word.as_str());
                if is_apart && self.total(&query(word, other))? > 0 {
                    return Ok(Some((word, other)));
                }
            }
        }
        Ok(None)
    }

    /// The last day that a document with this word is of.
    fn last_day(&self, word: &str) -> Result<Option<NaiveDate>, SourceError> {
        let request = SearchRequest {
            text: word.to_owned(),
            ..self.request(1)
        };
        let hits = self.source.search(&request)?.hits;
        let published = hits.first().and_then(|hit| hit.published.as_deref());
        let day = published.and_then(|published| published.get(..10));
        Ok(day.and_then(|day| NaiveDate::parse_from_str(day, "%Y-%m-%d").ok()))
    }

    /// What a reader said about one of these.
    fn comment(&self, hits: &[DocumentHit]) -> Result<Option<String>, SourceError> {
        for hit in hits {
            let document = self.source.document(&hit.id)?.unwrap_or_default();
            let said = document.comments.iter();
            if let Some(text) = said.map(|c| c.text.as_str()).find_map(|text| run(text, 4)) {
                return Ok(Some(text));
            }
        }
        Ok(None)
    }
}

/// Returns what to type after `site:`: the title of the site where it is no syntax, since that is what readers know, or else
/// its name.
pub(super) fn site_value(source: &dyn SearchSource, name: &str) -> String {
    let is_words = |text: &String| text.chars().all(|c| c.is_alphanumeric() || c == ' ');
    let title = source.site_titles().title(name);
    let title = title.filter(|title| is_short(title) && is_words(title));
    quoted(title.as_deref().unwrap_or(name))
}

/// Whether a text can stand in a query as it is.
fn is_short(text: &str) -> bool {
    let quotes = ['"', '“', '”', '＂'];
    !text.trim().is_empty()
        && text.chars().count() <= CHARS_MAX
        && !text.chars().any(|c| quotes.contains(&c) || c.is_control())
}

/// Whether a text is a word to every operator: two letters or more.
fn is_plain(word: &str) -> bool {
    word.chars().count() > 1 && word.chars().all(char::is_alphanumeric)
}

fn is_ideograph(c: char) -> bool {
    ('\u{4e00}'..='\u{9fff}').contains(&c)
}

/// The runs of Chinese characters in a text.
fn runs(text: &str) -> impl Iterator<Item = Vec<char>> {
    let runs = text.split(|c| !is_ideograph(c));
    runs.map(|run| run.chars().collect())
}

/// The beginning of the first run of so many Chinese characters, or of half as many.
fn run(text: &str, chars: usize) -> Option<String> {
    let longest = |least: usize| runs(text).find(|run| run.len() >= least);
    let run = longest(chars).or_else(|| longest(chars / 2))?;
    Some(run.iter().take(chars).collect())
}

/// The first pairs of characters of a title: words to search for where nothing better is known.
fn pieces(title: &str) -> Vec<String> {
    let Some(run) = runs(title).find(|run| run.len() >= 4) else {
        return Vec::new();
    };
    run.chunks_exact(2)
        .map(|two| two.iter().collect())
        .collect()
}

/// What a word of letters or digits begins with.
fn prefix(text: &str) -> Option<String> {
    let mut words = text.split(|c: char| !c.is_ascii_alphanumeric());
    let word =
        words.find(|word| word.len() > 2 && word.starts_with(|c: char| c.is_alphabetic()))?;
    word.get(..2).map(str::to_owned)
}

/// A name without what would be read as syntax.
fn name_of(name: Option<&String>) -> Option<String> {
    name.filter(|name| is_short(name)).map(|name| quoted(name))
}

/// The longest word of the path of an address.
fn path_part(url: &str) -> Option<String> {
    let url = url::Url::parse(&outward(url)?).ok()?;
    let words = url.path().split(|c: char| !c.is_ascii_alphanumeric());
    let words = words.filter(|word| word.len() > 1 && word.len() <= CHARS_MAX);
    words.max_by_key(|word| word.len()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_documents_are_plain() {
        assert_eq!(run("【呼山储气库22口", 6).as_deref(), Some("呼山储气库"));
        assert_eq!(run("LNG", 6), None);
        assert_eq!(pieces("第22届呼山储气库"), ["届呼", "山储", "气库"]);
        assert_eq!(prefix("9-1油田 CO2 LNG船").as_deref(), Some("CO"));
        assert_eq!(
            path_part("https://a.example/zc/202611/t_30.html").as_deref(),
            Some("202611")
        );
        assert_eq!(path_part("javascript:alert(1)"), None);
        assert_eq!(name_of(Some(&"a \"b\"".to_owned())), None);
        assert_eq!(
            name_of(Some(&"my site".to_owned())).as_deref(),
            Some("\"my site\"")
        );
        assert!(is_plain("压裂") && !is_plain("a-b") && !is_plain("油"));
    }
}
