//! `taojin site add|list|remove`: the files of `sites.d`.

mod add;
mod file;
mod probe;
mod remove;

use std::process::ExitCode;

use super::context::Context;
use super::output;
use super::output::time;
use crate::config::{ConfigError, Loaded, Problem};
use crate::daemon::StatusBoard;
use crate::serve::SiteStatus;
use remove::remove;
use taojin_crawl::schedule::Site;

/// Arguments of `site`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Read a site's front page, robots.txt, feeds and sitemaps, and write its file
    Add {
        /// Front page or section page of the site; without https:// or http:// both are tried
        url: String,
        /// Name of the site [default: its host]
        #[arg(long)]
        name: Option<String>,
        /// Write the file without asking the site anything
        #[arg(long)]
        no_probe: bool,
        /// Print the file instead of writing it
        #[arg(long)]
        dry_run: bool,
    },
    /// List the sites: documents, last and next cycle, last error
    List {
        /// One JSON object a line
        #[arg(long)]
        json: bool,
    },
    /// Delete the file of a site; its documents stay in the index
    Remove {
        /// Name of the site
        name: String,
        /// Also remove its documents and addresses
        #[arg(long)]
        forget: bool,
    },
}

/// Adds, lists or removes sites. A file with a mistake is named, and does not keep the others from being seen.
pub(crate) fn run(context: &Context, args: &Args) -> anyhow::Result<ExitCode> {
    let (loaded, problems) = context.read();
    let (of_config, of_sites): (Vec<Problem>, Vec<Problem>) =
        problems.into_iter().partition(|p| p.file == loaded.file);
    ConfigError::of(&of_config)?;
    for problem in &of_sites {
        output::note(&format!("left out: {problem}"));
    }
    match &args.action {
        Action::Add {
            url,
            name,
            no_probe,
            dry_run,
        } => {
            let wanted = add::Wanted {
                url,
                name: name.as_deref(),
                no_probe: *no_probe,
                dry_run: *dry_run,
            };
            add::add(context, &loaded, &wanted)?;
        }
        Action::List { json } => list(context, &loaded, *json)?,
        Action::Remove { name, forget } => remove(&loaded, name, *forget)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn list(context: &Context, loaded: &Loaded, json: bool) -> anyhow::Result<()> {
    // Before the first crawl there is no store, and nothing is known.
    let known = match loaded.config.data_dir.is_dir() {
        true => StatusBoard::of(loaded, None).read(0)?.sites,
        false => Vec::new(),
    };
    for site in &loaded.sites {
        let state = known.iter().find(|s| s.name == site.name);
        match json {
            true => output::json(&as_json(site, state)?)?,
            false => print(site, state),
        }
    }
    if loaded.sites.is_empty() {
        output::note(&format!(
            "no sites in {}; add one with: {}",
            loaded.config.sites_dir.display(),
            context.command("site add URL")
        ));
    }
    Ok(())
}

/// The keys of the site's file, and how it stands.
fn as_json(site: &Site, state: Option<&SiteStatus>) -> anyhow::Result<serde_json::Value> {
    let mut value = serde_json::to_value(site)?;
    if let Some(object) = value.as_object_mut() {
        let mut add = |key: &str, value: serde_json::Value| object.insert(key.to_owned(), value);
        add("documents", state.map_or(0, |s| s.documents).into());
        add("last_cycle_ms", state.and_then(|s| s.last_cycle_ms).into());
        add("next_cycle_ms", state.and_then(|s| s.next_cycle_ms).into());
        add("errors", state.map_or(0, |s| s.errors).into());
        let error = state.and_then(|s| s.last_error.clone());
        add("last_error", error.into());
        if let Some(paused_ms) = state.and_then(|s| s.paused_ms) {
            add("paused_ms", paused_ms.into());
        }
    }
    Ok(value)
}

fn print(site: &Site, state: Option<&SiteStatus>) {
    let title = match site.title.as_str() {
        "" => String::new(),
        title => format!("  {title}"),
    };
    let paused_ms = state.and_then(|s| s.paused_ms);
    let off = match (site.enabled, paused_ms) {
        (false, _) => "  (disabled)".to_owned(),
        (true, Some(_)) => format!("  (paused by the operator since {})", time(paused_ms)),
        (true, None) => String::new(),
    };
    output::line(&format!("{}{title}{off}", site.name));
    output::line(&format!("    {}  {}", site.schedule, site.seeds.join(" ")));
    match state.filter(|s| s.last_cycle_ms.is_some()) {
        None => output::line("    not crawled yet"),
        Some(state) => output::line(&format!(
            "    {} documents, last crawl {}, next {}",
            state.documents,
            time(state.last_cycle_ms),
            time(state.next_cycle_ms)
        )),
    }
    let verdict = state.map(|s| s.verdict.text.as_str()).unwrap_or_default();
    if !verdict.is_empty() {
        output::line(&format!("    {}", output::printable(verdict)));
    }
    if let Some(error) = state.and_then(|s| s.last_error.as_deref()) {
        output::line(&format!("    last error: {}", output::printable(error)));
    }
}
