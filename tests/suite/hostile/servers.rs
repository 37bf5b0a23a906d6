//! Servers on loopback that send more than anybody can use, never end, or hardly begin. Each is a site of its own.

use std::fmt::Write as _;
use std::io::{ErrorKind, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::LazyLock;
use std::thread;
use std::time::Duration;

use crate::support::http::serve_raw;
use crate::support::small_web::article;

/// What a server of a bomb would send in all.
const GARBAGE_BYTES: usize = 1 << 30;
/// Entries of the feed that nobody reads to its end.
const ENTRIES: usize = 10_000_000;
/// What is written to who asks for a path; an error is a client that has hung up.
pub(super) type Answer = fn(&str, &mut TcpStream) -> std::io::Result<()>;

/// A hostile server, and the lines of its site's file beside the seed.
pub(super) struct Hostile {
    pub(super) name: &'static str,
    pub(super) site: &'static str,
    pub(super) answer: Answer,
}

/// 30 MB of entries in 90 kB.
pub(super) static BOMB: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let entries = "<item><link>/1</link></item>".repeat(1 << 20);
    let feed = format!("<rss version=\"2.0\"><channel><title>t</title>{entries}");
    gzip(feed.as_bytes())
});

pub(super) const HOSTILE: &[Hostile] = &[
    Hostile {
        name: "bomb",
        site: "feeds = [\"http://bomb.test/feed\"]\n",
        answer: |_, stream| {
            head(stream, "Content-Type: application/rss+xml\r\n")?;
            stream.write_all(&BOMB)
        },
    },
    Hostile {
        name: "base",
        site: "feeds = [\"http://base.test/feed\"]\n",
        answer: |_, stream| {
            let base = "a/".repeat(1 << 20);
            head(stream, "Content-Type: application/atom+xml\r\n")?;
            write!(
                stream,
                "<feed xmlns=\"http://www.w3.org/2005/Atom\" xml:base=\"http://base.test/{base}\">"
            )?;
            (0..10_000).try_for_each(|n| write!(stream, "<entry><link href=\"{n}\"/></entry>"))
        },
    },
    Hostile {
        name: "entries",
        site: "feeds = [\"http://entries.test/feed\"]\n",
        answer: |_, stream| {
            head(stream, "Content-Type: application/rss+xml\r\n")?;
            stream.write_all(b"<rss version=\"2.0\"><channel><title>t</title>")?;
            (0..ENTRIES / 1000).try_for_each(|n| {
                let some = (0..1000).fold(String::new(), |mut text, m| {
                    let _ = write!(
                        text,
                        "<item><link>http://entries.test/{n}/{m}</link></item>"
                    );
                    text
                });
                stream.write_all(some.as_bytes())
            })
        },
    },
    Hostile {
        name: "garbage",
        site: "",
        answer: |_, stream| {
            head(
                stream,
                "Content-Type: text/html\r\nContent-Encoding: gzip\r\n",
            )?;
            stream.write_all(&gzip(article("一篇报道", "").as_bytes()))?;
            again(stream, &[b'x'; 1 << 16])
        },
    },
    Hostile {
        name: "maps",
        site: "sitemaps = [\"http://maps.test/map/0\"]\n",
        answer: |path, stream| {
            head(stream, "Content-Type: application/xml\r\n")?;
            let more = (0..100).fold(String::new(), |mut text, n| {
                let _ = write!(
                    text,
                    "<sitemap><loc>http://maps.test{path}/{n}</loc></sitemap>"
                );
                text
            });
            write!(stream, "<sitemapindex>{more}</sitemapindex>")
        },
    },
    Hostile {
        name: "large",
        site: "sitemaps = [\"http://large.test/map\"]\n",
        answer: |path, stream| {
            if path != "/map" {
                return not_found(stream);
            }
            // Honest, and larger than a page may be.
            head(stream, "Content-Type: application/xml\r\n")?;
            stream.write_all(b"<urlset>")?;
            let title = "a".repeat(200);
            (0..LARGE).try_for_each(|n| {
                write!(
                    stream,
                    "<url><loc>http://large.test/{n}?{title}</loc></url>"
                )
            })?;
            stream.write_all(b"</urlset>")
        },
    },
    Hostile {
        name: "headers",
        site: "",
        answer: |_, stream| {
            stream.write_all(b"HTTP/1.1 200 OK\r\n")?;
            again(stream, &b"X-Many: a\r\n".repeat(1000))
        },
    },
    Hostile {
        name: "chunk",
        site: "",
        answer: |_, stream| {
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\n<p>")?;
            again(stream, "石油".repeat(1000).as_bytes())
        },
    },
    Hostile {
        name: "slow",
        site: "",
        answer: |_, stream| {
            head(stream, "Content-Type: text/html\r\n")?;
            loop {
                stream.write_all(b"x")?;
                thread::sleep(Duration::from_secs(1));
            }
        },
    },
];

/// Addresses of the honest large sitemap: 6 MB.
pub(super) const LARGE: usize = 25_000;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).expect("in memory");
    encoder.finish().expect("in memory")
}

pub(super) fn head(stream: &mut TcpStream, lines: &str) -> std::io::Result<()> {
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nConnection: close\r\n{lines}\r\n"
    )
}

fn not_found(stream: &mut TcpStream) -> std::io::Result<()> {
    stream.write_all(b"HTTP/1.1 404 X\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
}

fn again(stream: &mut TcpStream, bytes: &[u8]) -> std::io::Result<()> {
    (0..GARBAGE_BYTES / bytes.len()).try_for_each(|_| stream.write_all(bytes))
}

/// Serves at 127.0.0.`host` until the test's process ends; one request a connection. Nobody has a robots.txt. Each host has
/// an address of its own, since hosts that share one take turns.
pub(super) fn serve(
    host: u8,
    answer: impl Fn(&str, &mut TcpStream) -> std::io::Result<()> + Send + Sync + 'static,
) -> SocketAddr {
    serve_raw(host, move |request, stream| {
        let _ = match request.path.as_str() {
            "/robots.txt" => not_found(stream),
            path => answer(path, stream),
        };
        Err(ErrorKind::ConnectionAborted.into())
    })
}
