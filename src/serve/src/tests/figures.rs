//! What `/metrics` says: every figure described, every description with its figure, and nothing read too often.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicUsize;

use super::super::metrics;
use super::*;

/// A state in which every figure has a value.
fn full() -> Status {
    Status {
        started_ms: 1_790_000_000_500,
        activity: Activity::Paused,
        index: IndexStatus {
            outbox_lag: 9,
            index_lag_ms: 2_500,
            state: IndexState::Blocked,
            since_ms: Some(1_790_000_000_000),
            trouble: Some("it is blocked".to_owned()),
            engine_hosts: vec![
                EngineHostStatus {
                    address: "http://search1:9200".to_owned(),
                    is_up: true,
                    since_ms: 1_790_000_000_000,
                },
                EngineHostStatus {
                    address: "http://search2:9200".to_owned(),
                    ..EngineHostStatus::default()
                },
            ],
        },
        cluster: Some(ClusterStatus {
            nodes: vec![NodeStatus {
                host: "crawl1".to_owned(),
                partitions: 128,
                lease_ms: 12_000,
                ..NodeStatus::default()
            }],
            waiting_addresses: 3,
            oldest_waiting_ms: Some(1_790_000_000_000),
        }),
        workers: vec![WorkerStatus {
            name: "indexer".to_owned(),
            alive: true,
            idle_ms: 1_500,
            problem: None,
        }],
        urls: UrlCounts {
            fetched: 7,
            gone: 2,
            ..UrlCounts::default()
        },
        host_counts: HostCounts {
            open: 3,
            parked: 1,
            ..HostCounts::default()
        },
        seen_filter: Some(SeenFilter {
            addresses: 1_000,
            false_positives: 1,
            error_ratio: 0.001,
        }),
        disk: DiskUse {
            free_bytes: 12_345_678_901_234,
            ..DiskUse::default()
        },
        sites: vec![SiteStatus {
            name: "a\"b\\c\nd".to_owned(),
            documents: 25,
            last_cycle_ms: Some(1_790_000_001_000),
            next_cycle_ms: Some(1_790_000_002_000),
            ..SiteStatus::default()
        }],
        follows: vec![FollowStatus {
            name: "deep-sea".to_owned(),
            waiting: 4,
            ..FollowStatus::default()
        }],
        ..Status::default()
    }
}

fn counting(status: impl Fn() -> Result<Status, String> + Send + Sync + 'static) -> Router {
    let recorder = metrics::builder().unwrap().build_recorder();
    ::metrics::with_local_recorder(&recorder, metrics::describe);
    router(ServeState {
        metrics: recorder.handle(),
        status: Arc::new(status),
        ..state(Config::default())
    })
}

async fn scrape(app: &Router) -> String {
    let request = get_request("/metrics", &[]);
    let answer = ask(app, request).await;
    assert_eq!(answer.status, StatusCode::OK);
    answer.body
}

/// Types by name, and the names of all samples without the suffixes of histograms.
fn read(text: &str) -> (BTreeMap<&str, &str>, BTreeSet<String>) {
    let (mut kinds, mut helped, mut sampled) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
    for line in text.lines().filter(|line| !line.is_empty()) {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, help) = rest.split_once(' ').expect(line);
            assert!(!help.is_empty() && helped.insert(name), "{line}");
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').expect(line);
            assert_eq!(kinds.insert(name, kind), None, "{line}");
        } else {
            let name = line.split(['{', ' ']).next().expect(line);
            let (_, value) = line.rsplit_once(' ').expect(line);
            assert!(value.parse::<f64>().is_ok(), "{line}");
            sampled.insert(name.to_owned());
        }
    }
    assert_eq!(helped, kinds.keys().copied().collect());
    let whole = |name: String| {
        let parts = ["_bucket", "_sum", "_count"].iter();
        let mut parts = parts.filter_map(|part| name.strip_suffix(part));
        let histogram = parts.find(|base| kinds.get(base) == Some(&"histogram"));
        histogram.map_or(name.clone(), str::to_owned)
    };
    let sampled = sampled.into_iter().map(whole).collect();
    (kinds, sampled)
}

#[tokio::test]
async fn metrics_all_described() {
    let text = scrape(&counting(|| Ok(full()))).await;
    let (kinds, sampled) = read(&text);
    for (name, kind) in &kinds {
        assert!(sampled.contains(*name), "{name} has no value:\n{text}");
        assert_eq!(
            name.ends_with("_total"),
            *kind == "counter",
            "{name} is a {kind}"
        );
        let ours = name.starts_with("taojin_") || *name == "process_start_time_seconds";
        let letters = name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
        assert!(ours && letters, "{name}");
    }
    for name in &sampled {
        assert!(kinds.contains_key(name.as_str()), "{name} is not described");
    }
    let documented = include_str!("../../../../docs/monitoring.md");
    let quoted = documented
        .split('`')
        .filter_map(|word| word.split('{').next());
    let names: BTreeSet<&str> = quoted.filter(|name| name.starts_with("taojin_")).collect();
    assert!(names.len() > 30, "{names:?}");
    for name in names {
        assert!(kinds.contains_key(name), "{name} is missing");
    }
    for name in kinds.keys() {
        let braced = |end: char| documented.contains(&format!("`{name}{end}"));
        assert!(
            braced('`') || braced('{'),
            "{name} is not in docs/monitoring.md"
        );
    }
}

/// A renamed figure would make an alert fall silent, and a panel empty.
#[tokio::test]
async fn alerts_use_known_metrics() {
    let text = scrape(&counting(|| Ok(full()))).await;
    let (kinds, _) = read(&text);
    let rules = include_str!("../../../../packaging/monitoring/alerts.yml");
    let panels = include_str!("../../../../packaging/monitoring/dashboard.json");
    let is_name = |c: char| c.is_ascii_lowercase() || c == '_' || c == ':';
    let words = [rules, panels].into_iter();
    let words = words.flat_map(|text| text.split(|c: char| !is_name(c)));
    let asked: BTreeSet<&str> = words.filter(|word| word.starts_with("taojin_")).collect();
    assert!(asked.len() > 20, "{asked:?}");
    for name in asked {
        let histogram = name.strip_suffix("_bucket");
        let known = kinds.contains_key(name)
            || histogram.is_some_and(|base| kinds.get(base) == Some(&"histogram"));
        assert!(known, "{name} is asked for and not exported");
    }
    for guide in [
        include_str!("../../../../docs/operations.md"),
        include_str!("../../../../docs/operations.zh-CN.md"),
    ] {
        for alert in rules
            .lines()
            .filter_map(|l| l.trim().strip_prefix("- alert: "))
        {
            assert!(
                guide.contains(&format!("`{alert}`")),
                "{alert} is not explained"
            );
        }
    }
}

#[tokio::test]
async fn metrics_match_status() {
    let text = scrape(&counting(|| Ok(full()))).await;
    let version = env!("CARGO_PKG_VERSION");
    for line in [
        &format!("taojin_build_info{{version=\"{version}\"}} 1"),
        "process_start_time_seconds 1790000000.5",
        "taojin_status_up 1",
        "taojin_activity{activity=\"paused\"} 1",
        "taojin_activity{activity=\"running\"} 0",
        "taojin_index_documents 25",
        "taojin_outbox_lag 9",
        "taojin_index_state{state=\"blocked\"} 1",
        "taojin_index_state{state=\"ready\"} 0",
        "taojin_engine_up{host=\"http://search1:9200\"} 1",
        "taojin_engine_up{host=\"http://search2:9200\"} 0",
        "taojin_index_lag_seconds 2.5",
        "taojin_worker_idle_seconds{worker=\"indexer\"} 1.5",
        "taojin_worker_up{worker=\"indexer\"} 1",
        "taojin_index_left_out_documents 0",
        "taojin_urls{state=\"fetched\"} 7",
        "taojin_urls{state=\"waiting\"} 0",
        "taojin_hosts{state=\"open\"} 3",
        "taojin_disk_free_bytes 12345678901234",
        "taojin_sites 1",
        "taojin_site_documents{site=\"a\\\"b\\\\c\\nd\"} 25",
        "taojin_site_last_cycle_timestamp_seconds{site=\"a\\\"b\\\\c\\nd\"} 1790000001",
        "taojin_site_verdict{site=\"a\\\"b\\\\c\\nd\",level=\"ok\"} 0",
        "taojin_site_verdict{site=\"a\\\"b\\\\c\\nd\",level=\"waiting\"} 1",
        "taojin_webhook_waiting_hits{follow=\"deep-sea\"} 4",
        "taojin_bloom_false_positives_total 1",
        "taojin_bloom_error_ratio 0.001",
        "taojin_searches_total{outcome=\"refused\"} 0",
    ] {
        assert!(text.lines().any(|l| l == line), "{line} in\n{text}");
    }
}

/// A state that cannot be read is no reason to show nothing, and no reason to show zeros.
#[tokio::test]
async fn metrics_report_unreadable_state() {
    let app = counting(|| Err("/secret is gone".to_owned()));
    let text = scrape(&app).await;
    let has = |line: &str| text.lines().any(|l| l == line);
    assert!(
        has("taojin_status_up 0") && has("taojin_index_documents 25"),
        "{text}"
    );
    assert!(
        !text.contains("taojin_urls") && !text.contains("secret"),
        "{text}"
    );
    read(&text);
}

#[tokio::test]
async fn metrics_cache_state() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let app = counting(move || {
        count.fetch_add(1, Ordering::Relaxed);
        Ok(full())
    });
    for _ in 0..3 {
        assert!(scrape(&app).await.contains("\ntaojin_outbox_lag 9\n"));
    }
    assert_eq!(asked.load(Ordering::Relaxed), 1);
}

/// Liveness asks nothing of the index: it is answered while every search hangs.
#[tokio::test]
async fn health_without_search() {
    let (app, held) = held_app();
    let slow = || get_request("/api/search?q=slow", &[]);
    for _ in 0..2 {
        ask(&app, slow()).await.problem(503);
    }
    let at = |path: &str| get_request(path, &[]);
    assert_eq!(ask(&app, at("/healthz")).await.body, "ok\n");
    ask(&app, at("/readyz")).await.problem(503);
    held.store(false, Ordering::Relaxed);
}

/// A balancer is to ask another server while this one makes its index.
#[tokio::test]
async fn readiness_needs_recent_index() {
    let ready = |lag_ms: u64, max_lag_ms: u64| async move {
        let config = Config {
            max_lag_ms,
            ..Config::default()
        };
        let app = router(ServeState {
            status: Arc::new(move || {
                Ok(Status {
                    index: IndexStatus {
                        index_lag_ms: lag_ms,
                        ..IndexStatus::default()
                    },
                    ..Status::default()
                })
            }),
            ..state(config)
        });
        ask(&app, get_request("/readyz", &[])).await
    };
    assert_eq!(ready(60_000, 60_000).await.body, "ok\n");
    assert_eq!(ready(u64::MAX, 0).await.body, "ok\n");
    let behind = ready(61_000, 60_000).await.problem(503);
    assert!(
        behind.contains("61 s behind") && behind.contains("serve.max_lag_ms"),
        "{behind:?}"
    );
}

/// One that does not get on is named to whoever asks whether the process is alive; why is the operator's business.
#[tokio::test]
async fn health_names_stuck_worker() {
    let app = router(ServeState {
        health: Arc::new(|| vec!["indexer"]),
        ..state(Config::default())
    });
    let answer = ask(&app, get_request("/healthz", &[])).await;
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(answer.body, "stuck: indexer\n");
}

#[tokio::test]
async fn pages_do_not_await_count() {
    let held = Arc::new(AtomicBool::new(true));
    let source = Arc::new(Fake {
        held: Arc::clone(&held),
        is_remote: true,
    });
    let app = router(ServeState {
        source,
        ..state(Config::default())
    });
    let page = async || {
        let request = get_request("/help?lang=en", &[]);
        ask(&app, request).await.body
    };
    let counted = "25 documents indexed";
    assert!(!page().await.contains(counted), "it hangs");
    assert!(!page().await.contains(counted), "and nothing waits for it");
    held.store(false, Ordering::Relaxed);
    // Known as soon as it has answered.
    while !page().await.contains(counted) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
