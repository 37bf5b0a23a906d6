//! HTTP handlers for programs: `/api/…`, `/metrics`, `/healthz`, `/readyz`.
//!
//! They return JSON, text or a problem document, never HTML. What changes something is for the operator only, and is executed
//! by the crawler.

pub(crate) mod answer;
pub(crate) mod fit;
pub(crate) mod log;
pub(crate) mod openapi;
pub(crate) mod problem;
pub(crate) mod sheet;
pub(crate) mod sites;
pub(crate) mod terms;
pub(crate) mod trends;

use axum::Json;
use axum::extract::rejection::{JsonRejection, PathRejection};
use axum::extract::{Path, RawQuery, State};
use axum::http::{Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::Value;

use super::metrics::SEARCHES_TOTAL;
use super::search::params::{ParamError, Params, QueryAndSites, echo, known_once};
use super::state::Server;
use super::status::Status;
use crate::api::answer::DocumentAnswer;
use crate::api::problem::Refusal;
use crate::pages::words::Lang;
use crate::search::source::SearchResults;
use crate::search::trends::Format;
use crate::state::Failure;
use crate::status::Readiness;
use answer::{DOCUMENT_FIELDS, SuggestAnswer, TitledDocument};
use problem::Problem;

impl From<JsonRejection> for Problem {
    fn from(rejection: JsonRejection) -> Problem {
        Problem::new(rejection.status(), rejection.body_text())
    }
}

impl From<ParamError> for Problem {
    fn from(error: ParamError) -> Problem {
        Problem::parameter(&error.parameter, error.detail(Lang::En))
    }
}

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Problem {
        match failure {
            Failure::Busy => Problem::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "the request was not done within its time limit (serve.time_limit_ms) and was stopped; try again in a moment, or ask for less",
            ),
            Failure::TooMany(wait) => Problem::too_many(wait),
            Failure::Away => Problem::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "the search index (search.url) gives no answer at present, the log says why; try again in a moment: the crawl goes on, and nothing is lost",
            ),
            Failure::Broken => Problem::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "the server failed; its log says why",
            ),
        }
    }
}

/// Search the documents.
///
/// Plain words find documents with as many of them as possible, best first; "quoted text" is found literally;
/// -word leaves documents out. No text is an error: what is no syntax is searched literally. Without `q` every
/// document within the filters is listed.
#[utoipa::path(
    get,
    path = "/api/search",
    operation_id = "search",
    tag = "search",
    params(
        QueryAndSites,
        ("since" = Option<String>, Query, description = "Published on or after this day (UTC+8), moment or period before now: `2026-05-01`, `30d`."),
        ("until" = Option<String>, Query, description = "Published up to the end of this day (UTC+8), or before this moment: `2026-05-31`."),
        ("changed" = Option<String>, Query, description = "Found or changed on this day, in this month or year, in a range of these, or within a period before now: `2026-05`, `7d`."),
        ("sort" = Option<String>, Query, description = "Order of the hits: best first, newest first, or both: best first, but a score halves with each half-life of age."),
        ("match" = Option<String>, Query, description = "How many of the words a document must have: `all`, `most` (weighed by how rare each is) or `any`. Default: all of up to three words, most of more. A document that holds the query as typed always matches."),
        ("explain" = Option<bool>, Query, description = "Each hit says in `reasons` why it stands where it does."),
        ("half_life" = Option<String>, Query, description = "Age that halves a score for `sort=both`: `7d`."),
        ("group" = Option<String>, Query, description = "Only the reprints of one text, the original or earliest first: the `group` of a hit."),
        ("grouped" = Option<bool>, Query, description = "As the web page shows hits: reprints as one hit, the original or earliest for all, and not more than three of the first ten hits from one site if others are nearly as good. `total` still counts every document."),
        ("synonyms" = Option<String>, Query, description = "`off`: only the words as typed, without their synonyms."),
        ("corrected" = Option<String>, Query, description = "`off`: nothing else is searched where the query finds nothing."),
        ("facets" = Option<bool>, Query, description = "Count the result by site and date and name related terms."),
        ("format" = Option<String>, Query, description = "`json`, `csv` or `xlsx`; as a file at most 1,000 hits."),
        ("limit" = Option<u32>, Query, description = "Most hits to return."),
        ("offset" = Option<u32>, Query, description = "Hits to pass over."),
    ),
    responses(
        (status = 200, description = "Hits, perhaps none.", content(
            (SearchResults = "application/json"),
            (String = "text/csv"),
            (Vec<u8> = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
        )),
    )
)]
pub(crate) async fn search(
    State(server): State<Server>,
    RawQuery(raw): RawQuery,
) -> Result<Response, Problem> {
    let params = Params::parse(&raw.unwrap_or_default(), &server.rules(true))
        .inspect_err(|_| metrics::counter!(SEARCHES_TOTAL, "outcome" => "refused").increment(1))?;
    if params.format != Format::Json {
        let sheets = sheet::hits_sheets(&server, &params, params.limit).await?;
        return Ok(sheet::answer("hits", params.format, &sheets));
    }
    let wanted = params.search_request(params.facets, false);
    let mut found = server.search(wanted).await?;
    found.degraded = server.readiness().remark();
    Ok(Json(found).into_response())
}

/// Complete a query.
///
/// Terms of the lexicons that begin with what was typed, in characters, syllables or first letters (`页岩`,
/// `yeyan`, `yyq`), and titles that contain it. Only what finds documents is suggested.
#[utoipa::path(
    get,
    path = "/api/suggest",
    operation_id = "suggest",
    tag = "search",
    params(("q" = Option<String>, Query, description = "What was typed so far.")),
    responses(
        (status = 200, description = "Suggestions, perhaps none.", body = SuggestAnswer),
    )
)]
pub(crate) async fn suggest(
    State(server): State<Server>,
    RawQuery(raw): RawQuery,
) -> Result<Json<SuggestAnswer>, Problem> {
    let raw = raw.unwrap_or_default();
    known_once(&raw, &["q"])?;
    let params = Params::parse(&raw, &server.rules(true))?;
    let suggestions = server.suggest(params.text).await?;
    Ok(Json(SuggestAnswer { suggestions }))
}

/// One document, whole.
#[utoipa::path(
    get,
    path = "/api/docs/{id}",
    operation_id = "document",
    tag = "search",
    params(
        ("id" = String, Path, description = "Id from a hit."),
        ("fields" = Option<String>, Query, description = "Only these fields, with commas between them: without `markdown` and `html` the answer is a third as long.", example = "title,text"),
    ),
    responses(
        (status = 200, description = "The document.", body = TitledDocument),
        (status = 404, description = "No document has this id."),
    )
)]
pub(crate) async fn document(
    State(server): State<Server>,
    id: Result<Path<String>, PathRejection>,
    RawQuery(raw): RawQuery,
) -> Result<Json<Value>, Problem> {
    let id = id.map(|Path(id)| id).unwrap_or_default();
    let parameters = known_once(&raw.unwrap_or_default(), &["fields"])?;
    let chosen = parameters.first().map_or("", |(_, names)| names.as_str());
    let fields: Vec<&str> = chosen
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .collect();
    if let Some(unknown) = fields.iter().find(|name| !DOCUMENT_FIELDS.contains(name)) {
        let known = DOCUMENT_FIELDS.join(", ");
        let detail = format!(
            "`{}` is no field of a document; there are {known}",
            echo(unknown)
        );
        return Err(Problem::parameter("fields", detail));
    }
    match server.document(id.clone()).await? {
        Some(mut document) => {
            let site = document.site.as_deref();
            let answer = TitledDocument {
                site_title: site.and_then(|site| server.site_titles().title(site)),
                addresses: std::mem::take(&mut document.addresses),
                markdown: document.markdown(),
                html: document.html(),
                document: DocumentAnswer::new(id, document),
            };
            Ok(Json(answer.to_json(&fields)))
        }
        None => Err(Problem::new(
            StatusCode::NOT_FOUND,
            "no document has this id",
        )),
    }
}

/// State of crawler and index, for the operator.
#[utoipa::path(
    get,
    path = "/api/status",
    operation_id = "status",
    tag = "operation",
    responses(
        (status = 200, description = "The state.", body = Status),
        (status = 404, description = "Operator pages are switched off."),
    )
)]
pub(crate) async fn status(State(server): State<Server>) -> Result<Json<Status>, Problem> {
    operator_only(&server)?;
    Ok(Json(server.status().await?))
}

/// Whether the process is alive: every worker of it makes progress. Asks nothing of the index, so that it can be asked often.
#[utoipa::path(
    get,
    path = "/healthz",
    operation_id = "health",
    tag = "operation",
    responses(
        (status = 200, description = "Crawl loop, fetching, indexer and server make progress, as far as they run in this process.", body = String, content_type = "text/plain", example = "ok\n"),
        (status = 503, description = "One of them does not, and is named. The status says why.", body = String, content_type = "text/plain", example = "stuck: indexer\n"),
    )
)]
pub(crate) async fn health(State(server): State<Server>) -> (StatusCode, String) {
    let stuck = (server.health)();
    if stuck.is_empty() {
        (StatusCode::OK, "ok\n".to_owned())
    } else {
        (
            StatusCode::SERVICE_UNAVAILABLE,
            format!("stuck: {}\n", stuck.join(", ")),
        )
    }
}

/// Whether this server can be asked: it makes a search, and its index is not far behind the store.
#[utoipa::path(
    get,
    path = "/readyz",
    operation_id = "ready",
    tag = "operation",
    responses(
        (status = 200, description = "A search was answered: `ok`, or `degraded` and why, where the database of a cluster is away and answers come from what this machine has.", body = String, content_type = "text/plain", example = "ok\n"),
        (status = 503, description = "Not done within the time limit, or the engine of the index (`search.url`) gives no answer, or the index does not have all documents yet that were there at the start, or is too far behind the store (`serve.max_lag_ms`)."),
    )
)]
pub(crate) async fn ready(State(server): State<Server>) -> Result<String, Problem> {
    server.probe().await?;
    let readiness = server.readiness();
    let remark = readiness.remark().unwrap_or_default();
    match readiness {
        Readiness::Ready => {}
        Readiness::Degraded => return Ok(format!("degraded: {remark}\n")),
        Readiness::Filling { .. } => {
            return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, remark));
        }
    }
    match server.too_far_behind().await {
        None => Ok("ok\n".to_owned()),
        Some(lag) => Err(Problem::new(
            StatusCode::SERVICE_UNAVAILABLE,
            format!(
                "the index is {} s behind the store, serve.max_lag_ms allows {} s",
                lag.as_secs(),
                server.config.max_lag_ms / 1_000
            ),
        )),
    }
}

/// Figures for Prometheus.
#[utoipa::path(
    get,
    path = "/metrics",
    operation_id = "metrics",
    tag = "operation",
    responses(
        (status = 200, description = "Prometheus text format 0.0.4.", body = String, content_type = "text/plain", example = "# HELP taojin_index_documents Documents that can be found.\n# TYPE taojin_index_documents gauge\ntaojin_index_documents 18551\n"),
        (status = 404, description = "Operator pages are switched off."),
    )
)]
pub(crate) async fn metrics_text(State(server): State<Server>) -> Result<Response, Problem> {
    operator_only(&server)?;
    let text = server.figures().await;
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, kind)], text).into_response())
}

/// This description, with examples of what is here.
#[utoipa::path(
    get,
    path = "/api/openapi.json",
    operation_id = "openapi",
    tag = "operation",
    responses(
        (status = 200, description = "OpenAPI 3.1.", body = Object, example = json!({ "openapi": "3.1.0", "paths": {} })),
    ),
)]
pub(crate) async fn openapi(State(server): State<Server>) -> Json<Value> {
    // Whoever asks for the description gets it without examples where the index does not answer.
    let examples = server.examples().await.ok();
    let topic = (server.follows)().into_iter().next();
    let feed = topic.map(|topic| format!("{}.atom", topic.name));
    Json(openapi::with_examples(&server.openapi, |name| match name {
        "feed" => feed.clone(),
        name => examples.as_ref()?.values().get(name).cloned(),
    }))
}

/// Crawlers have nothing to find in a search page.
pub(crate) async fn robots() -> &'static str {
    "User-agent: *\nDisallow: /\n"
}

/// 404: a page for those who ask for HTML, a problem document for the rest.
pub(crate) async fn not_found() -> Refusal {
    Refusal::Nowhere
}

/// 405; axum adds what is allowed instead.
pub(crate) async fn wrong_method(method: Method) -> Response {
    Problem::new(
        StatusCode::METHOD_NOT_ALLOWED,
        format!("{method} is not allowed here; see the allow header"),
    )
    .into_response()
}

fn operator_only(server: &Server) -> Result<(), Problem> {
    if server.config.operator_pages {
        Ok(())
    } else {
        Err(Problem::new(
            StatusCode::NOT_FOUND,
            "operator pages are switched off on this server",
        ))
    }
}
