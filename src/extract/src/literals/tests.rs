use proptest::prelude::*;
use regex::Regex;

use super::{Literals, byte_set, count_bytes, lean};

#[test]
fn nothing_is_seen_where_no_word_stands() {
    let literals = Literals::of([("share", 1), ("评论", 2)]);
    for text in ["", "shar", "s h a r e", "评", "论评", "\u{8bc4}x\u{8bba}"] {
        assert_eq!(literals.seen(text.as_bytes()), 0, "{text}");
        assert!(!literals.stand_in(text), "{text}");
    }
    let none = Literals::of(Vec::<(&str, u32)>::new());
    assert_eq!(none.seen("anything".as_bytes()), 0);
}

#[test]
fn words_inside_others_and_over_each_other_are_seen() {
    let literals = Literals::of([("he", 1), ("she", 2), ("hers", 4), ("his", 8)]);
    assert_eq!(literals.seen("USHERS".as_bytes()), 7);
    assert_eq!(literals.seen("this".as_bytes()), 8);
    assert_eq!(literals.seen("ahishe".as_bytes()), 11);
}

#[test]
fn beginnings_are_seen_at_the_beginning_only() {
    let words = Literals::of([("more", 1), ("more from", 2), ("相关", 4), ("mo", 8)]);
    assert_eq!(words.begin_with("More From us".as_bytes()), 11);
    assert_eq!(words.begin_with("mor".as_bytes()), 8);
    assert_eq!(words.begin_with("no more".as_bytes()), 0);
    assert_eq!(words.begin_with("相关阅读".as_bytes()), 4);
    assert_eq!(words.begin_with("m".as_bytes()), 0);
    assert_eq!(words.begin_with(b""), 0);
}

#[test]
fn lean_classes_stand_where_the_classes_stood() {
    assert_eq!(lean(r"a\d{2}[\d_]\D\[\s"), r"a[0-9]{2}[0-9_][^0-9]\[\s");
    let same = |pattern: &str, texts: &[&str]| {
        let (whole, lean) = (Regex::new(pattern), Regex::new(&lean(pattern)));
        let (whole, lean) = (whole.expect("a pattern"), lean.expect("a lean pattern"));
        for text in texts {
            assert_eq!(whole.find(text), lean.find(text), "{pattern} {text}");
        }
    };
    same(
        r"(?i)^\W*(more|相关)[\W\d_]*$",
        &[
            "【相关】12",
            "» More",
            "——更多",
            "①相关",
            "no more",
            "（More）_ 3 …",
            "\u{301}more",
            "a more",
        ],
    );
    same(
        r"(\p{L}{3,12})\.?\s+(\d{1,2})",
        &[
            "März 3",
            "(août 12",
            "、2月 12",
            "июля 7",
            "مارس، 5",
            "do 7",
            "Sept. 30",
            "3월 4",
            "abc\u{a0}12",
        ],
    );
}

#[test]
fn lean_signs_are_no_letters_and_letters_are_letters() {
    let set = |pattern: &str| Regex::new(pattern).expect("a class");
    let (sign, letter) = (
        set(&format!("^{}$", lean(r"\W"))),
        set(&format!("^{}$", lean(r"\p{L}"))),
    );
    let word = set(r"^\w$");
    let mut buffer = [0; 4];
    for char in '\0'..='\u{1FFFF}' {
        let text = &*char.encode_utf8(&mut buffer);
        assert!(
            !(sign.is_match(text) && word.is_match(text)),
            "{char:?} is no sign"
        );
        let is_word = word.is_match(text) || !char.is_alphanumeric();
        assert!(!letter.is_match(text) || is_word, "{char:?} is no letter");
    }
}

proptest! {
    #[test]
    fn what_is_seen_is_what_a_search_for_each_word_finds(
        words in proptest::collection::vec("文|[abAB文]{2,4}", 1..12),
        text in "[abAB文 ]{0,40}",
    ) {
        let bits = |i: usize| 1u32 << i;
        let literals = Literals::of(words.iter().enumerate().map(|(i, w)| (w, bits(i))));
        let lower = text.to_lowercase();
        let expected = words.iter().enumerate()
            .filter(|(_, w)| lower.contains(&w.to_lowercase()))
            .fold(0, |seen, (i, _)| seen | bits(i));
        prop_assert_eq!(literals.seen(text.as_bytes()), expected);
        prop_assert_eq!(literals.stand_in(&text), expected != 0);
        let expected = words.iter().enumerate()
            .filter(|(_, w)| lower.starts_with(&w.to_lowercase()))
            .fold(0, |seen, (i, _)| seen | bits(i));
        prop_assert_eq!(literals.begin_with(text.as_bytes()), expected);
    }
}

#[test]
fn bytes_are_counted_over_blocks_of_any_length() {
    let marks = byte_set(b"ab\xE4");
    for len in [0, 1, 127, 128, 129, 600] {
        let text: Vec<u8> = (0..len).map(|at| [b'a', b'x', 0xE4][at % 3]).collect();
        let expected = text.iter().filter(|b| **b != b'x').count();
        assert_eq!(count_bytes(&text, |b| marks[usize::from(b)]), expected);
    }
    assert_eq!(count_bytes(&[b'a'; 256], |_| true), 256);
}
