//! Chooses the time of first publication from head data, the lines near headline and text, and the URL. The time of the
//! last change is used only if a page has no other.
//!
//! Order of trust: structured data, the day in the URL, text near the headline, text anywhere. A time of day is taken from
//! a less trusted candidate of the same day. If the day in structured data is one before or after the printed day, as
//! clocks of other zones produce it, the printed day wins.

pub(crate) mod clues;
pub(crate) mod code;
pub(crate) mod stamp;
pub(crate) mod text;

use std::sync::LazyLock;

use std::collections::BTreeMap;

use crate::cues;
use crate::document::DateSource;
use crate::fields::head::Head;
use crate::lines::Line;
use crate::lines::hints::Marks;
use crate::lines::outline::Outline;
use crate::page::{Attr, NodeId, Page, Tag};
use crate::times;
use clues::Label;
use code::{from_elements, from_script, from_url};
use stamp::{Clock, Stamp};
use text::{DateForm, FoundDate, find_dates, parse_value};

/// Lines above the headline that may hold the date.
const LINES_ABOVE: usize = 8;
/// Lines below the headline, or into the text, that may hold the date.
const LINES_BELOW: usize = 12;
/// Longest line that is checked for a date away from the headline, in bytes.
const SHORT_LINE: usize = 160;
/// Longest line whose dates are counted when nothing else is known, in tokens.
const FREQUENT_TOKENS: u32 = 80;
/// Linked tokens from which a line with a date is a link to another article.
const TEASER_TOKENS: u32 = 9;
/// Most candidates kept.
pub(super) const MAX_CANDIDATES: usize = 200;

/// Names of meta elements that do not say which date they mean.
static WEAK_META: LazyLock<Vec<String>> = LazyLock::new(|| cues::words("meta.published.weak"));

/// Where a date comes from, in order of trust.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum DateOrigin {
    /// JSON-LD `datePublished`.
    JsonLd,
    /// A meta element.
    Meta,
    /// `itemprop=datePublished`, `time pubdate`.
    Declared,
    /// When the first post of a thread was written; what stands above the posts may be the time of the last one.
    Opening,
    /// Text near the headline that is called the publication.
    Labelled,
    /// `<time datetime>` near the headline.
    Time,
    /// Year, month and day in the URL.
    Url,
    /// Text between headline and main text.
    Near,
    /// A value that a script calls the time of publication.
    Script,
    /// A meta element that may as well mean the last change or the day of an event: `date`, `DC.date`.
    WeakMeta,
    /// `<time datetime>` elsewhere.
    OtherTime,
    /// Month and day without a year, or a time relative to now, near the headline.
    Vague,
    /// The last lines of the text.
    Signature,
    /// `<title>` or the description.
    Head,
    /// The last change, of a page that contains no other time.
    Modified,
    /// The date that most short lines have.
    Frequent,
}

impl DateOrigin {
    /// What a reader is told of it.
    pub(crate) fn source(self) -> DateSource {
        match self {
            Self::JsonLd => DateSource::JsonLd,
            Self::Meta | Self::WeakMeta => DateSource::Meta,
            Self::Declared | Self::Time | Self::OtherTime => DateSource::Element,
            Self::Url => DateSource::Url,
            Self::Script => DateSource::Script,
            Self::Head => DateSource::Title,
            Self::Modified => DateSource::Modified,
            Self::Labelled
            | Self::Near
            | Self::Opening
            | Self::Vague
            | Self::Signature
            | Self::Frequent => DateSource::Text,
        }
    }

    /// Trust in the place, 1 for the first of the list, falling evenly.
    pub(super) fn trust(self) -> f64 {
        1.0 - self as u8 as f64 / (DateOrigin::Frequent as u8 + 1) as f64
    }
}

/// One candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DateCandidate {
    /// The date.
    pub stamp: Stamp,
    /// Where it comes from.
    pub origin: DateOrigin,
}

/// Where headline and text are, as line indexes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Anchors {
    /// Line of the headline.
    pub title: Option<usize>,
    /// First line of the main text.
    pub body_start: Option<usize>,
    /// One past the last line of the main text.
    pub body_end: usize,
}

/// Where dates are searched for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sources<'a> {
    /// The page.
    pub page: &'a Page,
    /// Its lines.
    pub outline: &'a Outline,
    /// What its head says.
    pub head: &'a Head<'a>,
    /// Where headline and text are.
    pub anchors: Anchors,
    /// When the first post of a thread was written, as printed.
    pub opening: Option<&'a str>,
    /// When it was fetched, and how its dates are stated.
    pub clock: &'a Clock,
}

/// The best date. Sources that cannot change it are not checked.
pub(super) fn choose(sources: &Sources<'_>) -> Option<DateCandidate> {
    let mut all = sources.declared();
    let timed =
        |all: &[DateCandidate], sure| find_best(all, sure).filter(|best| best.stamp.time.is_some());
    let sure = timed(&all, DateOrigin::Meta).or_else(|| {
        all.extend(sources.elsewhere_in_code());
        timed(&all, DateOrigin::Declared)
    });
    match sure {
        Some(best) => Some(sources.as_printed(best, &sources.in_lines(true))),
        None => {
            sources.add_text(&mut all);
            let best = find_best(&all, DateOrigin::Frequent)?;
            Some(sources.as_printed(best, &all))
        }
    }
}

/// Every date that was found, the most trusted first.
pub(super) fn collect_candidates(sources: &Sources<'_>) -> Vec<DateCandidate> {
    let mut all = sources.declared();
    all.extend(sources.elsewhere_in_code());
    sources.add_text(&mut all);
    all.sort_by_key(|c| c.origin);
    all
}

/// The most trusted of the dates whose origin is `least` or better, with the time of day of the most trusted of that day.
fn find_best(all: &[DateCandidate], least: DateOrigin) -> Option<DateCandidate> {
    let known = || all.iter().filter(|c| c.origin <= least);
    let best = *known().min_by_key(|c| c.origin)?;
    let day = best.stamp;
    if day.time.is_some() {
        return Some(best);
    }
    let timed = known().filter(|c| c.stamp.date == day.date && c.stamp.time.is_some());
    let stamp = timed.min_by_key(|c| c.origin).map_or(day, |c| c.stamp);
    Some(DateCandidate { stamp, ..best })
}

impl Sources<'_> {
    /// Dates of structured data and meta elements.
    fn declared(&self) -> Vec<DateCandidate> {
        let Self { head, clock, .. } = self;
        let mut all = Vec::new();
        let published = head.json.published.as_deref();
        all.extend(make_candidate(
            DateOrigin::JsonLd,
            published.and_then(|v| parse_value(v, clock)),
        ));
        all.extend(head.published.iter().filter_map(|(name, v)| {
            let weak = WEAK_META.iter().any(|weak| weak == name);
            let origin = if weak {
                DateOrigin::WeakMeta
            } else {
                DateOrigin::Meta
            };
            make_candidate(origin, parse_value(v, clock))
        }));
        all
    }

    /// Dates of the address, of scripts and of elements that are made to hold one.
    fn elsewhere_in_code(&self) -> Vec<DateCandidate> {
        let Self {
            page, head, clock, ..
        } = self;
        let url = page.url.as_ref().map(|u| u.as_str());
        let url = url.or(head.canonical).unwrap_or_default();
        let mut all = Vec::new();
        all.extend(make_candidate(DateOrigin::Url, from_url(url, clock)));
        let script = head.scripts.iter().find_map(|s| from_script(s, clock));
        all.extend(make_candidate(DateOrigin::Script, script));
        all.extend(from_elements(page, self.outline, self.anchors, clock));
        all
    }

    /// Adds the dates of lines to those of the code, and where there are none at all what else may be one.
    fn add_text(&self, all: &mut Vec<DateCandidate>) {
        let Self {
            page,
            outline,
            head,
            clock,
            ..
        } = self;
        all.extend(self.in_lines(false));
        let opening = self.opening.and_then(|time| parse_value(time, clock));
        // An earlier time near the headline is that of the thread: the post was edited, or it opens a later page.
        let began = opening.filter(|opening| {
            let near = |c: &&DateCandidate| {
                matches!(
                    c.origin,
                    DateOrigin::Labelled | DateOrigin::Time | DateOrigin::Near
                )
            };
            all.iter()
                .filter(near)
                .all(|c| c.stamp.date >= opening.date)
        });
        all.extend(make_candidate(DateOrigin::Opening, began));
        let tell_none =
            |all: &[DateCandidate]| all.iter().all(|c| c.origin == DateOrigin::Modified);
        if tell_none(all) {
            let created = head.json.created.as_deref();
            let created = created.and_then(|v| parse_value(v, clock));
            all.extend(make_candidate(DateOrigin::JsonLd, created));
        }
        if tell_none(all) {
            let texts = [Some(head.title.as_str()), head.description];
            let first = |text: &str| {
                let mut found = find_dates(text, clock).into_iter();
                found.find(|f| f.form == DateForm::Full)
            };
            let found = texts.into_iter().flatten().find_map(first);
            all.extend(make_candidate(DateOrigin::Head, found.map(|f| f.stamp)));
        }
        if tell_none(all) {
            let modified = head.json.modified.as_deref().into_iter();
            let mut modified = modified.chain(head.modified.iter().copied());
            let modified = modified.find_map(|value| parse_value(value, clock));
            all.extend(make_candidate(DateOrigin::Modified, modified));
        }
        if all.is_empty() {
            all.extend(make_candidate(
                DateOrigin::Frequent,
                most_frequent(page, outline, clock),
            ));
        }
        all.truncate(MAX_CANDIDATES);
    }

    /// A time that is stated in UTC as the page prints it: the time near the headline that falls on the day before or behind
    /// it, unless the page prints the day itself.
    fn as_printed(&self, best: DateCandidate, all: &[DateCandidate]) -> DateCandidate {
        let stamp = best.stamp;
        let printed =
            |c: &&DateCandidate| matches!(c.origin, DateOrigin::Labelled | DateOrigin::Near);
        let days = |c: &DateCandidate| (c.stamp.date - stamp.date).num_days().abs();
        let mut printed = all.iter().filter(printed).filter(|c| days(c) <= 1);
        let first = printed.next().copied();
        let again = first.is_none_or(|first| first.stamp.date == stamp.date)
            || printed.any(|c| c.stamp.date == stamp.date);
        first
            .filter(|_| stamp.offset_min == Some(0) && !again)
            .unwrap_or(best)
    }

    /// Dates in the text of lines; of those close to the headline only, if wanted.
    fn in_lines(&self, close_only: bool) -> Vec<DateCandidate> {
        let Self {
            page,
            outline,
            anchors,
            clock,
            ..
        } = *self;
        let mut out: Vec<(u32, DateOrigin, Stamp)> = Vec::new();
        let (from, to) = find_near(anchors, outline.lines.len());
        let looked_at = if close_only {
            from..to
        } else {
            0..outline.lines.len()
        };
        let anchor = anchors.title.or(anchors.body_start).unwrap_or(0);
        for i in looked_at {
            let line = &outline.lines[i];
            let close = (from..to).contains(&i);
            let about = line.marks.any(Marks::ABOUT);
            let signature = i + 3 >= anchors.body_end && i < anchors.body_end + 4;
            // Right under the headline a date is the headline's, whatever the box around both calls itself.
            let under_title = anchors.title.is_some_and(|t| i > t && i <= t + 3);
            // A headline that links and a date: another article.
            let above_text = anchors.body_start.is_some_and(|b| i < b && i + 4 >= b);
            let teaser = line.linked.tokens >= TEASER_TOKENS && !under_title && !above_text;
            if teaser
                || line.all.numbers == 0 && line.all.cjk == 0
                || !(close || about || signature)
            {
                continue;
            }
            let in_text = anchors.body_start.is_some_and(|b| i >= b) && line.all.tokens > 30;
            if in_text && anchors.body_start != Some(i) {
                continue;
            }
            let text = outline.text(page, line);
            if text.len() > 4 * SHORT_LINE || (text.len() > SHORT_LINE && (close_only || !close)) {
                continue;
            }
            let elsewhere = !under_title && line.marks.any(Marks::ELSEWHERE.with(Marks::NAV));
            let distance = match i.checked_sub(anchor) {
                Some(below) => 2 * below,
                None => 3 * (anchor - i),
            };
            if close && !elsewhere && !in_text {
                let exact = find_exact_time(page, line, clock);
                out.extend(exact.map(|stamp| (distance as u32, DateOrigin::Time, stamp)));
            }
            for found in find_dates(text, clock) {
                // A text may begin with its date: `01.02.2022 | …`.
                let begins =
                    found.form == DateForm::Full && found.at < 6 && anchors.body_start == Some(i);
                let in_text = in_text && !begins;
                let place = [close && !elsewhere, about && !elsewhere, signature, in_text];
                if let Some(origin) = origin_of(&found, place) {
                    out.push((distance as u32, origin, found.stamp));
                }
            }
        }
        out.sort_by_key(|(distance, origin, _)| (*origin, *distance));
        out.into_iter()
            .map(|(_, origin, stamp)| DateCandidate { stamp, origin })
            .collect()
    }
}

/// The time that an element says exactly whose text states it from now: `<span title="2021-4-25 10:20">昨天</span>`.
fn find_exact_time(page: &Page, line: &Line, clock: &Clock) -> Option<Stamp> {
    /// Elements around the text that are checked.
    const ABOVE: usize = 3;
    let full = |text: &str| {
        let found = find_dates(text, clock).into_iter();
        found
            .filter(|f| f.form == DateForm::Full)
            .map(|f| f.stamp)
            .next()
    };
    let mut texts = (line.first..line.end).filter(|id| page.node(*id).tag == Tag::TEXT);
    texts.find_map(|id| {
        let parent = |id: &NodeId| Some(page.node(*id).parent).filter(|above| above < id);
        let above = std::iter::successors(parent(&id), parent).take(ABOVE);
        let mut values =
            above.flat_map(|id| [Attr::Datetime, Attr::Title].map(|a| page.attr(id, a)));
        let stamp = values.find_map(|value| full(value?))?;
        let text = page.text(id);
        (times::find(text).is_some() && full(text).is_none()).then_some(stamp)
    })
}

fn make_candidate(origin: DateOrigin, stamp: Option<Stamp>) -> Option<DateCandidate> {
    stamp.map(|stamp| DateCandidate { stamp, origin })
}

/// Lines that count as near the headline.
pub(super) fn find_near(anchors: Anchors, lines: usize) -> (usize, usize) {
    let anchor = anchors.title.or(anchors.body_start).unwrap_or(0);
    let body = anchors
        .body_start
        .filter(|b| *b >= anchor)
        .unwrap_or(anchor);
    let to = body.min(anchor + 4 * LINES_BELOW) + LINES_BELOW;
    (anchor.saturating_sub(LINES_ABOVE), to.min(lines))
}

/// What a date of a line may be, by whether the line is close to the headline, about the article, of the last ones, and
/// part of the text.
fn origin_of(
    found: &FoundDate,
    [close, about, signature, in_text]: [bool; 4],
) -> Option<DateOrigin> {
    match (found.label, found.form) {
        _ if in_text => None,
        (Label::Modified, DateForm::Full) if close || about || signature => {
            Some(DateOrigin::Modified)
        }
        (Label::Modified, _) => None,
        (Label::Published, DateForm::Full) if close || about => Some(DateOrigin::Labelled),
        (_, DateForm::Full) if close => Some(DateOrigin::Near),
        (_, DateForm::NoYear | DateForm::Relative) if close => Some(DateOrigin::Vague),
        (_, DateForm::Full) if signature => Some(DateOrigin::Signature),
        _ => None,
    }
}

/// The full date that most short lines have; of equals the one that the page names first.
fn most_frequent(page: &Page, outline: &Outline, clock: &Clock) -> Option<Stamp> {
    // How often, and how many other dates come first.
    let mut counts: BTreeMap<chrono::NaiveDate, (u32, usize, Stamp)> = BTreeMap::new();
    let short = outline
        .lines
        .iter()
        .filter(|l| l.all.numbers > 0 && l.all.tokens < FREQUENT_TOKENS);
    for line in short {
        let text = outline.text(page, line);
        for found in find_dates(text, clock)
            .iter()
            .filter(|f| f.form == DateForm::Full && f.label != Label::Modified)
        {
            let order = counts.len();
            let count = counts.entry(found.stamp.date);
            count.or_insert((0, order, found.stamp)).0 += 1;
        }
    }
    counts
        .into_values()
        .max_by_key(|(n, order, _)| (*n, std::cmp::Reverse(*order)))
        .map(|(_, _, stamp)| stamp)
}
