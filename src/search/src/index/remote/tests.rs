//! What an engine may answer, and what becomes of it. The answers are those that OpenSearch gives; the real one is asked by
//! the tests that run on each engine (`index/tests`) and by those of the program (`suite/nodes/opensearch`).

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::document::{placed, written};
use super::json::query;
use super::{
    CancellationToken, EngineTrouble, EngineVersion, Expected, Layout, Origin, RemoteIndex,
    RemoteLease, RemoteWriter, Request, Severity, Transport, TroubleKind, inspect,
};
use crate::analyze::Analyzer;
use crate::index::rank::plan::Plan;
use crate::index::recut::CutState;
use crate::index::schema::{Column, FORMAT};
use crate::index::tests::memory::MemoryDocuments;
use crate::index::{Config, IndexError, IndexWriter as _, SkippedDocument, StoredDocument};
use taojin_extract::Document;

const STORE: i64 = 11;

/// Answers what it was given, in order, and notes what it was asked.
#[derive(Default)]
struct Script {
    answers: Mutex<VecDeque<(u16, Value)>>,
    asked: Mutex<Vec<String>>,
}

impl Script {
    fn new(answers: impl IntoIterator<Item = (u16, Value)>) -> Arc<Self> {
        let script = Self::default();
        script.answers.lock().unwrap().extend(answers);
        Arc::new(script)
    }

    fn and(&self, status: u16, answer: Value) {
        self.answers.lock().unwrap().push_back((status, answer));
    }

    fn index(self: &Arc<Self>) -> RemoteIndex {
        RemoteIndex::new(self.clone(), "oil")
    }

    fn last(&self) -> String {
        self.asked.lock().unwrap().last().unwrap().clone()
    }
}

impl Transport for Script {
    fn send(
        &self,
        request: &Request<'_>,
        _: &CancellationToken,
    ) -> Result<(u16, Value), EngineTrouble> {
        let asked = format!("{} {}", request.method, request.path);
        self.asked.lock().unwrap().push(asked);
        let answer = self.answers.lock().unwrap().pop_front();
        answer.ok_or_else(|| EngineTrouble::new(TroubleKind::Unreachable, "no connection"))
    }

    fn address(&self) -> &str {
        "http://search1:9200"
    }
}

/// What an engine says of itself.
fn engine() -> Value {
    json!({"version": {"distribution": "opensearch", "number": "3.9.0"}})
}

fn state(seq: u64, store: i64) -> Value {
    json!({"_seq_no": 4, "_primary_term": 1, "_source": {
        "store": store, "program": env!("CARGO_PKG_VERSION"), "holder": "", "beat": 3,
        "served": {"number": 1, "uuid": "u1", "seq": seq},
    }})
}

/// The index as the engine describes it.
fn description(number: u64, uuid: &str) -> Value {
    let index = json!({
        "mappings": {"_meta": {"format": FORMAT}}, "settings": {"index": {"uuid": uuid}},
    });
    json!({ format!("oil-v{FORMAT}-{number}"): index })
}

fn missing() -> (u16, Value) {
    let error = json!({"error": {"type": "index_not_found_exception", "reason": "no such index"}});
    (404, error)
}

fn hits(hits: &[Value]) -> Value {
    json!({"hits": {"total": {"value": hits.len()}, "hits": hits}, "_shards": {"failed": 0}})
}

/// The answer to a state that was written.
fn state_written(number: u64) -> (u16, Value) {
    (200, json!({"_seq_no": number, "_primary_term": 1}))
}

/// Answers to the opening of an index that is there.
fn opening(seq: u64, store: i64) -> Vec<(u16, Value)> {
    vec![
        (200, engine()),
        (200, state(seq, store)),
        (200, description(1, "u1")),
        state_written(5),
        (200, json!({"_source": CutState::default()})),
        (200, hits(&[])),
    ]
}

fn origin() -> Origin {
    Origin {
        store: STORE,
        last_seq: 100,
        ..Origin::default()
    }
}

fn lease(script: &Arc<Script>) -> Result<RemoteLease, IndexError> {
    let layout = Layout {
        shards: 1,
        replicas: 0,
    };
    RemoteLease::take(script.index(), layout, &origin(), "a")
}

fn writer(script: &Arc<Script>) -> Result<RemoteWriter, IndexError> {
    let documents = Arc::new(MemoryDocuments::default());
    let (lease, analyzer) = (lease(script)?, Analyzer::new(&[]));
    let opened = RemoteWriter::open(&lease, &analyzer, &Config::default(), documents)?;
    Ok(opened.expect("it is not outdated"))
}

fn said<T>(result: Result<T, IndexError>) -> String {
    match result {
        Ok(_) => panic!("it was taken"),
        Err(error) => error.to_string(),
    }
}

/// Adds document 7 as change 9.
fn add(writer: &mut RemoteWriter) {
    let document = Document {
        url: "https://a.example/7".to_owned(),
        text: "储气库".to_owned(),
        ..Document::default()
    };
    let stored = StoredDocument {
        fingerprint: 7,
        seq: 9,
        fetched_ms: 1,
        changed_ms: 1,
        document,
    };
    writer.upsert(&stored).unwrap();
}

fn item(status: u16, more: Value) -> Value {
    let mut item = more;
    item["status"] = json!(status);
    json!({"items": [{"index": item}]})
}

#[test]
fn terms_keep_their_places() {
    let terms = [(0, "储气"), (0, "储"), (3, "油"), (4, "a")];
    let text = placed(terms.into_iter().map(|(at, term)| (at, written(term))));
    assert_eq!(text, "储气\u{E001}储 \u{E000} \u{E000} 油 a");
}

#[test]
fn remote_term_is_whole() {
    assert_eq!(written("油\0\0"), "油");
    assert_eq!(written("a\u{3000}b c\u{1f}"), "a\u{E002}b\u{E002}c\u{E002}");
}

#[test]
fn remote_empty_condition_matches_none() {
    let none = json!({"match_none": {}});
    assert_eq!(query(&Plan::Any(Vec::new())), none);
    let floor = query(&Plan::MinimumShouldMatch(Vec::new(), 0.0));
    let function = &floor["constant_score"]["filter"]["function_score"];
    assert_eq!(function["query"], none);
}

#[test]
fn remote_star_is_literal() {
    let ends = query(&Plan::Ends(Column::BodyGrams, "*".to_owned()));
    assert_eq!(ends, json!({"wildcard": {"body_grams": {"value": "?\\*"}}}));
}

#[test]
fn remote_refuses_other_store() {
    let script = Script::new([(200, engine()), (200, state(5, STORE + 1))]);
    let said = said(writer(&script));
    assert!(said.contains("search.index"), "{said}");
}

#[test]
fn remote_writer_is_fenced() {
    let conflict = json!({"error": {"type": "version_conflict_engine_exception"}});
    let mut answers = opening(5, STORE);
    answers[3] = (409, conflict.clone());
    let script = Script::new(answers);
    let refused = said(writer(&script));
    assert!(refused.contains("another taojin writes it"), "{refused}");

    // The same later on: the one that has lost its place can commit nothing.
    let script = Script::new(opening(5, STORE));
    let mut writer = writer(&script).unwrap();
    assert_eq!(writer.last_seq(), 5);
    script.and(200, json!({}));
    script.and(200, description(1, "u1"));
    script.and(409, conflict);
    let refused = said(writer.commit(9));
    assert!(refused.contains("another taojin writes it"), "{refused}");
    let asked = script.asked.lock().unwrap().join("\n");
    assert!(
        asked.contains("?if_seq_no=5&if_primary_term=1\n"),
        "{asked}"
    );
}

#[test]
fn remote_state_written_twice_is_its_own() {
    let script = Script::new(opening(5, STORE));
    let held = lease(&script).unwrap();
    script.answers.lock().unwrap().clear();
    script.and(200, description(1, "u1"));
    script.and(
        409,
        json!({"error": {"type": "version_conflict_engine_exception"}}),
    );
    // The answer to the first time was lost.
    let mut written = state(5, STORE);
    written["_seq_no"] = json!(7);
    written["_source"]["holder"] = json!("a");
    written["_source"]["beat"] = json!(5);
    script.and(200, written);
    held.record_heartbeat().unwrap();
    script.and(200, description(1, "u1"));
    script.and(200, json!({"_seq_no": 8, "_primary_term": 1}));
    held.record_heartbeat().unwrap();
    assert!(
        script.last().ends_with("?if_seq_no=7&if_primary_term=1"),
        "{}",
        script.last()
    );
}

#[test]
fn remote_busy_is_retried() {
    let script = Script::new(opening(5, STORE));
    let mut writer = writer(&script).unwrap();
    add(&mut writer);
    let busy = json!({"error": {"type": "rejected_execution_exception", "reason": "queue full"}});
    script.and(200, item(429, busy));
    let refused = said(writer.commit(9));
    assert!(
        refused.contains("429") && refused.contains("queue full"),
        "{refused}"
    );
    assert_eq!(writer.last_seq(), 5, "the change is sent again");
}

#[test]
fn remote_rejected_document_is_skipped() {
    let script = Script::new(opening(5, STORE));
    let mut writer = writer(&script).unwrap();
    add(&mut writer);
    let bad = json!({"error": {"type": "mapper_parsing_exception", "reason": "immense term"}});
    script.and(200, item(400, bad));
    script.and(200, json!({}));
    script.and(200, description(1, "u1"));
    script.and(200, json!({"_seq_no": 6, "_primary_term": 1}));
    writer.commit(9).unwrap();
    let left: Vec<SkippedDocument> = writer.left_out().listed;
    assert_eq!(left[0].url, "https://a.example/7");
    assert_eq!(left[0].reason, "mapper_parsing_exception: immense term");
}

#[test]
fn remote_newer_version_is_kept() {
    for status in [404, 409] {
        let script = Script::new(opening(5, STORE));
        let mut writer = writer(&script).unwrap();
        add(&mut writer);
        script.and(200, item(status, json!({})));
        script.and(200, json!({}));
        script.and(200, description(1, "u1"));
        script.and(200, json!({"_seq_no": 6, "_primary_term": 1}));
        writer.commit(9).unwrap();
        assert_eq!(writer.left_out().count(), 0);
    }
}

#[test]
fn remote_deleted_index_is_made_again() {
    let created = || (200, json!({"acknowledged": true}));
    let answers = [
        (200, engine()),
        (200, state(5, STORE)),
        missing(),
        state_written(5),
        created(),
        (200, description(2, "u2")),
        state_written(6),
        (200, hits(&[])),
        created(),
    ];
    let script = Script::new(answers);
    assert_eq!(writer(&script).unwrap().last_seq(), 0);
    let asked = script.asked.lock().unwrap().join("\n");
    assert!(
        asked.contains(&format!("PUT /oil-v{FORMAT}-2\n")),
        "{asked}"
    );

    // While it is written: what was sent is nowhere, and the number of the last commit stays.
    let script = Script::new(opening(5, STORE));
    let mut writing = writer(&script).unwrap();
    add(&mut writing);
    let (status, error) = missing();
    let lost = json!({"items": [{"index": {"status": status, "error": error["error"]}}]});
    script.and(200, lost);
    assert!(said(writing.commit(9)).contains("no such index"));
    assert_eq!(writing.last_seq(), 5);

    // While nothing comes in.
    let script = Script::new(opening(5, STORE));
    let held = lease(&script).unwrap();
    script.answers.lock().unwrap().clear();
    let (status, error) = missing();
    script.and(status, error);
    assert!(said(held.record_heartbeat()).contains("was deleted there"));

    let foreign = json!({ format!("oil-v{FORMAT}"): {"mappings": {}} });
    let mut answers = opening(5, STORE);
    answers[2] = (200, foreign);
    assert!(said(writer(&Script::new(answers))).contains("delete it there"));
}

#[test]
fn remote_swap_that_was_not_noted_is_noted() {
    let mut answers = opening(5, STORE);
    answers[1].1["_source"]["fresh"] = json!({"number": 2, "uuid": "u2", "seq": 8});
    answers[2] = (200, description(2, "u2"));
    assert!(!lease(&Script::new(answers.clone())).unwrap().has_fresh());
    assert_eq!(writer(&Script::new(answers)).unwrap().last_seq(), 8);
}

#[test]
fn unusable_engines_are_refused() {
    let version = |distribution: Option<&str>, number: &str| {
        EngineVersion::new(&json!({"version": {"distribution": distribution, "number": number}}))
    };
    let opensearch = |number| version(Some("opensearch"), number).unwrap();
    assert_eq!(opensearch("2.19.1").similarity(), "BM25");
    assert_eq!(opensearch("3.0.0").similarity(), "LegacyBM25");
    assert_eq!(opensearch("10.1.0").similarity(), "LegacyBM25");
    assert_eq!(version(None, "8.11.4").unwrap().similarity(), "BM25");
    for (distribution, number, said) in [
        (
            Some("opensearch"),
            "1.3.20",
            "OpenSearch 1.3.20 is too old: OpenSearch 2 or later is needed",
        ),
        (
            None,
            "7.17.0",
            "Elasticsearch 7.17.0 is too old: Elasticsearch 8 or later is needed",
        ),
    ] {
        let refused = version(distribution, number).unwrap_err();
        assert_eq!(refused.kind(), TroubleKind::Unsupported);
        assert_eq!(refused.detail(), said);
    }
    for answer in [json!("<html>"), json!({}), Value::Null] {
        let refused = EngineVersion::new(&answer).unwrap_err();
        assert_eq!(refused.kind(), TroubleKind::Misdirected);
        assert!(refused.detail().contains("set search.url"), "{refused}");
    }
}

#[test]
fn remote_partial_shards_is_error() {
    let some = json!({"hits": {"total": {"value": 1}, "hits": []}, "_shards": {"failed": 1}});
    let late = json!({"timed_out": true, "hits": {"total": {"value": 1}, "hits": []}});
    let search = |script: &Arc<Script>| {
        let index = script.index();
        index.search("", &json!({}), &CancellationToken::default())
    };
    for answer in [some, late] {
        let again = || (200, answer.clone());
        let refused = said(search(&Script::new([again(), again(), again()])));
        assert!(refused.contains("a part of it did not answer"), "{refused}");
        // By another copy the next time.
        assert!(search(&Script::new([again(), (200, hits(&[]))])).is_ok());
    }
}

#[test]
fn refusals_name_what_mends_them() {
    let blocked = json!({"error": {"root_cause": [
        {"type": "index_create_block_exception", "reason": "blocked by: [FORBIDDEN/10/cluster create-index blocked (api)];"}]}});
    let answers = [missing(), (403, json!({"error": "denied"})), (403, blocked)];
    let script = Script::new(answers);
    let index = script.index();
    let search = |index: &RemoteIndex| index.search("", &json!({}), &CancellationToken::default());
    assert!(said(search(&index)).contains("there is no search index at http://search1:9200/oil-v"));
    assert!(said(search(&index)).contains("search.user"));
    let said_blocked = said(search(&index));
    assert!(
        said_blocked.contains("disks are nearly full"),
        "{said_blocked}"
    );
    assert!(!said_blocked.contains("search.user"), "{said_blocked}");
    let away = search(&index).unwrap_err();
    assert_eq!(away.trouble_kind(), Some(TroubleKind::Unreachable));
}

/// A server between that takes less than the engine: nothing is lost, and one document that is too long alone is named.
#[test]
fn remote_long_request_is_split() {
    let too_large = || {
        (
            413,
            Value::from("<html>413 Request Entity Too Large</html>"),
        )
    };
    let done = |count: usize| {
        (
            200,
            json!({"items": vec![json!({"index": {"status": 200}}); count]}),
        )
    };
    let script = Script::new(opening(5, STORE));
    let mut writer = writer(&script).unwrap();
    (0..3).for_each(|_| add(&mut writer));
    // Three are split into one and two, these into one and one, of which the last is too long alone.
    for answer in [too_large(), done(1), too_large(), done(1), too_large()] {
        script.and(answer.0, answer.1);
    }
    script.and(200, json!({}));
    script.and(200, description(1, "u1"));
    script.and(200, json!({"_seq_no": 6, "_primary_term": 1}));
    writer.commit(9).unwrap();
    let left = writer.left_out().listed;
    assert_eq!(left.len(), 1, "{left:?}");
    assert!(left[0].reason.contains("client_max_body_size"), "{left:?}");
    let asked = script.asked.lock().unwrap().join("\n");
    assert_eq!(asked.matches("_bulk").count(), 5, "{asked}");
}

/// Of a store whose place this one took: it is searched, and not written into.
#[test]
fn remote_index_of_replaced_store_is_outdated() {
    let take = |origin: &Origin| {
        let script = Script::new(opening(5, STORE - 1));
        let layout = Layout {
            shards: 1,
            replicas: 0,
        };
        RemoteLease::take(script.index(), layout, origin, "a")
    };
    let replaced = Origin {
        replaced: vec![STORE - 1],
        ..origin()
    };
    assert!(take(&replaced).unwrap().is_outdated());
    let takes_over = Origin {
        takes_over: true,
        ..origin()
    };
    assert!(take(&takes_over).unwrap().is_outdated());
    assert!(said(take(&origin())).contains("reindex --take-over"));
}

#[test]
fn remote_orphans_are_deleted() {
    let uuid = |uuid: &str| json!({"settings": {"index": {"uuid": uuid}}});
    let script = Script::new(opening(5, STORE));
    let held = lease(&script).unwrap();
    script.answers.lock().unwrap().clear();
    let name = |of: &str| format!("oil-v{FORMAT}-{of}");
    script.and(
        200,
        json!({name("1"): uuid("u1"), name("2"): uuid("u2"), name("state"): uuid("u3")}),
    );
    script.and(200, json!({"acknowledged": true}));
    assert_eq!(held.remove_orphans().unwrap(), [name("2")]);
    assert_eq!(script.last(), format!("DELETE /{}", name("2")));
}

/// What an engine answers to an inspection, in order, where all is well.
fn inspected() -> Vec<(u16, Value)> {
    let layout = Layout {
        shards: 1,
        replicas: 0,
    };
    let index = super::document::of_documents("LegacyBM25", layout);
    let name = format!("oil-v{FORMAT}-1");
    vec![
        (200, engine()),
        (200, health("green", &name, "green", 0)),
        (200, json!({"blocks": {}})),
        (200, state(5, STORE)),
        (200, description(1, "u1")),
        (200, json!({ &name: {"mappings": index["mappings"]} })),
        (200, hits(&[])),
        (200, json!({})),
        (200, json!({})),
    ]
}

fn health(cluster: &str, index: &str, status: &str, replicas: u32) -> Value {
    json!({
        "status": cluster, "number_of_data_nodes": 1,
        "indices": {index: {"status": status, "number_of_replicas": replicas}},
    })
}

/// What is found where one of these answers is another.
fn findings_with(at: usize, status: u16, answer: Value) -> Vec<(Severity, String)> {
    let mut answers = inspected();
    answers[at] = (status, answer);
    findings(Script::new(answers))
}

fn findings(script: Arc<Script>) -> Vec<(Severity, String)> {
    let expected = Expected {
        origin: Some(origin()),
        layout: Layout {
            shards: 1,
            replicas: 0,
        },
    };
    let found = inspect(&script.index(), expected, &CancellationToken::default());
    let found = found.into_iter();
    found.map(|found| (found.severity, found.text)).collect()
}

#[test]
fn inspection_of_sound_index_is_good() {
    let found = findings(Script::new(inspected()));
    assert_eq!(found.len(), 7, "{found:#?}");
    for (severity, text) in found {
        assert_eq!(severity, Severity::Good, "{text}");
    }
}

#[test]
fn inspection_names_each_fault() {
    use Severity::{Trouble, Warning};
    let name = format!("oil-v{FORMAT}-1");
    let unavailable =
        || json!({"error": {"type": "no_shard_available_action_exception", "reason": "none"}});
    let refused = || json!({"error": {"type": "security_exception", "reason": "no permissions"}});
    let blocks = |of: Value| json!({"blocks": of});
    let red = |own: &str| health("red", &name, own, 0);
    let text = json!({"type": "text"});
    let dynamic = json!({ &name: {"mappings": {"properties": {"title": text}}} });
    for (at, status, answer, severity, said) in [
        (0, 401, json!("<html>"), Trouble, "search.user"),
        (
            0,
            200,
            json!({"name": "couchdb"}),
            Trouble,
            "neither OpenSearch",
        ),
        (3, 200, state(5, STORE + 1), Trouble, "search.index"),
        (4, 200, foreign(), Trouble, "delete it there"),
        (5, 200, dynamic, Trouble, "taojin reindex"),
        (2, 403, refused(), Warning, "cluster:monitor/state"),
        (
            2,
            200,
            blocks(json!({"indices": {&name: {"12": {"description": "flood"}}}})),
            Trouble,
            "disks are nearly full",
        ),
        (
            2,
            200,
            blocks(json!({"global": {"6": {"description": "cluster read-only (api)"}}})),
            Trouble,
            "somebody set a block",
        ),
        (1, 403, refused(), Warning, "cluster:monitor/health"),
        (1, 200, red("red"), Trouble, "shards are not available"),
        (1, 200, red("green"), Warning, "other indexes"),
        (
            1,
            200,
            health("yellow", &name, "yellow", 1),
            Warning,
            "set search.replicas = 0",
        ),
        (3, 503, unavailable(), Trouble, "shards are not available"),
        (6, 400, refused(), Warning, "sort=both"),
        (7, 403, refused(), Trouble, "search.user"),
    ] {
        let found = findings_with(at, status, answer);
        let fits = |(of, text): &(Severity, String)| *of == severity && text.contains(said);
        assert!(found.iter().any(fits), "{said}: {found:#?}");
    }
    // A block on an index of somebody else is no trouble.
    let other = blocks(json!({"indices": {"other": {"8": {"description": "write"}}}}));
    let found = findings_with(2, 200, other);
    assert!(found.iter().all(|(of, _)| *of == Severity::Good));
}

/// An index that was not made by this program.
fn foreign() -> Value {
    json!({ format!("oil-v{FORMAT}"): {"mappings": {}} })
}

#[test]
fn inspection_before_first_index_writes_nothing() {
    let mut answers = inspected();
    answers[3] = missing();
    answers[4] = missing();
    answers.remove(5);
    let script = Script::new(answers);
    let found = findings(script.clone());
    assert!(
        found.iter().all(|(of, _)| *of == Severity::Good),
        "{found:#?}"
    );
    let asked = script.asked.lock().unwrap();
    assert!(
        !asked.iter().any(|asked| asked.starts_with("PUT")),
        "{asked:?}"
    );
}
