//! Articles of the bundled world that are hard to crawl: wrong charsets, several addresses, reprints,
//! ones that only a sitemap or a feed lists, slow ones.

use super::article::{Article, Delivery, Discovery, Encoding};
use super::conventions::{path, shown_date};
use super::sites::{SampleSite, Template};
use super::text::genre::Genre;
use super::time::HOUR_MS;

/// Copies of newspaper articles on the news agency.
const REPRINTS: usize = 5;
/// Copies of newspaper articles on the portal; the first is of an article that the agency copied too.
const PORTAL_REPRINTS: usize = 2;

/// Turns some articles of the bundled world into special cases, counted within their site.
pub(super) fn apply(sites: &[SampleSite], articles: &mut [Article]) {
    let of = |template: Template| -> Vec<usize> {
        let here = articles
            .iter()
            .filter(|article| sites[article.site].template == template);
        here.map(|article| article.index).collect()
    };
    let (newspaper, portal) = (of(Template::Newspaper), of(Template::Portal));
    let (bulletin, blog) = (of(Template::Bulletin), of(Template::Blog));
    let agency = of(Template::Agency);
    vary_delivery(articles, [&portal, &bulletin, &blog, &agency]);
    if let Some(&index) = newspaper
        .iter()
        .find(|&&index| articles[index].genre != Genre::Picture)
    {
        articles[index].comments = 4;
    }
    let originals: Vec<usize> = newspaper
        .into_iter()
        .filter(|&index| articles[index].genre != Genre::Picture && articles[index].comments == 0)
        .collect();
    let copies = agency.iter().skip(3).step_by(4).take(REPRINTS);
    for (&copy, &original) in copies.zip(originals.iter().step_by(2)) {
        reprint(sites, articles, copy, original);
    }
    let copies = portal.iter().skip(4).step_by(6).take(PORTAL_REPRINTS);
    for (&copy, &original) in copies.zip(originals.iter().step_by(6)) {
        reprint(sites, articles, copy, original);
    }
}

/// Encodings, ways to find a page, other addresses, and servers in trouble.
fn vary_delivery(articles: &mut [Article], [portal, bulletin, blog, agency]: [&[usize]; 4]) {
    for (number, &index) in portal.iter().enumerate() {
        articles[index].encoding = match number % 10 {
            3 => Encoding::GbkUndeclared,
            7 => Encoding::GbkDeclaredUtf8,
            _ => Encoding::GbkInPage,
        };
    }
    for (number, &index) in bulletin.iter().enumerate() {
        let article = &mut articles[index];
        match number {
            2 | 9 | 16 => article.encoding = Encoding::Utf8DeclaredGb2312,
            5 | 12 | 21 => article.discovery = Discovery::Sitemap,
            7 => {
                article.discovery = Discovery::Redirects;
                article.aliases = ["/r/2026a", "/r/2026b", "/go?id=7"]
                    .map(str::to_owned)
                    .to_vec();
            }
            14 => {
                article.discovery = Discovery::AllowedFolder;
                article.path = format!("/internal/public/{}.html", 3000 + index);
            }
            _ => {}
        }
    }
    for (number, &index) in blog.iter().enumerate() {
        let article = &mut articles[index];
        match number {
            1 | 4 | 6 => article.aliases.push(format!(
                "{}?utm_source=weekly&utm_medium=mail&utm_campaign=n{number}",
                article.path
            )),
            3 | 8 => article.aliases.push(format!("{}?view=print", article.path)),
            11 | 15 => article.discovery = Discovery::Feed,
            _ => {}
        }
    }
    for (number, &index) in agency.iter().enumerate() {
        let article = &mut articles[index];
        match number {
            2 => article.delivery = Delivery::Throttled,
            6 => article.delivery = Delivery::Slow,
            10 | 20 | 30 => article.encoding = Encoding::Utf8Undeclared,
            _ => {}
        }
    }
}

/// Turns `copy` into a reprint of `original`, three hours younger.
fn reprint(sites: &[SampleSite], articles: &mut [Article], copy: usize, original: usize) {
    let original = articles[original].clone();
    let article = &mut articles[copy];
    let site = &sites[article.site];
    article.reprint_of = Some(original.index);
    article.genre = original.genre;
    article.title = original.title;
    article.author = original.author;
    article.source = Some(sites[original.site].title.to_owned());
    article.published_ms = original.published_ms + 3 * HOUR_MS;
    article.modified_ms = article.published_ms;
    article.published = shown_date(site.template, article.published_ms);
    article.path = path(site, article.section, article.index, article.published_ms);
}
