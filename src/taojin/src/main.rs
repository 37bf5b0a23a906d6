//! The `taojin` command: parses the arguments, runs the sub-command, turns its result into an exit code. It is also its own child
//! that reads an attachment, without configuration, log or threads.

use std::process::ExitCode;

use mimalloc::MiMalloc;

/// Documents are made in one thread and end in another, which is what glibc's allocator is slow at.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    match taojin_attachments::contained::run_child(std::env::args_os()) {
        Some(code) => code,
        None => taojin::cli::main(),
    }
}
