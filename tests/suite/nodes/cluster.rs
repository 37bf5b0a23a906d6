//! Several daemons over one PostgreSQL: nodes that come, go, are killed, paused and drained while they crawl a web with faults.
//! Afterwards every page is in every index once, the log has no gap, and the server's own log shows no host that was asked by
//! two nodes at once or sooner than its delay.
//!
//! `TAOJIN_LONG=1 cargo test -p taojin --test suite cluster::` is a longer schedule; each kill takes half a minute.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use taojin_crawl::store::{Duties, Reader, StorePlace};
use taojin_demo::Hit;
use taojin_demo::trial::TrialPlan;

use crate::support::folder::{Process, indexed};
use crate::support::lots::Lots;
use crate::support::postgres::server;
use crate::support::trial::{Trial, fetched_again};
use crate::support::{poll, say, scaled, wait_until};

/// Nodes that crawl at the same time; short and long.
const NODES: [u32; 2] = [3, 4];
/// Nodes that are killed, one after the other.
const KILLS: [u32; 2] = [1, 6];
/// Pages of the web.
const PAGES: [u32; 2] = [700, 3_600];
/// Rest of each host, in milliseconds.
pub(crate) const DELAY_MS: u64 = 1_500;
/// A node that is paused for longer than its lease loses its partitions.
const PAUSE: Duration = Duration::from_secs(19);
/// A node has ended by then.
const ENDED: Duration = Duration::from_secs(30);
/// Everything is over by then, whatever happens on the way.
const LONGEST: Duration = Duration::from_secs(240);

/// A node without a part in the crawl.
pub(crate) const SERVES: Duties = Duties {
    crawls: false,
    serves: true,
};

/// A web of hosts at addresses of their own, whose pages link to each other, and the daemons.
pub(crate) struct Cluster {
    pub(crate) trial: Trial,
    store: String,
    pub(crate) nodes: Vec<Node>,
    /// A node that only serves.
    serving: Option<Node>,
    started: u32,
}

/// A daemon with a data folder of its own, killed when it is dropped.
pub(crate) struct Node {
    pub(crate) dir: PathBuf,
    process: Process,
}

impl Node {
    pub(crate) fn signal(&self, signal: &str) {
        self.process.signal(signal);
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        self.process.ended().is_some()
    }
}

impl Cluster {
    /// Over the database with this address.
    pub(crate) fn new(store: String, pages: u32, hosts: u32) -> Self {
        Self::with(store, pages, hosts, "")
    }

    /// The same with more settings.
    pub(crate) fn with(store: String, pages: u32, hosts: u32, settings: &str) -> Self {
        let plan = TrialPlan {
            articles: pages / hosts,
            ..plan(hosts)
        };
        Self::of_plan(store, plan, settings)
    }

    fn of_plan(store: String, plan: TrialPlan, settings: &str) -> Self {
        let frontier = format!(
            "min_delay_ms = {DELAY_MS}\nmax_delay_ms = {DELAY_MS}\njitter = 0.0\nconnect_backoff_ms = 50\n\
             throttle_backoff_ms = 50\npark_after_errors = 0"
        );
        let more = format!(
            "[serve]\nlisten = \"127.0.0.1:0\"\n[revisit]\nretry_ms = 500\nmax_retry_ms = 1000\n[store]\nurl = {store:?}\n{settings}"
        );
        Cluster {
            trial: Trial::new(plan, &frontier, &more),
            store,
            nodes: Vec::new(),
            serving: None,
            started: 0,
        }
    }

    /// Starts one more node, in a folder of its own or in that of a node that was there before.
    pub(crate) fn start(&mut self, dir: Option<PathBuf>) {
        let node = self.started_node(dir, Duties::default());
        self.nodes.push(node);
    }

    /// Starts a node that only serves. It needs no site files.
    fn start_serving(&mut self) {
        self.serving = Some(self.started_node(None, SERVES));
    }

    pub(crate) fn started_node(&mut self, dir: Option<PathBuf>, duties: Duties) -> Node {
        let fresh = self
            .trial
            .data_dir()
            .with_file_name(format!("node{}", self.started));
        self.started += 1;
        let dir = dir.unwrap_or(fresh);
        fs::create_dir_all(&dir).expect("a data folder");
        let log = File::options()
            .create(true)
            .append(true)
            .open(dir.join("stderr"))
            .expect("a log file");
        let mut command = self.trial.taojin(&["run", "--data-dir"]);
        command
            .arg(&dir)
            .env("TAOJIN_CLUSTER_CRAWL", duties.crawls.to_string())
            .env("TAOJIN_CLUSTER_SERVE", duties.serves.to_string())
            .envs((!duties.crawls).then_some(("TAOJIN_SITES_DIR", "no-sites.d")))
            .stdout(Stdio::null())
            .stderr(log);
        let process = Process::of(&mut command);
        Node { dir, process }
    }

    /// Starts nodes again that have ended, as systemd does; how many.
    pub(crate) fn restart_ended(&mut self) -> usize {
        let ended: Vec<Node> = self.nodes.extract_if(.., Node::has_ended).collect();
        let dirs: Vec<PathBuf> = ended.iter().map(|node| node.dir.clone()).collect();
        drop(ended);
        for dir in &dirs {
            self.start(Some(dir.clone()));
        }
        dirs.len()
    }

    pub(crate) fn reader(&self, dir: &std::path::Path) -> Option<Reader> {
        Reader::open(StorePlace::new(dir, &self.store, None)).ok()
    }

    /// Documents stored so far.
    pub(crate) fn documents(&self) -> i64 {
        let reader = self.reader(&self.trial.data_dir());
        reader.map_or(0, |reader| {
            let counts = reader.counts().expect("counts");
            counts.total("documents")
        })
    }

    pub(crate) fn wait_for_documents(&mut self, wanted: i64, end: Instant) {
        let left = end.saturating_duration_since(Instant::now());
        let what = format!(
            "{wanted} documents, of which {} are there",
            self.documents()
        );
        self.wait_for(&what, left, |cluster| cluster.documents() >= wanted);
    }

    /// Waits until something is so; the nodes' logs tell what happened instead.
    pub(crate) fn wait_for(
        &mut self,
        what: &str,
        within: Duration,
        mut is_so: impl FnMut(&mut Self) -> bool,
    ) {
        let found = poll(within, || is_so(self).then_some(()));
        assert!(found.is_some(), "{what}:\n{}", self.logs());
    }

    /// What `taojin cluster status` says.
    pub(crate) fn status(&self) -> Value {
        let ran = self.trial.run(&["cluster", "status", "--json"]);
        // There is no store yet when the first node starts.
        serde_json::from_str(&ran.out).unwrap_or_default()
    }

    /// Partitions of each node that crawls, in the order of their starts.
    fn shares(&self) -> Vec<u64> {
        let status = self.status();
        let share = |node: &Value| node["partitions"].as_u64().expect("a number");
        let nodes = status["nodes"].as_array().into_iter().flatten();
        let crawling = nodes.filter(|node| node["crawls"] == true);
        crawling.map(share).collect()
    }

    pub(crate) fn wait_for_shares(
        &self,
        wanted: impl Fn(&[u64]) -> bool,
        within: Duration,
    ) -> Duration {
        let begun = Instant::now();
        let found = poll(within, || wanted(&self.shares()).then_some(()));
        assert!(found.is_some(), "{:?}\n{}", self.shares(), self.logs());
        begun.elapsed()
    }

    pub(crate) fn logs(&self) -> String {
        let log = |node: &Node| fs::read_to_string(node.dir.join("stderr")).unwrap_or_default();
        self.nodes
            .iter()
            .map(log)
            .collect::<Vec<_>>()
            .join("\n--\n")
    }
}

/// Of a web with faults.
fn plan(hosts: u32) -> TrialPlan {
    TrialPlan {
        seed: 23,
        hosts,
        faults: 0.05,
        slow_ms: 100,
        ..TrialPlan::default()
    }
}

/// All partitions are somebody's, and nobody has twice what another has.
pub(crate) fn is_even(shares: &[u64], nodes: u32) -> bool {
    let most = 256u64.div_ceil(u64::from(nodes));
    shares.len() == nodes as usize
        && shares.iter().sum::<u64>() == 256
        && shares.iter().all(|n| *n <= most)
}

/// Requests for pages of each host, in their order; those for robots.txt come without a rest before them.
fn by_host(log: &[Hit]) -> BTreeMap<&str, Vec<&Hit>> {
    let mut hosts: BTreeMap<&str, Vec<&Hit>> = BTreeMap::new();
    for hit in log.iter().filter(|hit| hit.target != "/robots.txt") {
        hosts.entry(&hit.authority).or_default().push(hit);
    }
    for hits in hosts.values_mut() {
        hits.sort_by_key(|hit| hit.started);
    }
    hosts
}

/// Never two connections to a host, never sooner than its delay, a `Retry-After` of a second kept. Of a node that was paused in
/// the middle of a request, one may come late: `late` at most.
pub(crate) fn assert_polite(log: &[Hit], late: usize) {
    let delay = Duration::from_millis(DELAY_MS);
    // The client's delay begins when it has read the answer, a moment after it was sent.
    let slack = Duration::from_millis(5);
    let mut early = Vec::new();
    for (host, hits) in by_host(log) {
        for pair in hits.windows(2) {
            let is_throttled = pair[0].status == 429;
            let rest = if is_throttled {
                Duration::from_secs(1)
            } else {
                delay
            };
            let gap = pair[1].started.saturating_duration_since(pair[0].ended);
            if pair[1].started < pair[0].ended || gap + slack < rest {
                early.push(format!(
                    "host {host}: {gap:?} after {:?} {}",
                    pair[0].fault, pair[0].status
                ));
            }
        }
    }
    assert!(early.len() <= late, "{early:?}");
}

/// Every article is a document, once, and the numbers of the log have no gap.
pub(crate) fn assert_whole(cluster: &Cluster) {
    let reader = cluster
        .reader(&cluster.trial.data_dir())
        .expect("the store");
    let mut times: BTreeMap<String, u32> = BTreeMap::new();
    let mut last = 0;
    loop {
        let rows = reader.documents_after(last, 500).expect("documents");
        if rows.is_empty() {
            break;
        }
        for row in rows {
            assert_eq!(row.seq, last + 1, "a gap in the log");
            last = row.seq;
            *times.entry(row.url).or_default() += 1;
        }
    }
    let articles = cluster.trial.articles();
    let lost: Vec<_> = articles
        .iter()
        .filter(|url| !times.contains_key(*url))
        .collect();
    assert!(lost.is_empty(), "{} lost: {:?}", lost.len(), lost.first());
    let urls = reader.counts().expect("counts").total("urls");
    let waiting = reader.cluster().waiting().expect("the inbox").addresses;
    assert_eq!(waiting, 0, "addresses nobody took up");
    assert!(urls >= i64::try_from(articles.len()).expect("few"));
    // Each node's index is made of the whole log.
    for node in cluster.nodes.iter().chain(&cluster.serving) {
        let missing = || {
            let place = StorePlace::new(&node.dir, &cluster.store, None);
            cluster.trial.missing(&indexed(place).unwrap_or_default())
        };
        wait_until("all articles are in each index once", || {
            missing().is_empty()
        });
    }
}

#[test]
fn nodes_survive_kill_pause_drain() {
    let Some(server) = server("a cluster of nodes") else {
        return;
    };
    let nodes = scaled(NODES);
    let kills = scaled(KILLS);
    let pages = scaled(PAGES);
    let end = Instant::now() + LONGEST + Duration::from_secs(u64::from(40 * kills));
    let mut cluster = Cluster::new(server.url(), pages, 24);
    let all = i64::try_from(cluster.trial.articles().len()).expect("few");
    let mut lots = Lots(5);

    // One after the other, while the first crawls already.
    cluster.start(None);
    cluster.wait_for_shares(|shares| shares == [256], Duration::from_secs(20));
    for count in 2..=nodes {
        cluster.start(None);
        let moved =
            cluster.wait_for_shares(|shares| is_even(shares, count), Duration::from_secs(20));
        say(&format!(
            "{count} nodes share the partitions after {moved:?}"
        ));
    }
    cluster.start_serving();
    let handed_over = fetched_again(&cluster.trial.hits());
    assert_eq!(
        handed_over, 0,
        "a partition that is handed over fetches nothing again"
    );

    for kill in 0..kills {
        cluster.wait_for_documents(all * i64::from(kill + 1) / i64::from(kills + 4), end);
        let victim = lots.below(cluster.nodes.len());
        cluster.nodes[victim].signal("-KILL");
        let gone = cluster.nodes.remove(victim);
        let dir = gone.dir.clone();
        drop(gone);
        let taken =
            cluster.wait_for_shares(|shares| is_even(shares, nodes - 1), Duration::from_secs(25));
        say(&format!(
            "partitions of a killed node taken over after {taken:?}"
        ));
        cluster.start(Some(dir));
        cluster.wait_for_shares(|shares| is_even(shares, nodes), Duration::from_secs(25));
    }

    // One is paused for longer than its lease: it ends by itself when it wakes, and systemd starts it again.
    let sleeper = lots.below(cluster.nodes.len());
    cluster.nodes[sleeper].signal("-STOP");
    thread::sleep(PAUSE);
    cluster.nodes[sleeper].signal("-CONT");
    cluster.wait_for("it goes on", ENDED, |c| c.nodes[sleeper].has_ended());
    let dir = cluster.nodes.remove(sleeper).dir.clone();
    cluster.start(Some(dir));
    cluster.wait_for_shares(|shares| is_even(shares, nodes), Duration::from_secs(25));

    // One is drained and stopped: nothing is fetched again for it.
    let before = fetched_again(&cluster.trial.hits());
    let session = cluster.status()["nodes"][0]["session"].to_string();
    cluster.trial.done(&["cluster", "drain", &session]);
    assert_eq!(fetched_again(&cluster.trial.hits()), before);

    let serving = cluster.status()["nodes"].as_array().expect("nodes").clone();
    let serving: Vec<_> = serving.iter().filter(|n| n["crawls"] == false).collect();
    assert_eq!(serving.len(), 1, "{serving:?}");
    assert_eq!(serving[0]["partitions"], 0);
    let reader = cluster.reader(&cluster.trial.data_dir());
    let sites = reader.expect("the store").sites().expect("sites");
    assert!(sites.iter().all(|site| !site.paused), "{sites:?}");
    cluster.wait_for_documents(all, end);
    let log = cluster.trial.hits();
    let again = fetched_again(&log);
    say(&format!(
        "{all} articles, {again} fetched again after {kills} kills and a pause"
    ));
    assert_whole(&cluster);
    assert_polite(&log, 1);
    // What was fetched and not stored when a node was killed or woke, at one connection for each host.
    assert!(again <= (kills + 1) * 24, "{again} were fetched again");
}

/// Times that a node goes in each way; short and long.
const ROUNDS: [u32; 2] = [1, 5];

/// Two nodes crawl a web of which each article is named by another domain only, most often one of the other node. One of them goes
/// in the middle of it; the other one has to find everything.
fn nothing_is_lost_when_a_node_goes(test: &str, go: impl Fn(&mut Cluster)) {
    for round in 0..scaled(ROUNDS) {
        let Some(server) = server(test) else {
            return;
        };
        let end = Instant::now() + LONGEST;
        let web = TrialPlan {
            seed: u64::from(round) + 1,
            articles: 20,
            abroad: true,
            ..plan(16)
        };
        let mut cluster = Cluster::of_plan(server.url(), web, "");
        let all = i64::try_from(cluster.trial.articles().len()).expect("few");
        for nodes in 1..=2 {
            cluster.start(None);
            cluster.wait_for_shares(|shares| is_even(shares, nodes), Duration::from_secs(20));
        }
        cluster.wait_for_documents(all / 4, end);
        go(&mut cluster);
        cluster.wait_for_documents(all, end);
        assert_whole(&cluster);
        assert_polite(&cluster.trial.hits(), 1);
    }
}

#[test]
fn killed_node_loses_no_links() {
    nothing_is_lost_when_a_node_goes("a node is killed", |cluster| {
        drop(cluster.nodes.remove(1));
    });
}

#[test]
fn stopped_node_loses_no_links() {
    nothing_is_lost_when_a_node_goes("a node is stopped", |cluster| {
        cluster.nodes[1].signal("-TERM");
        cluster.wait_for("it does not stop", ENDED, |c| c.nodes[1].has_ended());
        cluster.nodes.remove(1);
    });
}

#[test]
fn paused_node_loses_no_links() {
    nothing_is_lost_when_a_node_goes("a node is paused", |cluster| {
        cluster.nodes[1].signal("-STOP");
        cluster.wait_for_shares(|shares| shares == [256], Duration::from_secs(40));
        cluster.nodes[1].signal("-CONT");
        cluster.wait_for("it goes on", ENDED, |c| c.restart_ended() > 0);
    });
}
