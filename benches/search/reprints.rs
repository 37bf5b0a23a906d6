//! Whether reprints are recognised: articles with 5 to 20 % of them edited in several ways, against the articles that
//! the search itself takes for the nearest ones.

use std::collections::HashMap;
use std::path::Path;

use taojin_search::analyze::Analyzer;
use taojin_search::index::Query;

use crate::collection::{self, Collection, Engine};
use crate::corpus::{self, Text};

const ARTICLES: usize = 500;
/// Pairs that share more than this were reprints before anybody edited them: no sentence of most of them is their own.
const ALREADY_REPRINTS: f64 = 0.5;
const LEAST_LETTERS: usize = 100;

/// A pseudo random sequence, the same in every run.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit.max(1)
    }
}

pub(crate) fn measure(scratch: &Path, analyzer: &Analyzer, news: &[Text]) {
    let originals: Vec<&Text> = news
        .iter()
        .filter(|text| text.text.chars().filter(|c| c.is_alphanumeric()).count() >= LEAST_LETTERS)
        .step_by(7)
        .take(ARTICLES)
        .collect();
    let others = nearest(scratch, analyzer, news, &originals);
    for kind in [
        "letters",
        "letters, moved",
        "sentences",
        "sentences, moved",
        "mixed",
    ] {
        let mut dice = Dice(42);
        let mut texts: Vec<Text> = Vec::new();
        for (at, original) in originals.iter().enumerate() {
            let share = 0.05 + 0.15 * (at % 16) as f64 / 15.0;
            texts.push(copy(original, "original", original.text.clone()));
            texts.push(copy(
                original,
                "reprint",
                edited(original, kind, share, news, &mut dice),
            ));
        }
        let mut seen: Vec<&str> = originals.iter().map(|text| text.id.as_str()).collect();
        for (_, other) in &others {
            if !seen.contains(&other.id.as_str()) {
                seen.push(&other.id);
                texts.push(copy(other, "original", other.text.clone()));
            }
        }
        for at in (1..texts.len()).rev() {
            texts.swap(at, dice.below(at + 1));
        }
        let dir = scratch.join(format!("reprints-{kind}"));
        let groups = groups(&dir, analyzer, &texts);
        let group = |text: &Text, what: &str| {
            groups
                .get(&format!("{}-{what}", text.id))
                .copied()
                .flatten()
        };
        let same = |a: Option<u64>, b: Option<u64>| a.is_some() && a == b;
        let right = originals
            .iter()
            .filter(|o| same(group(o, "original"), group(o, "reprint")))
            .count();
        let wrong = others
            .iter()
            .filter(|(a, b)| same(group(a, "original"), group(b, "original")));
        let wrong: Vec<_> = wrong.collect();
        println!(
            "reprints, {kind} edited: precision {:.3}, recall {:.3} ({right} of {} found, {} of {} others taken for reprints)",
            right as f64 / (right + wrong.len()).max(1) as f64,
            right as f64 / originals.len() as f64,
            originals.len(),
            wrong.len(),
            others.len(),
        );
        if std::env::var_os("SHOW").is_some() {
            for (a, b) in wrong {
                println!(
                    "  {:.3}\n   {}\n   {}",
                    common(&a.text, &b.text),
                    short(&a.text),
                    short(&b.text)
                );
            }
        }
    }
}

fn short(text: &str) -> String {
    text.chars()
        .filter(|c| !c.is_whitespace())
        .take(150)
        .collect()
}

fn copy(text: &Text, what: &str, changed: String) -> Text {
    Text {
        id: format!("{}-{what}", text.id),
        text: changed,
    }
}

/// For each article the nearest other one that is no reprint of it.
fn nearest<'t>(
    scratch: &Path,
    analyzer: &Analyzer,
    news: &'t [Text],
    originals: &[&'t Text],
) -> Vec<(&'t Text, &'t Text)> {
    let dir = scratch.join("reprints-nearest");
    collection::write(&dir, Engine::Embedded, news.iter());
    let reader = collection::open(&dir, Engine::Embedded, analyzer);
    let by_fingerprint: HashMap<u64, &Text> = news
        .iter()
        .map(|text| (corpus::fingerprint(&text.id), text))
        .collect();
    let mut pairs = Vec::new();
    for original in originals {
        let begin: String = original.text.chars().take(60).collect();
        let found = reader.search(&Query::plain(&begin)).expect("an answer");
        let other = found
            .documents
            .iter()
            .filter_map(|d| by_fingerprint.get(&d.stored.fingerprint))
            .find(|other| {
                other.id != original.id && common(&other.text, &original.text) < ALREADY_REPRINTS
            });
        pairs.extend(other.map(|other| (*original, *other)));
    }
    pairs
}

/// Share of the sentences of the shorter text that stand in the other.
fn common(a: &str, b: &str) -> f64 {
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    let sentences: Vec<&str> = short
        .split(['。', '，', '\n', '；'])
        .map(str::trim)
        .filter(|s| s.chars().count() >= 8)
        .collect();
    let known = sentences.iter().filter(|s| long.contains(**s)).count();
    known as f64 / sentences.len().max(1) as f64
}

fn edited(text: &Text, kind: &str, share: f64, news: &[Text], dice: &mut Dice) -> String {
    match kind {
        "letters" => letters(&text.text, share, news, dice),
        "sentences" => sentences(&text.text, share, news, dice),
        "sentences, moved" | "letters, moved" => {
            let edited = match kind {
                "letters, moved" => letters(&text.text, share, news, dice),
                _ => sentences(&text.text, share, news, dice),
            };
            let middle = edited
                .char_indices()
                .nth(edited.chars().count() / 2)
                .map_or(0, |(at, _)| at);
            let (a, b) = edited.split_at(middle);
            format!("{b}\n{a}")
        }
        _ => {
            let edited = sentences(&text.text, share / 2.0, news, dice);
            format!(
                "本报讯（记者 李明）{}（来源：某某网）",
                letters(&edited, share / 2.0, news, dice)
            )
        }
    }
}

/// Letters left out, put in and replaced, one third each.
fn letters(text: &str, share: f64, news: &[Text], dice: &mut Dice) -> String {
    let mut out = String::new();
    for c in text.chars() {
        let roll = dice.below(3_000) as f64 / 3_000.0;
        if roll < share / 3.0 {
            continue;
        }
        if roll < share {
            let other = &news[dice.below(news.len())].text;
            out.extend(
                other
                    .chars()
                    .filter(|c| c.is_alphanumeric())
                    .nth(dice.below(40)),
            );
        }
        if roll >= share * 2.0 / 3.0 {
            out.push(c);
        }
    }
    out
}

/// Sentences left out or replaced by others.
fn sentences(text: &str, share: f64, news: &[Text], dice: &mut Dice) -> String {
    let all: Vec<&str> = text.split_inclusive(['。', '！', '？', '\n']).collect();
    let mut left = (text.chars().count() as f64 * share) as usize;
    let mut touched = vec![false; all.len()];
    for _ in 0..all.len() * 2 {
        let at = dice.below(all.len());
        let length = all[at].chars().count();
        if !touched[at] && length <= left + 10 && left > 0 {
            touched[at] = true;
            left = left.saturating_sub(length);
        }
    }
    let mut out = String::new();
    for (sentence, touched) in all.iter().zip(touched) {
        if !touched {
            out.push_str(sentence);
        } else if dice.below(2) == 0 {
            let other = &news[dice.below(news.len())].text;
            out.push_str(other.split_inclusive('。').next().unwrap_or_default());
        }
    }
    out
}

/// The group of each text, by its name.
fn groups(dir: &Path, analyzer: &Analyzer, texts: &[Text]) -> HashMap<String, Option<u64>> {
    let mut collection = Collection::open(dir, Engine::Embedded);
    for (at, text) in texts.iter().enumerate() {
        collection.add_text(text);
        if at % 100 == 99 {
            collection.commit();
        }
        // A restart in the middle must not forget anything.
        if at == texts.len() / 2 {
            collection.close(false);
            collection = Collection::open(dir, Engine::Embedded);
        }
    }
    collection.close(false);
    let reader = collection::open(dir, Engine::Embedded, analyzer);
    let group = |text: &Text| {
        let found = reader
            .group(corpus::fingerprint(&text.id))
            .expect("an answer");
        (text.id.clone(), found)
    };
    texts.iter().map(group).collect()
}
