//! What is counted while it happens, for `/metrics`. In: nothing. Out: names for those who count, and their
//! descriptions; each counter is there from the start, at 0. What can be read at any time stands in `gauges`.

use metrics::{Unit, counter, describe_counter, describe_histogram, histogram};
use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle};

/// Counter, label `outcome`: fetches by how they ended (the words of the crawl log).
pub const FETCHES_TOTAL: &str = "taojin_fetches_total";
/// Counter: bytes received over the network, before decompression.
pub const FETCH_BYTES_TOTAL: &str = "taojin_fetch_bytes_total";
/// Histogram: seconds from the first byte asked for to the last received.
pub const FETCH_SECONDS: &str = "taojin_fetch_seconds";
/// Counter: documents written to the outbox, new and changed ones.
pub const DOCUMENTS_TOTAL: &str = "taojin_documents_total";
/// Counter: outlinks offered to the frontier.
pub const OUTLINKS_TOTAL: &str = "taojin_outlinks_total";
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

/// Values of the label `outcome` that are there from the start; others join when they occur.
const OUTCOMES: [(&str, &[&str]); 3] = [
    (FETCHES_TOTAL, &["ok", "not_modified", "error"]),
    (SEARCHES_TOTAL, &["ok", "refused", "timeout", "error"]),
    (WEBHOOKS_TOTAL, &["ok", "failed", "given_up"]),
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

/// Gives every figure its unit and its description, and every counter its beginning: a rate can be told of a counter
/// that was seen at 0, and a figure that is missing is a fault.
pub fn describe() {
    for (name, unit, text) in [
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
    ] {
        describe_counter!(name, unit, text);
    }
    for (name, text) in [
        (FETCH_SECONDS, "time of one fetch"),
        (SEARCH_SECONDS, "time of one search request"),
        (COMMIT_SECONDS, "time of one index commit"),
    ] {
        describe_histogram!(name, Unit::Seconds, text);
        // Named, it is shown, empty.
        drop(histogram!(name));
    }
    for name in [FETCH_BYTES_TOTAL, DOCUMENTS_TOTAL, OUTLINKS_TOTAL] {
        counter!(name).increment(0);
    }
    for (name, outcomes) in OUTCOMES {
        for outcome in outcomes.iter().copied() {
            counter!(name, "outcome" => outcome).increment(0);
        }
    }
}
