//! Termhood. In: what was measured of a candidate. Out: how likely it is a term, 0 to 1.
//!
//! A logistic model of the measures: `1 / (1 + exp(−s))` with `s` a sum of weights. The weights were fitted to the
//! author keywords of 2,000 Chinese abstracts of all fields (CSL) and rounded; two are set by hand where keywords of
//! papers differ from terms of a field: names of places, and words no more frequent than in general text, count less.
//! The measures saturate, so that a large collection is ranked like a small one.

use super::candidate::Candidate;

/// What every candidate begins with.
const BASE: f64 = -5.1;
/// For each doubling of the C-value.
const C_VALUE: f64 = 0.16;
/// For each bit of entropy at its less free side, and how that saturates: more than 5 bits say no more.
const FREEDOM: f64 = 0.85;
const FREEDOM_SQUARED: f64 = -0.19;
const MAX_FREEDOM: f64 = 5.0;
/// For each doubling of its occurrences in the text that has most: a text repeats what it is about. It saturates at
/// 16, and counts more for what is free.
const MOST: f64 = 0.39;
const MOST_SQUARED: f64 = -0.14;
const MOST_AND_FREEDOM: f64 = 0.23;
const MAX_MOST: f64 = 4.0;
/// For the share of its texts that repeat it.
const REPEATING: f64 = 0.53;
/// For the share of its sides that touch no content word.
const FREE_SIDES: f64 = 0.8;
/// For each bit of cohesion, and its bounds; a single word has none, and [`ONE_WORD`] instead.
const COHESION: f64 = 0.15;
const COHESION_BOUNDS: (f64, f64) = (-2.0, 12.0);
const ONE_WORD: f64 = 0.56;
/// For a word that the general dictionary has: its bounds are sure.
const IN_DICTIONARY: f64 = 0.55;
/// For each bit by which its words are less frequent than twice their frequency in general text.
const COMMON: f64 = 0.3;
/// By length in characters: two are a common word more often than not, four are the usual length of a term.
const LENGTHS: [(u32, f64); 5] = [(2, -0.78), (3, 0.0), (4, 0.53), (5, 0.44), (6, 0.14)];
const LONGER: f64 = -0.18;

/// How likely a candidate is a term, 0 to 1. Reads everything of it but the termhood.
pub fn termhood(candidate: &Candidate) -> f64 {
    let freedom = candidate.freedom.min(MAX_FREEDOM);
    let most = f64::from(candidate.most.max(1)).log2().min(MAX_MOST);
    let repeating = f64::from(candidate.repeating) / f64::from(candidate.documents.max(1));
    let (least, greatest) = COHESION_BOUNDS;
    let unity = match candidate.cohesion {
        Some(bits) => COHESION * bits.clamp(least, greatest),
        None => ONE_WORD,
    };
    let length = LENGTHS.iter().find(|(chars, _)| *chars == candidate.chars);
    let sum = BASE
        + C_VALUE * (1.0 + candidate.nested.c_value.max(0.0)).log2()
        + FREEDOM * freedom
        + FREEDOM_SQUARED * freedom * freedom
        + MOST * most
        + MOST_SQUARED * most * most
        + MOST_AND_FREEDOM * most * freedom
        + REPEATING * repeating
        + FREE_SIDES * candidate.free_sides
        + unity
        + if candidate.in_dictionary {
            IN_DICTIONARY
        } else {
            0.0
        }
        + COMMON * (candidate.contrast - 1.0).min(0.0)
        + length.map_or(LONGER, |(_, weight)| *weight)
        + candidate.pattern.weight().unwrap_or_default();
    1.0 / (1.0 + (-sum).exp())
}
