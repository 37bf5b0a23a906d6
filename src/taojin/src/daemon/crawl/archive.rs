//! Archives of the crawl. In: what a visit sent and got. Out: WARC files. Never fails a visit: an archive that cannot
//! be written (full disk) is reported and tried again after a while.

use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::daemon::shared::lock;
use taojin_crawl::fetch::{Archive, Exchange, Fetched};
use taojin_uri::CrawlUri;

/// Pause after an archive could not be written.
const RETRY_AFTER: Duration = Duration::from_secs(60);

/// The archive that all fetch tasks write to.
pub(crate) struct WarcSink {
    state: Mutex<State>,
}

struct State {
    archive: Archive,
    failed: Option<Instant>,
    /// Answers left out since it could not be written.
    lost: u64,
}

impl WarcSink {
    /// Archives into `dir`; a file is closed when it has grown to `max_bytes`.
    pub(crate) fn open(dir: &Path, max_bytes: u64) -> std::io::Result<Self> {
        let software = concat!("taojin/", env!("CARGO_PKG_VERSION"));
        Ok(Self {
            state: Mutex::new(State {
                archive: Archive::open(dir, max_bytes, software)?,
                failed: None,
                lost: 0,
            }),
        })
    }

    /// Archives one exchange that ended at `now_ms`.
    pub(crate) fn write(
        &self,
        uri: &CrawlUri,
        exchange: &Exchange<'_>,
        fetched: &Fetched,
        now_ms: i64,
    ) {
        let mut state = lock(&self.state);
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
    pub(crate) fn sync(&self) {
        let unsynced = lock(&self.state).archive.unsynced();
        let synced = unsynced.and_then(|file| file.map_or(Ok(()), |file| file.sync_data()));
        if let Err(error) = synced {
            tracing::error!(%error, "archive cannot be brought onto the disk");
        }
    }

    /// Gives the present file its final name.
    pub(crate) fn close(&self) {
        if let Err(error) = lock(&self.state).archive.close() {
            tracing::error!(%error, "archive cannot be closed; it will be at the next start");
        }
    }
}
