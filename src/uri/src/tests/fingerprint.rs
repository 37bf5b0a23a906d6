use proptest::prelude::*;

use crate::{CrawlUri, FingerprintKey};

/// Two addresses that xxh3 gives one fingerprint; they were computed in two seconds.
const PAIR: [&str; 2] = [
    "http://victim.example/notice/t20261129_00000001.html?from=0000000000000000000000000000000000000000000000000000000000000000000000",
    "http://other.example/a/00000000000000000000000000000000000000000aaaaaaaaaabeenkgaaaaaaaaaabidfocaaaaaaaaaaafmnbbaaaaaaaaaaadiamk",
];

fn pair() -> [CrawlUri; 2] {
    PAIR.map(|text| {
        let uri = CrawlUri::parse(text).unwrap();
        assert_eq!(uri.as_str(), text);
        uri
    })
}

#[test]
fn fingerprint_key_parts_computed_pair() {
    let [victim, other] = pair();
    let of = |key: FingerprintKey| [key.fingerprint(&victim), key.fingerprint(&other)];
    // Stores of before keep the identifiers of their documents.
    assert_eq!(of(FingerprintKey::NONE), [0x47AF_37AD_3D58_CA78; 2]);
    let [first, second] = of(FingerprintKey::new([1, 0]));
    assert_ne!(first, second);
    assert_ne!(of(FingerprintKey::new([0, 1])), [first, second]);
}

#[test]
fn fingerprints_of_address_differ() {
    let [victim, other] = pair();
    for key in [FingerprintKey::NONE, FingerprintKey::new([7, 9])] {
        let mut all: Vec<u64> = key.fingerprints(&victim).collect();
        assert_eq!(all[0], key.fingerprint(&victim));
        // What follows the first one is not of the pair any more.
        all.extend(key.fingerprints(&other).skip(1));
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 7, "{key:?}");
    }
}

proptest! {
    /// SipHash-1-3 as the standard library has it, whose key is zero.
    #[test]
    fn fingerprint_is_siphash_of_text(path in "[a-z0-9/]{0,200}", halves in any::<[u64; 2]>()) {
        use std::hash::Hasher as _;
        let uri = CrawlUri::parse(&format!("http://a.example/{path}")).unwrap();
        let key = FingerprintKey::new(halves);
        prop_assert_eq!(key.halves(), halves);
        let [first, second] = halves;
        let mut hasher = siphasher::sip::SipHasher13::new_with_keys(first, second);
        hasher.write(uri.as_str().as_bytes());
        prop_assert_eq!(key.fingerprint(&uri), hasher.finish());
    }
}
