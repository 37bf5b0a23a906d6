//! The address of the proxy that all requests go through. What cannot be used is refused before the first request: a
//! request that the proxy does not take must never go out directly.

use std::fmt;

use url::Url;

/// The kinds of proxies that requests can be made through.
const SCHEMES: [&str; 4] = ["http", "https", "socks5", "socks5h"];

/// A proxy: how it is spoken to, its host and its port.
#[derive(Clone)]
pub struct ProxyAddress {
    url: Url,
    port: u16,
}

/// Why a text is no address of a proxy that can be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProxyProblem {
    /// It is no address at all.
    #[error("it is not an address")]
    Address,
    /// A proxy of another kind, or none.
    #[error("`{0}` is no kind of proxy that can be used")]
    Scheme(String),
    /// It names no host.
    #[error("it names no host")]
    Host,
    /// It names no port.
    #[error("it names no port")]
    Port,
}

impl ProxyAddress {
    /// Reads `http://user:password@host:port`; without a scheme it is `http`.
    ///
    /// # Errors
    /// Says what is wrong, without the text, which may hold a password.
    pub fn parse(text: &str) -> Result<Self, ProxyProblem> {
        let text = text.trim();
        let (scheme, rest) = text.split_once("://").unwrap_or(("http", text));
        let scheme = scheme.to_ascii_lowercase();
        if !SCHEMES.contains(&scheme.as_str()) {
            return Err(ProxyProblem::Scheme(scheme));
        }
        // The address of a web page would leave out the port that is usual for its scheme.
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let host = authority.rsplit('@').next().unwrap_or_default();
        if host.is_empty() || host.starts_with(':') {
            return Err(ProxyProblem::Host);
        }
        let port = host
            .rsplit_once(':')
            .filter(|(host, _)| !host.starts_with('[') || host.ends_with(']'));
        let port: u16 = match port {
            None | Some((_, "")) => return Err(ProxyProblem::Port),
            Some((_, port)) => port.parse().map_err(|_| ProxyProblem::Address)?,
        };
        if port == 0 {
            return Err(ProxyProblem::Port);
        }
        // Names are resolved by the proxy, whichever of the two is written: this machine may know none.
        let spoken = if scheme == "socks5" {
            "socks5h"
        } else {
            &scheme
        };
        let url =
            Url::parse(&format!("{spoken}://{authority}")).map_err(|_| ProxyProblem::Address)?;
        if url.host_str().is_none_or(str::is_empty) {
            return Err(ProxyProblem::Host);
        }
        Ok(Self { url, port })
    }

    /// Returns the host, an IPv6 address without its brackets.
    pub fn host(&self) -> &str {
        let host = self.url.host_str().unwrap_or_default();
        host.trim_start_matches('[').trim_end_matches(']')
    }

    /// Returns the port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Whether it is on this machine.
    pub fn is_local(&self) -> bool {
        let ip = self.host().parse::<std::net::IpAddr>();
        ip.map_or_else(|_| self.host() == "localhost", |ip| ip.is_loopback())
    }

    pub(super) fn for_all_requests(&self) -> Result<reqwest::Proxy, reqwest::Error> {
        reqwest::Proxy::all(self.url.as_str())
    }
}

impl fmt::Debug for ProxyAddress {
    /// Without user and password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}:{}", self.url.scheme(), self.host(), self.port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proxy_address_parse() {
        for (text, host, port) in [
            ("http://gate.example:80", "gate.example", 80),
            ("HTTPS://gate.example:443/", "gate.example", 443),
            ("socks5://me:p%40ss@10.1.2.3:1080", "10.1.2.3", 1080),
            ("socks5h://[::1]:9050", "::1", 9050),
            ("gate.example:3128", "gate.example", 3128),
        ] {
            let proxy = ProxyAddress::parse(text).unwrap();
            assert_eq!((proxy.host(), proxy.port()), (host, port), "{text}");
        }
        for (text, problem) in [
            (
                "socks4://gate.example:1080",
                ProxyProblem::Scheme("socks4".to_owned()),
            ),
            (
                "ftp://gate.example:21",
                ProxyProblem::Scheme("ftp".to_owned()),
            ),
            (
                "quic://gate.example:443",
                ProxyProblem::Scheme("quic".to_owned()),
            ),
            ("http://gate.example", ProxyProblem::Port),
            ("socks5://[::1]", ProxyProblem::Port),
            ("http://gate.example:0", ProxyProblem::Port),
            ("http://:3128", ProxyProblem::Host),
            ("http://me@:3128", ProxyProblem::Host),
            ("", ProxyProblem::Host),
            ("http://gate.example:many", ProxyProblem::Address),
            ("no proxy:3128", ProxyProblem::Address),
        ] {
            assert_eq!(ProxyAddress::parse(text).unwrap_err(), problem, "{text}");
        }
        let shown = format!("{:?}", ProxyAddress::parse("http://me:secret@a.example:1"));
        assert!(!shown.contains("secret"), "{shown}");
    }
}
