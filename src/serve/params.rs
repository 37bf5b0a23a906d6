//! Query parameters of a search. In: the raw query string. Out: [`Params`] within the limits, or the one parameter
//! at fault. Never looks at the index; never refuses odd words, only odd numbers, dates and lengths.

use chrono::DateTime;

use super::config::{Config, DEFAULT_LIMIT, SITES_MAX};
use super::lang::Lang;
use super::param_error::{NAMES, ParamError, echo};
use super::query::{QueryError, parse_since, parse_until};
use crate::index::Sort;

/// Longest value of a parameter other than `q` and `site`, in characters.
const VALUE_CHARS_MAX: usize = 64;
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
    pub(crate) sort: Sort,
    pub(crate) limit: usize,
    pub(crate) offset: usize,
    /// Language asked for by `?lang=`; links keep it.
    pub(crate) lang: Option<Lang>,
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

impl Params {
    /// Reads a raw query string.
    pub(crate) fn parse(raw: &str, rules: &Rules<'_>) -> Result<Params, ParamError> {
        let mut params = Params {
            limit: DEFAULT_LIMIT.min(rules.config.limit_max),
            ..Params::default()
        };
        let mut given = [false; NAMES.len()];
        for (name, value) in url::form_urlencoded::parse(raw.as_bytes()) {
            let known = NAMES.iter().position(|known| *known == name);
            let Some(at) = known.filter(|_| !rules.strict || name != "lang") else {
                if rules.strict {
                    return Err(ParamError::Unknown { name: echo(&name) });
                }
                continue;
            };
            let name = NAMES[at];
            if given[at] && name != "site" {
                return Err(ParamError::Repeated { name });
            }
            given[at] = true;
            match name {
                "q" => params.take_text(&value, rules.config.query_chars)?,
                "site" => params.take_sites(&value)?,
                _ => params.take(name, value.trim(), rules)?,
            }
        }
        Ok(params)
    }

    fn take_text(&mut self, value: &str, max: usize) -> Result<(), ParamError> {
        let chars = value.chars().count();
        if chars > max {
            return Err(ParamError::TooLong { chars, max });
        }
        value.trim().clone_into(&mut self.text);
        Ok(())
    }

    fn take_sites(&mut self, value: &str) -> Result<(), ParamError> {
        for site in value.split(',').map(str::trim).filter(|s| !s.is_empty()) {
            if site.chars().count() > SITE_CHARS_MAX {
                return Err(ParamError::SiteName {
                    max: SITE_CHARS_MAX,
                });
            }
            if self.sites.iter().any(|s| s == site) {
                continue;
            }
            if self.sites.len() == SITES_MAX {
                return Err(ParamError::Sites { max: SITES_MAX });
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
            return Err(ParamError::Oversize {
                name,
                max: VALUE_CHARS_MAX,
            });
        }
        let config = rules.config;
        match name {
            "since" if !value.is_empty() => {
                self.since_ms = Some(moment(name, value, rules, parse_since)?);
                self.since = Some(value.to_owned());
            }
            "until" if !value.is_empty() => {
                self.until_ms = Some(moment(name, value, rules, parse_until)?);
                self.until = Some(value.to_owned());
            }
            "sort" => self.sort = sort(value)?,
            "limit" => self.limit = number(name, value, 1, config.limit_max)?,
            "offset" => self.offset = number(name, value, 0, config.offset_max())?,
            "lang" => self.lang = Lang::named(value),
            _ => {}
        }
        Ok(())
    }

    /// Whether the range ends before it begins: the API finds nothing in it, a person is told.
    pub(crate) fn backwards(&self) -> bool {
        matches!((self.since_ms, self.until_ms), (Some(since), Some(until)) if until <= since)
    }

    /// Whether anything narrows the search but its words.
    pub(crate) fn filtered(&self) -> bool {
        !self.sites.is_empty() || self.since.is_some() || self.until.is_some()
    }

    /// The query string that asks for this search again, without `limit`; defaults are left out.
    pub(crate) fn query_string(&self) -> String {
        let mut out = url::form_urlencoded::Serializer::new(String::new());
        if !self.text.is_empty() {
            out.append_pair("q", &self.text);
        }
        for site in &self.sites {
            out.append_pair("site", site);
        }
        if let Some(since) = &self.since {
            out.append_pair("since", since);
        }
        if let Some(until) = &self.until {
            out.append_pair("until", until);
        }
        if self.sort != Sort::default() {
            out.append_pair("sort", sort_code(self.sort));
        }
        if self.offset > 0 {
            out.append_pair("offset", &self.offset.to_string());
        }
        if let Some(lang) = self.lang {
            out.append_pair("lang", lang.code());
        }
        out.finish()
    }
}

/// The value of `sort` in links and forms.
pub(crate) fn sort_code(sort: Sort) -> &'static str {
    match sort {
        Sort::Relevance => "relevance",
        Sort::Date => "date",
    }
}

fn sort(value: &str) -> Result<Sort, ParamError> {
    match value {
        "" | "relevance" => Ok(Sort::Relevance),
        "date" => Ok(Sort::Date),
        _ => Err(ParamError::Sort { value: echo(value) }),
    }
}

fn number(name: &'static str, value: &str, min: usize, max: usize) -> Result<usize, ParamError> {
    // `parse` alone would take "+5", which a form decodes from "%2B5" only.
    let digits = !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit());
    match value.parse::<usize>() {
        Ok(n) if digits && (min..=max).contains(&n) => Ok(n),
        _ => Err(ParamError::Number {
            name,
            value: echo(value),
            min,
            max,
        }),
    }
}

/// One end of a day, month or year as `days` reads it; a moment itself; or that long before now.
fn moment(
    name: &'static str,
    value: &str,
    rules: &Rules<'_>,
    days: impl Fn(&str, i32) -> Result<i64, QueryError>,
) -> Result<i64, ParamError> {
    days(value, rules.utc_offset_minutes)
        .ok()
        .or_else(|| moment_ms(value))
        // A day of a year without web pages is still a day.
        .or_else(|| moment_ms(&format!("{value}T00:00:00Z")))
        .or_else(|| period_ms(value).map(|period| rules.now_ms.saturating_sub(period)))
        .ok_or_else(|| ParamError::Date {
            name,
            value: echo(value),
        })
}

/// RFC 3339; a `+` that a form turned into a space is taken back.
fn moment_ms(value: &str) -> Option<i64> {
    DateTime::parse_from_rfc3339(&value.replace(' ', "+"))
        .ok()
        .map(|t| t.timestamp_millis())
}

/// `24h`, `7d`, `4w`, `6m`, `1y`: hours, days, weeks, months of 30 and years of 365 days.
fn period_ms(value: &str) -> Option<i64> {
    let unit = value.chars().last()?;
    let hours = match unit {
        'h' => 1,
        'd' => 24,
        'w' => 24 * 7,
        'm' => 24 * 30,
        'y' => 24 * 365,
        _ => return None,
    };
    let number = value.strip_suffix(unit)?;
    if number.is_empty() || number.len() > 4 || !number.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    number.parse::<i64>().ok().map(|n| n * hours * 3_600_000)
}
