//! What `/api/changes` answers. The names are stable; `/api/openapi.json` describes them.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::document_answer::DocumentAnswer;

/// Answer of `/api/changes`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ChangesAnswer {
    /// Identity of the store's history: another one means that the store was replaced or restored from a backup, and that
    /// no cursor of before holds any more. `next` carries it too.
    #[schema(examples("8c2f0b51d7e3a946"), pattern = "^[0-9a-f]{16}$")]
    pub store: String,
    /// The changes in order. A document that changed several times stands here once, with its last change.
    pub changes: Vec<ChangeAnswer>,
    /// Where to go on: the value of `since` for the next call. Keep it as it is once the changes are taken in.
    #[schema(examples("8c2f0b51d7e3a946-1289"))]
    pub next: String,
    /// Whether there are more changes already. If not, ask again later.
    pub more: bool,
    /// Number of the last change ever made; with `seq` it says how far behind a copy is.
    #[schema(examples(1289))]
    pub last_seq: i64,
}

/// One change of a document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ChangeAnswer {
    /// Number of the change. It rises from change to change and never comes twice.
    #[schema(examples(1289))]
    pub seq: i64,
    /// `new`, `changed` or `deleted`, for whoever stands at `since`. Put what is `new` or `changed` in the place of what
    /// has this id, and take out what is `deleted`, whether it is there or not.
    #[schema(examples("changed"))]
    pub change: String,
    /// Id of the document: the key of a copy, and the id for `/api/docs/{id}`.
    #[schema(examples("03fa6b1c2d9e4f50"), pattern = "^[0-9a-f]{16}$")]
    pub id: String,
    /// Address of the page; empty for a document that was imported without one.
    #[schema(examples("https://news.example.com/2026/11/05/1.html"))]
    pub url: String,
    /// Name of the site in the configuration.
    #[schema(examples("西部油气网"))]
    pub site: Option<String>,
    /// Headline; null for a document without one, and for one that is gone.
    #[schema(examples("天然气产量创新高"))]
    pub title: Option<String>,
    /// First publication, ISO 8601.
    #[schema(examples("2026-11-05T08:30:00+08:00"))]
    pub published: Option<String>,
    /// When the document was found for the first time, Unix milliseconds.
    #[schema(examples(1_793_838_600_000_i64))]
    pub first_seen_ms: i64,
    /// When this change was found, Unix milliseconds.
    #[schema(examples(1_793_925_000_000_i64))]
    pub changed_ms: i64,
    /// 1 for the first version of the document, one more with each change. Being gone counts as one.
    #[schema(examples(2))]
    pub version: i64,
    /// The whole document, with `text=true`; not for one that is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<DocumentAnswer>,
    /// Why the document could not be read: it is damaged in the store, and only what stands here is known of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(examples("damaged in the store"))]
    pub unreadable: Option<String>,
}
