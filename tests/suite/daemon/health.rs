//! Whether the daemon tells the truth of itself: workers that do not get on are named, figures agree with the status, what
//! cannot run is refused at the start.

use std::fs;
use std::net::TcpListener;
use std::process::Command;

use serde_json::Value;

use crate::support::daemon::Daemon;
use crate::support::folder::{Folder, RunExt as _};
use crate::support::world::{FAST, Home, Web};
use crate::support::{PATIENCE, ROOT, poll, say};

/// An index of another format: systemd is asked for time while its files are checked, and
/// readers are answered while a new one is made.
#[test]
fn start_rebuilds_foreign_index() {
    let web = Web::start(20);
    let home = Home::new(&web, FAST);
    home.done(&["crawl"]);
    let before = home.indexed().len() as u64;
    let ours = format!("\\\"format\\\":{}", taojin_search::index::FORMAT);
    home.replace("data/index/meta.json", &ours, "\\\"format\\\":0");
    let daemon = Daemon::starting_under_systemd(&home);
    // For each file, and before the start is over: a large index takes longer than the unit allows.
    daemon.wait_for_notice("EXTEND_TIMEOUT_USEC=60000000");
    daemon.wait_for_notice("READY=1");
    daemon.wait_for_documents(before);
    assert_eq!(daemon.get("/healthz").0, 200);
    assert_eq!(daemon.stop(), Some(0));
}

/// An index that cannot be written any more is named at once, with the reason, and is healed when it can be.
#[test]
fn status_names_failing_indexer() {
    let web = Web::start(20);
    let home = Home::new(&web, FAST);
    let sites = home.take_sites();
    let daemon = Daemon::under_systemd(&home);
    let worker = |status: &Value, name: &str| {
        let workers = status["workers"].as_array().cloned().unwrap_or_default();
        let worker = workers.into_iter().find(|w| w["name"] == name);
        worker.unwrap_or_default()
    };
    daemon.wait_for_status("all get on", |status| {
        let all = ["crawl loop", "fetching", "indexer", "server"];
        all.iter().all(|name| worker(status, name)["alive"] == true)
    });
    // What is committed next finds no folder to write to.
    let index = home.data_dir().join("index");
    fs::remove_dir_all(&index).expect("removed");
    fs::write(&index, "in the way").expect("written");
    for (name, text) in &sites {
        home.write(name, text);
    }
    daemon.signal("-HUP");
    daemon.wait_for_status("the indexer is named", |status| {
        let note = status["note"].as_str().unwrap_or_default();
        note.starts_with("indexer: ") && worker(status, "indexer")["problem"].is_string()
    });
    daemon.wait_for_notice("STATUS=indexer: ");
    fs::remove_file(&index).expect("removed");
    daemon.wait_for_documents(20);
    daemon.wait_for_status("it is over", |status| {
        status["note"] == "" && worker(status, "indexer")["problem"].is_null()
    });
    assert_eq!(daemon.stop(), Some(0));
}

/// What the unit promises and the program must keep: a mistake in the configuration ends with the one code after which
/// systemd does not start the service again, and nothing that runs before the program can fail instead of it.
#[test]
fn systemd_unit_prevents_restart() {
    let unit = fs::read_to_string(std::path::Path::new(ROOT).join("systemd/taojin.service"));
    let unit = unit.expect("the unit");
    let value = |key: &str| {
        let mut lines = unit
            .lines()
            .filter_map(|l| l.strip_prefix(key)?.strip_prefix('='));
        lines.next().map(str::to_owned)
    };
    assert_eq!(
        value("ExecStartPre"),
        None,
        "its exit code prevents no restart"
    );
    for limit in ["MemoryMax", "TasksMax"] {
        assert!(value(limit).is_some_and(|v| v != "infinity"), "{limit}");
    }
    let folder = Folder::new("[frontier]\nmax_dellay_ms = 1\n", &[]);
    let code = folder.run(&["run"]).code.expect("an exit code");
    assert_eq!(value("RestartPreventExitStatus"), Some(code.to_string()));
    let mut analyze = Command::new("systemd-analyze");
    if analyze.arg("--version").output().is_err() {
        say("the unit was not checked by systemd-analyze, which is not installed");
        return;
    }
    let unit = unit.replace("/usr/bin/taojin", env!("CARGO_BIN_EXE_taojin"));
    folder.write("taojin.service", unit);
    let mut analyze = Command::new("systemd-analyze");
    let said = analyze
        .args(["verify", &folder.arg("taojin.service")])
        .ran()
        .err;
    assert!(!said.contains("taojin.service"), "{said}");
}

/// The value of a figure.
pub(super) fn figure(metrics: &str, name: &str) -> Option<f64> {
    let mut lines = metrics.lines();
    let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    value?.parse().ok()
}

/// Every figure that docs/monitoring.md names has a value beside a daemon that crawls. That it says what the status says is
/// tested where it is made.
#[test]
fn metrics_have_documented_values() {
    let web = Web::start(20);
    let home = Home::new(&web, FAST);
    home.configure("[[follow]]\nname = \"x\"\nquery = \"的\"\nwebhook = \"http://127.0.0.1:9/\"\n");
    let daemon = Daemon::start(&home);
    daemon.wait_for_documents(20);
    daemon.wait_for_status("the topic is followed", |status| {
        status["follows"].as_array().is_some_and(|f| f.len() == 1)
    });
    // A figure may be five seconds old.
    let mut missing = Vec::new();
    let found = poll(PATIENCE, || {
        let (_, metrics) = daemon.get("/metrics");
        missing = without_value(&metrics, |name| !is_elsewhere(name));
        let positive = ["documents", "outlinks", "fetch_bytes"];
        let value = |name| figure(&metrics, &format!("taojin_{name}_total"));
        let counted = positive.into_iter().all(|name| value(name) > Some(0.0));
        (missing.is_empty() && counted).then_some(())
    });
    assert!(found.is_some(), "no value, or {missing:?} have none");
    assert_eq!(daemon.stop(), Some(0));
}

/// Whether a figure is there only where several nodes may share the store.
fn is_of_nodes(name: &str) -> bool {
    name.starts_with("taojin_node_") || name.starts_with("taojin_inbox_")
}

/// Whether a figure is not there where store and index are in a folder.
fn is_elsewhere(name: &str) -> bool {
    is_of_nodes(name) || name.starts_with("taojin_engine_")
}

/// Figures in docs/monitoring.md that these have no value of.
fn without_value(metrics: &str, wanted: fn(&str) -> bool) -> Vec<&'static str> {
    let documented = include_str!("../../../docs/monitoring.md");
    let names = documented
        .split('`')
        .filter(|name| name.starts_with("taojin_") && !name.contains(' '));
    let names: Vec<&str> = names
        .filter_map(|name| name.split('{').next())
        .filter(|name| wanted(name))
        .collect();
    assert!(names.len() >= 4, "{names:?}");
    let has_value = |name: &&str| {
        metrics.lines().any(|line| {
            let rest = line.strip_prefix(name).unwrap_or_default();
            rest.starts_with(['{', ' '])
                || rest.starts_with("_count ")
                || rest.starts_with("_bucket{")
        })
    };
    names.into_iter().filter(|name| !has_value(name)).collect()
}

#[test]
fn metrics_of_nodes_on_postgres() {
    let Some(server) = crate::support::postgres::server("figures of nodes") else {
        return;
    };
    let web = Web::start(20);
    let home = Home::new(&web, FAST);
    home.configure(&format!("[store]\nurl = {:?}\n", server.url()));
    let daemon = Daemon::start(&home);
    daemon.wait_for_documents(20);
    let mut missing = Vec::new();
    let found = poll(PATIENCE, || {
        missing = without_value(&daemon.get("/metrics").1, is_of_nodes);
        missing.is_empty().then_some(())
    });
    assert!(found.is_some(), "{missing:?} have no value");
    assert_eq!(daemon.stop(), Some(0));
}

/// What is being visited is counted while it is.
#[test]
fn status_counts_page_in_flight() {
    let web = Web::start(20);
    let home = Home::new(&web, FAST);
    home.take_sites();
    let silent = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = silent.local_addr().expect("its address").port();
    let site = format!("seeds = [\"http://127.0.0.1:{port}/\"]\n");
    home.write("sites.d/silent.toml", site);
    let daemon = Daemon::start(&home);
    daemon.wait_for_status("it is in flight", |status| status["urls"]["in_flight"] == 1);
    assert_eq!(daemon.stop(), Some(0));
}
