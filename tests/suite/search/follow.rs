//! Following a topic, with the real daemon: each hit reaches the webhook once, signed, however often the receiver or
//! the daemon fails in between.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use taojin::serve::{Secret, signature};
use taojin_crawl::store::{FollowRecord, Reader};

use crate::support::daemon::LISTEN;
use crate::support::folder::{Folder, RunExt as _, text};
use crate::support::webhook::{Posted, receiver};
use crate::support::world::{FAST, Home, Web};
use crate::support::{PATIENCE, wait_until};

const SECRET: &str = "a long random text";

/// A receiver that answers 503 to the first request and 200 to the rest.
fn hook() -> (String, Receiver<Posted>) {
    let first = AtomicBool::new(true);
    receiver(move || {
        if first.swap(false, Ordering::SeqCst) {
            503
        } else {
            200
        }
    })
}

fn now_s() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    i64::try_from(since.expect("after 1970").as_secs()).expect("before the end of time")
}

#[test]
fn webhook_delivers_once() {
    let (hook, received) = hook();
    let web = Web::start(60);
    let home = Home::new(&web, FAST);
    home.configure(&format!(
        "[[follow]]\nname = \"all\"\nquery = \"的\"\nwebhook = \"{hook}\"\nsecret = \"{SECRET}\"\ntell = [\"new\"]\n"
    ));
    let daemon = || home.taojin(&["run"]).started();
    let mut running = Some(daemon());
    let mut told: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut refused = None;
    let until = Instant::now() + PATIENCE;
    let mut quiet = 0;
    // The end: nothing new for a while, after something has come.
    while quiet < 5 {
        assert!(Instant::now() < until, "still waiting, {} told", told.len());
        let Ok(posted) = received.recv_timeout(Duration::from_secs(1)) else {
            quiet += u32::from(!told.is_empty());
            continue;
        };
        quiet = 0;
        let key = Secret::from(SECRET);
        // What was signed holds the time of this try, so that it cannot be sent again later.
        let timed = format!("{}.{}", posted.timestamp, posted.body);
        let wanted = format!("sha256={}", signature(&key, timed.as_bytes()));
        assert_eq!(posted.signature, wanted);
        let age_s = now_s() - posted.timestamp.parse::<i64>().expect("seconds");
        assert!((0..=60).contains(&age_s), "{age_s} s old");
        let body: serde_json::Value = serde_json::from_str(&posted.body).expect("JSON");
        assert_eq!(body["delivery"], posted.delivery.as_str());
        assert_eq!(body["follow"], "all");
        let ids = body["hits"].as_array().expect("hits").iter();
        let ids: Vec<String> = ids.map(|hit| text(&hit["id"])).collect();
        assert!(!ids.is_empty());
        if posted.answered == 503 {
            refused = Some(posted.delivery);
            // The worst moment: refused, and the daemon dies.
            running.take();
            running = Some(daemon());
            continue;
        }
        if told.is_empty() {
            // The one that failed.
            assert_eq!(Some(&posted.delivery), refused.as_ref());
        }
        let again = told.insert(posted.delivery.clone(), ids);
        assert!(again.is_none(), "{} came twice", posted.delivery);
    }
    drop(running);
    let mut ids: Vec<&String> = told.values().flatten().collect();
    let all = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), all, "a hit was told twice");
    assert_eq!(home.total("的"), all as u64);
}

const A: &str = "http://a.example/1";
const B: &str = "http://a.example/2";

/// What the next deliveries say of documents, with `until` the last of them. Those in `known` came before: their answer was
/// lost when the daemon was killed.
fn heard(
    received: &Receiver<Posted>,
    known: &mut BTreeSet<String>,
    until: (&str, &str),
) -> Vec<(String, String)> {
    let mut heard = Vec::new();
    loop {
        let posted = received.recv_timeout(PATIENCE).expect("a delivery");
        if posted.answered == 503 || !known.insert(posted.delivery) {
            continue;
        }
        let body: serde_json::Value = serde_json::from_str(&posted.body).expect("JSON");
        for hit in body["hits"].as_array().expect("hits") {
            assert_eq!(hit["title"], "日报");
            heard.push((text(&hit["change"]), text(&hit["url"])));
        }
        if heard
            .iter()
            .any(|(change, url)| (&**change, &**url) == until)
        {
            return heard;
        }
    }
}

/// A daemon that was killed finds out when it runs again what happened to the hits that it has told.
#[test]
fn webhook_reports_changes() {
    let (hook, received) = hook();
    let folder = Folder::new(
        &format!("{LISTEN}[[follow]]\nname = \"gas\"\nquery = \"页岩气\"\nwebhook = \"{hook}\"\n"),
        &[],
    );
    let run = || folder.taojin(&["run"]).started();
    let daemon = run();
    wait_until("the topic is followed", || {
        let reader = Reader::open(&folder.data_dir());
        let list = reader.map(|reader| FollowRecord::list(&reader));
        list.is_ok_and(|list| list.is_ok_and(|all| !all.is_empty()))
    });
    drop(daemon);
    folder.import_texts(&[(A, "页岩气产量创新高"), (B, "页岩气井压裂")]);
    let daemon = run();
    let mut known = BTreeSet::new();
    let pair = |change: &str, url: &str| (change.to_owned(), url.to_owned());
    let mut first = heard(&received, &mut known, ("new", B));
    first.sort();
    assert_eq!(first, [pair("new", A), pair("new", B)]);
    drop(daemon);
    // One says something else, the other has nothing to do with the topic any more.
    folder.import_texts(&[(B, "储气库注气"), (A, "页岩气产量再创新高")]);
    let daemon = run();
    let mut second = heard(&received, &mut known, ("changed", A));
    second.sort();
    assert_eq!(second, [pair("changed", A), pair("deleted", B)]);
    drop(daemon);
}
