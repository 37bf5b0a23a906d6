//! Numbers, days and times as a spreadsheet shows them (ECMA-376 part 1, 18.8.30 and 18.8.31), as in a Chinese Windows.
//!
//! A format code has up to four sections, for positive and negative numbers, zero, and text; a section may have a condition instead.
//! Colours and widths are left out, since they are no text.

use chrono::{Datelike as _, Duration, NaiveDate};

use crate::han_numbers::HanStyle;

/// Codes are longer only by mistake: Excel takes 255 characters.
const MAX_CODE_CHARS: usize = 1024;
/// Decimals that Excel writes at most.
const MAX_DECIMALS: usize = 30;
/// Numbers have this many digits that count; the others are noise.
const DIGITS: i32 = 15;
/// The last day that Excel knows, 31 December 9999.
const LAST_DAY: f64 = 2_958_466.0;
/// Days between the two ways to count them.
const DAYS_TO_1904: f64 = 1462.0;
/// Chinese of the mainland, as languages are numbered in format codes.
const CHINESE: u32 = 0x804;

/// A number format.
#[derive(Debug, Clone, Default)]
pub(crate) struct NumberFormat {
    sections: Vec<Section>,
}

#[derive(Debug, Clone, Default)]
struct Section {
    tokens: Vec<Token>,
    condition: Option<(Comparison, f64)>,
    han: Option<HanStyle>,
    is_full_width: bool,
    is_chinese: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Less,
    LessOrEqual,
    Equal,
    NotEqual,
    GreaterOrEqual,
    Greater,
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Literal(String),
    /// `0`, `#` or `?`
    Digit(char),
    Point,
    Comma,
    Percent,
    /// `E+` writes a sign always, `E-` only a minus.
    Exponent {
        has_plus: bool,
    },
    Slash,
    General,
    Text,
    /// Letters of a day or time, and how many of them.
    Time(char, usize),
    /// Hours, minutes or seconds altogether: `[h]`.
    Elapsed(char, usize),
    /// Names of the halves of the day.
    HalfDay([&'static str; 2]),
}

/// Returns the code of a format that has only a number. What 27–36 and 50–58 are depends on the language of the program; these are
/// the ones of Chinese.
pub(crate) fn built_in(id: u16) -> &'static str {
    match id {
        1 => "0",
        2 => "0.00",
        3 => "#,##0",
        4 => "#,##0.00",
        5 => "\"¥\"#,##0;\"¥\"-#,##0",
        6 => "\"¥\"#,##0;[Red]\"¥\"-#,##0",
        7 => "\"¥\"#,##0.00;\"¥\"-#,##0.00",
        8 => "\"¥\"#,##0.00;[Red]\"¥\"-#,##0.00",
        9 => "0%",
        10 => "0.00%",
        11 => "0.00E+00",
        12 => "# ?/?",
        13 => "# ??/??",
        14 => "yyyy/m/d",
        15 => "d-mmm-yy",
        16 => "d-mmm",
        17 => "mmm-yy",
        18 => "h:mm AM/PM",
        19 => "h:mm:ss AM/PM",
        20 => "h:mm",
        21 => "h:mm:ss",
        22 => "yyyy/m/d h:mm",
        27 | 36 | 50 | 52 | 57 => "yyyy\"年\"m\"月\"",
        28 | 29 | 51 | 53 | 54 | 58 => "m\"月\"d\"日\"",
        30 => "m-d-yy",
        31 => "yyyy\"年\"m\"月\"d\"日\"",
        32 => "h\"时\"mm\"分\"",
        33 => "h\"时\"mm\"分\"ss\"秒\"",
        34 | 55 => "上午/下午h\"时\"mm\"分\"",
        35 | 56 => "上午/下午h\"时\"mm\"分\"ss\"秒\"",
        37 => "#,##0;-#,##0",
        38 => "#,##0;[Red]-#,##0",
        39 => "#,##0.00;-#,##0.00",
        40 => "#,##0.00;[Red]-#,##0.00",
        41 => "_ * #,##0_ ;_ * -#,##0_ ;_ * \"-\"_ ;_ @_ ",
        42 => "_ \"¥\"* #,##0_ ;_ \"¥\"* -#,##0_ ;_ \"¥\"* \"-\"_ ;_ @_ ",
        43 => "_ * #,##0.00_ ;_ * -#,##0.00_ ;_ * \"-\"??_ ;_ @_ ",
        44 => "_ \"¥\"* #,##0.00_ ;_ \"¥\"* -#,##0.00_ ;_ \"¥\"* \"-\"??_ ;_ @_ ",
        45 => "mm:ss",
        46 => "[h]:mm:ss",
        47 => "mm:ss.0",
        48 => "##0.0E+0",
        49 => "@",
        _ => "General",
    }
}

impl NumberFormat {
    /// Parses a format code. What is none is shown as it stands there.
    pub(crate) fn new(code: &str) -> Self {
        if code.trim().is_empty() {
            return Self::default();
        }
        let code: Vec<char> = code.chars().take(MAX_CODE_CHARS).collect();
        let mut sections = vec![Section::default()];
        let mut rest = &code[..];
        while let Some((first, tail)) = rest.split_first() {
            if *first == ';' {
                sections.push(Section::default());
                rest = tail;
            } else if let Some(section) = sections.last_mut() {
                rest = section.parse_token(rest);
            }
        }
        for section in &mut sections {
            section.mark_minutes();
        }
        Self { sections }
    }

    /// Whether numbers are shown without a format.
    pub(crate) fn is_general(&self) -> bool {
        self.sections
            .iter()
            .all(|section| section.tokens.contains(&Token::General))
    }

    /// Returns a number as the cell shows it. `is_1904`: days are counted from 1904 on.
    pub(crate) fn show(&self, value: f64, is_1904: bool) -> String {
        if !value.is_finite() {
            return String::new();
        }
        let Some((index, section)) = self.choose(value) else {
            return show_general(value);
        };
        if section.is_time() {
            let days = if is_1904 { value + DAYS_TO_1904 } else { value };
            return section
                .show_time(days)
                .unwrap_or_else(|| show_general(value))
                .trim()
                .to_owned();
        }
        // A section of its own writes the sign of negative numbers itself.
        let is_for_negative = match section.condition {
            Some((Comparison::Less | Comparison::LessOrEqual, than)) => than <= 0.0,
            Some(_) => false,
            None => {
                index == 1
                    && self.sections[0]
                        .condition
                        .is_none_or(|(_, than)| than >= 0.0)
            }
        };
        let text = section.show_number(value.abs());
        let sign = if value < 0.0 && !is_for_negative {
            "-"
        } else {
            ""
        };
        format!("{sign}{}", text.trim())
    }

    /// Returns a text as the cell shows it: the fourth section may add to it.
    pub(crate) fn show_text(&self, text: &str) -> String {
        let section = self.sections.get(3).or(self.sections.last());
        let section = section.filter(|section| section.tokens.contains(&Token::Text));
        let Some(section) = section else {
            return text.to_owned();
        };
        let mut shown = String::new();
        for token in &section.tokens {
            match token {
                Token::Literal(literal) => shown.push_str(literal),
                Token::Text => shown.push_str(text),
                _ => {}
            }
        }
        shown.trim().to_owned()
    }

    fn choose(&self, value: f64) -> Option<(usize, &Section)> {
        // The last one is for text if it has its sign.
        let is_for_text = |section: &Section| section.tokens.contains(&Token::Text);
        let numbers = self.sections.len()
            - usize::from(self.sections.len() > 1 && self.sections.last().is_some_and(is_for_text));
        let sections = &self.sections[..numbers.min(3)];
        if sections.iter().any(|section| section.condition.is_some()) {
            let fits = |section: &Section| {
                section
                    .condition
                    .is_none_or(|(comparison, than)| comparison.holds(value, than))
            };
            return sections
                .iter()
                .enumerate()
                .find(|(_, section)| fits(section));
        }
        let index = match sections.len() {
            0 | 1 => 0,
            2 => usize::from(value < 0.0),
            _ if value > 0.0 => 0,
            _ if value < 0.0 => 1,
            _ => 2,
        };
        let section = sections.get(index).filter(|section| !is_for_text(section));
        section.map(|section| (index, section))
    }
}

impl Comparison {
    fn holds(self, value: f64, than: f64) -> bool {
        match self {
            Self::Less => value < than,
            Self::LessOrEqual => value <= than,
            Self::Equal => value == than,
            Self::NotEqual => value != than,
            Self::GreaterOrEqual => value >= than,
            Self::Greater => value > than,
        }
    }
}

impl Section {
    /// Takes the token at the beginning of `rest`; returns what is behind it.
    fn parse_token<'a>(&mut self, rest: &'a [char]) -> &'a [char] {
        let lower: String = rest.iter().take(8).flat_map(|c| c.to_lowercase()).collect();
        for (word, token) in [
            ("general", Token::General),
            ("g/通用格式", Token::General),
            ("am/pm", Token::HalfDay(["AM", "PM"])),
            ("a/p", Token::HalfDay(["A", "P"])),
            ("上午/下午", Token::HalfDay(["上午", "下午"])),
            ("e+", Token::Exponent { has_plus: true }),
            ("e-", Token::Exponent { has_plus: false }),
        ] {
            if lower.starts_with(word) {
                self.tokens.push(token);
                return &rest[word.chars().count()..];
            }
        }
        let first = rest[0];
        let token = match first {
            '"' => {
                let end = rest[1..]
                    .iter()
                    .position(|c| *c == '"')
                    .map_or(rest.len(), |end| end + 1);
                self.tokens
                    .push(Token::Literal(rest[1..end].iter().collect()));
                return rest.get(end + 1..).unwrap_or_default();
            }
            '[' => {
                let end = rest.iter().position(|c| *c == ']').unwrap_or(rest.len());
                let inside: String = rest[1..end].iter().collect();
                self.parse_bracket(&inside);
                return rest.get(end + 1..).unwrap_or_default();
            }
            '\\' | '!' => {
                self.tokens
                    .push(Token::Literal(rest.get(1).into_iter().collect()));
                return rest.get(2..).unwrap_or_default();
            }
            // A blank as wide as the next sign, and a sign that fills the cell.
            '_' | '*' => {
                self.tokens.push(Token::Literal(" ".to_owned()));
                return rest.get(2..).unwrap_or_default();
            }
            '0' | '#' | '?' => Token::Digit(first),
            '.' => Token::Point,
            ',' => Token::Comma,
            '%' => Token::Percent,
            '/' => Token::Slash,
            '@' => Token::Text,
            c if "ymdhsaegb".contains(c.to_ascii_lowercase()) => {
                let letter = c.to_ascii_lowercase();
                let count = rest
                    .iter()
                    .take_while(|c| c.to_ascii_lowercase() == letter)
                    .count();
                let (letters, behind) = rest.split_at(count);
                // Units such as `kg` should be quoted, but not every program does so.
                let is_unit = matches!((letter, count), ('a', 1..=2) | ('b', 1 | 3))
                    || self
                        .tokens
                        .iter()
                        .any(|token| matches!(token, Token::Digit(_)))
                        && letter != 's';
                self.tokens.push(if is_unit {
                    Token::Literal(letters.iter().collect())
                } else {
                    Token::Time(letter, count)
                });
                return behind;
            }
            c => Token::Literal(c.to_string()),
        };
        self.tokens.push(token);
        &rest[1..]
    }

    fn parse_bracket(&mut self, inside: &str) {
        let lower = inside.to_lowercase();
        let letter = lower.chars().next().unwrap_or_default();
        if "hms".contains(letter) && lower.chars().all(|c| c == letter) {
            self.tokens.push(Token::Elapsed(letter, lower.len()));
        } else if let Some(rest) = inside.strip_prefix('$') {
            let (sign, language) = rest.rsplit_once('-').unwrap_or((rest, ""));
            self.tokens.push(Token::Literal(sign.to_owned()));
            let language = u32::from_str_radix(language, 16).unwrap_or_default();
            self.is_chinese |= language & 0xffff == CHINESE;
        } else if let Some(number) = lower.strip_prefix("dbnum") {
            match number {
                "1" => self.han = Some(HanStyle::Everyday),
                "2" => self.han = Some(HanStyle::Financial),
                _ => self.is_full_width = true,
            }
        } else {
            let digits = inside.trim_start_matches(['<', '>', '=']);
            let comparison = match inside.strip_suffix(digits).unwrap_or_default() {
                "<" => Comparison::Less,
                "<=" => Comparison::LessOrEqual,
                "=" => Comparison::Equal,
                "<>" => Comparison::NotEqual,
                ">=" => Comparison::GreaterOrEqual,
                ">" => Comparison::Greater,
                // A colour.
                _ => return,
            };
            self.condition = digits.trim().parse().ok().map(|than| (comparison, than));
        }
    }

    /// Tells minutes from months: they stand after hours or before seconds.
    fn mark_minutes(&mut self) {
        let times: Vec<(usize, char)> = self
            .tokens
            .iter()
            .enumerate()
            .filter_map(|(at, token)| match token {
                Token::Time(letter, _) | Token::Elapsed(letter, _) => Some((at, *letter)),
                _ => None,
            })
            .collect();
        for (number, (at, letter)) in times.iter().enumerate() {
            let before = number.checked_sub(1).and_then(|before| times.get(before));
            let is_minute = before.is_some_and(|(_, letter)| *letter == 'h')
                || times
                    .get(number + 1)
                    .is_some_and(|(_, letter)| *letter == 's');
            if *letter == 'm'
                && is_minute
                && let Some(Token::Time(letter, 1..=2)) = self.tokens.get_mut(*at)
            {
                *letter = 'i';
            }
        }
    }

    fn is_time(&self) -> bool {
        let is_time = |token: &Token| {
            matches!(
                token,
                Token::Time(..) | Token::Elapsed(..) | Token::HalfDay(_)
            )
        };
        self.tokens.iter().any(is_time) && !self.tokens.contains(&Token::General)
    }

    /// Writes a time in days since the end of 1899; `None` if there is no such day.
    fn show_time(&self, days: f64) -> Option<String> {
        if !(0.0..LAST_DAY).contains(&days) {
            return None;
        }
        let decimals = self.tokens.windows(2).enumerate().find_map(|(at, pair)| {
            matches!(pair, [Token::Point, Token::Digit('0')]).then(|| self.count_zeros(at + 1))
        });
        let scale = 10_f64.powi(i32::try_from(decimals.unwrap_or(0)).unwrap_or(0));
        let ticks = (days * 86_400.0 * scale).round();
        let seconds = (ticks / scale).floor();
        let fraction = (ticks - seconds * scale) as u64;
        let (day, second) = ((seconds / 86_400.0) as i64, seconds as u64 % 86_400);
        let moment = Moment {
            day,
            second,
            seconds: seconds as u64,
            is_12_hours: self.has_half_day(),
        };
        let mut text = String::new();
        let mut tokens = self.tokens.iter().enumerate();
        while let Some((at, token)) = tokens.next() {
            match token {
                Token::Literal(literal) => text.push_str(literal),
                Token::Time(letter, count) => {
                    text.push_str(&self.show_part(*letter, *count, &moment)?)
                }
                Token::Elapsed(letter, count) => {
                    let unit = match letter {
                        'h' => 3600,
                        'm' => 60,
                        _ => 1,
                    };
                    text.push_str(&format!("{:01$}", moment.seconds / unit, count));
                }
                Token::HalfDay(names) => text.push_str(names[usize::from(moment.second >= 43_200)]),
                Token::Point if matches!(self.tokens.get(at + 1), Some(Token::Digit('0'))) => {
                    let zeros = self.count_zeros(at + 1);
                    text.push_str(&format!(".{fraction:0zeros$}"));
                    tokens.by_ref().take(zeros).for_each(drop);
                }
                Token::Point => text.push('.'),
                Token::Comma => text.push(','),
                Token::Slash => text.push('/'),
                Token::Percent => text.push('%'),
                Token::Digit(c) => text.push(*c),
                Token::Text | Token::General | Token::Exponent { .. } => {}
            }
        }
        Some(self.widen(text))
    }

    fn count_zeros(&self, from: usize) -> usize {
        let tokens = self.tokens.iter().skip(from);
        tokens
            .take_while(|token| **token == Token::Digit('0'))
            .count()
            .min(3)
    }

    fn has_half_day(&self) -> bool {
        self.tokens
            .iter()
            .any(|token| matches!(token, Token::HalfDay(_)))
    }

    /// Writes a part of a day or time.
    fn show_part(&self, letter: char, count: usize, moment: &Moment) -> Option<String> {
        const MONTHS: [&str; 12] = [
            "January",
            "February",
            "March",
            "April",
            "May",
            "June",
            "July",
            "August",
            "September",
            "October",
            "November",
            "December",
        ];
        const WEEKDAYS: [&str; 7] = [
            "Sunday",
            "Monday",
            "Tuesday",
            "Wednesday",
            "Thursday",
            "Friday",
            "Saturday",
        ];
        const HAN_WEEKDAYS: [&str; 7] = ["日", "一", "二", "三", "四", "五", "六"];
        let (year, month, day, weekday) = moment.date()?;
        let number = |number: u64, count: usize| match self.han {
            Some(han) => han.count(number),
            None => format!("{number:0width$}", width = count.min(2)),
        };
        let month_name = MONTHS[(month as usize + 11) % 12];
        Some(match (letter, count) {
            ('y' | 'e', _) => {
                let year = if count <= 2 && letter == 'y' {
                    format!("{:02}", year % 100)
                } else {
                    year.to_string()
                };
                self.han.map_or(year.clone(), |han| han.spell(&year))
            }
            ('b', _) => (year + 543).to_string(),
            ('m', 1 | 2) => number(month, count),
            ('m', 3 | 4) if self.is_chinese => {
                format!(
                    "{}月",
                    if count == 3 {
                        month.to_string()
                    } else {
                        HanStyle::Everyday.count(month)
                    }
                )
            }
            ('m', 3) => month_name.chars().take(3).collect(),
            ('m', 4) => month_name.to_owned(),
            ('m', _) => month_name.chars().take(1).collect(),
            ('d', 1 | 2) => number(day, count),
            ('d', 3) if self.is_chinese => format!("周{}", HAN_WEEKDAYS[weekday]),
            ('d', 3) => WEEKDAYS[weekday].chars().take(3).collect(),
            ('d', _) if !self.is_chinese => WEEKDAYS[weekday].to_owned(),
            ('a', 3) => HAN_WEEKDAYS[weekday].to_owned(),
            ('d' | 'a', _) => format!("星期{}", HAN_WEEKDAYS[weekday]),
            ('h', _) => number(moment.hour(), count),
            ('i', _) => number(moment.second / 60 % 60, count),
            ('s', _) => number(moment.second % 60, count),
            _ => String::new(),
        })
    }

    /// Writes a number that is not negative.
    fn show_number(&self, value: f64) -> String {
        if self.tokens.contains(&Token::General) {
            let number = match self.han {
                Some(han) if value.fract() == 0.0 && value < 1e16 => han.count(value as u64),
                Some(han) => spell_fraction(han, value),
                None => show_general(value),
            };
            let shown = self.tokens.iter().map(|token| match token {
                Token::General => &*number,
                Token::Literal(literal) => literal,
                Token::Percent => "%",
                _ => "",
            });
            return self.widen(shown.collect());
        }
        let is_digit = |token: &Token| matches!(token, Token::Digit(_));
        if let Some(slash) = self.tokens.iter().position(|token| *token == Token::Slash)
            && self.tokens[..slash].iter().any(is_digit)
        {
            return self.show_fraction(value, slash);
        }
        let exponent = self
            .tokens
            .iter()
            .position(|token| matches!(token, Token::Exponent { .. }));
        let mantissa = &self.tokens[..exponent.unwrap_or(self.tokens.len())];
        let layout = Layout::new(mantissa);
        let percents = self
            .tokens
            .iter()
            .filter(|token| **token == Token::Percent)
            .count();
        let mut value = value * 100_f64.powi(i32::try_from(percents).unwrap_or(0))
            / 1000_f64.powi(i32::try_from(layout.thousands).unwrap_or(0));
        let mut power = 0;
        if exponent.is_some() && value > 0.0 {
            let step = i32::try_from(layout.whole_digits.max(1)).unwrap_or(1);
            power = (value.log10().floor() as i32).div_euclid(step) * step;
            value /= 10_f64.powi(power);
        }
        let mut text = layout.write(mantissa, value);
        if let Some(at) = exponent {
            let has_plus = self.tokens[at] == Token::Exponent { has_plus: true };
            let sign = if power < 0 {
                "-"
            } else if has_plus {
                "+"
            } else {
                ""
            };
            let zeros = self.tokens[at..]
                .iter()
                .filter(|token| **token == Token::Digit('0'))
                .count();
            text.push_str(&format!(
                "E{sign}{:01$}",
                power.abs(),
                zeros.min(MAX_DECIMALS)
            ));
            for token in &self.tokens[at..] {
                if let Token::Literal(literal) = token {
                    text.push_str(literal);
                }
            }
        }
        self.widen(match self.han {
            Some(han) => han.spell(&text),
            None => text,
        })
    }

    /// Writes a number with a common fraction: `1 3/4`.
    fn show_fraction(&self, value: f64, slash: usize) -> String {
        let before = &self.tokens[..slash];
        let has_whole = before
            .iter()
            .position(|token| matches!(token, Token::Literal(blank) if blank == " "));
        let has_whole = has_whole.is_some_and(|at| {
            before[..at]
                .iter()
                .any(|token| matches!(token, Token::Digit(_)))
        });
        let below: String = self.tokens[slash + 1..]
            .iter()
            .map_while(|token| match token {
                Token::Digit(c) => Some(*c),
                Token::Literal(digit) => digit.chars().next().filter(char::is_ascii_digit),
                _ => None,
            })
            .take(5)
            .collect();
        let (whole, part) = if has_whole {
            (value.trunc(), value.fract())
        } else {
            (0.0, value)
        };
        let (mut numerator, mut denominator) = (0_f64, 1_f64);
        match below.parse::<u32>().ok().filter(|fixed| *fixed > 0) {
            Some(fixed) => {
                (numerator, denominator) = ((part * f64::from(fixed)).round(), f64::from(fixed))
            }
            None => {
                let mut best = f64::MAX;
                for candidate in 1..10_u32.pow(u32::try_from(below.len().clamp(1, 3)).unwrap_or(1))
                {
                    let candidate = f64::from(candidate);
                    let distance = (part - (part * candidate).round() / candidate).abs();
                    if distance < best - 1e-12 {
                        (best, numerator, denominator) =
                            (distance, (part * candidate).round(), candidate);
                    }
                }
            }
        }
        if numerator == denominator && has_whole {
            return format!("{}", whole + 1.0);
        }
        match (numerator == 0.0, whole == 0.0) {
            (true, _) => format!("{whole}"),
            (false, true) => format!("{numerator}/{denominator}"),
            (false, false) => format!("{whole} {numerator}/{denominator}"),
        }
    }

    /// Replaces digits by those of full width if the format asks for it.
    fn widen(&self, text: String) -> String {
        if !self.is_full_width {
            return text;
        }
        let wide = |c: char| {
            char::from_u32(u32::from(c) + 0xfee0)
                .filter(|_| c.is_ascii_digit())
                .unwrap_or(c)
        };
        text.chars().map(wide).collect()
    }
}

/// A moment, in the days of Excel.
struct Moment {
    day: i64,
    /// Of the day.
    second: u64,
    /// Altogether.
    seconds: u64,
    is_12_hours: bool,
}

impl Moment {
    /// Year, month, day, and the day of the week from Sunday on. The day 60 is the 29 February 1900 that never was.
    fn date(&self) -> Option<(u64, u64, u64, usize)> {
        let weekday = usize::try_from((self.day + 6) % 7).ok()?;
        match self.day {
            0 => return Some((1900, 1, 0, weekday)),
            60 => return Some((1900, 2, 29, weekday)),
            _ => {}
        }
        let first = NaiveDate::from_ymd_opt(1899, 12, if self.day > 60 { 30 } else { 31 })?;
        let date = first.checked_add_signed(Duration::try_days(self.day)?)?;
        let year = u64::try_from(date.year()).ok()?;
        Some((year, date.month().into(), date.day().into(), weekday))
    }

    fn hour(&self) -> u64 {
        let hour = self.second / 3600;
        if self.is_12_hours {
            (hour + 11) % 12 + 1
        } else {
            hour
        }
    }
}

/// Where the digits of a number go.
struct Layout {
    /// Place of the decimal point.
    point: Option<usize>,
    whole_digits: usize,
    decimals: usize,
    is_grouped: bool,
    /// How many times the number is divided by a thousand.
    thousands: usize,
}

impl Layout {
    fn new(tokens: &[Token]) -> Self {
        let point = tokens.iter().position(|token| *token == Token::Point);
        let is_digit = |token: &Token| matches!(token, Token::Digit(_));
        let whole = &tokens[..point.unwrap_or(tokens.len())];
        let digits_end =
            |part: &[Token]| part.iter().rposition(is_digit).map_or(0, |last| last + 1);
        let commas = |part: &[Token]| {
            part.iter()
                .take_while(|token| **token == Token::Comma)
                .count()
        };
        let first = whole.iter().position(is_digit).unwrap_or(0);
        let end = digits_end(whole);
        let last = digits_end(tokens);
        let has_digits = tokens.iter().any(is_digit);
        let behind_point = if point.is_some() && last > end {
            commas(&tokens[last..])
        } else {
            0
        };
        Self {
            point,
            whole_digits: whole.iter().filter(|token| is_digit(token)).count(),
            decimals: tokens[whole.len()..]
                .iter()
                .filter(|token| is_digit(token))
                .count()
                .min(MAX_DECIMALS),
            is_grouped: whole[first.min(end)..end].contains(&Token::Comma),
            thousands: if has_digits {
                commas(&whole[end..]) + behind_point
            } else {
                0
            },
        }
    }

    fn write(&self, tokens: &[Token], value: f64) -> String {
        if self.whole_digits + self.decimals == 0 {
            return tokens.iter().map(plain).collect();
        }
        let rounded = round(value, self.decimals);
        let (whole, decimals) = rounded.split_once('.').unwrap_or((&rounded, ""));
        let (before, behind) = tokens.split_at(self.point.unwrap_or(tokens.len()));
        let mut text = self.write_whole(before, whole.trim_start_matches('0'));
        let mut digits = decimals.chars();
        let significant = decimals.trim_end_matches('0').len();
        let mut written = 0;
        for token in behind {
            match token {
                Token::Digit(kind) => {
                    written += 1;
                    let digit = digits.next();
                    if *kind == '0' || written <= significant {
                        text.extend(digit);
                    }
                }
                Token::Point => text.push('.'),
                Token::Comma => {}
                token => text.push_str(plain(token)),
            }
        }
        text
    }

    /// Writes the digits before the point from the right, since what stands between them is counted from there.
    fn write_whole(&self, tokens: &[Token], digits: &str) -> String {
        let mut left: Vec<char> = digits.chars().collect();
        let mut reversed: Vec<char> = Vec::new();
        let (mut places, mut written) = (self.whole_digits, 0);
        for token in tokens.iter().rev() {
            match token {
                Token::Digit(kind) => {
                    places -= 1;
                    // The first place takes all that is left.
                    let most = if places == 0 { left.len().max(1) } else { 1 };
                    for _ in 0..most {
                        let Some(digit) = left.pop().or((*kind == '0').then_some('0')) else {
                            break;
                        };
                        if self.is_grouped && written > 0 && written % 3 == 0 {
                            reversed.push(',');
                        }
                        reversed.push(digit);
                        written += 1;
                    }
                }
                Token::Comma => {}
                token => reversed.extend(plain(token).chars().rev()),
            }
        }
        // There is no place before the point: `.00`.
        let first: String = if self.whole_digits == 0 {
            left.iter().collect()
        } else {
            String::new()
        };
        first + &reversed.iter().rev().collect::<String>()
    }
}

/// What a token shows that takes no digit.
fn plain(token: &Token) -> &str {
    match token {
        Token::Literal(literal) => literal,
        Token::Percent => "%",
        Token::Slash => "/",
        Token::Point => ".",
        Token::Comma => ",",
        _ => "",
    }
}

/// Rounds as people do, half up, and after the noise of binary numbers is cut off.
fn round(value: f64, decimals: usize) -> String {
    let value = without_noise(value);
    let whole_digits = if value >= 1.0 {
        value.log10().floor() as i32 + 1
    } else {
        0
    };
    let places = whole_digits + i32::try_from(decimals).unwrap_or(DIGITS);
    // The next digit may be a 5 that has no exact form.
    let nudged = if places < DIGITS {
        value * (1.0 + 2e-15)
    } else {
        value
    };
    format!("{nudged:.decimals$}")
}

/// Returns the number that has 15 digits at most: 0.1 + 0.2 is 0.3.
fn without_noise(value: f64) -> f64 {
    format!("{value:.14e}").parse().unwrap_or(value)
}

/// Writes a number without a format: whole numbers in full, others as wide as a cell is, about ten digits.
pub(crate) fn show_general(value: f64) -> String {
    let value = without_noise(value);
    let size = value.abs();
    if size < 1e15 && value.fract() == 0.0 {
        return format!("{}", value as i64);
    }
    if !(1e-4..1e11).contains(&size) {
        let text = format!("{value:.5e}");
        let (mantissa, power) = text.split_once('e').unwrap_or((&text, "0"));
        let power: i32 = power.parse().unwrap_or_default();
        let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
        let sign = if power < 0 { '-' } else { '+' };
        return format!("{mantissa}E{sign}{:02}", power.abs());
    }
    let magnitude = size.log10().floor() as i32;
    let decimals = usize::try_from(9 - magnitude.max(0)).unwrap_or(0);
    let rounded = round(size, decimals);
    let trimmed = if rounded.contains('.') {
        rounded.trim_end_matches('0').trim_end_matches('.')
    } else {
        &rounded
    };
    format!("{}{trimmed}", if value < 0.0 { "-" } else { "" })
}

/// Writes a number with a fraction in Han characters: 一百二十三.四五.
fn spell_fraction(han: HanStyle, value: f64) -> String {
    let text = show_general(value);
    match text.split_once('.') {
        Some((whole, decimals)) => {
            let whole = whole
                .parse()
                .map_or_else(|_| han.spell(whole), |whole| han.count(whole));
            format!("{whole}.{}", han.spell(decimals))
        }
        None => han.spell(&text),
    }
}
