//! One of several nodes that share a store. In: the time. Out: partitions taken over and given back, addresses that other nodes
//! have found for this one, pauses that an operator asked another node for. Does nothing where the store is this node's alone.

use std::time::{Duration, Instant};

use super::state::{CrawlLoop, Every};
use crate::daemon::Mode;
use taojin_crawl::frontier::Frontier;
use taojin_crawl::store::{Batch, SiteDifferences, Store};

/// The partitions, and what other nodes have sent, are looked at so often.
const LOOK: Duration = Duration::from_secs(1);
/// So often while partitions change hands; turns at servers while some are wanted.
const LOOK_SOON: Duration = Duration::from_millis(250);
/// What an operator told another node is read so often.
const READ_PAUSES: Duration = Duration::from_secs(5);
/// The sites of the nodes are compared so often.
const COMPARE: Duration = Duration::from_secs(60);
/// A single pass waits so long for other nodes to hand partitions over to it.
const WAIT_FOR_SHARE: Duration = Duration::from_secs(40);

/// When a node looks after what it shares with others.
#[derive(Debug, Default)]
pub(crate) struct Sharing {
    partitions: Every,
    turns: Every,
    pauses: Every,
    sites: Every,
    /// How the sites of the nodes differed.
    differences: SiteDifferences,
}

impl Sharing {
    /// Takes this node's share of the partitions, gives back what is too many, and takes up what other nodes have found:
    /// whether that is now in the batch.
    pub(super) fn look(
        &mut self,
        store: &mut Store,
        frontier: &mut Frontier,
        batch: &mut Batch,
        now: i64,
    ) -> anyhow::Result<bool> {
        if !frontier.partitions().are_shared() {
            return Ok(false);
        }
        let every = |soon: bool| if soon { LOOK_SOON } else { LOOK };
        let turns = self.turns.is_due(every(frontier.takes_turns()));
        let share = self.partitions.is_due(every(frontier.is_giving_back()));
        if !(turns || share) || !store.is_leased()? {
            return Ok(false);
        }
        if turns {
            frontier.take_turns(store, now)?;
        }
        if !share {
            return Ok(false);
        }
        frontier.share_partitions(store, now)?;
        if self.pauses.is_due(READ_PAUSES) {
            frontier.read_sites(store)?;
        }
        if self.sites.is_due(COMPARE) {
            let differences = SiteDifferences::of(&store.nodes()?);
            if differences != self.differences && !differences.sites.is_empty() {
                tracing::warn!("{differences}");
            }
            self.differences = differences;
        }
        Ok(frontier.take_up_sent(store, batch)?)
    }
}

impl CrawlLoop {
    /// Shares the partitions with other nodes, if there are any.
    pub(crate) fn share_partitions(&mut self, now: i64) -> anyhow::Result<()> {
        if self.stop_at.is_some() {
            return Ok(());
        }
        let (store, frontier) = (&mut self.store, &mut self.frontier);
        let found = self.sharing.look(store, frontier, &mut self.batch, now)?;
        self.shared.set_leads(self.frontier.leads());
        if found {
            self.write_batch(now)?;
        }
        Ok(())
    }

    /// Waits until this node has partitions, where other nodes have all of them.
    pub(crate) fn wait_for_share(&mut self) -> anyhow::Result<()> {
        if self.mode != Mode::Forever && !self.store.place().duties().crawls {
            anyhow::bail!("this machine only serves: cluster.crawl = false; crawl on another one");
        }
        let begun = Instant::now();
        while self.mode != Mode::Forever && self.frontier.partitions().is_empty() {
            if self.shared.is_stopping() {
                return Ok(());
            }
            if begun.elapsed() > WAIT_FOR_SHARE {
                anyhow::bail!(
                    "other nodes have all partitions and hand none over: see `taojin cluster status`"
                );
            }
            std::thread::sleep(LOOK_SOON);
            self.share_partitions(self.shared.now_ms())?;
        }
        Ok(())
    }
}
