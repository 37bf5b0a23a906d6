use proptest::prelude::*;

use crate::date::clues::Label;
use crate::date::code::from_url;
use crate::date::stamp::{Clock, parse_iso};
use crate::date::text::{DateForm, find_dates, parse_value};
use crate::page::{Hints, Page};
use crate::{Context, extract};

/// 2019-09-08T10:00:00+08:00.
const CLOCK: Clock = Clock {
    now_ms: Some(1_567_908_000_000),
    offset_min: Some(480),
    month_first: false,
    republic: false,
};

fn first(text: &str) -> String {
    find_dates(text, &CLOCK)
        .first()
        .map_or_else(String::new, |f| f.stamp.iso(&CLOCK))
}

#[test]
fn chinese_forms() {
    for (text, want) in [
        ("2019年9月7日 13:43", "2019-09-07T13:43:00+08:00"),
        ("发布时间：2016年5月9日 10:05", "2016-05-09T10:05:00+08:00"),
        ("2019年09月07日13时43分", "2019-09-07T13:43:00+08:00"),
        (
            "2019-09-07 13:43:45　来源: 中国网",
            "2019-09-07T13:43:45+08:00",
        ),
        (
            "２０１９年９月７日　１３：４３",
            "2019-09-07T13:43:00+08:00",
        ),
        ("2019年9月7日 星期六 下午3:05", "2019-09-07T15:05:00+08:00"),
        ("2019/9/7 00:10", "2019-09-07T00:10:00+08:00"),
        ("2019.09.07", "2019-09-07"),
        ("(20190907)", "2019-09-07"),
        ("09月07日 20:10", "2019-09-07T20:10:00+08:00"),
        ("12月31日", "2018-12-31"),
        ("发布时间：09-07", "2019-09-07"),
        ("发布日期: 12-31 来源: 某报", "2018-12-31"),
        ("发布时间：09-07 20:10", "2019-09-07T20:10:00+08:00"),
        ("18-09-07 13:43", "2018-09-07T13:43:00+08:00"),
        ("18年9月7日", "2018-09-07"),
    ] {
        assert_eq!(first(text), want, "{text}");
    }
}

#[test]
fn years_without_four_digits() {
    for (text, want) in [
        ("二〇一九年九月七日", "2019-09-07"),
        ("二○一八年十二月三十一日", "2018-12-31"),
        ("二零一八年十一月廿三日", "2018-11-23"),
        ("一九九九年十月二十日", "1999-10-20"),
        ("中華民國108年9月7日 13:43", "2019-09-07T13:43:00+08:00"),
        ("令和元年9月7日 13時43分", "2019-09-07T13:43:00+08:00"),
        ("平成30年12月1日", "2018-12-01"),
        // What remains of an odd year is not taken for a day of this one.
        ("108年9月7日", ""),
        ("一九四九年十月一日", ""),
        ("昭和20年8月15日", ""),
    ] {
        assert_eq!(first(text), want, "{text}");
    }
}

#[test]
fn arabic_months_and_digits() {
    for (text, want) in [
        ("19 نوفمبر 2018", "2018-11-19"),
        ("٧ سبتمبر، ٢٠١٩", "2019-09-07"),
        ("5 حزيران 2019", "2019-06-05"),
    ] {
        assert_eq!(first(text), want, "{text}");
    }
}

#[test]
fn relative_forms() {
    for (text, want) in [
        ("3小时前", "2019-09-08T07:00:00+08:00"),
        ("40分钟前", "2019-09-08T09:20:00+08:00"),
        ("昨天 12:05", "2019-09-07T12:05:00+08:00"),
        ("前天", "2019-09-06"),
        ("2 days ago", "2019-09-06"),
        ("半小时前", "2019-09-08T09:30:00+08:00"),
        ("半年前", "2019-03-10"),
        ("5 hours ago", "2019-09-08T05:00:00+08:00"),
        // The smaller unit is added, not taken alone.
        ("1 hour, 43 minutes ago", "2019-09-08T08:17:00+08:00"),
        ("Asked 1 year, 2 months ago", "2018-07-10"),
    ] {
        assert_eq!(first(text), want, "{text}");
        assert_eq!(find_dates(text, &CLOCK)[0].form, DateForm::Relative);
    }
}

#[test]
fn relative_two_units() {
    for (text, want) in [
        ("1小时10分前", "2019-09-08T08:50:00+08:00"),
        ("1小时10分钟前 来源", "2019-09-08T08:50:00+08:00"),
        ("1个月10天前", "2019-07-30"),
        ("1天2小时前", "2019-09-07T08:00:00+08:00"),
    ] {
        assert_eq!(first(text), want, "{text}");
    }
}

#[test]
fn republic_years_of_taiwan() {
    let taiwan = Clock {
        republic: true,
        ..CLOCK
    };
    for (text, want) in [
        ("107/05/20 10:30", "2018-05-20T10:30:00+08:00"),
        ("發布日期：107.5.2", "2018-05-02"),
        ("107-05-20", "2018-05-20"),
        ("電話 107-05-20-1", ""),
        ("2018/05/20", "2018-05-20"),
    ] {
        let found = find_dates(text, &taiwan);
        let found = found
            .first()
            .map_or_else(String::new, |f| f.stamp.iso(&taiwan));
        assert_eq!(found, want, "{text}");
    }
    assert_eq!(first("107/05/20"), "");
}

/// The date of a page with this next to its headline, fetched at the time of [`CLOCK`].
fn beside_headline(html: &str, lang: &str) -> Option<String> {
    let text = "<p>项目经理介绍，施工队在雨季前铺完了十二公里的集输管线，比原定计划提前了九天，沿线居民参观了监测站。</p>".repeat(6);
    let page = format!(
        "<html lang={lang}><meta charset=utf-8><title>管线巡护的新办法</title><div class=nav><a href=/>首页</a></div>\
         <div><h1>管线巡护的新办法</h1><div>{html}</div><div>{text}</div></div>"
    );
    let context = Context {
        now_ms: CLOCK.now_ms,
        ..Context::default()
    };
    extract(&Page::parse(page.as_bytes(), Hints::default()), &context).published
}

#[test]
fn exact_title_before_relative() {
    for html in [
        "发表于 <span title=\"2019-4-25 10:20:11\">昨天&nbsp;10:20</span>",
        "<span class=date title=\"2019-04-25 10:20:11\">5 个月前</span>",
        "<a class=time href=# title=\"2019年4月25日 10:20:11\">半小时前</a>",
        "<relative-time datetime=\"2019-04-25T10:20:11+08:00\">5 个月前</relative-time>",
    ] {
        let found = beside_headline(html, "zh-CN");
        assert_eq!(
            found.as_deref(),
            Some("2019-04-25T10:20:11+08:00"),
            "{html}"
        );
    }
    let found = beside_headline("<span title=\"查看作者\">昨天 10:20</span>", "zh-CN");
    assert_eq!(found.as_deref(), Some("2019-09-07T10:20:00+08:00"));
    let found = beside_headline("發布日期 107/05/20", "zh-Hant-TW");
    assert_eq!(found.as_deref(), Some("2018-05-20"));
}

#[test]
fn european_forms() {
    for (text, want) in [
        ("September 7, 2019", "2019-09-07"),
        ("Sept. 7th, 2019 at 1:43 PM", "2019-09-07T13:43:00+08:00"),
        ("7 September 2019", "2019-09-07"),
        ("Cureus. 2019 Sep 7;15(1):e33475.", "2019-09-07"),
        ("2019 and 7 others", ""),
        ("7. September 2019, 13:43 Uhr", "2019-09-07T13:43:00+08:00"),
        ("7 de septiembre de 2019", "2019-09-07"),
        ("7 сентября 2019", "2019-09-07"),
        ("07.09.2019", "2019-09-07"),
        ("07/09/2019", "2019-09-07"),
        ("2019년 9월 7일", "2019-09-07"),
    ] {
        assert_eq!(first(text), want, "{text}");
    }
    let american = Clock {
        month_first: true,
        ..CLOCK
    };
    assert_eq!(
        find_dates("09/07/2019", &american)[0].stamp.iso(&american),
        "2019-09-07"
    );
}

#[test]
fn update_label_not_published() {
    let article = |label: &str| {
        let html = format!(
            "<title>A long headline of this page</title><h1>A long headline of this page</h1>\
             <div>{label} <time datetime='2019-09-07T10:00:00'>September 7, 2019</time></div>\
             <div>September 5, 2019</div>\
             <p>The text begins here, and it goes on for a while, as texts of articles do.</p>"
        );
        let page = Page::parse(html.as_bytes(), Hints::default());
        let context = Context {
            now_ms: CLOCK.now_ms,
            ..Context::default()
        };
        extract(&page, &context).published
    };
    assert_eq!(article("Updated").as_deref(), Some("2019-09-05"));
    assert!(article("Published").is_some_and(|day| day.starts_with("2019-09-07T10:00:00")));
}

#[test]
fn machine_values_keep_zone() {
    for (value, want) in [
        ("2019-09-07T13:43:00+08:00", "2019-09-07T13:43:00+08:00"),
        ("2019-09-07T05:43:00Z", "2019-09-07T05:43:00+00:00"),
        ("2019-09-07T05:43:00.123+0000", "2019-09-07T05:43:00+00:00"),
        ("Sat, 07 Sep 2019 05:43:00 GMT", "2019-09-07T05:43:00+00:00"),
        ("2019-09-07", "2019-09-07"),
        ("1567835000", "2019-09-07T13:43:20+08:00"),
        ("1567835000000", "2019-09-07T13:43:20+08:00"),
    ] {
        let got = parse_value(value, &CLOCK).map(|s| s.iso(&CLOCK));
        assert_eq!(got.as_deref(), Some(want), "{value}");
    }
}

#[test]
fn no_date_found() {
    for text in concat!(
        "~2016-02-30~2019-09-17~1987-05-01~010-8888-9999~v2.10.14~12345678901234~13:43~第 2019 期~",
        "比分：09-07~发布热线：09-07-33",
    )
    .split('~')
    {
        assert!(find_dates(text, &CLOCK).is_empty(), "{text}");
    }
    // Where days or months may come first, a year of two digits is none.
    let elsewhere = Clock {
        offset_min: None,
        ..CLOCK
    };
    assert!(find_dates("07-09-18 13:43", &elsewhere).is_empty());
}

#[test]
fn label_published_or_modified() {
    let found = find_dates("发布：2019-09-01 更新：2019-09-05", &CLOCK);
    let labels: Vec<_> = found.iter().map(|f| f.label).collect();
    assert_eq!(labels, [Label::Published, Label::Modified]);
    assert_eq!(
        find_dates("Last updated 5 September 2019", &CLOCK)[0].label,
        Label::Modified
    );
}

#[test]
fn day_in_url() {
    let day = |url| from_url(url, &CLOCK).map(|s| s.iso(&CLOCK));
    assert_eq!(
        day("http://news.cnpc.com.cn/system/2016/05/09/001591599.shtml").as_deref(),
        Some("2016-05-09")
    );
    assert_eq!(
        day("https://a.example/c/2019-09-07/doc-1.shtml").as_deref(),
        Some("2019-09-07")
    );
    assert_eq!(
        day("https://a.example/a/20190907/12.htm").as_deref(),
        Some("2019-09-07")
    );
    assert_eq!(day("https://a.example/?d=2019-09-07"), None);
    assert_eq!(day("https://a.example/item/2019090799"), None);
}

/// The day and perhaps the hour of a page.
fn published(head: &str, above: &str, below: &str) -> Option<String> {
    let text =
        "<p>记者从现场了解到，经过一百二十天的施工，改造工程日前通过验收，现场设备运行平稳。</p>"
            .repeat(4);
    let html = format!(
        "<head><title>储气库投产</title>{head}</head><body><h1>储气库投产</h1>{above}{text}{below}"
    );
    let page = Page::parse(html.as_bytes(), Hints::default());
    let context = Context {
        now_ms: CLOCK.now_ms,
        ..Context::default()
    };
    extract(&page, &context).published
}

#[test]
fn printed_day_before_other_zone() {
    let head = r#"<meta property="article:published_time" content="2019-09-06T23:27:39+00:00">"#;
    for (printed, want) in [
        ("", "2019-09-06T23:27:39+00:00"),
        ("<p>2019-09-07 07:27</p>", "2019-09-07T07:27:00+08:00"),
        ("<p>2019年9月7日</p>", "2019-09-07"),
        // Printed too, or another time altogether.
        (
            "<p>2019-09-07</p><p>2019-09-06</p>",
            "2019-09-06T23:27:39+00:00",
        ),
        ("<p>2019-09-02</p>", "2019-09-06T23:27:39+00:00"),
        ("<p>更新：2019-09-07</p>", "2019-09-06T23:27:39+00:00"),
    ] {
        assert_eq!(
            published(head, printed, "").as_deref(),
            Some(want),
            "{printed}"
        );
    }
}

#[test]
fn last_change_as_fallback() {
    let changed = "<p>最后更新：2019-09-07</p>";
    assert_eq!(published("", "", changed).as_deref(), Some("2019-09-07"));
    let told = published("", "<p>2019-09-01</p>", changed);
    assert_eq!(told.as_deref(), Some("2019-09-01"));
    let head = r#"<meta property="article:modified_time" content="2019-09-05">"#;
    assert_eq!(published(head, "", "").as_deref(), Some("2019-09-05"));
}

/// Library users have no time of the fetch; every date was refused then, as lying in the future of 1970.
#[test]
fn whole_dates_without_fetch_time() {
    let clock = Clock {
        now_ms: None,
        ..CLOCK
    };
    for (text, want) in [
        ("2026年5月3日 08:30", Some("2026-05-03T08:30:00+08:00")),
        ("2094-12-31", Some("2094-12-31")),
        ("2095-01-01", None),
        ("99年5月3日", Some("1999-05-03")),
        ("26年5月3日", Some("2026-05-03")),
        ("3小时前", None),
        ("5月3日 08:30", None),
    ] {
        let found = find_dates(text, &clock);
        let found = found.first().map(|f| f.stamp.iso(&clock));
        assert_eq!(found.as_deref(), want, "{text}");
    }
}

#[test]
fn iso_partial_refused() {
    for value in concat!(
        "~2019~2019-9-7~2019-02-30~2019-09-07T~2019-09-07T13~2019-09-07T25:00:00Z~",
        "2019-09-07T13:43:00 CST~2019-09-07T13:43+8~2019-09-07 13：43~2019–09–07",
    )
    .split('~')
    {
        assert_eq!(parse_iso(value), None, "{value}");
    }
}

proptest! {
    #[test]
    fn iso_as_patterns(
        value in "(19|20)[0-9]{2}-[01][0-9]-[0-3][0-9]([T ][0-2][0-9]:[0-6][0-9](:[0-6][0-9](\\.[0-9]{1,6})?)?(Z|[+-][01][0-9]:?[0-9]{2})?)?",
    ) {
        let found = find_dates(&value, &CLOCK);
        let slow = found.iter().find(|f| f.form == DateForm::Full).or(found.first());
        prop_assert_eq!(parse_value(&value, &CLOCK), slow.map(|f| f.stamp));
    }
}

#[test]
fn day_that_only_a_script_states() {
    for (script, want) in [
        (
            "var ct = \"1567835000\";var svr_time = \"1567900000\";",
            Some("2019-09-07T13:43:20+08:00"),
        ),
        ("window.ct='1567835000';", Some("2019-09-07T13:43:20+08:00")),
        (
            "var createTime = '2019-09-07 13:43';",
            Some("2019-09-07T13:43:00+08:00"),
        ),
        (
            "var oriCreateTime = '1567835000';var createTime = '2019-09-07 13:43';",
            Some("2019-09-07T13:43:20+08:00"),
        ),
        (
            "g({\"publishTime\":1567835000000})",
            Some("2019-09-07T13:43:20+08:00"),
        ),
        ("g({pubtime:'2019-09-07'})", Some("2019-09-07")),
        (
            "g({\"publishedAt\":\"2019-09-07T05:43:00Z\"})",
            Some("2019-09-07T05:43:00+00:00"),
        ),
        // Data next to the title of the page.
        (
            "s={\"list\":[{\"title\":\"别的\",\"ctime\":1567900000}],\"a\":{\"title\":\"储气库投产\",\"ctime\":1567835000}}",
            Some("2019-09-07T13:43:20+08:00"),
        ),
        (
            "window.d={\"a\":{\"subject\":\"储气库投产\",\"create_time\":\"2019-09-07 13:43\",\"update_time\":\"2019-09-08 01:00\"}}",
            Some("2019-09-07T13:43:00+08:00"),
        ),
        (
            "s={\"list\":[{\"title\":\"别的题目\",\"ctime\":1567900000}]}",
            None,
        ),
        // Of anything, and not of the page.
        ("var svr_time = \"1567900000\";", None),
        ("users=[{\"createTime\":\"2019-09-07 13:43\"}]", None),
        ("var direct=\"1567835000\"", None),
    ] {
        let found = published(&format!("<script>{script}</script>"), "", "");
        assert_eq!(found.as_deref(), want, "{script}");
    }
}

#[test]
fn abbreviation_with_its_day_as_title() {
    for (html, want) in [
        (
            "<abbr class=published title=2019-09-07T13:43:00+08:00>上周</abbr>",
            Some("2019-09-07T13:43:00+08:00"),
        ),
        (
            "<abbr class='time published' title=20190907T134300Z>last week</abbr>",
            Some("2019-09-07T13:43:00+00:00"),
        ),
        (
            "<abbr class=published title=20190907T1343+0800>七号</abbr>",
            Some("2019-09-07T13:43:00+08:00"),
        ),
        (
            "<abbr class=updated title=2019-09-08>周日</abbr><abbr class=published title=2019-09-07>周六</abbr>",
            Some("2019-09-07"),
        ),
        ("<abbr class=dtstart title=2019-09-07>七号</abbr>", None),
        (
            "<abbr title='2019'>去年</abbr><abbr title='World Oil 2019-09-07'>WO</abbr>",
            None,
        ),
    ] {
        assert_eq!(beside_headline(html, "zh-CN").as_deref(), want, "{html}");
    }
}

#[test]
fn hours_in_korean() {
    for (text, want) in [
        ("2019-09-07 오후 1:43", "2019-09-07T13:43:00+08:00"),
        ("2019.09.07. 오전 9:05", "2019-09-07T09:05:00+08:00"),
        (
            "입력 2019년 9월 7일 오후 1시 5분",
            "2019-09-07T13:05:00+08:00",
        ),
        ("2019. 9. 7. 오전 12:30", "2019-09-07T00:30:00+08:00"),
        ("2019.09.07. 12 기자", "2019-09-07"),
    ] {
        assert_eq!(first(text), want, "{text}");
    }
}

#[test]
fn arabic_digits_beside_the_headline() {
    for (html, want) in [
        ("نشر في ٧ سبتمبر ٢٠١٩", "2019-09-07"),
        ("٧/٩/٢٠١٩", "2019-09-07"),
        ("۲۰۱۹-۰۹-۰۷", "2019-09-07"),
    ] {
        assert_eq!(beside_headline(html, "ar").as_deref(), Some(want), "{html}");
    }
}

#[test]
fn thread_dated_by_first_post() {
    let post = |user: &str, time: &str, text: &str| {
        format!(
            "<div class=post><a class=username href=/user/{user}>{user}</a> <span class=posttime>{time}</span>\
             <div class=post-content><p>{text}</p></div><a href=/reply>回复</a></div>"
        )
    };
    let posts = [
        post(
            "laojingjia",
            "2019-09-01 10:00",
            "请问各位，四千八百米的井下套管，压力曲线一般怎么看？",
        ),
        post(
            "xiaoliu",
            "2019-09-02 11:30",
            "先看入口压力，再看排量，两条曲线对起来就清楚了。",
        ),
        post(
            "anna",
            "2019-09-03 08:15",
            "我们井队上个月刚下过，慢一点，每根都要灌浆。",
        ),
    ];
    let read = |above: &str| {
        let html = format!(
            "<title>怎么下套管 - 石油论坛</title><h1>怎么下套管</h1><p>{above}</p>{}",
            posts.concat()
        );
        let hints = Hints {
            url: taojin_uri::CrawlUri::parse("https://bbs.oil.example/forum/thread-12.html").ok(),
            ..Hints::default()
        };
        let context = Context {
            now_ms: CLOCK.now_ms,
            ..Context::default()
        };
        extract(&Page::parse(html.as_bytes(), hints), &context)
    };
    for (above, day, case) in [
        (
            "最后回复 <time datetime=2019-09-03T08:15:00+08:00>2019-09-03</time>",
            "2019-09-01T10:00",
            "the last reply above",
        ),
        (
            "<time datetime=2019-08-20T09:00:00+08:00>2019-08-20</time>",
            "2019-08-20T09:00",
            "the start of the thread above a post that was edited, or a later page",
        ),
    ] {
        let document = read(above);
        assert_eq!(document.method, "posts", "{case}");
        let published = document.published.unwrap_or_default();
        assert!(published.starts_with(day), "{case}: {published}");
        let openings: Vec<bool> = document.comments.iter().map(|c| c.opening).collect();
        assert_eq!(openings, [true, false, false], "{case}");
    }
}
