//! `taojin check --online` with OpenSearch: what an operator is told before the first document, and where something is wrong.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use taojin_search::index::FORMAT;

use super::gate::{Act, Gate};
use crate::support::folder::{Folder, Ran, RunExt as _, assert_has};
use crate::support::http::Reply;
use crate::support::opensearch::Engine;

/// A check ends by then, whatever the engine does.
const SOON: Duration = Duration::from_secs(30);

/// A data folder whose index is in the engine behind two gates.
struct Installation {
    folder: Folder,
    gates: [Gate; 2],
}

impl Installation {
    fn new(engine: &Engine, index: &str) -> Self {
        let gates = [(); 2].map(|()| Gate::new(engine.port(0)));
        let urls = gates.each_ref().map(Gate::url).join(",");
        let config = format!(
            "[search]\nengine = \"opensearch\"\nurl = {urls:?}\nindex = {index:?}\nreplicas = 0\n"
        );
        let folder = Folder::new(&config, &[]);
        Self { folder, gates }
    }

    fn check(&self) -> Ran {
        let began = Instant::now();
        let ran = self.folder.run(&["check", "--online"]);
        assert!(began.elapsed() < SOON, "{ran:?}");
        ran
    }

    /// Refuses wherever the path has this part.
    fn refuse(&self, part: &str, status: u16, answer: Value) {
        let reply = Reply::refusal(status, &answer.to_string());
        for gate in &self.gates {
            let (part, reply) = (part.to_owned(), reply.clone());
            gate.set(move |request| request.path.contains(&part).then(|| reply.clone()));
        }
    }

    fn open(&self) {
        self.gates.iter().for_each(|gate| gate.set(|_| Act::Pass));
    }
}

const GOOD: [&str; 6] = [
    "OpenSearch 3.9.0 answers",
    "the index has all changes up to 1",
    "its fields are those of this version",
    "nothing is blocked",
    "scripts in Painless work",
    "this user may write",
];
const CHINESE: [&str; 6] = [
    "OpenSearch 3.9.0 有响应",
    "索引已有变更 1 及之前的全部内容",
    "索引的字段与本版一致",
    "没有禁止写入",
    "Painless 脚本可用",
    "该用户可以写入",
];

#[test]
fn check_tries_engine() {
    let Some(engine) = Engine::start("check_tries_engine", 1) else {
        return;
    };
    let it = Installation::new(&engine, "tried");
    let none = it.check().good();
    assert_has(&none.out, &["there is no index yet", "was not tried"]);
    let aliases = engine.get("/_alias").expect("aliases");
    assert!(aliases.get(own("state")).is_none(), "{aliases}");
    it.folder.import_texts(&[("https://a.example/1", "储气库")]);
    assert_has(&it.check().good().out, &GOOD);
    let mut chinese = it.folder.taojin(&["check", "--online"]);
    let chinese = chinese.env("LC_ALL", "zh_CN.UTF-8").ran().good();
    assert_has(&chinese.out, &CHINESE);
    let online = it.folder.json(&["check", "--online", "--json"])["online"].clone();
    let lines = online.as_array().expect("a list");
    assert!(lines.len() >= 8, "{online}");
    assert!(lines.iter().all(|line| line["level"] == "ok"), "{online}");

    faults_are_named(&it);
    blocks_are_named(&engine, &it);
    other_store_is_named(&engine);
    replicas_are_compared(&engine);
}

/// Name of an index of the installation that is tried.
fn own(index: &str) -> String {
    format!("tried-v{FORMAT}-{index}")
}

/// What one of the hosts, or a right, or the cluster lacks.
fn faults_are_named(it: &Installation) {
    it.gates[0].set(|_| Act::Hang);
    let ran = it.check().failed(1);
    assert_has(&ran.err, &["no answer from http://127.0.0.1:"]);
    assert_has(&ran.out, &GOOD);
    it.gates[0].set(|_| Some(Reply::refusal(401, "<html>401</html>")));
    let ran = it.check().failed(1);
    assert_has(&ran.err, &["search.password_file"]);
    assert!(!ran.err.contains("is search.url right"), "{ran:?}");

    let denied = json!({"error": {"type": "security_exception", "reason": "no permissions"}});
    let red = json!({"status": "red", "number_of_data_nodes": 2, "indices": {}});
    for (part, status, answer, code, said) in [
        (
            "/_cluster/health",
            200,
            red,
            1,
            "the cluster is red, with 2 data nodes",
        ),
        (
            "/_cluster/health",
            403,
            denied.clone(),
            0,
            "cluster:monitor/health",
        ),
        (
            "/_cluster/state",
            403,
            denied.clone(),
            0,
            "cluster:monitor/state",
        ),
        (
            "/_doc/probe",
            403,
            denied,
            1,
            "it refuses this user (status 403)",
        ),
        (
            "/_search",
            400,
            json!({"error": {"type": "illegal_argument_exception", "reason": "cannot execute [inline] scripts"}}),
            0,
            "warning: scripts in Painless do not work, and sort=both needs them",
        ),
        (
            &own("1"),
            200,
            json!({ own("1"): {"mappings": {"properties": {"title": {"type": "keyword"}}}} }),
            1,
            "these fields are not as this version makes them",
        ),
    ] {
        it.refuse(part, status, answer);
        let ran = it.check();
        assert_eq!(ran.code, Some(code), "{said}: {ran:?}");
        assert_has(&format!("{}{}", ran.out, ran.err), &[said]);
        it.open();
    }
    it.check().good();
}

fn blocks_are_named(engine: &Engine, it: &Installation) {
    for (index, block, said) in [
        ("1", "write", "somebody set a block"),
        ("state", "read_only_allow_delete", "disks are nearly full"),
    ] {
        let set = |value: Value| {
            let settings = json!({ format!("index.blocks.{block}"): value });
            engine.change("PUT", &format!("/{}/_settings", own(index)), &settings);
        };
        set(json!(true));
        let ran = it.check().failed(1);
        assert_has(&ran.err, &[said]);
        set(Value::Null);
        it.check().good();
    }
}

fn other_store_is_named(engine: &Engine) {
    let other = Installation::new(engine, "other");
    other
        .folder
        .import_texts(&[("https://a.example/1", "储气库")]);
    other
        .folder
        .replace("taojin.toml", "\"other\"", "\"tried\"");
    let ran = other.check().failed(1);
    assert_has(
        &ran.err,
        &["was made from another store", "taojin reindex --take-over"],
    );
    assert!(!ran.out.contains("this user may write"), "{ran:?}");
}

fn replicas_are_compared(engine: &Engine) {
    let it = Installation::new(engine, "copies");
    it.folder
        .replace("taojin.toml", "replicas = 0", "replicas = 1");
    let said = "search.replicas = 1 needs 2 data nodes, and there are 1: set search.replicas = 0";
    assert_has(&it.check().good().out, &[said]);
    it.folder.import_texts(&[("https://a.example/1", "储气库")]);
    let ran = it.check().good();
    let yellow =
        "warning: the cluster is yellow, with 1 data node: copies of some shards are not there";
    assert_has(&ran.out, &[yellow, said, ", then taojin reindex"]);
}
