//! A plain web for trials: as many hosts and pages as asked for, made from a seed while they are served, growing and
//! changing from day to day, with faults on request. In: a [`TrialPlan`]. Out: what a crawl of it must have found, a
//! server on addresses of the loopback, and its own log of who asked for what. Bounded in everything; never leaves the
//! loopback.

mod page;
mod serve;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

pub use page::article_text;
pub use serve::{bind, serve};

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

/// What can go wrong with an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TrialFault {
    /// It comes late.
    Slow,
    /// 500.
    ServerError,
    /// 503 without a word when to come back.
    Unavailable,
    /// 429 with `Retry-After`.
    TooMany,
    /// The body ends before its length.
    Truncated,
    /// The connection is reset in the middle.
    Reset,
}

impl TrialFault {
    /// All of them.
    pub const ALL: [TrialFault; 6] = [
        TrialFault::Slow,
        TrialFault::ServerError,
        TrialFault::Unavailable,
        TrialFault::TooMany,
        TrialFault::Truncated,
        TrialFault::Reset,
    ];
}

/// One request and how it was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrialHit {
    /// Number of the host.
    pub host: u32,
    /// Path and query as sent.
    pub target: String,
    /// Status of the answer.
    pub status: u16,
    /// Whether the answer was spoilt on purpose.
    pub fault: Option<TrialFault>,
    /// The version of the page that was sent whole.
    pub version: u32,
    /// When the request had come.
    pub begun: Instant,
    /// When its last bytes were about to be sent, or it was about to be broken off.
    pub ended: Instant,
}

/// Requests remembered one by one; later ones are only counted.
const LOG_ENTRIES: usize = 500_000;

/// The web and its log.
#[derive(Debug)]
pub struct TrialWeb {
    plan: TrialPlan,
    port: u16,
    day: AtomicU32,
    requests: AtomicU64,
    tries: Mutex<HashMap<(u32, u64), u32>>,
    log: Mutex<Vec<TrialHit>>,
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
            requests: AtomicU64::new(0),
            tries: Mutex::default(),
            log: Mutex::default(),
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
    pub fn articles_of_host(&self) -> u32 {
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

    /// Requests for pages since the start.
    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// The requests since the log was last taken, oldest first.
    pub fn take_log(&self) -> Vec<TrialHit> {
        std::mem::take(&mut *locked(&self.log))
    }

    /// The requests since the log was last taken, oldest first; they stay in it.
    pub fn log(&self) -> Vec<TrialHit> {
        locked(&self.log).clone()
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
        match lot < self.plan.changing && article >= self.plan.articles {
            true => self.day().saturating_sub(born),
            false if lot < self.plan.changing => self.day(),
            false => 0,
        }
    }

    /// Whether this try of a page is to fail, and how.
    pub(super) fn fault(&self, host: u32, target: &str) -> Option<TrialFault> {
        if target == "/robots.txt" {
            return None;
        }
        self.requests.fetch_add(1, Ordering::Relaxed);
        if self.plan.faults <= 0.0 {
            return None;
        }
        let page = mix(self.plan.seed ^ hash(target));
        let mut tries = locked(&self.tries);
        if tries.len() > LOG_ENTRIES {
            tries.clear();
        }
        let tries = tries.entry((host, page)).or_default();
        *tries += 1;
        // Two failures in a row at most, then a success, then the next lot is drawn.
        let (round, nth) = (*tries / 3, *tries % 3);
        let lot = mix(page ^ (u64::from(host) << 40) ^ (u64::from(round) << 8) ^ u64::from(nth));
        let kind = usize::try_from(mix(lot) % 6).unwrap_or(0);
        (nth != 0 && unit(lot) < self.plan.faults).then_some(TrialFault::ALL[kind])
    }

    pub(super) fn record(&self, hit: TrialHit) {
        let mut log = locked(&self.log);
        if log.len() < LOG_ENTRIES {
            log.push(hit);
        }
    }
}

/// The address that a host listens on, in 127.0.0.0/8.
pub fn address(host: u32) -> std::net::Ipv4Addr {
    let byte = |n: u32| u8::try_from(n % 250 + 1).unwrap_or(1);
    std::net::Ipv4Addr::new(127, 1, byte(host / 250), byte(host))
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// FNV-1a, 64 bits.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |h, byte| {
        (h ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// SplitMix64's finalizer (Steele, Lea, Flood 2014).
fn mix(n: u64) -> u64 {
    let mut z = n.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// From 0 to 1.
fn unit(n: u64) -> f64 {
    (n >> 11) as f64 / (1u64 << 53) as f64
}
