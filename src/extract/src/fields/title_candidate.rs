//! Candidates for the headline. A [`TitleCandidate`] has a normal form and a likeness to a part of `<title>`, without the site's
//! name.

use std::borrow::Cow;

use super::likeness::{Forms, likeness_from, normal_form};
use super::title_parts::TitleParts;

/// Least likeness to a part of `<title>`.
pub(super) const ACCEPT: f64 = 0.6;
/// A likeness up to this need not be known.
const LEAST: f64 = 0.59;
/// Shortest headline, in characters of its normal form.
pub(super) const MIN_CHARS: usize = 4;
/// Longest headline, in characters; longer headings are paragraphs in disguise.
pub(crate) const MAX_CHARS: usize = 200;
/// Signs behind a heading that link to it.
const PERMALINKS: [char; 5] = ['#', '¶', '§', '🔗', '\u{fe0f}'];

/// Where a candidate comes from, in order of trust.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TitleOrigin {
    /// `h1`.
    H1,
    /// JSON-LD `headline`.
    JsonLd,
    /// `og:title` and its kin.
    Meta,
    /// `h2` … `h6` or an element that calls itself title.
    Heading,
    /// A line right above the text that `<title>` contains.
    Line,
    /// A part of `<title>`.
    Part,
    /// Nothing was alike: the first that there was.
    #[default]
    Fallback,
}

/// What a text is compared by.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Compared {
    /// Its normal form.
    pub form: Vec<char>,
    /// Likeness to the best part of `<title>`; 0 where it is too little to count.
    pub likeness: f64,
}

impl Compared {
    /// Compares a text with the parts of `<title>`.
    pub(crate) fn new(text: &str, forms: &Forms) -> Self {
        let form = normal_form(text);
        let likeness = forms.best(&form, LEAST).unwrap_or(0.0);
        Self { form, likeness }
    }
}

/// One candidate.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct TitleCandidate<'a> {
    /// Its text.
    pub text: Cow<'a, str>,
    /// What the text is compared by, if that is known.
    pub compared: Option<Cow<'a, Compared>>,
    /// Where it comes from.
    pub origin: TitleOrigin,
    /// Lines between it and the main text; smaller is nearer.
    pub distance: u32,
    /// It is above the main text or begins it.
    pub above: bool,
    /// Likeness to the best part of `<title>`.
    pub score: f64,
    /// It is a part of `<title>`, letter for letter.
    pub exact: bool,
    /// It came without a site's name behind a joint.
    pub clean: bool,
}

impl<'a> TitleCandidate<'a> {
    /// A candidate of which nothing else is known.
    pub(crate) fn new(origin: TitleOrigin, text: impl Into<Cow<'a, str>>) -> Self {
        Self {
            text: text.into(),
            origin,
            ..Self::default()
        }
    }

    /// The same without what it was compared by.
    pub(crate) fn into_owned(self) -> TitleCandidate<'static> {
        TitleCandidate {
            text: Cow::Owned(self.text.into_owned()),
            compared: None,
            origin: self.origin,
            distance: self.distance,
            above: self.above,
            score: self.score,
            exact: self.exact,
            clean: self.clean,
        }
    }

    /// Normal form of the text; empty before it is compared.
    pub(crate) fn form(&self) -> &[char] {
        self.compared.as_ref().map_or(&[], |c| &c.form)
    }

    /// Letters and digits of the normal form.
    pub(crate) fn letters(&self) -> Vec<char> {
        let mut letters = self.form().to_vec();
        letters.retain(|c| c.is_alphanumeric());
        letters
    }

    /// Takes away what is not part of a headline, and compares what is left.
    pub(super) fn compare(&mut self, site: &Site, forms: &Forms) {
        let text = strip_permalink(&self.text);
        self.clean = TitleParts::is_single(text);
        let text = site.without_site(text, self.clean);
        if self.compared.is_none() || text != self.text {
            self.compared = Some(Cow::Owned(Compared::new(&text, forms)));
        }
        if text != self.text {
            self.text = Cow::Owned(text.into_owned());
        }
    }
}

/// The text without signs behind it that link to the heading, without signs of icon fonts and the mark of an answer.
fn strip_permalink(text: &str) -> &str {
    let icon = |c: char| matches!(c, '\u{e000}'..='\u{f8ff}');
    let text = text.trim_matches(|c: char| icon(c) || c.is_whitespace());
    let text = text.strip_prefix("Re: ").unwrap_or(text);
    match text.rsplit_once(' ') {
        Some((before, sign)) if sign.chars().all(|c| PERMALINKS.contains(&c)) => before.trim_end(),
        _ => text.trim_end_matches(['¶', '🔗']),
    }
}

/// What is known of the site's name.
pub(crate) struct Site {
    name: Option<Vec<char>>,
    /// Letters and digits of the host's registered label.
    host: Option<String>,
}

impl Site {
    /// By the name that the page gives the site and by the site's host.
    pub(super) fn new(name: Option<&str>, host: Option<&str>) -> Self {
        Self {
            name: name.map(normal_form),
            host: host
                .and_then(taojin_uri::registrable_domain)
                .and_then(|d| d.split('.').next())
                .map(letters),
        }
    }

    pub(crate) fn is(&self, form: &[char]) -> bool {
        self.name.as_deref() == Some(form)
    }

    /// True if a part of a title is nothing but the site's name, or a host name.
    pub(super) fn is_called(&self, part: &str) -> bool {
        self.is(&normal_form(part))
            || is_host_name(part)
            || self
                .host
                .as_ref()
                .is_some_and(|host| *host == letters(part))
    }

    /// True if a part of a title names the site.
    pub(crate) fn named_by(&self, part: &str) -> bool {
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

    /// The text without the site's name before or behind a joint; `single` if it has none.
    fn without_site<'t>(&self, text: &'t str, single: bool) -> Cow<'t, str> {
        let text = text.trim().trim_matches(['\u{200b}', '\u{feff}']).trim();
        if single {
            return text.into();
        }
        let TitleParts {
            mut heads,
            parts,
            tails,
            ..
        } = TitleParts::split(text);
        let Some(last) = parts.last().filter(|_| parts.len() > 1) else {
            return text.into();
        };
        if let Some(behind) = parts
            .first()
            .filter(|first| self.is_called(first))
            .and_then(|_| tails.first())
        {
            return behind.clone().into();
        }
        let long = heads.get(1).is_some_and(|h| h.chars().count() > MIN_CHARS);
        if long && self.named_by(last) {
            heads.swap_remove(1).into()
        } else {
            text.into()
        }
    }
}

/// True for the name of a host: `Forbes.com`.
pub(super) fn is_host_name(text: &str) -> bool {
    let is_word = text.contains('.') && !text.contains(char::is_whitespace);
    is_word && taojin_uri::registrable_domain(text).is_some()
}

fn letters(text: &str) -> String {
    text.chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect()
}
