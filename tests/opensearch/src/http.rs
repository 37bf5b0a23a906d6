//! One request over a connection of its own.

use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

/// A server that is silent for longer hangs.
const SILENCE: Duration = Duration::from_secs(90);

/// Sends JSON, or nothing, to a server on loopback. Gives status and body of its answer.
pub fn send(port: u16, method: &str, target: &str, body: &[u8]) -> io::Result<(u16, Value)> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(SILENCE))?;
    let head = format!(
        "{method} {target} HTTP/1.0\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(&[head.as_bytes(), body].concat())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let broken = || io::Error::other(format!("no answer in HTTP: {answer:.200}"));
    let (head, body) = answer.split_once("\r\n\r\n").ok_or_else(broken)?;
    let status = head
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok());
    let body = match body {
        "" => Value::Null,
        text => serde_json::from_str(text).map_err(io::Error::other)?,
    };
    Ok((status.ok_or_else(broken)?, body))
}

/// The same over TLS, with the certificates in `config`.
pub(crate) fn send_secured(
    config: &Path,
    port: u16,
    method: &str,
    target: &str,
    body: &str,
) -> io::Result<(u16, Value)> {
    let mut curl = Command::new("curl");
    curl.args(["--silent", "--show-error", "--request", method])
        .arg("--max-time")
        .arg(SILENCE.as_secs().to_string())
        .args(["--cacert", "ca.pem", "--cert", "admin.pem"])
        .args(["--key", "admin.key", "--write-out", "\n%{http_code}"])
        .args(["--header", "Content-Type: application/json"])
        .arg(format!("https://localhost:{port}{target}"));
    if !body.is_empty() {
        curl.args(["--data-binary", body]);
    }
    let output = curl.current_dir(config).output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(io::Error::other(said.trim().to_owned()));
    }
    let answer = String::from_utf8_lossy(&output.stdout);
    let (body, status) = answer.rsplit_once('\n').unwrap_or_default();
    let status = status.parse().map_err(io::Error::other)?;
    // What the plugin refuses is no JSON.
    Ok((status, serde_json::from_str(body).unwrap_or_default()))
}
