//! Settings: `taojin.toml` and `sites.d/*.toml`.
//!
//! [`load`] returns a [`LoadedConfig`], or for every mistake one line with the file, the line, the key, its value and what to
//! write. Each stage owns the struct of its own section; no stage imports this module.

mod dropped;
mod files;
mod origins;
mod read;
mod schema;
mod values;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use dropped::dropped_keys;
pub use files::read_weights;
pub(crate) use files::{is_lexicon_file, read_term_patterns};
pub use origins::{Origin, settings};
pub use read::{
    ConfigError, ConfigProblem, load, parse_site, read, read_site, read_sites, site_files,
};

use crate::serve;
use taojin_attachments::FileType;
use taojin_crawl::fetch;
use taojin_crawl::frontier;
use taojin_crawl::schedule;
use taojin_crawl::schedule::Site;
use taojin_crawl::store::{Duties, Retention, StorePlace};
use taojin_extract as extract;
use taojin_extract::page;
use taojin_extract::template;
use taojin_search::analyze;
use taojin_search::index;
use taojin_search::terms;

/// Where the installed daemon looks first.
pub const SYSTEM_CONFIG: &str = "/etc/taojin/taojin.toml";
/// Where a developer's checkout keeps its configuration.
pub const LOCAL_CONFIG: &str = "config/taojin.toml";

/// Folder of the search index in the data folder.
pub const INDEX_DIR: &str = "index";

/// Connections in use at once over all hosts: enough to keep a small machine's two cores busy with slow servers.
const MAX_CONNECTIONS: usize = 64;
/// Four sites that answer as slowly as they can still leave room for a fifth.
const SITE_SHARE: f64 = 0.25;
/// Long reports and picture stories have up to a dozen pages. What has more is a book or a list, and each page is one more
/// request of its host before any other page.
const ARTICLE_PAGES: usize = 20;
/// A crawl log of this size is set aside and a new one begun.
const CRAWL_LOG_BYTES: u64 = 64 * 1024 * 1024;
/// How many old crawl logs are kept.
const CRAWL_LOG_FILES: u32 = 8;
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
    /// What holds the state.
    pub store: StoreConfig,
    /// This machine among several.
    pub cluster: ClusterConfig,
    /// The crawl as a whole.
    pub crawl: CrawlConfig,
    /// How long the history of documents is kept.
    pub documents: DocumentsConfig,
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
    /// What keeps the search index.
    pub search: SearchConfig,
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
            store: StoreConfig::default(),
            cluster: ClusterConfig::default(),
            crawl: CrawlConfig::default(),
            documents: DocumentsConfig::default(),
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
            search: SearchConfig::default(),
            serve: serve::Config::default(),
            follow: Vec::new(),
        }
    }
}

/// Section `[store]`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct StoreConfig {
    /// Address of a PostgreSQL database (15 or later) that holds the state; empty: a SQLite file in the data folder.
    pub url: String,
    /// File with the password of its user; empty where none is asked for.
    pub password_file: PathBuf,
    /// PEM file of the authorities that may vouch for the server with `?sslmode=require`; empty: those that the system trusts.
    pub ca_file: PathBuf,
}

/// What keeps the search index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// This program, in the data folder.
    #[default]
    Embedded,
    /// OpenSearch, or Elasticsearch, at an address.
    OpenSearch,
}

impl Engine {
    /// Whether it is reached over the network.
    pub fn is_remote(self) -> bool {
        self == Self::OpenSearch
    }
}

/// Section `[search]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SearchConfig {
    /// What keeps the search index: `embedded` (this program, in the data folder) or `opensearch` (OpenSearch or
    /// Elasticsearch, at `url`).
    pub engine: Engine,
    /// Threads of one search of the embedded index; 0: all processors but one.
    pub threads: usize,
    /// Address of the engine, for example `https://search1.example.org:9200`; of several machines, with commas between
    /// them, the first that answers is asked.
    pub url: String,
    /// Name of the index there; another installation needs another name.
    pub index: String,
    /// User that the engine knows; empty: none.
    pub user: String,
    /// File with the password of that user.
    pub password_file: PathBuf,
    /// PEM file of the authorities that may vouch for the engine; empty: those that the system trusts.
    pub ca_file: PathBuf,
    /// PEM file of the certificate that the engine knows this machine by; empty: none.
    pub client_certificate_file: PathBuf,
    /// PEM file of the key of that certificate.
    pub client_key_file: PathBuf,
    /// Number of shards: one for each machine that shall search. Cannot be changed later.
    pub shards: u32,
    /// Number of replicas: with 1 the loss of a machine loses nothing.
    pub replicas: u32,
}

impl Default for SearchConfig {
    fn default() -> Self {
        Self {
            engine: Engine::default(),
            threads: 0,
            url: String::new(),
            index: "taojin".to_owned(),
            user: String::new(),
            password_file: PathBuf::new(),
            ca_file: PathBuf::new(),
            client_certificate_file: PathBuf::new(),
            client_key_file: PathBuf::new(),
            shards: 1,
            replicas: 1,
        }
    }
}

/// Section `[cluster]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ClusterConfig {
    /// This machine takes part in the crawl. If not, it only has an index and answers searches.
    pub crawl: bool,
    /// This machine has an index and answers searches. If not, it only crawls, and listens nowhere.
    pub serve: bool,
}

impl Default for ClusterConfig {
    fn default() -> Self {
        Self {
            crawl: true,
            serve: true,
        }
    }
}

/// Section `[crawl]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CrawlConfig {
    /// Pages fetched at the same time, over all hosts.
    pub max_connections: usize,
    /// The share of these that one site has at most while others want some, and that it leaves free while it is alone.
    pub site_share: f64,
    /// Documents are taken out of pages and indexed. Without, the crawl only fetches and follows links: for archives
    /// (`[warc]`) that are read later.
    pub documents: bool,
    /// Files that pages offer are fetched and read; a site's file may switch it off for the site.
    pub attachments: bool,
    /// Kinds of files that are read, by their content.
    pub attachment_types: Vec<FileType>,
    /// Pages of one article that become one document, the first included; 1 switches this off.
    pub article_pages: usize,
    /// Size in bytes at which the crawl log is rotated.
    pub crawl_log_bytes: u64,
    /// Number of rotated crawl logs that are kept.
    pub crawl_log_files: u32,
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
            site_share: SITE_SHARE,
            documents: true,
            attachments: true,
            attachment_types: FileType::ALL.map(|(kind, _)| kind).to_vec(),
            article_pages: ARTICLE_PAGES,
            crawl_log_bytes: CRAWL_LOG_BYTES,
            crawl_log_files: CRAWL_LOG_FILES,
            pass_patience_ms: PASS_PATIENCE_MS,
            min_free_bytes: MIN_FREE_BYTES,
            min_free_percent: MIN_FREE_PERCENT,
        }
    }
}

/// Section `[documents]`: how long the store remembers what documents said before. What they say now it always keeps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DocumentsConfig {
    /// Versions before the present one that are kept of each document; the oldest go first.
    pub keep_versions: u32,
    /// Days that a version is kept after a newer one came.
    pub keep_versions_days: u32,
    /// Days for which it is remembered that a document is gone, so that exports and followers can be told.
    pub keep_deleted_days: u32,
}

impl Default for DocumentsConfig {
    fn default() -> Self {
        let Retention {
            versions,
            version_days,
            tombstone_days,
        } = Retention::default();
        Self {
            keep_versions: versions,
            keep_versions_days: version_days,
            keep_deleted_days: tombstone_days,
        }
    }
}

impl DocumentsConfig {
    /// The same as the store takes it.
    pub fn retention(&self) -> Retention {
        Retention {
            versions: self.keep_versions,
            version_days: self.keep_versions_days,
            tombstone_days: self.keep_deleted_days,
        }
    }
}

/// A configuration that was read and checked.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadedConfig {
    /// The file it came from; none when every value is a default.
    pub file: Option<PathBuf>,
    /// The settings, with `sites_dir` made absolute or relative to the working folder.
    pub config: Config,
    /// The sites in order of their names, disabled ones included.
    pub sites: Vec<Site>,
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

/// The end of a message about an unknown name: `; did you mean X?`, or nothing.
pub fn did_you_mean(word: &str, known: &[&str]) -> String {
    nearest(word, known)
        .map(|near| format!("; did you mean {near}?"))
        .unwrap_or_default()
}

impl LoadedConfig {
    /// Where the store is.
    pub fn store_place(&self) -> StorePlace {
        let store = &self.config.store;
        let password_file = self.placed(&store.password_file);
        StorePlace::new(&self.config.data_dir, &store.url, password_file)
            .with_ca_file(self.placed(&store.ca_file))
            .with_duties(Duties {
                crawls: self.config.cluster.crawl,
                serves: self.config.cluster.serve,
            })
    }

    /// Where this machine reads documents: in the store, or where that is in PostgreSQL and the index is here, in its own copy of
    /// them, so that searches need no database.
    pub fn documents_place(&self) -> StorePlace {
        let store = self.store_place();
        if self.copies_documents() {
            store.copy()
        } else {
            store
        }
    }

    /// Refuses what needs an index on a machine that only crawls.
    pub(crate) fn refuse_without_index(&self) -> anyhow::Result<()> {
        anyhow::ensure!(
            self.config.cluster.serve,
            "this machine only crawls and has no index: cluster.serve = false; do this on a machine that serves"
        );
        Ok(())
    }

    /// Whether this machine keeps a copy of the documents.
    pub(crate) fn copies_documents(&self) -> bool {
        let serves = self.config.cluster.serve;
        serves && self.store_place().is_postgres() && !self.config.search.engine.is_remote()
    }

    /// Where a file is that the settings name; none where they name none.
    pub(crate) fn placed(&self, file: &Path) -> Option<PathBuf> {
        let is_named = !file.as_os_str().is_empty();
        is_named.then(|| files::placed(files::dir_of(self.file.as_deref()), file))
    }

    /// Folder of the search index.
    pub fn index_dir(&self) -> PathBuf {
        self.config.data_dir.join(INDEX_DIR)
    }

    /// Folder of the archives.
    pub fn warc_dir(&self) -> PathBuf {
        let dir = &self.config.warc.dir;
        if dir.as_os_str().is_empty() {
            self.config.data_dir.join("warc")
        } else {
            dir.clone()
        }
    }

    /// Folder of the crawl log.
    pub fn log_dir(&self) -> PathBuf {
        self.config.data_dir.join("log")
    }
}
