//! Names of every figure on `/metrics`. In: nothing. Out: constants for those who count, and their descriptions.
//! Never counts anything itself.

use metrics::{Unit, describe_counter, describe_gauge, describe_histogram};
use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle};

/// Counter, label `outcome`: fetches by how they ended (`ok`, `not_modified`, `gone`, `refused`, `error` …).
pub const FETCHES_TOTAL: &str = "taojin_fetches_total";
/// Counter: bytes received over the network, before decompression.
pub const FETCH_BYTES_TOTAL: &str = "taojin_fetch_bytes_total";
/// Histogram: seconds from the first byte asked for to the last received.
pub const FETCH_SECONDS: &str = "taojin_fetch_seconds";
/// Counter: documents written to the outbox, new and changed ones.
pub const DOCUMENTS_TOTAL: &str = "taojin_documents_total";
/// Gauge: documents that can be found now.
pub const INDEX_DOCUMENTS: &str = "taojin_index_documents";
/// Gauge: documents in the outbox that the index has not committed yet.
pub const OUTBOX_LAG: &str = "taojin_outbox_lag";
/// Counter: URLs that the Bloom filter took for seen and the exact set did not know.
pub const BLOOM_FALSE_POSITIVES_TOTAL: &str = "taojin_bloom_false_positives_total";
/// Counter: outlinks offered to the frontier.
pub const OUTLINKS_TOTAL: &str = "taojin_outlinks_total";
/// Gauge, label `state`: URLs in the store by state.
pub const URLS: &str = "taojin_urls";
/// Gauge: work queues with a URL that is due.
pub const QUEUES_READY: &str = "taojin_queues_ready";
/// Gauge: work queues put aside after too many errors.
pub const QUEUES_PARKED: &str = "taojin_queues_parked";
/// Gauge: free bytes of the file system under the data directory.
pub const DISK_FREE_BYTES: &str = "taojin_disk_free_bytes";
/// Gauge, labels `site` and `level`: 1 for what the last cycle of the site was (`waiting`, `ok`, `partial`, `failed`),
/// 0 for the others.
pub const SITE_VERDICT: &str = "taojin_site_verdict";
/// Histogram: seconds from a search request to its answer, waiting included.
pub const SEARCH_SECONDS: &str = "taojin_search_seconds";
/// Counter, label `outcome`: searches by how they ended (`ok`, `refused`, `timeout`, `error`).
pub const SEARCHES_TOTAL: &str = "taojin_searches_total";
/// Histogram: seconds of one index commit.
pub const COMMIT_SECONDS: &str = "taojin_commit_seconds";

/// Counter, label `outcome`: tries to send new hits to a webhook (`ok`, `failed`, `given_up`).
pub const WEBHOOKS_TOTAL: &str = "taojin_webhooks_total";

/// Bounds of the buckets for times, in seconds: searches are around 0.001, fetches around 1.
const SECONDS_BUCKETS: [f64; 14] = [
    0.000_5, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 15.0, 60.0,
];

const COUNTERS: [(&str, Unit, &str); 7] = [
    (FETCHES_TOTAL, Unit::Count, "fetches by outcome"),
    (
        FETCH_BYTES_TOTAL,
        Unit::Bytes,
        "bytes received over the network",
    ),
    (
        DOCUMENTS_TOTAL,
        Unit::Count,
        "documents written to the outbox",
    ),
    (
        BLOOM_FALSE_POSITIVES_TOTAL,
        Unit::Count,
        "new URLs that the Bloom filter took for seen; none is lost",
    ),
    (
        OUTLINKS_TOTAL,
        Unit::Count,
        "outlinks offered to the frontier",
    ),
    (SEARCHES_TOTAL, Unit::Count, "searches by outcome"),
    (
        WEBHOOKS_TOTAL,
        Unit::Count,
        "tries to send new hits to a webhook",
    ),
];

const GAUGES: [(&str, Unit, &str); 7] = [
    (INDEX_DOCUMENTS, Unit::Count, "documents that can be found"),
    (OUTBOX_LAG, Unit::Count, "documents waiting for the index"),
    (URLS, Unit::Count, "URLs by state"),
    (QUEUES_READY, Unit::Count, "work queues with a URL due"),
    (
        QUEUES_PARKED,
        Unit::Count,
        "work queues put aside after errors",
    ),
    (DISK_FREE_BYTES, Unit::Bytes, "free disk space for the data"),
    (
        SITE_VERDICT,
        Unit::Count,
        "1 for how the last cycle of the site went, 0 for the other levels",
    ),
];

const HISTOGRAMS: [(&str, Unit, &str); 3] = [
    (FETCH_SECONDS, Unit::Seconds, "time of one fetch"),
    (SEARCH_SECONDS, Unit::Seconds, "time of one search request"),
    (COMMIT_SECONDS, Unit::Seconds, "time of one index commit"),
];

/// A recorder with this project's buckets, not yet installed: `handle()` gives what `/metrics` shows.
/// The daemon installs it with [`install`]; tests keep it local.
pub fn builder() -> Result<PrometheusBuilder, BuildError> {
    PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &SECONDS_BUCKETS)
}

/// Makes the process count, once per process, and describes every figure.
///
/// Histograms keep each sample until they are read or [`PrometheusHandle::run_upkeep`] is called; the server calls
/// it every few seconds while it runs.
pub fn install() -> Result<PrometheusHandle, BuildError> {
    let handle = builder()?.install_recorder()?;
    describe();
    Ok(handle)
}

/// Gives every figure its unit and its description.
pub fn describe() {
    for (name, unit, text) in COUNTERS {
        describe_counter!(name, unit, text);
    }
    for (name, unit, text) in GAUGES {
        describe_gauge!(name, unit, text);
    }
    for (name, unit, text) in HISTOGRAMS {
        describe_histogram!(name, unit, text);
    }
}
