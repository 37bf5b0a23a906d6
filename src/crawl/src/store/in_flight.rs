//! Records which pages are being visited, in a small file that outlives the process: a page that takes the process down
//! with it is counted, however soon after its lease that happens. Call [`InFlight::begin`] before anything of a page is
//! read; after an unclean stop the file names the pages whose visits did not end. Nothing is synced to the disk: a loss
//! of power is no page's fault.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::record::UrlId;

/// In the data directory: one row number of eight bytes for each visit under way, 0 where there is none.
const FILE: &str = "in_flight";

const SLOT_BYTES: u64 = 8;

/// The pages that are being visited.
#[derive(Debug)]
pub struct InFlight {
    path: PathBuf,
    /// None while it cannot be opened.
    file: Mutex<Option<File>>,
    /// Which slots of the file are taken.
    taken: Mutex<Vec<bool>>,
}

impl InFlight {
    /// Begins an empty list in `dir`. Where the file cannot be written the crawl goes on without it, until it can.
    pub fn open(dir: &Path) -> Arc<Self> {
        let list = InFlight {
            path: dir.join(FILE),
            file: Mutex::default(),
            taken: Mutex::default(),
        };
        list.write(0, 0);
        Arc::new(list)
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
        if let Err(error) = self.try_write(slot, id) {
            tracing::warn!(%error, "a page in flight cannot be noted");
        }
    }

    fn try_write(&self, slot: usize, id: UrlId) -> io::Result<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let file = match &mut *file {
            Some(file) => file,
            closed => {
                let mut options = OpenOptions::new();
                let options = options.create(true).write(true).truncate(true);
                closed.insert(options.open(&self.path)?)
            }
        };
        file.write_all_at(&id.to_le_bytes(), slot as u64 * SLOT_BYTES)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_flight_file_opens_later() {
        let place = tempfile::tempdir().unwrap();
        let dir = place.path().join("later");
        let list = InFlight::open(&dir);
        let first = list.begin(7);
        std::fs::create_dir(&dir).unwrap();
        let _second = list.begin(8);
        assert_eq!(left_in_flight(&dir), [8]);
        drop(first);
        assert_eq!(left_in_flight(&dir), [8]);
    }
}
