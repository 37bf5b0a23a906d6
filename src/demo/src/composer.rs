//! Writes the articles. In: a genre, a seed, an outlet and a day. Out: headline, paragraphs, comments: always the
//! same for the same input, so nothing needs to be kept in memory. Never repeats a phrase within one article.

use chrono::{DateTime, Datelike, FixedOffset, Timelike};

use super::grammar::{Facts, person};
use super::phrases::{ASIDES, Genre, PLANT_REPLIES, REMARKS, WELL_REPLIES};
use super::regions::Regions;
use super::rng::Rng;
use super::vocabulary::NICKNAMES;

/// Longest paragraph aimed at, in characters.
const PARAGRAPH_CHARS: usize = 200;
/// Shortest paragraph aimed at, in characters.
const PARAGRAPH_FLOOR_CHARS: usize = 40;
/// China's clock: the sample web lives there.
const OFFSET_S: i32 = 8 * 3600;

/// What one article is made from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Brief<'a> {
    /// What it is about.
    pub(super) genre: Genre,
    /// Its own seed.
    pub(super) seed: u64,
    /// Name of the medium that wrote it.
    pub(super) outlet: &'a str,
    /// When it came out, Unix milliseconds.
    pub(super) published_ms: i64,
}

/// A comment below an article, or an answer in a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// Who wrote it.
    pub author: String,
    /// When, Unix milliseconds.
    pub published_ms: i64,
    /// What it says.
    pub text: String,
}

/// The moment on China's clock.
pub(super) fn beijing(ms: i64) -> DateTime<FixedOffset> {
    let zone = FixedOffset::east_opt(OFFSET_S).expect("eight hours are a valid offset");
    DateTime::from_timestamp_millis(ms)
        .unwrap_or_default()
        .with_timezone(&zone)
}

/// Headline and writer.
pub(super) fn headline(brief: &Brief<'_>) -> (String, String) {
    let mut facts = facts(brief);
    let (title, _) = headline_and_lead(brief, &mut facts);
    (title, facts.get("reporter"))
}

/// The paragraphs; `updates` later additions stand at the end.
pub(super) fn paragraphs(brief: &Brief<'_>, updates: u32) -> Vec<String> {
    let mut facts = facts(brief);
    let (_, lead) = headline_and_lead(brief, &mut facts);
    let mut out = match brief.genre {
        Genre::Picture => vec![facts.fill(lead)],
        Genre::Interview => interview(brief, lead, &mut facts),
        _ => report(brief, lead, &mut facts),
    };
    for number in 0..updates {
        let mut facts = self::facts(&Brief {
            seed: brief.seed ^ u64::from(number + 1),
            ..*brief
        });
        out.push(one(&mut facts, UPDATES));
    }
    out
}

/// Up to `count` comments in the order of time, none saying what another one says.
pub(super) fn remarks(brief: &Brief<'_>, count: usize) -> Vec<Remark> {
    let mut facts = facts(brief);
    headline_and_lead(brief, &mut facts);
    let mut rng = Rng::of(brief.seed, &[0xC0]);
    let pool = match brief.genre {
        Genre::PlantQuestion => PLANT_REPLIES,
        Genre::WellQuestion => WELL_REPLIES,
        _ => REMARKS,
    };
    let order = shuffled(&mut rng, pool.len());
    let mut at_ms = brief.published_ms;
    order
        .into_iter()
        .take(count)
        .map(|index| {
            at_ms += i64::try_from(rng.between(4, 90)).unwrap_or(4) * 60_000;
            Remark {
                author: rng.pick(NICKNAMES).to_owned(),
                published_ms: at_ms,
                text: facts.fill(pool.get(index).copied().unwrap_or_default()),
            }
        })
        .collect()
}

/// What was added to an article after it came out.
const UPDATES: &[&str] = &[
    "【更新】{company2}随后补充说明，文中涉及的进度数据截至上一统计日，最新完成率为{61..97}%，其余内容没有变化。",
    "【更新】本文发表后，{institute2}提供了进一步的数据：相关指标较初次公布时上调了{1.2..6.8}个百分点，上调原因是统计口径扩大。",
    "【更正】此前版本中人员职务有误，{person3}现任{role2}，特此更正并向读者致歉，其余内容不受影响。",
    "【追记】截至发稿后{18..46}小时，现场传来消息，第{2..9}阶段工作已经提前完成，负责人{person3}对进展表示满意。",
];

fn facts(brief: &Brief<'_>) -> Facts {
    let mut facts = Facts::new(Rng::of(brief.seed, &[1]));
    let at = beijing(brief.published_ms);
    facts.set("year", at.year().to_string());
    facts.set("month", format!("{}月", at.month()));
    let day = if at.hour() < 9 {
        at - chrono::Duration::hours(12)
    } else {
        at
    };
    facts.set("day", format!("{}月{}日", day.month(), day.day()));
    let reporter = person(&mut facts.rng);
    facts.set("reporter", reporter);
    let regions = match brief.genre {
        Genre::Offshore => Regions::Sea,
        Genre::Shale => Regions::Shale,
        _ => Regions::Land,
    };
    facts.settle_region(regions);
    if matches!(brief.genre, Genre::Offshore | Genre::Lng) {
        let port = facts.get("port");
        facts.set("city", port);
    }
    facts
}

/// The headline, filled, and the phrase that begins the text under it.
fn headline_and_lead(brief: &Brief<'_>, facts: &mut Facts) -> (String, &'static str) {
    let phrases = brief.genre.phrases();
    let at = facts.rng.index(phrases.titles.len());
    let (title, lead) = phrases.titles.get(at).copied().unwrap_or_default();
    let lead = phrases.leads.get(lead).copied().unwrap_or_default();
    (facts.fill(title), lead)
}

fn one(facts: &mut Facts, of: &[&str]) -> String {
    let phrase = facts.rng.pick(of);
    facts.fill(phrase)
}

fn shuffled(rng: &mut Rng, length: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..length).collect();
    for last in (1..length).rev() {
        order.swap(last, rng.index(last + 1));
    }
    order
}

fn dateline(brief: &Brief<'_>, facts: &mut Facts) -> String {
    if !brief.genre.has_dateline() {
        return String::new();
    }
    let (outlet, reporter) = (brief.outlet, facts.get("reporter"));
    match facts.rng.below(4) {
        0 => format!(
            "本报讯（记者 {reporter} 通讯员 {}）",
            person(&mut facts.rng)
        ),
        1 => format!("{outlet}{}电（记者 {reporter}）", facts.fill("{city}{day}")),
        2 => format!("本报记者 {reporter} {}报道：", facts.fill("{city}")),
        _ => format!("{outlet}讯（记者 {reporter}）"),
    }
}

/// Lead, particulars with voices and background between them, a last word.
fn report(brief: &Brief<'_>, lead: &str, facts: &mut Facts) -> Vec<String> {
    let phrases = brief.genre.phrases();
    let mut first = dateline(brief, facts);
    first.push_str(&facts.fill(lead));
    let fewest = if brief.genre == Genre::Policy { 5 } else { 3 };
    let wanted = usize::try_from(facts.rng.between(fewest, 8)).unwrap_or(4);
    let mut queue = middle(brief, facts).into_iter();
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
            _ => usize::try_from(facts.rng.between(40, 130)).unwrap_or(60),
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
    let mut last = one(facts, phrases.closings);
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
fn middle(brief: &Brief<'_>, facts: &mut Facts) -> Vec<String> {
    let phrases = brief.genre.phrases();
    let mut particulars = shuffled(&mut facts.rng, phrases.facts.len());
    if brief.genre == Genre::Policy {
        // A notice has its points in the order of the law, whichever of them it has.
        particulars.truncate(8);
        particulars.sort_unstable();
    }
    let mut voices = shuffled(&mut facts.rng, phrases.quotes.len()).into_iter();
    let mut asides = if brief.genre.has_dateline() {
        shuffled(&mut facts.rng, ASIDES.len()).into_iter()
    } else {
        Vec::new().into_iter()
    };
    let mut out = Vec::new();
    for (place, index) in particulars.into_iter().enumerate() {
        out.extend(phrases.facts.get(index).map(|phrase| facts.fill(phrase)));
        if place % 3 == 1 && brief.genre != Genre::Policy {
            out.extend(
                voices
                    .next()
                    .and_then(|at| phrases.quotes.get(at))
                    .map(|phrase| facts.fill(phrase)),
            );
        }
        if place % 4 == 2 {
            out.extend(
                asides
                    .next()
                    .and_then(|at| ASIDES.get(at))
                    .map(|phrase| facts.fill(phrase)),
            );
        }
    }
    out
}

/// Gives the points of a notice their numbers in the order in which they ended up.
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
fn interview(brief: &Brief<'_>, lead: &str, facts: &mut Facts) -> Vec<String> {
    let phrases = brief.genre.phrases();
    let mut out = vec![facts.fill(lead)];
    let rounds = usize::try_from(facts.rng.between(2, 4)).unwrap_or(2);
    for at in shuffled(&mut facts.rng, phrases.quotes.len())
        .into_iter()
        .take(rounds)
    {
        for said in [phrases.quotes, phrases.facts] {
            out.extend(said.get(at).map(|phrase| facts.fill(phrase)));
        }
    }
    out.push(one(facts, phrases.closings));
    out
}

fn length(text: &str) -> usize {
    text.chars().count()
}
