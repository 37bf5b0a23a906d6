//! The routes, and what applies to all of them, such as the security headers.
//!
//! [`router`] builds them over a [`ServeState`]; [`serve`] runs them on a listener until it is told to stop.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::{HeaderName, HeaderValue, header};
use axum::middleware::{from_fn_with_state, map_response};
use axum::response::Response;
use axum::routing::{get, post};
use tokio::net::TcpListener;
use tokio::time::Instant;
use tower_http::compression::predicate::{DefaultPredicate, Predicate, SizeAbove};
use tower_http::compression::{CompressionLayer, CompressionLevel};

use super::api::{
    fit as fit_api, log as log_api, openapi, sites as sites_api, terms as terms_api,
    trends as trends_api,
};
use super::guard::client::Peer;
use super::guard::host::{Hosts, known};
use super::guard::limiter::limited;
use super::guard::listen::Guarded;
use super::state::{ServeState, Server, Shared};
use super::{api, feeds as feed};
use crate::guard::operator::FORM_BYTES_MAX;
use crate::pages::fit::FIT_BYTES_MAX;
use crate::pages::{
    assets, document, fit, help as help_page, login, request, results, site as site_page, sites,
    status, templates, terms, trends, versions,
};

/// After the stop signal, running answers have this long to end; a client that holds its line is left behind.
const STOP_GRACE: Duration = Duration::from_secs(5);
/// How often the histograms' samples are folded, so that they do not grow while nobody reads `/metrics`, and the counts of wrong tokens
/// are put into the log.
const UPKEEP: Duration = Duration::from_secs(5);

/// Shorter answers fit into one packet anyway.
const COMPRESS_FROM_BYTES: u16 = 1_024;

/// Headers of every answer. Scripts, styles and the mark come from our own fixed paths and nothing else is loaded;
/// no page can be framed; no original site learns what was searched.
const SECURITY_HEADERS: [(HeaderName, &str); 7] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    // Not no-referrer: with that, browsers send no Origin either, by which changes from other sites are told.
    (header::REFERRER_POLICY, "same-origin"),
    (
        HeaderName::from_static("permissions-policy"),
        "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    ),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
];

/// Why the server could not start.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// Somebody else listens there.
    #[error(
        "{0} is in use by another program; set serve.listen to a free port or stop that program"
    )]
    InUse(SocketAddr),
    /// The address is not one of this machine, or the port is not allowed.
    #[error("cannot listen on {address}: {source}")]
    Other {
        /// Address requested.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
}

/// Opens the listening socket.
pub async fn bind(address: SocketAddr) -> Result<TcpListener, BindError> {
    TcpListener::bind(address)
        .await
        .map_err(|source| match source.kind() {
            io::ErrorKind::AddrInUse => BindError::InUse(address),
            _ => BindError::Other { address, source },
        })
}

/// Answers requests until `shutdown` is done, then lets running answers end, for five seconds at most.
pub async fn serve(
    listener: TcpListener,
    state: ServeState,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let config = state.config.clone();
    let metrics = state.metrics.clone();
    let (stopping, mut stopped) = tokio::sync::watch::channel(false);
    let signal = async move {
        shutdown.await;
        stopping.send_replace(true);
    };
    let guarded = Guarded::new(listener, &config);
    let server = share(state);
    let answering = axum::serve(
        guarded,
        routes(Arc::clone(&server)).into_make_service_with_connect_info::<Peer>(),
    )
    .with_graceful_shutdown(signal);
    let upkeep = async {
        loop {
            tokio::time::sleep(UPKEEP).await;
            metrics.run_upkeep();
            server.sessions.wrong_tokens().report(Instant::now());
        }
    };
    let grace = async {
        if stopped.wait_for(|stop| *stop).await.is_ok() {
            tokio::time::sleep(STOP_GRACE).await;
        } else {
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        result = answering.into_future() => result,
        () = upkeep => Ok(()),
        () = grace => Ok(()),
    }
}

/// Every route, with its limits and headers.
pub fn router(state: ServeState) -> Router {
    routes(share(state))
}

fn share(state: ServeState) -> Server {
    let description = openapi::document(&state.config);
    Arc::new(Shared::new(state, description))
}

/// The same over a server that was made before.
pub(crate) fn routes(server: Server) -> Router {
    let limiter = Arc::clone(server.limiter());
    let hosts = Arc::new(Hosts::new(&server.config));
    Router::new()
        .route("/", get(results::search))
        .route(
            "/doc/{id}",
            get(document::document).post(site_page::take_down),
        )
        .route("/doc/{id}/versions", get(versions::show))
        .route("/sites", get(sites::show))
        .route("/sites/{name}", get(site_page::show).post(site_page::act))
        .route("/trends", get(trends::show))
        .route("/status", get(status::status))
        .route("/help", get(help_page::show))
        .route("/terms", get(terms::show).post(terms::decide))
        .route("/login", get(login::form).post(login::sign_in))
        .route("/logout", post(login::sign_out))
        .route("/templates", get(templates::list))
        .route(
            "/templates/fit",
            get(fit::show)
                .post(fit::submit)
                .layer(DefaultBodyLimit::max(FIT_BYTES_MAX)),
        )
        .route(
            "/templates/{id}",
            get(templates::one).post(templates::change),
        )
        .route("/templates/{id}/page/{number}", get(templates::frame))
        .route("/opensearch.xml", get(assets::search_engine))
        .route("/favicon.ico", get(assets::favicon))
        .route("/assets/taojin.css", get(assets::style))
        .route("/assets/taojin.js", get(assets::script))
        .route("/assets/mark.svg", get(assets::mark))
        .route("/feeds/{file}", get(feed::followed))
        .route("/feed.atom", get(feed::atom))
        .route("/feed.json", get(feed::json))
        .route("/robots.txt", get(api::robots))
        .route("/api", get(assets::api))
        .route("/api/ui/", get(assets::api_index))
        .route("/api/ui/{file}", get(assets::api_file))
        .route("/api/search", get(api::search))
        .route("/api/trends", get(trends_api::trends))
        .route("/api/suggest", get(api::suggest))
        .route("/api/docs/{id}", get(api::document))
        .route("/api/changes", get(log_api::changes))
        .route("/api/history", get(log_api::history))
        .route("/api/terms", get(terms_api::list).post(terms_api::decide))
        .route(
            "/api/templates/fit",
            post(fit_api::fit).layer(DefaultBodyLimit::max(FIT_BYTES_MAX)),
        )
        .route("/api/sites/{name}/visit", post(sites_api::visit_site))
        .route("/api/sites/{name}/pause", post(sites_api::pause_site))
        .route("/api/sites/{name}/resume", post(sites_api::resume_site))
        .route("/api/sites/{name}/purge", post(sites_api::purge_site))
        .route("/api/visit", post(sites_api::visit_url))
        .route("/api/purge", post(sites_api::purge_url))
        .route("/api/allow", post(sites_api::allow_url))
        .route("/api/status", get(api::status))
        .route("/api/openapi.json", get(api::openapi))
        .route("/healthz", get(api::health))
        .route("/readyz", get(api::ready))
        .route("/metrics", get(api::metrics_text))
        .fallback(api::not_found)
        .method_not_allowed_fallback(api::wrong_method)
        .layer(from_fn_with_state(limiter, limited))
        .layer(from_fn_with_state(hosts, known))
        .layer(from_fn_with_state(Arc::clone(&server), request::as_page))
        .with_state(server)
        .layer(DefaultBodyLimit::max(FORM_BYTES_MAX))
        .layer(compression())
        .layer(map_response(secured))
}

/// gzip for answers that are long enough to gain by it, at the level that costs a search least.
fn compression() -> CompressionLayer<impl Predicate> {
    CompressionLayer::new()
        .quality(CompressionLevel::Fastest)
        .compress_when(DefaultPredicate::new().and(SizeAbove::new(COMPRESS_FROM_BYTES)))
}

async fn secured(mut response: Response) -> Response {
    let headers = response.headers_mut();
    for (name, value) in SECURITY_HEADERS {
        // Some pages have a policy of their own.
        headers
            .entry(name)
            .or_insert(HeaderValue::from_static(value));
    }
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-cache"));
    response
}
