//! A feed as people see it who open its address in a browser. In: the same entries. Out: a page that says what the
//! address is for. Feed readers never get it: only who asks for HTML and names no kind of feed.

use askama::Template;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;

use crate::pages::html::Html;
use crate::pages::moment::Moment;
use crate::pages::request::page;
use crate::pages::view::{Chrome, outward, title};
use crate::pages::words::FeedPageLabels;
use crate::search::source::Arrived;

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

/// What the page is made of: addresses are whole.
pub(crate) struct Shown<'a> {
    pub(crate) name: &'a str,
    pub(crate) own: String,
    pub(crate) json: String,
    pub(crate) search: String,
    pub(crate) hits: &'a [Arrived],
}

/// Whether a browser asks, and no feed reader: it takes HTML and names no kind of feed, and a script does not ask for
/// it either. Whoever takes anything (`*/*`) gets the feed.
pub(crate) fn wanted(headers: &HeaderMap) -> bool {
    let said = |name| {
        headers
            .get(name)
            .and_then(|v: &HeaderValue| v.to_str().ok())
    };
    let accept = said(header::ACCEPT).unwrap_or_default();
    let dest = headers.get("sec-fetch-dest").and_then(|v| v.to_str().ok());
    accept.contains("text/html")
        && !FEED_KINDS.iter().any(|kind| accept.contains(kind))
        && dest.is_none_or(|dest| dest == "document")
}

/// The page.
pub(crate) fn show(c: Chrome, shown: &Shown<'_>) -> Response {
    let entry = |hit: &Arrived| Entry {
        title: title(&hit.found.title, c.t),
        href: outward(&hit.found.url).unwrap_or_else(|| format!("{}/doc/{}", c.base, hit.found.id)),
        site: hit.found.site.as_deref().map(|site| c.site(site)),
        published: c.moment(hit.found.published.as_ref()),
        snippet: Html::marked(&hit.found.snippet),
    };
    let shown = FeedPage {
        w: &c.t.feed_page,
        name: shown.name.to_owned(),
        own: shown.own.clone(),
        json: shown.json.clone(),
        search: shown.search.clone(),
        entries: shown.hits.iter().map(entry).collect(),
        c,
    };
    let mut response = page(&shown, StatusCode::OK);
    let vary = HeaderValue::from_static("accept, accept-language");
    response.headers_mut().insert(header::VARY, vary);
    response
}
