//! Every fixed word of the pages, from one file for each language, `words/zh.toml` and `words/en.toml`, and the sentences made of
//! them. The build makes their types and values: `Labels`, with a field for each word, and `ZH` and `EN`. [`Lang`] is the language
//! of a reader, from `?lang=` or Accept-Language. Documents are shown as they were written.

use crate::status::{Level, SiteVerdict, Status, worker_in_chinese};

include!(concat!(env!("OUT_DIR"), "/labels.rs"));

/// The words of `taojin init` for a locale such as `zh_CN.UTF-8`.
pub fn init_words(locale: &str) -> &'static InitLabels {
    &Lang::of_locale(locale).labels().init
}

/// A length of time for people, for a locale such as `zh_CN.UTF-8`.
pub fn span_in(locale: &str, span_ms: i64) -> String {
    Lang::of_locale(locale).span(span_ms)
}

/// How a cycle went, in a word, for a locale such as `zh_CN.UTF-8`.
pub fn level_in(locale: &str, level: Level) -> &'static str {
    Lang::of_locale(locale).labels().operator.level(level)
}

/// Bytes for people: decimal units to a tenth, as in settings and messages.
pub fn show_bytes(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    let mut value = bytes as f64;
    let mut unit = "B";
    for larger in UNITS {
        if value < 999.95 {
            break;
        }
        (value, unit) = (value / 1000.0, larger);
    }
    if unit == "B" {
        format!("{bytes} B")
    } else {
        format!("{value:.1} {unit}")
    }
}

/// A sentence with a number, in the forms that the language has.
#[derive(Debug)]
pub(crate) struct Counted {
    /// For exactly one; `None` if the language makes no difference.
    one: Option<&'static str>,
    other: &'static str,
}

impl Counted {
    /// The sentence for this number.
    pub(crate) fn fill(&self, number: u64) -> String {
        self.with(number, &[])
    }

    /// The same with more values.
    pub(crate) fn with(&self, number: u64, values: &[(&str, &str)]) -> String {
        let form = self.one.filter(|_| number == 1).unwrap_or(self.other);
        let grouped = grouped(number);
        fill(form, &[values, &[("n", grouped.as_str())]].concat())
    }
}

/// A sentence with its values in place of `{name}`. What a value holds is never replaced again.
pub(crate) fn fill(sentence: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(sentence.len());
    let mut rest = sentence;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}').unwrap_or((after, ""));
        let value = values.iter().find(|(known, _)| *known == name);
        out.push_str(before);
        out.push_str(value.map_or(name, |(_, value)| value));
        rest = after;
    }
    out + rest
}

/// A number with its thousands set apart.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3 + 1);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

impl OperatorLabels {
    /// How a cycle went, in a word.
    pub(crate) fn level(&self, level: Level) -> &'static str {
        let at = Level::ALL.iter().position(|known| *known == level);
        self.levels[at.unwrap_or_default()]
    }
}

impl TemplatePagesLabels {
    /// The word for a field of a document.
    pub(crate) fn field(&self, name: &str) -> &'static str {
        let found = self.fields.iter().find(|[own, _]| *own == name);
        found.map_or(self.other, |[_, word]| word)
    }

    /// How many documents of a site wait for their fields, and what ends it; `None` where none does.
    pub(crate) fn waiting(&self, documents: u64, site: &str) -> Option<String> {
        (documents > 0).then(|| self.awaiting.with(documents, &[("site", site)]))
    }
}

/// Language of the labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Lang {
    /// Simplified Chinese.
    #[default]
    Zh,
    /// English.
    En,
}

/// Languages of one header that are checked; browsers send some five.
const HEADER_ENTRIES_MAX: usize = 16;

impl Lang {
    /// How a cycle went, in a sentence.
    pub(crate) fn verdict(self, verdict: &SiteVerdict) -> &str {
        match self {
            Lang::Zh => &verdict.text_zh,
            Lang::En => &verdict.text,
        }
    }

    /// What the operator must know; empty when all is well.
    pub(crate) fn note(self, status: &Status) -> &str {
        match self {
            Lang::Zh if !status.note.zh.is_empty() => &status.note.zh,
            _ => &status.note.en,
        }
    }

    /// A worker of the daemon.
    pub(crate) fn worker(self, name: &str) -> &str {
        match self {
            Lang::Zh => worker_in_chinese(name),
            Lang::En => name,
        }
    }

    /// The language of a locale such as `zh_CN.UTF-8`: English unless it is Chinese.
    pub(crate) fn of_locale(locale: &str) -> Lang {
        if locale.starts_with("zh") {
            Lang::Zh
        } else {
            Lang::En
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

    /// A length of time in the largest unit that fits; below ten seconds to a tenth.
    pub(crate) fn span(self, span_ms: i64) -> String {
        let [second, minute, hour, day] = self.labels().sentences.units;
        let ms = span_ms.unsigned_abs();
        let (tenths, seconds) = (ms % 1_000 / 100, ms / 1_000);
        let (number, unit) = match seconds {
            0..10 if tenths > 0 => return format!("{seconds}.{tenths} {second}"),
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
        fill(form, &[("span", &self.span(distance / 1_000 * 1_000))])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_unit_for_one_size() {
        for (bytes, shown) in [
            (0, "0 B"),
            (999, "999 B"),
            (1_000, "1.0 kB"),
            (999_960, "1.0 MB"),
            (64_230_000_000, "64.2 GB"),
            (u64::MAX, "18446744.1 TB"),
        ] {
            assert_eq!(show_bytes(bytes), shown);
        }
        for (ms, en, zh) in [
            (0, "0 s", "0 秒"),
            (340, "0.3 s", "0.3 秒"),
            (3_000, "3 s", "3 秒"),
            (12_900, "12 s", "12 秒"),
            (600_000, "10 min", "10 分钟"),
            (7_300_000, "2 h", "2 小时"),
            (400_000_000, "4 d", "4 天"),
        ] {
            assert_eq!(span_in("C", ms), en);
            assert_eq!(span_in("zh_CN.UTF-8", ms), zh);
        }
    }

    #[test]
    fn a_value_is_put_in_once_and_as_it_is() {
        let filled = fill("{a} and {b}{", &[("a", "{b}"), ("b", "2")]);
        assert_eq!(filled, "{b} and 2");
        assert_eq!(EN.counts.documents.fill(1), "1 document indexed");
        assert_eq!(EN.counts.documents.fill(1_234), "1,234 documents indexed");
        assert_eq!(ZH.counts.documents.fill(1), "已收录 1 篇文档");
    }
}
