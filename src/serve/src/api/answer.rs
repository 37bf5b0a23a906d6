//! What the API answers to a search, and a document as it gives it: the JSON forms that `/api/openapi.json` describes; they are
//! stable. Never HTML but in `snippet`, which is escaped.

use serde::{Deserialize, Serialize};
use taojin_extract::{Document, Meta};
use taojin_search::analyze::Expanded;
use taojin_search::index::{DateCount, Dates, Suggested, Suggestion};
use utoipa::ToSchema;

use crate::pages::view::Html;
use crate::search::params::group_code;
use crate::search::source::{Found, FoundList, LeaveOut, Offer};
use crate::search::trends::unit_code;

/// Answer of `/api/search`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SearchAnswer {
    /// Why documents may be missing that are in the store: the database of a cluster is away, or the index is being made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub degraded: Option<String>,
    /// Documents that match, whatever the limit.
    pub total: u64,
    /// Time the search took, in milliseconds.
    #[schema(minimum = 0)]
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
    pub total: u64,
    /// The best of them, as many as the page has room for.
    pub hits: Vec<SearchHit>,
}

/// A search like the one that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OfferAnswer {
    /// What it leaves out: `quotes` or `dates`.
    pub without: String,
    /// Its query; where `dates` are left out, leave out `since`, `until` and `changed` as well.
    pub q: String,
    /// Documents that it finds.
    pub total: u64,
}

/// A word and what was looked for beside it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SynonymsAnswer {
    /// As it stands in the query, in normal form.
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
    pub site: String,
    /// Documents of it that match.
    pub documents: u64,
}

/// Documents by date.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DatesAnswer {
    /// What each count stands for: `day`, `month` or `year`, by the span of the result.
    pub unit: String,
    /// The counts.
    pub counts: Vec<DateCountAnswer>,
}

/// Documents of one day, month or year.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DateCountAnswer {
    /// First day of it, ISO 8601.
    #[schema(format = Date)]
    pub start: String,
    /// Documents published in it.
    pub documents: u64,
}

/// Answer of `/api/suggest`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct SuggestAnswer {
    /// Terms first, those with most documents first, then titles, latest first.
    pub suggestions: Vec<SuggestionAnswer>,
}

/// What a text that is being typed may become.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct SuggestionAnswer {
    /// Text for the query box.
    pub text: String,
    /// `term` of a lexicon or `title` of a document.
    pub kind: String,
    /// Documents that have the term; 1 for a title.
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
    #[schema(pattern = "^[0-9A-Za-z_-]{1,64}$")]
    pub id: String,
    /// Address of the page.
    pub url: String,
    /// Headline, plain text; empty when the page has none.
    pub title: String,
    /// Name of the site in the configuration.
    pub site: Option<String>,
    /// First publication, ISO 8601: a date, or date and time with offset.
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
    pub snippet: String,
    /// BM25 over words and character pairs, halved with each half-life of age for `sort=both`. A document that holds the query
    /// as typed gains 8192 in its text and 16384 in its title. Only comparable within one answer.
    pub score: f32,
    /// What the document shares with its reprints: a value for `group`. Null for texts too short to tell.
    #[schema(pattern = "^[0-9a-f]{16}$")]
    pub group: Option<String>,
    /// How many other matching documents are reprints of the same text.
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

/// Answer of `/api/docs/{id}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DocumentAnswer {
    /// The id asked for.
    pub id: String,
    /// Address of the page.
    pub url: String,
    /// Name of the site in the configuration.
    pub site: Option<String>,
    /// Headline.
    pub title: Option<String>,
    /// First publication, ISO 8601.
    pub published: Option<String>,
    /// Named writer.
    pub author: Option<String>,
    /// Media source as printed.
    pub source: Option<String>,
    /// Language tag.
    pub language: Option<String>,
    /// Main text, one paragraph a line.
    pub text: String,
    /// Pictures that belong to the text, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<ImageAnswer>,
    /// Fields that the page labels, in its order: what a notice's table says of its number, office and days.
    #[serde(default, skip_serializing_if = "Meta::is_empty")]
    #[schema(value_type = HashMap<String, String>)]
    pub meta: Meta,
    /// Those of these fields that are plainly a number with its unit, a day, or a list.
    #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
    #[schema(value_type = HashMap<String, Object>)]
    pub fields: serde_json::Map<String, serde_json::Value>,
    /// Files that the page offers, in its order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<AttachmentAnswer>,
    /// Readers' comments in page order.
    pub comments: Vec<CommentAnswer>,
}

/// A picture of a document's text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ImageAnswer {
    /// Its address, where the page names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// What the page says that it shows; may be empty.
    pub alt: String,
    /// Number of paragraphs that stand before it.
    pub after: u32,
}

/// A file that a page offers beside its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AttachmentAnswer {
    /// Its address.
    pub url: String,
    /// What the page calls it.
    pub name: String,
    /// Ending of the file in lower case; empty where nothing tells.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub format: String,
}

/// One comment of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CommentAnswer {
    /// Who wrote it.
    pub author: Option<String>,
    /// When, ISO 8601 where it could be read, else as printed.
    pub published: Option<String>,
    /// What it says.
    pub text: String,
    /// Whom it answers, where the page tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<String>,
    /// Votes for it, where the page counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub votes: Option<i64>,
}

impl DocumentAnswer {
    /// The answer for a stored document.
    pub fn new(id: String, document: Document) -> DocumentAnswer {
        DocumentAnswer {
            id,
            url: document.url,
            site: document.site,
            title: document.title,
            published: document.published,
            author: document.author,
            source: document.source,
            language: document.language,
            text: document.text,
            images: document
                .images
                .into_iter()
                .map(|image| ImageAnswer {
                    url: image.url,
                    alt: image.alt,
                    after: image.after,
                })
                .collect(),
            fields: match serde_json::to_value(document.meta.typed()) {
                Ok(serde_json::Value::Object(fields)) => fields,
                _ => serde_json::Map::new(),
            },
            meta: document.meta,
            attachments: document
                .attachments
                .into_iter()
                .map(|file| AttachmentAnswer {
                    url: file.url,
                    name: file.name,
                    format: file.format,
                })
                .collect(),
            comments: document
                .comments
                .into_iter()
                .map(|c| CommentAnswer {
                    author: c.author,
                    published: c.published,
                    text: c.text,
                    reply_to: c.reply_to,
                    votes: c.votes,
                })
                .collect(),
        }
    }
}
