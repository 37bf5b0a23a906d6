//! Handlers for people. In: a request of a browser. Out: a page, without script if need be. Never a change.

use std::sync::LazyLock;

use askama::Template;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{Html, IntoResponse, Response};

use super::document::DocumentPage;
use super::home::HomePage;
use super::lang::Lang;
use super::moment::Clock;
use super::results::ResultsPage;
use super::status::StatusPage;
use super::view::{Chrome, ErrorPage, kept, link};
use crate::serve::config::PAGE_HITS;
use crate::serve::guard::token::{Operator, Refusal};
use crate::serve::now_ms;
use crate::serve::search::param_error::ParamError;
use crate::serve::search::params::Params;
use crate::serve::state::{Failure, Server, Shared};
use taojin_search::index::Sort;

const STYLE: &str = include_str!("taojin.css");
const SCRIPT: &str = include_str!("taojin.js");
/// The mark in 16, 32 and 48 pixels.
const FAVICON: &[u8] = include_bytes!("favicon.ico");
const MARK: &str = include_str!("mark.svg");

/// Version in the links to style and script, so that they can be cached for good.
static ASSETS_VERSION: LazyLock<String> = LazyLock::new(|| {
    format!(
        "{:x}",
        xxhash_rust::xxh3::xxh3_64([STYLE, SCRIPT].concat().as_bytes())
    )
});

/// `/`: the query box, or the hits when there is something to search.
pub(crate) async fn search(
    State(server): State<Server>,
    RawQuery(raw): RawQuery,
    headers: HeaderMap,
) -> Response {
    let raw = raw.unwrap_or_default();
    let read = Params::parse(&raw, &server.rules(false));
    let params = match read.and_then(|p| {
        if p.backwards() {
            Err(ParamError::Backwards)
        } else {
            Ok(p)
        }
    }) {
        Ok(params) => Params {
            limit: PAGE_HITS,
            ..params
        },
        Err(error) => {
            let c = chrome(&server, &lenient(&raw, &server), &headers, "/");
            let text = error.detail(c.lang);
            let heading = c.t.bad_query;
            return failure(c, StatusCode::BAD_REQUEST, heading, text);
        }
    };
    let c = chrome(&server, &params, &headers, "/");
    if params.text.is_empty() && !params.filtered() {
        return home(c, &params, &server).await;
    }
    // Without words there is no relevance.
    let sort = if params.text.is_empty() {
        Sort::Date
    } else {
        params.sort
    };
    let params = Params { sort, ..params };
    match server
        .search(params.wanted(true, params.group.is_none()))
        .await
    {
        Ok((found, took_ms)) => page(
            &ResultsPage::new(c, &params, found, took_ms, &server.config),
            StatusCode::OK,
        ),
        Err(error) => broken(c, &error),
    }
}

async fn home(c: Chrome, params: &Params, server: &Shared) -> Response {
    // The query box does not wait for what stands below it; the log has the reason.
    let overview = server.overview().await.unwrap_or_default();
    let follows = (server.follows)();
    page(
        &HomePage::new(c, params, &follows, &overview),
        StatusCode::OK,
    )
}

/// `/doc/{id}`: the text of a document as it was crawled.
pub(crate) async fn document(
    State(server): State<Server>,
    id: Result<Path<String>, PathRejection>,
    RawQuery(raw): RawQuery,
    headers: HeaderMap,
) -> Response {
    let params = lenient(&raw.unwrap_or_default(), &server);
    let id = id.map(|Path(id)| id).unwrap_or_default();
    let c = chrome(&server, &params, &headers, &format!("/doc/{id}"));
    let document = match server.document(id.clone()).await {
        Ok(Some(document)) => document,
        Ok(None) => return missing(c),
        Err(error) => return broken(c, &error),
    };
    let texts = DocumentPage::texts(&document);
    // The text is what was asked for: it is shown even where what goes with it is not found in time.
    let related = server.related(id.clone()).await.unwrap_or_default();
    match server.mark(params.text.clone(), texts).await {
        Ok(marked) => page(
            &DocumentPage::new(c, &params, id, document, &marked, related),
            StatusCode::OK,
        ),
        Err(error) => broken(c, &error),
    }
}

/// `/status`: the operator's page.
pub(crate) async fn status(
    State(server): State<Server>,
    RawQuery(raw): RawQuery,
    headers: HeaderMap,
) -> Response {
    let params = lenient(&raw.unwrap_or_default(), &server);
    let c = chrome(&server, &params, &headers, "/status");
    if !server.config.operator_pages {
        return missing(c);
    }
    match server.status().await {
        Ok(status) => page(&StatusPage::new(c, status, now_ms()), StatusCode::OK),
        Err(error) => broken(c, &error),
    }
}

/// A page for an address that leads nowhere.
pub(crate) fn not_found(server: &Server, uri: &Uri, headers: &HeaderMap) -> Response {
    let params = lenient(uri.query().unwrap_or_default(), server);
    missing(chrome(server, &params, headers, "/"))
}

pub(crate) async fn style() -> Response {
    asset("text/css; charset=utf-8", STYLE)
}

pub(crate) async fn script() -> Response {
    asset("text/javascript; charset=utf-8", SCRIPT)
}

pub(crate) async fn mark() -> Response {
    asset("image/svg+xml", MARK)
}

/// The mark for browsers that ask for it by this name whatever a page says. Its address never changes, so it is asked
/// for again after a day.
pub(crate) async fn favicon() -> Response {
    let headers = [
        (header::CONTENT_TYPE, "image/vnd.microsoft.icon"),
        (header::CACHE_CONTROL, "public, max-age=86400"),
    ];
    (headers, FAVICON).into_response()
}

/// Whether the client is a browser that a person looks at.
pub(crate) fn wants_html(headers: &HeaderMap) -> bool {
    headers
        .get(header::ACCEPT)
        .and_then(|accept| accept.to_str().ok())
        .is_some_and(|accept| accept.contains("text/html"))
}

/// What can be understood of a query string; a page that is not a search does not fail because of it.
pub(crate) fn lenient(raw: &str, server: &Shared) -> Params {
    Params::parse(raw, &server.rules(false)).unwrap_or_else(|_| {
        let mut params = Params::default();
        for (name, value) in url::form_urlencoded::parse(raw.as_bytes()) {
            match name.as_ref() {
                "lang" => params.lang = Lang::named(&value),
                "q" => {
                    params.text = value
                        .trim()
                        .chars()
                        .take(server.config.query_chars)
                        .collect()
                }
                _ => {}
            }
        }
        params
    })
}

pub(crate) fn chrome(server: &Shared, params: &Params, headers: &HeaderMap, path: &str) -> Chrome {
    let accepted = headers
        .get(header::ACCEPT_LANGUAGE)
        .and_then(|value| value.to_str().ok());
    let lang = params.lang.unwrap_or_else(|| Lang::preferred(accepted));
    let other = Params {
        lang: Some(lang.other()),
        ..params.clone()
    };
    let plain = Params {
        lang: params.lang,
        ..Params::default()
    }
    .query_string();
    Chrome {
        lang,
        asked_lang: params.lang,
        clock: Clock {
            lang,
            now_ms: now_ms(),
            utc_offset_minutes: server.utc_offset_minutes(),
        },
        t: lang.labels(),
        base: server.base.clone(),
        version: &ASSETS_VERSION,
        text: params.text.clone(),
        query_chars: server.config.query_chars,
        kept: kept(params, false),
        home: link(&server.base, "/", &plain),
        status: link(&server.base, "/status", &plain),
        help: link(&server.base, "/help", &plain),
        api: link(&server.base, "/api", &plain),
        switch: link(&server.base, path, &other.query_string()),
        documents: Some(server.documents()),
        operator: server.config.operator_pages,
        signed_in: match Operator::prove(server, &Method::GET, headers, now_ms()) {
            Err(Refusal::Closed) => None,
            proof => Some(proof.is_ok()),
        },
        site_titles: server.site_titles(),
    }
}

pub(crate) fn missing(c: Chrome) -> Response {
    let (heading, text) = (c.t.not_found, c.t.not_found_text.to_owned());
    failure(c, StatusCode::NOT_FOUND, heading, text)
}

/// A page for whoever asks too often.
pub(crate) fn too_many(server: &Shared, headers: &HeaderMap) -> Response {
    let c = chrome(server, &Params::default(), headers, "/");
    let (heading, text) = (c.t.too_many, c.t.too_many_text.to_owned());
    failure(c, StatusCode::TOO_MANY_REQUESTS, heading, text)
}

/// A page for whoever another site sent with a change.
pub(crate) fn foreign(server: &Shared, uri: &Uri, headers: &HeaderMap) -> Response {
    let params = lenient(uri.query().unwrap_or_default(), server);
    let c = chrome(server, &params, headers, "/");
    let (heading, text) = (c.t.operator.refused_heading, c.t.operator.foreign_text);
    failure(c, StatusCode::FORBIDDEN, heading, text.to_owned())
}

pub(crate) fn broken(c: Chrome, error: &Failure) -> Response {
    match error {
        Failure::Busy => {
            let (heading, text) = (c.t.busy, c.t.busy_text.to_owned());
            failure(c, StatusCode::SERVICE_UNAVAILABLE, heading, text)
        }
        Failure::Broken => {
            let (heading, text) = (c.t.error, c.t.failed_text.to_owned());
            failure(c, StatusCode::INTERNAL_SERVER_ERROR, heading, text)
        }
    }
}

fn failure(c: Chrome, status: StatusCode, heading: &'static str, text: String) -> Response {
    page(
        &ErrorPage {
            c,
            code: status.as_u16(),
            heading,
            text,
        },
        status,
    )
}

pub(crate) fn page(template: &impl Template, status: StatusCode) -> Response {
    match template.render() {
        Ok(html) => {
            let mut response = (status, Html(html)).into_response();
            response
                .headers_mut()
                .insert(header::VARY, HeaderValue::from_static("accept-language"));
            response
        }
        Err(error) => {
            tracing::error!(%error, "page failed");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

fn asset(kind: &'static str, text: &'static str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
    ];
    (headers, text).into_response()
}
