//! The forms in which a time is written. Each reader takes a place in a text and returns the place behind the time with its
//! parts. Readers are greedy and never backtrack; the pattern of each form is in the tests.

use super::cursor::Cursor;

/// The place behind a time, and what the time says.
pub(crate) type ReadTime<'a> = Option<(Cursor<'a>, TimeParts<'a>)>;

/// Days relative to today.
pub(crate) const DAYS: [&str; 7] = [
    "yesterday",
    "today",
    "gestern",
    "heute",
    "hier",
    "ayer",
    "hoy",
];

/// What the names of months in English begin with.
pub(crate) const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];

/// 2019-09-07, 2019 年 9 月 7 日, 2019년 9월 7일.
pub(crate) fn day_of_year(place: Cursor<'_>) -> ReadTime<'_> {
    let year = place.year()?;
    let month = year
        .maybe_blank()
        .one(&["-", "–", "/", ".", "_", "年", "년"])?
        .maybe_blank();
    let month_end = month.digits(1, 2)?;
    let day = month_end
        .maybe_blank()
        .one(&["-", "–", "/", ".", "_", "月", "월"])?
        .maybe_blank();
    let end = day.digits(1, 2)?;
    let parts = TimeParts::Day {
        year: year.since(place),
        month: month_end.since(month),
        day: end.since(day),
    };
    Some((end.maybe(|end| end.maybe_blank().one(&DAY_SIGNS)), parts))
}

/// What may be behind the day of a month.
const DAY_SIGNS: [&str; 4] = ["日", "号", "號", "일"];

/// 20190907.
pub(crate) fn eight_digits(place: Cursor<'_>) -> ReadTime<'_> {
    let year = place.year()?;
    let (month, end) = (year.digits(2, 2)?, year.digits(4, 4)?);
    let parts = TimeParts::Day {
        year: year.since(place),
        month: month.since(year),
        day: end.since(month),
    };
    Some((end, parts))
}

/// 星期六: two or three characters of Chinese right before a number or a letter.
pub(crate) fn day_of_week(place: Cursor) -> Option<Cursor> {
    const MOST: usize = 5;
    let mut end = place.blanks();
    let mut last = None;
    let mut count = 0;
    while count < MOST
        && let Some(char) = end.char().filter(|char| Cursor::is_han(*char))
    {
        end = end.behind(char);
        last = Some(char);
        count += 1;
    }
    (matches!(count, 2 | 3) || (count == 4 && last == Some('日')))
        .then(|| end.bound())
        .flatten()
}

/// 7/9/2019, 07.09.19, 7 / 9 / 2019.
pub(crate) fn day_in_numbers(place: Cursor<'_>) -> ReadTime<'_> {
    const SIGNS: [&str; 3] = ["-", "/", "."];
    let first = place.digits(1, 2)?;
    let sign = first.maybe_blank();
    let second = sign.one(&SIGNS)?.maybe_blank();
    let second_end = second.digits(1, 2)?;
    // Hours of a day may be written so too: `10.00 - 12`.
    let short = second_end.one(&SIGNS);
    let year = second_end
        .maybe_blank()
        .one(&SIGNS)
        .map(Cursor::maybe_blank);
    let whole = year.and_then(|year| Some((year, year.year()?.bound()?)));
    let (year, end) = whole.or_else(|| Some((short?, short?.digits(2, 2)?.bound()?)))?;
    let parts = TimeParts::Numbers {
        first: first.since(place),
        second: second_end.since(second),
        year: end.since(year),
        dotted: sign.byte() == Some(b'.') && sign == first,
    };
    Some((end, parts))
}

/// 09-07 10:02.
pub(crate) fn day_and_hour(place: Cursor<'_>) -> ReadTime<'_> {
    let month = place.digits(1, 2)?;
    let day = month.one(&["-", "/"])?;
    let day_end = day.digits(1, 2)?;
    let end = day_end.some_blanks()?.clock()?;
    let parts = TimeParts::DayOfMonth {
        year: "",
        month: month.since(place),
        day: day_end.since(day),
        sign: day.since(month),
        day_end: day_end.at(),
    };
    Some((end.maybe(|end| end.one(&[":"])?.digits(2, 2)), parts))
}

/// 9 月 7 日.
pub(crate) fn day_of_month(place: Cursor<'_>) -> ReadTime<'_> {
    let month = place.digits(1, 2)?;
    let day = month.maybe_blank().one(&["月"])?.maybe_blank();
    let day_end = day.digits(1, 2)?;
    let end = day_end.maybe_blank().one(&["日", "号", "號"])?;
    let parts = TimeParts::DayOfMonth {
        year: "",
        month: month.since(place),
        day: day_end.since(day),
        sign: "",
        day_end: end.at(),
    };
    Some((end, parts))
}

/// 19年9月7日, 19-09-07 10:02.
pub(crate) fn day_of_short_year(place: Cursor<'_>) -> ReadTime<'_> {
    let year = place.digits(2, usize::MAX)?;
    let rest = year
        .maybe_blank()
        .one(&["年", "-", "/", "."])?
        .maybe_blank();
    let (end, parts) = day_of_month(rest).or_else(|| day_and_hour(rest))?;
    Some((end, parts.of_year(year.since(place))))
}

/// 09-07 behind a colon: a day only where it is called one.
pub(crate) fn two_numbers(place: Cursor<'_>) -> ReadTime<'_> {
    let month = place.digits(2, 2)?;
    let day = month.one(&["-"])?;
    let end = day.digits(2, 2)?;
    let behind = end.blanks();
    let more = |char: char| char.is_ascii_digit() || matches!(char, ':' | '.' | '/' | '-');
    if behind.char().is_some_and(more) {
        return None;
    }
    let parts = TimeParts::TwoNumbers {
        month: month.since(place),
        day: end.since(day),
    };
    Some((end, parts))
}

/// 昨天, 今日.
pub(crate) fn day_in_han(place: Cursor<'_>) -> ReadTime<'_> {
    let end = place.one(&["昨天", "前天", "今天", "昨日", "今日"])?;
    Some((end, TimeParts::DayByName(end.since(place))))
}

/// 昨天 12:05: a day with something behind that is no word.
pub(crate) fn day_in_han_alone(place: Cursor<'_>) -> ReadTime<'_> {
    let (end, parts) = day_in_han(place)?;
    let end = end
        .blank()
        .or_else(|| end.digits(1, 1))
        .or_else(|| end.end())?;
    Some((end, parts))
}

/// yesterday, heute.
pub(crate) fn day_by_name(place: Cursor<'_>) -> ReadTime<'_> {
    let end = place.bound()?.one(&DAYS)?.bound()?;
    Some((end, TimeParts::DayByName(end.since(place))))
}

/// 刚刚.
pub(crate) fn just_now_in_han(place: Cursor<'_>) -> ReadTime<'_> {
    let end = place.one(&["刚刚", "剛剛", "たった今", "刚才"])?;
    // The last is said of what one has read or heard, too.
    let parts = if end.since(place) == "刚才" {
        TimeParts::Other
    } else {
        TimeParts::Now
    };
    Some((end, parts))
}

/// just now.
pub(crate) fn just_now(place: Cursor<'_>) -> ReadTime<'_> {
    let end = place.bound()?.one(&["just now", "moments ago"])?.bound()?;
    Some((end, TimeParts::Now))
}

/// 3小时前, 半年以前, 1个月10天前.
pub(crate) fn ago_in_han(place: Cursor<'_>) -> ReadTime<'_> {
    let number = place
        .digits(1, 3)
        .or_else(|| place.one(&["半", "几", "一", "两", "二", "三"]))?;
    let (mut end, unit) = unit_in_han(number)?;
    let mut smaller = None;
    if let Some(more) = end.digits(1, 2)
        && let Some((behind, less)) = unit_in_han(more)
    {
        (end, smaller) = (behind, Some((more.since(end), less)));
    }
    let end = end.blanks().maybe_one(&["之", "以"]).one(&["前"])?;
    let count = number.since(place);
    Some((
        end,
        TimeParts::Ago {
            count,
            unit,
            smaller,
        },
    ))
}

/// The unit behind a number.
fn unit_in_han(number: Cursor<'_>) -> Option<(Cursor<'_>, TimeUnit)> {
    let unit = number.blanks().maybe_one(&["个", "個"]).blanks();
    let first = unit.char()?;
    let behind = unit.behind(first);
    Some(match first {
        '天' | '日' => (behind, TimeUnit::Day),
        '周' => (behind, TimeUnit::Week),
        '月' => (behind, TimeUnit::Month),
        '年' => (behind, TimeUnit::Year),
        '秒' => (behind.maybe_one(&["钟"]), TimeUnit::Second),
        '分' => (behind.maybe_one(&["钟", "鐘"]), TimeUnit::Minute),
        '週' => (behind.maybe_one(&["間"]), TimeUnit::Week),
        '小' => (behind.one(&["时", "時"])?, TimeUnit::Hour),
        '时' => (behind.one(&["间"])?, TimeUnit::Hour),
        '時' => (behind.one(&["間"])?, TimeUnit::Hour),
        '星' => (behind.one(&["期"])?, TimeUnit::Week),
        '个' | 'ヶ' | 'か' => (behind.one(&["月"])?, TimeUnit::Month),
        _ => return None,
    })
}

/// 2 days ago, an hour, 5 minutes ago.
pub(crate) fn ago_in_english(place: Cursor<'_>) -> ReadTime<'_> {
    let number = place
        .digits(1, 3)
        .or_else(|| place.bound()?.one(&["an", "a", "one"]))?;
    let (unit_end, unit) = TimeUnit::in_english(number.blanks())?;
    let end = unit_end.maybe_one(&["s"]).maybe_one(&["."]);
    let smaller = smaller(end);
    let end = smaller.map_or(end, |(end, _)| end);
    let end = end.some_blanks()?.one(&["ago"])?;
    let parts = TimeParts::Ago {
        count: number.since(place),
        unit,
        smaller: smaller.and_then(|(_, smaller)| smaller),
    };
    Some((end, parts))
}

/// Behind hours come minutes: `, 5 minutes`.
fn smaller(place: Cursor<'_>) -> Option<(Cursor<'_>, Option<(&str, TimeUnit)>)> {
    let count = place.one(&[","])?.blanks();
    let count_end = count.digits(1, usize::MAX)?;
    let from = count_end.blanks();
    let unit = TimeUnit::in_english(from).map(|(_, unit)| (count_end.since(count), unit));
    Some((from.latin(1, usize::MAX)?, unit))
}

/// 2w, 5 min ago, and nothing else in the text.
pub(crate) fn alone_in_english(place: Cursor<'_>) -> ReadTime<'_> {
    const UNITS: [&str; 10] = ["min", "mo", "m", "hr", "h", "yr", "y", "s", "d", "w"];
    let unit = place.start()?.digits(1, 2)?.maybe_blank().one(&UNITS)?;
    let end = unit.maybe_one(&["s"]).maybe_one(&["."]);
    let end = end.maybe(|end| end.some_blanks()?.one(&["ago"]));
    Some((end.end()?, TimeParts::Other))
}

/// 3小时 and nothing else, as forums shorten it. A month alone is rather that of an archive.
pub(crate) fn alone_in_han(place: Cursor<'_>) -> ReadTime<'_> {
    const UNITS: [&str; 10] = [
        "秒", "分钟", "分鐘", "分", "小时", "小時", "天", "周", "個月", "个月",
    ];
    let unit = place.start()?.digits(1, 3)?.maybe_blank();
    Some((unit.one(&UNITS)?.end()?, TimeParts::Other))
}

/// vor 3 Tagen, il y a une heure.
pub(crate) fn ago_behind_a_word(place: Cursor<'_>) -> ReadTime<'_> {
    let number = place
        .bound()?
        .one(&["vor", "il y a", "hace", "há", "fa"])?
        .some_blanks()?;
    let end = number
        .digits(1, 3)
        .or_else(|| number.one(&["einem", "einer", "une", "un", "uma", "um"]))?
        .some_blanks()?
        .letters(3, 9)?;
    Some((end, TimeParts::Other))
}

/// 3일 전, 3 gün önce.
pub(crate) fn ago_elsewhere(place: Cursor<'_>) -> ReadTime<'_> {
    let number = place.digits(1, 3)?;
    let unit = number
        .blanks()
        .one(&["초", "분", "시간", "일", "주", "개월", "년"]);
    let korean = unit.and_then(|unit| unit.blanks().one(&["전"]));
    let end = korean.or_else(|| {
        let unit = number.some_blanks()?.letters(3, 8)?;
        let end = unit.some_blanks()?;
        end.one(&["назад", "fa", "önce", "atrás"])?.bound()
    });
    Some((end?, TimeParts::Other))
}

/// Most letters of the name of a month.
const MONTH_LETTERS: usize = 12;

/// Oct 2, 2019, Oct. 2nd at 8:00 PM, 2019.
pub(crate) fn month_before_day(place: Cursor<'_>) -> ReadTime<'_> {
    let month = place.letters(3, MONTH_LETTERS)?;
    let day = month.maybe_one(&["."]).some_blanks()?;
    let day_end = day.digits(1, 2)?;
    let behind = day_end.maybe_one(&["st", "nd", "rd", "th"]);
    let comma = behind.maybe_one(&[","]);
    let from = comma.blanks();
    if from == behind {
        return None;
    }
    let year = from.maybe(hour_before_year);
    if let Some(end) = year.year() {
        let parts = TimeParts::NamedMonth {
            year: end.since(year),
            month: month.since(place),
            day: day_end.since(day),
        };
        return Some((end, parts));
    }
    let from = comma.some_blanks()?;
    let short_year = || from.one(&["'"])?.digits(2, 2)?.bound();
    let clock = || from.maybe(|at| at.one(&["at"])?.some_blanks()).clock();
    Some((short_year().or_else(clock)?, TimeParts::Other))
}

/// at 8:00 PM, before a year.
fn hour_before_year(place: Cursor<'_>) -> Option<Cursor<'_>> {
    let minute = place.one(&["at"])?.some_blanks()?.clock()?;
    let second = minute.maybe(|at| at.one(&[":"])?.digits(2, 2));
    let half = second.blanks().one(&["am", "pm"])?;
    Some(half.maybe_one(&[","]).blanks())
}

/// 2 Oct 2019, 2. Oktober, 8:00, 2 de octubre de 2019.
pub(crate) fn day_before_month(place: Cursor<'_>) -> ReadTime<'_> {
    let day = place.digits(1, 2)?;
    let month = day
        .maybe_one(&["st", "nd", "rd", "th", "er", "º", "."])
        .some_dashes()?
        .maybe(|place| place.one(&["de", "of"])?.some_blanks());
    let month_end = month.letters(3, MONTH_LETTERS)?;
    let behind = month_end.maybe_one(&["."]).maybe_one(&[",", "،"]);
    let from = behind.dashes();
    if from == month_end {
        return None;
    }
    let year = from.maybe(|place| place.one(&["del", "de"])?.some_blanks());
    if let Some(end) = year.year() {
        let parts = TimeParts::NamedMonth {
            year: end.since(year),
            month: month_end.since(month),
            day: day.since(place),
        };
        return Some((end, parts));
    }
    let from = behind.some_dashes()?;
    let end = from
        .maybe(|place| place.one(&["de"])?.some_blanks())
        .clock()?;
    Some((end, TimeParts::Other))
}

/// 2019 Oct 2, as catalogues and citations state it.
pub(crate) fn year_before_month(place: Cursor<'_>) -> ReadTime<'_> {
    let year = place.bound()?.year()?;
    let month = year.some_blanks()?;
    let month_end = month.letters(3, MONTH_LETTERS)?;
    let day = month_end.maybe_one(&["."]).some_blanks()?;
    let end = day.digits(1, 2)?;
    let parts = TimeParts::NamedMonth {
        year: year.since(place),
        month: month_end.since(month),
        day: end.since(day),
    };
    Some((end, parts))
}

/// Oct 2, March 2019, and nothing else in the text.
pub(crate) fn month_alone(place: Cursor<'_>) -> ReadTime<'_> {
    let month = place.start()?.one(&MONTHS)?.latin(0, 6)?;
    let behind = month.maybe_one(&["."]).some_blanks()?;
    let day = behind.digits(1, 2).and_then(Cursor::end);
    let end = day.or_else(|| behind.one(&["'", "20"])?.digits(2, 2)?.end())?;
    Some((end, TimeParts::Other))
}

/// What a time says. Parts are texts; years, days and months are digits unless a name is expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimeParts<'a> {
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
        /// A dot is right behind the first.
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
        /// What is between them where that is no word.
        sign: &'a str,
        /// Bytes before what is behind the day.
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
        unit: TimeUnit,
        /// What is to be added: the minutes behind hours, the days behind months.
        smaller: Option<(&'a str, TimeUnit)>,
    },
    /// A day by its distance from today: 昨天, yesterday.
    DayByName(&'a str),
    /// The moment.
    Now,
    /// A time that nobody resolves.
    Other,
}

impl<'a> TimeParts<'a> {
    /// The same with the year that is before month and day.
    pub(crate) fn of_year(mut self, before: &'a str) -> Self {
        if let Self::DayOfMonth { year, .. } = &mut self {
            *year = before;
        }
        self
    }
}

/// A unit of time; a longer one is the greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TimeUnit {
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

impl TimeUnit {
    /// The unit whose name in English is at a place, and the place behind the name.
    pub(crate) fn in_english(place: Cursor<'_>) -> Option<(Cursor<'_>, Self)> {
        // Without the sign of many; none is the beginning of one behind it.
        const NAMES: [(&str, TimeUnit); 14] = [
            ("second", TimeUnit::Second),
            ("sec", TimeUnit::Second),
            ("minute", TimeUnit::Minute),
            ("min", TimeUnit::Minute),
            ("hr", TimeUnit::Hour),
            ("hour", TimeUnit::Hour),
            ("day", TimeUnit::Day),
            ("week", TimeUnit::Week),
            ("wk", TimeUnit::Week),
            ("month", TimeUnit::Month),
            ("mon", TimeUnit::Month),
            ("mo", TimeUnit::Month),
            ("year", TimeUnit::Year),
            ("yr", TimeUnit::Year),
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

/// The time of day that may be behind each of them: , 13:43, (星期六) 下午 1:43:05, at 1.43 p.m. GMT, . 오후 3시 5분.
pub(crate) fn time_of_day(place: Cursor<'_>) -> Option<(Cursor<'_>, TimeOfDay<'_>)> {
    const WORDS: [&str; 11] = [
        "at", "à", "um", "a las", "kl.", "kl", "t", "-", "–", "—", "|",
    ];
    const HALVES: [&str; 12] = [
        "上午", "下午", "晚上", "晚", "凌晨", "早上", "中午", "傍晚", "오전", "오후", "午前",
        "午後",
    ];
    const HOURS: [&str; 5] = ["时", "點", "点", "時", "시"];
    // A day in Korean ends with a dot.
    let korean = place.one(&["."]).map(Cursor::blanks);
    let korean = korean.and_then(|half| Some((half, half.one(&["오전", "오후"])?)));
    let (half, half_end) = korean.unwrap_or_else(|| {
        let from = separators(place).maybe(bracketed_day_of_week);
        let half = separators(from).maybe_one(&WORDS).blanks();
        (half, half.maybe_one(&HALVES))
    });
    let hour = half_end.blanks();
    let hour_end = hour.digits(1, 2)?;
    let sign = hour_end.maybe_blank();
    let (minute, least) = match sign.one(&HOURS) {
        Some(spelled) => (spelled.maybe_blank(), 1),
        None => (sign.one(&[":", "：", "h", "."])?.maybe_blank(), 2),
    };
    let minute_end = minute.digits(least, 2)?;
    let second = minute_end
        .maybe_blank()
        .one(&[":", "：", "分", "분"])
        .map(Cursor::maybe_blank);
    let second_end = second.and_then(|second| second.digits(2, 2));
    let clock = second_end
        .unwrap_or(minute_end)
        .maybe(|end| end.one(&[".", ","])?.digits(1, 9))
        .maybe_one(&["分", "秒", "분", "초"]);
    let english = clock.blanks();
    let english_end = english.maybe(half_in_english);
    let behind = if english_end == english {
        clock
    } else {
        english_end
    };
    let zone = behind.blanks();
    let zone_end = zone.maybe(zone_of_time);
    let parts = TimeOfDay {
        half: if half_end == half {
            english_end.since(english)
        } else {
            half_end.since(half)
        },
        hour: hour_end.since(hour),
        minute: minute_end.since(minute),
        second: second
            .zip(second_end)
            .map_or("", |(second, end)| end.since(second)),
        zone: zone_end.since(zone),
    };
    Some((if zone_end == zone { behind } else { zone_end }, parts))
}

/// What may be between a day and an hour.
fn separators(place: Cursor<'_>) -> Cursor<'_> {
    let mut from = place;
    while let Some(next) = from
        .blank()
        .or_else(|| from.one(&[",", "，", "|", "·", "/"]))
    {
        from = next;
    }
    from
}

/// 星期六, (周六).
fn bracketed_day_of_week(place: Cursor<'_>) -> Option<Cursor<'_>> {
    let week = place.maybe_one(&["（", "("]).one(&["星期", "周", "週"])?;
    let day = week.one(&["一", "二", "三", "四", "五", "六", "日", "天"])?;
    Some(day.maybe_one(&["）", ")"]))
}

/// a.m., PM.
fn half_in_english(place: Cursor<'_>) -> Option<Cursor<'_>> {
    let m = place.one(&["a", "p"])?.maybe_one(&["."]);
    Some(m.one(&["m"])?.bound()?.maybe_one(&["."]))
}

/// GMT, +08:00.
fn zone_of_time(place: Cursor<'_>) -> Option<Cursor<'_>> {
    const NAMES: [&str; 14] = [
        "utc", "gmt", "cst", "est", "edt", "pst", "pdt", "cet", "cest", "bst", "jst", "kst", "msk",
        "z",
    ];
    let sign = place.one(&["+", "-"]);
    match sign {
        None => outside_word(place.one(&NAMES)?),
        Some(hours) => (hours.digits(1, 2))
            .and_then(|end| outside_word(end.one(&[":"])?.digits(2, 2)?))
            .or_else(|| outside_word(hours.digits(4, 4)?))
            .or_else(|| outside_word(hours.digits(1, 2)?)),
    }
}

/// The place itself, if no word continues there.
fn outside_word(place: Cursor<'_>) -> Option<Cursor<'_>> {
    let goes_on = |char: char| char.is_alphanumeric() || char == '_';
    (!place.char().is_some_and(goes_on)).then_some(place)
}
