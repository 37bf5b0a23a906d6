use super::server::{Server, Step, fetch_named, gate, http, uri};
use crate::fetch::client::Fetcher;
use crate::fetch::{Config, FetchError, Fetched, Refusal, Request};
use crate::outcome::{Failure, VisitOutcome};

pub(super) const PAGE: &str = "http://h.example/page";
pub(super) const HTML: &str = "Content-Type: text/html; charset=utf-8\r\n";

pub(super) async fn fetch(server: &Server) -> (Fetched, Vec<u8>) {
    let mut body = Vec::new();
    let request = Request::page(uri(PAGE));
    let fetched = fetch_named(&server.gate(), &request, &mut body).await;
    (fetched, body)
}

/// How a fetch ended, and why there is no page.
pub(super) type End = (VisitOutcome, Option<Failure>);

/// A page came whole.
pub(super) const CAME: End = (VisitOutcome::Page, None);

pub(super) fn failed(failure: Failure) -> End {
    (failure.outcome(), Some(failure))
}

pub(super) fn end_of(fetched: &Fetched) -> End {
    (fetched.outcome, fetched.failure)
}

pub(super) async fn outcome(server: &Server) -> End {
    end_of(&fetch(server).await.0)
}

/// How a fetch ends that waits so long for the next bytes of a body.
pub(super) async fn outcome_within(server: &Server, idle_timeout_ms: u64) -> End {
    let config = Config {
        idle_timeout_ms,
        ..server.config()
    };
    let gate = gate(config);
    let request = Request::page(uri(PAGE));
    end_of(&fetch_named(&gate, &request, &mut Vec::new()).await)
}

#[tokio::test]
async fn broken_answers_are_told_apart() {
    use Failure::{Decode, Protocol, Reset, Timeout, Truncated};
    let send = |bytes: &[u8]| Step::Send(bytes.to_vec());
    let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 9\r\n\r\n";
    let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n";
    let coded = |coding: &str, body: &[u8]| {
        let header = format!("Content-Encoding: {coding}\r\n");
        vec![send(&http("200 OK", &header, body))]
    };
    let rows = [
        (vec![Step::Hang], Timeout),
        (vec![send(b"HTTP/1.1 200"), Step::Hang], Timeout),
        (vec![send(head), send(b"1234"), Step::Hang], Timeout),
        (vec![], Reset),
        (vec![Step::Reset], Reset),
        (vec![send(b"HTTP/1.1 200 OK\r\nContent-Ty")], Reset),
        (vec![send(head), send(b"1234")], Truncated),
        (vec![send(head), send(b"1234"), Step::Reset], Truncated),
        (vec![send(chunked)], Truncated),
        (vec![send(chunked), send(b"zz\r\n")], Truncated),
        (vec![send(b"SSH-2.0-OpenSSH_9.2\r\n"), Step::Hang], Protocol),
        (vec![send(b"\x00\x01\x02\x03\r\n\r\n")], Protocol),
        (
            vec![send(b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nx")],
            Protocol,
        ),
        (coded("gzip", b"not gzip at all"), Decode),
        (coded("br", &[0xff; 64]), Decode),
        (coded("zstd", b"not zstd at all"), Decode),
        (coded("lzma", b"x"), Decode),
        (coded("gzip, gzip", b"x"), Decode),
    ];
    for (i, (steps, failure)) in rows.into_iter().enumerate() {
        // Only who waits for a timeout is impatient.
        let idle_ms = if failure == Timeout { 300 } else { 60_000 };
        let server = Server::start(move |_| steps.clone()).await;
        let end = outcome_within(&server, idle_ms).await;
        assert_eq!(end, failed(failure), "row {i}");
    }
}

#[tokio::test]
async fn fetch_unreachable_kinds() {
    let server = Server::always(http("200 OK", HTML, b"x")).await;
    let mut config = server.config();
    // a port that was just given back
    let free = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let closed = free.local_addr().unwrap().to_string();
    drop(free);
    config
        .hosts
        .insert("closed.example".to_owned(), closed.try_into().unwrap());
    let to_server = server.address.to_string().try_into().unwrap();
    config.hosts.insert(
        "private.example".to_owned(),
        "10.1.2.3".to_owned().try_into().unwrap(),
    );
    config.hosts.insert("plain.example".to_owned(), to_server);
    config.hosts.insert("石油.Example".to_owned(), to_server);
    let gate = gate(config);
    let fetch = async |text: &str| {
        let request = Request::page(uri(text));
        fetch_named(&gate, &request, &mut Vec::new()).await
    };
    let end = async |text: &str| end_of(&fetch(text).await);
    let refused = async |text: &str, refusal: Refusal| {
        let fetched = fetch(text).await;
        assert_eq!(end_of(&fetched), failed(Failure::Address), "{text}");
        assert_eq!(fetched.describe(), refusal.to_string());
    };
    assert_eq!(
        end("http://closed.example/").await,
        failed(Failure::ConnectionRefused)
    );
    assert_eq!(end("https://plain.example/").await, failed(Failure::Tls));
    let address = |ip: &str, range| Refusal::Address(ip.parse().unwrap(), range);
    refused("http://private.example/", address("10.1.2.3", "private")).await;
    let link_local = address("169.254.169.254", "link-local");
    refused("http://2852039166/latest", link_local).await;
    let port = server.address.port();
    let loopback = address("::1", "loopback");
    refused(&format!("http://[::1]:{port}/"), loopback).await;
    refused("http://h.example:22/", Refusal::Port(22)).await;
    assert_eq!(end("http://石油.example/").await, CAME);
    // `.invalid` has no address anywhere (RFC 2606), with and without a name server
    assert_eq!(end("http://nowhere.invalid/").await, failed(Failure::Dns));
    assert_eq!(end(&format!("http://127.0.0.1:{port}/")).await, CAME);
}

#[tokio::test]
async fn fetch_loopback_name_is_refused() {
    let server = Server::always(http("200 OK", HTML, b"secret")).await;
    let config = Config {
        allow_addresses: Vec::new(),
        ..server.config()
    };
    let gate = gate(config);
    for host in ["h.example", "localhost"] {
        let text = format!("http://{host}:{}/", server.address.port());
        let fetched = fetch_named(&gate, &Request::page(uri(&text)), &mut Vec::new()).await;
        assert_eq!(end_of(&fetched), failed(Failure::Address), "{host}");
        assert!(fetched.describe().contains("loopback"), "{host}");
    }
    assert!(server.asked().is_empty(), "not one byte may have been sent");
}

#[tokio::test]
async fn statuses_become_outcomes() {
    use VisitOutcome::{Busy, Denied, Gone, NotFound, Page, Redirect, ServerError};
    let plain = |outcome| ((outcome, None), None, None);
    let wrong = |failure| (failed(failure), None, None);
    let to = |text: &str| ((Redirect, None), Some(uri(text)), None);
    let busy = |retry_after_ms| ((Busy, None), None, retry_after_ms);
    let rows = [
        ("200 OK", "", plain(Page)),
        ("203 OK", HTML, plain(Page)),
        ("204 No Content", "", plain(Page)),
        (
            "200 OK",
            "Content-Type: image/png\r\n",
            wrong(Failure::ContentType),
        ),
        (
            "301 Moved",
            "Location: /new\r\n",
            to("http://h.example/new"),
        ),
        (
            "308 Moved",
            "Location: //o.example\r\n",
            to("http://o.example/"),
        ),
        ("302 Found", "Location: page\r\n", to(PAGE)),
        (
            "307 Found",
            "Location: https://h.example/\r\n",
            to("https://h.example/"),
        ),
        ("302 Found", "", wrong(Failure::BadRedirect)),
        (
            "302 Found",
            "Location: file:///etc/passwd\r\n",
            wrong(Failure::BadRedirect),
        ),
        ("304 Not Modified", "", plain(ServerError)),
        ("300 Choices", "", plain(ServerError)),
        ("401 Unauthorized", "", plain(Denied)),
        ("403 Forbidden", "", plain(Denied)),
        ("451 Legal", "", plain(Denied)),
        ("404 Not Found", HTML, plain(NotFound)),
        ("410 Gone", "", plain(Gone)),
        ("408 Timeout", "", plain(ServerError)),
        ("429 Too Many", "", busy(None)),
        ("429 Too Many", "Retry-After: 7\r\n", busy(Some(7_000))),
        (
            "429 Too Many",
            "Retry-After: Thu, 01 Jan 1970 00:01:00 GMT\r\n",
            busy(Some(60_000)),
        ),
        (
            "503 Busy",
            "Retry-After: 999999999\r\n",
            busy(Some(86_400_000)),
        ),
        ("500 Oops", "Retry-After: 7\r\n", plain(ServerError)),
        ("599 Odd", "", plain(ServerError)),
        ("999 LinkedIn", "", plain(ServerError)),
    ];
    for (status, headers, want) in rows {
        let server = Server::always(http(status, headers, b"")).await;
        let (fetched, _) = fetch(&server).await;
        let target = fetched.redirect_target().cloned();
        let found = (end_of(&fetched), target, fetched.asked_pause_ms());
        assert_eq!(found, want, "{status} {headers}");
    }
}

/// What a server with a script was asked, and how the fetch of the page ended.
async fn asked_of(script: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) -> (Vec<String>, End) {
    let server = Server::start(move |path| vec![Step::Send(script(path))]).await;
    let end = outcome(&server).await;
    (server.asked(), end)
}

#[tokio::test]
async fn fetch_returns_first_cookie() {
    let times = std::sync::atomic::AtomicUsize::new(0);
    let (asked, end) =
        asked_of(
            move |_| match times.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
                0 => http(
                    "302 Found",
                    "Set-Cookie: visit=7; Path=/; HttpOnly\r\nLocation: /page\r\n",
                    b"",
                ),
                _ => http("200 OK", HTML, b"<p>text"),
            },
        )
        .await;
    assert_eq!((asked.len(), end), (2, CAME));
    assert!(!asked[0].to_ascii_lowercase().contains("cookie:"));
    assert!(
        asked[1]
            .to_ascii_lowercase()
            .contains("cookie: visit=7\r\n")
    );
    // By way of another address of the host that names the page.
    let (asked, end) = asked_of(|path| match path {
        "/check?to=%2Fpage" => http(
            "302 Found",
            "Set-Cookie: passed=1\r\nLocation: /page\r\n",
            b"",
        ),
        _ => http(
            "302 Found",
            "Set-Cookie: visit=7\r\nLocation: /check?to=%2Fpage\r\n",
            b"",
        ),
    })
    .await;
    assert_eq!(end, (VisitOutcome::Redirect, None));
    let paths: Vec<&str> = asked
        .iter()
        .filter_map(|head| head.split(' ').nth(1))
        .collect();
    assert_eq!(paths, ["/page", "/check?to=%2Fpage", "/page"]);
}

#[tokio::test]
async fn fetch_bounds_cookie_rounds() {
    let cookie = "Set-Cookie: visit=7\r\n";
    for (cookie, to) in [
        (cookie, "/other"),
        (cookie, "http://b.example/page"),
        (cookie, "/login?from=x"),
        ("", "/page"),
    ] {
        let headers = format!("{cookie}Location: {to}\r\n");
        let (asked, end) = asked_of(move |_| http("302 Found", &headers, b"")).await;
        assert_eq!(
            (asked.len(), end),
            (1, (VisitOutcome::Redirect, None)),
            "{to}"
        );
    }
    let times = std::sync::atomic::AtomicUsize::new(0);
    let (asked, end) = asked_of(move |_| {
        let n = times.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        http(
            "302 Found",
            &format!("Set-Cookie: n={n}\r\nLocation: /page\r\n"),
            b"",
        )
    })
    .await;
    assert_eq!((asked.len(), end), (5, (VisitOutcome::Redirect, None)));
}

#[tokio::test]
async fn fetch_known_page_is_conditional() {
    let headers = "ETag: \"v2\"\r\nLast-Modified: Tue, 14 Nov 2023 22:13:20 GMT\r\n";
    let server = Server::always(http("304 Not Modified", headers, b"")).await;
    let request = Request {
        etag: Some("W/\"v1\"".to_owned()),
        last_modified: Some("Mon, 13 Nov 2023 00:00:00 GMT".to_owned()),
        ..Request::page(uri(PAGE))
    };
    let fetched = fetch_named(&server.gate(), &request, &mut Vec::new()).await;
    assert_eq!(end_of(&fetched), (VisitOutcome::NotModified, None));
    assert_eq!(fetched.head.etag.as_deref(), Some("\"v2\""));
    let asked = server.asked().remove(0).to_ascii_lowercase();
    for line in [
        "get /page http/1.1\r\n",
        "if-none-match: w/\"v1\"\r\n",
        "if-modified-since: mon, 13 nov 2023 00:00:00 gmt\r\n",
        "host: h.example\r\n",
        "user-agent: taojin/",
        "accept-language: zh-cn",
        "accept-encoding: gzip, br, zstd, deflate\r\n",
    ] {
        assert!(asked.contains(line), "{line} in {asked}");
    }
    assert!(!asked.contains("cookie") && !asked.contains("referer"));
    // a value that no server of good will sent cannot break the request
    let request = Request {
        etag: Some("a\r\nX-Injected: 1".to_owned()),
        ..Request::page(uri(PAGE))
    };
    fetch_named(&server.gate(), &request, &mut Vec::new()).await;
    assert!(!server.asked()[1].contains("X-Injected"));
}

#[test]
fn config_error_names_key() {
    let config = Config {
        user_agent: "a\nb".to_owned(),
        ..Config::default()
    };
    let error = Fetcher::new(config).err().unwrap();
    assert!(matches!(error, FetchError::HeaderText("user_agent", _)));
    assert!(error.to_string().contains("fetch.user_agent"));
    let config = Config {
        proxy: Some("no proxy".to_owned()),
        ..Config::default()
    };
    let error = Fetcher::new(config).err().unwrap();
    assert!(error.to_string().contains("fetch.proxy"), "{error}");
}

#[test]
fn settings_are_read_and_checked() {
    let config: Config = toml::from_str(
        "allow_addresses = ['127.0.0.0/8']\nhosts = { 'a.example' = '127.0.0.1', 'b.example' = '[::1]:81' }",
    )
    .unwrap();
    assert_eq!(config.hosts.len(), 2);
    let again: Config = toml::from_str(&toml::to_string(&config).unwrap()).unwrap();
    assert_eq!(again, config);
    for wrong in [
        "colour = 1",
        "allow_addresses = ['localhost']",
        "hosts = { 'a.example' = 'b.example' }",
    ] {
        assert!(toml::from_str::<Config>(wrong).is_err(), "{wrong}");
    }
    let agent = |user_agent: &str, robots_agent: &str| {
        let config = Config {
            user_agent: user_agent.to_owned(),
            robots_agent: robots_agent.to_owned(),
            ..Config::default()
        };
        (config.robots_token().to_owned(), config.names_contact())
    };
    assert_eq!(
        agent("taojin/0.1 (+https://a.example)", ""),
        ("taojin".to_owned(), true)
    );
    assert_eq!(
        agent("Oil-News_bot", ""),
        ("Oil-News_bot".to_owned(), false)
    );
    assert_eq!(
        agent("x/1 mail@a.example", "taojin"),
        ("taojin".to_owned(), true)
    );
}
