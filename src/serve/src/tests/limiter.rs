use std::future::poll_fn;
use std::net::IpAddr;
use std::task::Poll;

use tokio::time::Instant;

use super::*;
use crate::guard::client::Client;
use crate::guard::limiter::Limiter;
use crate::router::routes;
use crate::state::{Server, Shared};

fn limiter(requests_per_minute: u32, client_header: &str) -> Limiter {
    Limiter::new(&Config {
        requests_per_minute,
        client_header: client_header.to_owned(),
        ..Config::default()
    })
}

fn address(text: &str) -> Client {
    Client::from_address(text.parse().unwrap())
}

/// How many of `count` requests at one moment are answered.
fn answered(limiter: &Limiter, client: &str, count: usize, now: Instant) -> usize {
    (0..count)
        .filter(|_| limiter.take(address(client), now).is_ok())
        .count()
}

#[test]
fn limiter_pace_and_burst() {
    let limiter = limiter(60, "");
    let start = Instant::now();
    assert_eq!(answered(&limiter, "192.0.2.1", 30, start), 10);
    let wait = limiter.take(address("192.0.2.1"), start).unwrap_err();
    assert_eq!(wait, Duration::from_secs(1));
    // What was refused does not count: after the wait there is room for exactly one.
    assert_eq!(answered(&limiter, "192.0.2.1", 5, start + wait), 1);
    assert_eq!(
        answered(&limiter, "192.0.2.1", 30, start + Duration::from_secs(600)),
        10
    );
    // Another client is not touched by it; one line of IPv6 is one client.
    assert_eq!(answered(&limiter, "192.0.2.2", 30, start), 10);
    assert_eq!(answered(&limiter, "2001:db8::1", 30, start), 10);
    assert_eq!(answered(&limiter, "2001:db8::2", 30, start), 0);
    assert_eq!(answered(&limiter, "2001:db8:0:1::2", 30, start), 10);
}

#[test]
fn limiter_slow_pace() {
    let limiter = limiter(1, "");
    let start = Instant::now();
    assert_eq!(answered(&limiter, "192.0.2.1", 5, start), 1);
    assert_eq!(
        answered(&limiter, "192.0.2.1", 5, start + Duration::from_secs(60)),
        1
    );
}

#[test]
fn limiter_zero_is_unlimited() {
    assert_eq!(
        answered(&limiter(0, ""), "192.0.2.1", 5_000, Instant::now()),
        5_000
    );
}

#[test]
fn limiter_bounds_clients() {
    let limiter = limiter(60, "");
    let now = Instant::now();
    for at in 0..120_000_u32 {
        assert!(
            limiter
                .take(Client::from_address(IpAddr::from(at.to_be_bytes())), now)
                .is_ok()
        );
    }
}

#[test]
fn limiter_trusts_proxy_header() {
    let direct = limiter(60, "");
    let proxied = limiter(60, "X-Forwarded-For");
    let headers: HeaderMap = [("x-forwarded-for", "203.0.113.9, 198.51.100.7")]
        .into_iter()
        .map(|(n, v)| (n.parse().unwrap(), v.parse().unwrap()))
        .collect();
    let peer = |text: &str| Some(text.parse().unwrap());
    let none = HeaderMap::new();
    assert_eq!(
        direct.client(&headers, peer("192.0.2.1:5")),
        address("192.0.2.1")
    );
    assert_eq!(
        direct.client(&headers, peer("127.0.0.1:5")),
        Client::Machine
    );
    assert_eq!(direct.client(&headers, peer("[::1]:5")), Client::Machine);
    assert_eq!(
        direct.client(&headers, peer("[::ffff:127.0.0.1]:5")),
        Client::Machine
    );
    assert_eq!(direct.client(&none, None), Client::Machine);
    assert_eq!(
        proxied.client(&headers, peer("127.0.0.1:5")),
        address("198.51.100.7")
    );
    assert_eq!(
        proxied.client(&none, peer("192.0.2.1:5")),
        address("192.0.2.1")
    );
}

#[test]
fn client_header_forms() {
    let limiter = |header| limiter(60, header);
    let client = |limiter: &Limiter, header: &str, value: &[u8]| {
        let value = value.to_vec().try_into().unwrap();
        let headers = HeaderMap::from_iter([(header.parse().unwrap(), value)]);
        limiter.client(&headers, Some("127.0.0.1:5".parse().unwrap()))
    };
    let (v4, v6) = (address("198.51.100.7"), address("2001:db8::1"));
    let forwarded = limiter("x-forwarded-for");
    for (value, expected, case) in [
        ("198.51.100.7:5678", v4, "a port"),
        ("198.51.100.7", v4, "an address"),
        ("[2001:db8::1]:443", v6, "brackets and a port"),
        ("[2001:db8::1]", v6, "brackets"),
        ("2001:db8::1", v6, "an address of IPv6"),
        ("::ffff:198.51.100.7", v4, "IPv4 written as IPv6"),
        (
            "203.0.113.9:1, x, 198.51.100.7:5678 ",
            v4,
            "the last of a list",
        ),
        (
            "198.51.100.7, x",
            Client::Unreadable,
            "only the last counts",
        ),
        ("unknown", Client::Unreadable, "a word"),
        ("", Client::Unreadable, "nothing"),
        ("198.51.100.7:66000", Client::Unreadable, "no port"),
        ("[198.51.100.7]", Client::Unreadable, "IPv4 in brackets"),
        ("localhost:80", Client::Unreadable, "a name"),
    ] {
        let found = client(&forwarded, "x-forwarded-for", value.as_bytes());
        assert_eq!(found, expected, "{case}: {value}");
    }
    let found = client(&forwarded, "x-forwarded-for", b"198.51.100.7\xff");
    assert_eq!(found, Client::Unreadable);
    let standard = limiter("forwarded");
    for (value, expected) in [
        ("for=198.51.100.7;proto=http;by=203.0.113.43", v4),
        ("proto=https; For=\"[2001:db8::1]:4711\"", v6),
        ("for=192.0.2.43, for=198.51.100.7", v4),
        ("for=_hidden", Client::Unreadable),
        ("by=198.51.100.7", Client::Unreadable),
    ] {
        let found = client(&standard, "forwarded", value.as_bytes());
        assert_eq!(found, expected, "{value}");
    }
}

/// Whoever sends garbage gets no allowance of his own for it, and none without end.
#[test]
fn unreadable_clients_share_allowance() {
    let limiter = limiter(60, "x-forwarded-for");
    let now = Instant::now();
    let taken = (0..5_000).filter(|at| {
        let value = format!("garbage-{at}").parse().unwrap();
        let headers = HeaderMap::from_iter([("x-forwarded-for".parse().unwrap(), value)]);
        let client = limiter.client(&headers, Some("127.0.0.1:5".parse().unwrap()));
        limiter.take(client, now).is_ok()
    });
    assert_eq!(taken.count(), 10);
}

/// A client is limited by the time that it takes, and not by how often it asks for what costs nothing.
#[test]
fn limiter_counts_time() {
    let config = Config {
        requests_per_minute: 600,
        ..Config::default()
    };
    let limiter = Limiter::with_processors(&config, 2);
    let (start, greedy) = (Instant::now(), address("192.0.2.1"));
    let at = |seconds| start + Duration::from_secs(seconds);
    let spend = |seconds, now| limiter.charge(greedy, Duration::from_secs(seconds), now);
    // Twenty seconds at once, and half a second each second: a quarter of two processors.
    spend(20, start);
    assert_eq!(limiter.take(greedy, start), Ok(()));
    spend(5, start);
    let wait = Duration::from_secs(10);
    assert_eq!(limiter.take(greedy, start), Err(wait));
    assert_eq!(limiter.check(greedy, start), Err(wait));
    assert_eq!(limiter.take(greedy, start + wait), Ok(()));
    assert_eq!(limiter.take(address("192.0.2.2"), start), Ok(()));
    // It has to wait two minutes at most, and then all is as at first.
    spend(3_600, at(10));
    assert_eq!(limiter.take(greedy, at(10)), Err(Duration::from_secs(120)));
    assert_eq!(limiter.take(greedy, at(130)), Ok(()));
    spend(20, at(200));
    assert_eq!(limiter.take(greedy, at(200)), Ok(()));
    // Cheap ones: as many as the limit by number lets through.
    for tenth in 0..6_000 {
        let now = at(300) + Duration::from_millis(100 * tenth);
        assert_eq!(limiter.take(greedy, now), Ok(()));
        limiter.charge(greedy, Duration::from_millis(20), now);
    }
}

/// No limit for this machine, nor where the operator wants none.
#[test]
fn limiter_time_exempt() {
    let now = Instant::now();
    for (limiter, client) in [
        (limiter(600, ""), Client::Machine),
        (limiter(0, ""), address("192.0.2.1")),
    ] {
        limiter.charge(client, Duration::from_secs(3_600), now);
        assert_eq!(limiter.take(client, now), Ok(()));
        assert_eq!(limiter.check(client, now), Ok(()));
    }
}

#[tokio::test]
async fn limiter_sends_retry_after() {
    let app = router(state(Config {
        requests_per_minute: 6,
        client_header: "x-real-ip".to_owned(),
        ..Config::default()
    }));
    let request = |path: &str, accept: &str| {
        get_request(
            path,
            &[
                ("x-real-ip", "192.0.2.1"),
                ("accept", accept),
                ("accept-language", "zh"),
            ],
        )
    };
    assert_eq!(
        ask(&app, request("/api/search?q=a", "*/*")).await.status,
        StatusCode::OK
    );
    let refused = ask(&app, request("/api/search?q=a", "*/*")).await;
    refused.problem(429);
    let seconds: u64 = refused.header("retry-after").parse().unwrap();
    assert!((1..=10).contains(&seconds), "{seconds}");
    let page = ask(&app, request("/?q=a", "text/html")).await;
    assert_eq!(page.status, StatusCode::TOO_MANY_REQUESTS);
    assert!(page.body.contains("请求太频繁") && !page.header("retry-after").is_empty());
    for free in ["/healthz", "/metrics", "/assets/taojin.css"] {
        assert_eq!(
            ask(&app, request(free, "*/*")).await.status,
            StatusCode::OK,
            "{free}"
        );
    }
    assert_eq!(get("/api/search?q=a").await.status, StatusCode::OK);
}

/// A server with four places, one for each client, whose search for `slow` ends when the flag is cleared.
fn shared_server() -> (Router, Server, Arc<AtomicBool>) {
    let held = Arc::new(AtomicBool::new(true));
    let source = Arc::new(Fake {
        held: Arc::clone(&held),
        is_remote: false,
    });
    let config = Config {
        time_limit_ms: 25_000,
        concurrent_searches: 4,
        client_header: "x-real-ip".to_owned(),
        ..Config::default()
    };
    let state = ServeState {
        source,
        ..state(config)
    };
    let server = Arc::new(Shared::new(state, serde_json::Value::Null));
    (routes(Arc::clone(&server)), server, held)
}

fn search_of(client: &str, query: &str) -> Request<Body> {
    let headers = [("x-real-ip", client), ("accept", "text/html")];
    get_request(format!("/?q={query}"), &headers)
}

/// One client's searches that never end take no place of another's, and only a number of its requests waits.
#[tokio::test]
async fn client_share_of_searches() {
    let (app, _, held) = shared_server();
    let greedy = (0..40).map(|_| ask(&app, search_of("192.0.2.1", "slow")));
    let mut greedy: Vec<_> = greedy.map(Box::pin).collect();
    let mut quick = Box::pin(ask(&app, search_of("192.0.2.2", "a")));
    let mut refused = Vec::new();
    let answer = poll_fn(|cx| {
        greedy.retain_mut(|answer| match answer.as_mut().poll(cx) {
            Poll::Pending => true,
            Poll::Ready(answer) => {
                refused.push(answer);
                false
            }
        });
        quick.as_mut().poll(cx)
    })
    .await;
    held.store(false, Ordering::Relaxed);
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!((greedy.len(), refused.len()), (33, 7));
    for answer in refused {
        assert_eq!(answer.status, StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(answer.header("retry-after"), "2");
    }
}

/// Who has used up his time gets 429, for what waits already as well, while others and what costs nothing are answered.
#[tokio::test]
async fn overdrawn_client_waits() {
    let (app, server, held) = shared_server();
    let greedy = address("192.0.2.1");
    let mut slow = Box::pin(ask(&app, search_of("192.0.2.1", "slow")));
    let mut waiting = Box::pin(ask(&app, search_of("192.0.2.1", "a")));
    let have_to_wait = poll_fn(|cx| {
        let [slow, waiting] = [slow.as_mut().poll(cx), waiting.as_mut().poll(cx)];
        Poll::Ready(slow.is_pending() && waiting.is_pending())
    });
    assert!(have_to_wait.await);
    let hour = Duration::from_secs(3_600);
    server.limiter().charge(greedy, hour, Instant::now());
    let refused = ask(&app, search_of("192.0.2.1", "a")).await;
    let asset = get_request("/assets/taojin.css", &[("x-real-ip", "192.0.2.1")]);
    let asset = ask(&app, asset).await;
    let other = ask(&app, search_of("192.0.2.2", "a")).await;
    held.store(false, Ordering::Relaxed);
    let (slow, waiting) = tokio::join!(slow, waiting);
    for answer in [slow, asset, other] {
        assert_eq!(answer.status, StatusCode::OK);
    }
    for answer in [refused, waiting] {
        assert_eq!(answer.status, StatusCode::TOO_MANY_REQUESTS);
        let seconds: u64 = answer.header("retry-after").parse().unwrap();
        assert!((100..=120).contains(&seconds), "{seconds}");
    }
}
