//! The forms in which a time is told. In: a place in a text. Out: the place behind what stands there, if it is a time of
//! that form. Never looks back: what a form may take, it takes.

use super::cursor::Cursor;

/// Days told from today.
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

/// 2019-09-07, 2019 年 9 月 7 日, 2019/9/7 星期六.
pub(crate) fn day_of_year(place: Cursor) -> Option<Cursor> {
    let month = place
        .year()?
        .maybe_blank()
        .one(&["-", "–", "/", ".", "年"])?;
    let day = month
        .maybe_blank()
        .digits(1, 2)?
        .maybe_blank()
        .one(&["-", "–", "/", ".", "月"])?;
    let end = day.maybe_blank().digits(1, 2)?;
    let end = end.maybe(|end| end.maybe_blank().one(&["日", "号"]));
    Some(end.maybe(day_of_week))
}

/// Two or three characters of Chinese right before a number or a letter.
fn day_of_week(place: Cursor) -> Option<Cursor> {
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

/// 7/9/2019, 07.09.19.
pub(crate) fn day_in_numbers(place: Cursor) -> Option<Cursor> {
    const SIGNS: [&str; 3] = ["-", "/", "."];
    let month = place.bound()?.digits(1, 2)?.one(&SIGNS)?;
    let year = month.digits(1, 2)?.one(&SIGNS)?;
    let whole = year.year().and_then(Cursor::bound);
    whole.or_else(|| year.digits(2, 2)?.bound())
}

/// 09-07 10:02.
pub(crate) fn day_and_hour(place: Cursor) -> Option<Cursor> {
    let month = place.bound()?.digits(1, 2)?.one(&["-", "/"])?;
    let end = month.digits(1, 2)?.some_blanks()?.clock()?;
    Some(end.maybe(|end| end.one(&[":"])?.digits(2, 2)))
}

/// 9 月 7 日.
pub(crate) fn day_of_month(place: Cursor) -> Option<Cursor> {
    let month = place.digits(1, 2)?.maybe_blank().one(&["月"])?;
    let day = month.maybe_blank().digits(1, 2)?;
    day.maybe_blank().one(&["日", "号"])
}

/// 昨天 12:05.
pub(crate) fn day_in_han(place: Cursor) -> Option<Cursor> {
    let end = place.one(&["昨天", "前天", "今天", "昨日", "今日"])?;
    end.blank()
        .or_else(|| end.digits(1, 1))
        .or_else(|| end.end())
}

pub(crate) fn day_by_name(place: Cursor) -> Option<Cursor> {
    place.bound()?.one(&DAYS)?.bound()
}

pub(crate) fn just_now_in_han(place: Cursor) -> Option<Cursor> {
    place.one(&["刚刚", "剛剛", "刚才", "たった今"])
}

pub(crate) fn just_now(place: Cursor) -> Option<Cursor> {
    place.bound()?.one(&["just now", "moments ago"])?.bound()
}

/// 3小时前, 半年以前.
pub(crate) fn ago_in_han(place: Cursor) -> Option<Cursor> {
    let number = place
        .digits(1, 3)
        .or_else(|| place.one(&["半", "几", "一", "两", "二", "三"]))?;
    let unit = number.blanks().maybe_one(&["个"]).blanks();
    let first = unit.char()?;
    let behind = unit.behind(first);
    let end = match first {
        '天' | '日' | '周' | '月' | '年' => behind,
        '秒' => behind.maybe_one(&["钟"]),
        '分' => behind.maybe_one(&["钟", "鐘"]),
        '週' => behind.maybe_one(&["間"]),
        '小' => behind.one(&["时", "時"])?,
        '时' => behind.one(&["间"])?,
        '時' => behind.one(&["間"])?,
        '星' => behind.one(&["期"])?,
        '个' | 'ヶ' | 'か' => behind.one(&["月"])?,
        _ => return None,
    };
    end.blanks().maybe_one(&["之", "以"]).one(&["前"])
}

/// 2 days ago, an hour, 5 minutes ago.
pub(crate) fn ago_in_english(place: Cursor) -> Option<Cursor> {
    const UNITS: [&str; 14] = [
        "second", "sec", "minute", "min", "hr", "hour", "day", "week", "wk", "month", "mon", "mo",
        "year", "yr",
    ];
    let number = place
        .digits(1, 3)
        .or_else(|| place.bound()?.one(&["an", "a", "one"]))?;
    let unit = number.blanks().one(&UNITS)?;
    let unit = unit.maybe_one(&["s"]).maybe_one(&["."]);
    unit.maybe(smaller).some_blanks()?.one(&["ago"])?.bound()
}

/// Behind hours come minutes.
fn smaller(place: Cursor) -> Option<Cursor> {
    let number = place.one(&[","])?.blanks().digits(1, usize::MAX)?;
    number.blanks().latin(1, usize::MAX)
}

/// 2w, 5 min ago, and nothing else in the text.
pub(crate) fn alone_in_english(place: Cursor) -> Option<Cursor> {
    const UNITS: [&str; 10] = ["min", "mo", "m", "hr", "h", "yr", "y", "s", "d", "w"];
    let unit = place.start()?.digits(1, 2)?.maybe_blank().one(&UNITS)?;
    unit.maybe_one(&["s"])
        .maybe_one(&["."])
        .maybe(|end| end.some_blanks()?.one(&["ago"]))
        .end()
}

/// 3小时 and nothing else, as forums shorten it. A month alone is rather that of an archive.
pub(crate) fn alone_in_han(place: Cursor) -> Option<Cursor> {
    const UNITS: [&str; 10] = [
        "秒", "分钟", "分鐘", "分", "小时", "小時", "天", "周", "個月", "个月",
    ];
    let unit = place.start()?.digits(1, 3)?.maybe_blank();
    unit.one(&UNITS)?.end()
}

/// vor 3 Tagen, il y a une heure.
pub(crate) fn ago_behind_a_word(place: Cursor) -> Option<Cursor> {
    let number = place
        .bound()?
        .one(&["vor", "il y a", "hace", "há", "fa"])?
        .some_blanks()?;
    number
        .digits(1, 3)
        .or_else(|| number.one(&["einem", "einer", "une", "un", "uma", "um"]))?
        .some_blanks()?
        .letters(3, 9)
}

/// 3일 전, 3 gün önce.
pub(crate) fn ago_elsewhere(place: Cursor) -> Option<Cursor> {
    let number = place.digits(1, 3)?;
    let unit = number
        .blanks()
        .one(&["초", "분", "시간", "일", "주", "개월", "년"]);
    let korean = unit.and_then(|unit| unit.blanks().one(&["전"]));
    korean.or_else(|| {
        let unit = number.some_blanks()?.letters(3, 8)?;
        let end = unit.some_blanks()?;
        end.one(&["назад", "fa", "önce", "atrás"])?.bound()
    })
}

/// Oct 2, 2019, Oct. 2nd at 8:00.
pub(crate) fn month_before_day(place: Cursor) -> Option<Cursor> {
    let month = place.bound()?.letters(3, 9)?;
    let day = month.maybe_one(&["."]).some_blanks()?;
    let behind = day
        .digits(1, 2)?
        .maybe_one(&["st", "nd", "rd", "th"])
        .maybe_one(&[","])
        .some_blanks()?;
    behind
        .year()
        .or_else(|| behind.one(&["'"])?.digits(2, 2)?.bound())
        .or_else(|| behind.maybe(|at| at.one(&["at"])?.some_blanks()).clock())
}

/// 2 Oct 2019, 2. Oktober, 8:00, 2 de octubre de 2019.
pub(crate) fn day_before_month(place: Cursor) -> Option<Cursor> {
    let month = place
        .bound()?
        .digits(1, 2)?
        .maybe_one(&["st", "nd", "rd", "th", "."])
        .some_dashes()?
        .maybe(de);
    let behind = month
        .letters(3, 10)?
        .maybe_one(&["."])
        .maybe_one(&[","])
        .some_dashes()?
        .maybe(de);
    let year = behind.year().and_then(Cursor::bound);
    year.or_else(|| behind.clock())
}

fn de(place: Cursor) -> Option<Cursor> {
    place.one(&["de"])?.some_blanks()
}

/// Oct 2, March 2019, and nothing else in the text.
pub(crate) fn month_alone(place: Cursor) -> Option<Cursor> {
    let month = place.start()?.one(&MONTHS)?.latin(0, 6)?;
    let behind = month.maybe_one(&["."]).some_blanks()?;
    let day = behind.digits(1, 2).and_then(Cursor::end);
    day.or_else(|| behind.one(&["'", "20"])?.digits(2, 2)?.end())
}

/// The time of day that may stand behind each of them.
pub(crate) fn hour(place: Cursor) -> Option<Cursor> {
    const WORDS: [&str; 10] = [
        "at", "à", "um", "a las", "kl.", "kl", "上午", "下午", "晚上", "凌晨",
    ];
    let mut from = place;
    while let Some(next) = from.one(&["t", ","]).or_else(|| from.blank()) {
        from = next;
    }
    let minute = from
        .maybe_one(&WORDS)
        .blanks()
        .digits(1, 2)?
        .one(&[":", "：", "点", "时"])?;
    Some(
        minute
            .digits(2, 2)?
            .maybe(|end| end.one(&[":", "：", "分"])?.digits(2, 2))
            .maybe_one(&["秒"])
            .maybe(half_of_day),
    )
}

/// a.m., PM.
fn half_of_day(place: Cursor) -> Option<Cursor> {
    let m = place.blanks().one(&["a", "p"])?.maybe_one(&["."]);
    Some(m.one(&["m"])?.bound()?.maybe_one(&["."]))
}
