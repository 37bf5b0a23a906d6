//! The forms in which a time is told. In: a short text. Out: where the first time in it stands. Each form is read from
//! the places where one may begin: an automaton of all of them is so large that it waits for memory at each step. Never
//! looks back: what a form may take, it takes. Never resolves a time.

use std::ops::Range;

use super::place::Place;

/// Days told from today.
pub(super) const DAYS: [&str; 7] = [
    "yesterday",
    "today",
    "gestern",
    "heute",
    "hier",
    "ayer",
    "hoy",
];

/// What the names of months in English begin with.
pub(super) const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];

/// Reads on behind what it reads from a place, `None` where that does not stand.
type Form = fn(Place) -> Option<Place>;

/// The first time in a text with the time of day behind it, as a byte range.
pub(super) fn find(text: &str) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let is_digit = |byte: &u8| byte.is_ascii_digit();
    let mut at = 0;
    while at < bytes.len() {
        let rest = bytes.iter().skip(at);
        let number = at + rest.take_while(|byte| !is_digit(byte)).count();
        let digits = bytes.iter().skip(number);
        let end = number + digits.take_while(|byte| is_digit(byte)).count();
        let found = with_word(text, at..number).or_else(|| with_number(text, number..end));
        if let Some((from, end)) = found {
            return Some(from.at()..end.maybe(hour).at());
        }
        at = end;
    }
    None
}

/// A time that begins with a word between two numbers, and what stands behind it.
fn with_word(text: &str, between: Range<usize>) -> Option<(Place<'_>, Place<'_>)> {
    let month = last_word(text, between.end);
    // What stands before is part of a word of ASCII.
    let mut inside = between.start > 0;
    let bytes = text.as_bytes();
    for at in between {
        let (first, second) = (*bytes.get(at)?, bytes.get(at + 1).copied());
        let from = Place::new(text, at);
        if begins(from, first, inside) {
            let forms = words_from(first, second.unwrap_or_default());
            let end = forms
                .iter()
                .find_map(|form| form(from))
                .or_else(|| (at >= month).then(|| month_before_day(from))?)
                .or_else(|| (at == 0).then(|| month_alone(from))?);
            if let Some(end) = end {
                return Some((from, end));
            }
        }
        inside = first.is_ascii_alphabetic() || first == b'_';
    }
    None
}

/// Where the last word before a number begins at the earliest.
fn last_word(text: &str, number: usize) -> usize {
    let before = text.as_bytes().get(..number).unwrap_or_default();
    let end = before
        .iter()
        .rposition(|byte| byte.is_ascii() && !matches!(byte, b' ' | b'\t'..=b'\r' | b'.'));
    let word = before.get(..=end.unwrap_or(0)).unwrap_or_default();
    let start = word
        .iter()
        .rposition(|byte| byte.is_ascii() && !byte.is_ascii_alphabetic());
    start.map_or(0, |start| start + 1)
}

/// A form may begin with the letter that stands here.
fn begins(place: Place, byte: u8, inside: bool) -> bool {
    let of_form = |char| {
        matches!(
            char,
            '昨' | '前' | '今' | '刚' | '剛' | 'た' | '半' | '几' | '一' | '两' | '二' | '三'
        )
    };
    match byte {
        b'A'..=b'Z' | b'a'..=b'z' => !inside,
        // The first bytes of these characters.
        0xE3..=0xE6 => inside || place.char().is_some_and(of_form),
        0xC0.. => inside || place.at() == 0,
        _ => false,
    }
}

/// A time that begins with the last digits of a number, and what stands behind it.
fn with_number(text: &str, number: Range<usize>) -> Option<(Place<'_>, Place<'_>)> {
    let last = |digits: usize| Place::new(text, number.end - digits);
    let read = |digits: usize, forms: &[Form]| {
        let end = forms.iter().find_map(|form| form(last(digits)))?;
        Some((last(digits), end))
    };
    let forms = numbers_before(Place::new(text, number.end));
    match number.len() {
        0..=2 => read(number.len(), forms),
        3 => read(3, forms).or_else(|| read(2, &[day_of_month])),
        // What takes three digits would take fewer of them as well.
        _ => read(4, &[day_of_year])
            .or_else(|| read(3, forms))
            .or_else(|| read(2, &[day_of_month])),
    }
}

/// The forms whose number may stand before this place, best first.
fn numbers_before(place: Place) -> &'static [Form] {
    match place.byte() {
        Some(b'-' | b'/' | b'.') => return &[day_in_numbers, day_and_hour, day_before_month],
        Some(b' ' | b'\t'..=b'\r' | b'A'..=b'Z' | b'a'..=b'z' | 0x80..) => {}
        _ => return &[],
    }
    match place.blanks().byte() {
        Some(b'A'..=b'Z' | b'a'..=b'z') => &[
            ago_in_english,
            alone_in_english,
            ago_elsewhere,
            day_before_month,
        ],
        Some(b'-') => &[day_before_month],
        // No letter of ASCII in another spelling.
        Some(0xE3..) => &[
            day_of_month,
            ago_in_han,
            alone_in_han,
            ago_elsewhere,
            day_before_month,
        ],
        Some(0x80..) => &[
            day_of_month,
            ago_in_han,
            ago_in_english,
            alone_in_english,
            alone_in_han,
            ago_elsewhere,
            day_before_month,
        ],
        _ => &[],
    }
}

/// The forms but those of months that may begin with a letter and what stands behind it, best first.
fn words_from(first: u8, second: u8) -> &'static [Form] {
    match (first.to_ascii_lowercase(), second.to_ascii_lowercase()) {
        (0x80.., _) => &[day_in_han, just_now_in_han, ago_in_han],
        (_, 0x80..) => &[day_by_name, just_now, ago_in_english, ago_behind_a_word],
        (b'a', b'y') => &[day_by_name, ago_in_english],
        (b'a', b'n' | b'd' | b'h' | b'm' | b's' | b'w' | b' ' | b'\t'..=b'\r') | (b'o', b'n') => {
            &[ago_in_english]
        }
        (b'g' | b'h' | b'y', b'e') | (b'h', b'i') | (b'h' | b't', b'o') => &[day_by_name],
        (b'f' | b'h', b'a') | (b'i', b'l') | (b'v', b'o') => &[ago_behind_a_word],
        (b'j', b'u') | (b'm', b'o') => &[just_now],
        _ => &[],
    }
}

/// 2019-09-07, 2019 年 9 月 7 日, 2019/9/7 星期六.
fn day_of_year(place: Place) -> Option<Place> {
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
fn day_of_week(place: Place) -> Option<Place> {
    const MOST: usize = 5;
    let mut end = place.blanks();
    let mut last = None;
    let mut count = 0;
    while count < MOST
        && let Some(char) = end.char().filter(|char| Place::is_han(*char))
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
fn day_in_numbers(place: Place) -> Option<Place> {
    const SIGNS: [&str; 3] = ["-", "/", "."];
    let month = place.bound()?.digits(1, 2)?.one(&SIGNS)?;
    let year = month.digits(1, 2)?.one(&SIGNS)?;
    let whole = year.year().and_then(Place::bound);
    whole.or_else(|| year.digits(2, 2)?.bound())
}

/// 09-07 10:02.
fn day_and_hour(place: Place) -> Option<Place> {
    let month = place.bound()?.digits(1, 2)?.one(&["-", "/"])?;
    let end = month.digits(1, 2)?.some_blanks()?.clock()?;
    Some(end.maybe(|end| end.one(&[":"])?.digits(2, 2)))
}

/// 9 月 7 日.
fn day_of_month(place: Place) -> Option<Place> {
    let month = place.digits(1, 2)?.maybe_blank().one(&["月"])?;
    let day = month.maybe_blank().digits(1, 2)?;
    day.maybe_blank().one(&["日", "号"])
}

/// 昨天 12:05.
fn day_in_han(place: Place) -> Option<Place> {
    let end = place.one(&["昨天", "前天", "今天", "昨日", "今日"])?;
    end.blank()
        .or_else(|| end.digits(1, 1))
        .or_else(|| end.end())
}

fn day_by_name(place: Place) -> Option<Place> {
    place.bound()?.one(&DAYS)?.bound()
}

fn just_now_in_han(place: Place) -> Option<Place> {
    place.one(&["刚刚", "剛剛", "刚才", "たった今"])
}

fn just_now(place: Place) -> Option<Place> {
    place.bound()?.one(&["just now", "moments ago"])?.bound()
}

/// 3小时前, 半年以前.
fn ago_in_han(place: Place) -> Option<Place> {
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
fn ago_in_english(place: Place) -> Option<Place> {
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
fn smaller(place: Place) -> Option<Place> {
    let number = place.one(&[","])?.blanks().digits(1, usize::MAX)?;
    number.blanks().latin(1, usize::MAX)
}

/// 2w, 5 min ago, and nothing else in the text.
fn alone_in_english(place: Place) -> Option<Place> {
    const UNITS: [&str; 10] = ["min", "mo", "m", "hr", "h", "yr", "y", "s", "d", "w"];
    let unit = place.start()?.digits(1, 2)?.maybe_blank().one(&UNITS)?;
    unit.maybe_one(&["s"])
        .maybe_one(&["."])
        .maybe(|end| end.some_blanks()?.one(&["ago"]))
        .end()
}

/// 3小时 and nothing else, as forums shorten it. A month alone is rather that of an archive.
fn alone_in_han(place: Place) -> Option<Place> {
    const UNITS: [&str; 10] = [
        "秒", "分钟", "分鐘", "分", "小时", "小時", "天", "周", "個月", "个月",
    ];
    let unit = place.start()?.digits(1, 3)?.maybe_blank();
    unit.one(&UNITS)?.end()
}

/// vor 3 Tagen, il y a une heure.
fn ago_behind_a_word(place: Place) -> Option<Place> {
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
fn ago_elsewhere(place: Place) -> Option<Place> {
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
fn month_before_day(place: Place) -> Option<Place> {
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
fn day_before_month(place: Place) -> Option<Place> {
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
    let year = behind.year().and_then(Place::bound);
    year.or_else(|| behind.clock())
}

fn de(place: Place) -> Option<Place> {
    place.one(&["de"])?.some_blanks()
}

/// Oct 2, March 2019, and nothing else in the text.
fn month_alone(place: Place) -> Option<Place> {
    let month = place.start()?.one(&MONTHS)?.latin(0, 6)?;
    let behind = month.maybe_one(&["."]).some_blanks()?;
    let day = behind.digits(1, 2).and_then(Place::end);
    day.or_else(|| behind.one(&["'", "20"])?.digits(2, 2)?.end())
}

/// The time of day that may stand behind each of them.
fn hour(place: Place) -> Option<Place> {
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
fn half_of_day(place: Place) -> Option<Place> {
    let m = place.blanks().one(&["a", "p"])?.maybe_one(&["."]);
    Some(m.one(&["m"])?.bound()?.maybe_one(&["."]))
}
