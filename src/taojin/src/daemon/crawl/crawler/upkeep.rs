//! What is looked after beside the crawl: room on the disk, the partitions of the nodes, old versions of documents.

use std::time::Duration;

use super::committer::Committer;
use crate::daemon::Shared;
use crate::daemon::crawl::disk::DiskWatch;
use crate::daemon::crawl::interval::Interval;
use crate::daemon::crawl::sharing::Sharing;
use crate::serve::Words;
use taojin_crawl::frontier::Frontier;
use taojin_crawl::store::Store;

/// How often the history of documents is looked through for what is older than the settings allow.
const FORGET_EVERY: Duration = Duration::from_secs(3600);

/// What is done every so often.
pub(super) struct Upkeep {
    disk: DiskWatch,
    sharing: Sharing,
    /// When the history of documents was looked through.
    forgot: Interval,
}

impl Upkeep {
    pub(super) fn new(disk: DiskWatch) -> Self {
        Self {
            disk,
            sharing: Sharing::default(),
            forgot: Interval::default(),
        }
    }

    /// Why nothing is fetched at present, if the disk is too full.
    pub(super) fn low_disk(&mut self) -> Option<Words> {
        self.disk.look().cloned()
    }

    /// Shares the partitions with other nodes, if there are any: whether addresses that they found are to be written.
    pub(super) fn share(
        &mut self,
        committer: &mut Committer,
        frontier: &mut Frontier,
        shared: &Shared,
        now: i64,
    ) -> anyhow::Result<bool> {
        let found = committer.share(&mut self.sharing, frontier, now)?;
        shared.crawl().set_leads(frontier.leads());
        Ok(found)
    }

    /// Forgets versions of documents that are too old, a few in each turn. What cannot be forgotten (full disk, damaged page)
    /// waits for the next time: the crawl continues.
    pub(super) fn forget_old(&mut self, store: &mut Store, now: i64) {
        if !self.forgot.is_due(FORGET_EVERY) {
            return;
        }
        match store.forget_old_documents(now) {
            Ok(0) => {}
            // There may be more.
            Ok(_) => self.forgot = Interval::default(),
            Err(error) => {
                tracing::error!(%error, "old versions of documents cannot be forgotten, trying again in an hour");
            }
        }
    }
}
