//! Error responses as problem documents (RFC 9457).
//!
//! A [`Problem`] never contains a path of the file system, a stack trace or another user's input.

use std::time::Duration;

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Media type of a problem document.
pub(crate) const PROBLEM_JSON: &str = "application/problem+json";

/// Seconds after which a client that met a busy server should come back.
const RETRY_AFTER_S: u64 = 2;

/// An error answer as RFC 9457 describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Problem {
    /// Kind of problem; `about:blank`: the status code says it all.
    #[serde(rename = "type")]
    pub kind: String,
    /// The status code's name.
    pub title: String,
    /// HTTP status code, repeated.
    #[schema(minimum = 400, maximum = 599)]
    pub status: u16,
    /// What went wrong this time, and the mend where there is one.
    pub detail: String,
    /// The query parameter at fault, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameter: Option<String>,
    /// Seconds after which the client may come back: the header Retry-After.
    #[serde(skip)]
    pub retry_after_s: Option<u64>,
}

impl Problem {
    /// A problem with this status; `detail` is one sentence for the client's developer or user.
    pub fn new(status: StatusCode, detail: impl Into<String>) -> Problem {
        Problem {
            kind: "about:blank".to_owned(),
            title: status.canonical_reason().unwrap_or("Error").to_owned(),
            status: status.as_u16(),
            detail: detail.into(),
            parameter: None,
            retry_after_s: (status == StatusCode::SERVICE_UNAVAILABLE).then_some(RETRY_AFTER_S),
        }
    }

    /// 429 with the time after which the next request is answered.
    pub fn too_many(wait: Duration) -> Problem {
        let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
        Problem {
            retry_after_s: Some(seconds.max(1)),
            ..Problem::new(
                StatusCode::TOO_MANY_REQUESTS,
                "too many requests from this address; come back after the seconds in retry-after",
            )
        }
    }

    /// 400 because of one query parameter.
    pub fn parameter(name: &str, detail: impl Into<String>) -> Problem {
        Problem {
            parameter: Some(name.to_owned()),
            ..Problem::new(StatusCode::BAD_REQUEST, detail)
        }
    }

    /// The status code of the answer.
    pub fn status_code(&self) -> StatusCode {
        StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = self.status_code();
        let retry_after_s = self.retry_after_s;
        let mut response = (status, Json(self)).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(PROBLEM_JSON));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(seconds) = retry_after_s {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

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
            Refusal::TooMany(wait) => return Problem::too_many(wait),
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
        response.extensions_mut().insert(self);
        response
    }
}
