//! Alignment of sequences. In: two sequences of symbols. Out: the places of a longest common subsequence. Quadratic
//! within a limit, common ends taken off first.

/// Longest sequence aligned; the rest of a longer one has no partner.
const MAX_SYMBOLS: usize = 3_000;

/// Pairs of places `(in a, in b)` of a longest common subsequence, rising in both; of several the leftmost in `a`.
pub(super) fn align(a: &[u64], b: &[u64]) -> Vec<(usize, usize)> {
    let (a, b) = (cut(a), cut(b));
    let head = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (rest_a, rest_b) = (&a[head..], &b[head..]);
    let ends = rest_a.iter().rev().zip(rest_b.iter().rev());
    let tail = ends.take_while(|(x, y)| x == y).count();
    let (mid_a, mid_b) = (
        &rest_a[..rest_a.len() - tail],
        &rest_b[..rest_b.len() - tail],
    );
    let mut pairs: Vec<(usize, usize)> = (0..head).map(|i| (i, i)).collect();
    pairs.extend(
        middle(mid_a, mid_b)
            .into_iter()
            .map(|(i, j)| (i + head, j + head)),
    );
    pairs.extend((0..tail).map(|n| (a.len() - tail + n, b.len() - tail + n)));
    pairs
}

fn cut(symbols: &[u64]) -> &[u64] {
    symbols.get(..MAX_SYMBOLS).unwrap_or(symbols)
}

fn middle(a: &[u64], b: &[u64]) -> Vec<(usize, usize)> {
    if a.is_empty() || b.is_empty() {
        return Vec::new();
    }
    let width = b.len() + 1;
    let mut longest = vec![0u16; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            longest[i * width + j] = if a[i] == b[j] {
                longest[(i + 1) * width + j + 1] + 1
            } else {
                longest[(i + 1) * width + j].max(longest[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j, mut pairs) = (0, 0, Vec::new());
    while i < a.len() && j < b.len() {
        if a[i] == b[j] {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if longest[(i + 1) * width + j] >= longest[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}
