//! The log of documents: what changed since a copy was made, and what a document said before. [`DocumentLog`] is what the server
//! asks; the handlers answer with JSON or a problem document, and never write.

use axum::Json;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use serde::Serialize;
use taojin_crawl::store::{Cursor, CursorLost};
use taojin_uri::CrawlUri;
use utoipa::ToSchema;

use crate::api::answer::DocumentAnswer;
use crate::api::problem::Problem;
use crate::search::params::{echo, flag, known_once, number};
use crate::search::source::SourceError;
use crate::state::Server;

/// Changes of one answer at most: with what is said of each, some 500 kB.
pub const CHANGES_MAX: usize = 1_000;
/// Changes of one answer when the client does not say.
pub const CHANGES_DEFAULT: usize = 100;

/// Which document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DocumentKey {
    /// The one at an address, or that stands for the page there.
    Url(CrawlUri),
    /// The one with the fingerprint that its id is made of.
    Id(u64),
}

/// The log of documents, to be read. Calls block; the server makes them on blocking threads.
pub trait DocumentLog: Send + Sync + 'static {
    /// At most `limit` changes after `cursor`; with `documents` each new or changed document stands in it, whole.
    fn changes(
        &self,
        cursor: &Cursor,
        limit: usize,
        documents: bool,
    ) -> Result<Result<ChangesAnswer, CursorLost>, SourceError>;

    /// The versions of a document; none if nothing is known of it.
    fn history(&self, key: &DocumentKey) -> Result<Option<HistoryAnswer>, SourceError>;

    /// What the page of a document says of its history. Empty if nothing is known of it.
    fn past(&self, id: u64) -> Result<Past, SourceError>;
}

/// What the page of a document says of its history.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Past {
    /// Its versions, the latest first.
    pub versions: Vec<VersionListed>,
    /// When its web page last showed it, Unix milliseconds, if the last visit did not.
    pub confirmed_ms: Option<i64>,
}

/// A version in the list on a document's page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VersionListed {
    /// Number of the version, 1 for the first.
    pub version: i64,
    /// When it was found, Unix milliseconds.
    pub changed_ms: i64,
    /// Whether it says that the document is gone.
    pub gone: bool,
}

/// Longest text of a cursor.
const CURSOR_CHARS_MAX: usize = 64;

/// What changed since then.
///
/// The changes of documents after `since`, in order: the way to keep a copy of all documents somewhere else. Begin with
/// `since=0`, which gives all documents that are there; then pass `next` of each answer as `since`, at once while `more` is
/// true and from time to time afterwards. A copy that puts what is `new` or `changed` and takes out what is `deleted` is
/// the same as the store after each answer without `more`. A plain number does as `since` too, but only a cursor says to
/// which store it belongs. Status 410 says that no list can bring the copy up to date: start over. The text is that of the
/// log, which is ahead of the index; ask for it with `text=true` instead of one document after the other.
#[utoipa::path(
    get,
    path = "/api/changes",
    operation_id = "changes",
    tag = "search",
    params(
        ("since" = Option<String>, Query, description = "Changes after this one: 0, a `next` of an earlier answer, or a number of a change."),
        ("limit" = Option<u32>, Query, description = "Most changes to return; the answer also ends when it has some 4 MiB."),
        ("text" = Option<bool>, Query, description = "With the whole document of each change, as `/api/docs/{id}` gives it."),
    ),
    responses(
        (status = 200, description = "Changes, perhaps none.", body = ChangesAnswer),
        (status = 410, description = "The cursor belongs to another history (a store replaced or restored from a backup), or is so old that ends of documents after it are forgotten (`documents.keep_deleted_days`). Begin anew with `since=0` and an empty copy."),
    )
)]
pub(crate) async fn changes(
    State(server): State<Server>,
    RawQuery(raw): RawQuery,
) -> Result<Json<ChangesAnswer>, Problem> {
    let asked = known_once(&raw.unwrap_or_default(), &["since", "limit", "text"])?;
    let cursor = match value(&asked, "since") {
        None => Cursor::default(),
        Some(text) if text.len() <= CURSOR_CHARS_MAX => text
            .parse()
            .map_err(|e| Problem::parameter("since", format!("since={}: {e}", echo(text))))?,
        Some(_) => {
            let detail = format!("since has at most {CURSOR_CHARS_MAX} characters");
            return Err(Problem::parameter("since", detail));
        }
    };
    let limit = match value(&asked, "limit") {
        None => CHANGES_DEFAULT,
        Some(text) => number("limit", text, 1, CHANGES_MAX)?,
    };
    let documents = match value(&asked, "text") {
        None => false,
        Some(text) => flag("text", text)?,
    };
    let found = server
        .ask(&server.log, move |log| {
            log.changes(&cursor, limit, documents)
        })
        .await?;
    match found {
        Some(Ok(answer)) => Ok(Json(answer)),
        Some(Err(lost)) => {
            let detail = format!("since: {lost}; start over with since=0 and an empty copy");
            Err(Problem::new(StatusCode::GONE, detail))
        }
        None => Err(no_log()),
    }
}

/// What a document said before.
///
/// The versions of a document that are kept (`[documents]` of the configuration), the latest first: when each was found,
/// and how it differs from the one before. A document that is gone has its versions still, until they are forgotten; one
/// that was taken down has none.
#[utoipa::path(
    get,
    path = "/api/history",
    operation_id = "history",
    tag = "search",
    params(
        ("url" = String, Query, description = "Address of the page."),
    ),
    responses(
        (status = 200, description = "The versions.", body = HistoryAnswer),
        (status = 404, description = "Nothing is known of a document at this address."),
    )
)]
pub(crate) async fn history(
    State(server): State<Server>,
    RawQuery(raw): RawQuery,
) -> Result<Json<HistoryAnswer>, Problem> {
    let asked = known_once(&raw.unwrap_or_default(), &["url"])?;
    let Some(url) = value(&asked, "url") else {
        let detail = "url is missing: write the address of a page, /api/history?url=https://…";
        return Err(Problem::parameter("url", detail));
    };
    let uri = CrawlUri::parse(url)
        .map_err(|e| Problem::parameter("url", format!("url={}: {e}", echo(url))))?;
    let key = DocumentKey::Url(uri);
    match server
        .ask(&server.log, move |log| log.history(&key))
        .await?
    {
        Some(Some(answer)) => Ok(Json(answer)),
        Some(None) => Err(Problem::new(
            StatusCode::NOT_FOUND,
            "nothing is known of a document at this address",
        )),
        None => Err(no_log()),
    }
}

fn no_log() -> Problem {
    Problem::new(StatusCode::NOT_FOUND, "this server has no log of documents")
}

fn value<'a>(found: &'a [(&'static str, String)], name: &str) -> Option<&'a str> {
    let value = found.iter().find(|(given, _)| *given == name);
    value.map(|(_, value)| value.as_str())
}

/// Answer of `/api/changes`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ChangesAnswer {
    /// Identity of the store's history: another one means that the store was replaced or restored from a backup, and that
    /// no cursor of before holds any more. `next` carries it too.
    #[schema(pattern = "^[0-9a-f]{16}$")]
    pub store: String,
    /// The changes in order. A document that changed several times stands here once, with its last change.
    pub changes: Vec<ChangeAnswer>,
    /// Where to go on: the value of `since` for the next call. Keep it as it is once the changes are taken in.
    pub next: String,
    /// Whether there are more changes already. If not, ask again later.
    pub more: bool,
    /// Number of the last change ever made; with `seq` it says how far behind a copy is.
    pub last_seq: i64,
}

/// One change of a document.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ChangeAnswer {
    /// Number of the change. It rises from change to change and never comes twice.
    pub seq: i64,
    /// `new`, `changed` or `deleted`, for whoever stands at `since`. Put what is `new` or `changed` in the place of what
    /// has this id, and take out what is `deleted`, whether it is there or not.
    pub change: String,
    /// Id of the document: the key of a copy, and the id for `/api/docs/{id}`.
    #[schema(pattern = "^[0-9a-f]{16}$")]
    pub id: String,
    /// Address of the page; empty for a document that was imported without one.
    pub url: String,
    /// Name of the site in the configuration.
    pub site: Option<String>,
    /// Headline; null for a document without one, and for one that is gone.
    pub title: Option<String>,
    /// First publication, ISO 8601.
    pub published: Option<String>,
    /// When the document was found for the first time, Unix milliseconds.
    pub first_seen_ms: i64,
    /// When this change was found, Unix milliseconds.
    pub changed_ms: i64,
    /// 1 for the first version of the document, one more with each change. Being gone counts as one.
    pub version: i64,
    /// The whole document, with `text=true`; not for one that is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document: Option<DocumentAnswer>,
    /// Why the document could not be read: it is damaged in the store, and only what stands here is known of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unreadable: Option<String>,
}

/// Answer of `/api/history`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct HistoryAnswer {
    /// Id of the document.
    #[schema(pattern = "^[0-9a-f]{16}$")]
    pub id: String,
    /// Address of the document; another one than was asked for where it stands for that page too.
    pub url: String,
    /// Name of the site in the configuration.
    pub site: Option<String>,
    /// `present`; `gone`: the page is no more; or `taken_down`: by the operator, and nothing of it is kept.
    pub state: String,
    /// Since when it is gone, Unix milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gone_ms: Option<i64>,
    /// The versions that are kept, the latest first.
    pub versions: Vec<VersionAnswer>,
    /// Older versions that are kept and not listed, because the answer is long already.
    pub left_out: u64,
}

/// One version of a document.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct VersionAnswer {
    /// Number of the version, 1 for the first. Being gone counts as one.
    pub version: i64,
    /// Number of the change that made it.
    pub seq: i64,
    /// `new`, `changed` or `deleted`.
    pub change: String,
    /// When the change was found, Unix milliseconds.
    pub changed_ms: i64,
    /// Headline.
    pub title: Option<String>,
    /// First publication, ISO 8601.
    pub published: Option<String>,
    /// Named writer.
    pub author: Option<String>,
    /// Media source as printed.
    pub source: Option<String>,
    /// Characters of its text.
    pub characters: u64,
    /// The version that `fields` and `diff` compare with; none for the oldest that is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compared_with: Option<i64>,
    /// What says something else than before, beside the text.
    pub fields: Vec<FieldChange>,
    /// How the text differs from before, line by line; empty where it does not.
    pub diff: Vec<DiffLine>,
    /// Whether the rest of the difference is left out because it is long.
    pub diff_cut: bool,
    /// Why the version could not be read: it is damaged in the store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unreadable: Option<String>,
}

/// A field that says something else than before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct FieldChange {
    /// `title`, `published`, `author`, `source`, or the number of `comments`, `images` or `attachments`.
    pub field: String,
    /// What it said before; null if it was not there.
    pub before: Option<String>,
    /// What it says now; null if it is not there any more.
    pub after: Option<String>,
}

/// A line of a difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct DiffLine {
    /// `same`, `added`, `removed`, `changed` (`parts` say where), or `left_out`: `lines` lines that are the same.
    pub line: String,
    /// The line, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<DiffPart>,
    /// How many lines are left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<u64>,
}

/// A part of a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct DiffPart {
    /// `same`, `added` or `removed`.
    pub part: String,
    /// Its text.
    pub text: String,
}
