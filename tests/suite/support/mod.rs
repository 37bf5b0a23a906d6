//! What the tests share: webs on loopback, data folders with a configuration, disks, databases, browsers.

pub(crate) mod clone;
pub(crate) mod daemon;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub(crate) mod disk;
pub(crate) mod folder;
pub(crate) mod foreign_web;
pub(crate) mod http;
pub(crate) mod lots;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub(crate) mod opensearch;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[path = "../../postgres.rs"]
pub(crate) mod postgres;
pub(crate) mod small_web;
pub(crate) mod trial;
pub(crate) mod web_driver;
pub(crate) mod webhook;
pub(crate) mod world;

use std::thread;
use std::time::{Duration, Instant};

/// A line for who runs the tests with `--no-capture`.
#[expect(clippy::print_stderr, reason = "a test's report")]
pub(crate) fn say(line: &str) {
    eprintln!("{line}");
}

/// A size of a test: small in the check, and large where `TAOJIN_LONG` is set, for ten minutes at most.
pub(crate) fn scaled<T>([short, long]: [T; 2]) -> T {
    if is_long() { long } else { short }
}

/// Whether tests run that a check has no time for.
pub(crate) fn is_long() -> bool {
    std::env::var_os("TAOJIN_LONG").is_some()
}

/// The top of the repository.
pub(crate) const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Longest wait for anything: far above what it takes, so that only a hang fails.
pub(crate) const PATIENCE: Duration = Duration::from_secs(90);

/// Looks again and again until there is something; none if there is nothing for so long. A look that takes long, such as a run of
/// the program, is made less often: it takes the processor from what is waited for.
pub(crate) fn poll<T>(limit: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let until = Instant::now() + limit;
    loop {
        let began = Instant::now();
        let found = look();
        if found.is_some() || Instant::now() > until {
            return found;
        }
        let pause = began.elapsed() * 2;
        thread::sleep(pause.clamp(Duration::from_millis(20), Duration::from_millis(500)));
    }
}

/// Waits until something is so.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let is_so = poll(PATIENCE, || is_so().then_some(()));
    assert!(is_so.is_some(), "waited in vain until {what}");
}
