//! An index in a folder, open for reading. Out: its newest state. Sees every commit at once, also one of another process,
//! because it looks at the time stamp of the index before each look. Never writes.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tantivy::{Index, IndexReader, ReloadPolicy};

use super::IndexError;
use super::embedded::Embedded;
use super::folder::{Folder, META};
use super::schema::{check_format, refuse_newer, unreadable};
use crate::analyze::tokenizers;

/// What tells one commit from the next: inode, seconds and nanoseconds of the last change, and size of the list of segments.
type Stamp = (u64, i64, i64, u64);

/// An index in a folder.
pub(crate) struct Opened {
    dir: PathBuf,
    inner: IndexReader,
    seen: Mutex<Stamp>,
}

impl Opened {
    pub(crate) fn open(dir: &Path) -> Result<Self, IndexError> {
        let seen = stamp(dir)?;
        refuse_newer(dir)?;
        let directory = Folder::open(dir).map_err(|e| unreadable(dir, e))?;
        let mut index = Index::open(directory).map_err(|e| unreadable(dir, e))?;
        index.set_tokenizers(tokenizers());
        check_format(dir, &index)?;
        let inner = index
            .reader_builder()
            .reload_policy(ReloadPolicy::Manual)
            .try_into()
            .map_err(|e| unreadable(dir, e))?;
        Ok(Self {
            dir: dir.to_owned(),
            inner,
            seen: Mutex::new(seen),
        })
    }

    /// The newest state: reloads when the index was committed since the last look.
    pub(crate) fn newest(&self) -> Result<Embedded<'_>, IndexError> {
        let now = stamp(&self.dir)?;
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if *seen != now {
            self.inner.reload().map_err(|e| unreadable(&self.dir, e))?;
            *seen = now;
        }
        Ok(Embedded {
            dir: &self.dir,
            searcher: self.inner.searcher(),
        })
    }

    /// What an index failed with.
    pub(crate) fn failed(&self, error: impl std::fmt::Display) -> IndexError {
        IndexError::Failed {
            dir: self.dir.clone(),
            cause: error.to_string(),
        }
    }
}

fn stamp(dir: &Path) -> Result<Stamp, IndexError> {
    let meta = std::fs::metadata(dir.join(META)).map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => IndexError::Missing(dir.to_owned()),
        _ => unreadable(dir, e),
    })?;
    Ok((meta.ino(), meta.mtime(), meta.mtime_nsec(), meta.size()))
}
