//! Fetches the comments that a page loads by script, where its site has `comments = "follow"`.
//!
//! [`PendingComments`] are the addresses that the page names. They are requested after the page and all further pages of its article, one
//! a visit, until one of them answers with comments. Each is a request of the page's turn like any other: scope, robots.txt and delay hold
//! for it. Whatever becomes of it, the page is taken; what failed is said of it. Of an answer in several pages the first is read.

use std::sync::Arc;

use super::article::{MissingPart, OpenArticle};
use super::visitor::{Visitor, report_fetch};
use super::{FurtherPart, PartKind, Unfetched, Visit, describe_failure};
use taojin_crawl::VisitOutcome;
use taojin_crawl::fetch::{Fetched, Refused, Turn};
use taojin_crawl::frontier::FetchReport;
use taojin_crawl::store::UrlRecord;
use taojin_extract::comments::answer::read_answer;
use taojin_extract::{Clock, Comment};
use taojin_uri::CrawlUri;

/// Addresses of one page that are requested at most: the second where the first has no comments.
const MAX_REQUESTS: usize = 2;

/// Bytes of an answer that are read, unpacked: some thousand comments.
pub(super) const MAX_BYTES: u64 = 1 << 20;

/// Where the comments of a page are still to be had.
#[derive(Debug)]
pub(super) struct PendingComments {
    /// Addresses that were not tried.
    left: Vec<CrawlUri>,
    /// Requests that may be made.
    requests: usize,
    /// What times in the answers are resolved by.
    clock: Clock,
}

impl PendingComments {
    /// Those that a page names; `None` if it names none.
    pub(super) fn new(left: Vec<CrawlUri>, clock: Clock) -> Option<Self> {
        (!left.is_empty()).then_some(Self {
            left,
            requests: MAX_REQUESTS,
            clock,
        })
    }

    /// Whether one more is to be tried.
    pub(super) fn has_more(&self) -> bool {
        self.requests > 0 && !self.left.is_empty()
    }

    /// None of those that are left is wanted.
    fn end(&mut self) {
        self.left.clear();
    }

    /// The comments of an answer.
    fn read(&self, fetched: &Fetched, body: &[u8]) -> Result<Vec<Comment>, String> {
        if let Some(to) = fetched.redirect_target() {
            return Err(format!("it leads to {to}"));
        }
        if fetched.outcome != VisitOutcome::Page || fetched.failure.is_some() {
            return Err(describe_failure(fetched));
        }
        read_answer(body, &self.clock).map_err(|error| error.to_string())
    }
}

/// Requests the next address of the comments of an article whose pages have all come. Those that a rule refuses cost no request, and the
/// next one is tried at once.
pub(super) async fn fetch_comments(
    visitor: &Arc<Visitor>,
    record: &UrlRecord,
    mut article: Box<OpenArticle>,
    mut pending: PendingComments,
    turn: &mut Turn,
) -> (Visit, FetchReport) {
    while pending.has_more() {
        let uri = pending.left.remove(0);
        let (fetched, body) = match visitor.ask_for_comments(&uri, turn).await {
            Ok(answer) => answer,
            Err(refused) => {
                article.note_missing(refused_comments(uri, refused));
                continue;
            }
        };
        pending.requests -= 1;
        let report = report_fetch(&fetched, fetched.outcome);
        match pending.read(&fetched, &body) {
            Ok(comments) => {
                let has_comments = !comments.is_empty();
                article.add_comments(comments);
                if has_comments {
                    pending.end();
                }
            }
            Err(why) => article.note_missing(MissingPart::Comments {
                uri: uri.clone(),
                why,
            }),
        }
        let further = FurtherPart {
            kind: PartKind::Comments,
            uri,
            fetched,
        };
        article.set_pending_comments(pending);
        let answer = article.proceed(record, Some(further));
        return (Visit::Fetched(Box::new(answer)), report);
    }
    let answer = article.proceed(record, None);
    let report = FetchReport::unasked(VisitOutcome::Unwanted);
    (Visit::Fetched(Box::new(answer)), report)
}

fn refused_comments(uri: CrawlUri, refused: Refused) -> MissingPart {
    let why = Unfetched::Refused(refused).to_string();
    MissingPart::Comments { uri, why }
}
