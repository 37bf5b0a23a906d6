//! Fetches single pages for a person to look at: nothing of them is stored, and nothing is scheduled.
//!
//! It asks through the gate of the crawl, so that scope, takedowns, robots.txt and the delays of the hosts hold, and the crawl's own
//! requests wait for it as it waits for them. What the gate does not know is checked before: that the site is not paused, the host
//! does not rest, and no other node may be asking it.

use std::fmt;
use std::sync::{Arc, OnceLock};

use super::commands::{CommandResult, ensure_not_paused, find_site_for, parse_url};
use crate::config::LoadedConfig;
use crate::daemon::Shared;
use crate::serve::{CommandError, GivenPage, PAGE_BYTES_MAX};
use taojin_crawl::fetch::{Fetched, Gate, Purpose, Refused, Request, Turn};
use taojin_crawl::schedule::Site;
use taojin_crawl::scope::{Reach, Refusal};
use taojin_crawl::store::{Reader, StorePlace};
use taojin_crawl::{Failure, VisitOutcome};
use taojin_uri::CrawlUri;

/// The gate of the crawl of this process, from when it is open on.
#[derive(Default)]
pub(in crate::daemon) struct CrawlGate(OnceLock<Arc<Gate>>);

impl CrawlGate {
    /// Requests for a person may go through it from now on.
    pub(in crate::daemon) fn open(&self, gate: Arc<Gate>) {
        // There is one crawl a process.
        let _ = self.0.set(gate);
    }
}

impl fmt::Debug for CrawlGate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CrawlGate")
            .field(&self.0.get().is_some())
            .finish()
    }
}

/// Fetches pages; its calls block.
pub(in crate::daemon) struct PageFetcher {
    shared: Arc<Shared>,
    /// Where requests run.
    runtime: tokio::runtime::Handle,
    place: StorePlace,
    min_delay_ms: i64,
}

impl PageFetcher {
    /// For the crawl of this process, whose requests run on the runtime that this is called on.
    pub(in crate::daemon) fn new(loaded: &LoadedConfig, shared: &Arc<Shared>) -> Self {
        Self {
            shared: Arc::clone(shared),
            runtime: tokio::runtime::Handle::current(),
            place: loaded.store_place(),
            min_delay_ms: loaded.config.frontier.min_delay_ms,
        }
    }

    /// Fetches the page at an address in the scope of one of the sites. Waits for its host half a minute at most.
    pub(super) fn fetch(&self, sites: &[Site], text: &str) -> CommandResult<GivenPage> {
        let gate = self.shared.gate().0.get();
        let gate = gate.filter(|_| !self.shared.lifecycle().is_stopping());
        let Some(gate) = gate else {
            let text = "no crawler runs in this process, which could fetch it";
            return Err(CommandError::NoCrawler(text.to_owned()));
        };
        let uri = parse_url(text)?;
        let (name, hops) = find_site_for(sites, &uri)?;
        self.ensure_may_ask(&name, &uri)?;
        let site = sites.iter().find(|site| *site.name == *name);
        let site_delay_ms = site.and_then(|site| site.delay_ms).unwrap_or(0);
        let mut turn = Turn::for_person_at(&name, self.min_delay_ms.max(site_delay_ms));
        let most = gate.config().max_body_bytes.min(PAGE_BYTES_MAX as u64);
        let request = Request {
            max_body_bytes: Some(most),
            ..Request::page(uri.clone())
        };
        let purpose = Purpose::Crawl(Reach::Page { hops, redirects: 0 });
        let mut bytes: Vec<u8> = Vec::new();
        let fetched = gate.fetch(&request, purpose, &mut turn, &mut bytes);
        let fetched = self.runtime.block_on(fetched);
        let fetched = fetched.map_err(|refused| refuse(gate, &uri, &refused))?;
        tracing::info!(url = %uri, outcome = fetched.outcome.as_str(), "fetched to look at");
        ensure_page(&uri, &fetched, bytes.len())?;
        Ok(GivenPage {
            url: Some(uri.to_string()),
            charset: fetched.head.charset().map(str::to_owned),
            bytes,
            fetched_ms: Some(self.shared.now_ms()),
        })
    }

    /// Refuses what the gate would let pass and the crawl does not ask for now.
    fn ensure_may_ask(&self, site: &str, uri: &CrawlUri) -> CommandResult<()> {
        let not_now = |text: String| Err(CommandError::NotNow(text));
        if self.place.is_postgres() {
            return not_now(format!(
                "{uri}: several nodes may share this store, and only the node of its host may ask it"
            ));
        }
        if let Some(why) = self.shared.pause().reason() {
            return not_now(format!("crawling pauses: {}", why.en));
        }
        let reader = Reader::open(self.place.clone())?;
        ensure_not_paused(&reader, site)?;
        let host = reader.host(uri.authority())?;
        let now_ms = self.shared.now_ms();
        let rests = host.is_some_and(|host| host.cause.is_backoff() && host.not_before_ms > now_ms);
        if rests {
            return not_now(format!(
                "{uri}: its host asked for a pause, or fails, and is left alone"
            ));
        }
        Ok(())
    }
}

/// Refuses an answer that is no page.
fn ensure_page(uri: &CrawlUri, fetched: &Fetched, bytes: usize) -> CommandResult<()> {
    let is_page = fetched.failure.is_none() && fetched.outcome == VisitOutcome::Page;
    if is_page && bytes > 0 {
        return Ok(());
    }
    if is_page {
        return Err(CommandError::Invalid(format!("{uri}: it is empty")));
    }
    let why = format!("{uri}: {}", fetched.describe());
    let may_pass = match fetched.failure {
        None => fetched.outcome.is_host_trouble(),
        Some(Failure::ContentType | Failure::TooLarge | Failure::Bomb | Failure::Address) => false,
        Some(_) => true,
    };
    Err(if may_pass {
        CommandError::NotNow(why)
    } else {
        CommandError::Invalid(why)
    })
}

/// Why the gate did not let a request pass.
fn refuse(gate: &Gate, uri: &CrawlUri, refused: &Refused) -> CommandError {
    let url = uri.to_string();
    match refused {
        Refused::Rules(Refusal::TakenDown) | Refused::OnTheWay(Refusal::TakenDown) => {
            CommandError::TakenDown { url }
        }
        Refused::Rules(rule) | Refused::OnTheWay(rule) => CommandError::OutOfScope {
            reasons: vec![rule.describe()],
            url,
        },
        Refused::Robots(rule) => CommandError::Invalid(format!(
            "{url}: its robots.txt does not let {} in (line {}: Disallow: {})",
            gate.config().robots_token(),
            rule.line,
            rule.pattern
        )),
        Refused::RobotsAway(trouble) if trouble.failure == Some(Failure::Address) => {
            CommandError::Invalid(format!("{url}: {}", trouble.detail))
        }
        Refused::RobotsAway(trouble) => CommandError::NotNow(format!("{url}: {trouble}")),
        Refused::Later(_) => {
            CommandError::NotNow(format!("{url}: its host is to be left alone for longer"))
        }
    }
}
