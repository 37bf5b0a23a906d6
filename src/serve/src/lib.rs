//! Search over HTTP, for people and programs: the web page, the JSON API, feeds, status and metrics.
//!
//! The server only reads: it cannot write to the index, and does not touch the file system. A handler that changes something
//! passes that to the daemon, and only for an operator (see `guard`). [`router()`] builds the routes over a [`ServeState`],
//! [`serve`] runs them.

mod api;
mod config;
mod control;
mod feeds;
mod guard;
pub mod metrics;
mod pages;
mod router;
mod search;
mod state;
mod status;

#[cfg(test)]
mod tests;

pub use api::answer::DocumentAnswer;
pub use api::log::{
    CHANGES_DEFAULT, CHANGES_MAX, ChangeAnswer, ChangesAnswer, DiffLine, DiffPart, DocumentKey,
    DocumentLog, FieldChange, HistoryAnswer, Past, VersionAnswer, VersionListed,
};
pub use api::problem::Problem;
pub use api::terms::{ReviewList, ReviewTerm, TermReview};
pub use config::Config;
pub use control::{Command, CommandDone, CommandError, SiteControl, Visit};
pub use feeds::follow::{Follow, Tell, Topics, message, next_try_ms};
pub use guard::operator::{Secret, new_token, signature};
pub use pages::fit::{
    GivenPage, NearTemplate, PAGE_BYTES_MAX, PageFit, PageSlot, RecordField, SlotKind, SlotText,
};
pub use pages::health::{Health, health_in};
pub use pages::help::syntax_in;
pub use pages::moment::{Precision, show_time, show_written};
pub use pages::results::{note_in, reason_in};
pub use pages::templates::{
    Effect, FieldListed, NamedPlace, Proposal, RegionListed, SequenceListed, TemplateListed,
    TemplateReview, TemplateView, TextListed,
};
pub use pages::versions::field_in;
pub use pages::words::{InitLabels, init_words, level_in, show_bytes, span_in};
pub use router::{BindError, bind, router, serve};
pub use search::source::{
    DocumentHit, RecentHit, Related, Relaxation, SearchRequest, SearchResults, SearchSource,
    SourceError, parse_request, search_corrected, to_hits,
};
pub use state::{HealthSource, ServeState};
pub use status::{
    Activity, ClusterStatus, CycleCounts, DiskUse, EngineHostStatus, FollowStatus, HostCounts,
    HostStatus, IndexState, IndexStatus, LeftOutDocument, LeftOutStatus, Level, NodeStatus,
    QueueCounts, QueueVisits, Readiness, ReadinessSource, SeenFilter, SiteStatus, SiteVerdict,
    Status, StatusSource, TemplateStatus, TermsStatus, UrlCounts, Words, WorkerStatus,
    worker_in_chinese,
};
pub use taojin_search::query::dates::{Calendar, period_ms};
pub use taojin_search::query::snippet::Marked;

/// The clock, in the unit of the whole project: Unix milliseconds.
fn now_ms() -> i64 {
    chrono::Utc::now().timestamp_millis()
}
