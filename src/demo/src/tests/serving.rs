//! What the wire says: conditions, statuses, charsets, the log.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::super::{
    Answer, Body, Delivery, Encoding, Request, Server, Template, TrapKind, World, serve,
};
use super::{NOW_MS, bytes, get, world};

fn again(world: &World, url: &str, first: &Answer) -> Answer {
    let rest = url.strip_prefix("http://").unwrap();
    let (authority, path) = rest.split_once('/').unwrap();
    let target = format!("/{path}");
    let request = Request {
        host: authority,
        target: &target,
        if_none_match: first.header("etag"),
        if_modified_since: first.header("last-modified"),
        asked_before: 2,
        nonce: 100,
        ..Request::default()
    };
    world.answer(&request).unwrap()
}

#[test]
fn unchanged_pages_answer_304_in_the_next_round_and_changed_ones_do_not() {
    let before = world();
    let mut after = before.clone();
    after.advance(NOW_MS + 3_600_000);
    let (mut same, mut fresh) = (0, 0);
    for article in &before.articles {
        let url = before.url(article);
        let first = get(&before, &url);
        let second = again(&after, &url, &first);
        let changed = after.articles[article.index].changed_round.is_some();
        if before.site_of(article).template == Template::Forum {
            assert_eq!(
                first.header("etag"),
                None,
                "a forum page is made anew for each visitor"
            );
            assert_eq!(second.status, 200);
        } else if changed {
            assert_eq!(second.status, 200, "{url}");
            fresh += 1;
        } else {
            assert_eq!(second.status, 304, "{url}");
            assert!(bytes(&second).is_empty());
            same += 1;
        }
    }
    assert!(fresh >= 1 && same > 140, "{fresh} {same}");
}

#[test]
fn hubs_change_when_something_new_is_on_them() {
    let before = world();
    let mut after = before.clone();
    after.advance(NOW_MS + 3_600_000);
    for site in &before.sites {
        let seed = &site.seeds[0];
        let first = get(&before, seed);
        assert_eq!(first.status, 200, "{seed}");
        assert_eq!(again(&after, seed, &first).status, 200, "{seed}");
        if site.template != Template::Forum {
            assert_eq!(again(&before, seed, &first).status, 304, "{seed}");
        }
    }
}

#[test]
fn every_site_has_settings_that_the_crawler_takes() {
    let world = world();
    for site in &world.sites {
        let settings = site.settings();
        assert_eq!(settings.check(), Ok(()), "{}", site.name);
        for feed in &settings.feeds {
            assert_eq!(get(&world, feed).status, 200, "{feed}");
        }
    }
}

#[test]
fn charsets_are_declared_rightly_wrongly_or_not_at_all() {
    let world = world();
    for article in &world.articles {
        let answer = get(&world, &world.url(article));
        let header = answer.header("content-type").unwrap_or_default();
        let page = String::from_utf8_lossy(bytes(&answer)).to_ascii_lowercase();
        let head = page.split_once("<title>").map_or("", |(head, _)| head);
        let declared = (
            header.contains("charset"),
            head.contains("charset=gb2312"),
            head.contains("utf-8"),
        );
        let expected = match article.encoding {
            Encoding::Utf8 => continue,
            Encoding::GbkInPage | Encoding::Utf8DeclaredGb2312 => (false, true, false),
            Encoding::GbkInHeader => (true, false, false),
            Encoding::GbkUndeclared | Encoding::Utf8Undeclared => (false, false, false),
            Encoding::GbkDeclaredUtf8 => (false, false, true),
        };
        assert_eq!(
            declared, expected,
            "{:?} {}",
            article.encoding, article.path
        );
    }
}

#[test]
fn session_numbers_differ_from_request_to_request() {
    let world = world();
    let seed = world
        .sites
        .iter()
        .find(|site| site.template == Template::Forum)
        .unwrap()
        .seeds[0]
        .clone();
    let request = |nonce| {
        let path = seed.rsplit_once('/').unwrap().1;
        let target = format!("/{path}");
        let request = Request {
            host: "petro-forum.localhost",
            target: &target,
            nonce,
            ..Request::default()
        };
        world.answer(&request).unwrap()
    };
    assert_ne!(request(1), request(2));
    assert_eq!(request(1), request(1));
}

#[test]
fn the_bomb_unpacks_to_much_more_than_it_weighs() {
    let world = world();
    let trap = world
        .traps
        .iter()
        .find(|trap| trap.kind == TrapKind::Bomb)
        .unwrap();
    let request = Request {
        host: &trap.authority,
        target: &trap.prefix,
        accepts_gzip: true,
        ..Request::default()
    };
    let answer = world.answer(&request).unwrap();
    assert_eq!(answer.header("content-encoding"), Some("gzip"));
    assert!(bytes(&answer).len() * 100 < 16 << 20);
}

#[test]
fn large_worlds_fill_their_pages_up() {
    let mut world = World::generate_sized(2, NOW_MS, 80, 300);
    world.page_bytes = 30_000;
    for article in world.articles.iter().take(40) {
        let size = bytes(&get(&world, &world.url(article))).len();
        assert!((22_000..=30_200).contains(&size), "{size} {}", article.path);
    }
}

async fn http_get(port: u16, host: &str, target: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let request = format!("GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut out = Vec::new();
    let _ = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut out))
        .await
        .unwrap();
    String::from_utf8_lossy(&out).into_owned()
}

/// The bundled world on a free port, slow pages taking 30 ms. Dropping the sender stops it.
struct Running {
    server: Arc<Server>,
    port: u16,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<io::Result<()>>,
}

impl Running {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = Server::with_slow_ms(World::generate(7, NOW_MS, port), 30);
        let (stop, stopped) = oneshot::channel::<()>();
        let serving = tokio::spawn(serve(server.clone(), listener, async {
            let _ = stopped.await;
        }));
        Self {
            server,
            port,
            stop,
            serving,
        }
    }

    /// What a host of the world (or another one) answers to a GET, headers included.
    async fn get(&self, host: &str, target: &str) -> String {
        let host = match host.contains('.') {
            true => host.to_owned(),
            false => self.authority(host),
        };
        http_get(self.port, &host, target).await
    }

    fn authority(&self, site: &str) -> String {
        format!("{site}.localhost:{}", self.port)
    }

    fn path_of(&self, delivery: Delivery) -> String {
        let world = self.server.world();
        let article = world
            .articles
            .iter()
            .find(|article| article.delivery == delivery);
        article.unwrap().path.clone()
    }
}

#[tokio::test]
async fn the_server_answers_by_host_and_counts() {
    let web = Running::start().await;
    let (throttled, slow) = (
        web.path_of(Delivery::Throttled),
        web.path_of(Delivery::Slow),
    );
    let first = web.get("huadong-gas", &throttled).await;
    assert!(
        first.starts_with("HTTP/1.1 429") && first.contains("retry-after: 1"),
        "{first}"
    );
    assert!(
        web.get("huadong-gas", &throttled)
            .await
            .starts_with("HTTP/1.1 200")
    );
    assert!(
        web.get("huadong-gas", &slow)
            .await
            .starts_with("HTTP/1.1 200")
    );
    assert!(web.get("bohai-energy", "/").await.contains("渤海能源报"));
    assert!(
        web.get("127.0.0.1", "/status")
            .await
            .starts_with("HTTP/1.1 421")
    );
    let server = &web.server;
    let agency = web.authority("huadong-gas");
    assert_eq!(server.hits(&format!("http://{agency}{throttled}")), 2);
    assert_eq!(server.hits_under(&format!("http://{agency}/article")), 3);
    assert_eq!(server.total(), 5);
    let statuses: Vec<u16> = server.log_of_hits().iter().map(|hit| hit.status).collect();
    assert_eq!(statuses, [429, 200, 200, 200, 421]);
    assert_eq!(server.unknown_host_hits().len(), 1);
    assert_eq!(server.triggered_traps(), []);
    server.clear_log();
    assert_eq!(server.hits_under(&format!("http://{agency}/")), 0);
}

#[tokio::test]
async fn a_trap_that_is_entered_too_often_is_reported() {
    let web = Running::start().await;
    let article = web.server.world().articles[0].path.clone();
    web.get("bohai-energy", &format!("{article}?print=1")).await;
    web.get("petro-forum", "/thread-1-1-1.html?sid=1").await;
    web.get("petro-forum", "/thread-1-1-1.html?sid=2").await;
    let triggered: Vec<(TrapKind, u32)> = web
        .server
        .triggered_traps()
        .into_iter()
        .map(|(trap, count)| (trap.kind, count))
        .collect();
    assert_eq!(triggered, [(TrapKind::Refused, 1), (TrapKind::Session, 2)]);
}

#[tokio::test]
async fn the_server_goes_on_to_the_next_round_and_stops() {
    let web = Running::start().await;
    web.server.advance(NOW_MS + 3_600_000);
    assert_eq!(web.server.world().round, 2);
    web.stop.send(()).unwrap();
    web.serving.await.unwrap().unwrap();
}

#[tokio::test]
async fn the_endless_page_goes_on_until_the_client_leaves() {
    let web = Running::start().await;
    let (server, port) = (&web.server, web.port);
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let request =
        format!("GET /data/history HTTP/1.1\r\nHost: huadong-gas.localhost:{port}\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut taken = 0;
    let mut buffer = vec![0; 1 << 16];
    while taken < 5 << 20 {
        taken += stream.read(&mut buffer).await.unwrap();
    }
    drop(stream);
    assert!(server.endless_bytes() >= 5 << 20);
}

#[test]
fn a_host_of_another_world_gets_no_answer() {
    let request = Request {
        host: "127.0.0.1:80",
        target: "/",
        ..Request::default()
    };
    assert_eq!(world().answer(&request), None);
    assert!(matches!(
        get(&world(), &world().sites[0].url("/nothing")).body,
        Body::Bytes(_)
    ));
    assert_eq!(get(&world(), &world().sites[0].url("/nothing")).status, 404);
}
