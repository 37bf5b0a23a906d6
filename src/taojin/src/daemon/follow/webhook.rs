//! Telling a receiver. In: an address of the operator's choice, a signed body. Out: whether it arrived, or why not and
//! when the receiver wants to be asked again. Never follows a redirect: a signed body goes where it was meant to go.
//!
//! The address comes from the configuration and not from the web, so it is not guarded: receivers stand in the own
//! network more often than not.

use std::time::Duration;

use reqwest::header;
use reqwest::redirect::Policy;

use crate::daemon::now_ms;
use crate::serve::{Follow, signature};

/// Longest wait for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Longest wait for the answer: a receiver should take the hits in and work on them later.
const WHOLE_TIMEOUT: Duration = Duration::from_secs(30);
/// Characters of an error that are kept.
const ERROR_CHARS: usize = 300;

/// Why a delivery did not arrive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Undelivered {
    /// One line for the operator.
    pub(crate) error: String,
    /// What the receiver asked for by Retry-After.
    pub(crate) asked_ms: Option<i64>,
}

/// The client of all webhooks.
pub(crate) fn client() -> reqwest::Result<reqwest::Client> {
    // An error says that the crawl's own client was first.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let build = || {
        reqwest::Client::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(WHOLE_TIMEOUT)
            .redirect(Policy::none())
            .no_proxy()
            .user_agent(concat!("taojin/", env!("CARGO_PKG_VERSION")))
    };
    build().build().or_else(|error| {
        tracing::warn!(%error, "no CA certificates: https webhooks cannot be reached");
        build().tls_certs_only([]).build()
    })
}

/// Sends one delivery; any 2xx means that it arrived. What is signed holds the time of this very try, so that a receiver can
/// refuse an old delivery that somebody sends again.
pub(crate) async fn send(
    client: &reqwest::Client,
    follow: &Follow,
    number: i64,
    body: String,
) -> Result<(), Undelivered> {
    let mut request = client
        .post(&follow.webhook)
        .header(header::CONTENT_TYPE, "application/json")
        .header("taojin-delivery", format!("{}-{number}", follow.name));
    if !follow.secret.is_empty() {
        let now_s = now_ms() / 1_000;
        let timed = signature(&follow.secret, format!("{now_s}.{body}").as_bytes());
        request = request
            .header("taojin-timestamp", now_s)
            .header("taojin-signature-v2", format!("sha256={timed}"));
    }
    let answer = request.body(body).send().await.map_err(|e| Undelivered {
        error: short(&reason(&e.without_url())),
        asked_ms: None,
    })?;
    let status = answer.status();
    if status.is_success() {
        return Ok(());
    }
    let why = match status.is_redirection() {
        true => "; redirects are not followed: configure the address it leads to",
        false => "",
    };
    let asked = answer.headers().get(header::RETRY_AFTER);
    let asked = asked.and_then(|v| v.to_str().ok()?.trim().parse::<i64>().ok());
    Err(Undelivered {
        error: format!("the receiver answered {status}{why}"),
        asked_ms: asked.map(|seconds| seconds.clamp(0, 86_400) * 1_000),
    })
}

/// The error and what caused it, in one line.
fn reason(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        cause = inner.source();
    }
    text
}

fn short(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(ERROR_CHARS)
        .collect()
}
