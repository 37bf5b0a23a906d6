//! Joins an article that is printed over several pages.
//!
//! An [`OpenArticle`] starts with the first page and takes those that follow, each after a visit of its own; the result is
//! one [`VisitResult`] with the whole text. Until the last page has come nothing is stored, so that after a crash or a stop
//! the first URL is due as before.

use std::sync::Arc;

use super::reading::{BodyForm, FetchedPage, read_page};
use super::visit::{VisitContext, VisitResult, ask, context, reason, refusal, report_fetch};
use taojin_crawl::VisitOutcome;
use taojin_crawl::fetch::{Fetched, Purpose, Turn};
use taojin_crawl::frontier::FetchReport;
use taojin_crawl::scope::Reach;
use taojin_crawl::store::{UrlClass, UrlRecord};
use taojin_extract::Document;
use taojin_uri::CrawlUri;

/// Longest text of an article, in bytes: a book has as much, and it is held in memory between two visits.
const MAX_TEXT: usize = 1 << 20;

/// Visits in a row that a page must fail before the article is taken without it.
const PATIENCE: u32 = 3;

/// An article of which some pages have come.
#[derive(Debug)]
pub(crate) struct OpenArticle {
    /// With the text of all of them.
    document: Document,
    /// How the first came.
    first: Fetched,
    /// Addresses of those that follow.
    left: Vec<String>,
    /// The files that it offers are to be read.
    attachments: bool,
}

impl OpenArticle {
    /// The article that begins with this page, if it continues on others.
    pub(crate) fn start(
        mut document: Document,
        first: Fetched,
        attachments: bool,
    ) -> Option<Box<Self>> {
        let left = std::mem::take(&mut document.pages);
        document.links.retain(|link| !left.contains(&link.url));
        (!left.is_empty()).then(|| {
            Box::new(Self {
                document,
                first,
                left,
                attachments,
            })
        })
    }

    /// Takes in the next page. False if it is none of this article.
    fn append(&mut self, uri: &CrawlUri, mut page: Document) -> bool {
        page.url = uri.to_string();
        let left = std::mem::take(&mut page.pages);
        let is_own = |url: &String| *url == self.document.url || self.document.pages.contains(url);
        let left: Vec<String> = left.into_iter().filter(|url| !is_own(url)).collect();
        if !self.document.append_page(page) {
            return false;
        }
        // A later page tells more of those that follow than the first: `1 2 3 … 12`.
        if !left.is_empty() {
            self.left = left;
        }
        let here = [uri.to_string()];
        self.left.retain(|url| *url != here[0]);
        let pages = self.document.pages.iter().chain(&self.left);
        let pages: Vec<&String> = pages.collect();
        self.document.links.retain(|l| !pages.contains(&&l.url));
        true
    }

    /// The visit as if all that has come had been one page.
    fn visited(&self, record: &UrlRecord, left_out: Option<String>) -> VisitResult {
        let mut first = self.first.clone();
        if left_out.is_some() {
            // The next visit is to bring the page again, and with it those that are missing.
            (first.head.etag, first.head.last_modified) = (None, None);
        }
        let answer = FetchedPage {
            record,
            head: &first.head,
            cut: false,
            joins: false,
            attachments: self.attachments,
        };
        let mut visited = read_page(&answer, self.document.clone());
        visited.reason = left_out;
        visited.fetched = Some(first);
        visited
    }
}

/// Fetches the next page of an article.
pub(crate) async fn go_on(
    tools: &Arc<VisitContext>,
    record: &UrlRecord,
    mut open: Box<OpenArticle>,
    turn: &mut Turn,
) -> (VisitResult, FetchReport) {
    let next = open.left.remove(0);
    let number = open.document.pages.len() + 2;
    let Ok(uri) = CrawlUri::parse(&next) else {
        let visited = open.visited(record, Some(format!("page {number} has no address")));
        return (visited, FetchReport::new(VisitOutcome::Disallowed, 0));
    };
    // What the first page leads to is in the scope of its site as any link of it is.
    let reach = Reach::new(UrlClass::Unknown, record.hops.max(1), 0);
    let purpose = Purpose::Crawl(reach);
    let answer = ask(tools, record, &uri, UrlClass::Unknown, (purpose, turn)).await;
    let (fetched, form) = match answer {
        Ok(answer) => answer,
        Err(refused) => {
            let refused = refusal(refused);
            let why = refused.reason.unwrap_or_default();
            let report = FetchReport {
                elapsed_ms: None,
                ..FetchReport::new(refused.outcome, 0)
            };
            let visited = without(record, &open, number, &uri, refused.outcome, &why);
            return (visited, report);
        }
    };
    let report = report_fetch(&fetched, fetched.outcome);
    let (beside, record, at_ms) = (Arc::clone(tools), record.clone(), tools.shared.now_ms());
    let bytes = fetched.body_bytes;
    let read = move || {
        let page = read(&beside, &record, &fetched, form, at_ms);
        let mut visited = match page {
            Some(page) => with(&beside, &record, open, number, &uri, page),
            None => {
                let why = reason(&fetched);
                without(&record, &open, number, &uri, fetched.outcome, &why)
            }
        };
        visited.later = Some((uri, fetched));
        visited
    };
    (tools.compute(bytes, read).await, report)
}

/// The document of a page that came whole.
fn read(
    tools: &VisitContext,
    record: &UrlRecord,
    fetched: &Fetched,
    form: BodyForm,
    at_ms: i64,
) -> Option<Document> {
    let config = tools.extract.as_ref()?;
    let BodyForm::Html(builder) = form else {
        return None;
    };
    (fetched.outcome == VisitOutcome::Page).then(|| {
        let context = context(tools, record, at_ms);
        (tools.templates).extract(&builder.finish(), &context, config)
    })
}

/// The article with the page.
fn with(
    tools: &VisitContext,
    record: &UrlRecord,
    mut open: Box<OpenArticle>,
    number: usize,
    uri: &CrawlUri,
    page: Document,
) -> VisitResult {
    if !open.append(uri, page) {
        let why = format!("page {number} of the article left out, {uri}: it says nothing new");
        return open.visited(record, Some(why));
    }
    let most = tools.article_pages;
    let left_out = if open.left.is_empty() {
        None
    } else if number >= most {
        Some(format!(
            "pages of the article left out from page {} on: crawl.article_pages = {most}",
            number + 1
        ))
    } else if open.document.text.len() >= MAX_TEXT {
        Some(format!(
            "pages of the article left out from page {} on: its text has a megabyte",
            number + 1
        ))
    } else {
        let mut visited = open.visited(record, None);
        visited.open = Some(open);
        return visited;
    };
    open.visited(record, left_out)
}

/// The article without the page, which did not come. What may be mended soon fails the visit, so that a document that has
/// all pages is not replaced by one that lacks some.
fn without(
    record: &UrlRecord,
    open: &OpenArticle,
    number: usize,
    uri: &CrawlUri,
    failed: VisitOutcome,
    why: &str,
) -> VisitResult {
    let why = format!("page {number} of the article, {uri}: {why}");
    let passes = failed == VisitOutcome::RobotsUnreachable || failed.is_host_trouble();
    if passes && record.visit.errors + 1 < PATIENCE {
        return VisitResult::nothing(VisitOutcome::Unreachable, Some(why));
    }
    open.visited(record, Some(why))
}
