//! What the operator may ask of the crawler. In: a command. Out: what was done, or why not. The daemon carries it out;
//! nothing here writes anything. The same types go over HTTP, over the daemon's socket and to `--json`.

use serde::{Deserialize, Serialize};
use taojin_crawl::schedule::Site;
use utoipa::ToSchema;

use super::search::source::SourceError;
use taojin_crawl::store::StoreError;
use taojin_search::index::IndexError;

/// A command about a site or an address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
pub enum SiteCommand {
    /// Begin a cycle of the site now.
    Visit {
        /// Name of the site.
        site: String,
    },
    /// Fetch this address next, as soon as its host may be asked.
    VisitUrl {
        /// The address.
        url: String,
    },
    /// Fetch nothing of the site until it is resumed.
    Pause {
        /// Name of the site.
        site: String,
    },
    /// Go on with the site.
    Resume {
        /// Name of the site.
        site: String,
    },
    /// Remove all documents and addresses of the site.
    Purge {
        /// Name of the site.
        site: String,
    },
    /// Stop crawling the site, whose file is gone, and take all of it out. Not over HTTP: files are not changed there.
    Forget {
        /// Name of the site.
        site: String,
    },
    /// Take a document down, and fetch its addresses never again.
    PurgeUrl {
        /// The address.
        url: String,
    },
    /// Let an address that was taken down be fetched again.
    Allow {
        /// The address.
        url: String,
    },
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

/// Why a command was not carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// There is no such site.
    NoSuchSite,
    /// It cannot be done with this address or site, now or later.
    Mistake,
    /// It cannot be done at present: the site is paused, the disk is low.
    NotNow,
    /// No crawler runs, or it stops.
    NoCrawler,
    /// The store or the index failed.
    Failed,
}

/// A command that was not carried out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct CommandRefused {
    /// What sort of reason.
    pub why: Why,
    /// One line for the operator: what, and how to mend it.
    pub message: String,
}

impl CommandRefused {
    /// With its reason.
    pub fn new(why: Why, message: impl Into<String>) -> Self {
        Self {
            why,
            message: message.into(),
        }
    }

    /// What was tried went wrong.
    pub fn failed(error: impl std::fmt::Display) -> Self {
        Self::new(Why::Failed, error.to_string())
    }
}

impl From<StoreError> for CommandRefused {
    fn from(error: StoreError) -> Self {
        Self::failed(&error)
    }
}

impl From<IndexError> for CommandRefused {
    fn from(error: IndexError) -> Self {
        Self::failed(&error)
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

/// Where commands go. Calls block; the server makes them on blocking threads.
pub trait SiteControl: Send + Sync {
    /// Carries out a command; what it changes is durable when this returns.
    fn carry_out(&self, command: SiteCommand) -> Result<CommandDone, CommandRefused>;
    /// The settings and last visits of a site, latest first; none if there is none of this name.
    fn site(&self, name: &str) -> Result<Option<(Site, Vec<Visit>)>, SourceError>;
}
