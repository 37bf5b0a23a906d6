//! Settings. In: `taojin.toml` and `sites.d/*.toml`. Out: [`Config`] and the sites, or one line that names the
//! file, the line, the key and the mend. Each stage owns its own section's struct; no stage imports this file.

mod lexicons;

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::schedule::Site;
use crate::{analyze, extract, fetch, frontier, index, page, schedule, serve, template, terms};

/// Where the installed daemon looks first.
pub const SYSTEM_CONFIG: &str = "/etc/taojin/taojin.toml";
/// Where a developer's checkout keeps its configuration.
pub const LOCAL_CONFIG: &str = "config/taojin.toml";

/// Connections in use at once over all hosts: enough to keep a small machine's two cores busy with slow servers.
const MAX_CONNECTIONS: usize = 64;
/// Documents that may wait for the index before the crawl slows down.
const MAX_OUTBOX: u64 = 4096;
/// A crawl log of this size is set aside and a new one begun.
const CRAWL_LOG_BYTES: u64 = 64 * 1024 * 1024;
/// How many old crawl logs are kept.
const CRAWL_LOG_FILES: u32 = 8;
/// Time that requests under way get to finish when the daemon stops.
const STOP_GRACE_MS: u64 = 4_000;
/// `taojin crawl` does not wait for a host that is not ready within this time.
const PASS_PATIENCE_MS: u64 = 60_000;

/// Room that the store, the index and its merges need to end well.
const MIN_FREE_BYTES: u64 = 2 << 30;
/// Other programs of the machine fail as well when less is free.
const MIN_FREE_PERCENT: u8 = 5;

/// Everything in `taojin.toml`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Folder of the store, the index, the logs. Under systemd: /var/lib/taojin.
    pub data_dir: PathBuf,
    /// Folder with one file per site; relative to this file.
    pub sites_dir: PathBuf,
    /// The crawl as a whole.
    pub crawl: CrawlConfig,
    /// Which URL is fetched when: queues, politeness, scope.
    pub frontier: frontier::Config,
    /// When pages are visited again.
    pub revisit: schedule::Config,
    /// How pages are fetched.
    pub fetch: fetch::Config,
    /// Archives of what was fetched.
    pub warc: fetch::WarcConfig,
    /// Limits of one page.
    pub page: page::Config,
    /// How documents are taken out of pages.
    pub extract: extract::Config,
    /// Section `[templates]`.
    pub templates: template::Config,
    /// How Chinese text is cut.
    pub analyze: analyze::Config,
    /// How domain terms are found.
    pub terms: terms::Config,
    /// The search index.
    pub index: index::Config,
    /// The HTTP API and the web page.
    pub serve: serve::Config,
    /// Topics that are followed: one block each.
    pub follow: Vec<serve::Follow>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            data_dir: PathBuf::from("/var/lib/taojin"),
            sites_dir: PathBuf::from("sites.d"),
            crawl: CrawlConfig::default(),
            frontier: frontier::Config::default(),
            revisit: schedule::Config::default(),
            fetch: fetch::Config::default(),
            warc: fetch::WarcConfig::default(),
            page: page::Config::default(),
            extract: extract::Config::default(),
            templates: template::Config::default(),
            analyze: analyze::Config::default(),
            terms: terms::Config::default(),
            index: index::Config::default(),
            serve: serve::Config::default(),
            follow: Vec::new(),
        }
    }
}

/// Section `[crawl]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CrawlConfig {
    /// Pages fetched at the same time, over all hosts.
    pub max_connections: usize,
    /// Documents are taken out of pages and indexed. Without, the crawl only fetches and follows links: for archives
    /// (`[warc]`) that are read later.
    pub documents: bool,
    /// Documents that may wait for the index; above it no new page is fetched until the index has caught up.
    pub max_outbox: u64,
    /// Size in bytes at which the crawl log is rotated.
    pub crawl_log_bytes: u64,
    /// Number of rotated crawl logs that are kept.
    pub crawl_log_files: u32,
    /// Milliseconds that requests under way get to finish when the daemon stops.
    pub stop_grace_ms: u64,
    /// `taojin crawl` leaves a host that is not ready within these milliseconds to the next pass.
    pub pass_patience_ms: u64,
    /// Crawling pauses while fewer bytes than these are free under the data folder; 0 switches this off.
    pub min_free_bytes: u64,
    /// Crawling pauses while less than this share of that file system is free, in percent; 0 switches this off.
    pub min_free_percent: u8,
}

impl Default for CrawlConfig {
    fn default() -> Self {
        Self {
            max_connections: MAX_CONNECTIONS,
            documents: true,
            max_outbox: MAX_OUTBOX,
            crawl_log_bytes: CRAWL_LOG_BYTES,
            crawl_log_files: CRAWL_LOG_FILES,
            stop_grace_ms: STOP_GRACE_MS,
            pass_patience_ms: PASS_PATIENCE_MS,
            min_free_bytes: MIN_FREE_BYTES,
            min_free_percent: MIN_FREE_PERCENT,
        }
    }
}

/// What is wrong with the configuration: one line for the operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError(pub String);

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ConfigError {}

/// A configuration that was read and checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// The file it came from; none when every value is a default.
    pub file: Option<PathBuf>,
    /// The settings, with `sites_dir` made absolute or relative to the working folder.
    pub config: Config,
    /// The sites in order of their names, disabled ones included.
    pub sites: Vec<Site>,
}

/// Finds and reads the configuration: `explicit` if given, else the system's file, else the checkout's, else
/// the defaults. `data_dir` overrides the file's.
pub fn load(explicit: Option<&Path>, data_dir: Option<&Path>) -> Result<Loaded, ConfigError> {
    let file = match explicit {
        Some(path) => Some(path.to_owned()),
        None => [SYSTEM_CONFIG, LOCAL_CONFIG]
            .iter()
            .map(PathBuf::from)
            .find(|p| p.is_file()),
    };
    let mut config = match &file {
        Some(path) => read_config(path)?,
        None => Config::default(),
    };
    if let (Some(path), true) = (&file, config.sites_dir.is_relative()) {
        config.sites_dir = path
            .parent()
            .unwrap_or(Path::new("."))
            .join(&config.sites_dir);
    }
    if let Some(dir) = data_dir {
        config.data_dir = dir.to_owned();
    }
    let sites = read_sites(&config.sites_dir)?;
    Ok(Loaded {
        file,
        config,
        sites,
    })
}

/// Reads every `*.toml` of the folder as a site. A missing folder holds no sites.
pub fn read_sites(dir: &Path) -> Result<Vec<Site>, ConfigError> {
    let mut files = Vec::new();
    match fs::read_dir(dir) {
        Ok(entries) => {
            for entry in entries {
                let path = entry.map_err(|e| unreadable(dir, &e))?.path();
                if path.extension().is_some_and(|e| e == "toml") {
                    files.push(path);
                }
            }
        }
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
        Err(e) => return Err(unreadable(dir, &e)),
    }
    files.sort();
    let mut sites: Vec<Site> = Vec::new();
    for path in files {
        let site = read_site(&path)?;
        if sites.iter().any(|s| s.name == site.name) {
            let mend = "two files have this site name: rename one of them";
            return Err(ConfigError(format!(
                "{}: name = \"{}\": {mend}",
                path.display(),
                site.name
            )));
        }
        sites.push(site);
    }
    sites.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(sites)
}

/// Reads and checks one site file.
pub fn read_site(path: &Path) -> Result<Site, ConfigError> {
    let text = fs::read_to_string(path).map_err(|e| unreadable(path, &e))?;
    let mut site: Site = parse(path, &text)?;
    if site.name.is_empty() {
        site.name = path
            .file_stem()
            .map(|s| s.to_string_lossy().into_owned())
            .unwrap_or_default();
    }
    site.check()
        .map_err(|e| ConfigError(format!("{}: {e}", path.display())))?;
    Ok(site)
}

fn read_config(path: &Path) -> Result<Config, ConfigError> {
    let text = fs::read_to_string(path).map_err(|e| unreadable(path, &e))?;
    let config: Config = parse(path, &text)?;
    config
        .validate()
        .map_err(|e| ConfigError(format!("{}: {e}", path.display())))?;
    Ok(config)
}

impl Config {
    /// Checks values that the types alone do not.
    fn validate(&self) -> Result<(), String> {
        if self.crawl.max_connections == 0 {
            return Err(
                "crawl.max_connections = 0: nothing could be fetched; use 1 or more".to_owned(),
            );
        }
        if self.crawl.max_outbox == 0 {
            return Err("crawl.max_outbox = 0: nothing could be indexed; use 1 or more".to_owned());
        }
        if self.crawl.min_free_percent > 99 {
            let value = self.crawl.min_free_percent;
            return Err(format!(
                "crawl.min_free_percent = {value}: nothing would ever be crawled; use 0 to 99"
            ));
        }
        if let Some(problem) = self.serve.problems().first() {
            return Err(format!("serve.{problem}"));
        }
        if let Some(problem) = self.terms.problem() {
            return Err(format!("terms.{problem}"));
        }
        if let Some(problem) = serve::Follow::first_problem(&self.follow) {
            return Err(format!("[[follow]] {problem}"));
        }
        Ok(())
    }
}

/// Parses TOML and turns an error into one line with the file, the line and the nearest known key.
fn parse<T: DeserializeOwned>(path: &Path, text: &str) -> Result<T, ConfigError> {
    toml::from_str(text).map_err(|e| {
        let line = e.span().map_or(1, |s| {
            text.bytes().take(s.start).filter(|b| *b == b'\n').count() + 1
        });
        ConfigError(format!(
            "{}:{line}: {}",
            path.display(),
            explain(e.message())
        ))
    })
}

/// Rewrites serde's "unknown field" message into what is wrong and the nearest key that is known.
fn explain(message: &str) -> String {
    let message = message.lines().collect::<Vec<_>>().join(" ");
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    match quoted.split_first() {
        Some((key, known)) if message.starts_with("unknown field") => match nearest(key, known) {
            Some(near) => format!("unknown key `{key}`; did you mean `{near}`?"),
            None => format!("unknown key `{key}`; known here: {}", known.join(", ")),
        },
        _ => message,
    }
}

/// The known word most like `word`, when it is like enough to be a typing error.
pub fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    known
        .iter()
        .map(|k| (strsim::damerau_levenshtein(word, k), *k))
        .filter(|(distance, k)| *distance <= (k.len() / 3).max(2))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, k)| k)
}

fn unreadable(path: &Path, error: &std::io::Error) -> ConfigError {
    ConfigError(format!("{}: cannot be read: {error}", path.display()))
}

impl Loaded {
    /// Folder of the search index.
    pub fn index_dir(&self) -> PathBuf {
        self.config.data_dir.join("index")
    }

    /// Folder of the archives.
    pub fn warc_dir(&self) -> PathBuf {
        let dir = &self.config.warc.dir;
        match dir.as_os_str().is_empty() {
            true => self.config.data_dir.join("warc"),
            false => dir.clone(),
        }
    }

    /// Folder of the crawl log.
    pub fn log_dir(&self) -> PathBuf {
        self.config.data_dir.join("log")
    }
}
