//! Processor time of this thread, so that ratios hold on a busy machine.

use std::fs;
use std::sync::LazyLock;
use std::thread;
use std::time::Instant;

/// Nanoseconds that this thread was on a processor; where the system does not tell, nanoseconds that passed. The
/// kernel writes the number down when a thread leaves its processor, so it is made to leave.
pub(crate) fn thread_ns() -> u64 {
    static BEGUN: LazyLock<Instant> = LazyLock::new(Instant::now);
    thread::yield_now();
    fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|line| line.split_ascii_whitespace().next()?.parse().ok())
        .filter(|ns| *ns > 0)
        .unwrap_or_else(|| u64::try_from(BEGUN.elapsed().as_nanos()).unwrap_or(u64::MAX))
}
