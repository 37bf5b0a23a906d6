//! `taojin completions` and `taojin man`: what packages ship beside the program. Both come from the command line's own
//! description; `taojin.toml.5` from the comments of the shipped reference of the settings.

#[cfg(test)]
mod tests;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::CommandFactory;
use clap_mangen::roff::{Inline, Roff, bold, roman};

use super::context::Context;

/// Arguments of `completions`.
#[derive(Debug, clap::Args)]
pub(crate) struct CompletionsArgs {
    /// bash, zsh, fish, elvish or powershell
    shell: clap_complete::Shell,
}

/// Writes the script to stdout.
pub(crate) fn completions(_context: &Context, args: &CompletionsArgs) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(
        args.shell,
        &mut super::Cli::command().disable_help_subcommand(true),
        "taojin",
        &mut script,
    );
    super::output::line(String::from_utf8_lossy(&script).trim_end());
    Ok(ExitCode::SUCCESS)
}

/// Every setting with its default, each under a comment.
const REFERENCE: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../config/reference.toml"
));

/// Arguments of `man`.
#[derive(Debug, clap::Args)]
pub(crate) struct ManArgs {
    /// Folder for the pages; made if it is not there
    dir: PathBuf,
}

/// Writes all pages.
pub(crate) fn man(_context: &Context, args: &ManArgs) -> anyhow::Result<ExitCode> {
    // A page for each help on a command would say the same again.
    let command = super::Cli::command().disable_help_subcommand(true);
    write(&args.dir, command)
        .with_context(|| format!("the pages cannot be written to {}", args.dir.display()))?;
    Ok(ExitCode::SUCCESS)
}

fn write(dir: &Path, command: clap::Command) -> std::io::Result<()> {
    fs::create_dir_all(dir)?;
    clap_mangen::generate_to(command, dir)?;
    fs::write(dir.join("taojin.toml.5"), settings_page(REFERENCE))
}

/// taojin.toml(5): one entry for each key of the reference, with its default and its comment.
fn settings_page(reference: &str) -> String {
    let mut page = Roff::default();
    let version = concat!("taojin ", env!("CARGO_PKG_VERSION"));
    page.control("TH", ["taojin.toml", "5", "", version]);
    page.control("SH", ["NAME"]);
    page.text([roman("taojin.toml - settings of taojin")]);
    page.control("SH", ["DESCRIPTION"]);
    let mut comment: Vec<&str> = Vec::new();
    for line in reference.lines() {
        let bare = line.strip_prefix("# ").unwrap_or(line);
        if let Some(section) = bare.strip_prefix('[') {
            let name = section.trim_end_matches(']').trim_start_matches('[');
            page.control("SH", [format!("[{name}]").as_str()]);
            page.text(text(&mut comment));
        } else if is_setting(bare) {
            page.control("TP", []);
            page.text([bold(bare)]);
            page.text(text(&mut comment));
        } else if line.is_empty() {
            // A comment that no key follows stands for itself.
            if !comment.is_empty() {
                page.text(text(&mut comment));
            }
        } else {
            comment.push(bare);
        }
    }
    page.control("SH", ["SEE ALSO"]);
    page.text([
        bold("taojin"),
        roman("(1), "),
        bold("taojin-check"),
        roman("(1)"),
    ]);
    page.render()
}

/// The comment that was gathered, as one paragraph.
fn text(comment: &mut Vec<&str>) -> Vec<Inline> {
    let text = std::mem::take(comment).join(" ");
    if text.is_empty() {
        Vec::new()
    } else {
        vec![roman(text)]
    }
}

/// Whether a line is `key = value`.
fn is_setting(line: &str) -> bool {
    line.split_once(" = ").is_some_and(|(key, _)| {
        !key.is_empty()
            && key
                .chars()
                .all(|c| c.is_ascii_lowercase() || c == '_' || c.is_ascii_digit())
    })
}
