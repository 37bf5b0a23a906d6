use std::sync::{LazyLock, Mutex};

use proptest::prelude::*;
use unicode_normalization::UnicodeNormalization;

use super::*;

static DICTIONARY: LazyLock<Dictionary> =
    LazyLock::new(|| Dictionary::new(&[Lexicon::builtin("oil-gas").unwrap()]));

/// Texts that are hard on a normal form: scripts, marks, width, invisible characters.
fn odd_text() -> impl Strategy<Value = String> {
    let odd = "[a-zA-Z0-9石油頁岩氣著乾瞭，。！　 \\-\u{300}\u{301}\u{3099}\u{FF9E}\u{FF76}\u{200B}\u{FE0F}\u{AD}\
               ＡＢｃ１①㎡ﬁİßςΣ가\u{1100}\u{1161}\u{11A8}👩\u{200D}🚀\n\t]{0,24}";
    prop_oneof![odd.prop_map(|s: String| s), any::<String>()]
}

#[test]
fn one_spelling() {
    for (text, normal) in [
        ("石油", "石油"),
        ("頁岩氣開發", "页岩气开发"),
        ("ＣＯ２驅油", "co2驱油"),
        ("小米SU7", "小米su7"),
        ("Brent原油", "brent原油"),
        ("瞭解乾隆著作", "了解干隆着作"),
        ("ｶﾞｽ", "ガス"),
        ("é", "é"),
        ("天\u{200B}然\u{AD}气", "天然气"),
        ("a \u{3000}\n b", "a b"),
        ("100㎡", "100m2"),
        ("“油价”，涨！", "“油价”,涨!"),
        ("", ""),
    ] {
        assert_eq!(normalize(text), normal, "{text}");
        assert_eq!(Normalized::new(text).text(), normal, "{text}");
    }
}

#[test]
fn places_are_found_again() {
    let text = "Ａ：頁岩氣，\u{200B}㎡油";
    let normal = Normalized::new(text);
    let of = |part: &str| {
        let start = normal.text().find(part).unwrap();
        let range = normal.original(start, start + part.len());
        text.get(range).unwrap()
    };
    assert_eq!(of("a"), "Ａ");
    assert_eq!(of("页岩气"), "頁岩氣");
    assert_eq!(of("m"), "㎡");
    assert_eq!(of("2油"), "㎡油");
    assert_eq!(normal.original(0, 0), 0..0);
    // The simplified form has four bytes, the traditional one three.
    let longer = Normalized::new("鋹𞺀");
    let first = longer.text().chars().next().map_or(0, char::len_utf8);
    assert_eq!((first, longer.original(0, first)), (4, 0..3));
    assert_eq!(longer.original(first, longer.text().len()), 3..7);
}

proptest! {
    #[test]
    fn normalize_offsets_rise(text in odd_text()) {
        let normal = Normalized::new(&text);
        prop_assert_eq!(normal.text(), normalize_document(&text));
        let ends: Vec<usize> = normal.text().char_indices().map(|(i, _)| i).chain([normal.text().len()]).collect();
        let mut before = 0;
        for pair in ends.windows(2) {
            let range = normal.original(pair[0], pair[1]);
            prop_assert!(text.get(range.clone()).is_some_and(|part| !part.is_empty()), "{range:?}");
            prop_assert!(range.start >= before);
            before = range.start;
            // What a character came from has that character in its own normal form.
            let part = normalize(text.get(range).unwrap()).into_owned();
            let c = normal.text().get(pair[0]..pair[1]).unwrap();
            prop_assert!(part.contains(c) || c == "、", "{part:?} lacks {c:?}");
        }
    }

    #[test]
    fn normalize_is_idempotent(text in odd_text()) {
        let once = normalize(&text).into_owned();
        prop_assert!(!once.contains("  "));
        let lower: String = text.nfkc().flat_map(char::to_lowercase).collect();
        prop_assert_eq!(once.chars().filter(|c| c.is_ascii_alphanumeric()).count(),
            lower.chars().filter(|c| c.is_ascii_alphanumeric()).count());
    }

    #[test]
    fn normalize_part_is_stable(a in "[石油頁岩a-z0-9，。]{0,9}", b in "[頁氣A-Z著，。]{1,9}", c in "[乾隆x，]{0,9}") {
        let whole = normalize(&format!("{a}{b}{c}")).into_owned();
        prop_assert!(whole.contains(normalize(&b).as_ref()));
    }

    #[test]
    fn grams_cover_every_letter(text in odd_text()) {
        let normal = normalize(&text);
        let mut words = Vec::new();
        cut::grams(&normal, &mut words);
        let mut covered = vec![false; normal.len()];
        for word in &words {
            prop_assert!(normal.get(word.start..word.end).is_some());
            let before = normal.get(..word.start).unwrap().chars();
            prop_assert_eq!(before.filter(|c| *c != ' ').count(), word.place);
            covered[word.start..word.end].fill(true);
        }
        let run = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() && !is_cjk(c));
        let letters: Vec<(usize, char)> = normal.char_indices().filter(|(_, c)| *c != ' ').collect();
        for (at, (i, c)) in letters.iter().enumerate() {
            let other = |at: Option<usize>| at.and_then(|at| letters.get(at)).map(|(_, c)| *c);
            let letter = is_cjk(*c) || c.is_alphanumeric() || cut::is_emoji(*c);
            let mark = run(other(at.checked_sub(1))) || run(other(Some(at + 1)));
            prop_assert_eq!(covered[*i], letter || mark, "{}", c);
        }
        for word in DICTIONARY.words(&normal) {
            prop_assert!(normal.get(word.start..word.end).is_some());
        }
    }
}

fn grams_of(text: &str) -> Vec<(usize, &str)> {
    let mut words = Vec::new();
    cut::grams(text, &mut words);
    words.iter().map(|w| (w.place, w.slice_of(text))).collect()
}

#[test]
fn grams_of_mixed_texts() {
    assert_eq!(grams_of("石油气"), [(0, "石油"), (1, "油气")]);
    assert_eq!(
        grams_of("小米su7"),
        [(0, "小米"), (1, "米"), (2, "su7"), (2, "su"), (4, "7")]
    );
    assert_eq!(
        grams_of("9-1油田"),
        [(0, "9"), (1, "-"), (2, "1"), (3, "油"), (3, "油田")]
    );
    assert_eq!(grams_of("油 价"), [(0, "油"), (1, "价")]);
    // Around a blank next to a run nothing is different from where none is.
    assert_eq!(
        grams_of("油价 7 元"),
        [(0, "油价"), (1, "价"), (2, "7"), (3, "元")]
    );
    assert_eq!(
        grams_of("bp 7 - 8"),
        [(0, "bp"), (2, "7"), (3, "-"), (4, "8")]
    );
    assert_eq!(grams_of("a b"), [(0, "a"), (1, "b")]);
    assert_eq!(
        grams_of("👍涨🚀🚀"),
        [(0, "👍"), (1, "涨"), (2, "🚀"), (3, "🚀")]
    );
    assert_eq!(grams_of("，。-!"), []);
    assert_eq!(grams_of("naïve"), [(0, "naïve")]);
    assert_eq!(
        grams_of("涨3.5%，跌 -1"),
        [
            (0, "涨"),
            (1, "3.5"),
            (4, "%"),
            (6, "跌"),
            (7, "-"),
            (8, "1")
        ]
    );
}

#[test]
fn literal_texts_as_grams() {
    use GramPhrase::{Chain, Nothing, Single};
    assert_eq!(gram_phrase("，。"), Nothing);
    assert_eq!(gram_phrase("油"), Single("油"));
    assert_eq!(gram_phrase("（油"), Single("油"));
    assert_eq!(gram_phrase("油,气"), Single("油"));
    assert_eq!(gram_phrase("石油"), Chain(vec![(0, "石油")]));
    assert_eq!(gram_phrase("brent原"), Chain(vec![(0, "brent"), (5, "原")]));
    assert_eq!(
        gram_phrase("小米su7"),
        Chain(vec![(0, "小米"), (2, "su"), (4, "7")])
    );
    assert_eq!(whole_grams("小米su7"), ["小米", "su7"]);
    assert_eq!(gram_phrase("油,天然"), Chain(vec![(2, "天然")]));
    assert_eq!(
        gram_phrase("油田,气,co2"),
        Chain(vec![(0, "油田"), (3, "气"), (4, ","), (5, "co"), (7, "2")])
    );
    // Before it another character may stand, and then it is no gram of its own.
    assert_eq!(gram_phrase("涨.5"), Chain(vec![(1, "."), (2, "5")]));
    assert_eq!(gram_phrase("%"), Nothing);
}

proptest! {
    /// What a literal text demands, every text that contains it has, at the same distances.
    #[test]
    fn grams_find_literal_text(
        before in "[石油ab12 .%,，]{0,4}", text in "[石油a1.%，-]{1,8}", after in "[石油ab12 .%,，]{0,4}",
    ) {
        let whole = normalize(&format!("{before}{text}{after}")).into_owned();
        let text = normalize(&text);
        // Latin runs are found whole only, letters and digits each for themselves, a number with its point.
        let chars: Vec<char> = whole.chars().collect();
        let digit = |at: Option<usize>| at.and_then(|at| chars.get(at)).is_some_and(char::is_ascii_digit);
        let point = |at: usize| chars.get(at) == Some(&'.') && digit(at.checked_sub(1)) && digit(Some(at + 1));
        let cut = |at: usize| {
            let letter = |at: usize| chars.get(at).is_some_and(char::is_ascii_alphabetic);
            at > 0 && (letter(at - 1) && letter(at) || digit(Some(at - 1)) && digit(Some(at))
                || point(at) || point(at - 1))
        };
        let before = normalize(&before);
        let (start, place_of_text) = (before.chars().count(), before.chars().filter(|c| *c != ' ').count());
        prop_assume!(!cut(start) && !cut(start + text.chars().count()));
        prop_assume!(whole.chars().skip(start).collect::<String>().starts_with(&*text));
        if let GramPhrase::Chain(chain) = gram_phrase(&text) {
            let there = grams_of(&whole);
            for (place, gram) in chain {
                prop_assert!(there.contains(&(place_of_text + place, gram)), "{} {} in {}", place, gram, whole);
            }
        }
    }

    /// What is remembered changes no answer.
    #[test]
    fn singles_exclude_pairs(text in "[的油价副总统会石气在一了不起aあ，〇㐀]{0,12}") {
        static SINGLES: LazyLock<Mutex<Singles>> = LazyLock::new(Mutex::default);
        let mut full = Singles::default();
        full.find_in(&(0x4E00..0x6000).filter_map(char::from_u32).collect::<String>());
        let expected = singles_by_hand(&text);
        prop_assert_eq!(&SINGLES.lock().unwrap().find_in(&text), &expected);
        prop_assert_eq!(&full.find_in(&text), &expected);
    }
}

fn singles_by_hand(text: &str) -> String {
    let all: Vec<char> = text.chars().collect();
    let pair = |from: usize| {
        let word = all.get(from..from + 2);
        word.is_some_and(|word| {
            let text: String = word.iter().collect();
            word.iter().all(|c| is_cjk(*c)) && dictionary::is_general_word(&text)
        })
    };
    let alone = |at: &usize| {
        let c = all[*at];
        let reached = (at.saturating_sub(1)..=*at).any(pair);
        is_cjk(c) && !reached && !is_stop_word(&c.to_string())
    };
    (0..all.len()).filter(alone).map(|at| all[at]).collect()
}

#[test]
fn characters_that_stand_alone() {
    let mut singles = Singles::default();
    for (text, alone) in [
        ("油 价", "油价"),
        ("石油价格的上涨", ""),
        ("石油的价", "价"),
        ("石油", ""),
        ("副总统", ""),
        ("", ""),
        ("co2。", ""),
        ("买車", "买車"),
    ] {
        assert_eq!(singles.find_in(text), alone, "{text}");
        assert_eq!(singles.find_in(text), alone, "{text} again");
    }
}

#[test]
fn domain_terms_stay_whole() {
    let words = |text: &'static str| -> Vec<&'static str> {
        DICTIONARY
            .words(text)
            .iter()
            .map(|w| w.slice_of(text))
            .collect()
    };
    assert_eq!(words("旋转导向系统国产化"), ["旋转导向系统", "国产化"]);
    assert_eq!(words("co2驱油与lng接收站"), ["co2驱油", "与", "lng接收站"]);
    assert_eq!(words("flng船"), ["flng", "船"]);
    assert_eq!(words("着名油田"), ["着名", "油田"]);
    assert_eq!(words("café，原油"), ["café", "原油"]);
}

#[test]
fn words_keep_numbers_and_codes() {
    let words = |text: &'static str| -> Vec<&'static str> {
        let words = DICTIONARY.words(text);
        words.iter().map(|w| w.slice_of(text)).collect()
    };
    for (text, cut) in [
        ("增长10.3%左右", vec!["增长", "10.3%", "左右"]),
        ("ny-3097井", vec!["ny-3097", "井"]),
        ("9-1油田", vec!["9-1", "油田"]),
        (
            "于2026-11-10在10:30",
            vec!["于", "2026-11-10", "在", "10:30"],
        ),
        ("20°c,1,028.5吨", vec!["20°c", "1,028.5", "吨"]),
        ("wi-fi与5g/6g", vec!["wi", "fi", "与", "5g", "6g"]),
        ("su7,co2", vec!["su7", "co2"]),
    ] {
        assert_eq!(words(text), cut, "{text}");
    }
}

#[test]
fn lexicons() {
    let lexicon = Lexicon::parse(
        "t",
        "\u{FEFF}頁岩氣 n # 注\n\n# 只有注释\n页岩气\nChristmas Tree\nＬＮＧ船\tnz\n",
    )
    .unwrap();
    let terms: Vec<(&str, Option<&str>)> = lexicon
        .terms()
        .map(|t| (t.text.as_str(), t.tag.as_deref()))
        .collect();
    assert_eq!(
        terms,
        [
            ("页岩气", Some("n")),
            ("christmas tree", None),
            ("lng船", Some("nz"))
        ]
    );
    let long = "油".repeat(33);
    assert_eq!(
        Lexicon::parse("t", &format!("油\n{long}"))
            .unwrap_err()
            .to_string(),
        "lexicon t, line 2: a term of more than 32 characters"
    );
    assert!(Lexicon::builtin("nothing").is_err());
    assert!(Lexicon::builtin("oil-gas").unwrap().terms().count() >= 300);
}

#[test]
fn a_dictionary_can_be_replaced() {
    let analyzer = Analyzer::new(&[]);
    let before = analyzer.dictionary();
    let lexicon = Lexicon::parse("t", "顺北八十四斜井").unwrap();
    analyzer.clone().replace(Dictionary::new(&[lexicon]));
    let after = analyzer.dictionary();
    assert_ne!(before.term_count(), after.term_count());
    assert_eq!(after.words("顺北八十四斜井").len(), 1);
    assert!(before.words("顺北八十四斜井").len() > 1);
    assert!(after.is_term("顺北八十四斜井") && !before.is_term("顺北八十四斜井"));
}

#[test]
fn lexicon_edit_keeps_comments() {
    let text = "# 井\n顺北八十四斜井\tnz # 新\n頁岩氣\n-原油\n";
    let edit = |add: &[&str], remove: &[&str], without: &[&str]| edited(text, add, remove, without);
    assert_eq!(edit(&[], &[], &[]), text);
    assert_eq!(
        edit(&["页岩气", "ＬＮＧ船"], &[], &[]),
        format!("{text}ＬＮＧ船\n")
    );
    assert_eq!(edit(&["原油"], &[], &[]), text.replace("-原油", "原油"));
    assert_eq!(
        edit(&[], &["页岩气", "顺北八十四斜井"], &["天然气", "原油"]),
        "# 井\n-天然气\n-原油\n"
    );
    assert_eq!(edited("a\n", &["b\tnz"], &[], &[]), "a\nb\tnz\n");
    assert_eq!(
        edited("\u{FEFF}油气", &["油气"], &[], &[]),
        "\u{FEFF}油气\n"
    );
}

#[test]
fn lexicon_later_removes_terms() {
    let first = Lexicon::parse("a", "顺北八十四斜井\n超深井").unwrap();
    let second = Lexicon::parse("b", "- 超深井").unwrap();
    let dictionary = Dictionary::new(&[first.clone(), second.clone()]);
    assert!(dictionary.is_term("顺北八十四斜井") && !dictionary.is_term("超深井"));
    assert!(Dictionary::new(&[second, first]).is_term("超深井"));
}

#[test]
fn what_can_be_a_term() {
    for fine in ["页岩油", "CO2驱油", "christmas tree", "9-1油田"] {
        assert_eq!(term_problem(fine), None, "{fine}");
    }
    let long = "油".repeat(33);
    for wrong in [
        "",
        " ",
        "，。",
        "-页岩油",
        "页岩#油",
        "页岩\n油",
        "油\tn",
        &long,
    ] {
        assert!(term_problem(wrong).is_some(), "{wrong:?}");
    }
}

#[test]
fn frequencies_of_general_text() {
    let dictionary = Dictionary::new(&[Lexicon::parse("t", "顺北八十四斜井").unwrap()]);
    let (common, rare) = (
        dictionary.per_million("中国"),
        dictionary.per_million("页岩"),
    );
    assert!(common > rare && rare > Some(0.0), "{common:?} {rare:?}");
    assert_eq!(dictionary.per_million("顺北八十四斜井"), None);
    let tagged: Vec<(&str, &str)> = dictionary
        .tagged("勘探石油,")
        .map(|t| (t.text, t.tag))
        .collect();
    assert_eq!(tagged, [("勘探", "vn"), ("石油", "n"), (",", "x")]);
}

proptest! {
    /// Ideographs of the main block are cut run by run, those of Extension A one by one.
    #[test]
    fn grams_of_common_ideographs_equal_rare(text in "[一丁丂a1. ，☀か]{0,24}") {
        let rare = |c: char| match c {
            '一'..='丂' => char::from_u32(u32::from(c) - 0x4E00 + 0x3400).unwrap(),
            c => c,
        };
        let rare: String = text.chars().map(rare).collect();
        let (mut of_common, mut of_rare) = (Vec::new(), Vec::new());
        cut::grams(&text, &mut of_common);
        cut::grams(&rare, &mut of_rare);
        prop_assert_eq!(of_common, of_rare);
    }
}
