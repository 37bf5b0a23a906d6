//! Joins an article that is printed over several pages, and the comments that its page loads by script.
//!
//! An [`OpenArticle`] starts with the first page and takes what follows, each in a visit of its own; the result is one page
//! with the whole text. Until the last part has come nothing is stored, so that after a crash or a stop the first URL is due as
//! before.

use std::fmt;
use std::mem;
use std::sync::Arc;

use super::body::BodyForm;
use super::comments::{self, PendingComments};
use super::page::{FetchedPage, continues, may_have_comments, read_page};
use super::visitor::{Visitor, report_fetch};
use super::{Answer, Content, FurtherPart, Moment, PartKind, Unfetched, Visit, describe_failure};
use taojin_crawl::VisitOutcome;
use taojin_crawl::fetch::{Fetched, Purpose, Turn};
use taojin_crawl::frontier::FetchReport;
use taojin_crawl::scope::Reach;
use taojin_crawl::store::{UrlClass, UrlRecord, UsedTemplate};
use taojin_extract::{Comment, Document};
use taojin_uri::CrawlUri;

/// Longest text of an article, in bytes: a book has as much, and it is held in memory between two visits.
const MAX_TEXT: usize = 1 << 20;

/// Visits in a row that a page must fail before the article is taken without it.
const PATIENCE: u32 = 3;

/// An article of which some parts have come.
#[derive(Debug)]
pub(crate) struct OpenArticle {
    /// With the text of all of them.
    document: Document,
    /// How the first came.
    first: Fetched,
    /// Addresses of the pages that follow.
    left: Vec<CrawlUri>,
    /// The comments that are to be had, if the site's are followed and the page names any.
    comments: Option<PendingComments>,
    /// What could not be had, the first of it.
    missing: Option<MissingPart>,
    /// The template that the first was read with.
    template: Option<UsedTemplate>,
    /// The files that it offers are to be read.
    attachments: bool,
}

/// What the document of an article lacks, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum MissingPart {
    /// The comments that a script loads.
    Comments {
        /// Where they were to be had.
        uri: CrawlUri,
        /// Why they were not, in words.
        why: String,
    },
    /// One that did not come.
    Failed {
        /// Its number, from 1.
        number: usize,
        /// Its address.
        uri: CrawlUri,
        /// Why, in words.
        why: String,
    },
    /// One that says nothing new, so that it is none of this article.
    NothingNew {
        /// Its number, from 1.
        number: usize,
        /// Its address.
        uri: CrawlUri,
    },
    /// All from this one on: no more become one document.
    TooMany {
        /// The first that is left out, from 1.
        from: usize,
        /// `crawl.article_pages`.
        most: usize,
    },
    /// All from this one on: the text is as long as it may be.
    TooLong {
        /// The first that is left out, from 1.
        from: usize,
    },
    /// The end of its text, or of its comments.
    End,
}

impl fmt::Display for MissingPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MissingPart::Comments { uri, why } => write!(f, "comments of the page, {uri}: {why}"),
            MissingPart::Failed { number, uri, why } => {
                write!(f, "page {number} of the article, {uri}: {why}")
            }
            MissingPart::NothingNew { number, uri } => {
                write!(
                    f,
                    "page {number} of the article left out, {uri}: it says nothing new"
                )
            }
            MissingPart::TooMany { from, most } => write!(
                f,
                "pages of the article left out from page {from} on: crawl.article_pages = {most}"
            ),
            MissingPart::TooLong { from } => write!(
                f,
                "pages of the article left out from page {from} on: its text has a megabyte"
            ),
            MissingPart::End => f.write_str(
                "text is longer than it may be, its end is left out (extract.max_text_bytes)",
            ),
        }
    }
}

impl OpenArticle {
    /// The article that begins with this page, if it continues on others or its comments are to be had elsewhere.
    pub(super) fn start(
        fetched_page: &FetchedPage<'_>,
        document: &Document,
        template: Option<UsedTemplate>,
        comments: Option<PendingComments>,
    ) -> Option<Box<Self>> {
        let comments = comments.filter(|_| may_have_comments(fetched_page, document));
        let mut left = Vec::new();
        if continues(fetched_page, document) {
            left = parse_addresses(&document.pages);
        }
        if left.is_empty() && comments.is_none() {
            return None;
        }
        let mut document = document.clone();
        if !left.is_empty() {
            let pages = mem::take(&mut document.pages);
            document.links.retain(|link| !pages.contains(&link.url));
        }
        Some(Box::new(Self {
            document,
            first: fetched_page.fetched.clone(),
            left,
            comments,
            missing: None,
            template,
            attachments: fetched_page.attachments,
        }))
    }

    /// Notes what could not be had; the first counts.
    pub(super) fn note_missing(&mut self, missing: MissingPart) {
        self.missing.get_or_insert(missing);
    }

    /// Adds the comments that an answer holds; if it has any, none are missing.
    pub(super) fn add_comments(&mut self, found: Vec<Comment>) {
        if !found.is_empty() && matches!(self.missing, Some(MissingPart::Comments { .. })) {
            self.missing = None;
        }
        self.document.add_comments(found);
    }

    /// Puts back what is still to be had of its comments.
    pub(super) fn set_pending_comments(&mut self, pending: PendingComments) {
        self.comments = Some(pending);
    }

    /// Whether a part of it has not come yet.
    fn has_more(&self) -> bool {
        !self.left.is_empty()
            || self
                .comments
                .as_ref()
                .is_some_and(PendingComments::has_more)
    }

    /// Takes in the next page. False if it is none of this article.
    fn append(&mut self, uri: &CrawlUri, mut page: Document) -> bool {
        page.url = uri.to_string();
        let mut left = mem::take(&mut page.pages);
        left.retain(|url| *url != self.document.url && !self.document.pages.contains(url));
        if !self.document.append_page(page) {
            return false;
        }
        // A further page tells more of those that follow than the first: `1 2 3 … 12`.
        let left = parse_addresses(&left);
        if !left.is_empty() {
            self.left = left;
        }
        self.left.retain(|other| other != uri);
        let is_page = |url: &String| {
            self.document.pages.contains(url) || self.left.iter().any(|uri| uri.as_str() == url)
        };
        let mut links = mem::take(&mut self.document.links);
        links.retain(|link| !is_page(&link.url));
        self.document.links = links;
        true
    }

    /// The answer as if all that has come had been one page.
    fn to_answer(&self, record: &UrlRecord, further: Option<FurtherPart>) -> Answer {
        let mut fetched = self.first.clone();
        let lacks_page = !matches!(self.missing, None | Some(MissingPart::Comments { .. }));
        if lacks_page || self.comments.is_some() {
            // The next visit is to bring the page again, and with it what is missing, and what readers have said since.
            (fetched.head.etag, fetched.head.last_modified) = (None, None);
        }
        let first = FetchedPage {
            record,
            fetched: &fetched,
            is_live: false,
            joins: false,
            attachments: self.attachments,
        };
        let (mut page, outlinks) = read_page(&first, self.document.clone());
        page.missing.clone_from(&self.missing);
        page.template = self.template;
        Answer {
            fetched,
            content: Content::Page(Box::new(page)),
            outlinks,
            at: Moment::Now,
            further,
        }
    }

    /// The answer with what was fetched last; it goes on, unless all has come.
    pub(super) fn proceed(
        self: Box<Self>,
        record: &UrlRecord,
        further: Option<FurtherPart>,
    ) -> Answer {
        let mut answer = self.to_answer(record, further);
        if self.has_more()
            && let Content::Page(so_far) = answer.content
        {
            answer.content = Content::Open {
                article: self,
                so_far,
            };
        }
        answer
    }

    /// The answer with the page that was fetched last; no more pages are taken than `most`.
    fn continue_with(
        mut self: Box<Self>,
        record: &UrlRecord,
        further: FurtherPart,
        document: Document,
        (number, most): (usize, usize),
    ) -> Answer {
        let uri = further.uri.clone();
        let from = number + 1;
        let missing = if !self.append(&uri, document) {
            Some(MissingPart::NothingNew { number, uri })
        } else if self.left.is_empty() {
            None
        } else if number >= most {
            Some(MissingPart::TooMany { from, most })
        } else if self.document.text.len() >= MAX_TEXT {
            Some(MissingPart::TooLong { from })
        } else {
            None
        };
        if let Some(missing) = missing {
            self.end_pages(missing);
        }
        self.proceed(record, Some(further))
    }

    /// No more pages are taken.
    fn end_pages(&mut self, missing: MissingPart) {
        self.note_missing(missing);
        self.left.clear();
    }

    /// The visit without a page, which failed so. What may be mended soon fails the visit, so that a document that has all pages is
    /// not replaced by one that lacks some.
    fn end_without(
        mut self: Box<Self>,
        record: &UrlRecord,
        missing: MissingPart,
        failed: VisitOutcome,
        further: Option<FurtherPart>,
    ) -> Visit {
        let passes = failed == VisitOutcome::RobotsUnreachable || failed.is_host_trouble();
        if passes && record.visit.errors + 1 < PATIENCE {
            let further = further.map(Box::new);
            return Visit::Unfetched(Unfetched::PagesMissing { missing, further });
        }
        self.end_pages(missing);
        Visit::Fetched(Box::new(self.proceed(record, further)))
    }
}

/// Those of the addresses that may be fetched.
fn parse_addresses(urls: &[String]) -> Vec<CrawlUri> {
    let uris = urls.iter().map(|url| CrawlUri::parse(url));
    uris.flatten().collect()
}

/// Fetches the next part of an article: a page, or the comments once all pages have come.
pub(super) async fn fetch_next_part(
    visitor: &Arc<Visitor>,
    record: &UrlRecord,
    mut article: Box<OpenArticle>,
    turn: &mut Turn,
) -> (Visit, FetchReport) {
    if article.left.is_empty()
        && let Some(pending) = article.comments.take()
    {
        return comments::fetch_comments(visitor, record, article, pending, turn).await;
    }
    let number = article.document.pages.len() + 2;
    let uri = article.left.remove(0);
    // What the first page leads to is in the scope of its site as any link of it is.
    let reach = Reach::new(UrlClass::Unknown, record.hops.max(1), 0);
    let purpose = Purpose::Crawl(reach);
    let asked = visitor.ask(record, &uri, UrlClass::Unknown, (purpose, turn));
    let (fetched, form) = match asked.await {
        Ok(answer) => answer,
        Err(refused) => {
            let refused = Unfetched::Refused(refused);
            let why = refused.to_string();
            let missing = MissingPart::Failed { number, uri, why };
            let outcome = refused.outcome();
            let report = FetchReport::unasked(outcome);
            return (article.end_without(record, missing, outcome, None), report);
        }
    };
    let report = report_fetch(&fetched, fetched.outcome);
    let (beside, record, at_ms) = (Arc::clone(visitor), record.clone(), visitor.now_ms());
    let bytes = fetched.body_bytes;
    let read = move || {
        let document = read(&beside, &record, &fetched, form, at_ms);
        let further = FurtherPart {
            kind: PartKind::Page,
            uri,
            fetched,
        };
        match document {
            Some(document) => {
                let pages = (number, beside.article_pages());
                Visit::Fetched(Box::new(
                    article.continue_with(&record, further, document, pages),
                ))
            }
            None => {
                let missing = MissingPart::Failed {
                    number,
                    uri: further.uri.clone(),
                    why: describe_failure(&further.fetched),
                };
                let outcome = further.fetched.outcome;
                article.end_without(&record, missing, outcome, Some(further))
            }
        }
    };
    (visitor.compute(bytes, read).await, report)
}

/// The document of a page that came whole.
fn read(
    visitor: &Visitor,
    record: &UrlRecord,
    fetched: &Fetched,
    form: BodyForm,
    at_ms: i64,
) -> Option<Document> {
    match form {
        BodyForm::Html(builder) if fetched.outcome == VisitOutcome::Page => {
            let extracted = visitor.extract(&builder.finish(), &visitor.context(record, at_ms))?;
            Some(extracted.document)
        }
        _ => None,
    }
}
