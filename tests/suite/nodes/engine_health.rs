//! A daemon whose engine hangs, is away or takes nothing in: it starts, crawls, says so everywhere once, and stops in time.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use taojin_demo::trial::TrialPlan;

use super::gate::{Act, Gate};
use crate::support::daemon::{Daemon, LISTEN};
use crate::support::folder::assert_has;
use crate::support::http::Reply;
use crate::support::opensearch::Engine;
use crate::support::trial::Trial;
use crate::support::wait_until;

/// From the signal to the end, whatever hangs: ten seconds are promised, and a machine under load has some more.
const STOP: Duration = Duration::from_secs(20);

/// Some articles, whose index is behind this gate.
fn web(gate: &Gate, index: &str) -> Trial {
    let plan = TrialPlan {
        seed: 5,
        hosts: 2,
        articles: 12,
        ..TrialPlan::default()
    };
    let more = format!(
        "{LISTEN}[search]\nengine = \"opensearch\"\nurl = {:?}\nindex = {index:?}\nreplicas = 0\n",
        gate.url()
    );
    let frontier = "min_delay_ms = 100\nmax_delay_ms = 100\njitter = 0.0";
    Trial::new(plan, frontier, &more)
}

/// What an engine answers whose disks are nearly full.
fn full_disks() -> Act {
    let reason = "index [x] blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark, index has \
                  read-only-allow-delete block];";
    let cause = json!({"type": "cluster_block_exception", "reason": reason});
    let answer = json!({"error": {"root_cause": [cause]}, "status": 429});
    Act::Answer(Reply::refusal(429, &answer.to_string()))
}

fn stop_in_time(daemon: Daemon) {
    let began = Instant::now();
    assert_eq!(daemon.stop(), Some(0));
    let took = began.elapsed();
    assert!(took < STOP, "{took:?}");
}

#[test]
fn daemon_starts_and_stops_beside_hanging_engine() {
    // What is behind it does not matter.
    let gate = Gate::new(1);
    for hang in [|| Act::Hang, || Act::Drip] {
        gate.set(move |_| hang());
        let trial = web(&gate, "hanging");
        let began = Instant::now();
        let daemon = Daemon::under_systemd(&trial);
        let took = began.elapsed();
        assert!(took < Duration::from_secs(20), "ready after {took:?}");
        // The crawl goes on.
        let articles = trial.articles().len() as u64;
        daemon.wait_for_status("the crawl", |status| {
            status["urls"]["fetched"].as_u64() >= Some(articles)
        });
        assert_eq!(daemon.status()["index_state"], "unreachable");
        assert_eq!(daemon.get("/healthz").0, 200, "a restart would not help");
        stop_in_time(daemon);
    }
}

#[test]
fn engine_that_takes_nothing_in_is_said_once_and_everywhere() {
    let test = "engine_that_takes_nothing_in_is_said_once_and_everywhere";
    let Some(engine) = Engine::start(test, 1) else {
        return;
    };
    let gate = Gate::new(engine.port(0));
    let trial = web(&gate, "health");
    gate.set(|request| {
        if request.path.contains("_bulk") {
            full_disks()
        } else {
            Act::Pass
        }
    });
    let daemon = Daemon::under_systemd(&trial);
    let articles = trial.articles().len() as u64;
    // More than the 4,096 changes at which it once stood still would take long to fetch: that it does not look at their number is
    // seen in the code. Here it goes on while none of them can be indexed.
    daemon.wait_for_status("the crawl", |status| {
        let is_blocked = status["index_state"] == "blocked";
        is_blocked && status["urls"]["fetched"].as_u64() >= Some(articles)
    });
    let status = daemon.status();
    let waiting = status["outbox_lag"].as_u64().expect("a number");
    assert!(waiting >= articles, "{status}");
    assert!(status["index_since_ms"].as_i64() > Some(0), "{status}");
    let said = [
        &format!("{waiting} changes wait for the search index: "),
        "disks are nearly full",
    ];
    assert_has(status["note"].as_str().expect("a note"), &said);
    assert_has(&trial.done(&["status"]), &said);
    let host = format!("taojin_engine_up{{host=\"{}\"}} ", gate.url());
    let metrics = daemon.get("/metrics").1;
    let lines = [
        &format!("{host}1"),
        "taojin_index_state{state=\"blocked\"} 1",
        "taojin_index_state{state=\"ready\"} 0",
    ];
    assert_has(&metrics, &lines);

    // The next cause is another line, however often it is tried.
    gate.set(|_| Act::Lose);
    daemon.wait_for_status("it is away", |status| {
        status["index_state"] == "unreachable"
    });
    wait_until("the host is down in the metrics", || {
        daemon.get("/metrics").1.contains(&format!("{host}0"))
    });
    gate.set(|_| Act::Pass);
    daemon.wait_for_status("all is indexed", |status| {
        status["index_state"] == "ready" && status["outbox_lag"] == 0
    });
    let status = daemon.status();
    assert_eq!(status.get("index_trouble"), None);
    assert!(status["disk"]["index_bytes"].as_u64() > Some(0), "{status}");
    assert_eq!(daemon.get("/readyz").0, 200);
    let log = trial.read("daemon.log");
    let count = |part: &str| log.lines().filter(|line| line.contains(part)).count();
    let refused = count("the search index cannot be written");
    assert!((2..=3).contains(&refused), "{log}");
    assert_eq!(count("state=\"blocked\""), 1, "{log}");
    assert!((1..=2).contains(&count("is written again")), "{log}");
    stop_in_time(daemon);
}

/// One node cannot hold two copies of a part.
#[test]
fn missing_copies_are_said() {
    let Some(engine) = Engine::start("missing_copies_are_said", 1) else {
        return;
    };
    let gate = Gate::new(engine.port(0));
    let trial = web(&gate, "copies");
    trial.replace("taojin.toml", "replicas = 0", "replicas = 1");
    let daemon = Daemon::start(&trial);
    daemon.wait_for_status("it lacks copies", |status| {
        status["index_state"] == "yellow"
    });
    assert_eq!(daemon.get("/readyz").0, 200, "nothing is missing");
    assert_has(&trial.done(&["status"]), &["the search index lacks copies"]);

    // What an engine answers that runs no scripts.
    gate.set(|request| {
        let reason = "cannot execute [inline] scripts";
        let cause = json!({"type": "illegal_argument_exception", "reason": reason});
        let answer = json!({"error": {"root_cause": [cause]}, "status": 400}).to_string();
        let is_script = request.body.contains("script_score");
        is_script.then(|| Reply::refusal(400, &answer))
    });
    let refused = trial.run(&["search", "--sort", "both", "公告"]);
    assert_ne!(refused.code, Some(0), "{refused:?}");
    assert_has(
        &refused.err,
        &["sort=both needs scripts in Painless", "sort=date"],
    );
    trial.done(&["search", "--sort", "date", "公告"]);
}

/// Exit code 3: everything was done, and what waits is said.
#[test]
fn crawl_without_its_engine_says_what_waits() {
    let gate = Gate::new(1);
    gate.set(|_| Act::Lose);
    let trial = web(&gate, "away");
    let articles = trial.articles().len();
    let ran = trial.run(&["crawl", "--json"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    let summary: Value = ran.json();
    assert!(
        summary["index_waiting"].as_u64() >= Some(articles as u64),
        "{summary}"
    );
    let parts = ["wait in the store for the search index", "search.url"];
    assert_has(&ran.err, &parts);

    // Whoever reaches it takes them in.
    let Some(engine) = Engine::start("crawl_without_its_engine_says_what_waits", 1) else {
        return;
    };
    let gate = Gate::new(engine.port(0));
    let port = |url: &str| url.rsplit(':').next().expect("a port").to_owned();
    let config = trial.read("taojin.toml");
    let old = config
        .split("url = \"http://127.0.0.1:")
        .nth(1)
        .expect("an address");
    let old = old.split('"').next().expect("its port").to_owned();
    trial.replace(
        "taojin.toml",
        &format!("url = \"http://127.0.0.1:{old}\""),
        &format!("url = \"http://127.0.0.1:{}\"", port(&gate.url())),
    );
    trial.done(&["crawl", "--site", "trial"]);
    let found = trial.json(&["search", "--json", "--reprints", ""]);
    assert_eq!(found["total"].as_u64(), Some(articles as u64), "{found}");
}
