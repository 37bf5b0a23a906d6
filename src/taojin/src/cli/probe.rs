//! Probes a new site: finds its name, feeds, sitemaps and delay, or says in a sentence why it cannot be crawled.
//!
//! The page that a person names is fetched as by a browser; the rest follows robots.txt, a handful of pages at most.

use super::context::{UsageError, bail_usage};
use crate::config::LoadedConfig;
use crate::daemon::now_ms;
use taojin_crawl::VisitOutcome;
use taojin_crawl::fetch::{Access, Fetched, Fetcher, Request, RobotsCache};
use taojin_crawl::schedule::{read_feed, read_sitemap};
use taojin_extract::page::{Hints, Page};
use taojin_extract::{self as extract, Document, LinkKind};
use taojin_uri::CrawlUri;

/// Redirects followed while looking at a new site.
const MAX_REDIRECTS: usize = 5;
/// Feeds and sitemaps taken over into a new file; a person adds the others.
const MAX_LISTS: usize = 5;

/// What was learned of a site by asking it.
#[derive(Debug, Default)]
pub(super) struct Probe {
    /// Where the address leads in the end.
    pub(super) seed: Option<CrawlUri>,
    /// What the site calls itself.
    pub(super) title: Option<String>,
    pub(super) feeds: Vec<CrawlUri>,
    pub(super) sitemaps: Vec<CrawlUri>,
    /// robots.txt names its sitemaps, so that they need not are in the file.
    pub(super) sitemaps_in_robots: bool,
    pub(super) crawl_delay_ms: Option<i64>,
    pub(super) links: usize,
}

/// Asks the first of these addresses that answers.
pub(super) async fn probe(loaded: &LoadedConfig, candidates: &[CrawlUri]) -> anyhow::Result<Probe> {
    let fetcher = Fetcher::new(loaded.config.fetch.clone())?;
    let mut failures = Vec::new();
    for seed in candidates {
        match follow(&fetcher, seed).await? {
            Ok((uri, fetched, body)) => return look(loaded, &fetcher, uri, &fetched, &body).await,
            Err(failure) => failures.push(failure),
        }
    }
    anyhow::bail!(
        "{}; to write the file without asking the site, add --no-probe",
        failures.join("; ")
    )
}

/// Asks robots.txt, the page, one page that it links to, and the usual places for feeds and sitemaps.
async fn look(
    loaded: &LoadedConfig,
    fetcher: &Fetcher,
    uri: CrawlUri,
    fetched: &Fetched,
    body: &[u8],
) -> anyhow::Result<Probe> {
    let robots = RobotsCache::new();
    let verdict = robots.verdict(fetcher, &uri, now_ms(), None).await;
    allowed(fetcher, &uri, &verdict.access, &verdict.trouble)?;
    let page = parse(loaded, &uri, fetched, body);
    let context = extract::Context {
        now_ms: Some(now_ms()),
        ..Default::default()
    };
    let document = extract::extract_with(&page, &context, &loaded.config.extract);
    let mut sitemaps: Vec<CrawlUri> = verdict.sitemaps.iter().take(MAX_LISTS).cloned().collect();
    if sitemaps.is_empty()
        && let Ok(guess) = uri.join("/sitemap.xml")
        && is_sitemap(fetcher, &guess).await
    {
        sitemaps.push(guess);
    }
    let other = match article(&document, &uri) {
        Some(link) => second_page(loaded, fetcher, &robots, link).await,
        None => None,
    };
    Ok(Probe {
        crawl_delay_ms: verdict.crawl_delay_ms,
        links: document.links.len(),
        sitemaps_in_robots: !verdict.sitemaps.is_empty(),
        sitemaps,
        title: extract::find_site_title(&page, other.as_ref()),
        feeds: feeds(fetcher, &document, &uri).await,
        seed: Some(uri),
    })
}

/// Whether robots.txt lets us in; else why not.
fn allowed(
    fetcher: &Fetcher,
    uri: &CrawlUri,
    access: &Access,
    trouble: &str,
) -> anyhow::Result<()> {
    match access {
        Access::Allowed(_) => Ok(()),
        Access::Refused(rule) => Err(UsageError(format!(
            "{uri}: its robots.txt does not let {} in (line {}: Disallow: {})",
            fetcher.config().robots_token(),
            rule.line,
            super::output::printable(&rule.pattern)
        ))
        .into()),
        Access::Unreachable { .. } => {
            anyhow::bail!("{uri}: {trouble}; nothing may be fetched before that")
        }
    }
}

/// One more page of the site, if robots.txt lets us have it: what two pages share in their titles is the site's name.
async fn second_page(
    loaded: &LoadedConfig,
    fetcher: &Fetcher,
    robots: &RobotsCache,
    link: CrawlUri,
) -> Option<Page> {
    let verdict = robots.verdict(fetcher, &link, now_ms(), None).await;
    if !verdict.access.is_allowed() {
        return None;
    }
    let mut body: Vec<u8> = Vec::new();
    let request = Request::page(link.clone(), now_ms());
    let fetched = fetcher.fetch(&request, &mut body).await;
    (fetched.outcome == VisitOutcome::Page).then(|| parse(loaded, &link, &fetched, &body))
}

/// The feeds of its own host that a page names, as far as they are feeds.
async fn feeds(fetcher: &Fetcher, document: &Document, uri: &CrawlUri) -> Vec<CrawlUri> {
    let named = document.links.iter().filter(|l| l.kind == LinkKind::Feed);
    let named = named
        .filter_map(|l| CrawlUri::parse(&l.url).ok())
        .filter(|feed| feed.authority() == uri.authority());
    let mut found = Vec::new();
    for feed in named.take(MAX_LISTS) {
        if is_feed(fetcher, &feed).await {
            found.push(feed);
        }
    }
    found
}

fn parse(loaded: &LoadedConfig, uri: &CrawlUri, fetched: &Fetched, body: &[u8]) -> Page {
    let hints = Hints {
        url: Some(uri.clone()),
        charset: fetched.head.charset().map(str::to_owned),
        limits: loaded.config.page.clone(),
    };
    Page::parse(body, hints)
}

/// A link of the page to one of the site's articles.
fn article(document: &Document, uri: &CrawlUri) -> Option<CrawlUri> {
    let mut links = document
        .links
        .iter()
        .filter(|l| l.kind == LinkKind::Article);
    links.find_map(|l| {
        let link = CrawlUri::parse(&l.url).ok()?;
        (link.authority() == uri.authority() && link != *uri).then_some(link)
    })
}

/// Where an address led, what was answered there, and the page.
type Followed = (CrawlUri, Fetched, Vec<u8>);

/// Fetches a page through its redirects; else why there is none. What no other address would change is an error.
async fn follow(fetcher: &Fetcher, seed: &CrawlUri) -> anyhow::Result<Result<Followed, String>> {
    let mut uri = seed.clone();
    for _ in 0..=MAX_REDIRECTS {
        let mut body: Vec<u8> = Vec::new();
        let fetched = fetcher
            .fetch(&Request::page(uri.clone(), now_ms()), &mut body)
            .await;
        match fetched.outcome {
            VisitOutcome::Page => return Ok(Ok((uri, fetched, body))),
            VisitOutcome::Redirect => uri = fetched.head.location.unwrap_or(uri),
            VisitOutcome::AddressRefused => {
                bail_usage!("{uri}: {}", fetched.describe());
            }
            _ => return Ok(Err(format!("{uri}: {}", fetched.describe()))),
        }
    }
    Ok(Err(format!("{seed}: it redirects without end")))
}

async fn get(fetcher: &Fetcher, uri: &CrawlUri) -> Option<Vec<u8>> {
    let mut body: Vec<u8> = Vec::new();
    let fetched = fetcher
        .fetch(&Request::any(uri.clone(), now_ms()), &mut body)
        .await;
    (fetched.outcome == VisitOutcome::Page).then_some(body)
}

async fn is_feed(fetcher: &Fetcher, uri: &CrawlUri) -> bool {
    let body = get(fetcher, uri).await;
    body.is_some_and(|b| read_feed(&b, uri).is_ok_and(|links| !links.is_empty()))
}

async fn is_sitemap(fetcher: &Fetcher, uri: &CrawlUri) -> bool {
    let Some(body) = get(fetcher, uri).await else {
        return false;
    };
    let found = read_sitemap(&body, uri);
    !found.pages.is_empty() || !found.sitemaps.is_empty()
}
