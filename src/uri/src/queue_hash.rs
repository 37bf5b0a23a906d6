//! Hashes that assign keys to queues: bytes and a number of queues in, the index of a queue out. xxh3 is in use; the others
//! reproduce published figures and need an odd prime number of queues: modulo 2^j, ELF sees only the end of its input and
//! HfIp every fourth character.

/// Which hash assigns a queue to a shard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum QueueHash {
    /// xxh3, 64 bits: even for any modulus.
    #[default]
    Xxh3,
    /// HfIp (Li and Feng 2004): four bytes XORed; wants an odd modulus.
    HfIp,
    /// hf (Li and Feng 2004): sum of characters weighted by position; wants an odd modulus.
    Hf,
    /// ELF hash of the System V object format, kept for comparison; wants an odd modulus.
    Elf,
}

impl QueueHash {
    /// Every hash, in the order of the documented table.
    pub const ALL: [QueueHash; 4] = [
        QueueHash::Xxh3,
        QueueHash::HfIp,
        QueueHash::Hf,
        QueueHash::Elf,
    ];

    /// Index of the shard of `shards` (at least 1) for this key.
    pub fn shard(self, key: &str, shards: u32) -> u32 {
        let shards = shards.max(1);
        let bytes = key.as_bytes();
        match self {
            QueueHash::Xxh3 => {
                let index = xxhash_rust::xxh3::xxh3_64(bytes) % u64::from(shards);
                u32::try_from(index).expect("less than shards, which is u32")
            }
            QueueHash::HfIp => hfip(bytes) % shards,
            QueueHash::Hf => hf(bytes) % shards,
            QueueHash::Elf => elf(bytes) % shards,
        }
    }
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

/// hf of Li and Feng, J. Software 15(2) 2004: absolute value of Σ byte × 3 × i, i from 1, in 32 bits that wrap.
pub fn hf(bytes: &[u8]) -> u32 {
    let mut sum: i32 = 0;
    let mut weight: i32 = 0;
    for &b in bytes {
        weight = weight.wrapping_add(3);
        sum = sum.wrapping_add(i32::from(b).wrapping_mul(weight));
    }
    sum.unsigned_abs()
}
