//! Every fixed word of the pages. In: one file of words for each language, `words/zh.toml` and `words/en.toml`. Out: two
//! tables of the same shape, read once. A word that one file lacks, or has and no page uses, fails the tests.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use super::operator_labels::{
    NoTokenLabels, OperatorLabels, SiteLabels, TemplateLabels, TermsLabels,
};
use super::sentences::Counted;

/// The words in Chinese.
pub(crate) static ZH: LazyLock<Labels> = LazyLock::new(|| read(include_str!("words/zh.toml")));
/// The words in English.
pub(crate) static EN: LazyLock<Labels> = LazyLock::new(|| read(include_str!("words/en.toml")));

fn read(text: &'static str) -> Labels {
    toml::from_str(text).expect("the words are part of the program, and the tests read them")
}

/// Every fixed word of the pages in one language.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Labels {
    pub(crate) tagline: &'static str,
    pub(crate) skip: &'static str,
    pub(crate) database_away: &'static str,
    pub(crate) index_filling: &'static str,
    pub(crate) search: &'static str,
    pub(crate) query: &'static str,
    pub(crate) placeholder: &'static str,
    pub(crate) hint_exact: &'static str,
    pub(crate) hint_without: &'static str,
    pub(crate) switch: &'static str,
    pub(crate) switch_label: &'static str,
    pub(crate) status: &'static str,
    pub(crate) api: &'static str,
    pub(crate) help: &'static str,
    pub(crate) home: &'static str,
    pub(crate) results: &'static str,
    pub(crate) filters: &'static str,
    pub(crate) site: &'static str,
    pub(crate) all_sites: &'static str,
    pub(crate) time: &'static str,
    pub(crate) any_time: &'static str,
    pub(crate) day: &'static str,
    pub(crate) week: &'static str,
    pub(crate) month: &'static str,
    pub(crate) year: &'static str,
    pub(crate) since: &'static str,
    pub(crate) until: &'static str,
    pub(crate) changed: &'static str,
    pub(crate) apply: &'static str,
    pub(crate) clear: &'static str,
    pub(crate) sort: &'static str,
    pub(crate) relevance: &'static str,
    pub(crate) both: &'static str,
    pub(crate) date: &'static str,
    pub(crate) cached: &'static str,
    pub(crate) original: &'static str,
    pub(crate) pages: &'static str,
    pub(crate) page: &'static str,
    pub(crate) previous: &'static str,
    pub(crate) next: &'static str,
    pub(crate) untitled: &'static str,
    pub(crate) undated: &'static str,
    pub(crate) nothing: &'static str,
    pub(crate) nothing_hints: [&'static str; 3],
    pub(crate) nothing_filters: &'static str,
    pub(crate) beyond: &'static str,
    pub(crate) cached_note: &'static str,
    pub(crate) not_confirmed_since: &'static str,
    pub(crate) back: &'static str,
    pub(crate) source: &'static str,
    pub(crate) attachments: &'static str,
    pub(crate) author: &'static str,
    pub(crate) anonymous: &'static str,
    pub(crate) no_text: &'static str,
    /// A picture that the page says nothing of.
    pub(crate) picture: &'static str,
    pub(crate) error: &'static str,
    pub(crate) not_found: &'static str,
    pub(crate) not_found_text: &'static str,
    pub(crate) busy: &'static str,
    pub(crate) busy_text: &'static str,
    pub(crate) away: &'static str,
    pub(crate) away_text: &'static str,
    pub(crate) bad_query: &'static str,
    pub(crate) failed_text: &'static str,
    pub(crate) too_many: &'static str,
    pub(crate) too_many_text: &'static str,
    pub(crate) did_you_mean: &'static str,
    pub(crate) weaker: &'static str,
    pub(crate) weaker_all: &'static str,
    pub(crate) matching: &'static str,
    /// As the search decides, all, most, any.
    pub(crate) match_names: [&'static str; 4],
    pub(crate) related: &'static str,
    pub(crate) feed: &'static str,
    pub(crate) topics: &'static str,
    pub(crate) by_date: &'static str,
    pub(crate) only_typed: &'static str,
    pub(crate) search_literally: &'static str,
    pub(crate) all_reprints: &'static str,
    pub(crate) suggestions: &'static str,
    pub(crate) term: &'static str,
    pub(crate) title: &'static str,
    pub(crate) example_words: &'static str,
    pub(crate) example_site: &'static str,
    pub(crate) example_time: &'static str,
    pub(crate) feed_of: &'static str,
    pub(crate) newest: &'static str,
    pub(crate) sites: &'static str,
    pub(crate) empty_heading: &'static str,
    pub(crate) empty_add: &'static str,
    pub(crate) empty_crawl: &'static str,
    pub(crate) empty_run: &'static str,
    pub(crate) empty_crawling: &'static str,
    pub(crate) active_filters: &'static str,
    pub(crate) cite: &'static str,
    pub(crate) cite_plain: &'static str,
    pub(crate) copy: &'static str,
    pub(crate) copied: &'static str,
    pub(crate) also_published: &'static str,
    pub(crate) similar: &'static str,
    pub(crate) counts: Counts,
    pub(crate) sentences: Sentences,
    pub(crate) parameters: ParameterLabels,
    pub(crate) operator: OperatorLabels,
    pub(crate) site_page: SiteLabels,
    pub(crate) terms_page: TermsLabels,
    pub(crate) template_pages: TemplateLabels,
    pub(crate) no_token: NoTokenLabels,
    pub(crate) feed_page: FeedLabels,
    pub(crate) api_page: ApiLabels,
    pub(crate) versions_page: VersionLabels,
    pub(crate) trends_page: TrendLabels,
}

/// Words of the comparison over time.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TrendLabels {
    pub(crate) heading: &'static str,
    pub(crate) lead: &'static str,
    pub(crate) add: &'static str,
    pub(crate) compare: &'static str,
    pub(crate) unit: &'static str,
    /// Automatic, day, week, month, year.
    pub(crate) units: [&'static str; 5],
    pub(crate) counts: &'static str,
    pub(crate) shares: &'static str,
    pub(crate) chart: &'static str,
    pub(crate) all: &'static str,
    pub(crate) sites: &'static str,
    pub(crate) first: &'static str,
    pub(crate) rising: &'static str,
    pub(crate) coarser: &'static str,
    pub(crate) download: &'static str,
    pub(crate) link: &'static str,
    pub(crate) total: Counted,
    pub(crate) undated: Counted,
    pub(crate) reprinted: Counted,
}

/// Words of a feed as a page.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FeedLabels {
    pub(crate) feed: &'static str,
    pub(crate) text: &'static str,
    pub(crate) address: &'static str,
    pub(crate) json: &'static str,
    pub(crate) search: &'static str,
    pub(crate) none: &'static str,
}

/// Words of the versions of a document.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct VersionLabels {
    pub(crate) heading: &'static str,
    pub(crate) version: &'static str,
    pub(crate) current: &'static str,
    pub(crate) first: &'static str,
    pub(crate) deleted: &'static str,
    pub(crate) gone: &'static str,
    pub(crate) gone_since: &'static str,
    pub(crate) taken_down: &'static str,
    pub(crate) legend: &'static str,
    pub(crate) added: &'static str,
    pub(crate) removed: &'static str,
    pub(crate) oldest: &'static str,
    pub(crate) nothing: &'static str,
    pub(crate) same_text: &'static str,
    pub(crate) cut: &'static str,
    pub(crate) unreadable: &'static str,
    pub(crate) back: &'static str,
    pub(crate) title: &'static str,
    pub(crate) published: &'static str,
    pub(crate) comments: &'static str,
    pub(crate) images: &'static str,
}

/// Words of the page of the API.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ApiLabels {
    pub(crate) heading: &'static str,
    pub(crate) lead: &'static str,
    pub(crate) address: &'static str,
    pub(crate) machine: &'static str,
    pub(crate) errors: &'static str,
    pub(crate) errors_text: &'static str,
    pub(crate) limit: &'static str,
    pub(crate) limit_text: &'static str,
    pub(crate) operator: &'static str,
    pub(crate) parameter: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) meaning: &'static str,
    pub(crate) call: &'static str,
    pub(crate) answer: &'static str,
    pub(crate) fields: &'static str,
    pub(crate) statuses: &'static str,
    pub(crate) contents: &'static str,
    /// Operations in the order of the page, with what each does.
    pub(crate) operations: Vec<(&'static str, &'static str)>,
    /// Names of the groups of routes.
    pub(crate) groups: BTreeMap<&'static str, &'static str>,
}

/// What can be wrong with a query string.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ParameterLabels {
    pub(crate) too_long: &'static str,
    pub(crate) too_costly: &'static str,
    pub(crate) date: &'static str,
    pub(crate) backwards: &'static str,
    pub(crate) number: &'static str,
    pub(crate) sort: &'static str,
    pub(crate) matching: &'static str,
    pub(crate) half_life: &'static str,
    pub(crate) group: &'static str,
    pub(crate) switch: &'static str,
    pub(crate) flag: &'static str,
    pub(crate) sites: &'static str,
    pub(crate) site_name: &'static str,
    pub(crate) oversize: &'static str,
    pub(crate) repeated: &'static str,
    pub(crate) unknown: &'static str,
    pub(crate) queries: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) format: &'static str,
}

/// Sentences with places for values.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sentences {
    pub(crate) range: &'static str,
    /// Between the names of a list.
    pub(crate) between: &'static str,
    pub(crate) also_searched: &'static str,
    pub(crate) searched_instead: &'static str,
    pub(crate) range_folded: &'static str,
    pub(crate) labelled: &'static str,
    pub(crate) remove: &'static str,
    pub(crate) chart: &'static str,
    pub(crate) crawled: &'static str,
    pub(crate) not_crawled: &'static str,
    pub(crate) ago: &'static str,
    pub(crate) later: &'static str,
    /// Second, minute, hour, day.
    pub(crate) units: [&'static str; 4],
}

/// Sentences with a number.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "'de: 'static"))]
pub(crate) struct Counts {
    pub(crate) documents: Counted,
    pub(crate) results: Counted,
    pub(crate) reprints: Counted,
    pub(crate) more_outlets: Counted,
    pub(crate) bar: Counted,
    pub(crate) comments: Counted,
    pub(crate) replies: Counted,
    pub(crate) of_site: Counted,
    pub(crate) new: Counted,
    pub(crate) sites_waiting: Counted,
    pub(crate) more_sites: Counted,
    pub(crate) same_lines: Counted,
    pub(crate) characters: Counted,
    pub(crate) left_out_versions: Counted,
    pub(crate) weaker: Counted,
    pub(crate) without_quotes: Counted,
    pub(crate) all_dates: Counted,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tables have the same shape, or one of them could not be read. A number of one is the only difference.
    #[test]
    fn both_languages_have_the_same_words() {
        fn keys(table: &toml::Table, before: &str, found: &mut Vec<String>) {
            for (key, value) in table {
                match value {
                    toml::Value::Table(inner) => keys(inner, &format!("{before}{key}."), found),
                    toml::Value::Array(list) => {
                        found.push(format!("{before}{key} {}", list.len()));
                        let first = |entry: &toml::Value| entry.get(0).map(ToString::to_string);
                        found.extend(list.iter().filter_map(first));
                    }
                    _ if key == "one" => {}
                    _ => found.push(format!("{before}{key}")),
                }
            }
        }
        let [zh, en] = ["words/zh.toml", "words/en.toml"].map(|file| {
            let path = format!("{}/src/serve/pages/{file}", env!("CARGO_MANIFEST_DIR"));
            let text = std::fs::read_to_string(path).unwrap();
            let mut found = Vec::new();
            keys(&text.parse().unwrap(), "", &mut found);
            found
        });
        assert_eq!(zh, en);
        assert_eq!(ZH.operator.levels.len(), EN.operator.levels.len());
    }
}
