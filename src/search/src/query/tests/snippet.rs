use std::sync::LazyLock;

use proptest::prelude::*;

use crate::analyze::{Analyzer, Lexicon, normalize};
use crate::query::dates::Calendar;
use crate::query::highlight::Highlighter;
use crate::query::parse;
use crate::query::snippet::Marked;

static ANALYZER: LazyLock<Analyzer> =
    LazyLock::new(|| Analyzer::new(&[Lexicon::builtin("oil-gas").unwrap()]));

fn highlighter(query: &str) -> Highlighter {
    let calendar = Calendar {
        utc_offset_minutes: 480,
        now_ms: 0,
    };
    Highlighter::new(&parse(query, &calendar).query, &ANALYZER.dictionary())
}

fn marked(marked: &Marked) -> Vec<&str> {
    marked
        .marks
        .iter()
        .map(|m| marked.text.get(m.clone()).unwrap())
        .collect()
}

fn columns(text: &str) -> usize {
    text.chars()
        .map(|c| match c {
            '\u{301}' | '\u{FE0F}' => 0,
            c if c < '\u{1100}' => 1,
            _ => 2,
        })
        .sum()
}

#[test]
fn marks_keep_original_spelling() {
    for (query, text, marks) in [
        ("页岩气", "頁岩氣田投產", vec!["頁岩氣"]),
        ("頁岩氣", "页岩气田投产", vec!["页岩气"]),
        ("co2", "注入ＣＯ２驱油，CO2减排", vec!["ＣＯ２", "CO2"]),
        ("su", "小米SU7与sun", vec!["SU"]),
        ("28%", "40.28%与28%、28 %", vec!["28%", "28 %"]),
        ("28 %", "40.28%与２８％", vec!["２８％"]),
        (
            "2026年11月10日",
            "于2026-11-10、11月10日和10日",
            vec!["2026-11-10", "11月10日"],
        ),
        ("QB/T5521-2016", "按QB/T 5521—2016", vec!["QB/T 5521—2016"]),
        (
            "\"QB/T 5521-2016\"",
            "按QB/T5521－2016",
            vec!["QB/T5521－2016"],
        ),
        (
            "8350.4",
            "报价8,350.40元、8350.4元",
            vec!["8,350.40", "8350.4"],
        ),
        (
            "\"输气管线\"",
            "输 气管 线与输气管线",
            vec!["输 气管 线", "输气管线"],
        ),
        ("👍", "收到👍🏽，好", vec!["👍🏽"]),
        ("油", "油价与原油", vec!["油", "油"]),
        ("油价 上涨", "国际油价上涨，油价", vec!["油价上涨", "油价"]),
        ("\"气田 日产\"", "气田 日产，气田", vec!["气田 日产"]),
        ("-气田 产量", "气田产量", vec!["产量"]),
        ("site:a.cn", "a.cn 的文章", vec![]),
        ("天然气是什么", "天然气，是什么", vec!["天然气"]),
    ] {
        let found = highlighter(query).mark(text);
        assert_eq!(marked(&found), marks, "{query} in {text}");
        assert_eq!(found.text, text);
    }
}

#[test]
fn the_best_sentence_is_shown() {
    let text = "本报讯。油价昨日下跌。中国石油宣布，四川盆地页岩气产量创新高。\n责任编辑：某某";
    let found = highlighter("页岩气 产量").snippet(text, 40);
    assert_eq!(found.text, "中国石油宣布，四川盆地页岩气产量创新高。");
    assert_eq!(marked(&found), ["页岩气产量"]);
    let start = highlighter("没有的词").snippet(text, 40);
    assert!(start.text.starts_with("本报讯。"));
    assert!(highlighter("油").snippet("", 40).text.is_empty());
}

#[test]
fn snippet_cuts_long_sentence() {
    let text = format!("{}，页岩气产量{}", "长".repeat(300), "尾".repeat(300));
    let found = highlighter("页岩气 产量").snippet(&text, 60);
    assert!(
        found.text.starts_with('…') && found.text.ends_with('…'),
        "{}",
        found.text
    );
    assert!(columns(&found.text) <= 64, "{}", found.text);
    assert_eq!(marked(&found), ["页岩气产量"]);
    let latin = highlighter("drilling").snippet(&"offshore drilling platforms ".repeat(40), 50);
    assert!(
        latin
            .text
            .trim_matches('…')
            .split(' ')
            .all(|w| ["offshore", "drilling", "platforms", ""].contains(&w)),
        "{}",
        latin.text
    );
}

proptest! {
    #[test]
    fn marks_are_whole_characters(
        text in "[頁页岩气石油A-Da-d0-9，。！？ \u{301}\u{FE0F}é😀\n]{0,300}",
        query in "[页岩气石油a-d0-9\" ]{1,12}",
        width in 1usize..200,
    ) {
        let highlighter = highlighter(&query);
        for found in [highlighter.mark(&text), highlighter.snippet(&text, width)] {
            let mut last = 0;
            for mark in &found.marks {
                prop_assert!(mark.start >= last && mark.end > mark.start);
                last = mark.end;
                let part = found.text.get(mark.clone());
                prop_assert!(part.is_some());
                let normal = normalize(part.unwrap_or_default()).into_owned();
                prop_assert!(normal.chars().any(|c| normalize(&query).contains(c)), "{normal}");
            }
        }
        let snippet = highlighter.snippet(&text, width);
        prop_assert!(columns(&snippet.text) <= width + 4, "{} > {width}", columns(&snippet.text));
    }

    #[test]
    fn any_text_gives_a_snippet(text in any::<String>(), query in any::<String>()) {
        let highlighter = highlighter(&query);
        let snippet = highlighter.snippet(&text, 80);
        for mark in &snippet.marks {
            prop_assert!(snippet.text.get(mark.clone()).is_some());
        }
        prop_assert!(highlighter.mark(&text).text == text);
    }
}
