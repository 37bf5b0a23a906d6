//! Recognising reprints. In: texts in the order they are indexed. Out: for each the group of texts it is a reprint
//! of, or a new group. Remembers the latest texts only, a bounded number of them, by their sketches; what seems
//! alike is compared as text. Never changes a text, and never reads the index by itself.
//!
//! Two texts are reprints when two thirds of the longer one stand in the other: in runs of five letters, whatever
//! their order, or letter by letter in one order, which outlives edits all over the text. Of 500 pairs of articles
//! on one event hardly any share half. Reports made from one form share everything but their numbers: those are not
//! reprints.

use std::collections::{HashMap, HashSet};

use super::sketch::{BINS, Sketch, letters, runs};

/// Texts that are remembered: some days of a large crawl, and about 30 MB.
pub(super) const REMEMBERED: usize = 100_000;
/// Bins by which texts are looked up. One shared by chance costs a comparison of sketches.
const LOOKED_UP: usize = 32;
/// Latest texts looked at in a bin: what stands on every page of a site fills one.
const CHAIN: usize = 24;
/// Bins two texts share before they are compared.
const LEAST_SHARED: usize = 3;
/// Most texts compared with a new one.
const COMPARED: usize = 4;
/// Share of the longer text that stands in the other.
const SHARED: f64 = 0.64;
/// Runs of five that two reprints share at least: edits of a fifth of all letters leave a fifth of the runs.
const LEAST_RUNS: f64 = 0.15;
/// Letters that are compared one by one.
const COMPARED_LETTERS: usize = 4_000;
/// Numbers from which on a text's numbers say something.
const LEAST_NUMBERS: usize = 6;
/// Share of the numbers that two texts have in common, against that of their runs: edits spoil both alike.
const NUMBERS_SHARE: f64 = 0.7;
/// Texts kept whole until they can be read from the index; after that many, sketches decide.
const PENDING: usize = 8_192;
/// Bins that decide where no text is at hand.
const SURELY_SHARED: usize = 16;
const NOTHING: u32 = u32::MAX;

/// What is remembered of a text.
#[derive(Debug, Clone, Copy)]
struct Slot {
    fingerprint: u64,
    group: u64,
    /// Counts up: an older text has a smaller one.
    age: u64,
    alive: bool,
    sketch: Sketch,
}

/// Where a text belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Placed {
    pub(super) group: u64,
    pub(super) sketch: Sketch,
}

/// The latest texts.
pub(super) struct Reprints {
    capacity: usize,
    slots: Vec<Slot>,
    /// For each slot and looked-up bin the next older slot with the same value.
    older: Vec<[u32; LOOKED_UP]>,
    /// For each looked-up bin and value the latest slot.
    latest: Vec<u32>,
    by_fingerprint: HashMap<u64, u32>,
    ages: u64,
    pending: HashMap<u64, Vec<char>>,
    merged: Vec<(u64, u64)>,
}

impl Reprints {
    /// Remembers nothing yet, and never more than `capacity` texts.
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            capacity: capacity.max(1),
            slots: Vec::new(),
            older: Vec::new(),
            latest: Vec::new(),
            by_fingerprint: HashMap::new(),
            ages: 0,
            pending: HashMap::new(),
            merged: Vec::new(),
        }
    }

    /// Finds the group of a text in normal form and remembers it. `read` gives the text in normal form of a document
    /// that was committed. None for a text too short to tell.
    pub(super) fn place(
        &mut self,
        fingerprint: u64,
        normal: &str,
        mut read: impl FnMut(u64) -> Option<String>,
    ) -> Option<Placed> {
        self.forget(fingerprint);
        let own = letters(normal);
        let sketch = Sketch::of(&own)?;
        let mut found: Vec<(u64, u64)> = Vec::new();
        let mut profile = None;
        for (shared, slot) in self.candidates(&sketch) {
            if found.iter().any(|&(_, group)| group == slot.group) {
                continue;
            }
            let other = match self.pending.get(&slot.fingerprint) {
                Some(letters) => Some(letters.clone()),
                None => read(slot.fingerprint).map(|text| letters(&text)),
            };
            let profile = profile.get_or_insert_with(|| Profile::of(&own));
            let alike = match other {
                Some(other) => profile.is_reprint(&Profile::of(&other)),
                None => shared >= SURELY_SHARED,
            };
            if alike {
                found.push((slot.age, slot.group));
            }
        }
        // The oldest group stays; what turns out to be the same text is joined to it.
        found.sort_unstable();
        let group = found.first().map_or_else(
            // Changed text makes another group: its old reprints keep theirs.
            || {
                let mix = |all: u64, four: u64| all.rotate_left(7) ^ four;
                sketch.packed().fold(fingerprint, mix)
            },
            |&(_, group)| group,
        );
        for &(_, other) in found.iter().skip(1) {
            self.merge(other, group);
        }
        drop(profile);
        self.remember(fingerprint, group, sketch);
        if self.pending.len() < PENDING {
            self.pending.insert(fingerprint, own);
        }
        Some(Placed { group, sketch })
    }

    /// Remembers a text whose group is known.
    pub(super) fn remember(&mut self, fingerprint: u64, group: u64, sketch: Sketch) {
        self.forget(fingerprint);
        if self.latest.is_empty() {
            self.latest = vec![NOTHING; LOOKED_UP << 16];
        }
        self.ages += 1;
        let slot = Slot {
            fingerprint,
            group,
            age: self.ages,
            alive: true,
            sketch,
        };
        let at = (self.ages as usize - 1) % self.capacity;
        if let Some(old) = self.slots.get(at).copied() {
            self.forget(old.fingerprint);
            self.slots[at] = slot;
        } else {
            self.slots.push(slot);
            self.older.push([NOTHING; LOOKED_UP]);
        }
        let place = u32::try_from(at).unwrap_or(NOTHING);
        for bin in 0..LOOKED_UP {
            let head = sketch.bin(bin).and_then(|value| {
                let head = (bin << 16) | usize::from(value);
                self.latest.get_mut(head)
            });
            let older = head.map_or(NOTHING, |head| std::mem::replace(head, place));
            self.older[at][bin] = older;
        }
        self.by_fingerprint.insert(fingerprint, place);
    }

    /// Forgets a text: it was deleted or comes again.
    pub(super) fn forget(&mut self, fingerprint: u64) {
        self.pending.remove(&fingerprint);
        if let Some(at) = self.by_fingerprint.remove(&fingerprint)
            && let Some(slot) = self.slots.get_mut(at as usize)
            && slot.fingerprint == fingerprint
        {
            slot.alive = false;
        }
    }

    /// What was placed can be read from the index now. Gives the groups that turned out to be one: from, to.
    pub(super) fn committed(&mut self) -> Vec<(u64, u64)> {
        self.pending.clear();
        std::mem::take(&mut self.merged)
    }

    fn merge(&mut self, from: u64, to: u64) {
        for slot in self.slots.iter_mut().filter(|slot| slot.group == from) {
            slot.group = to;
        }
        self.merged.push((from, to));
    }

    /// Remembered texts that share the most bins.
    fn candidates(&self, sketch: &Sketch) -> Vec<(usize, Slot)> {
        let mut places: Vec<u32> = Vec::new();
        for bin in 0..LOOKED_UP {
            let Some(value) = sketch.bin(bin) else {
                continue;
            };
            let mut at = self.latest.get((bin << 16) | usize::from(value)).copied();
            let mut age = u64::MAX;
            for _ in 0..CHAIN {
                let Some(place) = at else { break };
                // A younger text has taken the place of the one the chain led to.
                let Some(slot) = self.slots.get(place as usize).filter(|slot| slot.age < age)
                else {
                    break;
                };
                if slot.alive {
                    places.push(place);
                }
                age = slot.age;
                at = self
                    .older
                    .get(place as usize)
                    .and_then(|older| older.get(bin))
                    .copied();
            }
        }
        places.sort_unstable();
        places.dedup();
        let mut best: Vec<(usize, Slot)> = places
            .into_iter()
            .filter_map(|place| self.slots.get(place as usize))
            .map(|slot| (slot.sketch.shared(sketch), *slot))
            .filter(|(shared, _)| *shared >= LEAST_SHARED)
            .collect();
        best.sort_unstable_by_key(|(shared, slot)| (BINS - shared, slot.age));
        best.truncate(COMPARED);
        best
    }
}

/// A text as it is compared.
struct Profile<'l> {
    letters: &'l [char],
    runs: HashSet<u64>,
    numbers: HashSet<String>,
}

impl<'l> Profile<'l> {
    fn of(letters: &'l [char]) -> Self {
        let mut numbers = HashSet::new();
        for number in letters.split(|c| !c.is_ascii_digit()) {
            if number.len() > 1 {
                numbers.insert(number.iter().collect());
            }
        }
        Self {
            letters,
            runs: runs(letters).collect(),
            numbers,
        }
    }

    fn is_reprint(&self, other: &Self) -> bool {
        let common = self.runs.intersection(&other.runs).count() as f64;
        let (fewer, more) = ordered(self.runs.len(), other.runs.len());
        let shared = common / more;
        if shared < LEAST_RUNS || !self.same_numbers(other, common / fewer) {
            return false;
        }
        shared >= SHARED || self.same_letters(other) >= SHARED
    }

    /// Whether the numbers outlived as well as the runs did.
    fn same_numbers(&self, other: &Self, runs: f64) -> bool {
        let (fewer, _) = ordered(self.numbers.len(), other.numbers.len());
        let common = self.numbers.intersection(&other.numbers).count() as f64;
        fewer < LEAST_NUMBERS as f64 || common / fewer >= runs * NUMBERS_SHARE
    }

    /// Longest common subsequence of the letters, as a share of the longer text.
    fn same_letters(&self, other: &Self) -> f64 {
        let head = |letters: &'l [char]| letters.get(..COMPARED_LETTERS).unwrap_or(letters);
        let (a, b) = (head(self.letters), head(other.letters));
        let (_, more) = ordered(a.len(), b.len());
        common_subsequence(a, b) as f64 / more
    }
}

fn ordered(a: usize, b: usize) -> (f64, f64) {
    (a.min(b).max(1) as f64, a.max(b).max(1) as f64)
}

/// Length of the longest common subsequence, 64 letters at a time (Hyyrö, "Bit-parallel LCS-length computation
/// revisited", 2004).
fn common_subsequence(a: &[char], b: &[char]) -> usize {
    let words = a.len().div_ceil(64);
    let mut places: HashMap<char, Vec<u64>> = HashMap::new();
    for (at, &c) in a.iter().enumerate() {
        let mask = places.entry(c).or_insert_with(|| vec![0; words]);
        mask[at / 64] |= 1 << (at % 64);
    }
    let mut unmatched = vec![u64::MAX; words];
    for mask in b.iter().filter_map(|c| places.get(c)) {
        let mut carry = false;
        for (v, m) in unmatched.iter_mut().zip(mask) {
            let matched = *v & m;
            let (sum, first) = v.overflowing_add(matched);
            let (sum, second) = sum.overflowing_add(u64::from(carry));
            carry = first || second;
            *v = sum | (*v - matched);
        }
    }
    let zeros: u32 = unmatched.iter().map(|word| word.count_zeros()).sum();
    zeros as usize
}

const _: () = assert!(LOOKED_UP <= BINS);
