//! Parses the query string of a search.
//!
//! [`Params`] are within the limits of the server; a [`ParamError`] is one sentence in both languages. Odd words are never
//! refused, only invalid numbers, dates and lengths. The index is never read.

use std::fmt::Display;

use taojin_search::index::{CancellationToken, MAX_SINGLE_CHARACTERS, Match, Sort};
use taojin_search::query::dates::{Calendar, period_ms};
use taojin_search::query::parse;

use crate::api::sheet::HITS_MAX;
use crate::config::{Config, DEFAULT_LIMIT, SITES_MAX};
use crate::pages::words::{Lang, ParametersLabels, fill};
use crate::search::source::SearchRequest;
use crate::search::trends::{Format, format};

/// Longest value of a parameter other than `q` and `site`, in characters.
pub(crate) const VALUE_CHARS_MAX: usize = 64;
/// Longest name of a site, in characters.
pub(crate) const SITE_CHARS_MAX: usize = 64;

/// One search as asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Params {
    /// The query, trimmed; may be empty.
    pub(crate) text: String,
    /// Sites to search; empty: all.
    pub(crate) sites: Vec<String>,
    /// `since` as written, for links.
    pub(crate) since: Option<String>,
    /// `until` as written, for links.
    pub(crate) until: Option<String>,
    /// First moment, Unix milliseconds, inclusive.
    pub(crate) since_ms: Option<i64>,
    /// Last moment, Unix milliseconds, exclusive.
    pub(crate) until_ms: Option<i64>,
    /// `changed` as written, for links.
    pub(crate) changed: Option<String>,
    /// First and last moment of the last change; the last exclusive.
    pub(crate) changed_ms: (Option<i64>, Option<i64>),
    pub(crate) sort: Sort,
    pub(crate) matching: Match,
    /// Whether each hit says why it stands where it does.
    pub(crate) explain: bool,
    /// `half_life` as written, for links.
    pub(crate) half_life: Option<String>,
    /// Age that halves a score, milliseconds; none: the configured one.
    pub(crate) half_life_ms: Option<i64>,
    /// Only the reprints of one text.
    pub(crate) group: Option<u64>,
    /// Reprints as one hit and a shared first page, if it was said.
    pub(crate) grouped: Option<bool>,
    /// Only the words as typed, without their synonyms.
    pub(crate) as_typed: bool,
    /// Only what was typed, even if it finds nothing.
    pub(crate) uncorrected: bool,
    /// Whether counts are wanted beside the hits.
    pub(crate) facets: bool,
    /// What time it is, Unix milliseconds.
    pub(crate) now_ms: i64,
    /// Form of the answer; only the API asks.
    pub(crate) format: Format,
    pub(crate) limit: usize,
    pub(crate) offset: usize,
    /// Language asked for by `?lang=`; links keep it.
    pub(crate) lang: Option<Lang>,
}

/// The parameters of a feed, for the description of the API.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(
    dead_code,
    reason = "only its description is used; `Params` is what is read"
)]
pub(crate) struct QueryAndSites {
    /// The query, in the language of /help.
    q: Option<String>,
    /// Only these sites: repeated or separated by commas.
    site: Option<Vec<String>>,
}

/// What a query string is read with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules<'a> {
    /// Limits.
    pub(crate) config: &'a Config,
    /// The clock, for periods such as `7d`.
    pub(crate) now_ms: i64,
    /// Offset of days that name none.
    pub(crate) utc_offset_minutes: i32,
    /// The API: unknown names are refused. The web page passes over them, since others add their own to links.
    pub(crate) strict: bool,
}

impl Rules<'_> {
    /// What days are read with.
    fn calendar(&self) -> Calendar {
        Calendar {
            utc_offset_minutes: self.utc_offset_minutes,
            now_ms: self.now_ms,
        }
    }
}

impl Params {
    /// The search that is asked for; `grouped` unless the parameters say.
    pub(crate) fn search_request(&self, facets: bool, grouped: bool) -> SearchRequest {
        SearchRequest {
            text: self.text.clone(),
            sites: self.sites.clone(),
            since_ms: self.since_ms,
            until_ms: self.until_ms,
            changed_ms: self.changed_ms,
            sort: self.sort,
            matching: self.matching,
            explain: self.explain,
            half_life_ms: self.half_life_ms,
            now_ms: self.now_ms,
            group: self.group,
            grouped: self.grouped.unwrap_or(grouped),
            limit: self.limit,
            offset: self.offset,
            facets,
            as_typed: self.as_typed,
            corrected: !self.uncorrected,
            stop: CancellationToken::default(),
        }
    }

    /// Reads a raw query string.
    pub(crate) fn parse(raw: &str, rules: &Rules<'_>) -> Result<Params, ParamError> {
        let mut params = Params {
            limit: DEFAULT_LIMIT.min(rules.config.limit_max),
            now_ms: rules.now_ms,
            ..Params::default()
        };
        let mut given = [0; NAMES.len()];
        for (name, value) in url::form_urlencoded::parse(raw.as_bytes()) {
            let known = NAMES.iter().position(|known| *known == name);
            let Some(at) = known.filter(|_| !rules.strict || name != "lang") else {
                if rules.strict {
                    return Err(ParamError::unknown(&name, &NAMES[..NAMES.len() - 1]));
                }
                continue;
            };
            let name = NAMES[at];
            given[at] += 1;
            match name {
                // One too many is too many, be it empty or said before.
                "site" if given[at] > SITES_MAX => return Err(too_many_sites()),
                "site" => {}
                _ if given[at] > 1 => return Err(ParamError::repeated(name)),
                _ => {}
            }
            match name {
                "q" => params.take_text(&value, rules.config.query_chars)?,
                "site" => params.take_sites(&value)?,
                _ => params.take(name, value.trim(), rules)?,
            }
        }
        let max = match params.format {
            Format::Json => rules.config.limit_max,
            _ => HITS_MAX,
        };
        number("limit", &params.limit.to_string(), 1, max)?;
        params.order_range(rules);
        params.affordable(rules)?;
        Ok(params)
    }

    /// Takes the range of days; one whose ends are in the other order is meant the other way round.
    fn order_range(&mut self, rules: &Rules<'_>) {
        let calendar = rules.calendar();
        let range = |since: &Option<String>, until: &Option<String>| {
            let range = calendar.range(since.as_deref(), until.as_deref());
            range.unwrap_or_default()
        };
        let alone = range(&self.since, &None).0.zip(range(&None, &self.until).1);
        if alone.is_some_and(|(first, after)| first >= after) {
            std::mem::swap(&mut self.since, &mut self.until);
        }
        (self.since_ms, self.until_ms) = range(&self.since, &self.until);
    }

    /// Refuses a search that would cost too much.
    fn affordable(&self, rules: &Rules<'_>) -> Result<(), ParamError> {
        let calendar = rules.calendar();
        let found = parse(&self.text, &calendar).query.single_characters();
        let max = MAX_SINGLE_CHARACTERS;
        if found > max {
            let values: [(_, &dyn Display); 2] = [("found", &found), ("max", &max)];
            return Err(ParamError::new("q", |p| p.too_costly, &values));
        }
        Ok(())
    }

    fn take_text(&mut self, value: &str, max: usize) -> Result<(), ParamError> {
        let chars = value.chars().count();
        if chars > max {
            let values: [(_, &dyn Display); 2] = [("chars", &chars), ("max", &max)];
            return Err(ParamError::new("q", |p| p.too_long, &values));
        }
        value.trim().clone_into(&mut self.text);
        Ok(())
    }

    fn take_sites(&mut self, value: &str) -> Result<(), ParamError> {
        for site in value.split(',').map(str::trim).filter(|s| !s.is_empty()) {
            if site.chars().count() > SITE_CHARS_MAX {
                let max = SITE_CHARS_MAX;
                return Err(ParamError::new("site", |p| p.site_name, &[("max", &max)]));
            }
            if self.sites.iter().any(|s| s == site) {
                continue;
            }
            if self.sites.len() == SITES_MAX {
                return Err(too_many_sites());
            }
            self.sites.push(site.to_owned());
        }
        Ok(())
    }

    fn take(
        &mut self,
        name: &'static str,
        value: &str,
        rules: &Rules<'_>,
    ) -> Result<(), ParamError> {
        if value.chars().count() > VALUE_CHARS_MAX {
            let values: [(_, &dyn Display); 2] = [("name", &name), ("max", &VALUE_CHARS_MAX)];
            return Err(ParamError::new(name, |p| p.oversize, &values));
        }
        let config = rules.config;
        let calendar = rules.calendar();
        let date = || ParamError::value(name, |p| p.date, value);
        match name {
            "since" if !value.is_empty() => {
                calendar.since(value).map_err(|_| date())?;
                self.since = Some(value.to_owned());
            }
            "until" if !value.is_empty() => {
                calendar.until(value).map_err(|_| date())?;
                self.until = Some(value.to_owned());
            }
            "changed" if !value.is_empty() => {
                self.changed_ms = calendar.span(value).map_err(|_| date())?;
                self.changed = Some(value.to_owned());
            }
            "sort" => self.sort = sort(value)?,
            "match" => self.matching = matching(value)?,
            "explain" => self.explain = flag(name, value)?,
            "half_life" if !value.is_empty() => {
                self.half_life_ms = Some(half_life_ms(value)?);
                self.half_life = Some(value.to_owned());
            }
            "group" if !value.is_empty() => self.group = Some(group(value)?),
            "grouped" => self.grouped = Some(flag(name, value)?),
            "synonyms" => self.as_typed = off(name, value)?,
            "corrected" => self.uncorrected = off(name, value)?,
            "facets" => self.facets = flag(name, value)?,
            "format" => self.format = format(value)?,
            "limit" => self.limit = number(name, value, 1, HITS_MAX.max(config.limit_max))?,
            "offset" => self.offset = number(name, value, 0, config.offset_max())?,
            "lang" => self.lang = Lang::named(value),
            _ => {}
        }
        Ok(())
    }

    /// The same search with a change.
    pub(crate) fn with(&self, change: impl FnOnce(&mut Self)) -> Self {
        let mut changed = self.clone();
        change(&mut changed);
        changed
    }

    /// Whether anything narrows the search but its words.
    pub(crate) fn filtered(&self) -> bool {
        !self.sites.is_empty()
            || self.since.is_some()
            || self.until.is_some()
            || self.changed.is_some()
            || self.group.is_some()
    }

    /// The parameters that ask for this search again, without `limit`; defaults are left out.
    pub(crate) fn pairs(&self) -> Vec<(&'static str, String)> {
        let word = |is_said: bool, word: &str| is_said.then(|| word.to_owned());
        let sort = (self.sort != Sort::default()).then(|| sort_code(self.sort).to_owned());
        let mut pairs = vec![("q", word(!self.text.is_empty(), &self.text))];
        pairs.extend(self.sites.iter().map(|site| ("site", Some(site.clone()))));
        pairs.extend([
            ("since", self.since.clone()),
            ("until", self.until.clone()),
            ("changed", self.changed.clone()),
            ("sort", sort),
            ("match", match_code(self.matching).map(str::to_owned)),
            ("explain", word(self.explain, "true")),
            ("half_life", self.half_life.clone()),
            ("group", self.group.map(group_code)),
            ("grouped", self.grouped.map(|grouped| grouped.to_string())),
            ("synonyms", word(self.as_typed, "off")),
            ("corrected", word(self.uncorrected, "off")),
            ("offset", word(self.offset > 0, &self.offset.to_string())),
            ("lang", self.lang.map(|lang| lang.code().to_owned())),
        ]);
        let pairs = pairs.into_iter();
        pairs
            .filter_map(|(name, value)| Some((name, value?)))
            .collect()
    }

    /// The same as a query string.
    pub(crate) fn query_string(&self) -> String {
        let mut out = url::form_urlencoded::Serializer::new(String::new());
        out.extend_pairs(self.pairs()).finish()
    }
}

fn too_many_sites() -> ParamError {
    ParamError::new("site", |p| p.sites, &[("max", &SITES_MAX)])
}

/// The value of `sort` in links and forms.
pub(crate) fn sort_code(sort: Sort) -> &'static str {
    match sort {
        Sort::Relevance => "relevance",
        Sort::Date => "date",
        Sort::Both => "both",
    }
}

/// The value of `match` in links and forms; none is the default.
pub(crate) fn match_code(matching: Match) -> Option<&'static str> {
    match matching {
        Match::Auto => None,
        Match::All => Some("all"),
        Match::Most => Some("most"),
        Match::Any => Some("any"),
    }
}

pub(super) fn matching(value: &str) -> Result<Match, ParamError> {
    match value {
        "" => Ok(Match::Auto),
        "all" => Ok(Match::All),
        "most" => Ok(Match::Most),
        "any" => Ok(Match::Any),
        _ => Err(ParamError::value("match", |p| p.matching, value)),
    }
}

/// The value of `group` in links and answers: 16 hexadecimal digits.
pub(crate) fn group_code(group: u64) -> String {
    format!("{group:016x}")
}

pub(super) fn group(value: &str) -> Result<u64, ParamError> {
    let digits = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    match u64::from_str_radix(value, 16) {
        Ok(group) if value.len() == 16 && value.bytes().all(digits) => Ok(group),
        _ => Err(ParamError::value("group", |p| p.group, value)),
    }
}

pub(crate) fn flag(name: &'static str, value: &str) -> Result<bool, ParamError> {
    match value {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(ParamError::value(name, |p| p.flag, value)),
    }
}

/// Whether something is switched off.
pub(super) fn off(name: &'static str, value: &str) -> Result<bool, ParamError> {
    match value {
        "on" => Ok(false),
        "off" => Ok(true),
        _ => Err(ParamError::value(name, |p| p.switch, value)),
    }
}

pub(super) fn half_life_ms(value: &str) -> Result<i64, ParamError> {
    period_ms(value)
        .filter(|&ms| ms > 0)
        .ok_or_else(|| ParamError::value("half_life", |p| p.half_life, value))
}

pub(super) fn sort(value: &str) -> Result<Sort, ParamError> {
    match value {
        "" | "relevance" => Ok(Sort::Relevance),
        "date" => Ok(Sort::Date),
        "both" => Ok(Sort::Both),
        _ => Err(ParamError::value("sort", |p| p.sort, value)),
    }
}

/// A whole number in its range.
pub(crate) fn number(
    name: &'static str,
    value: &str,
    min: usize,
    max: usize,
) -> Result<usize, ParamError> {
    // `parse` alone would take "+5", which a form decodes from "%2B5" only.
    let digits = !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit());
    match value.parse::<usize>() {
        Ok(n) if digits && (min..=max).contains(&n) => Ok(n),
        _ => {
            let value = echo(value);
            let values: [(_, &dyn Display); 4] = [
                ("name", &name),
                ("value", &value),
                ("min", &min),
                ("max", &max),
            ];
            Err(ParamError::new(name, |p| p.number, &values))
        }
    }
}

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

/// A term, or the value of a field, as a part of a query: in quotes if it has blanks.
pub(crate) fn quoted(text: &str) -> String {
    if text.contains(char::is_whitespace) {
        format!("\"{text}\"")
    } else {
        text.to_owned()
    }
}
