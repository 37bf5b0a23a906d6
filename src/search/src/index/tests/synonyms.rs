//! Synonyms: what else is found, in which order, and when not.

use super::*;
use crate::analyze::{Dictionary, Lexicon, Synonyms};

on_each_engine!(
    synonym_ranks_below_word,
    synonym_matches_whole_runs,
    synonym_matches_between_word_borders,
    synonym_arrow_is_one_way,
    synonyms_replaced_live,
);

fn analyzer(synonyms: &str) -> Analyzer {
    let lexicon = Lexicon::builtin("oil-gas").unwrap();
    Analyzer::with_synonyms(&[lexicon], Synonyms::parse("test", synonyms).unwrap())
}

/// Documents under 1, 2, 3 …, cut with these synonyms, and a reader with them.
fn index(engine: Engine, texts: &[&str], analyzer: &Analyzer) -> (TestIndex, Reader) {
    let index = engine.new_place();
    let mut writer = index.open_writer(analyzer);
    for (n, text) in (1..).zip(texts) {
        add(
            &mut writer,
            n,
            &document(&format!("https://a.example/{n}"), "快讯", text),
        );
    }
    writer.commit(1).unwrap();
    writer.close().unwrap();
    let reader = index.open_reader(analyzer);
    (index, reader)
}

fn synonym_ranks_below_word(engine: Engine) {
    let texts = [
        "项目每年向地下注入二氧化碳六十万吨，效果良好。",
        "项目每年向地下注入CO2六十万吨，效果良好。",
        "项目每年向地下注入清水六十万吨，效果良好。",
    ];
    let (_index, reader) = index(engine, &texts, &analyzer("二氧化碳, CO2, 碳酸气"));
    // Whichever is typed, however it is written.
    assert_eq!(order(&reader, &Query::plain("CO2")), [2, 1]);
    assert_eq!(order(&reader, &Query::plain("ＣＯ２")), [2, 1]);
    assert_eq!(order(&reader, &Query::plain("二氧化碳")), [1, 2]);
    // Of a list of words the synonym of one is as good as the word.
    let listed = reader.search(&Query::plain("注入 CO2")).unwrap();
    let listed_order = |documents: &[FoundDocument]| -> Vec<u64> {
        let documents = documents.iter();
        documents.map(|d| d.stored.fingerprint).collect()
    };
    assert_eq!(listed_order(&listed.documents), [2, 1]);
    assert_eq!(listed_order(&listed.weaker.unwrap().documents), [3]);
    let expanded = reader.expanded(&Query::plain("注入CO2"));
    assert_eq!(expanded.len(), 1);
    assert_eq!(expanded[0].typed, "co2");
    assert_eq!(expanded[0].also, ["二氧化碳", "碳酸气"]);
    // Switched off, in quotes or refused it is the word alone.
    let off = Query {
        as_typed: true,
        ..Query::plain("CO2")
    };
    assert_eq!(order(&reader, &off), [2]);
    assert!(reader.expanded(&off).is_empty());
    let quoted = crate::index::guidance::literal("CO2", Target::Anywhere);
    assert_eq!(order(&reader, &quoted), [2]);
}

fn synonym_matches_whole_runs(engine: Engine) {
    let texts = [
        "注入CO2六十万吨。",
        "减排六十万吨CO2e。",
        "减排量以CO2eq计。",
        "二氧化碳减排。",
        "FLNG船到港。",
    ];
    let synonyms = "二氧化碳, CO2\n液化天然气, LNG";
    let (_index, reader) = index(engine, &texts, &analyzer(synonyms));
    assert_eq!(order(&reader, &Query::plain("二氧化碳")), [4, 1]);
    assert_eq!(order(&reader, &Query::plain("液化天然气")), [0; 0]);
    // What was typed is found in longer runs, as ever.
    assert!(order(&reader, &Query::plain("CO2")).contains(&2));
}

fn synonym_matches_between_word_borders(engine: Engine) {
    let texts = [
        "港口发生严重油污事件。",
        "重油价格上涨。",
        "严重油污来自重油。",
        "重油催化裂化装置投产。",
        "燃料油到港。",
    ];
    let (_index, reader) = index(
        engine,
        &texts,
        &analyzer("燃料油, 重油\n可燃气, 催化裂化装置"),
    );
    let mut found = order(&reader, &Query::plain("燃料油"));
    found.sort_unstable();
    assert_eq!(found, [2, 3, 4, 5]);
    // Of several words, one of them longer than what the dictionary has.
    assert_eq!(order(&reader, &Query::plain("可燃气")), [4]);
    // What was typed is found wherever it stands.
    assert!(order(&reader, &Query::plain("重油")).contains(&1));
}

fn synonym_arrow_is_one_way(engine: Engine) {
    let texts = [
        "天然气水合物试采成功。",
        "可燃冰试采成功。",
        "Shale gas output rose.",
    ];
    let synonyms = "可燃冰 => 天然气水合物 # older name\nshale gas, 页岩气";
    let (_index, reader) = index(engine, &texts, &analyzer(synonyms));
    assert_eq!(order(&reader, &Query::plain("可燃冰")), [2, 1]);
    assert_eq!(order(&reader, &Query::plain("天然气水合物")), [1]);
    assert_eq!(order(&reader, &Query::plain("页岩气")), [3]);
    assert_eq!(
        reader.expanded(&Query::plain("shale gas"))[0].also,
        ["页岩气"]
    );
}

fn synonyms_replaced_live(engine: Engine) {
    let texts = ["液化天然气船到港。", "LNG船到港。"];
    let analyzer = analyzer("");
    let (_index, reader) = index(engine, &texts, &analyzer);
    assert_eq!(order(&reader, &Query::plain("LNG")), [2]);
    let synonyms = Synonyms::builtin("oil-gas").unwrap();
    analyzer.replace(Dictionary::with_synonyms(&[], synonyms));
    assert_eq!(order(&reader, &Query::plain("LNG")), [2, 1]);
}
