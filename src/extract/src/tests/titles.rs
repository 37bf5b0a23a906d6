use std::collections::BTreeSet;

use proptest::prelude::*;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{canonical_combining_class, decompose_canonical};

use crate::fields::likeness::{Forms, find_common_substring, likeness_from, normal_form, plain};
use crate::fields::title::{Evidence, choose};
use crate::fields::title_candidate::{TitleCandidate, TitleOrigin};
use crate::fields::title_extent::Topic;
use crate::fields::title_parts::{Title, TitleParts};

const TITLE: &str = "世界石油大会在京召开-中国石油新闻中心";

fn alike(a: &str, b: &str) -> f64 {
    likeness_from(&normal_form(a), &normal_form(b), usize::MAX, 0.0).unwrap_or(0.0)
}

fn candidate(origin: TitleOrigin, text: &str) -> TitleCandidate<'_> {
    TitleCandidate::new(origin, text)
}

fn chosen(
    title: &str,
    site_name: Option<&str>,
    candidates: Vec<TitleCandidate<'_>>,
) -> Option<String> {
    choose(Evidence {
        title: &Title::parse(title),
        site_name,
        host: Some("www.oilnews.example"),
        topic: Topic::default(),
        candidates,
    })
    .0
}

#[test]
fn likeness_worked_values() {
    let near = |got: f64, want: f64| assert!((got - want).abs() < 5e-4, "{got} is not {want}");
    near(alike("世界石油大会在京召开", TITLE), 10.0 / 19.0);
    near(alike("世界石油大会在京召开", "世界石油大会在京召开"), 1.0);
    near(alike("世界石油大会 在京召开", "世界石油大会在京召开"), 1.0);
    near(alike("中国石油新闻中心", TITLE), 8.0 / 19.0);
    near(alike("相关新闻", TITLE), 2.0 / 19.0);
    let (a, b) = (normal_form("世界石油大会"), normal_form("世界石油展会"));
    near(alike("世界石油大会", "世界石油展会"), 4.0 / 5.0);
    assert_eq!(likeness_from(&a, &b, usize::MAX, 0.8), None);
    assert!(likeness_from(&a, &b, usize::MAX, 0.79).is_some());
    near(alike("", "石油"), 0.0);
    assert_eq!(find_common_substring(&['a', 'b'], &['c']), 0);
}

#[test]
fn normal_form_as_unicode() {
    for c in ('\0'..='\u{ffff}').filter(|c| !c.is_whitespace()) {
        let text = format!("油{c}");
        // A ligature is not plain.
        let whole: Vec<char> = normal_form(&format!("{text}ﬁ"));
        let alone = normal_form(&text);
        assert_eq!(whole.get(..alone.len()), Some(&alone[..]), "{c:?}");
        let nfkc: String = text.nfkc().flat_map(char::to_lowercase).collect();
        assert_eq!(normal_form(&nfkc), alone, "{c:?}");
    }
}

#[test]
fn plain_chars_do_not_compose() {
    let all = || ('\u{80}'..='\u{10ffff}').filter(|c| plain(*c).is_some());
    for c in all() {
        let form = c.nfkc().flat_map(char::to_lowercase);
        assert!(form.eq(plain(c)), "{c:?}");
        assert_eq!(canonical_combining_class(c), 0, "{c:?}");
    }
    let mut joining = BTreeSet::new();
    for c in '\0'..='\u{10ffff}' {
        let mut parts = Vec::new();
        decompose_canonical(c, |part| parts.push(part));
        joining.extend(parts.into_iter().skip(1));
    }
    let plain = |c: &&char| c.is_ascii() || plain(**c).is_some();
    assert_eq!(joining.iter().find(plain), None);
}

#[test]
fn normal_form_chinese_and_quotes() {
    assert_eq!(
        normal_form("“LNG  接收站”  投产 ＡＢ c")
            .iter()
            .collect::<String>(),
        "lng接收站投产ab c"
    );
}

#[test]
fn title_heading_like_part() {
    let candidates = vec![
        candidate(TitleOrigin::H1, "中国石油新闻中心"),
        candidate(TitleOrigin::Heading, "世界石油大会在京召开"),
        candidate(TitleOrigin::Heading, "相关新闻"),
    ];
    assert_eq!(
        chosen(TITLE, None, candidates).as_deref(),
        Some("世界石油大会在京召开")
    );
}

#[test]
fn title_without_heading() {
    assert_eq!(
        chosen(TITLE, None, vec![]).as_deref(),
        Some("世界石油大会在京召开")
    );
    assert_eq!(
        chosen(
            "长庆油田产量创新高_国内油气_油气日报",
            Some("油气日报"),
            vec![]
        )
        .as_deref(),
        Some("长庆油田产量创新高")
    );
    assert_eq!(
        chosen("中国石油新闻中心", None, vec![]).as_deref(),
        Some("中国石油新闻中心")
    );
    assert_eq!(chosen("", None, vec![]), None);
}

#[test]
fn title_without_title_element() {
    let h1 = vec![candidate(TitleOrigin::H1, "塔里木新井投产")];
    assert_eq!(chosen("", None, h1).as_deref(), Some("塔里木新井投产"));
}

#[test]
fn title_hyphen_in_word() {
    let parts = TitleParts::split("5G-A 网络上线 - 通信日报");
    assert_eq!(parts.parts, ["5G-A 网络上线", "通信日报"]);
}

#[test]
fn title_most_origins() {
    let candidates = vec![
        candidate(TitleOrigin::H1, "独家：西气东输四线全线贯通"),
        candidate(TitleOrigin::JsonLd, "西气东输四线全线贯通"),
        candidate(TitleOrigin::Meta, "西气东输四线全线贯通"),
    ];
    assert_eq!(
        chosen("独家：西气东输四线全线贯通_油气日报", None, candidates).as_deref(),
        Some("西气东输四线全线贯通")
    );
}

#[test]
fn title_lone_heading() {
    let candidates = vec![candidate(TitleOrigin::H1, "千方气田的最后一口井")];
    assert_eq!(
        chosen(
            "气田开发动态：千方气田2019年产量数据一览-油气日报",
            None,
            candidates
        )
        .as_deref(),
        Some("千方气田的最后一口井")
    );
}

#[test]
fn title_site_cut_off() {
    let meta = vec![candidate(
        TitleOrigin::Meta,
        "North well comes on stream | Oil News",
    )];
    assert_eq!(
        chosen("North well comes on stream | Oil News", None, meta).as_deref(),
        Some("North well comes on stream")
    );
}

proptest! {
    #[test]
    fn forms_prefilter_covers_likeness(
        title in "([a-e]{1,9}|世界|石油大会|召开|[ -]){1,8}",
        cut in (0usize..12, 0usize..12),
        put in "[a-c石]{1,4}",
    ) {
        let chars: Vec<char> = title.chars().collect();
        let to = chars.len().saturating_sub(cut.1);
        let mut text: Vec<char> = chars.get(cut.0..to).unwrap_or_default().to_vec();
        text.splice(text.len() / 2..text.len() / 2, put.chars());
        let form = normal_form(&text.into_iter().collect::<String>());
        let parts: Vec<&str> = title.split('-').chain([title.as_str()]).collect();
        let slow = parts
            .iter()
            .filter_map(|part| likeness_from(&form, &normal_form(part), usize::MAX, 0.59))
            .max_by(f64::total_cmp);
        // A long text that shares no four characters with any part is not called alike, whatever it is like.
        let shares = |part: &&str| find_common_substring(&form, &normal_form(part)) >= 4;
        let spared = form.len() >= 8 && !parts.iter().any(shares);
        let best = Forms::new(parts.into_iter()).best(&form, 0.59);
        prop_assert!(best == slow || (spared && best.is_none()), "{best:?} {slow:?}");
    }
}

#[test]
fn title_copy_no_outvote() {
    let title = "戒菸口香糖效果有限｜生活萬象｜油氣樂活｜油氣電子報";
    let copied = |heading| {
        chosen(
            title,
            None,
            vec![
                candidate(TitleOrigin::Heading, heading),
                candidate(TitleOrigin::Meta, title),
            ],
        )
    };
    assert_eq!(
        copied("戒菸口香糖效果有限").as_deref(),
        Some("戒菸口香糖效果有限")
    );
    // A shorter part is that of a section.
    assert_eq!(copied("生活萬象").as_deref(), Some(title));
}

#[test]
fn title_heading_repeated_in_head() {
    let story = "储气库扩建工程今天提前三个月投产";
    let found = chosen(
        "油气电视台",
        None,
        vec![
            candidate(TitleOrigin::H1, "油气电视台"),
            candidate(TitleOrigin::Heading, story),
            candidate(TitleOrigin::Meta, story),
        ],
    );
    assert_eq!(found.as_deref(), Some(story));
}

#[test]
fn title_that_the_heading_goes_on_from() {
    let vote = || TitleCandidate {
        above: true,
        distance: 1,
        ..candidate(
            TitleOrigin::Heading,
            "312 有用 井口看客 看过 2014-05-06 很好的一部片子",
        )
    };
    let heading = "地心之钻 Drilling the Core (1998)";
    for title in [
        "地心之钻 (片库)",
        "地心之钻（片库）",
        "地心之钻 - 片库",
        "地心之钻",
    ] {
        let found = chosen(
            title,
            None,
            vec![candidate(TitleOrigin::H1, heading), vote()],
        );
        assert_eq!(found.as_deref(), Some(heading), "{title}");
    }
    // One of several headings is no headline for it.
    let several = vec![
        candidate(TitleOrigin::H1, heading),
        candidate(TitleOrigin::H1, "短评"),
        vote(),
    ];
    assert_ne!(
        chosen("地心之钻 (片库)", None, several).as_deref(),
        Some(heading)
    );
}

#[test]
fn title_of_the_thing_that_structured_data_names() {
    let html = |kind: &str| {
        format!(
            "<title>地心之钻 (片库)</title><script type=application/ld+json>{{\"@type\":\"{kind}\",\"name\":\"地心之钻\"}}</script>\
             <h3>312 有用 井口看客 看过 2014-05-06 很好的一部片子</h3><p>导演：井上一郎</p><p>片长：92 分钟，彩色，有声，全国上映</p>"
        )
    };
    for kind in ["Movie", "Product", "SportsEvent", "http://schema.org/Book"] {
        let found = super::hidden::document(&html(kind)).title;
        assert_eq!(found.as_deref(), Some("地心之钻"), "{kind}");
    }
}

/// The title of a page with this head and these elements before a text.
fn title_of(head: &str, body: &str) -> String {
    let html = format!(
        "{head}{body}<p>记者从现场了解到，经过一百二十天的施工，改造工程日前通过验收，现场设备运行平稳。</p>\
         <p>项目负责人介绍，今年更换阀门七台，检修人员由三班增加到四班，夜间值守改为屏幕巡检。</p>"
    );
    super::hidden::document(&html).title.unwrap_or_default()
}

#[test]
fn title_within_what_is_around_it() {
    let rows = [
        (
            "year of a film",
            "<title>地心之钻 (1998) - 片库</title><meta property=og:type content=video.movie>",
            "<h1>地心之钻 (1998)</h1>",
            "地心之钻",
        ),
        (
            "year of a report",
            "<title>地心之钻 (1998) - 片库</title><meta property=og:type content=article>",
            "<h1>地心之钻 (1998)</h1>",
            "地心之钻 (1998)",
        ),
        (
            "praise of a recipe",
            "<title>The Easiest Well Pancakes</title><script type=application/ld+json>\
             {\"@type\":\"Recipe\",\"name\":\"Well Pancakes\"}</script>",
            "<h1>The Easiest Well Pancakes</h1>",
            "Well Pancakes",
        ),
        (
            "two things have no name of the page",
            "<title>The Easiest Well Pancakes</title><script type=application/ld+json>\
             [{\"@type\":\"Recipe\",\"name\":\"Well Pancakes\"},{\"@type\":\"Recipe\",\"name\":\"Oil Soup\"}]</script>",
            "<h1>The Easiest Well Pancakes</h1>",
            "The Easiest Well Pancakes",
        ),
        (
            "kicker that the head leaves out",
            "<title>Vorwurf am Bohrturm: Neue Quelle liefert Öl - Ölblatt</title>\
             <meta property=og:title content='Neue Quelle liefert Öl'>",
            "<h1>Vorwurf am Bohrturm: Neue Quelle liefert Öl</h1>",
            "Neue Quelle liefert Öl",
        ),
        (
            "host before a colon",
            "<title>Oilnews.com: North well comes on stream</title>",
            "",
            "North well comes on stream",
        ),
        (
            "name and offers",
            "<title>Power Drills: Battery, Cordless and Kits</title>",
            "<h1>Power Drills</h1>",
            "Power Drills",
        ),
        (
            "job of a listing",
            "<title>Find Jobs - Senior Drilling Engineer Jobs in Reno, Nevada - Oil Inc.</title>",
            "<h2>Senior Drilling Engineer</h2>",
            "Senior Drilling Engineer",
        ),
        (
            "section that the title names alone",
            "<title>各馆讯息</title><meta property=og:title content='各馆讯息 - 城市蜕变联展开幕'>\
             <meta name=twitter:title content='各馆讯息'>",
            "<h2>城市蜕变联展开幕</h2>",
            "城市蜕变联展开幕",
        ),
        (
            "section and name as headings",
            "<title>College Search - Akron Drilling Institute - At a Glance</title>",
            "<h1>Akron Drilling Institute</h1><p>Main address</p><h1>College Search</h1>",
            "Akron Drilling Institute",
        ),
        (
            "label in the heading",
            "<title>储气库扩建工程提前投产_油气日报</title>",
            "<h1><i>赞助：</i>储气库扩建工程提前投产</h1>",
            "储气库扩建工程提前投产",
        ),
        (
            "counter in the heading",
            "<title>储气库扩建工程提前投产 - 油气日报</title>",
            "<h1>储气库扩建工程提前投产<span>评论：</span><a href=#c>12</a></h1>",
            "储气库扩建工程提前投产",
        ),
        (
            "words of a heading in elements",
            "<title>Well pudding with rice | Oil Kitchen</title><meta property=og:title content='Well pudding with rice'>",
            "<h1><span>Well pudding</span><span>with rice</span></h1>",
            "Well pudding with rice",
        ),
    ];
    for (case, head, body, wanted) in rows {
        assert_eq!(title_of(head, body), wanted, "{case}");
    }
}

#[test]
fn title_name_right_above_the_text() {
    let name = |distance| TitleCandidate {
        above: true,
        distance,
        ..candidate(TitleOrigin::Heading, "Kincaid Grill")
    };
    let title = "Kincaid Grill Review | Anchorage";
    for (distance, wanted) in [(1, "Kincaid Grill"), (9, "Kincaid Grill Review")] {
        let review = candidate(TitleOrigin::H1, "Kincaid Grill Review");
        let found = chosen(title, None, vec![review, name(distance)]);
        assert_eq!(found.as_deref(), Some(wanted), "{distance} lines above");
    }
}

#[test]
fn title_headline_last_of_three() {
    let candidates = vec![
        candidate(TitleOrigin::H1, "油气网"),
        candidate(TitleOrigin::H1, "洋设备关税下调逆市涨价 国产设备按兵不动"),
    ];
    let found = chosen(
        "油气网--油气财富--洋设备关税下调逆市涨价 国产设备按兵不动",
        None,
        candidates,
    );
    assert_eq!(
        found.as_deref(),
        Some("洋设备关税下调逆市涨价 国产设备按兵不动")
    );
}
