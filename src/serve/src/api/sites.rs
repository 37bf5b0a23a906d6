//! Commands about sites and URLs: POST with the operator's token.
//!
//! Each returns [`CommandDone`] as JSON once it is durable, or a problem document. The crawler executes them; without one
//! nothing is done.

use axum::Json;
use axum::extract::rejection::{JsonRejection, PathRejection};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde::Deserialize;
use utoipa::ToSchema;

use super::problem::Problem;
use crate::control::{Command, CommandDone, CommandError};
use crate::guard::operator::Operator;
use crate::state::{Failure, Server};

/// An address to act on.
#[derive(Debug, Clone, PartialEq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Address {
    /// The whole address.
    #[schema(example = "https://news.example.com/2026/11/05/1.html")]
    url: String,
}

/// Answer of a command.
type Answered = Result<Json<CommandDone>, Problem>;
type Name = Result<Path<String>, PathRejection>;
type Body = Result<Json<Address>, JsonRejection>;

/// A handler for a command about what its path or its body names, with its description.
macro_rules! command {
    ($(#[$doc:meta])* $name:ident, $path:literal, $id:literal, site $what:literal,
     $command:expr, $done:literal) => {
        command!(
            @ $(#[$doc])* $name, $path, $id, Name, site, $command, $done,
            params(("name" = String, Path, description = $what))
        );
    };
    ($(#[$doc:meta])* $name:ident, $path:literal, $id:literal, url,
     $command:expr, $done:literal) => {
        command!(
            @ $(#[$doc])* $name, $path, $id, Body, url, $command, $done,
            request_body = Address
        );
    };
    (@ $(#[$doc:meta])* $name:ident, $path:literal, $id:literal, $from:ty, $field:ident,
     $command:expr, $done:literal, $($input:tt)*) => {
        $(#[$doc])*
        #[utoipa::path(
            post,
            path = $path,
            operation_id = $id,
            tag = "sites",
            security(("token" = [])),
            $($input)*,
            responses((status = 200, description = $done, body = CommandDone))
        )]
        pub(crate) async fn $name(_: Operator, State(server): State<Server>, given: $from) -> Answered {
            let command: fn(String) -> Command = $command;
            Ok(Json(server.command(command($field(given)?)).await??))
        }
    };
}

command!(
    /// Begin a cycle of a site now.
    ///
    /// Its seeds, lists, feeds and sitemaps are asked for at once, politely as ever. For the operator.
    visit_site, "/api/sites/{name}/visit", "visit_site", site "Name of the site.",
    |site| Command::Crawl { sites: vec![site], recheck: false, wait: false }, "The cycle has begun; `due` addresses are asked for first."
);

command!(
    /// Pause a site.
    ///
    /// Nothing of it is fetched until it is resumed, also after a restart. What it has stays searchable. For the operator.
    pause_site, "/api/sites/{name}/pause", "pause_site", site "Name of the site.",
    |site| Command::SetPaused { site, paused: true }, "It is paused, since `paused_ms`."
);

command!(
    /// Resume a paused site. For the operator.
    resume_site, "/api/sites/{name}/resume", "resume_site", site "Name of the site.",
    |site| Command::SetPaused { site, paused: false }, "It is crawled again; its next cycle begins at `next_cycle_ms`."
);

command!(
    /// Remove all documents and addresses of a site.
    ///
    /// When this answers, no search finds any of them. A site that is still configured is crawled again with its next cycle.
    /// Archives (WARC) are not touched. For the operator.
    purge_site, "/api/sites/{name}/purge", "purge_site", site "Name of the site; also one that is not configured any more.",
    |site| Command::Purge { site, forget: false }, "They are removed."
);

command!(
    /// Visit an address now.
    ///
    /// It must be in the scope of a site. It is fetched ahead of all others of its host, as soon as that may be asked. For the
    /// operator.
    visit_url, "/api/visit", "visit", url,
    |url| Command::Visit { url, wait: false }, "It is fetched next."
);

command!(
    /// Take a document down.
    ///
    /// The document of this address goes, with all its other addresses; none of them is fetched again. When this answers, no
    /// search finds it. Archives (WARC) are not touched. For the operator.
    purge_url, "/api/purge", "purge", url,
    |url| Command::PurgeUrl { url }, "It is taken down; `addresses` are refused from now on."
);

command!(
    /// Lift a takedown.
    ///
    /// The address may be fetched again, and so may those that were taken down with it. For the operator.
    allow_url, "/api/allow", "allow", url,
    |url| Command::Allow { url }, "`addresses` may be fetched again."
);

fn site(name: Name) -> Result<String, Problem> {
    let no_site = |_| Problem::new(StatusCode::NOT_FOUND, "no site has this name");
    name.map(|Path(name)| name).map_err(no_site)
}

fn url(body: Body) -> Result<String, Problem> {
    let Json(address) = body?;
    Ok(address.url)
}

impl CommandError {
    /// Returns the status of the HTTP response.
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::UnknownSite { .. } => StatusCode::NOT_FOUND,
            Self::Failed(_) => StatusCode::INTERNAL_SERVER_ERROR,
            _ if self.is_mistake() => StatusCode::UNPROCESSABLE_ENTITY,
            _ => StatusCode::CONFLICT,
        }
    }
}

impl From<CommandError> for Problem {
    fn from(error: CommandError) -> Problem {
        if let CommandError::Failed(_) = error {
            // The message of the store names files.
            tracing::error!(%error, "command failed");
            return Failure::Broken.into();
        }
        Problem::new(error.status(), error.to_string())
    }
}
