//! The readers' pages. In: a request of a browser. Out: a page, without script if need be. Never a change.

use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::http::StatusCode;
use axum::response::Response;

use super::document::DocumentPage;
use super::home::HomePage;
use super::request::{PageRequest, broken, failure, missing, page};
use super::results::ResultsPage;
use super::status::StatusPage;
use super::versions;
use super::view::Chrome;
use crate::config::PAGE_HITS;
use crate::now_ms;
use crate::search::param_error::ParamError;
use crate::search::params::Params;
use crate::state::Shared;
use taojin_search::index::Sort;

/// `/`: the query box, or the hits when there is something to search.
pub(crate) async fn search(request: PageRequest) -> Response {
    let c = request.chrome();
    let PageRequest { server, params, .. } = request;
    let backwards = params
        .backwards()
        .then(|| ParamError::new("until", |p| p.backwards, &[]));
    if let Some(error) = request.wrong.or(backwards) {
        let (heading, text) = (c.t.bad_query, error.detail(c.lang));
        return failure(c, StatusCode::BAD_REQUEST, heading, text);
    }
    if params.text.is_empty() && !params.filtered() {
        return home(c, &params, &server).await;
    }
    let params = Params {
        limit: PAGE_HITS,
        // Without words there is no relevance.
        sort: match params.text.is_empty() {
            true => Sort::Date,
            false => params.sort,
        },
        ..params
    };
    match server
        .search(params.wanted(true, params.group.is_none()))
        .await
    {
        Ok((found, took_ms)) => page(
            &ResultsPage::new(c, &params, found, took_ms, &server.config),
            StatusCode::OK,
        ),
        Err(error) => broken(c, &error),
    }
}

async fn home(c: Chrome, params: &Params, server: &Shared) -> Response {
    // The query box does not wait for what stands below it; the log has the reason.
    let overview = server.overview().await.unwrap_or_default();
    let follows = (server.follows)();
    page(
        &HomePage::new(c, params, &follows, &overview),
        StatusCode::OK,
    )
}

/// `/doc/{id}`: the text of a document as it was crawled.
pub(crate) async fn document(
    id: Result<Path<String>, PathRejection>,
    request: PageRequest,
) -> Response {
    let c = request.chrome();
    let id = id.map(|Path(id)| id).unwrap_or_default();
    let document = match request.server.document(id.clone()).await {
        Ok(Some(document)) => document,
        Ok(None) => return versions::gone(&id, request).await,
        Err(error) => return broken(c, &error),
    };
    let PageRequest { server, params, .. } = request;
    let texts = DocumentPage::texts(&document);
    // The text is what was asked for: it is shown even where what goes with it is not found in time.
    let related = server.related(id.clone()).await.unwrap_or_default();
    let number = versions::number(&id).unwrap_or_default();
    let past = server.log(move |log| log.past(number)).await;
    let past = past.ok().flatten().unwrap_or_default();
    match server.mark(params.text.clone(), texts).await {
        Ok(marked) => page(
            &DocumentPage::new(c, &params, id, document, &marked, (related, &past)),
            StatusCode::OK,
        ),
        Err(error) => broken(c, &error),
    }
}

/// `/status`: the operator's page.
pub(crate) async fn status(request: PageRequest) -> Response {
    let c = request.chrome();
    if !request.server.config.operator_pages {
        return missing(c);
    }
    match request.server.status().await {
        Ok(status) => page(&StatusPage::new(c, status, now_ms()), StatusCode::OK),
        Err(error) => broken(c, &error),
    }
}
