//! What a query asks of an engine: a tree of conditions with weights. Made by [`super::clauses`]; an engine carries it out,
//! the embedded one ([`super::compile`]) and OpenSearch ([`super::remote`]) alike. Knows neither of them.

use crate::analyze::{GramPhrase, gram_phrase, gram_term, normalize};

/// Most grams of one text: what follows says little and costs time.
pub(super) const MAX_TERMS: usize = 256;

/// A field that is searched by its terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Place {
    TitleSingles,
    TitleGrams,
    BodySingles,
    BodyGrams,
    CommentsSingles,
    CommentsGrams,
    Author,
    Source,
    Url,
    /// Labels with values.
    Meta,
    /// Name of the site, as it is counted.
    Site,
    /// All names that a site is asked for by.
    Places,
}

/// The two fields of one text.
#[derive(Debug, Clone, Copy)]
pub(super) struct TextPlaces {
    pub(super) singles: Place,
    pub(super) grams: Place,
}

/// The title.
pub(super) const TITLE: TextPlaces = TextPlaces {
    singles: Place::TitleSingles,
    grams: Place::TitleGrams,
};
/// The text.
pub(super) const BODY: TextPlaces = TextPlaces {
    singles: Place::BodySingles,
    grams: Place::BodyGrams,
};
/// The comments.
pub(super) const COMMENTS: TextPlaces = TextPlaces {
    singles: Place::CommentsSingles,
    grams: Place::CommentsGrams,
};

/// A time that documents are filtered by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Time {
    Published,
    Changed,
}

/// Conditions on documents, and what each adds to the score.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Plan {
    /// Every document.
    All,
    /// None.
    Nothing,
    /// Those with a term, scored by BM25.
    Term(Place, String),
    /// Those with terms at these distances, scored by BM25.
    Phrase(Place, Vec<(usize, String)>),
    /// Those with a term that begins so.
    Begins(Place, String),
    /// Those with a pair that ends with this character and does not begin with it.
    Ends(Place, String),
    /// Those with a term from the first text on and before the second.
    Between(Place, String, String),
    /// Those with two texts, in normal form, with so many characters between them at most.
    Near(Place, [String; 2], u32),
    /// Those of one group of reprints.
    Group(u64),
    /// Those of this time, Unix milliseconds, from the first moment on and before the second.
    Within(Time, Option<i64>, Option<i64>),
    /// Those that one of the plans fits; their scores are added up.
    Any(Vec<Plan>),
    /// Those that one of the plans fits; the best score counts.
    Best(Vec<Plan>),
    /// Those that all of the plans fit, and none of the others.
    Each { must: Vec<Plan>, without: Vec<Plan> },
    /// Those in which the weights of the plans that fit add up to so much at least. Scores nothing.
    AtLeast(Vec<(Plan, f32)>, f32),
    /// The documents of one plan, scored by others.
    Scored { fitting: Box<Plan>, by: Vec<Plan> },
    /// The same documents, all with this score.
    Constant(Box<Plan>, f32),
    /// The same with the score multiplied.
    Boosted(Box<Plan>, f32),
}

impl Plan {
    /// With this weight.
    pub(super) fn boosted(self, boost: f32) -> Plan {
        match (boost - 1.0).abs() < f32::EPSILON {
            true => self,
            false => Plan::Boosted(Box::new(self), boost),
        }
    }

    /// With this score, whatever it was.
    pub(super) fn constant(self, score: f32) -> Plan {
        Plan::Constant(Box::new(self), score)
    }

    /// Without a score.
    pub(super) fn unscored(self) -> Plan {
        self.constant(0.0)
    }

    /// One of several; none of none.
    pub(super) fn one_of(mut any: Vec<Plan>) -> Option<Plan> {
        match any.len() {
            0 => None,
            1 => any.pop(),
            _ => Some(Plan::Any(any)),
        }
    }

    /// A gram, or a single character of the field of these.
    pub(super) fn term(place: Place, text: &str) -> Plan {
        Plan::Term(place, gram_term(text).into_owned())
    }

    /// The very characters of a text in one field; none where it has nothing to look for.
    pub(super) fn literal(place: Place, text: &str) -> Option<Plan> {
        let normal = normalize(text);
        let chain = match gram_phrase(&normal) {
            GramPhrase::Nothing => return None,
            GramPhrase::Single(single) => return Some(Plan::one_character(place, single)),
            GramPhrase::Chain(chain) => chain,
        };
        if let [(_, gram)] = chain.as_slice() {
            return Some(Plan::term(place, gram));
        }
        let chain = chain.iter().take(MAX_TERMS);
        let grams = chain.map(|(at, gram)| (*at, gram_term(gram).into_owned()));
        Some(Plan::Phrase(place, grams.collect()))
    }

    /// Every gram that begins or ends with a character.
    pub(super) fn one_character(place: Place, text: &str) -> Plan {
        Plan::Any(vec![
            Plan::Begins(place, text.to_owned()),
            Plan::Ends(place, text.to_owned()),
        ])
    }
}
