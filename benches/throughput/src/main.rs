//! How much processor time and memory a crawl takes: Taojin and the `spider` crate in turn over the same web on
//! loopback, 20,000 pages of 30 KB with 41 links and about 1,000 Chinese characters of article each, from one host and
//! from 50, 64 connections, politeness off.
//!
//! `cargo run --release -- PATH-OF-TAOJIN [PAGES]`, in this folder. Processor time is that of the crawling process
//! alone; the server runs in another. The last line compares the ratios with those of `benches/baseline.toml`.

#[path = "../../baseline/mod.rs"]
mod baseline;
mod page;
mod server;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Connections of a crawl in all.
const CONNECTIONS: usize = 64;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, usual: u32| args.get(at).map_or(usual, |n| n.parse().expect("a number"));
    match args.first().map(String::as_str) {
        Some("serve") => server::run(number(1, 1), number(2, 1_000)),
        Some("spider") => spider(&args[1..]),
        Some(taojin) => compare(taojin, number(1, 20_000)),
        None => eprintln!("usage: throughput PATH-OF-TAOJIN [PAGES]"),
    }
}

fn compare(taojin: &str, pages: u32) {
    println!("hosts  crawler              pages   pages/s  cpu s/1,000  peak MB");
    let mut ratios = Vec::new();
    for hosts in [1, 50] {
        let web = Web::start(hosts, pages);
        let seeds: Vec<String> = (0..hosts).map(|h| web.seed(h)).collect();
        let mut costs = Vec::new();
        for only in [true, false] {
            let name = if only { "crawl only" } else { "whole job" };
            let dir = tempdir();
            configure(&dir, &seeds, only);
            let mut command = Command::new(taojin);
            command.arg("--config").arg(dir.join("taojin.toml"));
            command.args(["crawl", "--site", "bench"]);
            let cost = report(hosts, &format!("taojin, {name}"), &web, &mut command);
            costs.push((format!("{name} {hosts}"), cost));
            let _ = fs::remove_dir_all(&dir);
        }
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        let peer = report(hosts, "spider", &web, command.arg("spider").args(&seeds));
        ratios.extend(costs.into_iter().map(|(name, cost)| (name, cost / peer)));
    }
    println!("{}", baseline::compare("throughput", &ratios));
}

/// Runs a crawler to its end. Returns its processor seconds a page.
fn report(hosts: u32, name: &str, web: &Web, command: &mut Command) -> f64 {
    let before = web.pages();
    let (cpu, began) = (children_cpu(), Instant::now());
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let mut peak = 0;
    while child.try_wait().expect("its state").is_none() {
        peak = peak.max(memory_kib(child.id()));
        std::thread::sleep(Duration::from_millis(20));
    }
    let (cpu, wall) = (children_cpu() - cpu, began.elapsed());
    let pages = web.pages() - before;
    println!(
        "{hosts:<6} {name:<20} {pages:<7} {:<8.0} {:<12.3} {}",
        pages as f64 / wall.as_secs_f64(),
        cpu / pages as f64 * 1000.0,
        peak / 1024
    );
    cpu / pages as f64
}

/// Settings of a crawl without politeness.
fn configure(dir: &Path, seeds: &[String], only: bool) {
    fs::create_dir_all(dir.join("sites.d")).expect("sites.d");
    let hosts: Vec<&str> = seeds.iter().filter_map(|s| s.split('/').nth(2)).collect();
    let site = format!("seeds = {seeds:?}\n[scope]\nhosts = {hosts:?}\nmax_hops = 1000\n");
    fs::write(dir.join("sites.d/bench.toml"), site).expect("site");
    let config = format!(
        "data_dir = {:?}\n[crawl]\nmax_connections = {CONNECTIONS}\ndocuments = {}\n[frontier]\nmin_delay_ms = 0\nmax_delay_ms = 0\n\
         connections_per_host = {per_host}\nconnections_per_ip = {per_host}\npages_per_host_per_cycle = 1000000\n\
         [fetch]\nallow_addresses = [\"127.0.0.0/8\"]\n",
        dir.join("data"),
        !only,
        per_host = CONNECTIONS / seeds.len().min(CONNECTIONS)
    );
    fs::write(dir.join("taojin.toml"), config).expect("taojin.toml");
}

/// The peer: links only, nothing kept.
fn spider(seeds: &[String]) {
    let runtime = tokio::runtime::Runtime::new().expect("runtime");
    let each = (CONNECTIONS / seeds.len().min(CONNECTIONS)).max(1);
    runtime.block_on(async {
        let mut tasks = Vec::new();
        for seed in seeds {
            let mut website = spider::website::Website::new(seed);
            website
                .with_respect_robots_txt(false)
                .with_delay(0)
                .with_depth(0)
                .with_limit(0)
                .with_concurrency_limit(Some(each));
            tasks.push(tokio::spawn(async move { website.crawl().await }));
        }
        for task in tasks {
            task.await.expect("a crawl");
        }
    });
}

/// The server in a process of its own.
struct Web {
    child: Child,
    port: u16,
}

impl Web {
    fn start(hosts: u32, pages: u32) -> Self {
        let mut child = Command::new(std::env::current_exe().expect("this program"))
            .args(["serve", &hosts.to_string(), &pages.to_string()])
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
        out.read_line(&mut line).expect("its port");
        Self {
            child,
            port: line.trim().parse().expect("a port"),
        }
    }

    fn seed(&self, host: u32) -> String {
        format!("http://{}:{}/", server::address(host), self.port)
    }

    /// Pages served since the start.
    fn pages(&self) -> u64 {
        use std::io::{Read, Write};
        let mut stream = std::net::TcpStream::connect((server::address(0), self.port)).expect("server");
        stream
            .write_all(b"GET /count HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            .expect("server");
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("server");
        let body = text.split("\r\n\r\n").nth(1).expect("a body");
        body.trim().parse().expect("a number")
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn tempdir() -> std::path::PathBuf {
    let dir = std::env::temp_dir().join(format!("throughput-{}", std::process::id()));
    let _ = fs::remove_dir_all(&dir);
    dir
}

/// Processor seconds of all children that have ended.
fn children_cpu() -> f64 {
    let text = fs::read_to_string("/proc/self/stat").expect("Linux");
    let fields: Vec<&str> = text.rsplit(')').next().expect("fields").split_whitespace().collect();
    // Fields 16 and 17 of proc(5), in hundredths of a second.
    let ticks: u64 = fields[13..15].iter().filter_map(|f| f.parse::<u64>().ok()).sum();
    ticks as f64 / 100.0
}

fn memory_kib(pid: u32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = text.lines().find(|l| l.starts_with("VmHWM:"));
    line.and_then(|l| l.split_whitespace().nth(1)?.parse().ok()).unwrap_or(0)
}
