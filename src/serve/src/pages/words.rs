//! Every fixed word of the pages, from one file for each language, `words/zh.toml` and `words/en.toml`, and the sentences made of
//! them. The build makes their types and values: `Labels`, with a field for each word, and `ZH` and `EN`.

use crate::verdict::Level;

include!(concat!(env!("OUT_DIR"), "/labels.rs"));

/// The words of `taojin init` for a locale such as `zh_CN.UTF-8`.
pub fn init_words(locale: &str) -> &'static InitLabels {
    if locale.starts_with("zh") {
        &ZH.init
    } else {
        &EN.init
    }
}

/// A sentence with a number, in the forms that the language has.
#[derive(Debug)]
pub(crate) struct Counted {
    /// For exactly one; none where the language makes no difference.
    one: Option<&'static str>,
    other: &'static str,
}

impl Counted {
    /// The sentence for this number.
    pub(crate) fn of(&self, number: u64) -> String {
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_put_in_once_and_as_it_is() {
        let filled = fill("{a} and {b}{", &[("a", "{b}"), ("b", "2")]);
        assert_eq!(filled, "{b} and 2");
        assert_eq!(EN.counts.documents.of(1), "1 document indexed");
        assert_eq!(EN.counts.documents.of(1_234), "1,234 documents indexed");
        assert_eq!(ZH.counts.documents.of(1), "已收录 1 篇文档");
    }
}
