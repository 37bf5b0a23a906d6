//! Fills the slots of a phrase. In: a phrase such as `{company}在{basin}完钻{well}井，井深{depth=4200..7800}米。`
//! and what one article already knows. Out: the sentence.
//!
//! | slot | becomes |
//! |---|---|
//! | `{company}` | a word of that table, the same one through the whole article; `{company2}` another word of it |
//! | `{person}`, `{person2}`, `{well}`, `{well2}`, … | a name made up, kept likewise |
//! | `{3..9}`, `{1.5..4.5}` | a fresh number, with as many decimals as the lower bound has |
//! | `{depth=4200..7800}`, later `{depth}` | a number that is kept |
//! | `{截至目前|今年以来}` | one of these, chosen afresh |
//!
//! A slot nobody knows stays as it is, braces and all: the tests look for braces.

use super::regions::Regions;
use super::rng::Rng;
use super::vocabulary::{self, GIVEN, SURNAMES, WELLS};

/// What one article knows: its random stream and the words it has settled on.
pub(super) struct Facts {
    pub(super) rng: Rng,
    kept: Vec<(String, String)>,
}

impl Facts {
    /// Starts with nothing settled.
    pub(super) fn new(rng: Rng) -> Self {
        Self {
            rng,
            kept: Vec::new(),
        }
    }

    /// Settles a slot from outside, for example the day.
    pub(super) fn set(&mut self, name: &str, value: impl Into<String>) {
        self.kept.retain(|(known, _)| known != name);
        self.kept.push((name.to_owned(), value.into()));
    }

    /// Settles basin, formation and province together, since rocks have their place.
    pub(super) fn settle_region(&mut self, regions: Regions) {
        let of = regions.table();
        let Some(region) = of.get(self.rng.index(of.len())) else {
            return;
        };
        let formation = self.rng.pick(region.formations);
        let province = self.rng.pick(region.provinces);
        self.set("basin", region.basin);
        self.set("formation", formation);
        self.set("province", province);
    }

    /// The word settled for `name`, settling it now if it is new.
    pub(super) fn get(&mut self, name: &str) -> String {
        if let Some((_, value)) = self.kept.iter().find(|(known, _)| known == name) {
            return value.clone();
        }
        let value = self.fresh(name);
        self.kept.push((name.to_owned(), value.clone()));
        value
    }

    /// The sentence that `phrase` stands for.
    pub(super) fn fill(&mut self, phrase: &str) -> String {
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
                _ => match vocabulary::table(stem) {
                    Some(words) => self.rng.pick(words).to_owned(),
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

/// A person's full name.
pub(super) fn person(rng: &mut Rng) -> String {
    format!("{}{}", rng.pick(SURNAMES), rng.pick(GIVEN))
}

fn well(rng: &mut Rng) -> String {
    let stem = rng.pick(WELLS);
    let number = rng.between(1, 98);
    match rng.below(4) {
        0 => format!("{stem}{number}井"),
        1 => format!("{stem}{number}-{}HF井", rng.between(1, 9)),
        2 => format!("{stem}{number}H井"),
        _ => format!("{stem}{}井", number + 100),
    }
}
