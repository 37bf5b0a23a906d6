use proptest::prelude::*;

use super::*;

#[test]
fn normalize_folds_dashes() {
    for text in [
        "7–3", "7—3", "7——3", "7－3", "7~3", "7～3", "7−3", "7‐3", "7─3", "7〜3",
    ] {
        assert_eq!(normalize(text), "7-3", "{text}");
        assert_eq!(Normalized::new(text).text(), "7-3", "{text}");
    }
}

#[test]
fn normalize_folds_numbers() {
    for (text, normal, case) in [
        ("4,716吨", "4716吨", "thousands"),
        ("4,716,050", "4716050", "millions"),
        ("４，７１６", "4716", "full width"),
        ("4，716.20", "4716.2", "the comma of an input method"),
        ("4 716 050", "4716050", "blanks"),
        ("61 000吨", "61000吨", "a blank before zeros"),
        ("61 300吨", "61 300吨", "two numbers as well"),
        ("139 2244 5588", "139 2244 5588", "a telephone number"),
        ("1,2,3", "1,2,3", "a list"),
        ("7,512,33", "7,512,33", "a list with a part of three digits"),
        ("2031,104", "2031,104", "too long in front"),
        ("0,716", "0,716", "begins with a zero"),
        ("301,302,303室", "301,302,303室", "rooms"),
        ("301，512人", "301、512人", "a comma of a sentence"),
        ("301,512,044", "301512044", "a large number"),
        ("B4,716", "b4,716", "part of a name"),
        ("8.50%", "8.5%", "a zero at the end"),
        ("8.500", "8.5", "zeros at the end"),
        ("4,716.00元", "4716元", "whole"),
        ("8.0", "8.0", "a version"),
        ("8.000", "8.000", "a thousand elsewhere"),
        ("3.20", "3.20", "a day or a version"),
        ("2031.10", "2031.10", "a month"),
        ("v8.50", "v8.50", "a version"),
        ("1.8.50", "1.8.50", "a longer version"),
        ("10.24.8.50", "10.24.8.50", "an address"),
        ("2031.11.20", "2031.11.20", "a day"),
    ] {
        assert_eq!(normalize(text), normal, "{case}");
        assert_eq!(normalize(normal), normal, "{case}");
        assert_eq!(Normalized::new(text).text(), normal, "{case}");
    }
}

#[test]
fn normalize_document_joins_ideographs() {
    for (text, normal, case) in [
        ("输 气管 线", "输气管线", "a line of a PDF"),
        ("输\u{3000}气\u{A0}管", "输气管", "other blanks"),
        ("输气\n管线", "输气 管线", "two lines"),
        ("输气 LNG 管线", "输气 lng 管线", "letters"),
        ("가스 배관", "가스 배관", "a script with blanks"),
    ] {
        assert_eq!(normalize_document(text), normal, "{case}");
    }
    assert_eq!(normalize("输 气管 线"), "输 气管 线");
}

#[test]
fn folded_numbers_are_found_again() {
    let text = "共４，７１６ 户，8,350.40元，输 气管";
    let normal = Normalized::new(text);
    for (part, original) in [
        ("4716", "４，７１６"),
        ("8350.4", "8,350.40"),
        ("8350", "8,350"),
        ("输气管", "输 气管"),
    ] {
        let start = normal.text().find(part).unwrap();
        assert_eq!(
            text.get(normal.original(start, start + part.len())),
            Some(original),
            "{part}"
        );
    }
}

#[test]
fn haystack_ignores_blanks() {
    for (text, part, found) in [
        (
            "见 qb/t 5521-2016 号",
            "qb/t5521-2016",
            Some("qb/t 5521-2016"),
        ),
        ("见qb/t5521-2016", "qb/t 5521-2016", Some("qb/t5521-2016")),
        ("涨 28 %", "28%", Some("28 %")),
        ("sun power", "sunpower", None),
        ("sunpower", "sun power", None),
        ("28 30", "2830", None),
        ("输气 管线", "输气管", None),
        ("sun 7", "sun", Some("sun")),
    ] {
        let haystack = Haystack::new(text);
        let at = haystack.occurrences(part).next();
        assert_eq!(at.and_then(|at| text.get(at)), found, "{part} in {text}");
    }
}

proptest! {
    #[test]
    fn folded_form_is_stable(text in "[0-9０１,，. 、元油气a—~\n]{0,24}") {
        let once = normalize(&text).into_owned();
        prop_assert_eq!(normalize(&once), once.as_str());
        let document = normalize_document(&text).into_owned();
        prop_assert_eq!(Normalized::new(&text).text().to_owned(), document);
    }

    #[test]
    fn haystack_gives_places_of_the_text(text in "[油气a7 .%]{0,16}", part in "[油气a7 .%]{1,4}") {
        let part = part.trim();
        for at in Haystack::new(&text).occurrences(part) {
            let squeezed = |text: &str| text.replace(' ', "");
            prop_assert_eq!(squeezed(text.get(at).unwrap()), squeezed(part));
        }
    }
}
