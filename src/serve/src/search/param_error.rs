//! What can be wrong with a query string. In: the parameter and the value. Out: one sentence for a person, in both
//! languages. Never repeats a long or invisible value.

use std::fmt::Display;

use crate::pages::lang::Lang;
use crate::pages::words::{ParametersLabels, fill};

/// Characters of a refused value that an error message repeats.
const ECHO_CHARS: usize = 40;
/// Names that a search of the web page knows; the API knows all but the last.
pub(crate) const NAMES: [&str; 18] = [
    "q",
    "site",
    "since",
    "until",
    "changed",
    "sort",
    "half_life",
    "group",
    "grouped",
    "facets",
    "match",
    "explain",
    "synonyms",
    "corrected",
    "format",
    "limit",
    "offset",
    "lang",
];

/// A sentence of the words for what is wrong, with places for values.
type Sentence = fn(&ParametersLabels) -> &'static str;

/// What is wrong with a query string.
#[derive(Debug, Clone)]
pub(crate) struct ParamError {
    /// Name of the parameter at fault.
    pub(crate) parameter: String,
    sentence: Sentence,
    values: Vec<(&'static str, String)>,
}

impl ParamError {
    /// An error whose sentence has these values.
    pub(crate) fn new(
        parameter: &str,
        sentence: Sentence,
        values: &[(&'static str, &dyn Display)],
    ) -> Self {
        let values = values
            .iter()
            .map(|(name, value)| (*name, value.to_string()));
        Self {
            parameter: parameter.to_owned(),
            sentence,
            values: values.collect(),
        }
    }

    /// An error about a value, which the sentence repeats.
    pub(crate) fn value(parameter: &str, sentence: Sentence, value: &str) -> Self {
        let values: [(_, &dyn Display); 2] = [("name", &parameter), ("value", &echo(value))];
        Self::new(parameter, sentence, &values)
    }

    /// A name that was given twice.
    pub(crate) fn repeated(parameter: &str) -> Self {
        Self::new(parameter, |p| p.repeated, &[("name", &parameter)])
    }

    /// A name that is none of the known ones.
    pub(crate) fn unknown(parameter: &str, known: &[&str]) -> Self {
        let (name, known) = (echo(parameter), known.join(", "));
        Self::new(&name, |p| p.unknown, &[("name", &name), ("known", &known)])
    }

    /// One sentence for a person.
    pub(crate) fn detail(&self, lang: Lang) -> String {
        let values: Vec<(&str, &str)> = self.values.iter().map(|(n, v)| (*n, v.as_str())).collect();
        fill((self.sentence)(&lang.labels().parameters), &values)
    }
}

/// The parameters by name, each of them known and there once.
pub(crate) fn known_once(
    raw: &str,
    known: &'static [&'static str],
) -> Result<Vec<(&'static str, String)>, ParamError> {
    let mut found: Vec<(&'static str, String)> = Vec::new();
    for (name, value) in url::form_urlencoded::parse(raw.as_bytes()) {
        let Some(name) = known.iter().find(|known| **known == name) else {
            return Err(ParamError::unknown(&name, known));
        };
        if found.iter().any(|(given, _)| given == name) {
            return Err(ParamError::repeated(name));
        }
        found.push((name, value.trim().to_owned()));
    }
    Ok(found)
}

/// A refused value as an error repeats it.
pub(crate) fn echo(value: &str) -> String {
    let mut short: String = value
        .chars()
        .filter(|c| !c.is_control())
        .take(ECHO_CHARS)
        .collect();
    if value.chars().count() > ECHO_CHARS {
        short.push('…');
    }
    short
}
