//! What the API answers to a search. In: hits from a source. Out: the JSON forms that `/api/openapi.json`
//! describes; they are stable. Never HTML but in `snippet`, which is escaped.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::pages::html::Html;
use crate::search::source::{Found, FoundList, LeaveOut, Offer};
use crate::search::trend_params::unit_code;
use crate::search::values::group_code;
use taojin_extract::Meta;
use taojin_search::analyze::Expanded;
use taojin_search::index::{DateCount, Dates, Suggested, Suggestion};

/// Answer of `/api/search`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SearchAnswer {
    /// Why documents may be missing that are in the store: the database of a cluster is away, or the index is being made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub degraded: Option<String>,
    /// Documents that match, whatever the limit.
    #[schema(examples(31))]
    pub total: u64,
    /// Time the search took, in milliseconds.
    #[schema(examples(1.42), minimum = 0)]
    pub took_ms: f64,
    /// The hits asked for, in order.
    pub hits: Vec<SearchHit>,
    /// What shares a word or a pair of characters with the query but does not match it: no part of `total`, facets and feeds.
    /// Only where the page has room behind the last hit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weaker: Option<WeakerAnswer>,
    /// Searches that find something, where this one finds nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offers: Vec<OfferAnswer>,
    /// Counts of the whole result, with `facets=true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub facets: Option<FacetsAnswer>,
    /// A query that finds something, when no document has the words of this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub did_you_mean: Option<String>,
    /// The query that was searched in place of one that finds nothing: what it sounds or looks like.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub searched_instead: Option<String>,
    /// Words that were looked for with their synonyms.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub synonyms: Vec<SynonymsAnswer>,
    /// Remarks on the query, for example what was searched as text although it looks like a date.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Documents that share something with a query but do not match it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct WeakerAnswer {
    /// How many there are; `match=any` lists them all.
    #[schema(examples(120))]
    pub total: u64,
    /// The best of them, as many as the page has room for.
    pub hits: Vec<SearchHit>,
}

/// A search like the one that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OfferAnswer {
    /// What it leaves out: `quotes` or `dates`.
    #[schema(examples("quotes"))]
    pub without: String,
    /// Its query; where `dates` are left out, leave out `since`, `until` and `changed` as well.
    #[schema(examples("天然气 产量"))]
    pub q: String,
    /// Documents that it finds.
    #[schema(examples(7))]
    pub total: u64,
}

/// A word and what was looked for beside it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SynonymsAnswer {
    /// As it stands in the query, in normal form.
    #[schema(examples("co2"))]
    pub typed: String,
    /// Its synonyms.
    pub also: Vec<String>,
}

/// Counts of a whole result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FacetsAnswer {
    /// Documents by site, most first; the filter by site does not count here.
    pub sites: Vec<SiteCountAnswer>,
    /// Documents by date of publication, earliest first, without gaps; undated ones are left out.
    pub dates: DatesAnswer,
    /// Terms that the best hits have in common, best first.
    pub related: Vec<String>,
}

/// Documents of one site.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SiteCountAnswer {
    /// Name of the site; a value for `site`.
    #[schema(examples("西部油气网"))]
    pub site: String,
    /// Documents of it that match.
    #[schema(examples(12))]
    pub documents: u64,
}

/// Documents by date.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DatesAnswer {
    /// What each count stands for: `day`, `month` or `year`, by the span of the result.
    #[schema(examples("day"))]
    pub unit: String,
    /// The counts.
    pub counts: Vec<DateCountAnswer>,
}

/// Documents of one day, month or year.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DateCountAnswer {
    /// First day of it, ISO 8601.
    #[schema(examples("2026-11-05"), format = Date)]
    pub start: String,
    /// Documents published in it.
    #[schema(examples(3))]
    pub documents: u64,
}

/// Answer of `/api/suggest`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SuggestAnswer {
    /// Terms first, those with most documents first, then titles, latest first.
    pub suggestions: Vec<SuggestionAnswer>,
}

/// What a text that is being typed may become.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SuggestionAnswer {
    /// Text for the query box.
    #[schema(examples("天然气"))]
    pub text: String,
    /// `term` of a lexicon or `title` of a document.
    #[schema(examples("term"))]
    pub kind: String,
    /// Documents that have the term; 1 for a title.
    #[schema(examples(18))]
    pub documents: u64,
    /// Id for `/api/docs/{id}`, for a title.
    pub id: Option<String>,
    /// The parts of the text that were typed: first character and the one after the last, counted in Unicode code
    /// points.
    pub marks: Vec<[usize; 2]>,
}

/// One hit of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SearchHit {
    /// Id for `/api/docs/{id}`.
    #[schema(examples("03fa6b1c2d9e4f50"), pattern = "^[0-9A-Za-z_-]{1,64}$")]
    pub id: String,
    /// Address of the page.
    #[schema(examples("https://news.example.com/2026/11/05/1.html"))]
    pub url: String,
    /// Headline, plain text; empty when the page has none.
    #[schema(examples("天然气产量创新高"))]
    pub title: String,
    /// Name of the site in the configuration.
    #[schema(examples("西部油气网"))]
    pub site: Option<String>,
    /// First publication, ISO 8601: a date, or date and time with offset.
    #[schema(examples("2026-11-05T08:30:00+08:00"))]
    pub published: Option<String>,
    /// Named writer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// Media source as printed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Fields that the page labels: what a notice's table says of its number, office and days.
    #[serde(default, skip_serializing_if = "Meta::is_empty")]
    #[schema(value_type = HashMap<String, String>)]
    pub meta: Meta,
    /// The best part of the text as HTML: escaped, with the matches in `<mark>`.
    #[schema(examples("今年前十个月，<mark>天然气</mark>产量同比增长 6%。"))]
    pub snippet: String,
    /// BM25 over words and character pairs, halved with each half-life of age for `sort=both`. A document that holds the query
    /// as typed gains 8192 in its text and 16384 in its title. Only comparable within one answer.
    #[schema(examples(12.5))]
    pub score: f32,
    /// What the document shares with its reprints: a value for `group`. Null for texts too short to tell.
    #[schema(examples("9c1d4e2f7a6b8035"), pattern = "^[0-9a-f]{16}$")]
    pub group: Option<String>,
    /// How many other matching documents are reprints of the same text.
    #[schema(examples(2))]
    pub duplicates: u64,
    /// Why it stands where it does, with `explain=true`: one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    /// Sites of those, each once, the original or earliest first; the first 20.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outlets: Vec<String>,
}

impl SearchAnswer {
    /// The form of hits; `facets` says whether counts were asked for.
    pub fn new(found: FoundList, took_ms: f64, facets: bool) -> SearchAnswer {
        SearchAnswer {
            degraded: None,
            total: found.total,
            weaker: found.weaker.map(|weaker| WeakerAnswer {
                total: weaker.total,
                hits: weaker.hits.into_iter().map(SearchHit::from).collect(),
            }),
            offers: found.offers.into_iter().map(OfferAnswer::from).collect(),
            facets: facets.then(|| FacetsAnswer {
                sites: found.sites.into_iter().map(SiteCountAnswer::from).collect(),
                dates: DatesAnswer::from(found.dates),
                related: found.related,
            }),
            did_you_mean: found.did_you_mean,
            searched_instead: found.searched_instead,
            synonyms: found
                .synonyms
                .into_iter()
                .map(SynonymsAnswer::from)
                .collect(),
            notes: found.notes.iter().map(ToString::to_string).collect(),
            took_ms: (took_ms * 100.0).round() / 100.0,
            hits: found.hits.into_iter().map(SearchHit::from).collect(),
        }
    }
}

impl From<Offer> for OfferAnswer {
    fn from(offer: Offer) -> OfferAnswer {
        let without = match offer.without {
            LeaveOut::Quotes => "quotes",
            LeaveOut::Dates => "dates",
        };
        OfferAnswer {
            without: without.to_owned(),
            q: offer.text,
            total: offer.total,
        }
    }
}

impl From<Expanded> for SynonymsAnswer {
    fn from(Expanded { typed, also }: Expanded) -> SynonymsAnswer {
        SynonymsAnswer { typed, also }
    }
}

impl From<(String, u64)> for SiteCountAnswer {
    fn from((site, documents): (String, u64)) -> SiteCountAnswer {
        SiteCountAnswer { site, documents }
    }
}

impl From<Dates> for DatesAnswer {
    fn from(dates: Dates) -> DatesAnswer {
        let count = |count: DateCount| DateCountAnswer {
            start: count.start.to_string(),
            documents: count.documents,
        };
        DatesAnswer {
            unit: unit_code(dates.unit).to_owned(),
            counts: dates.counts.into_iter().map(count).collect(),
        }
    }
}

impl From<Suggestion> for SuggestionAnswer {
    fn from(suggestion: Suggestion) -> SuggestionAnswer {
        let text = suggestion.text.as_str();
        let chars = |bytes: usize| text.get(..bytes).unwrap_or_default().chars().count();
        let marks = suggestion.marks.iter();
        SuggestionAnswer {
            marks: marks.map(|m| [chars(m.start), chars(m.end)]).collect(),
            text: suggestion.text,
            kind: match suggestion.kind {
                Suggested::Term => "term",
                Suggested::Title => "title",
            }
            .to_owned(),
            documents: suggestion.documents,
            id: suggestion.id,
        }
    }
}

impl From<Found> for SearchHit {
    fn from(hit: Found) -> SearchHit {
        SearchHit {
            id: hit.id,
            url: hit.url,
            title: hit.title.text,
            site: hit.site,
            published: hit.published,
            author: hit.author,
            source: hit.source,
            meta: hit.meta,
            snippet: Html::marked(&hit.snippet).into_string(),
            group: hit.group.map(group_code),
            duplicates: hit.duplicates,
            reasons: hit.reasons.iter().map(ToString::to_string).collect(),
            outlets: hit.outlets,
            // JSON has no infinity; a score of a search without words is none.
            score: if hit.score.is_finite() {
                hit.score
            } else {
                0.0
            },
        }
    }
}
