//! Search for people and machines. In: HTTP requests. Out: the web page, the JSON API, status and figures. Only
//! reads: nothing here can write to the index, and nothing reaches the file system. A handler that changes something
//! hands that to the daemon's side, and only for an operator (see `token`).

pub mod metrics;
pub mod query;
pub mod snippet;

mod answer;
mod api;
mod api_page;
mod api_sample;
mod api_words;
mod chart;
mod chips;
mod citation;
mod config;
mod control;
mod dates;
mod document_page;
mod feed;
mod feed_page;
mod follow;
mod form;
mod gauges;
mod help_page;
mod highlight;
mod home;
mod html;
mod labels;
mod lang;
mod limiter;
mod listen;
mod login;
mod moment;
mod openapi;
mod operator_labels;
mod overview;
mod param_error;
mod params;
mod problem;
mod results_page;
mod router;
mod seats;
mod site_page;
mod sites_api;
mod source;
mod source_index;
mod state;
mod status;
mod status_page;
mod template_desk;
mod templates_page;
mod terms_api;
mod terms_page;
mod thread;
mod token;
mod verdict;
mod view;
mod web;

#[cfg(test)]
mod tests;

pub use answer::{
    CommentAnswer, DateCountAnswer, DatesAnswer, DocumentAnswer, FacetsAnswer, ImageAnswer,
    SearchAnswer, SearchHit, SiteCountAnswer, SuggestAnswer, SuggestionAnswer,
};
pub use config::Config;
pub use control::{CommandDone, CommandRefused, SiteCommand, SiteControl, SiteView, Visit, Why};
pub use dates::{Calendar, DateError, period_ms};
pub use follow::{Follow, Topics, message, next_try_ms};
pub use highlight::Highlighter;
pub use problem::{PROBLEM_JSON, Problem};
pub use router::{BindError, bind, router, serve};
pub use source::{Arrived, Found, FoundList, Marked, Related, SearchSource, SourceError, Wanted};
pub use source_index::{as_hits, ask, understood};
pub use state::ServeState;
pub use status::{
    Activity, CycleCounts, DiskUse, FollowStatus, HostCounts, HostStatus, QueueCounts, SeenFilter,
    SiteStatus, Status, StatusSource, TemplateStatus, TermsStatus, UrlCounts,
};
pub use template_desk::{
    Effect, Outcome, Proposal, RegionListed, TemplateDesk, TemplateListed, TemplateView,
};
pub use terms_page::{Review, ReviewList, ReviewTerm, TermReview};
pub use token::{Secret, signature};
pub use verdict::{Level, SiteVerdict};

/// The clock, in the unit of the whole project: Unix milliseconds.
fn now_ms() -> i64 {
    chrono::Utc::now().timestamp_millis()
}
