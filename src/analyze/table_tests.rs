//! The tables that are part of the program say what the libraries say that they were made from, and the cut is jieba's.

use std::sync::LazyLock;

use ferrous_opencc::OpenCC;
use ferrous_opencc::config::BuiltinConfig;
use jieba_rs::Jieba;
use proptest::prelude::*;

use super::dictionary::{Dictionary, normal_variants};
use super::lexicon::Lexicon;
use super::segment::Segmenter;
use super::{TABLE, cut, general, normalize};

const MEND: &str = "run: cargo run --example make_tables";

static JIEBA: LazyLock<Jieba> = LazyLock::new(|| {
    let mut jieba = Jieba::new();
    for normal in normal_variants() {
        jieba.add_word(&normal, None, None);
    }
    jieba
});

/// jieba and a segmenter with the same lexicon.
static WITH_TERMS: LazyLock<(Jieba, Segmenter)> = LazyLock::new(|| {
    let (mut jieba, mut segmenter) = (JIEBA.clone(), Segmenter::new());
    let lexicon = Lexicon::builtin("oil-gas").expect("built in");
    let terms = lexicon
        .terms()
        .filter(|term| term.text.chars().any(cut::is_cjk));
    for term in terms {
        jieba.add_word(&term.text, None, None);
        segmenter.add(&term.text);
    }
    (jieba, segmenter)
});

#[test]
fn the_general_dictionary_is_that_of_jieba_and_the_variants() {
    let (mut words, mut total) = (0, 0);
    general::for_each(|word, frequency| {
        assert!(JIEBA.has_word(word), "{word} is not jieba's; {MEND}");
        words += 1;
        total += frequency;
    });
    let described = format!("{:?}", *JIEBA);
    assert!(
        described.contains(&format!("records_len: {words},")),
        "{words}: {described}; {MEND}"
    );
    assert!(
        described.contains(&format!("total_freq: {total} ")),
        "{total}: {described}; {MEND}"
    );
    assert_eq!(general::total(), total);
    assert_eq!(
        (general::frequency(""), general::frequency("顺北八十四斜井")),
        (None, None)
    );
}

#[test]
fn the_simplified_forms_are_those_of_opencc() {
    let converter = OpenCC::from_config(BuiltinConfig::T2s).expect("its tables");
    let all: Vec<char> = TABLE.filter_map(char::from_u32).collect();
    let lines: String = all.iter().flat_map(|c| [*c, '\n']).collect();
    let converted = converter.convert(&lines);
    let mut different = 0;
    for (c, simple) in all.iter().zip(converted.lines()) {
        // Readings that we chose ourselves, and forms that take two steps.
        let ours = normalize(&c.to_string()).into_owned();
        let known = ['瞭', '藉', '著'].contains(c) || ours == normalize(simple);
        let single = simple.chars().count() == 1;
        assert!(known || !single, "{c}: {ours}, not {simple}; {MEND}");
        different += u32::from(ours != c.to_string());
    }
    assert!(different > 3_000, "{different}");
}

fn jieba_cut(jieba: &Jieba, text: &str) -> Vec<(usize, usize)> {
    let tokens = jieba.cut(text, false).into_iter();
    tokens
        .map(|token| (token.byte_start, token.byte_end))
        .collect()
}

fn our_cut(segmenter: &Segmenter, text: &str) -> Vec<(usize, usize)> {
    let tokens = segmenter.cut(text).into_iter();
    tokens.map(|token| (token.start, token.end)).collect()
}

#[test]
fn texts_are_cut_as_jieba_cuts_them() {
    let (jieba, segmenter) = &*WITH_TERMS;
    for text in [
        "",
        "川南页岩气水平井分段压裂产量创新高，同比增长3.5%。",
        "中国石油化工集团有限公司lng接收站co2驱油t恤au9999",
        "结婚的和尚未结婚的；南京市长江大桥\r\n我们中出了一个叛徒\n",
        "a b-c_d#e 9-1油田 4s店 b超 卡拉ok",
        "𠮷野家䶮㐂",
    ] {
        assert_eq!(our_cut(segmenter, text), jieba_cut(jieba, text), "{text}");
        assert_eq!(
            our_cut(&Segmenter::new(), text),
            jieba_cut(&JIEBA, text),
            "{text}"
        );
    }
}

proptest! {
    #[test]
    fn odd_texts_are_cut_as_jieba_cuts_them(
        text in "([天然气页岩油田的一不在人有是为以于上他而后之来及了因下可到由这与也此但并个其已无小我们起最再今去好只又或很亦某把那你乃它吧]{1,9}|[a-z0-9]{1,3}|[-+#&._% ，\r\n]){0,9}"
    ) {
        let (jieba, segmenter) = &*WITH_TERMS;
        prop_assert_eq!(our_cut(segmenter, &text), jieba_cut(jieba, &text));
    }
}

#[test]
fn a_search_makes_no_tagger() {
    let dictionary = Dictionary::new(&[Lexicon::builtin("oil-gas").expect("built in")]);
    dictionary.words("页岩气水平井");
    assert!(!dictionary.has_tagger());
    assert!(dictionary.tagged("页岩气").count() > 0 && dictionary.has_tagger());
}
