//! What every sub-command gets and may need: the configuration that the caller named, the kind of error that is the
//! caller's, and a runtime.

use std::fmt::Display;
use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde::de::value::Error as ValueError;
use serde::de::{DeserializeOwned, IntoDeserializer};

use super::output;
use crate::config::{self, Config, ConfigError, ConfigProblem, LoadedConfig, dropped_keys};

/// A mistake of the caller: one line, exit code 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct UsageError(pub(crate) String);

impl UsageError {
    /// What an error says is the caller's mistake.
    pub(crate) fn new(error: impl ToString) -> Self {
        Self(error.to_string())
    }
}

/// Ends a command with a mistake of the caller, written as for `format!`.
macro_rules! bail_usage {
    ($($text:tt)*) => {
        return Err($crate::cli::context::UsageError(format!($($text)*)).into())
    };
}
pub(crate) use bail_usage;

/// Says what an error is about: `named(path.display())`.
pub(crate) trait Named<T> {
    fn named(self, what: impl Display) -> Result<T, UsageError>;
}

impl<T, E: Display> Named<T> for Result<T, E> {
    fn named(self, what: impl Display) -> Result<T, UsageError> {
        self.map_err(|e| UsageError(format!("{what}: {e}")))
    }
}

/// What every sub-command gets.
#[derive(Clone)]
pub(crate) struct Context {
    pub(crate) config: Option<PathBuf>,
    pub(crate) data_dir: Option<PathBuf>,
}

impl Context {
    /// The configuration, or its mistakes.
    pub(crate) fn load(&self) -> Result<LoadedConfig, ConfigError> {
        let loaded = config::load(self.config.as_deref(), self.data_dir.as_deref())?;
        output::set_zone(loaded.config.index.utc_offset_minutes);
        Ok(loaded)
    }

    /// The same for commands that crawl: what the machine lacks is a mistake too.
    pub(crate) fn load_to_crawl(&self) -> Result<LoadedConfig, ConfigError> {
        let loaded = self.load_with_secrets()?;
        ConfigError::check(&loaded.problems())?;
        Ok(loaded)
    }

    /// The configuration with the secrets that stand in files of their own, for whoever uses them. Warns of secrets that
    /// every user of the machine can read.
    pub(crate) fn load_with_secrets(&self) -> Result<LoadedConfig, ConfigError> {
        let mut loaded = self.load()?;
        for warning in loaded
            .exposed_secrets()
            .iter()
            .chain(&dropped_keys(&loaded))
        {
            tracing::warn!("{warning}");
        }
        ConfigError::check(&loaded.read_secrets())?;
        Ok(loaded)
    }

    /// The settings that the caller named, else the defaults: a broken file must not stop who looks at a page.
    pub(crate) fn named_config(&self) -> Result<Config, ConfigError> {
        match self.config {
            Some(_) => Ok(self.load()?.config),
            None => Ok(Config::default()),
        }
    }

    /// What can be read, and every mistake.
    pub(crate) fn read(&self) -> (LoadedConfig, Vec<ConfigProblem>) {
        let (loaded, problems) = config::read(self.config.as_deref(), self.data_dir.as_deref());
        output::set_zone(loaded.config.index.utc_offset_minutes);
        (loaded, problems)
    }

    /// A command of this program that goes by the same configuration, ready to be pasted.
    pub(crate) fn command(&self, rest: &str) -> String {
        let mut command = "taojin".to_owned();
        for (option, path) in [("--config", &self.config), ("--data-dir", &self.data_dir)] {
            if let Some(path) = path {
                command.push_str(&format!(" {option} {}", for_shell(&path.to_string_lossy())));
            }
        }
        format!("{command} {rest}")
    }
}

/// An option that takes one of these words, by which the settings call the same.
pub(crate) fn words<T: DeserializeOwned + Clone + Send + Sync + 'static>(
    known: impl IntoIterator<Item = &'static str>,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(known)
        .try_map(|word| T::deserialize(word.into_deserializer()).map_err(|e: ValueError| e))
}

/// Reads an address and a port.
pub(crate) fn listen_address(text: &str) -> Result<SocketAddr, String> {
    let hint =
        "write an address and a port, such as 127.0.0.1:8080, or 0.0.0.0:8080 for all networks";
    text.parse().map_err(|_| {
        let port = text
            .trim_start_matches(':')
            .trim_start_matches("localhost:");
        match port.parse::<u16>() {
            Ok(port) => format!("{hint}; here perhaps 127.0.0.1:{port}"),
            Err(_) => hint.to_owned(),
        }
    })
}

/// A text as one word of a shell.
pub(crate) fn for_shell(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:,@%+=".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

/// The runtime of commands that use the network.
pub(crate) fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("the runtime cannot be started")
}

#[cfg(test)]
mod tests {
    use super::for_shell;

    #[test]
    fn for_shell_quotes() {
        assert_eq!(for_shell("target/release/taojin"), "target/release/taojin");
        assert_eq!(for_shell("/tmp/my data/x"), "'/tmp/my data/x'");
        assert_eq!(for_shell("it's"), r"'it'\''s'");
        assert_eq!(for_shell(""), "''");
    }
}
