//! The world's addresses and the crawler's idea of a canonical address.

use taojin_uri::CrawlUri;

use super::super::Discovery;
use super::super::Template;
use super::{bytes, get, world};

fn canonical(url: &str) -> String {
    CrawlUri::parse(url).unwrap().as_str().to_owned()
}

#[test]
fn article_addresses_are_canonical_already() {
    let world = world();
    for article in &world.articles {
        let url = world.url(article);
        assert_eq!(canonical(&url), url);
    }
    for site in &world.sites {
        assert_eq!(canonical(&site.seeds[0]), site.seeds[0]);
    }
}

#[test]
fn tracking_links_lead_to_the_article() {
    let world = world();
    let mut tracked = 0;
    for article in world
        .articles
        .iter()
        .filter(|article| article.discovery == Discovery::List)
    {
        for alias in article
            .aliases
            .iter()
            .filter(|alias| alias.contains("utm_"))
        {
            assert_eq!(
                canonical(&world.site_of(article).url(alias)),
                world.url(article)
            );
            tracked += 1;
        }
    }
    assert_eq!(tracked, 3);
}

#[test]
fn session_links_lead_to_the_article() {
    let world = world();
    let forum = world
        .sites
        .iter()
        .find(|site| site.template == Template::Forum)
        .unwrap();
    let home = get(&world, &forum.seeds[0]);
    let page = encoding_rs::GBK.decode(bytes(&home)).0.into_owned();
    let mut sessions = 0;
    for piece in page
        .split("href=\"")
        .skip(1)
        .filter(|piece| piece.contains("?sid="))
    {
        let href = piece.split('"').next().unwrap();
        let clean = href.split_once("?sid=").unwrap().0;
        assert_eq!(canonical(&forum.url(href)), forum.url(clean));
        sessions += 1;
    }
    assert!(sessions > 8);
}
