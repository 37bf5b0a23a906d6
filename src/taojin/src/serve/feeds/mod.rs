//! Feeds. In: a followed topic by its name, or a search as `/api/search` takes it. Out: the hits that came last, as
//! Atom (RFC 4287) or JSON Feed 1.1; for a browser the Atom feed is a page. Never more than [`FEED_HITS`] entries; an unchanged feed is answered with 304.

pub(crate) mod follow;
pub(crate) mod page;

use std::fmt::Write;

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use chrono::DateTime;
use serde_json::json;

use super::api::problem::{Busy, Problem};
use super::now_ms;
use super::pages::html::Html;
use super::pages::view::{Chrome, link, outward};
use super::pages::web::{chrome, lenient};
use super::search::params::Params;
use super::search::source::{Arrived, Wanted};
use super::state::{Server, Shared};
use page as feed_page;
use page::Shown;

/// Entries of a feed: what a reader misses that looks once a day is in the search.
pub(crate) const FEED_HITS: usize = 50;

/// The beginning of a feed, for the description of the API.
const ATOM_SAMPLE: &str = "<?xml version=\"1.0\" encoding=\"utf-8\"?>
<feed xmlns=\"http://www.w3.org/2005/Atom\">
  <title>天然气 · 淘金</title>
  <entry>
    <title>天然气产量创新高</title>
    <id>urn:taojin:document:03fa6b1c2d9e4f50</id>
    <updated>2026-11-05T00:41:00Z</updated>
    <link rel=\"alternate\" href=\"https://news.example.com/2026/11/05/1.html\"/>
  </entry>
</feed>";

/// The same as JSON Feed.
fn json_sample() -> serde_json::Value {
    json!({
        "version": "https://jsonfeed.org/version/1.1",
        "title": "天然气 · 淘金",
        "items": [{
            "id": "urn:taojin:document:03fa6b1c2d9e4f50",
            "url": "https://news.example.com/2026/11/05/1.html",
            "title": "天然气产量创新高",
            "date_modified": "2026-11-05T00:41:00Z",
        }],
    })
}

/// Which of the two forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Atom,
    Json,
}

/// A feed about to be written.
struct Feed<'a> {
    /// Stays the same wherever the server is reached.
    id: String,
    title: String,
    /// Absolute address of the server without a last slash.
    root: String,
    /// This feed, from the root.
    own: String,
    /// The page of the same search, from the root.
    page: String,
    hits: &'a [Arrived],
}

/// `/feeds/NAME.atom` and `/feeds/NAME.json`: a followed topic.
#[utoipa::path(
    get,
    path = "/feeds/{file}",
    operation_id = "followed_feed",
    tag = "feeds",
    params(("file" = String, Path, description = "Name of a followed topic, then .atom or .json.", example = "deep-sea.atom")),
    responses(
        (status = 200, description = "Atom or JSON Feed 1.1: the 50 hits that came or changed last. A browser gets the Atom feed as a page.", content((String = "application/atom+xml", example = json!(ATOM_SAMPLE)), (Object = "application/feed+json", example = json!(json_sample())))),
        (status = 304, description = "Nothing new since the ETag sent as If-None-Match."),
        (status = 404, description = "No topic of this name is followed.", body = Problem, content_type = "application/problem+json"),
        (status = 500, description = "The index failed.", body = Problem, content_type = "application/problem+json"),
        Busy,
    )
)]
pub(crate) async fn followed(
    State(server): State<Server>,
    file: Result<Path<String>, PathRejection>,
    RawQuery(raw): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let file = file.map(|Path(file)| file).unwrap_or_default();
    let (name, form) = match file.rsplit_once('.') {
        Some((name, "atom")) => (name, Form::Atom),
        Some((name, "json")) => (name, Form::Json),
        _ => return Err(unknown()),
    };
    let mut follows = (server.follows)().into_iter();
    let follow = follows.find(|follow| follow.name == name);
    let follow = follow.ok_or_else(unknown)?;
    let hits = server.latest(follow.wanted(FEED_HITS, now_ms())).await?;
    let params = Params {
        text: follow.query.clone(),
        sites: follow.sites.clone(),
        ..Params::default()
    };
    let feed = Feed {
        id: format!("urn:taojin:follow:{name}"),
        title: follow.shown().to_owned(),
        root: root(&server, &headers),
        own: format!("/feeds/{file}"),
        page: link("", "/", &params.query_string()),
        hits: &hits,
    };
    if form == Form::Atom && feed_page::wanted(&headers) {
        let lang = lenient(&raw.unwrap_or_default(), &server).lang;
        let only_lang = Params {
            lang,
            ..Params::default()
        };
        let c = chrome(&server, &only_lang, &headers, &feed.own);
        return Ok(feed.page(c, &format!("/feeds/{name}.json")));
    }
    Ok(feed.answer(form, &headers))
}

/// `/feed.atom?q=`: any search as a feed.
#[utoipa::path(
    get,
    path = "/feed.atom",
    operation_id = "atom_feed",
    tag = "feeds",
    params(
        ("q" = Option<String>, Query, description = "The query, in the language of /help.", example = "天然气"),
        ("site" = Option<Vec<String>>, Query, description = "Only these sites: repeated or separated by commas."),
    ),
    responses(
        (status = 200, description = "Atom: the 50 hits that came or changed last. A browser gets a page.", body = String, content_type = "application/atom+xml", example = json!(ATOM_SAMPLE)),
        (status = 304, description = "Nothing new since the ETag sent as If-None-Match."),
        (status = 400, description = "A parameter is unknown, repeated, malformed or out of range.", body = Problem, content_type = "application/problem+json"),
        (status = 500, description = "The index failed.", body = Problem, content_type = "application/problem+json"),
        Busy,
    )
)]
pub(crate) async fn atom(
    State(server): State<Server>,
    RawQuery(raw): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    searched(&server, &raw.unwrap_or_default(), &headers, Form::Atom).await
}

/// `/feed.json?q=`: any search as a feed.
#[utoipa::path(
    get,
    path = "/feed.json",
    operation_id = "json_feed",
    tag = "feeds",
    params(
        ("q" = Option<String>, Query, description = "The query, in the language of /help.", example = "天然气"),
        ("site" = Option<Vec<String>>, Query, description = "Only these sites: repeated or separated by commas."),
    ),
    responses(
        (status = 200, description = "JSON Feed 1.1: the 50 hits that came or changed last.", body = Object, content_type = "application/feed+json", example = json!(json_sample())),
        (status = 304, description = "Nothing new since the ETag sent as If-None-Match."),
        (status = 400, description = "A parameter is unknown, repeated, malformed or out of range.", body = Problem, content_type = "application/problem+json"),
        (status = 500, description = "The index failed.", body = Problem, content_type = "application/problem+json"),
        Busy,
    )
)]
pub(crate) async fn json(
    State(server): State<Server>,
    RawQuery(raw): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    searched(&server, &raw.unwrap_or_default(), &headers, Form::Json).await
}

async fn searched(
    server: &Shared,
    raw: &str,
    headers: &HeaderMap,
    form: Form,
) -> Result<Response, Problem> {
    let for_browser = form == Form::Atom && feed_page::wanted(headers);
    // A page takes `lang`, as every page does; a feed has no language.
    let asked = Params::parse(raw, &server.rules(!for_browser))?;
    let params = Params {
        lang: None,
        ..asked.clone()
    };
    let wanted = Wanted {
        limit: FEED_HITS,
        offset: 0,
        ..params.wanted(false, false)
    };
    let hits = server.latest(wanted).await?;
    let query = Params {
        offset: 0,
        ..params.clone()
    }
    .query_string();
    let suffix = match form {
        Form::Atom => "atom",
        Form::Json => "json",
    };
    let feed = Feed {
        id: format!("urn:taojin:search:{query}"),
        title: params.text,
        root: root(server, headers),
        own: link("", &format!("/feed.{suffix}"), &query),
        page: link("", "/", &query),
        hits: &hits,
    };
    if for_browser {
        let c = chrome(server, &asked, headers, "/feed.atom");
        return Ok(feed.page(c, &link("", "/feed.json", &query)));
    }
    Ok(feed.answer(form, headers))
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

impl Feed<'_> {
    /// The feed for a person.
    fn page(&self, c: Chrome, json: &str) -> Response {
        let shown = Shown {
            name: &self.title,
            own: format!("{}{}", self.root, self.own),
            json: link(&c.base, json, ""),
            search: link(&c.base, &self.page, ""),
            hits: self.hits,
        };
        feed_page::show(c, &shown)
    }

    fn answer(&self, form: Form, headers: &HeaderMap) -> Response {
        let (kind, body) = match form {
            Form::Atom => ("application/atom+xml; charset=utf-8", self.atom()),
            Form::Json => ("application/feed+json; charset=utf-8", self.json()),
        };
        let tag = format!("\"{:016x}\"", xxhash_rust::xxh3::xxh3_64(body.as_bytes()));
        let known = headers.get(header::IF_NONE_MATCH);
        let known = known.and_then(|v| v.to_str().ok()).unwrap_or_default();
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
        match self.title.is_empty() {
            true => "淘金".to_owned(),
            false => format!("{} · 淘金", self.title),
        }
    }

    /// The page itself, or our text of it where its address is none that a reader may follow.
    fn address(&self, hit: &Arrived) -> String {
        let ours = || format!("{}/doc/{}", self.root, hit.found.id);
        outward(&hit.found.url).unwrap_or_else(ours)
    }

    fn atom(&self) -> String {
        let updated = self.hits.iter().map(|hit| hit.fetched_ms).max();
        let mut out = format!(
            "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">\n\
             <title>{}</title>\n<id>{}</id>\n<updated>{}</updated>\n\
             <link rel=\"self\" type=\"application/atom+xml\" href=\"{}\"/>\n\
             <link rel=\"alternate\" type=\"text/html\" href=\"{}\"/>\n\
             <author><name>淘金 Taojin</name></author>\n<generator version=\"{}\">Taojin</generator>\n",
            Xml(&self.title()),
            Xml(&self.id),
            moment(updated.unwrap_or_default()),
            Xml(&format!("{}{}", self.root, self.own)),
            Xml(&format!("{}{}", self.root, self.page)),
            env!("CARGO_PKG_VERSION"),
        );
        for hit in self.hits {
            self.entry(&mut out, hit)
                .expect("a string takes everything");
        }
        out.push_str("</feed>\n");
        out
    }

    fn entry(&self, out: &mut String, hit: &Arrived) -> std::fmt::Result {
        let found = &hit.found;
        writeln!(
            out,
            "<entry>\n<title>{}</title>\n<id>urn:taojin:document:{}</id>\n<updated>{}</updated>\n\
             <link rel=\"alternate\" href=\"{}\"/>",
            Xml(&found.title.text),
            found.id,
            moment(hit.fetched_ms),
            Xml(&self.address(hit)),
        )?;
        if let Some(published) = hit.published_ms {
            writeln!(out, "<published>{}</published>", moment(published))?;
        }
        for name in hit.author.iter().filter(|name| !name.is_empty()) {
            writeln!(out, "<author><name>{}</name></author>", Xml(name))?;
        }
        if let Some(site) = &found.site {
            writeln!(out, "<category term=\"{}\"/>", Xml(site))?;
        }
        let snippet = Html::marked(&found.snippet).into_string();
        writeln!(
            out,
            "<summary type=\"html\">{}</summary>\n</entry>",
            Xml(&snippet)
        )
    }

    fn json(&self) -> String {
        let item = |hit: &Arrived| {
            let found = &hit.found;
            let mut item = json!({
                "id": format!("urn:taojin:document:{}", found.id),
                "url": self.address(hit),
                "title": found.title.text,
                "content_html": Html::marked(&found.snippet).into_string(),
                "date_modified": moment(hit.fetched_ms),
            });
            if let Some(published) = hit.published_ms {
                item["date_published"] = json!(moment(published));
            }
            if let Some(name) = hit.author.as_ref().filter(|name| !name.is_empty()) {
                item["authors"] = json!([{ "name": name }]);
            }
            if let Some(site) = &found.site {
                item["tags"] = json!([site]);
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
fn moment(ms: i64) -> String {
    DateTime::from_timestamp_millis(ms)
        .filter(|t| (0..=9999).contains(&chrono::Datelike::year(t)))
        .unwrap_or_default()
        .to_rfc3339_opts(chrono::SecondsFormat::Secs, true)
}

/// Text in XML 1.0: escaped, without the characters that no XML document may have.
struct Xml<'a>(&'a str);

impl std::fmt::Display for Xml<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\t' | '\n' => f.write_char(c)?,
                '\u{FFFE}' | '\u{FFFF}' => {}
                c if c.is_control() => {}
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}
