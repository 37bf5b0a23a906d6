//! The suffix tree of a text from its suffixes in order. In: symbols, the last of which stands nowhere else. Out:
//! the leaves of the tree. Linear in the length, and nearly all steps go through memory from one end to the other.
//!
//! The order is that of induced sorting (Nong, Zhang and Chan, "Two efficient algorithms for linear time suffix array
//! construction", 2009), what neighbours share is found in the order of the text (Kärkkäinen, Manzini and Puglisi,
//! "Permuted longest-common-prefix array", 2009), and a node is a run of neighbours that share so much
//! (Abouelhoda, Kurtz and Ohlebusch, "Replacing suffix trees with enhanced suffix arrays", 2004).

/// Nothing stands here.
const NONE: u32 = u32::MAX;
/// Most kinds of symbols that fit a byte, and two bytes, each with a bit of its own.
const BYTES: usize = 1 << 7;
const PAIRS: usize = 1 << 15;
/// One name in so many may stand more than once for names to be compared one with one.
const FEW: usize = 8;

/// A tree, flat: its leaves from left to right and how much neighbours share. An inner node is a stretch of leaves that
/// share more than the stretch goes on with; it is found on a walk and not kept, so that there is little to hold.
#[derive(Debug, Clone)]
pub(super) struct Leaves {
    /// Where the suffixes begin.
    pub(super) suffixes: Vec<u32>,
    /// For each place of the text, how many symbols its suffix shares with the one before it in `suffixes`.
    pub(super) shared: Vec<u32>,
}

/// The leaves of the suffix tree of a text whose last symbol stands nowhere else in it; all symbols are below `kinds`.
pub(super) fn leaves(text: Vec<u32>, kinds: usize) -> Leaves {
    if kinds <= BYTES {
        Sorting::<u8>::of(text, kinds).leaves()
    } else if kinds <= PAIRS {
        Sorting::<u16>::of(text, kinds).leaves()
    } else {
        Sorting::<u32>::of(text, kinds).leaves()
    }
}

/// Where the suffixes of a text begin, in their order; an end comes before every symbol. All symbols are below `kinds`,
/// which is below 2³¹.
fn sorted(text: Vec<u32>, kinds: usize) -> Vec<u32> {
    if kinds <= BYTES {
        Sorting::<u8>::of(text, kinds).sorted()
    } else if kinds <= PAIRS {
        Sorting::<u16>::of(text, kinds).sorted()
    } else {
        Sorting::<u32>::of(text, kinds).sorted()
    }
}

/// The order of what begins with each name, if few names stand more than once and what follows tells those apart soon;
/// otherwise nothing. Else a text with two equal names among thousands would be sorted another time.
fn compared(names: &[u32], different: usize) -> Option<Vec<u32>> {
    let mut steps = names.len();
    if (names.len() - different) * FEW > names.len() {
        return None;
    }
    let mut next = vec![0u32; different + 1];
    for name in names {
        next[*name as usize + 1] += 1;
    }
    for name in 0..different {
        next[name + 1] += next[name];
    }
    let mut order = vec![0u32; names.len()];
    for (at, name) in (0u32..).zip(names) {
        let place = &mut next[*name as usize];
        order[*place as usize] = at;
        *place += 1;
    }
    let name = |order: &[u32], at: usize| names[order[at] as usize];
    for upto in 1..order.len() {
        let mut at = upto;
        while at > 0 && name(&order, at - 1) == name(&order, at) {
            let after = |at: usize| &names[order[at] as usize + 1..];
            let pairs = after(at - 1).iter().zip(after(at));
            let common = pairs.take_while(|(a, b)| a == b).count();
            steps = steps.checked_sub(common + 1)?;
            if after(at - 1).get(common) < after(at).get(common) {
                break;
            }
            order.swap(at - 1, at);
            at -= 1;
        }
    }
    Some(order)
}

/// A text with what induced sorting knows of its suffixes. One is *rising* when it stands before the next one in order.
struct Sorting<S> {
    /// Twice the symbol, and one more where the suffix rises: both are asked for together, at places far apart. In as few
    /// bytes as it takes, since that is what does not fit the caches.
    text: Vec<S>,
    /// For each symbol where its suffixes begin in the order, those that fall first; and one more.
    falls: Vec<u32>,
    /// For each symbol where those of its suffixes begin that rise.
    rises: Vec<u32>,
    /// How many runs of rising suffixes begin after the first place.
    starts: usize,
}

impl<S: Copy + Default + Into<u32> + TryFrom<u32>> Sorting<S> {
    fn of(text: Vec<u32>, kinds: usize) -> Self {
        let mut falls = vec![0u32; kinds + 1];
        let mut rises = vec![0u32; kinds];
        let mut packed = vec![S::default(); text.len()];
        let mut starts = 0;
        let mut next = (0, false);
        for (steps, (symbol, packed)) in text.iter().zip(&mut packed).rev().enumerate() {
            let rising = steps > 0 && (*symbol < next.0 || *symbol == next.0 && next.1);
            starts += usize::from(next.1 && !rising);
            next = (*symbol, rising);
            // Fits: `S` was chosen for so many kinds.
            *packed = S::try_from(*symbol << 1 | u32::from(rising)).unwrap_or_default();
            falls[*symbol as usize + 1] += 1;
            rises[*symbol as usize] += u32::from(!rising);
        }
        for symbol in 0..kinds {
            rises[symbol] += falls[symbol];
            falls[symbol + 1] += falls[symbol];
        }
        Self {
            text: packed,
            falls,
            rises,
            starts,
        }
    }

    fn leaves(&self) -> Leaves {
        let suffixes = self.sorted();
        let shared = self.shared_by_place(&suffixes);
        Leaves { suffixes, shared }
    }

    /// For each place of the text, how many symbols its suffix shares with the one before it in order.
    fn shared_by_place(&self, suffixes: &[u32]) -> Vec<u32> {
        let mut before = vec![NONE; self.text.len()];
        for pair in suffixes.windows(2) {
            before[pair[1] as usize] = pair[0];
        }
        let mut length = 0;
        for (at, before) in before.iter_mut().enumerate() {
            if *before == NONE {
                (*before, length) = (0, 0);
                continue;
            }
            let other = self.text[*before as usize + length..].iter();
            let pairs = self.text[at + length..].iter().zip(other);
            let symbol = |packed: &S| (*packed).into() >> 1;
            length += pairs.take_while(|(a, b)| symbol(a) == symbol(b)).count();
            *before = length as u32;
            length = length.saturating_sub(1);
        }
        before
    }

    fn sorted(&self) -> Vec<u32> {
        if self.text.len() < 2 {
            return (0..self.text.len() as u32).collect();
        }
        let mut starts = Vec::with_capacity(self.starts);
        starts.extend(self.each_start());
        let mut order = vec![NONE; self.text.len()];
        self.induce(&mut order, &starts);
        let (names, different) = self.named(&mut order);
        // At most half as long: so deep only as the length can be halved.
        let mut by_name = compared(&names, different).unwrap_or_else(|| sorted(names, different));
        for start in &mut by_name {
            *start = starts[*start as usize];
        }
        self.induce(&mut order, &by_name);
        order
    }

    /// Twice the symbol at a place, and one more if it rises.
    fn at(&self, at: usize) -> u32 {
        self.text[at].into()
    }

    fn symbol(&self, at: u32) -> usize {
        self.at(at as usize) as usize >> 1
    }

    fn is_rising(&self, at: usize) -> bool {
        self.at(at) & 1 == 1
    }

    /// Whether the suffix is the first of a run of rising ones, but for the very first. All is asked at once: a step that
    /// waits for another costs more.
    fn is_start(&self, at: usize) -> bool {
        (at > 0) & self.is_rising(at) & !self.is_rising(at.saturating_sub(1))
    }

    /// All of those.
    fn each_start(&self) -> impl Iterator<Item = u32> {
        let starts = |at: &u32| self.is_start(*at as usize);
        (0..self.text.len() as u32).filter(starts)
    }

    /// Order of all suffixes out of that of the starts: from the front those that fall, from the back those that rise.
    fn induce(&self, order: &mut [u32], starts: &[u32]) {
        order.fill(NONE);
        let mut next = self.rises.clone();
        for start in starts {
            let place = &mut next[self.symbol(*start)];
            order[*place as usize] = *start;
            *place += 1;
        }
        next.copy_from_slice(&self.falls[..self.rises.len()]);
        let last = self.text.len() - 1;
        let place = &mut next[self.symbol(last as u32)];
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
        let symbol = self.at(before as usize);
        (symbol & 1 == rising).then_some((before, symbol as usize >> 1))
    }

    /// Numbers the stretches from start to start by their order, equal ones alike: for each start in the order of the
    /// text, and how many different ones there are. Needs the order of the suffixes so far, and writes over it.
    fn named(&self, order: &mut [u32]) -> (Vec<u32>, usize) {
        let mut kept = 0;
        for at in 0..order.len() {
            let suffix = order[at];
            order[kept] = suffix;
            kept += usize::from(self.is_start(suffix as usize));
        }
        // Two starts are never neighbours, so half as many places hold a name for each.
        let (starts, names) = order.split_at_mut(self.starts);
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
        let mut named = Vec::with_capacity(self.starts);
        named.extend(names.iter().copied().filter(|name| *name != NONE));
        (named, different as usize)
    }

    /// Whether the stretches from two starts to the next ones are equal, these ends with them.
    fn is_same_stretch(&self, a: usize, b: usize) -> bool {
        let longest = self.text.len() - a.max(b);
        for step in 0..longest {
            let ends = (step > 0).then(|| (self.is_start(a + step), self.is_start(b + step)));
            if self.at(a + step) != self.at(b + step) {
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
