//! What every page needs of a request, and how pages are answered: its parameters and the [`Chrome`] around a page; a page with its
//! status, a redirect, or the page that says what went wrong or why the request was turned away. Programs keep the problem document.

use std::convert::Infallible;
use std::time::Duration;

use askama::Template;
use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Response};

use crate::api::problem::{Problem, Refusal};
use crate::guard::operator::{Form, Operator, header_text};
use crate::now_ms;
use crate::pages::moment::Clock;
use crate::pages::view::{Chrome, ErrorPage, kept, link};
use crate::pages::words::Lang;
use crate::pages::{assets, login};
use crate::search::params::{ParamError, Params};
use crate::state::{Failure, Server, Shared};
use crate::status::Readiness;

/// A request for a page.
pub(crate) struct PageRequest {
    pub(crate) server: Server,
    /// The query string as it came.
    pub(crate) raw: String,
    /// What can be understood of it; a page that is not a search does not fail because of it.
    pub(crate) params: Params,
    /// What is wrong with it as a search.
    pub(crate) wrong: Option<ParamError>,
    /// Where the switch of the language leads.
    pub(crate) path: String,
    /// The language that the browser prefers.
    preferred: Lang,
    /// Whether the reader is signed in; none where nobody can be.
    signed_in: Option<bool>,
}

impl FromRequestParts<Server> for PageRequest {
    type Rejection = Infallible;

    async fn from_request_parts(
        parts: &mut Parts,
        server: &Server,
    ) -> Result<PageRequest, Infallible> {
        Ok(PageRequest::from_parts(server, parts))
    }
}

impl PageRequest {
    /// What the head of a request says.
    pub(crate) fn from_parts(server: &Server, parts: &Parts) -> PageRequest {
        let raw = parts.uri.query().unwrap_or_default().to_owned();
        let (params, wrong) = match Params::parse(&raw, &server.rules(false)) {
            Ok(params) => (params, None),
            Err(error) => (lenient(&raw, server), Some(error)),
        };
        let proof = Operator::prove(
            &server.config,
            &server.sessions,
            &Method::GET,
            &parts.headers,
            now_ms(),
        );
        PageRequest {
            server: Server::clone(server),
            raw,
            params,
            wrong,
            path: parts.uri.path().to_owned(),
            preferred: Lang::preferred(header_text(&parts.headers, "accept-language")),
            signed_in: match proof {
                Err(Refusal::Closed) => None,
                proof => Some(proof.is_ok()),
            },
        }
    }

    /// The same in the language of a form's page.
    pub(crate) fn in_language_of(mut self, form: &Form) -> PageRequest {
        self.params.lang = Lang::named(form.get("lang"));
        self
    }

    /// Only the language that was requested: what links to other pages keep.
    pub(crate) fn only_lang(&self) -> Params {
        Params {
            lang: self.params.lang,
            ..Params::default()
        }
    }

    /// What stands around the page.
    pub(crate) fn chrome(&self) -> Chrome {
        let (server, params) = (&self.server, &self.params);
        let lang = params.lang.unwrap_or(self.preferred);
        let other = params.with(|p| p.lang = Some(lang.other()));
        Chrome {
            lang,
            asked_lang: params.lang,
            clock: Clock {
                lang,
                now_ms: now_ms(),
                utc_offset_minutes: server.utc_offset_minutes(),
            },
            remark: match server.readiness() {
                Readiness::Ready => None,
                Readiness::Degraded => Some(lang.labels().database_away),
                Readiness::Filling { .. } => Some(lang.labels().index_filling),
            },
            t: lang.labels(),
            base: server.base.clone(),
            version: &assets::VERSION,
            text: params.text.clone(),
            query_chars: server.config.query_chars,
            kept: kept(params, false),
            switch: link(&server.base, &self.path, &other.query_string()),
            documents: server.documents(),
            operator: server.config.operator_pages,
            signed_in: self.signed_in,
            site_titles: server.site_titles().by_name(),
        }
    }
}

/// The query and the language of a query string that is no search.
fn lenient(raw: &str, server: &Shared) -> Params {
    let mut params = Params::default();
    for (name, value) in url::form_urlencoded::parse(raw.as_bytes()) {
        match name.as_ref() {
            "lang" => params.lang = Lang::named(&value),
            "q" => {
                let text = value.trim().chars();
                params.text = text.take(server.config.query_chars).collect();
            }
            _ => {}
        }
    }
    params
}

/// Whether the client is a browser that a person looks at.
pub(crate) fn wants_html(headers: &HeaderMap) -> bool {
    header_text(headers, "accept").is_some_and(|accept| accept.contains("text/html"))
}

/// A page of its own status.
pub(crate) fn page(template: &impl Template, status: StatusCode) -> Response {
    match template.render() {
        Ok(html) => {
            let vary = [(header::VARY, HeaderValue::from_static("accept-language"))];
            (status, vary, Html(html)).into_response()
        }
        Err(error) => {
            tracing::error!(%error, "page failed");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

/// 303 to a page of ours: what every change ends with, so that going back in the browser repeats nothing.
pub(crate) fn see_other(server: &Shared, path: &str) -> Response {
    let to = format!("{}{path}", server.base);
    (StatusCode::SEE_OTHER, [(header::LOCATION, to)]).into_response()
}

/// An answer with a content security policy of its own.
pub(crate) fn with_policy(mut response: Response, policy: &'static str) -> Response {
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(policy),
    );
    response
}

/// The page for an address that leads nowhere.
pub(crate) fn missing(c: Chrome) -> Response {
    let (heading, text) = (c.t.not_found, c.t.not_found_text);
    failure(c, StatusCode::NOT_FOUND, heading, text)
}

/// The page for a request that got no answer.
pub(crate) fn broken(c: Chrome, error: &Failure) -> Response {
    let t = c.t;
    let (status, heading, text) = match error {
        Failure::TooMany(wait) => return too_many(c, *wait),
        Failure::Busy => (StatusCode::SERVICE_UNAVAILABLE, t.busy, t.busy_text),
        Failure::Away => (StatusCode::SERVICE_UNAVAILABLE, t.away, t.away_text),
        Failure::Broken => (StatusCode::INTERNAL_SERVER_ERROR, t.error, t.failed_text),
    };
    failure(c, status, heading, text)
}

/// The page for a client that has to wait.
fn too_many(c: Chrome, wait: Duration) -> Response {
    let (heading, text) = (c.t.too_many, c.t.too_many_text);
    let mut page = failure(c, StatusCode::TOO_MANY_REQUESTS, heading, text);
    let seconds = Problem::too_many(wait).retry_after_s;
    let wait = seconds.map(|seconds| (header::RETRY_AFTER, seconds.into()));
    page.headers_mut().extend(wait);
    page
}

/// A page that says what went wrong.
pub(crate) fn failure(
    c: Chrome,
    status: StatusCode,
    heading: &'static str,
    text: impl Into<String>,
) -> Response {
    let shown = ErrorPage {
        c,
        code: status.as_u16(),
        heading,
        text: text.into(),
    };
    page(&shown, status)
}

/// Answers a browser that a person looks at with pages.
pub(crate) async fn as_page(
    State(server): State<Server>,
    request: Request,
    next: Next,
) -> Response {
    if !wants_html(request.headers()) || request.uri().path().starts_with("/api/") {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    let answer = next.run(Request::from_parts(parts.clone(), body)).await;
    let Some(refusal) = answer.extensions().get::<Refusal>().copied() else {
        return answer;
    };
    let mut asked = PageRequest::from_parts(&server, &parts);
    asked.path = "/".to_owned();
    let c = asked.chrome();
    let o = &c.t.operator;
    match refusal {
        Refusal::Closed => login::no_token(asked),
        Refusal::Unknown if parts.method.is_safe() => see_other(&server, &login_path(&parts.uri)),
        Refusal::Unknown => login::session_over(asked, parts.uri.path()),
        Refusal::Foreign => {
            let (heading, text) = (o.refused_heading, o.foreign_text);
            failure(c, StatusCode::FORBIDDEN, heading, text)
        }
        Refusal::Nowhere => missing(c),
        // No page of ours for a name that is not ours.
        Refusal::OtherHost => answer,
        Refusal::TooMany(wait) => too_many(c, wait),
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
