use proptest::prelude::*;

use super::{Beginnings, Literals, count_bytes};

#[test]
fn literals_no_word() {
    let literals = Literals::new([("share", 1), ("评论", 2)]);
    for text in ["", "shar", "s h a r e", "评", "论评", "\u{8bc4}x\u{8bba}"] {
        assert_eq!(literals.seen(text.as_bytes()), 0, "{text}");
        assert!(!literals.stand_in(text), "{text}");
    }
    let none = Literals::new(Vec::<(&str, u32)>::new());
    assert_eq!(none.seen("anything".as_bytes()), 0);
}

#[test]
fn literals_overlapping_words() {
    let literals = Literals::new([("he", 1), ("she", 2), ("hers", 4), ("his", 8)]);
    assert_eq!(literals.seen("USHERS".as_bytes()), 7);
    assert_eq!(literals.seen("this".as_bytes()), 8);
    assert_eq!(literals.seen("ahishe".as_bytes()), 11);
}

#[test]
fn beginnings_only_at_start() {
    let words = Beginnings::new([("more", 1), ("more from", 2), ("相关", 4), ("mo", 8)]);
    let begun = |text| words.of_text(text).collect::<Vec<_>>();
    assert_eq!(begun("More From us"), [(8, 2), (1, 4), (2, 9)]);
    assert_eq!(begun("mor"), [(8, 2)]);
    assert_eq!(begun("no more"), []);
    assert_eq!(begun("相关阅读"), [(4, 6)]);
    assert_eq!(begun(""), []);
}

proptest! {
    #[test]
    fn literals_as_single_searches(
        words in proptest::collection::vec("文|[abAB文]{2,4}", 1..12),
        text in "[abAB文 ]{0,40}",
    ) {
        let bits = |i: usize| 1u32 << i;
        let literals = Literals::new(words.iter().enumerate().map(|(i, w)| (w, bits(i))));
        let beginnings = Beginnings::new(words.iter().enumerate().map(|(i, w)| (w, bits(i))));
        let lower = text.to_lowercase();
        let expected = words.iter().enumerate()
            .filter(|(_, w)| lower.contains(&w.to_lowercase()))
            .fold(0, |seen, (i, _)| seen | bits(i));
        prop_assert_eq!(literals.seen(text.as_bytes()), expected);
        prop_assert_eq!(literals.stand_in(&text), expected != 0);
        let expected = words.iter().enumerate()
            .filter(|(_, w)| lower.starts_with(&w.to_lowercase()))
            .fold(0, |seen, (i, _)| seen | bits(i));
        let begun = beginnings.of_text(&text).fold(0, |seen, (bits, _)| seen | bits);
        prop_assert_eq!(begun, expected);
    }
}

#[test]
fn count_bytes_any_length() {
    for len in [0, 1, 127, 128, 129, 600] {
        let text: Vec<u8> = (0..len).map(|at| [b'a', b'x', 0xE4][at % 3]).collect();
        let expected = text.iter().filter(|b| **b != b'x').count();
        assert_eq!(count_bytes(&text, |b| matches!(b, b'a' | 0xE4)), expected);
    }
    assert_eq!(count_bytes(&[b'a'; 256], |_| true), 256);
}
