//! Feeds. In: a followed topic by its name, or a search as `/api/search` takes it. Out: the hits that came last, as
//! Atom (RFC 4287) or JSON Feed 1.1; for a browser the Atom feed is a page. Never more than [`FEED_HITS`] entries; an
//! unchanged feed is answered with 304.

mod feed;
pub(crate) mod follow;
mod page;

use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;

use super::api::problem::Problem;
use super::now_ms;
use super::pages::request::PageRequest;
use super::pages::view::link;
use super::search::params::{Params, QueryAndSites};
use super::search::source::Wanted;
use super::state::Shared;
use feed::{Feed, Format};

/// Entries of a feed: what a reader misses that looks once a day is in the search.
pub(crate) const FEED_HITS: usize = 50;

/// `/feeds/NAME.atom` and `/feeds/NAME.json`: a followed topic.
#[utoipa::path(
    get,
    path = "/feeds/{file}",
    operation_id = "followed_feed",
    tag = "feeds",
    params(("file" = String, Path, description = "Name of a followed topic, then .atom or .json.", example = "deep-sea.atom")),
    responses(
        (status = 200, description = "Atom or JSON Feed 1.1: the 50 hits that came or changed last. A browser gets the Atom feed as a page.", content((String = "application/atom+xml"), (Object = "application/feed+json"))),
        (status = 304, description = "Nothing new since the ETag sent as If-None-Match."),
        (status = 404, description = "No topic of this name is followed."),
    )
)]
pub(crate) async fn followed(
    file: Result<Path<String>, PathRejection>,
    mut request: PageRequest,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let server = &request.server;
    let file = file.map(|Path(file)| file).unwrap_or_default();
    let (name, format) = match file.rsplit_once('.') {
        Some((name, "atom")) => (name, Format::Atom),
        Some((name, "json")) => (name, Format::Json),
        _ => return Err(unknown()),
    };
    let mut follows = (server.follows)().into_iter();
    let follow = follows.find(|follow| follow.name == name);
    let follow = follow.ok_or_else(unknown)?;
    let hits = server.latest(follow.wanted(FEED_HITS, now_ms())).await?;
    let params = Params {
        text: follow.query.clone(),
        sites: follow.sites.clone(),
        matching: follow.matching,
        ..Params::default()
    };
    let feed = Feed {
        id: format!("urn:taojin:follow:{name}"),
        title: follow.shown().to_owned(),
        root: root(server, &headers),
        own: format!("/feeds/{file}"),
        page: link("", "/", &params.query_string()),
        hits: &hits,
    };
    if format == Format::Atom && page::wanted(&headers) {
        request.params = request.only_lang();
        return Ok(feed.page(request.chrome(), &format!("/feeds/{name}.json")));
    }
    Ok(feed.answer(format, &headers))
}

/// `/feed.atom?q=`: any search as a feed.
#[utoipa::path(
    get,
    path = "/feed.atom",
    operation_id = "atom_feed",
    tag = "feeds",
    params(QueryAndSites),
    responses(
        (status = 200, description = "Atom: the 50 hits that came or changed last. A browser gets a page.", body = String, content_type = "application/atom+xml"),
        (status = 304, description = "Nothing new since the ETag sent as If-None-Match."),
    )
)]
pub(crate) async fn atom(request: PageRequest, headers: HeaderMap) -> Result<Response, Problem> {
    searched(&request, &headers, Format::Atom).await
}

/// `/feed.json?q=`: any search as a feed.
#[utoipa::path(
    get,
    path = "/feed.json",
    operation_id = "json_feed",
    tag = "feeds",
    params(QueryAndSites),
    responses(
        (status = 200, description = "JSON Feed 1.1: the 50 hits that came or changed last.", body = Object, content_type = "application/feed+json"),
        (status = 304, description = "Nothing new since the ETag sent as If-None-Match."),
    )
)]
pub(crate) async fn json(request: PageRequest, headers: HeaderMap) -> Result<Response, Problem> {
    searched(&request, &headers, Format::Json).await
}

async fn searched(
    request: &PageRequest,
    headers: &HeaderMap,
    format: Format,
) -> Result<Response, Problem> {
    let server = &request.server;
    let for_browser = format == Format::Atom && page::wanted(headers);
    // A page takes `lang`, as every page does; a feed has no language.
    let params = Params {
        lang: None,
        offset: 0,
        ..Params::parse(&request.raw, &server.rules(!for_browser))?
    };
    let wanted = Wanted {
        limit: FEED_HITS,
        ..params.wanted(false, false)
    };
    let hits = server.latest(wanted).await?;
    let query = params.query_string();
    let path = match format {
        Format::Atom => "/feed.atom",
        Format::Json => "/feed.json",
    };
    let feed = Feed {
        id: format!("urn:taojin:search:{query}"),
        title: params.text,
        root: root(server, headers),
        own: link("", path, &query),
        page: link("", "/", &query),
        hits: &hits,
    };
    if for_browser {
        return Ok(feed.page(request.chrome(), &link("", "/feed.json", &query)));
    }
    Ok(feed.answer(format, headers))
}

fn unknown() -> Problem {
    let detail = "no topic of this name is followed; see [[follow]] in the configuration";
    Problem::new(StatusCode::NOT_FOUND, detail)
}

/// Where the reader reaches the server: feeds are read far from it and need whole addresses.
pub(crate) fn root(server: &Shared, headers: &HeaderMap) -> String {
    if !server.config.public_url.is_empty() {
        return server.config.public_url.trim_end_matches('/').to_owned();
    }
    let host = headers.get(header::HOST).and_then(|h| h.to_str().ok());
    let named = host.and_then(|h| h.parse::<axum::http::uri::Authority>().ok());
    let listen = server.config.listen.to_string();
    format!(
        "http://{}",
        named.as_ref().map_or(listen.as_str(), |a| a.as_str())
    )
}
