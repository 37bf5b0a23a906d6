//! Detects pages that let nobody past: they ask the reader to sign in, or to prove that a person reads. A site with many of
//! them has closed itself to the crawler, whatever the status of its responses is.

use std::sync::LazyLock;

use crate::cues;
use crate::document::{Document, Kind};
use crate::literals::Literals;
use taojin_uri::CrawlUri;

/// A text of more characters states something else.
const MAX_CHARS: usize = 600;
/// A notice that looks like an article has no more characters.
const MAX_CHARS_OF_NOTICE: usize = 200;
/// A notice with a day has no more links: there is nowhere to go from it.
const MAX_LINKS_OF_NOTICE: usize = 3;
/// A title of more characters speaks of signing in and does not ask for it.
const MAX_TITLE_CHARS: usize = 24;
/// Parts of URLs to which sites lead readers that they do not know.
static PARTS: LazyLock<Vec<String>> = LazyLock::new(|| cues::words("link.login"));

const SAYS: u32 = 1;
const LOGIN: u32 = 2;

static WORDS: LazyLock<Literals> =
    LazyLock::new(|| cues::compile_seen(&[("blocking.says", SAYS), ("blocking.login", LOGIN)]));

impl Document {
    /// Whether a page that looks like an article is a notice to readers that are not let in: short, in such words, and without
    /// a day; or with one, that of the request, where title and text say so and the page leads nowhere.
    pub(crate) fn is_short_wall(&self) -> bool {
        let says = |text: &str| WORDS.seen(text.as_bytes()) & SAYS != 0;
        let title = self.title.as_deref().unwrap_or_default();
        let is_dated_wall = || {
            let is_bare = self.links.len() <= MAX_LINKS_OF_NOTICE;
            is_bare && !is_longer(title, MAX_TITLE_CHARS) && says(title) && says(&self.text)
        };
        self.kind == Kind::Article
            && !is_longer(&self.text, MAX_CHARS_OF_NOTICE)
            && match &self.published {
                None => says(title) || says(&self.text),
                Some(_) => is_dated_wall(),
            }
    }

    /// Whether the page asks to sign in, or to prove that a person reads, and says nothing else.
    pub fn is_blocking_page(&self) -> bool {
        if matches!(self.kind, Kind::Article | Kind::Hub) || is_longer(&self.text, MAX_CHARS) {
            return false;
        }
        let title = self.title.as_deref().unwrap_or_default();
        let of_title = WORDS.seen(title.as_bytes());
        of_title & SAYS != 0
            || (of_title & LOGIN != 0 && !is_longer(title, MAX_TITLE_CHARS))
            || WORDS.seen(self.text.as_bytes()) & SAYS != 0
    }
}

/// Whether a URL is that of a page to sign in or to prove oneself at, by a part of its path or of its host.
pub fn is_blocking_address(uri: &CrawlUri) -> bool {
    let path = uri.path().split(['/', '.', '_']);
    let mut parts = path.chain(uri.host().split('.'));
    parts.any(|part| PARTS.iter().any(|known| part.eq_ignore_ascii_case(known)))
}

fn is_longer(text: &str, most: usize) -> bool {
    text.chars().nth(most).is_some()
}

#[cfg(test)]
mod tests {
    use crate::page::{Hints, Page};
    use crate::{Context, Document, extract, is_blocking_address};
    use taojin_uri::CrawlUri;

    fn document(html: &str) -> Document {
        extract(
            &Page::parse(html.as_bytes(), Hints::default()),
            &Context::default(),
        )
    }

    #[test]
    fn blocking_page_or_article_about_it() {
        for html in [
            "<title>用户登录 - 西部油气网</title><h1>用户登录</h1><form><input name=u><input type=password></form>",
            "<title>安全验证</title><p>您的访问过于频繁，请输入验证码后继续访问。</p>",
            "<title>Just a moment...</title><h1>news.example</h1><p>Checking your browser before you go on.</p>",
            "<title>Access Denied</title><h1>Access Denied</h1><p>You don't have permission.</p>",
            // The hour is that of the request.
            "<title>访问异常</title><p>2026-05-03 09:12:40</p><h1>访问异常</h1><p>系统检测到您的访问频率过快，请完成验证。</p>\
             <p>地址：192.0.2.7，时间：2026-05-03 09:12:40，编号：c41d</p>",
        ] {
            assert!(document(html).is_blocking_page(), "{html}");
        }
        let text = "记者了解到，该局上线人机验证，访问过于频繁的用户需要输入验证码，项目负责人表示系统运行平稳。".repeat(20);
        for html in [
            "<title>储气库投产</title><h1>储气库投产</h1><p>记者从现场了解到，改造工程日前通过验收。</p>".to_owned(),
            format!(
                "<title>平台上线安全验证</title>{}<h1>平台上线安全验证</h1><p>2026-05-03</p><p>采油厂的平台昨天上线安全验证，登录要多一步，值班人员介绍，两天来没有发现异常的账号，系统运行平稳。</p><p>下个月，其他三个厂的平台也将分批上线，届时职工用手机就可以办理，不必再到现场排队。</p>",
                (1..6).map(|n| format!("<a href=http://news.example/{n}>要闻</a>")).collect::<String>()
            ),
            format!("<title>平台上线安全验证</title><h1>平台上线安全验证</h1><p>2026-05-03</p><p>{text}</p>"),
            "<title>页面不存在</title><h1>404</h1>".to_owned(),
        ] {
            assert!(!document(&html).is_blocking_page(), "{html}");
        }
    }

    #[test]
    fn blocking_url_by_parts() {
        for (address, is_blocking_page) in [
            ("https://news.example/login?next=/a", true),
            ("https://passport.news.example/", true),
            ("https://news.example/user/login.aspx", true),
            ("https://news.example/2026/catalogin-5.html", false),
            ("https://news.example/verified/1.html", false),
        ] {
            let uri = CrawlUri::parse(address).unwrap();
            assert_eq!(is_blocking_address(&uri), is_blocking_page, "{address}");
        }
    }
}
