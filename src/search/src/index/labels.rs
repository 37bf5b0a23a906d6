//! Labelled fields in the index: 字号:国发〔2026〕12号. In: labels and values. Out: what stands in the index, and what asks for
//! it. A gram of a value stands there with its label before it, so that a value is found under its own label only.

use tantivy::tokenizer::{PreTokenizedString, Token, TokenStream};

use super::plan::{MAX_TERMS, Plan};
use super::schema::Column;
use taojin_extract::Typed;

use crate::analyze::{GRAMS, GramPhrase, gram_phrase, gram_term, normalize, tokenizers};

/// What stands between label and gram.
const BETWEEN: char = '\u{1f}';

/// Labels of notices that say the same, each group by the one that it is indexed under.
const SAME: [(&str, &[&str]); 8] = [
    (
        "字号",
        &[
            "文号",
            "发文字号",
            "发文文号",
            "公文文号",
            "文件字号",
            "文件编号",
        ],
    ),
    (
        "机构",
        &[
            "机关",
            "发布机构",
            "发文机关",
            "发文机构",
            "发文单位",
            "发布单位",
            "制发机关",
            "制定机关",
            "成文机关",
            "公开主体",
        ],
    ),
    ("索引号", &["索引", "索引编号", "信息索引号", "索取号"]),
    (
        "成文日期",
        &["成文时间", "发文日期", "发文时间", "印发日期", "生成日期"],
    ),
    ("发布日期", &["发布时间", "公开日期", "公开时间"]),
    (
        "分类",
        &[
            "类别",
            "主题",
            "主题分类",
            "主题词",
            "组配分类",
            "体裁分类",
            "信息分类",
            "信息类别",
        ],
    ),
    ("有效性", &["时效性", "效力状态"]),
    ("文种", &["公文种类"]),
];

/// Whether a label is one of notices.
pub fn is_notice_label(label: &str) -> bool {
    let label = tidy(label);
    SAME.iter()
        .any(|(name, same)| *name == label || same.contains(&label.as_str()))
}

/// A label as it is indexed.
fn name_of(label: &str) -> String {
    let label = tidy(label);
    let same = SAME.iter().find(|(_, same)| same.contains(&label.as_str()));
    same.map_or(label, |(name, _)| (*name).to_owned())
}

fn tidy(label: &str) -> String {
    normalize(label)
        .chars()
        .filter(|c| !c.is_whitespace())
        .collect()
}

/// A value with brackets of one form: 〔2026〕, ［2026］ and (2026) are the same year.
fn value_of(value: &str) -> String {
    let bracket = |c| match c {
        '〔' | '[' | '【' | '〖' => '(',
        '〕' | ']' | '】' | '〗' => ')',
        other => other,
    };
    normalize(value).chars().map(bracket).collect()
}

/// A field as it is indexed.
pub(super) fn tokens(label: &str, value: &str) -> PreTokenizedString {
    let name = name_of(label);
    let text = value_of(value);
    let mut tokens = Vec::new();
    if let Some(mut cutter) = tokenizers().get(GRAMS) {
        let mut stream = cutter.token_stream(&text);
        while stream.advance() {
            let token = stream.token();
            tokens.push(Token {
                text: format!("{name}{BETWEEN}{}", token.text),
                ..token.clone()
            });
        }
    }
    // Where the value is a number or a day, it is compared by this term.
    if let (Some(key), Some(first)) = (sort_key(value), tokens.first().cloned()) {
        tokens.insert(
            0,
            Token {
                text: format!("{name}{BETWEEN}{key}"),
                ..first
            },
        );
    }
    PreTokenizedString { text, tokens }
}

fn sort_key(value: &str) -> Option<String> {
    Typed::of(value).and_then(|typed| typed.sort_key())
}

/// Ends of a comparison: `>120`, `<=2010-01-01`, `100..200`. As the texts of terms: from the first on, before the second.
fn range(value: &str) -> Option<(String, String)> {
    // Keys are of one length: this comes right behind one.
    let behind = |key: String| format!("{key}0");
    let value = value.trim();
    if let Some((first, last)) = value.split_once("..") {
        let (first, last) = (sort_key(first)?, sort_key(last)?);
        let same = first.get(..1) == last.get(..1);
        return same.then(|| (first, behind(last)));
    }
    let above = value.strip_prefix(['>', '＞']);
    let below = value.strip_prefix(['<', '＜']);
    let rest = above.or(below)?;
    let (is_equal, rest) = match rest.strip_prefix(['=', '＝']) {
        Some(rest) => (true, rest),
        None => (false, rest),
    };
    let key = sort_key(rest)?;
    let (lowest, highest) = limits(&key);
    Some(match (above.is_some(), is_equal) {
        (true, true) => (key, highest),
        (true, false) => (behind(key), highest),
        (false, true) => (lowest, behind(key)),
        (false, false) => (lowest, key),
    })
}

/// What comes before and behind all keys of the kind of this one.
fn limits(key: &str) -> (String, String) {
    let kind = key.get(..1).unwrap_or_default();
    (kind.to_owned(), format!("{kind}~"))
}

/// Whether a value asked for under a label is a comparison.
pub fn is_comparison(value: &str) -> bool {
    range(value).is_some()
}

/// What asks for `label:value`; none if there is nothing to look for.
pub(super) fn asked(text: &str) -> Option<Plan> {
    let (label, value) = text.split_once([':', '：'])?;
    let name = name_of(label);
    if let Some((from, until)) = range(value) {
        let term = |key: String| format!("{name}{BETWEEN}{key}");
        return Some(Plan::Between(Column::Meta, term(from), term(until)));
    }
    let value = value_of(value);
    let term = |gram: &str| format!("{name}{BETWEEN}{gram}");
    let chain = match gram_phrase(&value) {
        GramPhrase::Nothing => return None,
        GramPhrase::Single(single) => return Some(Plan::Begins(Column::Meta, term(single))),
        GramPhrase::Chain(chain) => chain,
    };
    let terms = chain
        .iter()
        .take(MAX_TERMS)
        .map(|(place, gram)| (*place, term(&gram_term(gram))));
    let mut terms: Vec<(usize, String)> = terms.collect();
    match terms.len() {
        1 => terms.pop().map(|(_, only)| Plan::Term(Column::Meta, only)),
        _ => Some(Plan::Phrase(Column::Meta, terms)),
    }
}
