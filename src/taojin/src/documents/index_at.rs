//! Where the search index is, and the way there: in a folder, or in an engine that is reached over HTTP. Whoever asks an engine
//! waits in its own thread, which may be one of a runtime's blocking threads; the work is done by a runtime of this file's own.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Certificate, Client, Identity, Method, header};
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

use super::StoreDocuments;
use crate::config::LoadedConfig;
use taojin_crawl::store::StorePlace;
use taojin_search::analyze::Analyzer;
use taojin_search::index::remote::{Body, Layout, RemoteIndex, Transport};
use taojin_search::index::{
    self, CancellationToken, CommitPayload, IndexError, Reader, SkippedDocuments,
};

/// An index in an engine, and how it is made there.
#[derive(Clone)]
pub(crate) struct RemoteAt {
    pub(crate) index: RemoteIndex,
    pub(crate) layout: Layout,
}

/// Where the search index is.
#[derive(Clone)]
pub(crate) struct IndexAt {
    dir: PathBuf,
    documents: StorePlace,
    config: index::Config,
    remote: Option<RemoteAt>,
}

impl IndexAt {
    pub(crate) fn new(loaded: &LoadedConfig) -> Self {
        Self {
            dir: loaded.index_dir(),
            documents: loaded.documents_place(),
            config: loaded.config.index.clone(),
            remote: remote(loaded),
        }
    }

    /// The directory, where there is one.
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// The engine, where the index is in one.
    pub(crate) fn remote(&self) -> Option<&RemoteAt> {
        self.remote.as_ref()
    }

    /// The index, for searching, with the documents of its store.
    pub(crate) fn open(&self, analyzer: &Analyzer) -> Result<Reader, IndexError> {
        let documents = Arc::new(StoreDocuments::new(&self.documents));
        match &self.remote {
            None => Reader::open(&self.dir, analyzer, &self.config, documents),
            Some(remote) => {
                let index = remote.index.clone();
                Ok(Reader::remote(index, analyzer, &self.config, documents))
            }
        }
    }

    /// What the last commit of the index says; the default where there is none.
    pub(crate) fn noted(&self) -> Result<CommitPayload, IndexError> {
        match &self.remote {
            None => Ok(index::noted(&self.dir).unwrap_or_default()),
            Some(remote) => Ok(remote.index.state()?.into()),
        }
    }

    /// The last change that the index has; 0 where that cannot be told.
    pub(crate) fn committed_seq(&self) -> u64 {
        self.noted().unwrap_or_default().seq
    }

    /// The last change that the index has; `None` if it is not of this store.
    pub(crate) fn seq_of(&self, store_id: i64) -> Result<Option<u64>, IndexError> {
        let noted = self.noted()?;
        Ok((noted.store == store_id).then_some(noted.seq))
    }

    /// The documents that the index could not take.
    pub(crate) fn left_out(&self) -> SkippedDocuments {
        self.noted().unwrap_or_default().left_out
    }
}

/// The engine that the settings name.
fn remote(loaded: &LoadedConfig) -> Option<RemoteAt> {
    let search = &loaded.config.search;
    let account = Account {
        user: search.user.clone(),
        password_file: loaded.placed(&search.password_file),
        ca_file: loaded.placed(&search.ca_file),
        certificate: loaded
            .placed(&search.client_certificate_file)
            .zip(loaded.placed(&search.client_key_file)),
    };
    search.engine.is_remote().then(|| RemoteAt {
        index: RemoteIndex::new(
            Arc::new(HttpTransport::new(search.addresses(), account)),
            &search.index,
        ),
        layout: Layout {
            shards: search.shards,
            replicas: search.replicas,
        },
    })
}

/// A server that does not take a connection within this time is away.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// A bulk request of 4 MB takes well under a second; more than this is a hang.
const WHOLE_TIMEOUT: Duration = Duration::from_secs(60);
/// How often it is looked whether a request is still wanted.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Longest answer that is read: 10,000 hits have some 4 MB.
const ANSWER_BYTES: usize = 64 << 20;
/// Longest password or certificate file.
const FILE_BYTES: u64 = 1 << 20;

/// Whom requests come from.
#[derive(Debug, Clone, Default)]
pub(crate) struct Account {
    /// Empty: nobody in particular.
    pub(crate) user: String,
    /// File with the password.
    pub(crate) password_file: Option<PathBuf>,
    /// Authorities that may vouch for the server, in PEM; none: those that the system trusts.
    pub(crate) ca_file: Option<PathBuf>,
    /// Certificate that the server knows this machine by, and its key, in PEM.
    pub(crate) certificate: Option<(PathBuf, PathBuf)>,
}

/// The way to one engine.
pub(crate) struct HttpTransport {
    /// Of its machines: each can be asked for everything.
    addresses: Vec<String>,
    /// All of them, for messages.
    shown: String,
    /// The one that is asked: the last that answered.
    current: AtomicUsize,
    account: Account,
    /// Or why there is none.
    client: Result<Client, String>,
}

impl HttpTransport {
    /// To the machines at `addresses`, at least one. What is wrong with the account is said by each request.
    pub(crate) fn new<'a>(addresses: impl Iterator<Item = &'a str>, account: Account) -> Self {
        let addresses: Vec<String> = addresses.map(str::to_owned).collect();
        Self {
            shown: addresses.join(","),
            addresses,
            current: AtomicUsize::new(0),
            client: client(&account),
            account,
        }
    }

    fn request(
        &self,
        address: &str,
        method: &str,
        path: &str,
        body: Body<'_>,
    ) -> Result<reqwest::RequestBuilder, String> {
        let client = self.client.as_ref().map_err(Clone::clone)?;
        let method = Method::from_bytes(method.as_bytes()).map_err(|e| e.to_string())?;
        let request = client.request(method, format!("{address}{path}"));
        let request = match &self.account.password_file {
            _ if self.account.user.is_empty() => request,
            None => request.basic_auth(&self.account.user, None::<&str>),
            // Read each time: passwords change.
            Some(file) => {
                let password = text_of("search.password_file", file)?;
                request.basic_auth(&self.account.user, Some(password.trim_end()))
            }
        };
        let typed = |kind: &'static str| {
            request
                .try_clone()
                .map(|r| r.header(header::CONTENT_TYPE, kind))
        };
        let request = match body {
            Body::Empty => return Ok(request),
            Body::Json(value) => typed("application/json").map(|r| r.body(value.to_string())),
            Body::Lines(lines) => typed("application/x-ndjson").map(|r| r.body(lines.to_vec())),
        };
        request.ok_or_else(|| "the request cannot be made".to_owned())
    }
}

impl HttpTransport {
    /// Asks one machine.
    fn ask(
        &self,
        request: reqwest::RequestBuilder,
        stop: &CancellationToken,
    ) -> Result<(u16, Value), String> {
        let (answered, answer) = channel();
        let task = runtime()?.spawn(async move {
            // Whoever asked may be gone.
            let _ = answered.send(answer_to(request).await);
        });
        loop {
            match answer.recv_timeout(LOOK_EVERY) {
                Ok(answer) => return answer,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err("the request broke off".to_owned());
                }
                Err(RecvTimeoutError::Timeout) if stop.is_stopped() => {
                    // The engine ends a search whose connection is closed.
                    task.abort();
                    return Err("stopped".to_owned());
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

impl Transport for HttpTransport {
    /// Where a machine cannot be reached or is on its way down, the next one is asked. A request may therefore be carried out
    /// twice: those of an index are made for that.
    fn send(
        &self,
        method: &str,
        path: &str,
        body: Body<'_>,
        stop: &CancellationToken,
    ) -> Result<(u16, Value), String> {
        let mut answer = Err("no address".to_owned());
        for _ in 0..self.addresses.len() {
            let current = self.current.load(Ordering::Relaxed);
            let address = &self.addresses[current % self.addresses.len()];
            answer = self.ask(self.request(address, method, path, body)?, stop);
            let is_away = !matches!(answer, Ok((status, _)) if !matches!(status, 502..=504));
            if !is_away {
                break;
            }
            // Another request may have found that out as well.
            let next = current.wrapping_add(1);
            let (set, get) = (Ordering::Relaxed, Ordering::Relaxed);
            let _ = self.current.compare_exchange(current, next, set, get);
            if stop.is_stopped() {
                break;
            }
        }
        answer
    }

    fn address(&self) -> &str {
        &self.shown
    }
}

async fn answer_to(request: reqwest::RequestBuilder) -> Result<(u16, Value), String> {
    let mut response = request.send().await.map_err(|e| causes(&e))?;
    let status = response.status().as_u16();
    let mut bytes = Vec::new();
    while let Some(part) = response.chunk().await.map_err(|e| causes(&e))? {
        if bytes.len() + part.len() > ANSWER_BYTES {
            return Err(format!("its answer is longer than {ANSWER_BYTES} bytes"));
        }
        bytes.extend_from_slice(&part);
    }
    if bytes.is_empty() {
        return Ok((status, Value::Null));
    }
    match serde_json::from_slice(&bytes) {
        Ok(answer) => Ok((status, answer)),
        Err(_) if status >= 400 => {
            let text: String = String::from_utf8_lossy(&bytes).chars().take(200).collect();
            Ok((status, Value::from(text)))
        }
        Err(_) => Err("its answer is no JSON: is search.url the address of OpenSearch?".to_owned()),
    }
}

/// An error with all that led to it.
fn causes(error: &reqwest::Error) -> String {
    let mut text = if error.is_timeout() {
        "no answer in time".to_owned()
    } else {
        // Where it went is said by whoever asked.
        "no connection, or it broke off".to_owned()
    };
    let mut cause = std::error::Error::source(error);
    let mut hint = "";
    while let Some(next) = cause {
        let _ = write!(text, ": {next}");
        hint = certificate_hint(next).unwrap_or(hint);
        cause = next.source();
    }
    text + hint
}

/// What mends a missing certificate, if that is the cause.
fn certificate_hint(cause: &(dyn std::error::Error + 'static)) -> Option<&'static str> {
    use rustls::{AlertDescription, CertificateError};
    let mut inner = cause;
    while let Some(wrapped) = inner.downcast_ref().and_then(io::Error::get_ref) {
        inner = wrapped;
    }
    match inner.downcast_ref()? {
        rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer) => {
            Some("; set search.ca_file")
        }
        rustls::Error::AlertReceived(AlertDescription::CertificateRequired) => {
            Some("; set search.client_certificate_file and search.client_key_file")
        }
        _ => None,
    }
}

fn client(account: &Account) -> Result<Client, String> {
    let no_pem = |key: &str, file: &Path, error: &dyn std::fmt::Display| {
        format!("{key} = \"{}\": no PEM: {error}", file.display())
    };
    let authorities = match &account.ca_file {
        Some(file) => {
            let key = "search.ca_file";
            let pem = text_of(key, file)?;
            let authorities = Certificate::from_pem_bundle(pem.as_bytes());
            Some(authorities.map_err(|e| no_pem(key, file, &e))?)
        }
        None => None,
    };
    let identity = match &account.certificate {
        Some((certificate, key)) => {
            let name = "search.client_certificate_file";
            let pem = text_of(name, certificate)? + &text_of("search.client_key_file", key)?;
            let identity = Identity::from_pem(pem.as_bytes());
            Some(identity.map_err(|e| no_pem(name, certificate, &e))?)
        }
        None => None,
    };
    http_client(CONNECT_TIMEOUT, WHOLE_TIMEOUT, authorities, identity).map_err(|e| e.to_string())
}

/// Builds a client for servers of the operator: it uses no proxy and follows no redirect. Without `authorities` those of the
/// system count; where it has none, https cannot be used, http can. A server that asks who calls is shown `identity`.
pub(crate) fn http_client(
    connect_timeout: Duration,
    timeout: Duration,
    authorities: Option<Vec<Certificate>>,
    identity: Option<Identity>,
) -> reqwest::Result<Client> {
    // An error means that another client was first.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = || {
        let builder = Client::builder()
            .connect_timeout(connect_timeout)
            .timeout(timeout)
            .redirect(Policy::none())
            .no_proxy()
            .user_agent(concat!("taojin/", env!("CARGO_PKG_VERSION")));
        match &identity {
            Some(identity) => builder.identity(identity.clone()),
            None => builder,
        }
    };
    if let Some(authorities) = authorities {
        return builder().tls_certs_only(authorities).build();
    }
    builder().build().or_else(|error| {
        tracing::warn!(%error, "no CA certificates: https cannot be used");
        builder().tls_certs_only([]).build()
    })
}

fn text_of(key: &str, file: &Path) -> Result<String, String> {
    let text = File::open(file).and_then(|file| io::read_to_string(file.take(FILE_BYTES)));
    text.map_err(|e| format!("{key} = \"{}\": {e}", file.display()))
}

/// The runtime of all requests: one thread that lives as long as the process.
fn runtime() -> Result<&'static Runtime, String> {
    static RUNTIME: OnceLock<Result<Runtime, String>> = OnceLock::new();
    let started = RUNTIME.get_or_init(|| {
        let mut builder = Builder::new_multi_thread();
        let builder = builder.worker_threads(1).thread_name("engine").enable_all();
        builder.build().map_err(|e| e.to_string())
    });
    started.as_ref().map_err(Clone::clone)
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    /// A machine that answers each request with this status; its address.
    fn machine(status: u16) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let mut request = [0; 4_096];
                let _ = stream.read(&mut request);
                let answer = format!(
                    "HTTP/1.1 {status} x\r\nConnection: close\r\nContent-Length: 3\r\n\r\n{status}"
                );
                let _ = stream.write_all(answer.as_bytes());
            }
        });
        format!("http://{address}")
    }

    /// An address at which nothing listens.
    fn nobody() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        format!("http://{}", listener.local_addr().expect("an address"))
    }

    fn asked(addresses: &[String]) -> (HttpTransport, Result<(u16, Value), String>) {
        let addresses = addresses.iter().map(String::as_str);
        let transport = HttpTransport::new(addresses, Account::default());
        let stop = CancellationToken::default();
        let answer = transport.send("GET", "/", Body::Empty, &stop);
        (transport, answer)
    }

    #[test]
    fn next_machine_is_asked() {
        let (up, away) = (machine(200), machine(503));
        for addresses in [
            [nobody(), up.clone()],
            [away.clone(), up.clone()],
            [up.clone(), nobody()],
        ] {
            let (transport, answer) = asked(&addresses);
            assert_eq!(answer, Ok((200, Value::from(200))), "{addresses:?}");
            assert_eq!(transport.address(), addresses.join(","));
        }
        // What each of them says is the answer, an answer that says no included.
        assert_eq!(asked(&[machine(403), up]).1, Ok((403, Value::from(403))));
        assert_eq!(asked(&[nobody(), away]).1, Ok((503, Value::from(503))));
        let refused = asked(&[nobody(), nobody()]).1.unwrap_err();
        assert!(refused.contains("no connection"), "{refused}");
    }
}
