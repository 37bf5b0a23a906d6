//! One of several nodes that share a store. In: the time. Out: partitions taken over and given back, addresses that other nodes
//! have found for this one, pauses that an operator asked another node for. Does nothing where the store is this node's alone.

use std::time::{Duration, Instant};

use super::state::CrawlLoop;
use crate::daemon::Mode;
use taojin_crawl::store::SiteDifferences;

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

impl CrawlLoop {
    /// Takes this node's share of the partitions, gives back what is too many, and takes up what other nodes have found.
    pub(crate) fn share_partitions(&mut self, now: i64) -> anyhow::Result<()> {
        if !self.frontier.partitions().are_shared() || self.stop_at.is_some() {
            return Ok(());
        }
        let is_due = |at: Option<Instant>, soon: bool| {
            let every = if soon { LOOK_SOON } else { LOOK };
            at.is_none_or(|at| at.elapsed() >= every)
        };
        let turns = is_due(self.turns_at, self.frontier.takes_turns());
        let share = is_due(self.shared_at, self.frontier.is_giving_back());
        if !(turns || share) || !self.store.is_leased()? {
            return Ok(());
        }
        if turns {
            self.turns_at = Some(Instant::now());
            self.frontier.take_turns(&self.store, now)?;
        }
        if !share {
            return Ok(());
        }
        self.shared_at = Some(Instant::now());
        self.frontier.share_partitions(&mut self.store, now)?;
        self.shared.set_leads(self.frontier.leads());
        if self
            .pauses_read
            .is_none_or(|at| at.elapsed() >= READ_PAUSES)
        {
            self.pauses_read = Some(Instant::now());
            self.frontier.read_sites(&self.store)?;
        }
        if self.compared.is_none_or(|at| at.elapsed() >= COMPARE) {
            self.compared = Some(Instant::now());
            let differences = SiteDifferences::of(&self.store.nodes()?);
            if differences != self.differences && !differences.sites.is_empty() {
                tracing::warn!("{differences}");
            }
            self.differences = differences;
        }
        if self.frontier.take_up_sent(&self.store, &mut self.batch)? {
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
