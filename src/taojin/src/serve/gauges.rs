//! The state as figures for Prometheus. In: a [`Status`]. Out: text format 0.0.4, to stand behind the counters of
//! `metrics`. Made anew for each answer, so that a site that is gone has no figures left; never counts anything itself.

use super::exposition::{Family, Sample, labelled, plain, seconds, written};
use super::status::{Activity, ClusterStatus, Status};
use super::verdict::Level;

/// Name, type and description of each figure, in the order of the answer.
pub(crate) const FAMILIES: [Family; 36] = [
    (
        BUILD_INFO,
        "gauge",
        "Always 1; its label names the version.",
    ),
    (
        START,
        "gauge",
        "When the process started, in seconds since 1970.",
    ),
    (
        UP,
        "gauge",
        "1 if the state of crawler and index could be read; 0: the figures below are missing.",
    ),
    (
        ACTIVITY,
        "gauge",
        "1 for what the process is doing, 0 for the rest.",
    ),
    (DOCUMENTS, "gauge", "Documents that can be found."),
    (
        OUTBOX,
        "gauge",
        "Documents stored that the index has not committed yet.",
    ),
    (
        LAG_SECONDS,
        "gauge",
        "How long the oldest of them has waited; 0 when none waits.",
    ),
    (
        LEFT_OUT,
        "gauge",
        "Documents that the index could not take.",
    ),
    (
        WORKER_IDLE,
        "gauge",
        "Seconds since a worker of the daemon last got on, or found nothing to do.",
    ),
    (
        WORKER_UP,
        "gauge",
        "1 while a worker of the daemon makes progress, 0 when it is stuck.",
    ),
    (URLS, "gauge", "Addresses known, by state."),
    (HOSTS, "gauge", "Hosts known, by state."),
    (READY, "gauge", "Work queues with an address that is due."),
    (
        PARKED,
        "gauge",
        "Work queues that rest after too many errors in a row.",
    ),
    (
        NODE_PARTITIONS,
        "gauge",
        "Partitions of a shared store whose hosts a node crawls, of 256.",
    ),
    (
        NODE_LEASE,
        "gauge",
        "Seconds that the lease of a node holds; negative once it has run out.",
    ),
    (
        INBOX,
        "gauge",
        "Addresses that one node has found and another one has not taken up yet.",
    ),
    (
        INBOX_SECONDS,
        "gauge",
        "How long the oldest of them has waited; 0 when none waits.",
    ),
    (INDEX_BYTES, "gauge", "Size of the search index."),
    (
        STORE_BYTES,
        "gauge",
        "Size of the store of addresses and the outbox.",
    ),
    (
        FREE_BYTES,
        "gauge",
        "Free space on the file system that holds the data.",
    ),
    (SITES, "gauge", "Sites configured."),
    (SITE_DOCUMENTS, "gauge", "Documents of a site."),
    (
        SITE_UNCONFIRMED,
        "gauge",
        "Documents of a site that the last visit to their page did not show.",
    ),
    (
        SITE_LAST,
        "gauge",
        "Start of a site's last cycle, in seconds since 1970; missing before the first.",
    ),
    (
        SITE_NEXT,
        "gauge",
        "When a site's next cycle is due, in seconds since 1970; missing if none is planned.",
    ),
    (
        SITE_ERRORS,
        "gauge",
        "Failed fetches in a site's last cycle.",
    ),
    (
        SITE_VISITS,
        "gauge",
        "Addresses visited in a site's last cycle.",
    ),
    (
        SITE_TURNED_AWAY,
        "gauge",
        "Visits of a site's last cycle that were answered with a login or blocking page, 401, 403, 429 or 451.",
    ),
    (SITE_TEMPLATES, "gauge", "Templates of a site in use."),
    (
        SITE_TEMPLATE_ARTICLES,
        "counter",
        "Fetches of a site's articles, by whether a template fits.",
    ),
    (
        SITE_VERDICT,
        "gauge",
        "1 for how a site's last cycle went (waiting, ok, partial, failed), 0 for the rest.",
    ),
    (
        WEBHOOK_WAITING,
        "gauge",
        "Hits of a followed topic that wait to be sent.",
    ),
    (
        BLOOM_ITEMS,
        "gauge",
        "Addresses in the Bloom filter of those that were met.",
    ),
    (
        BLOOM_ERROR,
        "gauge",
        "Share of the new addresses that the Bloom filter took for known since the start.",
    ),
    (
        BLOOM_FALSE_POSITIVES,
        "counter",
        "New addresses that the Bloom filter took for known; the store found them out, none is lost.",
    ),
];

const BUILD_INFO: &str = "taojin_build_info";
const START: &str = "process_start_time_seconds";
const UP: &str = "taojin_status_up";
const ACTIVITY: &str = "taojin_activity";
const DOCUMENTS: &str = "taojin_index_documents";
const OUTBOX: &str = "taojin_outbox_lag";
const LAG_SECONDS: &str = "taojin_index_lag_seconds";
const LEFT_OUT: &str = "taojin_index_left_out_documents";
const WORKER_IDLE: &str = "taojin_worker_idle_seconds";
const WORKER_UP: &str = "taojin_worker_up";
const URLS: &str = "taojin_urls";
const HOSTS: &str = "taojin_hosts";
const READY: &str = "taojin_queues_ready";
const PARKED: &str = "taojin_queues_parked";
const NODE_PARTITIONS: &str = "taojin_node_partitions";
const NODE_LEASE: &str = "taojin_node_lease_seconds";
const INBOX: &str = "taojin_inbox_addresses";
const INBOX_SECONDS: &str = "taojin_inbox_wait_seconds";
const INDEX_BYTES: &str = "taojin_index_size_bytes";
const STORE_BYTES: &str = "taojin_store_size_bytes";
const FREE_BYTES: &str = "taojin_disk_free_bytes";
const SITES: &str = "taojin_sites";
const SITE_DOCUMENTS: &str = "taojin_site_documents";
const SITE_UNCONFIRMED: &str = "taojin_site_documents_unconfirmed";
const SITE_LAST: &str = "taojin_site_last_cycle_timestamp_seconds";
const SITE_NEXT: &str = "taojin_site_next_cycle_timestamp_seconds";
const SITE_ERRORS: &str = "taojin_site_last_cycle_errors";
const SITE_VISITS: &str = "taojin_site_last_cycle_visits";
const SITE_TURNED_AWAY: &str = "taojin_site_last_cycle_turned_away";
const SITE_TEMPLATES: &str = "taojin_site_templates";
const SITE_TEMPLATE_ARTICLES: &str = "taojin_site_template_articles_total";
const SITE_VERDICT: &str = "taojin_site_verdict";
const WEBHOOK_WAITING: &str = "taojin_webhook_waiting_hits";
const BLOOM_ITEMS: &str = "taojin_bloom_items";
const BLOOM_ERROR: &str = "taojin_bloom_error_ratio";
const BLOOM_FALSE_POSITIVES: &str = "taojin_bloom_false_positives_total";

/// The figures as text. Without a status only what is known without one: `documents`, and when the server started.
pub(crate) fn text(status: Option<&Status>, documents: Option<u64>, started_ms: i64) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let up = u64::from(status.is_some());
    let started_ms = status.map_or(started_ms, |s| s.started_ms);
    let mut samples = vec![
        labelled(BUILD_INFO, "version", version, 1),
        seconds(START, started_ms),
        plain(UP, up),
    ];
    samples.extend(documents.map(|documents| plain(DOCUMENTS, documents)));
    if let Some(status) = status {
        whole(status, &mut samples);
        sites(status, &mut samples);
    }
    written(&FAMILIES, &samples)
}

/// Figures of the whole.
fn whole<'a>(status: &'a Status, samples: &mut Vec<Sample<'a>>) {
    for (name, activity) in [
        ("running", Activity::Running),
        ("paused", Activity::Paused),
        ("stopping", Activity::Stopping),
        ("read_only", Activity::ReadOnly),
    ] {
        let now = u64::from(status.activity == activity);
        samples.push(labelled(ACTIVITY, "activity", name, now));
    }
    let (urls, hosts) = (&status.urls, &status.host_counts);
    for (state, count) in [
        ("waiting", urls.waiting),
        ("in_flight", urls.in_flight),
        ("fetched", urls.fetched),
        ("refused", urls.refused),
        ("failed", urls.failed),
        ("gone", urls.gone),
    ] {
        samples.push(labelled(URLS, "state", state, count));
    }
    for (state, count) in [
        ("open", hosts.open),
        ("backing_off", hosts.backing_off),
        ("parked", hosts.parked),
        ("limited", hosts.limited),
    ] {
        samples.push(labelled(HOSTS, "state", state, count));
    }
    for (name, value) in [
        (OUTBOX, status.outbox_lag),
        (READY, status.queues.ready),
        (PARKED, status.queues.parked),
        (INDEX_BYTES, status.disk.index_bytes),
        (STORE_BYTES, status.disk.store_bytes),
        (LEFT_OUT, status.left_out.count),
        (SITES, status.sites.len() as u64),
    ] {
        samples.push(plain(name, value));
    }
    // Nothing free cannot be told from what could not be asked, and a full disk shows itself elsewhere.
    if status.disk.free_bytes > 0 {
        samples.push(plain(FREE_BYTES, status.disk.free_bytes));
    }
    progress(status, samples);
    if let Some(filter) = &status.seen_filter {
        samples.push(plain(BLOOM_ITEMS, filter.addresses));
        samples.push(plain(BLOOM_FALSE_POSITIVES, filter.false_positives));
        samples.push(Sample {
            name: BLOOM_ERROR,
            labels: Vec::new(),
            value: filter.error_ratio,
        });
    }
    if let Some(of) = &status.cluster {
        cluster(of, status.now_ms, samples);
    }
    for follow in &status.follows {
        let waiting = labelled(WEBHOOK_WAITING, "follow", &follow.name, follow.waiting);
        samples.push(waiting);
    }
}

/// The nodes that share the store.
fn cluster<'a>(of: &'a ClusterStatus, now_ms: i64, samples: &mut Vec<Sample<'a>>) {
    for node in &of.nodes {
        let labels = vec![("host", node.host.as_str()), ("node", node.id.as_str())];
        samples.push(Sample {
            name: NODE_PARTITIONS,
            labels: labels.clone(),
            value: node.partitions as f64,
        });
        samples.push(Sample {
            labels,
            ..seconds(NODE_LEASE, node.lease_ms)
        });
    }
    samples.push(plain(INBOX, of.waiting_addresses));
    let waited_ms = of.oldest_waiting_ms.map_or(0, |sent_ms| now_ms - sent_ms);
    samples.push(Sample {
        labels: Vec::new(),
        ..seconds(INBOX_SECONDS, waited_ms.max(0))
    });
}

/// How far the index is behind, and how long ago each worker made progress.
fn progress<'a>(status: &'a Status, samples: &mut Vec<Sample<'a>>) {
    samples.push(Sample {
        labels: Vec::new(),
        ..seconds(
            LAG_SECONDS,
            i64::try_from(status.index_lag_ms).unwrap_or(i64::MAX),
        )
    });
    for worker in &status.workers {
        let idle_ms = i64::try_from(worker.idle_ms).unwrap_or(i64::MAX);
        samples.push(Sample {
            labels: vec![("worker", &worker.name)],
            ..seconds(WORKER_IDLE, idle_ms)
        });
        let up = u64::from(worker.alive);
        samples.push(labelled(WORKER_UP, "worker", &worker.name, up));
    }
}

/// Figures of each site.
fn sites<'a>(status: &'a Status, samples: &mut Vec<Sample<'a>>) {
    for site in &status.sites {
        let name = site.name.as_str();
        for level in Level::ALL {
            samples.push(Sample {
                name: SITE_VERDICT,
                labels: vec![("site", name), ("level", level.name())],
                value: f64::from(u8::from(site.verdict.level == level)),
            });
        }
        samples.push(labelled(SITE_DOCUMENTS, "site", name, site.documents));
        samples.push(labelled(SITE_UNCONFIRMED, "site", name, site.unconfirmed));
        samples.push(labelled(SITE_ERRORS, "site", name, site.errors));
        let (cycle, templates) = (&site.cycle, &site.templates);
        samples.push(labelled(SITE_VISITS, "site", name, cycle.visits));
        let turned_away = cycle.turned_away;
        samples.push(labelled(SITE_TURNED_AWAY, "site", name, turned_away));
        samples.push(labelled(SITE_TEMPLATES, "site", name, templates.used));
        for (fits, articles) in [("yes", templates.matched), ("no", templates.unmatched)] {
            samples.push(Sample {
                name: SITE_TEMPLATE_ARTICLES,
                labels: vec![("site", name), ("fits", fits)],
                value: articles as f64,
            });
        }
        for (figure, moment) in [
            (SITE_LAST, site.last_cycle_ms),
            (SITE_NEXT, site.next_cycle_ms),
        ] {
            samples.extend(moment.map(|ms| Sample {
                labels: vec![("site", name)],
                ..seconds(figure, ms)
            }));
        }
    }
}
