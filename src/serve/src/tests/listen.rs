use std::io;
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::*;

async fn start(config: Config) -> (SocketAddr, oneshot::Sender<()>, JoinHandle<io::Result<()>>) {
    let listener = bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel();
    let running = tokio::spawn(serve(listener, state(config), async {
        stopped.await.ok();
    }));
    (address, stop, running)
}

async fn fetch(stream: &mut TcpStream) -> String {
    stream
        .write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
        .await
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn serve_stops_on_signal() {
    let (address, stop, running) = start(Config::default()).await;
    let answer = fetch(&mut TcpStream::connect(address).await.unwrap()).await;
    assert!(answer.starts_with("HTTP/1.1 200 OK") && answer.ends_with("ok\n"));
    stop.send(()).unwrap();
    tokio::time::timeout(Duration::from_secs(5), running)
        .await
        .unwrap()
        .unwrap()
        .unwrap();
    assert!(TcpStream::connect(address).await.is_err());
}

/// A search that nobody waits for any more is stopped: at the time limit, and when the client hangs up.
#[tokio::test]
async fn search_ends_with_client() {
    for (time_limit_ms, client_stays) in [(100, true), (25_000, false)] {
        let held = Arc::new(AtomicBool::new(true));
        let config = Config {
            time_limit_ms,
            ..Config::default()
        };
        let source = Arc::new(Fake {
            held: Arc::clone(&held),
            is_remote: false,
        });
        let listener = bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let address = listener.local_addr().unwrap();
        let state = ServeState {
            source,
            ..state(config)
        };
        let running = tokio::spawn(serve(listener, state, std::future::pending()));
        let mut stream = TcpStream::connect(address).await.unwrap();
        let request = b"GET /api/search?q=wait HTTP/1.1\r\nhost: localhost\r\n\r\n";
        stream.write_all(request).await.unwrap();
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert!(held.load(Ordering::Relaxed), "the search has not begun");
        let _stream = client_stays.then_some(stream);
        for _ in 0..500 {
            if !held.load(Ordering::Relaxed) {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert!(
            !held.load(Ordering::Relaxed),
            "still searching: {client_stays}"
        );
        running.abort();
    }
}

#[tokio::test]
async fn bind_names_used_port() {
    let (address, _stop, _running) = start(Config::default()).await;
    let error = bind(address).await.unwrap_err();
    assert!(matches!(error, BindError::InUse(at) if at == address));
    assert!(error.to_string().contains(&address.to_string()));
}

#[tokio::test]
async fn silent_client_is_dropped() {
    let (address, _stop, _running) = start(Config {
        idle_ms: 100,
        ..Config::default()
    })
    .await;
    for sent in [&b""[..], b"GET / HTTP/1.1\r\nhost:"] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(sent).await.unwrap();
        let mut rest = Vec::new();
        let ended =
            tokio::time::timeout(Duration::from_secs(5), stream.read_to_end(&mut rest)).await;
        assert!(ended.is_ok(), "still open");
    }
}

#[tokio::test]
async fn dripping_client_is_dropped() {
    let (address, _stop, _running) = start(Config {
        idle_ms: 10_000,
        request_ms: 300,
        ..Config::default()
    })
    .await;
    let head = "GET /healthz HTTP/1.1\r\nhost: localhost\r\nx-slow: ";
    let post = "POST /login HTTP/1.1\r\nhost: localhost\r\ncontent-length: 60000\r\n\
                content-type: application/x-www-form-urlencoded\r\n\r\n";
    for begin in [head, post] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(begin.as_bytes()).await.unwrap();
        let (mut from, mut to) = stream.into_split();
        let dripping = async {
            while to.write_all(b"a").await.is_ok() {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        let closed = async {
            let mut rest = Vec::new();
            from.read_to_end(&mut rest).await.ok();
        };
        tokio::select! {
            () = dripping => {}
            () = closed => {}
            () = tokio::time::sleep(Duration::from_secs(3)) => panic!("still open: {begin:?}"),
        }
    }
}

#[tokio::test]
async fn keep_alive_outlasts_request() {
    let (address, _stop, _running) = start(Config {
        request_ms: 200,
        ..Config::default()
    })
    .await;
    let mut stream = TcpStream::connect(address).await.unwrap();
    let started = std::time::Instant::now();
    while started.elapsed() < Duration::from_millis(600) {
        let request = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n";
        stream.write_all(request).await.unwrap();
        let mut answer = Vec::new();
        while !answer.ends_with(b"ok\n") {
            let read = stream.read_buf(&mut answer).await.unwrap();
            assert_ne!(read, 0, "hung up after {:?}", started.elapsed());
        }
        tokio::time::sleep(Duration::from_millis(60)).await;
    }
}

#[tokio::test]
async fn connections_wait_beyond_limit() {
    let (address, _stop, _running) = start(Config {
        connections: 1,
        idle_ms: 300,
        ..Config::default()
    })
    .await;
    let _silent = TcpStream::connect(address).await.unwrap();
    let started = std::time::Instant::now();
    let answer = fetch(&mut TcpStream::connect(address).await.unwrap()).await;
    assert!(answer.starts_with("HTTP/1.1 200 OK"));
    assert!(started.elapsed() >= Duration::from_millis(200));
}

#[test]
fn client_share_of_connections() {
    use crate::guard::listen::ConnectionQuota;

    let seats = ConnectionQuota::new(10);
    let greedy: std::net::IpAddr = "192.0.2.1".parse().unwrap();
    let mut held: Vec<_> = (0..5).filter_map(|_| seats.take(greedy)).collect();
    assert_eq!(held.len(), 3);
    assert!(seats.take("::ffff:192.0.2.1".parse().unwrap()).is_none());
    assert!(seats.take("192.0.2.2".parse().unwrap()).is_some());
    held.pop();
    let again = seats.take(greedy);
    assert!(again.is_some() && seats.take(greedy).is_none());
    // Whoever has an IPv6 line has 2^64 addresses.
    let line = |last: u16| format!("2001:db8:0:7::{last:x}").parse().unwrap();
    let lines: Vec<_> = (1..=9).filter_map(|last| seats.take(line(last))).collect();
    assert_eq!(lines.len(), 3);
    let next_door = "2001:db8:0:8::1".parse().unwrap();
    assert!(seats.take(next_door).is_some());
    // A proxy on this machine brings everybody.
    let own: Vec<_> = (0..50).map(|_| seats.take([127, 0, 0, 1].into())).collect();
    assert!(own.iter().all(Option::is_some));
}
