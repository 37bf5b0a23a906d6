//! What is remembered of pages between their visits, so that the store is asked less.

use std::collections::HashMap;

use crate::daemon::crawl::judge::{Judge, Judgement, Walls};
use crate::daemon::crawl::visit::{FinishedVisit, Visit};
use taojin_crawl::frontier::Frontier;
use taojin_crawl::store::{Reader, Store, StoreError, UrlId, UrlRecord};
use taojin_extract::Kind;
use taojin_uri::CrawlUri;

/// Addresses of lists that are remembered: a few hundred kilobytes.
const MOST_LISTS: usize = 2_000;

/// The walls that are known, and the lists on which pages were found.
#[derive(Default)]
pub(super) struct PageMemory {
    walls: Walls,
    /// Addresses of pages on which others were found a moment ago.
    lists: HashMap<UrlId, Option<CrawlUri>>,
}

impl PageMemory {
    /// Judges a visit by what is stored.
    pub(super) fn judge(
        &mut self,
        store: &Store,
        record: &UrlRecord,
        visit: &Visit,
        now: i64,
    ) -> anyhow::Result<Judgement> {
        Judge::judge(store, &mut self.walls, (record, visit), now)
    }

    /// Tells the frontier what a page is like: whether the addresses are taken up to which it leads.
    pub(super) fn note_digests(
        &mut self,
        frontier: &mut Frontier,
        store: &Reader,
        finished: &FinishedVisit,
    ) -> Result<bool, StoreError> {
        let record = &finished.lease.record;
        let Some(page) = finished.visit.page() else {
            return Ok(true);
        };
        if let Some(outline) = page.digests.outline
            && record.visit.fetched_ms.is_none()
        {
            let via = match record.via {
                Some(id) => self.found_on(store, id)?,
                None => None,
            };
            frontier.note_outline(&record.uri, via.as_ref(), outline);
        }
        let is_error = page.kind == Kind::Error;
        let face = page.digests.face;
        Ok(!face.is_some_and(|face| frontier.repeats(record, face, is_error)))
    }

    /// The address of a page on which others were found. Most pages of a site are found on few lists.
    fn found_on(&mut self, store: &Reader, id: UrlId) -> Result<Option<CrawlUri>, StoreError> {
        if let Some(known) = self.lists.get(&id) {
            return Ok(known.clone());
        }
        let uri = store.url(id)?.map(|record| record.uri);
        if self.lists.len() >= MOST_LISTS {
            self.lists.clear();
        }
        self.lists.insert(id, uri.clone());
        Ok(uri)
    }
}
