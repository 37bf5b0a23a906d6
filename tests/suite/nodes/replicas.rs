//! Nodes that only serve, killed again and again while another one crawls. Afterwards each of their indexes answers as one
//! that is made of the same documents at once: the same documents, groups of reprints and counts.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;
use taojin_crawl::store::Duties;

use super::cluster::{Cluster, Node, SERVES};
use crate::support::folder::{RunExt as _, assert_has};
use crate::support::lots::Lots;
use crate::support::postgres::server;
use crate::support::webhook::receiver;
use crate::support::{say, scaled, wait_until};

const REPLICAS: usize = 3;
/// Kills; short and long.
const KILLS: [u32; 2] = [4, 30];
/// Pages of the web.
const PAGES: [u32; 2] = [360, 2_400];
/// Everything is crawled by then.
const LONGEST: Duration = Duration::from_secs(540);
/// An index has caught up by then.
const CAUGHT_UP: Duration = Duration::from_secs(30);
/// Hits asked for at once.
const PAGE: usize = 100;
const QUERIES: [&[&str]; 5] = [
    &["--reprints", ""],
    &["--reprints", "储气库"],
    &["--reprints", "产量 数据"],
    &["--reprints", "水平井", "--sort", "date"],
    &["--reprints", "管道公司", "--match", "any"],
];

/// All that the index of a folder finds: how many, and each document with its group. The order of documents with almost the
/// same score is no part of it: it goes by how many replaced documents an index still has.
fn answers(cluster: &Cluster, dir: &Path) -> Vec<(u64, BTreeSet<String>)> {
    let page = |query: &[&str], offset: usize| -> Value {
        let (limit, offset) = (PAGE.to_string(), offset.to_string());
        let fixed = ["search", "--json", "--limit", &limit, "--offset", &offset];
        let mut search = cluster.trial.taojin(&fixed);
        let search = search.arg("--data-dir").arg(dir).args(query);
        search.ran().good().json()
    };
    let all = |query: &&[&str]| {
        let first = page(query, 0);
        let total = first["total"].as_u64().expect("a number");
        let more = (PAGE..).step_by(PAGE).take_while(|at| (*at as u64) < total);
        let pages: Vec<Value> = std::iter::once(first)
            .chain(more.map(|at| page(query, at)))
            .collect();
        let hits = pages
            .iter()
            .flat_map(|p| p["hits"].as_array().expect("hits"));
        let found = hits
            .map(|hit| format!("{} {}", hit["id"], hit["group"]))
            .collect();
        (total, found)
    };
    QUERIES.iter().map(all).collect()
}

#[test]
fn killed_replicas_equal_fresh_index() {
    let Some(server) = server("replicas of the index") else {
        return;
    };
    let kills = scaled(KILLS);
    let pages = scaled(PAGES);
    let mut cluster = Cluster::new(server.url(), pages, 12);
    let all = i64::try_from(cluster.trial.articles().len()).expect("few");
    let end = Instant::now() + LONGEST;
    cluster.start(None);
    cluster.wait_for_documents(1, end);
    let mut replicas: Vec<Node> = (0..REPLICAS)
        .map(|_| cluster.started_node(None, SERVES))
        .collect();
    let mut lots = Lots(9);
    for kill in 0..kills {
        cluster.wait_for_documents(all * i64::from(kill + 1) / i64::from(kills + 1), end);
        // A value that is dropped is a node that is killed.
        let dir = replicas.remove(lots.below(REPLICAS)).dir.clone();
        replicas.push(cluster.started_node(Some(dir), SERVES));
    }
    cluster.wait_for_documents(all, end);
    cluster.nodes.clear();

    let anew = cluster.trial.data_dir().with_file_name("anew");
    let mut reindex = cluster.trial.taojin(&["reindex", "--data-dir"]);
    let reindex = reindex.arg(&anew).env("TAOJIN_CLUSTER_CRAWL", "false");
    reindex.ran().good();
    let wanted = answers(&cluster, &anew);
    for (query, (total, found)) in QUERIES.iter().zip(&wanted) {
        assert!(*total > 0, "{query:?} finds nothing");
        assert_eq!(*total, found.len() as u64, "{query:?}");
    }
    assert!(wanted[0].0 >= u64::try_from(all).expect("few"));
    for replica in &replicas {
        wait_until("a replica has caught up", || {
            answers(&cluster, &replica.dir) == wanted
        });
    }
    say(&format!(
        "{REPLICAS} replicas, {kills} kills, {all} articles: the answers of an index made at once"
    ));
}

/// A node that only crawls has no index and no server. One that only serves has all documents, and tells of the hits.
#[test]
fn crawling_and_serving_nodes() {
    let Some(server) = server("nodes that only crawl") else {
        return;
    };
    let (hook, received) = receiver(|| 200);
    let follow =
        format!("[[follow]]\nname = \"storage\"\nquery = \"储气库\"\nwebhook = {hook:?}\n");
    let mut cluster = Cluster::with(server.url(), 48, 8, &follow);
    let all = i64::try_from(cluster.trial.articles().len()).expect("few");
    let crawling = cluster.started_node(
        None,
        Duties {
            crawls: true,
            serves: false,
        },
    );
    let dir = crawling.dir.clone();
    cluster.nodes.push(crawling);
    let end = Instant::now() + CAUGHT_UP;
    cluster.wait_for_documents(1, end);
    let serving = cluster.started_node(None, SERVES);
    cluster.wait_for_documents(all, end);
    let told = received
        .recv_timeout(CAUGHT_UP)
        .expect("the node that serves tells");
    assert!(told.body.contains("储气库"), "{}", told.body);
    wait_until("the node that serves has all", || {
        answers(&cluster, &serving.dir)[0].0 >= u64::try_from(all).expect("few")
    });
    let status = cluster.status();
    let duties = |n: usize| {
        let node = &status["nodes"][n];
        [&node["crawls"], &node["serves"], &node["leads"]].map(Value::as_bool)
    };
    assert_eq!(duties(0), [Some(true), Some(false), Some(false)]);
    assert_eq!(duties(1), [Some(false), Some(true), Some(true)]);
    for folder in ["index", "documents"] {
        assert!(!dir.join(folder).exists(), "{folder} on a node that crawls");
        assert!(serving.dir.join(folder).exists(), "{folder}");
    }
    assert!(cluster.logs().contains("only crawls"), "{}", cluster.logs());
    let there = |args: &[&str]| {
        let mut command = cluster.trial.taojin(args);
        command.arg("--data-dir").arg(&dir);
        command.env("TAOJIN_CLUSTER_SERVE", "false").ran()
    };
    let refused = there(&["search", "储气库"]);
    assert_ne!(refused.code, Some(0));
    assert_has(&refused.err, &["cluster.serve = false"]);
    let status = there(&["status", "--json"]).good().json();
    assert_eq!(status["activity"], "running");
    assert_eq!(
        (&status["documents"], &status["outbox_lag"]),
        (&all.into(), &0.into())
    );
}
