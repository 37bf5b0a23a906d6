//! What a query asks of an engine: a tree of conditions with weights. Made by [`super::clauses`]; an engine carries it out,
//! the embedded one ([`crate::index::storage::compile`]) and OpenSearch ([`crate::index::remote`]) alike. Knows neither of them.

use crate::analyze::{GramPhrase, gram_phrase, gram_term, normalize, normalize_document};
use crate::index::schema::Column;

/// Most grams of one text: what follows says little and costs time.
pub(crate) const MAX_TERMS: usize = 256;

/// A text as grams.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Chain {
    /// As they stand in the index, each with its place in the text.
    pub(crate) grams: Vec<(u32, String)>,
    /// Length of the text in characters without blanks.
    pub(crate) chars: u32,
}

impl Chain {
    /// Returns `None` if the text is no chain of grams.
    pub(crate) fn new(text: &str) -> Option<Self> {
        let normal = normalize_document(text);
        let text = normal.trim();
        let GramPhrase::Chain(chain) = gram_phrase(text) else {
            return None;
        };
        let number = |place: usize| u32::try_from(place).unwrap_or(u32::MAX);
        let grams = chain.iter();
        let grams = grams.map(|(place, gram)| (number(*place), gram_term(gram).into_owned()));
        Some(Self {
            grams: grams.collect(),
            chars: number(text.chars().filter(|c| *c != ' ').count()),
        })
    }
}

/// Conditions on documents, and what each adds to the score.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Plan {
    /// Every document.
    All,
    /// None.
    Nothing,
    /// Those with a term, scored by BM25.
    Term(Column, String),
    /// Those with terms at these distances, scored by BM25.
    Phrase(Column, Vec<(usize, String)>),
    /// Those with a term that begins so.
    Begins(Column, String),
    /// Those with a pair that ends with this character and does not begin with it.
    Ends(Column, String),
    /// Those with a term from the first text on and before the second.
    Between(Column, String, String),
    /// Those with two texts with so many characters between them at most.
    Near(Column, [Chain; 2], u32),
    /// Those of one group of reprints.
    Group(u64),
    /// Those of this time in Unix milliseconds, or with this number, from the first on and before the second.
    Within(Column, Option<i64>, Option<i64>),
    /// Those that one of the plans fits; their scores are added up.
    Any(Vec<Plan>),
    /// Those that one of the plans fits; the best score counts.
    Best(Vec<Plan>),
    /// Those that all of the plans fit, and none of the others.
    Each { must: Vec<Plan>, without: Vec<Plan> },
    /// Those in which the weights of the plans that fit add up to so much at least. Scores nothing.
    MinimumShouldMatch(Vec<(Plan, f32)>, f32),
    /// The documents of one plan, scored by others.
    Scored { fitting: Box<Plan>, by: Vec<Plan> },
    /// The same documents, all with this score.
    Constant(Box<Plan>, f32),
    /// The same with the score multiplied.
    Boosted(Box<Plan>, f32),
}

impl Plan {
    /// With this weight.
    pub(crate) fn boosted(self, boost: f32) -> Plan {
        if (boost - 1.0).abs() < f32::EPSILON {
            self
        } else {
            Plan::Boosted(Box::new(self), boost)
        }
    }

    /// With this score, whatever it was.
    pub(crate) fn constant(self, score: f32) -> Plan {
        Plan::Constant(Box::new(self), score)
    }

    /// Without a score.
    pub(crate) fn unscored(self) -> Plan {
        self.constant(0.0)
    }

    /// One of several; none of none.
    pub(crate) fn one_of(mut any: Vec<Plan>) -> Option<Plan> {
        match any.len() {
            0 => None,
            1 => any.pop(),
            _ => Some(Plan::Any(any)),
        }
    }

    /// A gram, or a single character of the field of these.
    pub(crate) fn term(column: Column, text: &str) -> Plan {
        Plan::Term(column, gram_term(text).into_owned())
    }

    /// The very characters of a text in one field, whatever blanks stand between ideographs; none where it has nothing to
    /// look for.
    pub(crate) fn literal(column: Column, text: &str) -> Option<Plan> {
        let single = |single: &str| Plan::one_character(column, single);
        let literal = |normal: &str| Plan::grams(column, normal, single, str::to_owned);
        let (joined, apart) = (normalize_document(text), normalize(text));
        if joined == apart {
            return literal(&apart);
        }
        // Lines of a document are not joined.
        let both = [literal(&joined), literal(&apart)];
        Plan::one_of(both.into_iter().flatten().collect()).map(|plan| match plan {
            Plan::Any(any) => Plan::Best(any),
            one => one,
        })
    }

    /// The same of a text in normal form, with a plan of one character and the terms of grams in this field.
    pub(crate) fn grams(
        column: Column,
        normal: &str,
        single: impl Fn(&str) -> Plan,
        term: impl Fn(&str) -> String,
    ) -> Option<Plan> {
        let chain = match gram_phrase(normal) {
            GramPhrase::Nothing => return None,
            GramPhrase::Single(text) => return Some(single(text)),
            GramPhrase::Chain(chain) => chain,
        };
        let grams = chain.iter().take(MAX_TERMS);
        let mut grams: Vec<_> = grams
            .map(|(at, gram)| (*at, term(&gram_term(gram))))
            .collect();
        match grams.len() {
            1 => grams.pop().map(|(_, only)| Plan::Term(column, only)),
            _ => Some(Plan::Phrase(column, grams)),
        }
    }

    /// Every gram that begins or ends with a character.
    pub(crate) fn one_character(column: Column, text: &str) -> Plan {
        Plan::Any(vec![
            Plan::Begins(column, text.to_owned()),
            Plan::Ends(column, text.to_owned()),
        ])
    }
}
