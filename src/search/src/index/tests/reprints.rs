//! Reprints: what is one, what is not, and that nothing of it is forgotten.

use proptest::prelude::*;

use super::*;
use crate::index::duplicates::reprints::Sketch;

on_each_engine!(
    reprints_of_edited_text,
    reprints_exclude_forms,
    reprints_survive_restart,
    reprints_form_no_chain,
    reprints_show_best_hit,
    groups_ignore_order_of_indexing,
);

/// In whatever order changes are indexed, the groups are those of the log.
fn groups_ignore_order_of_indexing(engine: Engine) {
    let (one, other) = (article(0..7), article(7..12));
    let texts: Vec<String> = [
        one.clone(),
        article([10, 11, 5, 2]),
        format!("本报讯 {one}"),
        other.clone(),
        one.replace('国', "國"),
        format!("{other} 责任编辑：王某"),
        format!("{one} 责任编辑：李某"),
    ]
    .into();
    let documents: Vec<StoredDocument> = (1..)
        .zip(&texts)
        .map(|(n, text)| StoredDocument {
            fingerprint: n,
            seq: n,
            fetched_ms: 1,
            changed_ms: 1,
            document: document(&format!("https://s{n}.example/{n}"), "页岩气", text),
        })
        .collect();
    let groups_by = |order: &[usize]| {
        let (_index, mut writer, reader) = engine.new_index();
        for at in order {
            writer.upsert(documents[*at].clone()).unwrap();
        }
        writer.commit(7).unwrap();
        let groups = (1..=7).map(|n| reader.group(n).unwrap());
        groups.collect::<Vec<Option<u64>>>()
    };
    let expected = groups_by(&[0, 1, 2, 3, 4, 5, 6]);
    assert!(expected[0] == expected[2] && expected[0] == expected[4]);
    assert!(expected[3] == expected[5] && expected[0] != expected[3]);
    for order in [
        [6, 5, 4, 3, 2, 1, 0],
        [4, 2, 6, 0, 1, 5, 3],
        [5, 0, 3, 6, 1, 2, 4],
        [2, 3, 4, 5, 6, 0, 1],
    ] {
        assert_eq!(groups_by(&order), expected, "{order:?}");
    }
}

/// Sentences that share no run of five letters with each other.
const SENTENCES: [&str; 12] = [
    "涪陵页岩气田今年以来累计生产天然气超过六十亿立方米。",
    "气田开发公司在焦石坝区块部署了三十口加密井。",
    "水力压裂所用的支撑剂全部实现了国产替代。",
    "工程师介绍说井下微地震监测能看清裂缝走向。",
    "返排液经过处理以后重新用于下一段施工。",
    "附近的村庄去年冬天已经用上了管道燃气。",
    "专家认为深层资源的规模动用仍需降低成本。",
    "国家能源局将继续完善非常规油气的补贴办法。",
    "同期川渝地区日供气量创下了新的纪录。",
    "下游的化肥企业签订了为期十年的购销合同。",
    "环保部门对平台噪声和甲烷逸散进行了抽查。",
    "预计到年底还会有五座集气站建成投产。",
];

fn article(sentences: impl IntoIterator<Item = usize>) -> String {
    sentences.into_iter().map(|at| SENTENCES[at]).collect()
}

/// Writes texts under their numbers and gives their groups.
fn groups(engine: Engine, texts: &[&str]) -> Vec<Option<u64>> {
    let (_index, reader) = index(engine, texts);
    let all = (1..=texts.len() as u64).map(|n| reader.group(n).unwrap());
    all.collect()
}

fn index(engine: Engine, texts: &[&str]) -> (TestIndex, Reader) {
    let (index, mut writer, reader) = engine.new_index();
    for (n, text) in (1..).zip(texts) {
        let url = format!("https://s{n}.example/{n}");
        let document = Document {
            published: Some(format!("2026-11-{:02}", 20 - n)),
            ..document(&url, "页岩气", text)
        };
        add(&mut writer, n, &document);
    }
    writer.commit(1).unwrap();
    writer.close().unwrap();
    (index, reader)
}

fn reprints_of_edited_text(engine: Engine) {
    let whole = article(0..12);
    let shorter = format!("本报讯 {}", article([0, 1, 2, 4, 5, 6, 8, 9, 10, 11]));
    let respelt: String = whole
        .chars()
        .enumerate()
        .map(|(at, c)| if at % 7 == 3 { '某' } else { c })
        .collect();
    let letters: Vec<char> = respelt.chars().collect();
    let (first, second) = letters.split_at(letters.len() / 2);
    let moved: String = second.iter().chain(first).collect();
    let traditional = whole
        .replace('气', "氣")
        .replace('国', "國")
        .replace('产', "產");
    let other = format!(
        "{}而在鄂尔多斯盆地，致密砂岩储层的水平井也在加快部署，长庆油田的科研人员连续攻关，\
         终于摸清了含水上升的规律。业内人士普遍看好后市，认为四季度需求仍有增长空间。",
        article([0, 8, 11])
    );
    let found = groups(
        engine,
        &[
            &whole,
            &shorter,
            &respelt,
            &moved,
            &traditional,
            &other,
            "页岩气增产",
        ],
    );
    assert!(found[0].is_some());
    assert_eq!(found[1..5], [found[0]; 4]);
    assert!(found[5].is_some());
    assert_ne!(found[5], found[0]);
    assert_eq!(found[6], None, "too short to tell");
}

fn reprints_exclude_forms(engine: Engine) {
    let report = |numbers: [u32; 8]| {
        let [a, b, c, d, e, f, g, h] = numbers;
        format!(
            "截至当日收盘，该股报收于{a}元，换手率{b}，成交量{c}手，成交额{d}万元。资金流向数据方面，\
             主力资金净流入{e}万元，游资资金净流出{f}万元，散户资金净流入{g}万元，融资余额{h}万元，\
             更多行情请关注本站，投资有风险，入市需谨慎，本文不构成任何建议。"
        )
    };
    let one = report([3110, 182, 4375, 13558, 4834, 7953, 3119, 90210]);
    let two = report([775, 102, 11060, 85276, 32534, 72482, 39939, 10417]);
    let reprint = one.replace("本文不构成任何建议", "转载请注明出处");
    let found = groups(engine, &[&one, &two, &reprint]);
    assert_eq!(found[0], found[2]);
    assert_ne!(found[0], found[1]);
}

fn reprints_survive_restart(engine: Engine) {
    let index = engine.new_place();
    let whole = document("https://a.example/1", "页岩气", &article(0..12));
    let copy = document("https://b.example/2", "页岩气", &article(1..12));
    for n in [1, 2] {
        // Each in a process of its own.
        let mut writer = index.open_writer(&ANALYZER);
        add(&mut writer, n, if n == 1 { &whole } else { &copy });
        writer.commit(n).unwrap();
        writer.close().unwrap();
    }
    let both = || {
        let reader = index.open_reader(&ANALYZER);
        [1, 2].map(|n| reader.group(n).unwrap())
    };
    assert_eq!(both()[0], both()[1]);
    assert!(both()[0].is_some());
    // What changes wholly leaves the group.
    let mut writer = index.open_writer(&ANALYZER);
    add(
        &mut writer,
        1,
        &document(
            "https://a.example/1",
            "招聘",
            &"现诚聘会计一名，待遇从优，有意者请致电本公司人事处面谈。".repeat(4),
        ),
    );
    writer.commit(3).unwrap();
    assert_ne!(both()[0], both()[1]);
}

fn reprints_form_no_chain(engine: Engine) {
    // The one in the middle shares two thirds with each of the others, and those two half of each other.
    let (first, middle, last) = (article(0..8), article(1..11), article(4..12));
    for order in [
        [&first, &middle, &last],
        [&first, &last, &middle],
        [&last, &middle, &first],
    ] {
        let found = groups(engine, &order.map(String::as_str));
        let at = |text: &String| found[order.iter().position(|t| *t == text).unwrap()];
        assert_ne!(at(&first), at(&last), "{found:?}");
    }
}

fn reprints_show_best_hit(engine: Engine) {
    let whole = article(0..12);
    let copies = [
        whole.as_str(),
        &article(0..11),
        &article(1..12),
        "焦石坝页岩气产量",
    ];
    let (_index, reader) = index(engine, &copies);
    let mut query = Query::plain("焦石坝");
    let plain = reader.search(&query).unwrap();
    assert_eq!((plain.total, plain.documents.len()), (4, 4));
    let group = plain.documents.iter().find(|d| d.stored.fingerprint == 1);
    let group = group.unwrap().group;
    for document in &plain.documents {
        let expected = if document.stored.fingerprint == 4 {
            0
        } else {
            2
        };
        assert_eq!(document.duplicates, expected);
    }
    query.grouped = true;
    let grouped = reader.search(&query).unwrap();
    assert_eq!((grouped.total, grouped.documents.len()), (4, 2));
    let best = plain.documents.iter().find(|d| d.group == group).unwrap();
    let shown = grouped.documents.iter().find(|d| d.group == group).unwrap();
    assert_eq!(shown.stored, best.stored);
    // The third is dated earliest.
    let sites = [3, 2, 1].map(|n| format!("s{n}.example"));
    let others = sites
        .into_iter()
        .filter(|s| !shown.stored.document.url.contains(s.as_str()));
    assert_eq!(shown.outlets, others.collect::<Vec<_>>());
    // The second page goes on where the first ended.
    (query.limit, query.offset) = (1, 1);
    let second = reader.search(&query).unwrap().documents;
    assert_eq!(second[0].stored, grouped.documents[1].stored);
    // Opened up: the earliest first.
    let mut expanded = Query::plain("焦石坝");
    expanded.filter.group = group;
    let found = reader.search(&expanded).unwrap();
    assert_eq!(found.total, 3);
    let order: Vec<u64> = found
        .documents
        .iter()
        .map(|d| d.stored.fingerprint)
        .collect();
    assert_eq!(order, [3, 2, 1]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn sketches_survive_packing(letters in proptest::collection::vec(any::<u16>(), 60..400)) {
        let sketch = Sketch::new(&letters).unwrap();
        prop_assert_eq!(Sketch::unpacked(sketch.packed()), Some(sketch));
        prop_assert!(Sketch::unpacked(sketch.packed().skip(1)).is_none());
        prop_assert!(sketch.shared(&sketch) > 0);
    }
}

/// The same documents in both engines: new ones, reprints, changed and deleted ones, through restarts of the writer.
#[test]
fn reprint_groups_are_equal_on_both_engines() {
    let Some(opensearch) = Engine::opensearch() else {
        return;
    };
    let engines = [Engine::Embedded, opensearch];
    let places = engines.map(Engine::new_place);
    let mut draw = drawing();
    let mut texts: Vec<String> = Vec::new();
    let mut live: Vec<u64> = Vec::new();
    for round in 0..5 {
        let mut writers = places.each_ref().map(|place| place.open_writer(&ANALYZER));
        for step in 1..=80 {
            let seq = round * 80 + step;
            let kind = draw(100);
            if kind < 8 && !live.is_empty() {
                let gone = live.swap_remove(draw(live.len()));
                for writer in &mut writers {
                    writer.delete(gone, seq).unwrap();
                }
                continue;
            }
            let text = if kind < 50 || texts.is_empty() {
                let new: String = (0..160).map(|_| drawn_character(draw(4_000))).collect();
                texts.push(new.clone());
                new
            } else {
                // A reprint lacks some of the beginning.
                let whole = &texts[draw(texts.len())];
                let cut = draw(30);
                format!("本报讯 {}", whole.chars().skip(cut).collect::<String>())
            };
            let fingerprint = if kind >= 85 && !live.is_empty() {
                live[draw(live.len())]
            } else {
                let new = seq.wrapping_mul(0x9E37_79B9_7F4A_7C15);
                live.push(new);
                new
            };
            for writer in &mut writers {
                let url = format!("https://s{}.example/{fingerprint}", fingerprint % 7);
                let stored = StoredDocument {
                    fingerprint,
                    seq,
                    fetched_ms: 1,
                    changed_ms: 1,
                    document: document(&url, "页岩气", &text),
                };
                writer.upsert(stored).unwrap();
            }
        }
        for mut writer in writers {
            writer.commit((round + 1) * 80).unwrap();
            writer.close().unwrap();
        }
    }
    let readers = places.each_ref().map(|place| place.open_reader(&ANALYZER));
    let [embedded, remote] = readers.each_ref().map(|reader| {
        assert_eq!(reader.num_docs().unwrap(), live.len() as u64);
        let groups = live.iter().map(|n| reader.group(*n).unwrap().unwrap());
        groups.collect::<Vec<u64>>()
    });
    assert_eq!(embedded, remote);
    let mut different = embedded;
    different.sort_unstable();
    different.dedup();
    let members = live.len() - different.len();
    assert!(
        live.len() > 250 && members > 80,
        "{members} of {}",
        live.len()
    );
}

fn drawn_character(number: usize) -> char {
    char::from_u32(0x4E00 + u32::try_from(number).unwrap()).unwrap()
}
