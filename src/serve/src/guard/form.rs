//! The body of a form. In: `application/x-www-form-urlencoded` bytes. Out: the fields' values by name. Never more
//! than [`FORM_BYTES_MAX`].

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::{StatusCode, header};

use crate::api::problem::Problem;

/// Longest body that is read: a page of terms to accept, with room.
pub(crate) const FORM_BYTES_MAX: usize = 64 * 1024;
const FORM: &str = "application/x-www-form-urlencoded";

/// Fields of a form, in their order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Form(Vec<(String, String)>);

impl Form {
    /// The fields of a body or of a query string.
    pub(crate) fn of(bytes: &[u8]) -> Form {
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
        let kind = request.headers().get(header::CONTENT_TYPE);
        let kind = kind.and_then(|k| k.to_str().ok()).unwrap_or_default();
        if !kind.to_ascii_lowercase().starts_with(FORM) {
            let detail = format!("send the fields as {FORM}");
            return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, detail));
        }
        let body = Bytes::from_request(request, state).await.map_err(|_| {
            let detail = format!("the body is longer than {FORM_BYTES_MAX} bytes, or broke off");
            Problem::new(StatusCode::PAYLOAD_TOO_LARGE, detail)
        })?;
        Ok(Form::of(&body))
    }
}
