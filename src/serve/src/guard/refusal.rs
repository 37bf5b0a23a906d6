//! Why a request is turned away before a handler has seen it. In: a [`Refusal`]. Out: a problem document that carries
//! the refusal along, so that the router can show a person a page instead.

use std::time::Duration;

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::api::problem::Problem;

/// Why a request is turned away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// `serve.token` is not set: nothing can be changed over HTTP.
    Closed,
    /// No token and no session, or a wrong one.
    Unknown,
    /// A change that a page of another site asked for.
    Foreign,
    /// The client has sent too many requests, and may send the next after this time.
    TooMany(Duration),
    /// The request is for a name that is not ours.
    OtherHost,
    /// There is nothing at this address.
    Nowhere,
}

impl Refusal {
    /// What a program is told. 401, which asks for a token, only where there is one that would help.
    fn problem(self) -> Problem {
        let (status, detail) = match self {
            Refusal::Closed => (
                StatusCode::FORBIDDEN,
                "no operator's token is set on this server, so nothing can be changed over HTTP; set serve.token_file in \
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
            Refusal::TooMany(_) => (
                StatusCode::TOO_MANY_REQUESTS,
                "too many requests from this address; come back after the seconds in retry-after",
            ),
            Refusal::OtherHost => (
                StatusCode::MISDIRECTED_REQUEST,
                "this server does not answer to this name; add it to serve.allowed_hosts, or set serve.public_url",
            ),
            Refusal::Nowhere => (
                StatusCode::NOT_FOUND,
                "there is nothing at this address; see /api/openapi.json",
            ),
        };
        Problem::new(status, detail)
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = self.problem().into_response();
        if let Refusal::TooMany(wait) = self {
            let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
            let headers = response.headers_mut();
            headers.insert(header::RETRY_AFTER, seconds.max(1).into());
        }
        response.extensions_mut().insert(self);
        response
    }
}
