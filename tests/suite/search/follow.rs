//! Following a topic, with the real daemon: each hit reaches the webhook once, signed, however often the receiver or
//! the daemon fails in between.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use taojin::serve::{Secret, signature};

use crate::cli::Place;
use crate::documents::document_log::import;
use crate::support::world::{Home, Web};

/// Longest wait for anything: far above what it takes, so that only a hang fails.
const PATIENCE: Duration = Duration::from_secs(90);
const SECRET: &str = "a long random text";

/// One request as a receiver sees it.
pub(crate) struct Posted {
    delivery: String,
    signature: String,
    timestamp: String,
    pub(crate) body: String,
    answered: u16,
}

/// A receiver that answers 503 to the first request and 200 to the rest.
pub(crate) fn receiver() -> (String, Receiver<Posted>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("its address");
    let (posted, received) = channel();
    thread::spawn(move || {
        let mut status = 503;
        for stream in listener.incoming().flatten() {
            serve(stream, &mut status, &posted);
        }
    });
    (format!("http://{address}/hook"), received)
}

/// Answers the requests of one connection.
fn serve(stream: TcpStream, status: &mut u16, posted: &Sender<Posted>) {
    let mut reader = BufReader::new(stream);
    loop {
        let mut headers = BTreeMap::new();
        let mut line = String::new();
        while reader.read_line(&mut line).is_ok_and(|n| n > 2) {
            if let Some((name, value)) = line.split_once(':') {
                headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
            }
            line.clear();
        }
        let header = |name: &str| headers.get(name).cloned().unwrap_or_default();
        let Ok(length) = header("content-length").parse() else {
            return;
        };
        let mut body = vec![0; length];
        if reader.read_exact(&mut body).is_err() {
            return;
        }
        let answered = std::mem::replace(status, 200);
        let head = format!("HTTP/1.1 {answered} x\r\ncontent-length: 0\r\nretry-after: 0\r\n\r\n");
        if reader.get_mut().write_all(head.as_bytes()).is_err() {
            return;
        }
        let _ = posted.send(Posted {
            delivery: header("taojin-delivery"),
            timestamp: header("taojin-timestamp"),
            signature: header("taojin-signature-v2"),
            body: String::from_utf8(body).expect("UTF-8"),
            answered,
        });
    }
}

struct Daemon(Child);

impl Drop for Daemon {
    fn drop(&mut self) {
        // SIGKILL; an error means that it has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn daemon(home: &Home) -> Daemon {
    let child = home
        .taojin(&["run"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    Daemon(child.expect("taojin starts"))
}

fn now_s() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    i64::try_from(since.expect("after 1970").as_secs()).expect("before the end of time")
}

#[test]
fn each_hit_is_told_once_through_failures_and_kills() {
    let (hook, received) = receiver();
    let web = Web::start(60);
    let home = Home::new(
        &web,
        "min_delay_ms = 1\nmax_delay_ms = 1\nconnections_per_ip = 12",
    );
    let config = home.path().join("taojin.toml");
    let mut text = std::fs::read_to_string(&config).expect("taojin.toml");
    text.push_str(&format!(
        "[[follow]]\nname = \"all\"\nquery = \"的\"\nwebhook = \"{hook}\"\nsecret = \"{SECRET}\"\ntell = [\"new\"]\n"
    ));
    std::fs::write(&config, text).expect("taojin.toml");

    let mut running = Some(daemon(&home));
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
        let ids: Vec<String> = ids
            .map(|hit| hit["id"].as_str().expect("id").to_owned())
            .collect();
        assert!(!ids.is_empty());
        if posted.answered == 503 {
            refused = Some(posted.delivery);
            // The worst moment: refused, and the daemon dies.
            running.take();
            running = Some(daemon(&home));
            continue;
        }
        if told.is_empty() {
            assert_eq!(
                Some(&posted.delivery),
                refused.as_ref(),
                "not the one that failed"
            );
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
    let found = home
        .taojin(&["search", "的", "--json"])
        .output()
        .expect("taojin runs");
    let found: serde_json::Value = serde_json::from_slice(&found.stdout).expect("JSON");
    assert_eq!(found["total"], all as u64);
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
    let text = |value: &serde_json::Value| value.as_str().expect("a text").to_owned();
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
fn hits_are_told_as_new_as_changed_and_as_deleted() {
    let (hook, received) = receiver();
    let place = Place::new(
        &format!(
            "[serve]\nlisten = \"127.0.0.1:0\"\n[[follow]]\nname = \"gas\"\nquery = \"页岩气\"\nwebhook = \"{hook}\"\n"
        ),
        &[],
    );
    let run = || {
        let child = place
            .command(&["run"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        Daemon(child.expect("taojin starts"))
    };
    let daemon = run();
    let begun = || {
        let reader = taojin_crawl::store::Reader::open(&place.path().join("data"));
        reader.is_ok_and(|reader| {
            taojin_crawl::store::FollowRecord::list(&reader).is_ok_and(|all| !all.is_empty())
        })
    };
    let until = Instant::now() + PATIENCE;
    while !begun() {
        assert!(Instant::now() < until, "the topic never begins");
        thread::sleep(Duration::from_millis(50));
    }
    drop(daemon);
    import(&place, &[(A, "页岩气产量创新高"), (B, "页岩气井压裂")]);
    let daemon = run();
    let mut known = BTreeSet::new();
    let pair = |change: &str, url: &str| (change.to_owned(), url.to_owned());
    let mut first = heard(&received, &mut known, ("new", B));
    first.sort();
    assert_eq!(first, [pair("new", A), pair("new", B)]);
    drop(daemon);
    // One says something else, the other has nothing to do with the topic any more.
    import(&place, &[(B, "储气库注气"), (A, "页岩气产量再创新高")]);
    let daemon = run();
    let mut second = heard(&received, &mut known, ("changed", A));
    second.sort();
    assert_eq!(second, [pair("changed", A), pair("deleted", B)]);
    drop(daemon);
}
