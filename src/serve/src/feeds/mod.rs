//! Feeds of a followed topic, or of a search with the parameters of `/api/search`.
//!
//! A feed has the latest hits, at most [`FEED_HITS`], as Atom (RFC 4287) or JSON Feed 1.1; browsers get the Atom feed as a
//! page. An unchanged feed is a `304 Not Modified`.

pub(crate) mod follow;

use askama::Template;
use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use chrono::DateTime;
use serde_json::json;

use crate::api::problem::Problem;
use crate::guard::operator::header_text;
use crate::now_ms;
use crate::pages::moment::Moment;
use crate::pages::request::{PageRequest, page};
use crate::pages::view::{Chrome, Html, link, outward, title};
use crate::pages::words::FeedPageLabels;
use crate::search::params::{Params, QueryAndSites};
use crate::search::source::{RecentHit, SearchRequest};
use crate::state::Shared;

/// Entries of a feed: what a reader misses that looks once a day is in the search.
pub(crate) const FEED_HITS: usize = 50;

/// `/feeds/NAME.atom` and `/feeds/NAME.json`: a followed topic.
#[utoipa::path(
    get,
    path = "/feeds/{file}",
    operation_id = "followed_feed",
    tag = "feeds",
    params(("file" = String, Path, description = "Name of a followed topic (`[[follow]]` of the configuration), then .atom or .json.")),
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
    let hits = server
        .latest(follow.search_request(FEED_HITS, now_ms()))
        .await?;
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
    if format == Format::Atom && wants_page(&headers) {
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
    let for_browser = format == Format::Atom && wants_page(headers);
    // A page takes `lang`, as every page does; a feed has no language.
    let params = Params {
        lang: None,
        offset: 0,
        ..Params::parse(&request.raw, &server.rules(!for_browser))?
    };
    let wanted = SearchRequest {
        limit: FEED_HITS,
        ..params.search_request(false, false)
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
    let host = header_text(headers, "host");
    let named = host.and_then(|h| h.parse::<axum::http::uri::Authority>().ok());
    let listen = server.config.listen.to_string();
    format!(
        "http://{}",
        named.as_ref().map_or(listen.as_str(), |a| a.as_str())
    )
}

/// Which of the two formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Atom,
    Json,
}

/// A feed about to be written; its template is Atom.
#[derive(Template)]
#[template(path = "feed.xml")]
pub(crate) struct Feed<'a> {
    /// Stays the same wherever the server is reached.
    pub(crate) id: String,
    pub(crate) title: String,
    /// Absolute address of the server without a last slash.
    pub(crate) root: String,
    /// This feed, from the root.
    pub(crate) own: String,
    /// The page of the same search, from the root.
    pub(crate) page: String,
    pub(crate) hits: &'a [RecentHit],
}

impl Feed<'_> {
    /// The feed for a person.
    pub(crate) fn page(&self, c: Chrome, json: &str) -> Response {
        let entry = |hit: &RecentHit| Entry {
            href: outward(&hit.found.url)
                .unwrap_or_else(|| format!("{}/doc/{}", c.base, hit.found.id)),
            title: title(&hit.found.title, c.t),
            site: hit.found.site.as_deref().map(|site| c.site(site)),
            published: c.moment(hit.found.published.as_ref()),
            snippet: Html::marked(&hit.found.snippet),
        };
        let shown = FeedPage {
            w: &c.t.feed_page,
            name: self.title.clone(),
            own: format!("{}{}", self.root, self.own),
            json: link(&c.base, json, ""),
            search: link(&c.base, &self.page, ""),
            entries: self.hits.iter().map(entry).collect(),
            c,
        };
        let mut response = page(&shown, StatusCode::OK);
        let vary = HeaderValue::from_static("accept, accept-language");
        response.headers_mut().insert(header::VARY, vary);
        response
    }

    /// The feed itself, or 304 for a client that has it already.
    pub(crate) fn answer(&self, format: Format, headers: &HeaderMap) -> Response {
        let (kind, body) = match format {
            Format::Atom => (
                "application/atom+xml; charset=utf-8",
                self.render().expect("a string takes everything"),
            ),
            Format::Json => ("application/feed+json; charset=utf-8", self.json()),
        };
        let tag = format!("\"{:016x}\"", xxhash_rust::xxh3::xxh3_64(body.as_bytes()));
        let known = header_text(headers, "if-none-match").unwrap_or_default();
        let fresh = known
            .split(',')
            .any(|t| t.trim().trim_start_matches("W/") == tag);
        if fresh {
            return (StatusCode::NOT_MODIFIED, [(header::ETAG, tag)]).into_response();
        }
        let vary = "accept".to_owned();
        let answer = [
            (header::CONTENT_TYPE, kind.to_owned()),
            (header::ETAG, tag),
            (header::VARY, vary),
        ];
        (answer, body).into_response()
    }

    fn title(&self) -> String {
        if self.title.is_empty() {
            "淘金".to_owned()
        } else {
            format!("{} · 淘金", self.title)
        }
    }

    /// The page itself, or our text of it where its address is none that a reader may follow.
    fn address(&self, hit: &RecentHit) -> String {
        let ours = || format!("{}/doc/{}", self.root, hit.found.id);
        outward(&hit.found.url).unwrap_or_else(ours)
    }

    /// When the latest of its hits came.
    fn updated(&self) -> String {
        let latest = self.hits.iter().map(|hit| hit.fetched_ms).max();
        moment(&latest.unwrap_or_default())
    }

    /// Text without the characters that no XML document may have; the template escapes it.
    fn xml(&self, text: &str) -> String {
        let is_allowed = |c: &char| match c {
            '\t' | '\n' => true,
            '\u{FFFE}' | '\u{FFFF}' => false,
            c => !c.is_control(),
        };
        text.chars().filter(is_allowed).collect()
    }

    fn summary(&self, hit: &RecentHit) -> String {
        self.xml(&Html::marked(&hit.found.snippet).into_string())
    }

    fn json(&self) -> String {
        let item = |hit: &RecentHit| {
            let found = &hit.found;
            let mut item = json!({
                "id": format!("urn:taojin:document:{}", found.id),
                "url": self.address(hit),
                "title": found.title.text,
                "content_html": if hit.html.is_empty() {
                    Html::marked(&found.snippet).into_string()
                } else {
                    hit.html.clone()
                },
                "date_modified": moment(&hit.fetched_ms),
            });
            if let Some(published) = hit.published_ms {
                item["date_published"] = json!(moment(&published));
            }
            if let Some(name) = hit.found.author.as_ref().filter(|name| !name.is_empty()) {
                item["authors"] = json!([{ "name": name }]);
            }
            if let Some(site) = &found.site {
                item["tags"] = json!([found.site_title.as_ref().unwrap_or(site)]);
                item["_taojin"] = json!({ "site": site });
            }
            item
        };
        json!({
            "version": "https://jsonfeed.org/version/1.1",
            "title": self.title(),
            "home_page_url": format!("{}{}", self.root, self.page),
            "feed_url": format!("{}{}", self.root, self.own),
            "items": self.hits.iter().map(item).collect::<Vec<_>>(),
        })
        .to_string()
    }
}

/// RFC 3339 in UTC; the beginning of time for what cannot be written so.
fn moment(ms: &i64) -> String {
    DateTime::from_timestamp_millis(*ms)
        .filter(|t| (0..=9999).contains(&chrono::Datelike::year(t)))
        .unwrap_or_default()
        .to_rfc3339_opts(chrono::SecondsFormat::Secs, true)
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What feed readers ask for by name.
const FEED_KINDS: [&str; 6] = ["atom", "rss", "rdf", "feed", "json", "text/xml"];

/// A feed for people.
#[derive(Template)]
#[template(path = "feed.html")]
pub(crate) struct FeedPage {
    c: Chrome,
    w: &'static FeedPageLabels,
    name: String,
    own: String,
    json: String,
    search: String,
    entries: Vec<Entry>,
}

/// One entry.
struct Entry {
    title: Html,
    href: String,
    site: Option<String>,
    published: Option<Moment>,
    snippet: Html,
}

/// Whether a browser asks, and no feed reader: it takes HTML and names no kind of feed, and a script does not ask for
/// it either. Whoever takes anything (`*/*`) gets the feed.
pub(crate) fn wants_page(headers: &HeaderMap) -> bool {
    let accept = header_text(headers, "accept").unwrap_or_default();
    let dest = header_text(headers, "sec-fetch-dest");
    accept.contains("text/html")
        && !FEED_KINDS.iter().any(|kind| accept.contains(kind))
        && dest.is_none_or(|dest| dest == "document")
}
