//! A disk under the real program that writes down what it is told, and that fails when it is told to. The part that sees
//! the program's system calls is `tests/disk`; gcc, which building taojin needs anyway, makes it at run time.

pub(crate) mod faults;
pub(crate) mod journal;
pub(crate) mod rebuilt;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::support::ROOT;

/// The library that is put under the program.
fn library() -> &'static Path {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    MADE.get_or_init(|| {
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let made = dir.join(format!("disk-{}.so", std::process::id()));
        let output = Command::new("gcc")
            .args(["-O1", "-Wall", "-shared", "-fPIC", "-o"])
            .arg(&made)
            .args(
                ["disk.c", "faults.c", "trap.c"]
                    .map(|file| Path::new(ROOT).join("tests/disk").join(file)),
            )
            .output()
            .expect("gcc runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        // One name for all processes of the test run.
        let library = dir.join("disk.so");
        std::fs::rename(&made, &library).expect("its name");
        library
    })
}

/// Puts the disk under a program, for what lies in `folder` (which is there already).
fn put_under(command: &mut Command, folder: &Path) {
    command
        .env("LD_PRELOAD", library())
        .env("TAOJIN_DISK_ROOT", folder);
}

/// Writes down in `journal` what the program changes in `folder`.
pub(crate) fn record(command: &mut Command, folder: &Path, journal: &Path) {
    put_under(command, folder);
    command.env("TAOJIN_DISK_JOURNAL", journal);
}

/// Lets `faults` meet what the program does in `folder`.
pub(crate) fn fail(command: &mut Command, folder: &Path, faults: &faults::Faults) {
    put_under(command, folder);
    command.env("TAOJIN_DISK_FAULTS", faults.path());
}
