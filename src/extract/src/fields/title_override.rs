//! Headlines that `<title>` does not tell, written for search engines or the same on every page of a section. In: the
//! candidates. Out: the heading that is believed all the same. Never believes the name of the site.

use super::likeness::{is_cjk, normal_form, width};
use super::title_candidate::{Candidate, MAX_CHARS, Origin, Site};
use super::title_parts::Parts;

/// The heading right above the text, where it is longer than any part of `<title>`: titles that only tell section and site
/// are the same on every page of theirs.
pub(crate) fn near_heading(
    candidates: &[Candidate<'_>],
    parts: &Parts,
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
    let is_near = |c: &&Candidate<'_>| {
        let heading = matches!(c.origin, Origin::H1 | Origin::Heading);
        let wide = width(c.text.chars()) > widest.max(LEAST) && c.text.chars().count() <= MAX_CHARS;
        let trail = c.text.contains(['>', '»', '›']);
        heading && c.above && c.distance <= NEAR && wide && !trail && !site.named_by(&c.text)
    };
    let near = candidates.iter().filter(is_near);
    let near = near.min_by_key(|c| c.distance);
    near.map(|c| c.text.clone().into_owned())
}

/// The only `h1` of the page when it stands right above the text: it is the headline even if `<title>` was
/// written for search engines.
pub(crate) fn lone_heading(
    candidates: &[Candidate<'_>],
    parts: &Parts,
    site: &Site,
) -> Option<usize> {
    /// Lines between headline and text: kicker, date, writer, picture.
    const NEAR: u32 = 12;
    let is_h1 = |c: &&Candidate<'_>| c.origin == Origin::H1;
    if candidates.iter().filter(is_h1).count() != 1 {
        return None;
    }
    let at = candidates.iter().position(|c| c.origin == Origin::H1)?;
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

/// The letters of a heading that `og:title` repeats: two places that say the same are believed though `<title>`
/// was written for search engines.
pub(crate) fn agreed_heading(candidates: &[Candidate<'_>], site: &Site) -> Option<Vec<char>> {
    const LEAST: usize = 12;
    let letters = |origin: Origin| {
        let of = candidates.iter().filter(move |c| c.origin == origin);
        of.map(Candidate::letters)
    };
    let metas: Vec<Vec<char>> = letters(Origin::Meta).collect();
    letters(Origin::H1)
        .chain(letters(Origin::Heading))
        .find(|l| width(l.iter().copied()) >= LEAST && metas.contains(l) && !site.is(l))
}
