//! Signing in and out. In: the token that the operator types. Out: a session cookie, or the form again. Never a
//! redirect to another site.

use std::time::Duration;

use askama::Template;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::form::Form;
use super::now_ms;
use super::state::Server;
use super::token::{from_own_page, no_cookie, see_other, session_cookie};
use super::view::Chrome;
use super::web::{chrome, lenient, page};

/// What a wrong token costs: long enough to make guessing pointless, short enough for a typing error.
const WRONG_PAUSE: Duration = Duration::from_secs(1);
/// Longest address to come back to.
const NEXT_CHARS_MAX: usize = 2_000;

#[derive(Template)]
#[template(path = "login.html")]
pub(crate) struct LoginPage {
    c: Chrome,
    next: String,
    wrong: bool,
}

/// `GET /login`: the form.
pub(crate) async fn form(
    State(server): State<Server>,
    RawQuery(raw): RawQuery,
    headers: HeaderMap,
) -> Response {
    let raw = raw.unwrap_or_default();
    let next = url::form_urlencoded::parse(raw.as_bytes())
        .find_map(|(name, value)| (name == "next").then(|| value.into_owned()))
        .unwrap_or_default();
    show(&server, &headers, &raw, &next, None)
}

/// `POST /login`: back to where the person came from, with a session.
pub(crate) async fn sign_in(
    State(server): State<Server>,
    headers: HeaderMap,
    form: Form,
) -> Response {
    let own = from_own_page(&headers, &server.config.public_url);
    if !own || !server.config.token.is(form.get("token")) {
        tokio::time::sleep(WRONG_PAUSE).await;
        let raw = format!("lang={}", form.get("lang"));
        let status = StatusCode::UNAUTHORIZED;
        return show(&server, &headers, &raw, form.get("next"), Some(status));
    }
    with_cookie(
        see_other(&server, own_path(form.get("next"))),
        &session_cookie(&server, now_ms()),
    )
}

/// `POST /logout`: ends the session of this browser.
pub(crate) async fn sign_out(State(server): State<Server>, headers: HeaderMap) -> Response {
    let answer = see_other(&server, "/");
    if from_own_page(&headers, &server.config.public_url) {
        with_cookie(answer, &no_cookie(&server))
    } else {
        answer
    }
}

fn show(
    server: &Server,
    headers: &HeaderMap,
    raw: &str,
    next: &str,
    wrong: Option<StatusCode>,
) -> Response {
    let c = chrome(server, &lenient(raw, server), headers, "/login");
    if server.config.token.is_empty() {
        return super::web::missing(c);
    }
    let form = LoginPage {
        next: own_path(next).to_owned(),
        wrong: wrong.is_some(),
        c,
    };
    let mut response = page(&form, wrong.unwrap_or(StatusCode::OK));
    let no_store = HeaderValue::from_static("no-store");
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, no_store);
    response
}

fn with_cookie(mut answer: Response, cookie: &str) -> Response {
    match HeaderValue::from_str(cookie) {
        Ok(value) => {
            answer.headers_mut().insert(header::SET_COOKIE, value);
            answer
        }
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// The address if it leads to this server, else the home page: `//x` and `/\x` are other sites to a browser.
pub(crate) fn own_path(next: &str) -> &str {
    let own = next.starts_with('/')
        && !next.starts_with("//")
        && !next.contains('\\')
        && next.chars().all(|c| c.is_ascii_graphic())
        && next.len() <= NEXT_CHARS_MAX;
    if own { next } else { "/" }
}
