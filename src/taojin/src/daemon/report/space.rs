//! Room on the disk. In: the folders. Out: what the index and the store take, and what is left.

use std::path::Path;

use crate::daemon::crawl::disk;
use crate::serve::DiskUse;

/// What is used. A store in PostgreSQL is on another machine's disk: a file that it was moved in from counts no more.
pub(super) fn used(data_dir: &Path, index_dir: &Path, in_database: bool) -> DiskUse {
    let files = ["crawl.sqlite", "crawl.sqlite-wal"].iter();
    let store_bytes = match in_database {
        true => 0,
        false => files.map(|name| file_bytes(&data_dir.join(name))).sum(),
    };
    DiskUse {
        index_bytes: folder_bytes(index_dir),
        store_bytes,
        free_bytes: disk::room(data_dir).map_or(0, |(free, _)| free),
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
