//! Signing in and out. In: the token that the operator types. Out: a session cookie, or the form again; where no token
//! is set, how to set one. Never a redirect to another site.

use std::time::Duration;

use askama::Template;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};

use super::form::Form;
use super::token::{Refusal, from_own_page, no_cookie, see_other, session_cookie};
use crate::serve::now_ms;
use crate::serve::pages::lang::Lang;
use crate::serve::pages::view::Chrome;
use crate::serve::pages::web::{chrome, lenient, page, wants_html};
use crate::serve::state::{Server, Shared};

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
    w: &'static Words,
}

/// Words of that page.
struct Words {
    heading: &'static str,
    text: &'static str,
    make: &'static str,
    write: &'static str,
    restart: &'static str,
    sign_in: &'static str,
}

const CHINESE: Words = Words {
    heading: "还没有设置管理口令",
    text: "审核领域词、标注模板等管理操作需要口令；搜索不需要。这台服务器还没有设置口令，所以现在谁也不能登录。设置方法：",
    make: "生成一个口令（至少 20 个字符）：",
    write: "写进配置文件 taojin.toml：",
    restart: "重启淘金，让新口令生效：",
    sign_in: "用这个口令登录：",
};

const ENGLISH: Words = Words {
    heading: "No operator's token is set",
    text: "Reviewing terms, labelling templates and other changes need the operator's token; searching needs none. This server has no token, so nobody can sign in yet. To set one:",
    make: "Make a token of 20 characters or more:",
    write: "Write it into the configuration, taojin.toml:",
    restart: "Restart Taojin, which then reads it:",
    sign_in: "Use it to sign in:",
};

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
    if server.config.token.is_empty() {
        return no_token(&server, &headers, "");
    }
    let own = from_own_page(&headers, &server.config.public_url);
    if !own || !server.config.token.is(form.get("token")) {
        tokio::time::sleep(WRONG_PAUSE).await;
        let raw = format!("lang={}", form.get("lang"));
        let wrong = |c: &Chrome| c.t.operator.wrong_token;
        return show(&server, &headers, &raw, form.get("next"), Some(wrong));
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

/// The form for somebody who asked for a page that is the operator's, with a change that cannot be made now.
pub(crate) fn first(server: &Shared, headers: &HeaderMap, uri: &Uri) -> Response {
    let raw = uri.query().unwrap_or_default();
    let signed_out = |c: &Chrome| c.t.operator.signed_out_text;
    show(server, headers, raw, uri.path(), Some(signed_out))
}

/// The form; with `notice`, which says what went wrong, as 401.
fn show(
    server: &Shared,
    headers: &HeaderMap,
    raw: &str,
    next: &str,
    notice: Option<fn(&Chrome) -> &'static str>,
) -> Response {
    if server.config.token.is_empty() {
        return no_token(server, headers, raw);
    }
    let c = chrome(server, &lenient(raw, server), headers, "/login");
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
pub(crate) fn no_token(server: &Shared, headers: &HeaderMap, raw: &str) -> Response {
    if !wants_html(headers) {
        return Refusal::Closed.problem().into_response();
    }
    let c = chrome(server, &lenient(raw, server), headers, "/login");
    let w = match c.lang {
        Lang::Zh => &CHINESE,
        Lang::En => &ENGLISH,
    };
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
