//! Random numbers that are the same on every machine. In: a seed. Out: numbers, chances, parts of pages left out or
//! repeated.

/// Random numbers that are the same on every machine (splitmix64).
pub(crate) struct Rng(pub(crate) u64);

impl Rng {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

pub(crate) fn many(rng: &mut Rng, most: usize, part: &str) -> String {
    part.repeat(1 + rng.below(most))
}

pub(crate) fn perhaps(rng: &mut Rng, percent: usize, part: &str) -> String {
    if rng.chance(percent) {
        part.to_owned()
    } else {
        String::new()
    }
}
