use proptest::prelude::*;

use super::*;
use crate::pages::view::Html;
use crate::pages::words::Lang;
use crate::pages::words::grouped;
use crate::search::params::ParamError;
use crate::search::params::{Params, Rules};
use taojin_search::index::Sort;

/// 2026-05-10T00:00:00+08:00.
const NOW_MS: i64 = 1_778_342_400_000;
const DAY_MS: i64 = 86_400_000;

fn parse(raw: &str) -> Result<Params, ParamError> {
    let config = Config::default();
    Params::parse(
        raw,
        &Rules {
            config: &config,
            now_ms: NOW_MS,
            utc_offset_minutes: 480,
            strict: false,
        },
    )
}

#[test]
fn params_days_and_periods() {
    let range = |raw: &str| {
        let params = parse(raw).unwrap();
        (
            params.since_ms.map(|ms| ms - NOW_MS),
            params.until_ms.map(|ms| ms - NOW_MS),
        )
    };
    assert_eq!(
        range("since=2026-05-10&until=2026-05-10"),
        (Some(0), Some(DAY_MS))
    );
    assert_eq!(
        range("since=2026-05&until=2026-05"),
        (Some(-9 * DAY_MS), Some(22 * DAY_MS))
    );
    assert_eq!(range("since=24h"), (Some(-DAY_MS), None));
    assert_eq!(
        range("since=2w&until=1d"),
        (Some(-14 * DAY_MS), Some(-DAY_MS))
    );
    assert_eq!(range("since=2026-05-09T16:00:00Z"), (Some(0), None));
    assert_eq!(range("since=2026-05-10T00:00:00+08:00"), (Some(0), None));
    assert_eq!(range("since=2026-05-10T00:00:00%2B08:00"), (Some(0), None));
    assert_eq!(range("since=&until="), (None, None));
    assert!(range("since=1066-10-14&until=3812-07-02").0.unwrap() < 0);
    for bad in [
        "since=d",
        "since=7",
        "since=12345d",
        "since=-1d",
        "since=7x",
        "since=七d",
    ] {
        assert_eq!(parse(bad).unwrap_err().parameter, "since", "{bad}");
    }
}

#[test]
fn params_sites() {
    let params = parse("site=a,b&site=c&site=a&site=,%20,").unwrap();
    assert_eq!(params.sites, ["a", "b", "c"]);
    let long = parse(&format!("site={}", "x".repeat(65))).unwrap_err();
    assert!(long.detail(Lang::En).contains("64 characters"), "{long:?}");
}

#[test]
fn params_round_trip() {
    let raw = "q=%E6%B2%B9+%22a%26b%22&site=a&site=b&since=7d&until=2026-05-10&sort=date&offset=20&lang=en";
    let params = parse(raw).unwrap();
    assert_eq!(params.sort, Sort::Date);
    assert_eq!(parse(&params.query_string()).unwrap(), params);
    assert_eq!(params.query_string(), raw);
}

#[test]
fn languages() {
    let preferred = |header: &str| Lang::preferred(Some(header));
    assert_eq!(Lang::preferred(None), Lang::Zh);
    assert_eq!(preferred("zh-CN,zh;q=0.9,en;q=0.8"), Lang::Zh);
    assert_eq!(preferred("en-US,en;q=0.9,zh;q=0.8"), Lang::En);
    assert_eq!(preferred("en;q=0.3, zh-TW;q=0.7"), Lang::Zh);
    assert_eq!(preferred("fr,de;q=0.5"), Lang::En);
    assert_eq!(preferred("zh;q=0, en;q=0.1"), Lang::En);
    assert_eq!(preferred(";;q=,,zh;q=abc"), Lang::En);
    assert_eq!(Lang::Zh.relative(NOW_MS - 180_000, NOW_MS), "3 分钟前");
    assert_eq!(Lang::En.relative(NOW_MS + 7_200_000, NOW_MS), "in 2 h");
    assert_eq!(Lang::En.relative(i64::MIN, i64::MAX), "106751991167 d ago");
    assert_eq!(
        [
            grouped(0),
            grouped(999),
            grouped(1_000),
            grouped(12_345_678)
        ],
        ["0", "999", "1,000", "12,345,678"]
    );
}

#[test]
fn marks_invalid_skipped() {
    let marked = |text: &str, marks: &[std::ops::Range<usize>]| {
        Html::marked(&Marked {
            text: text.to_owned(),
            marks: marks.to_vec(),
        })
        .into_string()
    };
    assert_eq!(marked("油价&油", &[0..3, 3..6]), "<mark>油价</mark>&amp;油");
    assert_eq!(marked("油价", &[1..4, 3..6]), "油<mark>价</mark>");
    assert_eq!(marked("ab", &[1..2, 0..1, 5..9, 1..1]), "a<mark>b</mark>");
    assert_eq!(marked("a\u{202E}b\u{0}c\n", &[]), "abc\n");
}

proptest! {
    #[test]
    fn params_never_panic(raw in ".{0,300}") {
        if let Ok(params) = parse(&raw) {
            prop_assert!(params.text.chars().count() <= 256);
            prop_assert!((1..=100).contains(&params.limit) && params.offset <= 9_900);
            let again = parse(&params.query_string()).unwrap();
            prop_assert_eq!((again.text, again.sites), (params.text, params.sites));
        }
    }

    #[test]
    fn marks_html_is_balanced(text in ".{0,40}", at in prop::collection::vec((0usize..60, 0usize..60), 0..6)) {
        let marks = at.into_iter().map(|(a, b)| a..b).collect();
        let html = Html::marked(&Marked { text, marks }).into_string();
        let bare = html.replace("<mark>", "").replace("</mark>", "");
        prop_assert!(!bare.contains(['<', '>', '"', '\'']));
        prop_assert_eq!(html.matches("<mark>").count(), html.matches("</mark>").count());
    }
}
