//! The gate: every request that the program makes to the web passes it.
//!
//! [`Gate::fetch`] checks a URL against the scope of its site and the operator's takedowns, then against the robots.txt of its
//! host, waits for the host's turn, and only then makes a [`Permit`], without which the fetcher makes no request. It does so for
//! each request of a visit: robots.txt and its redirects, the page, every hop of a redirect that is followed within a fetch.
//!
//! A [`Turn`] is what a lease or a person brings along: whose rules hold, how long to wait between two requests, and how many
//! were made. The frontier has paced the first request of a lease; those that follow wait here. What is asked of a host in the
//! turn of another one (a robots.txt that leads elsewhere) is remembered, so that the host's own turn comes after it.
//!
//! Addresses that are not public are refused by the fetcher itself, which knows them only when a name is looked up.

use std::collections::HashMap;
use std::net::IpAddr;
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use taojin_uri::CrawlUri;

use super::client::{Cookies, FetchError, Fetcher};
use super::limits::Config;
use super::pace::{LastRequest, Paces};
use super::request::{Fetched, Request, Sink};
use super::robots::Rule;
use super::robots_cache::{Access, RobotsCache, Verdict};
use super::warc::Exchange;
use super::warc_sink::WarcSink;
use crate::outcome::{Failure, NoPage, VisitOutcome};
use crate::scope::{Reach, Refusal, Scope, Takedowns};

/// Redirects that set a cookie and lead back to the page are followed so often within one fetch.
const MAX_HOPS: usize = 4;

/// The page of a lease waits so long for its turn after robots.txt was read, in milliseconds. Where the host wants more, the lease
/// ends: what waits in it holds a connection, and the turn of other hosts at the same address.
const PAGE_WAITS_MS: i64 = 10_000;

/// What would be lost with the lease waits so long at least, in milliseconds: no `Crawl-delay` that is obeyed is longer by default.
const LONGEST_WAIT_MS: i64 = 300_000;

/// How long a person waits for a host's turn, in milliseconds, all requests of a command together.
const PERSON_WAITS_MS: i64 = 30_000;

/// The time by which requests are paced.
pub trait Clock: Send + Sync {
    /// The present, Unix milliseconds.
    fn now_ms(&self) -> i64;

    /// Ends after `ms` milliseconds of this clock.
    fn sleep(&self, ms: i64) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
}

/// What a request is for, and with that which rules hold for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A page or file of a site that was reached so: [`Scope::check_reach`], robots.txt.
    Crawl(Reach),
    /// A page of a site that a person wants to add: robots.txt.
    Probe,
    /// An address that a person names to see what it answers: no rule but the takedowns.
    Named,
    /// A robots.txt, or what it redirects to: no robots.txt rules it, and no scope its own address.
    RobotsTxt {
        /// It is an address that a robots.txt redirects to, and not named like one.
        is_elsewhere: bool,
    },
}

/// Why a request may not be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// The URL is taken down, or out of the scope of its site.
    Rules(Refusal),
    /// The same of an address that a redirect of it leads through.
    OnTheWay(Refusal),
    /// A rule of its robots.txt.
    Robots(Rule),
    /// Its robots.txt cannot be had: nothing of the host may be fetched before.
    RobotsAway(Trouble),
    /// Its host rests for longer than a visit waits, until then, Unix milliseconds. What was read of its robots.txt is known then.
    Later(i64),
}

/// How the last try to fetch a robots.txt ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// How.
    pub outcome: VisitOutcome,
    /// Why, where no answer came or not a whole one.
    pub failure: Option<Failure>,
    /// The status of the answer, if one came.
    pub status: Option<u16>,
    /// The same as a sentence.
    pub detail: String,
}

impl Trouble {
    /// One without an answer.
    pub(super) fn new(outcome: VisitOutcome, detail: String) -> Self {
        Self {
            outcome,
            failure: None,
            status: None,
            detail,
        }
    }

    /// The status if an answer came, else the failure, else the outcome.
    pub fn no_page(&self) -> NoPage {
        let failure = self.failure.map(NoPage::Failure);
        let status = self.status.map(NoPage::Status);
        status.or(failure).unwrap_or(NoPage::Outcome(self.outcome))
    }
}

impl std::fmt::Display for Trouble {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "its robots.txt cannot be had: {}", self.detail)
    }
}

/// The right to make one request; only the gate makes one, and a fetch uses it up.
#[derive(Debug)]
pub(super) struct Permit {
    uri: CrawlUri,
    now_ms: i64,
}

impl Permit {
    /// Where the request goes.
    pub(super) fn uri(&self) -> &CrawlUri {
        &self.uri
    }

    /// When it was given, Unix milliseconds: what dates in the answer are compared with.
    pub(super) fn now_ms(&self) -> i64 {
        self.now_ms
    }
}

/// What a lease or a person brings to the gate, and what became of it.
#[derive(Debug, Clone)]
pub struct Turn {
    /// The site whose scope holds; none for a person's request that is bound to none.
    site: Option<Arc<str>>,
    /// The host that is leased; none for a person's request.
    authority: Option<Box<str>>,
    /// Least time between two requests to a host, in milliseconds.
    delay_ms: i64,
    /// When the leased host was asked last in this turn.
    last: LastRequest,
    /// How long a person waits from now on, in milliseconds; none for a lease.
    patience_ms: Option<i64>,
    /// Something would be lost with the lease: its requests wait however long the host rests.
    stays: bool,
    requests: u32,
    crawl_delay_ms: Option<i64>,
    sitemaps: Arc<[CrawlUri]>,
}

impl Turn {
    /// The turn of a lease of a URL of `site`, with the delay of its host in milliseconds.
    pub fn for_lease(site: &Arc<str>, uri: &CrawlUri, delay_ms: i64) -> Self {
        Self {
            site: Some(Arc::clone(site)),
            authority: Some(uri.authority().into()),
            patience_ms: None,
            ..Self::for_person(delay_ms)
        }
    }

    /// The turn of a person who asks for addresses one after the other, with the delay between two requests to a host in
    /// milliseconds. It ends when they have waited half a minute for hosts.
    pub fn for_person(delay_ms: i64) -> Self {
        Self {
            site: None,
            authority: None,
            delay_ms,
            last: LastRequest::default(),
            patience_ms: Some(PERSON_WAITS_MS),
            stays: false,
            requests: 0,
            crawl_delay_ms: None,
            sitemaps: Arc::new([]),
        }
    }

    /// The same for an address of `site`, whose scope holds.
    pub fn for_person_at(site: &Arc<str>, delay_ms: i64) -> Self {
        Self {
            site: Some(Arc::clone(site)),
            ..Self::for_person(delay_ms)
        }
    }

    /// From now on a request waits for its turn however long the host rests, instead of being put off ([`Refused::Later`]): what the
    /// visit has so far would be lost.
    pub fn stay(&mut self) {
        self.stays = true;
    }

    /// Requests that were made in it, to whichever host.
    pub fn requests(&self) -> u32 {
        self.requests
    }

    /// The delay that the robots.txt of its host asks for, in milliseconds; of a person's turn, the last that was read.
    pub fn crawl_delay_ms(&self) -> Option<i64> {
        self.crawl_delay_ms
    }

    /// The sitemaps that this robots.txt names.
    pub fn sitemaps(&self) -> &[CrawlUri] {
        &self.sitemaps
    }

    /// Whether it is the turn of this URL's host.
    fn covers(&self, uri: &CrawlUri) -> bool {
        self.authority.as_deref() == Some(uri.authority())
    }

    fn note_request(
        &mut self,
        paces: &mut Paces,
        uri: &CrawlUri,
        request: LastRequest,
        now_ms: i64,
    ) {
        let is_own = self.covers(uri);
        if is_own {
            self.last.take(request);
        }
        paces.note(uri.authority(), request, is_own, now_ms);
    }

    fn note_robots(&mut self, uri: &CrawlUri, verdict: &Verdict) {
        if self.authority.is_none() || self.covers(uri) {
            self.crawl_delay_ms = verdict.crawl_delay_ms;
            self.sitemaps = Arc::clone(&verdict.sitemaps);
        }
    }
}

/// The rules of the sites at present.
#[derive(Debug, Default)]
struct Rules {
    sites: HashMap<Arc<str>, Arc<Scope>>,
    takedowns: Takedowns,
}

/// Checks, paces and makes requests; shared by all who make any.
pub struct Gate {
    fetcher: Fetcher,
    robots: RobotsCache,
    /// Where every exchange is archived, if it is.
    archive: Option<Arc<WarcSink>>,
    clock: Arc<dyn Clock>,
    /// A `Crawl-delay` is obeyed up to this, in milliseconds.
    max_crawl_delay_ms: i64,
    rules: RwLock<Rules>,
    paces: Mutex<Paces>,
}

impl Gate {
    /// A gate that knows no site and no robots.txt yet. A `Crawl-delay` is obeyed up to `max_crawl_delay_ms`.
    ///
    /// # Errors
    /// Where the settings allow no HTTP client.
    pub fn new(
        config: Config,
        max_crawl_delay_ms: i64,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, FetchError> {
        Ok(Self {
            fetcher: Fetcher::new(config)?,
            robots: RobotsCache::new(),
            archive: None,
            clock,
            max_crawl_delay_ms,
            rules: RwLock::default(),
            paces: Mutex::default(),
        })
    }

    /// Archives every exchange.
    #[must_use]
    pub fn with_archive(mut self, archive: Option<Arc<WarcSink>>) -> Self {
        self.archive = archive;
        self
    }

    /// Takes over the robots.txt files that [`Gate::save_robots`] saved; none of them if the file is damaged or another agent's.
    #[must_use]
    pub fn with_saved_robots(mut self, path: &Path) -> Self {
        self.robots = RobotsCache::open(path, self.config().robots_token());
        self
    }

    /// Saves the robots.txt files that are known; replaces the file at once or not at all.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn save_robots(&self, path: &Path) -> std::io::Result<()> {
        self.robots.save(path, self.config().robots_token())
    }

    /// From now on these sites are crawled and these URLs are taken down.
    pub fn set_rules(
        &self,
        sites: impl IntoIterator<Item = (Arc<str>, Arc<Scope>)>,
        takedowns: Takedowns,
    ) {
        let rules = Rules {
            sites: sites.into_iter().collect(),
            takedowns,
        };
        *self.rules.write().unwrap_or_else(PoisonError::into_inner) = rules;
    }

    /// The settings of the fetcher.
    pub fn config(&self) -> &Config {
        self.fetcher.config()
    }

    /// Where all is archived, if it is.
    pub fn archive(&self) -> Option<&Arc<WarcSink>> {
        self.archive.as_ref()
    }

    /// Where a host is, by its name; none where nobody knows, or where a proxy asks for its name. No request is made to it.
    pub async fn locate(&self, uri: &CrawlUri) -> Option<IpAddr> {
        self.fetcher.locate(uri).await
    }

    /// Whether a URL may be fetched, without fetching it: by the rules that hold for `purpose`, and its robots.txt, which is fetched
    /// if it is not known.
    ///
    /// # Errors
    /// The rule that refuses it.
    pub async fn check(
        &self,
        uri: &CrawlUri,
        purpose: Purpose,
        turn: &mut Turn,
    ) -> Result<(), Refused> {
        let checked = self.check_rules(uri, 0, purpose, turn);
        checked.map_err(Refused::Rules)?;
        self.check_robots(uri, purpose, turn).await.map(|_| ())
    }

    /// Fetches a URL once the gate lets it pass; the body goes to `sink`. Redirects that only set a cookie and lead back to the page
    /// are followed, each as a request of its own; all others are the caller's.
    ///
    /// # Errors
    /// The rule that refuses the URL, or one of these redirects. How a fetch that was made went is never an error.
    pub async fn fetch(
        &self,
        request: &Request,
        purpose: Purpose,
        turn: &mut Turn,
        sink: &mut dyn Sink,
    ) -> Result<Fetched, Refused> {
        let Some(archive) = &self.archive else {
            return self.fetch_page(request, purpose, turn, sink).await;
        };
        let limit = request
            .max_body_bytes
            .unwrap_or(self.config().max_body_bytes);
        let mut exchange = Exchange::new(sink, limit);
        let fetched = self
            .fetch_page(request, purpose, turn, &mut exchange)
            .await?;
        archive.write(&request.uri, &exchange, &fetched, self.clock.now_ms());
        Ok(fetched)
    }

    async fn fetch_page(
        &self,
        request: &Request,
        purpose: Purpose,
        turn: &mut Turn,
        sink: &mut dyn Sink,
    ) -> Result<Fetched, Refused> {
        let mut cookies = Cookies::default();
        let mut uri = request.uri.clone();
        let (mut hops, mut elapsed_ms) = (0, 0);
        loop {
            let permit = self.admit(&uri, hops, purpose, turn).await?;
            let can_hop = hops < MAX_HOPS;
            let (mut fetched, hop) = self
                .fetcher
                .fetch(permit, request, &mut cookies, can_hop, sink)
                .await;
            self.record_end(&uri, turn, &fetched);
            elapsed_ms += fetched.elapsed_ms;
            match hop {
                Some(to) => uri = to,
                None => {
                    fetched.elapsed_ms = elapsed_ms;
                    return Ok(fetched);
                }
            }
            hops += 1;
        }
    }

    /// Lets a request pass, for a URL or for what `hops` redirects of it lead to: waits for the host's turn, and counts it.
    async fn admit(
        &self,
        uri: &CrawlUri,
        hops: usize,
        purpose: Purpose,
        turn: &mut Turn,
    ) -> Result<Permit, Refused> {
        let check = |turn: &Turn| {
            let checked = self.check_rules(uri, hops, purpose, turn);
            checked.map_err(|refusal| match hops {
                0 => Refused::Rules(refusal),
                _ => Refused::OnTheWay(refusal),
            })
        };
        check(turn)?;
        let crawl_delay_ms = self.check_robots(uri, purpose, turn).await?;
        let must_wait = hops > 0 || matches!(purpose, Purpose::RobotsTxt { .. });
        self.wait_for_turn(uri, crawl_delay_ms, must_wait, turn)
            .await?;
        // It may have been taken down, or excluded, while it waited.
        check(turn)?;
        turn.requests += 1;
        Ok(Permit {
            uri: uri.clone(),
            now_ms: self.clock.now_ms(),
        })
    }

    /// Takedowns, and the scope of the turn's site.
    ///
    /// An address that is only passed on the way, by a redirect of the page or of a robots.txt, may be none that `include` names, or
    /// of a host that belongs to no site; what is excluded is not asked for that way either.
    fn check_rules(
        &self,
        uri: &CrawlUri,
        hops: usize,
        purpose: Purpose,
        turn: &Turn,
    ) -> Result<(), Refusal> {
        let rules = self.rules.read().unwrap_or_else(PoisonError::into_inner);
        if rules.takedowns.contains(uri) {
            return Err(Refusal::TakenDown);
        }
        let Some(site) = &turn.site else {
            return Ok(());
        };
        let is_passage = hops > 0 || purpose == Purpose::RobotsTxt { is_elsewhere: true };
        match (purpose, rules.sites.get(site)) {
            (_, Some(scope)) if is_passage => {
                let is_own = scope.has_authority(uri.authority());
                if is_own && scope.is_excluded(uri) {
                    return Err(Refusal::Excluded);
                }
                Ok(())
            }
            (Purpose::Crawl(reach), Some(scope)) => {
                scope.check_reach(uri, reach, self.clock.now_ms())
            }
            // Sites come and go; of one that is gone no page is fetched, but a robots.txt may be another one's, too.
            (Purpose::Crawl(_), None) if !is_passage => Err(Refusal::UnknownSite),
            _ => Ok(()),
        }
    }

    /// The `Crawl-delay` of a URL's robots.txt, in milliseconds, if that lets us in.
    async fn check_robots(
        &self,
        uri: &CrawlUri,
        purpose: Purpose,
        turn: &mut Turn,
    ) -> Result<Option<i64>, Refused> {
        if matches!(purpose, Purpose::Named | Purpose::RobotsTxt { .. }) {
            return Ok(None);
        }
        let verdict = self.robots.verdict(self, uri, turn).await;
        turn.note_robots(uri, &verdict);
        match verdict.access {
            Access::Allowed(_) => Ok(verdict.crawl_delay_ms),
            Access::Refused(rule) => Err(Refused::Robots(rule)),
            Access::Unreachable { trouble, .. } => Err(Refused::RobotsAway(trouble)),
        }
    }

    /// Waits until a request may go to the host of a URL, and takes the turn: who comes next waits from its beginning, and once it has
    /// ended from its end.
    async fn wait_for_turn(
        &self,
        uri: &CrawlUri,
        crawl_delay_ms: Option<i64>,
        must_wait: bool,
        turn: &mut Turn,
    ) -> Result<(), Refused> {
        let asked_ms = crawl_delay_ms.unwrap_or(0);
        let most_ms = self.max_crawl_delay_ms.max(0);
        let delay_ms = turn.delay_ms.max(asked_ms.clamp(0, most_ms));
        loop {
            let now_ms = self.clock.now_ms();
            let wait_ms = {
                let mut paces = self.lock_paces();
                let own = turn.covers(uri).then_some(turn.last);
                let wait_ms = paces.wait_ms(uri.authority(), own, delay_ms, now_ms);
                if wait_ms <= 0 {
                    turn.note_request(&mut paces, uri, LastRequest::begun(now_ms), now_ms);
                    return Ok(());
                }
                wait_ms
            };
            let longest_ms = LONGEST_WAIT_MS.max(most_ms).max(delay_ms);
            // A robots.txt that is not kept until then would have to be read again, and again.
            let is_kept = self.config().robots_ttl_ms > wait_ms;
            let patience_ms = match turn.patience_ms {
                Some(patience_ms) => patience_ms,
                None if must_wait || turn.stays || !is_kept => longest_ms,
                None => PAGE_WAITS_MS,
            };
            if wait_ms > patience_ms {
                return Err(Refused::Later(now_ms.saturating_add(wait_ms)));
            }
            self.clock.sleep(wait_ms).await;
            if let Some(patience_ms) = &mut turn.patience_ms {
                *patience_ms -= wait_ms;
            }
        }
    }

    /// A request has ended: the delay begins.
    fn record_end(&self, uri: &CrawlUri, turn: &mut Turn, fetched: &Fetched) {
        let now_ms = self.clock.now_ms();
        let ended = LastRequest::ended(now_ms, fetched.asked_pause_ms());
        turn.note_request(&mut self.lock_paces(), uri, ended, now_ms);
    }

    fn lock_paces(&self) -> MutexGuard<'_, Paces> {
        self.paces.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The present of the crawl, Unix milliseconds.
    pub(super) fn now_ms(&self) -> i64 {
        self.clock.now_ms()
    }
}
