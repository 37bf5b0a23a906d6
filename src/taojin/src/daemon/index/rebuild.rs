//! An index that is made from the log beside the one that is searched, to take its place.

use super::RebuildProgress;
use super::feeding::LogFeed;
use taojin_search::index::{IndexError, IndexWriter};

/// A rebuild under way. It continues where an earlier one left the writer's index.
pub(super) struct IndexRebuild<W> {
    writer: W,
    seq: u64,
    uncommitted: usize,
    added: u64,
}

impl<W: IndexWriter> IndexRebuild<W> {
    pub(super) fn new(writer: W) -> Self {
        Self {
            seq: writer.last_seq(),
            writer,
            uncommitted: 0,
            added: 0,
        }
    }

    /// Returns the last change that was added, committed or not.
    pub(super) fn seq(&self) -> u64 {
        self.seq
    }

    /// Returns how many changes were added since this process began.
    pub(super) fn added(&self) -> u64 {
        self.added
    }

    /// Adds some more changes, and commits after each `commit_rows`. Returns whether there were any.
    pub(super) fn advance(
        &mut self,
        log: &mut LogFeed,
        commit_rows: usize,
    ) -> anyhow::Result<bool> {
        let added = log
            .add_rows_to_rebuild(&mut self.writer, &mut self.seq)?
            .count;
        self.added += added as u64;
        self.uncommitted += added;
        if self.uncommitted >= commit_rows {
            self.writer.commit(self.seq)?;
            self.uncommitted = 0;
        }
        Ok(added > 0)
    }

    /// Returns how far it is in the log.
    pub(super) fn progress(&self, log: &LogFeed) -> anyhow::Result<RebuildProgress> {
        let (seq, last) = (self.seq, log.last_seq()?);
        Ok(RebuildProgress { seq, last })
    }

    pub(super) fn writer_mut(&mut self) -> &mut W {
        &mut self.writer
    }

    /// Commits what was added, and returns the writer.
    pub(super) fn commit(mut self) -> Result<W, IndexError> {
        self.writer.commit(self.seq)?;
        Ok(self.writer)
    }
}
