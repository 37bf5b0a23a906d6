use proptest::prelude::*;

use crate::index::{Clause, Filter, Form, Group, Occur, Target};
use crate::query::dates::{Calendar, DateError};
use crate::query::{Misread, Note, parse};

const DAY_MS: i64 = 86_400_000;
/// 2026-11-05, midnight in Beijing.
const NOV_5_MS: i64 = 1_793_808_000_000;

const BEIJING: Calendar = Calendar {
    utc_offset_minutes: 480,
    now_ms: NOV_5_MS + DAY_MS,
};

/// A query in one line: words, then each group as `+(a|b)` or `-(a)`.
fn shown(text: &str) -> String {
    let query = parse(text, &BEIJING).query;
    let words = (!query.words.is_empty()).then(|| query.words.clone());
    let groups = query.groups.iter().map(group_shown);
    words
        .into_iter()
        .chain(groups)
        .collect::<Vec<_>>()
        .join(" ")
}

fn group_shown(group: &Group) -> String {
    let sign = match group.occur {
        Occur::Must => '+',
        Occur::Without => '-',
    };
    let any: Vec<String> = group.any.iter().map(clause_shown).collect();
    format!("{sign}({})", any.join("|"))
}

fn clause_shown(clause: &Clause) -> String {
    let place = match clause.target {
        Target::Anywhere => String::new(),
        target => format!("{target:?}:"),
    };
    let text = &clause.text;
    match &clause.form {
        Form::Words => format!("{place}{text}"),
        Form::Literal => format!("{place}'{text}'"),
        Form::Prefix => format!("{place}{text}*"),
        Form::Near { other, within } => format!("{place}{text}~{within}~{other}"),
        Form::All(groups) => {
            let groups: Vec<String> = groups.iter().map(group_shown).collect();
            format!("[{}]", groups.join(" "))
        }
    }
}

#[test]
fn parse_operators() {
    for (typed, meant) in [
        ("电网 NOT 张掖", "电网 -(张掖)"),
        ("电网 非 张掖", "电网 -(张掖)"),
        ("电网 ＮＯＴ 张掖", "电网 -(张掖)"),
        ("电网 !张掖", "电网 -(张掖)"),
        ("电网 ！张掖", "电网 -(张掖)"),
        ("电网 －张掖", "电网 -(张掖)"),
        ("电网 AND 张掖", "+(电网) +(张掖)"),
        ("电网 与 张掖", "+(电网) +(张掖)"),
        ("电网 且 张掖", "+(电网) +(张掖)"),
        ("电网 && 张掖", "+(电网) +(张掖)"),
        ("电网 AND NOT 张掖", "+(电网) -(张掖)"),
        ("+电网 张掖", "张掖 +(电网)"),
        ("＋电网 张掖", "张掖 +(电网)"),
        ("LNG|CNG", "+(LNG|CNG)"),
        ("LNG｜CNG 价格", "价格 +(LNG|CNG)"),
        ("LNG 或 CNG", "+(LNG|CNG)"),
        ("a AND b OR c", "+([+(a) +(b)]|c)"),
        ("进口 LNG OR 管道气", "进口 +(LNG|管道气)"),
        ("a OR NOT b", "+(a|[-(b)])"),
        ("（LNG OR CNG）价格", "价格 +(LNG|CNG)"),
        ("(a b) c", "a b c"),
        ("-(a b)", "-(a b)"),
        ("NOT (a OR b) c", "c -(a|b)"),
        ("(a (b OR c)) OR d", "+([+(b|c) +(a)]|d)"),
        ("title:(a OR b)", "+([+(Title:a|Title:b)])"),
        ("标题：（油价 上涨）", "+(Title:油价 上涨)"),
        ("-title:(a OR \"b c\")", "-([+(Title:a|Title:'b c')])"),
        ("SU* 发布", "发布 +(SU*)"),
        ("title:SU*", "+(Title:SU*)"),
        ("油价 NEAR/5 上涨", "+(油价~5~上涨)"),
        ("油价 NEAR \"三连 涨\"", "+(油价~10~三连 涨)"),
        ("字号:国能发", "+(Meta:'字号:国能发')"),
        ("发文字号：\"国能发 1\"", "+(Meta:'发文字号:国能发 1')"),
        ("page(1) x", "page(1) x"),
        ("(C(2) OR x)", "+(C(2)|x)"),
        ("油价 AND since:2026", "+(油价)"),
        ("LNG OR 液化天然气 OR 天然气", "+(LNG|液化天然气|天然气)"),
        ("进口 LNG | 管道气 价格", "进口 价格 +(LNG|管道气)"),
        ("\"海洋石油 122\"", "+('海洋石油 122')"),
        ("“海洋石油”", "+('海洋石油')"),
        ("-钻井", "-(钻井)"),
        ("-\"招聘 启事\"", "-('招聘 启事')"),
        ("title:油价", "+(Title:油价)"),
        ("标题：\"油价 上涨\"", "+(Title:'油价 上涨')"),
        ("site:cnpc.com.cn", "+(Site:cnpc.com.cn)"),
        ("-author:张三", "-(Author:张三)"),
        ("来源：新华社", "+(Source:新华社)"),
        (
            "中石油\"页岩气 田\"-招聘 产量",
            "中石油 产量 +('页岩气 田') -(招聘)",
        ),
        // An address is where documents are, and what they print.
        (
            "https://a.example/x?y=1:2",
            "+(Url:'a.example/x?y=1:2'|'a.example/x?y=1:2')",
        ),
        (
            "HTTP://a.example/x?y=1:2",
            "+(Url:'a.example/x?y=1:2'|'a.example/x?y=1:2')",
        ),
        // Labels of notices search for nothing else; what may be a label may be text.
        ("字号：国发〔2026〕12号", "+(Meta:'字号:国发〔2026〕12号')"),
        (
            "-发布机构:\"能源局 综合司\"",
            "-(Meta:'发布机构:能源局 综合司')",
        ),
        ("适用口径:406", "+([+(Meta:'适用口径:406'|适用口径:406)])"),
        ("片长:>120", "+(Meta:'片长:>120')"),
        (
            "字号:(国发 OR \"国能发 电力\")",
            "+(Meta:'字号:国发'|Meta:'字号:国能发 电力')",
        ),
        // Behind other words the wide colon is a mark of a sentence.
        ("专家：油价上涨", "专家：油价上涨"),
    ] {
        assert_eq!(shown(typed), meant, "{typed}");
        assert_eq!(parse(typed, &BEIJING).notes, [], "{typed}");
    }
    for typed in ["ISO:9001", "Keywords:style", "ISBN-13:978"] {
        assert_eq!(shown(typed), format!("+([+(Meta:'{typed}'|{typed})])"));
    }
}

#[test]
fn parse_misread_is_text() {
    use Misread::{Date, Empty, Field, Operator, Parenthesis, Quote, Star};
    for (typed, words, piece, why) in [
        ("OR", "OR", "OR", Operator),
        ("油价 OR", "油价 OR", "OR", Operator),
        ("AND 油价", "AND 油价", "AND", Operator),
        ("油价 NOT", "油价 NOT", "NOT", Operator),
        ("油价 NEAR/5", "油价 NEAR/5", "NEAR/5", Operator),
        ("油 NEAR 价格", "油 NEAR 价格", "NEAR", Operator),
        ("油价 |", "油价 |", "|", Operator),
        ("(油价", "( 油价", "(", Parenthesis),
        ("\"未闭合", "\"未闭合", "\"未闭合", Quote),
        ("title:", "title:", "title:", Empty),
        ("foo:bar", "foo:bar", "foo:bar", Field),
        ("油*", "油*", "油*", Star),
        ("a OR since:7d", "a OR 7d", "since:7d", Date),
    ] {
        let parsed = parse(typed, &BEIJING);
        let piece = piece.to_owned();
        assert_eq!(parsed.notes, [Note::NotSyntax { piece, why }], "{typed}");
        if ![Date, Star, Field].contains(&why) {
            assert_eq!(parsed.query.words, words, "{typed}");
        }
    }
    let deep = format!("{}油价{}", "(".repeat(12), ")".repeat(12));
    assert!(!parse(&deep, &BEIJING).notes.is_empty());
    let many = "a:b OR ".repeat(40);
    assert!(parse(&many, &BEIJING).query.groups.len() <= 1);
}

#[test]
fn parse_plain_text() {
    for text in [
        "页岩气 开发",
        "9-1油田",
        "https://",
        "ftp://a.example/x",
        "C++",
        "a - b",
        "时间：12",
        "关于油价的通知（节选）",
        "-",
        "--x",
        "：",
    ] {
        let parsed = parse(text, &BEIJING);
        assert_eq!(parsed.query.words, text, "{text}");
        assert!(parsed.query.groups.is_empty(), "{text}");
        assert!(parsed.notes.is_empty(), "{text}");
    }
}

#[test]
fn dates() {
    let filter = parse("油价 since:2026-11-05 until:2026/11/5", &BEIJING)
        .query
        .filter;
    assert_eq!(filter.since_ms, Some(NOV_5_MS));
    assert_eq!(filter.until_ms, Some(NOV_5_MS + DAY_MS));
    assert_eq!(BEIJING.since("2026年11月"), Ok(NOV_5_MS - 4 * DAY_MS));
    assert_eq!(BEIJING.until("2026-11"), Ok(NOV_5_MS + 26 * DAY_MS));
    assert_eq!(BEIJING.since("２０２６"), BEIJING.since("2026-01-01"));
    for wrong in [
        "2026-13-01",
        "2026-02-30",
        "gestern",
        "",
        "20261105",
        "2026-1-1-1",
        "99999999999",
        "-5",
    ] {
        assert_eq!(
            BEIJING.since(wrong),
            Err(DateError::Date(wrong.to_owned())),
            "{wrong}"
        );
    }
    let range = |text: &str| {
        let filter = parse(text, &BEIJING).query.filter;
        (filter.since_ms, filter.until_ms)
    };
    let day = (Some(NOV_5_MS), Some(NOV_5_MS + DAY_MS));
    assert_eq!(range("油价 date:2026-11-05"), day);
    assert_eq!(range("油价 日期：2026-11-05..2026/11/5"), day);
    assert_eq!(range("油价 date:2026-11-05.."), (day.0, None));
    assert_eq!(range("油价 date:..2026-11-05"), (None, day.1));
    assert_eq!(range("油价 since:1d"), (Some(NOV_5_MS), None));
    for wrong in ["date:..", "date:a..b", "-date:2026"] {
        let parsed = parse(wrong, &BEIJING);
        assert_eq!(parsed.query.filter, Filter::default(), "{wrong}");
    }
    let parsed = parse("油价 since:昨天", &BEIJING);
    assert_eq!(parsed.query.words, "油价 since:昨天");
    let notes: Vec<String> = parsed.notes.iter().map(ToString::to_string).collect();
    assert_eq!(
        notes,
        [
            "since:昨天: \"昨天\" is not a date: write 2026-11-05, 2026-11, 2026, or 7d for the last seven days; searched as text"
        ]
    );
    // Whichever comes first.
    let range = |since, until| BEIJING.range(Some(since), Some(until));
    assert_eq!(
        range("2026-11-06", "2026-11-05"),
        range("2026-11-05", "2026-11-06")
    );
    assert_eq!(BEIJING.range(None, Some(" ")), Ok((None, None)));
}

proptest! {
    #[test]
    fn parse_any_text(text in any::<String>(), odd in "([ \"“”「:：\\-+!|()（）*a油ORNDTitlesncu0-9/.]|AND | OR | NOT | NEAR/3 ){0,40}") {
        for text in [text, odd] {
            let parsed = parse(&text, &BEIJING);
            prop_assert!(parsed.query.groups.len() <= 32);
            prop_assert!(parsed.query.words.len() <= text.len() * 2);
            for clause in parsed.query.groups.iter().flat_map(Group::leaves) {
                prop_assert!(!clause.text.trim().is_empty());
            }
        }
    }
}

#[test]
fn parse_long_query_is_cut() {
    let parsed = parse(&"石油 ".repeat(1_000), &BEIJING);
    assert!(parsed.query.words.chars().count() <= 300);
    assert_eq!(parsed.notes.len(), 1);
}

#[test]
fn narrowings_lists_filters() {
    use crate::query::narrowings;
    let parts = |typed: &str| -> Vec<(String, String)> {
        let parts = narrowings(typed).into_iter();
        parts.map(|part| (part.text, part.rest)).collect()
    };
    let pair = |text: &str, rest: &str| (text.to_owned(), rest.to_owned());
    assert_eq!(parts("页岩气 \"开 发\" LNG OR CNG"), []);
    assert_eq!(
        parts("油价 site:a.cn -\"招聘 启事\" since:7d"),
        [
            pair("site:a.cn", "油价 -\"招聘 启事\" since:7d"),
            pair("-\"招聘 启事\"", "油价 site:a.cn since:7d"),
            pair("since:7d", "油价 site:a.cn -\"招聘 启事\""),
        ]
    );
    // Alternatives are one filter.
    assert_eq!(
        parts("site:a.cn OR site:b.cn 油价"),
        [pair("site:a.cn OR site:b.cn", "油价")]
    );
    assert_eq!(parts("作者：张三"), [pair("作者：张三", "")]);
    let sites = |typed: &str| -> Vec<Option<String>> {
        let parts = narrowings(typed).into_iter();
        parts.map(|part| part.site).collect()
    };
    assert_eq!(
        sites("油价 site:\"a b\" -site:c.cn author:李 site:a OR site:b"),
        [Some("a b".to_owned()), None, None, None]
    );
}

#[test]
fn parse_changed_range() {
    let day = (Some(NOV_5_MS), Some(NOV_5_MS + DAY_MS));
    let changed = |text: &str| {
        let filter = parse(text, &BEIJING).query.filter;
        assert_eq!((filter.since_ms, filter.until_ms), (None, None), "{text}");
        (filter.changed_since_ms, filter.changed_until_ms)
    };
    assert_eq!(changed("油价 changed:2026-11-05"), day);
    assert_eq!(changed("更新：2026-11-05..2026-11-05"), day);
    assert_eq!(changed("changed:..2026-11-05"), (None, day.1));
    assert_eq!(changed("changed:1d"), (day.0, None));
    assert_eq!(
        changed("changed:2026-11 changed:1d"),
        (day.0, Some(NOV_5_MS + 26 * DAY_MS))
    );
    for wrong in ["changed:昨天", "-changed:2026", "changed:7d..x"] {
        let parsed = parse(wrong, &BEIJING);
        assert_eq!(parsed.query.filter, Filter::default(), "{wrong}");
        assert_eq!(parsed.query.words, wrong);
    }
}
