//! The time of day that may stand behind a day. In: a place in a text. Out: the place behind it and its parts. The pattern is in
//! the tests.

use super::cursor::Cursor;
use super::parts::TimeOfDay;

/// The time of day that may stand behind each of them: , 13:43, (星期六) 下午 1:43:05, at 1.43 p.m. GMT.
pub(crate) fn time_of_day(place: Cursor<'_>) -> Option<(Cursor<'_>, TimeOfDay<'_>)> {
    const WORDS: [&str; 11] = [
        "at", "à", "um", "a las", "kl.", "kl", "t", "-", "–", "—", "|",
    ];
    const HALVES: [&str; 12] = [
        "上午", "下午", "晚上", "晚", "凌晨", "早上", "中午", "傍晚", "오전", "오후", "午前",
        "午後",
    ];
    let from = separators(place).maybe(bracketed_day_of_week);
    let half = separators(from).maybe_one(&WORDS).blanks();
    let half_end = half.maybe_one(&HALVES);
    let hour = half_end.blanks();
    let hour_end = hour.digits(1, 2)?;
    let minute = hour_end
        .maybe_blank()
        .one(&[":", "：", "时", "點", "点", "時", "h", "."])?
        .maybe_blank();
    let minute_end = minute.digits(2, 2)?;
    let second = minute_end
        .maybe_blank()
        .one(&[":", "：", "分"])
        .map(Cursor::maybe_blank);
    let second_end = second.and_then(|second| second.digits(2, 2));
    let clock = second_end
        .unwrap_or(minute_end)
        .maybe(|end| end.one(&[".", ","])?.digits(1, 9))
        .maybe_one(&["分", "秒"]);
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

/// What may stand between a day and an hour.
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

/// The place itself, if no word goes on there.
fn outside_word(place: Cursor<'_>) -> Option<Cursor<'_>> {
    let goes_on = |char: char| char.is_alphanumeric() || char == '_';
    (!place.char().is_some_and(goes_on)).then_some(place)
}
