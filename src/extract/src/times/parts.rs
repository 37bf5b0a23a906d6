//! What a time says, as it is written. In: parts of a text. Out: [`Parts`]. Never resolves it: that takes the time of the fetch.

use super::cursor::Cursor;

/// What a time says. Parts are texts; years, days and months are digits unless a name is expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parts<'a> {
    /// Year, month and day by number.
    Day {
        /// Four digits.
        year: &'a str,
        /// One or two.
        month: &'a str,
        /// One or two.
        day: &'a str,
    },
    /// The same with the name of the month, or any other word in its place.
    NamedMonth {
        /// Four digits.
        year: &'a str,
        /// A word.
        month: &'a str,
        /// One or two digits.
        day: &'a str,
    },
    /// Two numbers, either of which may be the day, and a year of two or four digits.
    Numbers {
        /// One or two digits.
        first: &'a str,
        /// One or two digits.
        second: &'a str,
        /// Two or four digits.
        year: &'a str,
        /// A dot stands right behind the first.
        dotted: bool,
    },
    /// Month and day, perhaps with a year before them.
    DayOfMonth {
        /// None to four digits.
        year: &'a str,
        /// One or two.
        month: &'a str,
        /// One or two.
        day: &'a str,
        /// What stands between them where that is no word.
        sign: &'a str,
        /// Bytes before what stands behind the day.
        day_end: usize,
    },
    /// Two numbers of two digits, which may be month and day.
    TwoNumbers {
        /// Two digits.
        month: &'a str,
        /// Two digits.
        day: &'a str,
    },
    /// So much before now.
    Ago {
        /// Digits, or a word for a number.
        count: &'a str,
        /// Of these.
        unit: Unit,
        /// What is to be added: the minutes behind hours, the days behind months.
        smaller: Option<(&'a str, Unit)>,
    },
    /// A day by its distance from today: 昨天, yesterday.
    DayByName(&'a str),
    /// The moment.
    Now,
    /// A time that nobody resolves.
    Other,
}

impl<'a> Parts<'a> {
    /// The same with the year that stands before month and day.
    pub(crate) fn of_year(mut self, before: &'a str) -> Self {
        if let Self::DayOfMonth { year, .. } = &mut self {
            *year = before;
        }
        self
    }
}

/// A unit of time; a longer one is the greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Unit {
    /// 秒.
    Second,
    /// 分钟.
    Minute,
    /// 小时.
    Hour,
    /// 天.
    Day,
    /// 周.
    Week,
    /// 月.
    Month,
    /// 年.
    Year,
}

impl Unit {
    /// The unit whose name in English stands at a place, and the place behind the name.
    pub(crate) fn in_english(place: Cursor<'_>) -> Option<(Cursor<'_>, Self)> {
        // Without the sign of many; none is the beginning of one behind it.
        const NAMES: [(&str, Unit); 14] = [
            ("second", Unit::Second),
            ("sec", Unit::Second),
            ("minute", Unit::Minute),
            ("min", Unit::Minute),
            ("hr", Unit::Hour),
            ("hour", Unit::Hour),
            ("day", Unit::Day),
            ("week", Unit::Week),
            ("wk", Unit::Week),
            ("month", Unit::Month),
            ("mon", Unit::Month),
            ("mo", Unit::Month),
            ("year", Unit::Year),
            ("yr", Unit::Year),
        ];
        let at = |(name, unit): &(&str, Self)| Some((place.one(&[name])?, *unit));
        NAMES.iter().find_map(at)
    }
}

/// A time of day as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TimeOfDay<'a> {
    /// Half of the day or part of it: 下午, pm; empty without.
    pub half: &'a str,
    /// One or two digits.
    pub hour: &'a str,
    /// Two digits.
    pub minute: &'a str,
    /// Two digits or none.
    pub second: &'a str,
    /// Name of the zone or its distance from UTC; empty without.
    pub zone: &'a str,
}
