//! The daemon of a folder, and a server without one.

use std::os::unix::net::{UnixDatagram, UnixStream};
use std::process::Stdio;

use serde_json::Value;

use super::folder::{Folder, Process, RunExt as _};
use super::http::{Answer, free_port, get, send};
use super::{PATIENCE, wait_until};

/// The operator's token, where a configuration names it.
pub(crate) const TOKEN: &str = "0123456789abcdefghijklmnop";
/// A part of the configuration: a daemon finds a port of its own when it starts.
pub(crate) const LISTEN: &str = "[serve]\nlisten = \"127.0.0.1:0\"\n";

/// A program that serves; killed when it is dropped.
pub(crate) struct Daemon {
    pub(crate) process: Process,
    pub(crate) port: u16,
    notices: Option<UnixDatagram>,
}

/// The port that the configuration names; a free one, if it was left open.
fn port_of(folder: &Folder) -> u16 {
    let config = folder.read("taojin.toml");
    if config.contains("127.0.0.1:0\"") {
        let free = format!("127.0.0.1:{}\"", free_port());
        folder.replace("taojin.toml", "127.0.0.1:0\"", &free);
        return port_of(folder);
    }
    let listen = config.split("listen = \"127.0.0.1:").nth(1);
    let port = listen.and_then(|rest| rest.split('"').next()?.parse().ok());
    port.expect("serve.listen")
}

impl Daemon {
    /// `taojin run`, as soon as it takes requests and commands.
    pub(crate) fn start(folder: &Folder) -> Self {
        let port = port_of(folder);
        let process = folder.taojin(&["run"]).started();
        let socket = folder.data_dir().join("control.sock");
        wait_until("the daemon answers", || {
            get(port, "/healthz").is_some() && UnixStream::connect(&socket).is_ok()
        });
        Self::of(process, port)
    }

    pub(crate) fn of(process: Process, port: u16) -> Self {
        let notices = None;
        Self {
            process,
            port,
            notices,
        }
    }

    /// The same as systemd starts it, once it says that it is ready, with its log in `daemon.log`.
    pub(crate) fn under_systemd(folder: &Folder) -> Self {
        let daemon = Self::starting_under_systemd(folder);
        daemon.wait_for_notice("READY=1");
        daemon
    }

    pub(crate) fn starting_under_systemd(folder: &Folder) -> Self {
        let port = port_of(folder);
        let socket = folder.file("notify");
        let notices = UnixDatagram::bind(&socket).expect("a socket");
        notices
            .set_read_timeout(Some(PATIENCE))
            .expect("a time-out");
        let log = std::fs::File::create(folder.file("daemon.log")).expect("a log");
        let mut command = folder.taojin(&["run"]);
        command.env("NOTIFY_SOCKET", &socket).stdout(Stdio::null());
        Self {
            process: Process::of(command.stderr(log)),
            port,
            notices: Some(notices),
        }
    }

    /// `taojin serve` over a folder.
    pub(crate) fn serving(folder: &Folder) -> Self {
        let port = free_port();
        let listen = format!("127.0.0.1:{port}");
        let process = folder.taojin(&["serve", "--listen", &listen]).started();
        wait_until("the server answers", || get(port, "/healthz").is_some());
        Self::of(process, port)
    }

    /// Waits until systemd would be told this.
    pub(crate) fn wait_for_notice(&self, wanted: &str) {
        let notices = self.notices.as_ref().expect("started with a socket");
        let mut buffer = [0u8; 4096];
        loop {
            let length = notices.recv(&mut buffer);
            let length = length.unwrap_or_else(|e| panic!("no {wanted}: {e}"));
            if String::from_utf8_lossy(&buffer[..length]).contains(wanted) {
                return;
            }
        }
    }

    pub(crate) fn signal(&self, name: &str) {
        self.process.signal(name);
    }

    /// Asks it to stop; its exit code.
    #[track_caller]
    pub(crate) fn stop(self) -> Option<i32> {
        self.process.stop()
    }

    /// Status and body of an answer.
    #[track_caller]
    pub(crate) fn get(&self, target: &str) -> (u16, String) {
        get(self.port, target).expect("an answer")
    }

    #[track_caller]
    pub(crate) fn json(&self, target: &str) -> Value {
        let (status, body) = self.get(target);
        let json = serde_json::from_str(&body);
        json.unwrap_or_else(|e| panic!("{target}: {status}: {e}: {body}"))
    }

    /// A request of the operator; a body is a form unless it begins as JSON.
    #[track_caller]
    pub(crate) fn signed(&self, method: &str, target: &str, body: &str) -> (u16, String) {
        let token = format!("Authorization: Bearer {TOKEN}");
        let answer = self.send(method, target, body, &[&token]);
        (answer.status, answer.body)
    }

    /// The same without the token.
    #[track_caller]
    pub(crate) fn send(&self, method: &str, target: &str, body: &str, lines: &[&str]) -> Answer {
        let kind = if body.starts_with('{') || body.is_empty() {
            "Content-Type: application/json"
        } else {
            "Content-Type: application/x-www-form-urlencoded"
        };
        let lines = [&[kind], lines].concat();
        send(self.port, method, target, &lines, body).expect("an answer")
    }

    #[track_caller]
    pub(crate) fn post(&self, target: &str, body: &str) -> (u16, Value) {
        let (status, text) = self.signed("POST", target, body);
        (status, serde_json::from_str(&text).unwrap_or(Value::Null))
    }

    pub(crate) fn status(&self) -> Value {
        self.json("/api/status")
    }

    #[track_caller]
    pub(crate) fn wait_for_status(&self, what: &str, is_so: impl Fn(&Value) -> bool) {
        wait_until(what, || is_so(&self.status()));
    }

    pub(crate) fn hits(&self, query: &str) -> Vec<Value> {
        let found = self.json(&format!("/api/search?{query}"));
        found["hits"].as_array().cloned().unwrap_or_default()
    }

    pub(crate) fn documents(&self) -> u64 {
        let found = get(self.port, "/api/search?q=&limit=1");
        let found: Option<Value> = found.and_then(|(_, body)| serde_json::from_str(&body).ok());
        found.and_then(|f| f["total"].as_u64()).unwrap_or(0)
    }

    #[track_caller]
    pub(crate) fn wait_for_documents(&self, at_least: u64) {
        wait_until(&format!("{at_least} documents are found"), || {
            self.documents() >= at_least
        });
    }
}
