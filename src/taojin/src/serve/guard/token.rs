//! Who may change something. In: the headers of a request and `serve.token`. Out: an [`Operator`], the proof that a
//! handler asks for before it changes anything, or a refusal. Never lets a page of another site act for a person who
//! is signed in here, and never says by its timing how much of a token was right.
//!
//! A program sends `Authorization: Bearer TOKEN`; no browser adds that by itself. A person signs in once with the
//! same token and gets a cookie that scripts cannot read (`HttpOnly`) and that other sites' pages do not carry
//! (`SameSite=Strict`). As a second lock, a change that comes with the cookie must also come from a page of ours:
//! `Sec-Fetch-Site` and `Origin`, which no page can forge, have to say so.

use std::fmt;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use ring::hmac;
use serde::{Deserialize, Serialize};

use super::login;
use crate::serve::api::problem::Problem;
use crate::serve::now_ms;
use crate::serve::pages::web;
use crate::serve::state::{Server, Shared};

/// Characters a token must have: with 20 random ones nobody guesses it over the network.
pub(crate) const TOKEN_CHARS_MIN: usize = 20;
/// How long a person stays signed in: a working day.
const SESSION_S: i64 = 12 * 3_600;
/// Name of the cookie.
const COOKIE: &str = "taojin_operator";
/// What a session's signature is about, so that it can serve for nothing else.
const PURPOSE: &str = "taojin operator session until ";

/// A text that is never shown: its debug form hides it.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The text itself, for signing.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Compares in a time that does not depend on where two texts differ, or on their lengths.
    pub(crate) fn is(&self, offered: &str) -> bool {
        let key = self.key();
        let wanted = hmac::sign(&key, self.0.as_bytes());
        !self.is_empty() && hmac::verify(&key, offered.as_bytes(), wanted.as_ref()).is_ok()
    }

    fn key(&self) -> hmac::Key {
        hmac::Key::new(hmac::HMAC_SHA256, self.0.as_bytes())
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Secret {
        Secret(text.to_owned())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_empty() { "none" } else { "hidden" })
    }
}

/// The signature of `message` under `key`: HMAC-SHA256 (RFC 2104) in lower-case hexadecimal.
pub fn signature(key: &Secret, message: &[u8]) -> String {
    use fmt::Write;
    let mut out = String::with_capacity(64);
    for byte in hmac::sign(&key.key(), message).as_ref() {
        write!(out, "{byte:02x}").expect("a string takes everything");
    }
    out
}

/// Proof that the request comes from the operator: a handler that changes something has one among its arguments.
#[derive(Debug)]
pub(crate) struct Operator;

/// Why a request is not the operator's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// `serve.token` is not set: nothing can be changed over HTTP.
    Closed,
    /// No token and no session, or a wrong one.
    Unknown,
    /// A change that a page of another site asked for.
    Foreign,
}

impl Operator {
    /// Decides from the headers alone.
    pub(crate) fn prove(
        server: &Shared,
        method: &Method,
        headers: &HeaderMap,
        now_ms: i64,
    ) -> Result<Operator, Refusal> {
        let token = &server.config.token;
        if token.is_empty() {
            return Err(Refusal::Closed);
        }
        if let Some(offered) = bearer(headers) {
            let fine = token.is(offered);
            return fine.then_some(Operator).ok_or(Refusal::Unknown);
        }
        let session = cookies(headers).find_map(|(name, value)| (name == COOKIE).then_some(value));
        if !session.is_some_and(|value| session_holds(token, value, now_ms)) {
            return Err(Refusal::Unknown);
        }
        if !method.is_safe() && !from_own_page(headers, &server.config.public_url) {
            return Err(Refusal::Foreign);
        }
        Ok(Operator)
    }
}

impl FromRequestParts<Server> for Operator {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, server: &Server) -> Result<Operator, Response> {
        Operator::prove(server, &parts.method, &parts.headers, now_ms())
            .map_err(|refusal| refused(refusal, server, parts))
    }
}

/// What a refused client is told: a person gets the form to sign in, or how a token is set where none is.
fn refused(refusal: Refusal, server: &Shared, parts: &Parts) -> Response {
    let person = web::wants_html(&parts.headers) && !parts.uri.path().starts_with("/api/");
    let raw = parts.uri.query().unwrap_or_default();
    match (refusal, person) {
        (_, false) => refusal.problem().into_response(),
        (Refusal::Closed, true) => login::no_token(server, &parts.headers, raw),
        (Refusal::Unknown, true) if parts.method.is_safe() => {
            see_other(server, &login_path(&parts.uri))
        }
        (Refusal::Unknown, true) => login::first(server, &parts.headers, &parts.uri),
        (Refusal::Foreign, true) => web::foreign(server, &parts.uri, &parts.headers),
    }
}

impl Refusal {
    /// What a program is told. 401, which asks for a token, only where there is one that would help.
    pub(crate) fn problem(self) -> Problem {
        let (status, detail) = match self {
            Refusal::Closed => (
                StatusCode::FORBIDDEN,
                "no operator's token is set on this server, so nothing can be changed over HTTP; set serve.token in \
                 the configuration and restart",
            ),
            Refusal::Unknown => (
                StatusCode::UNAUTHORIZED,
                "this needs the operator's token: Authorization: Bearer TOKEN",
            ),
            Refusal::Foreign => (
                StatusCode::FORBIDDEN,
                "a change must come from a page of this server, or with Authorization: Bearer TOKEN",
            ),
        };
        Problem::new(status, detail)
    }
}

/// Where to sign in, and come back to `uri`.
fn login_path(uri: &Uri) -> String {
    let back = uri.path_and_query().map_or("/", |path| path.as_str());
    let query = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("next", back)
        .finish();
    format!("/login?{query}")
}

/// 303 to a page of ours: what every change ends with, so that going back in the browser repeats nothing.
pub(crate) fn see_other(server: &Shared, path: &str) -> Response {
    let to = format!("{}{path}", server.base);
    (StatusCode::SEE_OTHER, [(header::LOCATION, to)]).into_response()
}

/// The cookie of a new session, as a `Set-Cookie` value.
pub(crate) fn session_cookie(server: &Shared, now_ms: i64) -> String {
    let until_s = now_ms / 1_000 + SESSION_S;
    let mark = signature(
        &server.config.token,
        format!("{PURPOSE}{until_s}").as_bytes(),
    );
    set_cookie(server, &format!("{until_s}.{mark}"), SESSION_S)
}

/// The cookie that ends a session.
pub(crate) fn no_cookie(server: &Shared) -> String {
    set_cookie(server, "", 0)
}

fn set_cookie(server: &Shared, value: &str, age_s: i64) -> String {
    let secure = match server.config.public_url.starts_with("https:") {
        true => "; Secure",
        false => "",
    };
    format!("{COOKIE}={value}; Path=/; Max-Age={age_s}; HttpOnly; SameSite=Strict{secure}")
}

/// Whether a session's value was signed with this token and is not over.
fn session_holds(token: &Secret, value: &str, now_ms: i64) -> bool {
    let Some((until_s, mark)) = value.split_once('.') else {
        return false;
    };
    let genuine = Secret::from(signature(token, format!("{PURPOSE}{until_s}").as_bytes()).as_str());
    genuine.is(mark)
        && until_s
            .parse()
            .is_ok_and(|until: i64| now_ms / 1_000 < until)
}

/// Whether a browser says that a page of ours sent this. Without either header it is no browser of today.
pub(crate) fn from_own_page(headers: &HeaderMap, public_url: &str) -> bool {
    let site = text(headers, "sec-fetch-site");
    let origin = text(headers, "origin");
    if site.is_none() && origin.is_none() {
        return false;
    }
    site.is_none_or(|site| site == "same-origin")
        && origin.is_none_or(|origin| {
            let host = origin.split_once("://").map(|(_, host)| host);
            let public = url::Url::parse(public_url).map(|u| u.origin().ascii_serialization());
            (host.is_some() && host == text(headers, "host"))
                || public.is_ok_and(|public| public == origin)
        })
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = text(headers, "authorization")?.split_once(' ')?;
    scheme
        .eq_ignore_ascii_case("bearer")
        .then_some(token.trim())
}

fn cookies(headers: &HeaderMap) -> impl Iterator<Item = (&str, &str)> {
    headers
        .get_all(header::COOKIE)
        .into_iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}
