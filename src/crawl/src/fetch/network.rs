//! Ranges of addresses. In: `10.0.0.0/8`, `fc00::/7` or a single address. Out: a [`Network`] that contains
//! addresses of its own family only.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use serde::{Deserialize, Serialize};

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
