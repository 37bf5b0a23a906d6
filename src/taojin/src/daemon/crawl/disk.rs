//! Pauses the crawl while the disk is nearly full.
//!
//! [`DiskWatch`] compares free and total bytes with the limits. It resumes once a tenth more than a limit is free, so that it
//! does not flicker. It also measures what index and store take.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use super::interval::Interval;
use crate::config::CrawlConfig;
use crate::daemon::shared::lock;
use crate::serve::{DiskUse, Words, show_bytes};

/// The disk is checked this often: a fast crawl writes less than 100 MB in that time.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// Files that are written beside the one whose place they take. No others are removed: the data directory may hold backups that
/// are being made, and what people put there.
const UNFINISHED: [&str; 4] = ["seen.new", "alike.new", "robots.new", "crawl.sqlite.part"];

/// Watches the file system under the data directory.
#[derive(Debug)]
pub(crate) struct DiskWatch {
    dir: PathBuf,
    limits: Limits,
    looked: Interval,
    low: Option<Words>,
}

/// Whether crawling pauses, for all who must know. The crawl loop sets it by its [`DiskWatch`].
#[derive(Debug, Default)]
pub(crate) struct Pause(Mutex<Option<Words>>);

impl Pause {
    /// Begins a pause for this reason, or ends it.
    pub(crate) fn set(&self, reason: Option<Words>) {
        *lock(&self.0) = reason;
    }

    /// Returns why nothing is fetched at the moment; `None` while crawling continues.
    pub(crate) fn reason(&self) -> Option<Words> {
        lock(&self.0).clone()
    }

    pub(crate) fn is_active(&self) -> bool {
        lock(&self.0).is_some()
    }
}

/// Least room for crawling.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Bytes that must be free.
    pub(crate) bytes: u64,
    /// Share of the file system that must be free, in percent.
    pub(crate) percent: u8,
}

impl DiskWatch {
    pub(crate) fn new(dir: &Path, config: &CrawlConfig) -> Self {
        Self {
            dir: dir.to_owned(),
            limits: Limits::new(config),
            looked: Interval::default(),
            low: None,
        }
    }

    /// Why crawling is to pause, if it is.
    pub(crate) fn look(&mut self) -> Option<&Words> {
        if self.looked.is_due(LOOK_EVERY)
            && let Some((free, total)) = free_space(&self.dir)
        {
            self.see(free, total);
        }
        self.low.as_ref()
    }

    /// Takes note of `free` bytes of `total`, and says in the log when that changes what is to be done.
    fn see(&mut self, free: u64, total: u64) {
        let was_low = self.low.is_some();
        self.low = self.limits.problem(free, total, was_low);
        match (&self.low, was_low) {
            (Some(low), false) => {
                tracing::error!(dir = %self.dir.display(), "crawling pauses: {}", low.en);
            }
            (None, true) => tracing::info!("there is room on the disk again, crawling continues"),
            _ => {}
        }
    }
}

impl Limits {
    pub(crate) fn new(config: &CrawlConfig) -> Self {
        Self {
            bytes: config.min_free_bytes,
            percent: config.min_free_percent,
        }
    }

    /// What is wrong with `free` bytes of `total`; one that `was_low` needs a tenth more to be right again.
    pub(crate) fn problem(self, free: u64, total: u64, was_low: bool) -> Option<Words> {
        let share = u128::from(total) * u128::from(self.percent) / 100;
        let enough = |least: u128| {
            let least = if was_low { least + least / 10 } else { least };
            u128::from(free) >= least
        };
        let limit = if !enough(u128::from(self.bytes)) {
            format!("crawl.min_free_bytes = {}", self.bytes)
        } else if !enough(share.min(u128::from(total))) {
            format!("crawl.min_free_percent = {}", self.percent)
        } else {
            return None;
        };
        let (free, total) = (show_bytes(free), show_bytes(total));
        Some(Words::new(
            format!(
                "disk low: {free} of {total} free, {limit}; it continues by itself when there is room"
            ),
            format!("磁盘空间不足：共 {total}，可用 {free}，{limit}；腾出空间后自动继续"),
        ))
    }
}

/// Removes files that a write which did not come to its end left in the data directory: each is made again from the beginning
/// anyway. To be called by the one process that writes there. What cannot be removed stays.
pub(crate) fn remove_partial(dir: &Path) {
    for path in UNFINISHED.map(|name| dir.join(name)) {
        match std::fs::remove_file(&path) {
            Ok(()) => {
                tracing::info!(path = %path.display(), "removed what an earlier run left unfinished");
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => tracing::warn!(path = %path.display(), %error, "cannot be removed"),
        }
    }
}

/// Free and total bytes of the file system under `dir`; none when it cannot be told.
pub(crate) fn free_space(dir: &Path) -> Option<(u64, u64)> {
    let space = rustix::fs::statvfs(dir).ok()?;
    let bytes = |blocks: u64| blocks.saturating_mul(space.f_frsize);
    Some((bytes(space.f_bavail), bytes(space.f_blocks))).filter(|(_, total)| *total > 0)
}

/// What is used. A store in PostgreSQL is on another machine's disk: a file that it was moved in from counts no more.
pub(crate) fn used(data_dir: &Path, index_dir: &Path, in_database: bool) -> DiskUse {
    let files = ["crawl.sqlite", "crawl.sqlite-wal"].iter();
    let store_bytes = if in_database {
        0
    } else {
        files.map(|name| file_bytes(&data_dir.join(name))).sum()
    };
    DiskUse {
        index_bytes: folder_bytes(index_dir),
        store_bytes,
        free_bytes: free_space(data_dir).map_or(0, |(free, _)| free),
    }
}

fn file_bytes(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |m| m.len())
}

fn folder_bytes(dir: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(dir) else {
        return 0;
    };
    entries
        .flatten()
        .map(|e| e.metadata().map_or(0, |m| m.len()))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    #[test]
    fn disk_limits_pause_and_resume() {
        let limits = Limits {
            bytes: 2 * GIB,
            percent: 5,
        };
        for (free, total, was_low, low) in [
            (3 * GIB, 40 * GIB, false, false),
            (2 * GIB - 1, 40 * GIB, false, true),
            (2 * GIB + 1, 40 * GIB, true, true),
            (3 * GIB, 40 * GIB, true, false),
            (40 * GIB, 1000 * GIB, false, true),
            (51 * GIB, 1000 * GIB, false, false),
            (51 * GIB, 1000 * GIB, true, true),
            (56 * GIB, 1000 * GIB, true, false),
            (0, 10, false, true),
        ] {
            let problem = limits.problem(free, total, was_low);
            assert_eq!(problem.is_some(), low, "{free} of {total}: {problem:?}");
        }
        let off = Limits {
            bytes: 0,
            percent: 0,
        };
        assert_eq!(off.problem(0, 10, true), None);
    }

    #[test]
    fn leftovers_are_removed_only() {
        let dir = tempfile::tempdir().unwrap();
        // A backup that is being made into this directory, and a file of somebody's own.
        let kept = ["backup.sqlite.part", "notes.new", "seen.filter"];
        for name in UNFINISHED.iter().chain(&kept) {
            std::fs::write(dir.path().join(name), "x").unwrap();
        }
        // An index that is being made continues where it was.
        std::fs::create_dir(dir.path().join("index.new")).unwrap();
        remove_partial(dir.path());
        let mut left: Vec<_> = std::fs::read_dir(dir.path())
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(
            left,
            [
                "backup.sqlite.part",
                "index.new",
                "notes.new",
                "seen.filter"
            ]
        );
    }

    #[test]
    fn disk_watch_resumes_above_margin() {
        let config = CrawlConfig {
            min_free_bytes: 100,
            min_free_percent: 0,
            ..CrawlConfig::default()
        };
        let mut watch = DiskWatch::new(Path::new("/"), &config);
        let mut states = Vec::new();
        for free in [500, 99, 105, 50, 111, 105, 99] {
            watch.see(free, 1000);
            states.push(watch.low.is_some());
        }
        assert_eq!(states, [false, true, true, true, false, false, true]);
    }
}
