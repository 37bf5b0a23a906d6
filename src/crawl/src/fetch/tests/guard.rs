use std::net::IpAddr;

use super::server::uri;
use crate::fetch::{Guard, Network, Refusal};

/// Hosts as a hostile page may spell them, and the range that refuses each.
const REFUSED: &[(&str, &str)] = &[
    // loopback, in every spelling of IPv4
    ("127.0.0.1", "loopback"),
    ("127.255.255.254", "loopback"),
    ("127.1", "loopback"),
    ("127.0.1", "loopback"),
    ("2130706433", "loopback"),
    ("0x7f000001", "loopback"),
    ("0x7F.0x0.0x0.0x1", "loopback"),
    ("017700000001", "loopback"),
    ("0177.0.0.01", "loopback"),
    ("0177.0x0.1", "loopback"),
    ("127.0.0.1.", "loopback"),
    ("１２７.0.0.1", "loopback"),
    ("127。0。0。1", "loopback"),
    ("%31%32%37.0.0.1", "loopback"),
    ("①②⑦.0.0.1", "loopback"),
    ("[::1]", "loopback"),
    ("[0:0:0:0:0:0:0:1]", "loopback"),
    ("[0000:0000::0001]", "loopback"),
    // this host
    ("0.0.0.0", "unspecified"),
    ("0", "unspecified"),
    ("0x0", "unspecified"),
    ("0.1.2.3", "unspecified"),
    ("[::]", "unspecified"),
    // private networks
    ("10.0.0.1", "private"),
    ("10.255.255.255", "private"),
    ("10.1", "private"),
    ("167772161", "private"),
    ("0xa000001", "private"),
    ("172.16.0.1", "private"),
    ("172.31.255.255", "private"),
    ("192.168.0.1", "private"),
    ("192.168.257", "private"),
    ("0300.0250.0.1", "private"),
    ("100.64.0.1", "cgnat"),
    ("100.127.255.255", "cgnat"),
    ("[fc00::1]", "unique-local"),
    ("[fd12:3456:789a::1]", "unique-local"),
    ("[fec0::1]", "site-local"),
    // link-local, where clouds keep their secrets
    ("169.254.169.254", "link-local"),
    ("2852039166", "link-local"),
    ("0xA9FEA9FE", "link-local"),
    ("[fe80::1]", "link-local"),
    ("[febf::1]", "link-local"),
    ("[fd00:ec2::254]", "unique-local"),
    // IPv4 inside IPv6
    ("[::ffff:127.0.0.1]", "mapped"),
    ("[::ffff:7f00:1]", "mapped"),
    ("[::ffff:a9fe:a9fe]", "mapped"),
    ("[::ffff:8.8.8.8]", "mapped"),
    ("[::127.0.0.1]", "reserved"),
    ("[::ffff:0:127.0.0.1]", "reserved"),
    ("[64:ff9b::127.0.0.1]", "nat64"),
    ("[64:ff9b::808:808]", "nat64"),
    ("[64:ff9b:1::1]", "nat64"),
    ("[2002:7f00:1::]", "6to4"),
    ("[2002:a00:1::1]", "6to4"),
    ("192.88.99.1", "6to4"),
    ("[2001::1]", "teredo"),
    ("[2001:0:4136:e378:8000:63bf:3fff:fdd2]", "teredo"),
    // not for anybody
    ("192.0.0.1", "reserved"),
    ("192.0.0.192", "reserved"),
    ("192.0.2.1", "documentation"),
    ("198.51.100.1", "documentation"),
    ("203.0.113.1", "documentation"),
    ("198.18.0.1", "benchmark"),
    ("198.19.255.255", "benchmark"),
    ("224.0.0.1", "multicast"),
    ("239.255.255.250", "multicast"),
    ("240.0.0.1", "reserved"),
    ("254.1.2.3", "reserved"),
    ("255.255.255.255", "broadcast"),
    ("4294967295", "broadcast"),
    ("[100::1]", "discard"),
    ("[2001:2::1]", "reserved"),
    ("[2001:20::1]", "reserved"),
    ("[2001:db8::1]", "documentation"),
    ("[3fff::1]", "documentation"),
    ("[5f00::1]", "reserved"),
    ("[4000::1]", "reserved"),
    ("[ff02::1]", "multicast"),
    ("[ff0e::fb]", "multicast"),
];

#[test]
fn guard_refuses_private_addresses() {
    assert!(REFUSED.len() >= 60);
    let guard = Guard::default();
    for &(host, range) in REFUSED {
        let uri = uri(&format!("http://{host}/"));
        let refused = guard.check_uri(&uri).map_err(|refusal| match refusal {
            Refusal::Address(_, range) => range,
            Refusal::Port(_) => "port",
        });
        assert_eq!(refused, Err(range), "{host} is {uri}");
        let address = uri.literal_address().unwrap();
        assert!(guard.check(address).is_err(), "{host} resolved");
    }
}

#[test]
fn guard_allows_range_edges() {
    let guard = Guard::default();
    for host in [
        "8.8.8.8",
        "1.0.0.0",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "128.0.0.0",
        "169.253.255.255",
        "169.255.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "192.0.1.0",
        "192.167.255.255",
        "192.169.0.0",
        "198.17.255.255",
        "198.20.0.0",
        "223.255.255.255",
        "[2001:4860:4860::8888]",
        "[2400:3200::1]",
        "[2001:200::1]",
        "[2003::1]",
        "[2a00::1]",
        "[3ffe:ffff::1]",
    ] {
        assert_eq!(
            guard.check_uri(&uri(&format!("http://{host}/"))),
            Ok(()),
            "{host}"
        );
    }
    // a name is checked when it is resolved, not here
    assert_eq!(guard.check_uri(&uri("http://localhost/")), Ok(()));
}

#[test]
fn guard_allows_configured_range() {
    let allow = |ranges: &[&str]| {
        let networks: Vec<Network> = ranges.iter().map(|r| r.parse().unwrap()).collect();
        Guard::new(&networks)
    };
    let passes = |guard: &Guard, address: &str| guard.check(address.parse().unwrap()).is_ok();
    let guard = allow(&["127.0.0.0/8", "10.1.2.3", "fd00::/8"]);
    for address in ["127.0.0.1", "::ffff:127.0.0.1", "10.1.2.3", "fd12::1"] {
        assert!(passes(&guard, address), "{address}");
    }
    for address in [
        "::1",
        "10.1.2.4",
        "fc00::1",
        "::ffff:10.1.2.4",
        "169.254.169.254",
    ] {
        assert!(!passes(&guard, address), "{address}");
    }
    // behind an allowed NAT64 prefix only what would pass as IPv4
    let guard = allow(&["64:ff9b::/96"]);
    assert!(passes(&guard, "64:ff9b::8.8.8.8"));
    assert!(!passes(&guard, "64:ff9b::10.0.0.1"));
    assert!(!passes(&guard, "64:ff9b::169.254.169.254"));
    let everything = allow(&["0.0.0.0/0", "::/0"]);
    for &(host, _) in REFUSED {
        assert_eq!(
            everything.check_uri(&uri(&format!("http://{host}/"))),
            Ok(()),
            "{host}"
        );
    }
}

#[test]
fn guard_refuses_other_ports() {
    let guard = Guard::default();
    for port in [
        0, 1, 22, 25, 53, 110, 143, 465, 587, 993, 2049, 5060, 6000, 6667, 10080,
    ] {
        let refused = guard.check_uri(&uri(&format!("http://h.example:{port}/")));
        assert_eq!(refused, Err(Refusal::Port(port)));
    }
    for port in [80, 81, 443, 3000, 8000, 8080, 8443, 6379, 65535] {
        let uri = uri(&format!("http://h.example:{port}/"));
        assert_eq!(guard.check_uri(&uri), Ok(()), "{port}");
    }
}

#[test]
fn ranges_are_read_and_written() {
    for text in [
        "",
        "x",
        "10.0.0.0/33",
        "::/129",
        "10.0.0/8",
        "10.0.0.0/",
        "10.0.0.0/-1",
        "/8",
    ] {
        let error = text.parse::<Network>().unwrap_err();
        assert!(error.contains("10.0.0.0/8"), "an example mends it: {error}");
    }
    let network: Network = "10.9.8.7/8".parse().unwrap();
    assert_eq!(network.to_string(), "10.9.8.7/8");
    let contains = |a: &str| network.contains(a.parse::<IpAddr>().unwrap());
    assert!(contains("10.255.0.1") && !contains("11.0.0.1") && !contains("::ffff:10.0.0.1"));
    let all: Network = "::/0".parse().unwrap();
    assert!(all.contains("ff02::1".parse().unwrap()) && !all.contains("1.1.1.1".parse().unwrap()));
}
