//! Fills the slots of a sentence. In: a sentence such as `{company}在{basin}完钻{well}井，井深{depth=4200..7800}米。`
//! and what the article already says. Out: its text.
//!
//! | slot | becomes |
//! |---|---|
//! | `{company}` | a word of that table, the same one through the whole article; `{company2}` another word of it |
//! | `{person}`, `{person2}`, `{well}`, `{well2}`, … | an invented name, kept likewise |
//! | `{3..9}`, `{1.5..4.5}` | a fresh number, with as many decimals as the lower bound has |
//! | `{depth=4200..7800}`, later `{depth}` | a number that is kept |
//! | `{截至目前|今年以来}` | one of these, chosen afresh |
//!
//! An unknown slot stays as it is, with its braces: the tests look for braces.

use super::super::rng::Rng;
use super::words;

/// What one article knows: its random stream and the values of its slots so far.
pub(crate) struct SlotValues {
    pub(crate) rng: Rng,
    kept: Vec<(String, String)>,
}

impl SlotValues {
    /// Starts without values.
    pub(crate) fn new(rng: Rng) -> Self {
        Self {
            rng,
            kept: Vec::new(),
        }
    }

    /// Sets a slot from outside, for example the day.
    pub(crate) fn set(&mut self, name: &str, value: impl Into<String>) {
        self.kept.retain(|(known, _)| known != name);
        self.kept.push((name.to_owned(), value.into()));
    }

    /// Chooses basin, formation and province together, since each rock belongs to a basin. `kind` as in
    /// [`words::regions`].
    pub(crate) fn choose_region(&mut self, kind: &str) {
        let of = words::regions(kind);
        let Some(region) = of.get(self.rng.index(of.len())) else {
            return;
        };
        let formation = self.rng.pick(&region.formations);
        let province = self.rng.pick(&region.provinces);
        self.set("basin", region.basin);
        self.set("formation", formation);
        self.set("province", province);
    }

    /// The value of `name`, drawn now if it has none yet.
    pub(crate) fn get(&mut self, name: &str) -> String {
        if let Some((_, value)) = self.kept.iter().find(|(known, _)| known == name) {
            return value.clone();
        }
        let value = self.fresh(name);
        self.kept.push((name.to_owned(), value.clone()));
        value
    }

    /// The sentence with its slots filled.
    pub(crate) fn fill(&mut self, phrase: &str) -> String {
        let mut out = String::with_capacity(phrase.len() * 2);
        let mut rest = phrase;
        while let Some((before, after)) = rest.split_once('{') {
            out.push_str(before);
            let Some((slot, tail)) = after.split_once('}') else {
                out.push('{');
                rest = after;
                continue;
            };
            let value = self.slot(slot);
            out.push_str(&value);
            rest = tail;
        }
        out.push_str(rest);
        out
    }

    fn slot(&mut self, slot: &str) -> String {
        if slot.contains('|') {
            let choices: Vec<&str> = slot.split('|').collect();
            return self.rng.pick(&choices).to_owned();
        }
        let (name, range) = match slot.split_once('=') {
            Some((name, range)) => (Some(name), range),
            None => (None, slot),
        };
        let Some((low, high)) = range.split_once("..") else {
            return self.get(slot);
        };
        if let Some((_, value)) = self
            .kept
            .iter()
            .find(|(known, _)| Some(known.as_str()) == name)
        {
            return value.clone();
        }
        let value = self
            .number(low, high)
            .unwrap_or_else(|| format!("{{{slot}}}"));
        if let Some(name) = name {
            self.set(name, value.clone());
        }
        value
    }

    fn number(&mut self, low: &str, high: &str) -> Option<String> {
        let decimals = low.split_once('.').map_or(0, |(_, digits)| digits.len());
        let scale = 10_f64.powi(i32::try_from(decimals).ok()?);
        let units = |text: &str| {
            text.parse::<f64>()
                .ok()
                .map(|value| (value * scale).round() as u64)
        };
        let value = self.rng.between(units(low)?, units(high)?);
        if decimals == 0 {
            return Some(value.to_string());
        }
        let scale = scale as u64;
        Some(format!("{}.{:0decimals$}", value / scale, value % scale))
    }

    fn fresh(&mut self, name: &str) -> String {
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let taken: Vec<String> = self.kept.iter().map(|(_, value)| value.clone()).collect();
        // A handful of tries: two slots of one table should differ, and a small table must not loop for ever.
        let mut value = String::new();
        for _ in 0..8 {
            value = match stem {
                "person" => person(&mut self.rng),
                "well" => well(&mut self.rng),
                _ => match words::table(stem) {
                    Some(table) => self.rng.pick(table).to_owned(),
                    None => return format!("{{{name}}}"),
                },
            };
            if !taken.contains(&value) {
                break;
            }
        }
        value
    }
}

/// A word of a table of `data/words.txt`.
pub(crate) fn word(rng: &mut Rng, table: &str) -> &'static str {
    rng.pick(words::table(table).unwrap_or_default())
}

/// A person's full name.
pub(crate) fn person(rng: &mut Rng) -> String {
    format!("{}{}", word(rng, "surname"), word(rng, "given_name"))
}

fn well(rng: &mut Rng) -> String {
    let stem = word(rng, "well_name");
    let number = rng.between(1, 98);
    match rng.below(4) {
        0 => format!("{stem}{number}井"),
        1 => format!("{stem}{number}-{}HF井", rng.between(1, 9)),
        2 => format!("{stem}{number}H井"),
        _ => format!("{stem}{}井", number + 100),
    }
}
