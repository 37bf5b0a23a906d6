//! Computes when a site's next cycle starts, from a crontab line, a time zone and a time.
//!
//! Five fields as in crontab(5), weekdays 0–7 with Sunday 0 and 7, and days matching when day of month *or* weekday
//! matches if both are given; six or seven fields with seconds first and years last; `@hourly` and its like. Weekday
//! numbers mean the same in all forms: the `cron` crate counts them from 1 = Sunday, so they are written as names.
//! Daylight saving: a time that is skipped runs as soon as the clock goes on; of a time that comes twice the first
//! runs, unless the line runs every hour.

use std::str::FromStr;

use chrono::{DateTime, Duration, LocalResult, Offset, TimeZone, Utc};
use chrono_tz::Tz;
use cron::{Schedule, TimeUnitSpec};

/// A line that is no schedule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CronError {
    /// Neither five, six nor seven fields.
    #[error(
        "schedule = {line:?}: has {found} fields; five are needed (minute hour day month weekday), for example \"0 */6 * * *\", or @hourly, @daily, @weekly, @monthly"
    )]
    Fields {
        /// The line.
        line: String,
        /// Fields found.
        found: usize,
    },
    /// One field is wrong.
    #[error(
        "schedule = {line:?}: {field} {value:?} is not {range}; write for example \"0 */6 * * *\""
    )]
    Field {
        /// The line.
        line: String,
        /// Name of the field.
        field: &'static str,
        /// What stands there.
        value: String,
        /// What may stand there.
        range: &'static str,
    },
    /// Each field is right and no day has them all (30 February).
    #[error("schedule = {line:?}: no day has this date; write for example \"0 */6 * * *\"")]
    Never {
        /// The line.
        line: String,
    },
    /// Unknown time zone.
    #[error(
        "time_zone = {0:?}: is no known time zone; write for example \"Asia/Shanghai\" or \"UTC\""
    )]
    Zone(String),
}

/// A schedule in a time zone.
#[derive(Debug, Clone)]
pub struct Cron {
    /// Any of them: two when a crontab line names days of the month and of the week.
    schedules: Vec<Schedule>,
    zone: Tz,
}

const NAMES: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

/// Name, what may stand there, for each field from seconds to years.
const FIELDS: [(&str, &str); 7] = [
    ("second", "0-59"),
    ("minute", "0-59"),
    ("hour", "0-23"),
    ("day of month", "1-31"),
    ("month", "1-12 or Jan-Dec"),
    ("weekday", "0-7 (Sunday is 0 and 7) or Sun-Sat"),
    ("year", "1970-2100"),
];

/// A gap of daylight saving is no longer than this (Lord Howe half an hour, most an hour, a few days were skipped
/// whole at the date line and their runs with them).
const LONGEST_GAP_MIN: i64 = 180;

impl Cron {
    /// Reads a line; `zone` is a name of the tz database.
    pub fn parse(line: &str, zone: &str) -> Result<Self, CronError> {
        let zone = Tz::from_str(zone).map_err(|_| CronError::Zone(zone.to_owned()))?;
        let text = match line.trim() {
            "@hourly" => "0 * * * *",
            "@daily" | "@midnight" => "0 0 * * *",
            "@weekly" => "0 0 * * 0",
            "@monthly" => "0 0 1 * *",
            "@yearly" | "@annually" => "0 0 1 1 *",
            other => other,
        };
        let fields: Vec<&str> = text.split_whitespace().collect();
        let crontab = fields.len() == 5;
        let mut all = ["0", "*", "*", "*", "*", "*", "*"].map(str::to_owned);
        let first = usize::from(crontab);
        if !(5..=7).contains(&fields.len()) {
            return Err(CronError::Fields {
                line: line.to_owned(),
                found: fields.len(),
            });
        }
        for (i, value) in fields.iter().enumerate() {
            all[first + i] = field(line, first + i, value)?;
        }
        let restricted = |i: usize| !matches!(all[i].as_str(), "*" | "?");
        let mut lines = vec![all.clone()];
        if crontab && restricted(3) && restricted(5) {
            lines = vec![all.clone(), all];
            lines[0][3] = "*".to_owned();
            lines[1][5] = "*".to_owned();
        }
        let never = || CronError::Never {
            line: line.to_owned(),
        };
        let schedules = lines
            .iter()
            .map(|fields| Schedule::from_str(&fields.join(" ")).map_err(|_| never()))
            .collect::<Result<Vec<_>, _>>()?;
        let cron = Cron { schedules, zone };
        // Leap days come within eight years; a line with years may lie in the past and is let be.
        if fields.len() < 7 && cron.next_after(0).is_none() {
            return Err(never());
        }
        Ok(cron)
    }

    /// The first run after `now_ms`; `None` if there is none any more.
    pub fn next_after(&self, now_ms: i64) -> Option<i64> {
        let now = DateTime::<Utc>::from_timestamp_millis(now_ms)?;
        self.schedules
            .iter()
            .filter_map(|schedule| self.next_of(schedule, now))
            .min()
    }

    /// The next `count` runs after `now_ms`.
    pub fn next_runs(&self, now_ms: i64, count: usize) -> Vec<i64> {
        let mut at = now_ms;
        std::iter::from_fn(|| {
            at = self.next_after(at)?;
            Some(at)
        })
        .take(count)
        .collect()
    }

    /// The time zone.
    pub fn zone(&self) -> Tz {
        self.zone
    }

    fn next_of(&self, schedule: &Schedule, now: DateTime<Utc>) -> Option<i64> {
        let local = now.with_timezone(&self.zone);
        let every_hour = schedule.hours().is_all();
        let regular = schedule
            .after(&local)
            .find(|at| {
                at.timestamp_millis() > now.timestamp_millis()
                    && (every_hour || !self.is_second(at))
            })
            .map(|at| at.timestamp_millis());
        let repeated = self.repeated(schedule, now).filter(|_| every_hour);
        [regular, repeated, self.skipped(schedule, now)]
            .into_iter()
            .flatten()
            .min()
    }

    /// The next run as if the clock were not set back meanwhile: in an hour that comes twice, its second time.
    fn repeated(&self, schedule: &Schedule, now: DateTime<Utc>) -> Option<i64> {
        let offset = now.with_timezone(&self.zone).offset().fix();
        let at = schedule.after(&now.with_timezone(&offset)).next()?;
        schedule
            .includes(at.with_timezone(&self.zone))
            .then(|| at.timestamp_millis())
    }

    /// The second of two equal times of day.
    fn is_second(&self, at: &DateTime<Tz>) -> bool {
        match self.zone.from_local_datetime(&at.naive_local()) {
            LocalResult::Ambiguous(first, _) => first < *at,
            _ => false,
        }
    }

    /// The first run that falls into an hour which the clock skips, moved to the end of the gap.
    fn skipped(&self, schedule: &Schedule, now: DateTime<Utc>) -> Option<i64> {
        // Walks the clock face as if it never jumped; starts before `now`, since the gap may have begun.
        let face = now.with_timezone(&self.zone).naive_local() - Duration::minutes(LONGEST_GAP_MIN);
        schedule
            .after(&Utc.from_utc_datetime(&face))
            .take(3)
            .filter_map(|at| {
                let naive = at.naive_utc();
                let in_gap = matches!(self.zone.from_local_datetime(&naive), LocalResult::None);
                if !in_gap {
                    return None;
                }
                (1..=LONGEST_GAP_MIN).find_map(|minutes| {
                    let later = naive + Duration::minutes(minutes);
                    self.zone.from_local_datetime(&later).earliest()
                })
            })
            .map(|at| at.timestamp_millis())
            .find(|ms| *ms > now.timestamp_millis())
    }
}

/// The field as the `cron` crate takes it, or what is wrong with it.
fn field(line: &str, index: usize, value: &str) -> Result<String, CronError> {
    let (name, range) = FIELDS[index];
    let wrong = || CronError::Field {
        line: line.to_owned(),
        field: name,
        value: value.to_owned(),
        range,
    };
    if index == 5 {
        return weekdays(value).ok_or_else(wrong);
    }
    let mut probe = ["0", "*", "*", "*", "*", "*", "*"];
    probe[index] = value;
    Schedule::from_str(&probe.join(" "))
        .map(|_| value.to_owned())
        .map_err(|_| wrong())
}

/// `1-5`, `0,6`, `Mon-Fri`, `*/2`, `5-7`: as a list of names.
fn weekdays(value: &str) -> Option<String> {
    if matches!(value, "*" | "?") {
        return Some("*".to_owned());
    }
    let mut on = [false; 7];
    for part in value.split(',') {
        let (days, step) = match part.split_once('/') {
            Some((days, step)) => (days, step.parse::<usize>().ok().filter(|s| *s > 0)?),
            None => (part, 1),
        };
        let (first, last) = match days.split_once('-') {
            _ if days == "*" => (0, 6),
            Some((a, b)) => (weekday(a)?, weekday(b)?),
            None if part.contains('/') => (weekday(days)?, 6),
            None => (weekday(days)?, weekday(days)?),
        };
        // Sat-Mon goes round the end of the week.
        let last = if last < first { last + 7 } else { last };
        for day in (first..=last).step_by(step) {
            on[day % 7] = true;
        }
    }
    let names: Vec<&str> = NAMES
        .iter()
        .zip(on)
        .filter_map(|(name, on)| on.then_some(*name))
        .collect();
    Some(if names.len() == 7 {
        "*".to_owned()
    } else {
        names.join(",")
    })
}

fn weekday(text: &str) -> Option<usize> {
    if let Ok(number) = text.parse::<usize>() {
        return (number <= 7).then_some(number);
    }
    NAMES.iter().position(|name| {
        text.get(..3).is_some_and(|t| t.eq_ignore_ascii_case(name))
            && text.len() <= 9
            && text.bytes().all(|b| b.is_ascii_alphabetic())
    })
}
