//! Commands about sites and addresses, for programs. In: POST with the operator's token. Out: what was done, as JSON, after
//! it is durable; or a problem document. The crawler carries them out; without one nothing is done.

use axum::Json;
use axum::extract::rejection::{JsonRejection, PathRejection};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde::Deserialize;
use utoipa::ToSchema;

use super::problem::Problem;
use crate::control::{CommandDone, CommandRefused, SiteCommand, Why};
use crate::guard::operator::Operator;
use crate::state::Failure;
use crate::state::Server;

/// An address to act on.
#[derive(Debug, Clone, PartialEq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Address {
    /// The whole address.
    url: String,
}

/// Answer of a command.
type Answered = Result<Json<CommandDone>, Problem>;
type Name = Result<Path<String>, PathRejection>;
type Body = Result<Json<Address>, JsonRejection>;

/// Begin a cycle of a site now.
///
/// Its seeds, lists, feeds and sitemaps are asked for at once, politely as ever. For the operator.
#[utoipa::path(
    post,
    path = "/api/sites/{name}/visit",
    operation_id = "visit_site",
    tag = "sites",
    security(("token" = [])),
    params(("name" = String, Path, description = "Name of the site.")),
    responses(
        (status = 200, description = "The cycle has begun; `due` addresses are asked for first.", body = CommandDone),
    )
)]
pub(crate) async fn visit_site(_: Operator, server: State<Server>, name: Name) -> Answered {
    command(server, SiteCommand::Visit { site: site(name)? }).await
}

/// Pause a site.
///
/// Nothing of it is fetched until it is resumed, also after a restart. What it has stays searchable. For the operator.
#[utoipa::path(
    post,
    path = "/api/sites/{name}/pause",
    operation_id = "pause_site",
    tag = "sites",
    security(("token" = [])),
    params(("name" = String, Path, description = "Name of the site.")),
    responses(
        (status = 200, description = "It is paused, since `paused_ms`.", body = CommandDone),
    )
)]
pub(crate) async fn pause_site(_: Operator, server: State<Server>, name: Name) -> Answered {
    command(server, SiteCommand::Pause { site: site(name)? }).await
}

/// Resume a paused site. For the operator.
#[utoipa::path(
    post,
    path = "/api/sites/{name}/resume",
    operation_id = "resume_site",
    tag = "sites",
    security(("token" = [])),
    params(("name" = String, Path, description = "Name of the site.")),
    responses(
        (status = 200, description = "It is crawled again; its next cycle begins at `next_cycle_ms`.", body = CommandDone),
    )
)]
pub(crate) async fn resume_site(_: Operator, server: State<Server>, name: Name) -> Answered {
    command(server, SiteCommand::Resume { site: site(name)? }).await
}

/// Remove all documents and addresses of a site.
///
/// When this answers, no search finds any of them. A site that is still configured is crawled again with its next cycle.
/// Archives (WARC) are not touched. For the operator.
#[utoipa::path(
    post,
    path = "/api/sites/{name}/purge",
    operation_id = "purge_site",
    tag = "sites",
    security(("token" = [])),
    params(("name" = String, Path, description = "Name of the site; also one that is not configured any more.")),
    responses(
        (status = 200, description = "They are removed.", body = CommandDone),
    )
)]
pub(crate) async fn purge_site(_: Operator, server: State<Server>, name: Name) -> Answered {
    command(server, SiteCommand::Purge { site: site(name)? }).await
}

/// Visit an address now.
///
/// It must be in the scope of a site. It is fetched ahead of all others of its host, as soon as that may be asked. For the
/// operator.
#[utoipa::path(
    post,
    path = "/api/visit",
    operation_id = "visit",
    tag = "sites",
    security(("token" = [])),
    request_body = Address,
    responses(
        (status = 200, description = "It is fetched next.", body = CommandDone),
    )
)]
pub(crate) async fn visit_url(_: Operator, server: State<Server>, body: Body) -> Answered {
    command(server, SiteCommand::VisitUrl { url: url(body)? }).await
}

/// Take a document down.
///
/// The document of this address goes, with all its other addresses; none of them is fetched again. When this answers, no
/// search finds it. Archives (WARC) are not touched. For the operator.
#[utoipa::path(
    post,
    path = "/api/purge",
    operation_id = "purge",
    tag = "sites",
    security(("token" = [])),
    request_body = Address,
    responses(
        (status = 200, description = "It is taken down; `addresses` are refused from now on.", body = CommandDone),
    )
)]
pub(crate) async fn purge_url(_: Operator, server: State<Server>, body: Body) -> Answered {
    command(server, SiteCommand::PurgeUrl { url: url(body)? }).await
}

/// Lift a takedown.
///
/// The address may be fetched again, and so may those that were taken down with it. For the operator.
#[utoipa::path(
    post,
    path = "/api/allow",
    operation_id = "allow",
    tag = "sites",
    security(("token" = [])),
    request_body = Address,
    responses(
        (status = 200, description = "`addresses` may be fetched again.", body = CommandDone),
    )
)]
pub(crate) async fn allow_url(_: Operator, server: State<Server>, body: Body) -> Answered {
    command(server, SiteCommand::Allow { url: url(body)? }).await
}

async fn command(State(server): State<Server>, command: SiteCommand) -> Answered {
    Ok(Json(server.command(command).await??))
}

fn site(name: Name) -> Result<String, Problem> {
    let no_site = |_| Problem::new(StatusCode::NOT_FOUND, "no site has this name");
    name.map(|Path(name)| name).map_err(no_site)
}

fn url(body: Body) -> Result<String, Problem> {
    body.map(|Json(address)| address.url)
        .map_err(|rejection| Problem::new(rejection.status(), rejection.body_text()))
}

impl CommandRefused {
    /// As HTTP has it.
    pub(crate) fn status(&self) -> StatusCode {
        match self.why {
            Why::NoSuchSite => StatusCode::NOT_FOUND,
            Why::Mistake => StatusCode::UNPROCESSABLE_ENTITY,
            Why::NotNow | Why::NoCrawler => StatusCode::CONFLICT,
            Why::Failed => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl From<CommandRefused> for Problem {
    fn from(refused: CommandRefused) -> Problem {
        if refused.why == Why::Failed {
            // What the store says names files.
            tracing::error!(error = %refused, "command failed");
            return Failure::Broken.into();
        }
        Problem::new(refused.status(), refused.message)
    }
}
