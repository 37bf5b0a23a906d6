//! A plain web for trials: as many hosts and pages as requested, made from a seed while they are served, growing and
//! changing from day to day, with faults on request.
//!
//! A [`TrialPlan`] says what it is like. [`TrialWeb`] answers for its hosts and knows what a crawl of them must have found;
//! [`bind`] opens their sockets on addresses of the loopback, [`serve()`](crate::serve()) serves them. Bounded in everything.

mod page;

use std::collections::HashMap;
use std::io;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::net::TcpListener;

use crate::serve::{Fault, Request, RequestLog, Response, Web, gzip, hash};

/// Hosts of a plan at most: the third and fourth byte of the address give 250 each.
pub const MAX_HOSTS: u32 = 10_000;
/// Articles on one list page; the front page has as many of the newest.
pub(super) const LISTED: u32 = 40;

/// What the web is like.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialPlan {
    /// Another seed, other pages and other faults.
    pub seed: u64,
    /// Number of hosts, each a site; at most [`MAX_HOSTS`].
    pub hosts: u32,
    /// Articles of each host on the first day.
    pub articles: u32,
    /// Articles that each host adds on each later day.
    pub daily: u32,
    /// Share of its articles whose text is another one each day, from 0 to 1.
    pub changing: f64,
    /// Share of answers that are faults, from 0 to 1; the third try of a page always succeeds.
    pub faults: f64,
    /// Traps that are linked from each front page: bombs, redirects in a circle, wrong lengths, calendars.
    pub traps: bool,
    /// How long a slow answer takes, in milliseconds.
    pub slow_ms: u64,
    /// Whether pages come with an `ETag`.
    pub validators: bool,
    /// Days after which each host gives its articles another design; 0: never.
    pub redesign_days: u32,
    /// Lists name the articles of the next host and not their own, and articles name none: only links between domains lead to them.
    pub abroad: bool,
}

impl Default for TrialPlan {
    fn default() -> Self {
        Self {
            seed: 1,
            hosts: 1,
            articles: 100,
            daily: 0,
            changing: 0.0,
            faults: 0.0,
            traps: false,
            slow_ms: 300,
            validators: true,
            redesign_days: 0,
            abroad: false,
        }
    }
}

/// Pages whose tries are counted at a time.
const COUNTED_PAGES: usize = 500_000;
/// Content type of all pages.
const HTML: &str = "text/html; charset=utf-8";
/// Decoded bytes of the bomb.
const BOMB_BYTES: usize = 64 << 20;

/// All faults, for the lot to choose from.
const FAULTS: [Fault; 6] = [
    Fault::Slow,
    Fault::ServerError,
    Fault::Unavailable,
    Fault::TooMany,
    Fault::Truncated,
    Fault::Reset,
];

/// The web and its log.
#[derive(Debug)]
pub struct TrialWeb {
    plan: TrialPlan,
    port: u16,
    day: AtomicU32,
    tries: Mutex<HashMap<(u32, u64), u32>>,
    log: RequestLog,
}

impl TrialWeb {
    /// The web of a plan on its first day; its hosts listen at `port`.
    pub fn new(plan: TrialPlan, port: u16) -> Self {
        Self {
            plan: TrialPlan {
                hosts: plan.hosts.clamp(1, MAX_HOSTS),
                ..plan
            },
            port,
            day: AtomicU32::new(0),
            tries: Mutex::default(),
            log: RequestLog::default(),
        }
    }

    /// The plan.
    pub fn plan(&self) -> &TrialPlan {
        &self.plan
    }

    /// `address:port` of a host.
    pub fn authority(&self, host: u32) -> String {
        format!("{}:{}", address(host), self.port)
    }

    /// The page where a crawl of a host begins.
    pub fn seed_url(&self, host: u32) -> String {
        format!("http://{}/", self.authority(host))
    }

    /// Day of the web, 0 at first.
    pub fn day(&self) -> u32 {
        self.day.load(Ordering::Relaxed)
    }

    /// Goes to a day: there are new articles, and changed ones.
    pub fn set_day(&self, day: u32) {
        self.day.store(day, Ordering::Relaxed);
    }

    /// Articles of each host on this day.
    pub(super) fn articles_of_host(&self) -> u32 {
        self.plan.articles + self.plan.daily * self.day()
    }

    /// All that a crawl of this day must find: addresses of articles.
    pub fn articles(&self) -> Vec<String> {
        let count = self.articles_of_host();
        let of_host = |host| (0..count).map(move |n| (host, n));
        let all = (0..self.plan.hosts).flat_map(of_host);
        all.map(|(host, n)| format!("http://{}{}", self.authority(host), page::article_path(n)))
            .collect()
    }

    /// Which design the articles of a host have. Hosts do not change on the same day.
    pub(super) fn design(&self, host: u32) -> u32 {
        let days = self.plan.redesign_days;
        (self.day() + host % days.max(1))
            .checked_div(days)
            .unwrap_or(0)
    }

    /// Which version of an article is served: it changes each day, or never.
    pub(super) fn version(&self, host: u32, article: u32) -> u32 {
        let lot = unit(mix(
            self.plan.seed ^ mix(u64::from(host) << 32 | u64::from(article))
        ));
        let born = article.saturating_sub(self.plan.articles);
        let born = born.checked_div(self.plan.daily).map_or(0, |day| day + 1);
        if lot >= self.plan.changing {
            0
        } else if article >= self.plan.articles {
            self.day().saturating_sub(born)
        } else {
            self.day()
        }
    }

    /// Whether this try of a page is to fail, and how.
    fn fault(&self, host: u32, target: &str) -> Option<Fault> {
        if target == "/robots.txt" || self.plan.faults <= 0.0 {
            return None;
        }
        let page = mix(self.plan.seed ^ hash(target.as_bytes()));
        let mut tries = self.tries.lock().unwrap_or_else(PoisonError::into_inner);
        if tries.len() > COUNTED_PAGES {
            tries.clear();
        }
        let tries = tries.entry((host, page)).or_default();
        *tries += 1;
        // Two failures in a row at most, then a success, then the next lot is drawn.
        let (round, nth) = (*tries / 3, *tries % 3);
        let lot = mix(page ^ (u64::from(host) << 40) ^ (u64::from(round) << 8) ^ u64::from(nth));
        let kind = usize::try_from(mix(lot) % 6).unwrap_or(0);
        (nth != 0 && unit(lot) < self.plan.faults).then_some(FAULTS[kind])
    }

    /// Answers as if nothing went wrong.
    fn respond_with_page(&self, host: u32, target: &str) -> Response {
        if let Some(n) = target.strip_prefix("/loop/").filter(|_| self.plan.traps) {
            let next = n.parse::<u32>().map_or(0, |n| (n + 1) % 7);
            return Response::redirect(302, format!("/loop/{next}"));
        }
        let is_short = target == "/short.html";
        let path = if is_short { "/" } else { target };
        let Some(html) = page::page(self, host, path) else {
            return empty(404);
        };
        let mut response = Response::new(200, HTML, html);
        if is_short {
            response.missing_bytes = 1000;
        }
        if self.plan.validators {
            response = response.with_etag("");
        }
        response
    }
}

impl Web for TrialWeb {
    fn respond(&self, request: &Request<'_>) -> Response {
        let (host, target) = (request.socket, request.target());
        if self.plan.traps && target == "/bomb.html" {
            let packed = gzip(&vec![0; BOMB_BYTES]);
            return Response::new(200, HTML, packed).with("content-encoding", "gzip");
        }
        let fault = self.fault(host, target);
        let mut response = match fault {
            Some(Fault::ServerError) => empty(500),
            Some(Fault::Unavailable) => empty(503),
            Some(Fault::TooMany) => empty(429).with("retry-after", "1"),
            _ => self.respond_with_page(host, target),
        };
        response.fault = fault;
        if fault == Some(Fault::Slow) {
            response.delay = Duration::from_millis(self.plan.slow_ms);
        }
        if fault.is_none() {
            response = response.or_not_modified(request);
        }
        response
    }

    fn log(&self) -> &RequestLog {
        &self.log
    }
}

fn empty(status: u16) -> Response {
    Response::new(status, HTML, "")
}

/// Binds one socket for each of so many hosts, all at one port.
pub async fn bind(hosts: u32) -> io::Result<(Vec<TcpListener>, u16)> {
    'ports: for _ in 0..50 {
        let first = TcpListener::bind((address(0), 0)).await?;
        let port = first.local_addr()?.port();
        let mut all = vec![first];
        for host in 1..hosts {
            match TcpListener::bind((address(host), port)).await {
                Ok(listener) => all.push(listener),
                // Another program has this port at that address: try another port.
                Err(_) => continue 'ports,
            }
        }
        return Ok((all, port));
    }
    Err(io::Error::other("no port is free at all addresses"))
}

/// The address that a host listens on, in 127.0.0.0/8.
fn address(host: u32) -> Ipv4Addr {
    let byte = |n: u32| u8::try_from(n % 250 + 1).unwrap_or(1);
    Ipv4Addr::new(127, 1, byte(host / 250), byte(host))
}

/// SplitMix64's finalizer (Steele, Lea, Flood 2014).
pub(crate) fn mix(n: u64) -> u64 {
    let mut z = n.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// From 0 to 1.
fn unit(n: u64) -> f64 {
    (n >> 11) as f64 / (1u64 << 53) as f64
}
