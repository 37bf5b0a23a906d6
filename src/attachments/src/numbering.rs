//! Automatic numbers of Word's paragraphs, which stand in no text: 第一条, 1.2, (a).
//!
//! A paragraph names a list (`num`) and a level. Lists that share a definition (`abstractNum`) count on together, unless one starts
//! anew. A number of a level begins again after each paragraph of a level above it.

use std::collections::{HashMap, HashSet};

use crate::han_numbers::HanStyle;
use crate::xml::{Attributes, Node, walk};

/// Levels of a list.
const LEVELS: usize = 9;
/// Characters of a written number: Roman ones grow with the number.
const MAX_REPEATS: usize = 30;

/// The lists of a document, and how far they have counted.
#[derive(Debug, Default)]
pub(crate) struct Numbering {
    lists: HashMap<String, List>,
    definitions: HashMap<String, Definition>,
    counters: HashMap<String, [Option<u64>; LEVELS]>,
    /// Lists and levels that have started anew.
    restarted: HashSet<(String, usize)>,
}

/// A list that paragraphs name.
#[derive(Debug, Default)]
struct List {
    definition: String,
    starts: HashMap<usize, u64>,
    levels: HashMap<usize, Level>,
}

#[derive(Debug, Default)]
struct Definition {
    levels: HashMap<usize, Level>,
    /// The style of lists that it defines, or that defines it.
    style: Option<String>,
    defining_style: Option<String>,
}

#[derive(Debug, Clone, Default)]
struct Level {
    start: Option<u64>,
    format: String,
    text: String,
    /// Numbers of the levels above are written in digits too.
    is_legal: bool,
    /// The level above which a paragraph begins this one again, from 1; 0 never.
    restart: Option<usize>,
    /// What is between number and text.
    suffix: String,
    /// The style whose paragraphs are of this level.
    paragraph_style: Option<String>,
}

impl Numbering {
    pub(crate) fn parse(xml: &[u8]) -> Self {
        let mut this = Self::default();
        let (mut definition, mut list, mut level): (Option<String>, Option<String>, usize) =
            (None, None, 0);
        walk(xml, |node| match node {
            Node::Start("abstractNum", tag) => (definition, level) = (tag.get("abstractNumId"), 0),
            Node::End("abstractNum") => definition = None,
            Node::Start("num", tag) => (list, level) = (tag.get("numId"), 0),
            Node::End("num") => list = None,
            Node::Start("lvl" | "lvlOverride", tag) => {
                level = tag
                    .get("ilvl")
                    .and_then(|level| level.parse().ok())
                    .unwrap_or_default();
                // A level that is named is redefined even if it stays empty.
                if level < LEVELS
                    && let Some(id) = &definition
                {
                    this.definitions
                        .entry(id.clone())
                        .or_default()
                        .levels
                        .entry(level)
                        .or_default();
                }
            }
            Node::Start(name, tag) if level < LEVELS => match (&definition, &list) {
                (Some(id), _) => this
                    .definitions
                    .entry(id.clone())
                    .or_default()
                    .set(level, name, &tag),
                (_, Some(id)) => this
                    .lists
                    .entry(id.clone())
                    .or_default()
                    .set(level, name, &tag),
                _ => {}
            },
            _ => {}
        });
        this
    }

    /// Returns the level of a list whose paragraphs have a style.
    pub(crate) fn level_of_style(&self, list: &str, style: &str) -> Option<usize> {
        let (_, definition) = self.find(list)?;
        let mut levels = definition.levels.iter();
        levels.find_map(|(level, of)| {
            (of.paragraph_style.as_deref() == Some(style)).then_some(*level)
        })
    }

    fn find(&self, list: &str) -> Option<(&str, &Definition)> {
        let id = &*self.lists.get(list)?.definition;
        let definition = self.definitions.get(id)?;
        let Some(style) = &definition.defining_style else {
            return Some((id, definition));
        };
        let other = self
            .definitions
            .iter()
            .find(|(_, other)| other.style.as_ref() == Some(style));
        other.map_or(Some((id, definition)), |(id, definition)| {
            Some((id, definition))
        })
    }

    /// Counts a paragraph; returns its number with what divides it from the text. `None` for bullets, and where there is none.
    pub(crate) fn advance(&mut self, list: &str, level: usize) -> Option<String> {
        let level = level.min(LEVELS - 1);
        let (id, definition) = self.find(list)?;
        let own = self.lists.get(list)?;
        let levels: Vec<Level> = (0..LEVELS)
            .map(|level| {
                own.levels
                    .get(&level)
                    .or(definition.levels.get(&level))
                    .cloned()
                    .unwrap_or_default()
            })
            .collect();
        let start = |at: usize| {
            own.starts
                .get(&at)
                .copied()
                .or(levels[at].start)
                .unwrap_or(1)
        };
        let starts: Vec<u64> = (0..LEVELS).map(start).collect();
        let is_restart = own.starts.contains_key(&level);
        let id = id.to_owned();
        let counters = self.counters.entry(id).or_default();
        let is_first = is_restart && self.restarted.insert((list.to_owned(), level));
        counters[level] = match counters[level] {
            Some(number) if !is_first => Some(number.saturating_add(1)),
            _ => Some(starts[level]),
        };
        for (below, counter) in counters.iter_mut().enumerate().skip(level + 1) {
            let is_begun_again = match levels[below].restart {
                Some(above) => level < above,
                None => true,
            };
            if is_begun_again {
                *counter = None;
            }
        }
        let numbers: Vec<u64> = counters
            .iter()
            .zip(&starts)
            .map(|(number, start)| number.unwrap_or(*start))
            .collect();
        levels[level].write(&levels, &numbers)
    }
}

impl List {
    fn set(&mut self, level: usize, name: &str, tag: &Attributes<'_>) {
        let value = tag.get("val").unwrap_or_default();
        match name {
            "abstractNumId" => self.definition = value,
            "startOverride" => {
                self.starts.insert(level, value.parse().unwrap_or(1));
            }
            _ if LEVEL_PROPERTIES.contains(&name) => {
                self.levels.entry(level).or_default().set(name, tag)
            }
            _ => {}
        }
    }
}

impl Definition {
    fn set(&mut self, level: usize, name: &str, tag: &Attributes<'_>) {
        match name {
            "styleLink" => self.style = tag.get("val"),
            "numStyleLink" => self.defining_style = tag.get("val"),
            _ if LEVEL_PROPERTIES.contains(&name) => {
                self.levels.entry(level).or_default().set(name, tag)
            }
            _ => {}
        }
    }
}

const LEVEL_PROPERTIES: [&str; 7] = [
    "start",
    "numFmt",
    "lvlText",
    "isLgl",
    "lvlRestart",
    "suff",
    "pStyle",
];

impl Level {
    fn set(&mut self, name: &str, tag: &Attributes<'_>) {
        let value = tag.get("val").unwrap_or_default();
        match name {
            "start" => self.start = value.parse().ok(),
            "numFmt" => {
                self.format = tag
                    .get("format")
                    .filter(|_| value == "custom")
                    .unwrap_or(value)
            }
            "lvlText" => self.text = value,
            "isLgl" => self.is_legal = !matches!(&*value, "0" | "false" | "off"),
            "lvlRestart" => self.restart = value.parse().ok(),
            "suff" => self.suffix = value,
            _ => self.paragraph_style = Some(value),
        }
    }

    fn write(&self, levels: &[Self], numbers: &[u64]) -> Option<String> {
        if self.format == "bullet" {
            return None;
        }
        let mut text = String::new();
        let mut rest = self.text.chars().peekable();
        while let Some(c) = rest.next() {
            let at = rest
                .peek()
                .and_then(|digit| digit.to_digit(10))
                .filter(|digit| c == '%' && *digit > 0);
            let Some(at) = at.and_then(|digit| usize::try_from(digit - 1).ok()) else {
                text.push(c);
                continue;
            };
            rest.next();
            if let (Some(level), Some(number)) = (levels.get(at), numbers.get(at)) {
                let format = if self.is_legal {
                    "decimal"
                } else {
                    &level.format
                };
                text.push_str(&write_number(*number, format));
            }
        }
        let text = text.trim_end().to_owned();
        let is_empty = text.is_empty();
        let divider = if self.suffix == "nothing" { "" } else { " " };
        (!is_empty).then(|| text + divider)
    }
}

/// Writes a number in a format of ECMA-376 part 1, 17.18.59; in digits if the format is not known.
fn write_number(number: u64, format: &str) -> String {
    const IDEOGRAPHS: [&str; 5] = [
        "甲乙丙丁戊己庚辛壬癸",
        "子丑寅卯辰巳午未申酉戌亥",
        "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン",
        "イロハニホヘトチリヌルヲワカヨタレソツネナラムウヰノオクヤマケフコエテアサキユメミシヱヒモセスン",
        "가나다라마바사아자차카타파하",
    ];
    let pick = |signs: &str| pick(number, signs);
    let picked = match format {
        "none" => Some(String::new()),
        "upperRoman" => Some(roman(number)),
        "lowerRoman" => Some(roman(number).to_lowercase()),
        "upperLetter" => repeat_letter(number, b'A'),
        "lowerLetter" => repeat_letter(number, b'a'),
        "chineseCounting"
        | "chineseCountingThousand"
        | "ideographDigital"
        | "japaneseCounting"
        | "taiwaneseCounting"
        | "taiwaneseCountingThousand"
        | "koreanDigital2"
        | "taiwaneseDigital"
        | "japaneseDigitalTenThousand" => {
            let is_spelled = format.contains("igital");
            Some(if is_spelled {
                HanStyle::Everyday.spell(&number.to_string())
            } else {
                HanStyle::Everyday.count(number)
            })
        }
        "chineseLegalSimplified" | "ideographLegalTraditional" | "japaneseLegal" => {
            Some(HanStyle::Financial.count(number))
        }
        "ideographTraditional" => pick(IDEOGRAPHS[0]),
        "ideographZodiac" => pick(IDEOGRAPHS[1]),
        "aiueo" | "aiueoFullWidth" => pick(IDEOGRAPHS[2]),
        "iroha" | "irohaFullWidth" => pick(IDEOGRAPHS[3]),
        "ganada" => pick(IDEOGRAPHS[4]),
        "decimalEnclosedCircle" | "decimalEnclosedCircleChinese" => match u32::try_from(number) {
            Ok(number @ 1..=20) => char::from_u32(0x245f + number).map(String::from),
            Ok(number @ 21..=35) => char::from_u32(0x323c + number).map(String::from),
            _ => None,
        },
        "ideographEnclosedCircle" => u32::try_from(number)
            .ok()
            .filter(|n| (1..=10).contains(n))
            .and_then(|number| char::from_u32(0x327f + number).map(String::from)),
        "decimalEnclosedParen" => Some(format!("({number})")),
        "decimalEnclosedFullstop" | "ordinalDecimal" => Some(format!("{number}.")),
        "decimalFullWidth" | "decimalFullWidth2" => {
            let wide = |c: char| char::from_u32(u32::from(c) + 0xfee0);
            number.to_string().chars().map(wide).collect()
        }
        // With zeros before it, as `01` or the custom `001, 002, …`.
        "decimalZero" => Some(format!("{number:02}")),
        format if format.starts_with('0') => {
            let width = format
                .chars()
                .take_while(char::is_ascii_digit)
                .count()
                .min(MAX_REPEATS);
            Some(format!("{number:0width$}"))
        }
        "ordinal" => Some(format!("{number}{}", ordinal_ending(number))),
        "numberInDash" => Some(format!("- {number} -")),
        _ => None,
    };
    picked.unwrap_or_else(|| number.to_string())
}

fn pick(number: u64, signs: &str) -> Option<String> {
    let index = usize::try_from(number.checked_sub(1)?).ok()?;
    signs.chars().nth(index).map(String::from)
}

/// Writes a, b, … z, aa, bb, …
fn repeat_letter(number: u64, first: u8) -> Option<String> {
    let index = number.checked_sub(1)?;
    let letter = char::from(first + u8::try_from(index % 26).ok()?);
    let times = usize::try_from(index / 26 + 1)
        .ok()
        .filter(|times| *times <= MAX_REPEATS)?;
    Some(std::iter::repeat_n(letter, times).collect())
}

fn ordinal_ending(number: u64) -> &'static str {
    match (number % 100, number % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    }
}

fn roman(mut number: u64) -> String {
    const SIGNS: [(u64, &str); 13] = [
        (1000, "M"),
        (900, "CM"),
        (500, "D"),
        (400, "CD"),
        (100, "C"),
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    ];
    if number > 1000 * MAX_REPEATS as u64 {
        return number.to_string();
    }
    let mut text = String::new();
    for (value, sign) in SIGNS {
        while number >= value {
            text.push_str(sign);
            number -= value;
        }
    }
    text
}
