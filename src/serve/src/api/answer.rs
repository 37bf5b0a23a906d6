//! A document and suggestions as the API gives them: the JSON forms that `/api/openapi.json` describes; they are stable.

use serde::Serialize;
use serde_json::Value;
use taojin_extract::{Attachment, Comment, Document, Image, Meta, SourceFile};
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
pub(crate) struct TitledDocument {
    /// The document.
    #[serde(flatten)]
    pub(crate) document: DocumentAnswer,
    /// Other addresses at which the crawl found the same document.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) addresses: Vec<String>,
    /// What readers call its site, where the configuration says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) site_title: Option<String>,
    /// The text as Markdown: headings, lists, tables, code, links and pictures.
    pub(crate) markdown: String,
    /// The same as a fragment of HTML of a closed set of elements.
    pub(crate) html: String,
}

/// The fields of a [`TitledDocument`], by which a request may choose.
pub(crate) const DOCUMENT_FIELDS: [&str; 20] = [
    "id",
    "url",
    "addresses",
    "site",
    "site_title",
    "title",
    "published",
    "author",
    "source",
    "language",
    "text",
    "markdown",
    "html",
    "images",
    "meta",
    "fields",
    "attachments",
    "kind",
    "file",
    "comments",
];

impl TitledDocument {
    /// The answer as JSON, with these fields only if there are any.
    pub(crate) fn to_json(&self, fields: &[&str]) -> Value {
        let mut json = serde_json::to_value(self).unwrap_or_default();
        if let (Value::Object(answer), false) = (&mut json, fields.is_empty()) {
            answer.retain(|name, _| fields.contains(&name.as_str()));
        }
        json
    }
}

/// A document, whole.
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
    pub images: Vec<Image>,
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
    pub attachments: Vec<Attachment>,
    /// What the page is: `article`, `hub`, `other`, or `attachment` for a file that one offers.
    pub kind: &'static str,
    /// The file that the text was read from, where it is no web page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<SourceFile>,
    /// Readers' comments in page order.
    pub comments: Vec<Comment>,
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
            images: document.images,
            fields: match serde_json::to_value(document.meta.typed()) {
                Ok(serde_json::Value::Object(fields)) => fields,
                _ => serde_json::Map::new(),
            },
            meta: document.meta,
            attachments: document.attachments,
            kind: document.kind.name(),
            file: document.file,
            comments: document.comments,
        }
    }
}
