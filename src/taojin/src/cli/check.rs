//! `taojin check`: is the configuration right, when is each site crawled next, and, if asked, does the network let us out.

use std::process::ExitCode;

use super::context::{Context, runtime};
use super::output;
use crate::config::{Loaded, Problem};
use crate::daemon::now_ms;
use taojin_crawl::schedule::Site;

mod online;

use online::{Level, Tried};

/// Coming cycles shown for each site.
const RUNS: usize = 5;

/// Arguments of `check`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// One JSON object
    #[arg(long)]
    json: bool,
    /// Check network access as well: proxy, DNS, search engine, and each site's robots.txt
    #[arg(long)]
    online: bool,
}

/// Reads everything that the daemon would read and opens nothing that it writes. Names every mistake, not the first
/// one only; with any, the exit code is 2. Without network access it is 1. Warnings do not change it.
pub(crate) fn run(context: &Context, args: &Args) -> anyhow::Result<ExitCode> {
    let (mut loaded, mut problems) = context.read();
    let exposed = loaded.exposed_secrets();
    let unread = problems.iter().any(|p| p.file == loaded.file);
    if !unread || loaded.file.is_none() {
        // With a mistake in the file, these would be mistakes of the defaults.
        problems.extend(loaded.problems());
        if !loaded.secrets_of_the_service() {
            problems.extend(loaded.read_secrets());
        }
    }
    let mut warnings = warnings(&loaded);
    warnings.extend(exposed);
    let tried = match args.online && problems.is_empty() {
        true => runtime()?.block_on(online::try_out(&loaded))?,
        false => Vec::new(),
    };
    if args.json {
        output::json(&answer(&loaded, &problems, &warnings, &tried))?;
    }
    for problem in &problems {
        output::error(&problem.to_string());
    }
    if !problems.is_empty() {
        return Ok(ExitCode::from(2));
    }
    if !args.json {
        report(context, &loaded, &warnings)?;
        for step in tried.iter().filter(|step| step.level != Level::Error) {
            output::line(&shown(step));
        }
    }
    let closed = tried.iter().filter(|step| step.level == Level::Error);
    for step in closed.clone() {
        output::error(&shown(step));
    }
    Ok(ExitCode::from(u8::from(closed.count() > 0)))
}

/// One line of what was tried.
fn shown(step: &Tried) -> String {
    let kind = if step.level == Level::Warning {
        "warning: "
    } else {
        ""
    };
    let Tried {
        step,
        of,
        text,
        took_ms,
        ..
    } = step;
    output::printable(&format!("{step:<14} {of}: {kind}{text} ({took_ms} ms)"))
}

/// What is no mistake and yet worth a thought.
fn warnings(loaded: &Loaded) -> Vec<String> {
    let mut found = Vec::new();
    if !loaded.config.fetch.names_contact() {
        found.push("fetch.user_agent names no address where sites can reach you".to_owned());
    }
    let public = !loaded.config.serve.listen.ip().is_loopback();
    if public && loaded.config.serve.operator_pages {
        found.push(format!(
            "serve.listen = \"{}\": the network can read /status and /metrics as well; see operator_pages",
            loaded.config.serve.listen
        ));
    }
    for site in loaded.sites.iter().filter(|site| site.queues > 1) {
        let Site { name, queues, .. } = site;
        found.push(format!(
            "site {name}: queues = {queues}: {queues} pages of a host are fetched at once; do this only with servers of your own, or with \
             their owner's permission"
        ));
    }
    let search = &loaded.config.search;
    if search.engine.is_remote() && search.url.starts_with("http://") && !search.user.is_empty() {
        found.push(format!(
            "search.url = \"{}\": the password of search.user is sent unencrypted; use https",
            search.url
        ));
    }
    if let Some(mend) = loaded.closed_to_the_service() {
        found.push(mend);
    }
    if loaded.secrets_of_the_service() {
        found.push(
            "secrets in $CREDENTIALS_DIRECTORY are checked when the service starts: only it can see them".to_owned(),
        );
    }
    found
}

fn answer(
    loaded: &Loaded,
    problems: &[Problem],
    warnings: &[String],
    tried: &[Tried],
) -> serde_json::Value {
    let now = now_ms();
    let site = |s: &Site| {
        let runs = s.cron().map(|cron| cron.next_runs(now, RUNS));
        serde_json::json!({ "name": s.name, "enabled": s.enabled, "next_ms": runs.unwrap_or_default() })
    };
    let problem =
        |p: &Problem| serde_json::json!({ "file": p.file, "line": p.line, "text": p.text });
    serde_json::json!({
        "config": loaded.file,
        "sites": loaded.sites.iter().map(site).collect::<Vec<_>>(),
        "problems": problems.iter().map(problem).collect::<Vec<_>>(),
        "warnings": warnings,
        "online": tried,
    })
}

fn report(context: &Context, loaded: &Loaded, warnings: &[String]) -> anyhow::Result<()> {
    match &loaded.file {
        Some(file) => output::line(&format!("configuration  {} is valid", file.display())),
        None => output::line("configuration  none found, all values are defaults"),
    }
    for warning in warnings {
        output::line(&format!("warning        {warning}"));
    }
    output::line(&format!(
        "data           {}",
        loaded.config.data_dir.display()
    ));
    let lexicons = loaded.lexicons()?;
    let terms: usize = lexicons.iter().map(|l| l.terms().count()).sum();
    output::line(&format!(
        "lexicons       {} with {terms} terms",
        lexicons.len()
    ));
    let synonyms = loaded.synonyms()?.len();
    output::line(&format!("synonyms       of {synonyms} words"));
    if loaded.sites.is_empty() {
        output::line(&format!(
            "sites          none in {}; add one with: {}",
            loaded.config.sites_dir.display(),
            context.command("site add URL")
        ));
    }
    let now = now_ms();
    for site in &loaded.sites {
        let state = if site.enabled { "" } else { " (disabled)" };
        let runs = site.cron()?.next_runs(now, RUNS);
        let runs: Vec<String> = runs.iter().map(|t| output::time(Some(*t))).collect();
        output::line(&format!(
            "site           {}{state}: next {}",
            site.name,
            runs.join(", ")
        ));
    }
    Ok(())
}
