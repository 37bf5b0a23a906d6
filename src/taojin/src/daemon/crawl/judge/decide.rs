//! Decides what follows from a visit: [`decide`] makes a [`Change`] of it, of what it shows and of the revisit policy.
//!
//! It is pure: the time is passed in, nothing is read or written.

use std::borrow::Cow;
use std::sync::Arc;

use super::{Judgement, Primary};
use crate::daemon::crawl::crawl_log::{LogLine, time};
use crate::daemon::crawl::sites;
use crate::daemon::crawl::visit::{FinishedVisit, Unindexed, Visit};
use taojin_crawl::fetch::{Fetched, Trouble};
use taojin_crawl::frontier::Lease;
use taojin_crawl::schedule::{self, Finding, PageFacts, PageKind, Revisit, revisit};
use taojin_crawl::store::{
    DocOp, FinishedPage, UrlClass, UrlId, UrlRecord, UrlState, UrlVisit, UsedTemplate,
};
use taojin_crawl::{DocumentChange, VisitOutcome};
use taojin_extract::Kind;
use taojin_uri::CrawlUri;

/// What follows from a visit.
pub(crate) struct Change {
    /// The next state of the URL's record, its document and its links.
    pub(crate) page: FinishedPage,
    /// A page that is to be checked again at once.
    pub(crate) recheck: Option<UrlId>,
    /// Counters of the site that go up by one.
    pub(crate) counters: Vec<Cow<'static, str>>,
    /// What went wrong, for the status of the site.
    pub(crate) error: Option<String>,
    /// For the crawl log.
    pub(crate) line: LogLine,
    /// The page came whole and said nothing that was not known.
    pub(crate) wasted: bool,
}

/// Decides what becomes of the URL and of its document. Without `keeps_links` the addresses that the page leads to are not taken up.
pub(crate) fn decide(
    policy: &schedule::Config,
    finished: FinishedVisit,
    judgement: Judgement,
    keeps_links: bool,
    now_ms: i64,
) -> Change {
    let FinishedVisit {
        lease,
        visit,
        sitemaps,
        ..
    } = finished;
    let record = &lease.record;
    // A page from an archive was visited when it was archived.
    let at_ms = visit.archived_ms().unwrap_or(now_ms);
    let mut next = revisit(policy, record, &finding(&visit, record, &judgement), at_ms);
    link_to_primary(&mut next, &visit, record, judgement.primary.as_ref(), at_ms);
    if let Some(primary) = &judgement.primary {
        // Its document is looked after at the other address.
        next.visit.due_ms = next.visit.due_ms.map(|_| at_ms + policy.max_ms);
        next.visit.target = Some(primary.uri.to_string());
    }
    note(&mut next.visit, &visit);
    let other_document = other_document(&visit, record, judgement.primary.as_ref(), at_ms);
    let (document, said) = document(&visit, &next, record, &judgement, at_ms);
    let template = used_template(&visit, &next);
    let is_page = next.visit.state == UrlState::Fetched && !next.delete;
    let wasted = visit.digest().is_some() && is_page && !next.changed && !judgement.has_new_fields;
    let line = line(&visit, &next, &lease, said, now_ms);
    let counted = Counted {
        visit: &visit,
        next: &next.visit,
        is_new: said == Some(DocumentChange::New),
        wasted,
        turned_away: judgement.turned_away,
        queue: lease.queue_number(),
    };
    let (counters, error) = (counted.counters(), counted.error(&record.uri));
    let mut outlinks: Vec<_> = if keeps_links {
        let found = visit.into_outlinks().into_iter();
        found.chain(sitemaps).collect()
    } else {
        Vec::new()
    };
    for link in &mut outlinks {
        link.site = Arc::clone(&record.site);
    }
    Change {
        line: LogLine {
            outlinks: outlinks.len(),
            ..line
        },
        page: FinishedPage {
            id: record.id,
            host: record.host,
            uri: record.uri.clone(),
            visit: next.visit,
            template,
            outlinks,
            document,
            other_document,
            yielding: judgement.yielding,
        },
        recheck: judgement.recheck,
        counters,
        error,
        wasted,
    }
}

/// The visit as the revisit policy sees it.
fn finding(visit: &Visit, record: &UrlRecord, judgement: &Judgement) -> Finding {
    let fetched = visit.fetched();
    let outcome = visit.outcome();
    let in_words = match (outcome, fetched) {
        (VisitOutcome::RobotsUnreachable, _) => visit.robots_trouble().map(Trouble::to_string),
        (VisitOutcome::Unreachable, Some(fetched)) if fetched.truncation().is_none() => {
            Some(fetched.describe())
        }
        _ => None,
    };
    let reason = in_words.or_else(|| visit.reason());
    let reason = reason.unwrap_or_else(|| outcome.as_str().to_owned());
    let is_page = outcome == VisitOutcome::Page;
    Finding {
        truncation: fetched.and_then(Fetched::truncation),
        target: fetched
            .and_then(Fetched::redirect_target)
            .map(CrawlUri::to_string),
        retry_after_ms: fetched.and_then(Fetched::asked_pause_ms),
        page: fetched
            .filter(|_| is_page)
            .map(|fetched| facts(visit, fetched, record, judgement)),
        shown: judgement.shown,
        ..Finding::new(outcome, fetched.map(|f| f.head.status), reason)
    }
}

fn facts(visit: &Visit, fetched: &Fetched, record: &UrlRecord, judgement: &Judgement) -> PageFacts {
    let kind = match (visit.kind(), record.visit.class) {
        (Some(Kind::Hub), UrlClass::Feed) => PageKind::Feed,
        (Some(Kind::Hub), UrlClass::Sitemap) => PageKind::Sitemap,
        (Some(Kind::Article | Kind::Attachment), _) => PageKind::Article,
        (Some(Kind::Hub), _) => PageKind::Hub,
        (Some(Kind::Error | Kind::Other) | None, _) => PageKind::Other,
    };
    PageFacts {
        kind,
        digest: digest(visit, record, judgement),
        etag: fetched.head.etag.clone(),
        last_modified: fetched.head.last_modified.clone(),
    }
}

/// What the page is compared by at its next visit. Where comments are missing that the stored document has: as before if nothing else
/// has changed, else nothing, since the page without them is not what is stored.
fn digest(visit: &Visit, record: &UrlRecord, judgement: &Judgement) -> Option<u64> {
    match &judgement.kept_comments {
        None => visit.digest(),
        Some(kept) => record.visit.digest.filter(|_| kept.is_same),
    }
}

/// Whose document stands for the page from now on, and where it stands.
fn link_to_primary(
    revisit: &mut Revisit,
    visit: &Visit,
    record: &UrlRecord,
    primary: Option<&Primary>,
    at_ms: i64,
) {
    let (before, next) = (&record.visit, &mut revisit.visit);
    if visit.outcome() == VisitOutcome::NotModified {
        next.target.clone_from(&before.target);
        if before.digest.is_none() {
            // What stood for it is gone, or it was never read whole: this 304 is to no question of ours.
            (next.etag, next.last_modified) = (None, None);
            next.due_ms = Some(at_ms);
        }
        return;
    }
    let was_asked = next.state != UrlState::Refused;
    let is_confirmed = was_asked && next.confirmed_ms == next.fetched_ms;
    if let Some(target) = visit.target().filter(|_| is_confirmed) {
        next.target = Some(target.to_string());
    }
    if is_confirmed || next.state == UrlState::Gone || (before.documented && !next.documented) {
        let same_text = primary.is_none_or(|p| p.same_text);
        let said = visit.document().map(|d| d.content);
        let said = said.filter(|_| is_confirmed);
        next.content = said.filter(|_| same_text);
        next.alias_of = primary.map(|p| p.id);
    }
}

/// Writes down why a page that came has no document, or what is wrong with its body, for `taojin why`.
fn note(next: &mut UrlVisit, visit: &Visit) {
    if next.state == UrlState::Fetched && visit.outcome() == VisitOutcome::Page {
        let unindexed = visit.unindexed().map(Unindexed::to_string);
        let parts: Vec<String> = [visit.reason(), unindexed].into_iter().flatten().collect();
        next.error = (!parts.is_empty()).then(|| parts.join("; "));
    }
}

/// The document at the other address, when this one has come to it.
fn other_document(
    visit: &Visit,
    record: &UrlRecord,
    primary: Option<&Primary>,
    at_ms: i64,
) -> Option<(UrlId, DocOp)> {
    let primary = primary.filter(|p| p.same_text && record.visit.alias_of != Some(p.id))?;
    let document = visit.document()?;
    let row = document.row(at_ms, Some(primary.uri.as_str()), &primary.addresses);
    Some((primary.id, DocOp::Upsert(row)))
}

/// What becomes of the document, and what the crawl log says of it.
fn document(
    visit: &Visit,
    next: &Revisit,
    record: &UrlRecord,
    judgement: &Judgement,
    at_ms: i64,
) -> (Option<DocOp>, Option<DocumentChange>) {
    let had_document = record.visit.documented;
    if judgement.primary.is_some() {
        let deletion = next.delete.then_some(DocOp::Delete);
        return (deletion, Some(DocumentChange::Duplicate));
    }
    if next.delete {
        return (Some(DocOp::Delete), Some(DocumentChange::Deleted));
    }
    if next.visit.is_unconfirmed() {
        let came = visit.outcome().is_success();
        return (None, came.then_some(DocumentChange::Unconfirmed));
    }
    let Some(document) = visit.document().filter(|_| next.visit.documented) else {
        let stays = visit.outcome() == VisitOutcome::NotModified && had_document;
        return (None, stays.then_some(DocumentChange::Unchanged));
    };
    let same = record.visit.content == next.visit.content;
    if had_document && !next.changed && same && !judgement.has_new_fields {
        return (None, Some(DocumentChange::Unchanged));
    }
    let change = match (had_document, judgement.yielding.is_empty()) {
        (true, _) => DocumentChange::Changed,
        // It had this document at another address: counted once, whichever of the two was visited first.
        (false, false) => DocumentChange::Moved,
        (false, true) => DocumentChange::New,
    };
    let kept = judgement.kept_comments.as_ref();
    let document = kept.map_or(document, |kept| &kept.document);
    let row = document.row(at_ms, None, &judgement.addresses);
    (Some(DocOp::Upsert(row)), Some(change))
}

/// The template that the page's document was read with, if the visit showed that document.
fn used_template(visit: &Visit, next: &Revisit) -> Option<UsedTemplate> {
    let was_read = next.visit.documented && !next.visit.is_unconfirmed();
    visit.document().filter(|_| was_read)?;
    visit.page()?.template
}

fn line(
    visit: &Visit,
    next: &Revisit,
    lease: &Lease,
    document: Option<DocumentChange>,
    now_ms: i64,
) -> LogLine {
    LogLine {
        queue: lease.queue.to_string(),
        outcome: visit.outcome(),
        reason: visit.reason(),
        class: next.visit.class.as_str(),
        kind: visit.kind().map(Kind::name),
        document,
        next: next.visit.due_ms.map(time),
        ..LogLine::from_fetch(&lease.record, visit.fetched(), now_ms)
    }
}

/// What is counted of a visit.
struct Counted<'a> {
    visit: &'a Visit,
    /// The next state of the record.
    next: &'a UrlVisit,
    /// It brought a document that nobody had.
    is_new: bool,
    wasted: bool,
    turned_away: bool,
    /// The queue that it came from, if its host has several.
    queue: Option<u32>,
}

impl Counted<'_> {
    fn is_entry(&self) -> bool {
        self.next.class == UrlClass::Seed
    }

    /// That an old page is no longer there is no error of its site; that the front page is not there is one.
    fn is_missing(&self) -> bool {
        let outcome = self.visit.outcome();
        !self.is_entry() && matches!(outcome, VisitOutcome::NotFound | VisitOutcome::Gone)
    }

    /// A page of a list did not come. That a list has become shorter since is no loss.
    fn lacks_list(&self) -> bool {
        let was_read = self.is_missing() && self.next.digest.is_some();
        self.next.class == UrlClass::Hub && self.visit.problem().is_some() && !was_read
    }

    fn has_failed(&self) -> bool {
        self.next.state == UrlState::Failed && !self.is_missing()
    }

    /// The counters of the site that go up: of all time, and of the cycle (`cycle_…`, set back when one begins).
    fn counters(&self) -> Vec<Cow<'static, str>> {
        let outcome = self.visit.outcome();
        let not_modified = outcome == VisitOutcome::NotModified;
        let answered = not_modified || outcome == VisitOutcome::Page;
        let usable = answered && self.next.state != UrlState::Failed;
        let problem = self.visit.problem().filter(|_| !self.is_missing());
        let has_entry_problem = self.is_entry() && problem.is_some();
        let names = [
            ("fetches", true),
            ("cycle_visits", true),
            ("wasted", self.wasted),
            ("cycle_wasted", self.wasted),
            ("not_modified", not_modified),
            ("cycle_not_modified", not_modified),
            ("new_documents", self.is_new),
            ("cycle_new", self.is_new),
            ("errors", self.has_failed()),
            ("cycle_errors", self.has_failed()),
            (sites::USABLE, usable),
            (sites::REDIRECTS, outcome == VisitOutcome::Redirect),
            (sites::MISSING, self.is_missing()),
            (sites::ENTRY_PROBLEMS, has_entry_problem),
            (sites::SITEMAPS_CUT, self.visit.list_cut().is_some()),
            (
                sites::LISTS_CUT,
                self.visit.is_list_cut() || self.lacks_list(),
            ),
            (sites::BLANK_PAGES, self.visit.is_blank()),
            (sites::BLOCKING_PAGES, self.turned_away),
        ];
        let names = names.into_iter().filter(|(_, is_so)| *is_so);
        let names = names.map(|(name, _)| Cow::Borrowed(name));
        let problem = problem.map(|problem| Cow::Owned(format!("{}{problem}", sites::PROBLEM)));
        let queue = (self.queue).map(|queue| Cow::Owned(sites::queue_visits_counter(queue)));
        names.chain(problem).chain(queue).collect()
    }

    /// The address and why it brought no page, if that is an error of its site.
    fn error(&self, uri: &CrawlUri) -> Option<String> {
        let has_entry_problem = self.is_entry() && self.visit.problem().is_some();
        if !self.has_failed() && !has_entry_problem {
            return None;
        }
        // A page that came with 200 fails when it says that it does not exist.
        let own = self.next.error.clone();
        let outcome = self.visit.outcome();
        // The log has a word for programs, the status a sentence for people.
        let reason = match outcome {
            VisitOutcome::Unreachable | VisitOutcome::RobotsUnreachable => {
                own.or_else(|| self.visit.reason())
            }
            _ => self.visit.reason().or(own),
        };
        let reason = reason.unwrap_or_else(|| outcome.as_str().to_owned());
        Some(format!("{uri}: {reason}"))
    }
}
