//! A document and suggestions as the API gives them: the JSON forms that `/api/openapi.json` describes; they are stable.

use serde::Serialize;
use taojin_extract::{Document, Meta};
use taojin_search::index::Suggestion;
use utoipa::ToSchema;

/// Answer of `/api/suggest`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct SuggestAnswer {
    /// Terms first, those with most documents first, then titles, latest first.
    pub suggestions: Vec<Suggestion>,
}

/// Answer of `/api/docs/{id}`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
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
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<ImageAnswer>,
    /// Fields that the page labels, in its order: what a notice's table says of its number, office and days.
    #[serde(skip_serializing_if = "Meta::is_empty")]
    #[schema(value_type = HashMap<String, String>)]
    pub meta: Meta,
    /// Those of these fields that are plainly a number with its unit, a day, or a list.
    #[serde(skip_serializing_if = "serde_json::Map::is_empty")]
    #[schema(value_type = HashMap<String, Object>)]
    pub fields: serde_json::Map<String, serde_json::Value>,
    /// Files that the page offers, in its order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<AttachmentAnswer>,
    /// Readers' comments in page order.
    pub comments: Vec<CommentAnswer>,
}

/// A picture of a document's text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ImageAnswer {
    /// Its address, where the page names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// What the page says that it shows; may be empty.
    pub alt: String,
    /// Number of paragraphs that stand before it.
    pub after: u32,
}

/// A file that a page offers beside its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct AttachmentAnswer {
    /// Its address.
    pub url: String,
    /// What the page calls it.
    pub name: String,
    /// Ending of the file in lower case; empty where nothing tells.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub format: String,
}

/// One comment of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct CommentAnswer {
    /// Who wrote it.
    pub author: Option<String>,
    /// When, ISO 8601 where it could be read, else as printed.
    pub published: Option<String>,
    /// What it says.
    pub text: String,
    /// Whom it answers, where the page tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<String>,
    /// Votes for it, where the page counts them.
    #[serde(skip_serializing_if = "Option::is_none")]
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
