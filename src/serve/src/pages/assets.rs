//! Files that pages load or name to browsers: style, script and mark, whose addresses carry a version so that browsers keep them for good; and Swagger
//! UI, which shows the description of `/api/openapi.json` as a page.

use std::sync::{Arc, LazyLock};

use askama::Template;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use utoipa_swagger_ui::Config;

use crate::feeds::root;
use crate::guard::operator::header_text;
use crate::pages::request::{see_other, with_policy};
use crate::pages::words::Lang;
use crate::state::Server;

const STYLE: &str = include_str!("taojin.css");
const SCRIPT: &str = include_str!("taojin.js");
/// The mark in 16, 32 and 48 pixels.
const FAVICON: &[u8] = include_bytes!("favicon.ico");
const MARK: &str = include_str!("mark.svg");

/// Version in the links to style and script.
pub(crate) static VERSION: LazyLock<String> = LazyLock::new(|| {
    let both = [STYLE, SCRIPT].concat();
    format!("{:x}", xxhash_rust::xxh3::xxh3_64(both.as_bytes()))
});

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

/// The search as browsers take it into their address bar: an OpenSearch 1.1 description.
#[derive(Template)]
#[template(path = "opensearch.xml")]
struct SearchEngine {
    root: String,
    description: &'static str,
}

/// `GET /opensearch.xml`.
pub(crate) async fn search_engine(State(server): State<Server>, headers: HeaderMap) -> Response {
    let lang = Lang::preferred(header_text(&headers, "accept-language"));
    let engine = SearchEngine {
        root: root(&server, &headers),
        description: lang.labels().engine,
    };
    let kind = "application/opensearchdescription+xml; charset=utf-8";
    match engine.render() {
        Ok(text) => ([(header::CONTENT_TYPE, kind)], text).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

fn asset(kind: &'static str, text: &'static str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
    ];
    (headers, text).into_response()
}

/// Swagger UI sets styles of elements and has its pictures in its style sheet.
const API_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
                      connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";

static CONFIG: LazyLock<Arc<Config<'static>>> = LazyLock::new(|| {
    // No validator: it would send the description to a server on the web.
    Arc::new(Config::from("../openapi.json").validator_url("none"))
});

/// `GET /api`: leads to the page.
pub(crate) async fn api(State(server): State<Server>) -> Response {
    see_other(&server, "/api/ui/")
}

/// `GET /api/ui/`.
pub(crate) async fn api_index() -> Response {
    api_file(Path("index.html".to_owned())).await
}

/// `GET /api/ui/{file}`.
pub(crate) async fn api_file(Path(name): Path<String>) -> Response {
    let Ok(Some(file)) = utoipa_swagger_ui::serve(&name, Arc::clone(&CONFIG)) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let content_type = [(header::CONTENT_TYPE, file.content_type)];
    with_policy(
        (content_type, file.bytes.into_owned()).into_response(),
        API_POLICY,
    )
}
