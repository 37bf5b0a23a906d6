//! Counts every run of words that fits a pattern and occurs often enough. The first of two passes counts into a fixed
//! table of small counters, so that the second need only remember what can be frequent; most runs of words occur once
//! and would fill the memory.
//!
//! For each candidate it also measures the entropy of its neighbours before and behind: what can be followed by
//! anything is a unit, what is always followed by the same is a part.
//!
//! `H = −Σ p(x) log2 p(x)` over the neighbouring characters `x`; the end of a sentence, and each mark or number, is a
//! neighbour of its own kind.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use super::corpus::{Corpus, Token, Word};
use super::hash::{AsIs, ByHash, Hash};
use super::patterns::{MAX_CHARS, MAX_WORDS, MIN_CHARS, Pattern, RatedPattern};

/// Places remembered of each candidate.
pub(super) const SAMPLES: usize = 6;
/// Sizes of the table of small counters.
const SKETCH: (usize, usize) = (1 << 16, 1 << 26);
/// Counters for each token.
const SKETCH_SHARE: usize = 4;
/// Sentences between two questions to the caller.
const ASK_EVERY: usize = 1_024;

/// What is counted of a run of words.
#[derive(Debug, Clone, Default)]
pub(super) struct Count {
    pub(super) occurrences: u32,
    pub(super) documents: u32,
    /// Documents that have it more than once.
    pub(super) repeating: u32,
    /// Most occurrences in one document.
    pub(super) most: u32,
    /// Sides, of two for each occurrence, with a word or mark that stands in no term.
    pub(super) free_sides: u32,
    /// Documents in which it stands at an edge.
    pub(super) edges: u32,
    /// Occurrences in which what stands beside it says that it is no term.
    pub(super) beside: Beside,
    /// Where it first stands, and in how many words.
    pub(super) first: u32,
    pub(super) words: u8,
    /// The pattern that most of its occurrences fit.
    pub(super) pattern: RatedPattern,
    votes: u32,
    last_text: Option<u32>,
    in_text: u32,
    edge_in_text: bool,
    pub(super) samples: Vec<u32>,
}

/// Occurrences by what stands beside them.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Beside {
    /// A word that makes it the source of the text.
    pub(super) sources: u32,
    /// A word that makes it the name of a person.
    pub(super) persons: u32,
    /// It is a clause of its own: from the begin of a sentence, or a comma, to a comma.
    pub(super) clauses: u32,
    /// It names what follows: a colon or an opening quote.
    pub(super) labels: u32,
    /// A number stands right before it: it begins with a measure word.
    pub(super) numbers: u32,
}

impl Beside {
    /// What the words before and behind an occurrence say; none where the sentence begins or ends.
    fn between(left: Option<&Word>, right: Option<&Word>) -> Self {
        let either = |before: fn(&Word) -> bool, behind: fn(&Word) -> bool| {
            u32::from(left.is_some_and(before) || right.is_some_and(behind))
        };
        let is_clause = left.is_none_or(is_comma) && right.is_some_and(is_comma);
        Self {
            sources: either(|w| w.source.1, |w| w.source.0),
            persons: either(
                |w| w.person.0 || joins_names(w),
                |w| w.person.1 || joins_names(w),
            ),
            clauses: u32::from(is_clause),
            labels: u32::from(right.is_some_and(names_next)),
            numbers: u32::from(left.is_some_and(|w| w.is_number)),
        }
    }

    fn add(&mut self, other: Self) {
        self.sources += other.sources;
        self.persons += other.persons;
        self.clauses += other.clauses;
        self.labels += other.labels;
        self.numbers += other.numbers;
    }
}

impl Count {
    fn occur(&mut self, text: u32, run: &Run) {
        self.occurrences += 1;
        self.free_sides += u32::from(run.free.0) + u32::from(run.free.1);
        self.beside.add(run.beside);
        // Majority vote of Boyer and Moore: one counter finds what more than half of them fit.
        if self.votes == 0 {
            (self.pattern, self.words, self.first) = (run.pattern, run.words, run.token);
        }
        if self.pattern.pattern == run.pattern.pattern {
            self.votes += 1
        } else {
            self.votes -= 1
        }
        if self.last_text == Some(text) {
            self.in_text += 1;
            self.repeating += u32::from(self.in_text == 2);
            self.edges += u32::from(run.edge && !self.edge_in_text);
            self.edge_in_text |= run.edge;
        } else {
            (self.last_text, self.in_text) = (Some(text), 1);
            self.documents += 1;
            self.edges += u32::from(run.edge);
            self.edge_in_text = run.edge;
            if self.samples.len() < SAMPLES {
                self.samples.push(run.token);
            }
        }
        self.most = self.most.max(self.in_text);
    }
}

/// An occurrence.
struct Run {
    hash: u64,
    token: u32,
    words: u8,
    pattern: RatedPattern,
    /// Whether what stands before and behind it stands in no term.
    free: (bool, bool),
    /// Of this occurrence: each 0 or 1.
    beside: Beside,
    edge: bool,
}

/// A place of a candidate.
#[derive(Debug, Clone, Copy)]
struct Occurrence {
    candidate: u32,
    token: u32,
    words: u8,
}

/// The runs that are frequent enough, by where they first stand, and their places. What is measured of the places after
/// they were counted need not look for them again.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    pub(super) counts: Vec<Count>,
    /// The index of a candidate by the hash of its letters.
    by_hash: ByHash<u32>,
    /// In the order of the tokens.
    occurrences: Vec<Occurrence>,
}

impl Candidates {
    /// How often a run of this hash occurs; `None` if that is rare.
    pub(super) fn occurrences_of(&self, hash: Hash) -> Option<u32> {
        let count = self.counts.get(*self.by_hash.get(&hash.value)? as usize)?;
        Some(count.occurrences)
    }

    /// Calls `each(candidate, before, after)` for each place, with the rest of its sentence; false if `go_on` said no.
    pub(super) fn for_each_place<'c>(
        &self,
        corpus: &'c Corpus,
        go_on: &mut dyn FnMut() -> bool,
        mut each: impl FnMut(u32, &'c [Token], &'c [Token]),
    ) -> bool {
        let mut places = self.occurrences.iter().peekable();
        for (number, (_, start, tokens)) in corpus.runs().enumerate() {
            if number.is_multiple_of(ASK_EVERY) && !go_on() {
                return false;
            }
            let end = start + tokens.len();
            while let Some(place) = places.next_if(|place| (place.token as usize) < end) {
                let at = (place.token as usize).saturating_sub(start);
                let behind = at + usize::from(place.words);
                let before = tokens.get(..at).unwrap_or_default();
                each(
                    place.candidate,
                    before,
                    tokens.get(behind..).unwrap_or_default(),
                );
            }
        }
        true
    }

    /// Keeps what occurs `min_count` times or more, and puts it into an order that does not depend on that of a hash map.
    fn sort(&mut self, min_count: u32) {
        let all = std::mem::take(&mut self.counts);
        let mut order: Vec<u32> = (0u32..).zip(&all).map(|(index, _)| index).collect();
        order.retain(|&index| {
            all.get(index as usize)
                .is_some_and(|c| c.occurrences >= min_count)
        });
        order.sort_unstable_by_key(|&index| all.get(index as usize).map(|c| (c.first, c.words)));
        let mut moved: Vec<Option<u32>> = vec![None; all.len()];
        for (to, from) in (0u32..).zip(&order) {
            if let Some(moved) = moved.get_mut(*from as usize) {
                *moved = Some(to);
            }
        }
        let new = |old: u32| moved.get(old as usize).copied().flatten();
        self.by_hash
            .retain(|_, index| new(*index).map(|to| *index = to).is_some());
        self.occurrences.retain_mut(|place| {
            new(place.candidate)
                .map(|to| place.candidate = to)
                .is_some()
        });
        let mut all: Vec<Option<Count>> = all.into_iter().map(Some).collect();
        let kept = order
            .iter()
            .filter_map(|&index| all.get_mut(index as usize)?.take());
        self.counts = kept.collect();
    }
}

/// Calls `each(text, run)` for all runs of words that fit a pattern; false if `go_on` said no.
fn for_each_run(
    corpus: &Corpus,
    go_on: &mut dyn FnMut() -> bool,
    mut each: impl FnMut(u32, &Run),
) -> bool {
    for (number, (text, start, tokens)) in corpus.runs().enumerate() {
        if number.is_multiple_of(ASK_EVERY) && !go_on() {
            return false;
        }
        for (at, first) in tokens.iter().enumerate() {
            let before = tokens.get(..at).unwrap_or_default();
            let (mut hash, mut chars, mut pattern) = (Hash::EMPTY, 0, Pattern::default());
            for (words, token) in (1u8..).zip(tokens.get(at..).unwrap_or_default()) {
                let word = corpus.word(*token);
                chars += word.chars;
                if word.class == 0 || chars > MAX_CHARS || usize::from(words) > MAX_WORDS {
                    break;
                }
                hash = hash.join(word.hash);
                pattern = pattern.with(word.class);
                if chars < MIN_CHARS || !corpus.patterns().fit_length(chars, usize::from(words)) {
                    continue;
                }
                let Some(weight) = corpus.patterns().weight(pattern) else {
                    continue;
                };
                if corpus.word(*first).piece.0 || word.piece.1 {
                    continue;
                }
                let after = tokens.get(at + usize::from(words)..).unwrap_or_default();
                let is_free =
                    |token: Option<&Token>| token.is_none_or(|t| corpus.word(*t).class == 0);
                let beside = |token: Option<&'_ Token>| token.map(|token| corpus.word(*token));
                let (left, right) = (before.last(), after.first());
                each(
                    text,
                    &Run {
                        hash: hash.value,
                        token: u32::try_from(start + at).unwrap_or(u32::MAX),
                        words,
                        pattern: RatedPattern { pattern, weight },
                        free: (is_free(left), is_free(right)),
                        beside: Beside::between(beside(left), beside(right)),
                        edge: first.edge,
                    },
                );
            }
        }
    }
    true
}

fn names_next(word: &Word) -> bool {
    matches!(&*word.text, ":" | "\"" | "“" | "「" | "『")
}

/// The mark between the parts of a foreign name.
fn joins_names(word: &Word) -> bool {
    matches!(&*word.text, "·" | "・" | "•" | "‧")
}

fn is_comma(word: &Word) -> bool {
    &*word.text == ","
}

/// All runs that occur `min_count` times or more; none if `go_on` said no.
pub(super) fn count(
    corpus: &Corpus,
    min_count: u32,
    go_on: &mut dyn FnMut() -> bool,
) -> Option<Candidates> {
    let wanted = corpus.size().saturating_mul(SKETCH_SHARE);
    let size = wanted.next_power_of_two().clamp(SKETCH.0, SKETCH.1);
    let mut sketch = vec![0u8; size];
    let slot = |hash: u64| usize::try_from(hash).unwrap_or_default() & (size - 1);
    let done = for_each_run(corpus, go_on, |_, run| {
        if let Some(counter) = sketch.get_mut(slot(run.hash)) {
            *counter = counter.saturating_add(1);
        }
    });
    let enough = u8::try_from(min_count).unwrap_or(u8::MAX);
    let mut found = Candidates::default();
    let done = done
        && for_each_run(corpus, go_on, |text, run| {
            if sketch
                .get(slot(run.hash))
                .is_none_or(|counter| *counter < enough)
            {
                return;
            }
            // There are fewer candidates than tokens times words, which are few enough for 32 bits in memory.
            let next = u32::try_from(found.counts.len()).unwrap_or(u32::MAX);
            let candidate = *found.by_hash.entry(run.hash).or_insert(next);
            if candidate == next {
                found.counts.push(Count::default());
            }
            if let Some(count) = found.counts.get_mut(candidate as usize) {
                count.occur(text, run);
            }
            found.occurrences.push(Occurrence {
                candidate,
                token: run.token,
                words: run.words,
            });
        });
    found.sort(min_count);
    done.then_some(found)
}

/// Occurrences of a candidate that are looked at: as many show the entropy up to the 5 bits that matter.
const MAX_SEEN: u32 = 512;

/// Entropy in bits before and behind a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Freedom {
    pub(super) left: f64,
    pub(super) right: f64,
}

/// The entropies of candidates; none if `go_on` said no.
pub(super) fn freedom(
    corpus: &Corpus,
    candidates: &Candidates,
    go_on: &mut dyn FnMut() -> bool,
) -> Option<Vec<Freedom>> {
    let size = candidates.counts.len();
    let mut seen = vec![0u32; size];
    let mut alone = vec![(0u32, 0u32); size];
    let mut beside: HashMap<u64, u32, BuildHasherDefault<AsIs>> = HashMap::default();
    let done = candidates.for_each_place(corpus, go_on, |index, before, after| {
        let (Some(seen), Some(alone)) =
            (seen.get_mut(index as usize), alone.get_mut(index as usize))
        else {
            return;
        };
        if *seen == MAX_SEEN {
            return;
        }
        *seen += 1;
        let before = neighbour(corpus, before.last(), |text| text.chars().next_back());
        let after = neighbour(corpus, after.first(), |text| text.chars().next());
        match before {
            Some(c) => *beside.entry(key(index, 0, c)).or_default() += 1,
            None => alone.0 += 1,
        }
        match after {
            Some(c) => *beside.entry(key(index, 1, c)).or_default() += 1,
            None => alone.1 += 1,
        }
    });
    if !done {
        return None;
    }
    let mut sums = vec![(0.0, 0.0); size];
    // Sums of floating point numbers depend on their order: sort.
    let mut beside: Vec<(u64, u32)> = beside.into_iter().collect();
    beside.sort_unstable();
    for (key, count) in beside {
        let (index, right) = (key >> 22, key & (1 << 21) != 0);
        let index = usize::try_from(index).unwrap_or_default();
        let (Some(sum), Some(&seen)) = (sums.get_mut(index), seen.get(index)) else {
            continue;
        };
        let share = f64::from(count) / f64::from(seen);
        let bits = -share * share.log2();
        if right {
            sum.1 += bits;
        } else {
            sum.0 += bits;
        }
    }
    let ends = seen.iter().zip(&alone).zip(&sums);
    let whole = |sum: f64, alone: u32, seen: u32| match seen {
        0 => 0.0,
        seen => sum + f64::from(alone) / f64::from(seen) * f64::from(seen).log2(),
    };
    let freedom = ends.map(|((&seen, alone), sum)| Freedom {
        left: whole(sum.0, alone.0, seen),
        right: whole(sum.1, alone.1, seen),
    });
    Some(freedom.collect())
}

/// The character of a neighbour that touches the candidate; none at the end of a sentence and for marks.
fn neighbour(
    corpus: &Corpus,
    token: Option<&Token>,
    touching: impl Fn(&str) -> Option<char>,
) -> Option<char> {
    let c = touching(&corpus.word(*token?).text)?;
    c.is_alphabetic().then_some(c)
}

/// A candidate, a side and a character in one number.
fn key(index: u32, side: u64, c: char) -> u64 {
    (u64::from(index) << 22) | (side << 21) | u64::from(c)
}
