//! What was found in texts that are asked for again and again. In: a text and how to read it. Out: the bits that were
//! read from it, now or before. Keeps no text: two of one hash are taken for the same.

/// Texts remembered; a page seldom has more class values or names in them.
const REMEMBERED: usize = 512;

/// Bits by the hash of what they were read from: for the last bits of a hash, those of the last text that had them.
#[derive(Debug)]
pub struct Cache(Vec<(u64, u32)>);

impl Default for Cache {
    fn default() -> Self {
        Self(vec![(0, 0); REMEMBERED])
    }
}

impl Cache {
    /// The bits of a text: those that are remembered of it, else as `read`.
    pub fn bits(&mut self, text: &str, read: impl FnOnce() -> u32) -> u32 {
        // Never 0, which stands for a place that is free.
        let hash = xxhash_rust::xxh3::xxh3_64(text.as_bytes()) | 1 << 63;
        let last = &mut self.0[hash as usize % REMEMBERED];
        if last.0 != hash {
            *last = (hash, read());
        }
        last.1
    }
}
