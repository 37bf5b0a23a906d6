//! What a site does with its hosts and addresses harms no other one.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crate::support::daemon::Daemon;
use crate::support::folder::{Folder, assert_has};
use crate::support::http::{Reply, serve, serve_raw};
use crate::support::small_web::article;

/// No delays, and hosts of one server are asked at the same time.
const CONFIG: &str = "[crawl]\nmin_free_bytes = 0\nmin_free_percent = 0\nmax_connections = 8\n[frontier]\nmin_delay_ms = 0\n\
                      max_delay_ms = 0\nconnections_per_ip = 1000\n[serve]\nlisten = \"127.0.0.1:0\"\n[fetch]\nallow_addresses = [\"127.0.0.0/8\"]\n[fetch.hosts]\n";

/// Articles of the site beside.
const ARTICLES: u64 = 12;

#[test]
fn slow_hosts_leave_connections_to_others() {
    const HOSTS: usize = 60;
    let (is_over, open) = (
        Arc::new(AtomicBool::new(false)),
        Arc::<AtomicUsize>::default(),
    );
    let most = Arc::<AtomicUsize>::default();
    let slow = {
        let (is_over, most) = (Arc::clone(&is_over), Arc::clone(&most));
        serve_raw(2, move |_, stream| {
            most.fetch_max(open.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")?;
            // A byte now and then for as long as the test lasts.
            while !is_over.load(Ordering::SeqCst) && stream.write_all(b" ").is_ok() {
                thread::sleep(Duration::from_millis(50));
            }
            open.fetch_sub(1, Ordering::SeqCst);
            Err(std::io::ErrorKind::BrokenPipe.into())
        })
    };
    let good = serve(|request| match request.path.as_str() {
        "/" => {
            let links = (0..ARTICLES)
                .map(|n| format!("<li><a href=/{n}.html>第{n}条新闻标题在此</a></li>"));
            Reply::page(&format!(
                "<title>列表</title><ul>{}</ul>",
                links.collect::<String>()
            ))
        }
        "/robots.txt" => Reply::status(404),
        path => Reply::page(&article(&format!("{path} 的标题"), "")),
    });
    let names = (0..HOSTS).map(|n| format!("h{n}.bad.test"));
    let hosts: String = names
        .clone()
        .map(|name| format!("\"{name}\" = \"{slow}\"\n"))
        .collect();
    let hosts = format!("{hosts}\"www.good.test\" = \"127.0.0.1:{good}\"\n");
    let seeds: Vec<String> = names.map(|name| format!("http://{name}/")).collect();
    let folder = Folder::new(
        &format!("{CONFIG}{hosts}"),
        &[
            (
                "bad.toml",
                &format!("seeds = {seeds:?}\n[scope]\nhosts = [\"*.bad.test\"]\n"),
            ),
            (
                "good.toml",
                "seeds = [\"http://www.good.test/\"]\n[scope]\nhosts = [\"www.good.test\"]\n",
            ),
        ],
    );
    let daemon = Daemon::start(&folder);
    // All of the one come while not one of the other has.
    daemon.wait_for_documents(ARTICLES);
    let most = most.load(Ordering::SeqCst);
    is_over.store(true, Ordering::SeqCst);
    assert!(
        (1..=6).contains(&most),
        "two of eight connections are left free, {most} were used"
    );
    assert_eq!(daemon.stop(), Some(0));
}

/// Two addresses that xxh3, which has no key, gives one fingerprint; they were computed in two seconds.
const VICTIM: &str = "http://victim.example/notice/t20261129_00000001.html?from=0000000000000000000000000000000000000000000000000000000000000000000000";
const OTHER: &str = "http://other.example/a/00000000000000000000000000000000000000000aaaaaaaaaabeenkgaaaaaaaaaabidfocaaaaaaaaaaafmnbbaaaaaaaaaaadiamk";

#[test]
fn computed_address_takes_no_place() {
    let port = serve(|request| match request.path.as_str() {
        "/robots.txt" => Reply::status(404),
        _ => {
            let host = &request.host;
            Reply::page(&article(&format!("{host} 的公告"), ""))
        }
    });
    let hosts = format!(
        "\"victim.example\" = \"127.0.0.1:{port}\"\n\"other.example\" = \"127.0.0.1:{port}\"\n"
    );
    // The other one is there first.
    let first =
        format!("seeds = [{OTHER:?}]\n[scope]\nhosts = [\"other.example\", \"victim.example\"]\n");
    let folder = Folder::new(&format!("{CONFIG}{hosts}"), &[("a.toml", &first)]);
    folder.done(&["crawl"]);
    folder.replace(
        "sites.d/a.toml",
        &format!("[{OTHER:?}]"),
        &format!("[{OTHER:?}, {VICTIM:?}]"),
    );
    folder.done(&["crawl", "--site", "a"]);
    let documents = folder.documents();
    let said = |url: &str| {
        let found = documents.iter().find(|document| document.url == url);
        found
            .unwrap_or_else(|| panic!("no document at {url}"))
            .text
            .clone()
    };
    assert_has(&said(VICTIM), &["victim.example 的公告"]);
    assert_has(&said(OTHER), &["other.example 的公告"]);
    let history = folder.json(&["why", VICTIM, "--json"]);
    assert_eq!(history["url"], VICTIM);
    // A takedown is of the one that it names.
    folder.done(&["purge", OTHER, "--yes"]);
    assert_eq!(folder.documents().len(), 1);
    assert_eq!(folder.total("victim.example"), 1);
    assert_eq!(folder.total("other.example"), 0);
    assert_eq!(
        folder.json(&["why", VICTIM, "--json"])["taken_down_ms"],
        serde_json::Value::Null
    );
}
