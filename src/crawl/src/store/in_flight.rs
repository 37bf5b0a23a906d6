//! Which pages are being visited, in a small file that outlives the process: a page that takes the process down with it is
//! counted, however soon after its lease that happens. In: the row number of a page before anything of it is read. Out:
//! after an unclean stop, the pages whose visits did not end. Nothing is synced to the disk: a loss of power is no page's
//! fault.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::record::UrlId;

/// In the data folder: one row number of eight bytes for each visit under way, 0 where there is none.
const FILE: &str = "in_flight";

const SLOT_BYTES: u64 = 8;

/// The pages that are being visited.
#[derive(Debug)]
pub struct InFlight {
    file: Option<File>,
    /// Which slots of the file are taken.
    taken: Mutex<Vec<bool>>,
}

impl InFlight {
    /// Begins an empty list in `dir`. Where the file cannot be written the crawl goes on without it.
    pub fn open(dir: &Path) -> Arc<Self> {
        let file = OpenOptions::new()
            .create(true)
            .write(true)
            .truncate(true)
            .open(dir.join(FILE))
            .inspect_err(|error| tracing::error!(%error, "pages in flight cannot be noted"));
        Arc::new(InFlight {
            file: file.ok(),
            taken: Mutex::default(),
        })
    }

    /// A visit begins; it ends when what is given back is dropped.
    pub fn begin(self: &Arc<Self>, id: UrlId) -> UnderWay {
        let mut taken = self.taken();
        let slot = taken.iter().position(|taken| !taken);
        let slot = slot.unwrap_or(taken.len());
        if slot == taken.len() {
            taken.push(true);
        } else {
            taken[slot] = true;
        }
        drop(taken);
        self.write(slot, id);
        UnderWay {
            list: Arc::clone(self),
            slot,
        }
    }

    /// Nothing is under way any more that counts: for a clean stop.
    pub fn clear(&self) {
        let slots = self.taken().len();
        (0..slots).for_each(|slot| self.write(slot, 0));
    }

    fn taken(&self) -> MutexGuard<'_, Vec<bool>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, slot: usize, id: UrlId) {
        let at = slot as u64 * SLOT_BYTES;
        if let Some(file) = &self.file
            && let Err(error) = file.write_all_at(&id.to_le_bytes(), at)
        {
            tracing::warn!(%error, "a page in flight cannot be noted");
        }
    }
}

/// A visit under way.
#[derive(Debug)]
pub struct UnderWay {
    list: Arc<InFlight>,
    slot: usize,
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.list.write(self.slot, 0);
        self.list.taken()[self.slot] = false;
    }
}

/// The pages that were being visited when the last process ended.
pub(super) fn left_in_flight(dir: &Path) -> Vec<UrlId> {
    let bytes = match std::fs::read(dir.join(FILE)) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => {
            tracing::warn!(%error, "the pages that were in flight cannot be read");
            Vec::new()
        }
    };
    let ids = bytes.as_chunks::<8>().0.iter();
    ids.map(|id| UrlId::from_le_bytes(*id))
        .filter(|id| *id != 0)
        .collect()
}

/// They are counted; nothing was in flight.
pub(super) fn forget(dir: &Path) {
    if let Err(error) = std::fs::remove_file(dir.join(FILE))
        && error.kind() != io::ErrorKind::NotFound
    {
        tracing::warn!(%error, "the pages that were in flight may be counted again");
    }
}
