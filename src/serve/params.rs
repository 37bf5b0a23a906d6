//! Query parameters of a search. In: the raw query string. Out: [`Params`] within the limits, or the one parameter
//! at fault. Never looks at the index; never refuses odd words, only odd numbers, dates and lengths.

use chrono::{DateTime, FixedOffset, NaiveDate, NaiveDateTime, TimeDelta, TimeZone};

use super::config::{Config, DEFAULT_LIMIT, SITES_MAX};
use super::lang::Lang;

/// Offset of the days in `since` and `until`: China has one, without summer time.
const DAY_OFFSET_S: i32 = 8 * 3_600;
/// Characters of a refused value that an error message repeats.
const ECHO_CHARS: usize = 40;
/// Longest raw value of a parameter other than `q`, in bytes.
const VALUE_BYTES_MAX: usize = 256;

/// Order of the hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Sort {
    /// Best first.
    #[default]
    Relevance,
    /// Newest first.
    Date,
}

impl Sort {
    pub(crate) fn code(self) -> &'static str {
        match self {
            Sort::Relevance => "relevance",
            Sort::Date => "date",
        }
    }
}

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

/// What is wrong with a query string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ParamError {
    /// `q` has more characters than allowed.
    TooLong { chars: usize, max: usize },
    /// Not a day, a moment or a period.
    Date { name: &'static str, value: String },
    /// `until` lies before `since`.
    Backwards,
    /// Not a whole number in its range.
    Number {
        name: &'static str,
        value: String,
        min: usize,
        max: usize,
    },
    /// Not one of the two orders.
    Sort { value: String },
    /// More sites than one query may name.
    Sites { max: usize },
    /// A value far too long to mean anything.
    Oversize { name: &'static str },
    /// Given twice.
    Repeated { name: &'static str },
    /// No such parameter.
    Unknown { name: String },
}

/// Names that a search knows.
const NAMES: [&str; 8] = [
    "q", "site", "since", "until", "sort", "limit", "offset", "lang",
];

impl Params {
    /// Reads a raw query string. `strict` (the API) refuses unknown names; the web page passes over them, since
    /// others add their own to shared links.
    pub(crate) fn parse(
        raw: &str,
        config: &Config,
        now_ms: i64,
        strict: bool,
    ) -> Result<Params, ParamError> {
        let mut params = Params {
            limit: DEFAULT_LIMIT.min(config.limit_max),
            ..Params::default()
        };
        let mut given = [false; NAMES.len()];
        for (name, value) in url::form_urlencoded::parse(raw.as_bytes()) {
            let Some(at) = NAMES.iter().position(|known| *known == name) else {
                if strict {
                    return Err(ParamError::Unknown { name: echo(&name) });
                }
                continue;
            };
            let name = NAMES[at];
            if given[at] && name != "site" {
                return Err(ParamError::Repeated { name });
            }
            given[at] = true;
            params.take(name, value.trim(), config, now_ms)?;
        }
        if let (Some(since), Some(until)) = (params.since_ms, params.until_ms)
            && until <= since
        {
            return Err(ParamError::Backwards);
        }
        Ok(params)
    }

    fn take(
        &mut self,
        name: &'static str,
        value: &str,
        config: &Config,
        now_ms: i64,
    ) -> Result<(), ParamError> {
        if name != "q" && value.len() > VALUE_BYTES_MAX {
            return Err(ParamError::Oversize { name });
        }
        match name {
            "q" => {
                let chars = value.chars().count();
                if chars > config.query_chars {
                    return Err(ParamError::TooLong {
                        chars,
                        max: config.query_chars,
                    });
                }
                value.clone_into(&mut self.text);
            }
            "site" => self.take_sites(value)?,
            "since" if !value.is_empty() => {
                self.since_ms = Some(first_moment(name, value, now_ms)?);
                self.since = Some(value.to_owned());
            }
            "until" if !value.is_empty() => {
                self.until_ms = Some(last_moment(name, value, now_ms)?);
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

    fn take_sites(&mut self, value: &str) -> Result<(), ParamError> {
        for site in value.split(',').map(str::trim).filter(|s| !s.is_empty()) {
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
            out.append_pair("sort", self.sort.code());
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

/// First moment of a day, a moment itself, or the start of a period that ends now.
fn first_moment(name: &'static str, value: &str, now_ms: i64) -> Result<i64, ParamError> {
    if let Some(day) = day(value) {
        return Ok(day_start_ms(day));
    }
    moment_ms(value)
        .or_else(|| period_ms(value).map(|p| now_ms.saturating_sub(p)))
        .ok_or_else(|| ParamError::Date {
            name,
            value: echo(value),
        })
}

/// The moment after the last one: the end of a day, a moment itself, or that long before now.
fn last_moment(name: &'static str, value: &str, now_ms: i64) -> Result<i64, ParamError> {
    match day(value).map(|d| d.checked_add_signed(TimeDelta::days(1))) {
        Some(Some(next)) => Ok(day_start_ms(next)),
        _ => first_moment(name, value, now_ms),
    }
}

fn day(value: &str) -> Option<NaiveDate> {
    let date_shape = value.len() == 10 && value.is_ascii();
    date_shape
        .then(|| NaiveDate::parse_from_str(value, "%Y-%m-%d").ok())
        .flatten()
}

fn day_start_ms(day: NaiveDate) -> i64 {
    let offset = FixedOffset::east_opt(DAY_OFFSET_S).expect("eight hours is a valid offset");
    let midnight = NaiveDateTime::from(day);
    offset
        .from_local_datetime(&midnight)
        .single()
        .map_or(0, |t| t.timestamp_millis())
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

fn echo(value: &str) -> String {
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

impl ParamError {
    /// Name of the parameter at fault.
    pub(crate) fn parameter(&self) -> &str {
        match self {
            ParamError::TooLong { .. } => "q",
            ParamError::Backwards => "until",
            ParamError::Sort { .. } => "sort",
            ParamError::Sites { .. } => "site",
            ParamError::Date { name, .. }
            | ParamError::Number { name, .. }
            | ParamError::Oversize { name }
            | ParamError::Repeated { name } => name,
            ParamError::Unknown { name } => name,
        }
    }

    /// One sentence for a person.
    pub(crate) fn detail(&self, lang: Lang) -> String {
        match lang {
            Lang::En => self.detail_en(),
            Lang::Zh => self.detail_zh(),
        }
    }

    fn detail_en(&self) -> String {
        match self {
            ParamError::TooLong { chars, max } => {
                format!("q has {chars} characters; {max} are allowed")
            }
            ParamError::Date { name, value } => format!(
                "{name} must be a day (2026-05-01), a moment (2026-05-01T08:00:00+08:00) or a period (24h, 7d, 6m, 1y), not \"{value}\""
            ),
            ParamError::Backwards => "until lies before since".to_owned(),
            ParamError::Number {
                name,
                value,
                min,
                max,
            } => {
                format!("{name} must be a whole number from {min} to {max}, not \"{value}\"")
            }
            ParamError::Sort { value } => {
                format!("sort must be relevance or date, not \"{value}\"")
            }
            ParamError::Sites { max } => format!("at most {max} sites can be named"),
            ParamError::Oversize { name } => {
                format!("{name} is longer than {VALUE_BYTES_MAX} bytes")
            }
            ParamError::Repeated { name } => format!("{name} was given more than once"),
            ParamError::Unknown { name } => {
                format!(
                    "there is no parameter \"{name}\"; known are {}",
                    NAMES.join(", ")
                )
            }
        }
    }

    fn detail_zh(&self) -> String {
        match self {
            ParamError::TooLong { chars, max } => {
                format!("检索词有 {chars} 个字符，最多 {max} 个。")
            }
            ParamError::Date { value, .. } => {
                format!("日期“{value}”看不懂，请写成 2026-05-01，或 24h、7d、6m、1y 这样的时段。")
            }
            ParamError::Backwards => "结束日期早于开始日期。".to_owned(),
            ParamError::Number {
                name,
                value,
                min,
                max,
            } => {
                format!("{name} 应是 {min} 到 {max} 的整数，而不是“{value}”。")
            }
            ParamError::Sort { value } => {
                format!("排序只有 relevance 和 date 两种，没有“{value}”。")
            }
            ParamError::Sites { max } => format!("一次最多选 {max} 个站点。"),
            ParamError::Oversize { name } => format!("{name} 太长了。"),
            ParamError::Repeated { name } => format!("{name} 只能出现一次。"),
            ParamError::Unknown { name } => format!("没有“{name}”这个参数。"),
        }
    }
}
