//! Attachments, read by the program in its children: hostile files, damaged files, and foreign files with what a person reads in
//! them.

mod contained;
mod foreign;

use std::future::Future;
use std::path::PathBuf;

use taojin_attachments::contained::{Limits, Reader};

use crate::support::PATIENCE;

/// Limits with so much time that a busy machine does not reach it.
fn patient() -> Limits {
    Limits {
        time: PATIENCE,
        ..Limits::default()
    }
}

/// A reader whose children are the program, in a number that suits tests.
fn reader(limits: Limits) -> Reader {
    Reader::with_program(PathBuf::from(env!("CARGO_BIN_EXE_taojin")), limits)
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(future)
}
