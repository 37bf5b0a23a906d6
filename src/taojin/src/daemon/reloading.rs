//! Applies changes of the configuration while the daemon runs.
//!
//! On SIGHUP the configuration is read again: its sites and topics go to all who use them, as [`Current`]; a mistake is
//! logged and shown in the status, and everything stays as it was. Changed files of lexicons and synonyms give a new
//! dictionary within seconds, for everything that searches. Settings that take a restart are not compared. Nothing is indexed
//! again: the index does not depend on lexicons.
//!
//! Lexicons are watched by their files' stamps every second: a few calls of the system, on any file system, whoever changed them.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use tokio::sync::{mpsc, watch};

use super::report::systemd;
use super::shared::lock;
use super::spawn_thread;
use crate::config::{ConfigError, LoadedConfig};
use crate::serve::{Follow, Words};
use taojin_crawl::schedule::Site;
use taojin_search::analyze::{Analyzer, Dictionary};
use taojin_search::index::SiteTitles;

/// How often the files are checked.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The sites and topics of this moment.
#[derive(Debug, Clone)]
pub(crate) struct Current {
    pub(super) sites: Vec<Site>,
    pub(super) follows: Vec<Follow>,
}

impl Current {
    pub(super) fn new(loaded: &LoadedConfig) -> Self {
        Self {
            sites: loaded.sites.clone(),
            follows: loaded.config.follow.clone(),
        }
    }
}

/// What readers call the sites of each moment.
pub(super) fn titles(current: watch::Receiver<Current>) -> SiteTitles {
    SiteTitles::new(move || titles_of(&current.borrow().sites))
}

/// Name and title of each site.
pub(crate) fn titles_of(sites: &[Site]) -> Vec<(String, String)> {
    let pair = |site: &Site| (site.name.clone(), site.title.clone());
    sites.iter().map(pair).collect()
}

/// How the last reload of the configuration went.
#[derive(Debug, Default)]
pub(super) struct LastReload {
    refused: Mutex<Option<String>>,
}

impl LastReload {
    pub(super) fn accept(&self) {
        *lock(&self.refused) = None;
    }

    /// Notes that everything stays as it was, and why.
    pub(super) fn refuse(&self, why: String) {
        *lock(&self.refused) = Some(why);
    }

    /// Returns what the operator should know of it; `None` if all is well.
    pub(super) fn problem(&self) -> Option<Words> {
        let why = lock(&self.refused).clone()?;
        Some(Words::new(
            format!("the last reload was refused: {why}"),
            format!("上一次重新读取配置没有成功：{why}"),
        ))
    }
}

/// Passes on what comes, until nobody sends any more. Nothing that was sent is dropped: the crawl loop finds the newest
/// sites when it turns, however much else it has to do.
pub(super) async fn pass_on(
    mut reload: mpsc::Receiver<Result<LoadedConfig, ConfigError>>,
    last: Arc<LastReload>,
    current: watch::Sender<Current>,
) {
    while let Some(read) = reload.recv().await {
        let loaded = match read {
            Ok(loaded) => loaded,
            Err(error) => {
                tracing::error!("reload refused, everything stays as it was: {error}");
                last.refuse(error.to_string());
                systemd::status(&last.problem().unwrap_or_default().en);
                continue;
            }
        };
        let new = Current::new(&loaded);
        tracing::info!(
            sites = new.sites.len(),
            topics = new.follows.len(),
            "configuration read again"
        );
        last.accept();
        systemd::status("configuration read again");
        current.send_replace(new);
    }
}

/// What tells that a file is another one.
type Stamp = Option<(SystemTime, u64)>;

/// Watches until it is dropped.
#[derive(Debug)]
pub struct LexiconWatch {
    current: watch::Sender<Current>,
}

impl LexiconWatch {
    /// Starts to watch the lexicons of a configuration for an analyzer.
    pub fn start(loaded: &LoadedConfig, analyzer: &Analyzer) -> anyhow::Result<Self> {
        let (current, changed) = watch::channel(Current::new(loaded));
        let watched = WatchedFiles {
            stamps: stamps(&loaded.lexicon_files()),
            loaded: loaded.clone(),
            analyzer: analyzer.clone(),
            changed,
        };
        spawn_thread("lexicons", move || watched.run())?;
        Ok(Self { current })
    }

    /// The sites and topics, to be replaced when they were read again: their lexicons may be others.
    pub(super) fn current(&self) -> &watch::Sender<Current> {
        &self.current
    }
}

struct WatchedFiles {
    loaded: LoadedConfig,
    analyzer: Analyzer,
    stamps: Vec<(PathBuf, Stamp)>,
    changed: watch::Receiver<Current>,
}

impl WatchedFiles {
    fn run(mut self) {
        while let Ok(is_new) = self.changed.has_changed() {
            if is_new {
                self.loaded.sites = self.changed.borrow_and_update().sites.clone();
            }
            let now = stamps(&self.loaded.lexicon_files());
            if now != self.stamps {
                self.stamps = now;
                self.reload();
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    fn reload(&self) {
        let lexicons = self.loaded.lexicons();
        match lexicons.and_then(|lexicons| Ok((lexicons, self.loaded.synonyms()?))) {
            Ok((lexicons, synonyms)) => {
                let dictionary = Dictionary::with_synonyms(&lexicons, synonyms);
                let (terms, synonyms) = (dictionary.term_count(), dictionary.synonyms().len());
                tracing::info!(terms, synonyms, "lexicons and synonyms read again");
                self.analyzer.replace(dictionary);
            }
            Err(error) => tracing::error!(%error, "lexicons and synonyms stay as they were"),
        }
    }
}

fn stamps(files: &[PathBuf]) -> Vec<(PathBuf, Stamp)> {
    let stamp = |path: &PathBuf| {
        let meta = std::fs::metadata(path).ok()?;
        Some((meta.modified().ok()?, meta.len()))
    };
    files
        .iter()
        .map(|path| (path.clone(), stamp(path)))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::config::Config;

    #[test]
    fn changed_synonyms_take_effect() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("own.txt");
        std::fs::write(&file, "LNG, 液化天然气\n").unwrap();
        let mut config = Config {
            data_dir: dir.path().to_owned(),
            ..Config::default()
        };
        config.analyze.synonyms = vec![file.display().to_string()];
        let loaded = LoadedConfig {
            config,
            sites: Vec::new(),
            file: None,
        };
        let analyzer = loaded.analyzer().unwrap();
        assert_eq!(analyzer.dictionary().synonyms().len(), 2);
        let _watch = LexiconWatch::start(&loaded, &analyzer).unwrap();
        // Whole at once: what is written in place may be looked at while it is empty.
        let replace = |text: &str| {
            let next = dir.path().join("next.txt");
            std::fs::write(&next, text).unwrap();
            std::fs::rename(next, &file).unwrap();
        };
        replace("LNG\n");
        std::thread::sleep(LOOK_EVERY * 3 / 2);
        assert_eq!(analyzer.dictionary().synonyms().len(), 2);
        replace("LNG, 液化天然气\nCO2, 二氧化碳\n");
        let started = Instant::now();
        while analyzer.dictionary().synonyms().len() != 4 {
            assert!(started.elapsed() < LOOK_EVERY * 5, "not read again");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}
