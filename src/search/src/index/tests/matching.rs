//! What a hit is: what must be first, what counts, and what stands apart. Queries go through the query language.

use super::*;
use crate::query::dates::Calendar;
use crate::query::parse;

on_each_engine!(
    rank_exact_text_first,
    correction_keeps_numbers,
    rank_drawn_strings_first,
    total_excludes_weaker_hits,
    question_matches_other_words,
    match_mode_decides_hits,
    operators_select_hits,
    near_itself_is_twice,
    has_site_of_unknown,
    reasons_explain_hits,
    numbers_match_whole,
    days_match_in_each_form,
    spellings_match_each_other,
);

const CALENDAR: Calendar = Calendar {
    utc_offset_minutes: 480,
    now_ms: 0,
};

fn asked(text: &str) -> Query {
    Query {
        limit: 100,
        ..parse(text, &CALENDAR).query
    }
}

/// An index of titles and texts; the first has fingerprint 1.
fn index(engine: Engine, texts: &[(&str, &str)]) -> (TestIndex, Reader) {
    let (index, mut writer, reader) = engine.new_index();
    for (at, (title, text)) in (1..).zip(texts) {
        let url = format!("https://a.example/{at}");
        add(&mut writer, at, &document(&url, title, text));
    }
    writer.commit(texts.len() as u64).unwrap();
    writer.close().unwrap();
    (index, reader)
}

/// Hits in their order, and the weaker ones.
fn found(reader: &Reader, query: &Query) -> (Vec<u64>, Vec<u64>) {
    let found = reader.search(query).unwrap();
    let all = |documents: &[FoundDocument]| -> Vec<u64> {
        let all = documents.iter();
        all.map(|document| document.stored.fingerprint).collect()
    };
    let weaker = found.weaker.as_ref().map(|weaker| all(&weaker.documents));
    let hits = all(&found.documents);
    assert_eq!(found.total, hits.len());
    (hits, weaker.unwrap_or_default())
}

fn sorted(mut all: Vec<u64>) -> Vec<u64> {
    all.sort_unstable();
    all
}

const REPORTS: [(&str, &str); 9] = [
    ("袁霞当选", "袁霞浩然正气，袁霞说，袁家的人浩然。"),
    (
        "安全生产会议",
        "会议由袁浩然主持，各单位参加，通报了上月的生产情况和下月的安排。",
    ),
    (
        "钻井快讯",
        "全年完钻16口井，另有26口在钻，口口高产。6月的口径不变。",
    ),
    (
        "钻井月报",
        "本月在渤海的区块完钻6口井，均获得工业油流，比上月多，各项指标良好。",
    ),
    (
        "发布会",
        "11月8日举行发布会，18日闭幕，11月底公布结果，11月、18日再议。",
    ),
    (
        "培训通知",
        "定于2023年11月18日在北京举办培训，请各单位派人参加，食宿自理。",
    ),
    ("简报第7期", "第177期、第7期、77个项目，期刊。第7期77号。"),
    ("简报", "国家能源局安全生产简报第77期：管道巡检。"),
    ("项目清单", "共有11个、21个和1口，个个落实，一个也不少。"),
];

fn rank_exact_text_first(engine: Engine) {
    let (_index, reader) = index(engine, &REPORTS);
    for (typed, first) in [
        ("袁浩然", 2),
        ("6口", 4),
        ("11月18日", 6),
        ("第77期", 8),
        ("1口", 9),
        ("11个", 9),
    ] {
        let (hits, _) = found(&reader, &asked(typed));
        assert_eq!(hits.first(), Some(&first), "{typed}: {hits:?}");
        assert!(reader.search(&asked(typed)).unwrap().total <= 2, "{typed}");
    }
    // In the title before the text, however often the text says it.
    let (_index, reader) = index(
        engine,
        &[
            ("油价", "天然气天然气天然气天然气，天然气。"),
            ("一篇题目很长的报道：天然气与其他能源在冬季的供应", "内容"),
            ("气", "天然的气"),
        ],
    );
    assert_eq!(found(&reader, &asked("天然气")), (vec![2, 1], vec![3]));
}

fn correction_keeps_numbers(engine: Engine) {
    let (_index, reader) = index(
        engine,
        &[
            ("公告", "关于第77号区块的公告，第77号。"),
            ("简报", "管道巡检简报第76期，第76期。"),
        ],
    );
    for typed in ["第77期", "第78期", "第78号"] {
        let query = asked(typed);
        let found = reader.search(&query).unwrap();
        assert_eq!(found.total, 0, "{typed}");
        assert_eq!(reader.correction(&query, &found).unwrap(), None, "{typed}");
    }
}

/// 200 strings of 1 to 12 characters, drawn from the documents: names, numbers, dates, codes and terms as they come.
fn rank_drawn_strings_first(engine: Engine) {
    let parts = [
        "渤海",
        "6口",
        "井",
        "袁浩然",
        "11月18日",
        "LNG",
        "CO2驱油",
        "第77期",
        "气",
        "3.5%",
        "SU7",
        "增长",
        "国能发〔2026〕5号",
        "主任",
        "的",
        "页岩气",
        "1个",
        "16口",
        "11月8日",
        "袁霞",
        "第7期",
        "增产",
        "海油",
    ];
    let mut next = drawing();
    let texts: Vec<String> = (0..120)
        .map(|_| (0..12).map(|_| parts[next(parts.len())]).collect())
        .collect();
    let documents: Vec<(&str, &str)> = texts.iter().map(|text| ("简报", text.as_str())).collect();
    let (_index, reader) = index(engine, &documents);
    let (mut drawn, mut right) = (0, 0);
    while drawn < 200 {
        let chars: Vec<char> = texts[next(texts.len())].chars().collect();
        let from = next(chars.len());
        let until = (from + 1 + next(12)).min(chars.len());
        // A run of letters or digits matches as a whole, so none is cut.
        let is_run = |c: &char| c.is_ascii_alphanumeric() || *c == '.';
        let run = |at: usize| chars.get(at).is_some_and(is_run);
        let cut = |at: usize| at > 0 && run(at - 1) && run(at);
        let typed: String = chars[from..until].iter().collect();
        let odd = |c: char| matches!(c, '〔' | '〕' | '.' | '%' | '的');
        if cut(from) || cut(until) || typed.contains(odd) {
            continue;
        }
        drawn += 1;
        let holds = reader
            .search(&Query {
                limit: 100,
                ..literal(&typed)
            })
            .unwrap()
            .total;
        let hits = reader.search(&asked(&typed)).unwrap().documents;
        let typed = normalize(&typed).into_owned();
        let first = hits.iter().take(holds);
        let first = first.filter(|hit| normalize(&hit.stored.document.text).contains(&typed));
        right += usize::from(holds > 0 && first.count() == holds.min(hits.len()));
    }
    assert!(right >= 198, "{right} of 200");
}

fn total_excludes_weaker_hits(engine: Engine) {
    let title = "国家能源局关于加强电力安全生产监督管理工作的通知";
    let (_index, reader) = index(
        engine,
        &[
            (title, "各单位：现将有关事项通知如下。"),
            ("关于印发某办法的通知", "现将办法印发给你们，请遵照执行。"),
            ("电网投资增长", "前十个月电网投资增长，国家能源局加强管理。"),
            ("油价", "国际油价上涨。"),
            ("转发", "国家能源局要求加强电力安全生产工作的监督和管理。"),
        ],
    );
    let (hits, weaker) = found(&reader, &asked(title));
    assert_eq!(hits[0], 1);
    assert!(hits.iter().all(|hit| [1, 5].contains(hit)), "{hits:?}");
    // A word that most notices have is no part worth showing.
    assert_eq!(weaker, [3]);
    // Nor is it in counts, nor in what followers and exports get.
    let counted = reader
        .search(&Query {
            facets: true,
            ..asked(title)
        })
        .unwrap();
    let sites: u64 = counted
        .facets
        .unwrap()
        .sites
        .iter()
        .map(|s| s.documents)
        .sum();
    assert_eq!(sites, hits.len() as u64);
    let mut scanned = Vec::new();
    let each = |stored: StoredDocument| {
        scanned.push(stored.fingerprint);
        true
    };
    reader
        .scan(&asked(title), Watermark::default(), each)
        .unwrap();
    assert_eq!(sorted(scanned), sorted(hits));
}

fn question_matches_other_words(engine: Engine) {
    let (_index, reader) = index(
        engine,
        &[
            (
                "羊城新区",
                "羊城新区的东边有邮政大楼，西边有气象台，都是高层建筑。",
            ),
            ("通知", "四周的建筑已经拆除。"),
            ("其他", "四周没有人。"),
        ],
    );
    let asked_for = |typed: &str| found(&reader, &asked(typed));
    assert_eq!(asked_for("羊城四周有什么建筑？").0, [1, 2]);
    // The same as a list of words: all of them.
    assert_eq!(asked_for("羊城 四周 建筑").0, [0; 0]);
}

fn match_mode_decides_hits(engine: Engine) {
    let (_index, reader) = index(
        engine,
        &[
            ("一", "电网投资和风电装机都在增长"),
            ("二", "电网投资"),
            ("三", "风电与光伏"),
            ("四", "煤炭"),
        ],
    );
    let matching = |matching| {
        let query = Query {
            matching,
            ..asked("电网 风电")
        };
        let (hits, weaker) = found(&reader, &query);
        (sorted(hits), sorted(weaker))
    };
    assert_eq!(matching(Match::Auto), (vec![1], vec![2, 3]));
    assert_eq!(matching(Match::All), (vec![1], vec![2, 3]));
    assert_eq!(matching(Match::Any), (vec![1, 2, 3], vec![]));
    // A page that is full, or one behind the last hit, names none.
    let full = Query {
        limit: 1,
        ..asked("电网 风电")
    };
    assert_eq!(reader.search(&full).unwrap().weaker, None);
    let behind = Query {
        offset: 5,
        ..asked("电网 风电")
    };
    assert_eq!(reader.search(&behind).unwrap().weaker, None);
}

fn operators_select_hits(engine: Engine) {
    let (_index, reader) = index(
        engine,
        &[
            ("电网建设", "张掖的电网，SU7 发布，油价三日内上涨"),
            (
                "电网规划",
                "兰州的电网，LNG 进口，油价平稳，过了很多很多天以后终于有一次上涨",
            ),
            ("张掖", "风电，CNG 与 LNG，SUV，上涨的是油价"),
            ("其他", "管道，产量"),
        ],
    );
    for (typed, expected) in [
        ("电网 NOT 张掖", vec![2]),
        ("电网 -张掖", vec![2]),
        ("电网 AND 张掖", vec![1]),
        ("+张掖 风电", vec![3]),
        ("张掖 !风电", vec![1]),
        ("LNG AND (电网 OR 风电)", vec![2, 3]),
        ("(电网 AND 兰州) OR (风电 AND 张掖)", vec![2, 3]),
        ("title:(电网 OR 其他)", vec![1, 2, 4]),
        ("标题：（电网 与 规划）", vec![2]),
        ("-(电网 OR 张掖)", vec![4]),
        ("a OR NOT 张掖", vec![2, 4]),
        ("SU*", vec![1, 3]),
        ("SU7*", vec![1]),
        ("电网 NOT \"这里没有的词\"", vec![1, 2]),
        ("油价 NEAR/3 上涨", vec![1, 3]),
        ("上涨 NEAR/2 油价", vec![3]),
        ("油价 NEAR/60 上涨", vec![1, 2, 3]),
        ("产量 NEAR/5 上涨", vec![]),
    ] {
        let (hits, _) = found(&reader, &asked(typed));
        assert_eq!(sorted(hits), expected, "{typed}");
    }
}

fn near_itself_is_twice(engine: Engine) {
    let (_index, reader) = index(
        engine,
        &[
            ("一", "储气库注采，储气库注采。LNG 与 LNG。"),
            ("二", "储气库注采很久很久很久以后又有了储气库注采，LNG。"),
            ("三", "储气库注采"),
        ],
    );
    for (typed, expected) in [
        ("储气库注采 NEAR/3 储气库注采", vec![1]),
        ("储气库注采 NEAR/30 储气库注采", vec![1, 2]),
        ("LNG NEAR/3 LNG", vec![1]),
    ] {
        let (hits, _) = found(&reader, &asked(typed));
        assert_eq!(sorted(hits), expected, "{typed}");
    }
}

fn has_site_of_unknown(engine: Engine) {
    let (_index, reader) = index(engine, &[("一", "油价")]);
    assert!(
        reader.has_site("a.example").unwrap() && reader.has_site("https://a.example/x").unwrap()
    );
    assert!(!reader.has_site("b.example").unwrap() && !reader.has_site(" ").unwrap());
}

fn reasons_explain_hits(engine: Engine) {
    let (_index, reader) = index(
        engine,
        &[
            ("页岩气开发", "页岩气开发提速，页岩气增产"),
            ("二", "页岩气"),
        ],
    );
    let query = asked("页岩气开发");
    let dictionary = reader.analyzer().dictionary();
    let said = |found: &FoundDocument| -> Vec<String> {
        let all = reasons(&query, &dictionary, found);
        all.iter().map(ToString::to_string).collect()
    };
    let answer = reader.search(&query).unwrap();
    assert_eq!(
        said(&answer.documents[0]),
        [
            "holds the query as typed, in the title and the text",
            "has all words of the query",
            "页岩气: 2 times in the text, and in the title",
            "开发: 1 times in the text, and in the title",
        ]
    );
    let weaker = answer.weaker.unwrap();
    assert_eq!(weaker.total, 1);
    assert_eq!(
        said(&weaker.documents[0]),
        ["页岩气: 1 times in the text", "开发: missing"]
    );
}

fn numbers_match_whole(engine: Engine) {
    let (_index, reader) = index(
        engine,
        &[
            ("一", "产量同比增长10.3%，好于预期。"),
            ("二", "产量同比增长10%，其中3个项目投产。"),
            ("三", "产量同比下降40.28%。"),
            ("四", "占比达到28 %，创新高。"),
            ("五", "NY-3097井获得高产。"),
            ("六", "NY公司的3097号文件提到一口井。"),
            ("七", "锦州9-1油田投产。"),
            ("八", "9月1日，油田投产。"),
            ("九", "处理能力500 万吨，比前年提高，含7 口井。"),
            ("十", "投资500万元，年产万吨。"),
            ("十一", "NY-13井开钻，井号登记完毕。"),
            ("十二", "登记井号NY-3，下周开钻。"),
        ],
    );
    for (typed, expected) in [
        ("10.3 %", vec![1]),
        ("10.3%", vec![1]),
        ("10.3", vec![1]),
        ("10", vec![2]),
        ("28 %", vec![4]),
        ("28%", vec![4]),
        ("28", vec![4]),
        ("40.28%", vec![3]),
        ("\"28\"", vec![4]),
        ("NY-3097", vec![5]),
        ("9-1油田", vec![7]),
        ("500万吨", vec![9]),
        ("500万元", vec![10]),
        ("7口", vec![9]),
        ("7元", vec![]),
        ("井号:NY-3", vec![12]),
    ] {
        let (hits, _) = found(&reader, &asked(typed));
        assert_eq!(sorted(hits), expected, "{typed}");
    }
}

fn days_match_in_each_form(engine: Engine) {
    let (_index, mut writer, reader) = engine.new_index();
    for (n, published, text) in [
        (1, None, "会议于2026年11月10日召开。"),
        (2, None, "会议日期：2026-11-10，地点待定。"),
        (3, Some("2026-11-12"), "会议于11 月 10 日召开。"),
        (4, Some("2025-11-12"), "会议于11月10日召开。"),
        (5, Some("2026-11-12"), "会议于2019年11月10日召开。"),
        (6, None, "2026年的会议在11楼，10日召开。"),
    ] {
        let document = Document {
            published: published.map(str::to_owned),
            ..document("https://a.example/", "快讯", text)
        };
        add(&mut writer, n, &document);
    }
    writer.commit(6).unwrap();
    for (typed, expected) in [
        ("2026年11月10日", vec![1, 2, 3]),
        ("2026-11-10", vec![1, 2, 3]),
        ("2026/11/10 会议", vec![1, 2, 3]),
        ("11月10日", vec![1, 2, 3, 4, 5]),
    ] {
        let (hits, _) = found(&reader, &asked(typed));
        assert_eq!(sorted(hits), expected, "{typed}");
    }
    let query = asked("2026年11月10日 会议");
    let hits = reader.search(&query).unwrap().documents;
    let dictionary = reader.analyzer().dictionary();
    let second = hits.iter().find(|hit| hit.stored.fingerprint == 2).unwrap();
    let said = reasons(&query, &dictionary, second);
    assert_eq!(said[0], Reason::AllWords);
}

/// Dashes, separators of thousands, blanks and emoji as people and programs write them.
fn spellings_match_each_other(engine: Engine) {
    let texts = [
        ("标准一", "依据 QB/T 5521—2016 检验"),
        ("标准二", "依据ＱＢ２７６０－２０１４检验"),
        ("规划", "2031—2035年建设"),
        ("标价", "报价8,350.40万元"),
        ("别的标价", "报价83,504万元"),
        ("产量", "年产7 420 000吨"),
        ("户数", "搬迁４，７１６户"),
        ("排版", "整条输 气管 线今日贯通"),
        ("群聊", "收到👍🏽，开工🚀"),
        ("名单", "住在301,302,303室"),
    ];
    let (_index, reader) = index(engine, &texts);
    for (query, hits) in [
        ("QB/T 5521-2016", vec![1]),
        ("QB/T5521-2016", vec![1]),
        ("\"QB/T5521–2016\"", vec![1]),
        ("qb/t 5521 — 2016", vec![1]),
        ("QB 2760-2014", vec![2]),
        ("2031-2035年", vec![3]),
        ("2031～2035年", vec![3]),
        ("8350.4", vec![4]),
        ("8350.40万元", vec![4]),
        ("8,350.4", vec![4]),
        ("83504", vec![5]),
        ("7420000吨", vec![6]),
        ("7,420,000", vec![6]),
        ("4716户", vec![7]),
        ("输气管线", vec![8]),
        ("\"输气管线今日\"", vec![8]),
        ("\"输 气 管 线\"", vec![8]),
        ("👍", vec![9]),
        ("🚀", vec![9]),
        ("👎", vec![]),
        ("302", vec![10]),
        ("716", vec![]),
    ] {
        assert_eq!(sorted(found(&reader, &asked(query)).0), hits, "{query}");
    }
}
