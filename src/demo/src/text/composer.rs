//! Writes the articles. In: a genre, a seed, an outlet and a day. Out: headline, paragraphs, comments: always the
//! same for the same input, so nothing needs to be kept in memory. Never repeats a phrase within one article.

use chrono::{Datelike, Timelike};

use super::super::rng::Rng;
use super::super::time::beijing;
use super::genre::Genre;
use super::slots::{SlotValues, person, word};
use super::words::sentences;

/// Longest paragraph aimed at, in characters.
const PARAGRAPH_CHARS: usize = 200;
/// Shortest paragraph aimed at, in characters.
const PARAGRAPH_FLOOR_CHARS: usize = 40;

/// What determines an article.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Brief<'a> {
    /// What it is about.
    pub(crate) genre: Genre,
    /// Its own seed.
    pub(crate) seed: u64,
    /// Name of the site that publishes it.
    pub(crate) outlet: &'a str,
    /// Time of publication, Unix milliseconds.
    pub(crate) published_ms: i64,
}

/// A comment below an article, or an answer in a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment {
    /// Who wrote it.
    pub author: String,
    /// When, Unix milliseconds.
    pub published_ms: i64,
    /// What it says.
    pub text: String,
}

/// Headline and writer.
pub(crate) fn headline(brief: &Brief<'_>) -> (String, String) {
    let mut values = slot_values(brief);
    let (title, _) = headline_and_lead(brief, &mut values);
    (title, values.get("reporter"))
}

/// The paragraphs; `updates` updates are appended.
pub(crate) fn paragraphs(brief: &Brief<'_>, updates: u32) -> Vec<String> {
    let mut values = slot_values(brief);
    let (_, lead) = headline_and_lead(brief, &mut values);
    let mut out = match brief.genre {
        Genre::Picture => vec![values.fill(lead)],
        Genre::Interview => interview(brief, lead, &mut values),
        _ => report(brief, lead, &mut values),
    };
    for number in 0..updates {
        let mut values = slot_values(&Brief {
            seed: brief.seed ^ u64::from(number + 1),
            ..*brief
        });
        out.push(one(&mut values, sentences("updates")));
    }
    out
}

/// Up to `count` comments in the order of time, all different.
pub(crate) fn comments(brief: &Brief<'_>, count: usize) -> Vec<Comment> {
    let mut values = slot_values(brief);
    headline_and_lead(brief, &mut values);
    let mut rng = Rng::of(brief.seed, &[0xC0]);
    let pool = match brief.genre {
        Genre::PlantQuestion => sentences("plant_replies"),
        Genre::WellQuestion => sentences("well_replies"),
        _ => sentences("comments"),
    };
    let order = shuffled(&mut rng, pool.len());
    let mut at_ms = brief.published_ms;
    order
        .into_iter()
        .take(count)
        .map(|index| {
            at_ms += i64::try_from(rng.between(4, 90)).unwrap_or(4) * 60_000;
            Comment {
                author: word(&mut rng, "reader").to_owned(),
                published_ms: at_ms,
                text: values.fill(pool.get(index).copied().unwrap_or_default()),
            }
        })
        .collect()
}

fn slot_values(brief: &Brief<'_>) -> SlotValues {
    let mut values = SlotValues::new(Rng::of(brief.seed, &[1]));
    let at = beijing(brief.published_ms);
    values.set("year", at.year().to_string());
    values.set("month", format!("{}月", at.month()));
    let day = if at.hour() < 9 {
        at - chrono::Duration::hours(12)
    } else {
        at
    };
    values.set("day", format!("{}月{}日", day.month(), day.day()));
    let reporter = person(&mut values.rng);
    values.set("reporter", reporter);
    let regions = match brief.genre {
        Genre::Offshore => "sea",
        Genre::Shale => "shale",
        _ => "land",
    };
    values.choose_region(regions);
    if matches!(brief.genre, Genre::Offshore | Genre::Lng) {
        let port = values.get("port");
        values.set("city", port);
    }
    values
}

/// The headline, filled, and the phrase that begins the text under it.
fn headline_and_lead(brief: &Brief<'_>, values: &mut SlotValues) -> (String, &'static str) {
    let phrases = brief.genre.phrases();
    let at = values.rng.index(phrases.titles.len());
    let (title, lead) = phrases.titles.get(at).copied().unwrap_or_default();
    let lead = phrases.leads().get(lead).copied().unwrap_or_default();
    (values.fill(title), lead)
}

fn one(values: &mut SlotValues, of: &[&str]) -> String {
    let phrase = values.rng.pick(of);
    values.fill(phrase)
}

fn shuffled(rng: &mut Rng, length: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..length).collect();
    for last in (1..length).rev() {
        order.swap(last, rng.index(last + 1));
    }
    order
}

fn dateline(brief: &Brief<'_>, values: &mut SlotValues) -> String {
    if !brief.genre.has_dateline() {
        return String::new();
    }
    let (outlet, reporter) = (brief.outlet, values.get("reporter"));
    match values.rng.below(4) {
        0 => format!(
            "本报讯（记者 {reporter} 通讯员 {}）",
            person(&mut values.rng)
        ),
        1 => format!(
            "{outlet}{}电（记者 {reporter}）",
            values.fill("{city}{day}")
        ),
        2 => format!("本报记者 {reporter} {}报道：", values.fill("{city}")),
        _ => format!("{outlet}讯（记者 {reporter}）"),
    }
}

/// Lead, facts with quotes and background between them, closing.
fn report(brief: &Brief<'_>, lead: &str, values: &mut SlotValues) -> Vec<String> {
    let phrases = brief.genre.phrases();
    let mut first = dateline(brief, values);
    first.push_str(&values.fill(lead));
    let fewest = if brief.genre == Genre::Policy { 5 } else { 3 };
    let wanted = usize::try_from(values.rng.between(fewest, 8)).unwrap_or(4);
    let mut queue = middle(brief, values).into_iter();
    let mut out = Vec::with_capacity(wanted);
    if length(&first) < PARAGRAPH_FLOOR_CHARS {
        first.extend(queue.next());
    }
    out.push(first);
    while out.len() + 1 < wanted {
        let Some(mut paragraph) = queue.next() else {
            break;
        };
        let aim = match brief.genre {
            Genre::Policy => 0,
            _ => usize::try_from(values.rng.between(40, 130)).unwrap_or(60),
        };
        while length(&paragraph) < aim {
            let Some(more) = queue.next() else { break };
            if length(&paragraph) + length(&more) > PARAGRAPH_CHARS {
                out.push(std::mem::replace(&mut paragraph, more));
                break;
            }
            paragraph.push_str(&more);
        }
        if length(&paragraph) >= PARAGRAPH_FLOOR_CHARS {
            out.push(paragraph);
        }
    }
    let mut last = one(values, phrases.closings());
    if brief.genre != Genre::Policy && length(&last) < PARAGRAPH_FLOOR_CHARS {
        let before = out.last_mut().expect("the first paragraph is there");
        if length(before) + length(&last) <= PARAGRAPH_CHARS {
            before.push_str(&last);
            last.clear();
        } else if let Some(more) = queue.next() {
            last = format!("{more}{last}");
        }
    }
    if !last.is_empty() {
        out.push(last);
    }
    number_items(brief, out)
}

/// The sentences between lead and close, filled, each phrase once.
fn middle(brief: &Brief<'_>, values: &mut SlotValues) -> Vec<String> {
    let phrases = brief.genre.phrases();
    let background = sentences("background");
    let mut particulars = shuffled(&mut values.rng, phrases.facts().len());
    if brief.genre == Genre::Policy {
        // A notice has its points in the order of the law, whichever of them it has.
        particulars.truncate(8);
        particulars.sort_unstable();
    }
    let mut voices = shuffled(&mut values.rng, phrases.quotes().len()).into_iter();
    let mut others = if brief.genre.has_dateline() {
        shuffled(&mut values.rng, background.len()).into_iter()
    } else {
        Vec::new().into_iter()
    };
    let mut out = Vec::new();
    for (place, index) in particulars.into_iter().enumerate() {
        out.extend(phrases.facts().get(index).map(|phrase| values.fill(phrase)));
        if place % 3 == 1 && brief.genre != Genre::Policy {
            out.extend(
                voices
                    .next()
                    .and_then(|at| phrases.quotes().get(at))
                    .map(|phrase| values.fill(phrase)),
            );
        }
        if place % 4 == 2 {
            out.extend(
                others
                    .next()
                    .and_then(|at| background.get(at))
                    .map(|phrase| values.fill(phrase)),
            );
        }
    }
    out
}

/// Numbers the points of a notice in their final order.
fn number_items(brief: &Brief<'_>, paragraphs: Vec<String>) -> Vec<String> {
    const NUMERALS: [&str; 10] = ["一", "二", "三", "四", "五", "六", "七", "八", "九", "十"];
    if brief.genre != Genre::Policy {
        return paragraphs;
    }
    let mut numerals = NUMERALS.iter();
    paragraphs
        .into_iter()
        .map(|mut paragraph| {
            while paragraph.contains("{no}") {
                let numeral = numerals.next().copied().unwrap_or("另");
                paragraph = paragraph.replacen("{no}", numeral, 1);
            }
            paragraph
        })
        .collect()
}

/// Questions, each followed by its answer.
fn interview(brief: &Brief<'_>, lead: &str, values: &mut SlotValues) -> Vec<String> {
    let phrases = brief.genre.phrases();
    let mut out = vec![values.fill(lead)];
    let rounds = usize::try_from(values.rng.between(2, 4)).unwrap_or(2);
    for at in shuffled(&mut values.rng, phrases.quotes().len())
        .into_iter()
        .take(rounds)
    {
        for said in [phrases.quotes(), phrases.facts()] {
            out.extend(said.get(at).map(|phrase| values.fill(phrase)));
        }
    }
    out.push(one(values, phrases.closings()));
    out
}

fn length(text: &str) -> usize {
    text.chars().count()
}
