//! `taojin visit|pause|resume|purge`: what the operator asks for beside the schedule. A running daemon carries it out;
//! without one this process does the same by itself.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context as _;
use askama::Template;

use super::context::{Context, Named, UsageError, bail_usage, runtime};
use super::{crawl, output};
use crate::config::LoadedConfig;
use crate::daemon::control;
use crate::daemon::{self, LogLine, Mode, Options, now_ms, open_store};
use crate::serve::{Command, CommandDone, CommandError};
use taojin_crawl::VisitOutcome;
use taojin_crawl::store::{Reader, StoreError};
use taojin_uri::CrawlUri;

/// Addresses that are listed; a document rarely has more than two.
const LISTED: usize = 20;

/// Arguments of `visit`.
#[derive(Debug, clap::Args)]
pub(crate) struct VisitArgs {
    /// A URL in the scope of a site, or the name of a site
    ///
    /// A URL is fetched ahead of all others of its host, as soon as that may be requested. A site starts a cycle, as with
    /// `taojin crawl --site`.
    #[arg(value_name = "URL|SITE")]
    target: String,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

/// Arguments of `pause` and `resume`.
#[derive(Debug, clap::Args)]
pub(crate) struct SiteArgs {
    /// Name of the site
    #[arg(value_name = "SITE")]
    site: String,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

/// Arguments of `purge`.
#[derive(Debug, clap::Args)]
pub(crate) struct PurgeArgs {
    /// The URL of a document, or the name of a site
    ///
    /// A document is removed with all of its URLs, and none of them is fetched again. A site loses all documents and URLs;
    /// if it is still configured, its next cycle crawls it again.
    #[arg(value_name = "URL|SITE")]
    target: String,
    /// Do not ask
    ///
    /// Without a terminal to ask at, it is required.
    #[arg(long, short)]
    yes: bool,
    /// Lift the takedown of this URL: it may be fetched again
    ///
    /// URLs that were taken down with it may be fetched again too. Nothing is removed, so nothing is asked.
    #[arg(long, conflicts_with = "yes")]
    allow: bool,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

/// Visits an address or a site now.
pub(crate) fn visit(context: &Context, args: &VisitArgs) -> anyhow::Result<ExitCode> {
    let loaded = context.load()?;
    if !is_address(&args.target)? {
        return crawl::sites(&loaded, vec![args.target.clone()], false, args.json);
    }
    let command = Command::Visit {
        url: args.target.clone(),
        wait: true,
    };
    let done = match control::send_command(&loaded.config.data_dir, &command, |_| {})? {
        Some(response) => response.into_done()?,
        None => visit_alone(&loaded, &args.target)?,
    };
    output::answer(args.json, &done, |done| {
        output::line(&output::printable(&visited(done)));
    })?;
    let outcome = done.outcome.as_deref().and_then(VisitOutcome::parse);
    let went_well = outcome.is_some_and(VisitOutcome::is_success);
    Ok(ExitCode::from(u8::from(!went_well)))
}

fn visit_alone(loaded: &LoadedConfig, url: &str) -> anyhow::Result<CommandDone> {
    let seen: Arc<Mutex<Option<LogLine>>> = Arc::default();
    let noted = Arc::clone(&seen);
    let options = Options {
        progress: Some(Box::new(move |line, _| {
            *noted.lock().unwrap_or_else(PoisonError::into_inner) = Some(line.clone());
        })),
        ..Options::quiet(Mode::Visit {
            url: url.to_owned(),
        })
    };
    runtime()?
        .block_on(async { daemon::run(loaded, options, super::run::stop_signal()?).await })?;
    let line = seen.lock().unwrap_or_else(PoisonError::into_inner).take();
    let Some(line) = line else {
        return Ok(CommandDone {
            url: Some(url.to_owned()),
            reason: Some("its host may not be asked now; the next crawl visits it".to_owned()),
            ..CommandDone::default()
        });
    };
    Ok(CommandDone {
        site: Some(line.site),
        url: Some(line.url),
        outcome: Some(line.outcome.as_str().to_owned()),
        status: line.status,
        reason: line.reason,
        document: line.document.map(|change| change.as_str().to_owned()),
        ..CommandDone::default()
    })
}

/// What came of a visit, in one line.
fn visited(done: &CommandDone) -> String {
    let outcome = done.outcome.as_deref().map(output::outcome);
    let not_yet = output::pick("not visited yet", "还没有访问");
    let mut parts = vec![outcome.unwrap_or(not_yet).to_owned()];
    let status = output::pick("status", "状态码");
    parts.extend(done.status.map(|code| format!("{status} {code}")));
    let reason = done.reason.as_deref();
    parts.extend(reason.map(|reason| output::localized(reason).into_owned()));
    let change = done.document.as_deref().map(output::change);
    let document = output::pick("document", "文档");
    parts.extend(change.map(|change| format!("{document} {change}")));
    let url = done.url.as_deref().unwrap_or_default();
    output::pick(
        format!("{url}: {}", parts.join(", ")),
        format!("{url}：{}", parts.join("，")),
    )
}

/// Fetches nothing of a site any more.
pub(crate) fn pause(context: &Context, args: &SiteArgs) -> anyhow::Result<ExitCode> {
    let done = set_paused(context, args, true)?;
    output::answer(args.json, &done, |done| {
        let (site, since) = (&args.site, output::time(done.paused_ms));
        output::line(&output::pick(
            format!("{site}: paused since {since}, until: taojin resume {site}"),
            format!("{site}：已于 {since} 暂停；恢复：taojin resume {site}"),
        ));
    })
}

/// Resumes a site.
pub(crate) fn resume(context: &Context, args: &SiteArgs) -> anyhow::Result<ExitCode> {
    let done = set_paused(context, args, false)?;
    output::answer(args.json, &done, |done| {
        let (mut english, mut chinese) = (
            format!("{}: resumed", args.site),
            format!("{}：已恢复", args.site),
        );
        if done.next_cycle_ms.is_some() {
            let next = output::time(done.next_cycle_ms);
            english.push_str(&format!(", next cycle {next}"));
            chinese.push_str(&format!("，下一轮 {next}"));
        }
        output::line(&output::pick(english, chinese));
    })
}

fn set_paused(context: &Context, args: &SiteArgs, paused: bool) -> anyhow::Result<CommandDone> {
    let site = args.site.clone();
    execute(&context.load()?, &Command::SetPaused { site, paused })
}

/// Takes a document down, or removes all documents of a site.
pub(crate) fn purge(context: &Context, args: &PurgeArgs) -> anyhow::Result<ExitCode> {
    let loaded = context.load()?;
    let target = args.target.clone();
    let is_address = is_address(&target)?;
    if args.allow {
        if !is_address {
            bail_usage!("--allow {target}: write the address that was taken down");
        }
        let done = execute(&loaded, &Command::Allow { url: target })?;
        let english = |done| AllowedText { done };
        return output::answer_both(args.json, &done, english, |t| ChineseAllowedText { t });
    }
    if !args.yes {
        let question = if is_address {
            about_address(&loaded, &target)?
        } else {
            format!("remove all documents and addresses of the site {target}?")
        };
        if !confirmed(&question)? {
            output::note("nothing was done");
            return Ok(ExitCode::FAILURE);
        }
    }
    let command = if is_address {
        Command::PurgeUrl { url: target }
    } else {
        Command::Purge {
            site: target,
            forget: false,
        }
    };
    let done = execute(&loaded, &command)?;
    output::answer_both(args.json, &done, PurgedText::new, |t| ChinesePurgedText {
        t,
    })
}

/// What may be fetched again.
#[derive(Template)]
#[template(path = "allowed.txt")]
struct AllowedText<'a> {
    done: &'a CommandDone,
}

/// The same in Chinese.
#[derive(Template)]
#[template(path = "allowed.zh.txt")]
struct ChineseAllowedText<'a> {
    t: AllowedText<'a>,
}

/// What a purge removed.
#[derive(Template)]
#[template(path = "purged.txt")]
pub(super) struct PurgedText<'a> {
    done: &'a CommandDone,
    documents: u64,
}

/// The same in Chinese.
#[derive(Template)]
#[template(path = "purged.zh.txt")]
pub(super) struct ChinesePurgedText<'a> {
    pub(super) t: PurgedText<'a>,
}

impl<'a> PurgedText<'a> {
    pub(super) fn new(done: &'a CommandDone) -> Self {
        let documents = done.documents.unwrap_or_default();
        Self { done, documents }
    }
}

/// What a person should know before an address is taken down.
fn about_address(loaded: &LoadedConfig, url: &str) -> anyhow::Result<String> {
    let uri = CrawlUri::parse(url).named(url)?;
    let mut others = Vec::new();
    match Reader::open(loaded.store_place()) {
        Ok(reader) => {
            if let Some(record) = reader.lookup(&uri)? {
                for id in reader.same_document(record.id)? {
                    let address = reader.url(id)?.map(|r| r.uri.to_string());
                    others.extend(address.filter(|a| *a != uri.as_str()));
                }
            }
        }
        Err(StoreError::Missing { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    let also = match others.len() {
        0 => String::new(),
        _ => {
            let shown: Vec<&str> = others.iter().take(LISTED).map(String::as_str).collect();
            format!(", and with it its other addresses {}", shown.join(" "))
        }
    };
    Ok(format!("take down {uri}{also}?"))
}

/// Asks a person; without one, `--yes` is needed.
fn confirmed(question: &str) -> anyhow::Result<bool> {
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        bail_usage!(
            "{} add --yes: there is no terminal to ask at",
            output::printable(question)
        );
    }
    output::note(&format!("{} [y/N]", output::printable(question)));
    std::io::stderr().flush()?;
    let mut answer = String::new();
    stdin.read_line(&mut answer).context("no answer")?;
    let answer = answer.trim();
    Ok(answer.eq_ignore_ascii_case("y") || answer.eq_ignore_ascii_case("yes"))
}

/// Whether the text is an address, not the name of a site.
fn is_address(target: &str) -> Result<bool, UsageError> {
    if target.contains("://") {
        return Ok(true);
    }
    if target.contains('/') {
        let mend = "write the whole address with https:// or http://, or the name of a site";
        bail_usage!("{target}: {mend}");
    }
    Ok(false)
}

/// Has the daemon execute a command, or does so in this process if none runs.
pub(crate) fn execute(loaded: &LoadedConfig, command: &Command) -> anyhow::Result<CommandDone> {
    let response = control::send_command(&loaded.config.data_dir, command, |_| {});
    match response.map_err(|e| reload_first(loaded, e))? {
        Some(response) => Ok(response.into_done()?),
        None => {
            let store = open_store(loaded)?;
            Ok(control::execute_alone(loaded, store, command, now_ms())?)
        }
    }
}

/// Says so if the site is configured, but was added after the daemon's last reload.
pub(crate) fn reload_first(loaded: &LoadedConfig, error: CommandError) -> CommandError {
    match error {
        CommandError::UnknownSite { site, .. } if loaded.sites.iter().any(|s| s.name == site) => {
            CommandError::SiteNotLoaded { site }
        }
        error => error,
    }
}
