//! What the API answers. In: hits and documents from a source. Out: the JSON forms that `/api/openapi.json`
//! describes; they are stable. Never HTML but in `snippet`, which is escaped.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::html::Html;
use super::source::{Found, FoundList};
use crate::extract::Document;

/// Answer of `/api/search`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SearchAnswer {
    /// Documents that match, whatever the limit.
    pub total: u64,
    /// Time the search took, in milliseconds.
    #[schema(minimum = 0)]
    pub took_ms: f64,
    /// The hits asked for, in order.
    pub hits: Vec<SearchHit>,
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
    /// The best part of the text as HTML: escaped, with the matches in `<mark>`.
    pub snippet: String,
    /// BM25 over words and character pairs; only comparable within one answer.
    pub score: f32,
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
    /// Readers' comments in page order.
    pub comments: Vec<CommentAnswer>,
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
}

impl SearchAnswer {
    pub(crate) fn new(found: FoundList, took_ms: f64) -> SearchAnswer {
        SearchAnswer {
            total: found.total,
            took_ms: (took_ms * 100.0).round() / 100.0,
            hits: found.hits.into_iter().map(SearchHit::from).collect(),
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
            snippet: Html::marked(&hit.snippet).into_string(),
            // JSON has no infinity; a score of a search without words is none.
            score: if hit.score.is_finite() {
                hit.score
            } else {
                0.0
            },
        }
    }
}

impl DocumentAnswer {
    pub(crate) fn new(id: String, document: Document) -> DocumentAnswer {
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
            comments: document
                .comments
                .into_iter()
                .map(|c| CommentAnswer {
                    author: c.author,
                    published: c.published,
                    text: c.text,
                })
                .collect(),
        }
    }
}
