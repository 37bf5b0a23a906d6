//! Ranges of addresses. In: `10.0.0.0/8`, `fc00::/7` or a single address. Out: a [`Network`] that contains
//! addresses of its own family only.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A range of addresses in CIDR notation; written as text in a configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Network {
    address: IpAddr,
    bits: u8,
}

impl Network {
    /// The IPv4 range of the first `bits` of `address`.
    pub const fn v4(address: [u8; 4], bits: u8) -> Self {
        let [a, b, c, d] = address;
        let address = IpAddr::V4(Ipv4Addr::new(a, b, c, d));
        Self { address, bits }
    }

    /// The IPv6 range of the first `bits` of the address that starts with `head` and goes on with zeros.
    pub const fn v6(head: [u16; 3], bits: u8) -> Self {
        let [a, b, c] = head;
        let address = IpAddr::V6(Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0));
        Self { address, bits }
    }

    /// Whether `address` lies in the range; never for the other family.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address) {
            (IpAddr::V4(a), IpAddr::V4(b)) => {
                (a.to_bits() ^ b.to_bits()).leading_zeros() >= u32::from(self.bits)
            }
            (IpAddr::V6(a), IpAddr::V6(b)) => {
                (a.to_bits() ^ b.to_bits()).leading_zeros() >= u32::from(self.bits)
            }
            _ => false,
        }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text} is not an address range like 10.0.0.0/8 or fc00::/7");
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let address: IpAddr = address.trim().parse().map_err(|_| wrong())?;
        let widest = if address.is_ipv4() { 32 } else { 128 };
        let bits = match bits {
            Some(bits) => bits.trim().parse().map_err(|_| wrong())?,
            None => widest,
        };
        if bits > widest {
            return Err(wrong());
        }
        Ok(Self { address, bits })
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
