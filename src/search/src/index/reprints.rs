//! Recognising reprints. In: texts in the order they are indexed. Out: for each the group of texts it is a reprint
//! of, or a new group. Remembers the latest texts only, a bounded number of them, by their sketches; what seems
//! alike is compared as text ([`super::alike`]). Never changes a text, and never reads the index by itself.

use std::collections::{HashMap, VecDeque};

use super::alike::Model;
use super::sketch::{BINS, Sketch, letters};

/// Texts that are remembered: some days of a large crawl, and about 30 MB.
pub(super) const REMEMBERED: usize = 100_000;
/// Latest texts looked at in a bin: what stands on every page of a site fills one.
const CHAIN: usize = 24;
/// Bins two texts share before they are compared: two are often chance.
const LEAST_SHARED: usize = 3;
/// Most texts compared with a new one.
const COMPARED: usize = 4;
/// Letters of the latest texts kept at hand, 32 MB: some 25,000 articles. Older texts are read from the index.
const KEPT_LETTERS: usize = 16 << 20;
/// Bins that decide where no text is at hand.
const SURELY_SHARED: usize = 11;
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
    /// For each slot and bin the next older slot with the same value.
    older: Vec<[u32; BINS]>,
    /// For each bin and value the latest slot.
    latest: Vec<u32>,
    by_fingerprint: HashMap<u64, u32>,
    ages: u64,
    kept: Kept,
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
            kept: Kept::default(),
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
        let mut model = None;
        for (shared, slot) in self.candidates(&sketch) {
            if found.iter().any(|&(_, group)| group == slot.group) {
                continue;
            }
            let model = model.get_or_insert_with(|| Model::of(&own));
            let alike = match self.kept.get(slot.fingerprint) {
                Some(other) => model.is_reprint(other),
                None => match read(slot.fingerprint) {
                    Some(text) => model.is_reprint(&letters(&text)),
                    None => shared >= SURELY_SHARED,
                },
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
        self.remember(fingerprint, group, sketch);
        self.kept.keep(fingerprint, own);
        Some(Placed { group, sketch })
    }

    /// Remembers a text whose group is known.
    pub(super) fn remember(&mut self, fingerprint: u64, group: u64, sketch: Sketch) {
        self.forget(fingerprint);
        if self.latest.is_empty() {
            self.latest = vec![NOTHING; BINS << 16];
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
            self.older.push([NOTHING; BINS]);
        }
        let place = u32::try_from(at).unwrap_or(NOTHING);
        let older = &mut self.older[at];
        older.fill(NOTHING);
        for (bin, value) in sketch.bins() {
            let head = &mut self.latest[(bin << 16) | usize::from(value)];
            older[bin] = std::mem::replace(head, place);
        }
        self.by_fingerprint.insert(fingerprint, place);
    }

    /// Forgets a text: it was deleted or comes again.
    pub(super) fn forget(&mut self, fingerprint: u64) {
        self.kept.forget(fingerprint);
        if let Some(at) = self.by_fingerprint.remove(&fingerprint)
            && let Some(slot) = self.slots.get_mut(at as usize)
            && slot.fingerprint == fingerprint
        {
            slot.alive = false;
        }
    }

    /// The groups that turned out to be one since it was asked last: from, to.
    pub(super) fn take_merged(&mut self) -> Vec<(u64, u64)> {
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
        for (bin, value) in sketch.bins() {
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

/// Letters of the latest texts, a bounded number of them.
#[derive(Default)]
struct Kept {
    texts: HashMap<u64, (u64, Vec<u16>)>,
    /// In the order they came. What came again has a later turn.
    order: VecDeque<(u64, u64)>,
    turns: u64,
    letters: usize,
}

impl Kept {
    fn get(&self, fingerprint: u64) -> Option<&[u16]> {
        let (_, letters) = self.texts.get(&fingerprint)?;
        Some(letters)
    }

    fn keep(&mut self, fingerprint: u64, mut letters: Vec<u16>) {
        letters.shrink_to_fit();
        self.forget(fingerprint);
        self.turns += 1;
        self.letters += letters.len();
        self.order.push_back((self.turns, fingerprint));
        self.texts.insert(fingerprint, (self.turns, letters));
        while self.letters > KEPT_LETTERS
            && let Some((turn, oldest)) = self.order.pop_front()
        {
            if self.texts.get(&oldest).is_some_and(|(at, _)| *at == turn) {
                self.forget(oldest);
            }
        }
    }

    fn forget(&mut self, fingerprint: u64) {
        if let Some((_, letters)) = self.texts.remove(&fingerprint) {
            self.letters -= letters.len();
        }
    }
}
