//! `taojin completions SHELL`.

use std::process::ExitCode;

use clap::CommandFactory;

/// Arguments of `completions`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// bash, zsh, fish, elvish or powershell
    shell: clap_complete::Shell,
}

/// Writes the script to stdout.
pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(
        args.shell,
        &mut super::Cli::command(),
        "taojin",
        &mut script,
    );
    super::output::line(String::from_utf8_lossy(&script).trim_end());
    Ok(ExitCode::SUCCESS)
}
