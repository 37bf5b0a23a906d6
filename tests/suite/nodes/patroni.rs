//! A database that survives the loss of a machine: three PostgreSQL servers under Patroni, with etcd, each ended by `kill -9` as
//! a machine is lost. The nodes wait, go on with the new primary, lose nothing and stay polite.
//!
//! Runs where Debian's `patroni` and `etcd-server` are installed. `TAOJIN_LONG=1 cargo test -p taojin --test suite patroni::`
//! is the long schedule; each kill takes a minute.

use std::fs;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::cluster::{Cluster, assert_polite, assert_whole, is_even};
use crate::support::http::free_port;
use crate::support::postgres::{NOBODY, installed, owner, run};
use crate::support::trial::fetched_again;
use crate::support::{poll, say, scaled};

/// Primaries that are killed; short and long.
const KILLS: [u32; 2] = [1, 5];
const HOSTS: u32 = 24;
/// Patroni's shortest lock: so long after a loss another server is made the primary.
const TTL_S: u32 = 20;
/// Servers, replicas and fail-overs are there by then.
const PATIENCE: Duration = Duration::from_secs(120);
/// After a fail-over documents come again within this time.
const GOES_ON: Duration = Duration::from_secs(20);

/// Three servers and what decides which of them is the primary.
struct Patroni {
    dir: TempDir,
    bin: PathBuf,
    etcd: Child,
    members: Vec<Member>,
}

struct Member {
    port: u16,
    process: Option<Child>,
}

/// Whether a program can be run.
fn is_there(program: &str) -> bool {
    let answer = Command::new(program)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    answer.is_ok_and(|status| status.success())
}

impl Patroni {
    /// None, and a word that the test is skipped, where the programs are missing.
    fn start(test: &str) -> Option<Self> {
        let Some(bin) = installed().filter(|_| is_there("patroni") && is_there("etcd")) else {
            say(&format!(
                "{test}: skipped, it wants PostgreSQL 15, Patroni and etcd (apt-get install postgresql-15 patroni etcd-server)"
            ));
            return None;
        };
        let dir = tempfile::tempdir().expect("temporary directory");
        if owner(Path::new("/proc/self")) == 0 {
            chown(dir.path(), Some(NOBODY), Some(NOBODY)).expect("another owner");
        }
        let (clients, peers) = (free_port(), free_port());
        let etcd = as_owner("etcd", dir.path())
            .args(["--name", "e", "--data-dir", "etcd", "--log-level", "error"])
            .arg(format!("--listen-client-urls=http://127.0.0.1:{clients}"))
            .arg(format!(
                "--advertise-client-urls=http://127.0.0.1:{clients}"
            ))
            .arg(format!("--listen-peer-urls=http://127.0.0.1:{peers}"))
            .arg(format!(
                "--initial-advertise-peer-urls=http://127.0.0.1:{peers}"
            ))
            .arg(format!("--initial-cluster=e=http://127.0.0.1:{peers}"))
            .spawn()
            .expect("etcd starts");
        let members = (0..3).map(|at| {
            let port = free_port();
            let settings = settings(dir.path(), &bin, at, port, clients);
            fs::write(dir.path().join(format!("{at}.yml")), settings).expect("a file");
            Member {
                port,
                process: None,
            }
        });
        let members = members.collect();
        let mut patroni = Patroni {
            dir,
            bin,
            etcd,
            members,
        };
        (0..patroni.members.len()).for_each(|at| patroni.start_member(at));
        patroni.wait_until_whole();
        Some(patroni)
    }

    fn start_member(&mut self, at: usize) {
        let log = fs::File::options()
            .create(true)
            .append(true)
            .open(self.dir.path().join(format!("{at}.log")))
            .expect("a log");
        let started = as_owner("patroni", self.dir.path())
            .arg(format!("{at}.yml"))
            .stderr(log)
            .spawn();
        self.members[at].process = Some(started.expect("patroni starts"));
    }

    /// The first column of the first row that a server gives; none where it does not answer.
    fn ask(&self, at: usize, sql: &str) -> Option<String> {
        let port = self.members[at].port.to_string();
        let answer = run(&self.bin, "psql", self.dir.path())
            .args(["-h", "127.0.0.1", "-U", "postgres", "-tAXq", "-p", &port])
            .args(["-c", sql, "postgres"])
            .env("PGCONNECT_TIMEOUT", "2")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .output()
            .expect("psql runs");
        let text = String::from_utf8_lossy(&answer.stdout).trim().to_owned();
        answer.status.success().then_some(text)
    }

    /// The server that takes writes.
    fn primary(&self) -> Option<usize> {
        let sql = "SELECT NOT pg_is_in_recovery()";
        (0..self.members.len()).find(|at| self.ask(*at, sql).as_deref() == Some("t"))
    }

    fn wait_for_primary(&self) -> usize {
        let primary = poll(PATIENCE, || self.primary());
        primary.unwrap_or_else(|| panic!("no primary:\n{}", self.logs()))
    }

    /// Waits for a primary with two replicas, one of them synchronous: then any one may be lost.
    fn wait_until_whole(&self) {
        let sql = "SELECT count(*) || ' ' || count(*) FILTER (WHERE sync_state = 'sync') FROM pg_stat_replication \
                   WHERE state = 'streaming'";
        let whole = poll(PATIENCE, || {
            let replicas = self.ask(self.primary()?, sql)?;
            (replicas == "2 1").then_some(())
        });
        assert!(whole.is_some(), "not whole:\n{}", self.logs());
    }

    /// The machine of a server is gone: all of it at once, without a word.
    fn kill(&mut self, at: usize) {
        let file = self.dir.path().join(format!("{at}/postmaster.pid"));
        let text = fs::read_to_string(file).expect("the number of its process");
        let server = text.lines().next().expect("a line");
        if let Some(mut patroni) = self.members[at].process.take() {
            patroni.kill().expect("it runs");
            patroni.wait().expect("its end");
        }
        let sent = Command::new("kill").args(["-9", server]).status();
        assert!(sent.expect("kill runs").success());
    }

    /// All servers; the one that takes writes is meant.
    fn url(&self) -> String {
        let hosts: Vec<String> = self
            .members
            .iter()
            .map(|member| format!("127.0.0.1:{}", member.port))
            .collect();
        format!(
            "postgres://taojin@{}/taojin?target_session_attrs=read-write",
            hosts.join(",")
        )
    }

    fn logs(&self) -> String {
        let log = |at: usize| fs::read_to_string(self.dir.path().join(format!("{at}.log")));
        let logs = (0..self.members.len()).map(|at| log(at).unwrap_or_default());
        logs.collect::<Vec<_>>().join("\n--\n")
    }
}

impl Drop for Patroni {
    fn drop(&mut self) {
        for at in 0..self.members.len() {
            if self.members[at].process.is_some() {
                self.kill(at);
            }
        }
        let _ = self.etcd.kill();
        let _ = self.etcd.wait();
    }
}

/// A program run by the user that has the folder, in it.
fn as_owner(program: &str, dir: &Path) -> Command {
    let mut command = Command::new(program);
    if owner(Path::new("/proc/self")) == 0 {
        command.uid(owner(dir)).gid(owner(dir));
    }
    command
        .current_dir(dir)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// As docs/cluster.md advises: synchronous, with the shortest times that Patroni takes.
fn settings(dir: &Path, bin: &Path, at: usize, port: u16, etcd: u16) -> String {
    let rest = free_port();
    let (dir, bin) = (dir.display(), bin.display());
    format!(
        "scope: trial
name: pg{at}
restapi: {{listen: '127.0.0.1:{rest}', connect_address: '127.0.0.1:{rest}'}}
etcd3: {{host: '127.0.0.1:{etcd}'}}
bootstrap:
  dcs:
    ttl: {TTL_S}
    loop_wait: 2
    retry_timeout: 3
    synchronous_mode: true
    postgresql:
      use_pg_rewind: true
      parameters: {{fsync: 'off', max_connections: 100, shared_buffers: 32MB, wal_keep_size: 256MB}}
  initdb: [{{encoding: UTF8}}, {{locale: C}}]
  pg_hba: ['local all all trust', 'host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust']
postgresql:
  listen: '127.0.0.1:{port}'
  connect_address: '127.0.0.1:{port}'
  data_dir: '{dir}/{at}'
  bin_dir: '{bin}'
  pgpass: '{dir}/{at}.pass'
  parameters: {{unix_socket_directories: '{dir}'}}
  authentication:
    superuser: {{username: postgres, password: secret}}
    replication: {{username: replicator, password: secret}}
    rewind: {{username: rewinder, password: secret}}
watchdog: {{mode: 'off'}}
"
    )
}

#[test]
fn database_failover_loses_nothing() {
    let Some(mut patroni) = Patroni::start("fail-over of PostgreSQL under Patroni") else {
        return;
    };
    let primary = patroni.wait_for_primary();
    for sql in [
        "CREATE ROLE taojin LOGIN",
        "CREATE DATABASE taojin OWNER taojin",
    ] {
        assert!(patroni.ask(primary, sql).is_some(), "{sql}");
    }
    let kills = scaled(KILLS);
    // At sixteen a second the pages last longer than the fail-overs.
    let mut cluster = Cluster::new(patroni.url(), HOSTS * (30 + 25 * kills), HOSTS);
    let all = i64::try_from(cluster.trial.articles().len()).expect("few");
    for count in 1..=2 {
        cluster.start(None);
        cluster.wait_for_shares(|shares| is_even(shares, count), PATIENCE);
    }
    let mut restarts = 0;
    for _ in 0..kills {
        let before = cluster.documents();
        cluster.wait_for_documents(before + 100, Instant::now() + PATIENCE);
        let lost = patroni.wait_for_primary();
        patroni.kill(lost);
        let begun = Instant::now();
        let primary = patroni.wait_for_primary();
        let outage = begun.elapsed();
        let found = cluster.documents();
        cluster.wait_for_documents(found + 1, Instant::now() + GOES_ON);
        say(&format!(
            "server {lost} lost, {primary} is the primary after {outage:.1?}, documents come after {:.1?}",
            begun.elapsed()
        ));
        patroni.start_member(lost);
        patroni.wait_until_whole();
        restarts += cluster.restart_ended();
    }
    cluster.wait_for_documents(all, Instant::now() + 4 * PATIENCE);
    restarts += cluster.restart_ended();
    let log = cluster.trial.hits();
    let again = fetched_again(&log);
    say(&format!(
        "{all} articles after {kills} fail-overs: {again} fetched again, {restarts} nodes ended and were started again"
    ));
    assert_whole(&cluster);
    assert_polite(&log, 0);
    assert!(again <= kills * HOSTS, "{again} were fetched again");
    assert_eq!(restarts, 0, "{}", cluster.logs());
}
