//! Files for programs: robots.txt, sitemaps, feeds. In: the world. Out: their text.

use super::article::{Article, Discovery};
use super::sites::{SampleSite, Template};
use super::template::escape;
use super::time::{beijing, clock};
use super::world::World;

/// Articles in a feed.
const FEED_ITEMS: usize = 15;

/// robots.txt of a site; `None` where it has none.
pub(super) fn robots(site: &SampleSite) -> Option<String> {
    Some(match site.template {
        Template::Newspaper => format!(
            "# 渤海能源报\nUser-agent: *\nDisallow: /admin/\nDisallow: /search\nDisallow: /*?print=\n\nSitemap: {}\n",
            site.url("/sitemap.xml")
        ),
        Template::Portal => {
            "User-Agent: *\r\nDisallow: /cgi-bin/\r\nDisallow: /tmp/\r\n".to_owned()
        }
        Template::Bulletin => format!(
            "User-agent: *\nDisallow: /internal/\nAllow: /internal/public/\nSitemap: {}\n",
            site.url("/sitemap_index.xml")
        ),
        Template::Blog => {
            "User-agent: GreedyBot\nDisallow: /\n\nUser-agent: *\nDisallow: /drafts/\n".to_owned()
        }
        Template::Forum => return None,
        Template::Agency => format!(
            "User-agent: *\nDisallow:\nSitemap: {}\n",
            site.url("/sitemap-news.xml")
        ),
    })
}

/// A sitemap or a sitemap index; `None` if the site has none under this path.
pub(super) fn sitemap(world: &World, site_index: usize, path: &str) -> Option<String> {
    let site = &world.sites[site_index];
    let mine = || {
        world.articles.iter().filter(move |article| {
            article.site == site_index
                && matches!(article.discovery, Discovery::List | Discovery::Sitemap)
        })
    };
    match (site.template, path) {
        (Template::Newspaper, "/sitemap.xml") => Some(urlset(site, mine())),
        (Template::Bulletin, "/sitemap_index.xml") => {
            let child = |path: &str| format!("<sitemap><loc>{}</loc></sitemap>\n", site.url(path));
            Some(format!(
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n{}{}</sitemapindex>\n",
                child("/sitemap-a.xml"),
                child("/sitemap-b.xml.gz"),
            ))
        }
        (Template::Bulletin, "/sitemap-a.xml") => Some(urlset(
            site,
            mine().filter(|article| article.index.is_multiple_of(2)),
        )),
        (Template::Bulletin, "/sitemap-b.xml.gz") => Some(urlset(
            site,
            mine().filter(|article| !article.index.is_multiple_of(2)),
        )),
        (Template::Agency, "/sitemap-news.xml") => Some(news_urlset(site, mine())),
        _ => None,
    }
}

fn urlset<'a>(site: &SampleSite, articles: impl Iterator<Item = &'a Article>) -> String {
    let mut out = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n",
    );
    for article in articles {
        out.push_str(&format!(
            "<url><loc>{}</loc><lastmod>{}</lastmod></url>\n",
            escape(site.url(&article.path)),
            clock(article.modified_ms, "%Y-%m-%dT%H:%M:00+08:00"),
        ));
    }
    out.push_str("</urlset>\n");
    out
}

fn news_urlset<'a>(site: &SampleSite, articles: impl Iterator<Item = &'a Article>) -> String {
    let mut out = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" xmlns:news=\"http://www.google.com/schemas/sitemap-news/0.9\">\n",
    );
    for article in articles {
        out.push_str(&format!(
            "<url><loc>{}</loc><news:news><news:publication><news:name>{}</news:name><news:language>zh-cn</news:language></news:publication>\
             <news:publication_date>{}</news:publication_date><news:title>{}</news:title></news:news></url>\n",
            escape(site.url(&article.path)),
            site.title,
            article.published,
            escape(&article.title),
        ));
    }
    out.push_str("</urlset>\n");
    out
}

/// The site's feed; `None` if it has none under this path.
pub(super) fn feed(world: &World, site_index: usize, path: &str) -> Option<String> {
    let site = &world.sites[site_index];
    let newest = world
        .routes
        .newest(site_index)
        .iter()
        .take(FEED_ITEMS)
        .map(|&index| &world.articles[index]);
    let only_here = world
        .articles
        .iter()
        .filter(|article| article.site == site_index && article.discovery == Discovery::Feed);
    let items: Vec<&Article> = newest.chain(only_here).collect();
    match (site.template, path) {
        (Template::Newspaper, "/rss.xml") => Some(rss(site, &items)),
        (Template::Blog, "/feed/") => Some(atom(site, &items)),
        _ => None,
    }
}

fn rss(site: &SampleSite, items: &[&Article]) -> String {
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<rss version=\"2.0\"><channel><title>{}</title><link>{}</link><description>渤海湾油气新闻</description>\n",
        site.title,
        site.url("/"),
    );
    for article in items {
        let url = site.url(&article.path);
        out.push_str(&format!(
            "<item><title>{}</title><link>{url}</link><guid isPermaLink=\"true\">{url}</guid><pubDate>{}</pubDate></item>\n",
            escape(&article.title),
            beijing(article.published_ms).to_rfc2822(),
        ));
    }
    out.push_str("</channel></rss>\n");
    out
}

fn atom(site: &SampleSite, items: &[&Article]) -> String {
    let updated = items
        .iter()
        .map(|article| article.modified_ms)
        .max()
        .unwrap_or(0);
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\"><title>{}</title><id>{home}</id><link href=\"{home}\"/><updated>{}</updated>\n",
        site.title,
        beijing(updated).to_rfc3339(),
        home = site.url("/"),
    );
    for article in items {
        let url = site.url(&article.path);
        out.push_str(&format!(
            "<entry><title>{}</title><id>{url}</id><link rel=\"alternate\" href=\"{url}\"/><published>{}</published><updated>{}</updated></entry>\n",
            escape(&article.title),
            article.published,
            beijing(article.modified_ms).to_rfc3339(),
        ));
    }
    out.push_str("</feed>\n");
    out
}
