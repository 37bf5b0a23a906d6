//! The only source of randomness in the sample web. In: a seed. Out: numbers that are the same on every machine.
//! Never reads a clock or the system's randomness; not for anything secret.

/// `SplitMix64` (Steele, Lea, Flood 2014): tiny, seedable, good enough to choose words with.
#[derive(Debug, Clone)]
pub(super) struct Rng {
    state: u64,
}

impl Rng {
    /// A generator for a seed.
    pub(super) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// A generator for one thing of many: the same seed and parts give the same numbers.
    pub(super) fn of(seed: u64, parts: &[u64]) -> Self {
        let mut rng = Self::new(seed);
        for part in parts {
            rng.state = rng.next() ^ part.wrapping_mul(0xD6E8_FEB8_6659_FD93);
        }
        rng
    }

    /// The next 64 bits.
    pub(super) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number in `0..limit`; 0 if `limit` is 0.
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        let wide = u128::from(self.next()) * u128::from(limit);
        u64::try_from(wide >> 64).unwrap_or(0)
    }

    /// A number in `low..=high`.
    pub(super) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// An index into something of `length` members; 0 for an empty one.
    pub(super) fn index(&mut self, length: usize) -> usize {
        let limit = u64::try_from(length).unwrap_or(u64::MAX);
        usize::try_from(self.below(limit)).unwrap_or(0)
    }

    /// One member of `of`; the empty text if there is none.
    pub(super) fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of.get(self.index(of.len())).copied().unwrap_or_default()
    }
}
