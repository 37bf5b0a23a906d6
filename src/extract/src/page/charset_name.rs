//! Names of charsets. In: an encoding. Out: its WHATWG name in lower case.

use encoding_rs::Encoding;

/// Those whose name has capital letters; the others are in lower case already.
const LOWER_NAMES: [&str; 25] = [
    "utf-8",
    "gbk",
    "big5",
    "euc-jp",
    "iso-2022-jp",
    "shift_jis",
    "euc-kr",
    "utf-16be",
    "utf-16le",
    "ibm866",
    "iso-8859-2",
    "iso-8859-3",
    "iso-8859-4",
    "iso-8859-5",
    "iso-8859-6",
    "iso-8859-7",
    "iso-8859-8",
    "iso-8859-8-i",
    "iso-8859-10",
    "iso-8859-13",
    "iso-8859-14",
    "iso-8859-15",
    "iso-8859-16",
    "koi8-r",
    "koi8-u",
];

/// The name of a charset as pages and documents give it.
pub(super) fn lower_name(encoding: &'static Encoding) -> &'static str {
    LOWER_NAMES
        .into_iter()
        .find(|name| encoding.name().eq_ignore_ascii_case(name))
        .unwrap_or(encoding.name())
}
