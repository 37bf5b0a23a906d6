use crate::page::measure::is_letter;

#[test]
fn letters_outside_ascii_are_those_of_unicode() {
    for c in '\u{80}'..=char::MAX {
        assert_eq!(is_letter(c), c.is_alphanumeric(), "{c:?}");
    }
}
