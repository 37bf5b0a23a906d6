//! Error answers. In: a status and what went wrong. Out: an RFC 9457 problem document. Never shows a path of the
//! file system, a stack or another user's input.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Media type of a problem document.
pub const PROBLEM_JSON: &str = "application/problem+json";

/// Seconds after which a client that met a busy server should come back.
const RETRY_AFTER_S: &str = "2";

/// An error answer as RFC 9457 describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Problem {
    /// Kind of problem; `about:blank`: the status code says it all.
    #[serde(rename = "type")]
    #[schema(examples("about:blank"))]
    pub kind: String,
    /// The status code's name.
    #[schema(examples("Bad Request"))]
    pub title: String,
    /// HTTP status code, repeated.
    #[schema(minimum = 400, maximum = 599)]
    pub status: u16,
    /// What went wrong this time, and the mend where there is one.
    #[schema(examples("limit must be a whole number from 1 to 100, not \"many\""))]
    pub detail: String,
    /// The query parameter at fault, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(examples("limit"))]
    pub parameter: Option<String>,
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
        let mut response = (status, Json(self)).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(PROBLEM_JSON));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static(RETRY_AFTER_S));
        }
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}
