//! Measures the time of the extraction itself, in nanoseconds of processor time where the system reports it (Linux), else
//! of wall time.

use std::fs;
use std::thread;
use std::time::Instant;

/// On Linux: nanoseconds that this thread was on a processor, then two other numbers.
const SCHEDSTAT: &str = "/proc/thread-self/schedstat";

/// What a clock counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockUnit {
    /// Processor time of the thread: other programs on the machine do not count.
    Cpu,
    /// Time that passed.
    Wall,
}

/// A running measurement.
#[derive(Debug)]
pub(super) struct CpuSpan {
    cpu_ns: Option<u64>,
    begun: Instant,
}

/// Begins to measure this thread.
pub(super) fn start() -> CpuSpan {
    let cpu_ns = read_cpu_ns();
    CpuSpan {
        cpu_ns,
        begun: Instant::now(),
    }
}

impl CpuSpan {
    /// Nanoseconds since the start, and what they count.
    pub(super) fn stop(self) -> (u64, ClockUnit) {
        let wall_ns = u64::try_from(self.begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        match (self.cpu_ns, read_cpu_ns()) {
            (Some(from), Some(to)) => (to.saturating_sub(from), ClockUnit::Cpu),
            _ => (wall_ns, ClockUnit::Wall),
        }
    }
}

/// The kernel writes a thread's time down when it leaves the processor or at a tick, milliseconds apart; a yield makes it
/// write now, which costs some microseconds.
fn read_cpu_ns() -> Option<u64> {
    thread::yield_now();
    let line = fs::read_to_string(SCHEDSTAT).ok()?;
    // Zero on kernels that count nothing.
    let ns = line.split_ascii_whitespace().next()?.parse().ok()?;
    (ns > 0).then_some(ns)
}
