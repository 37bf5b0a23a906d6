//! Candidates: every run of words that may be a term, with what was measured of it. Never judges by one measure alone.
//!
//! Termhood is how likely a candidate is a term, 0 to 1.
//!
//! A logistic model of the measures: `1 / (1 + exp(−s))` with `s` a sum of weights. The weights were fitted to the
//! author keywords of 2,000 Chinese abstracts of all fields (CSL) and rounded; three are set by hand where keywords of
//! papers differ from terms of a field: names of places, transcribed names, and words no more frequent than in general
//! text count less. What is a name of a person, a source or a clause is left out first.
//! The measures saturate, so that a large collection is ranked like a small one.

use super::Config;
use super::context::nc_values;
use super::corpus::{Corpus, Word};
use super::corpus::{is_address, is_boilerplate};
use super::count::{Candidates, Count, count};
use super::count::{Freedom, freedom};
use super::hash::Hash;
use super::names::{Signs, is_name_with_title, is_person, is_transcribed};
use super::nesting::{Nested, c_values};
use super::patterns::RatedPattern;
use crate::analyze::Dictionary;

/// A candidate that stands at the edges of so many of its documents is a source line or a footer.
const EDGE_SHARE: f64 = 0.6;
/// In fewer documents the edge is chance.
const EDGE_DOCUMENTS: u32 = 5;
/// A candidate that is named as the source in so many of its occurrences is one.
const SOURCE_SHARE: f64 = 0.25;

/// A candidate that is a clause of its own in so many of its occurrences is a phrase that joins sentences.
const CLAUSE_SHARE: f64 = 0.25;

/// A candidate that names what follows in so many of its occurrences is a label (`以下简称“…”`, `联系人:`).
const LABEL_SHARE: f64 = 0.6;

/// A candidate that stands right behind a number in so many of its occurrences begins with a measure word (`名学生`).
const NUMBER_SHARE: f64 = 0.5;

/// What was measured of a candidate.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// In normal form.
    pub normal: String,
    /// How likely it is a term, 0 to 1.
    pub termhood: f64,
    /// Occurrences, repeated sentences counted once.
    pub occurrences: u32,
    /// Texts that have it.
    pub documents: u32,
    /// Texts that have it more than once.
    pub repeating: u32,
    /// Most occurrences in one text.
    pub most: u32,
    /// C-value, NC-value and nesting.
    pub nested: Nested,
    /// The smaller of the entropies of what stands before and behind it, in bits.
    pub freedom: f64,
    /// Share of its sides that touch a function word, a mark or the end of a sentence.
    pub free_sides: f64,
    /// Smallest pointwise mutual information over the places where it can be cut in two, in bits; none for one word.
    pub cohesion: Option<f64>,
    /// Mean of `log2(frequency here / frequency in general text)` over its words.
    pub contrast: f64,
    /// How often its first word and its last stand in general text: `log2` of the number in a million words, at least 0.
    pub known: (f64, f64),
    /// Words that it is cut into.
    pub words: u8,
    /// Characters.
    pub chars: u32,
    /// Part-of-speech pattern.
    pub pattern: RatedPattern,
    /// Whether the general dictionary has it: such a word is cut whole without a lexicon.
    pub in_dictionary: bool,
    /// Where it stands: positions in the corpus.
    pub(super) samples: Vec<u32>,
    /// A transcribed name, of whatever.
    pub is_transcribed: bool,
}

/// The best candidates, [`Config::max_terms`] at most, best first; none if `go_on` said no.
pub(super) fn measure(
    corpus: &Corpus,
    dictionary: &Dictionary,
    config: &Config,
    go_on: &mut dyn FnMut() -> bool,
) -> Option<Vec<Candidate>> {
    let candidates = count(corpus, config.min_count, go_on)?;
    let counts = &candidates.counts;
    let texts: Vec<String> = counts.iter().map(|count| text_of(corpus, count)).collect();
    let named = texts.iter().zip(counts);
    let named: Vec<(&str, u32)> = named
        .map(|(text, count)| (text.as_str(), count.occurrences))
        .collect();
    let mut nested = c_values(&named, config.nesting);
    let freedom = freedom(corpus, &candidates, go_on)?;
    let values: Vec<f64> = nested.iter().map(|nested| nested.c_value).collect();
    let values = nc_values(corpus, &candidates, &values, go_on)?;
    for (nested, value) in nested.iter_mut().zip(values) {
        nested.nc_value = value;
    }
    let general = General::new(corpus, dictionary);
    let measured = texts.iter().zip(counts).zip(nested).zip(freedom);
    let mut all: Vec<(Candidate, &Count)> = measured
        .map(|(((text, count), nested), freedom)| {
            let mut candidate = general.candidate(text, count, &candidates, nested, freedom);
            candidate.termhood = termhood(&candidate);
            (candidate, count)
        })
        .collect();
    all.sort_unstable_by(|(a, _), (b, _)| {
        let by_worth = b.termhood.total_cmp(&a.termhood);
        by_worth.then_with(|| a.normal.cmp(&b.normal))
    });
    // Most candidates are far from the best: what is none is only looked for among these.
    let mut best = Vec::new();
    for (candidate, count) in all {
        let text = candidate.normal.as_str();
        let is_none = dictionary.is_term(text)
            || is_boilerplate(text)
            || is_address(text)
            || is_source(count)
            || is_clause(count)
            || is_label(count)
            || is_measured(count)
            || is_person_of(corpus, dictionary, text, count);
        if !is_none {
            best.push(candidate);
        }
        if best.len() >= config.max_terms {
            break;
        }
    }
    Some(best)
}

/// Whether it mostly stands where sources and footers stand, or is called one.
fn is_source(count: &Count) -> bool {
    let share = |part: u32, whole: u32| f64::from(part) / f64::from(whole.max(1));
    let edge =
        count.documents >= EDGE_DOCUMENTS && share(count.edges, count.documents) >= EDGE_SHARE;
    edge || share(count.beside.sources, count.occurrences) >= SOURCE_SHARE
}

/// Whether it mostly is a clause of its own, as what leads from one sentence to the next is (`迄今为止`).
fn is_clause(count: &Count) -> bool {
    let share = f64::from(count.beside.clauses) / f64::from(count.occurrences.max(1));
    count.beside.clauses > 1 && share >= CLAUSE_SHARE
}

/// Whether it mostly names what follows.
fn is_label(count: &Count) -> bool {
    let share = f64::from(count.beside.labels) / f64::from(count.occurrences.max(1));
    count.beside.labels > 1 && share >= LABEL_SHARE
}

/// Whether it mostly goes on behind a number.
fn is_measured(count: &Count) -> bool {
    let share = f64::from(count.beside.numbers) / f64::from(count.occurrences.max(1));
    count.beside.numbers > 1 && share >= NUMBER_SHARE
}

fn is_person_of(corpus: &Corpus, dictionary: &Dictionary, text: &str, count: &Count) -> bool {
    let words: Vec<&Word> = words_of(corpus, count).collect();
    let signs = |words: &[&Word]| Signs {
        beside: f64::from(count.beside.persons) / f64::from(count.occurrences.max(1)),
        is_name: words.iter().all(|word| word.is_name()),
        dictionary,
    };
    let is_name = |words: &[&Word]| {
        let text: String = words.iter().map(|word| &*word.text).collect();
        is_name_with_title(&text, &signs(words))
    };
    let mut cuts = (1..words.len()).filter_map(|cut| words.split_at_checked(cut));
    is_person(text, &signs(&words))
        || cuts.any(|(before, after)| {
            let has_title_before = before.last().is_some_and(|word| word.person.0);
            let has_title_behind = matches!(after, [title] if title.person.0);
            (has_title_before && is_name(after)) || (has_title_behind && is_name(before))
        })
}

fn words_of<'c>(corpus: &'c Corpus, count: &Count) -> impl Iterator<Item = &'c Word> {
    let tokens = corpus.tokens(count.first, count.words).iter();
    tokens.map(|token| corpus.word(*token))
}

fn text_of(corpus: &Corpus, count: &Count) -> String {
    words_of(corpus, count).map(|word| &*word.text).collect()
}

/// The corpus against general text.
struct General<'a> {
    corpus: &'a Corpus,
    dictionary: &'a Dictionary,
    /// Contrast of each word of the corpus.
    contrast: Vec<f64>,
}

impl<'a> General<'a> {
    fn new(corpus: &'a Corpus, dictionary: &'a Dictionary) -> Self {
        let million = corpus.size().max(1) as f64 / 1e6;
        let contrast = corpus.words().iter().map(|word| {
            let general = dictionary
                .per_million(&word.text)
                .unwrap_or(RARE_PER_MILLION);
            (f64::from(word.count) / million / general.max(RARE_PER_MILLION)).log2()
        });
        Self {
            contrast: contrast.collect(),
            corpus,
            dictionary,
        }
    }

    fn candidate(
        &self,
        text: &str,
        count: &Count,
        candidates: &Candidates,
        nested: Nested,
        freedom: Freedom,
    ) -> Candidate {
        let occurrences = f64::from(count.occurrences);
        Candidate {
            normal: text.to_owned(),
            termhood: 0.0,
            occurrences: count.occurrences,
            documents: count.documents,
            repeating: count.repeating,
            most: count.most,
            nested,
            freedom: freedom.left.min(freedom.right),
            free_sides: f64::from(count.free_sides) / 2.0 / occurrences,
            cohesion: self.cohesion(count, candidates),
            contrast: self.contrast(count),
            known: self.known(count),
            words: count.words,
            chars: u32::try_from(text.chars().count()).unwrap_or(u32::MAX),
            pattern: count.pattern,
            in_dictionary: self.dictionary.per_million(text).is_some(),
            samples: count.samples.clone(),
            is_transcribed: is_transcribed(text),
        }
    }

    fn known(&self, count: &Count) -> (f64, f64) {
        let known = |word: &Word| {
            let general = self.dictionary.per_million(&word.text);
            general.unwrap_or_default().max(1.0).log2()
        };
        let words: Vec<f64> = words_of(self.corpus, count).map(known).collect();
        let end = |word: Option<&f64>| word.copied().unwrap_or_default();
        (end(words.first()), end(words.last()))
    }

    fn contrast(&self, count: &Count) -> f64 {
        let tokens = self.corpus.tokens(count.first, count.words).iter();
        let sum: f64 = tokens
            .filter_map(|token| self.contrast.get(token.word as usize))
            .sum();
        sum / f64::from(count.words.max(1))
    }

    /// `min over a = xy of log2(p(a) / (p(x) p(y)))`: how much more often the parts meet than by chance.
    fn cohesion(&self, count: &Count, candidates: &Candidates) -> Option<f64> {
        let words: Vec<&Word> = words_of(self.corpus, count).collect();
        let tokens = self.corpus.size() as f64;
        let occurrences = f64::from(count.occurrences);
        let part = |words: &[&Word]| {
            let hash = words
                .iter()
                .fold(Hash::EMPTY, |hash, word| hash.join(word.hash));
            let counted = candidates.occurrences_of(hash);
            let single = match words {
                [word] => Some(word.count),
                _ => None,
            };
            // A part that is no candidate itself occurs at least where the whole does.
            f64::from(single.or(counted).unwrap_or(count.occurrences).max(1))
        };
        let cuts = (1..words.len()).filter_map(|cut| words.split_at_checked(cut));
        cuts.map(|(left, right)| (occurrences * tokens / (part(left) * part(right))).log2())
            .min_by(f64::total_cmp)
    }
}

/// Words that no dictionary has count as this frequent in general text: the rarest that it has.
const RARE_PER_MILLION: f64 = 1.0 / 60.0;

/// What every candidate begins with.
const BASE: f64 = -5.92;
/// For each doubling of the C-value.
const C_VALUE: f64 = 0.11;
/// For each bit of entropy at its less free side, and how that saturates: more than 5 bits say no more.
const FREEDOM: f64 = 0.95;
const FREEDOM_SQUARED: f64 = -0.22;
const MAX_FREEDOM: f64 = 5.0;
/// For each doubling of its occurrences in the text that has most: a text repeats what it is about. It saturates at
/// 16, and counts more for what is free.
const MOST: f64 = 0.36;
const MOST_SQUARED: f64 = -0.12;
const MOST_AND_FREEDOM: f64 = 0.22;
const MAX_MOST: f64 = 4.0;
/// For the share of its texts that repeat it.
const REPEATING: f64 = 0.59;
/// For the share of its sides that touch no content word.
const FREE_SIDES: f64 = 0.75;
/// For each bit of cohesion, and its bounds; a single word has none, and [`ONE_WORD`] instead.
const COHESION: f64 = 0.19;
const COHESION_BOUNDS: (f64, f64) = (-2.0, 12.0);
const ONE_WORD: f64 = 0.56;
/// For a word that the general dictionary has: its bounds are sure.
const IN_DICTIONARY: f64 = 0.55;
/// For each bit by which its words are less frequent than twice their frequency in general text.
const COMMON: f64 = 0.15;
/// For each doubling of the frequency in general text (above one in a million) of its first word and of its last:
/// what begins or ends with a rare word, or with no word at all, is often a piece of something.
const KNOWN_FIRST: f64 = 0.067;
const KNOWN_LAST: f64 = 0.033;
/// For a transcribed name: most are of places and brands.
const TRANSCRIBED: f64 = -1.5;
/// By length in characters: two are a common word more often than not, four are the usual length of a term.
const LENGTHS: [(u32, f64); 5] = [(2, -0.84), (3, -0.01), (4, 0.57), (5, 0.5), (6, 0.24)];
const LONGER: f64 = 0.0;

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
        + KNOWN_FIRST * candidate.known.0
        + KNOWN_LAST * candidate.known.1
        + if candidate.is_transcribed {
            TRANSCRIBED
        } else {
            0.0
        }
        + COMMON * (candidate.contrast - 1.0).min(0.0)
        + length.map_or(LONGER, |(_, weight)| *weight)
        + candidate.pattern.weight;
    1.0 / (1.0 + (-sum).exp())
}
