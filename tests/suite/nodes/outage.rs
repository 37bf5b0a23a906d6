//! The database of a cluster goes away. A node answers searches from what it has on its own disk, says so, goes on by itself when the
//! database is back, starts without it, and stops when it is told to.

use std::fs;
use std::time::Instant;

use serde_json::Value;

use super::cluster::Cluster;
use crate::support::folder::assert_has;
use crate::support::http::get;
use crate::support::postgres::server;
use crate::support::{PATIENCE, poll, say};

/// A word of many articles.
const QUERY: &str = "/api/search?q=%E5%82%A8%E6%B0%94%E5%BA%93";

/// Waits for something of the cluster; its log tells what happened instead.
fn wait_for<T>(cluster: &Cluster, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    poll(PATIENCE, &mut look).unwrap_or_else(|| panic!("{what}:\n{}", cluster.logs()))
}

/// The port that the first node listened on last.
fn port(cluster: &Cluster) -> u16 {
    wait_for(cluster, "no server", || {
        let log = fs::read_to_string(cluster.nodes[0].dir.join("stderr")).ok()?;
        let (_, address) = log.rsplit_once("web page: http://127.0.0.1:")?;
        address.split('/').next()?.parse().ok()
    })
}

fn wait_until_ready(cluster: &Cluster, wanted: &str) {
    wait_for(cluster, wanted, || {
        let (status, text) = get(port(cluster), "/readyz")?;
        (status == 200 && text.starts_with(wanted)).then_some(())
    });
}

fn search(cluster: &Cluster) -> Value {
    let (status, text) = get(port(cluster), QUERY).expect("an answer");
    assert_eq!(status, 200, "{text}");
    serde_json::from_str(&text).expect("JSON")
}

/// All that a reader asks for is answered as it was with the database, and says that it may not be all.
fn assert_serves(cluster: &Cluster, before: &Value) {
    let answer = search(cluster);
    assert_has(&answer["degraded"].to_string(), &["store.url"]);
    assert_eq!(answer["total"], before["total"]);
    assert_eq!(answer["hits"], before["hits"], "with their snippets");
    let id = before["hits"][0]["id"].as_str().expect("an id");
    let port = port(cluster);
    for target in [
        format!("/api/docs/{id}"),
        format!("/doc/{id}"),
        format!("/doc/{id}/versions"),
        "/feed.atom".to_owned(),
        "/api/changes?since=0".to_owned(),
        "/healthz".to_owned(),
    ] {
        let (status, text) = get(port, &target).expect("an answer");
        assert_eq!(status, 200, "{target}: {text}");
    }
    let (_, home) = get(port, "/?lang=en").expect("an answer");
    assert_has(&home, &["The database does not answer"]);
    let (status, text) = get(port, "/api/status").expect("an answer");
    let told: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(status, 200);
    assert_has(&told["note"].to_string(), &["cannot be reached"]);
}

fn stop(cluster: &mut Cluster) {
    let begun = Instant::now();
    cluster.nodes[0].signal("-TERM");
    cluster.wait_for("it does not stop", PATIENCE, |c| c.nodes[0].has_ended());
    say(&format!("stopped after {:?}", begun.elapsed()));
}

#[test]
fn node_serves_without_database() {
    let Some(mut server) = server("a database that goes away") else {
        return;
    };
    let mut cluster = Cluster::new(server.url(), 48, 8);
    let all = i64::try_from(cluster.trial.articles().len()).expect("few");
    cluster.start(None);
    cluster.wait_for_documents(all, Instant::now() + PATIENCE);
    wait_until_ready(&cluster, "ok");
    let before = wait_for(&cluster, "no hits", || {
        let (_, text) = get(port(&cluster), "/api/status")?;
        let status: Value = serde_json::from_str(&text).ok()?;
        (status["outbox_lag"] == 0).then(|| search(&cluster))
    });
    assert!(
        before["total"].as_u64() > Some(0) && before["degraded"].is_null(),
        "{before}"
    );

    // It answers nothing although connections are taken: nobody may wait for it.
    server.signal("-STOP");
    wait_until_ready(&cluster, "degraded");
    assert_serves(&cluster, &before);
    server.signal("-CONT");
    wait_until_ready(&cluster, "ok");

    server.stop();
    wait_until_ready(&cluster, "degraded");
    assert_serves(&cluster, &before);
    // Longer than the lease.
    let says = |text| {
        wait_for(&cluster, text, || {
            cluster.logs().contains(text).then_some(())
        })
    };
    says("the crawl waits for the database");
    assert_serves(&cluster, &before);
    server.start();
    wait_until_ready(&cluster, "ok");
    says("the database answers again");
    cluster.wait_for_shares(|shares| shares == [256], PATIENCE);
    assert!(!cluster.nodes[0].has_ended(), "{}", cluster.logs());

    // It stops without the database, and starts without it.
    server.signal("-STOP");
    stop(&mut cluster);
    server.signal("-CONT");
    server.stop();
    assert_eq!(cluster.restart_ended(), 1);
    wait_until_ready(&cluster, "degraded");
    assert_serves(&cluster, &before);
    stop(&mut cluster);
    assert_eq!(cluster.restart_ended(), 1);
    wait_until_ready(&cluster, "degraded");
    server.start();
    wait_until_ready(&cluster, "ok");
    cluster.wait_for_shares(|shares| shares == [256], PATIENCE);
    assert!(search(&cluster)["degraded"].is_null());
}
