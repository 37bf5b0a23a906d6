use crate::page::measure::is_letter;

#[test]
fn measure_letters_of_unicode() {
    for c in '\u{80}'..=char::MAX {
        assert_eq!(is_letter(c), c.is_alphanumeric(), "{c:?}");
    }
}
