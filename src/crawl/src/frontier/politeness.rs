//! Decides when a host may be fetched from again, and records why not sooner. Call [`record_fetch`] with the record of
//! the host, how a fetch ended and the time; hosts and IP addresses have one record each, outside the queues.
//!
//! delay = clamp(factor × last fetch time, min, max) ± jitter, at least robots' `Crawl-delay` and the site's own
//! delay; 429/503, and three pages in a row that turn readers away: `Retry-After`, else 60 s × 2ⁿ; no connection:
//! 15 min × 2ⁿ; 20 errors in a row: parked.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};

use super::Config;
use super::leasing::FetchReport;
use crate::outcome::VisitOutcome;
use crate::store::{Cause, HostId, HostRecord, SiteId};

/// Doubling more often than this leads beyond any limit.
const MAX_LEVEL: u8 = 20;

/// Pages in a row that turn readers away before the host is left alone for a while: one may be the site's own sign-in.
const TURNED_AWAY: u32 = 3;

/// Addresses remembered; above it those at rest are forgotten.
const MAX_ADDRESSES: usize = 10_000;

/// The delay in force between two fetches from a host, with its cause, without backoff. `site_delay_ms` is what the
/// site's settings ask for.
pub(super) fn delay(
    config: &Config,
    host: &HostRecord,
    site_delay_ms: Option<i64>,
) -> (i64, Cause) {
    let low = config.min_delay_ms.max(0);
    let slow = (config.delay_factor * host.elapsed_ms.max(0) as f64) as i64;
    let usual = slow.clamp(low, config.max_delay_ms.max(low));
    let mut found = (jittered(config, host, usual), Cause::Delay);
    if let Some(asked) = site_delay_ms.filter(|d| *d > found.0) {
        found = (asked, Cause::SiteDelay);
    }
    let robots = host
        .crawl_delay_ms
        .map(|d| d.clamp(0, config.max_crawl_delay_ms.max(0)));
    if let Some(asked) = robots.filter(|d| *d > found.0) {
        found = (asked, Cause::CrawlDelay);
    }
    found
}

/// Same host and same number of fetches, same jitter: a run can be repeated.
fn jittered(config: &Config, host: &HostRecord, delay_ms: i64) -> i64 {
    let mut seed = [0u8; 16];
    seed[..8].copy_from_slice(&host.id.to_le_bytes());
    seed[8..].copy_from_slice(&host.fetched.to_le_bytes());
    let unit = (xxhash_rust::xxh3::xxh3_64(&seed) >> 11) as f64 / (1u64 << 53) as f64;
    let share = config.jitter.clamp(0.0, 1.0) * (2.0 * unit - 1.0);
    delay_ms + (delay_ms as f64 * share) as i64
}

/// Enters the end of a fetch into the record of its host. Gives the usual delay that follows ([`delay`]); none where the host was not
/// asked.
pub(super) fn record_fetch(
    config: &Config,
    host: &mut HostRecord,
    report: &FetchReport,
    site_delay_ms: Option<i64>,
    now_ms: i64,
) -> Option<(i64, Cause)> {
    use VisitOutcome::{AddressRefused, Busy, RobotsUnreachable, ServerError, Unreachable};
    if let Some(until_ms) = report.not_before_ms {
        hold(host, until_ms, Cause::RetryAfter, now_ms);
    }
    // What is known of a robots.txt that cannot be had counts as trouble each time that it is needed.
    let was_asked = report.requests > 0 || report.outcome == RobotsUnreachable;
    if report.outcome == AddressRefused || !was_asked {
        return None;
    }
    host.fetched += 1;
    if let Some(elapsed_ms) = report.elapsed_ms {
        host.elapsed_ms = elapsed_ms.max(0).saturating_add(report.reading_ms.max(0));
    }
    if report.crawl_delay_ms.is_some() {
        host.crawl_delay_ms = report.crawl_delay_ms;
    }
    if report.ip.is_some() {
        host.ip = report.ip;
    }
    let usual = delay(config, host, site_delay_ms);
    let has_broken = report.failure.is_some_and(|f| !f.is_no_connection());
    let mut booking = Booking {
        config,
        host,
        report,
        now_ms,
    };
    match report.outcome {
        Busy => booking.throttled(),
        ServerError => booking.failed(),
        Unreachable if has_broken => booking.failed(),
        Unreachable | RobotsUnreachable => {
            booking.failed();
            booking.back_off(config.connect_backoff_ms, Cause::Unreachable);
        }
        _ if report.turned_away => booking.turned_away(),
        _ => booking.answered(),
    }
    Some(usual)
}

/// The end of a fetch on its way into the record of its host.
struct Booking<'a> {
    config: &'a Config,
    host: &'a mut HostRecord,
    report: &'a FetchReport,
    now_ms: i64,
}

impl Booking<'_> {
    /// Whether there was trouble, and none for so long that the doubling starts again.
    fn is_forgiven(&self) -> bool {
        let trouble_ms = self.host.trouble_ms;
        trouble_ms.is_some_and(|t| self.now_ms - t >= self.config.forgive_after_ms)
    }

    fn hold(&mut self, until_ms: i64, cause: Cause) {
        hold(self.host, until_ms, cause, self.now_ms);
    }

    fn answered(&mut self) {
        self.host.errors = 0;
        let reached_again = self.host.cause == Cause::Unreachable;
        if reached_again || self.host.trouble_ms.is_none() || self.is_forgiven() {
            self.host.backoff_level = 0;
            self.host.trouble_ms = None;
        }
    }

    fn throttled(&mut self) {
        self.host.last_error.clone_from(&self.report.error);
        let Some(asked) = self.report.retry_after_ms else {
            return self.back_off(self.config.throttle_backoff_ms, Cause::Throttled);
        };
        let until_ms = self.now_ms + asked.clamp(0, self.config.max_retry_after_ms.max(0));
        self.hold(until_ms, Cause::RetryAfter);
        self.host.trouble_ms = Some(until_ms.max(self.host.trouble_ms.unwrap_or(until_ms)));
    }

    fn failed(&mut self) {
        self.host.errors = self.host.errors.saturating_add(1);
        self.host.last_error.clone_from(&self.report.error);
        let most = self.config.park_after_errors;
        if most > 0 && self.host.errors >= most {
            self.hold(self.now_ms + self.config.park_ms.max(0), Cause::Parked);
        }
    }

    fn turned_away(&mut self) {
        self.failed();
        if self.host.errors >= TURNED_AWAY {
            self.back_off(self.config.throttle_backoff_ms, Cause::TurnedAway);
        }
    }

    /// Doubles the rest. Several fetches that were under way when the trouble began count once.
    fn back_off(&mut self, first_ms: i64, cause: Cause) {
        if self.is_forgiven() {
            self.host.backoff_level = 0;
        }
        if self.host.not_before_ms > self.now_ms && self.host.cause == cause {
            return;
        }
        let level = self.host.backoff_level.min(MAX_LEVEL);
        let rest_ms = first_ms.max(0).saturating_mul(1i64 << level);
        let rest_ms = rest_ms.min(self.config.max_backoff_ms.max(0));
        self.host.backoff_level = (level + 1).min(MAX_LEVEL);
        self.host.trouble_ms = Some(self.now_ms + rest_ms);
        self.hold(self.now_ms + rest_ms, cause);
    }
}

/// The later of two times holds, with its cause; a backoff that still runs keeps its name.
pub(super) fn hold(host: &mut HostRecord, until_ms: i64, cause: Cause, now_ms: i64) {
    let running = host.not_before_ms > now_ms && host.cause.is_backoff();
    if host.not_before_ms > until_ms && running {
        return;
    }
    host.not_before_ms = until_ms;
    host.cause = cause;
}

/// What is remembered of an address while the program runs.
#[derive(Debug, Clone, Default)]
pub(super) struct Address {
    pub(super) in_flight: u32,
    pub(super) not_before_ms: i64,
    /// Hosts that wait for a connection to end.
    waiting: Vec<HostId>,
    /// The site with the last request there.
    last_site: SiteId,
    /// Other sites that had to wait since.
    wanted: Vec<SiteId>,
    /// How often that site has let them go first since.
    stepped_back: u32,
}

/// A site lets others go first so often in a row: what they had may be gone, or be fetched elsewhere.
const STEPS_BACK: u32 = 10;

/// Sites remembered that wait for one address.
const MAX_WANTED: usize = 64;

/// The addresses that fetches went to. The addresses of one network of IPv6 (/64), which one server may have all, are one.
#[derive(Debug, Default)]
pub(super) struct Addresses {
    by_ip: HashMap<IpAddr, Address>,
}

impl Addresses {
    pub(super) fn get(&self, ip: IpAddr) -> Option<&Address> {
        self.by_ip.get(&network(ip))
    }

    /// A request of a site begins there.
    pub(super) fn begin(&mut self, ip: IpAddr, site: SiteId, now_ms: i64) {
        if self.by_ip.len() >= MAX_ADDRESSES {
            self.by_ip
                .retain(|_, a| a.in_flight > 0 || a.not_before_ms > now_ms);
        }
        let address = self.by_ip.entry(network(ip)).or_default();
        address.in_flight += 1;
        address.last_site = site;
        address.stepped_back = 0;
        address.wanted.retain(|other| *other != site);
    }

    /// And no more. The hosts that have waited for that.
    pub(super) fn end(&mut self, ip: IpAddr) -> Vec<HostId> {
        let Some(address) = self.by_ip.get_mut(&network(ip)) else {
            return Vec::new();
        };
        address.in_flight = address.in_flight.saturating_sub(1);
        std::mem::take(&mut address.waiting)
    }

    /// A host waits for a connection to end.
    pub(super) fn wait(&mut self, ip: IpAddr, host: HostId) {
        if let Some(address) = self.by_ip.get_mut(&network(ip)) {
            address.waiting.push(host);
        }
    }

    /// A site has to wait.
    pub(super) fn want(&mut self, ip: IpAddr, site: SiteId) {
        if let Some(address) = self.by_ip.get_mut(&network(ip))
            && address.wanted.len() < MAX_WANTED
            && !address.wanted.contains(&site)
        {
            address.wanted.push(site);
        }
    }

    /// Whether a site whose host is ready lets others go first: the last request was its own, and they have waited since.
    pub(super) fn steps_back(&mut self, ip: IpAddr, site: SiteId) -> bool {
        let Some(address) = self.by_ip.get_mut(&network(ip)) else {
            return false;
        };
        if address.last_site != site || address.wanted.iter().all(|other| *other == site) {
            return false;
        }
        address.stepped_back += 1;
        if address.stepped_back > STEPS_BACK {
            address.wanted.clear();
            return false;
        }
        true
    }

    /// How long an address rests from now on, in milliseconds.
    pub(super) fn rest_ms(&self, ip: IpAddr, now_ms: i64) -> i64 {
        self.get(ip)
            .map_or(0, |address| (address.not_before_ms - now_ms).max(0))
    }

    /// No other host at this address is asked before `until_ms`.
    pub(super) fn rest(&mut self, ip: IpAddr, until_ms: i64) {
        let address = self.by_ip.entry(network(ip)).or_default();
        address.not_before_ms = address.not_before_ms.max(until_ms);
    }
}

/// What counts as one server.
fn network(ip: IpAddr) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V6(ip) => Ipv6Addr::from_bits(ip.to_bits() & !u128::from(u64::MAX)).into(),
        ip => ip,
    }
}
