//! Compares several searches by date.
//!
//! Each gets its documents on the same dates, its sites, its most reprinted stories with who had them first, and its rising
//! terms. No more than a sample of the documents is loaded.

use std::collections::BTreeMap;

use chrono::{DateTime, Days, NaiveDate};
use serde::Serialize;
use taojin_search::index::{
    Counted, DateUnit, Dates, Extent, IndexError, Query, Reader, Rising, SiteCount,
};
use taojin_search::query::{Note, Parsed};
use utoipa::ToSchema;

use crate::pages::words::Lang;
use crate::search::params::{ParamError, Params, Rules};
use crate::search::source::{DocumentHit, HitMaker, SearchRequest, parse_request, shown};

/// Most points of a line: more cannot be told apart on a screen.
pub(crate) const POINTS_MAX: usize = 400;
/// Stories and rising terms of each query.
const STORIES: usize = 3;
const RISING_TERMS: usize = 8;
const MINUTE_MS: i64 = 60_000;

/// Answer of `/api/trends`: queries compared.
#[derive(Debug, Clone, PartialEq, Default, Serialize, ToSchema)]
#[schema(as = TrendsAnswer)]
pub struct Trends {
    /// What one point stands for: `day`, `week`, `month` or `year`.
    pub unit: DateUnit,
    /// Whether another unit was asked for, which gives more points than [`POINTS_MAX`].
    #[serde(skip)]
    pub coarser: bool,
    /// First day of each point, and all documents published then, whatever they say.
    pub all: Vec<TrendPoint>,
    /// From this day on terms count as risen; the middle of the points.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub middle: Option<NaiveDate>,
    /// First day of the first point that is not over yet: its documents are still coming.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub unfinished: Option<NaiveDate>,
    /// The queries in the order asked.
    pub queries: Vec<Trend>,
    /// Remarks on the whole.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Documents of a day, week, month or year.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct TrendPoint {
    /// First day of it.
    #[schema(value_type = String)]
    pub start: NaiveDate,
    /// Documents published in it.
    pub documents: u64,
    /// Share of all documents published in it, from 0 to 1; not for all documents themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 1)]
    pub share: Option<f64>,
}

/// One query.
#[derive(Debug, Clone, PartialEq, Default, Serialize, ToSchema)]
#[schema(as = TrendAnswer)]
pub struct Trend {
    /// As it was asked.
    #[serde(rename = "query")]
    pub text: String,
    /// Documents that match; reprints count one by one.
    pub total: u64,
    /// Those of them without a date, or with one outside the points.
    pub undated: u64,
    /// By date.
    pub counts: Vec<TrendPoint>,
    /// By site, most first.
    pub sites: Vec<SiteCount>,
    /// The most reprinted texts, each with the document that had it first.
    pub stories: Vec<Story>,
    /// Terms that a greater share of the later documents has than of the earlier ones, the surest first.
    pub rising: Vec<Rising>,
    /// Remarks on the query.
    #[serde(serialize_with = "shown", skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<String>)]
    pub notes: Vec<Note>,
}

/// A text that several documents have.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(as = StoryAnswer)]
pub struct Story {
    /// Documents with it, the first included.
    pub documents: u64,
    /// The original, or else the earliest.
    pub first: DocumentHit,
}

impl TrendPoint {
    /// A point with its share of all documents, if it is not all of them.
    pub(crate) fn new(start: NaiveDate, documents: u64, all: Option<u64>) -> Self {
        Self {
            start,
            documents,
            share: all.map(|all| documents as f64 / all.max(1) as f64),
        }
    }
}

/// Compares searches. Their limits of time should be the same: those of the first are those of the points.
pub(crate) fn compare(
    reader: &Reader,
    request: &[SearchRequest],
    unit: Option<DateUnit>,
) -> Result<Trends, IndexError> {
    let Some(first) = request.first() else {
        return Ok(Trends::default());
    };
    let parsed: Vec<Parsed> = request.iter().map(|w| parse_request(reader, w)).collect();
    let counted = parsed
        .iter()
        .map(|parsed| reader.comparison().counted(&parsed.query));
    let counted: Vec<Counted> = counted.collect::<Result<_, _>>()?;
    let everything = SearchRequest {
        text: String::new(),
        ..first.clone()
    };
    let everything = reader
        .comparison()
        .counted(&parse_request(reader, &everything).query)?;
    let Some(Extent {
        from,
        until,
        unit: own,
    }) = span(reader, first, &counted)
    else {
        return Ok(Trends {
            queries: parsed
                .into_iter()
                .zip(counted)
                .zip(request)
                .map(|((parsed, counted), request)| Trend {
                    text: request.text.clone(),
                    total: counted.total,
                    undated: counted.total,
                    notes: parsed.notes,
                    ..Trend::default()
                })
                .collect(),
            ..Trends::default()
        });
    };
    let fitting = fitting(unit.unwrap_or(own), from, until);
    let coarser = unit.is_some_and(|asked| asked != fitting);
    let unit = fitting;
    let starts: Vec<NaiveDate> = unit.starts(from, until).collect();
    let middle = starts.get(starts.len() / 2).filter(|_| starts.len() > 1);
    let over = |days: &BTreeMap<NaiveDate, u64>| Dates::over(days, unit, from, until).counts;
    let all = over(&everything.days).into_iter();
    let all = all.map(|count| TrendPoint::new(count.start, count.documents, None));
    let all: Vec<TrendPoint> = all.collect();
    let mut queries = Vec::with_capacity(request.len());
    for ((parsed, counted), request) in parsed.into_iter().zip(counted).zip(request) {
        let counts = over(&counted.days).into_iter().zip(&all);
        let counts = counts
            .map(|(count, all)| TrendPoint::new(count.start, count.documents, Some(all.documents)));
        let counts: Vec<TrendPoint> = counts.collect();
        let query = &parsed.query;
        queries.push(Trend {
            text: request.text.clone(),
            total: counted.total,
            undated: counted.total - counts.iter().map(|point| point.documents).sum::<u64>(),
            counts,
            stories: stories(reader, query)?,
            rising: match middle {
                Some(middle) => reader.comparison().rising(query, *middle, RISING_TERMS)?,
                None => Vec::new(),
            },
            sites: counted.sites,
            notes: parsed.notes,
        });
    }
    let note = || {
        let unit = unit_code(unit);
        format!("the unit asked for gives too many points; shown by {unit}")
    };
    let today = day_of(reader, first.now_ms);
    let is_open = |start: &&NaiveDate| today.is_some_and(|today| unit.last_day(**start) >= today);
    Ok(Trends {
        unfinished: starts.iter().find(is_open).copied(),
        unit,
        coarser,
        notes: coarser.then(note).into_iter().collect(),
        all,
        middle: middle.copied(),
        queries,
    })
}

/// The days of the points: the limits of time, or else where the documents lie that were found, which also decides the unit.
fn span(reader: &Reader, request: &SearchRequest, counted: &[Counted]) -> Option<Extent> {
    let mut days: BTreeMap<NaiveDate, u64> = BTreeMap::new();
    for (day, documents) in counted.iter().flat_map(|counted| &counted.days) {
        *days.entry(*day).or_default() += documents;
    }
    let lie = Extent::of_days(&days)?;
    let day = |ms| day_of(reader, ms);
    let from = request.since_ms.and_then(day).unwrap_or(lie.from);
    let until = match (request.until_ms, request.since_ms) {
        (Some(until_ms), _) => day(until_ms.saturating_sub(1))?,
        // What is requested from some day on lasts until today.
        (None, Some(_)) => day(request.now_ms)?.max(lie.until),
        (None, None) => lie.until,
    };
    let until = until.min(from.checked_add_days(Days::new(366 * 200))?);
    let extent = Extent { from, until, ..lie };
    (from <= until).then_some(extent)
}

/// The day of a moment by the calendar of the index.
fn day_of(reader: &Reader, ms: i64) -> Option<NaiveDate> {
    let offset_ms = i64::from(reader.config().utc_offset_minutes) * MINUTE_MS;
    let local = DateTime::from_timestamp_millis(ms.saturating_add(offset_ms))?;
    Some(local.date_naive())
}

/// This unit, or the next coarser one that does not give too many points.
fn fitting(unit: DateUnit, from: NaiveDate, until: NaiveDate) -> DateUnit {
    let fits = |unit: &DateUnit| unit.starts(from, until).nth(POINTS_MAX).is_none();
    let units = UNITS.into_iter().map(|(unit, _)| unit);
    let mut coarser = units.skip_while(|other| *other != unit);
    coarser.find(fits).unwrap_or(DateUnit::Year)
}

fn stories(reader: &Reader, query: &Query) -> Result<Vec<Story>, IndexError> {
    let hit_maker = HitMaker::new(reader, query);
    let stories = reader.comparison().stories(query, STORIES)?.into_iter();
    Ok(stories
        .map(|story| Story {
            documents: story.documents,
            first: hit_maker.hit(story.first),
        })
        .collect())
}

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
                "q" => {
                    // A field of the form that was left empty is no query.
                    let text = value.trim();
                    if !text.is_empty() && !texts.iter().any(|known| known == text) {
                        texts.push(text.to_owned());
                    }
                }
                "unit" => read.unit = unit(&value)?,
                "format" => read.format = format(&value)?,
                "share" => read.share = value == "true",
                _ => {
                    common.append_pair(name, &value);
                }
            }
        }
        if texts.len() > QUERIES_MAX {
            return Err(number_of_queries());
        }
        let common = common.finish();
        let lenient = Rules {
            strict: false,
            ..*rules
        };
        read.common = Params::parse(&common, &lenient)?;
        for text in texts {
            let with = url::form_urlencoded::Serializer::new(common.clone())
                .append_pair("q", &text)
                .finish();
            read.searches.push(Params::parse(&with, &lenient)?);
        }
        Ok(read)
    }

    /// The searches for the index.
    pub(crate) fn search_requests(&self) -> Vec<SearchRequest> {
        let searches = self.searches.iter();
        searches
            .map(|params| params.search_request(false, false))
            .collect()
    }

    /// The same within these days, months or years, by the unit that fits them.
    pub(crate) fn within(&self, since: &str, until: &str) -> Self {
        let mut narrowed = self.clone();
        narrowed.unit = None;
        for params in narrowed.searches.iter_mut().chain([&mut narrowed.common]) {
            params.since = Some(since.to_owned());
            params.until = Some(until.to_owned());
        }
        narrowed
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
        out.extend_pairs(self.common.pairs()).finish()
    }

    /// The same in another language.
    pub(crate) fn in_lang(&self, lang: Lang) -> Self {
        let mut other = self.clone();
        other.common.lang = Some(lang);
        other
    }
}

/// The units with their codes in parameters and responses, finest first.
pub(crate) const UNITS: [(DateUnit, &str); 4] = [
    (DateUnit::Day, "day"),
    (DateUnit::Week, "week"),
    (DateUnit::Month, "month"),
    (DateUnit::Year, "year"),
];

/// Returns the code of a unit.
pub(crate) fn unit_code(unit: DateUnit) -> &'static str {
    let mut units = UNITS.into_iter();
    units.find(|(u, _)| *u == unit).map_or("", |(_, code)| code)
}

fn unit(value: &str) -> Result<Option<DateUnit>, ParamError> {
    if matches!(value, "" | "auto") {
        return Ok(None);
    }
    let found = UNITS.into_iter().find(|(_, code)| *code == value);
    let unknown = || ParamError::value("unit", |p| p.unit, value);
    found.map(|(unit, _)| Some(unit)).ok_or_else(unknown)
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
