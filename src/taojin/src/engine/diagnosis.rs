//! What keeps a host of the engine from answering, and what mends it.

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;
use rustls::pki_types::ServerName;
use rustls::{AlertDescription, CertificateError, ClientConfig, ClientConnection, RootCertStore};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use taojin_search::index::remote::{EngineTrouble, TroubleKind};

/// It is looked for no longer than this which protocol is spoken, before the next host is asked.
const PROTOCOL_TIMEOUT: Duration = Duration::from_millis(300);
/// What TLS begins an answer with: an alert, or its part of the agreement.
const TLS_ALERT: u8 = 21;
const TLS_HANDSHAKE: u8 = 22;

/// Mends what stops or leads elsewhere.
const IS_IT_RUNNING: &str = "; is it running, and is search.url right?";

/// Why a host does not answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HostTrouble {
    pub(super) kind: TroubleKind,
    /// What is wrong, with the address of the host.
    pub(super) text: String,
    /// What mends it: a continuation of the sentence.
    pub(super) mend: &'static str,
}

impl HostTrouble {
    pub(super) fn new(kind: TroubleKind, text: String, mend: &'static str) -> Self {
        Self { kind, text, mend }
    }

    /// No connection, or no answer.
    pub(super) fn unreachable(text: String) -> Self {
        Self::new(TroubleKind::Unreachable, text, IS_IT_RUNNING)
    }

    /// No answer within this time.
    pub(super) fn silent(address: &str, limit: Duration) -> Self {
        let seconds = limit.as_secs();
        Self::unreachable(format!("no answer from {address} within {seconds} s"))
    }

    /// A connection that ended before the answer.
    pub(super) fn broken_off(address: &str, error: &reqwest::Error) -> Self {
        let cause = last_cause(error);
        Self::unreachable(format!("{address} broke the connection off: {cause}"))
    }
}

/// Puts together why none of several hosts answers.
pub(super) fn join(troubles: impl IntoIterator<Item = HostTrouble>) -> EngineTrouble {
    let (mut kind, mut texts, mut mends) = (TroubleKind::Unreachable, Vec::new(), Vec::new());
    for trouble in troubles {
        if kind == TroubleKind::Unreachable {
            kind = trouble.kind;
        }
        texts.push(trouble.text);
        if !mends.contains(&trouble.mend) {
            mends.push(trouble.mend);
        }
    }
    EngineTrouble::new(kind, texts.join("; ") + &mends.concat())
}

/// Says why a request to the host at this address failed.
pub(super) async fn diagnose(address: &str, error: &reqwest::Error) -> HostTrouble {
    if let Some(trouble) = causes(error).find_map(|cause| of_tls(address, cause)) {
        return trouble;
    }
    if let Some(trouble) = wrong_protocol(address).await {
        return trouble;
    }
    if error.is_timeout() {
        HostTrouble::unreachable(format!("no connection to {address} in time"))
    } else if error.is_connect() {
        let cause = last_cause(error);
        HostTrouble::unreachable(format!("no connection to {address}: {cause}"))
    } else {
        HostTrouble::broken_off(address, error)
    }
}

/// What an error of a request came from, in the end.
pub(super) fn last_cause(error: &reqwest::Error) -> String {
    causes(error)
        .last()
        .map(ToString::to_string)
        .unwrap_or_default()
}

fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    let first: &(dyn Error + 'static) = error;
    std::iter::successors(Some(first), |error| Error::source(*error))
}

/// What TLS found wrong, if that is the cause.
fn of_tls(address: &str, cause: &(dyn Error + 'static)) -> Option<HostTrouble> {
    let mut inner = cause;
    while let Some(wrapped) = inner.downcast_ref().and_then(io::Error::get_ref) {
        inner = wrapped;
    }
    let error: &rustls::Error = inner.downcast_ref()?;
    let (text, mend) = match error {
        rustls::Error::InvalidMessage(_) => return Some(plain(address)),
        rustls::Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        ) => (
            format!("the certificate of {address} is of another name: {error}"),
            "; write the name that it has in search.url",
        ),
        rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer) => (
            format!("the certificate of {address} is not known here: {error}"),
            "; set search.ca_file",
        ),
        rustls::Error::InvalidCertificate(_) => (
            format!("the certificate of {address} cannot be accepted: {error}"),
            "; make another one there",
        ),
        rustls::Error::AlertReceived(AlertDescription::CertificateRequired) => (
            format!("{address} asks for a certificate: {error}"),
            "; set search.client_certificate_file and search.client_key_file",
        ),
        rustls::Error::AlertReceived(
            AlertDescription::BadCertificate
            | AlertDescription::UnsupportedCertificate
            | AlertDescription::CertificateRevoked
            | AlertDescription::CertificateExpired
            | AlertDescription::CertificateUnknown
            | AlertDescription::UnknownCA
            | AlertDescription::AccessDenied,
        ) => (
            format!("{address} does not accept the certificate of this machine: {error}"),
            "; set search.client_certificate_file to one that it does",
        ),
        _ => return None,
    };
    Some(HostTrouble::new(TroubleKind::Misconfigured, text, mend))
}

fn plain(address: &str) -> HostTrouble {
    HostTrouble::new(
        TroubleKind::Misdirected,
        format!("{address} speaks HTTP without TLS"),
        "; write http:// in search.url, or switch TLS on there",
    )
}

fn encrypted(address: &str) -> HostTrouble {
    HostTrouble::new(
        TroubleKind::Misdirected,
        format!("{address} speaks TLS only"),
        "; write https:// in search.url",
    )
}

/// Whether a host that does not answer https speaks http, or the other way round.
async fn wrong_protocol(address: &str) -> Option<HostTrouble> {
    let url = Url::parse(address).ok()?;
    let host = url.host_str()?.trim_matches(['[', ']']);
    let at = (host, url.port_or_known_default()?);
    let is_other = async {
        if url.scheme() == "https" {
            let head = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
            let first = first_bytes(at, head).await.ok()?;
            first.starts_with(b"HTTP").then(|| plain(address))
        } else {
            let first = first_bytes(at, &client_hello(host)?).await.ok()?;
            let is_tls = matches!(first, [TLS_ALERT | TLS_HANDSHAKE, 3, ..]);
            is_tls.then(|| encrypted(address))
        }
    };
    timeout(PROTOCOL_TIMEOUT, is_other).await.ok().flatten()
}

/// Sends this and gives what comes first.
async fn first_bytes(at: (&str, u16), sent: &[u8]) -> io::Result<[u8; 4]> {
    let mut stream = TcpStream::connect(at).await?;
    stream.write_all(sent).await?;
    let mut first = [0; 4];
    stream.read_exact(&mut first).await?;
    Ok(first)
}

/// How a client begins TLS.
fn client_hello(host: &str) -> Option<Vec<u8>> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config
        .ok()?
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth();
    let name = ServerName::try_from(host.to_owned()).ok()?;
    let mut hello = Vec::new();
    let connection = ClientConnection::new(Arc::new(config), name);
    connection.ok()?.write_tls(&mut hello).ok()?;
    Some(hello)
}
