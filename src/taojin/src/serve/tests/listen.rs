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
        .write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
        .await
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn it_serves_and_stops_when_told() {
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

#[tokio::test]
async fn a_port_in_use_is_named() {
    let (address, _stop, _running) = start(Config::default()).await;
    let error = bind(address).await.unwrap_err();
    assert!(matches!(error, BindError::InUse(at) if at == address));
    assert!(error.to_string().contains(&address.to_string()));
}

#[tokio::test]
async fn a_silent_client_is_hung_up_on() {
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
async fn connections_beyond_the_limit_wait() {
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
fn one_client_has_a_quarter_of_the_connections() {
    use crate::serve::guard::quota::ConnectionQuota;

    let seats = ConnectionQuota::new(10);
    let greedy: std::net::IpAddr = "192.0.2.1".parse().unwrap();
    let mut held: Vec<_> = (0..5).filter_map(|_| seats.take(greedy)).collect();
    assert_eq!(held.len(), 3);
    assert!(seats.take("::ffff:192.0.2.1".parse().unwrap()).is_none());
    assert!(seats.take("192.0.2.2".parse().unwrap()).is_some());
    held.pop();
    let again = seats.take(greedy);
    assert!(again.is_some() && seats.take(greedy).is_none());
    // A proxy on this machine brings everybody.
    let own: Vec<_> = (0..50).map(|_| seats.take([127, 0, 0, 1].into())).collect();
    assert!(own.iter().all(Option::is_some));
}
