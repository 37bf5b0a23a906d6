//! How the time for hostile pages grows with their size: bytes to page and bytes to document, at sizes that double.
//!
//! `cargo bench --bench hostile [-- NAME]` measures all kinds (or those whose name contains NAME) and ends with exit
//! code 1 when doubling one costs more than 2.3 times as much. It counts processor time, so it can run on a busy machine.
//!
//! With `MALLOC_TRIM_THRESHOLD_=1073741824 MALLOC_MMAP_THRESHOLD_=1073741824` the allocator of glibc keeps what was freed:
//! else it gives back what a page of 4 MB took, takes it anew from the system for the next one, and that is counted.

#![expect(clippy::print_stdout, reason = "a report for a person")]

#[path = "../tests/suite/hostile/inputs.rs"]
mod inputs;

#[path = "cpu_time/mod.rs"]
mod cpu_time;

use std::hint::black_box;
use std::process::ExitCode;

use inputs::{Input, inputs};
use taojin_extract::page::{Config, Hints, Page};
use taojin_extract::{Context, extract};

/// 2026-11-20 10:00 in China.
const NOW_MS: i64 = 1_795_140_000_000;
/// Sizes in bytes, each double the one before. The last is a page at the default limit.
const SIZES: [usize; 4] = [512 << 10, 1 << 20, 2 << 20, 4 << 20];
/// Doubling may cost so much.
const MOST: f64 = 2.3;
/// Below this it counts most whether the process has used the memory before.
const LEAST_NS: u64 = 10_000_000;
/// Runs of each; the fastest counts.
const RUNS: usize = 5;

fn hints() -> Hints {
    let limits = Config {
        max_decoded_bytes: 1 << 30,
        ..Config::default()
    };
    Hints {
        limits,
        ..Hints::default()
    }
}

/// Nanoseconds from bytes to page and from bytes to document at each of [`SIZES`]: of each the fastest of all rounds. A round
/// takes each size in turn, so that a slow minute of the machine does not fall on one size alone.
fn measure(input: &Input) -> [[u64; SIZES.len()]; 2] {
    let inputs = SIZES.map(|bytes| input.make(bytes));
    let context = Context {
        now_ms: Some(NOW_MS),
        ..Context::default()
    };
    let [mut pages, mut extractions] = [[u64::MAX; SIZES.len()]; 2];
    for _ in 0..RUNS {
        for (at, bytes) in inputs.iter().enumerate() {
            let from = cpu_time::thread_ns();
            let page = Page::parse(bytes, hints());
            let parsed = cpu_time::thread_ns();
            black_box(extract(&page, &context));
            let extracted = cpu_time::thread_ns();
            pages[at] = pages[at].min(parsed - from);
            extractions[at] = extractions[at].min(extracted - parsed);
        }
    }
    let documents = std::array::from_fn(|at| pages[at] + extractions[at]);
    [pages, documents]
}

/// Largest growth over one doubling, among times that are long enough to be told.
fn growth(times: &[u64]) -> f64 {
    times
        .windows(2)
        .filter(|pair| pair[1] >= LEAST_NS)
        .map(|pair| pair[1] as f64 / pair[0].max(LEAST_NS / 4) as f64)
        .fold(0.0, f64::max)
}

fn main() -> ExitCode {
    let wanted = std::env::args().skip(1).find(|arg| !arg.starts_with("--"));
    let mut worst: f64 = 0.0;
    println!(
        "{:36} {:>40} {:>40}",
        "", "bytes to page, ms", "bytes to document, ms"
    );
    for input in inputs() {
        let name = &input.name;
        if wanted.as_ref().is_some_and(|part| !name.contains(&**part)) {
            continue;
        }
        let [pages, documents] = measure(&input);
        let both = [growth(&pages), growth(&documents)];
        worst = worst.max(both[0]).max(both[1]);
        let cell = |ns: &u64| format!("{:8.1}", *ns as f64 / 1e6);
        let cells = |times: &[u64]| times.iter().map(cell).collect::<String>();
        let is_worse = both.iter().any(|growth| *growth > MOST);
        let mark = if is_worse { "  !" } else { "" };
        println!(
            "{name:36} {} {:5.2}   {} {:5.2}{mark}",
            cells(&pages),
            both[0],
            cells(&documents),
            both[1]
        );
    }
    println!("at most {worst:.2} times the time for twice the bytes");
    if worst > MOST {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}
