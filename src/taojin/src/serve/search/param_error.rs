//! What can be wrong with a query string. In: the parameter and the value. Out: one sentence for a person, in both
//! languages. Never repeats a long or invisible value.

use crate::serve::pages::lang::Lang;

/// Characters of a refused value that an error message repeats.
const ECHO_CHARS: usize = 40;
/// Names that a search of the web page knows; the API knows all but the last.
pub(crate) const NAMES: [&str; 12] = [
    "q",
    "site",
    "since",
    "until",
    "sort",
    "half_life",
    "group",
    "grouped",
    "facets",
    "limit",
    "offset",
    "lang",
];

/// What is wrong with a query string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ParamError {
    /// `q` has more characters than allowed.
    TooLong { chars: usize, max: usize },
    /// Not a day, a moment or a period.
    Date { name: &'static str, value: String },
    /// `until` lies before `since`; only people are told, the API finds nothing then.
    Backwards,
    /// Not a whole number in its range.
    Number {
        name: &'static str,
        value: String,
        min: usize,
        max: usize,
    },
    /// Not one of the orders.
    Sort { value: String },
    /// Not a period of more than nothing.
    HalfLife { value: String },
    /// Not the id of a group of reprints.
    Group { value: String },
    /// Neither yes nor no.
    Flag { name: &'static str, value: String },
    /// More sites than one query may name.
    Sites { max: usize },
    /// No site can have such a name.
    SiteName { max: usize },
    /// A value far too long to mean anything.
    Oversize { name: &'static str, max: usize },
    /// Given twice.
    Repeated { name: &'static str },
    /// No such parameter.
    Unknown { name: String },
}

impl ParamError {
    /// Name of the parameter at fault.
    pub(crate) fn parameter(&self) -> &str {
        match self {
            ParamError::TooLong { .. } => "q",
            ParamError::Backwards => "until",
            ParamError::Sort { .. } => "sort",
            ParamError::HalfLife { .. } => "half_life",
            ParamError::Group { .. } => "group",
            ParamError::Sites { .. } | ParamError::SiteName { .. } => "site",
            ParamError::Date { name, .. }
            | ParamError::Flag { name, .. }
            | ParamError::Number { name, .. }
            | ParamError::Oversize { name, .. }
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
                format!("sort must be relevance, date or both, not \"{value}\"")
            }
            ParamError::HalfLife { value } => {
                format!("half_life must be a period (24h, 7d, 6m, 1y), not \"{value}\"")
            }
            ParamError::Group { value } => {
                format!("group must be the 16 hexadecimal digits of a hit's group, not \"{value}\"")
            }
            ParamError::Flag { name, value } => {
                format!("{name} must be true or false, not \"{value}\"")
            }
            ParamError::Sites { max } => format!("at most {max} sites can be named"),
            ParamError::SiteName { max } => {
                format!("the name of a site has at most {max} characters")
            }
            ParamError::Oversize { name, max } => {
                format!("{name} is longer than {max} characters")
            }
            ParamError::Repeated { name } => format!("{name} was given more than once"),
            ParamError::Unknown { name } => {
                format!(
                    "there is no parameter \"{name}\"; known are {}",
                    NAMES[..NAMES.len() - 1].join(", ")
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
                format!("排序只有 relevance、date 和 both 三种，没有“{value}”。")
            }
            ParamError::HalfLife { value } => {
                format!("半衰期“{value}”看不懂，请写成 24h、7d、6m、1y 这样的时段。")
            }
            ParamError::Group { value } => format!("没有“{value}”这样的转载组编号。"),
            ParamError::Flag { name, value } => {
                format!("{name} 只能是 true 或 false，而不是“{value}”。")
            }
            ParamError::Sites { max } => format!("一次最多选 {max} 个站点。"),
            ParamError::SiteName { max } => format!("站点名最多 {max} 个字符。"),
            ParamError::Oversize { name, .. } => format!("{name} 太长了。"),
            ParamError::Repeated { name } => format!("{name} 只能出现一次。"),
            ParamError::Unknown { name } => format!("没有“{name}”这个参数。"),
        }
    }
}

/// A refused value as an error repeats it.
pub(crate) fn echo(value: &str) -> String {
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
