//! Chooses the headline from candidates in head data and headings near the text, and removes the site's name.
//!
//! A candidate is trusted as far as it is like a part of `<title>` (ALGORITHMS: sim = LCS / (LD + LCS), on normal forms); a
//! heading that is only the site's name is not.

use super::likeness::{normal_form, width};
use super::title_candidate::{ACCEPT, MAX_CHARS, MIN_CHARS, Site, TitleCandidate, TitleOrigin};
use super::title_extent::{TitleExtent, Topic};
use super::title_parts::{Title, TitleParts, without_bracket};
use crate::page::measure::is_cjk;

/// Likeness of a line that `<title>` contains.
const LINE: f64 = 0.8;
/// What the choice is made from.
#[derive(Debug)]
pub(crate) struct Evidence<'a> {
    /// What `<title>` says.
    pub title: &'a Title,
    /// Name of the site, where the page says it.
    pub site_name: Option<&'a str>,
    /// Host of the page, where it is known.
    pub host: Option<&'a str>,
    /// What the page is about.
    pub topic: Topic<'a>,
    /// Candidates without scores, in document order within an origin.
    pub candidates: Vec<TitleCandidate<'a>>,
}

/// The headline and the candidates it was chosen from, best first.
pub(crate) fn choose(evidence: Evidence<'_>) -> (Option<String>, Vec<TitleCandidate<'_>>) {
    let (title, topic) = (evidence.title, evidence.topic);
    let site = Site::new(evidence.site_name, evidence.host);
    let mut candidates = evidence.candidates;
    for candidate in &mut candidates {
        candidate.compare(&site, &title.forms);
    }
    let all = candidates.clone();
    let mut ranked = rank(candidates, title, &site);
    let extent = TitleExtent::new(&all, title, topic, &site);
    let within = ranked
        .first()
        .and_then(|best| Some((best.origin, extent.find(best)?)));
    if let Some((origin, text)) = within {
        ranked.insert(0, TitleCandidate::new(origin, text));
    }
    let text = ranked.first().map(|best| best.text.clone().into_owned());
    (text, ranked)
}

/// The candidates that were accepted, best first; if none was, the best of the others and then all.
fn rank<'a>(
    mut candidates: Vec<TitleCandidate<'a>>,
    title: &Title,
    site: &Site,
) -> Vec<TitleCandidate<'a>> {
    let Title { parts, form, forms } = title;
    let last = parts.parts.last().filter(|_| parts.parts.len() > 1);
    let last = last.map(|part| normal_form(part));
    // Behind site and section, what is longer than both is the headline.
    let last = last.filter(|last| parts.parts.len() < 3 || 2 * last.len() < form.len());
    for candidate in &mut candidates {
        candidate.score = score(candidate, last.as_deref(), site);
        candidate.exact = forms.contain(candidate.form());
    }
    let lone = find_lone_heading(&candidates, parts, site);
    let agreed = find_agreed_heading(&candidates, site);
    let longer = find_longer_heading(&candidates, parts, site);
    let untitled = parts.whole.is_empty();
    let is_accepted = |i: usize, c: &TitleCandidate<'_>| {
        let says_so = |agreed: &Vec<char>| {
            let letters = c.form().iter().filter(|c| c.is_alphanumeric());
            letters.eq(agreed)
        };
        c.score >= ACCEPT
            || (untitled && c.origin <= TitleOrigin::JsonLd)
            || lone == Some(i)
            || longer == Some(i)
            || agreed.as_ref().is_some_and(says_so)
    };
    let mut accepted = Vec::new();
    for (i, candidate) in candidates.iter().enumerate() {
        if is_accepted(i, candidate) {
            accepted.push(candidate.clone());
        }
    }
    drop_copies(&mut accepted, parts);
    let ranked = choose_by_votes(accepted, form, site);
    if !ranked.is_empty() {
        return ranked;
    }
    let fallback = find_near_heading(&candidates, parts, site)
        .map(|text| (text, TitleOrigin::Heading))
        .or_else(|| find_title_part(parts, site).map(|text| (text, TitleOrigin::Part)))
        .or_else(|| {
            candidates
                .first()
                .map(|c| (c.text.clone().into_owned(), TitleOrigin::Fallback))
        });
    if let Some((text, origin)) = fallback {
        candidates.insert(0, TitleCandidate::new(origin, text));
    }
    candidates
}

/// Likeness of a candidate to the best part of `<title>`, less for what looks like the site's name; `last` is the normal
/// form of the last of several parts.
fn score(candidate: &TitleCandidate<'_>, last: Option<&[char]>, site: &Site) -> f64 {
    let form = candidate.form();
    let longer = |text: &str| text.len() > MAX_CHARS && text.chars().count() > MAX_CHARS;
    if site.is(form) || longer(&candidate.text) || form.len() < 2 {
        return 0.0;
    }
    let best = candidate.compared.as_ref().map_or(0.0, |c| c.likeness);
    // The title contains it, and no joint shows where it ends.
    let best = if candidate.origin == TitleOrigin::Line {
        best.max(LINE)
    } else {
        best
    };
    // Site names are last; a headline that is last is found by another candidate or part.
    let suspect =
        candidate.origin != TitleOrigin::JsonLd && last.is_some_and(|last| is_site(last, form));
    let short = form.len() < MIN_CHARS;
    best * if suspect { 0.5 } else { 1.0 } * if short { 0.8 } else { 1.0 }
}

/// Drops what copies `<title>` with its joints, where the page shows the longest part of it alone: what is copied is no
/// second opinion, and the page states where the headline ends.
fn drop_copies(accepted: &mut Vec<TitleCandidate<'_>>, parts: &TitleParts) {
    let longest = parts.parts.iter().map(|part| normal_form(part).len()).max();
    let shown = accepted.iter().filter(|c| {
        let is_shown = matches!(
            c.origin,
            TitleOrigin::H1 | TitleOrigin::Heading | TitleOrigin::Line
        );
        is_shown && c.exact && Some(c.form().len()) >= longest
    });
    let Some(shown) = shown.map(|c| c.form().to_vec()).min_by_key(Vec::len) else {
        return;
    };
    accepted.retain(|c| {
        let around = c.form().starts_with(&shown) || c.form().ends_with(&shown);
        let longer = c.form().len() > shown.len();
        !(c.origin == TitleOrigin::Meta && !c.clean && c.exact && longer && around)
    });
}

/// The last part of a title is this name, or the name with what sites add to theirs: 中国地理学会官网.
fn is_site(last: &[char], form: &[char]) -> bool {
    const ADDED: [&str; 6] = ["", "网", "官网", "网站", "官方网站", "门户网站"];
    let added = |rest: &[char]| {
        ADDED
            .iter()
            .any(|word| word.chars().eq(rest.iter().copied()))
    };
    last.strip_prefix(form).is_some_and(added)
}

/// Candidates by how many origins say the same, the more trusted origin first among equals; signs and spaces
/// between the words do not count. `whole` is `<title>`: of two spellings the one that it has wins.
fn choose_by_votes<'a>(
    mut accepted: Vec<TitleCandidate<'a>>,
    whole: &[char],
    site: &Site,
) -> Vec<TitleCandidate<'a>> {
    accepted.sort_by(|a, b| {
        let rank = |c: &TitleCandidate<'_>| (c.origin, c.distance);
        rank(a).cmp(&rank(b)).then(b.score.total_cmp(&a.score))
    });
    put_longest_heading_first(&mut accepted, site);
    let forms: Vec<Vec<char>> = accepted.iter().map(TitleCandidate::letters).collect();
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
        same.map(|j| weight(&accepted[*j])).sum()
    };
    let best = first_of_origin
        .iter()
        .copied()
        .reduce(|best, i| if votes(i) > votes(best) { i } else { best });
    if let Some(best) = best {
        let printed = |i: &usize| {
            let form = accepted[*i].form();
            !form.is_empty() && whole.windows(form.len()).any(|w| w == form)
        };
        // Dashes are spelt in many ways; the heading's is the typographer's.
        let signs = signs_of(accepted[best].form());
        let differs = |i: &usize| *i == best || signs_of(accepted[*i].form()) != signs;
        let same = || {
            (0..accepted.len())
                .filter(|i| forms[*i] == forms[best])
                .filter(differs)
        };
        // An inline element glues words together that attributes keep apart.
        let spelled = same()
            .find(printed)
            .or_else(|| same().find(|i| accepted[*i].origin == TitleOrigin::Meta));
        let best = spelled.unwrap_or(best);
        accepted[..=best].rotate_right(1);
    }
    accepted
}

/// Puts the longest of the `h1` that are parts of `<title>` first, if the first of them is such a part: shorter ones are
/// the section's.
fn put_longest_heading_first(accepted: &mut [TitleCandidate<'_>], site: &Site) {
    let is_part = |c: &TitleCandidate<'_>| {
        c.origin == TitleOrigin::H1 && c.exact && c.clean && !site.named_by(&c.text)
    };
    let length = |i: &usize| accepted[*i].form().len();
    let parts = (0..accepted.len()).filter(|i| is_part(&accepted[*i]));
    let longest = parts.reduce(|best, i| if length(&i) > length(&best) { i } else { best });
    if let Some(longest) = longest.filter(|_| accepted.first().is_some_and(is_part)) {
        accepted[..=longest].rotate_right(1);
    }
}

/// A form with every run of dashes as one, without the white space around it.
fn signs_of(form: &[char]) -> Vec<char> {
    let dash = |c: char| matches!(c, '-' | '–' | '—' | '‒' | '―');
    let mut out: Vec<char> = Vec::new();
    for c in form.iter().copied() {
        let c = if dash(c) { '-' } else { c };
        if c == '-' {
            out.pop_if(|last| *last == ' ');
        }
        if !(matches!(c, ' ' | '-') && out.last() == Some(&'-')) {
            out.push(c);
        }
    }
    out
}

/// What the word of a candidate is worth.
fn weight(candidate: &TitleCandidate<'_>) -> f64 {
    match candidate.origin {
        TitleOrigin::JsonLd => 1.3,
        TitleOrigin::H1 => 1.2,
        // Set by hand rather than copied from `<title>` with the site's name.
        TitleOrigin::Meta if candidate.clean && candidate.exact => 1.25,
        TitleOrigin::Meta => 1.0,
        TitleOrigin::Heading | TitleOrigin::Line | TitleOrigin::Part | TitleOrigin::Fallback => 0.3,
    }
}

/// The title without the site's name: the longest part that is not it, else the whole.
fn find_title_part(parts: &TitleParts, site: &Site) -> Option<String> {
    let best = parts
        .parts
        .iter()
        .filter(|p| !site.named_by(p))
        .rev()
        .max_by_key(|p| width(p.chars()))
        .filter(|p| p.chars().count() >= MIN_CHARS);
    best.or(Some(&parts.whole))
        .filter(|s| !s.is_empty())
        .cloned()
}

/// The heading right above the text, where it is longer than any part of `<title>`: titles that only state section and site
/// are the same on every page of theirs.
pub(crate) fn find_near_heading(
    candidates: &[TitleCandidate<'_>],
    parts: &TitleParts,
    site: &Site,
) -> Option<String> {
    /// Lines between headline and text: date and source.
    const NEAR: u32 = 3;
    /// Narrowest such heading.
    const LEAST: usize = 16;
    let widest = parts
        .parts
        .iter()
        .map(|part| width(part.chars()))
        .max()
        .unwrap_or(0);
    let is_near = |c: &&TitleCandidate<'_>| {
        let heading = matches!(c.origin, TitleOrigin::H1 | TitleOrigin::Heading);
        let wide = width(c.text.chars()) > widest.max(LEAST) && c.text.chars().count() <= MAX_CHARS;
        let trail = c.text.contains(['>', '»', '›']);
        heading && c.above && c.distance <= NEAR && wide && !trail && !site.named_by(&c.text)
    };
    let near = candidates.iter().filter(is_near);
    let near = near.min_by_key(|c| c.distance);
    near.map(|c| c.text.clone().into_owned())
}

/// The only `h1` of the page when it is right above the text: it is the headline even if `<title>` was
/// written for search engines.
pub(crate) fn find_lone_heading(
    candidates: &[TitleCandidate<'_>],
    parts: &TitleParts,
    site: &Site,
) -> Option<usize> {
    /// Lines between headline and text: kicker, date, writer, picture.
    const NEAR: u32 = 12;
    let is_h1 = |c: &&TitleCandidate<'_>| c.origin == TitleOrigin::H1;
    if candidates.iter().filter(is_h1).count() != 1 {
        return None;
    }
    let at = candidates
        .iter()
        .position(|c| c.origin == TitleOrigin::H1)?;
    let candidate = &candidates[at];
    let form = candidate.form();
    let long = form.len()
        >= if form.iter().any(|c| is_cjk(*c)) {
            6
        } else {
            12
        };
    // A heading that is a part of the title and was not accepted is the name of site or section.
    let named = || site.is(form) || parts.parts.iter().any(|p| normal_form(p) == form);
    (candidate.distance <= NEAR && long && !named()).then_some(at)
}

/// The only `h1` of the page where it goes on behind what `<title>` names: the page of a film or of goods adds the original
/// name, the year or the model.
fn find_longer_heading(
    candidates: &[TitleCandidate<'_>],
    parts: &TitleParts,
    site: &Site,
) -> Option<usize> {
    /// Narrowest name that is enough to tell.
    const LEAST: usize = 4;
    let mut headings = candidates.iter().enumerate();
    let is_h1 = |(_, c): &(usize, &TitleCandidate<'_>)| c.origin == TitleOrigin::H1;
    let (at, only) = headings.find(is_h1)?;
    let is_long = only.text.chars().count() > MAX_CHARS;
    if headings.any(|candidate| is_h1(&candidate)) || is_long || site.is(only.form()) {
        return None;
    }
    let names = parts.heads.iter().map(|head| without_bracket(head));
    let mut names = names.filter(|name| !site.named_by(name));
    let begins = |name: &str| {
        let form = normal_form(name);
        let is_longer = form.len() < only.form().len() && only.form().starts_with(&form);
        is_longer && width(form.iter().copied()) >= LEAST
    };
    names.any(begins).then_some(at)
}

/// The letters of a heading that `og:title` repeats: two places that say the same are believed though `<title>`
/// was written for search engines.
pub(crate) fn find_agreed_heading(
    candidates: &[TitleCandidate<'_>],
    site: &Site,
) -> Option<Vec<char>> {
    const LEAST: usize = 12;
    let letters = |origin: TitleOrigin| {
        let of = candidates.iter().filter(move |c| c.origin == origin);
        of.map(TitleCandidate::letters)
    };
    let metas: Vec<Vec<char>> = letters(TitleOrigin::Meta).collect();
    letters(TitleOrigin::H1)
        .chain(letters(TitleOrigin::Heading))
        .find(|l| width(l.iter().copied()) >= LEAST && metas.contains(l) && !site.is(l))
}
