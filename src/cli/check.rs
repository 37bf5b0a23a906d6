//! `taojin check`: is the configuration right, and when is each site crawled next.

use std::process::ExitCode;

use super::{Context, Usage, output};
use crate::daemon::{self, now_ms};
use crate::fetch::Fetcher;

/// Coming cycles shown for each site.
const RUNS: usize = 5;

/// Arguments of `check`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// One JSON object
    #[arg(long)]
    json: bool,
}

/// Reads everything that the daemon would read and opens nothing that it writes.
pub(crate) fn run(context: &Context, args: &Args) -> anyhow::Result<ExitCode> {
    let loaded = context.load()?;
    let lexicons = loaded.lexicons()?;
    Fetcher::new(loaded.config.fetch.clone()).map_err(|e| Usage(e.to_string()))?;
    if let Some(problem) = daemon::data_dir_problem(&loaded.config.data_dir) {
        return Err(Usage(problem).into());
    }
    let now = now_ms();
    let mut sites = Vec::new();
    for site in &loaded.sites {
        let schedule = site
            .cron()
            .map_err(|e| Usage(format!("site {}: {e}", site.name)))?;
        sites.push((site, schedule.next_runs(now, RUNS)));
    }
    if args.json {
        let list: Vec<_> = sites
            .iter()
            .map(|(s, runs)| serde_json::json!({ "name": s.name, "enabled": s.enabled, "next_ms": runs }))
            .collect();
        output::json(&serde_json::json!({ "config": loaded.file, "sites": list }))?;
        return Ok(ExitCode::SUCCESS);
    }
    match &loaded.file {
        Some(file) => output::line(&format!("configuration  {} is right", file.display())),
        None => output::line("configuration  none found, all values are defaults"),
    }
    if !loaded.config.fetch.names_contact() {
        output::line("note           fetch.user_agent names no address where sites can reach you");
    }
    output::line(&format!(
        "data           {}",
        loaded.config.data_dir.display()
    ));
    let terms: usize = lexicons.iter().map(|l| l.terms().count()).sum();
    output::line(&format!(
        "lexicons       {} with {terms} terms",
        lexicons.len()
    ));
    if sites.is_empty() {
        output::line(&format!(
            "sites          none in {}; add one with: taojin site add URL",
            loaded.config.sites_dir.display()
        ));
    }
    for (site, runs) in sites {
        let state = if site.enabled { "" } else { " (disabled)" };
        let runs: Vec<String> = runs.iter().map(|t| super::status::time(Some(*t))).collect();
        output::line(&format!(
            "site           {}{state}: next {}",
            site.name,
            runs.join(", ")
        ));
    }
    Ok(ExitCode::SUCCESS)
}
