//! `taojin search` for a person: refused words in any place, how many hits there are and where the next ones are.

use serde_json::json;

use crate::support::folder::{Folder, assert_has};

/// Documents of the index; every second one has the refused word.
const DOCUMENTS: usize = 24;

fn filled() -> Folder {
    let folder = Folder::new("", &[]);
    folder.import((0..DOCUMENTS).map(|at| {
        let job = if at % 2 == 0 { "招聘工程师" } else { "注气开始" };
        json!({
            "url": format!("https://a.example/{at}"), "title": format!("储气库{job}第{at}号"),
            "text": format!("文{at}号储气库{job}，本站记者报道。"), "author": "王小明", "source": "石油商报",
        })
    }));
    folder
}

#[test]
fn search_excluded_word_anywhere() {
    let index = filled();
    for args in [
        &["search", "储气库", "-招聘", "--json"][..],
        &["search", "--json", "储气库", "-招聘"],
        &["search", "-招聘", "储气库", "--json"],
        &["search", "-招聘", "--json", "储气库"],
        &["search", "--json", "--limit", "5", "储气库 -招聘"],
        &["search", "储气库", "-招聘", "--limit", "5", "--json"],
        &["search", "--json", "--", "-招聘"],
        &["search", "-招聘", "--json"],
        &["--verbose", "search", "-招聘", "--json"],
        // One whose first letter is that of an option.
        &["search", "储气库", "-招聘", "-volcano", "--json"],
    ] {
        assert_eq!(index.json(args)["total"], DOCUMENTS / 2, "{args:?}");
    }
    // A mistyped option is no word.
    let wrong = index.run(&["search", "储气库", "--jsno"]).failed(2);
    assert_has(&wrong.err, &["--jsno"]);
    index.done(&["search", "--", "储气库", "--jsno"]);
}

#[test]
fn search_output_counts_and_pages() {
    let index = filled();
    let first = index.done(&["search", "储气库", "--reprints"]);
    let head = first.lines().next().unwrap_or_default();
    assert!(
        head.starts_with("10 of 24 hits in ") && head.ends_with(" ms"),
        "{head}"
    );
    assert_eq!(first.lines().last(), Some("--offset 10 shows the next"));
    assert!(first.contains("石油商报  王小明"), "{first}");
    let last = index.done(&["search", "储气库", "--reprints", "--offset", "20"]);
    assert!(last.starts_with("21 to 24 of 24 hits in "), "{last}");
    assert!(!last.contains("shows the next"), "{last}");
    let all = index.done(&["search", "储气库", "--reprints", "--limit", "24"]);
    assert!(
        all.starts_with("24 hits in ") && !all.contains("shows the next"),
        "{all}"
    );
    let beyond = index.done(&["search", "储气库", "--reprints", "--offset", "30"]);
    assert!(beyond.starts_with("none of 24 hits in "), "{beyond}");
}

#[test]
fn search_corrections_and_synonyms() {
    let index = filled();
    index.import_texts(&[
        ("https://b.example/1", "涪陵页岩气田投产。"),
        ("https://b.example/2", "注入CO2三万吨。"),
        ("https://b.example/3", "注入二氧化碳五万吨。"),
    ]);
    for (args, hits, note) in [
        (
            &["yeyanqi"][..],
            &["1 hit in ", "页岩气"][..],
            "searched for 页岩气 instead (--as-typed does not)",
        ),
        (
            &["--as-typed", "yeyanqi"],
            &["0 hits in ", "Did you mean: 页岩气"],
            "",
        ),
        (
            &["CO2"],
            &["2 hits in "],
            "co2: also searched for 二氧化碳, 碳酸气",
        ),
        (&["--no-synonyms", "CO2"], &["1 hit in "], ""),
    ] {
        let ran = index.run(&[&["search"], args].concat()).good();
        assert_has(&ran.out, hits);
        assert_has(&ran.err, &[note]);
        assert!(!note.is_empty() || !ran.err.contains("instead"), "{ran:?}");
    }
    let answer = index.json(&["search", "--json", "yeyanqi"]);
    assert_eq!(answer["searched_instead"], "页岩气");
}

#[test]
fn search_relaxes_quotes_in_question() {
    let index = filled();
    index.import_texts(&[
        ("https://b.example/1", "东江供水条例由水利厅起草。"),
        ("https://b.example/2", "水利厅发布用水定额。"),
    ]);
    for (typed, instead, note) in [
        (
            "水利厅起草的「东江 供水规章条例」",
            Some("水利厅起草的东江 供水规章条例"),
            Some("东江 供水规章条例: no document has this as it stands"),
        ),
        ("“东江供水条例”由谁制定", Some("东江供水条例由谁制定"), None),
        ("水利厅“用水定额”", None, None),
        ("“供水规章条例”", None, None),
    ] {
        let answer = index.json(&["search", "--json", typed]);
        assert_eq!(answer["searched_instead"].as_str(), instead, "{answer}");
        let total = answer["total"].as_u64();
        assert_eq!(
            total,
            Some(u64::from(typed != "“供水规章条例”")),
            "{answer}"
        );
        let said = answer["notes"][0].as_str().unwrap_or_default();
        assert!(said.starts_with(note.unwrap_or_default()), "{answer}");
        let as_typed = index.json(&["search", "--json", "--as-typed", typed]);
        assert_eq!(as_typed["searched_instead"].as_str(), None, "{as_typed}");
    }
}

#[test]
fn own_synonyms_are_used() {
    let index = filled();
    index.configure("[analyze]\nsynonyms = [\"own.txt\"]\n");
    index.write("own.txt", "# ours\n储气库 => 气窖\n注气\n");
    let wrong = index.run(&["check"]).failed(2);
    assert_has(
        &(wrong.out + &wrong.err),
        &["synonyms own.txt, line 3: \"注气\" stands alone"],
    );
    index.write("own.txt", "地下气窖, 储气库\n");
    let answer = index.json(&["search", "--json", "地下气窖"]);
    assert_eq!(answer["total"], DOCUMENTS, "{answer}");
    assert_eq!(answer["synonyms"][0]["also"][0], "储气库");
}

#[test]
fn search_without_index_hints() {
    let line = Folder::new("", &[]).refused(&["search", "x"]);
    assert_has(&line, &["data/index", "taojin crawl", "taojin demo"]);
}
