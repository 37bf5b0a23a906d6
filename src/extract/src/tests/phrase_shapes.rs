//! Phrases told by their shape, against the patterns that they stand for.

use proptest::prelude::*;

use crate::cues::phrase_shapes::{counts_comments, is_dated, is_row_of_tools};
use crate::literals::compiled;

/// Whether each text is said to be one where the pattern matches it, and only there.
fn agree(is_one: fn(&str) -> bool, pattern: &str, texts: &[String]) -> Result<(), TestCaseError> {
    let pattern = compiled(pattern);
    for text in texts {
        prop_assert_eq!(is_one(text), pattern.is_match(text), "{}", text);
    }
    Ok(())
}

/// Texts of some pieces.
fn texts(pieces: &'static [&'static str], most: usize) -> impl Strategy<Value = Vec<String>> {
    let text = proptest::collection::vec(proptest::sample::select(pieces), 1..most);
    proptest::collection::vec(text.prop_map(|pieces| pieces.concat()), 64)
}

proptest! {
    #[test]
    fn counts_of_comments_are_those_of_the_pattern(texts in texts(
        &["1", "23", " ", "\u{a0}", "条", "个", "评论", "跟贴", "回复", "人参与", "comment", "s", "COMMENTS", "(", ")", "（",
          "查看", "全部", "我来", "登录后", "留言", "x", "网友写的六字"], 7)) {
        agree(counts_comments, r"(?i)^(\d+\s*(条|个)?(评论|跟贴|跟帖|回复|人参与)|(查看|全部|最新|精彩|热门|网友|我来|发表|参与|文明|登录后)\S{0,6}(评论|跟贴|跟帖|留言)|comments?\W*(\(?\d+\)?)?$|\d+ comments?)", &texts)?;
    }

    #[test]
    fn dated_lines_are_those_of_the_pattern(texts in texts(
        &["2019", "1998", "20", "-", "/", "年", "月", "日", "09", "7", "13", ":", "：", "43", " ", "来源", "作者", "。",
          "十个字的一段没有句号"], 14)) {
        agree(is_dated, r"^(19|20)\d\d[-/.年]\d{1,2}[-/.月]\d{1,2}日?[^。！？]{0,60}(来源|作者|记者|阅读|字体|字号|浏览|点击|编辑)|^(19|20)\d\d[-/.年]\d{1,2}[-/.月]\d{1,2}日?\s*(\d{1,2}[:：]\d\d([:：]\d\d)?)?\W*$", &texts)?;
        let dated: Vec<String> = texts.iter().map(|rest| format!("2019-09-07{rest}")).collect();
        agree(is_dated, r"^(19|20)\d\d[-/.年]\d{1,2}[-/.月]\d{1,2}日?[^。！？]{0,60}(来源|作者|记者|阅读|字体|字号|浏览|点击|编辑)|^(19|20)\d\d[-/.年]\d{1,2}[-/.月]\d{1,2}日?\s*(\d{1,2}[:：]\d\d([:：]\d\d)?)?\W*$", &dated)?;
    }

    #[test]
    fn rows_of_tools_are_those_of_the_pattern(texts in texts(
        &["大", "中", "小", "打印", "收藏", "关闭", "字号", " ", "|", "】", "x", "\u{3000}"], 7)) {
        agree(is_row_of_tools, r"^大\s*中\s*小\W*$|^(打印|收藏|大|中|小|关闭|纠错|字号)(\W+(打印|收藏|大|中|小|关闭|纠错|字号))+", &texts)?;
    }
}
