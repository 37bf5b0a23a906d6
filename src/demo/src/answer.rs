//! What a request gets. In: host, path, conditions. Out: status, headers, bytes. A function of the world and the request:
//! it never reads a clock, opens a socket or remembers anything.

use encoding_rs::GBK;

use super::composer::beijing;
use super::routes::Target;
use super::sites::Template;
use super::template::{self, Shelf, View};
use super::world::{Encoding, Manner, Planted, World};

/// Seconds in the Retry-After of a throttled page.
pub const RETRY_AFTER_S: u32 = 1;

/// A request, as far as an answer depends on it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ask<'a> {
    /// The Host header; the port is not looked at.
    pub host: &'a str,
    /// Path and query as sent.
    pub target: &'a str,
    /// If-None-Match.
    pub if_none_match: Option<&'a str>,
    /// If-Modified-Since.
    pub if_modified_since: Option<&'a str>,
    /// Whether the client unpacks gzip.
    pub accepts_gzip: bool,
    /// How often this address was asked for before.
    pub asked_before: u32,
    /// Another number for each request.
    pub nonce: u64,
}

/// What goes over the wire after the headers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// These bytes.
    Bytes(Vec<u8>),
    /// Rows of a table that go on until the client has had enough (bounded by the server).
    Endless,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// Header names in lower case, and values.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: Body,
    /// The server is to take its time first.
    pub slow: bool,
}

impl Answer {
    pub(super) fn new(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            headers: vec![("content-type", content_type.to_owned())],
            body: Body::Bytes(body.into()),
            slow: false,
        }
    }

    pub(super) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub(super) fn redirect(status: u16, location: impl Into<String>) -> Self {
        Self::new(status, "text/plain; charset=utf-8", "moved\n").with("location", location)
    }

    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| value.as_str())
    }
}

impl World {
    /// The answer of the host that was asked; `None` for a host that is not of this world.
    pub fn answer(&self, ask: &Ask<'_>) -> Option<Answer> {
        let name = ask.host.split_once(':').map_or(ask.host, |(name, _)| name);
        let index = self
            .sites
            .iter()
            .position(|site| site.host.eq_ignore_ascii_case(name))?;
        let answer = match self.routes.find(index, ask.target) {
            Some(target) => self.page(index, target, ask),
            None => self
                .file(index, ask)
                .unwrap_or_else(|| self.trap(index, ask)),
        };
        Some(answer)
    }

    fn page(&self, index: usize, target: Target, ask: &Ask<'_>) -> Answer {
        let template = self.sites[index].template;
        let encoding = match target {
            Target::Article(article) => self.articles[article].encoding,
            _ => super::planting::usual_encoding(template),
        };
        let view = View {
            world: self,
            index,
            encoding,
            nonce: ask.nonce,
        };
        match target {
            Target::Home => {
                let changed_ms = self.latest(self.routes.newest(index));
                self.html(&view, template::home(&view), changed_ms, ask)
            }
            Target::List { section, page } => {
                let (items, pages) = self.routes.shelf(index, section, page);
                let shelf = Shelf {
                    section,
                    page,
                    pages,
                    items,
                };
                let changed_ms = self.latest(self.routes.section(index, section));
                self.html(&view, template::list(&view, &shelf), changed_ms, ask)
            }
            Target::Article(article) => self.article(&view, &self.articles[article], ask),
            Target::Hop { step, article } => {
                let article = &self.articles[article];
                let next = article.aliases.get(step + 1).unwrap_or(&article.path);
                // Every kind of redirect once, absolute and relative by turns.
                match step {
                    0 => Answer::redirect(301, self.sites[index].url(next)),
                    1 => Answer::redirect(302, next.clone()),
                    _ => Answer::redirect(308, self.sites[index].url(next)),
                }
            }
        }
    }

    fn article(&self, view: &View<'_>, article: &Planted, ask: &Ask<'_>) -> Answer {
        if article.manner == Manner::Throttled && ask.asked_before == 0 {
            return Answer::new(429, "text/plain; charset=utf-8", "too many requests\n")
                .with("retry-after", RETRY_AFTER_S.to_string());
        }
        let print = view.site().template == Template::Blog && ask.target.ends_with("?view=print");
        let page = if print {
            template::blog_print(view, article)
        } else {
            template::article(view, article)
        };
        let mut answer = self.html(view, page, article.modified_ms, ask);
        answer.slow = article.manner == Manner::Slow;
        answer
    }

    /// Encodes a page, adds what the site's server says about it, and answers 304 where that is enough.
    fn html(&self, view: &View<'_>, mut page: String, changed_ms: i64, ask: &Ask<'_>) -> Answer {
        if let Some(missing) = self.page_bytes.checked_sub(page.len() + 1)
            && let Some(at) = page.rfind("</body>").or_else(|| page.rfind("</BODY>"))
        {
            page.insert_str(at, &filler(missing));
        }
        let bytes = if view.encoding.is_gbk() {
            GBK.encode(&page).0.into_owned()
        } else {
            page.into_bytes()
        };
        let mut answer = Answer::new(200, content_type(view), bytes);
        let template = view.site().template;
        if matches!(
            template,
            Template::Newspaper | Template::Bulletin | Template::Blog | Template::Agency
        ) {
            let mark = if template == Template::Agency {
                "W/"
            } else {
                ""
            };
            let hash = match &answer.body {
                Body::Bytes(bytes) => fnv(bytes),
                Body::Endless => 0,
            };
            answer = answer.with("etag", format!("{mark}\"{hash:016x}\""));
        }
        if matches!(
            template,
            Template::Newspaper | Template::Bulletin | Template::Portal
        ) {
            answer = answer.with("last-modified", http_date(changed_ms));
        }
        conditional(answer, ask)
    }

    pub(super) fn latest(&self, articles: &[usize]) -> i64 {
        articles
            .iter()
            .map(|&index| self.articles[index].published_ms)
            .max()
            .unwrap_or(self.now_ms)
    }
}

fn content_type(view: &View<'_>) -> &'static str {
    match (view.encoding, view.site().template) {
        (
            Encoding::Utf8,
            Template::Newspaper | Template::Bulletin | Template::Blog | Template::Agency,
        ) => "text/html; charset=utf-8",
        (Encoding::GbkInHeader, _) => "text/html; charset=GBK",
        _ => "text/html",
    }
}

pub(super) fn conditional(answer: Answer, ask: &Ask<'_>) -> Answer {
    let weak = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    let same = match (answer.header("etag"), ask.if_none_match) {
        (Some(tag), Some(known)) => known.split(',').any(|known| weak(known) == weak(tag)),
        (None, Some(_)) => false,
        (_, None) => match (answer.header("last-modified"), ask.if_modified_since) {
            (Some(changed), Some(since)) => not_after(changed, since),
            _ => false,
        },
    };
    if !same {
        return answer;
    }
    let keep = |name: &str| matches!(name, "etag" | "last-modified");
    Answer {
        status: 304,
        headers: answer
            .headers
            .into_iter()
            .filter(|(name, _)| keep(name))
            .collect(),
        body: Body::Bytes(Vec::new()),
        slow: false,
    }
}

fn not_after(changed: &str, since: &str) -> bool {
    match (
        httpdate::parse_http_date(changed),
        httpdate::parse_http_date(since),
    ) {
        (Ok(changed), Ok(since)) => changed <= since,
        _ => false,
    }
}

pub(super) fn http_date(ms: i64) -> String {
    beijing(ms)
        .with_timezone(&chrono::Utc)
        .format("%a, %d %b %Y %H:%M:%S GMT")
        .to_string()
}

/// FNV-1a: enough to tell two pages apart.
pub(super) fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    })
}

/// Script that does nothing, `bytes` long or a little longer.
fn filler(bytes: usize) -> String {
    let row = "window.__f=(window.__f||0)+1;";
    format!(
        "<script>{}</script>\n",
        row.repeat(bytes.saturating_sub(18).div_ceil(row.len()))
    )
}
