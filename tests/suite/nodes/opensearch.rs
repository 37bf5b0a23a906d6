//! The search index in OpenSearch: the same answers as from the embedded index, documents that wait while it is away, and
//! another node that goes on where the one that wrote it was lost.
//!
//! `TAOJIN_LONG=1 cargo test -p taojin --test suite engine_loses_machines` stops one of three machines of the engine, and then all.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Value, json};
use taojin_demo::trial::TrialPlan;

use super::cluster::{Cluster, assert_polite, is_even};
use crate::support::daemon::Daemon;
use crate::support::folder::{Ran, RunExt as _, assert_has, taojin_in, text};
use crate::support::http::{free_port, get};
use crate::support::opensearch::Engine;
use crate::support::postgres::server;
use crate::support::trial::Trial;
use crate::support::{is_long, poll, say};

/// Scores may differ by that much: a field that a document lacks counts as one term in the engine, and few titles have single
/// characters that are words.
const SCORE: f64 = 0.1;

/// A crawl and its index are done by then.
const LONGEST: Duration = Duration::from_secs(240);

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let found = poll(LONGEST, || is_so().then_some(()));
    assert!(found.is_some(), "{what}: not within {LONGEST:?}");
}

/// The demo's documents, with an index in either place.
struct Demo {
    dir: tempfile::TempDir,
    data: PathBuf,
    url: String,
    lexicons: String,
}

impl Demo {
    fn new(engine: &Engine) -> Self {
        let dir = tempfile::tempdir().expect("temporary directory");
        let mut demo = taojin_in(dir.path());
        demo.args(["demo", "--once"]).env("TMPDIR", dir.path());
        demo.ran().good();
        let mut folders = fs::read_dir(dir.path()).expect("a folder").flatten();
        let data = folders.next().expect("the demo's data").path();
        Self {
            dir,
            data,
            url: engine.urls().remove(0),
            lexicons: "[\"oil-gas\"]".to_owned(),
        }
    }

    fn command(&self, engine: &str, args: &[&str]) -> Command {
        let mut command = taojin_in(self.dir.path());
        command
            .arg("--config")
            .arg(self.data.join("demo.toml"))
            .args(args)
            .env("TAOJIN_SEARCH_ENGINE", engine)
            .env("TAOJIN_SEARCH_URL", &self.url)
            .env("TAOJIN_ANALYZE_LEXICONS", &self.lexicons);
        command
    }

    fn run(&self, engine: &str, args: &[&str]) -> Ran {
        self.command(engine, args).ran()
    }

    fn said(&self, engine: &str, args: &[&str]) -> String {
        self.run(engine, args).good().out
    }

    /// A server over this index.
    fn serving(&self, engine: &str) -> Daemon {
        let port = free_port();
        let listen = format!("127.0.0.1:{port}");
        let process = self
            .command(engine, &["serve", "--listen", &listen])
            .started();
        wait_until("the server answers", || get(port, "/healthz").is_some());
        Daemon::of(process, port)
    }

    fn answer(&self, engine: &str, args: &[&str]) -> Value {
        let args = [&["search", "--json"], args].concat();
        self.run(engine, &args).good().json()
    }
}

const QUERIES: [&[&str]; 34] = [
    &["天然气"],
    &["LNG接收站"],
    &["气"],
    &["的"],
    &["储气库 注采"],
    &["储气库扩容"],
    &["\"天然气管道\""],
    &["title:储气库"],
    &["title:气"],
    &["天然气 -管道"],
    &["天然气 OR 原油"],
    &["site:west-oilgas 天然气"],
    &["author:李"],
    &["LNG*"],
    &["url:html"],
    &["\"天然气\" NEAR/5 \"管道\""],
    &["comments:好"],
    &["11月18日"],
    &["国家能源局关于天然气价格的通知是什么"],
    &["油价怎么了"],
    &["查无此词之词"],
    &[""],
    &["天然气", "--since", "2026-01-01"],
    &["天然气", "--until", "2030-01-01"],
    &["天然气", "--changed", "7d"],
    &["天然气", "--site", "west-oilgas"],
    &["天然气", "--sort", "date"],
    &["天然气", "--sort", "both"],
    &["天然气", "--reprints"],
    &["天然气", "--offset", "10"],
    &["天然气", "--match", "any"],
    &["储气库 注采", "--match", "all"],
    &["原油 价格 上涨", "--match", "most"],
    &["一 二 三 四 五 六 七 八 九 十"],
];

#[test]
fn engine_equals_embedded_index() {
    let Some(engine) = Engine::start("engine_equals_embedded_index", 1) else {
        return;
    };
    let mut demo = Demo::new(&engine);
    let said = demo.run("opensearch", &["search", "天然气"]).failed(2).err;
    assert_has(&said, &["there is no search index at"]);
    // Made anew, so that neither counts documents that were replaced.
    for place in ["embedded", "opensearch"] {
        demo.said(place, &["reindex"]);
    }
    for args in QUERIES {
        let (embedded, there) = (
            demo.answer("embedded", args),
            demo.answer("opensearch", args),
        );
        assert_same(args, &embedded, &there);
    }
    for (args, least) in [
        (&["export"][..], 100),
        (&["export", "--query", "天然气"], 50),
        (&["export", "--query", "储气库", "--since", "2026-11-01"], 5),
        (&["export", "--query", "天然气", "--site", "west-oilgas"], 5),
    ] {
        let exported = |place: &str| -> BTreeSet<String> {
            let lines = demo.said(place, args);
            lines.lines().map(str::to_owned).collect()
        };
        let all = exported("embedded");
        assert!(all.len() > least, "{args:?}: {}", all.len());
        assert_eq!(all, exported("opensearch"), "{args:?}");
    }
    answers_are_equal(&demo);
    // The demo's sites are not there any more; the engine is.
    let check = demo.run("opensearch", &["check", "--online"]);
    let parts = [
        "search index   taojin at http://127.0.0.1:",
        "OpenSearch 3.9.0 answers",
        "the index has all changes up to",
        "this user may write",
    ];
    assert_has(&check.out, &parts);
    a_new_term_acts_at_once(&mut demo);
    what_is_gone_is_gone(&demo);
    another_store_is_refused(&demo);
}

/// The same documents in the same order, but where the scores of two hardly differ.
fn assert_same(args: &[&str], embedded: &Value, there: &Value) {
    assert_eq!(embedded["total"], there["total"], "{args:?}");
    let hits = |answer: &Value| answer["hits"].as_array().expect("hits").clone();
    for (one, other) in hits(embedded).iter().zip(&hits(there)) {
        let score = |hit: &Value| hit["score"].as_f64().unwrap_or(0.0);
        let differ = (score(one) - score(other)).abs();
        assert!(differ < SCORE, "{args:?}: {one} {other}");
    }
    let ids = |answer: &Value| -> BTreeSet<String> {
        let id = |hit: &Value| hit["id"].to_string();
        hits(answer).iter().map(id).collect()
    };
    assert_eq!(ids(embedded), ids(there), "{args:?}");
    assert_eq!(hits(embedded).len(), hits(there).len(), "{args:?}");
    assert_eq!(
        embedded["weaker"]["total"], there["weaker"]["total"],
        "{args:?}"
    );
}

/// What a server reads from the index to answer.
const TARGETS: &[&str] = &[
    "/api/search?q=天然气&facets=true",
    "/api/search?q=天然气&facets=true&grouped=true",
    "/api/search?q=储气库&facets=true&site=west-oilgas",
    "/api/search?q=&facets=true&since=2026-11-01",
    "/api/search?q=天然气&grouped=false&limit=50",
    "/api/search?q=天然气&grouped=true&limit=5&offset=5",
    "/api/search?q=天然气+管道&explain=true",
    "/api/search?q=天然气&sort=both&half_life=7d&grouped=true",
    "/api/search?q=天然气&sort=date&facets=true",
    "/api/search?q=油价+上涨&match=any&facets=true",
    "/api/search?q=天然气&changed=7d&facets=true",
    "/api/search?q=LNG&synonyms=off",
    "/api/search?q=LNG",
    "/api/search?q=叶岩气",
    "/api/search?q=天燃气",
    "/api/search?q=天燃气&corrected=off",
    "/api/search?q=tianranqi",
    "/api/search?q=chuqiku",
    "/api/search?q=储汽库",
    "/api/suggest?q=天然",
    "/api/suggest?q=tian",
    "/api/suggest?q=yyq",
    "/api/suggest?q=储",
    "/api/suggest?q=LN",
    "/api/suggest?q=价格",
    "/api/trends?q=天然气&q=原油",
    "/api/trends?q=LNG&q=储气库&q=页岩气&unit=day",
    "/feed.json?q=天然气",
    "/feed.json?q=",
    "/feed.atom?q=储气库",
    "/trends?q=天然气&q=原油",
];

fn answers_are_equal(demo: &Demo) {
    let servers = ["embedded", "opensearch"].map(|engine| demo.serving(engine));
    let found = servers[0].hits("q=%E5%82%A8%E6%B0%94%E5%BA%93");
    let ids = found.iter().map(|hit| text(&hit["id"]));
    let documents = ids.flat_map(|id| [format!("/api/docs/{id}"), format!("/doc/{id}")]);
    let targets = TARGETS.iter().map(|target| encoded(target));
    for target in targets.chain(documents) {
        let answers = servers.each_ref().map(|server| server.get(&target));
        let [embedded, there] = answers.map(|(status, body)| {
            assert_eq!(status, 200, "{target}: {body}");
            without_scores(&body)
        });
        assert_eq!(embedded.0, there.0, "{target}");
        for (score, other) in embedded.1.iter().zip(&there.1) {
            assert!((score - other).abs() < SCORE, "{target}: {score} {other}");
        }
    }
}

/// An answer without what may differ, and the scores of its hits.
fn without_scores(body: &str) -> (Value, Vec<f64>) {
    let mut scores = Vec::new();
    let Ok(mut answer) = serde_json::from_str::<Value>(body) else {
        // Around the main part of a page stands how many documents there are, once it is known.
        let main = body.split("<main").nth(1);
        return (main.unwrap_or(body).split("</main>").next().into(), scores);
    };
    if let Some(fields) = answer.as_object_mut() {
        fields.remove("took_ms");
    }
    for hits in ["/hits", "/weaker/hits"] {
        let hits = answer.pointer_mut(hits).and_then(Value::as_array_mut);
        for hit in hits.into_iter().flatten() {
            scores.extend(hit["score"].take().as_f64());
        }
    }
    (answer, scores)
}

/// Characters that are not ASCII as a browser sends them.
fn encoded(target: &str) -> String {
    let byte = |byte: u8| {
        if byte.is_ascii() {
            char::from(byte).to_string()
        } else {
            format!("%{byte:02X}")
        }
    };
    target.bytes().map(byte).collect()
}

/// Without a reindex: the index knows no words.
fn a_new_term_acts_at_once(demo: &mut Demo) {
    let query: &[&str] = &["储气库注采"];
    let before = demo.answer("opensearch", query);
    let file = demo.dir.path().join("new.txt");
    fs::write(&file, "储气库注采\n").expect("a file");
    demo.lexicons = format!("[\"oil-gas\", {file:?}]");
    let after = demo.answer("opensearch", query);
    assert_ne!(before["total"], after["total"], "now it is one word");
    assert_same(query, &demo.answer("embedded", query), &after);
}

fn what_is_gone_is_gone(demo: &Demo) {
    let found = demo.answer("opensearch", &["储气库"]);
    let total = found["total"].as_u64().expect("a number");
    let url = found["hits"][0]["url"].as_str().expect("an address");
    demo.said("opensearch", &["purge", url, "--yes"]);
    let found = demo.answer("opensearch", &["储气库"]);
    assert_eq!(found["total"], total - 1);
    assert!(!found.to_string().contains(url), "{found}");
}

fn another_store_is_refused(demo: &Demo) {
    fs::write(
        demo.dir.path().join("in.jsonl"),
        "{\"url\":\"https://a.example/1\",\"title\":\"甲\",\"text\":\"乙\"}\n",
    )
    .expect("a file");
    let other = demo.run("opensearch", &["--data-dir", "other", "import", "in.jsonl"]);
    assert_ne!(other.code, Some(0), "{other:?}");
    assert_has(&other.err, &["search.index"]);
}

/// A web that takes some ten seconds to crawl.
fn web(more: &str) -> Trial {
    web_of(60, more)
}

fn web_of(articles: u32, more: &str) -> Trial {
    let plan = TrialPlan {
        seed: 31,
        hosts: 4,
        articles,
        ..TrialPlan::default()
    };
    let frontier = "min_delay_ms = 100\nmax_delay_ms = 100\njitter = 0.0";
    Trial::new(plan, frontier, more)
}

#[test]
fn documents_wait_for_engine() {
    let Some(mut engine) = Engine::start("documents_wait_for_engine", 1) else {
        return;
    };
    let port = free_port();
    let serve = format!("[serve]\nlisten = \"127.0.0.1:{port}\"\nmax_lag_ms = 1000\n");
    let trial = web(&(serve + &engine.settings()));
    let mut daemon = trial.taojin(&["run"]).started();
    wait_until("the first documents", || engine.documents() >= 20);
    engine.kill();

    // The crawl goes on without it.
    let articles = trial.articles().len() as u64;
    let status = || -> Value {
        let (_, body) = get(port, "/api/status").unwrap_or_default();
        serde_json::from_str(&body).unwrap_or_default()
    };
    wait_until("the crawl", || {
        status()["urls"]["fetched"].as_u64() >= Some(articles)
    });
    // It waits and is not stuck.
    for (target, status, part) in [
        ("/api/search?q=a", 503, "search.url"),
        ("/?q=a", 503, ""),
        ("/readyz", 503, ""),
        ("/healthz", 200, ""),
    ] {
        let (code, body) = get(port, target).expect("an answer");
        assert_eq!(code, status, "{target}: {body}");
        assert_has(&body, &[part]);
    }

    engine.run();
    wait_until("all documents", || engine.documents() >= articles);
    wait_until("it is ready", || {
        get(port, "/readyz").is_some_and(|(code, _)| code == 200)
    });
    let found = trial.json(&["search", "--json", "--reprints", ""]);
    assert_eq!(found["total"], status()["documents"], "{found}");
    assert!(daemon.ended().is_none(), "the same daemon all the time");
}

/// A client that searches all the time until it is told to stop; what went wrong.
fn searching(port: u16, is_over: Arc<AtomicBool>) -> JoinHandle<(usize, Vec<String>)> {
    thread::spawn(move || {
        let (mut answers, mut failures) = (0, Vec::new());
        while !is_over.load(Ordering::Relaxed) {
            for target in [
                "/api/search?q=",
                "/api/search?q=%E6%B2%B9&facets=true&grouped=true",
            ] {
                match get(port, target) {
                    Some((200, _)) => answers += 1,
                    other => failures.push(format!("{target}: {other:?}")),
                }
            }
        }
        (answers, failures)
    })
}

#[test]
fn engine_loses_machines() {
    let test = "engine_loses_machines";
    if !is_long() {
        say(&format!("{test}: skipped, it is part of the long form"));
        return;
    }
    let Some(mut engine) = Engine::start(test, 3) else {
        return;
    };
    let port = free_port();
    let serve = format!("[serve]\nlisten = \"127.0.0.1:{port}\"\n");
    let trial = web_of(1_500, &(serve + &engine.settings()));
    let articles = trial.articles().len() as u64;
    let mut daemon = trial.taojin(&["run"]).started();
    let wait_for_documents = |engine: &Engine, least: u64| {
        wait_until("more documents", || engine.documents() >= least);
    };
    wait_for_documents(&engine, 100);
    let is_whole = |engine: &Engine| {
        engine.get("/_cluster/health?wait_for_nodes=3&wait_for_status=green&timeout=1s")
    };
    wait_until("a copy of each shard", || is_whole(&engine).is_some());

    // The machine that this node asks first goes, and comes back: documents come in, and no search fails.
    let is_over = Arc::new(AtomicBool::new(false));
    let clients = [(); 2].map(|()| searching(port, Arc::clone(&is_over)));
    engine.stop_node(0);
    let before = engine.documents();
    wait_for_documents(&engine, before + 100);
    engine.start_node(0);
    wait_until("the node has its shards", || is_whole(&engine).is_some());
    is_over.store(true, Ordering::Relaxed);
    for client in clients {
        let (answers, failures) = client.join().expect("a client");
        assert!(
            failures.is_empty() && answers > 10,
            "{answers}: {failures:?}"
        );
    }

    // All machines are lost at once, in the middle of writing.
    let before = engine.documents();
    assert!(before < articles, "the crawl goes on");
    engine.kill();
    engine.run();
    wait_for_documents(&engine, articles);
    wait_until("the index is ready", || {
        let ready = get(port, "/readyz").is_some_and(|(code, _)| code == 200);
        ready && is_whole(&engine).is_some()
    });
    assert!(daemon.ended().is_none(), "the same daemon all the time");
    let found = trial.json(&["search", "--json", "--reprints", ""]);
    assert_eq!(found["total"], articles, "{found}");
    let name = served(&engine).expect("an index");
    engine.change("POST", &format!("/{name}/_refresh"), &Value::Null);
    let counts = ["_primary", "_replica"].map(|copy| {
        let count = |shard: usize| {
            let target = format!("/{name}/_count?preference=_shards:{shard}%7C{copy}");
            let count = engine.get(&target).expect("an answer");
            count["count"].as_u64().expect("a number")
        };
        [0, 1, 2].map(count)
    });
    assert_eq!(counts[0], counts[1]);
    assert_eq!(counts[0].iter().sum::<u64>(), articles);
}

#[test]
fn index_writer_fails_over() {
    let test = "index_writer_fails_over";
    let (Some(engine), Some(server)) = (Engine::start(test, 1), server(test)) else {
        return;
    };
    let mut cluster = Cluster::with(server.url(), 96, 24, &engine.settings());
    cluster.start(None);
    wait_until("the first documents", || engine.documents() > 0);
    // The first one writes the index; the second one takes its hosts and its place.
    cluster.start(None);
    cluster.wait_for_shares(|shares| is_even(shares, 2), LONGEST);
    drop(cluster.nodes.remove(0));
    let articles = cluster.trial.articles().len();
    wait_until("all documents", || {
        cluster.documents() >= articles as i64 && engine.documents() as i64 >= cluster.documents()
    });
    assert_eq!(engine.documents() as i64, cluster.documents());
    assert_polite(&cluster.trial.hits(), 0);
}

/// Name of the index that is searched.
fn served(engine: &Engine) -> Option<String> {
    let aliases = engine.get("/_alias")?;
    let of = |(name, index): (&String, &Value)| {
        let aliases = index["aliases"].as_object()?;
        let is_served = aliases.keys().any(|alias| !alias.ends_with("-fresh"));
        is_served.then(|| name.clone())
    };
    aliases.as_object()?.iter().find_map(of)
}

#[test]
fn lost_and_altered_index_is_repaired() {
    let Some(engine) = Engine::start("lost_and_altered_index_is_repaired", 1) else {
        return;
    };
    let port = free_port();
    let serve = format!("[serve]\nlisten = \"127.0.0.1:{port}\"\n");
    let trial = web(&(serve + &engine.settings()));
    let articles = trial.articles().len() as u64;
    let daemon = trial.taojin(&["run"]).started();
    let is_complete = |engine: &Engine| {
        let ready = get(port, "/readyz").is_some_and(|(code, _)| code == 200);
        ready && engine.documents() == articles
    };
    wait_until("all documents", || is_complete(&engine));

    // Deleted there: it is made again, under the next number.
    let first = served(&engine).expect("an index");
    engine.change("DELETE", &format!("/{first}"), &Value::Null);
    wait_until("a new index", || {
        served(&engine).is_some_and(|name| name != first) && is_complete(&engine)
    });

    // Made again beside the one that is searched: no search lacks a document meanwhile.
    let second = served(&engine).expect("an index");
    trial.done(&["reindex"]);
    wait_until("the new index is in place", || {
        let (code, body) = get(port, "/api/search?q=").expect("an answer");
        let answer: Value = serde_json::from_str(&body).expect("JSON");
        assert_eq!((code, answer["total"].as_u64()), (200, Some(articles)));
        served(&engine).is_some_and(|name| name != second)
    });
    assert_eq!(engine.documents(), articles, "the old one is gone");

    // Altered by somebody while no daemon runs: some documents are gone, and one is there that the store does not know.
    drop(daemon);
    let third = served(&engine).expect("an index");
    // That they were deleted is remembered for a minute there, and outweighs that they are sent again.
    let forgetful = json!({"index.gc_deletes": "0s"});
    engine.change("PUT", &format!("/{third}/_settings"), &forgetful);
    let some = engine
        .get(&format!("/{third}/_search?size=5"))
        .expect("documents");
    for hit in some["hits"]["hits"].as_array().expect("hits") {
        let target = format!("/{third}/_doc/{}", text(&hit["_id"]));
        engine.change("DELETE", &target, &Value::Null);
    }
    let stray = json!({"fingerprint": "00000000000000ff", "seq": 7, "site": "stray"});
    let target = format!("/{third}/_doc/00000000000000ff?refresh=true");
    engine.change("PUT", &target, &stray);
    engine.change("POST", &format!("/{third}/_refresh"), &Value::Null);
    assert_eq!(engine.documents(), articles - 4);
    let _daemon = trial.taojin(&["run"]).started();
    wait_until("the index is repaired", || {
        let stray = engine.get(&format!("/{third}/_doc/00000000000000ff"));
        stray.is_none() && is_complete(&engine)
    });
    assert_eq!(served(&engine), Some(third));
    wait_until("the repair is counted", || {
        let (_, metrics) = get(port, "/metrics").expect("an answer");
        metrics.contains("taojin_index_repaired_documents_total 6\n")
    });
}
