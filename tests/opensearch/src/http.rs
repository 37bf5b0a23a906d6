//! One request over a connection of its own.

use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
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
