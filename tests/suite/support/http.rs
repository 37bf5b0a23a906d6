//! HTTP on loopback, both ends of it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::PATIENCE;

pub(crate) use taojin_test_opensearch::free_port;

/// What a server said.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

/// Sends a request with these lines in its head.
pub(crate) fn send(
    port: u16,
    method: &str,
    target: &str,
    lines: &[&str],
    body: &str,
) -> Option<Answer> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    let lines: String = lines.iter().map(|line| format!("{line}\r\n")).collect();
    let length = body.len();
    let request = format!(
        "{method} {target} HTTP/1.0\r\nHost: localhost\r\n{lines}Content-Length: {length}\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    Some(Answer {
        status: head.split(' ').nth(1)?.parse().ok()?,
        head: head.to_owned(),
        body: body.to_owned(),
    })
}

/// Status and body of an answer.
pub(crate) fn get(port: u16, target: &str) -> Option<(u16, String)> {
    let answer = send(port, "GET", target, &[], "")?;
    Some((answer.status, answer.body))
}

/// What a server of a test was asked.
#[derive(Debug, Default)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// Without the port.
    pub(crate) host: String,
    pub(crate) path: String,
    lines: Vec<String>,
    pub(crate) body: String,
}

impl Request {
    /// The next one of a connection; none when the client is gone.
    pub(crate) fn read(reader: &mut impl BufRead) -> Option<Self> {
        let mut request = Self::default();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return None;
            }
            match line.trim() {
                "" => break,
                text => request.lines.push(text.to_owned()),
            }
        }
        let host = request.header("host").unwrap_or_default();
        request.host = host.split(':').next().unwrap_or_default().to_owned();
        let first = request.lines.first()?;
        let mut words = first.split(' ').map(str::to_owned);
        let (method, path) = (words.next(), words.next());
        request.method = method.unwrap_or_default();
        request.path = path.unwrap_or_else(|| "/".to_owned());
        let length = request.header("content-length");
        let length = length.and_then(|n| n.parse().ok()).unwrap_or(0);
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        request.body = String::from_utf8_lossy(&body).into_owned();
        Some(request)
    }

    pub(crate) fn header(&self, name: &str) -> Option<String> {
        self.lines.iter().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name)
                .then(|| value.trim().to_owned())
        })
    }

    /// Host and path.
    pub(crate) fn address(&self) -> String {
        format!("{}{}", self.host, self.path)
    }
}

/// What an address answers.
#[derive(Clone, Default)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: String,
    pub(crate) body: String,
    /// How long the answer takes.
    pub(crate) delay: Duration,
}

impl Reply {
    pub(crate) fn page(body: &str) -> Self {
        Self {
            status: 200,
            body: body.to_owned(),
            ..Self::default()
        }
    }

    pub(crate) fn status(status: u16) -> Self {
        Self::refusal(status, "")
    }

    pub(crate) fn refusal(status: u16, body: &str) -> Self {
        Self {
            status,
            ..Self::page(body)
        }
    }

    pub(crate) fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    pub(crate) fn header(mut self, line: &str) -> Self {
        self.headers.push_str(line);
        self.headers.push_str("\r\n");
        self
    }

    pub(crate) fn write(&self, stream: &mut impl Write) -> std::io::Result<()> {
        thread::sleep(self.delay);
        let text = format!(
            "HTTP/1.1 {} X\r\nContent-Type: text/html; charset=utf-8\r\n{}Content-Length: {}\r\n\r\n{}",
            self.status,
            self.headers,
            self.body.len(),
            self.body
        );
        stream.write_all(text.as_bytes())
    }
}

/// Serves on loopback until the test's process ends; one connection may have several requests.
pub(crate) fn serve(answer: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> u16 {
    let answer = move |request: &Request, stream: &mut TcpStream| answer(request).write(stream);
    serve_raw(1, answer).port()
}

/// The same at 127.0.0.`host`. `answer` writes what it likes; an error ends the connection.
pub(crate) fn serve_raw(
    host: u8,
    answer: impl Fn(&Request, &mut TcpStream) -> std::io::Result<()> + Send + Sync + 'static,
) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::new(127, 0, 0, host), 0)).expect("a free port");
    let address = listener.local_addr().expect("its address");
    let answer = Arc::new(answer);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answer = Arc::clone(&answer);
            thread::spawn(move || {
                let mut reader = BufReader::new(stream);
                while let Some(request) = Request::read(&mut reader) {
                    if answer(&request, reader.get_mut()).is_err() {
                        return;
                    }
                }
            });
        }
    });
    address
}
