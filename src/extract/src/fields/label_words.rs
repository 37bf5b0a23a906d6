//! Recognises labels of fields and normalises their names, with those of official notices.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::cues;

/// Longest label, in characters; one in Latin letters may have twice as many.
const MAX_LABEL: usize = 16;

/// The labels that notices have and other pages hardly ever.
static OFFICIAL: LazyLock<HashSet<String>> = LazyLock::new(|| list_labels("notice.official"));
/// Those that other pages have too.
static COMMON: LazyLock<HashSet<String>> = LazyLock::new(|| list_labels("notice.common"));

fn list_labels(section: &str) -> HashSet<String> {
    cues::words(section).into_iter().collect()
}

/// The first character of each label of notices.
static BEGINNINGS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let labels = OFFICIAL.iter().chain(&*COMMON);
    labels.filter_map(|label| label.get(..3)).collect()
});

/// Whether a line begins with a label of notices; few begin with its first character even.
pub(super) fn has_known_start(text: &str) -> bool {
    let first = text.trim_start_matches(['【', '[', '■', '●', '·']).get(..3);
    if !first.is_some_and(|first| BEGINNINGS.contains(first)) {
        return false;
    }
    let label = text
        .split(['：', ':', '】', ']'])
        .next()
        .and_then(normalize_label);
    label.is_some_and(|label| is_known(&label))
}

/// Whether notices have this label.
pub(super) fn is_known(label: &str) -> bool {
    OFFICIAL.contains(label) || COMMON.contains(label)
}

/// Whether notices have this label and other pages hardly ever.
pub(super) fn is_official(label: &str) -> bool {
    OFFICIAL.contains(label)
}

/// A label without signs around it, and without the blanks that stretch a Chinese one.
pub(crate) fn normalize_label(text: &str) -> Option<String> {
    let sign = |c: char| c.is_whitespace() || "：:【】[]■●·*|".contains(c);
    let text = text.trim_matches(sign);
    let label: String = if text.chars().any(is_han) {
        text.chars()
            .filter(|c| !c.is_whitespace())
            .take(MAX_LABEL + 1)
            .collect()
    } else {
        text.chars().take(2 * MAX_LABEL + 1).collect()
    };
    let count = label.chars().count();
    let is_short = count
        <= if label.is_ascii() {
            2 * MAX_LABEL
        } else {
            MAX_LABEL
        };
    let is_label =
        label.chars().any(char::is_alphabetic) && !label.contains(['，', '。', '？', '?', '！']);
    (is_short && is_label).then_some(label)
}

/// A Chinese character.
pub(super) fn is_han(c: char) -> bool {
    matches!(c, '\u{4E00}'..='\u{9FA5}')
}
