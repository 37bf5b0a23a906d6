//! Reads the files that the settings name: lexicons and synonyms, secrets, weights of the extraction.
//!
//! They are read again on each call, and mistakes in them are reported. Secrets are never shown.

use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::read::unreadable;
use super::{Config, ConfigError, ConfigProblem, LoadedConfig};
use crate::serve::Secret;
use taojin_crawl::schedule::Site;
use taojin_extract::learn::Weights;
use taojin_search::analyze::{Analyzer, Lexicon, LexiconError, Synonyms};
use taojin_search::terms::Patterns;

/// Name of the file of accepted terms in the data directory.
const ACCEPTED: &str = "terms.txt";
/// Largest file of term patterns.
const MAX_PATTERNS_BYTES: u64 = 1 << 20;

impl LoadedConfig {
    /// The lexicons of `[analyze]` and of all sites, each once: built-in ones by name, others from their files
    /// (relative to the configuration file). Last the file of accepted terms, if there is one: what it takes out
    /// is out.
    pub fn lexicons(&self) -> Result<Vec<Lexicon>, ConfigError> {
        let mut lexicons = self.given_lexicons()?;
        let accepted = self.accepted_terms();
        match fs::read_to_string(&accepted) {
            Ok(text) => {
                let name = accepted.display().to_string();
                let wrong = |e: LexiconError| ConfigError(e.to_string());
                lexicons.push(Lexicon::parse(&name, &text).map_err(wrong)?);
            }
            Err(e) if e.kind() == ErrorKind::NotFound => {}
            Err(e) if e.kind() == ErrorKind::PermissionDenied => {
                return Err(ConfigError(format!(
                    "{} may not be read by this user; for the service's data use sudo, or join its group (adduser NAME taojin)",
                    self.config.data_dir.display()
                )));
            }
            Err(e) => return Err(no_file("lexicons", &accepted, &e)),
        }
        Ok(lexicons)
    }

    /// The lexicons without the accepted terms.
    pub fn given_lexicons(&self) -> Result<Vec<Lexicon>, ConfigError> {
        let read = |name| self.read_named("lexicons", name, Lexicon::builtin, Lexicon::parse);
        self.lexicon_names().into_iter().map(read).collect()
    }

    /// The synonyms of `[analyze]` and of all sites together.
    pub fn synonyms(&self) -> Result<Synonyms, ConfigError> {
        let read = |name| self.read_named("synonyms", name, Synonyms::builtin, Synonyms::parse);
        let all: Result<Vec<Synonyms>, ConfigError> =
            self.synonym_names().into_iter().map(read).collect();
        all.map(Synonyms::merged)
    }

    /// What a name under `key` stands for: a file, or what is built in.
    fn read_named<T, E: Display>(
        &self,
        key: &str,
        name: &String,
        builtin: fn(&str) -> Result<T, E>,
        parse: fn(&str, &str) -> Result<T, E>,
    ) -> Result<T, ConfigError> {
        let read = match self.lexicon_file(name) {
            Some(path) => {
                let text = fs::read_to_string(&path).map_err(|e| no_file(key, &path, &e))?;
                parse(name, &text)
            }
            None => builtin(name),
        };
        read.map_err(|e| ConfigError(format!("{key} = [\"{name}\"]: {e}")))
    }

    /// What text is cut with and searched by: the lexicons and the synonyms.
    pub fn analyzer(&self) -> Result<Analyzer, ConfigError> {
        Ok(Analyzer::with_synonyms(&self.lexicons()?, self.synonyms()?))
    }

    /// Every file that a lexicon or synonyms in use are read from, also one that is not there yet.
    pub fn lexicon_files(&self) -> Vec<PathBuf> {
        let names = self.lexicon_names().into_iter().chain(self.synonym_names());
        let files = names.filter_map(|name| self.lexicon_file(name));
        files.chain([self.accepted_terms()]).collect()
    }

    /// The file of accepted terms.
    pub fn accepted_terms(&self) -> PathBuf {
        match self.config.terms.lexicon.as_str() {
            "" => self.config.data_dir.join(ACCEPTED),
            name => self.dir().join(name),
        }
    }

    fn lexicon_names(&self) -> Vec<&String> {
        self.names(&self.config.analyze.lexicons, |site| &site.lexicons)
    }

    fn synonym_names(&self) -> Vec<&String> {
        self.names(&self.config.analyze.synonyms, |site| &site.synonyms)
    }

    fn names<'a>(
        &'a self,
        own: &'a [String],
        of_site: impl Fn(&'a Site) -> &'a Vec<String>,
    ) -> Vec<&'a String> {
        let sites = self.sites.iter().filter(|site| site.enabled);
        let mut names: Vec<&String> = own.iter().chain(sites.flat_map(of_site)).collect();
        names.sort();
        names.dedup();
        names
    }

    fn lexicon_file(&self, name: &str) -> Option<PathBuf> {
        is_lexicon_file(name).then(|| self.dir().join(name))
    }

    /// Returns the directory that relative paths of the settings start from: that of the file.
    fn dir(&self) -> &Path {
        dir_of(self.file.as_deref())
    }
}

/// Whether a name of lexicons or synonyms is that of a file: with a dot or a slash; any other is built in.
pub(crate) fn is_lexicon_file(name: &str) -> bool {
    name.contains(['.', '/'])
}

/// What terms look like: the built-in patterns, or those of the file that `[terms]` names.
pub(crate) fn read_term_patterns(loaded: &LoadedConfig) -> Result<Patterns, ConfigError> {
    let name = &loaded.config.terms.patterns;
    if name.is_empty() {
        return Ok(Patterns::builtin().clone());
    }
    let path = loaded.dir().join(name);
    let wrong = |e: &dyn Display| {
        ConfigError(format!(
            "terms.patterns = \"{name}\": {}: {e}; `taojin terms patterns LEXICON` writes such a file",
            path.display()
        ))
    };
    let mut text = String::new();
    let file = File::open(&path).map_err(|e| wrong(&e))?;
    let mut file = file.take(MAX_PATTERNS_BYTES + 1);
    file.read_to_string(&mut text).map_err(|e| wrong(&e))?;
    if text.len() as u64 > MAX_PATTERNS_BYTES {
        return Err(wrong(&"it has more than a megabyte"));
    }
    Patterns::parse(&text).map_err(|e| wrong(&e))
}

/// Returns the directory of a configuration file; the working directory if there is none.
pub(super) fn dir_of(file: Option<&Path>) -> &Path {
    file.and_then(Path::parent).unwrap_or(Path::new("."))
}

fn no_file(key: &str, path: &Path, error: &std::io::Error) -> ConfigError {
    let ConfigProblem { text, .. } = unreadable(path, error);
    ConfigError(format!("{key} = [\"{}\"]: {text}", path.display()))
}

/// Longest secret in a file: far more than any key, far less than a file named by mistake.
const SECRET_BYTES_MAX: u64 = 4_096;
/// Folder into which systemd puts what `LoadCredential=` names; a path may begin with `$` and this.
const CREDENTIALS: &str = "CREDENTIALS_DIRECTORY";
/// Permission of every user to read a file.
const OTHERS_READ: u32 = 0o004;

impl LoadedConfig {
    /// Reads the secrets that are in files of their own. Gives what is wrong with them.
    pub fn read_secrets(&mut self) -> Vec<ConfigProblem> {
        let dir = self.dir().to_owned();
        let mut wrong = Vec::new();
        let mut read = |key: &str, path: &Path, secret: &mut Secret| {
            if path.as_os_str().is_empty() {
                return;
            }
            match secret_in(&placed(&dir, path)) {
                Ok(found) => *secret = found,
                Err(why) => wrong.push(format!("{key} = \"{}\": {why}", path.display())),
            }
        };
        let serve = &mut self.config.serve;
        read("serve.token_file", &serve.token_file, &mut serve.token);
        for follow in &mut self.config.follow {
            read(
                "follow.secret_file",
                &follow.secret_file,
                &mut follow.secret,
            );
        }
        if let (true, Some(why)) = (wrong.is_empty(), self.config.serve.token_problem()) {
            wrong.push(format!("serve.{why}"));
        }
        let problem = |text| ConfigProblem {
            file: self.file.clone(),
            line: None,
            text,
        };
        wrong.into_iter().map(problem).collect()
    }

    /// The keys whose files only the service can see: systemd gives it a directory of its own, which is not there now.
    pub fn secrets_of_the_service(&self) -> bool {
        let of_service = |path: &Path| path.starts_with(format!("${CREDENTIALS}"));
        std::env::var_os(CREDENTIALS).is_none() && self.secret_files().any(of_service)
    }

    /// Secrets that every user of this machine can read, one line each. Call it before [`LoadedConfig::read_secrets`].
    pub fn exposed_secrets(&self) -> Vec<String> {
        let mut found = Vec::new();
        let written = !self.config.serve.token.is_empty()
            || self
                .config
                .follow
                .iter()
                .any(|follow| !follow.secret.is_empty());
        if let (Some(file), true) = (&self.file, written)
            && others_read(file)
        {
            found.push(format!(
                "{} holds a secret and every user of this machine can read it: put the secret into serve.token_file or \
                 follow.secret_file, or take the permission away (chmod o= {0})",
                file.display()
            ));
        }
        for path in self.secret_files().map(|path| placed(self.dir(), path)) {
            if others_read(&path) {
                found.push(format!(
                    "every user of this machine can read the secret in {0}: chmod 600 {0}",
                    path.display()
                ));
            }
        }
        found
    }

    fn secret_files(&self) -> impl Iterator<Item = &Path> {
        let follows = self.config.follow.iter().map(|follow| &follow.secret_file);
        let own = [
            &self.config.serve.token_file,
            &self.config.store.password_file,
            &self.config.search.password_file,
            &self.config.search.client_key_file,
        ];
        let all = own.into_iter().chain(follows);
        all.map(PathBuf::as_path)
            .filter(|path| !path.as_os_str().is_empty())
    }
}

/// Where a file is: below the directory of systemd, or relative to the configuration.
pub(super) fn placed(dir: &Path, path: &Path) -> PathBuf {
    if let Ok(rest) = path.strip_prefix(format!("${CREDENTIALS}"))
        && let Some(credentials) = std::env::var_os(CREDENTIALS)
    {
        return PathBuf::from(credentials).join(rest);
    }
    dir.join(path)
}

fn others_read(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|data| data.permissions().mode() & OTHERS_READ != 0)
}

/// The secret in a file, without the line break at its end; or why there is none.
fn secret_in(path: &Path) -> Result<Secret, String> {
    let unreadable = |error: std::io::Error| format!("cannot be read: {error}");
    let file = File::open(path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    file.take(SECRET_BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    if bytes.len() as u64 > SECRET_BYTES_MAX {
        return Err(format!(
            "is longer than {SECRET_BYTES_MAX} bytes: this is no secret"
        ));
    }
    let text = std::str::from_utf8(&bytes).map_err(|_| "is not text in UTF-8".to_owned())?;
    let text = text.strip_suffix('\n').unwrap_or(text);
    let text = text.strip_suffix('\r').unwrap_or(text);
    if text.is_empty() {
        Err("is empty: write the secret into it, for example with openssl rand -hex 20".to_owned())
    } else {
        Ok(Secret::from(text))
    }
}

/// Largest file of weights, in bytes: several hundred times what the learner writes would be another file.
const MAX_BYTES: u64 = 16 << 20;

/// The weights in `file`; the error does not name it.
pub fn read_weights(file: &Path) -> Result<Arc<Weights>, String> {
    let text = File::open(file).and_then(|file| io::read_to_string(file.take(MAX_BYTES)));
    let text = text.map_err(|e| e.to_string())?;
    let weights = Weights::parse(&text).map_err(|e| e.to_string())?;
    Ok(Arc::new(weights))
}

/// Reads the weights that `config`, read from `file`, names.
pub(super) fn load_weights(config: &mut Config, file: &Path) -> Option<ConfigProblem> {
    let named = &config.extract.weights;
    if named.as_os_str().is_empty() {
        return None;
    }
    let path = dir_of(Some(file)).join(named);
    match read_weights(&path) {
        Ok(weights) => {
            config.extract.loaded = Some(weights);
            None
        }
        Err(why) => {
            let text = format!(
                "extract.weights = \"{}\": {why}; write \"\" for the weights in the program",
                named.display()
            );
            Some(ConfigProblem::in_file(file, text))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{Permissions, set_permissions, write};

    use super::*;
    use crate::config::read;

    const TOKEN: &str = "0123456789abcdef0123";

    fn loaded(dir: &Path, text: &str, mode: u32) -> LoadedConfig {
        let file = dir.join("taojin.toml");
        write(&file, text).unwrap();
        set_permissions(&file, Permissions::from_mode(mode)).unwrap();
        let (loaded, problems) = read(Some(&file), None);
        assert_eq!(problems, []);
        loaded
    }

    fn secret(dir: &Path, name: &str, text: &str, mode: u32) {
        write(dir.join(name), text).unwrap();
        set_permissions(dir.join(name), Permissions::from_mode(mode)).unwrap();
    }

    const FILES: &str = "[serve]\ntoken_file = \"token\"\n[[follow]]\nname = \"a\"\nquery = \"油\"\nsecret_file = \"key\"\n";

    #[test]
    fn secrets_read_from_files() {
        let dir = tempfile::tempdir().unwrap();
        secret(dir.path(), "token", &format!("{TOKEN}\n"), 0o600);
        secret(dir.path(), "key", "a long random text\r\n", 0o644);
        let mut loaded = loaded(dir.path(), FILES, 0o644);
        let exposed = loaded.exposed_secrets();
        assert!(
            exposed.len() == 1 && exposed[0].contains("/key: chmod 600"),
            "{exposed:?}"
        );
        assert_eq!(loaded.read_secrets(), []);
        assert_eq!(loaded.config.serve.token.reveal(), TOKEN);
        assert_eq!(
            loaded.config.follow[0].secret.reveal(),
            "a long random text"
        );
        assert!(!format!("{loaded:?}").contains(TOKEN));
    }

    #[test]
    fn invalid_secret_file_named() {
        let dir = tempfile::tempdir().unwrap();
        secret(dir.path(), "key", "k", 0o600);
        for (text, part) in [
            (None, "cannot be read"),
            (Some(String::new()), "is empty"),
            (Some("\n".to_owned()), "is empty"),
            (Some("x".repeat(5_000)), "longer than 4096 bytes"),
            (Some("too-short".to_owned()), "serve.token must have 20"),
        ] {
            if let Some(text) = &text {
                secret(dir.path(), "token", text, 0o600);
            }
            let problems = loaded(dir.path(), FILES, 0o644).read_secrets();
            let shown = problems
                .first()
                .map(ToString::to_string)
                .unwrap_or_default();
            assert!(shown.contains(part), "{shown}");
            assert!(!shown.contains("too-short"), "{shown}");
        }
    }

    #[test]
    fn exposed_secret_warns() {
        let dir = tempfile::tempdir().unwrap();
        let text = format!("[serve]\ntoken = \"{TOKEN}\"\n");
        let exposed = loaded(dir.path(), &text, 0o644).exposed_secrets();
        assert!(exposed.len() == 1 && exposed[0].contains("taojin.toml holds a secret"));
        assert!(!exposed[0].contains(TOKEN));
        assert!(
            loaded(dir.path(), &text, 0o640)
                .exposed_secrets()
                .is_empty()
        );
        assert!(loaded(dir.path(), "", 0o644).exposed_secrets().is_empty());
    }
}
