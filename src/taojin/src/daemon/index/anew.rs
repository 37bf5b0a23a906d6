//! Making the index anew from the log of documents, beside the old one, which is searched and goes on taking changes
//! meanwhile. In: the log. Out: the new index in the place of the old one. A crash leaves the old one, and what was made of
//! the new one by its last commit: the next start goes on from there.

use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

use super::Indexer;
use super::feeding::add_rows;
use crate::daemon::liveness::Worker;
use crate::daemon::report::systemd;
use taojin_search::index::{self, IndexWriter as _, Writer};

/// Changes between two commits: what a crash costs at most, some seconds of work.
const COMMIT_ROWS: usize = 20_000;

/// An index that is being made.
pub(super) struct Anew {
    pub(super) writer: Writer,
    /// The last change that was added.
    seq: u64,
    /// Changes added since the last commit.
    uncommitted: usize,
    /// Documents added since this process began.
    added: u64,
}

/// How far a new index is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// The last change that it has.
    pub seq: u64,
    /// The last change there is.
    pub last: u64,
}

impl Indexer {
    /// Opens the new index, empty or as far as it came before.
    pub(super) fn begin_anew(&mut self) -> anyhow::Result<()> {
        let dir = index::fresh_dir(&self.dir);
        let last = u64::try_from(self.reader.last_document_seq()?).unwrap_or_default();
        let writer = match self.writer_in(&dir) {
            Ok(writer) if writer.last_seq() <= last => writer,
            Err(error) if error.is_transient() => return Err(error.into()),
            // Of an attempt that is of no use any more.
            _ => {
                index::clear_fresh(&self.dir)?;
                self.writer_in(&dir)?
            }
        };
        self.shared.set_reindexing(Some(Progress {
            seq: writer.last_seq(),
            last,
        }));
        tracing::info!(
            from = writer.last_seq(),
            to = last,
            "the index is rebuilt from the store"
        );
        self.anew = Some(Anew {
            seq: writer.last_seq(),
            writer,
            uncommitted: 0,
            added: 0,
        });
        Ok(())
    }

    /// Takes some more changes into the new index; once it has them all it takes the place of the old one. Gives whether
    /// it did.
    pub(super) fn advance_anew(&mut self) -> anyhow::Result<bool> {
        let anew = self.anew.as_mut().context("no index is being made")?;
        let added = add_rows(
            &self.reader,
            &mut anew.writer,
            &mut anew.seq,
            &mut self.anew_caution,
        )?;
        anew.uncommitted += added;
        anew.added += added as u64;
        if anew.uncommitted >= COMMIT_ROWS {
            anew.writer.commit(anew.seq)?;
            anew.uncommitted = 0;
        }
        if added > 0 {
            let last = u64::try_from(self.reader.last_document_seq()?).unwrap_or_default();
            let seq = anew.seq;
            self.shared.set_reindexing(Some(Progress { seq, last }));
            return Ok(false);
        }
        let mut anew = self.anew.take().context("no index is being made")?;
        anew.writer.commit(anew.seq)?;
        // The last merges are waited for; a millisecond for each change is ten times what they take.
        let (liveness, merging) = (self.shared.liveness(), Duration::from_millis(anew.seq));
        liveness.expect_within(Worker::Indexer, Instant::now(), merging);
        anew.writer.close()?;
        if let Some(writer) = self.writer.take() {
            writer.close()?;
        }
        index::put_in_place(&self.dir)?;
        self.writer = Some(self.writer_in(&self.dir)?);
        self.shared.set_indexed(self.last_seq());
        self.shared.set_reindexing(None);
        tracing::info!(changes = anew.added, "the new index is in place");
        Ok(true)
    }

    /// Finishes the new index, if one is being made.
    pub(super) fn complete_anew(&mut self, each: &mut dyn FnMut(Progress)) -> anyhow::Result<()> {
        while let Some(anew) = &self.anew {
            let last = u64::try_from(self.reader.last_document_seq()?).unwrap_or_default();
            let seq = anew.seq;
            each(Progress { seq, last });
            systemd::still_starting();
            self.advance_anew()?;
        }
        Ok(())
    }

    /// Keeps what there is of a new index for the next start. Merges that run are given up: they may take minutes, which
    /// nobody who stops a daemon waits for.
    pub(super) fn pause_anew(&mut self) -> anyhow::Result<()> {
        if let Some(mut anew) = self.anew.take() {
            anew.writer.commit(anew.seq)?;
        }
        Ok(())
    }
}
