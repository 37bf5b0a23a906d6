//! A page on the templates of all sites: POST with the operator's token.

use axum::Json;
use axum::extract::State;
use axum::extract::rejection::JsonRejection;
use axum::http::StatusCode;
use serde::Deserialize;
use utoipa::ToSchema;

use super::problem::Problem;
use crate::guard::operator::Operator;
use crate::pages::fit::{FitRequest, NotCompared, PageFit, check_size, compare};
use crate::state::Server;

/// A page to compare with the templates: its HTML, or an address to fetch.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct PageToFit {
    /// The address. With `html`, links and days are read by it; without, it is fetched: it must be in the scope of a site.
    #[schema(example = "https://news.example.com/2026/11/05/1.html")]
    url: String,
    /// The page itself, 4 MiB at most.
    html: String,
}

/// Compare a page with the templates.
///
/// Which template of which site it fits and how well, its text by slots, and its record. Nothing is stored. An address is fetched by
/// the crawler of this server as it fetches all others: scope, robots.txt and delays hold. For the operator.
#[utoipa::path(
    post,
    path = "/api/templates/fit",
    operation_id = "fit_templates",
    tag = "templates",
    security(("token" = [])),
    request_body = PageToFit,
    responses(
        (status = 200, description = "How the page fits; no `template`: it fits none.", body = PageFit),
        (status = 404, description = "This server knows no templates."),
        (status = 409, description = "The address cannot be fetched at present: no crawler runs here, the site is paused, the host wants a pause. Send the page itself."),
        (status = 422, description = "The address is not fetched: out of scope, taken down, refused by robots.txt, no page; or neither page nor address was sent."),
    )
)]
pub(crate) async fn fit(
    _: Operator,
    State(server): State<Server>,
    body: Result<Json<PageToFit>, JsonRejection>,
) -> Result<Json<PageFit>, Problem> {
    let Json(PageToFit { url, html }) = body?;
    let wanted = FitRequest {
        url,
        html: html.into_bytes(),
        charset: Some("utf-8".to_owned()),
    };
    check_size(&wanted)?;
    match compare(&server, wanted).await {
        Ok(fit) => Ok(Json(fit)),
        Err(NotCompared::Nothing) => {
            let detail = "send the page as `html`, or an address of a site as `url`";
            Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, detail))
        }
        Err(NotCompared::NoTemplates) => Err(Problem::new(
            StatusCode::NOT_FOUND,
            "this server knows no templates",
        )),
        Err(NotCompared::NotFetched(error)) => {
            let mut problem = Problem::from(error);
            problem
                .detail
                .push_str("; instead of the address, send the page as `html`");
            Err(problem)
        }
        Err(NotCompared::Failed(failure)) => Err(failure.into()),
    }
}
