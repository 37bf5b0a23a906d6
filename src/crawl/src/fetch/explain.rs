//! How a fetch ended, as people say it: one sentence without the address, since that stands beside it. In: the error of
//! the client, an outcome. Out: text. Programs go by the words of [`Outcome::word`] instead.

use std::error::Error;
use std::io;
use std::time::Duration;

use rustls::CertificateError;

use super::client::Fetched;
use super::limits::Config;
use super::outcome::{Failure, Outcome, Unwanted};
use taojin_uri::CrawlUri;

impl Fetched {
    /// How it ended, in a sentence.
    pub fn in_words(&self) -> String {
        let status = self.head.status;
        match &self.outcome {
            Outcome::Page => format!("answered {status}"),
            Outcome::NotModified => "not changed since the last visit".to_owned(),
            Outcome::Redirect { to, .. } => format!("it redirects to {to}"),
            Outcome::Gone => "the page is gone for good (HTTP 410)".to_owned(),
            Outcome::NotFound => "there is no such page (HTTP 404)".to_owned(),
            Outcome::Denied => format!("the server refuses us (HTTP {status})"),
            Outcome::Busy { retry_after_ms } => {
                let rest = retry_after_ms.map_or(String::new(), |ms| {
                    format!(", next try in {} s at the earliest", ms / 1000)
                });
                format!("the server asks for fewer requests (HTTP {status}{rest})")
            }
            Outcome::ServerError => format!("the server failed (HTTP {status})"),
            Outcome::Unreachable(failure) if self.detail.is_empty() => failed(*failure).to_owned(),
            Outcome::Unreachable(_) => self.detail.clone(),
            Outcome::Refused(refusal) => refusal.to_string(),
            Outcome::Unwanted(unwanted) => not_taken(*unwanted).to_owned(),
        }
    }
}

fn failed(failure: Failure) -> &'static str {
    match failure {
        Failure::Dns => "its name cannot be resolved (DNS)",
        Failure::Connect => "no connection to the server",
        Failure::ConnectionRefused => "the server refuses the connection",
        Failure::Tls => "no agreement on TLS with the server",
        Failure::Timeout => "no answer in time",
        Failure::Reset => "the server broke the connection off",
        Failure::Truncated => "the answer broke off before its end",
        Failure::Decode => "the answer cannot be decompressed",
        Failure::Protocol => "the answer is not HTTP",
    }
}

fn not_taken(unwanted: Unwanted) -> &'static str {
    match unwanted {
        Unwanted::ContentType => "it is no web page: its Content-Type is of another kind",
        Unwanted::TooLarge => "it is larger than fetch.max_body_bytes",
        Unwanted::Bomb => "it grows too much when decompressed (fetch.max_ratio)",
        Unwanted::Redirect => "it redirects to nothing that can be crawled",
    }
}

/// An error of the client, after `elapsed`.
pub(super) fn of_error(
    error: &reqwest::Error,
    outcome: &Outcome,
    uri: &CrawlUri,
    config: &Config,
    elapsed: Duration,
) -> String {
    let Outcome::Unreachable(failure) = outcome else {
        return String::new();
    };
    let host = uri.host();
    let server = match uri.authority().contains(':') {
        true => uri.authority().to_owned(),
        false => format!("{host}:{}", uri.port()),
    };
    let seconds = |ms: u64| format!("{} s", ms as f64 / 1000.0);
    match failure {
        Failure::Dns => format!("the name {host} cannot be resolved (DNS)"),
        Failure::Tls => tls(error, host),
        Failure::ConnectionRefused => format!("connection refused by {server}"),
        Failure::Connect => match io_kind(error) {
            Some(io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable) => {
                format!("there is no way to {server}: network or host unreachable")
            }
            Some(io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset)
                if uri.as_str().starts_with("https:") =>
            {
                format!("{server} broke the connection off before TLS was agreed on")
            }
            _ => format!("no connection to {server}"),
        },
        Failure::Timeout if error.is_connect() => {
            format!(
                "no connection to {server} within {}",
                seconds(config.connect_timeout_ms)
            )
        }
        Failure::Timeout if elapsed.as_millis() >= u128::from(config.whole_timeout_ms) => {
            format!("not done within {}", seconds(config.whole_timeout_ms))
        }
        Failure::Timeout => format!("no answer within {}", seconds(config.idle_timeout_ms)),
        Failure::Reset => format!("{server} broke the connection off"),
        Failure::Protocol => format!("the answer of {server} is not HTTP"),
        Failure::Truncated | Failure::Decode => failed(*failure).to_owned(),
    }
}

fn tls(error: &reqwest::Error, host: &str) -> String {
    let of = format!("the TLS certificate of {host}");
    let causes = causes(error);
    let Some(tls) = causes
        .iter()
        .find_map(|c| c.downcast_ref::<rustls::Error>())
    else {
        return format!("no agreement on TLS with {host}");
    };
    match tls {
        rustls::Error::InvalidCertificate(wrong) => match wrong {
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                format!("{of} has expired")
            }
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                format!("{of} is not valid yet")
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                format!("{of} is for another name")
            }
            CertificateError::Revoked => format!("{of} was revoked"),
            CertificateError::UnknownIssuer => {
                format!("{of} is not trusted: its issuer is unknown on this machine")
            }
            other => format!("{of} is not trusted: {other}"),
        },
        rustls::Error::InvalidMessage(_) => format!("{host} does not speak TLS on this port"),
        other => format!("no agreement on TLS with {host}: {other}"),
    }
}

/// The kind of the last error of the system in the chain.
fn io_kind(error: &reqwest::Error) -> Option<io::ErrorKind> {
    let causes = causes(error);
    let io = causes.iter().filter_map(|c| c.downcast_ref::<io::Error>());
    io.map(io::Error::kind).next_back()
}

/// The chain of causes, with what errors of the system wrap: their `source` leaves that out.
fn causes(error: &reqwest::Error) -> Vec<&(dyn Error + 'static)> {
    let mut all = Vec::new();
    let mut next = error.source();
    while let Some(cause) = next {
        all.push(cause);
        let wrapped = cause
            .downcast_ref::<io::Error>()
            .and_then(io::Error::get_ref);
        next = match wrapped {
            Some(wrapped) => {
                let wrapped: &(dyn Error + 'static) = wrapped;
                Some(wrapped)
            }
            None => cause.source(),
        };
    }
    all
}
