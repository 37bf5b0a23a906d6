//! Who may change something: whoever has the token or a session, and sends a small form from our own pages. Sessions are kept in
//! memory only, at most [`SESSIONS_MAX`]: a restart ends them all. A [`Secret`] is shown by no log.

use std::collections::HashMap;
use std::fmt::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode, header};
use ring::rand::{SecureRandom, SystemRandom};
use ring::{digest, hmac};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::api::problem::{Problem, Refusal};
use crate::config::Config;
use crate::guard::client::ClientAddress;
use crate::guard::wrong_tokens::WrongTokens;
use crate::now_ms;
use crate::state::Server;

/// Name of the cookie.
const COOKIE: &str = "taojin_operator";

/// Proof that the request comes from the operator: a handler that changes something has one among its arguments.
#[derive(Debug, PartialEq, Eq)]
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
        let proof = Operator::prove(&server.config, &server.sessions, method, headers, now_ms());
        if proof == Err(Refusal::Unknown) && bearer(headers).is_some() {
            let ClientAddress(client) = ClientAddress::of(&server.config, parts);
            server
                .sessions
                .wrong_tokens()
                .record(client, Instant::now());
        }
        proof
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
    let secure = if config.public_url.starts_with("https:") {
        "; Secure"
    } else {
        ""
    };
    format!("{COOKIE}={value}; Path=/; Max-Age={age_s}; HttpOnly; SameSite=Strict{secure}")
}

/// Whether a browser says that a page of ours sent this. Without either header it is no browser of today.
pub(crate) fn from_own_page(headers: &HeaderMap, public_url: &str) -> bool {
    let site = header_text(headers, "sec-fetch-site");
    let origin = header_text(headers, "origin");
    if site.is_none() && origin.is_none() {
        return false;
    }
    site.is_none_or(|site| site == "same-origin")
        && origin.is_none_or(|origin| {
            let host = origin.split_once("://").map(|(_, host)| host);
            let public = url::Url::parse(public_url).map(|u| u.origin().ascii_serialization());
            (host.is_some() && host == header_text(headers, "host"))
                || public.is_ok_and(|public| public == origin)
        })
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = header_text(headers, "authorization")?.split_once(' ')?;
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

/// The text of a header, if there is one and it is one.
pub(crate) fn header_text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// How long a person stays signed in, in seconds: a working day.
pub(crate) const SESSION_S: i64 = 12 * 3_600;
/// Sessions at once: one for each browser of the few who know the token. One more ends the oldest.
const SESSIONS_MAX: usize = 64;
/// Random bytes of a session's name: nobody guesses it.
const NAME_BYTES: usize = 32;

/// A text that nobody guesses, fit for a token too; `None` if the system has no random numbers.
pub fn new_token() -> Option<String> {
    let mut bytes = [0; NAME_BYTES];
    SystemRandom::new().fill(&mut bytes).ok()?;
    Some(hex(&bytes))
}

/// The open sessions, and who tried to have one with a wrong token.
#[derive(Default)]
pub(crate) struct Sessions {
    wrong_tokens: WrongTokens,
    /// When each ends, Unix seconds; by the digest of its name, so that no timing tells how much of a name was right.
    open: Mutex<HashMap<Vec<u8>, i64>>,
}

impl Sessions {
    /// Opens a session. Its name; `None` if the system has no random numbers.
    pub(crate) fn begin(&self, now_ms: i64) -> Option<String> {
        let name = new_token()?;
        let now_s = now_ms / 1_000;
        let mut open = self.lock();
        open.retain(|_, until_s| *until_s > now_s);
        if open.len() >= SESSIONS_MAX {
            let oldest = open.iter().min_by_key(|(_, until_s)| **until_s);
            if let Some(oldest) = oldest.map(|(key, _)| key.clone()) {
                open.remove(&oldest);
            }
        }
        open.insert(key(&name), now_s + SESSION_S);
        Some(name)
    }

    /// Whether a session of this name is open.
    pub(crate) fn holds(&self, name: &str, now_ms: i64) -> bool {
        let until_s = self.lock().get(&key(name)).copied();
        until_s.is_some_and(|until_s| now_ms / 1_000 < until_s)
    }

    /// The tokens that were refused.
    pub(crate) fn wrong_tokens(&self) -> &WrongTokens {
        &self.wrong_tokens
    }

    /// Ends the session of this name, wherever its name is known.
    pub(crate) fn end(&self, name: &str) {
        self.lock().remove(&key(name));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Vec<u8>, i64>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn key(name: &str) -> Vec<u8> {
    digest::digest(&digest::SHA256, name.as_bytes())
        .as_ref()
        .to_vec()
}

/// Characters a token must have: with 20 random ones nobody guesses it over the network.
pub(crate) const TOKEN_CHARS_MIN: usize = 20;

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
    hex(hmac::sign(&key.key(), message).as_ref())
}

fn hex(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        write!(out, "{byte:02x}").expect("a string takes everything");
    }
    out
}

/// Longest body that is read: a page of terms to accept, with room.
pub(crate) const FORM_BYTES_MAX: usize = 64 * 1024;
const FORM: &str = "application/x-www-form-urlencoded";

/// Fields of a form, in their order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Form(Vec<(String, String)>);

impl Form {
    /// The fields of a body or of a query string.
    pub(crate) fn parse(bytes: &[u8]) -> Form {
        Form(url::form_urlencoded::parse(bytes).into_owned().collect())
    }

    /// The first value of a field; empty when there is none.
    pub(crate) fn get<'a>(&'a self, name: &'a str) -> &'a str {
        self.all(name).next().unwrap_or_default()
    }

    /// All values of a field.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0
            .iter()
            .filter_map(move |(n, value)| (n == name).then_some(value.as_str()))
    }
}

impl<S: Send + Sync> FromRequest<S> for Form {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Form, Problem> {
        let kind = header_text(request.headers(), "content-type").unwrap_or_default();
        if !kind.to_ascii_lowercase().starts_with(FORM) {
            let detail = format!("send the fields as {FORM}");
            return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, detail));
        }
        let body = Bytes::from_request(request, state).await.map_err(|_| {
            let detail = format!("the body is longer than {FORM_BYTES_MAX} bytes, or broke off");
            Problem::new(StatusCode::PAYLOAD_TOO_LARGE, detail)
        })?;
        Ok(Form::parse(&body))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_never_more_than_so_many_and_the_oldest_goes() {
        let sessions = Sessions::default();
        let names: Vec<String> = (0..=SESSIONS_MAX as i64)
            .map(|at| sessions.begin(at * 1_000).unwrap())
            .collect();
        let now_ms = 100_000;
        assert!(!sessions.holds(&names[0], now_ms));
        assert!(names[1..].iter().all(|name| sessions.holds(name, now_ms)));
        assert_eq!(sessions.lock().len(), SESSIONS_MAX);
    }
}
