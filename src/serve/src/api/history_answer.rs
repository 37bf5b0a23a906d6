//! What `/api/history` answers. The names are stable; `/api/openapi.json` describes them.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Answer of `/api/history`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct HistoryAnswer {
    /// Id of the document.
    #[schema(examples("03fa6b1c2d9e4f50"), pattern = "^[0-9a-f]{16}$")]
    pub id: String,
    /// Address of the document; another one than was asked for where it stands for that page too.
    #[schema(examples("https://news.example.com/2026/11/05/1.html"))]
    pub url: String,
    /// Name of the site in the configuration.
    #[schema(examples("西部油气网"))]
    pub site: Option<String>,
    /// `present`; `gone`: the page is no more; or `taken_down`: by the operator, and nothing of it is kept.
    #[schema(examples("present"))]
    pub state: String,
    /// Since when it is gone, Unix milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(examples(1_793_925_000_000_i64))]
    pub gone_ms: Option<i64>,
    /// The versions that are kept, the latest first.
    pub versions: Vec<VersionAnswer>,
    /// Older versions that are kept and not listed, because the answer is long already.
    #[schema(examples(0))]
    pub left_out: u64,
}

/// One version of a document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct VersionAnswer {
    /// Number of the version, 1 for the first. Being gone counts as one.
    #[schema(examples(2))]
    pub version: i64,
    /// Number of the change that made it.
    #[schema(examples(1289))]
    pub seq: i64,
    /// `new`, `changed` or `deleted`.
    #[schema(examples("changed"))]
    pub change: String,
    /// When the change was found, Unix milliseconds.
    #[schema(examples(1_793_925_000_000_i64))]
    pub changed_ms: i64,
    /// Headline.
    #[schema(examples("天然气产量创新高"))]
    pub title: Option<String>,
    /// First publication, ISO 8601.
    #[schema(examples("2026-11-05T08:30:00+08:00"))]
    pub published: Option<String>,
    /// Named writer.
    #[schema(examples("张三"))]
    pub author: Option<String>,
    /// Media source as printed.
    #[schema(examples("新华社"))]
    pub source: Option<String>,
    /// Characters of its text.
    #[schema(examples(812))]
    pub characters: u64,
    /// The version that `fields` and `diff` compare with; none for the oldest that is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(examples(1))]
    pub compared_with: Option<i64>,
    /// What says something else than before, beside the text.
    pub fields: Vec<FieldChange>,
    /// How the text differs from before, line by line; empty where it does not.
    pub diff: Vec<DiffLine>,
    /// Whether the rest of the difference is left out because it is long.
    pub diff_cut: bool,
    /// Why the version could not be read: it is damaged in the store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(examples("damaged in the store"))]
    pub unreadable: Option<String>,
}

/// A field that says something else than before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FieldChange {
    /// `title`, `published`, `author`, `source`, `comments` (how many) or `images` (how many).
    #[schema(examples("title"))]
    pub field: String,
    /// What it said before; null if it was not there.
    #[schema(examples("天然气产量增长"))]
    pub before: Option<String>,
    /// What it says now; null if it is not there any more.
    #[schema(examples("天然气产量创新高"))]
    pub after: Option<String>,
}

/// A line of a difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DiffLine {
    /// `same`, `added`, `removed`, `changed` (`parts` say where), or `left_out`: `lines` lines that are the same.
    #[schema(examples("changed"))]
    pub line: String,
    /// The line, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<DiffPart>,
    /// How many lines are left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(examples(12))]
    pub lines: Option<u64>,
}

/// A part of a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DiffPart {
    /// `same`, `added` or `removed`.
    #[schema(examples("added"))]
    pub part: String,
    /// Its text.
    #[schema(examples("创新高"))]
    pub text: String,
}
