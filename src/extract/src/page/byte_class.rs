//! What single bytes mean inside a tag: white space, the ends of names and of values. In: bytes. Out: classes of them.
//! A table, so that one look at a byte answers each question.

/// White space of HTML.
const SPACE: u8 = 1;
/// Ends the name of a tag.
pub(super) const NAME_END: u8 = 2;
/// Ends the name of an attribute.
pub(super) const KEY_END: u8 = 4;
/// Ends a value without quotes.
pub(super) const VALUE_END: u8 = 8;
const CLASSES: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut classes = [0; 256];
    let spaces = b" \n\t\r\x0C";
    let mut i = 0;
    while i < spaces.len() {
        classes[spaces[i] as usize] = SPACE | NAME_END | KEY_END | VALUE_END;
        i += 1;
    }
    classes[b'/' as usize] = NAME_END | KEY_END;
    classes[b'=' as usize] = KEY_END;
    classes[b'>' as usize] = NAME_END | KEY_END | VALUE_END;
    classes
}

/// White space of HTML.
pub(super) const fn is_space(byte: u8) -> bool {
    CLASSES[byte as usize] & SPACE != 0
}

/// Whether the name of a tag ends before this byte.
pub(super) const fn ends_name(byte: u8) -> bool {
    CLASSES[byte as usize] & NAME_END != 0
}

/// Length of the beginning without a byte of this class.
#[inline]
pub(super) fn until(class: u8, bytes: &[u8]) -> usize {
    bytes
        .iter()
        .position(|&b| CLASSES[b as usize] & class != 0)
        .unwrap_or(bytes.len())
}
