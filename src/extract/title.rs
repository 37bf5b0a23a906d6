//! The headline. In: what the head says and the headings near the text. Out: the headline without the site's
//! name, with every candidate and its score.
//!
//! A candidate is believed as far as it is like a part of `<title>` (ALGORITHMS: sim = LCS / (LD + LCS), on
//! normal forms); a heading that is only the site's name is not.

use super::likeness::{likeness, normal_form};

/// Least likeness to a part of `<title>`.
const ACCEPT: f64 = 0.6;
/// Shortest headline, in characters of its normal form.
const MIN_CHARS: usize = 4;
/// Longest headline, in characters; longer headings are paragraphs in disguise.
const MAX_CHARS: usize = 200;
/// Signs that join a headline with section and site in `<title>`.
const JOINTS: [char; 14] = [
    '-', '_', '|', '—', '–', '·', '»', '«', '｜', '-', '>', '<', '丨', '•',
];

/// Where a candidate comes from, in order of trust.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Origin {
    /// `h1`.
    H1,
    /// `itemprop=headline`.
    Itemprop,
    /// JSON-LD `headline`.
    JsonLd,
    /// `og:title` and its kin.
    Meta,
    /// `h2` … `h6` or an element that calls itself title.
    Heading,
    /// A part of `<title>`.
    Part,
    /// Nothing was alike: the first that there was.
    Fallback,
}

/// One candidate.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Candidate {
    /// Its text.
    pub text: String,
    /// Where it comes from.
    pub origin: Origin,
    /// Lines between it and the main text; smaller is nearer.
    pub distance: u32,
    /// Likeness to the best part of `<title>`.
    pub score: f64,
}

/// The parts of a `<title>`: what stands before each joint and what stands after it.
#[derive(Debug, Default)]
pub(super) struct Parts {
    /// The whole title, cleaned.
    pub whole: String,
    /// Beginnings that end at a joint, longest first; the whole is the first.
    pub heads: Vec<String>,
    /// Ends that begin after a joint, longest first.
    pub tails: Vec<String>,
    /// Single parts between joints.
    pub parts: Vec<String>,
}

impl Parts {
    /// Splits a title. A hyphen inside a word or number (`5G-A`, `2019-09`) is no joint.
    pub(super) fn of(title: &str) -> Self {
        let whole = title.trim().to_owned();
        let joints = joints(&whole);
        let mut out = Self {
            heads: vec![whole.clone()],
            ..Self::default()
        };
        let mut from = 0;
        for (start, end) in &joints {
            out.parts.push(piece(&whole, from, *start));
            out.tails.push(piece(&whole, *end, whole.len()));
            from = *end;
        }
        out.parts.push(piece(&whole, from, whole.len()));
        out.heads.extend(
            joints
                .iter()
                .rev()
                .map(|(start, _)| piece(&whole, 0, *start)),
        );
        out.whole = whole;
        for list in [&mut out.heads, &mut out.tails, &mut out.parts] {
            list.retain(|s| !s.is_empty());
        }
        out
    }

    fn forms(&self) -> Vec<Vec<char>> {
        self.heads
            .iter()
            .chain(&self.tails)
            .chain(&self.parts)
            .map(|s| normal_form(s))
            .collect()
    }
}

fn piece(text: &str, from: usize, to: usize) -> String {
    let sign = |c: char| c.is_whitespace() || JOINTS.contains(&c);
    text.get(from..to)
        .unwrap_or_default()
        .trim_matches(sign)
        .to_owned()
}

/// Byte ranges of the joints, at most 12.
fn joints(title: &str) -> Vec<(usize, usize)> {
    let chars: Vec<(usize, char)> = title.char_indices().collect();
    let mut out = Vec::new();
    for (i, (at, c)) in chars.iter().enumerate() {
        if !JOINTS.contains(c) || out.len() >= 12 {
            continue;
        }
        let before = i.checked_sub(1).map(|j| chars[j].1);
        let after = chars.get(i + 1).map(|x| x.1);
        let word = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
        let loose = matches!(c, '_' | '|' | '»' | '｜' | '丨') || !(word(before) && word(after));
        if loose {
            out.push((*at, at + c.len_utf8()));
        }
    }
    out
}

/// What the choice is made from.
#[derive(Debug, Default)]
pub(super) struct Evidence<'a> {
    /// Text of `<title>`.
    pub title: &'a str,
    /// Name of the site, where the page says it.
    pub site_name: Option<&'a str>,
    /// Candidates without scores, in document order within an origin.
    pub candidates: Vec<Candidate>,
}

/// The headline and the candidates it was chosen from, best first.
pub(super) fn choose(evidence: Evidence<'_>) -> (Option<String>, Vec<Candidate>) {
    let parts = Parts::of(evidence.title);
    let forms = parts.forms();
    let site = evidence.site_name.map(normal_form);
    let last = parts
        .parts
        .last()
        .filter(|_| parts.parts.len() > 1)
        .map(|s| normal_form(s));
    let mut candidates = evidence.candidates;
    for candidate in &mut candidates {
        let form = normal_form(&candidate.text);
        let is_site = site.as_ref() == Some(&form);
        let too_long = candidate.text.chars().count() > MAX_CHARS;
        candidate.score = if is_site || too_long || form.len() < 2 {
            0.0
        } else {
            forms.iter().map(|f| likeness(&form, f)).fold(0.0, f64::max)
        };
        if last.as_ref() == Some(&form) && candidate.origin != Origin::JsonLd {
            // Site names stand last; a headline that stands last is found by another candidate or part.
            candidate.score *= 0.5;
        }
        if form.len() < MIN_CHARS {
            candidate.score *= 0.8;
        }
    }
    let untitled = parts.whole.is_empty();
    let mut accepted: Vec<Candidate> = candidates
        .iter()
        .filter(|c| c.score >= ACCEPT || (untitled && c.origin <= Origin::JsonLd))
        .cloned()
        .collect();
    accepted.sort_by(|a, b| {
        let rank = |c: &Candidate| (c.origin, c.distance);
        rank(a).cmp(&rank(b)).then(b.score.total_cmp(&a.score))
    });
    if let Some(best) = accepted.first() {
        return (Some(best.text.clone()), accepted);
    }
    let fallback = part_of_title(&parts, site.as_deref())
        .map(|text| (text, Origin::Part))
        .or_else(|| {
            candidates
                .first()
                .map(|c| (c.text.clone(), Origin::Fallback))
        });
    match fallback {
        Some((text, origin)) => {
            let chosen = Candidate {
                text: text.clone(),
                origin,
                distance: 0,
                score: 0.0,
            };
            candidates.insert(0, chosen);
            (Some(text), candidates)
        }
        None => (None, candidates),
    }
}

/// The title without the site's name: the longest part that is not it, else the whole.
fn part_of_title(parts: &Parts, site: Option<&[char]>) -> Option<String> {
    let length = |s: &String| {
        s.chars()
            .map(|c| if super::likeness::is_cjk(c) { 2 } else { 1 })
            .sum::<usize>()
    };
    let best = parts
        .parts
        .iter()
        .filter(|p| site.is_none_or(|s| normal_form(p) != s))
        .rev()
        .max_by_key(|p| length(p))
        .filter(|p| p.chars().count() >= MIN_CHARS);
    best.or(Some(&parts.whole))
        .filter(|s| !s.is_empty())
        .cloned()
}
