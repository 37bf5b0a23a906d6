//! Commits changes in groups, each in one durable transaction.

use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

use crate::daemon::crawl::crawl_log::{CrawlLog, LogLine};
use crate::daemon::crawl::judge::decide::Change;
use crate::daemon::crawl::sharing::Sharing;
use crate::daemon::crawl::sites;
use crate::daemon::crawl::visit::{FurtherPart, Visit};
use taojin_crawl::fetch::WarcSink;
use taojin_crawl::frontier::{CommitReport, Frontier, Lease};
use taojin_crawl::store::{
    Batch, FinishedPage, HELD_MS, NewUrl, Store, StoreError, UrlId, UrlRecord,
};

/// Pages in one transaction at most.
const MAX_PAGES: usize = 256;

/// A finished page is durable after this time at the latest.
const MAX_AGE: Duration = Duration::from_millis(200);

/// The store, what its next transaction will hold, and the crawl log.
pub(super) struct Committer {
    store: Store,
    batch: Batch,
    /// When the first page of the batch came.
    since: Option<Instant>,
    log: CrawlLog,
    /// Where all that is fetched is archived, if it is: written before the store that knows of it.
    archive: Option<Arc<WarcSink>>,
    /// Tells the indexer that there is something.
    wake: SyncSender<()>,
}

/// What a transaction did.
pub(super) struct Committed {
    pub(super) report: CommitReport,
    /// How many addresses its pages lead to, by site.
    pub(super) outlinks: Vec<(Arc<str>, usize)>,
}

impl Committer {
    pub(super) fn new(
        store: Store,
        log: CrawlLog,
        archive: Option<Arc<WarcSink>>,
        wake: SyncSender<()>,
    ) -> Self {
        Self {
            store,
            batch: Batch::default(),
            since: None,
            log,
            archive,
            wake,
        }
    }

    /// The store as of the last transaction.
    pub(super) fn store(&self) -> &Store {
        &self.store
    }

    /// The store, for what is durable by itself.
    pub(super) fn store_mut(&mut self) -> &mut Store {
        &mut self.store
    }

    /// Adds what follows from a visit, and writes it into the crawl log.
    pub(super) fn add(&mut self, site: &Arc<str>, change: Change, now: i64) {
        self.since.get_or_insert_with(Instant::now);
        for name in change.counters {
            self.batch.count(site, name, 1);
        }
        if let Some(error) = change.error {
            self.batch.site_errors.insert(Arc::clone(site), error);
        }
        self.batch.hold.extend(change.recheck.map(|id| (id, now)));
        self.log.write(&change.line);
        self.batch.pages.push(change.page);
    }

    /// Counts and logs the fetch of a further part of an article, whose first page is added when all have come.
    pub(super) fn add_further_part(&mut self, lease: &Lease, part: &FurtherPart, now: i64) {
        self.since.get_or_insert_with(Instant::now);
        let record = &lease.record;
        for counter in ["fetches", "cycle_visits"] {
            self.batch.count(&record.site, counter, 1);
        }
        if let Some(queue) = lease.queue_number() {
            self.batch
                .count(&record.site, sites::queue_visits_counter(queue), 1);
        }
        self.log
            .write(&LogLine::from_further_part(record, part, now));
    }

    /// Adds addresses; known ones are dropped when they are written.
    pub(super) fn add_urls(&mut self, urls: impl IntoIterator<Item = NewUrl>) {
        self.batch.urls.extend(urls);
    }

    /// Makes records at once for addresses of an archive that are new. They go past the frontier, which knows only configured sites.
    pub(super) fn add_archived<'a>(
        &mut self,
        frontier: &Frontier,
        records: impl Iterator<Item = &'a UrlRecord>,
        now: i64,
    ) -> Result<(), StoreError> {
        let mut batch = Batch::default();
        for UrlRecord { uri, site, .. } in records {
            if !frontier.takedowns().contains(uri) && self.store.lookup(uri)?.is_none() {
                batch.urls.push(NewUrl {
                    due_ms: Some(HELD_MS),
                    ..NewUrl::link(uri.clone(), site, 1)
                });
            }
        }
        if !batch.urls.is_empty() {
            self.store.commit(&batch, now)?;
        }
        Ok(())
    }

    /// Adds to a counter of a site.
    pub(super) fn count(&mut self, site: &Arc<str>, name: &'static str, amount: i64) {
        self.batch.count(site, name, amount);
    }

    /// Takes this node's share of the partitions and what other nodes have found: whether that is to be written.
    pub(super) fn share(
        &mut self,
        sharing: &mut Sharing,
        frontier: &mut Frontier,
        now: i64,
    ) -> anyhow::Result<bool> {
        sharing.look(&mut self.store, frontier, &mut self.batch, now)
    }

    /// Visited pages that are not written yet.
    pub(super) fn pages(&self) -> usize {
        self.batch.pages.len()
    }

    /// Whether no page and no address waits to be written.
    pub(super) fn is_empty(&self) -> bool {
        self.batch.pages.is_empty() && self.batch.urls.is_empty()
    }

    /// Whether this page is not written yet.
    pub(super) fn holds(&self, id: UrlId) -> bool {
        self.batch.pages.iter().any(|page| page.id == id)
    }

    /// Whether a page that is not written yet may have to do with a visit.
    pub(super) fn concerns(&self, record: &UrlRecord, visit: &Visit) -> bool {
        let pages = &self.batch.pages;
        pages.iter().any(|page| concerns(page, record, visit))
    }

    /// Whether there are as many pages as one transaction takes, or the first of them has waited long enough. `arrived` pages are about
    /// to be added.
    pub(super) fn is_due(&self, arrived: usize) -> bool {
        let pages = self.pages() + arrived;
        pages >= MAX_PAGES || (pages > 0 && self.due_in() == Some(Duration::ZERO))
    }

    /// How long the first page may still wait.
    pub(super) fn due_in(&self) -> Option<Duration> {
        let since = self.since?;
        Some(MAX_AGE.saturating_sub(since.elapsed()))
    }

    /// Makes everything so far durable; none if there was nothing. On an error nothing is lost: it is tried again with the next call.
    pub(super) fn commit(
        &mut self,
        frontier: &mut Frontier,
        now: i64,
    ) -> Result<Option<Committed>, StoreError> {
        if self.is_empty() && self.batch.counters.is_empty() && !frontier.has_changes(now) {
            self.log.flush();
            return Ok(None);
        }
        if let Some(archive) = &self.archive {
            archive.sync();
        }
        let report = frontier.commit(&mut self.store, &mut self.batch, now)?;
        let batch = self.begin();
        self.log.flush();
        self.wake_indexer();
        let outlinks = batch.pages.iter().filter_map(|page| {
            let site = &page.outlinks.first()?.site;
            Some((Arc::clone(site), page.outlinks.len()))
        });
        Ok(Some(Committed {
            report,
            outlinks: outlinks.collect(),
        }))
    }

    /// Begins again after the database was away: whether the last transaction came through is found out, and what waits is written by
    /// the frontier that knows its pages, which then reads anew what it has in memory.
    pub(super) fn resume(&mut self, frontier: &mut Frontier, now: i64) -> anyhow::Result<()> {
        if self.store.settle()? {
            self.batch = Batch::default();
        }
        frontier.commit(&mut self.store, &mut self.batch, now)?;
        self.begin();
        Ok(frontier.reopen(&mut self.store)?)
    }

    /// Begins a batch; gives the one before.
    fn begin(&mut self) -> Batch {
        self.since = None;
        std::mem::take(&mut self.batch)
    }

    /// Tells the indexer that there is something.
    pub(super) fn wake_indexer(&self) {
        // A full channel means that it has been told already.
        let _ = self.wake.try_send(());
    }
}

/// Whether a page has the document, the words or the address that a visit shows, or stands for its page.
fn concerns(page: &FinishedPage, record: &UrlRecord, visit: &Visit) -> bool {
    let document = visit.document();
    let said = document.map(|d| d.content);
    let wording = document.map(|d| d.wording);
    let target = visit.target();
    (said.is_some() && page.visit.content == said)
        || (wording.is_some() && page.visit.answer == wording)
        || Some(page.id) == record.visit.alias_of
        || Some(&page.uri) == target
        || page.yielding.contains(&record.id)
        || page.visit.target.as_deref() == Some(record.uri.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::daemon::crawl::visit::Held;
    use crate::daemon::tests::{answered, moved, page_of, record, uri};
    use crate::documents::EncodedDocument;
    use taojin_crawl::store::UrlVisit;
    use taojin_extract::Document;

    #[test]
    fn page_of_batch_concerns_visit() {
        let document = EncodedDocument::new(&Document {
            text: "注采井试压完成。".to_owned(),
            ..Document::default()
        });
        let (content, wording) = (document.content, document.wording);
        let shows = answered(page_of(Held::Document(document), 1));
        let leads = moved("http://a.example/2.html");
        let ours = record("http://a.example/1.html", UrlVisit::default());
        let alias = UrlRecord {
            visit: UrlVisit {
                alias_of: Some(9),
                ..UrlVisit::default()
            },
            ..ours.clone()
        };
        let page = || FinishedPage {
            id: 9,
            host: 1,
            uri: uri("http://a.example/2.html"),
            visit: UrlVisit::default(),
            template: None,
            outlinks: Vec::new(),
            document: None,
            other_document: None,
            yielding: Vec::new(),
        };
        assert!(!concerns(&page(), &ours, &shows));
        assert!(concerns(&page(), &ours, &leads));
        assert!(concerns(&page(), &alias, &shows));
        let with = |visit: UrlVisit| FinishedPage { visit, ..page() };
        let same_text = with(UrlVisit {
            content: Some(content),
            ..UrlVisit::default()
        });
        let same_words = with(UrlVisit {
            answer: Some(wording),
            ..UrlVisit::default()
        });
        let leads_here = with(UrlVisit {
            target: Some(ours.uri.to_string()),
            ..UrlVisit::default()
        });
        let yields = FinishedPage {
            yielding: vec![ours.id],
            ..page()
        };
        for page in [same_text, same_words, leads_here, yields] {
            assert!(concerns(&page, &ours, &shows), "{page:?}");
        }
    }
}
