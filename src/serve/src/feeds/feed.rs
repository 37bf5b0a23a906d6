//! A feed about to be written. In: hits. Out: Atom (RFC 4287) or JSON Feed 1.1, with an ETag; or a page for people.

use std::fmt::Write;

use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use chrono::DateTime;
use serde_json::json;

use super::page::{self, Shown};
use crate::pages::html::Html;
use crate::pages::view::{Chrome, link, outward};
use crate::search::source::Arrived;

/// Which of the two formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Atom,
    Json,
}

/// A feed about to be written.
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
    pub(crate) hits: &'a [Arrived],
}

impl Feed<'_> {
    /// The feed for a person.
    pub(crate) fn page(&self, c: Chrome, json: &str) -> Response {
        let shown = Shown {
            name: &self.title,
            own: format!("{}{}", self.root, self.own),
            json: link(&c.base, json, ""),
            search: link(&c.base, &self.page, ""),
            hits: self.hits,
        };
        page::show(c, &shown)
    }

    /// The feed itself, or 304 for a client that has it already.
    pub(crate) fn answer(&self, format: Format, headers: &HeaderMap) -> Response {
        let (kind, body) = match format {
            Format::Atom => ("application/atom+xml; charset=utf-8", self.atom()),
            Format::Json => ("application/feed+json; charset=utf-8", self.json()),
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
