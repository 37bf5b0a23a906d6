use proptest::prelude::*;

use crate::index::{Clause, Filter, Occur, Target};
use crate::query::dates::{Calendar, DateError};
use crate::query::parse;

const DAY_MS: i64 = 86_400_000;
/// 2026-11-05, midnight in Beijing.
const NOV_5_MS: i64 = 1_793_808_000_000;

const BEIJING: Calendar = Calendar {
    utc_offset_minutes: 480,
    now_ms: NOV_5_MS + DAY_MS,
};

/// A group as it was understood: target, text and literal of each alternative.
type Understood = (Occur, Vec<(Target, String, bool)>);

fn groups(text: &str) -> Vec<Understood> {
    let of = |c: &Clause| (c.target, c.text.clone(), c.literal);
    let query = parse(text, &BEIJING).query;
    query
        .groups
        .iter()
        .map(|g| (g.occur, g.any.iter().map(of).collect()))
        .collect()
}

#[test]
fn plain_text_stays_plain() {
    for text in [
        "页岩气 开发",
        "9-1油田",
        "https://",
        "ftp://a.example/x",
        "C++",
        "a - b",
        "\"未闭合",
        "foo:bar",
        "OR",
        "油价 OR",
        "-",
        "--x",
        "：",
        "title:",
    ] {
        let parsed = parse(text, &BEIJING);
        assert_eq!(parsed.query.words, text, "{text}");
        assert!(parsed.query.groups.is_empty(), "{text}");
        assert!(parsed.notes.is_empty(), "{text}");
    }
}

#[test]
fn phrases_fields_and_refusals() {
    use Occur::{Must, Without};
    let any = Target::Anywhere;
    let one =
        |occur, target, text: &str, literal| (occur, vec![(target, text.to_owned(), literal)]);
    for (text, group) in [
        ("\"海洋石油 122\"", one(Must, any, "海洋石油 122", true)),
        ("“海洋石油”", one(Must, any, "海洋石油", true)),
        ("-钻井", one(Without, any, "钻井", false)),
        ("-\"招聘 启事\"", one(Without, any, "招聘 启事", true)),
        ("title:油价", one(Must, Target::Title, "油价", false)),
        (
            "标题：\"油价 上涨\"",
            one(Must, Target::Title, "油价 上涨", true),
        ),
        (
            "site:cnpc.com.cn",
            one(Must, Target::Site, "cnpc.com.cn", false),
        ),
        ("-author:张三", one(Without, Target::Author, "张三", false)),
        ("来源：新华社", one(Must, Target::Source, "新华社", false)),
    ] {
        assert_eq!(groups(text), [group], "{text}");
        assert_eq!(parse(text, &BEIJING).query.words, "", "{text}");
    }
    let mixed = parse("中石油\"页岩气 田\"-招聘 产量", &BEIJING).query;
    assert_eq!(mixed.words, "中石油 产量");
    assert_eq!(mixed.groups.len(), 2);
}

#[test]
fn an_address_is_looked_for_where_documents_stand_and_in_what_they_print() {
    let literal = |target| (target, "a.example/x?y=1:2".to_owned(), true);
    for text in ["https://a.example/x?y=1:2", "HTTP://a.example/x?y=1:2"] {
        assert_eq!(
            groups(text),
            [(
                Occur::Must,
                vec![literal(Target::Url), literal(Target::Anywhere)]
            )]
        );
    }
}

#[test]
fn either_or() {
    let any = |text: &str| (Target::Anywhere, text.to_owned(), false);
    assert_eq!(
        groups("LNG OR 液化天然气 OR 天然气"),
        [(
            Occur::Must,
            vec![any("LNG"), any("液化天然气"), any("天然气")]
        )]
    );
    let query = parse("进口 LNG | 管道气 价格", &BEIJING).query;
    assert_eq!(query.words, "进口 价格");
    assert_eq!(query.groups.len(), 1);
    assert_eq!(query.groups[0].any.len(), 2);
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
    for wrong in [
        "date:..",
        "date:2026-11-06..2026-11-05",
        "date:a..b",
        "-date:2026",
    ] {
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
    assert_eq!(
        BEIJING
            .range(Some("2026-11-06"), Some("2026-11-05"))
            .unwrap_err()
            .to_string(),
        "since 2026-11-06 is after until 2026-11-05"
    );
    assert_eq!(BEIJING.range(None, Some(" ")), Ok((None, None)));
}

proptest! {
    #[test]
    fn no_text_is_an_error(text in any::<String>(), odd in "[ \"“”「」:：\\-|a油ORtitlesncu0-9/.]{0,60}") {
        for text in [text, odd] {
            let parsed = parse(&text, &BEIJING);
            prop_assert!(parsed.query.groups.len() <= 32);
            prop_assert!(parsed.query.words.len() <= text.len());
            for clause in parsed.query.groups.iter().flat_map(|g| &g.any) {
                prop_assert!(!clause.text.trim().is_empty());
            }
        }
    }
}

#[test]
fn long_queries_are_cut_and_that_is_said() {
    let parsed = parse(&"石油 ".repeat(1_000), &BEIJING);
    assert!(parsed.query.words.chars().count() <= 300);
    assert_eq!(parsed.notes.len(), 1);
}

#[test]
fn what_narrows_a_query_can_be_taken_out_of_it() {
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
}

#[test]
fn times_of_a_change() {
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

#[test]
fn a_label_before_a_colon_asks_for_a_field_of_the_page() {
    let any = |typed: &str| {
        let query = parse(typed, &BEIJING).query;
        let groups = query.groups.into_iter();
        let clauses = groups.flat_map(|group| group.any);
        let clauses: Vec<(Target, String)> = clauses.map(|c| (c.target, c.text)).collect();
        (query.words, clauses)
    };
    let field = |text: &str| (Target::Meta, text.to_owned());
    let text = |text: &str| (Target::Anywhere, text.to_owned());
    let none = String::new;
    // Those of notices ask for nothing else; what may be a label may be text.
    assert_eq!(
        any("字号：国发〔2026〕12号"),
        (none(), vec![field("字号:国发〔2026〕12号")])
    );
    assert_eq!(
        any("-发布机构:\"能源局 综合司\""),
        (none(), vec![field("发布机构:能源局 综合司")])
    );
    assert_eq!(
        any("适用口径:406"),
        (none(), vec![field("适用口径:406"), text("适用口径:406")])
    );
    assert_eq!(any("ISO:9001"), ("ISO:9001".to_owned(), vec![]));
}
