//! The headline. In: what the head says and the headings near the text. Out: the headline without the site's
//! name, with every candidate and its score.
//!
//! A candidate is believed as far as it is like a part of `<title>` (ALGORITHMS: sim = LCS / (LD + LCS), on
//! normal forms); a heading that is only the site's name is not.

use super::likeness::{Forms, likeness_from, normal_form};

/// Least likeness to a part of `<title>`.
const ACCEPT: f64 = 0.6;
/// A likeness up to this need not be known.
const LEAST: f64 = 0.59;
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

    /// Normal forms of everything the title may be compared by.
    pub(super) fn forms(&self) -> Forms {
        let all = self.heads.iter().chain(&self.tails).chain(&self.parts);
        Forms::of(all.map(String::as_str))
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
    /// Host of the page, where it is known.
    pub host: Option<&'a str>,
    /// Candidates without scores, in document order within an origin.
    pub candidates: Vec<Candidate>,
}

/// The headline and the candidates it was chosen from, best first.
pub(super) fn choose(evidence: Evidence<'_>) -> (Option<String>, Vec<Candidate>) {
    let parts = Parts::of(evidence.title);
    let site = Site::of(&evidence);
    let forms = parts.forms();
    let mut candidates = evidence.candidates;
    let last = parts.parts.last().filter(|_| parts.parts.len() > 1);
    let last = last.map(|part| normal_form(part));
    for candidate in &mut candidates {
        candidate.text = site.without_suffix(&candidate.text);
        candidate.score = score(candidate, last.as_deref(), &forms, &site);
    }
    let lone = lone_heading(&candidates, &parts, &site);
    let untitled = parts.whole.is_empty();
    let accepted: Vec<Candidate> = candidates
        .iter()
        .enumerate()
        .filter(|(i, c)| {
            c.score >= ACCEPT || (untitled && c.origin <= Origin::JsonLd) || lone == Some(*i)
        })
        .map(|(_, c)| c.clone())
        .collect();
    let ranked = by_votes(accepted);
    if let Some(best) = ranked.first() {
        return (Some(best.text.clone()), ranked);
    }
    let fallback = part_of_title(&parts, &site)
        .map(|text| (text, Origin::Part))
        .or_else(|| {
            candidates
                .first()
                .map(|c| (c.text.clone(), Origin::Fallback))
        });
    let Some((text, origin)) = fallback else {
        return (None, candidates);
    };
    let chosen = Candidate {
        text: text.clone(),
        origin,
        distance: 0,
        score: 0.0,
    };
    candidates.insert(0, chosen);
    (Some(text), candidates)
}

/// Likeness of a candidate to the best part of `<title>`, less for what looks like the site's name; `last` is the
/// normal form of the last of several parts.
fn score(candidate: &Candidate, last: Option<&[char]>, forms: &Forms, site: &Site) -> f64 {
    let form = normal_form(&candidate.text);
    if site.is(&form) || candidate.text.chars().count() > MAX_CHARS || form.len() < 2 {
        return 0.0;
    }
    let best = forms.best(&form, LEAST).unwrap_or(0.0);
    // Site names stand last; a headline that stands last is found by another candidate or part.
    let suspect = candidate.origin != Origin::JsonLd && last == Some(form.as_slice());
    let short = form.len() < MIN_CHARS;
    best * if suspect { 0.5 } else { 1.0 } * if short { 0.8 } else { 1.0 }
}

/// The only `h1` of the page when it stands right above the text: it is the headline even if `<title>` was
/// written for search engines.
fn lone_heading(candidates: &[Candidate], parts: &Parts, site: &Site) -> Option<usize> {
    /// Lines between headline and text: kicker, date, writer, picture.
    const NEAR: u32 = 12;
    let is_h1 = |c: &&Candidate| c.origin == Origin::H1;
    if candidates.iter().filter(is_h1).count() != 1 {
        return None;
    }
    let at = candidates.iter().position(|c| c.origin == Origin::H1)?;
    let candidate = &candidates[at];
    let form = normal_form(&candidate.text);
    let long = form.len()
        >= if form.iter().any(|c| super::likeness::is_cjk(*c)) {
            6
        } else {
            12
        };
    // A heading that is a part of the title and was not accepted is the name of site or section.
    let named = site.is(&form) || parts.parts.iter().any(|p| normal_form(p) == form);
    (candidate.distance <= NEAR && long && !named).then_some(at)
}

/// Candidates by how many origins say the same, the more trusted origin first among equals.
fn by_votes(mut accepted: Vec<Candidate>) -> Vec<Candidate> {
    accepted.sort_by(|a, b| {
        let rank = |c: &Candidate| (c.origin, c.distance);
        rank(a).cmp(&rank(b)).then(b.score.total_cmp(&a.score))
    });
    let forms: Vec<Vec<char>> = accepted.iter().map(|c| normal_form(&c.text)).collect();
    let mut first_of_origin: Vec<usize> = Vec::new();
    for (i, candidate) in accepted.iter().enumerate() {
        if !first_of_origin
            .iter()
            .any(|j| accepted[*j].origin == candidate.origin)
        {
            first_of_origin.push(i);
        }
    }
    let votes = |i: usize| -> f64 {
        let same = first_of_origin.iter().filter(|j| forms[**j] == forms[i]);
        same.map(|j| weight(accepted[*j].origin)).sum()
    };
    let best = first_of_origin
        .iter()
        .copied()
        .reduce(|best, i| if votes(i) > votes(best) { i } else { best });
    if let Some(best) = best {
        accepted[..=best].rotate_right(1);
    }
    accepted
}

/// What the word of an origin is worth.
fn weight(origin: Origin) -> f64 {
    match origin {
        Origin::JsonLd => 1.3,
        Origin::H1 => 1.2,
        Origin::Itemprop | Origin::Meta => 1.0,
        Origin::Heading | Origin::Part | Origin::Fallback => 0.3,
    }
}

/// What is known of the site's name.
struct Site {
    name: Option<Vec<char>>,
    /// Letters and digits of the host's registered label.
    host: Option<String>,
}

impl Site {
    fn of(evidence: &Evidence<'_>) -> Self {
        Self {
            name: evidence.site_name.map(normal_form),
            host: evidence
                .host
                .and_then(|h| psl::domain_str(h))
                .and_then(|d| d.split('.').next())
                .map(letters),
        }
    }

    fn is(&self, form: &[char]) -> bool {
        self.name.as_deref() == Some(form)
    }

    /// True if a part of a title names the site.
    fn named_by(&self, part: &str) -> bool {
        let form = normal_form(part);
        let letters = letters(part);
        let host = self.host.as_ref().is_some_and(|h| {
            letters.len() >= 3
                && (h.contains(&letters) || (h.len() >= 4 && letters.contains(h.as_str())))
        });
        host || self
            .name
            .as_ref()
            .is_some_and(|n| likeness_from(n, &form, usize::MAX, ACCEPT).is_some())
    }

    /// The text without the site's name behind a joint.
    fn without_suffix(&self, text: &str) -> String {
        let text = text.trim().trim_matches(['\u{200b}', '\u{feff}']).trim();
        let parts = Parts::of(text);
        let Some(last) = parts.parts.last().filter(|_| parts.parts.len() > 1) else {
            return text.to_owned();
        };
        let head = parts.heads.get(1).filter(|h| h.chars().count() > MIN_CHARS);
        match head {
            Some(head) if self.named_by(last) => head.clone(),
            _ => text.to_owned(),
        }
    }
}

fn letters(text: &str) -> String {
    text.chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect()
}

/// The title without the site's name: the longest part that is not it, else the whole.
fn part_of_title(parts: &Parts, site: &Site) -> Option<String> {
    let length = |s: &String| {
        s.chars()
            .map(|c| if super::likeness::is_cjk(c) { 2 } else { 1 })
            .sum::<usize>()
    };
    let best = parts
        .parts
        .iter()
        .filter(|p| !site.named_by(p))
        .rev()
        .max_by_key(|p| length(p))
        .filter(|p| p.chars().count() >= MIN_CHARS);
    best.or(Some(&parts.whole))
        .filter(|s| !s.is_empty())
        .cloned()
}
