//! A file system that fails under the real program: I/O errors, a full disk, one that is only read, writes that end half-way,
//! a slow one; in each of the files that it writes, once, for a while and until somebody mends it. The daemon goes on and
//! recovers when the fault is over, or it ends with a clear line and an exit code that says so; it never panics; and after a
//! start on a disk that works every document is there once and is found.
//!
//! `TAOJIN_LONG=1 cargo test -p taojin --test suite faults::` goes on with random numbers of failing calls for some minutes.

mod commands;

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::path::PathBuf;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use taojin_demo::trial::TrialPlan;

use crate::support::disk;
use crate::support::disk::faults::{Fault, Faults, Trouble};
use crate::support::folder::{Process, RunExt as _};
use crate::support::http::{free_port, get};
use crate::support::lots::Lots;
use crate::support::trial::{SITE, Trial};
use crate::support::{PATIENCE, poll, say, scaled};

/// How long a fault for a while lasts after it met the first call.
const WHILE: Duration = Duration::from_millis(500);
/// The long form tries random faults until so much time has passed.
const RANDOM: Duration = Duration::from_secs(480);
/// What a slow call takes: many of them make a commit.
const SLOW_MS: u32 = 20;
const HOSTS: u32 = 2;

const STORE: &str = "crawl.sqlite";
const WAL: &str = "crawl.sqlite-wal";
const INDEX: &str = "index/*";
const WARC: &str = "warc/*";
const CRAWL_LOG: &str = "log/*";
const SMALL_FILES: &str = "in_flight|robots.json*";

/// How long a fault lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lasts {
    /// This many calls.
    Calls(u32),
    /// Until it is mended under the running daemon.
    AWhile,
    /// Until the daemon has stopped.
    Ever,
}

const DURATIONS: [Lasts; 3] = [Lasts::Calls(1), Lasts::AWhile, Lasts::Ever];

/// A daemon that crawls a growing web on a disk that can fail.
struct Daemon {
    trial: Trial,
    faults: Faults,
    beside: tempfile::TempDir,
    port: u16,
    process: Option<Process>,
    /// What is being tried, for messages.
    now: String,
}

impl Daemon {
    fn new() -> Self {
        let plan = TrialPlan {
            seed: 3,
            hosts: HOSTS,
            articles: 10,
            daily: 2,
            ..TrialPlan::default()
        };
        let port = free_port();
        let frontier = "min_delay_ms = 5\nmax_delay_ms = 5\njitter = 0.0\n";
        let more = format!("[warc]\nenabled = true\n[serve]\nlisten = \"127.0.0.1:{port}\"\n");
        let trial = Trial::new(plan, frontier, &more);
        trial.set_schedule("* * * * * *");
        fs::create_dir(trial.data_dir()).expect("a data folder");
        let beside = tempfile::tempdir().expect("a folder");
        Self {
            faults: Faults::new(&beside.path().join("faults")),
            trial,
            beside,
            port,
            process: None,
            now: String::new(),
        }
    }

    fn log(&self) -> PathBuf {
        self.beside.path().join("log")
    }

    fn said(&self) -> String {
        fs::read_to_string(self.log()).unwrap_or_default()
    }

    fn start(&mut self) {
        let mut log = OpenOptions::new();
        let log = log.create(true).append(true).open(self.log());
        let mut command = self.trial.taojin(&["run"]);
        disk::fail(&mut command, &self.trial.data_dir(), &self.faults);
        command.stdout(Stdio::null()).stderr(log.expect("a log"));
        self.process = Some(Process::of(&mut command));
    }

    /// Whether it has ended by itself. Then it says why: with a line, and with its exit code.
    fn has_ended(&mut self) -> bool {
        let Some(process) = &mut self.process else {
            return true;
        };
        let Some(status) = process.ended() else {
            return false;
        };
        self.process = None;
        let said = self.said();
        let last = said.lines().last().unwrap_or_default();
        let is_clear = status.code().is_some_and(|code| code != 0) && last.contains("taojin: ");
        assert!(
            is_clear,
            "{}: ended with {status}\n{}",
            self.now,
            tail(&said)
        );
        true
    }

    /// Waits until it answers or has ended; gives whether it answers.
    fn is_up(&mut self) -> bool {
        self.wait_for("neither up nor ended", |daemon| {
            daemon.has_ended() || daemon.get("/healthz").is_some()
        });
        self.process.is_some()
    }

    /// Asks it to stop: it does, whatever the disk does.
    fn stop(&mut self) {
        let Some(process) = &self.process else { return };
        process.signal("-TERM");
        self.wait_for("does not stop", |daemon| {
            let process = daemon.process.as_mut().expect("it runs");
            process.ended().is_some()
        });
        self.process = None;
    }

    fn wait_for(&mut self, what: &str, mut is_so: impl FnMut(&mut Self) -> bool) {
        let found = poll(PATIENCE, || is_so(self).then_some(()));
        let said = || tail(&self.said());
        assert!(found.is_some(), "{}: {what}\n{}", self.now, said());
    }

    fn get(&self, target: &str) -> Option<(u16, String)> {
        get(self.port, target)
    }

    /// Whether every article of today is found once, and nothing twice.
    fn has_all(&self) -> bool {
        let Some(found) = self.trial.try_indexed() else {
            return false;
        };
        let twice: BTreeMap<_, _> = found.iter().filter(|(_, n)| **n > 1).collect();
        assert!(twice.is_empty(), "{}: {twice:?}", self.now);
        self.trial.missing(&found).is_empty()
    }

    fn can_search(&self) -> bool {
        let answer = self.get("/api/search?q=&limit=1").unwrap_or_default();
        answer.0 == 200 && !answer.1.contains("\"total\":0")
    }

    /// The fault meets the daemon while new articles come in; afterwards all of them are there.
    fn meet(&mut self, trouble: &Trouble, lasts: Lasts) {
        self.now = format!("{:?} {} {lasts:?}", trouble.fault, trouble.files);
        if self.process.is_none() {
            self.start();
        }
        assert!(self.is_up(), "{}: no start", self.now);
        self.faults.begin(trouble);
        self.trial.web.set_day(self.trial.web.day() + 1);
        if trouble.files == STORE {
            // The store's file is written when its log is moved into it: at the latest when the daemon stops.
            self.stop();
        } else {
            self.wait_for("the fault met nothing", |daemon| {
                daemon.faults.hits() > 0 || daemon.has_ended()
            });
        }
        match lasts {
            Lasts::Calls(_) => {}
            Lasts::AWhile => thread::sleep(WHILE),
            Lasts::Ever => {
                thread::sleep(WHILE);
                self.stop();
                // One more start on the failing disk: it works, or it says why not.
                self.start();
                self.is_up();
                self.stop();
            }
        }
        self.faults.end();
        self.wait_for("not everything is there again", |daemon| {
            if daemon.has_ended() {
                daemon.start();
            }
            daemon.has_all() && daemon.can_search()
        });
        let said = self.said();
        assert!(
            !said.contains("panicked at "),
            "{}: {}",
            self.now,
            tail(&said)
        );
        // A new log begins, in the same file.
        File::create(self.log()).expect("a log");
        if matches!(trouble.files, WARC | CRAWL_LOG) {
            // They rest for a while after a fault: the next one shall meet them.
            self.stop();
        }
    }
}

fn tail(said: &str) -> String {
    let lines: Vec<&str> = said.lines().collect();
    lines[lines.len().saturating_sub(15)..].join("\n")
}

fn trouble(fault: Fault, files: &'static str, lasts: Lasts) -> Trouble {
    Trouble {
        fault,
        files,
        spared: 0,
        times: match lasts {
            Lasts::Calls(calls) => Some(calls),
            _ => None,
        },
        slow_ms: SLOW_MS,
    }
}

/// Every fault for every time in these files; then, if the environment asks for it, random ones.
fn all_faults(files: &[&'static str]) {
    let mut daemon = Daemon::new();
    let begun = Instant::now();
    let mut tried = 0;
    for files in files {
        for fault in Fault::ALL {
            for lasts in DURATIONS {
                daemon.meet(&trouble(fault, files, lasts), lasts);
                tried += 1;
            }
        }
    }
    let until = begun + scaled([Duration::ZERO, RANDOM]);
    let mut lots = Lots(begun.elapsed().subsec_nanos().into());
    while Instant::now() < until {
        let lasts = [
            Lasts::Calls(u32::try_from(lots.below(40)).expect("small") + 1),
            Lasts::AWhile,
            Lasts::Ever,
        ][lots.below(3)];
        let fault = Fault::ALL[lots.below(Fault::ALL.len())];
        let trouble = Trouble {
            spared: u32::try_from(lots.below(4)).expect("small"),
            ..trouble(fault, files[lots.below(files.len())], lasts)
        };
        daemon.meet(&trouble, lasts);
        tried += 1;
    }
    daemon.stop();
    say(&format!(
        "{tried} faults in {files:?}, {} articles all there once, {:.0?}",
        daemon.trial.articles().len(),
        begun.elapsed()
    ));
}

#[test]
fn daemon_outlives_store_faults() {
    all_faults(&[STORE, WAL]);
}

#[test]
fn daemon_outlives_index_faults() {
    all_faults(&[INDEX]);
}

#[test]
fn daemon_outlives_archive_and_log_faults() {
    all_faults(&[WARC, CRAWL_LOG, SMALL_FILES]);
}

#[test]
fn healthz_names_failing_store() {
    let mut daemon = Daemon::new();
    daemon.now = "long".to_owned();
    daemon.start();
    daemon.wait_for("no crawl", |daemon| daemon.has_all());
    daemon.faults.begin(&trouble(Fault::Eio, WAL, Lasts::Ever));
    daemon.trial.web.set_day(daemon.trial.web.day() + 1);
    daemon.wait_for("not named", |daemon| {
        let (status, text) = daemon.get("/healthz").expect("an answer");
        status == 503 && text.contains("stuck: crawl loop")
    });
    // Readers are answered meanwhile.
    assert_eq!(daemon.get("/").expect("an answer").0, 200);
    daemon.faults.end();
    daemon.wait_for("named for ever", |daemon| {
        let answer = daemon.get("/healthz").expect("an answer");
        answer.0 == 200 && daemon.has_all()
    });
}

/// What the archive lacks is said as soon as it is written again, a minute later; the crawl does not wait for it.
#[test]
fn archive_reports_missing_answers() {
    let mut daemon = Daemon::new();
    daemon.now = "archive".to_owned();
    daemon.start();
    assert!(daemon.is_up(), "no start");
    daemon.wait_for("no crawl", |daemon| daemon.has_all());
    let trouble = trouble(Fault::Enospc, WARC, Lasts::Calls(1));
    daemon.faults.begin(&trouble);
    daemon.wait_for("the archive is never written again", |daemon| {
        daemon.trial.web.set_day(daemon.trial.web.day() + 1);
        thread::sleep(Duration::from_secs(2));
        daemon
            .said()
            .contains("archive is written again, these answers are missing")
    });
    daemon.faults.end();
    daemon.wait_for("not everything is there", |daemon| daemon.has_all());
    daemon.stop();
}

/// Starts of a daemon and of a crawl where the folder cannot be written from the first call on.
#[test]
fn start_on_failing_disk() {
    let mut daemon = Daemon::new();
    for fault in [Fault::Eio, Fault::Enospc, Fault::Erofs] {
        for files in [STORE, WAL, INDEX, "*"] {
            daemon.now = format!("{fault:?} {files} from the start");
            daemon.faults.begin(&trouble(fault, files, Lasts::Ever));
            daemon.start();
            if daemon.is_up() {
                daemon.stop();
            }
            let mut crawl = daemon.trial.taojin(&["crawl", "--site", SITE]);
            disk::fail(&mut crawl, &daemon.trial.data_dir(), &daemon.faults);
            let crawled = crawl.ran().without_panic(&daemon.now);
            assert!(crawled.code.is_some(), "{}: {crawled:?}", daemon.now);
            daemon.faults.end();
        }
    }
    daemon.start();
    daemon.wait_for("not everything is there", |daemon| {
        daemon.has_all() && daemon.can_search()
    });
}
