//! The suffix tree of a long text from its suffixes in order. In: symbols, the last of which stands nowhere else. Out:
//! the nodes of the tree. Linear in the length, and nearly all steps go through memory from one end to the other.
//!
//! The order is that of induced sorting (Nong, Zhang and Chan, "Two efficient algorithms for linear time suffix array
//! construction", 2009), what neighbours share is found in the order of the text (Kärkkäinen, Manzini and Puglisi,
//! "Permuted longest-common-prefix array", 2009), and the nodes are the runs of neighbours that share so much
//! (Abouelhoda, Kurtz and Ohlebusch, "Replacing suffix trees with enhanced suffix arrays", 2004).

use super::suffix_tree::{Node, Nodes};

/// Nothing stands here.
const NONE: u32 = u32::MAX;

/// The nodes of the suffix tree of a text whose last symbol stands nowhere else in it; all symbols are below `kinds`.
pub(super) fn nodes(mut text: Vec<u32>, kinds: usize) -> Nodes {
    let suffixes = sorted(&mut text, kinds);
    let shared = shared_by_place(&text, &suffixes);
    drop(text);
    // One for each pair of neighbours at most.
    let mut inner = Vec::with_capacity(suffixes.len());
    // What is open: symbols shared, and the first suffix that shares them.
    let mut open: Vec<(u32, u32)> = vec![(0, 0)];
    for (at, suffix) in (0u32..).zip(&suffixes).skip(1) {
        close(&mut inner, &mut open, shared[*suffix as usize], at);
    }
    let upto = suffixes.len() as u32;
    close(&mut inner, &mut open, 0, upto);
    inner.push(Node {
        depth: 0,
        from: 0,
        upto,
    });
    Nodes { suffixes, inner }
}

/// The suffix at `at` shares so many symbols with the one before: what is deeper ends there.
fn close(inner: &mut Vec<Node>, open: &mut Vec<(u32, u32)>, shared: u32, at: u32) {
    let mut from = at - 1;
    while let Some((depth, first)) = open.pop_if(|(depth, _)| *depth > shared) {
        from = first;
        inner.push(Node {
            depth,
            from,
            upto: at,
        });
    }
    if open.last().is_none_or(|(depth, _)| *depth < shared) {
        open.push((shared, from));
    }
}

/// For each place of the text, how many symbols its suffix shares with the one before it in order.
fn shared_by_place(text: &[u32], suffixes: &[u32]) -> Vec<u32> {
    let mut before = vec![NONE; text.len()];
    for pair in suffixes.windows(2) {
        before[pair[1] as usize] = pair[0];
    }
    let mut length = 0;
    for (at, before) in before.iter_mut().enumerate() {
        if *before == NONE {
            (*before, length) = (0, 0);
            continue;
        }
        let other = text[*before as usize + length..].iter();
        let more = text[at + length..].iter().zip(other);
        length += more.take_while(|(a, b)| a == b).count();
        *before = length as u32;
        length = length.saturating_sub(1);
    }
    before
}

/// Where the suffixes of a text begin, in their order; an end comes before every symbol. All symbols are below `kinds`,
/// which is below 2³¹; the text is as before in the end.
fn sorted(text: &mut [u32], kinds: usize) -> Vec<u32> {
    if text.len() < 2 {
        return (0..text.len() as u32).collect();
    }
    let sorting = Sorting::of(text, kinds);
    let starts: Vec<u32> = sorting.starts().collect();
    let mut order = vec![NONE; sorting.text.len()];
    sorting.induce(&mut order, &starts);
    let (mut names, different) = sorting.named(&mut order, starts.len());
    let by_name = if different == names.len() {
        let mut order = vec![0; names.len()];
        (0u32..)
            .zip(&names)
            .for_each(|(at, name)| order[*name as usize] = at);
        order
    } else {
        // At most half as long: so deep only as the length can be halved.
        sorted(&mut names, different)
    };
    drop(names);
    let starts: Vec<u32> = by_name.iter().map(|at| starts[*at as usize]).collect();
    sorting.induce(&mut order, &starts);
    text.iter_mut().for_each(|symbol| *symbol >>= 1);
    order
}

/// A text with what induced sorting knows of its suffixes. One is *rising* when it stands before the next one in order.
struct Sorting<'a> {
    /// Twice the symbol, and one more where the suffix rises: both are asked for together, at places far apart.
    text: &'a [u32],
    /// For each symbol where its suffixes begin in the order, those that fall first; and one more.
    falls: Vec<u32>,
    /// For each symbol where those of its suffixes begin that rise.
    rises: Vec<u32>,
}

impl<'a> Sorting<'a> {
    fn of(text: &'a mut [u32], kinds: usize) -> Self {
        let mut falls = vec![0u32; kinds + 1];
        let mut rises = vec![0u32; kinds];
        let mut next = (0, false);
        for (steps, symbol) in text.iter_mut().rev().enumerate() {
            let here = *symbol;
            let rising = steps > 0 && (here < next.0 || here == next.0 && next.1);
            next = (here, rising);
            *symbol = here << 1 | u32::from(rising);
            falls[here as usize + 1] += 1;
            rises[here as usize] += u32::from(!rising);
        }
        for symbol in 0..kinds {
            rises[symbol] += falls[symbol];
            falls[symbol + 1] += falls[symbol];
        }
        Self { text, falls, rises }
    }

    fn is_rising(&self, at: usize) -> bool {
        self.text[at] & 1 == 1
    }

    /// Whether the suffix is the first of a run of rising ones, but for the very first.
    fn is_start(&self, at: usize) -> bool {
        at > 0 && self.is_rising(at) && !self.is_rising(at - 1)
    }

    /// All of those.
    fn starts(&self) -> impl Iterator<Item = u32> {
        let places = self.text.windows(2).zip(1u32..);
        places.filter_map(|(pair, at)| (pair[0] & 1 == 0 && pair[1] & 1 == 1).then_some(at))
    }

    /// Order of all suffixes out of that of the starts: from the front those that fall, from the back those that rise.
    fn induce(&self, order: &mut [u32], starts: &[u32]) {
        order.fill(NONE);
        let mut next = self.rises.clone();
        for start in starts {
            let place = &mut next[self.text[*start as usize] as usize >> 1];
            order[*place as usize] = *start;
            *place += 1;
        }
        next.copy_from_slice(&self.falls[..self.rises.len()]);
        let last = self.text.len() - 1;
        let place = &mut next[self.text[last] as usize >> 1];
        order[*place as usize] = last as u32;
        *place += 1;
        for at in 0..order.len() {
            if let Some((before, symbol)) = self.before(order[at], 0) {
                order[next[symbol] as usize] = before;
                next[symbol] += 1;
            }
        }
        next.copy_from_slice(&self.falls[1..]);
        for at in (0..order.len()).rev() {
            if let Some((before, symbol)) = self.before(order[at], 1) {
                next[symbol] -= 1;
                order[next[symbol] as usize] = before;
            }
        }
    }

    /// The suffix that begins one symbol before another and the symbol it begins with, if it falls (0) or rises (1) as
    /// asked; none before the first, and none where no suffix stands yet.
    fn before(&self, suffix: u32, rising: u32) -> Option<(u32, usize)> {
        let before = suffix.wrapping_sub(1);
        if before >= NONE - 1 {
            return None;
        }
        let symbol = self.text[before as usize];
        (symbol & 1 == rising).then_some((before, symbol as usize >> 1))
    }

    /// Numbers the stretches from start to start by their order, equal ones alike: for each start in the order of the
    /// text, and how many different ones there are. Needs the order of the suffixes so far, and writes over it.
    fn named(&self, order: &mut [u32], count: usize) -> (Vec<u32>, usize) {
        let mut kept = 0;
        for at in 0..order.len() {
            if self.is_start(order[at] as usize) {
                order[kept] = order[at];
                kept += 1;
            }
        }
        // Two starts are never neighbours, so half as many places hold a name for each.
        let (starts, names) = order.split_at_mut(count);
        names.fill(NONE);
        let mut different = 0;
        let mut last: Option<usize> = None;
        for start in starts.iter().map(|at| *at as usize) {
            if last.is_none_or(|last| !self.is_same_stretch(last, start)) {
                different += 1;
            }
            names[start / 2] = different - 1;
            last = Some(start);
        }
        let names = names.iter().copied().filter(|name| *name != NONE);
        (names.collect(), different as usize)
    }

    /// Whether the stretches from two starts to the next ones are equal, these ends with them.
    fn is_same_stretch(&self, a: usize, b: usize) -> bool {
        let longest = self.text.len() - a.max(b);
        for step in 0..longest {
            let ends = (step > 0).then(|| (self.is_start(a + step), self.is_start(b + step)));
            if self.text[a + step] != self.text[b + step] {
                return false;
            }
            if let Some((a_ends, b_ends)) = ends
                && (a_ends || b_ends)
            {
                return a_ends && b_ends;
            }
        }
        false
    }
}
