//! Values of query parameters. In: a value as written. Out: what it means, or the parameter at fault; and the way back, for
//! links and forms.

use std::fmt::Display;

use super::param_error::{ParamError, echo};
use taojin_search::index::{Match, Sort};
use taojin_search::query::dates::period_ms;

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
