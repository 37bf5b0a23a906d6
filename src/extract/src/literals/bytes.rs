//! Questions about single bytes of a text. In: bytes. Out: sets of them, counts. Never decodes a character.

/// For each byte whether it is one of `bytes`: a table, so that a search for many asks one question a byte.
pub const fn byte_set(bytes: &[u8]) -> [bool; 256] {
    let mut set = [false; 256];
    let mut at = 0;
    while at < bytes.len() {
        set[bytes[at] as usize] = true;
        at += 1;
    }
    set
}

/// How many bytes of `text` are such.
pub fn count_bytes(text: &[u8], is_such: impl Fn(u8) -> bool) -> usize {
    // So short that a byte can count them, and so the compiler counts many at once.
    let blocks = text.chunks(128);
    let counts = blocks.map(|block| block.iter().map(|b| u8::from(is_such(*b))).sum::<u8>());
    counts.map(usize::from).sum()
}
