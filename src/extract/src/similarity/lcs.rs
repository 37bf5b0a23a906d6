//! One step of the longest common subsequence by bit-parallel rows (Hyyrö, "Bit-parallel LCS-length computation
//! revisited", 2004).

/// Takes the next token of the other sequence into a row of bits, all set at first, one for each token of `a`: a zero
/// is a token of the common subsequence. `matches` has a bit where `a` has this token.
#[inline]
pub fn lcs_step(row: &mut [u64], matches: &[u64]) {
    let mut carry = false;
    for (word, matches) in row.iter_mut().zip(matches) {
        let hit = *word & matches;
        let (sum, over) = word.overflowing_add(hit);
        let (sum, over_too) = sum.overflowing_add(u64::from(carry));
        carry = over || over_too;
        *word = sum | (*word & !matches);
    }
}
