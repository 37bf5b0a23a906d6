//! Cheap looks at lines that name writers and sources, against the patterns that they spare.

use proptest::prelude::*;

use crate::fields::author::{
    AUTHOR, BY, OF_AUTHOR, OF_PHOTOGRAPHER, OF_SOURCE, PHOTOGRAPHER, SOURCE, may_begin_by,
    may_label,
};
use crate::page::{Hints, Page};
use crate::{Context, extract};

const LABELS: &str = concat!(
    "文章来源~稿件来源~信息来源~来源~稿源~转自~來源~文章作者~作者~撰文~本报记者~特约通讯员~记者~",
    "通讯员~文/图~图/文~采写~执笔~撰稿~作 者~文~摄影~供图~图片~by~By~BY~written by~Posted  by~von~",
    "Par~words by~Story by~article av~af~：~丨",
);
const REST: &str = concat!(
    " ~\u{a0}~\u{3000}~|~【~(~>~/~:~：~丨~: ~\"~“~张三~新华社~宋一帆 白薇~Mary~Ålund~de~",
    "2019-09-07~x~，~_",
);

/// One of the words between the marks `~`.
fn one_of(words: &'static str) -> impl Strategy<Value = &'static str> {
    prop::sample::select(words.split('~').collect::<Vec<_>>())
}

/// Lines of a label or several, with what may be around.
fn lines() -> impl Strategy<Value = Vec<String>> {
    let label = one_of(LABELS);
    let rest = || prop::collection::vec(one_of(REST), 0..4);
    let part = (rest(), label, rest())
        .prop_map(|(before, label, after)| format!("{}{label}{}", before.concat(), after.concat()));
    let line = prop::collection::vec(part, 1..3).prop_map(|parts| parts.concat());
    prop::collection::vec(line, 64)
}

proptest! {
    #[test]
    fn author_prefilter_covers_patterns(lines in lines()) {
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
fn author_patterns_match_samples() {
    for (pattern, line) in [
        (&SOURCE, "来源：新华社"),
        (&AUTHOR, "作者：张三"),
        (&PHOTOGRAPHER, "摄影：张三 "),
        (&BY, "“Written by  Mary de Ålund"),
    ] {
        assert!(pattern.is_match(line), "{line}");
    }
}

/// Writer and source of a page with this next to its headline.
fn names(html: &str) -> (Option<String>, Option<String>) {
    let text = "<p>项目经理介绍，施工队在雨季前铺完了十二公里的集输管线，比原定计划提前了九天，沿线居民参观了监测站。</p>".repeat(6);
    let page = format!(
        "<html lang=zh-CN><meta charset=utf-8><title>安全会议在岭北召开</title><div class=nav><a href=/>首页</a></div>\
         <div><h1>安全会议在岭北召开</h1><div>{html}</div><div>{text}</div></div>"
    );
    let found = extract(
        &Page::parse(page.as_bytes(), Hints::default()),
        &Context::default(),
    );
    (found.author, found.source)
}

#[test]
fn author_without_colon() {
    let name = |name: &str| Some(name.to_owned());
    for (html, author, source) in [
        (
            "<span>2026-08-24 15:38</span>|<span> 来源<a href=/><b>岭北报</b></a></span>|<span>0 条评论</span>|<span>作者郭雪舟</span>",
            name("郭雪舟"),
            name("岭北报"),
        ),
        (
            "<span>2026-08-24</span> <span>记者 郭雪舟</span>",
            name("郭雪舟"),
            None,
        ),
        (
            "<p class=byline>Byron Lowell</p>",
            name("Byron Lowell"),
            None,
        ),
        (
            "<a rel=author href=/u/1>Byron Lowell</a>",
            name("Byron Lowell"),
            None,
        ),
        ("<span>作者简介</span> <span>来源 网络</span>", None, None),
        ("<p class=byline>12 comments, 3 shares</p>", None, None),
    ] {
        assert_eq!(names(html), (author, source), "{html}");
    }
}

#[test]
fn text_formulas_once() {
    let formula = "<math alttext='1.33'><semantics><mrow><mn>1.33</mn><mo>×</mo><mn>10</mn></mrow>\
                   <annotation encoding='application/x-tex'>1.33\\times 10</annotation></semantics></math>";
    let text = "当温度升高时，误差按照实测的系数每摄氏度增加，因此现场需要做温度补偿，补偿后的结果见附录。";
    let page = format!(
        "<html lang=zh-CN><meta charset=utf-8><title>温度补偿</title><h1>温度补偿</h1><p>{text}</p><p>系数 {formula}，{text}</p><p>{text}</p>"
    );
    let found = extract(
        &Page::parse(page.as_bytes(), Hints::default()),
        &Context::default(),
    );
    assert_eq!(found.text.matches("1.33").count(), 1, "{}", found.text);
    assert!(found.text.contains("1.33×10，"), "{}", found.text);
}
