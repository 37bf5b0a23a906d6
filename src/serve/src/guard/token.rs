//! Who may change something. In: the headers of a request and `serve.token`. Out: an [`Operator`], the proof that a
//! handler asks for before it changes anything, or a [`Refusal`]. Never lets a page of another site act for a person who
//! is signed in here, and never shows by its timing how much of a token was right.
//!
//! A program sends `Authorization: Bearer TOKEN`; no browser adds that by itself. A person signs in once with the
//! same token and gets a cookie that scripts cannot read (`HttpOnly`) and that other sites' pages do not carry
//! (`SameSite=Strict`). As a second lock, a change that comes with the cookie must also come from a page of ours:
//! `Sec-Fetch-Site` and `Origin`, which no page can forge, have to say so. Signing out ends the session itself, not only
//! this browser's cookie; a restart ends all of them.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, header};

use super::refusal::Refusal;
use super::session::{SESSION_S, Sessions};
use crate::config::Config;
use crate::now_ms;
use crate::state::Server;

/// Name of the cookie.
const COOKIE: &str = "taojin_operator";

/// Proof that the request comes from the operator: a handler that changes something has one among its arguments.
#[derive(Debug)]
pub(crate) struct Operator;

impl Operator {
    /// Decides from the headers alone.
    pub(crate) fn prove(
        config: &Config,
        sessions: &Sessions,
        method: &Method,
        headers: &HeaderMap,
        now_ms: i64,
    ) -> Result<Operator, Refusal> {
        let token = &config.token;
        if token.is_empty() {
            return Err(Refusal::Closed);
        }
        if let Some(offered) = bearer(headers) {
            let fine = token.is(offered);
            return fine.then_some(Operator).ok_or(Refusal::Unknown);
        }
        if !session(headers).is_some_and(|name| sessions.holds(name, now_ms)) {
            return Err(Refusal::Unknown);
        }
        if !method.is_safe() && !from_own_page(headers, &config.public_url) {
            return Err(Refusal::Foreign);
        }
        Ok(Operator)
    }
}

impl FromRequestParts<Server> for Operator {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, server: &Server) -> Result<Operator, Refusal> {
        let (method, headers) = (&parts.method, &parts.headers);
        Operator::prove(&server.config, &server.sessions, method, headers, now_ms())
    }
}

/// The cookie of a session of this name, as a `Set-Cookie` value.
pub(crate) fn session_cookie(config: &Config, name: &str) -> String {
    set_cookie(config, name, SESSION_S)
}

/// The name of the session that a browser sends; it need not be open.
pub(crate) fn session(headers: &HeaderMap) -> Option<&str> {
    cookies(headers).find_map(|(name, value)| (name == COOKIE).then_some(value))
}

/// The cookie that ends a session.
pub(crate) fn no_cookie(config: &Config) -> String {
    set_cookie(config, "", 0)
}

fn set_cookie(config: &Config, value: &str, age_s: i64) -> String {
    let secure = match config.public_url.starts_with("https:") {
        true => "; Secure",
        false => "",
    };
    format!("{COOKIE}={value}; Path=/; Max-Age={age_s}; HttpOnly; SameSite=Strict{secure}")
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
