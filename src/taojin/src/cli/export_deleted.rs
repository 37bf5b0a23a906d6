//! What is gone since the last export, in a file of its own beside it. In: the mark of the last export, and what this one
//! holds. Out: JSON lines, and how far the export and its deletions are complete. Never moves the mark beyond a deletion
//! that was not written.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::context::Usage;
use super::export::Exported;
use crate::config::Loaded;
use crate::documents::{Gone, IndexAt, gone_since};
use crate::export::{Draft, Mark};
use taojin_crawl::store::{Cursor, Reader};
use taojin_search::index::Watermark;

/// The file of deletions, on its way.
pub(super) struct Deletions {
    store: Reader,
    store_id: i64,
    /// Where the last export ended.
    after: Cursor,
    /// The last change that the index knew before this export began.
    upto: i64,
    path: PathBuf,
    mark: PathBuf,
    draft: Draft,
    count: usize,
}

impl Deletions {
    /// Before the documents are read: what the index comes to know meanwhile is the next export's.
    pub(super) fn begin(loaded: &Loaded, path: &Path, mark: &Mark) -> anyhow::Result<Self> {
        let store = Reader::open(loaded.store_place())?;
        let store_id = store.store_id()?;
        let Some(seq) = IndexAt::of(loaded).seq_of(store_id)? else {
            let mend = "run taojin reindex, or wait until the daemon has rebuilt it";
            return Err(Usage(format!("--deleted: the index is not of this store; {mend}")).into());
        };
        let deletions = Self {
            store_id,
            after: Cursor::at(
                mark.store.unwrap_or(store_id),
                i64::try_from(mark.after.seq).unwrap_or(i64::MAX),
            ),
            upto: i64::try_from(seq).unwrap_or(i64::MAX),
            path: path.to_owned(),
            mark: mark.path().to_owned(),
            draft: Draft::new(path).with_context(|| unwritable(path))?,
            count: 0,
            store,
        };
        // Told at once, not after a long export.
        let kept = deletions.store.follow(&deletions.after, 0, |_, _| false)?;
        kept.map_err(|lost| deletions.lost(lost))?;
        Ok(deletions)
    }

    fn lost(&self, lost: taojin_crawl::store::CursorLost) -> Usage {
        let mark = self.mark.display();
        Usage(format!(
            "{mark}: {lost}; delete {mark} and export everything again, into an empty copy"
        ))
    }

    /// Writes what is gone; `exported` is what came since the last export.
    pub(super) fn write(&mut self, exported: &Exported) -> anyhow::Result<()> {
        // Whoever begins has nothing to take out.
        let gone = match self.after.seq {
            0 => Vec::new(),
            _ => {
                let (after, upto) = (&self.after, self.upto);
                let gone = gone_since(&self.store, after, upto, &exported.fingerprints)?;
                gone.map_err(|lost| self.lost(lost))?
            }
        };
        self.count = gone.len();
        let line = |draft: &mut Draft, gone: &Gone| -> std::io::Result<()> {
            serde_json::to_writer(&mut *draft, gone)?;
            draft.write_all(b"\n")
        };
        for gone in &gone {
            line(&mut self.draft, gone).with_context(|| unwritable(&self.path))?;
        }
        Ok(())
    }

    /// Puts the file in its place and moves the mark, as far as both are complete. Gives what is to be said of it.
    pub(super) fn publish(self, mark: Mark, reached: Watermark) -> anyhow::Result<String> {
        let path = self.path;
        self.draft.publish().with_context(|| unwritable(&path))?;
        let upto = u64::try_from(self.upto).unwrap_or_default();
        mark.of_store(self.store_id).write(Watermark {
            seq: upto,
            ..reached
        })?;
        let (count, path) = (self.count, path.display());
        Ok(format!(
            ", and {count} to remove in {path}; complete up to change {upto}"
        ))
    }
}

fn unwritable(path: &Path) -> String {
    format!("{}: cannot be written", path.display())
}
