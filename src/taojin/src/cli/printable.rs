//! Makes text from the web harmless for a terminal, which must show it and not be steered by it.
//!
//! Control characters, which move the cursor, colour or ring, become spaces. Those that set the direction of text are left out:
//! they can make one address read like another, and a command line like one that does something else. Whatever is printed for a
//! person passes here; text for programs, such as JSON and exports, stays as it is.

use std::fmt;

use askama::filters::Escaper;

/// A text that is shown in one line.
pub(crate) fn printable(text: &str) -> String {
    text.chars().filter_map(printable_char).collect()
}

/// A text that keeps its line breaks.
pub(super) fn printable_lines(text: &str) -> String {
    let keep = |c| {
        if c == '\n' {
            Some(c)
        } else {
            printable_char(c)
        }
    };
    text.chars().filter_map(keep).collect()
}

/// What is shown for a character; `None` for nothing.
fn printable_char(c: char) -> Option<char> {
    match c {
        c if c.is_control() => Some(' '),
        // Marks, embeddings and overrides, isolates (Unicode Standard Annex #9).
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            None
        }
        c => Some(c),
    }
}

/// Makes whatever a template of `cli/text` shows [`printable`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Printable;

impl Escaper for Printable {
    fn write_escaped_str<W: fmt::Write>(&self, mut to: W, text: &str) -> fmt::Result {
        let mut shown = text.chars().filter_map(printable_char);
        shown.try_for_each(|c| to.write_char(c))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printable_leaves_nothing_that_steers() {
        for (text, shown, case) in [
            ("a\u{1b}[31m油\u{7}b\n", "a [31m油 b ", "controls"),
            (
                "a\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}b",
                "ab",
                "embeddings and overrides",
            ),
            ("a\u{2066}\u{2067}\u{2068}\u{2069}b", "ab", "isolates"),
            ("a\u{200e}\u{200f}\u{61c}b", "ab", "marks"),
            (
                "بئر 油井 \u{200d}👩",
                "بئر 油井 \u{200d}👩",
                "letters of any direction",
            ),
        ] {
            assert_eq!(printable(text), shown, "{case}");
            let mut escaped = String::new();
            Printable
                .write_escaped_str(&mut escaped, text)
                .expect("a string takes everything");
            assert_eq!(escaped, shown, "{case}");
        }
        assert_eq!(printable_lines("a\u{1b}\nb\u{202e}"), "a \nb");
    }
}
