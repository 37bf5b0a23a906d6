//! Where the demo keeps its data, and the commands that work on it. In: the settings of the demo. Out: a folder with
//! `demo.toml`, so that any command can be told about it, and command lines as this program was called, ready to be
//! pasted into a shell.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use ring::rand::{SecureRandom, SystemRandom};
use serde::Serialize;

use crate::config::{LOCAL_CONFIG, Loaded, SYSTEM_CONFIG};
use crate::serve::Secret;

/// The demo's configuration in its data folder.
const CONFIG_FILE: &str = "demo.toml";
/// Folder of its sites, beside that file.
const SITES_DIR: &str = "demo-sites.d";
/// Bytes of the token: as `openssl rand -hex 20` makes one.
const TOKEN_BYTES: usize = 20;

/// The folder of the demo's data.
pub(super) struct Place {
    path: PathBuf,
    /// Present when nobody said where: removed when it is dropped.
    temporary: Option<tempfile::TempDir>,
}

impl Place {
    /// The folder that was asked for, or a temporary one.
    pub(super) fn new(asked_for: Option<&Path>) -> anyhow::Result<Self> {
        if let Some(path) = asked_for {
            let path = std::path::absolute(path)?;
            let named = || format!("--data-dir {}: cannot be made", path.display());
            fs::create_dir_all(&path).with_context(named)?;
            return Ok(Self {
                path,
                temporary: None,
            });
        }
        let temporary = tempfile::Builder::new().prefix("taojin-demo-").tempdir()?;
        Ok(Self {
            path: temporary.path().to_owned(),
            temporary: Some(temporary),
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the data is gone when the demo ends.
    pub(super) fn is_temporary(&self) -> bool {
        self.temporary.is_some()
    }

    /// Leaves the data where it is; tells whether somebody has to remove it.
    pub(super) fn keep(mut self) -> Option<PathBuf> {
        self.temporary.take().map(tempfile::TempDir::keep)
    }

    /// Writes the settings so that other commands can be run beside the demo. Only this user may read them: they hold
    /// the token.
    pub(super) fn write(&self, loaded: &Loaded) -> anyhow::Result<()> {
        let sites = self.path.join(SITES_DIR);
        fs::create_dir_all(&sites)?;
        for site in &loaded.sites {
            write(&sites.join(format!("{}.toml", site.name)), site)?;
        }
        let mut config = loaded.config.clone();
        config.sites_dir = PathBuf::from(SITES_DIR);
        write(&self.path.join(CONFIG_FILE), &config)
    }

    /// A command line that works on the demo's data.
    pub(super) fn command(&self, args: &str) -> String {
        let config = self.path.join(CONFIG_FILE);
        format!(
            "{} --config {} {args}",
            program(),
            quoted(&config.to_string_lossy())
        )
    }
}

fn write(path: &Path, settings: &impl Serialize) -> anyhow::Result<()> {
    let text = format!("# Written by taojin demo.\n{}", toml::to_string(settings)?);
    let named = || format!("{}: cannot be written", path.display());
    let remove = fs::remove_file(path);
    if let Err(error) = remove
        && error.kind() != io::ErrorKind::NotFound
    {
        return Err(error).with_context(named);
    }
    let mut options = OpenOptions::new();
    let mut file = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .with_context(named)?;
    file.write_all(text.as_bytes()).with_context(named)
}

/// A token that nobody can guess.
pub(super) fn token() -> anyhow::Result<Secret> {
    let mut bytes = [0; TOKEN_BYTES];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| anyhow::anyhow!("the system gives no random numbers"))?;
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(Secret::from(hex.as_str()))
}

/// Command lines for a site of one's own, with the configuration that this program finds here.
pub(super) fn own_site() -> Vec<String> {
    let options = if Path::new(LOCAL_CONFIG).is_file() {
        format!(" --config {LOCAL_CONFIG} --data-dir data")
    } else if Path::new(SYSTEM_CONFIG).is_file() {
        String::new()
    } else {
        " --data-dir data".to_owned()
    };
    let steps = ["site add https://www.example.com/", "crawl", "search WORDS"];
    let line = |step| format!("{}{options} {step}", program());
    steps.into_iter().map(line).collect()
}

/// This program as it was called: a path from here, or a name that the shell finds.
fn program() -> String {
    let called = std::env::args_os().next();
    quoted(&called.map_or("taojin".into(), |name| name.to_string_lossy().into_owned()))
}

/// A word as a shell reads it back.
pub(super) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=@%+,".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::{quoted, token};

    #[test]
    fn words_are_quoted_for_a_shell() {
        assert_eq!(quoted("target/release/taojin"), "target/release/taojin");
        assert_eq!(quoted("/tmp/my data/x"), "'/tmp/my data/x'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn tokens_are_long_and_differ() {
        let (one, other) = (token().expect("random"), token().expect("random"));
        assert_eq!(one.reveal().len(), 40);
        assert_ne!(one.reveal(), other.reveal());
    }
}
