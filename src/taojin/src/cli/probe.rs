//! Probes a new site: finds its name, feeds, sitemaps and delay, or says in a sentence why it cannot be crawled.
//!
//! Its robots.txt comes first, whatever the person named; then a handful of pages at most, at the pace that the site asks for.

use super::context::{UsageError, bail_usage};
use super::gate::{open_gate, person_turn, refused_error};
use crate::config::LoadedConfig;
use crate::daemon::now_ms;
use taojin_crawl::VisitOutcome;
use taojin_crawl::fetch::{Fetched, Gate, Purpose, Refused, Request, Sink, Turn};
use taojin_crawl::schedule::{read_feed, read_sitemap};
use taojin_extract::page::{Hints, Page};
use taojin_extract::{self as extract, Document, LinkKind, is_blocking_address};
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
    /// The page has neither a link nor a text: a script would make them.
    pub(super) needs_scripts: bool,
}

/// Asks the first of these addresses that answers.
pub(super) async fn probe(loaded: &LoadedConfig, candidates: &[CrawlUri]) -> anyhow::Result<Probe> {
    let mut probing = Probing {
        gate: open_gate(&loaded.config, loaded.store_place())?,
        turn: person_turn(&loaded.config),
        loaded,
    };
    let mut failures = Vec::new();
    for seed in candidates {
        match probing.follow(seed).await? {
            Ok((uri, fetched, body)) => match probing.look(uri, &fetched, &body).await {
                Ok(probe) => return Ok(probe),
                Err(failure) => failures.push(failure),
            },
            Err(failure) => failures.push(failure),
        }
    }
    anyhow::bail!(
        "{}; to write the file without asking the site, add --no-probe",
        failures.join("; ")
    )
}

/// Where an address led, what was answered there, and the page.
type Followed = (CrawlUri, Fetched, Vec<u8>);

/// The requests of one look at a site.
struct Probing<'a> {
    gate: Gate,
    turn: Turn,
    loaded: &'a LoadedConfig,
}

impl Probing<'_> {
    async fn fetch(&mut self, request: &Request, sink: &mut dyn Sink) -> Result<Fetched, Refused> {
        let turn = &mut self.turn;
        self.gate.fetch(request, Purpose::Probe, turn, sink).await
    }

    /// Fetches a page through its redirects; else why there is none. What no other address would change is an error.
    async fn follow(&mut self, seed: &CrawlUri) -> anyhow::Result<Result<Followed, String>> {
        let mut uri = seed.clone();
        for _ in 0..=MAX_REDIRECTS {
            let mut body: Vec<u8> = Vec::new();
            let request = Request::page(uri.clone());
            let fetched = match self.fetch(&request, &mut body).await {
                Ok(fetched) => fetched,
                // Nobody answers there at all.
                Err(Refused::RobotsAway(trouble))
                    if trouble.outcome == VisitOutcome::Unreachable =>
                {
                    return Ok(Err(format!("{uri}: {}", trouble.detail)));
                }
                Err(refused) => {
                    let error = refused_error(&self.gate, &uri, &refused);
                    // Another address may answer, or the site later.
                    let may_pass = error.downcast_ref::<UsageError>().is_none();
                    return if may_pass {
                        Ok(Err(error.to_string()))
                    } else {
                        Err(error)
                    };
                }
            };
            match fetched.outcome {
                VisitOutcome::Page => return Ok(Ok((uri, fetched, body))),
                VisitOutcome::Redirect => match fetched.head.location {
                    // Whoever signs in comes back; a crawler would stay there.
                    Some(to) if is_blocking_address(&to) && !is_blocking_address(seed) => {
                        let to = to.path_and_query();
                        return Ok(Err(format!("{uri}: leads to a sign-in page: {to}")));
                    }
                    to => uri = to.unwrap_or(uri),
                },
                VisitOutcome::AddressRefused => {
                    bail_usage!("{uri}: {}", fetched.describe());
                }
                _ => return Ok(Err(format!("{uri}: {}", fetched.describe()))),
            }
        }
        Ok(Err(format!("{seed}: it redirects without end")))
    }

    /// Looks at the page, one page that it links to, and the usual places for feeds and sitemaps; else why it is no page of
    /// the site.
    async fn look(
        &mut self,
        uri: CrawlUri,
        fetched: &Fetched,
        body: &[u8],
    ) -> Result<Probe, String> {
        // Of the page's own host: the last file that was read.
        let crawl_delay_ms = self.turn.crawl_delay_ms();
        let named = self.turn.sitemaps();
        let sitemaps_in_robots = !named.is_empty();
        let mut sitemaps: Vec<CrawlUri> = named.iter().take(MAX_LISTS).cloned().collect();
        let page = parse(self.loaded, &uri, fetched, body);
        let context = extract::Context {
            now_ms: Some(now_ms()),
            ..Default::default()
        };
        let document = extract::extract_with(&page, &context, &self.loaded.config.extract);
        if document.is_blocking_page() {
            return Err(format!(
                "{uri}: asks to sign in, or to prove that a person reads"
            ));
        }
        if sitemaps.is_empty()
            && let Ok(guess) = uri.join("/sitemap.xml")
            && self.is_sitemap(&guess).await
        {
            sitemaps.push(guess);
        }
        let other = match article(&document, &uri) {
            Some(link) => self.second_page(link).await,
            None => None,
        };
        Ok(Probe {
            crawl_delay_ms,
            links: document.links.len(),
            needs_scripts: document.links.is_empty() && document.text.is_empty(),
            sitemaps_in_robots,
            sitemaps,
            title: extract::find_site_title(&page, other.as_ref()),
            feeds: self.feeds(&document, &uri).await,
            seed: Some(uri),
        })
    }

    /// One more page of the site, if it may be had: what two pages share in their titles is the site's name.
    async fn second_page(&mut self, link: CrawlUri) -> Option<Page> {
        let mut body: Vec<u8> = Vec::new();
        let request = Request::page(link.clone());
        let fetched = self.fetch(&request, &mut body).await.ok()?;
        let is_page = fetched.outcome == VisitOutcome::Page;
        is_page.then(|| parse(self.loaded, &link, &fetched, &body))
    }

    /// The feeds of its own host that a page names, as far as they are feeds.
    async fn feeds(&mut self, document: &Document, uri: &CrawlUri) -> Vec<CrawlUri> {
        let named = document.links.iter().filter(|l| l.kind == LinkKind::Feed);
        let named = named
            .filter_map(|l| CrawlUri::parse(&l.url).ok())
            .filter(|feed| feed.authority() == uri.authority());
        let mut found = Vec::new();
        for feed in named.take(MAX_LISTS) {
            if self.is_feed(&feed).await {
                found.push(feed);
            }
        }
        found
    }

    async fn get(&mut self, uri: &CrawlUri) -> Option<Vec<u8>> {
        let mut body: Vec<u8> = Vec::new();
        let request = Request::any(uri.clone());
        let fetched = self.fetch(&request, &mut body).await.ok()?;
        (fetched.outcome == VisitOutcome::Page).then_some(body)
    }

    async fn is_feed(&mut self, uri: &CrawlUri) -> bool {
        let body = self.get(uri).await;
        body.is_some_and(|b| read_feed(&b, uri).is_ok_and(|links| !links.is_empty()))
    }

    async fn is_sitemap(&mut self, uri: &CrawlUri) -> bool {
        let Some(body) = self.get(uri).await else {
            return false;
        };
        let found = read_sitemap(&body, uri);
        !found.pages.is_empty() || !found.sitemaps.is_empty()
    }
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
