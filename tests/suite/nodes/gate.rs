//! A server before OpenSearch, for what that of the tests has not: users, rights, other versions, encryption, faults.

use std::io::{self, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};

use crate::support::http::{Reply, Request, serve_raw};

/// What the gate does with a request.
#[derive(Clone)]
pub(super) enum Act {
    /// The engine answers.
    Pass,
    /// This is answered in place of the engine.
    Answer(Reply),
    /// Nothing is ever answered.
    Hang,
    /// The engine's answer comes by one byte a second.
    Drip,
    /// The engine does what it is asked for, and the connection ends before the answer.
    Lose,
}

impl From<Option<Reply>> for Act {
    fn from(reply: Option<Reply>) -> Self {
        reply.map_or(Self::Pass, Self::Answer)
    }
}

type Rule = Box<dyn Fn(&Request) -> Act + Send>;

/// The server, until the process of the tests ends.
pub(super) struct Gate {
    pub(super) port: u16,
    rule: Arc<Mutex<Rule>>,
}

impl Gate {
    /// Open for all, before the engine at this port.
    pub(super) fn new(engine: u16) -> Self {
        let rule: Arc<Mutex<Rule>> = Arc::new(Mutex::new(Box::new(|_| Act::Pass)));
        let asked = Arc::clone(&rule);
        let place = serve_raw(1, move |request, stream| {
            let rule = asked.lock().unwrap_or_else(PoisonError::into_inner);
            let act = rule(request);
            drop(rule);
            carry_out(act, engine, request, stream)
        });
        Self {
            port: place.port(),
            rule,
        }
    }

    /// Acts so from now on: a reply is answered in place of the engine.
    pub(super) fn set<A: Into<Act>>(&self, rule: impl Fn(&Request) -> A + Send + 'static) {
        let rule = Box::new(move |request: &Request| rule(request).into());
        *self.rule.lock().unwrap_or_else(PoisonError::into_inner) = rule;
    }

    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

fn carry_out(act: Act, engine: u16, request: &Request, stream: &mut TcpStream) -> io::Result<()> {
    match act {
        Act::Pass => forward(engine, request).write(stream),
        Act::Answer(reply) => reply.write(stream),
        Act::Hang => {
            // Until the client is gone.
            let _ = stream.read(&mut [0]);
            Err(io::ErrorKind::BrokenPipe.into())
        }
        Act::Drip => {
            let mut answer = Vec::new();
            forward(engine, request).write(&mut answer)?;
            for byte in answer {
                stream.write_all(&[byte])?;
                thread::sleep(Duration::from_secs(1));
            }
            Ok(())
        }
        Act::Lose => {
            forward(engine, request);
            Err(io::ErrorKind::BrokenPipe.into())
        }
    }
}

fn forward(engine: u16, request: &Request) -> Reply {
    let body = request.body.as_bytes();
    match taojin_test_opensearch::send(engine, &request.method, &request.path, body) {
        Ok((status, answer)) => Reply::refusal(status, &answer.to_string()),
        Err(_) => Reply::status(502),
    }
}

/// Puts TLS before the engine, with the certificates in `dir`: of `localhost`, and those that its clients must show. Gives the
/// port.
pub(super) fn encrypted(engine: u16, dir: &Path) -> u16 {
    let read = |name: &str| CertificateDer::from_pem_file(dir.join(name)).expect("a certificate");
    let key = PrivateKeyDer::from_pem_file(dir.join("server.key")).expect("a key");
    let mut authorities = RootCertStore::empty();
    authorities.add(read("ca.pem")).expect("an authority");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let clients = WebPkiClientVerifier::builder_with_provider(authorities.into(), provider.clone());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions of TLS")
        .with_client_cert_verifier(clients.build().expect("a verifier"))
        .with_single_cert(vec![read("server.pem")], key)
        .expect("a certificate with its key");
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("its address");
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let connection = ServerConnection::new(Arc::clone(&config)).expect("a connection");
            thread::spawn(move || {
                let mut reader = BufReader::new(StreamOwned::new(connection, stream));
                while let Some(request) = Request::read(&mut reader) {
                    if forward(engine, &request).write(reader.get_mut()).is_err() {
                        return;
                    }
                }
            });
        }
    });
    address.port()
}

/// An authority, and certificates of `localhost` and of a client by it, in `dir`, and one of an old version; none where openssl is not installed.
pub(super) fn certificates(dir: &Path) -> Option<()> {
    let openssl = |args: &str| {
        let mut command = Command::new("openssl");
        let done = command.args(args.split(' ')).current_dir(dir).output();
        done.ok().filter(|output| output.status.success()).map(drop)
    };
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes";
    openssl(&format!(
        "req -x509 {key} -keyout ca.key -out ca.pem -subj /CN=tests"
    ))?;
    std::fs::write(dir.join("names"), "subjectAltName=DNS:localhost\n").ok()?;
    for name in ["server", "client"] {
        openssl(&format!(
            "req {key} -keyout {name}.key -out {name}.csr -subj /CN={name}"
        ))?;
        let by = "-CA ca.pem -CAkey ca.key -CAcreateserial -extfile names";
        openssl(&format!("x509 -req -in {name}.csr {by} -out {name}.pem"))?;
    }
    // Without extensions it is of version 1.
    std::fs::write(dir.join("none"), "").ok()?;
    openssl(
        "x509 -req -in client.csr -CA ca.pem -CAkey ca.key -CAcreateserial -extfile none -out old.pem",
    )
}
