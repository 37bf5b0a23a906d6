//! Nodes that only serve, killed again and again while another one crawls. Afterwards each of their indexes answers as one
//! that is made of the same documents at once: the same documents, groups of reprints and counts.

use std::collections::BTreeSet;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::cluster::{Cluster, Node};
use crate::lots::Lots;
use crate::postgres::server;

const REPLICAS: usize = 3;
/// Kills; short and long.
const KILLS: [u32; 2] = [6, 30];
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
        let output = search.output().expect("taojin runs");
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice(&output.stdout).expect("JSON")
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
fn replicas_killed_at_random_answer_as_an_index_made_at_once() {
    let Some(server) = server("replicas of the index") else {
        return;
    };
    let kills = crate::scaled(KILLS);
    let pages = crate::scaled(PAGES);
    let mut cluster = Cluster::new(server.url(), pages, 12);
    let all = i64::try_from(cluster.trial.articles().len()).expect("few");
    let end = Instant::now() + LONGEST;
    cluster.start(None);
    cluster.wait_for_documents(1, end);
    let mut replicas: Vec<Node> = (0..REPLICAS)
        .map(|_| cluster.started_node(None, false))
        .collect();
    let mut lots = Lots(9);
    for kill in 0..kills {
        cluster.wait_for_documents(all * i64::from(kill + 1) / i64::from(kills + 1), end);
        // A value that is dropped is a node that is killed.
        let dir = replicas.remove(lots.below(REPLICAS)).dir.clone();
        replicas.push(cluster.started_node(Some(dir), false));
    }
    cluster.wait_for_documents(all, end);
    cluster.nodes.clear();

    let anew = cluster.trial.data_dir().with_file_name("anew");
    let mut reindex = cluster.trial.taojin(&["reindex", "--data-dir"]);
    let done = reindex.arg(&anew).env("TAOJIN_CLUSTER_CRAWL", "false");
    let done = done.output().expect("taojin runs");
    assert!(done.status.success(), "{done:?}");
    let wanted = answers(&cluster, &anew);
    for (query, (total, found)) in QUERIES.iter().zip(&wanted) {
        assert!(*total > 0, "{query:?} finds nothing");
        assert_eq!(*total, found.len() as u64, "{query:?}");
    }
    assert!(wanted[0].0 >= u64::try_from(all).expect("few"));
    for replica in &replicas {
        let end = Instant::now() + CAUGHT_UP;
        loop {
            let found = answers(&cluster, &replica.dir);
            if found == wanted {
                break;
            }
            let dir = replica.dir.display();
            assert!(Instant::now() < end, "{dir}: {found:?}\n{wanted:?}");
            thread::sleep(Duration::from_millis(500));
        }
    }
    crate::say(&format!(
        "{REPLICAS} replicas, {kills} kills, {all} articles: the answers of an index made at once"
    ));
}
