//! Numbers that find addresses: a canonical address in, a fingerprint out. An address is its text and never its
//! fingerprint: whoever finds something by a fingerprint compares the address, and goes on to the next one where it is another's.

use std::hash::Hasher;

use siphasher::sip::SipHasher13;

use crate::CrawlUri;

/// Fingerprints that an address may have. Of a billion addresses two have the same first one with a probability of 3 %; that all
/// of one are taken does not happen by chance.
const NUMBERS: u8 = 4;

/// The key of the fingerprints of one store. With a random one nobody outside can compute two addresses that have the same
/// fingerprint, and fingerprints do not give it away: the function is SipHash-1-3 (Aumasson and Bernstein 2012).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FingerprintKey([u64; 2]);

impl FingerprintKey {
    /// That of stores that were made before there were keys: the function is xxh3.
    pub const NONE: Self = FingerprintKey([0; 2]);

    /// The key with these halves, which should be random; two zeros are [`FingerprintKey::NONE`].
    pub fn new(halves: [u64; 2]) -> Self {
        FingerprintKey(halves)
    }

    /// Its halves, for the store that it belongs to.
    pub fn halves(self) -> [u64; 2] {
        self.0
    }

    /// The first fingerprint of an address, which is its only one unless another address came before it that has the same.
    pub fn fingerprint(self, address: &CrawlUri) -> u64 {
        self.hash(address, 0)
    }

    /// All fingerprints of an address, in the order in which they are tried.
    pub fn fingerprints(self, address: &CrawlUri) -> impl Iterator<Item = u64> {
        (0..NUMBERS).map(move |number| self.hash(address, number))
    }

    fn hash(self, address: &CrawlUri, number: u8) -> u64 {
        // A byte that no text has parts the address from the number.
        let end = [0xFF, number];
        let end = if number == 0 { &[] } else { &end[..] };
        if self == Self::NONE {
            let mut hasher = xxhash_rust::xxh3::Xxh3Default::new();
            hasher.update(address.as_str().as_bytes());
            hasher.update(end);
            return hasher.digest();
        }
        let [first, second] = self.0;
        let mut hasher = SipHasher13::new_with_keys(first, second);
        hasher.write(address.as_str().as_bytes());
        hasher.write(end);
        hasher.finish()
    }
}
