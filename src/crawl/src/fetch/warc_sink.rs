//! Archives what is fetched for as long as the archive can be written. A full disk never fails a fetch: it is reported, and tried
//! again a minute later.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use taojin_uri::CrawlUri;

use super::request::Fetched;
use super::warc::{Archive, Exchange};

/// Pause after an archive could not be written.
const RETRY_AFTER: Duration = Duration::from_secs(60);

/// The archive that all who fetch write to.
pub struct WarcSink {
    state: Mutex<State>,
}

struct State {
    archive: Archive,
    failed: Option<Instant>,
    /// Answers left out since it could not be written.
    lost: u64,
}

impl WarcSink {
    /// Archives into `dir`; a file is closed when it has grown to `max_bytes`, and `software` is named in each.
    ///
    /// # Errors
    /// Where the folder cannot be made or written.
    pub fn open(dir: &Path, max_bytes: u64, software: &str) -> std::io::Result<Self> {
        Ok(Self {
            state: Mutex::new(State {
                archive: Archive::open(dir, max_bytes, software)?,
                failed: None,
                lost: 0,
            }),
        })
    }

    /// Archives one exchange that ended at `now_ms`.
    pub(super) fn write(
        &self,
        uri: &CrawlUri,
        exchange: &Exchange<'_>,
        fetched: &Fetched,
        now_ms: i64,
    ) {
        let mut state = self.lock();
        if state.failed.is_some_and(|at| at.elapsed() < RETRY_AFTER) {
            state.lost += 1;
            return;
        }
        match state.archive.write(uri, exchange, fetched, now_ms) {
            Ok(()) if state.lost > 0 => {
                let lost = std::mem::take(&mut state.lost);
                tracing::warn!(lost, "archive is written again, these answers are missing");
            }
            Ok(()) => {}
            Err(error) => {
                tracing::error!(%error, "archive cannot be written, pages go without for a minute");
                state.failed = Some(Instant::now());
                state.lost += 1;
            }
        }
    }

    /// Brings what was archived so far onto the disk, before the pages of it are committed.
    pub fn sync(&self) {
        let unsynced = self.lock().archive.unsynced();
        let synced = unsynced.and_then(|file| file.map_or(Ok(()), |file| file.sync_data()));
        if let Err(error) = synced {
            tracing::error!(%error, "archive cannot be brought onto the disk");
        }
    }

    /// Gives the present file its final name.
    pub fn close(&self) {
        if let Err(error) = self.lock().archive.close() {
            tracing::error!(%error, "archive cannot be closed; it will be at the next start");
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
