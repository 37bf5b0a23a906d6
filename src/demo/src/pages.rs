//! The answer to each request. A function of the world and the request: it never reads a clock, opens a socket or
//! remembers anything.

use encoding_rs::GBK;

use super::answer::{Answer, Body, Request, conditional, fnv, http_date};
use super::article::{Article, Delivery, Encoding};
use super::conventions::usual_encoding;
use super::routes::Target;
use super::sites::Template;
use super::template::{self, ListPage, View};
use super::world::World;

/// Seconds in the Retry-After of a throttled page.
pub const RETRY_AFTER_S: u32 = 1;

impl World {
    /// The answer of the requested host; `None` for a host outside the sample web.
    pub fn answer(&self, request: &Request<'_>) -> Option<Answer> {
        let name = request
            .host
            .split_once(':')
            .map_or(request.host, |(name, _)| name);
        let index = self
            .sites
            .iter()
            .position(|site| site.host.eq_ignore_ascii_case(name))?;
        let answer = match self.routes.find(index, request.target) {
            Some(target) => self.page(index, target, request),
            None => self
                .file(index, request)
                .unwrap_or_else(|| self.trap(index, request)),
        };
        Some(answer)
    }

    /// The page of an article as UTF-8 text, before encoding and padding.
    pub fn article_html(&self, index: usize) -> String {
        let article = &self.articles[index];
        let view = View {
            world: self,
            index: article.site,
            encoding: Encoding::Utf8,
            nonce: 0,
        };
        template::article(&view, article)
    }

    fn page(&self, index: usize, target: Target, request: &Request<'_>) -> Answer {
        let template = self.sites[index].template;
        let encoding = match target {
            Target::Article(article) => self.articles[article].encoding,
            _ => usual_encoding(template),
        };
        let view = View {
            world: self,
            index,
            encoding,
            nonce: request.nonce,
        };
        match target {
            Target::Home => {
                let changed_ms = self.latest(self.routes.newest(index));
                self.html(&view, template::home(&view), changed_ms, request)
            }
            Target::List { section, page } => {
                let (items, pages) = self.routes.list_page(index, section, page);
                let list = ListPage {
                    section,
                    page,
                    pages,
                    items,
                };
                let changed_ms = self.latest(self.routes.section(index, section));
                self.html(&view, template::list(&view, &list), changed_ms, request)
            }
            Target::Article(article) => self.article(&view, &self.articles[article], request),
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

    fn article(&self, view: &View<'_>, article: &Article, request: &Request<'_>) -> Answer {
        if article.delivery == Delivery::Throttled && request.asked_before == 0 {
            return Answer::new(429, "text/plain; charset=utf-8", "too many requests\n")
                .with("retry-after", RETRY_AFTER_S.to_string());
        }
        let print =
            view.site().template == Template::Blog && request.target.ends_with("?view=print");
        let page = if print {
            template::blog_print(view, article)
        } else {
            template::article(view, article)
        };
        let mut answer = self.html(view, page, article.modified_ms, request);
        answer.slow = article.delivery == Delivery::Slow;
        answer
    }

    /// Encodes a page, adds the headers of the site, and answers 304 where that is enough.
    fn html(
        &self,
        view: &View<'_>,
        mut page: String,
        changed_ms: i64,
        request: &Request<'_>,
    ) -> Answer {
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
        conditional(answer, request)
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

/// Script that does nothing, `bytes` long or a little longer.
fn filler(bytes: usize) -> String {
    let row = "window.__f=(window.__f||0)+1;";
    format!(
        "<script>{}</script>\n",
        row.repeat(bytes.saturating_sub(18).div_ceil(row.len()))
    )
}
