//! The only place that writes to the terminal: results to stdout, everything else to stderr.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use serde::Serialize;

/// One line of result on stdout. A closed pipe (`| head`) ends the program quietly.
pub(crate) fn line(text: &str) {
    let mut out = io::stdout().lock();
    if writeln!(out, "{text}").is_err() {
        std::process::exit(0);
    }
}

/// One JSON object on one line of stdout.
pub(crate) fn json(value: &impl Serialize) -> anyhow::Result<()> {
    line(&serde_json::to_string(value)?);
    Ok(())
}

/// An answer as one JSON object, or as `print` shows it to a person.
pub(crate) fn answer<T: Serialize>(
    as_json: bool,
    value: &T,
    print: impl FnOnce(&T),
) -> anyhow::Result<ExitCode> {
    match as_json {
        true => json(value)?,
        false => print(value),
    }
    Ok(ExitCode::SUCCESS)
}

/// One line for a person on stderr.
pub(crate) fn note(text: &str) {
    // Nothing can be done when stderr is gone.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// The one line that says why the program failed.
pub(crate) fn error(text: &str) {
    let (red, off) = if io::stderr().is_terminal() {
        ("\x1b[31m", "\x1b[0m")
    } else {
        ("", "")
    };
    note(&format!("{red}taojin:{off} {text}"));
}

/// The language of the terminal, as its environment names it.
pub(crate) fn language() -> String {
    let set = |name: &&str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let named = ["LC_ALL", "LC_MESSAGES", "LANG"];
    named.iter().find_map(set).unwrap_or_default()
}

/// Whether stdout is a terminal that may show colours.
pub(crate) fn colours() -> bool {
    io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

/// Start of bold text.
pub(crate) const BOLD: &str = "\x1b[1m";
const DIM: &str = "\x1b[2m";
const RED: &str = "\x1b[31m";
const GREEN: &str = "\x1b[32m";
const MARK: &str = "\x1b[33;1m";
const OFF: &str = "\x1b[0m";

/// Colours for stdout, or none.
pub(crate) struct Paint {
    on: bool,
}

impl Paint {
    /// Colours if stdout is a terminal.
    pub(crate) fn new() -> Self {
        Self { on: colours() }
    }

    /// A heading.
    pub(crate) fn bold(&self, text: &str) -> String {
        if self.on {
            format!("{BOLD}{text}{OFF}")
        } else {
            text.to_owned()
        }
    }

    /// Less important text.
    pub(crate) fn dim(&self, text: &str) -> String {
        if self.on {
            format!("{DIM}{text}{OFF}")
        } else {
            text.to_owned()
        }
    }

    /// A line that is not there any more.
    pub(crate) fn red(&self, text: &str) -> String {
        self.coloured(RED, text)
    }

    /// A line that is new.
    pub(crate) fn green(&self, text: &str) -> String {
        self.coloured(GREEN, text)
    }

    /// What a text does not say any more; without colours `[-so-]`.
    pub(crate) fn removed(&self, text: &str) -> String {
        match self.on {
            // Struck through as well: not everybody tells red from green.
            true => format!("\x1b[9m{}", self.red(text)),
            false => format!("[-{text}-]"),
        }
    }

    /// What a text says now; without colours `{+so+}`.
    pub(crate) fn added(&self, text: &str) -> String {
        match self.on {
            true => format!("\x1b[4m{}", self.green(text)),
            false => format!("{{+{text}+}}"),
        }
    }

    fn coloured(&self, colour: &str, text: &str) -> String {
        match self.on {
            true => format!("{colour}{text}{OFF}"),
            false => text.to_owned(),
        }
    }

    /// Text in `style` with its marks standing out; without colours the marks are 【】.
    pub(crate) fn marked(&self, text: &crate::serve::Marked, style: &str) -> String {
        let mut out = String::new();
        for (part, is_marked) in parts(text) {
            let part = printable(part);
            match (is_marked, self.on) {
                (true, true) => out.push_str(&format!("{OFF}{MARK}{part}{OFF}")),
                (true, false) => out.push_str(&format!("【{part}】")),
                (false, true) => out.push_str(&format!("{style}{part}")),
                (false, false) => out.push_str(&part),
            }
        }
        if self.on { out + OFF } else { out }
    }
}

/// A moment in local time, or a dash.
pub(crate) fn time(ms: Option<i64>) -> String {
    ms.and_then(chrono::DateTime::from_timestamp_millis)
        .map_or_else(
            || "-".to_owned(),
            |t| {
                t.with_timezone(&chrono::Local)
                    .format("%Y-%m-%d %H:%M:%S")
                    .to_string()
            },
        )
}

/// Text from the web must not steer the terminal: control characters become spaces.
pub(crate) fn printable(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}

/// The text in pieces: what is marked and what is not.
fn parts(text: &crate::serve::Marked) -> Vec<(&str, bool)> {
    let mut parts = Vec::new();
    let mut at = 0;
    for mark in &text.marks {
        parts.extend(text.text.get(at..mark.start).map(|t| (t, false)));
        parts.extend(text.text.get(mark.clone()).map(|t| (t, true)));
        at = mark.end;
    }
    parts.extend(text.text.get(at..).map(|t| (t, false)));
    parts.retain(|(text, _)| !text.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::Marked;

    #[test]
    fn a_terminal_gets_no_commands_from_a_page() {
        let found = Marked {
            text: "a\u{1b}[31m油\u{7}b".to_owned(),
            marks: std::iter::once(6..9).collect(),
        };
        let shown = Paint { on: true }.marked(&found, "");
        assert_eq!(shown, "a [31m\u{1b}[0m\u{1b}[33;1m油\u{1b}[0m b\u{1b}[0m");
        assert_eq!(Paint { on: false }.marked(&found, ""), "a [31m【油】 b");
    }
}
