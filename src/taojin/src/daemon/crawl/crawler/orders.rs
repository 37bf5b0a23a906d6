//! What was requested one by one: addresses, and the next pages of articles.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::cycles::Cycles;
use crate::daemon::control::Watches;
use crate::daemon::crawl::disk::Pause;
use crate::daemon::crawl::visit::article::OpenArticle;
use crate::daemon::crawl::visit::visitor::VisitSource;
use crate::daemon::report::tally::CrawlTally;
use taojin_crawl::frontier;
use taojin_crawl::store::{Store, UrlId};

/// Articles that may wait for their next page at once; what begins beyond it is taken without its later pages.
const MAX_ARTICLES: usize = 256;

/// Addresses that may wait for their hosts ahead of the queues.
const MAX_REQUESTED: usize = 1_000;

/// What waits ahead of the queues, and who waits for it.
#[derive(Default)]
pub(super) struct Orders {
    /// URLs that were requested and wait for their hosts.
    requested: Vec<UrlId>,
    /// Articles that wait for their next page, by the row of the first: it is among those requested.
    articles: HashMap<UrlId, Box<OpenArticle>>,
    /// URLs that were purged while they were being fetched: what comes of them is dropped.
    forgotten: HashSet<UrlId>,
    watches: Watches,
}

impl Orders {
    /// Whether nothing waits for its host.
    pub(super) fn is_empty(&self) -> bool {
        self.requested.is_empty()
    }

    /// Whether no more is taken at present.
    pub(super) fn is_full(&self) -> bool {
        self.requested.len() >= MAX_REQUESTED
    }

    /// Asks for a URL, once.
    pub(super) fn request(&mut self, id: UrlId) {
        if !self.requested.contains(&id) {
            self.requested.push(id);
        }
    }

    /// Asks for a URL whose visit did not come to its end.
    pub(super) fn request_again(&mut self, ids: impl IntoIterator<Item = UrlId>) {
        self.requested.extend(ids);
    }

    /// Takes all that is requested, to be handed out.
    pub(super) fn take_requested(&mut self) -> Vec<UrlId> {
        std::mem::take(&mut self.requested)
    }

    /// Whether there is room for one more article.
    pub(super) fn has_room_for_article(&self) -> bool {
        self.articles.len() < MAX_ARTICLES
    }

    /// Whether articles wait for their next page.
    pub(super) fn has_articles(&self) -> bool {
        !self.articles.is_empty()
    }

    /// Keeps an article that goes on, and asks for its next page.
    pub(super) fn keep_article(&mut self, id: UrlId, article: Box<OpenArticle>) {
        self.articles.insert(id, article);
        self.requested.push(id);
    }

    /// Where the next visit of a URL comes from: the network, for itself or for the next page of its article.
    pub(super) fn source(&mut self, id: UrlId) -> VisitSource {
        let article = self.articles.remove(&id);
        article.map_or(VisitSource::Network, VisitSource::NextPage)
    }

    /// Gives an article up: its first page is fetched again when it is due.
    pub(super) fn drop_article(&mut self, id: UrlId) {
        self.articles.remove(&id);
    }

    /// These URLs are gone: they are not asked for, and what comes of those that are being fetched is dropped.
    pub(super) fn forget(&mut self, gone: &[UrlId], in_flight: impl IntoIterator<Item = UrlId>) {
        self.forgotten.extend(in_flight);
        self.requested.retain(|id| !gone.contains(id));
    }

    /// Whether what came of a URL is to be dropped; asked once.
    pub(super) fn take_forgotten(&mut self, id: UrlId) -> bool {
        self.forgotten.remove(&id)
    }

    /// Ends the waiting for cycles of which nothing is left to do, or all of it while nothing is fetched.
    pub(super) fn end_watches(
        &mut self,
        cycles: &Cycles,
        store: &Store,
        limits: &frontier::Config,
        pause: &Pause,
        now: i64,
    ) -> anyhow::Result<()> {
        if self.watches.is_empty() {
            return Ok(());
        }
        let sum_up = |sites: &BTreeSet<Arc<str>>, tally: &mut CrawlTally| {
            let mut counts = store.counts()?;
            counts.sites.retain(|name, _| sites.contains(name.as_str()));
            tally.finish(&counts, now);
            let mut results = cycles.results(store, limits, now)?;
            results.retain(|name, _| sites.contains(name));
            tally.take_results(results);
            Ok(())
        };
        let is_over = |name: &str| cycles.is_over(name);
        let paused = pause.reason();
        self.watches.end_cycles(paused.as_ref(), is_over, sum_up)
    }

    /// Those who wait for visits and cycles.
    pub(super) fn watches(&mut self) -> &mut Watches {
        &mut self.watches
    }
}
