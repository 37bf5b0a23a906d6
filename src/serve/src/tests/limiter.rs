use std::net::IpAddr;

use tokio::time::Instant;

use super::*;
use crate::guard::limiter::Limiter;

fn limiter(requests_per_minute: u32, client_header: &str) -> Limiter {
    Limiter::new(&Config {
        requests_per_minute,
        client_header: client_header.to_owned(),
        ..Config::default()
    })
}

fn address(text: &str) -> IpAddr {
    text.parse().unwrap()
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
        assert!(limiter.take(IpAddr::from(at.to_be_bytes()), now).is_ok());
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
        Some(address("192.0.2.1"))
    );
    assert_eq!(direct.client(&headers, peer("127.0.0.1:5")), None);
    assert_eq!(direct.client(&headers, peer("[::1]:5")), None);
    assert_eq!(direct.client(&headers, peer("[::ffff:127.0.0.1]:5")), None);
    assert_eq!(direct.client(&none, None), None);
    assert_eq!(
        proxied.client(&headers, peer("127.0.0.1:5")),
        Some(address("198.51.100.7"))
    );
    assert_eq!(
        proxied.client(&none, peer("192.0.2.1:5")),
        Some(address("192.0.2.1"))
    );
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
