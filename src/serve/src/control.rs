//! Commands of the operator to the crawler.
//!
//! A [`Command`] is executed by the daemon, which returns [`CommandDone`] or a [`CommandError`]; nothing here writes anything.
//! The same types go over HTTP, over the daemon's socket and to `--json`.

use std::fmt;

use serde::{Deserialize, Serialize};
use taojin_crawl::schedule::Site;
use utoipa::ToSchema;

use super::pages::fit::GivenPage;
use super::search::source::SourceError;
use taojin_crawl::store::StoreError;
use taojin_search::index::IndexError;

/// What the operator asks of the crawler.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Command {
    /// Start a cycle of these sites, or of all that are due.
    Crawl {
        /// Names of sites.
        sites: Vec<String>,
        /// Revisit every known article, due or not.
        recheck: bool,
        /// Report each visit, and respond once nothing of the sites is left to do now.
        wait: bool,
    },
    /// Fetch this URL next, as soon as its host may be requested.
    Visit {
        /// The URL.
        url: String,
        /// Respond once it was visited.
        wait: bool,
    },
    /// Pause or resume a site.
    SetPaused {
        /// Name of the site.
        site: String,
        /// Fetch nothing of it until it is resumed.
        paused: bool,
    },
    /// Remove all documents and URLs of a site.
    Purge {
        /// Name of the site.
        site: String,
        /// Stop crawling it: its file is gone. Not over HTTP, where no files are changed.
        forget: bool,
    },
    /// Take a document down, and never fetch its URLs again.
    PurgeUrl {
        /// The URL.
        url: String,
    },
    /// Let a URL that was taken down be fetched again.
    Allow {
        /// The URL.
        url: String,
    },
    /// Rebuild the index; the response comes when the new one is in place.
    Reindex,
    /// The same where the index was made from another store, which is no more.
    TakeOverIndex,
    /// Report the state of the daemon.
    Status,
}

/// What was done. Only what belongs to the command is there.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct CommandDone {
    /// Name of the site.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub site: Option<String>,
    /// The address, in canonical form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Addresses that became due.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub due: Option<u64>,
    /// Since when the site is paused, Unix milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused_ms: Option<i64>,
    /// When the next cycle of the site begins, Unix milliseconds; after a purge: when it is crawled again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cycle_ms: Option<i64>,
    /// Documents that were taken out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub documents: Option<u64>,
    /// Addresses of a purged site that were forgotten.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub urls: Option<u64>,
    /// Addresses that are refused from now on, or allowed again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub addresses: Vec<String>,
    /// How the visit ended, in a word of the crawl log; none while it waits for its host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// HTTP status of the visit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Why the visit was refused or failed, or why it waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What became of the document: `new`, `changed`, `unchanged` …
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
}

/// Why a command was not executed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandError {
    /// Neither configuration nor store has a site of this name.
    UnknownSite {
        /// The name as it was given.
        site: String,
        /// A known name that is much like it.
        similar: Option<String>,
    },
    /// The site is configured, but the daemon has not read its file.
    SiteNotLoaded {
        /// Name of the site.
        site: String,
    },
    /// The site is not enabled.
    SiteDisabled {
        /// Name of the site.
        site: String,
    },
    /// The operator paused the site.
    SitePaused {
        /// Name of the site.
        site: String,
    },
    /// This is no URL.
    InvalidUrl {
        /// The text as it was given.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// No site has the URL's host.
    UnknownHost {
        /// The URL.
        url: String,
        /// Its host, with a port that is not the usual one.
        host: String,
    },
    /// Sites have the URL's host, but not the URL.
    OutOfScope {
        /// The URL.
        url: String,
        /// Why not, for each of the sites.
        reasons: Vec<String>,
    },
    /// The URL was taken down.
    TakenDown {
        /// The URL.
        url: String,
    },
    /// The URL was not taken down, so that cannot be lifted.
    NotTakenDown {
        /// The URL.
        url: String,
    },
    /// Any other mistake in the request.
    Invalid(String),
    /// It cannot be done at present.
    NotNow(String),
    /// No crawler runs, or it stops.
    NoCrawler(String),
    /// The store or the index failed.
    Failed(String),
}

impl CommandError {
    /// Something went wrong while the command was executed.
    pub fn failed(error: impl fmt::Display) -> Self {
        Self::Failed(error.to_string())
    }

    /// Returns what the operator can do about it.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::UnknownSite { similar, .. } => format!("did you mean {}?", similar.as_ref()?),
            Self::SiteNotLoaded { .. } => "first: systemctl reload taojin".to_owned(),
            Self::SitePaused { site } => format!("first: taojin resume {site}"),
            Self::InvalidUrl { .. } => {
                "write a whole address like https://www.example.com/".to_owned()
            }
            Self::UnknownHost { url, .. } => {
                format!("add it to [scope] hosts of a site, or: taojin site add {url}")
            }
            Self::TakenDown { url } => format!("to lift that: taojin purge --allow {url}"),
            _ => return None,
        })
    }

    /// Whether the caller has to ask for something else: trying again changes nothing.
    pub fn is_mistake(&self) -> bool {
        !matches!(
            self,
            Self::SitePaused { .. } | Self::NotNow(_) | Self::NoCrawler(_) | Self::Failed(_)
        )
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownSite { site, .. } => write!(f, "{site}: no site has this name"),
            Self::SiteNotLoaded { site } => {
                write!(f, "{site}: the daemon has not read its file yet")
            }
            Self::SiteDisabled { site } => {
                write!(
                    f,
                    "{site}: the site is not enabled (enabled = false in its file)"
                )
            }
            Self::SitePaused { site } => write!(f, "{site}: the site is paused"),
            Self::InvalidUrl { url, reason } => write!(f, "{url}: {reason}"),
            Self::UnknownHost { url, host } => write!(f, "{url}: no site has the host {host}"),
            Self::OutOfScope { url, reasons } => write!(f, "{url}: {}", reasons.join("; ")),
            Self::TakenDown { url } => write!(f, "{url}: was taken down"),
            Self::NotTakenDown { url } => write!(f, "{url}: was not taken down"),
            Self::Invalid(text) | Self::NotNow(text) => f.write_str(text),
            Self::NoCrawler(text) | Self::Failed(text) => f.write_str(text),
        }?;
        match self.hint() {
            Some(hint) => write!(f, "; {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for CommandError {}

impl From<StoreError> for CommandError {
    fn from(error: StoreError) -> Self {
        Self::failed(error)
    }
}

impl From<IndexError> for CommandError {
    fn from(error: IndexError) -> Self {
        Self::failed(error)
    }
}

/// One line of the crawl log.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct Visit {
    /// When it ended, RFC 3339.
    pub time: String,
    /// Name of the site.
    pub site: String,
    /// The address.
    pub url: String,
    /// How it ended.
    pub outcome: String,
    /// HTTP status.
    pub status: Option<u16>,
    /// Why it was refused or failed.
    pub reason: Option<String>,
    /// What became of the document.
    pub document: Option<String>,
}

/// Executes commands. Calls block; the server makes them on blocking threads.
pub trait SiteControl: Send + Sync {
    /// Executes a command; what it changes is durable when this returns.
    fn execute(&self, command: Command) -> Result<CommandDone, CommandError>;
    /// Fetches the page at an address in the scope of a site, and stores nothing of it.
    fn fetch_page(&self, url: &str) -> Result<GivenPage, CommandError>;
    /// Returns the settings of a site and its last visits, latest first; `None` if there is no site of this name.
    fn site(&self, name: &str) -> Result<Option<(Site, Vec<Visit>)>, SourceError>;
}
