//! Words, names and dates for the examples of `/help` ([`Examples::anywhere`]) and, of documents that are here, for those of the
//! description of the API ([`Examples::read`]). The latter searches often, so the server keeps the outcome for a while.

use std::collections::BTreeMap;

use chrono::{DateTime, FixedOffset, Months, NaiveDate};
use taojin_search::index::Sort;

use super::params::quoted;
use super::source::{DocumentHit, SearchRequest, SearchSource, SourceError};
use crate::pages::view::outward;

/// Newest documents that are looked at.
const NEWEST: usize = 30;
/// Words that are tried.
const WORDS: usize = 8;
/// Longest name of a site that is taken.
const CHARS_MAX: usize = 60;
/// Age of examples, in milliseconds.
const FRESH_MS: i64 = 300_000;

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
}

impl Examples {
    /// Examples of documents that may not be here, with the dates of this moment.
    pub(crate) fn anywhere(now: DateTime<FixedOffset>) -> Examples {
        let values = DEFAULTS.map(|(name, value)| (name, value.to_owned()));
        let mut examples = Examples {
            made_ms: now.timestamp_millis(),
            values: values.into(),
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
        Ok(examples)
    }

    /// Whether they are new enough.
    pub(crate) fn serves(&self, now_ms: i64) -> bool {
        // An index that was empty has something soon.
        (0..FRESH_MS).contains(&now_ms.saturating_sub(self.made_ms))
            && self.values.contains_key("document_id")
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
        let mut words: Vec<String> = related.into_iter().filter(|w| is_plain(w)).collect();
        let titles = hits.iter().map(|hit| hit.title.text.as_str());
        words.extend(titles.flat_map(pieces).take(WORDS));
        words.dedup();
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
        Ok(())
    }
}

/// What examples are made of.
struct Newest {
    /// The newest documents.
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
        Ok(Newest {
            hits: found.hits,
            related: facets.related,
            sites: sites.filter(|site| is_short(site)).collect(),
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

/// The first pairs of characters of a title: words to search for where nothing better is known.
fn pieces(title: &str) -> Vec<String> {
    let Some(run) = runs(title).find(|run| run.len() >= 4) else {
        return Vec::new();
    };
    run.chunks_exact(2)
        .map(|two| two.iter().collect())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_documents_are_plain() {
        assert_eq!(pieces("第22届呼山储气库"), ["届呼", "山储", "气库"]);
        assert!(is_plain("压裂") && !is_plain("a-b") && !is_plain("油"));
    }
}
