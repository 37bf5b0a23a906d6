//! Which lexicons and synonyms are in use. In: the configuration. Out: these, read anew each time, and the files they
//! are in, so that a change is seen. Never keeps one.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::read::unreadable;
use super::{ConfigError, Loaded, Problem};
use taojin_crawl::schedule::Site;
use taojin_search::analyze::{Analyzer, Lexicon, LexiconError, Synonyms, SynonymsError};

/// Name of the file of accepted terms in the data folder.
const ACCEPTED: &str = "terms.txt";

impl Loaded {
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
        let read = |name: &String| {
            let wrong = |e: LexiconError| ConfigError(format!("lexicons = [\"{name}\"]: {e}"));
            let Some(path) = self.lexicon_file(name) else {
                return Lexicon::builtin(name).map_err(wrong);
            };
            let text = fs::read_to_string(&path).map_err(|e| no_file("lexicons", &path, &e))?;
            Lexicon::parse(name, &text).map_err(wrong)
        };
        self.lexicon_names().into_iter().map(read).collect()
    }

    /// The synonyms of `[analyze]` and of all sites together.
    pub fn synonyms(&self) -> Result<Synonyms, ConfigError> {
        let read = |name: &String| {
            let wrong = |e: SynonymsError| ConfigError(format!("synonyms = [\"{name}\"]: {e}"));
            let Some(path) = self.lexicon_file(name) else {
                return Synonyms::builtin(name).map_err(wrong);
            };
            let text = fs::read_to_string(&path).map_err(|e| no_file("synonyms", &path, &e))?;
            Synonyms::parse(name, &text).map_err(wrong)
        };
        let all: Result<Vec<Synonyms>, ConfigError> =
            self.synonym_names().into_iter().map(read).collect();
        all.map(Synonyms::merged)
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
            name => self.base().join(name),
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

    /// A name with a dot or a slash is a file, any other is built in.
    fn lexicon_file(&self, name: &str) -> Option<PathBuf> {
        name.contains(['.', '/']).then(|| self.base().join(name))
    }

    fn base(&self) -> &Path {
        let parent = self.file.as_deref().and_then(Path::parent);
        parent.unwrap_or(Path::new("."))
    }
}

fn no_file(key: &str, path: &Path, error: &std::io::Error) -> ConfigError {
    let Problem { text, .. } = unreadable(path, error);
    ConfigError(format!("{key} = [\"{}\"]: {text}", path.display()))
}
