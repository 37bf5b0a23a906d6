//! Decides which IP addresses may be connected to, and returns a [`Refusal`] with its reason for the others. A page of
//! the web can name any address of the operator's own network; nothing that is not public unicast is fetched unless the
//! configuration allows its range.
//!
//! Sources: the IANA special-purpose registries of IPv4 and IPv6 addresses (RFC 6890 and its successors) and the
//! list of bad ports of the WHATWG Fetch standard.
//!
//! A [`Network`] is a range such as `10.0.0.0/8` or `fc00::/7`, or a single address; it contains addresses of its own
//! family only.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use serde::{Deserialize, Serialize};
use taojin_uri::CrawlUri;

use super::limits::Config;
use super::proxy::ProxyAddress;

/// Why an address is not connected to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The address is not public unicast; the second part names its range.
    #[error("{0} is a {1} address, which fetch.allow_addresses does not allow")]
    Address(IpAddr, &'static str),
    /// The port belongs to another protocol, which an HTTP request could be made to speak.
    #[error("port {0} belongs to another protocol than HTTP")]
    Port(u16),
}

/// What is not public in IPv4; the first that contains an address names it.
const RANGES_V4: &[(Network, &str)] = &[
    (Network::v4([0, 0, 0, 0], 8), "unspecified"),
    (Network::v4([10, 0, 0, 0], 8), "private"),
    (Network::v4([100, 64, 0, 0], 10), "cgnat"),
    (Network::v4([127, 0, 0, 0], 8), "loopback"),
    (Network::v4([169, 254, 0, 0], 16), "link-local"),
    (Network::v4([172, 16, 0, 0], 12), "private"),
    (Network::v4([192, 0, 0, 0], 24), "reserved"),
    (Network::v4([192, 0, 2, 0], 24), "documentation"),
    (Network::v4([192, 31, 196, 0], 24), "reserved"),
    (Network::v4([192, 52, 193, 0], 24), "reserved"),
    (Network::v4([192, 88, 99, 0], 24), "6to4"),
    (Network::v4([192, 168, 0, 0], 16), "private"),
    (Network::v4([192, 175, 48, 0], 24), "reserved"),
    (Network::v4([198, 18, 0, 0], 15), "benchmark"),
    (Network::v4([198, 51, 100, 0], 24), "documentation"),
    (Network::v4([203, 0, 113, 0], 24), "documentation"),
    (Network::v4([224, 0, 0, 0], 4), "multicast"),
    (Network::v4([255, 255, 255, 255], 32), "broadcast"),
    (Network::v4([240, 0, 0, 0], 4), "reserved"),
];

/// What is not public in IPv6 and has a name; whatever else lies outside 2000::/3 is `reserved`.
const RANGES_V6: &[(Network, &str)] = &[
    (Network::v6([0x64, 0xff9b, 0], 96), "nat64"),
    (Network::v6([0x64, 0xff9b, 1], 48), "nat64"),
    (Network::v6([0x100, 0, 0], 64), "discard"),
    (Network::v6([0x2001, 0, 0], 32), "teredo"),
    (Network::v6([0x2001, 0, 0], 23), "reserved"),
    (Network::v6([0x2001, 0xdb8, 0], 32), "documentation"),
    (Network::v6([0x2002, 0, 0], 16), "6to4"),
    (Network::v6([0x2620, 0x4f, 0x8000], 48), "reserved"),
    (Network::v6([0x3fff, 0, 0], 20), "documentation"),
    (Network::v6([0x5f00, 0, 0], 16), "reserved"),
    (Network::v6([0xfc00, 0, 0], 7), "unique-local"),
    (Network::v6([0xfe80, 0, 0], 10), "link-local"),
    (Network::v6([0xfec0, 0, 0], 10), "site-local"),
    (Network::v6([0xff00, 0, 0], 8), "multicast"),
];

/// Global unicast, the only part of IPv6 that is handed out.
const UNICAST_V6: Network = Network::v6([0x2000, 0, 0], 3);

/// The well-known prefix behind which NAT64 puts IPv4 addresses (RFC 6052).
const NAT64: Network = Network::v6([0x64, 0xff9b, 0], 96);

/// The port blocking list of the WHATWG Fetch standard, §2.9, and 0; sorted.
const BAD_PORTS: &[u16] = &[
    0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101,
    102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427,
    465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990,
    993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667,
    6668, 6669, 6679, 6697, 10080,
];

/// Says which addresses may be connected to.
#[derive(Debug, Clone, Default)]
pub struct Guard {
    allow: Vec<Network>,
}

impl Guard {
    /// A guard that lets public addresses pass and those in `allow`.
    pub fn new(allow: &[Network]) -> Self {
        Self {
            allow: allow.to_vec(),
        }
    }

    /// Checks one address that is about to be connected to.
    pub fn check(&self, address: IpAddr) -> Result<(), Refusal> {
        let allowed = self.allow.iter().any(|n| n.contains(address));
        match (address, range(address)) {
            // an allowed NAT64 prefix leads to the whole of IPv4, private parts too: the inner address decides
            (IpAddr::V6(v6), _) if NAT64.contains(address) && allowed => self.check(inner_v4(v6)),
            (IpAddr::V6(v6), Some("mapped")) if self.allows(inner_v4(v6)) => Ok(()),
            (_, Some(range)) if !allowed => Err(Refusal::Address(address, range)),
            _ => Ok(()),
        }
    }

    /// Checks what the URL itself tells: its port, and its address if it is written as one.
    pub fn check_uri(&self, uri: &CrawlUri) -> Result<(), Refusal> {
        if BAD_PORTS.binary_search(&uri.port()).is_ok() {
            return Err(Refusal::Port(uri.port()));
        }
        uri.literal_address().map_or(Ok(()), |a| self.check(a))
    }

    fn allows(&self, address: IpAddr) -> bool {
        self.allow.iter().any(|n| n.contains(address))
    }
}

/// The IPv4 address in the last 32 bits.
fn inner_v4(address: Ipv6Addr) -> IpAddr {
    let [.., a, b, c, d] = address.octets();
    IpAddr::V4(Ipv4Addr::new(a, b, c, d))
}

/// The name of the range that makes the address not public.
fn range(address: IpAddr) -> Option<&'static str> {
    let named = match address {
        IpAddr::V4(_) => RANGES_V4,
        IpAddr::V6(_) => RANGES_V6,
    };
    if let Some((_, name)) = named.iter().find(|(n, _)| n.contains(address)) {
        return Some(name);
    }
    match address {
        IpAddr::V4(_) => None,
        IpAddr::V6(v6) if v6.is_unspecified() => Some("unspecified"),
        IpAddr::V6(v6) if v6.is_loopback() => Some("loopback"),
        IpAddr::V6(v6) if v6.to_ipv4_mapped().is_some() => Some("mapped"),
        IpAddr::V6(_) if UNICAST_V6.contains(address) => None,
        IpAddr::V6(_) => Some("reserved"),
    }
}

/// A range of addresses in CIDR notation; written as text in a configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Network(IpNet);

impl Network {
    /// The IPv4 range of the first `bits` of `address`.
    pub const fn v4([a, b, c, d]: [u8; 4], bits: u8) -> Self {
        Self(IpNet::V4(Ipv4Net::new_assert(
            Ipv4Addr::new(a, b, c, d),
            bits,
        )))
    }

    /// The IPv6 range of the first `bits` of the address that starts with `head` and goes on with zeros.
    pub const fn v6([a, b, c]: [u16; 3], bits: u8) -> Self {
        let address = Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0);
        Self(IpNet::V6(Ipv6Net::new_assert(address, bits)))
    }

    /// Whether `address` lies in the range; never for the other family.
    pub fn contains(&self, address: IpAddr) -> bool {
        self.0.contains(&address)
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let range = text.trim().parse::<IpNet>();
        let range = range.or_else(|_| text.trim().parse::<IpAddr>().map(IpNet::from));
        range
            .map(Network)
            .map_err(|_| format!("{text} is not an address range like 10.0.0.0/8 or fc00::/7"))
    }
}

impl TryFrom<String> for Network {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Network> for String {
    fn from(network: Network) -> Self {
        network.to_string()
    }
}

/// No host needs more; a hostile name server may send thousands.
const MAX_ADDRESSES: usize = 16;

/// The resolver behind the client.
pub(super) struct Resolver {
    guard: Guard,
    hosts: Arc<HashMap<String, SocketAddr>>,
    timeout: Duration,
    /// The operator's own proxy, which may be anywhere.
    proxy: Option<String>,
}

impl Resolver {
    pub(super) fn new(config: &Config, guard: Guard) -> Self {
        let hosts = config.hosts.iter();
        Self {
            guard,
            hosts: Arc::new(hosts.map(|(name, a)| (canonical_name(name), a.0)).collect()),
            timeout: Duration::from_millis(config.dns_timeout_ms),
            proxy: config
                .proxy
                .as_deref()
                .and_then(|proxy| Some(ProxyAddress::parse(proxy).ok()?.host().to_owned())),
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
        let is_proxy = self.proxy.as_deref() == Some(name.as_str());
        Box::pin(async move {
            let addresses = match hosts.get(name.as_str()) {
                Some(address) => vec![*address],
                None => look_up(name.as_str(), timeout).await?,
            };
            let mut refusal = None;
            let mut passed = Vec::with_capacity(addresses.len());
            for address in addresses {
                match guard.check(address.ip()) {
                    _ if is_proxy => passed.push(address),
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
