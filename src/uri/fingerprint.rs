//! Hashes that assign URLs to queues.

/// Which hash assigns a queue to a shard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum QueueHash {
    /// xxh3, 64 bits: even for any modulus.
    #[default]
    Xxh3,
    /// HfIp (Li and Feng 2004): four bytes XORed; wants an odd modulus.
    HfIp,
    /// ELF hash of the System V object format, kept for comparison.
    Elf,
}

/// ELF hash, 31 bits.
pub fn elf(bytes: &[u8]) -> u32 {
    let mut h: u32 = 0;
    for &b in bytes {
        h = (h << 4).wrapping_add(u32::from(b));
        let high = h & 0xF000_0000;
        if high != 0 {
            h ^= high >> 24;
        }
        h &= !high;
    }
    h & 0x7FFF_FFFF
}

/// HfIp of Li and Feng, J. Software 15(2) 2004: byte i is XORed into byte i mod 4 of a little-endian word.
pub fn hfip(bytes: &[u8]) -> u32 {
    let mut word = [0u8; 4];
    for (i, b) in bytes.iter().enumerate() {
        word[i % 4] ^= b;
    }
    u32::from_le_bytes(word)
}

impl QueueHash {
    /// Index of the shard of `shards` (at least 1) for this key.
    pub fn shard(self, key: &str, shards: u32) -> u32 {
        let shards = shards.max(1);
        match self {
            QueueHash::Xxh3 => {
                (xxhash_rust::xxh3::xxh3_64(key.as_bytes()) % u64::from(shards)) as u32
            }
            QueueHash::HfIp => hfip(key.as_bytes()) % shards,
            QueueHash::Elf => elf(key.as_bytes()) % shards,
        }
    }
}
