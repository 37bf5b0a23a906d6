//! What an error of the client is, and how a fetch ended in a sentence for people, without the address, since that stands
//! next to it. Programs go by the words of [`VisitOutcome`] and [`Failure`] instead.

use std::error::Error;
use std::io;
use std::time::Duration;

use rustls::CertificateError;

use super::guard::Refusal;
use super::limits::Config;
use super::request::Fetched;
use crate::outcome::{Failure, VisitOutcome};
use taojin_uri::CrawlUri;

impl Fetched {
    /// How it ended, in a sentence.
    pub fn describe(&self) -> String {
        if !self.detail.is_empty() {
            return self.detail.clone();
        }
        if let Some(failure) = self.failure {
            return failed(failure).to_owned();
        }
        let status = self.head.status;
        match self.outcome {
            VisitOutcome::Page => format!("answered {status}"),
            VisitOutcome::NotModified => "not changed since the last visit".to_owned(),
            VisitOutcome::Redirect => match &self.head.location {
                Some(to) => format!("it redirects to {to}"),
                None => failed(Failure::BadRedirect).to_owned(),
            },
            VisitOutcome::Gone => "the page is gone for good (HTTP 410)".to_owned(),
            VisitOutcome::NotFound => "there is no such page (HTTP 404)".to_owned(),
            VisitOutcome::Denied => format!("the server refuses us (HTTP {status})"),
            VisitOutcome::Busy => {
                let rest = self.head.retry_after_ms.map_or(String::new(), |ms| {
                    format!(", next try in {} s at the earliest", ms / 1000)
                });
                format!("the server asks for fewer requests (HTTP {status}{rest})")
            }
            VisitOutcome::ServerError => format!("the server failed (HTTP {status})"),
            other => other.as_str().to_owned(),
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
        Failure::Address => "fetch.allow_addresses does not allow its address",
        Failure::ContentType => "it is no web page: its Content-Type is of another kind",
        Failure::TooLarge => "it is larger than fetch.max_body_bytes",
        Failure::Bomb => "it grows too much when decompressed (fetch.max_ratio)",
        Failure::BadRedirect => "it redirects to nothing that can be crawled",
    }
}

/// What an error of the client is, before (`in_body` false) or after the header.
pub(super) fn failure(error: &reqwest::Error, in_body: bool) -> Failure {
    let causes = causes(error);
    let is_io = |kinds: &[io::ErrorKind]| {
        let mut io = causes.iter().filter_map(|c| c.downcast_ref::<io::Error>());
        io.any(|io| kinds.contains(&io.kind()))
    };
    let is_broken = || {
        is_io(&[
            io::ErrorKind::ConnectionReset,
            io::ErrorKind::ConnectionAborted,
            io::ErrorKind::BrokenPipe,
            io::ErrorKind::UnexpectedEof,
        ]) || causes
            .iter()
            .filter_map(|c| c.downcast_ref::<hyper::Error>())
            .any(hyper::Error::is_incomplete_message)
    };
    if causes.iter().any(|c| c.is::<Refusal>()) {
        Failure::Address
    } else if error.is_dns() {
        Failure::Dns
    } else if error.is_timeout() {
        Failure::Timeout
    } else if causes.iter().any(|c| c.is::<rustls::Error>()) {
        Failure::Tls
    } else if error.is_connect() && is_io(&[io::ErrorKind::ConnectionRefused]) {
        Failure::ConnectionRefused
    } else if error.is_connect() {
        Failure::Connect
    } else if in_body {
        Failure::Truncated
    } else if is_broken() {
        Failure::Reset
    } else {
        Failure::Protocol
    }
}

/// An error of the client in a sentence, after `elapsed`.
pub(super) fn of_error(
    error: &reqwest::Error,
    failure: Failure,
    uri: &CrawlUri,
    config: &Config,
    elapsed: Duration,
) -> String {
    let host = uri.host();
    let server = if uri.authority().contains(':') {
        uri.authority().to_owned()
    } else {
        format!("{host}:{}", uri.port())
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
        Failure::Address => match causes(error)
            .iter()
            .find_map(|c| c.downcast_ref::<Refusal>())
        {
            Some(refusal) => refusal.to_string(),
            None => failed(failure).to_owned(),
        },
        _ => failed(failure).to_owned(),
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
