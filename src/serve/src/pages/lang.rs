//! The two languages of the web page. In: `?lang=` and the Accept-Language header. Out: a [`Lang`] and its labels.
//! Never translates content: documents are shown as they were written.

use super::words::{EN, Labels, ZH, fill};
use crate::verdict::SiteVerdict;

/// Language of the labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Lang {
    /// Simplified Chinese.
    #[default]
    Zh,
    /// English.
    En,
}

/// Languages of one header that are looked at; browsers send some five.
const HEADER_ENTRIES_MAX: usize = 16;

impl Lang {
    /// How a cycle went, in a sentence.
    pub(crate) fn verdict(self, verdict: &SiteVerdict) -> &str {
        match self {
            Lang::Zh => &verdict.text_zh,
            Lang::En => &verdict.text,
        }
    }

    /// The language named by `?lang=`.
    pub(crate) fn named(tag: &str) -> Option<Lang> {
        let primary = tag.trim().split(['-', '_']).next()?;
        if primary.eq_ignore_ascii_case("zh") {
            Some(Lang::Zh)
        } else if primary.eq_ignore_ascii_case("en") {
            Some(Lang::En)
        } else {
            None
        }
    }

    /// The language a browser prefers (RFC 9110 §12.5.4); English for those that name neither, Chinese for those
    /// that name nothing.
    pub(crate) fn preferred(accept_language: Option<&str>) -> Lang {
        let Some(header) = accept_language.filter(|h| !h.trim().is_empty()) else {
            return Lang::Zh;
        };
        let mut best: Option<(f32, Lang)> = None;
        for entry in header.split(',').take(HEADER_ENTRIES_MAX) {
            let mut parts = entry.split(';');
            let Some(lang) = parts.next().and_then(Lang::named) else {
                continue;
            };
            let weight = parts
                .find_map(|p| p.trim().strip_prefix("q="))
                .map_or(1.0, |q| q.trim().parse().unwrap_or(0.0));
            if weight > 0.0 && best.is_none_or(|(b, _)| weight > b) {
                best = Some((weight, lang));
            }
        }
        best.map_or(Lang::En, |(_, lang)| lang)
    }

    /// Value of the `lang` attribute.
    pub(crate) fn tag(self) -> &'static str {
        match self {
            Lang::Zh => "zh-CN",
            Lang::En => "en",
        }
    }

    /// Value of `?lang=`.
    pub(crate) fn code(self) -> &'static str {
        match self {
            Lang::Zh => "zh",
            Lang::En => "en",
        }
    }

    /// The language that the switch leads to.
    pub(crate) fn other(self) -> Lang {
        match self {
            Lang::Zh => Lang::En,
            Lang::En => Lang::Zh,
        }
    }

    /// Labels in this language.
    pub(crate) fn labels(self) -> &'static Labels {
        match self {
            Lang::Zh => &ZH,
            Lang::En => &EN,
        }
    }

    /// Which hits of a result are shown; `folded` when reprints stand behind one of them.
    pub(crate) fn range(self, first: usize, last: usize, folded: bool) -> String {
        let s = &self.labels().sentences;
        let form = if folded { s.range_folded } else { s.range };
        let (first, last) = (first.to_string(), last.to_string());
        fill(form, &[("first", &first), ("last", &last)])
    }

    /// A name and its value.
    pub(crate) fn labelled(self, name: &str, value: &str) -> String {
        let form = self.labels().sentences.labelled;
        fill(form, &[("name", name), ("value", value)])
    }

    /// What a chip does, for those who do not see its cross.
    pub(crate) fn remove(self, label: &str) -> String {
        fill(self.labels().sentences.remove, &[("label", label)])
    }

    /// When a site was crawled last.
    pub(crate) fn crawled(self, then_ms: Option<i64>, now_ms: i64) -> String {
        let s = &self.labels().sentences;
        match then_ms {
            Some(then) => fill(s.crawled, &[("when", &self.relative(then, now_ms))]),
            None => s.not_crawled.to_owned(),
        }
    }

    /// A length of time in the largest unit that fits.
    pub(crate) fn span(self, span_ms: i64) -> String {
        let [second, minute, hour, day] = self.labels().sentences.units;
        let seconds = span_ms.unsigned_abs() / 1_000;
        let (number, unit) = match seconds {
            0..60 => (seconds, second),
            60..3_600 => (seconds / 60, minute),
            3_600..172_800 => (seconds / 3_600, hour),
            _ => (seconds / 86_400, day),
        };
        format!("{number} {unit}")
    }

    /// A moment seen from another, in the largest unit that fits: `3 分钟前`, `in 2 h`.
    pub(crate) fn relative(self, then_ms: i64, now_ms: i64) -> String {
        let s = &self.labels().sentences;
        let distance = then_ms.saturating_sub(now_ms);
        let form = if distance > 0 { s.later } else { s.ago };
        fill(form, &[("span", &self.span(distance))])
    }
}
