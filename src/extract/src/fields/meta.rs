//! The labelled fields of a document, in JSON an object whose keys are the labels in page order, and their typed values: a
//! number with its unit, a day, a list. A value is typed only if nothing else could be meant.

use std::sync::LazyLock;

use chrono::NaiveDate;
use regex::Regex;

use serde::Serialize;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::Serializer;

use crate::date::stamp::Clock;
use crate::date::text::{DateForm, find_dates};
use crate::literals::compile_regex;

/// Labels with their values, in the order of the page; each label once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Meta {
    pairs: Vec<(String, String)>,
    /// Labels that a person gave. Not written with the rest.
    said: Vec<String>,
}

impl Meta {
    /// Adds a field, unless its label is there already.
    pub fn add(&mut self, label: String, value: String) {
        if self.get(&label).is_none() {
            self.pairs.push((label, value));
        }
    }

    /// Gives a field that a person named this value, whatever it had.
    pub fn set_said(&mut self, label: String, value: String) {
        self.pairs.retain(|pair| pair.0 != label);
        self.said.push(label.clone());
        self.pairs.push((label, value));
    }

    /// Labels and values that somebody requested: they make the page a changed one. The others count visitors on many pages.
    pub fn watched(&self) -> impl Iterator<Item = &str> {
        let said = self
            .iter()
            .filter(|(label, _)| self.said.iter().any(|said| said == label));
        said.flat_map(|(label, value)| [label, value])
    }

    /// The value of a label.
    pub fn get(&self, label: &str) -> Option<&str> {
        self.iter().find(|pair| pair.0 == label).map(|pair| pair.1)
    }

    /// Labels and values.
    pub fn pairs(&self) -> &[(String, String)] {
        &self.pairs
    }

    /// Labels and values as texts.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.pairs
            .iter()
            .map(|(label, value)| (label.as_str(), value.as_str()))
    }

    /// The fields whose values are plainly more than texts.
    pub fn typed(&self) -> TypedFields {
        let typed = self
            .iter()
            .filter_map(|(label, value)| Some((label.to_owned(), Typed::parse(value)?)));
        TypedFields(typed.collect())
    }

    /// Number of fields.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    pub(crate) fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        self.pairs
            .iter_mut()
            .flat_map(|(label, value)| [label, value])
    }
}

/// Labels with values of a type, in the order of the page. In JSON an object.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TypedFields(pub Vec<(String, Typed)>);

impl TypedFields {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for TypedFields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(label, typed)| (label, typed)))
    }
}

impl Serialize for Meta {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Meta {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Fields)
    }
}

struct Fields;

impl<'de> Visitor<'de> for Fields {
    type Value = Meta;

    fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("an object of labels and values")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Meta, M::Error> {
        let mut fields = Vec::new();
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        Ok(Meta {
            pairs: fields,
            said: Vec::new(),
        })
    }
}

/// Longest value that is a day, in bytes: `1993-01-01(中国香港)`.
const MAX_DATE_BYTES: usize = 48;
/// Longest item of a list, in characters.
const MAX_ITEM: usize = 40;
/// What parts items, the surest first; of the last, three items at least make a list, since a place is `Reno, NV`.
const SEPARATORS: [&str; 6] = [" / ", "、", "；", ";", " | ", ", "];
const FEWEST_BY_COMMA: usize = 3;

/// A number with signs of money before it or a unit behind it. No code: those begin with 0, or have too many digits.
static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    compile_regex(
        r"^([¥￥$€£])?\s*([-−]?(?:0|[1-9]\d{0,2}(?:,\d{3})+|[1-9]\d{0,11})(?:\.\d{1,9})?)\s*([%％‰℃°\p{L}][%\p{L}².³/·]{0,11}(?: \p{L}{1,8})?)?$",
    )
});

/// A day in digits.
static DAY: LazyLock<Regex> =
    LazyLock::new(|| compile_regex(r"^\s*(\d{4})[-/.年](\d{1,2})[-/.月](\d{1,2})日?\s*$"));

/// A value with its type.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Typed {
    /// A number.
    Number {
        /// The number.
        number: f64,
        /// Its unit as printed, empty if there is none.
        unit: String,
    },
    /// A day.
    Day {
        /// The day.
        date: NaiveDate,
    },
    /// Items of a list.
    List(Vec<String>),
}

impl Typed {
    /// What a value is; none for a text.
    pub fn parse(value: &str) -> Option<Self> {
        let value = value.trim();
        parse_number(value)
            .or_else(|| parse_day(value))
            .or_else(|| parse_list(value))
    }

    /// A text that sorts as numbers, and as days, do; none for a list.
    pub fn sort_key(&self) -> Option<String> {
        match self {
            Self::Number { number, .. } => {
                let bits = number.to_bits();
                // Negative numbers in reverse, before the others.
                let ordered = if bits >> 63 == 1 {
                    !bits
                } else {
                    bits | 1 << 63
                };
                Some(format!("#{ordered:016x}"))
            }
            Self::Day { date } => Some(date.format("@%Y%m%d").to_string()),
            Self::List(_) => None,
        }
    }
}

fn parse_number(value: &str) -> Option<Typed> {
    let found = NUMBER.captures(value)?;
    let group = |at: usize| found.get(at).map_or("", |group| group.as_str());
    let digits = group(2).replace(',', "").replace('−', "-");
    let (before, behind) = (group(1), group(3));
    if !before.is_empty() && !behind.is_empty() {
        return None;
    }
    Some(Typed::Number {
        number: digits.parse().ok()?,
        unit: format!("{before}{behind}"),
    })
}

fn parse_day(value: &str) -> Option<Typed> {
    if value.len() > MAX_DATE_BYTES {
        return None;
    }
    let clock = Clock {
        now_ms: None,
        offset_min: None,
        month_first: true,
        republic: false,
    };
    // Where it holds, as of a film: `1993-01-01(中国香港)`.
    let alone = value.split(['(', '（']).next().unwrap_or(value);
    // A page is published on the web, the matter of a value may be older.
    if let Some(found) = DAY.captures(alone) {
        let part = |at: usize| found.get(at).and_then(|part| part.as_str().parse().ok());
        let year = part(1).and_then(|year: u32| i32::try_from(year).ok())?;
        let date = NaiveDate::from_ymd_opt(year, part(2)?, part(3)?)?;
        return Some(Typed::Day { date });
    }
    match find_dates(alone, &clock)[..] {
        [found] if found.at == 0 && found.form == DateForm::Full => Some(Typed::Day {
            date: found.stamp.date,
        }),
        _ => None,
    }
}

fn parse_list(value: &str) -> Option<Typed> {
    let separator = SEPARATORS.iter().find(|signs| value.contains(**signs))?;
    let items: Vec<String> = value
        .split(separator)
        .map(|item| item.trim().to_owned())
        .collect();
    let is_item = |item: &String| !item.is_empty() && item.chars().nth(MAX_ITEM).is_none();
    let fewest = if *separator == ", " {
        FEWEST_BY_COMMA
    } else {
        2
    };
    (items.len() >= fewest && items.iter().all(is_item)).then_some(Typed::List(items))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(number: f64, unit: &str) -> Option<Typed> {
        let unit = unit.to_owned();
        Some(Typed::Number { number, unit })
    }

    #[test]
    fn typed_number_or_code() {
        assert_eq!(Typed::parse("171 分钟"), number(171.0, "分钟"));
        assert_eq!(Typed::parse("$9,970"), number(9970.0, "$"));
        assert_eq!(Typed::parse("205 lbs."), number(205.0, "lbs."));
        assert_eq!(Typed::parse("-40.28%"), number(-40.28, "%"));
        assert_eq!(Typed::parse("0.5米"), number(0.5, "米"));
        for text in "0755~9781602600157~NY-3097~27 City / 36 Hwy x~6-5~1,23~~12:30".split('~') {
            let typed = Typed::parse(text);
            assert!(
                !matches!(typed, Some(Typed::Number { .. })),
                "{text}: {typed:?}"
            );
        }
    }

    #[test]
    fn typed_day_and_list() {
        let day = |text: &str| match Typed::parse(text) {
            Some(Typed::Day { date }) => date.to_string(),
            other => format!("{other:?}"),
        };
        assert_eq!(day("1993-01-01(中国香港)"), "1993-01-01");
        assert_eq!(day("2026年11月5日"), "2026-11-05");
        assert_eq!(day("June 29, 2010"), "2010-06-29");
        let list = |text: &str| match Typed::parse(text) {
            Some(Typed::List(items)) => items.join("+"),
            other => format!("{other:?}"),
        };
        assert_eq!(list("剧情 / 爱情 / 同性"), "剧情+爱情+同性");
        assert_eq!(list("张三、李四"), "张三+李四");
        assert_eq!(
            list("style, Middle High German, authorship"),
            "style+Middle High German+authorship"
        );
        assert_eq!(list("Reno, NV"), "None");
        assert_eq!(list("陈凯歌"), "None");
    }

    #[test]
    fn typed_sort_key_order() {
        let key = |text: &str| {
            Typed::parse(text)
                .and_then(|typed| typed.sort_key())
                .expect("a key")
        };
        for ordered in [
            ["-40.5", "-40"],
            ["-1", "0"],
            ["0", "0.5"],
            ["9", "10"],
            ["999 元", "1,000 元"],
        ] {
            assert!(key(ordered[0]) < key(ordered[1]), "{ordered:?}");
        }
        assert!(key("2009-12-31") < key("2010-01-01"));
    }
}
