//! Through a SOCKS proxy of our own on loopback.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::client::{CAME, HTML, PAGE, end_of};
use super::server::{fetch_named, gate, http, uri};
use crate::fetch::{Config, Request};

/// Takes one connection after the other, says which names are asked for, and answers every request with a page.
async fn socks(listener: TcpListener, names: UnboundedSender<String>) {
    while let Ok((stream, _)) = listener.accept().await {
        // A client that goes away ends its own connection only.
        let _ = serve(stream, &names).await;
    }
}

async fn serve(mut stream: TcpStream, names: &UnboundedSender<String>) -> std::io::Result<()> {
    let mut greeting = [0; 2];
    stream.read_exact(&mut greeting).await?;
    let mut methods = vec![0; greeting[1].into()];
    stream.read_exact(&mut methods).await?;
    stream.write_all(&[5, 0]).await?;
    let mut head = [0; 4];
    stream.read_exact(&mut head).await?;
    let name = if head[3] == 3 {
        let mut name = vec![0; stream.read_u8().await?.into()];
        stream.read_exact(&mut name).await?;
        String::from_utf8_lossy(&name).into_owned()
    } else {
        "an address".to_owned()
    };
    let _ = names.send(name);
    stream.read_u16().await?;
    stream.write_all(&[5, 0, 0, 1, 127, 0, 0, 1, 0, 80]).await?;
    let mut request = [0; 4096];
    let _ = stream.read(&mut request).await?;
    let body = http("200 OK", HTML, "<p>页</p>".as_bytes());
    stream.write_all(&body).await?;
    stream.shutdown().await
}

fn config(proxy: String) -> Config {
    Config {
        proxy: Some(proxy),
        ..Config::default()
    }
}

fn drain(names: &mut UnboundedReceiver<String>) -> Vec<String> {
    std::iter::from_fn(|| names.try_recv().ok()).collect()
}

#[tokio::test]
async fn socks_proxy_resolves_names() {
    for scheme in ["socks5", "socks5h"] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, mut names) = unbounded_channel();
        let server = tokio::spawn(socks(listener, sender));
        let gate = gate(config(format!("{scheme}://{address}")));
        let request = Request::page(uri(PAGE));
        let fetched = fetch_named(&gate, &request, &mut Vec::new()).await;
        assert_eq!(end_of(&fetched), CAME, "{scheme}");
        // This machine knows no such host: robots.txt and the page were asked for by name.
        let names = drain(&mut names);
        assert!(
            !names.is_empty() && names.iter().all(|name| name == "h.example"),
            "{scheme}: {names:?}"
        );
        server.abort();
    }
}

#[tokio::test]
async fn absent_proxy_is_not_bypassed() {
    let page = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = page.local_addr().unwrap().port();
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let closed = free.local_addr().unwrap();
    drop(free);
    for scheme in ["http", "https", "socks5", "socks5h"] {
        let config = Config {
            allow_addresses: vec!["127.0.0.0/8".parse().unwrap()],
            ..config(format!("{scheme}://{closed}"))
        };
        let request = Request::page(uri(&format!("http://127.0.0.1:{port}/page")));
        let fetched = fetch_named(&gate(config), &request, &mut Vec::new()).await;
        assert_ne!(end_of(&fetched), CAME, "{scheme}");
    }
    // Nobody came to the host itself.
    assert!(
        tokio::time::timeout(std::time::Duration::ZERO, page.accept())
            .await
            .is_err()
    );
}
