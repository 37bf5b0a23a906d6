//! A PostgreSQL server for a test: in a folder of its own, reached by a socket in it, not run as root. Nothing that runs
//! already is touched.

use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Nobody: PostgreSQL refuses to run as root.
pub(crate) const NOBODY: u32 = 65_534;

/// A server that starts slower than this has failed.
const START: Duration = Duration::from_secs(60);

/// What a short test wants: no waiting for the disk, little memory, no word.
const SETTINGS: &[&str] = &[
    "listen_addresses=",
    "fsync=off",
    "max_connections=200",
    "shared_buffers=32MB",
    "log_min_messages=fatal",
];

/// A running server.
pub(crate) struct Server {
    dir: TempDir,
    bin: PathBuf,
    process: Child,
}

/// Starts a server; none, and a word that the test is skipped, where PostgreSQL 15 or later is not installed.
#[expect(clippy::print_stderr, reason = "a test's report")]
pub(crate) fn server(test: &str) -> Option<Server> {
    let Some(bin) = installed() else {
        eprintln!(
            "{test}: skipped, PostgreSQL 15 is not installed (apt-get install postgresql-15)"
        );
        return None;
    };
    let dir = tempfile::tempdir().expect("temporary directory");
    if owner(Path::new("/proc/self")) == 0 {
        chown(dir.path(), Some(NOBODY), Some(NOBODY)).expect("another owner");
    }
    let made = run(&bin, "initdb", dir.path())
        .args([
            "-A",
            "trust",
            "-U",
            "taojin",
            "-E",
            "UTF8",
            "--locale=C",
            "--no-sync",
            "-D",
            "data",
        ])
        .output()
        .expect("initdb runs");
    assert!(
        made.status.success(),
        "{}",
        String::from_utf8_lossy(&made.stderr)
    );
    let process = spawn(&bin, dir.path());
    let server = Server { dir, bin, process };
    server.wait();
    Some(server)
}

impl Server {
    /// Its address.
    pub(crate) fn url(&self) -> String {
        self.url_by(self.folder())
    }

    /// The same by a socket in this folder.
    pub(crate) fn url_by(&self, folder: &Path) -> String {
        let folder = folder.to_string_lossy().replace('/', "%2F");
        format!("postgres://taojin@{folder}/postgres")
    }

    /// Where its socket is.
    pub(crate) fn folder(&self) -> &Path {
        self.dir.path()
    }

    /// Ends it as a crash would, and starts it again, without waiting until it answers.
    pub(crate) fn crash(&mut self) {
        self.stop();
        self.start();
    }

    /// Ends it as a crash would.
    pub(crate) fn stop(&mut self) {
        let file = self.dir.path().join("data/postmaster.pid");
        let text = fs::read_to_string(file).expect("the number of its process");
        let number = text.lines().next().expect("a line").to_owned();
        let stopped = run(&self.bin, "pg_ctl", self.dir.path())
            .args(["kill", "QUIT", &number])
            .status();
        assert!(stopped.expect("pg_ctl runs").success());
        self.process.wait().expect("its end");
    }

    /// Starts it, without waiting until it answers.
    pub(crate) fn start(&mut self) {
        self.process = spawn(&self.bin, self.dir.path());
    }

    /// Sends all its processes a signal: stopped ones take connections and answer nothing.
    #[allow(dead_code, reason = "not every test that has this file needs it")]
    pub(crate) fn signal(&self, signal: &str) {
        let parent = self.process.id().to_string();
        let is_its = |stat: &str| {
            stat.rsplit(')')
                .next()?
                .split_whitespace()
                .nth(1)
                .map(|id| id == parent)
        };
        let mut ids = vec![parent.clone()];
        for entry in fs::read_dir("/proc").expect("processes").flatten() {
            let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
            if is_its(&stat) == Some(true) {
                ids.push(entry.file_name().to_string_lossy().into_owned());
            }
        }
        let sent = Command::new("kill").arg(signal).args(&ids).status();
        // One of them may have ended meanwhile.
        sent.expect("kill runs");
    }

    /// Starts it again with these settings beside the usual ones.
    #[allow(dead_code, reason = "not every test that has this file needs it")]
    pub(crate) fn restart_with(&mut self, settings: &[String]) {
        // Killed outright, it would leave processes behind for a moment, which the next one refuses to start beside.
        self.stop();
        let mut command = postgres(&self.bin, self.dir.path());
        for setting in settings {
            command.args(["-c", setting]);
        }
        self.process = command.spawn().expect("postgres starts");
    }

    fn wait(&self) {
        let end = Instant::now() + START;
        let ready = || {
            run(&self.bin, "pg_isready", self.dir.path())
                .arg("-q")
                .arg("-h")
                .arg(self.dir.path())
                .status()
        };
        while !ready().expect("pg_isready runs").success() {
            assert!(Instant::now() < end, "PostgreSQL does not start");
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The user that has a file.
pub(crate) fn owner(path: &Path) -> u32 {
    fs::metadata(path).map_or(0, |data| data.uid())
}

/// A program of PostgreSQL, run by the user that has the folder.
pub(crate) fn run(bin: &Path, program: &str, dir: &Path) -> Command {
    let mut command = Command::new(bin.join(program));
    if owner(Path::new("/proc/self")) == 0 {
        command.uid(owner(dir)).gid(owner(dir));
    }
    command.current_dir(dir).stdout(Stdio::null());
    command
}

fn spawn(bin: &Path, dir: &Path) -> Child {
    postgres(bin, dir).spawn().expect("postgres starts")
}

fn postgres(bin: &Path, dir: &Path) -> Command {
    let mut command = run(bin, "postgres", dir);
    command.args(["-D", "data"]).arg("-k").arg(dir);
    for setting in SETTINGS {
        command.args(["-c", setting]);
    }
    command.stderr(Stdio::null());
    command
}

/// Folder of the programs of the newest PostgreSQL.
pub(crate) fn installed() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?.flatten();
    let number = |name: &str| name.parse::<u32>().ok().filter(|version| *version >= 15);
    let newest = versions
        .filter_map(|v| number(v.file_name().to_str()?))
        .max()?;
    let bin = PathBuf::from(format!("/usr/lib/postgresql/{newest}/bin"));
    bin.join("initdb").exists().then_some(bin)
}
