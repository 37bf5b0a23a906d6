//! The `taojin` command: parses the arguments, runs the sub-command, turns its result into an exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    taojin::cli::main()
}
