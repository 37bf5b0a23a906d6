//! What the tests share: webs on loopback, data folders with a configuration, disks, databases, browsers.

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub(crate) mod disk;
pub(crate) mod foreign_web;
pub(crate) mod lots;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub(crate) mod opensearch;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[path = "../../postgres.rs"]
pub(crate) mod postgres;
pub(crate) mod small_web;
pub(crate) mod trial;
pub(crate) mod web_driver;
pub(crate) mod world;

/// A line for who runs the tests with `--no-capture`.
#[expect(clippy::print_stderr, reason = "a test's report")]
pub(crate) fn say(line: &str) {
    eprintln!("{line}");
}

/// A size of a test: small in the check, and large where `TAOJIN_LONG` is set, for ten minutes at most.
pub(crate) fn scaled<T>([short, long]: [T; 2]) -> T {
    if std::env::var_os("TAOJIN_LONG").is_some() {
        long
    } else {
        short
    }
}

/// The top of the repository.
pub(crate) const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// A port on this machine that nobody listens at.
pub(crate) fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("its address").port()
}

/// Status and body of an answer.
pub(crate) fn get(port: u16, target: &str) -> Option<(u16, String)> {
    use std::io::{Read as _, Write as _};

    let mut stream = std::net::TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream
        .set_read_timeout(Some(std::time::Duration::from_secs(60)))
        .ok()?;
    write!(stream, "GET {target} HTTP/1.0\r\nHost: localhost\r\n\r\n").ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    Some((status, body.to_owned()))
}
