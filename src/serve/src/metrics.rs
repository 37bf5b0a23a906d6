//! Figures for Prometheus. What is counted while it happens has a name here and is described to the recorder; the state is written
//! again for each scrape, so that a site that is gone has no figures left.

use metrics::{
    Label, Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram,
};
use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle};

use crate::status::{Activity, ClusterStatus, IndexState, Level, SiteStatus, Status};

/// Counter, label `outcome`: fetches by how they ended (the words of the crawl log).
pub const FETCHES_TOTAL: &str = "taojin_fetches_total";
/// Counter, label `outcome`: files that pages offer, by what came of reading them: `read`, or why there is no text.
pub const ATTACHMENTS_TOTAL: &str = "taojin_attachments_total";
/// Counter: bytes received over the network, before decompression.
pub const FETCH_BYTES_TOTAL: &str = "taojin_fetch_bytes_total";
/// Histogram: seconds from the first byte requested to the last received.
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
/// Counter: documents that the audit of an index on OpenSearch sent again or took out.
pub const INDEX_REPAIRED_TOTAL: &str = "taojin_index_repaired_documents_total";

/// Counter, label `outcome`: tries to send new hits to a webhook (`ok`, `failed`, `given_up`).
pub const WEBHOOKS_TOTAL: &str = "taojin_webhooks_total";

/// Bounds of the buckets for times, in seconds: searches are around 0.001, fetches around 1.
const SECONDS_BUCKETS: [f64; 14] = [
    0.000_5, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 15.0, 60.0,
];

/// Values of the label `outcome` that are there from the start; others join when they occur.
const OUTCOMES: [(&str, &[&str]); 4] = [
    (FETCHES_TOTAL, &["ok", "not_modified", "error"]),
    (ATTACHMENTS_TOTAL, &["read", "damaged", "crashed"]),
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

/// Returns every figure its unit and its description, and every counter its beginning: a rate can be told of a counter
/// that was seen at 0, and a figure that is missing is a fault.
pub fn describe() {
    for (name, unit, text) in [
        (FETCHES_TOTAL, Unit::Count, "fetches by outcome"),
        (
            ATTACHMENTS_TOTAL,
            Unit::Count,
            "files that pages offer, by what came of reading them",
        ),
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
            INDEX_REPAIRED_TOTAL,
            Unit::Count,
            "documents by which index and store differed",
        ),
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
    for name in [
        FETCH_BYTES_TOTAL,
        DOCUMENTS_TOTAL,
        OUTLINKS_TOTAL,
        INDEX_REPAIRED_TOTAL,
    ] {
        counter!(name).increment(0);
    }
    for (name, outcomes) in OUTCOMES {
        for outcome in outcomes.iter().copied() {
            counter!(name, "outcome" => outcome).increment(0);
        }
    }
}

type Labels<'a> = [(&'static str, &'a str)];

/// Returns the figures in the text format 0.0.4. Without a status only what is known without one: `documents`, and when the server
/// started.
pub(crate) fn render_state(
    status: Option<&Status>,
    documents: Option<u64>,
    started_ms: i64,
) -> String {
    let recorder = PrometheusBuilder::new().build_recorder();
    metrics::with_local_recorder(&recorder, || {
        let version = [("version", env!("CARGO_PKG_VERSION"))];
        set(
            "taojin_build_info",
            "Always 1; its label names the version.",
            &version,
            1.0,
        );
        set(
            "process_start_time_seconds",
            "When the process started, in seconds since 1970.",
            &[],
            seconds(status.map_or(started_ms, |status| status.started_ms)),
        );
        set(
            "taojin_status_up",
            "1 if the state of crawler and index could be read; 0: the figures below are missing.",
            &[],
            one_if(status.is_some()),
        );
        if let Some(documents) = documents {
            let help = "Documents that can be found.";
            set("taojin_index_documents", help, &[], documents as f64);
        }
        if let Some(status) = status {
            set_whole(status);
            set_progress(status);
            status
                .cluster
                .iter()
                .for_each(|c| set_cluster(c, status.now_ms));
            status.sites.iter().for_each(set_site);
        }
    });
    recorder.handle().render()
}

fn set(name: &'static str, help: &'static str, labels: &Labels<'_>, value: f64) {
    describe_gauge!(name, help);
    gauge!(name, owned(labels)).set(value);
}

fn count(name: &'static str, help: &'static str, labels: &Labels<'_>, value: u64) {
    describe_counter!(name, help);
    counter!(name, owned(labels)).absolute(value);
}

fn owned(labels: &Labels<'_>) -> Vec<Label> {
    let owned = labels
        .iter()
        .map(|(name, value)| Label::new(*name, (*value).to_owned()));
    owned.collect()
}

fn seconds(ms: i64) -> f64 {
    ms as f64 / 1_000.0
}

fn one_if(is_so: bool) -> f64 {
    f64::from(u8::from(is_so))
}

/// Figures of the whole.
fn set_whole(status: &Status) {
    for (name, activity) in [
        ("running", Activity::Running),
        ("paused", Activity::Paused),
        ("stopping", Activity::Stopping),
        ("read_only", Activity::ReadOnly),
    ] {
        let help = "1 for what the process is doing, 0 for the rest.";
        let is_now = one_if(status.activity == activity);
        set("taojin_activity", help, &[("activity", name)], is_now);
    }
    let (urls, hosts) = (&status.urls, &status.host_counts);
    for (state, urls) in [
        ("waiting", urls.waiting),
        ("in_flight", urls.in_flight),
        ("fetched", urls.fetched),
        ("refused", urls.refused),
        ("failed", urls.failed),
        ("gone", urls.gone),
    ] {
        let help = "Addresses known, by state.";
        set("taojin_urls", help, &[("state", state)], urls as f64);
    }
    for (state, hosts) in [
        ("open", hosts.open),
        ("backing_off", hosts.backing_off),
        ("parked", hosts.parked),
        ("limited", hosts.limited),
    ] {
        let help = "Hosts known, by state.";
        set("taojin_hosts", help, &[("state", state)], hosts as f64);
    }
    for (name, help, value) in [
        (
            "taojin_outbox_lag",
            "Documents stored that the index has not committed yet.",
            status.index.outbox_lag,
        ),
        (
            "taojin_queues_ready",
            "Work queues with an address that is due.",
            status.queues.ready,
        ),
        (
            "taojin_queues_parked",
            "Work queues that rest after too many errors in a row.",
            status.queues.parked,
        ),
        (
            "taojin_index_size_bytes",
            "Size of the search index.",
            status.disk.index_bytes,
        ),
        (
            "taojin_store_size_bytes",
            "Size of the store of addresses and the outbox.",
            status.disk.store_bytes,
        ),
        (
            "taojin_index_left_out_documents",
            "Documents that the index could not take.",
            status.left_out.count,
        ),
        (
            "taojin_sites",
            "Sites configured.",
            status.sites.len() as u64,
        ),
    ] {
        set(name, help, &[], value as f64);
    }
    // Nothing free cannot be told from what could not be read, and a full disk shows itself elsewhere.
    if status.disk.free_bytes > 0 {
        let help = "Free space on the file system that holds the data.";
        set(
            "taojin_disk_free_bytes",
            help,
            &[],
            status.disk.free_bytes as f64,
        );
    }
}

/// How far the work is: the index behind the store, the workers, the filter, the webhooks.
fn set_progress(status: &Status) {
    set(
        "taojin_index_lag_seconds",
        "How long the oldest of them has waited; 0 when none waits.",
        &[],
        status.index.index_lag_ms as f64 / 1_000.0,
    );
    for state in IndexState::ALL {
        set(
            "taojin_index_state",
            "1 for the state that the search index is in, 0 for the others.",
            &[("state", state.name())],
            one_if(state == status.index.state),
        );
    }
    for host in &status.index.engine_hosts {
        set(
            "taojin_engine_up",
            "1 while a host of the engine of the search index answers, 0 while it does not.",
            &[("host", host.address.as_str())],
            one_if(host.is_up),
        );
    }
    for worker in &status.workers {
        let name = [("worker", worker.name.as_str())];
        set(
            "taojin_worker_idle_seconds",
            "Seconds since a worker of the daemon last got on, or found nothing to do.",
            &name,
            worker.idle_ms as f64 / 1_000.0,
        );
        set(
            "taojin_worker_up",
            "1 while a worker of the daemon makes progress, 0 when it is stuck.",
            &name,
            one_if(worker.alive),
        );
    }
    if let Some(filter) = &status.seen_filter {
        set(
            "taojin_bloom_items",
            "Addresses in the Bloom filter of those that were met.",
            &[],
            filter.addresses as f64,
        );
        set(
            "taojin_bloom_error_ratio",
            "Share of the new addresses that the Bloom filter took for known since the start.",
            &[],
            filter.error_ratio,
        );
        count(
            "taojin_bloom_false_positives_total",
            "New addresses that the Bloom filter took for known; the store found them out, none is lost.",
            &[],
            filter.false_positives,
        );
    }
    for follow in &status.follows {
        set(
            "taojin_webhook_waiting_hits",
            "Hits of a followed topic that wait to be sent.",
            &[("follow", &follow.name)],
            follow.waiting as f64,
        );
    }
}

/// The nodes that share the store.
fn set_cluster(cluster: &ClusterStatus, now_ms: i64) {
    for node in &cluster.nodes {
        let labels = [("host", node.host.as_str()), ("node", node.id.as_str())];
        set(
            "taojin_node_partitions",
            "Partitions of a shared store whose hosts a node crawls, of 256.",
            &labels,
            node.partitions as f64,
        );
        set(
            "taojin_node_lease_seconds",
            "Seconds that the lease of a node holds; negative once it has run out.",
            &labels,
            seconds(node.lease_ms),
        );
    }
    set(
        "taojin_inbox_addresses",
        "Addresses that one node has found and another one has not taken up yet.",
        &[],
        cluster.waiting_addresses as f64,
    );
    let waited_ms = cluster
        .oldest_waiting_ms
        .map_or(0, |sent_ms| now_ms - sent_ms);
    set(
        "taojin_inbox_wait_seconds",
        "How long the oldest of them has waited; 0 when none waits.",
        &[],
        seconds(waited_ms.max(0)),
    );
}

/// Figures of a site.
fn set_site(site: &SiteStatus) {
    let name = ("site", site.name.as_str());
    for level in Level::ALL {
        set(
            "taojin_site_verdict",
            "1 for how a site's last cycle went (waiting, ok, partial, failed), 0 for the rest.",
            &[name, ("level", level.name())],
            one_if(site.verdict.level == level),
        );
    }
    for (figure, help, value) in [
        (
            "taojin_site_documents",
            "Documents of a site.",
            site.documents,
        ),
        (
            "taojin_site_documents_unconfirmed",
            "Documents of a site that the last visit to their page did not show.",
            site.unconfirmed,
        ),
        (
            "taojin_site_last_cycle_errors",
            "Failed fetches in a site's last cycle.",
            site.errors,
        ),
        (
            "taojin_site_last_cycle_visits",
            "Addresses visited in a site's last cycle.",
            site.cycle.visits,
        ),
        (
            "taojin_site_last_cycle_turned_away",
            "Visits of a site's last cycle that were answered with a login or blocking page, 401, 403, 429 or 451.",
            site.cycle.turned_away,
        ),
        (
            "taojin_site_templates",
            "Templates of a site in use.",
            site.templates.used,
        ),
    ] {
        set(figure, help, &[name], value as f64);
    }
    let templates = &site.templates;
    for (fits, articles) in [("yes", templates.matched), ("no", templates.unmatched)] {
        count(
            "taojin_site_template_articles_total",
            "Fetches of a site's articles, by whether a template fits.",
            &[name, ("fits", fits)],
            articles,
        );
    }
    if let Some(last_ms) = site.last_cycle_ms {
        set(
            "taojin_site_last_cycle_timestamp_seconds",
            "Start of a site's last cycle, in seconds since 1970; missing before the first.",
            &[name],
            seconds(last_ms),
        );
    }
    if let Some(next_ms) = site.next_cycle_ms {
        set(
            "taojin_site_next_cycle_timestamp_seconds",
            "When a site's next cycle is due, in seconds since 1970; missing if none is planned.",
            &[name],
            seconds(next_ms),
        );
    }
}
