//! Whom requests to the engine come from, and the client that makes them: passwords, authorities, certificates.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use bytes::Bytes;
use reqwest::redirect::Policy;
use reqwest::{Certificate, Client, Identity, Method, header};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

use super::diagnosis::last_cause;
use taojin_search::index::remote::{Body, EngineTrouble, Request, TroubleKind};

/// A host that does not take a connection within this time, TLS included, is away.
const CONNECT_TIMEOUT: Duration = Duration::from_millis(800);
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

/// Makes the requests of one account.
pub(super) struct EngineClient {
    account: Account,
    client: Client,
}

/// A request that can be sent to several hosts.
#[derive(Debug, Clone)]
pub(super) struct Outgoing {
    method: Method,
    path: String,
    body: Option<(&'static str, Bytes)>,
    /// User and password.
    account: Option<(String, Option<String>)>,
}

impl EngineClient {
    /// An error says which file of the account is of no use.
    pub(super) fn new(account: Account) -> Result<Self, EngineTrouble> {
        let client = build(&account).map_err(misconfigured)?;
        Ok(Self { account, client })
    }

    /// Takes a request with all that has to be sent.
    pub(super) fn outgoing(&self, request: &Request<'_>) -> Result<Outgoing, EngineTrouble> {
        let Account {
            user,
            password_file,
            ..
        } = &self.account;
        // Read each time: passwords change.
        let password = || -> Result<Option<String>, String> {
            let Some(file) = password_file else {
                return Ok(None);
            };
            let text = text_of("search.password_file", file)?;
            Ok(Some(text.trim_end().to_owned()))
        };
        let account = if user.is_empty() {
            None
        } else {
            Some((user.clone(), password().map_err(misconfigured)?))
        };
        let method = Method::from_bytes(request.method.as_bytes());
        Ok(Outgoing {
            method: method.map_err(|e| EngineTrouble::new(TroubleKind::Other, e.to_string()))?,
            path: request.path.to_owned(),
            body: match request.body {
                Body::Empty => None,
                Body::Json(value) => Some(("application/json", value.to_string().into())),
                Body::Lines(lines) => Some(("application/x-ndjson", Bytes::copy_from_slice(lines))),
            },
            account,
        })
    }

    /// Begins a request to the host at this address.
    pub(super) async fn send(
        &self,
        address: &str,
        outgoing: &Outgoing,
    ) -> reqwest::Result<reqwest::Response> {
        let url = format!("{address}{}", outgoing.path);
        let mut request = self.client.request(outgoing.method.clone(), url);
        if let Some((user, password)) = &outgoing.account {
            request = request.basic_auth(user, password.as_deref());
        }
        if let Some((kind, bytes)) = &outgoing.body {
            request = request
                .header(header::CONTENT_TYPE, *kind)
                .body(bytes.clone());
        }
        request.send().await
    }
}

impl Outgoing {
    /// The look-up that any host answers, by the same account.
    pub(super) fn look_up(&self) -> Self {
        Self {
            method: Method::GET,
            path: "/".to_owned(),
            body: None,
            account: self.account.clone(),
        }
    }
}

fn misconfigured(cause: String) -> EngineTrouble {
    EngineTrouble::new(TroubleKind::Misconfigured, cause)
}

fn build(account: &Account) -> Result<Client, String> {
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
            let pem = text_of(name, certificate)?;
            let own = CertificateDer::from_pem_slice(pem.as_bytes());
            if own.is_ok_and(|own| is_version_1(&own)) {
                return Err(format!(
                    "{name} = \"{}\": this certificate is of X.509 version 1, and version 3 is needed: make it with \
                     extensions (openssl x509 -extfile)",
                    certificate.display()
                ));
            }
            let pem = pem + "\n" + &text_of("search.client_key_file", key)?;
            let identity = Identity::from_pem(pem.as_bytes());
            Some(identity.map_err(|e| no_pem(name, certificate, &e))?)
        }
        None => None,
    };
    let client = http_client(CONNECT_TIMEOUT, None, authorities, identity);
    client.map_err(|error| match &account.certificate {
        Some((certificate, _)) => {
            let cause = last_cause(&error);
            format!(
                "search.client_certificate_file = \"{}\": it cannot be used with search.client_key_file: {cause}",
                certificate.display()
            )
        }
        None => last_cause(&error),
    })
}

/// Whether a certificate is of X.509 version 1, which has no field for its version: that is the first one of the others.
fn is_version_1(certificate: &[u8]) -> bool {
    /// What is in a DER sequence that begins here.
    fn inside(der: &[u8]) -> Option<&[u8]> {
        const SEQUENCE: u8 = 0x30;
        let (tag, rest) = der.split_first()?;
        let (length, rest) = rest.split_first()?;
        let more = if *length < 0x80 { 0 } else { length & 0x7f };
        (*tag == SEQUENCE)
            .then(|| rest.get(usize::from(more)..))
            .flatten()
    }
    const VERSION: u8 = 0xa0;
    let fields = inside(certificate).and_then(inside);
    fields.is_some_and(|fields| fields.first() != Some(&VERSION))
}

/// Builds a client for servers of the operator: it uses no proxy and follows no redirect. Without `authorities` those of the
/// system count; where it has none, https cannot be used, http can. A server that asks who calls is shown `identity`. Without a
/// `timeout` the caller sees to it that a request ends.
pub(crate) fn http_client(
    connect_timeout: Duration,
    timeout: Option<Duration>,
    authorities: Option<Vec<Certificate>>,
    identity: Option<Identity>,
) -> reqwest::Result<Client> {
    // An error means that another client was first.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = || {
        let mut builder = Client::builder()
            .connect_timeout(connect_timeout)
            .redirect(Policy::none())
            .no_proxy()
            .user_agent(concat!("taojin/", env!("CARGO_PKG_VERSION")));
        if let Some(timeout) = timeout {
            builder = builder.timeout(timeout);
        }
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
