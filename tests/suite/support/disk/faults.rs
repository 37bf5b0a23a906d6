//! What fails on the disk at present, told to the program while it runs.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Length of `struct faults` in `tests/disk/faults.c`.
const BYTES: usize = 256;
const PATTERNS: usize = 20;
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

/// What goes wrong.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Trouble {
    pub(crate) fault: Fault,
    /// Which files, below the folder: patterns with *, between them |.
    pub(crate) files: &'static str,
    /// Calls that still work before the first that does not.
    pub(crate) spared: u32,
    /// Calls that go wrong; all, if it is none.
    pub(crate) times: Option<u32>,
    /// What a slow call takes.
    pub(crate) slow_ms: u32,
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

    /// From now on this goes wrong, and nothing else.
    pub(crate) fn begin(&self, trouble: &Trouble) {
        self.end();
        let mut text = [0; BYTES - PATTERNS];
        text[..trouble.files.len()].copy_from_slice(trouble.files.as_bytes());
        let written = self.file.write_all_at(&text, PATTERNS as u64);
        written.expect("it is written");
        for (at, value) in [
            (16, trouble.spared),
            (12, 0),
            (8, trouble.slow_ms),
            (4, trouble.times.unwrap_or(ALL)),
            (0, trouble.fault as u32),
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
