//! Search for people and machines. In: HTTP requests. Out: the web page, the JSON API, status and figures. Only
//! reads: nothing here can write to the index, and nothing reaches the file system. A handler that changes something
//! hands that to the daemon's side, and only for an operator (see `token`).

mod feeds;
mod guard;
pub mod metrics;
mod pages;
mod review;
mod search;

mod api;
mod config;
mod control;
mod counted;
mod document_log;
mod failure;
mod gauges;
mod readiness;
mod router;
mod state;
mod status;
mod verdict;
mod waiting;

#[cfg(test)]
mod tests;

pub use api::answer::{
    DateCountAnswer, DatesAnswer, FacetsAnswer, SearchAnswer, SearchHit, SiteCountAnswer,
    SuggestAnswer, SuggestionAnswer,
};
pub use api::changes_answer::{ChangeAnswer, ChangesAnswer};
pub use api::document_answer::{AttachmentAnswer, CommentAnswer, DocumentAnswer, ImageAnswer};
pub use api::history_answer::{DiffLine, DiffPart, FieldChange, HistoryAnswer, VersionAnswer};
pub use api::problem::{PROBLEM_JSON, Problem};
pub use config::Config;
pub use control::{CommandDone, CommandRefused, SiteCommand, SiteControl, SiteView, Visit, Why};
pub use document_log::{
    CHANGES_DEFAULT, CHANGES_MAX, DocumentKey, DocumentLog, Past, VersionListed,
};
pub use feeds::follow::{Follow, Tell, Topics, message, next_try_ms};
pub use guard::secret::{Secret, signature};
pub use guard::session::new_token;
pub use pages::help::syntax_in;
pub use pages::words::{InitLabels, init_words};
pub use readiness::{Readiness, ReadinessSource};
pub use review::templates::{
    Effect, FieldListed, NamedPlace, Outcome, Proposal, RegionListed, TemplateListed,
    TemplateReview, TemplateView, TextListed,
};
pub use review::terms::{Review, ReviewList, ReviewTerm, TermReview};
pub use router::{BindError, bind, router, serve};
pub use search::index_source::{as_hits, ask, understood};
pub use search::source::{
    Arrived, Found, FoundList, LeaveOut, Offer, Related, SearchSource, SourceError, Wanted,
    WeakerList,
};
pub use state::{HealthSource, ServeState};
pub use status::{
    Activity, ClusterStatus, CycleCounts, DiskUse, FollowStatus, HostCounts, HostStatus,
    LeftOutDocument, LeftOutStatus, NodeStatus, QueueCounts, SeenFilter, SiteStatus, Status,
    StatusSource, TemplateStatus, TermsStatus, UrlCounts, WorkerStatus,
};
pub use taojin_search::query::dates::{Calendar, DateError, period_ms};
pub use taojin_search::query::highlight::Highlighter;
pub use taojin_search::query::snippet::Marked;
pub use verdict::{Level, SiteVerdict};

/// The clock, in the unit of the whole project: Unix milliseconds.
fn now_ms() -> i64 {
    chrono::Utc::now().timestamp_millis()
}
