//! What stands first, and what is counted: strings drawn from the texts, each with all texts that hold it.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use taojin::serve::Calendar;
use taojin_search::analyze::{Analyzer, is_stop_word, normalize, normalize_document};
use taojin_search::index::Query;
use taojin_search::query::parse;

use crate::collection::{self, Engine};
use crate::corpus::{self, Text};
use crate::reprints::Dice;

const TEXTS: usize = 4_000;
const DRAWN: usize = 200;
const JUDGED: usize = 100;
const SAMPLE: usize = 20;
/// What share of the weight of its words a hit must have to be counted as right, where it lacks the string.
const WORTH: f64 = 0.5;
const BEIJING: Calendar = Calendar {
    utc_offset_minutes: 480,
    now_ms: 0,
};

pub(crate) fn measure(scratch: &Path, analyzer: &Analyzer, news: &[Text]) {
    let texts: Vec<&Text> = news.iter().step_by(4).take(TEXTS).collect();
    let dir = scratch.join("answers");
    collection::write(&dir, Engine::Embedded, texts.iter().copied());
    let reader = collection::open(&dir, Engine::Embedded, analyzer);
    let plain: HashMap<u64, String> = texts
        .iter()
        .map(|text| (corpus::fingerprint(&text.id), squeezed(&text.text)))
        .collect();
    let mut dice = Dice(20);
    let strings: Vec<String> = (0..DRAWN).map(|_| drawn(&texts, &mut dice)).collect();
    let page = |typed: &str, offset: usize| {
        let query = Query {
            limit: Query::MAX_LIMIT,
            offset,
            ..parse(typed, &BEIJING).query
        };
        reader.search(&query).expect("an answer")
    };
    let (mut first, mut ratios) = (0, Vec::new());
    for typed in &strings {
        let string = squeezed(typed);
        let holders = plain.values().filter(|text| holds(text, &string)).count();
        let found = page(typed, 0);
        let top = found.documents.iter().take(holders);
        let right = top.filter(|hit| holds(&plain[&hit.stored.fingerprint], &string));
        let wanted = holders.min(Query::MAX_LIMIT);
        let right = right.count();
        first += usize::from(right == wanted);
        if right < wanted && std::env::var_os("SHOW").is_some() {
            println!(
                "  {typed:?}: {right} of {wanted} first, {} hits",
                found.total
            );
        }
        ratios.push(found.total as f64 / holders.max(1) as f64);
    }
    ratios.sort_by(f64::total_cmp);
    println!(
        "answers: of {DRAWN} strings drawn {:.3} have all that hold them first; total is {:.2} times these in the median",
        first as f64 / DRAWN as f64,
        ratios[DRAWN / 2]
    );
    let dictionary = analyzer.dictionary();
    let (mut right, mut sampled, mut held, mut got) = (0, 0, 0, 0);
    for typed in queries(&strings, &texts, &mut dice) {
        let normal = normalize(&typed).into_owned();
        let words = dictionary.words(&normal);
        let words: HashSet<&str> = words.iter().map(|word| word.slice_of(&normal)).collect();
        let words: Vec<&str> = words.into_iter().filter(|w| !is_stop_word(w)).collect();
        let weigh = |word: &&str| {
            let with = plain.values().filter(|text| text.contains(*word)).count();
            ((TEXTS + 1) as f64 / (with + 1) as f64).ln()
        };
        let weights: Vec<f64> = words.iter().map(weigh).collect();
        let all: f64 = weights.iter().sum();
        let share = |text: &str| {
            let known = words
                .iter()
                .zip(&weights)
                .filter(|(word, _)| text.contains(**word));
            known.map(|(_, weight)| weight).sum::<f64>() / all.max(f64::EPSILON)
        };
        let string = squeezed(&typed);
        let total = page(&typed, 0).total;
        let mut found: Vec<u64> = Vec::with_capacity(total);
        while found.len() < total.min(Query::MAX_WINDOW) {
            let next = page(&typed, found.len()).documents;
            if next.is_empty() {
                break;
            }
            found.extend(next.iter().map(|hit| hit.stored.fingerprint));
        }
        for at in 0..SAMPLE.min(found.len()) {
            let text = &plain[&found[at * found.len() / SAMPLE.min(found.len())]];
            sampled += 1;
            right += usize::from(holds(text, &string) || share(text) >= WORTH);
        }
        let found: HashSet<u64> = found.into_iter().collect();
        // A single character is a word in some texts and a part of one in others: who can tell.
        let whole = words.iter().all(|word| word.chars().count() > 1);
        for (id, text) in plain.iter().filter(|_| whole) {
            if words.iter().all(|word| holds(text, word)) {
                held += 1;
                got += usize::from(found.contains(id));
            }
        }
    }
    println!(
        "answers: of {sampled} hits of {JUDGED} queries, drawn evenly over the total, {:.3} hold the string or half of its \
         words by weight; {:.3} of {held} texts with all words of two letters or more are in the total",
        right as f64 / f64::from(sampled.max(1) as u32),
        f64::from(got as u32) / f64::from(held.max(1)),
    );
}

/// Half strings as drawn, a quarter pairs of words, a quarter whole sentences.
fn queries(strings: &[String], texts: &[&Text], dice: &mut Dice) -> Vec<String> {
    let mut all: Vec<String> = strings.iter().take(JUDGED / 2).cloned().collect();
    while all.len() < JUDGED * 3 / 4 {
        let pair = [drawn(texts, dice), drawn(texts, dice)];
        all.push(pair.join(" "));
    }
    while all.len() < JUDGED {
        let text = &texts[dice.below(texts.len())].text;
        let sentences: Vec<&str> = text.split(['。', '\n', '，']).collect();
        let sentence = sentences[dice.below(sentences.len())].trim();
        if (10..=36).contains(&sentence.chars().count()) {
            all.push(sentence.to_owned());
        }
    }
    all
}

/// A string of 1 to 12 letters and digits; every other one begins with a number or a Latin word, none cuts one, nor a decimal.
fn drawn(texts: &[&Text], dice: &mut Dice) -> String {
    let wants_number = dice.below(2) == 0;
    loop {
        let text: Vec<char> = texts[dice.below(texts.len())].text.chars().collect();
        let from = dice.below(text.len().max(1));
        let until = (from + 1 + dice.below(12)).min(text.len());
        let run = |at: usize| text.get(at).is_some_and(char::is_ascii_alphanumeric);
        let digit = |at: usize| text.get(at).is_some_and(char::is_ascii_digit);
        let point =
            |at: usize| text.get(at) == Some(&'.') && at > 0 && digit(at - 1) && digit(at + 1);
        let cut = |at: usize| at > 0 && (run(at - 1) && run(at) || point(at - 1) || point(at));
        let string: String = text[from..until].iter().collect();
        let whole = !string.is_empty() && string.chars().all(char::is_alphanumeric);
        let fits = !wants_number || string.starts_with(|c: char| c.is_ascii_alphanumeric());
        if whole && fits && !cut(from) && !cut(until) && !is_stop_word(&string) {
            return string;
        }
    }
}

/// A text as it is searched, without the blanks that part neither two words of letters nor two numbers.
fn squeezed(text: &str) -> String {
    let normal: Vec<char> = normalize_document(text).chars().collect();
    let both = |at: usize, kind: fn(&char) -> bool| {
        let beside = [at.checked_sub(1), Some(at + 1)];
        let beside = beside.map(|at| at.and_then(|at| normal.get(at)));
        beside.into_iter().all(|c| c.is_some_and(kind))
    };
    let parts = |at| both(at, char::is_ascii_digit) || both(at, char::is_ascii_alphabetic);
    let kept = normal
        .iter()
        .enumerate()
        .filter(|(at, c)| !c.is_whitespace() || parts(*at));
    kept.map(|(_, c)| *c).collect()
}

/// Whether a text has a string, and not as part of a longer number, a decimal or Latin word.
fn holds(text: &str, string: &str) -> bool {
    // A number ends where letters begin: 100kWh holds 100.
    let both = |a: Option<char>, b: Option<char>, kind: fn(&char) -> bool| {
        a.as_ref().is_some_and(kind) && b.as_ref().is_some_and(kind)
    };
    text.match_indices(string).any(|(at, found)| {
        let mut back = text.get(..at).unwrap_or_default().chars().rev();
        let mut on = text.get(at + found.len()..).unwrap_or_default().chars();
        let (before, after) = (back.next(), on.next());
        let point = |beside: Option<char>, beyond: Option<char>, end: Option<char>| {
            beside == Some('.') && both(beyond, end, char::is_ascii_digit)
        };
        if point(before, back.next(), found.chars().next())
            || point(after, on.next(), found.chars().next_back())
        {
            return false;
        }
        let joined =
            |a, b| both(a, b, char::is_ascii_digit) || both(a, b, char::is_ascii_alphabetic);
        !joined(before, found.chars().next()) && !joined(found.chars().next_back(), after)
    })
}
