//! Checks the `Host` of each request: 421 for a name that the server does not answer to.
//!
//! Otherwise a page of another site could give its own name the address 127.0.0.1 (DNS rebinding) and read what this server
//! shows to its own machine.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, header};
use axum::middleware::Next;
use axum::response::Response;

use crate::api::problem::Refusal;
use crate::config::Config;

/// The names that are answered; an address written in numbers always is, since no name server can change what it means.
pub(crate) struct Hosts {
    /// `None`: every name.
    names: Option<Vec<String>>,
}

impl Hosts {
    /// On a loopback address only the names that are configured, else every name unless some are configured.
    pub(crate) fn new(config: &Config) -> Hosts {
        let checked = config.listen.ip().is_loopback() || !config.allowed_hosts.is_empty();
        let public = url::Url::parse(&config.public_url).ok();
        let public = public.and_then(|url| url.host_str().map(str::to_owned));
        let mut names: Vec<String> = config.allowed_hosts.clone();
        names.extend(public);
        names
            .iter_mut()
            .for_each(|name| name.make_ascii_lowercase());
        Hosts {
            names: checked.then_some(names),
        }
    }

    /// Whether a request may be answered. One without a name comes from no browser.
    pub(crate) fn answer_to(&self, headers: &HeaderMap) -> bool {
        let Some(names) = &self.names else {
            return true;
        };
        let Some(value) = headers.get(header::HOST) else {
            return true;
        };
        let Some(host) = value.to_str().ok().and_then(host_of) else {
            return false;
        };
        let number = host.trim_start_matches('[').trim_end_matches(']');
        // A name without a dot is none of the public names that another site can have.
        !host.contains('.')
            || host.ends_with(".localhost")
            || number.parse::<IpAddr>().is_ok()
            || names.contains(&host)
    }
}

/// The name without its port, in small letters and without a last dot.
fn host_of(value: &str) -> Option<String> {
    let authority: Authority = value.parse().ok()?;
    let host = authority.host().to_ascii_lowercase();
    Some(host.strip_suffix('.').unwrap_or(&host).to_owned())
}

/// Lets a request to a known name pass.
pub(crate) async fn known(
    State(hosts): State<Arc<Hosts>>,
    request: Request,
    next: Next,
) -> Result<Response, Refusal> {
    if hosts.answer_to(request.headers()) {
        Ok(next.run(request).await)
    } else {
        Err(Refusal::OtherHost)
    }
}
