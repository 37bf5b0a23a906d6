//! Compares the texts of two documents.

use std::collections::HashSet;

use taojin_extract::Document;

/// Letters in a row that two texts are compared by.
const LETTERS: usize = 4;

/// Letters of a text that are compared.
const MOST_LETTERS: usize = 20_000;

/// Share of the rows of letters of the one text, or of the other, from which they are versions of one document.
const ALIKE: f64 = 0.2;

/// And from which they say the same.
const SAME: f64 = 0.8;

/// Whether one text is a version of the other: they name the same title or day, or share whole phrases.
pub(super) fn is_version(before: &Document, now: &Document) -> bool {
    let same = |a: &Option<String>, b: &Option<String>| a.is_some() && a == b;
    same(&before.title, &now.title)
        || same(&before.published, &now.published)
        || alike(&before.text, &now.text) >= ALIKE
}

/// Whether two documents say the same, but for a little.
pub(super) fn says_the_same(a: &Document, b: &Document) -> bool {
    alike(&a.text, &b.text) >= SAME
}

/// Share of the phrases of the shorter text that are in the longer one.
fn alike(a: &str, b: &str) -> f64 {
    let phrases = |text: &str| -> HashSet<u64> {
        let letters: Vec<char> = text
            .chars()
            .filter(|c| c.is_alphanumeric())
            .take(MOST_LETTERS)
            .collect();
        let digest = |row: &[char]| {
            row.iter()
                .fold(0u64, |h, c| (h << 16) ^ (h >> 48) ^ u64::from(*c))
        };
        letters.windows(LETTERS).map(digest).collect()
    };
    let (a, b) = (phrases(a), phrases(b));
    let shorter = a.len().min(b.len());
    if shorter == 0 {
        return 0.0;
    }
    a.intersection(&b).count() as f64 / shorter as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(title: &str, published: &str, text: &str) -> Document {
        Document {
            title: Some(title.to_owned()),
            published: (!published.is_empty()).then(|| published.to_owned()),
            text: text.to_owned(),
            ..Document::default()
        }
    }

    #[test]
    fn version_shares_title_day_phrases() {
        let text =
            "青石岭储气库本周完成第三口注采井的试压，现场记录显示井口压力平稳，没有发现渗漏。";
        let before = document("储气库试压完成", "2026-05-11", text);
        let wall = "系统正在升级，预计今晚恢复，给您带来不便，敬请谅解。";
        for (now, wanted) in [
            (document("储气库试压完成", "", wall), true),
            (document("更正", "2026-05-11", wall), true),
            (
                document(
                    "更正",
                    "",
                    &format!("{text}另讯，试压第二阶段将于下月开始。"),
                ),
                true,
            ),
            (
                document("更正", "", &text.chars().take(20).collect::<String>()),
                true,
            ),
            (document("系统维护", "", wall), false),
            (document("系统维护", "2026-11-20", wall), false),
            (document("系统维护", "", ""), false),
        ] {
            assert_eq!(is_version(&before, &now), wanted, "{now:?}");
        }
    }
}
