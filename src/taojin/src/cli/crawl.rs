//! `taojin crawl`: one pass, then the end.

use std::path::PathBuf;
use std::process::ExitCode;

use askama::Template;

use super::context::{Context, UsageError, bail_usage, runtime};
use super::control::reload_first;
use super::output::{self, ProgressLine};
use crate::config::{ConfigError, LoadedConfig};
use crate::daemon::control::{self, Response};
use crate::daemon::{self, Mode, Options, SiteSummary, Summary};
use crate::serve::{Command, Level};

/// Arguments of `crawl`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only this site, due or not (may be given several times)
    ///
    /// Without it, all enabled sites whose cycle is due are crawled.
    #[arg(long, value_name = "NAME")]
    site: Vec<String>,
    /// Revisit every known article, even if it is not due
    ///
    /// Applies to the sites named with --site, or else to all enabled sites that are not paused. Requests are conditional
    /// where the server allows it, so an unchanged page costs one `304 Not Modified`.
    #[arg(long)]
    recheck: bool,
    /// Process the pages of WARC or ARC files instead of fetching any
    ///
    /// Several files may follow one another. No daemon may run on the data folder. An archive that cannot be read to its
    /// end makes the exit code 1; what was read before is indexed.
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["site", "recheck"])]
    warc: Vec<PathBuf>,
    /// One JSON object with the counts
    ///
    /// Without it, a summary is printed, and on a terminal the progress.
    #[arg(long)]
    json: bool,
}

/// Crawls the due or the named sites once.
pub(crate) fn run(context: &Context, args: &Args) -> anyhow::Result<ExitCode> {
    let loaded = context.load()?;
    if args.warc.is_empty() {
        return sites(&loaded, args.site.clone(), args.recheck, args.json);
    }
    for file in &args.warc {
        std::fs::File::open(file)
            .map_err(|e| UsageError(format!("--warc {}: {e}", file.display())))?;
    }
    let files = args.warc.clone();
    let summary = alone(&loaded, Mode::Replay { files })?;
    report(&summary, args.json, false)
}

/// One cycle of the named sites, or of those that are due: by the daemon if one runs, else by this process.
pub(super) fn sites(
    loaded: &LoadedConfig,
    sites: Vec<String>,
    recheck: bool,
    json: bool,
) -> anyhow::Result<ExitCode> {
    check(loaded, &sites)?;
    let progress = ProgressLine::new();
    let mut show = progress.steps();
    let command = Command::Crawl {
        sites: sites.clone(),
        recheck,
        wait: true,
    };
    let response = control::send_command(&loaded.config.data_dir, &command, |response| {
        if let Response::Step(step) = response {
            show(&step.outcome, &step.url, step.left);
        }
    });
    drop(progress);
    match response.map_err(|e| reload_first(loaded, e))? {
        Some(Response::Crawled(summary)) => report(&summary, json, true),
        Some(_) => anyhow::bail!("the daemon gave no counts"),
        None => {
            let summary = alone(loaded, Mode::Pass { sites, recheck })?;
            let code = report(&summary, json, false)?;
            // The log has what came of it; the crawl went as it went.
            runtime()?.block_on(async {
                let stop = super::run::stop_signal()?;
                daemon::find_terms_after_crawl(loaded, stop).await;
                Ok(code)
            })
        }
    }
}

fn alone(loaded: &LoadedConfig, mode: Mode) -> anyhow::Result<Summary> {
    ConfigError::check(&loaded.problems())?;
    let progress = ProgressLine::new();
    let options = Options {
        progress: Some(progress.watcher()),
        ..Options::quiet(mode)
    };
    let summary = runtime()?
        .block_on(async { daemon::run(loaded, options, super::run::stop_signal()?).await })?;
    drop(progress);
    Ok(summary)
}

/// Prints what came of it. A daemon (`handed`) does not count links that were met before or refused by site.
fn report(summary: &Summary, json: bool, handed: bool) -> anyhow::Result<ExitCode> {
    if json {
        let mut value = serde_json::to_value(summary)?;
        if let Some(object) = value.as_object_mut().filter(|_| handed) {
            object.remove("seen_links");
            object.remove("refused_links");
        }
        output::json(&value)?;
    } else {
        let fine = |site: &SiteSummary| matches!(site.verdict, Level::Ok | Level::Partial);
        let is_idle = summary.visits == 0 && summary.resting.is_empty();
        let text = SummaryText {
            s: summary,
            handed,
            nothing_due: is_idle && summary.sites.iter().any(fine),
        };
        output::text_in(text, |t| ChineseSummaryText { t })?;
    }
    summary.problems.iter().for_each(|p| output::note(p));
    let unfinished = &summary.unfinished;
    if let (Some(why), Some(why_zh)) = (&unfinished.paused, &unfinished.paused_zh) {
        let text = output::pick(format!("ended early: {why}"), format!("提前结束：{why_zh}"));
        return Err(anyhow::anyhow!(text));
    }
    let mut code = ExitCode::SUCCESS;
    for site in summary.sites.iter().filter(|s| s.verdict == Level::Failed) {
        let text = output::pick(&site.text, &site.text_zh);
        output::error(&output::printable(&format!("{}: {text}", site.name)));
        code = ExitCode::FAILURE;
    }
    // What was whole is in the index; an archive that could not be read, or not to its end, is a failure.
    if !summary.problems.is_empty() {
        code = ExitCode::FAILURE;
    }
    if unfinished.index_waiting > 0 {
        let (count, cause) = (unfinished.index_waiting, &unfinished.index_trouble);
        let cause = output::printable(cause.as_deref().unwrap_or_default());
        output::error(&output::pick(
            format!(
                "{count} changes wait in the store for the search index, the next command or daemon takes them in: {cause}"
            ),
            format!(
                "{count} 项变更已存入存储，等待写入搜索索引，下次运行命令或守护进程时自动写入：{cause}"
            ),
        ));
        if code == ExitCode::SUCCESS {
            code = ExitCode::from(super::DOCUMENTS_WAIT);
        }
    }
    Ok(code)
}

/// A mistake of the caller is found here, before anything begins.
fn check(loaded: &LoadedConfig, sites: &[String]) -> anyhow::Result<()> {
    if loaded.sites.iter().all(|s| !s.enabled) {
        let dir = loaded.config.sites_dir.display().to_string();
        bail_usage!("no site to crawl in {dir}; add one with: taojin site add URL");
    }
    for name in sites {
        if !loaded.sites.iter().any(|s| s.name == *name && s.enabled) {
            let names: Vec<&str> = loaded.sites.iter().map(|s| s.name.as_str()).collect();
            let near = crate::config::did_you_mean(name, &names);
            bail_usage!("{name}: no enabled site has this name{near}");
        }
    }
    Ok(())
}

/// The summary in a few lines for a person.
#[derive(Template)]
#[template(path = "summary.txt")]
struct SummaryText<'a> {
    s: &'a Summary,
    handed: bool,
    nothing_due: bool,
}

/// The same in Chinese.
#[derive(Template)]
#[template(path = "summary.zh.txt")]
struct ChineseSummaryText<'a> {
    t: SummaryText<'a>,
}
