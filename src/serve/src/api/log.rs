//! The log of documents for programs: what changed since a copy was made, and what a document said before. In: a request.
//! Out: JSON or a problem document. Never a write.

use axum::Json;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;

use taojin_crawl::store::Cursor;
use taojin_uri::CrawlUri;

use super::changes_answer::ChangesAnswer;
use super::history_answer::HistoryAnswer;
use super::problem::Problem;
use crate::document_log::{CHANGES_DEFAULT, CHANGES_MAX, DocumentKey};
use crate::search::param_error::{echo, known_once};
use crate::search::values::{flag, number};
use crate::state::Server;

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
        .log(move |log| log.changes(&cursor, limit, documents))
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
        ("url" = String, Query, description = "Address of the page.", example = "https://news.example.com/2026/11/05/1.html"),
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
    match server.log(move |log| log.history(&key)).await? {
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
