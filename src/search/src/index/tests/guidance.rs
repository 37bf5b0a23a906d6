//! What stands next to hits: counts, related terms, other orders, suggestions, corrections.

use super::*;

on_each_engine!(
    facets_count_whole_result,
    facet_dates_pass_over_strays,
    facets_choose_date_unit,
    sort_both_halves_score,
    first_page_shares_sites,
    related_terms_of_result,
    related_terms_share_sentence,
    suggest_by_prefix_and_pinyin,
    correction_of_unknown_text,
    correction_offers_words_only,
    correction_of_letters,
    correction_of_one_character,
    correction_offers_what_outnumbers,
    suggest_frequent_words,
    suggest_marks_typed_part,
    similar_share_rare_words,
);

const DAY_MS: i64 = 86_400_000;

/// An index of documents: site, day, title, text.
fn index(engine: Engine, documents: &[(&str, Option<&str>, &str, &str)]) -> (TestIndex, Reader) {
    let (index, mut writer, reader) = engine.new_index();
    for (n, (site, published, title, text)) in (1..).zip(documents) {
        let url = format!("https://a.example/{n}");
        let document = Document {
            site: Some((*site).to_owned()),
            published: published.map(str::to_owned),
            ..document(&url, title, text)
        };
        add(&mut writer, n, &document);
    }
    writer.commit(1).unwrap();
    (index, reader)
}

fn facets_count_whole_result(engine: Engine) {
    let (_index, reader) = index(
        engine,
        &[
            ("甲", Some("2026-11-01"), "油价", "油价上涨"),
            ("甲", Some("2026-11-01T23:30:00+08:00"), "油价", "油价下跌"),
            ("乙", Some("2026-11-03"), "油价", "油价持平"),
            ("丙", None, "油价", "油价未定"),
            ("丙", Some("2026-11-02"), "煤价", "煤炭"),
        ],
    );
    let mut query = Query {
        facets: true,
        limit: 1,
        ..Query::plain("油价")
    };
    query.filter.sites = vec!["甲".to_owned()];
    let found = reader.search(&query).unwrap();
    assert_eq!(found.total, 2);
    let facets = found.facets.unwrap();
    let sites: Vec<(&str, u64)> = facets
        .sites
        .iter()
        .map(|s| (s.site.as_str(), s.documents))
        .collect();
    assert_eq!(sites, [("甲", 2), ("丙", 1), ("乙", 1)]);
    query.filter.sites.clear();
    let dates = reader.search(&query).unwrap().facets.unwrap().dates;
    assert_eq!(dates.unit, DateUnit::Day);
    let counts: Vec<(String, u64)> = dates
        .counts
        .iter()
        .map(|c| (c.start.to_string(), c.documents))
        .collect();
    let expected = [("2026-11-01", 2), ("2026-11-02", 0), ("2026-11-03", 1)];
    assert_eq!(counts, expected.map(|(day, n)| (day.to_owned(), n)));
}

fn facet_dates_pass_over_strays(engine: Engine) {
    let mut documents = vec![("甲", Some("1998-02-03"), "油价", "油价上涨")];
    let days: Vec<String> = (1..=12).map(|day| format!("2026-11-{day:02}")).collect();
    documents.extend(
        days.iter()
            .map(|day| ("甲", Some(day.as_str()), "油价", "油价下跌")),
    );
    let (_index, reader) = index(engine, &documents);
    let query = Query {
        facets: true,
        ..Query::plain("油价")
    };
    let dates = reader.search(&query).unwrap().facets.unwrap().dates;
    // Twenty-eight years would be two bars of years.
    assert_eq!((dates.unit, dates.counts.len()), (DateUnit::Day, 11));
    assert_eq!(dates.outside, 2);
}

fn facets_choose_date_unit(engine: Engine) {
    let unit = |first: &str, last: &str| {
        let (_index, reader) = index(
            engine,
            &[
                ("甲", Some(first), "油价", "油价上涨"),
                ("甲", Some(last), "油价", "油价下跌"),
            ],
        );
        let query = Query {
            facets: true,
            ..Query::plain("油价")
        };
        let dates = reader.search(&query).unwrap().facets.unwrap().dates;
        let total: u64 = dates.counts.iter().map(|c| c.documents).sum();
        (dates.unit, dates.counts.len(), total)
    };
    assert_eq!(unit("2026-10-31", "2026-11-01"), (DateUnit::Day, 2, 2));
    assert_eq!(unit("2025-11-30", "2026-11-01"), (DateUnit::Month, 13, 2));
    assert_eq!(unit("2016-12-31", "2026-01-01"), (DateUnit::Year, 11, 2));
    assert_eq!(unit("2026-08-03", "2026-11-01"), (DateUnit::Week, 13, 2));
    // A date that cannot be is no reason for a thousand bars.
    assert_eq!(unit("1066-10-14", "2026-01-01"), (DateUnit::Year, 60, 1));
}

fn sort_both_halves_score(engine: Engine) {
    let (_index, reader) = index(
        engine,
        &[
            ("甲", Some("2026-10-01"), "油价", "油价油价"),
            ("甲", Some("2026-11-05"), "快讯", "今日国内油价小幅波动"),
            ("甲", None, "油价", "油价油价"),
        ],
    );
    let now_ms = parse_published("2026-11-05", 480).unwrap();
    let mut query = Query {
        now_ms,
        ..Query::plain("油价")
    };
    assert_eq!(order(&reader, &query)[2], 2);
    // Behind the place of what holds the query as typed, which age does not touch.
    let behind = |score: f32| score % super::super::rank::plain::TIER;
    let plain = behind(reader.search(&query).unwrap().documents[0].score);
    query.sort = Sort::Both;
    query.half_life_ms = 35 * DAY_MS;
    let found = reader.search(&query).unwrap();
    let score = |n: u64| {
        let found = found.documents.iter();
        let mut found = found.filter(|d| d.stored.fingerprint == n);
        behind(found.next().unwrap().score)
    };
    assert!((score(1) / plain - 0.5).abs() < 0.01);
    assert!((score(3) / plain - 0.0625).abs() < 0.01);
    query.half_life_ms = 5 * DAY_MS;
    assert_eq!(order(&reader, &query), [2, 3, 1]);
}

fn first_page_shares_sites(engine: Engine) {
    let mut documents = vec![("甲", None, "油价", "油价上涨"); 12];
    documents.extend([
        ("乙", None, "油价", "油价上涨了"),
        ("丙", None, "简讯", "煤价上涨，油价不变"),
    ]);
    let (_index, reader) = index(engine, &documents);
    let mut query = Query {
        limit: 20,
        ..Query::plain("油价")
    };
    let plain = order(&reader, &query);
    assert!(plain.iter().position(|&n| n == 13).unwrap() >= 10);
    query.grouped = true;
    let shared = order(&reader, &query);
    assert_eq!(shared[3], 13, "{shared:?}");
    // What is far worse does not move up.
    assert_eq!(shared.last(), Some(&14));
    let (mut a, mut b) = (plain, shared);
    a.sort_unstable();
    b.sort_unstable();
    assert_eq!(a, b);
}

fn related_terms_of_result(engine: Engine) {
    let mut documents = Vec::new();
    for _ in 0..5 {
        documents.push((
            "甲",
            None,
            "页岩气产量",
            "涪陵页岩气田采用水力压裂技术，产量上升",
        ));
        documents.push(("甲", None, "快讯", "国际油价今日产量上升"));
    }
    let (_index, reader) = index(engine, &documents);
    let query = Query {
        facets: true,
        ..Query::plain("页岩气")
    };
    let related = reader.search(&query).unwrap().facets.unwrap().related;
    assert!(related.contains(&"水力压裂".to_owned()), "{related:?}");
    assert!(
        !related.iter().any(|term| term.contains("页岩气")),
        "{related:?}"
    );
    let place = |word: &str| related.iter().position(|term| term == word);
    assert!(
        place("水力压裂") < place("产量").or(Some(99)),
        "{related:?}"
    );
}

fn related_terms_share_sentence(engine: Engine) {
    let text = "涪陵页岩气田采用水平井和水力压裂技术。井场噪声降到45分贝。施工车辆改烧柴油。";
    let mut documents = vec![("甲", None, "页岩气产量", text); 6];
    documents.extend([("甲", None, "快讯", "国际油价今日产量上升"); 20]);
    let (_index, reader) = index(engine, &documents);
    let query = Query {
        facets: true,
        ..Query::plain("页岩气")
    };
    let related = reader.search(&query).unwrap().facets.unwrap().related;
    for about in ["水平井", "水力压裂"] {
        assert!(related.iter().any(|term| term == about), "{related:?}");
    }
    // In all of these documents, and in no sentence about it.
    for other in ["分贝", "柴油", "噪声", "井场", "车辆"] {
        assert!(
            !related.iter().any(|term| term.contains(other)),
            "{related:?}"
        );
    }
}

fn suggest_by_prefix_and_pinyin(engine: Engine) {
    let (_index, reader) = index(
        engine,
        &[
            (
                "甲",
                Some("2026-11-01"),
                "页岩气产量创新高",
                "页岩气与页岩油",
            ),
            ("甲", Some("2026-11-02"), "页岩气产量创新高", "页岩气"),
            ("甲", Some("2026-11-03"), "油价上涨", "页岩气"),
        ],
    );
    let suggested = |typed: &str| -> Vec<(String, u64)> {
        let all = reader.suggest(typed, 8).unwrap();
        all.into_iter().map(|s| (s.text, s.documents)).collect()
    };
    let terms = [("页岩", 3), ("页岩气", 3), ("页岩油", 1)].map(|(t, n)| (t.to_owned(), n));
    for typed in ["yy", "YeYan"] {
        assert_eq!(suggested(typed)[..3], terms, "{typed}");
    }
    // What is typed already is no suggestion.
    for typed in ["页岩", "頁巖"] {
        assert_eq!(suggested(typed)[..2], terms[1..], "{typed}");
    }
    assert_eq!(suggested("页yq")[0].0, "页岩气");
    assert_eq!(suggested("产量").last().unwrap().0, "页岩气产量创新高");
    // One title once, and nothing without documents.
    assert_eq!(suggested("创新高").len(), 1);
    for typed in ["", "  ", "水力压裂", "zzzz", "\"", "*"] {
        assert_eq!(suggested(typed), [], "{typed}");
    }
}

fn correction_of_unknown_text(engine: Engine) {
    let (_index, reader) = index(
        engine,
        &[
            ("甲", None, "页岩气开发", "页岩气产量上升"),
            (
                "甲",
                None,
                "新能源汽车",
                "新能源汽车销量上升，Brent原油下跌",
            ),
            ("甲", None, "快讯", "大庆油田投产"),
        ],
    );
    let corrected = |query: &Query| {
        let found = reader.search(query).unwrap();
        reader.correction(query, &found).unwrap().map(|c| c.text)
    };
    let plain = |text: &str| corrected(&Query::plain(text));
    assert_eq!(plain("叶岩气").as_deref(), Some("页岩气"));
    assert_eq!(
        corrected(&literal("新能原汽车")).as_deref(),
        Some("新能源汽车")
    );
    // Pinyin, in one run, in syllables, and of two terms.
    for spelt in ["yeyanqi", "YeYanQi", "ye yan qi", "ye'yan'qi"] {
        assert_eq!(plain(spelt).as_deref(), Some("页岩气"), "{spelt}");
    }
    assert_eq!(plain("yeyanqi 开发").as_deref(), Some("页岩气 开发"));
    // A phrase whose words stand apart.
    assert_eq!(
        corrected(&literal("页岩气 上升")).as_deref(),
        Some("页岩气 上升")
    );
    for right in [
        "zzzzqqqq",
        "饕餮魑魅",
        "",
        "页岩气开发",
        "销量产量",
        "大庆油田",
    ] {
        assert_eq!(plain(right), None, "{right}");
    }
}

fn correction_offers_words_only(engine: Engine) {
    let (_index, reader) = index(
        engine,
        &[
            (
                "甲",
                None,
                "铁岭燃气集团年报",
                "铁岭燃气集团与铁岭燃气公司的管道",
            ),
            ("乙", None, "铁岭燃气集团公告", "铁岭燃气集团供气"),
            ("乙", None, "燃气", "铁岭燃气集团检修，管道更换"),
        ],
    );
    let correction = |reader: &Reader, typed: &str| {
        let query = Query::plain(typed);
        let found = reader.search(&query).unwrap();
        reader.correction(&query, &found).unwrap()
    };
    // What stands there is a piece of a name.
    assert_eq!(correction(&reader, "天燃气"), None);
    let (_index, reader) = index(
        engine,
        &[
            ("甲", None, "铁岭燃气集团年报", "铁岭燃气集团与铁岭燃气公司"),
            ("乙", None, "铁岭燃气集团公告", "铁岭燃气集团供气"),
            (
                "丙",
                None,
                "管道",
                "王建国说，天然气管道投产，副产品外销，页岩气增产。",
            ),
            ("丙", None, "管道", "王建国说，天然气管道检修。"),
        ],
    );
    let sure = |text: &str| {
        let (text, is_sure) = (text.to_owned(), true);
        Some(Correction { text, is_sure })
    };
    for (typed, meant) in [
        ("天燃气", "天然气"),
        ("天燃气 投产", "天然气 投产"),
        ("天燃气管道", "天然气管道"),
        ("tianranqi", "天然气"),
        ("guandao", "管道"),
        ("tian ran qi", "天然气"),
        ("tianranqiguandao", "天然气管道"),
        ("付产品", "副产品"),
        ("叶岩气", "页岩气"),
    ] {
        assert_eq!(correction(&reader, typed), sure(meant), "{typed}");
    }
    // A person is not another one, and nobody is a mineral without being asked.
    for name in ["王健国", "王建军", "王建中"] {
        assert_eq!(correction(&reader, name), None, "{name}");
    }
    let offered = correction(&reader, "叶岩琪").unwrap();
    assert_eq!((offered.text.as_str(), offered.is_sure), ("页岩气", false));
}

fn correction_offers_what_outnumbers(engine: Engine) {
    let mut documents = vec![("甲", None, "简讯", "天然气管道投产，王健到会"); 30];
    documents.push(("甲", None, "简讯", "天燃气补贴，望见"));
    let (_index, reader) = index(engine, &documents);
    let corrected = |typed: &str| {
        let query = Query::plain(typed);
        let found = reader.search(&query).unwrap();
        assert!(found.total > 0, "{typed}");
        let correction = reader.correction(&query, &found).unwrap();
        correction.map(|correction| correction.text)
    };
    assert_eq!(corrected("天燃气").as_deref(), Some("天然气"));
    for right in ["天然气", "望见", "王健", "补贴", "燃气"] {
        assert_eq!(corrected(right), None, "{right}");
    }
}

fn suggest_frequent_words(engine: Engine) {
    let (_index, reader) = index(
        engine,
        &[
            ("甲", None, "简讯", "天然气管道投产"),
            ("甲", None, "简讯", "管道巡检，天然气增产"),
            ("甲", None, "简讯", "管理办法"),
        ],
    );
    let suggested = |typed: &str| -> Vec<(String, u64)> {
        let all = reader.suggest(typed, 8).unwrap();
        all.into_iter().map(|s| (s.text, s.documents)).collect()
    };
    for typed in ["tianran", "tianranqi", "天然"] {
        assert!(
            suggested(typed).contains(&("天然气".to_owned(), 2)),
            "{typed}"
        );
    }
    assert_eq!(suggested("guand")[0], ("管道".to_owned(), 2));
    assert!(suggested("管").contains(&("管理".to_owned(), 1)));
}

#[test]
fn correction_stays_in_sentence() {
    use crate::analyze::alike;
    assert!(alike("天然气田开发", "大然气田开发"));
    for other in ["师、气田开发", "师\n气田开发", "师 气田开发"] {
        assert!(!alike(other, "叶岩气田开发"), "{other:?}");
    }
    assert!(
        alike("co2-驱油", "co2-驱尤"),
        "what was typed may stand there"
    );
}

fn suggest_marks_typed_part(engine: Engine) {
    let (_index, reader) = index(
        engine,
        &[
            (
                "甲",
                Some("2026-11-01"),
                "頁岩氣與 LNG 产量",
                "页岩气与页岩油",
            ),
            ("甲", Some("2026-11-02"), "油价上涨", "页岩气"),
        ],
    );
    let marked = |typed: &str, text: &str| -> Vec<String> {
        let all = reader.suggest(typed, 8).unwrap();
        let found = all.iter().find(|s| s.text == text);
        let found = found.unwrap_or_else(|| panic!("{typed} suggests {all:?}"));
        let marks = found.marks.iter();
        marks
            .map(|[from, to]| found.text.chars().take(*to).skip(*from).collect())
            .collect()
    };
    assert_eq!(marked("页岩", "页岩气"), ["页岩"]);
    assert_eq!(marked("yey", "页岩气"), ["页岩"], "half a syllable");
    assert_eq!(marked("yeyanq", "页岩气"), ["页岩气"]);
    assert_eq!(marked("yy", "页岩气"), ["页岩"]);
    assert_eq!(marked("页yq", "页岩气"), ["页岩气"]);
    // Whatever the spelling of the title.
    assert_eq!(marked("页岩", "頁岩氣與 LNG 产量"), ["頁岩"]);
    assert_eq!(marked("lng", "頁岩氣與 LNG 产量"), ["LNG"]);
}

fn similar_share_rare_words(engine: Engine) {
    let common = "记者今天获悉，公司有关负责人表示，项目进展顺利。";
    let text = |about: &str| format!("{about}{common}");
    let documents = [
        (
            "甲",
            None,
            "渤海潜山钻井获得高产",
            text("渤海潜山的深井完钻，潜山储层含油。"),
        ),
        (
            "乙",
            None,
            "渤海潜山勘探又有新发现",
            text("渤海的潜山里又打出一口深井。"),
        ),
        (
            "甲",
            None,
            "加油站调整价格",
            text("汽油价格下调，司机少花钱。"),
        ),
        (
            "乙",
            None,
            "汽油价格再次下调",
            text("各地加油站今晚调整价格。"),
        ),
        ("乙", None, "管道冬季巡检", text("巡检队在雪地里走完全程。")),
    ];
    let rows: Vec<(&str, Option<&str>, &str, &str)> = documents
        .iter()
        .map(|(site, day, title, text)| (*site, *day, *title, text.as_str()))
        .collect();
    let (_index, reader) = index(engine, &rows);
    let similar = |title: &str| -> Vec<String> {
        let of = reader.search(&literal(title)).unwrap().documents.remove(0);
        let found = reader.similar(&of.stored, 5).unwrap();
        let titles = found.into_iter().map(|d| d.stored.document.title);
        titles.flatten().collect()
    };
    assert_eq!(similar("渤海潜山钻井获得高产"), ["渤海潜山勘探又有新发现"]);
    assert_eq!(similar("加油站调整价格"), ["汽油价格再次下调"]);
    // What all documents say makes none of them related.
    assert_eq!(similar("管道冬季巡检"), Vec::<String>::new());
}

fn correction_of_letters(engine: Engine) {
    let (_index, reader) = index(
        engine,
        &[
            (
                "甲",
                None,
                "页岩气简讯",
                "页岩气井投产, Halliburton supplied the pumps",
            ),
            (
                "乙",
                None,
                "简讯",
                "Halliburton and Saipem signed a contract",
            ),
        ],
    );
    let corrected = |typed: &str| {
        let query = Query::plain(typed);
        let found = reader.search(&query).unwrap();
        let correction = reader.correction(&query, &found).unwrap();
        correction.map(|c| (c.text, c.is_sure))
    };
    for (typed, meant, case) in [
        ("Haliburton", Some("halliburton"), "a letter is missing"),
        (
            "Halilburtn",
            Some("halliburton"),
            "two edits of a long word",
        ),
        ("Siapem", Some("saipem"), "two letters have changed places"),
        (
            "contrakt saipem",
            Some("contract saipem"),
            "one of two words",
        ),
        ("saip", None, "too short"),
        ("saipem", None, "a document has it"),
        ("yyq", Some("页岩气"), "first letters"),
        ("yeyanq", Some("页岩气"), "the beginning of syllables"),
    ] {
        let meant = meant.map(|text| (text.to_owned(), true));
        assert_eq!(corrected(typed), meant, "{case}");
        // Whoever types it is shown what a search for it takes.
        if typed.starts_with('y') {
            let suggested = reader.suggest(typed, 5).unwrap();
            assert_eq!(
                Some(&suggested[0].text),
                meant.as_ref().map(|(text, _)| text)
            );
        }
    }
}

fn correction_of_one_character(engine: Engine) {
    let (_index, reader) = index(
        engine,
        &[
            ("甲", None, "简讯", "东江输水隧洞贯通"),
            ("乙", None, "简讯", "北岸码头启用"),
        ],
    );
    let corrected = |typed: &str| {
        let query = Query::plain(typed);
        let found = reader.search(&query).unwrap();
        let correction = reader.correction(&query, &found).unwrap();
        correction.map(|c| (c.text, c.is_sure))
    };
    let offered = |text: &str| Some((text.to_owned(), false));
    assert_eq!(corrected("输水坠洞贯"), offered("输水隧洞贯"));
    assert_eq!(corrected("东江输水隧沟"), offered("东江输水隧洞"));
    // Two others of five may be something else.
    assert_eq!(corrected("输油坠洞贯"), None);
}
