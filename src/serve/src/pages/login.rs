//! Signing in and out.
//!
//! A correct token gives a session cookie; without a configured token the page explains how to set one. Redirects never lead
//! to another site.

use std::time::Duration;

use askama::Template;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use tokio::time::Instant;

use super::request::{PageRequest, page, see_other};
use super::view::Chrome;
use super::words::NoTokenLabels;
use crate::api::problem::Refusal;
use crate::guard::client::ClientAddress;
use crate::guard::operator::Form;
use crate::guard::operator::{from_own_page, no_cookie, session, session_cookie};
use crate::now_ms;
use crate::state::Server;

/// What a wrong token costs: long enough to make guessing pointless, short enough for a typing error.
const WRONG_PAUSE: Duration = Duration::from_secs(1);
/// Longest address to come back to.
const NEXT_CHARS_MAX: usize = 2_000;

#[derive(Template)]
#[template(path = "login.html")]
pub(crate) struct LoginPage {
    c: Chrome,
    next: String,
    /// What went wrong, if this is not the first look.
    notice: Option<&'static str>,
}

/// How to set a token, where none is: nobody can sign in, and no token would be the right one.
#[derive(Template)]
#[template(path = "no_token.html")]
struct NoTokenPage {
    c: Chrome,
    w: &'static NoTokenLabels,
}

/// `GET /login`: the form.
pub(crate) async fn form(request: PageRequest) -> Response {
    let query = Form::parse(request.raw.as_bytes());
    show(request, query.get("next"), None)
}

/// `POST /login`: back to where the person came from, with a session.
pub(crate) async fn sign_in(
    request: PageRequest,
    ClientAddress(client): ClientAddress,
    headers: HeaderMap,
    form: Form,
) -> Response {
    let config = &request.server.config;
    if config.token.is_empty() {
        return Refusal::Closed.into_response();
    }
    let own = from_own_page(&headers, &config.public_url);
    let is_right = config.token.is(form.get("token"));
    if !is_right {
        let wrong_tokens = request.server.sessions.wrong_tokens();
        wrong_tokens.record(client, Instant::now());
    }
    if !own || !is_right {
        tokio::time::sleep(WRONG_PAUSE).await;
        let wrong = |c: &Chrome| c.t.operator.wrong_token;
        return show(request.in_language_of(&form), form.get("next"), Some(wrong));
    }
    let Some(name) = request.server.sessions.begin(now_ms()) else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    with_cookie(
        see_other(&request.server, own_path(form.get("next"))),
        &session_cookie(config, &name),
    )
}

/// `POST /logout`: ends the session of this browser, also for whoever has copied its cookie.
pub(crate) async fn sign_out(State(server): State<Server>, headers: HeaderMap) -> Response {
    let answer = see_other(&server, "/");
    if from_own_page(&headers, &server.config.public_url) {
        if let Some(name) = session(&headers) {
            server.sessions.end(name);
        }
        with_cookie(answer, &no_cookie(&server.config))
    } else {
        answer
    }
}

/// The form for somebody whose session is over, with a change that cannot be made now.
pub(crate) fn session_over(request: PageRequest, path: &str) -> Response {
    show(request, path, Some(|c| c.t.operator.signed_out_text))
}

/// The form; with `notice`, which says what went wrong, as 401.
fn show(
    mut request: PageRequest,
    next: &str,
    notice: Option<fn(&Chrome) -> &'static str>,
) -> Response {
    if request.server.config.token.is_empty() {
        return Refusal::Closed.into_response();
    }
    request.path = "/login".to_owned();
    let c = request.chrome();
    let form = LoginPage {
        next: own_path(next).to_owned(),
        notice: notice.map(|text| text(&c)),
        c,
    };
    let status = match notice {
        Some(_) => StatusCode::UNAUTHORIZED,
        None => StatusCode::OK,
    };
    unkept(page(&form, status))
}

/// How to set a token. 403 and not 401: there is none that would help.
pub(crate) fn no_token(mut request: PageRequest) -> Response {
    request.path = "/login".to_owned();
    let c = request.chrome();
    let w = &c.t.no_token;
    unkept(page(&NoTokenPage { c, w }, StatusCode::FORBIDDEN))
}

fn unkept(mut response: Response) -> Response {
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
