//! `taojin config`: what is in force, and who said so.

use std::process::ExitCode;

use super::context::Context;
use super::output;
use crate::config::Origin;

/// Arguments of `config`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only what is not left at its default
    #[arg(long)]
    changed: bool,
    /// One JSON object per setting
    #[arg(long)]
    json: bool,
}

/// Prints `key = value  # where from`, one line for each setting.
pub(crate) fn run(context: &Context, args: &Args) -> anyhow::Result<ExitCode> {
    let loaded = context.load()?;
    let file = loaded.file.as_deref().map(|f| f.display().to_string());
    for (key, value, origin) in loaded.settings() {
        let from = match (&origin, &context.data_dir) {
            (_, Some(_)) if key == "data_dir" => "--data-dir".to_owned(),
            (Origin::Default, _) => "default".to_owned(),
            (Origin::File(line), _) => format!("{} line {line}", file.as_deref().unwrap_or("-")),
            (Origin::Environment(name), _) => name.clone(),
        };
        if args.changed && from == "default" {
            continue;
        }
        match args.json {
            true => output::json(&serde_json::json!({ "key": key, "value": value, "from": from }))?,
            false => output::line(&output::printable(&format!("{key} = {value}  # {from}"))),
        }
    }
    Ok(ExitCode::SUCCESS)
}
