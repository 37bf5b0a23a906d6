//! What can be wrong with a query string. In: the parameter and the value. Out: one sentence for a person, in both
//! languages. Never repeats a long or invisible value.

use crate::serve::pages::lang::Lang;
use crate::serve::pages::sentences::fill;

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

/// What is wrong with a query string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ParamError {
    /// `q` has more characters than allowed.
    TooLong { chars: usize, max: usize },
    /// `q` looks for more single characters than allowed.
    TooCostly { found: usize, max: usize },
    /// Not a day, a moment or a period.
    Date { name: &'static str, value: String },
    /// `until` lies before `since`; only people hear of it, the API finds nothing then.
    Backwards,
    /// Not a whole number in its range.
    Number {
        name: &'static str,
        value: String,
        min: usize,
        max: usize,
    },
    /// Not one of the orders.
    Sort { value: String },
    /// Not a way to match.
    Match { value: String },
    /// Not a period of more than nothing.
    HalfLife { value: String },
    /// Not the id of a group of reprints.
    Group { value: String },
    /// Neither yes nor no.
    Flag { name: &'static str, value: String },
    /// Neither on nor off.
    Switch { name: &'static str, value: String },
    /// More sites than one query may name.
    Sites { max: usize },
    /// No site can have such a name.
    SiteName { max: usize },
    /// A value far too long to mean anything.
    Oversize { name: &'static str, max: usize },
    /// Given twice.
    Repeated { name: &'static str },
    /// No such parameter.
    Unknown { name: String, known: String },
    /// More queries than are compared at once, or none.
    Queries { max: usize },
    /// Not a unit of time.
    Unit { value: String },
    /// Not a form of the answer.
    Format { value: String },
}

impl ParamError {
    /// Name of the parameter at fault.
    pub(crate) fn parameter(&self) -> &str {
        match self {
            ParamError::TooLong { .. }
            | ParamError::TooCostly { .. }
            | ParamError::Queries { .. } => "q",
            ParamError::Unit { .. } => "unit",
            ParamError::Format { .. } => "format",
            ParamError::Backwards => "until",
            ParamError::Sort { .. } => "sort",
            ParamError::Match { .. } => "match",
            ParamError::HalfLife { .. } => "half_life",
            ParamError::Group { .. } => "group",
            ParamError::Sites { .. } | ParamError::SiteName { .. } => "site",
            ParamError::Date { name, .. }
            | ParamError::Flag { name, .. }
            | ParamError::Switch { name, .. }
            | ParamError::Number { name, .. }
            | ParamError::Oversize { name, .. }
            | ParamError::Repeated { name } => name,
            ParamError::Unknown { name, .. } => name,
        }
    }

    /// One sentence for a person.
    pub(crate) fn detail(&self, lang: Lang) -> String {
        let p = &lang.labels().parameters;
        let number = |number: &usize| number.to_string();
        match self {
            ParamError::TooLong { chars, max } => {
                let (chars, max) = (number(chars), number(max));
                fill(p.too_long, &[("chars", &chars), ("max", &max)])
            }
            ParamError::TooCostly { found, max } => {
                let (found, max) = (number(found), number(max));
                fill(p.too_costly, &[("found", &found), ("max", &max)])
            }
            ParamError::Date { name, value } => fill(p.date, &[("name", name), ("value", value)]),
            ParamError::Backwards => p.backwards.to_owned(),
            ParamError::Number {
                name,
                value,
                min,
                max,
            } => {
                let (min, max) = (number(min), number(max));
                let range = [("min", min.as_str()), ("max", &max)];
                fill(
                    p.number,
                    &[&range[..], &[("name", name), ("value", value)]].concat(),
                )
            }
            ParamError::Sort { value } => fill(p.sort, &[("value", value)]),
            ParamError::Match { value } => fill(p.matching, &[("value", value)]),
            ParamError::HalfLife { value } => fill(p.half_life, &[("value", value)]),
            ParamError::Group { value } => fill(p.group, &[("value", value)]),
            ParamError::Flag { name, value } => fill(p.flag, &[("name", name), ("value", value)]),
            ParamError::Switch { name, value } => {
                fill(p.switch, &[("name", name), ("value", value)])
            }
            ParamError::Sites { max } => fill(p.sites, &[("max", &number(max))]),
            ParamError::SiteName { max } => fill(p.site_name, &[("max", &number(max))]),
            ParamError::Oversize { name, max } => {
                fill(p.oversize, &[("name", name), ("max", &number(max))])
            }
            ParamError::Repeated { name } => fill(p.repeated, &[("name", name)]),
            ParamError::Unknown { name, known } => {
                fill(p.unknown, &[("name", name), ("known", known)])
            }
            ParamError::Queries { max } => fill(p.queries, &[("max", &number(max))]),
            ParamError::Unit { value } => fill(p.unit, &[("value", value)]),
            ParamError::Format { value } => fill(p.format, &[("value", value)]),
        }
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
            let (name, known) = (echo(&name), known.join(", "));
            return Err(ParamError::Unknown { name, known });
        };
        if found.iter().any(|(given, _)| given == name) {
            return Err(ParamError::Repeated { name });
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
