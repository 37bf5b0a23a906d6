//! Recognises reprints: returns for each text the group it is a reprint of, or a new group. A text joins the group
//! whose first text it agrees with most: agreeing with one of the others is not enough, so that no chain of small
//! changes leads from one report to another. Remembers the latest texts only, a bounded number of them, by their
//! sketches; what seems alike is compared as text ([`super::alike`]). Never changes a text, and never reads the index
//! by itself.
//!
//! Groups are those of the order of changes, in whatever order the texts come: a text that begins a group which later ones have
//! begun before it has them placed again.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use super::alike::{Model, Text};
use crate::analyze::ideographs_at_start;
use crate::index::stored::{DocumentSource, StoredDocument};

/// Texts that are remembered: some days of a large crawl, and about 30 MB.
pub(crate) const REMEMBERED: usize = 100_000;
/// Latest texts looked at in a bin: what stands on every page of a site fills one.
const CHAIN: usize = 24;
/// Bins two texts share before they are compared: two are often chance.
const LEAST_SHARED: usize = 3;
/// Most texts compared with a new one.
const COMPARED: usize = 4;
/// Letters of the latest texts kept at hand, 32 MB: some 25,000 articles. Older texts are read from the store.
const KEPT_LETTERS: usize = 16 << 20;
/// Bins that decide where no text is at hand.
const SURELY_SHARED: usize = 11;
const NOTHING: u32 = u32::MAX;

/// What is remembered of a text.
#[derive(Debug, Clone, Copy)]
struct Slot {
    fingerprint: u64,
    group: u64,
    /// Number of the last change of its document.
    seq: u64,
    /// Counts up: what was remembered earlier has a smaller one.
    age: u64,
    alive: bool,
    sketch: Sketch,
}

/// Where a text belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Placed {
    pub(crate) group: u64,
    pub(crate) sketch: Sketch,
}

/// A remembered text that has so many bins in common with another.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    shared: usize,
    slot: Slot,
}

/// Where a text belongs, and what follows for others.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Placement {
    /// None for a list of headlines and for a text too short to tell.
    pub(crate) placed: Option<Placed>,
    /// Documents of later changes, by their changes, which have to be placed again: they began a group that this text begins.
    pub(crate) again: Vec<u64>,
}

/// The latest texts.
pub(crate) struct Reprints {
    documents: Arc<dyn DocumentSource>,
    slots: Vec<Slot>,
    /// For each slot and bin the next older slot with the same value.
    older: Vec<[u32; BINS]>,
    /// For each bin and value the latest slot.
    latest: Vec<u32>,
    by_fingerprint: HashMap<u64, u32>,
    /// The text that began each group, while it is remembered.
    first: HashMap<u64, u64>,
    ages: u64,
    kept: Kept,
}

impl Reprints {
    /// Remembers nothing yet; reads older texts from `documents`.
    pub(crate) fn new(documents: Arc<dyn DocumentSource>) -> Self {
        Self {
            documents,
            slots: Vec::new(),
            older: Vec::new(),
            latest: Vec::new(),
            by_fingerprint: HashMap::new(),
            first: HashMap::new(),
            ages: 0,
            kept: Kept::default(),
        }
    }

    /// Finds the group of a document, whose text in normal form is `body`, and remembers it.
    pub(crate) fn place(&mut self, stored: &StoredDocument, body: &str) -> Placement {
        if !stored.may_be_reprint() {
            return Placement::default();
        }
        let (fingerprint, seq) = (stored.fingerprint, stored.seq);
        self.forget(fingerprint);
        let own = Text::new(&stored.document, body);
        let Some(sketch) = Sketch::new(&own.letters) else {
            return Placement::default();
        };
        let (group, late) = self.groups_of(&own, &sketch, seq);
        let again = self.take_out(&late, seq);
        // Changed text makes another group: its old reprints keep theirs.
        let group = group.unwrap_or_else(|| own_group(fingerprint, &sketch));
        self.remember(fingerprint, seq, group, sketch);
        self.kept.keep(fingerprint, own);
        Placement {
            placed: Some(Placed { group, sketch }),
            again,
        }
    }

    /// The group of earlier changes whose first text this one agrees with most, of equal ones the oldest; and those of later changes
    /// that it agrees with.
    fn groups_of(&self, own: &Text, sketch: &Sketch, seq: u64) -> (Option<u64>, Vec<u64>) {
        let [earlier, later] = self.candidates(sketch, seq);
        if earlier.is_empty() && later.is_empty() {
            return (None, Vec::new());
        }
        let model = Model::new(own);
        let mut looked_at: HashSet<u64> = HashSet::new();
        let mut agreeing = |candidates: Vec<Candidate>| -> Vec<(f64, u64)> {
            let new = candidates
                .into_iter()
                .filter(|candidate| looked_at.insert(candidate.slot.group));
            new.filter_map(|candidate| {
                Some((self.agreement(&model, candidate)?, candidate.slot.group))
            })
            .collect()
        };
        let (found, late) = (agreeing(earlier), agreeing(later));
        let age = |group: u64| {
            let first = self
                .first
                .get(&group)
                .and_then(|first| self.by_fingerprint.get(first));
            let slot = first.and_then(|at| self.slots.get(*at as usize));
            slot.map_or(u64::MAX, |slot| slot.seq)
        };
        let best = found
            .into_iter()
            .max_by(|a, b| a.0.total_cmp(&b.0).then(age(b.1).cmp(&age(a.1))));
        let late = late.into_iter().map(|(_, group)| group).collect();
        (best.map(|(_, group)| group), late)
    }

    /// How much a text agrees with the first of the group of a candidate; none where it does not.
    fn agreement(&self, model: &Model<'_>, candidate: Candidate) -> Option<f64> {
        let Candidate { shared, slot } = candidate;
        let first = self.first.get(&slot.group).copied();
        let first = first.unwrap_or(slot.fingerprint);
        match self.kept.get(first) {
            Some(other) => model.agreement(other),
            None => match self.read(first) {
                Some(other) => model.agreement(&other),
                None => (shared >= SURELY_SHARED).then_some(shared as f64 / BINS as f64),
            },
        }
    }

    /// Forgets the texts of groups all of which are of changes after `seq`. Returns them by their changes.
    fn take_out(&mut self, groups: &[u64], seq: u64) -> Vec<u64> {
        if groups.is_empty() {
            return Vec::new();
        }
        let alive = self.slots.iter().filter(|slot| slot.alive);
        let mut members: Vec<Slot> = alive
            .filter(|slot| groups.contains(&slot.group))
            .copied()
            .collect();
        let early: HashSet<u64> = members
            .iter()
            .filter(|slot| slot.seq < seq)
            .map(|slot| slot.group)
            .collect();
        members.retain(|slot| !early.contains(&slot.group));
        members.sort_unstable_by_key(|slot| slot.seq);
        for slot in &members {
            self.forget(slot.fingerprint);
        }
        members.into_iter().map(|slot| slot.fingerprint).collect()
    }

    /// Reads the text of a document as it is now: which of its changes the index has would be a question for each. What
    /// cannot be read is not compared.
    fn read(&self, fingerprint: u64) -> Option<Text> {
        let stored = self.documents.get(fingerprint, u64::MAX).ok()??;
        Some(Text::new(&stored.document, &stored.body()))
    }

    /// Remembers a text whose group is known, of a document whose last change is `seq`.
    pub(crate) fn remember(&mut self, fingerprint: u64, seq: u64, group: u64, sketch: Sketch) {
        self.forget(fingerprint);
        if self.latest.is_empty() {
            self.latest = vec![NOTHING; BINS << 16];
        }
        self.ages += 1;
        let slot = Slot {
            fingerprint,
            group,
            seq,
            age: self.ages,
            alive: true,
            sketch,
        };
        let at = (self.ages as usize - 1) % REMEMBERED;
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
        if group == own_group(fingerprint, &sketch) {
            self.first.insert(group, fingerprint);
        }
    }

    /// Forgets a text: it was deleted or comes again.
    pub(crate) fn forget(&mut self, fingerprint: u64) {
        self.kept.forget(fingerprint);
        if let Some(at) = self.by_fingerprint.remove(&fingerprint)
            && let Some(slot) = self.slots.get_mut(at as usize)
            && slot.fingerprint == fingerprint
        {
            slot.alive = false;
            if self.first.get(&slot.group) == Some(&fingerprint) {
                self.first.remove(&slot.group);
            }
        }
    }

    /// Remembered texts that share the most bins, of changes before `seq` and after it.
    fn candidates(&self, sketch: &Sketch, seq: u64) -> [Vec<Candidate>; 2] {
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
        let mut best: Vec<Candidate> = places
            .into_iter()
            .filter_map(|place| self.slots.get(place as usize))
            .map(|slot| Candidate {
                shared: slot.sketch.shared(sketch),
                slot: *slot,
            })
            .filter(|candidate| candidate.shared >= LEAST_SHARED)
            .collect();
        best.sort_unstable_by_key(|candidate| (BINS - candidate.shared, candidate.slot.seq));
        let (mut earlier, mut later): (Vec<_>, Vec<_>) = best
            .into_iter()
            .partition(|candidate| candidate.slot.seq < seq);
        earlier.truncate(COMPARED);
        later.truncate(COMPARED);
        [earlier, later]
    }
}

/// The group that begins with a text.
fn own_group(fingerprint: u64, sketch: &Sketch) -> u64 {
    let mix = |all: u64, four: u64| all.rotate_left(7) ^ four;
    sketch.packed().fold(fingerprint, mix)
}

/// The latest texts, a bounded number of letters.
#[derive(Default)]
struct Kept {
    texts: HashMap<u64, (u64, Text)>,
    /// In the order they came. What came again has a later turn.
    order: VecDeque<(u64, u64)>,
    turns: u64,
    letters: usize,
}

impl Kept {
    fn get(&self, fingerprint: u64) -> Option<&Text> {
        let (_, text) = self.texts.get(&fingerprint)?;
        Some(text)
    }

    fn keep(&mut self, fingerprint: u64, mut text: Text) {
        text.letters.shrink_to_fit();
        self.forget(fingerprint);
        self.turns += 1;
        self.letters += text.letters.len();
        self.order.push_back((self.turns, fingerprint));
        self.texts.insert(fingerprint, (self.turns, text));
        while self.letters > KEPT_LETTERS
            && let Some((turn, oldest)) = self.order.pop_front()
        {
            if self.texts.get(&oldest).is_some_and(|(at, _)| *at == turn) {
                self.forget(oldest);
            }
        }
    }

    fn forget(&mut self, fingerprint: u64) {
        if let Some((_, text)) = self.texts.remove(&fingerprint) {
            self.letters -= text.letters.len();
        }
    }
}

/// Bins of a sketch: edits of a fifth of all letters leave some six equal, two texts of one field share one.
pub(crate) const BINS: usize = 32;
/// Letters of a run: long enough that two texts rarely share one by chance, short enough that it outlives edits.
const RUN: usize = 5;
/// Least letters of a text that has a sketch: shorter ones are alike by chance.
pub(crate) const LEAST_LETTERS: usize = 60;
/// Letters of a text that are looked at.
const MOST_LETTERS: usize = 20_000;
/// A bin that nothing fell into.
const EMPTY: u16 = u16::MAX;
/// Base of the polynomial that a run is: any odd number whose powers look random.
const BASE: u64 = 0x9E37_79B9_7F4A_7C15;
/// What the first letter of a run was multiplied with before it leaves.
const FIRST: u64 = BASE.wrapping_pow(RUN as u32 - 1);

/// What is kept of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sketch([u16; BINS]);

impl Sketch {
    /// The sketch of a text's letters (see [`letters`]); none for a short text.
    pub(crate) fn new(letters: &[u16]) -> Option<Self> {
        if letters.len() < LEAST_LETTERS {
            return None;
        }
        let mut least = [u64::MAX; BINS];
        for run in runs(letters) {
            let bin = (((run >> 32) * BINS as u64) >> 32) as usize;
            if let Some(least) = least.get_mut(bin) {
                *least = (*least).min(run);
            }
        }
        let value = |hash: u64| match hash {
            u64::MAX => EMPTY,
            // Low bits: the high ones of a least are all alike.
            hash => (hash as u16).min(EMPTY - 1),
        };
        Some(Self(least.map(value)))
    }

    /// Bins that two sketches share.
    pub(crate) fn shared(&self, other: &Self) -> usize {
        let pairs = self.0.iter().zip(&other.0);
        pairs.filter(|(a, b)| a == b && **a != EMPTY).count()
    }

    /// The bins that have a value, in order.
    pub(crate) fn bins(&self) -> impl Iterator<Item = (usize, u16)> {
        let bins = self.0.into_iter().enumerate();
        bins.filter(|(_, value)| *value != EMPTY)
    }

    /// Four bins a number, for the index.
    pub(crate) fn packed(&self) -> impl Iterator<Item = u64> {
        self.0.chunks(4).map(|four| {
            let fold = |all: u64, bin: &u16| all << 16 | u64::from(*bin);
            four.iter().fold(0, fold)
        })
    }

    /// A sketch from its packed form; none if it is not one.
    pub(crate) fn unpacked(packed: impl Iterator<Item = u64>) -> Option<Self> {
        let mut bins = Vec::with_capacity(BINS);
        for four in packed {
            bins.extend([48, 32, 16, 0].map(|shift| (four >> shift) as u16));
        }
        bins.try_into().ok().map(Self)
    }
}

/// Letters and digits of a text in normal form, without what stands between them, each as sixteen bits: characters
/// of the rare planes may look like others, which changes no decision about a whole text.
pub(crate) fn letters(normal: &str) -> Vec<u16> {
    let mut letters = Vec::with_capacity(normal.len() / 3);
    let mut rest = normal;
    while letters.len() < MOST_LETTERS {
        // Most of a Chinese text.
        let run = ideographs_at_start(rest);
        let taken = run.chars().take(MOST_LETTERS - letters.len());
        letters.extend(taken.map(|c| u32::from(c) as u16));
        let mut chars = rest.get(run.len()..).unwrap_or_default().chars();
        let Some(c) = chars.next().filter(|_| letters.len() < MOST_LETTERS) else {
            break;
        };
        rest = chars.as_str();
        if is_letter(c) {
            let code = u32::from(c);
            letters.push((code ^ (code >> 16)) as u16);
        }
    }
    letters
}

fn is_letter(c: char) -> bool {
    match c {
        '\u{4E00}'..='\u{9FFF}' => true,
        c if c.is_ascii() => c.is_ascii_alphanumeric(),
        c => c.is_alphanumeric(),
    }
}

/// Hashes of all runs of letters, in order.
pub(crate) fn runs(letters: &[u16]) -> impl Iterator<Item = u64> {
    let (head, tail) = letters.split_at(letters.len().min(RUN - 1));
    let push = |run: u64, letter: &u16| run.wrapping_mul(BASE).wrapping_add(u64::from(*letter) + 1);
    let mut run = head.iter().fold(0, push);
    letters.iter().zip(tail).map(move |(first, last)| {
        let whole = push(run, last);
        run = whole.wrapping_sub((u64::from(*first) + 1).wrapping_mul(FIRST));
        mixed(whole)
    })
}

/// Spreads a number over all bits (the end of MurmurHash3, Appleby).
fn mixed(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    hash ^ (hash >> 33)
}
