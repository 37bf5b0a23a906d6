//! Tokens, shingles, titles, days.

use crate::{BODY_SHINGLE, Bag, Overlap, TokenNumbers, normalize_title, parse_day};

fn overlap(gold: &str, extracted: &str, size: usize) -> (f64, f64, f64) {
    let mut numbers = TokenNumbers::default();
    let gold = Bag::new(gold, size, &mut numbers);
    let found = gold.overlap(&Bag::new(extracted, size, &mut numbers));
    (found.right, found.extra, found.missed)
}

#[test]
fn tokens_as_in_python() {
    for (text, tokens) in [
        ("", ""),
        ("。，！", ""),
        ("小米SU7油气_9-1", "小 米 SU7 油 气 _9 1"),
        ("日・本ー語", "日 ・ 本 ー 語"),
        ("한국어 abc", "한 국 어 abc"),
        ("it's e\u{301}tude", "it s e tude"),
        ("x\u{200d}y", "x y"),
        // Vowel signs are no letters there, though alphabetic by Unicode.
        ("हिन्दी", "ह न द"),
        ("ภาษาไทยที่", "ภาษาไทยท"),
        ("Ⓐbc①½Ⅷ", "bc①½Ⅷ"),
        // Only the basic block and the first extension stand alone.
        ("𠀀𠀁x", "𠀀𠀁x"),
    ] {
        let count = tokens.split_whitespace().count() as f64;
        assert_eq!(overlap(text, text, 1), (count, 0.0, 0.0), "{text}");
        let apart: Vec<&str> = tokens.split_whitespace().collect();
        assert_eq!(
            overlap(text, &apart.join("。"), 1),
            (count, 0.0, 0.0),
            "{text}"
        );
    }
}

#[test]
fn bag_of_four_tokens() {
    let four = |gold, extracted| overlap(gold, extracted, BODY_SHINGLE);
    assert_eq!(
        four(
            "one two three four five six",
            "one two three four five seven eight"
        ),
        (2.0, 2.0, 1.0)
    );
    assert_eq!(four("a b", "a b"), (1.0, 0.0, 0.0));
    assert_eq!(four("a b", "a b c d e"), (0.0, 2.0, 1.0));
    assert_eq!(four("a a a a a a", "a a a a a"), (2.0, 0.0, 1.0));
    assert_eq!(four("油气田", ""), (0.0, 0.0, 1.0));
    assert_eq!(four("。", ""), (0.0, 0.0, 0.0));
}

#[test]
fn rates_of_empty_texts() {
    let rates = |right, extra, missed| {
        Overlap {
            right,
            extra,
            missed,
        }
        .rates()
    };
    assert_eq!(rates(0.0, 0.0, 0.0), (1.0, 1.0, 1.0));
    assert_eq!(rates(0.0, 0.0, 3.0), (0.0, 0.0, 0.0));
    assert_eq!(rates(0.0, 3.0, 0.0), (0.0, 1.0, 0.0));
    assert_eq!(
        rates(2.0, 2.0, 1.0),
        (0.5, 2.0 / 3.0, 0.571_428_571_428_571_5)
    );
}

#[test]
fn title_without_typography() {
    assert_eq!(
        normalize_title("  “Ａ股”\u{3000}涨 \u{1c}3％ ﬁ '「x」'"),
        "A股涨3%fix"
    );
    assert_ne!(normalize_title("Gas"), normalize_title("gas"));
    assert_ne!(normalize_title("甲：乙"), normalize_title("甲乙"));
}

#[test]
fn day_anywhere_in_text() {
    for (text, expected) in [
        ("2019-09-07T13:43", Some((2019, 9, 7))),
        ("2019年9月7日", Some((2019, 9, 7))),
        ("发布于２０１９年９月７日", Some((2019, 9, 7))),
        ("20190907", Some((2019, 9, 7))),
        ("2019.9.7 1:2", Some((2019, 9, 7))),
        ("١٩٩٥-٠١-٠٢", Some((1995, 1, 2))),
        ("𝟚𝟘𝟙𝟡-𝟘𝟙-𝟘𝟚", Some((2019, 1, 2))),
        ("1 2019\n12\n31x", Some((2019, 12, 31))),
        // What looks odd is so there too.
        ("2019-13", Some((2019, 1, 3))),
        ("12019-01-02", Some((1201, 9, 1))),
        ("--09-07", None),
        ("9/7/2019", None),
        ("2019--1-2", None),
        ("", None),
    ] {
        assert_eq!(parse_day(text), expected, "{text}");
    }
}
