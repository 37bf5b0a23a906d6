//! The search index: takes documents with their fingerprint and the number of their last change, and returns ranked
//! documents for a [`Query`], soon after their commit, also in another process. Never parses a query language and never
//! reads HTML; next to the tokenizers the only place that knows tantivy.

mod duplicates;
mod facets;
mod guidance;
mod query;
mod rank;
mod reader;
mod recut;
pub mod remote;
mod schema;
mod search;
mod stop;
mod storage;
mod stored;
#[cfg(test)]
mod tests;
mod view;

use std::path::PathBuf;

use remote::{EngineTrouble, TroubleKind};
use serde::{Deserialize, Serialize};

pub use facets::days::{DateCount, DateUnit, Dates, Extent};
pub use facets::trends::{Comparison, Counted, Rising, Story};
pub use facets::values::{FieldCounts, ValueCount};
pub use guidance::{Correction, Reason, Suggested, Suggestion, reasons};
pub use query::{Clause, Filter, Form, Group, Match, Occur, Query, Sort, Target};
pub(crate) use rank::clauses::expanded;
pub use rank::labels::{is_comparison, is_notice_label, notice_labels};
pub use reader::{Reader, SiteTitles, Watermark};
pub use recut::RecutProgress;
pub use schema::{CommitPayload, FORMAT, refuse_newer};
pub use search::{Facets, Found, FoundDocument, SiteCount, Weaker};
pub use stop::{CancellationToken, MAX_SINGLE_CHARACTERS};
pub use storage::folder::check_files;
pub use storage::left_out::{SkippedDocument, SkippedDocuments, caught};
pub use storage::rebuild::{
    can_be_searched, clear_fresh, committed_seq, complete_swap, fresh_dir, noted, put_aside,
    put_in_place, remove,
};
pub use storage::threads::Parallelism;
pub use storage::writer::{IndexWriter, Writer};
pub use stored::{DocumentSource, SourceError, StoredDocument, parse_published};

/// Why the index cannot be opened, written or searched.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// There is no index in the directory.
    #[error("no search index in {}: nothing was crawled or imported into this data folder yet; fill it with `taojin crawl`, name another with --data-dir, or look at `taojin demo` first", .0.display())]
    Missing(PathBuf),
    /// Another process or writer has it open for writing.
    #[error("the search index in {} is being written by another taojin; stop it first (systemctl stop taojin)", .0.display())]
    Locked(PathBuf),
    /// It was made by a version that cuts or keeps text in another way.
    #[error("the search index in {} has format {found}, this taojin writes format {FORMAT}; mend: taojin reindex", dir.display())]
    Format {
        /// Directory of the index.
        dir: PathBuf,
        /// What was found there.
        found: String,
    },
    /// It was made by a newer version. It is left as it is.
    #[error(
        "the search index in {} has format {found}, this taojin knows up to {FORMAT}: install the newer taojin again; to go \
         on with this one, move that folder away and run `taojin reindex`: the store has every document", dir.display()
    )]
    Newer {
        /// Directory of the index.
        dir: PathBuf,
        /// What was found there.
        found: u64,
    },
    /// The directory or a file in it cannot be read, or does not hold what it should.
    #[error("the search index in {} cannot be read: {cause}", dir.display())]
    Unreadable {
        /// Directory of the index.
        dir: PathBuf,
        /// What stood in the way.
        cause: String,
        /// The system refused, as it does when a disk is full or fails: the index may be in order.
        is_refusal: bool,
    },
    /// The documents of another store are in it.
    #[error("the search index in {} was not made from this store; mend: taojin reindex", .0.display())]
    OtherStore(PathBuf),
    /// The query would cost too much.
    #[error(
        "the query asks for {found} single characters, {MAX_SINGLE_CHARACTERS} are allowed: write words of two characters or more"
    )]
    TooCostly {
        /// Single characters in the query.
        found: usize,
    },
    /// The search was ended by its [`CancellationToken`]: there is no answer, not even a part of one.
    #[error("the search was stopped before it was done")]
    Stopped,
    /// The engine that keeps the index does not do what it was asked for.
    #[error("the search index at {place}: {trouble}")]
    Remote {
        /// Address of the engine and name of the index.
        place: String,
        /// What stood in the way.
        trouble: EngineTrouble,
    },
    /// The engine has no such index.
    #[error(
        "there is no search index at {0} yet: `taojin run`, `crawl` or `import` with these settings makes it"
    )]
    RemoteMissing(String),
    /// The documents of another store are in it.
    #[error(
        "the search index at {0} was made from another store: give search.index another name; or, where that store is no more, \
         have `taojin reindex --take-over` make it again from this one"
    )]
    RemoteOtherStore(String),
    /// There is no room on the disk to write.
    #[error("the search index in {} cannot be written, the disk or a quota is full ({cause}): make room", dir.display())]
    Full {
        /// Directory of the index.
        dir: PathBuf,
        /// What failed.
        cause: String,
    },
    /// Writing or searching failed half-way.
    #[error("the search index in {} failed: {cause}", dir.display())]
    Failed {
        /// Directory of the index.
        dir: PathBuf,
        /// What failed.
        cause: String,
    },
}

impl IndexError {
    /// Whether the index itself may be in order: another process has it, the disk is full, or the file system refuses.
    pub fn is_transient(&self) -> bool {
        match self {
            IndexError::Locked(_) | IndexError::Full { .. } | IndexError::Remote { .. } => true,
            IndexError::Unreadable {
                dir, is_refusal, ..
            } => *is_refusal || std::fs::read_dir(dir).is_err(),
            _ => false,
        }
    }

    /// What is wrong with the engine that keeps the index; `None` if the error is another one.
    pub fn trouble_kind(&self) -> Option<TroubleKind> {
        match self {
            IndexError::Remote { trouble, .. } => Some(trouble.kind()),
            _ => None,
        }
    }
}

/// Memory of the indexing thread: some 10,000 news articles a segment. Twice as much saves a few hundredths of the processor time
/// of a large import, which alone takes it; a crawl commits long before.
const DEFAULT_MEMORY_MB: usize = 128;
/// One thread indexes thousands of documents a second, more than a polite crawl brings.
const DEFAULT_THREADS: usize = 1;
/// Beijing time: what Chinese pages mean when they print no offset.
const DEFAULT_UTC_OFFSET_MINUTES: i32 = 480;
/// A title says in a few words what the text says in many.
const DEFAULT_TITLE_BOOST: f32 = 2.0;
/// A term of the domain says more than a common word.
const DEFAULT_TERM_BOOST: f32 = 1.5;
/// The typed text as it stands is what a person means by a name.
const DEFAULT_PHRASE_BOOST: f32 = 1.0;
/// Documents with all words come first, whatever one rare word weighs.
const DEFAULT_ALL_WORDS_BONUS: f32 = 2.0;

/// A month: what is older than that is background to a daily press, not news.
const DEFAULT_HALF_LIFE_DAYS: u32 = 30;

/// How the index is kept and how it ranks.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Memory for new documents before they are written out, in MB for each thread (at least 15).
    pub memory_mb: usize,
    /// Indexing threads.
    pub threads: usize,
    /// Offset from UTC, in minutes, of dates that name none.
    pub utc_offset_minutes: i32,
    /// Weight of a hit in the title against one in the text.
    pub title_boost: f32,
    /// Weight of a term of the lexicons against other words.
    pub term_boost: f32,
    /// Weight of a short text found exactly as typed; 0 switches the look-up off.
    pub phrase_boost: f32,
    /// What a document gains that has all words of a short query.
    pub all_words_bonus: f32,
    /// In the order `both`, the age in days at which a score is halved.
    pub half_life_days: u32,
    /// How a search is divided: from the section `[search]`.
    #[serde(skip)]
    pub parallelism: Parallelism,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            memory_mb: DEFAULT_MEMORY_MB,
            threads: DEFAULT_THREADS,
            utc_offset_minutes: DEFAULT_UTC_OFFSET_MINUTES,
            title_boost: DEFAULT_TITLE_BOOST,
            term_boost: DEFAULT_TERM_BOOST,
            phrase_boost: DEFAULT_PHRASE_BOOST,
            all_words_bonus: DEFAULT_ALL_WORDS_BONUS,
            half_life_days: DEFAULT_HALF_LIFE_DAYS,
            parallelism: Parallelism::default(),
        }
    }
}
