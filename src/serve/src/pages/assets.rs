//! Style, script and mark of the pages. Their addresses carry a version, so that browsers keep them for good.

use std::sync::LazyLock;

use axum::http::header;
use axum::response::{IntoResponse, Response};

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

fn asset(kind: &'static str, text: &'static str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
    ];
    (headers, text).into_response()
}
