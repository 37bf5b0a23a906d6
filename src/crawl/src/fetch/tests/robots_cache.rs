use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::server::{Server, Step, TestClock, http, uri};
use crate::fetch::robots_cache::{Access, RobotsCache, Verdict};
use crate::fetch::{Gate, Turn};
use crate::outcome::Failure;

const HOUR_MS: i64 = 3_600_000;

/// A server whose robots.txt can be exchanged: an index into a list of answers.
async fn switched(answers: Vec<Vec<u8>>) -> (Server, Arc<AtomicUsize>) {
    let switch = Arc::new(AtomicUsize::new(0));
    let at = Arc::clone(&switch);
    let server = Server::start(move |_| match answers.get(at.load(Ordering::SeqCst)) {
        Some(answer) => vec![Step::Send(answer.clone())],
        None => vec![Step::Reset],
    })
    .await;
    (server, switch)
}

fn file(body: &str) -> Vec<u8> {
    http(
        "200 OK",
        "Content-Type: text/plain\r\nETag: \"1\"\r\n",
        body.as_bytes(),
    )
}

/// A gate whose requests go to a server, with the clock that it goes by.
struct Asker {
    gate: Gate,
    clock: Arc<TestClock>,
}

impl Asker {
    fn new(server: &Server) -> Self {
        let clock = Arc::new(TestClock::default());
        let gate = Gate::new(server.config(), 300_000, clock.clone()).unwrap();
        Self { gate, clock }
    }

    /// What a cache says of a path at a time, and how many requests that took.
    async fn ask(&self, cache: &RobotsCache, path: &str, now_ms: i64) -> (Verdict, u32) {
        self.clock.set(now_ms);
        let mut turn = Turn::for_person(0);
        let uri = uri(&format!("http://h.example{path}"));
        let verdict = cache.verdict(&self.gate, &uri, &mut turn).await;
        (verdict, turn.requests())
    }

    async fn access(&self, cache: &RobotsCache, path: &str, now_ms: i64) -> Access {
        self.ask(cache, path, now_ms).await.0.access
    }
}

fn is_allowed(access: &Access) -> bool {
    matches!(access, Access::Allowed(_))
}

async fn access_after(answer: Vec<u8>, path: &str) -> Access {
    let server = Server::always(answer).await;
    Asker::new(&server)
        .access(&RobotsCache::new(), path, 0)
        .await
}

/// What decides over a page, in a form that tests can write down.
#[derive(Debug, PartialEq)]
enum End {
    Allowed,
    Refused,
    Unreachable(i64, &'static str, Option<u16>),
}

fn end_of(access: &Access) -> End {
    match access {
        Access::Allowed(_) => End::Allowed,
        Access::Refused(_) => End::Refused,
        Access::Unreachable {
            retry_at_ms,
            trouble,
        } => {
            let outcome = trouble.outcome.as_str();
            let word = trouble.failure.map_or(outcome, Failure::as_str);
            End::Unreachable(*retry_at_ms, word, trouble.status)
        }
    }
}

/// How many files are known.
fn count(cache: &RobotsCache) -> usize {
    cache.locked().by_file.len()
}

#[tokio::test]
async fn robots_status_decides_access() {
    let unreachable = End::Unreachable;
    for (status, headers, want) in [
        (
            "500 Oops",
            "",
            unreachable(60_000, "server_error", Some(500)),
        ),
        (
            "503 Busy",
            "Retry-After: 7200\r\n",
            unreachable(2 * HOUR_MS, "busy", Some(503)),
        ),
        (
            "429 Too Many",
            "Retry-After: 1\r\n",
            unreachable(60_000, "busy", Some(429)),
        ),
        (
            "301 Moved",
            "Location: http://127.0.0.1:22/\r\n",
            unreachable(60_000, "guard", None),
        ),
        ("404 Not Found", "", End::Allowed),
        ("410 Gone", "", End::Allowed),
        ("401 Who", "", End::Allowed),
        ("403 No", "", End::Allowed),
        ("408 Slow", "", End::Allowed),
        ("301 Moved", "", End::Allowed),
        ("301 Moved", "Location: /robots.txt\r\n", End::Allowed),
    ] {
        let body = b"user-agent: *\ndisallow: /";
        assert_eq!(
            end_of(&access_after(http(status, headers, body), "/").await),
            want,
            "{status} {headers}"
        );
    }
    let (server, switch) = switched(Vec::new()).await;
    switch.store(9, Ordering::SeqCst);
    let access = Asker::new(&server)
        .access(&RobotsCache::new(), "/", 5)
        .await;
    assert_eq!(end_of(&access), unreachable(60_005, "reset", None));
}

#[tokio::test]
async fn robots_cache_fetches_once_daily() {
    let (server, _) = switched(vec![file(
        "user-agent: *\ndisallow: /no\ncrawl-delay: 3\nsitemap: /s.xml",
    )])
    .await;
    let (asker, cache) = (Arc::new(Asker::new(&server)), Arc::new(RobotsCache::new()));
    let tasks: Vec<_> = (0..20)
        .map(|i| {
            let (asker, cache) = (Arc::clone(&asker), Arc::clone(&cache));
            tokio::spawn(async move { asker.ask(&cache, &format!("/{i}"), 0).await })
        })
        .collect();
    let mut all = 0;
    for task in tasks {
        let (verdict, requests) = task.await.unwrap();
        assert_eq!(verdict.access, Access::Allowed(None));
        assert_eq!(verdict.crawl_delay_ms, Some(3_000));
        assert_eq!(verdict.sitemaps[0].as_str(), "http://h.example/s.xml");
        all += requests;
    }
    assert_eq!((all, server.asked().len()), (1, 1));
    let (refused, requests) = asker.ask(&cache, "/no", 24 * HOUR_MS - 1).await;
    assert!(
        matches!(&refused.access, Access::Refused(rule) if rule.line == 2),
        "{refused:?}"
    );
    assert_eq!(requests, 0);
    assert_eq!(asker.ask(&cache, "/no", 24 * HOUR_MS).await.1, 1);
    assert!(
        server.asked()[1]
            .to_ascii_lowercase()
            .contains("if-none-match: \"1\"")
    );
}

#[tokio::test]
async fn robots_cache_uses_stale_file() {
    let (server, switch) = switched(vec![
        file("user-agent: *\ndisallow: /no"),
        http("500 Oops", "", b""),
        http("304 Not Modified", "", b""),
        file("user-agent: *\ndisallow: /other"),
    ])
    .await;
    let (asker, cache) = (Asker::new(&server), RobotsCache::new());
    let allowed = async |path: &str, now_ms| is_allowed(&asker.access(&cache, path, now_ms).await);
    assert!(!allowed("/no", 0).await);
    switch.store(1, Ordering::SeqCst);
    let mut now_ms = 24 * HOUR_MS;
    assert!(!allowed("/no", now_ms).await && allowed("/yes", now_ms).await);
    assert_eq!(
        server.asked().len(),
        2,
        "the failure is remembered for a minute"
    );
    // 1, 2, 4 … minutes
    for wait_ms in [60_000, 120_000, 240_000] {
        assert!(!allowed("/no", now_ms + wait_ms - 1).await);
        now_ms += wait_ms;
        let before = server.asked().len();
        assert!(!allowed("/no", now_ms).await);
        assert_eq!(server.asked().len(), before + 1);
    }
    switch.store(2, Ordering::SeqCst);
    now_ms += HOUR_MS;
    assert!(!allowed("/no", now_ms).await, "confirmed");
    switch.store(1, Ordering::SeqCst);
    now_ms += 31 * 24 * HOUR_MS;
    let access = asker.access(&cache, "/yes", now_ms).await;
    assert!(
        matches!(access, Access::Unreachable { .. }),
        "a month is too old: {access:?}"
    );
    switch.store(3, Ordering::SeqCst);
    now_ms += HOUR_MS;
    assert!(allowed("/no", now_ms).await && !allowed("/other", now_ms).await);
}

#[tokio::test]
async fn redirects_are_followed_five_times() {
    for (hops, allowed) in [(5, false), (6, true)] {
        let server = Server::start(move |path| {
            let n: usize = path.strip_prefix("/hop").map_or(0, |n| n.parse().unwrap());
            vec![Step::Send(if n == hops {
                file("user-agent: *\ndisallow: /")
            } else {
                http("302 Found", &format!("Location: /hop{}\r\n", n + 1), b"")
            })]
        })
        .await;
        let (verdict, requests) = Asker::new(&server).ask(&RobotsCache::new(), "/", 0).await;
        assert_eq!(is_allowed(&verdict.access), allowed, "{hops} hops");
        assert_eq!(requests, 6);
    }
}

#[tokio::test]
async fn robots_endless_file_counts() {
    let mut endless =
        b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\nuser-agent: *\ndisallow: /\n"
            .to_vec();
    endless.resize(600 << 10, b'\n');
    let steps = vec![Step::Send(endless), Step::Hang];
    let server = Server::start(move |_| steps.clone()).await;
    let access = Asker::new(&server)
        .access(&RobotsCache::new(), "/", 0)
        .await;
    assert_eq!(end_of(&access), End::Refused);
}

#[tokio::test]
async fn robots_file_per_authority() {
    let server = Server::always(file("user-agent: *\ndisallow: /")).await;
    let (asker, cache) = (Asker::new(&server), RobotsCache::new());
    let port = server.address.port();
    for text in [
        "http://h.example/a".to_owned(),
        format!("http://h.example:{port}/a"),
        format!("http://127.0.0.1:{port}/"),
    ] {
        let mut turn = Turn::for_person(0);
        let verdict = cache.verdict(&asker.gate, &uri(&text), &mut turn).await;
        assert_eq!(end_of(&verdict.access), End::Refused);
    }
    assert_eq!((count(&cache), server.asked().len()), (3, 3));
}

#[tokio::test]
async fn robots_cache_survives_restart() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("robots.json");
    let text = "User-agent: *\nDisallow: /secret\nCrawl-delay: 3\nSitemap: /map.xml\n";
    let server = Server::always(file(text)).await;
    let asker = Asker::new(&server);
    let first = RobotsCache::new();
    let (before, requests) = asker.ask(&first, "/secret/1", 0).await;
    assert!(matches!(before.access, Access::Refused(_)) && requests == 1);
    first.save(&path, "taojin").unwrap();

    let second = RobotsCache::open(&path, "taojin");
    let after = asker.ask(&second, "/secret/1", 1_000).await;
    assert_eq!(after, (before, 0));
    let (_, requests) = asker.ask(&second, "/secret/1", 24 * HOUR_MS + 1).await;
    assert_eq!(requests, 1, "a saved file lives no longer than a day");
    assert_eq!(count(&RobotsCache::open(&path, "another")), 0);

    let good = std::fs::read(&path).unwrap();
    for end in 0..good.len() {
        std::fs::write(&path, &good[..end]).unwrap();
        assert_eq!(
            count(&RobotsCache::open(&path, "taojin")),
            0,
            "cut at {end}"
        );
    }
}

/// A file that was read while the clock was a year ahead is read again, not kept for a year.
#[tokio::test]
async fn robots_cache_clock_ahead() {
    let (server, switch) = switched(vec![
        file("User-agent: *\nDisallow: /\n"),
        file("User-agent: *\nDisallow:\n"),
    ])
    .await;
    let (cache, asker) = (RobotsCache::new(), Asker::new(&server));
    let ahead = asker.access(&cache, "/a", 365 * 24 * HOUR_MS).await;
    assert!(!is_allowed(&ahead), "{ahead:?}");
    switch.store(1, Ordering::SeqCst);
    let right = asker.ask(&cache, "/a", HOUR_MS).await;
    assert_eq!(right.1, 1, "{right:?}");
}
