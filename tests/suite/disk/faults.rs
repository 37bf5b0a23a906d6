//! What fails on the disk at present, told to the program while it runs.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Length of `struct faults` in `tests/disk/disk.c`.
const BYTES: usize = 256;
const PATTERNS: u64 = 16;
/// Calls that fail are not counted.
const ALL: u32 = u32::MAX;

/// How a call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    Eio = 1,
    Enospc = 2,
    Erofs = 3,
    /// Half of what was to be written is.
    Short = 4,
    /// It works, late.
    Slow = 5,
}

impl Fault {
    pub(crate) const ALL: [Fault; 5] = [
        Fault::Eio,
        Fault::Enospc,
        Fault::Erofs,
        Fault::Short,
        Fault::Slow,
    ];
}

/// The file that the program reads its faults from.
#[derive(Debug)]
pub(crate) struct Faults {
    path: PathBuf,
    file: File,
}

impl Faults {
    /// Nothing fails yet.
    pub(crate) fn new(path: &Path) -> Self {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(path)
            .expect("a file");
        file.write_all_at(&[0; BYTES], 0).expect("it is written");
        Self {
            path: path.to_owned(),
            file,
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// From now on `fault` meets `times` calls (all, if none is given) on files that fit `patterns`.
    pub(crate) fn begin(&self, fault: Fault, patterns: &str, times: Option<u32>, slow_ms: u32) {
        self.end();
        let mut text = [0; BYTES - 16];
        text[..patterns.len()].copy_from_slice(patterns.as_bytes());
        self.file.write_all_at(&text, PATTERNS).expect("written");
        for (at, value) in [
            (12, 0),
            (8, slow_ms),
            (4, times.unwrap_or(ALL)),
            (0, fault as u32),
        ] {
            self.set(at, value);
        }
    }

    pub(crate) fn end(&self) {
        self.set(0, 0);
    }

    /// Calls that a fault met since it began.
    pub(crate) fn hits(&self) -> u32 {
        let mut bytes = [0; 4];
        self.file.read_exact_at(&mut bytes, 12).expect("it is read");
        u32::from_le_bytes(bytes)
    }

    fn set(&self, at: u64, value: u32) {
        self.file
            .write_all_at(&value.to_le_bytes(), at)
            .expect("it is written");
    }
}
