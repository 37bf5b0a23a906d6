//! Settings of the frontier, as `[frontier]` in the configuration.

use serde::{Deserialize, Serialize};

use taojin_uri::QueueHash;

/// One second between two fetches is what nobody complains of.
const MIN_DELAY_MS: i64 = 1_000;
/// A server that needs longer than six seconds a page gets half a minute of rest.
const MAX_DELAY_MS: i64 = 30_000;
/// A fifth of the server's time is ours at most.
const DELAY_FACTOR: f64 = 5.0;
/// Keeps many crawlers from falling into step.
const JITTER: f64 = 0.1;
/// A longer `Crawl-delay` means fewer than 300 pages a day: taken for a mistake and cut to this.
const MAX_CRAWL_DELAY_MS: i64 = 300_000;
/// A longer `Retry-After` is cut to this, since the host is asked once a day anyway.
const MAX_RETRY_AFTER_MS: i64 = 24 * 3_600_000;
/// First rest after 429 or 503 without `Retry-After`; doubles each time.
const THROTTLE_BACKOFF_MS: i64 = 60_000;
/// After so long without trouble the doubling starts anew.
const FORGIVE_AFTER_MS: i64 = 30 * 60_000;
/// First rest after a failed connection or name look-up; doubles each time.
const CONNECT_BACKOFF_MS: i64 = 15 * 60_000;
/// Doubling ends here.
const MAX_BACKOFF_MS: i64 = 24 * 3_600_000;
/// So many failed fetches in a row are an outage.
const PARK_AFTER_ERRORS: u32 = 20;
/// An outage is looked at again the next day.
const PARK_MS: i64 = 24 * 3_600_000;
/// A person's browser opens six; a crawler that nobody invited opens one.
const CONNECTIONS_PER_HOST: u32 = 1;
/// Several hosts on one machine are one machine.
const CONNECTIONS_PER_IP: u32 = 1;
/// A trap that no rule knows ends here.
const PAGES_PER_HOST_PER_CYCLE: i64 = 10_000;
/// The largest news sites have about a million pages, and at one page a second two million take three weeks. In the store
/// they take about 400 MB, which a hostile sitemap may cost and no more.
const MAX_URLS_PER_SITE: i64 = 2_000_000;
/// One refill reads this many index entries of a host: about 0.1 ms of reading for a minute of polite fetching.
const QUEUE_BATCH: usize = 64;
/// Hosts in memory at the same time, about 4 KB each.
const ACTIVE_HOSTS: usize = 4_096;
/// One new URL in a hundred is looked up for nothing, which costs less than a larger filter: a look-up is a few seeks,
/// each bit of the filter a miss of the processor's cache.
const SEEN_ERROR: f64 = 0.01;
/// URLs that the first stage of the filter holds: 1.8 MB. Ten million then take three stages.
const SEEN_CAPACITY: usize = 1_000_000;

/// Settings of the frontier: politeness, limits and memory.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Least time between two fetches from one host, in milliseconds.
    pub min_delay_ms: i64,
    /// Greatest delay that slowness of a host alone can cause, in milliseconds.
    pub max_delay_ms: i64,
    /// The delay is this many times what the last fetch took, between `min_delay_ms` and `max_delay_ms`.
    pub delay_factor: f64,
    /// The delay varies by this share up and down.
    pub jitter: f64,
    /// A `Crawl-delay` of robots.txt is obeyed up to this, in milliseconds.
    pub max_crawl_delay_ms: i64,
    /// A `Retry-After` is obeyed up to this, in milliseconds.
    pub max_retry_after_ms: i64,
    /// Rest after a 429 or 503 without `Retry-After`, doubled each time, in milliseconds.
    pub throttle_backoff_ms: i64,
    /// Time without trouble after which the doubling starts anew, in milliseconds.
    pub forgive_after_ms: i64,
    /// Rest after a failed connection or name look-up, doubled each time, in milliseconds.
    pub connect_backoff_ms: i64,
    /// No backoff is longer than this, in milliseconds.
    pub max_backoff_ms: i64,
    /// A host with this many failed fetches in a row is parked.
    pub park_after_errors: u32,
    /// How long a host stays parked, in milliseconds.
    pub park_ms: i64,
    /// Fetches at the same time from one host.
    pub connections_per_host: u32,
    /// Fetches at the same time from one address, whatever the number of hosts on it.
    pub connections_per_ip: u32,
    /// Pages fetched from one host in a cycle of its site; the rest waits for the next cycle.
    pub pages_per_host_per_cycle: i64,
    /// Addresses that a site may have in the store. Those of a full site go on being crawled, new ones are left out; its
    /// seeds, and the feeds and sitemaps named in settings, are taken whatever it has.
    pub max_urls_per_site: i64,
    /// Due URLs of one host read into memory at a time.
    pub queue_batch: usize,
    /// Hosts whose queues are in memory at the same time.
    pub active_hosts: usize,
    /// Share of new URLs that the filter of seen URLs may take for seen, before they are looked up.
    pub seen_error: f64,
    /// URLs that the filter has room for at first; each stage that is added holds four times as many as the one before.
    pub seen_capacity: usize,
    /// Hash by which the addresses of a host are shared out to its queues, where a site asks for several: `xxh3`, `hfip`, `hf` or `elf`.
    pub queue_hash: QueueHash,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            min_delay_ms: MIN_DELAY_MS,
            max_delay_ms: MAX_DELAY_MS,
            delay_factor: DELAY_FACTOR,
            jitter: JITTER,
            max_crawl_delay_ms: MAX_CRAWL_DELAY_MS,
            max_retry_after_ms: MAX_RETRY_AFTER_MS,
            throttle_backoff_ms: THROTTLE_BACKOFF_MS,
            forgive_after_ms: FORGIVE_AFTER_MS,
            connect_backoff_ms: CONNECT_BACKOFF_MS,
            max_backoff_ms: MAX_BACKOFF_MS,
            park_after_errors: PARK_AFTER_ERRORS,
            park_ms: PARK_MS,
            connections_per_host: CONNECTIONS_PER_HOST,
            connections_per_ip: CONNECTIONS_PER_IP,
            pages_per_host_per_cycle: PAGES_PER_HOST_PER_CYCLE,
            max_urls_per_site: MAX_URLS_PER_SITE,
            queue_batch: QUEUE_BATCH,
            active_hosts: ACTIVE_HOSTS,
            seen_error: SEEN_ERROR,
            seen_capacity: SEEN_CAPACITY,
            queue_hash: QueueHash::default(),
        }
    }
}
