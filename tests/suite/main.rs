//! Integration tests: one binary.

mod article_pages;
mod backup;
mod browser;
mod charsets;
mod cli;
mod clock;
mod cluster;
mod comments;
mod config;
mod control;
mod crawl_pass;
mod daemon;
mod damage;
mod deletion;
mod demo;
mod demo_commands;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod disk;
mod document_log;
mod duplicates;
mod eval;
mod export;
mod extract_inputs;
mod failing_pages;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod faults;
mod figures;
mod first_hour;
mod follow;
mod foreign_sites;
mod foreign_web;
mod fuzz;
mod hostile;
mod import_formats;
mod incremental;
mod kill;
mod layout;
mod lots;
mod moving;
mod named_fields;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod opensearch;
mod outage;
mod outline;
mod pages;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod patroni;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[path = "../postgres.rs"]
mod postgres;
mod power_loss;
mod queues;
mod replicas;
mod same_documents;
mod sample_pages;
mod search_command;
mod site_add;
mod small_web;
mod stop;
mod suites;
mod terms;
mod trends;
mod trial;
mod warc;
mod web_page;
mod world;
mod year;

/// A line for who runs the tests with `--no-capture`.
#[expect(clippy::print_stderr, reason = "a test's report")]
fn say(line: &str) {
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
