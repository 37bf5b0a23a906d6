//! The table of words has what jieba has, and what is cut with it is cut as jieba with all words cuts it.

use std::sync::LazyLock;

use jieba_rs::Jieba;
use proptest::prelude::*;

use super::cut;
use super::dictionary::Dictionary;
use super::general::{GENERAL, Words, normal_variants};
use super::lexicon::Lexicon;

static JIEBA: LazyLock<Jieba> = LazyLock::new(|| {
    let mut jieba = Jieba::new();
    for normal in normal_variants() {
        jieba.add_word(&normal, None, None);
    }
    jieba
});

/// Terms that the general dictionary has, that others begin with, and that come twice.
const MORE_TERMS: &str =
    "的是\n石油\n页岩\n页岩气藏\n页岩气\n气藏描述\n9-1油田\nco2驱\n一不\n一不在人\n中国\n油a\n龘龘";

/// Terms of two lexicons, jieba with them added one by one, and the words to take from for a text.
static WITH_TERMS: LazyLock<(Vec<String>, Jieba, Words)> = LazyLock::new(|| {
    let mut terms = Vec::new();
    let more = Lexicon::parse("more", MORE_TERMS).expect("fine terms");
    for lexicon in [Lexicon::builtin("oil-gas").expect("built in"), more] {
        let chinese = lexicon
            .terms()
            .filter(|term| term.text.chars().any(cut::is_cjk));
        terms.extend(chinese.map(|term| term.text.clone()));
    }
    let mut jieba = JIEBA.clone();
    for term in &terms {
        jieba.add_word(term, None, Some("nz"));
    }
    let words = GENERAL.with(&terms);
    (terms, jieba, words)
});

/// What a text is made of: words of the dictionary, in the order of their characters.
static GENERAL_WORDS: LazyLock<Vec<String>> = LazyLock::new(|| GENERAL.all().into_keys().collect());

fn assert_same_words(words: &Words, jieba: &Jieba) {
    let all = words.all();
    for (word, frequency) in &all {
        assert!(jieba.has_word(word), "{word} is not jieba's");
        assert_eq!(words.frequency(word), Some(*frequency), "{word}");
    }
    let total: usize = all.values().sum();
    assert_eq!(words.total(), total);
    let described = format!("{jieba:?}");
    let count = format!("records_len: {},", all.len());
    assert!(described.contains(&count), "{count} {described}");
    let total = format!("total_freq: {total} ");
    assert!(described.contains(&total), "{total} {described}");
}

#[test]
fn general_dictionary_equals_jieba() {
    assert_same_words(&GENERAL, &JIEBA);
    assert_eq!(GENERAL.frequency(""), None);
    assert_eq!(GENERAL.frequency("顺北八十四斜井"), None);
    assert!(GENERAL.has("石油") && !GENERAL.has("") && !GENERAL.has("顺北八十四斜井"));
}

#[test]
fn general_added_terms_equal_jieba() {
    let (terms, jieba, words) = &*WITH_TERMS;
    assert_same_words(words, jieba);
    for term in terms {
        // What jieba suggests for a word of its own is the frequency that it has, or the least that keeps it whole.
        let suggested = words.jieba([term.as_str()]).suggest_freq(term);
        assert_eq!(suggested, jieba.suggest_freq(term), "{term}");
    }
}

fn tokens(jieba: &Jieba, text: &str) -> Vec<(usize, usize)> {
    let tokens = jieba.cut(text, false).into_iter();
    tokens
        .map(|token| (token.byte_start, token.byte_end))
        .collect()
}

#[test]
fn general_cut_equals_whole() {
    let (_, jieba, words) = &*WITH_TERMS;
    for text in [
        "",
        "川南页岩气水平井分段压裂产量创新高，同比增长3.5%。",
        "中国石油化工集团有限公司lng接收站co2驱油t恤au9999",
        "结婚的和尚未结婚的；南京市长江大桥\r\n我们中出了一个叛徒\n",
        "a b-c_d#e 9-1油田 4s店 b超 卡拉ok",
        "𠮷野家䶮㐂 頁岩氣開發 \u{E000}\u{E000}石油\u{E000}",
        "页岩气藏描述的是一不在人",
    ] {
        assert_eq!(tokens(&words.jieba([text]), text), tokens(jieba, text));
        assert_eq!(tokens(&GENERAL.jieba([text]), text), tokens(&JIEBA, text));
    }
}

/// Words, terms, and what may stand between and next to them.
fn mixed_text() -> impl Strategy<Value = String> {
    let word = any::<prop::sample::Index>();
    let piece = prop_oneof![
        4 => word.prop_map(|at| at.get(&GENERAL_WORDS).clone()),
        4 => any::<prop::sample::Index>().prop_map(|at| at.get(&WITH_TERMS.0).clone()),
        4 => "[天然气页岩油田的一不在人有是为以于上他而后之来及了因下可到由这与也此但并个其已无小我们]{1,6}",
        1 => "[\u{4E00}-\u{9FFF}]{1,3}",
        1 => "[頁氣開發鑽著乾裡國𠮷㐂豈]{1,3}",
        1 => "[a-zA-Z0-9]{1,4}",
        1 => "[-+#&._% ，。！\r\n\u{E000}é]{1,3}",
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]
    #[test]
    fn general_odd_cut_equals_whole(text in mixed_text()) {
        let (_, jieba, words) = &*WITH_TERMS;
        prop_assert_eq!(tokens(&words.jieba([text.as_str()]), &text), tokens(jieba, &text));
        prop_assert_eq!(tokens(&GENERAL.jieba([text.as_str()]), &text), tokens(&JIEBA, &text));
    }
}

#[test]
fn search_loads_no_jieba() {
    let lexicons = [Lexicon::builtin("oil-gas").expect("built in")];
    let dictionary = Dictionary::new(&lexicons);
    let query = "页岩气水平井压裂技术的最新进展";
    let words = dictionary.words(query);
    for _ in 0..9 {
        dictionary.words(query);
    }
    assert!(!dictionary.is_loaded());
    assert!(dictionary.tagged(query).count() > 0 && dictionary.is_loaded());
    assert_eq!(dictionary.words(query), words);

    let dictionary = Dictionary::new(&lexicons);
    let long = query.repeat(300);
    assert!(dictionary.words(&long).len() > 300 && dictionary.is_loaded());
}

#[test]
fn many_cuts_load_jieba_once() {
    let dictionary = Dictionary::new(&[]);
    let headline = "川南页岩气水平井分段压裂产量创新高";
    let cuts = (1..)
        .take_while(|_| !dictionary.is_loaded() && !dictionary.words(headline).is_empty())
        .count();
    assert!((20..200).contains(&cuts), "{cuts}");
}
