//! Finds where the headline begins and ends in the text that was chosen. `<title>` and headings put the site's name, a
//! section, a kicker, the year of a film or what the page offers around it; another place of the page shows it alone.

use super::likeness::{normal_form, width};
use super::title_candidate::{MIN_CHARS, Site, TitleCandidate, TitleOrigin, is_host_name};
use super::title_parts::Title;

/// Narrowest text that is a headline without what is around it, Chinese characters counted twice.
const LEAST: usize = 12;

/// What a page is about, by its structured data.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Topic<'a> {
    /// Name of the one thing that the page is about.
    pub name: Option<&'a str>,
    /// It is a film.
    pub is_film: bool,
}

/// What a page says of its headline besides the text that was chosen.
pub(super) struct TitleExtent<'a, 'c> {
    /// All candidates, compared.
    candidates: &'a [TitleCandidate<'c>],
    /// `<title>`.
    title: &'a Title,
    /// What the page is about.
    topic: Topic<'a>,
    /// The site's name.
    site: &'a Site,
}

impl<'a, 'c> TitleExtent<'a, 'c> {
    /// Of a page with these candidates, which are compared.
    pub(super) fn new(
        candidates: &'a [TitleCandidate<'c>],
        title: &'a Title,
        topic: Topic<'a>,
        site: &'a Site,
    ) -> Self {
        Self {
            candidates,
            title,
            topic,
            site,
        }
    }

    /// Returns the headline within `chosen`, or next to it, if the page shows that `chosen` is not just that.
    pub(super) fn find(&self, chosen: &TitleCandidate<'_>) -> Option<String> {
        let form = normal_form(&chosen.text);
        let stated = self
            .find_behind_section(&form)
            .or_else(|| self.find_before_word(&form))
            .or_else(|| self.find_behind_kicker(&form))
            .or_else(|| self.find_shown(&form, chosen.origin))
            .map(|candidate| candidate.text.as_ref());
        self.find_name(&form)
            .or_else(|| self.find_before_year(&chosen.text))
            .or(stated)
            .or_else(|| self.find_behind_site(&chosen.text))
            .map(str::to_owned)
    }

    /// The name of the thing, if the text begins or ends with it: “The Easiest Dan Dan Noodles”.
    fn find_name(&self, form: &[char]) -> Option<&str> {
        let name = self.topic.name?;
        let name_form = normal_form(name);
        let is_named = begins_with(form, &name_form) || ends_with(form, &name_form);
        (is_named && name_form.len() > 1).then_some(name)
    }

    /// The name of a film before its year.
    fn find_before_year<'t>(&self, text: &'t str) -> Option<&'t str> {
        let bracketed = text.trim_end().strip_suffix([')', '）'])?;
        let (name, year) = bracketed.rsplit_once(['(', '（'])?;
        let is_year = year.len() == 4 && year.bytes().all(|b| b.is_ascii_digit());
        let name = name.trim_end();
        (self.topic.is_film && is_year && !name.is_empty()).then_some(name)
    }

    /// The heading that a meta element puts behind the whole of `<title>`, which then names a section.
    fn find_behind_section(&self, form: &[char]) -> Option<&TitleCandidate<'_>> {
        /// Longest sign between both, with spaces.
        const JOINT: usize = 3;
        if self.title.form != form {
            return None;
        }
        let mut metas = self.of(&[TitleOrigin::Meta]);
        let longer = metas.find(|c| c.form().len() > form.len() && begins_with(c.form(), form))?;
        let behind = longer.form().get(form.len()..)?;
        let mut headings = self.of(&[TitleOrigin::H1, TitleOrigin::Heading]);
        headings.find(|c| {
            let joint = behind.len().saturating_sub(c.form().len());
            let is_rest = ends_with(behind, c.form()) && joint <= JOINT;
            is_rest && c.form().len() >= MIN_CHARS && !self.site.named_by(&c.text)
        })
    }

    /// The heading right above the text, to which the chosen one adds a word: “Kincaid Grill Review”.
    fn find_before_word(&self, form: &[char]) -> Option<&TitleCandidate<'_>> {
        let mut headings = self.of(&[TitleOrigin::Heading]);
        headings.find(|c| {
            let rest = form.strip_prefix(c.form());
            let word = rest.and_then(|rest| rest.strip_prefix(&[' ']));
            let is_word =
                word.is_some_and(|w| !w.is_empty() && w.iter().all(|c| c.is_alphabetic()));
            c.above && c.distance <= 1 && is_word
        })
    }

    /// The headline that the head of the page states without the kicker before a colon.
    fn find_behind_kicker(&self, form: &[char]) -> Option<&TitleCandidate<'_>> {
        let mut declared = self.of(&[TitleOrigin::JsonLd, TitleOrigin::Meta]);
        declared.find(|c| {
            let before = form.strip_suffix(c.form()).unwrap_or_default();
            let is_kicker = matches!(before, [_, .., ':'] | [_, .., ':', ' ']);
            is_kicker && width(c.form().iter().copied()) >= LEAST
        })
    }

    /// The heading that the text goes on from, where no heading says all of it: “Power Tools: Drills, Saws”.
    fn find_shown(&self, form: &[char], origin: TitleOrigin) -> Option<&TitleCandidate<'_>> {
        const SHOWN: [TitleOrigin; 3] = [TitleOrigin::H1, TitleOrigin::Heading, TitleOrigin::Line];
        if self.of(&SHOWN).any(|c| c.form() == form) {
            return None;
        }
        let is_part = matches!(origin, TitleOrigin::Part | TitleOrigin::Fallback);
        let is_shown = |c: &&TitleCandidate<'_>| {
            let rest = form.get(c.form().len()..).unwrap_or_default();
            let mut signs = rest.iter().filter(|c| !c.is_whitespace());
            let ends = if c.origin == TitleOrigin::H1 {
                c.above && signs.next().is_some_and(|c| !c.is_alphanumeric())
            } else {
                // One word is as likely a section's.
                let is_long = width(c.form().iter().copied()) >= LEAST && c.form().contains(&' ');
                is_long && (c.above || is_part)
            };
            ends && c.form().len() >= MIN_CHARS
                && c.form().len() < form.len()
                && begins_with(form, c.form())
                && !self.site.named_by(&c.text)
        };
        let shown = self.of(&SHOWN).filter(is_shown);
        shown.min_by_key(|c| (c.origin, c.distance))
    }

    /// The text behind a colon, if the site is named before it: by a host, or as at the end of `<title>`.
    fn find_behind_site<'t>(&self, text: &'t str) -> Option<&'t str> {
        let (before, behind) = text.split_once([':', '：'])?;
        let behind = behind.trim();
        let parts = &self.title.parts.parts;
        let is_last = || {
            let last = parts.last().filter(|_| parts.len() > 1);
            last.is_some_and(|last| normal_form(last) == normal_form(before))
        };
        let is_site = is_host_name(before) || is_last();
        (is_site && width(behind.chars()) >= LEAST).then_some(behind)
    }

    /// The candidates of some origins.
    fn of(&self, origins: &'static [TitleOrigin]) -> impl Iterator<Item = &TitleCandidate<'_>> {
        self.candidates
            .iter()
            .filter(|c| origins.contains(&c.origin))
    }
}

/// True if `form` is `name` and, behind the end of a word, more or nothing.
fn begins_with(form: &[char], name: &[char]) -> bool {
    let rest = form.strip_prefix(name);
    rest.is_some_and(|rest| rest.first().is_none_or(|c| !c.is_alphanumeric()))
}

/// The same from the other end.
fn ends_with(form: &[char], name: &[char]) -> bool {
    let rest = form.strip_suffix(name);
    rest.is_some_and(|rest| rest.last().is_none_or(|c| !c.is_alphanumeric()))
}
