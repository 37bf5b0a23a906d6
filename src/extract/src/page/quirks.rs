//! Quirks mode, of which one rule moves text: there a table does not close an open paragraph.

/// Public identifiers (lower case) that ask for quirks mode by their beginning.
const QUIRKY_PREFIXES: &[&[u8]] = &[
    b"-//w3c//dtd html 3",
    b"-//w3c//dtd html 4.0 transitional",
    b"-//w3c//dtd html 4.0 frameset",
    b"-//w3c//dtd html experimental",
    b"-//w3c//dtd w3 html",
    b"-//w3o//dtd",
    b"-//ietf//dtd html",
    b"-//netscape",
    b"-//microsoft",
    b"-//softquad",
    b"-//as//dtd html",
    b"-//advasoft",
    b"-//webtechs",
    b"-//sun microsystems",
    b"-//spyglass",
    b"+//silmaril",
    b"html",
];

/// Those that do so only without a system identifier.
const QUIRKY_WITHOUT_SYSTEM: &[&[u8]] = &[
    b"-//w3c//dtd html 4.01 transitional",
    b"-//w3c//dtd html 4.01 frameset",
];

/// Whether the part of a doctype after the word `DOCTYPE` asks for quirks mode.
pub(super) fn doctype_asks_for_quirks(rest: &[u8]) -> bool {
    let lower = rest.trim_ascii().to_ascii_lowercase();
    let Some(after_name) = lower.strip_prefix(b"html") else {
        return true;
    };
    let after_name = after_name.trim_ascii();
    if let Some(ids) = after_name.strip_prefix(b"public") {
        let mut quoted = ids.split(|&b| b == b'"' || b == b'\'');
        let public = quoted.nth(1).unwrap_or_default();
        let system = quoted.nth(1);
        let starts = |prefixes: &[&[u8]]| prefixes.iter().any(|p| public.starts_with(p));
        return starts(QUIRKY_PREFIXES) || (system.is_none() && starts(QUIRKY_WITHOUT_SYSTEM));
    }
    false
}

#[cfg(test)]
mod tests {
    use super::doctype_asks_for_quirks;

    #[test]
    fn old_doctypes_ask_for_quirks_and_new_ones_do_not() {
        for (rest, quirky) in [
            (&b" html"[..], false),
            (b" HTML ", false),
            (b"", true),
            (b" svg", true),
            (b" HTML PUBLIC \"-//W3C//DTD HTML 4.01 Transitional//EN\"", true),
            (
                b" HTML PUBLIC \"-//W3C//DTD HTML 4.01 Transitional//EN\" \"http://www.w3.org/TR/html4/loose.dtd\"",
                false,
            ),
            (b" HTML PUBLIC \"-//W3C//DTD HTML 4.0 Transitional//EN\" \"x\"", true),
            (b" html PUBLIC '-//W3C//DTD XHTML 1.0 Transitional//EN' 'x'", false),
        ] {
            assert_eq!(doctype_asks_for_quirks(rest), quirky, "{rest:?}");
        }
    }
}
