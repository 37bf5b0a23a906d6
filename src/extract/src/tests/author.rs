//! Cheap looks at lines that name writers and sources, against the patterns that they spare.

use proptest::prelude::*;

use crate::fields::author::{
    AUTHOR, BY, OF_AUTHOR, OF_PHOTOGRAPHER, OF_SOURCE, PHOTOGRAPHER, SOURCE, may_begin_by,
    may_label,
};

const LABELS: [&str; 37] = [
    "文章来源",
    "稿件来源",
    "信息来源",
    "来源",
    "稿源",
    "转自",
    "來源",
    "文章作者",
    "作者",
    "撰文",
    "本报记者",
    "特约通讯员",
    "记者",
    "通讯员",
    "文/图",
    "图/文",
    "采写",
    "执笔",
    "撰稿",
    "作 者",
    "文",
    "摄影",
    "供图",
    "图片",
    "by",
    "By",
    "BY",
    "written by",
    "Posted  by",
    "von",
    "Par",
    "words by",
    "Story by",
    "article av",
    "af",
    "：",
    "丨",
];
const REST: [&str; 24] = [
    " ",
    "\u{a0}",
    "\u{3000}",
    "|",
    "【",
    "(",
    ">",
    "/",
    ":",
    "：",
    "丨",
    ": ",
    "\"",
    "“",
    "张三",
    "新华社",
    "宋一帆 白薇",
    "Mary",
    "Ålund",
    "de",
    "2019-09-07",
    "x",
    "，",
    "_",
];

/// Lines of a label or several, with what may stand around.
fn lines() -> impl Strategy<Value = Vec<String>> {
    let label = prop::sample::select(&LABELS[..]);
    let rest = || prop::collection::vec(prop::sample::select(&REST[..]), 0..4);
    let part = (rest(), label, rest())
        .prop_map(|(before, label, after)| format!("{}{label}{}", before.concat(), after.concat()));
    let line = prop::collection::vec(part, 1..3).prop_map(|parts| parts.concat());
    prop::collection::vec(line, 64)
}

proptest! {
    #[test]
    fn no_line_that_names_somebody_is_passed_over(lines in lines()) {
        for line in &lines {
            let labels = [(&SOURCE, OF_SOURCE), (&AUTHOR, OF_AUTHOR), (&PHOTOGRAPHER, OF_PHOTOGRAPHER)];
            for (pattern, label) in labels {
                prop_assert!(may_label(line, label) || !pattern.is_match(line), "{}", line);
            }
            prop_assert!(may_begin_by(line) || !BY.is_match(line), "{}", line);
        }
    }
}

#[test]
fn lines_that_name_somebody_are_in_the_trial() {
    for (pattern, line) in [
        (&SOURCE, "来源：新华社"),
        (&AUTHOR, "作者：张三"),
        (&PHOTOGRAPHER, "摄影：张三 "),
        (&BY, "“Written by  Mary de Ålund"),
    ] {
        assert!(pattern.is_match(line), "{line}");
    }
}
