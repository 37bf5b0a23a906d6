//! One visit: from a lease to what the crawl loop needs to know. In: a lease, or a record of an archive. Out:
//! [`Visited`] with the document and the outlinks. Asks robots.txt, fetches, parses while the body arrives, extracts.
//! Never touches the store.

use std::sync::Arc;

use super::article::{self, OpenArticle};
use super::body::{Body, Form};
use super::reading::{Answer, child, read, redirect};
use super::tools::Tools;
use super::visited::{Archived, Visited};
use taojin_crawl::fetch::{self, Access, Exchange, Fetched, Request, Verdict, Want};
use taojin_crawl::frontier::{FetchReport, Lease};
use taojin_crawl::schedule::Cut;
use taojin_crawl::store::{UrlClass, UrlRecord, UrlState};
use taojin_crawl::{Failure, VisitOutcome};
use taojin_extract as extract;
use taojin_extract::page::refresh_target;
use taojin_uri::CrawlUri;

/// A feed is held whole while it is read; the largest have some hundred kilobytes.
const MAX_FEED_BYTES: u64 = 16 << 20;

/// Visits the leased URL. Never fails: every end is a [`Visited`].
pub(crate) async fn visit(
    tools: &Arc<Tools>,
    lease: &Lease,
    archived: Option<Box<Archived>>,
    open: Option<Box<OpenArticle>>,
) -> (Visited, FetchReport) {
    let record = &lease.record;
    if let Some(archived) = archived {
        let (beside, record) = (Arc::clone(tools), record.clone());
        let bytes = archived.record.block.len() as u64;
        let read = move || visit_archived(&beside, &record, &archived);
        let visited = tools.compute(bytes, read).await;
        let report = FetchReport::new(visited.outcome, 0);
        return (visited, report);
    }
    if let Some(open) = open {
        return article::go_on(tools, record, open).await;
    }
    let verdict = ask_robots(tools, &record.uri).await;
    let crawl_delay_ms = verdict.crawl_delay_ms;
    let mut visited = match refusal(&verdict) {
        Some(refused) => refused,
        None => fetch(tools, record).await,
    };
    let rules = tools.shared.rules(&record.site);
    if record.visit.class == UrlClass::Seed && rules.is_some_and(|r| r.robots_sitemaps) {
        let named = verdict.sitemaps.iter();
        visited
            .outlinks
            .extend(named.map(|uri| child(record, uri.clone(), UrlClass::Sitemap)));
    }
    let mut report = report(&visited);
    report.crawl_delay_ms = crawl_delay_ms;
    (visited, report)
}

pub(super) async fn ask_robots(tools: &Tools, uri: &CrawlUri) -> Verdict {
    let now_ms = tools.shared.now_ms();
    let asked = |uri: &CrawlUri, exchange: &Exchange<'_>, fetched: &Fetched| {
        if let Some(archive) = &tools.archive {
            archive.write(uri, exchange, fetched, now_ms);
        }
    };
    let archive: Option<fetch::Archived<'_>> = tools.archive.is_some().then_some(&asked);
    tools
        .robots
        .verdict(&tools.fetcher, uri, now_ms, archive)
        .await
}

/// What is said of a page on which the program failed.
pub(crate) fn panicked(lease: &Lease) -> (Visited, FetchReport) {
    tracing::error!(url = %lease.record.uri, "page could not be processed, left out; please report it");
    let visited = Visited::nothing(
        VisitOutcome::Unwanted,
        Some("failed on this page".to_owned()),
    );
    (visited, FetchReport::new(VisitOutcome::Unwanted, 0))
}

/// What is said of a page whose visit was broken off.
pub(super) fn broken_off() -> (Visited, FetchReport) {
    let visited = Visited::nothing(VisitOutcome::Unwanted, None);
    (visited, FetchReport::new(VisitOutcome::Unwanted, 0))
}

/// What robots.txt forbids, if it does.
pub(super) fn refusal(verdict: &Verdict) -> Option<Visited> {
    match &verdict.access {
        Access::Allowed(_) => None,
        Access::Refused(rule) => {
            let reason = format!("robots.txt line {}: Disallow: {}", rule.line, rule.pattern);
            Some(Visited::nothing(VisitOutcome::Disallowed, Some(reason)))
        }
        Access::Unreachable { word, status, .. } => {
            let how = status.map_or_else(|| (*word).to_owned(), |status| format!("HTTP {status}"));
            let reason = Some(format!("robots.txt: {how}"));
            Some(Visited {
                sentence: Some(verdict.trouble.clone()),
                ..Visited::nothing(VisitOutcome::RobotsUnreachable, reason)
            })
        }
    }
}

/// What the frontier wants to know for its politeness.
fn report(visited: &Visited) -> FetchReport {
    let Some(fetched) = &visited.fetched else {
        return FetchReport {
            error: visited.sentence.clone().or(visited.reason.clone()),
            ..FetchReport::new(visited.outcome, 0)
        };
    };
    // A page that the server always cuts short counts as an answer.
    report_fetch(fetched, visited.outcome)
}

/// The same of a page that was fetched, with the outcome that counts.
pub(super) fn report_fetch(fetched: &Fetched, outcome: VisitOutcome) -> FetchReport {
    let elapsed_ms = i64::try_from(fetched.elapsed_ms).unwrap_or(i64::MAX);
    FetchReport {
        failure: fetched.failure,
        retry_after_ms: fetched.asked_pause_ms(),
        ip: fetched.remote,
        error: outcome.is_host_trouble().then(|| fetched.in_words()),
        ..FetchReport::new(outcome, elapsed_ms)
    }
}

async fn fetch(tools: &Arc<Tools>, record: &UrlRecord) -> Visited {
    let (fetched, form) = ask(tools, record, &record.uri, record.visit.class).await;
    let (beside, record) = (Arc::clone(tools), record.clone());
    let at_ms = tools.shared.now_ms();
    let joins = tools.article_pages > 1;
    let bytes = match &form {
        // A few bytes may unfold into many entries.
        Form::List(_) | Form::Sitemap(_) => u64::MAX,
        Form::Open | Form::Html(_) | Form::Binary => fetched.body_bytes,
    };
    let read = move || judge(&beside, &record, fetched, form, at_ms, joins);
    tools.compute(bytes, read).await
}

/// Fetches the address of a record, or another page of its article.
pub(super) async fn ask(
    tools: &Arc<Tools>,
    record: &UrlRecord,
    uri: &CrawlUri,
    class: UrlClass,
) -> (Fetched, Form) {
    let limits = tools.fetcher.config();
    let max_body_bytes = match class {
        UrlClass::Sitemap => Some(limits.max_sitemap_bytes),
        UrlClass::Feed => Some(limits.max_body_bytes.min(MAX_FEED_BYTES)),
        _ => None,
    };
    // A page that an operator has called a document, or named a field of, since it was fetched comes whole once more.
    let named_ms = tools.templates.registry.named_ms(&record.site);
    let is_called = || {
        let rules = tools.shared.rules(&record.site);
        rules.is_some_and(|rules| rules.documents.match_any(uri))
    };
    let known = (*uri == record.uri).then_some(&record.visit);
    let known = known
        .filter(|visit| visit.fetched_ms >= Some(named_ms) && (visit.documented || !is_called()));
    let request = Request {
        etag: known.and_then(|visit| visit.etag.clone()),
        last_modified: known.and_then(|visit| visit.last_modified.clone()),
        want: if max_body_bytes.is_some() {
            Want::Any
        } else {
            Want::Page
        },
        max_body_bytes,
        ..Request::page(uri.clone(), tools.shared.now_ms())
    };
    let mut body =
        Body::new(&tools.page, uri.clone(), class).max_sitemap_bytes(limits.max_sitemap_bytes);
    if tools.extract.is_none() {
        body = body.links_only();
    }
    let fetched = match &tools.archive {
        None => tools.fetcher.fetch(&request, &mut body).await,
        Some(archive) => {
            let mut exchange = Exchange::new(&mut body, limits.max_body_bytes);
            let fetched = tools.fetcher.fetch(&request, &mut exchange).await;
            archive.write(uri, &exchange, &fetched, tools.shared.now_ms());
            fetched
        }
    };
    (fetched, body.form)
}

/// The same from an archive: nothing is asked, neither the server nor robots.txt, which the archive's crawler asked.
fn visit_archived(tools: &Tools, record: &UrlRecord, archived: &Archived) -> Visited {
    let mut body = Body::new(&tools.page, record.uri.clone(), UrlClass::Unknown);
    let replayed = fetch::replay(&archived.record, tools.fetcher.config(), &mut body);
    let mut visited = match replayed {
        Some((_, fetched)) => judge(tools, record, fetched, body.form, archived.at_ms, false),
        None => Visited::nothing(
            VisitOutcome::Unwanted,
            Some("archive: no answer of a server".to_owned()),
        ),
    };
    visited.archived_ms = Some(archived.at_ms);
    visited.named_ms = tools.templates.registry.named_ms(&record.site);
    visited
}

/// What extraction is told of a page that came at `at_ms`.
pub(super) fn context<'a>(
    tools: &Tools,
    record: &'a UrlRecord,
    at_ms: i64,
) -> extract::Context<'a> {
    let rules = tools.shared.rules(&record.site);
    extract::Context {
        now_ms: Some(at_ms),
        site: Some(&record.site),
        default_offset_min: rules.as_ref().and_then(|r| r.utc_offset_min),
        is_document: rules.is_some_and(|r| r.documents.match_any(&record.uri)),
        ..Default::default()
    }
}

/// What a fetch that ended at `at_ms` has brought. With `joins`, the pages of an article become one document.
fn judge(
    tools: &Tools,
    record: &UrlRecord,
    fetched: Fetched,
    form: Form,
    at_ms: i64,
    joins: bool,
) -> Visited {
    let context = context(tools, record, at_ms);
    // A page over the limit is still worth its beginning, and so is one that always breaks off at the same byte;
    // anything else that broke off is not to be used.
    let cut = fetched.failure == Some(Failure::TooLarge);
    let short = always_ends_here(record, &fetched);
    let is_whole = fetched.outcome == VisitOutcome::Page;
    let is_usable = match &form {
        Form::Html(_) => is_whole || cut || short,
        Form::List(_) => is_whole || short,
        // What was read of it before the limit is as good as ever.
        Form::Sitemap(_) => is_whole || cut || short,
        Form::Open | Form::Binary => is_whole,
    };
    let mut visited = match fetched.redirect_target() {
        Some(to) => redirect(record, to),
        None if is_usable => {
            let answer = Answer {
                record,
                head: &fetched.head,
                cut,
                joins,
            };
            read(tools, &answer, form, &context)
        }
        None => Visited::nothing(fetched.outcome, None),
    };
    let sent_on = fetched.head.refresh.as_deref().and_then(refresh_target);
    let sent_on = sent_on.and_then(|to| record.uri.join(to).ok());
    if let Some(to) = sent_on.filter(|_| is_whole && !fetched.head.nofollow) {
        visited.outlinks.push(child(record, to, UrlClass::Unknown));
    }
    if let Some(cut) = visited.sitemap_cut {
        let max = tools.fetcher.config().max_sitemap_bytes;
        visited.reason = Some(match cut {
            Cut::Entries => "sitemap read in part: it has more than 50,000 entries".to_owned(),
            Cut::Bytes => format!("sitemap read in part: fetch.max_sitemap_bytes = {max}"),
            Cut::Damaged => "sitemap read in part: it is damaged from there on".to_owned(),
        });
    } else if cut && visited.outcome == VisitOutcome::Page {
        visited.reason = Some("too-large: cut off at the limit".to_owned());
    } else if visited.reason.is_none() && (short || !visited.outcome.is_success()) {
        visited.reason = Some(reason(&fetched));
    }
    visited.open = visited
        .goes_on
        .take()
        .and_then(|document| OpenArticle::begin(*document, fetched.clone()));
    visited.fetched = Some(fetched);
    visited
}

/// Answers in a row that must end at the same byte before they are believed to be all there is.
const EQUAL_ANSWERS: u32 = 3;

/// Whether the body broke off where it did before: a server that declares a wrong length, or leaves out the end of its
/// chunks, does so each time. Browsers show such a page. The record's error, which names the byte, is the memory; once
/// a page was taken so, it is taken again at once.
fn always_ends_here(record: &UrlRecord, fetched: &Fetched) -> bool {
    let broken = fetched.failure.is_some_and(Failure::is_cut_short);
    let visit = &record.visit;
    let as_before = || {
        let error = visit.error.as_deref();
        error.is_some_and(|e| e.starts_with(&reason(fetched)))
    };
    let often = visit.state == UrlState::Fetched || visit.errors + 1 >= EQUAL_ANSWERS;
    broken && fetched.body_bytes > 0 && often && as_before()
}

pub(super) fn reason(fetched: &Fetched) -> String {
    match fetched.failure {
        Some(failure) if fetched.broke_off() => format!(
            "{}: the body broke off after {} bytes",
            failure.as_str(),
            fetched.wire_bytes
        ),
        Some(Failure::Address) => fetched.in_words(),
        Some(failure) => failure.as_str().to_owned(),
        None => format!("HTTP {}", fetched.head.status),
    }
}
