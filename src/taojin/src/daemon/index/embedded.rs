//! The index in a folder of this machine.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::engine::{Claim, Engine, Opened, Pace};
use super::feeding::LogFeed;
use crate::config::LoadedConfig;
use crate::daemon::report::systemd;
use crate::documents::StoreDocuments;
use taojin_search::analyze::Analyzer;
use taojin_search::index::{self, DocumentSource, IndexError, IndexWriter as _, Writer};

/// A document is searchable this long after it came in, plus the time of a commit.
const COMMIT_AFTER: Duration = Duration::from_millis(500);
/// Changes between two commits while there are always more.
const COMMIT_ROWS: usize = 20_000;
/// Time without new documents after which the index is tidied.
const TIDY_AFTER: Duration = Duration::from_secs(15);

/// The folder, and what is written there.
pub(super) struct EmbeddedEngine {
    dir: PathBuf,
    analyzer: Analyzer,
    config: index::Config,
    pub(super) documents: Arc<dyn DocumentSource>,
    store_id: i64,
    /// Indexes whose files are as they were written.
    checked: HashSet<PathBuf>,
    is_tidy: bool,
}

impl EmbeddedEngine {
    pub(super) fn new(loaded: &LoadedConfig, analyzer: &Analyzer, store_id: i64) -> Self {
        Self {
            dir: loaded.index_dir(),
            analyzer: analyzer.clone(),
            config: loaded.config.index.clone(),
            documents: Arc::new(StoreDocuments::new(loaded.documents_place())),
            store_id,
            checked: HashSet::new(),
            is_tidy: false,
        }
    }

    /// Opens the index in `dir`, if what is in its files is what was written: a merge would hide the damage.
    fn open_in(&mut self, dir: &Path) -> Result<Writer, IndexError> {
        // Once: opening is tried again every few seconds while a disk is full.
        if !self.checked.contains(dir) {
            index::check_files(dir, systemd::still_starting)?;
            self.checked.insert(dir.to_owned());
        }
        let documents = Arc::clone(&self.documents);
        Writer::open(dir, &self.analyzer, &self.config, documents, self.store_id)
    }

    fn open_served(&mut self) -> Result<Writer, IndexError> {
        let dir = self.dir.clone();
        self.open_in(&dir)
    }
}

impl Engine for EmbeddedEngine {
    type Writer = Writer;

    fn pace(&self) -> Pace {
        Pace {
            commit_after: COMMIT_AFTER,
            commit_rows: COMMIT_ROWS,
        }
    }

    fn claim(&mut self, _log: &LogFeed, _takes_over: bool) -> anyhow::Result<Claim> {
        // The lock of the data folder is held.
        Ok(Claim::Ours)
    }

    fn open(&mut self) -> anyhow::Result<Opened<Writer>> {
        let problem = match self.open_served() {
            Ok(writer) => {
                // What was begun before continues.
                let is_begun = index::fresh_dir(&self.dir).exists();
                return Ok(Opened::writable(writer, is_begun));
            }
            Err(error) if error.is_transient() => return Err(error.into()),
            Err(error @ IndexError::Newer { .. }) => return Err(error.into()),
            Err(error @ IndexError::Unreadable { .. }) => {
                let aside = index::put_aside(&self.dir)?;
                tracing::error!(
                    "{error}; it is now in {}, and the index is rebuilt from the store",
                    aside.display()
                );
                return Ok(Opened::writable(self.open_served()?, false));
            }
            Err(error) => error,
        };
        tracing::warn!("the index is rebuilt from the store: {problem}");
        if !index::can_be_searched(&self.dir) {
            // Of no use to readers meanwhile: they search the new one while it grows.
            index::remove(&self.dir)?;
            return Ok(Opened::writable(self.open_served()?, false));
        }
        Ok(Opened {
            writer: None,
            seq: index::committed_seq(&self.dir),
            needs_rebuild: true,
        })
    }

    fn open_fresh(&mut self, last_seq: u64) -> anyhow::Result<Writer> {
        let dir = index::fresh_dir(&self.dir);
        match self.open_in(&dir) {
            Ok(writer) if writer.last_seq() <= last_seq => Ok(writer),
            Err(error) if error.is_transient() => Err(error.into()),
            // Of an attempt that is of no use any more.
            _ => {
                index::clear_fresh(&self.dir)?;
                Ok(self.open_in(&dir)?)
            }
        }
    }

    fn discard_fresh(&mut self) -> anyhow::Result<()> {
        Ok(index::clear_fresh(&self.dir)?)
    }

    fn put_in_place(&mut self, old: Option<Writer>, fresh: Writer) -> anyhow::Result<Writer> {
        fresh.close()?;
        if let Some(writer) = old {
            writer.close()?;
        }
        index::put_in_place(&self.dir)?;
        Ok(self.open_served()?)
    }

    fn keep_claim(&mut self) -> anyhow::Result<()> {
        Ok(())
    }

    fn tidy(
        &mut self,
        writer: &mut Writer,
        _log: &mut LogFeed,
        quiet: Duration,
    ) -> anyhow::Result<()> {
        if quiet < TIDY_AFTER {
            self.is_tidy = false;
        } else if !self.is_tidy {
            self.is_tidy = true;
            writer.tidy()?;
        }
        Ok(())
    }

    /// While the crawl pauses for want of room nothing is merged: that would fill the disk further.
    fn set_room(&self, writer: &mut Writer, has_room: bool) {
        writer.allow_merges(has_room);
    }

    /// A command leaves the index as small as it can be. The daemon, which is waited for when it stops, tidies while nothing comes
    /// in.
    fn close(&mut self, writer: Option<Writer>, is_command: bool) -> anyhow::Result<()> {
        let Some(mut writer) = writer.filter(|_| is_command) else {
            return Ok(());
        };
        writer.tidy()?;
        Ok(writer.close()?)
    }
}
