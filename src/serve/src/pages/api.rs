//! The API as a page: Swagger UI, which the program carries, over the description of `/api/openapi.json`.

use std::sync::{Arc, LazyLock};

use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use utoipa_swagger_ui::Config;

use super::request::{see_other, with_policy};
use crate::state::Server;

/// Swagger UI sets styles of elements and has its pictures in its style sheet.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
                      connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";

static CONFIG: LazyLock<Arc<Config<'static>>> = LazyLock::new(|| {
    // No validator: it would send the description to a server on the web.
    Arc::new(Config::from("../openapi.json").validator_url("none"))
});

/// `GET /api`: leads to the page.
pub(crate) async fn redirect(State(server): State<Server>) -> Response {
    see_other(&server, "/api/ui/")
}

/// `GET /api/ui/`.
pub(crate) async fn index() -> Response {
    file(Path("index.html".to_owned())).await
}

/// `GET /api/ui/{file}`.
pub(crate) async fn file(Path(name): Path<String>) -> Response {
    let Ok(Some(file)) = utoipa_swagger_ui::serve(&name, Arc::clone(&CONFIG)) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let content_type = [(header::CONTENT_TYPE, file.content_type)];
    with_policy(
        (content_type, file.bytes.into_owned()).into_response(),
        POLICY,
    )
}
