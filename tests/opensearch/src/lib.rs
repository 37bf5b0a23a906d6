//! OpenSearch on this machine, for tests.
//!
//! [`OpenSearch::start`] runs one node or several in a process of their own, over data in a temporary folder, and waits until they
//! answer; [`OpenSearch::start_secured`] does so with the security plugin. Maven fetches OpenSearch once; where Maven or Java is
//! missing, a test prints [`Unavailable`] and is skipped.

mod http;
mod installation;

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU16, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

pub use http::send;
use installation::{Edition, Installation};

/// Ports of nodes: below those that the system gives to connections, so that none is taken while a node is down.
const FIRST_PORT: u16 = 20_000;
const PORTS: u16 = 12_000;
/// A cluster that takes longer has failed.
const START: Duration = Duration::from_secs(180);
/// Heap in megabytes: of the first node, and what each other one adds.
const HEAP: [usize; 2] = [512, 256];

/// Why there is no OpenSearch here.
#[derive(Debug)]
pub enum Unavailable {
    /// No JDK 21 or newer was found.
    NoJava,
    /// There is no `mvn`.
    NoMaven,
    /// It could not be fetched or compiled.
    Failed {
        /// What failed.
        program: &'static str,
        /// What it said first.
        cause: String,
    },
    /// A file could not be written.
    Io(io::Error),
}

impl From<io::Error> for Unavailable {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl std::fmt::Display for Unavailable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let remedy = "apt-get install openjdk-21-jdk-headless maven";
        match self {
            Self::NoJava => write!(f, "no OpenSearch: there is no JDK 21 or newer ({remedy})"),
            Self::NoMaven => write!(f, "no OpenSearch: there is no mvn ({remedy})"),
            Self::Failed { program, cause } => {
                write!(f, "no OpenSearch: {program} failed: {cause}")
            }
            Self::Io(error) => write!(f, "no OpenSearch: {error}"),
        }
    }
}

/// OpenSearch on loopback. It ends, and its data goes, with this value or with the process that has it.
#[derive(Debug)]
pub struct OpenSearch {
    installation: &'static Installation,
    dir: tempfile::TempDir,
    nodes: Vec<Ports>,
    process: Option<Process>,
    edition: Edition,
}

#[derive(Debug, Clone, Copy)]
struct Ports {
    http: u16,
    transport: u16,
}

/// The process of all nodes. It ends by itself where its input does, as when this process is killed.
#[derive(Debug)]
struct Process {
    child: Child,
    commands: ChildStdin,
}

impl Drop for Process {
    fn drop(&mut self) {
        // An error means that it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl OpenSearch {
    /// Starts so many nodes and waits until they answer. Panics where one that can be had does not start.
    pub fn start(nodes: usize) -> Result<Self, &'static Unavailable> {
        static INSTALLATION: LazyLock<Result<Installation, Unavailable>> =
            LazyLock::new(|| Installation::find(Edition::Plain));
        let mut cluster = Self::new(nodes, INSTALLATION.as_ref()?, Edition::Plain);
        cluster.run();
        Ok(cluster)
    }

    /// The same with the security plugin, of an older version. `config` is copied into the folder of the configuration:
    /// `opensearch.yml`, the certificates that it names, `ca.pem`, `admin.pem` and `admin.key` of a user who may do all, and
    /// what shall differ from the plugin's own files in `opensearch-security`. The certificate of the nodes is of `localhost`,
    /// and `curl` is installed.
    pub fn start_secured(nodes: usize, config: &Path) -> Result<Self, &'static Unavailable> {
        static INSTALLATION: LazyLock<Result<Installation, Unavailable>> =
            LazyLock::new(|| Installation::find(Edition::Secured));
        let installation = INSTALLATION.as_ref()?;
        let mut cluster = Self::new(nodes, installation, Edition::Secured);
        let own = cluster.config();
        copy_files(
            &installation.security_files,
            &own.join("opensearch-security"),
        );
        copy_files(config, &own);
        cluster.run();
        Ok(cluster)
    }

    fn new(nodes: usize, installation: &'static Installation, edition: Edition) -> Self {
        Self {
            installation,
            dir: tempfile::tempdir().expect("a temporary folder"),
            nodes: (0..nodes).map(|_| Ports::free()).collect(),
            process: None,
            edition,
        }
    }

    fn config(&self) -> PathBuf {
        self.dir.path().join("config")
    }

    /// Sends a node JSON, or nothing; to a secured one as the user who may do all.
    fn send(
        &self,
        node: Ports,
        method: &str,
        target: &str,
        body: &str,
    ) -> io::Result<(u16, Value)> {
        match self.edition {
            Edition::Plain => send(node.http, method, target, body.as_bytes()),
            Edition::Secured => http::send_secured(&self.config(), node.http, method, target, body),
        }
    }

    /// Starts all nodes, again after [`OpenSearch::kill`], over the same data.
    pub fn run(&mut self) {
        let log = self.dir.path().join("log");
        let log = File::options().create(true).append(true).open(log);
        let log = log.expect("a log file");
        let [first, other] = HEAP;
        let heap = first + other * self.nodes.len().saturating_sub(1);
        let name = self.dir.path().file_name().unwrap_or_default();
        let mut java = Command::new(&self.installation.java);
        java.args(["-Xms128m", &format!("-Xmx{heap}m"), "-XX:+UseSerialGC"])
            .args([
                "-XX:TieredStopAtLevel=1",
                "--enable-native-access=ALL-UNNAMED",
            ])
            .arg("-Dopensearch.set.netty.runtime.available.processors=false")
            .args(["-cp", &self.installation.class_path, "Engine"])
            .arg(self.dir.path())
            .arg(name)
            .args(
                self.nodes
                    .iter()
                    .map(|ports| format!("{}:{}", ports.http, ports.transport)),
            )
            .stdin(Stdio::piped())
            .stdout(log.try_clone().expect("a second handle"))
            .stderr(log);
        let mut child = java.spawn().expect("java starts");
        let commands = child.stdin.take().expect("its input");
        self.process = Some(Process { child, commands });
        self.wait_for("all nodes answer", |cluster| {
            let nodes = cluster.nodes.len();
            let target = format!(
                "/_cluster/health?wait_for_nodes={nodes}&wait_for_status=yellow&timeout=1s"
            );
            let mut nodes = cluster.nodes.iter();
            nodes.all(|node| is_good(cluster.send(*node, "GET", &target, "")))
        });
    }

    /// Ends all nodes as a lost machine ends; their data stays.
    pub fn kill(&mut self) {
        self.process = None;
    }

    /// Stops a node, counted from 0.
    pub fn stop_node(&mut self, number: usize) {
        self.command("stop", number);
        self.wait_for("the node is down", |cluster| {
            let answer = cluster.send(cluster.nodes[number], "GET", "/", "");
            answer.is_err()
        });
    }

    /// Starts a node that was stopped.
    pub fn start_node(&mut self, number: usize) {
        self.command("start", number);
        self.wait_for("the node is back", |cluster| {
            let target = "/_cluster/health?timeout=1s";
            is_good(cluster.send(cluster.nodes[number], "GET", target, ""))
        });
    }

    fn command(&mut self, command: &str, number: usize) {
        let process = self.process.as_mut().expect("a running cluster");
        writeln!(process.commands, "{command} {number}").expect("it reads commands");
    }

    fn wait_for(&mut self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let until = Instant::now() + START;
        while !is_so(self) {
            let process = self.process.as_mut().expect("a running cluster");
            let ended = process.child.try_wait().expect("its state");
            assert!(
                ended.is_none() && Instant::now() < until,
                "waited in vain until {what}: {}",
                self.log()
            );
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn log(&self) -> String {
        fs::read_to_string(self.dir.path().join("log")).unwrap_or_default()
    }

    /// The HTTP port of a node, counted from 0.
    pub fn port(&self, number: usize) -> u16 {
        self.nodes[number].http
    }

    /// The addresses of all nodes.
    pub fn urls(&self) -> Vec<String> {
        let ports = self.nodes.iter().map(|ports| ports.http);
        ports
            .map(|port| format!("http://127.0.0.1:{port}"))
            .collect()
    }

    /// What the first node that is up says to a question, if it answers well.
    pub fn get(&self, target: &str) -> Option<Value> {
        let ask = |node: &Ports| self.send(*node, "GET", target, "").ok();
        let (status, answer) = self.nodes.iter().find_map(ask)?;
        (status == 200).then_some(answer)
    }

    /// What the first node answers to a change, which it must take.
    pub fn change(&self, method: &str, target: &str, body: &Value) -> Value {
        let body = match body {
            Value::Null => String::new(),
            body => body.to_string(),
        };
        let sent = self.send(self.nodes[0], method, target, &body);
        let (status, answer) = sent.expect("an answer");
        assert!((200..300).contains(&status), "{target}: {answer}");
        answer
    }
}

/// Copies a folder into another one, over what is there.
fn copy_files(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder").flatten() {
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy_files(&path, &to);
        } else {
            fs::copy(path, to).expect("copied");
        }
    }
}

fn is_good(answer: io::Result<(u16, Value)>) -> bool {
    answer.is_ok_and(|(status, _)| status == 200)
}

impl Ports {
    fn free() -> Self {
        let [http, transport] = [(); 2].map(|()| free_port());
        Self { http, transport }
    }
}

/// A port of this machine that nobody listens at. Each is given once, and none is one of those that the system gives to a
/// connection or a listener by itself, so that it is still free when it is used at last; other processes look from
/// elsewhere on.
pub fn free_port() -> u16 {
    static GIVEN: AtomicU16 = AtomicU16::new(0);
    let begin = std::process::id();
    loop {
        let at = begin * 64 + u32::from(GIVEN.fetch_add(1, Ordering::Relaxed));
        let port = FIRST_PORT + (at % u32::from(PORTS)) as u16;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}
