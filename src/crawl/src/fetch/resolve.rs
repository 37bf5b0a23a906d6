//! Names to addresses. In: a host name. Out: the addresses of it that the guard lets pass, or why there are none.
//! The static table comes first, then the system resolver (its caching and search rules are the operator's);
//! every address passes the guard here, at the moment of connecting, so that a name cannot change its address
//! between check and use. Literal addresses never come here: see [`Guard::check_uri`].

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::guard::Guard;
use super::limits::Config;
use taojin_uri::CrawlUri;

/// No host needs more; a hostile name server may send thousands.
const MAX_ADDRESSES: usize = 16;

/// The resolver behind the client.
pub(super) struct Resolver {
    guard: Guard,
    hosts: Arc<HashMap<String, SocketAddr>>,
    timeout: Duration,
}

impl Resolver {
    pub(super) fn new(config: &Config, guard: Guard) -> Self {
        let hosts = config.hosts.iter();
        Self {
            guard,
            hosts: Arc::new(hosts.map(|(name, a)| (canonical_name(name), a.0)).collect()),
            timeout: Duration::from_millis(config.dns_timeout_ms),
        }
    }

    /// The first of the addresses that a name leads to; none where it leads nowhere.
    pub(super) async fn first(&self, name: &str) -> Option<IpAddr> {
        let name = name.trim_start_matches('[').trim_end_matches(']');
        if let Ok(ip) = name.parse() {
            return Some(ip);
        }
        let found = match self.hosts.get(name) {
            Some(address) => vec![*address],
            None => look_up(name, self.timeout).await.ok()?,
        };
        found.first().map(SocketAddr::ip)
    }
}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (guard, hosts, timeout) = (self.guard.clone(), Arc::clone(&self.hosts), self.timeout);
        Box::pin(async move {
            let addresses = match hosts.get(name.as_str()) {
                Some(address) => vec![*address],
                None => look_up(name.as_str(), timeout).await?,
            };
            let mut refusal = None;
            let mut passed = Vec::with_capacity(addresses.len());
            for address in addresses {
                match guard.check(address.ip()) {
                    Ok(()) => passed.push(address),
                    Err(r) => refusal = refusal.or(Some(r)),
                }
            }
            match refusal {
                Some(refusal) if passed.is_empty() => Err(refusal.into()),
                _ => Ok(Box::new(passed.into_iter()) as Addrs),
            }
        })
    }
}

/// The name as it will be asked for: in lower case, Chinese names in ASCII.
fn canonical_name(name: &str) -> String {
    let uri = CrawlUri::parse(&format!("http://{name}/"));
    uri.map_or_else(|_| name.to_ascii_lowercase(), |uri| uri.host().to_owned())
}

async fn look_up(name: &str, timeout: Duration) -> io::Result<Vec<SocketAddr>> {
    let found = tokio::time::timeout(timeout, tokio::net::lookup_host((name, 0))).await;
    let found = found.map_err(|_| io::Error::other("the name server did not answer in time"))?;
    let addresses: Vec<SocketAddr> = found?.take(MAX_ADDRESSES).collect();
    if addresses.is_empty() {
        return Err(io::Error::other("the name has no address"));
    }
    Ok(addresses)
}
