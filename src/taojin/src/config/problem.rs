//! One mistake in the configuration, in one line: where it stands, the key, its value, and what to write instead.

use std::fmt;
use std::path::{Path, PathBuf};

/// A mistake in the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file that it stands in; none if it is in no file.
    pub file: Option<PathBuf>,
    /// The line of the key, counted from 1.
    pub line: Option<usize>,
    /// `key = value: what to write`.
    pub text: String,
}

impl Problem {
    /// A mistake in `file`, whatever the line.
    pub(super) fn in_file(file: &Path, text: impl Into<String>) -> Self {
        Self {
            file: Some(file.to_owned()),
            line: None,
            text: text.into(),
        }
    }

    /// A mistake in no file.
    pub(super) fn elsewhere(text: impl Into<String>) -> Self {
        Self {
            file: None,
            line: None,
            text: text.into(),
        }
    }

    /// The same mistake, made by a variable of the environment.
    pub(super) fn of_variable(self, name: &str) -> Self {
        Self::elsewhere(format!("{name} in the environment: {}", self.text))
    }

    /// The key that its text begins with.
    pub(super) fn key(&self) -> &str {
        key_of(&self.text)
    }
}

/// The key that a line such as `serve.window = 3: …` begins with.
pub(super) fn key_of(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.')));
    text.get(..end.unwrap_or(text.len())).unwrap_or_default()
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, "{} line {line}: ", file.display())?,
            (Some(file), None) => write!(f, "{}: ", file.display())?,
            (None, _) => {}
        }
        f.write_str(&self.text)
    }
}

/// What is wrong with the configuration: one line for the operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError(pub String);

impl ConfigError {
    /// The first of these, and how many more there are; nothing if there is none.
    pub fn of(problems: &[Problem]) -> Result<(), Self> {
        match problems {
            [] => Ok(()),
            [only] => Err(Self(only.to_string())),
            [first, others @ ..] => Err(Self(format!(
                "{first} (and {} more: taojin check lists all)",
                others.len()
            ))),
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ConfigError {}
