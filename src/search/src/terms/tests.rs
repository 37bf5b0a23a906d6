use proptest::prelude::*;

use super::corpus::sentences;
use super::corpus::{is_boilerplate, prose};
use super::hash::Hash;
use super::*;
use crate::analyze::Lexicon;

fn values(candidates: &[(&str, u32)], nesting: Nesting) -> Vec<f64> {
    let values = c_values(candidates, nesting).into_iter();
    values
        .map(|nested| (nested.c_value * 1e3).round() / 1e3)
        .collect()
}

/// Counted by hand from the definitions: two levels of nesting.
#[test]
fn nested_term_counts() {
    let candidates = [
        ("世界石油大会", 20),
        ("石油大会", 26),
        ("世界石油", 23),
        ("石油", 300),
        ("大会", 60),
    ];
    assert_eq!(
        values(&candidates, Nesting::Raw),
        [51.699, 12.0, 6.0, 277.0, 37.0]
    );
    assert_eq!(
        values(&candidates, Nesting::Frantzi),
        [51.699, 12.0, 6.0, 290.333, 47.0]
    );
}

#[test]
fn nested_term_is_worthless() {
    let nested = c_values(&[("油气田", 7), ("油气", 7)], Nesting::Frantzi);
    assert_eq!((nested[1].c_value, nested[1].share), (0.0, 1.0));
    assert_eq!(nested[0].share, 0.0);
    assert!(c_values(&[], Nesting::Raw).is_empty());
}

#[test]
fn evidence_begins_with_its_sentence() {
    for (before, left) in [
        ("，正文：新疆的", "新疆的"),
        ("》 摘要: 正文：本文", "本文"),
        ("）内容丰富的", "内容丰富的"),
        ("“旋转”的", "“旋转”的"),
        ("-5℃的", "-5℃的"),
        ("，", ""),
    ] {
        assert_eq!(super::evidence::without_leftovers(before), left);
    }
}

#[test]
fn sentences_end_where_they_end() {
    let text = "油价涨到80.5美元。见 www.a.cn 吗？Yes. 好\n完";
    let parts: Vec<&str> = sentences(text)
        .into_iter()
        .map(|r| text.get(r).unwrap())
        .collect();
    assert_eq!(
        parts,
        [
            "油价涨到80.5美元。",
            "见 www.a.cn 吗？",
            "Yes.",
            " 好\n",
            "完"
        ]
    );
    assert!(
        sentences(&"油".repeat(5_000)).len() > 5,
        "a text without an end is cut"
    );
}

#[test]
fn boilerplate_is_cut_off() {
    assert_eq!(prose("油价上涨(责任编辑:王五)"), "油价上涨(");
    assert_eq!(prose("页岩气开发提速"), "页岩气开发提速");
    assert!(is_boilerplate("新华社记者") && is_boilerplate("个百分点"));
    assert!(!is_boilerplate("基因编辑"));
}

#[test]
fn term_patterns_are_read() {
    let builtin = Patterns::builtin();
    let of = |tags: &[&str]| {
        tags.iter()
            .fold(Pattern::default(), |p, tag| p.with(builtin.class_of(tag)))
    };
    assert_eq!(of(&["n", "vn", "n"]).name(), "NMN");
    assert!(builtin.weight(of(&["n", "n"])).is_some());
    assert_eq!(builtin.weight(of(&["n", "n", "n", "n", "n"])), None);
    assert_eq!(builtin.class_of("uj"), 0);
    assert_eq!(
        Patterns::any().weight(of(&["n", "n", "n", "n", "n"])),
        Some(0.0)
    );
    let bounded = Patterns::parse("chars = 2-8\nwords = 2-5\nN = n\nNN 0.5 # 钻井 平台").unwrap();
    assert!(bounded.fit_length(8, 2) && !bounded.fit_length(9, 2) && !bounded.fit_length(4, 1));
}

#[test]
fn bad_patterns_name_their_line() {
    for (text, error) in [
        ("", "it has no pattern, a line such as `NN 0.5`"),
        (
            "# only this\nN = n\n",
            "it has no pattern, a line such as `NN 0.5`",
        ),
        (
            "N = n\n\nNX 0.5",
            "line 3: X is no class of the lines above",
        ),
        (
            "N = n\nNN",
            "line 2: neither a class (`N = n nz`) nor a length (`chars = 2-8`) nor a pattern (`NN 0.5`)",
        ),
        (
            "石油 = n",
            "line 1: neither a class (`N = n nz`) nor a length (`chars = 2-8`) nor a pattern (`NN 0.5`)",
        ),
        (
            "N = n\nNN nan",
            "line 2: the weight nan is no number from -10 to 10",
        ),
        (
            "N = n\nNN 1e9",
            "line 2: the weight 1e9 is no number from -10 to 10",
        ),
        ("N = n\nNNNNNN 1", "line 2: a pattern has 1 to 5 words"),
        (
            "N = n\nV = n",
            "line 2: the part of speech n is in two classes",
        ),
        (
            "chars = 8-2",
            "line 1: a length is two numbers such as `2-5`: `chars` from 2 to 16, `words` from 1 to 5",
        ),
        (
            "words = 1-6",
            "line 1: a length is two numbers such as `2-5`: `chars` from 2 to 16, `words` from 1 to 5",
        ),
    ] {
        let found = Patterns::parse(text).expect_err(text);
        assert_eq!(found.to_string(), error, "{text:?}");
    }
    let many: String = (0..20_000).map(|n| format!("{} 1\n", letters(n))).collect();
    let classes: String = ('A'..='Z').map(|c| format!("{c} = {c}\n")).collect();
    let found = Patterns::parse(&format!("{classes}{many}"));
    assert!(found.is_err_and(|error| error.to_string().ends_with("more than 10000 patterns")));
}

/// A word of five letters for a number.
fn letters(number: u32) -> String {
    let digits = (0..5).scan(number, |rest, _| {
        let digit = *rest % 26;
        *rest /= 26;
        char::from_u32(digit + u32::from('A'))
    });
    digits.collect()
}

#[test]
fn patterns_are_derived_from_a_lexicon() {
    let lexicon = "钻井平台\n石油公司\n天然气管道\n页岩\n油气勘探\n长期以来的\n一二三四五六七八九十个油田公司\n";
    let lexicon = Lexicon::parse("t", lexicon).unwrap();
    let profile = LexiconProfile::new(&lexicon);
    assert_eq!((profile.terms, profile.without_pattern), (7, 2));
    assert_eq!(profile.chars.get(&4), Some(&3));
    let best = profile.sequences.first().unwrap();
    assert_eq!(
        (best.pattern.name().as_str(), best.terms),
        ("NN", 3),
        "{profile:?}"
    );
    assert_eq!(best.example, "钻井 平台");
    let text = profile.render("own.txt").unwrap();
    assert!(
        text.contains("\nchars = 2-15\n") && text.contains("\nNN 0.00 # 42.9 %: 钻井 平台\n"),
        "{text}"
    );
    let patterns = Patterns::parse(&text).unwrap();
    assert_eq!(patterns.weight(best.pattern), Some(0.0));
    assert_eq!(patterns.class_of("vn"), Patterns::builtin().class_of("vn"));
    let none = LexiconProfile::new(&Lexicon::parse("t", "页岩气").unwrap());
    assert_eq!(none.render("own.txt"), None, "one term shows nothing");
}

/// Only what the file of patterns has is a candidate.
#[test]
fn patterns_decide_what_is_found() {
    let patterns = Patterns::parse("N = n\nNN 0.5").unwrap();
    let config = Config::default();
    let dictionary = Dictionary::new(&[]);
    let texts = articles();
    let with = |patterns: &Patterns| {
        let found = discover(&texts, &dictionary, patterns, &config, &mut || true);
        let names = found
            .unwrap()
            .into_iter()
            .map(|found| found.candidate.pattern.pattern.name());
        names.collect::<Vec<String>>()
    };
    assert!(with(Patterns::builtin()).iter().any(|name| name != "NN"));
    assert!(with(&patterns).iter().all(|name| name == "NN"));
    assert!(with(&Patterns::any()).len() >= with(Patterns::builtin()).len());
}

/// By hand from the formula: `0.8 · C(a) + 0.2 · Σ f_a(b) · t(b) / n`.
#[test]
fn nc_value_adds_context() {
    // Four terms were considered; 生产 stands beside three of them, 新 beside one, 说 beside none.
    let weights = [
        context_weight(3, 4),
        context_weight(1, 4),
        context_weight(0, 4),
    ];
    assert_eq!(weights, [0.75, 0.25, 0.0]);
    // 0.8 · 12 + 0.2 · (6 · 0.75 + 2 · 0.25 + 9 · 0) = 9.6 + 0.2 · 5 = 10.6
    let context = [6, 2, 9].into_iter().zip(weights);
    assert!((nc_value(12.0, context) - 10.6).abs() < 1e-9);
    // Beside no other word, four fifths of the C-value remain; a negative one stays below zero.
    assert!((nc_value(12.0, []) - 9.6).abs() < 1e-9);
    assert!((nc_value(-5.0, [(2, 0.5)]) + 3.8).abs() < 1e-9);
    assert_eq!(context_weight(0, 0), 0.0, "nothing was considered");
}

/// The same from texts. The candidates are 页岩 (3 times, beside 开采, 开采 and 销售) and 储层 (3 times, beside 开采 each time), both
/// with a C-value of log2(2) · 3 = 3. Of the two terms considered, 开采 stands beside both and 销售 beside one.
#[test]
fn nc_value_of_texts() {
    let patterns = Patterns::parse("N = n\nN 0").unwrap();
    let texts = [
        "页岩的开采。储层的开采。",
        "页岩与开采。储层与开采。",
        "页岩和销售。储层和开采。",
    ];
    let texts: Vec<Text> = texts.iter().enumerate().map(|(n, t)| text(n, t)).collect();
    let dictionary = Dictionary::new(&[]);
    let found = discover(
        &texts,
        &dictionary,
        &patterns,
        &Config::default(),
        &mut || true,
    )
    .unwrap();
    let values = |term: &str| {
        let found = found.iter().find(|found| found.term == term);
        let nested = found
            .unwrap_or_else(|| panic!("{term} is not in {found:?}"))
            .candidate
            .nested;
        (nested.c_value, (nested.nc_value * 1e6).round() / 1e6)
    };
    // 0.8 · 3 + 0.2 · (2 · 1 + 1 · 0.5) = 2.9 and 0.8 · 3 + 0.2 · 3 · 1 = 3.
    assert_eq!(values("页岩"), (3.0, 2.9));
    assert_eq!(values("储层"), (3.0, 3.0));
}

fn text(document: usize, text: &str) -> Text {
    Text {
        document: format!("http://a.test/{document}"),
        title: String::new(),
        text: text.to_owned(),
    }
}

/// Articles about shale gas, each with the footer of its site.
fn articles() -> Vec<Text> {
    let bodies = [
        "水平井压裂液的配方决定了水平井压裂液的用量。涪陵的水平井压裂液已经国产化。",
        "专家认为，水平井压裂液价格下跌。企业采购水平井压裂液，降低成本。",
        "新的水平井压裂液投产了。关于水平井压裂液，监管部门提出要求。",
        "环境部门检测水平井压裂液的成分。他们说水平井压裂液合格。",
    ];
    let footer = "责任编辑：王五 本网站由大洋传媒有限公司运营，大洋传媒许可证编号123。";
    let all = bodies.iter().enumerate();
    all.map(|(n, body)| text(n, &format!("{body}\n{footer}")))
        .collect()
}

/// Without a lexicon, by the built-in patterns.
fn discover_in(
    texts: &[Text],
    config: &Config,
    go_on: &mut dyn FnMut() -> bool,
) -> Option<Vec<Found>> {
    discover(
        texts,
        &Dictionary::new(&[]),
        Patterns::builtin(),
        config,
        go_on,
    )
}

fn found(texts: &[Text], dictionary: &Dictionary) -> Vec<Found> {
    let config = Config::default();
    let patterns = Patterns::builtin();
    discover(texts, dictionary, patterns, &config, &mut || true).expect("nobody stops it")
}

#[test]
fn term_found_with_evidence() {
    let found = found(&articles(), &Dictionary::new(&[]));
    let names: Vec<&str> = found.iter().map(|found| found.term.as_str()).collect();
    assert!(names.contains(&"水平井压裂液"), "{names:?}");
    assert!(
        !names.iter().any(|name| name.contains("大洋传媒")),
        "{names:?}"
    );
    let term = found
        .iter()
        .find(|found| found.term == "水平井压裂液")
        .unwrap();
    assert_eq!(term.candidate.documents, 4);
    assert_eq!(term.candidate.occurrences, 9);
    assert_eq!(term.evidence.len(), 3);
    for evidence in &term.evidence {
        assert_eq!(
            evidence
                .sentence
                .get(evidence.mark.0..evidence.mark.1)
                .unwrap(),
            "水平井压裂液"
        );
        assert!(evidence.document.starts_with("http://a.test/"));
    }
    let order: Vec<f64> = found.iter().map(|found| found.candidate.termhood).collect();
    assert!(order.is_sorted_by(|a, b| a >= b));
}

/// What is found in made-up articles, each of them with its number in `{}`.
fn found_in(sentences: &[&str]) -> Vec<String> {
    let things = ["桥梁", "水库", "码头", "厂房", "车站", "果园"];
    let texts = things.iter().enumerate().map(|(n, thing)| {
        let lines = sentences.iter().map(|s| s.replace("{}", thing));
        text(n, &lines.collect::<String>())
    });
    let found = found(&texts.collect::<Vec<_>>(), &Dictionary::new(&[]));
    found.into_iter().map(|found| found.term).collect()
}

#[test]
fn names_and_function_phrases_are_no_terms() {
    let found = found_in(&[
        "周梓涵谈到{}，说周梓涵喜欢{}。",
        "总统巴拉托夫参观{}，巴拉托夫表示{}很好。",
        "钱女士走过{}，钱女士笑了。",
        "时至今日，{}仍在使用。长期以来，{}缺水。",
        "分析师预计{}涨价，分析师预计{}会停工。",
        "关于水平井压裂液，{}用水平井压裂液。",
    ]);
    for wrong in [
        "周梓涵",
        "巴拉托夫",
        "钱女士",
        "时至今日",
        "长期以来",
        "分析师预计",
        "预计",
    ] {
        assert!(
            !found.iter().any(|term| term == wrong),
            "{wrong}: {found:?}"
        );
    }
    assert!(found.iter().any(|term| term == "水平井压裂液"), "{found:?}");
}

/// Titles, what persons do and the mark between the parts of a foreign name stand next to names.
#[test]
fn persons_are_known_by_what_stands_beside_them() {
    let found = found_in(&[
        "坂本龙介的{}很有名,后来坂本龙介离开,水处理工艺不变。",
        "外交部长莫里斯来到{},外交部长莫里斯很忙,水处理工艺要看。",
        "温妮·桑托斯的{}开张了,温妮走过{},水处理工艺也好。",
        "三名船员来到{},五名船员修好水处理工艺,八名船员休息。",
    ]);
    assert!(found.iter().any(|term| term == "水处理工艺"), "{found:?}");
    for wrong in [
        "坂本龙介",
        "外交部长莫里斯",
        "莫里斯",
        "温妮",
        "桑托斯",
        "名船员",
    ] {
        assert!(
            !found.iter().any(|term| term == wrong),
            "{wrong}: {found:?}"
        );
    }
}

/// What may be a person or a label is shown for review, and never enters by itself.
#[test]
fn doubtful_terms_wait_for_review() {
    let things = ["桥梁", "水库", "码头", "厂房", "车站", "果园"];
    let texts = things.iter().enumerate().map(|(n, thing)| {
        let lines = "{}的报修热线占线,报修热线加价了,拨打报修热线的人多。水处理工艺好,看过水处理工艺再修{}。";
        text(n, &lines.replace("{}", thing))
    });
    let texts: Vec<Text> = texts.collect();
    let config = Config {
        accept_above: 0.0,
        ..Config::default()
    };
    let found = discover_in(&texts, &config, &mut || true).unwrap();
    let is_sure = |term: &str| {
        let found = found.iter().find(|found| found.term == term);
        found
            .unwrap_or_else(|| panic!("{term} is not shown"))
            .is_sure(&config)
    };
    assert!(is_sure("水处理工艺"));
    assert!(!is_sure("报修热线"));
}

#[test]
fn labels_and_pieces_are_no_terms() {
    let found = found_in(&[
        "东江水务集团(以下统称“集团”)运营水厂,购票热线:电话见网站。",
        "合同双方(以下统称“双方”)签字,水处理工艺达标,购票热线:见公告。",
        "供水公司(以下统称“公司”)采用水处理工艺,要改进工艺,购票热线:见车站。",
        "水处理工艺需要评审,工艺要改进时再评审,有关单位要改进工艺。",
        "专家说水处理工艺成熟,要改进工艺的单位不少。",
    ]);
    assert!(found.iter().any(|term| term == "水处理工艺"), "{found:?}");
    for piece in ["以下统称", "购票热线", "要改进", "要改进工艺", "改进时"] {
        assert!(
            !found.iter().any(|term| term == piece),
            "{piece}: {found:?}"
        );
    }
}

#[test]
fn names_are_told_from_terms() {
    use super::names::{Signs, is_person, is_transcribed};
    let dictionary = Dictionary::new(&[]);
    for (term, beside, person) in [
        ("周梓涵", 0.0, true),
        ("巴拉托夫", 0.0, false),
        ("巴拉托夫", 0.2, true),
        ("压裂液", 0.2, false),
        ("页岩油", 0.0, false),
        ("光催化", 0.0, false),
        ("维生素", 0.0, false),
        ("lng", 0.5, false),
        ("坂本龙介", 0.0, true),
        ("长谷川彰", 0.1, true),
        ("松下电器", 0.0, false),
        ("石川县", 0.0, false),
    ] {
        let signs = Signs {
            beside,
            is_name: false,
            dictionary: &dictionary,
        };
        assert_eq!(is_person(term, &signs), person, "{term} {beside}");
    }
    assert!(is_transcribed("巴拉托夫"));
    assert!(
        !is_transcribed("阿尔茨海默病") && !is_transcribed("天然气") && !is_transcribed("opec")
    );
}

#[test]
fn sure_terms_stand_in_several_documents() {
    let found = found(&articles(), &Dictionary::new(&[]));
    let mut term = found
        .into_iter()
        .find(|found| found.term == "水平井压裂液")
        .expect("it is found");
    let config = |accept_above| Config {
        accept_above,
        ..Config::default()
    };
    term.candidate.termhood = 0.5;
    assert!(term.is_sure(&config(0.3)) && !term.is_sure(&config(1.0)));
    term.candidate.in_dictionary = true;
    assert!(!term.is_sure(&config(0.3)), "it is cut whole anyway");
    (term.candidate.in_dictionary, term.candidate.documents) = (false, 2);
    assert!(!term.is_sure(&config(0.3)), "a source of its own");
}

#[test]
fn known_term_is_skipped() {
    let lexicon = Lexicon::parse("t", "水平井压裂液").unwrap();
    let known = found(&articles(), &Dictionary::new(&[lexicon]));
    assert!(known.iter().all(|found| found.term != "水平井压裂液"));
    let mut twice = articles();
    twice.extend(articles());
    let dictionary = Dictionary::new(&[]);
    let count = |texts: &[Text]| {
        let found = found(texts, &dictionary);
        let term = found.iter().find(|found| found.term == "水平井压裂液");
        term.map(|found| found.candidate.occurrences)
    };
    assert_eq!(count(&twice), count(&articles()));
}

#[test]
fn term_keeps_spelling() {
    let texts: Vec<Text> = (0..4)
        .map(|n| {
            text(
                n,
                &format!("第{n}座ＬＮＧ接收站开工。LNG接收站投产，建设LNG接收站。"),
            )
        })
        .collect();
    let found = found(&texts, &Dictionary::new(&[]));
    let term = found
        .iter()
        .find(|found| found.candidate.normal == "lng接收站");
    assert!(term.is_some_and(|found| found.term.ends_with("接收站") && found.term != "lng接收站"));
}

/// The corpus of these texts, each under its number.
fn read(mut corpus: Corpus, texts: &[Text], numbers: std::ops::Range<usize>) -> Corpus {
    let dictionary = Dictionary::new(&[]);
    for number in numbers {
        let id = number as u64;
        corpus.read(TextKey { id, version: 1 }, &texts[number], &dictionary);
    }
    corpus
}

#[test]
fn kept_corpus_finds_the_same_terms() {
    let texts = articles();
    let empty = || Corpus::new(Patterns::builtin().clone());
    let found = |corpus: &Corpus| {
        let dictionary = Dictionary::new(&[]);
        let mut load = |key: TextKey| texts.get(key.id as usize).cloned();
        let config = Config::default();
        let found = corpus.discover(&dictionary, &config, &mut load, &mut || true);
        found.expect("nobody stops it")
    };
    let kept =
        |corpus: &Corpus| Corpus::from_bytes(&corpus.to_bytes(), Patterns::builtin().clone());
    let at_once = read(empty(), &texts, 0..4);
    let first = kept(&read(empty(), &texts, 0..2)).expect("its own bytes");
    assert_eq!(found(&read(first, &texts, 2..4)), found(&at_once));
    assert!(!found(&at_once).is_empty());

    let last = found(&read(empty(), &texts, 1..4));
    let mut without_first = kept(&at_once).expect("its own bytes");
    without_first.retain(usize::MAX, |key| key.id > 0);
    assert_eq!(found(&without_first), last);
    // One character short of all four.
    let chars: usize = texts.iter().map(|text| text.text.chars().count()).sum();
    let mut bounded = read(empty(), &texts, 0..4);
    bounded.retain(chars - 1, |_| true);
    assert_eq!(found(&bounded), last);

    let bytes = at_once.to_bytes();
    let cut = bytes.get(..bytes.len() - 1).expect("there are some");
    assert!(Corpus::from_bytes(cut, Patterns::builtin().clone()).is_none());
    // Bytes that are wrong are refused, or give other terms.
    for at in (0..bytes.len()).step_by(5) {
        let mut wrong = bytes.clone();
        wrong[at] ^= 0x11;
        if let Some(corpus) = Corpus::from_bytes(&wrong, Patterns::builtin().clone()) {
            found(&corpus);
        }
    }
}

#[test]
fn who_asks_can_stop_it() {
    let mut asked = 0;
    let stopped = discover_in(&articles(), &Config::default(), &mut || {
        asked += 1;
        asked < 3
    });
    assert_eq!(stopped, None);
    let config = Config {
        max_chars: 1,
        ..Config::default()
    };
    let found = discover_in(&articles(), &config, &mut || true).unwrap();
    assert!(!found.is_empty() && found.iter().all(|found| found.candidate.documents == 1));
}

#[test]
fn terms_config_is_checked() {
    assert_eq!(Config::default().problem(), None);
    let bold = Config {
        accept_above: 1.5,
        ..Config::default()
    };
    assert!(
        bold.problem()
            .is_some_and(|problem| problem.contains("accept_above = 1.5"))
    );
    let none = Config {
        min_count: 0,
        ..Config::default()
    };
    assert!(
        none.problem()
            .is_some_and(|problem| problem.contains("min_count = 0"))
    );
}

proptest! {
    #[test]
    fn hash_of_parts_equals_whole(a in "\\PC{0,12}", b in "\\PC{0,12}") {
        let joined = Hash::new(&a).join(Hash::new(&b));
        prop_assert_eq!(joined, Hash::new(&format!("{a}{b}")));
    }

    #[test]
    fn any_text_is_looked_at(texts in proptest::collection::vec("[油气田。，\n ａA1the\u{300}\u{200B}🚀\\PC]{0,80}", 0..6)) {
        let texts: Vec<Text> = texts.iter().enumerate().map(|(n, t)| text(n, &t.repeat(3))).collect();
        let config = Config { min_count: 1, ..Config::default() };
        let found = discover_in(&texts, &config, &mut || true).expect("nobody stops it");
        for found in found {
            prop_assert!((0.0..=1.0).contains(&found.candidate.termhood));
            prop_assert!(found.candidate.occurrences >= 1);
            for evidence in found.evidence {
                prop_assert!(evidence.sentence.get(evidence.mark.0..evidence.mark.1).is_some());
            }
        }
    }
}
