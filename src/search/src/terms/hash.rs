//! Hashes of texts that can be joined, and tables by them.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Modulus of the hash: a Mersenne prime.
const PRIME: u64 = (1 << 61) - 1;
/// Base of the hash: any number far from 0 and from the modulus.
const BASE: u64 = 0x0BF5_8476_D1CE_4E5B;

/// Polynomial hash of a text (Rabin and Karp): that of two texts joined follows from theirs, so that a run of words
/// has the hash of its letters, however they were cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hash {
    pub(super) value: u64,
    power: u64,
}

impl Hash {
    pub(super) const EMPTY: Self = Self { value: 0, power: 1 };

    pub(super) fn new(text: &str) -> Self {
        text.chars().fold(Self::EMPTY, |hash, c| {
            hash.join(Self {
                value: u64::from(c) + 1,
                power: BASE,
            })
        })
    }

    pub(super) fn join(self, next: Self) -> Self {
        Self {
            value: reduced(times(self.value, next.power) + next.value),
            power: times(self.power, next.power),
        }
    }
}

fn times(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    // 2^61 is 1 to this modulus: the upper bits are added to the lower ones.
    let (low, high) = (product & u128::from(PRIME), product >> 61);
    reduced(u64::try_from(low + high).expect("the sum of two numbers of 61 bits"))
}

/// A number below twice the modulus by the modulus.
fn reduced(sum: u64) -> u64 {
    if sum >= PRIME { sum - PRIME } else { sum }
}

/// Hasher of keys that are hashes already.
#[derive(Default)]
pub(super) struct AsIs(u64);

impl Hasher for AsIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, value: u64) {
        // The table looks at the highest bits too, of which a 61-bit number has few.
        self.0 = value.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

pub(super) type ByHash<T> = HashMap<u64, T, BuildHasherDefault<AsIs>>;
