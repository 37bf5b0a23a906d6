//! Pages for people whose request is turned away. In: an answer that carries a [`Refusal`]. Out: the page that says what
//! to do, with the form to sign in where that helps. Programs keep the problem document.

use axum::extract::{Request, State};
use axum::http::{StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::Response;

use super::login;
use super::request::{PageRequest, failure, missing, see_other, wants_html};
use crate::guard::refusal::Refusal;
use crate::state::Server;

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
    let mut asked = PageRequest::of(&server, &parts);
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
        Refusal::TooMany(_) => {
            let (heading, text) = (c.t.too_many, c.t.too_many_text);
            let mut page = failure(c, StatusCode::TOO_MANY_REQUESTS, heading, text);
            let wait = answer.headers().get(header::RETRY_AFTER).cloned();
            let wait = wait.map(|wait| (header::RETRY_AFTER, wait));
            page.headers_mut().extend(wait);
            page
        }
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
