//! Hashing for tables that live as long as one page. In: keys from the web. Out: 64 bits (xxh3), other ones in every
//! table, so that nobody can make keys that clash. Never used where the bits are kept.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Makes the hashers of one table.
#[derive(Debug, Clone, Copy)]
pub(super) struct QuickHash {
    seed: u64,
}

impl Default for QuickHash {
    fn default() -> Self {
        Self {
            seed: RandomState::new().hash_one(0u8),
        }
    }
}

impl BuildHasher for QuickHash {
    type Hasher = Quick;

    fn build_hasher(&self) -> Quick {
        Quick(self.seed)
    }
}

/// Hashes one key.
#[derive(Debug)]
pub(super) struct Quick(u64);

impl Hasher for Quick {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = xxh3_64_with_seed(bytes, self.0);
    }

    fn write_u8(&mut self, _: u8) {
        // Ends a text; a key here is one text or one number.
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
