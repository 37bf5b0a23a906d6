//! Query parameters of a comparison. In: the raw query string. Out: the searches to compare, each within the limits of a search,
//! or the one parameter at fault.

use super::param_error::ParamError;
use super::params::{Params, Rules};
use super::source::Wanted;
use crate::pages::lang::Lang;
use taojin_search::index::DateUnit;

/// Most queries of one comparison: more lines cannot be told apart.
pub(crate) const QUERIES_MAX: usize = 8;
/// Names that the API knows; the web page also `lang` and `share`.
const NAMES: [&str; 8] = [
    "q", "site", "since", "until", "match", "synonyms", "unit", "format",
];

/// Form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Format {
    #[default]
    Json,
    Csv,
    Xlsx,
}

/// A comparison as asked for.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct TrendParams {
    /// One for each query, alike but for their text.
    pub(crate) searches: Vec<Params>,
    /// What they have in common, without a text.
    pub(crate) common: Params,
    pub(crate) unit: Option<DateUnit>,
    /// Shares of all documents in place of counts; only the web page asks.
    pub(crate) share: bool,
    pub(crate) format: Format,
}

impl TrendParams {
    /// Reads a raw query string.
    pub(crate) fn parse(raw: &str, rules: &Rules<'_>) -> Result<Self, ParamError> {
        let mut read = Self::default();
        let mut texts: Vec<String> = Vec::new();
        let mut common = url::form_urlencoded::Serializer::new(String::new());
        let mut seen: Vec<&'static str> = Vec::new();
        for (name, value) in url::form_urlencoded::parse(raw.as_bytes()) {
            let lenient = ["lang", "share"].iter().filter(|_| !rules.strict);
            let Some(name) = NAMES.iter().chain(lenient).find(|known| **known == name) else {
                if rules.strict {
                    return Err(ParamError::unknown(&name, &NAMES));
                }
                continue;
            };
            let may_repeat = matches!(*name, "q" | "site");
            if !may_repeat && seen.contains(name) {
                return Err(ParamError::repeated(name));
            }
            seen.push(name);
            match *name {
                "q" => texts.push(value.trim().to_owned()),
                "unit" => read.unit = unit(&value)?,
                "format" => read.format = format(&value)?,
                "share" => read.share = value == "true",
                _ => {
                    common.append_pair(name, &value);
                }
            }
        }
        // A field of the form that was left empty is no query.
        texts.retain(|text| !text.is_empty());
        let mut distinct: Vec<String> = Vec::new();
        for text in texts {
            if !distinct.contains(&text) {
                distinct.push(text);
            }
        }
        if distinct.len() > QUERIES_MAX {
            return Err(number_of_queries());
        }
        let common = common.finish();
        let lenient = Rules {
            strict: false,
            ..*rules
        };
        read.common = Params::parse(&common, &lenient)?;
        for text in distinct {
            let with = url::form_urlencoded::Serializer::new(common.clone())
                .append_pair("q", &text)
                .finish();
            read.searches.push(Params::parse(&with, &lenient)?);
        }
        Ok(read)
    }

    /// The searches for the index.
    pub(crate) fn wanted(&self) -> Vec<Wanted> {
        let searches = self.searches.iter();
        searches.map(|params| params.wanted(false, false)).collect()
    }

    /// The query string that asks for this comparison again; with another form, unit or share where given.
    pub(crate) fn query_string(&self) -> String {
        let mut out = url::form_urlencoded::Serializer::new(String::new());
        for search in &self.searches {
            out.append_pair("q", &search.text);
        }
        if let Some(unit) = self.unit {
            out.append_pair("unit", unit_code(unit));
        }
        if self.share {
            out.append_pair("share", "true");
        }
        let common = self.common.query_string();
        out.extend_pairs(url::form_urlencoded::parse(common.as_bytes()));
        out.finish()
    }

    /// The same in another language.
    pub(crate) fn in_lang(&self, lang: Lang) -> Self {
        let mut other = self.clone();
        other.common.lang = Some(lang);
        other
    }
}

/// A unit as parameters and answers have it.
pub(crate) fn unit_code(unit: DateUnit) -> &'static str {
    match unit {
        DateUnit::Day => "day",
        DateUnit::Week => "week",
        DateUnit::Month => "month",
        DateUnit::Year => "year",
    }
}

fn unit(value: &str) -> Result<Option<DateUnit>, ParamError> {
    match value {
        "" | "auto" => Ok(None),
        "day" => Ok(Some(DateUnit::Day)),
        "week" => Ok(Some(DateUnit::Week)),
        "month" => Ok(Some(DateUnit::Month)),
        "year" => Ok(Some(DateUnit::Year)),
        _ => Err(ParamError::value("unit", |p| p.unit, value)),
    }
}

/// A form of an answer.
pub(crate) fn format(value: &str) -> Result<Format, ParamError> {
    match value {
        "" | "json" => Ok(Format::Json),
        "csv" => Ok(Format::Csv),
        "xlsx" => Ok(Format::Xlsx),
        _ => Err(ParamError::value("format", |p| p.format, value)),
    }
}

/// More queries than are compared at once, or none.
pub(crate) fn number_of_queries() -> ParamError {
    ParamError::new("q", |p| p.queries, &[("max", &QUERIES_MAX)])
}
