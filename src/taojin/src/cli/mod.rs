//! The command line. In: arguments. Out: results on stdout, progress and logs on stderr, exit code 0 (done),
//! 1 (failed) or 2 (usage or configuration). Each sub-command has a file of its own; none holds an algorithm.

mod backup;
mod changes;
mod cluster;
mod context;
mod control;
mod crawl;
mod demo;
mod docs;
mod eval;
mod export;
mod extract;
mod import;
mod init;
mod inputs;
mod learn;
mod output;
mod probe;
mod run;
mod search;
mod settings;
mod site;
mod status;
mod templates;
mod terms;
mod why;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use crate::config::ConfigError;
use crate::export::MarkError;
use crate::serve::{BindError, CommandRefused, Why};
use context::{Context, Usage};
use taojin_crawl::fetch::FetchError;
use taojin_crawl::store::StoreError;
use taojin_search::index::IndexError;

/// 淘金 Taojin: crawl the sites of one field, extract what they say, search it.
#[derive(Debug, Parser)]
#[command(version, about, max_term_width = 110, disable_help_subcommand = true)]
struct Cli {
    /// Configuration file [default: /etc/taojin/taojin.toml, else config/taojin.toml]
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Folder of the store, the index and the logs; overrides the configuration
    #[arg(long, global = true, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// More detail in the log (-v debug, -vv trace)
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    verbose: u8,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Crawl, index and search the bundled sample web on loopback
    Demo(demo::Args),
    /// Ask five questions and write a configuration
    Init(init::Args),
    /// Run the daemon: crawl each site on its schedule, index and serve
    Run,
    /// One pass over the due or the named sites, then exit
    Crawl(crawl::Args),
    /// Visit an address or a site now, ahead of its turn
    Visit(control::VisitArgs),
    /// Pause a site: nothing is fetched from it until it is resumed
    Pause(control::SiteArgs),
    /// Resume a paused site
    Resume(control::SiteArgs),
    /// Take down a document, or remove all documents of a site
    Purge(control::PurgeArgs),
    /// Search the index
    Search(search::Args),
    /// Extract documents from files, URLs or standard input
    Extract(extract::Args),
    /// Score the extraction on labelled pages, compare with an earlier run
    Eval(eval::Args),
    /// Add documents, as `extract --json` and `export` write them, to the store
    Import(import::Args),
    /// Write documents, or a query's hits, as JSON lines or Parquet for other programs
    Export(export::Args),
    /// List what changed since then: documents that are new, changed or gone
    Changes(changes::ChangesArgs),
    /// Show what a page said before, and what differs from version to version
    History(changes::HistoryArgs),
    /// Serve the HTTP API and the web page over an existing index, no crawling
    Serve(run::ServeArgs),
    /// Add, list or remove sites
    Site(site::Args),
    /// Say which URLs a robots.txt allows, and by which rule
    Robots(why::RobotsArgs),
    /// Say what the crawler knows of a URL or host: state, delay and its cause, next fetch
    Why(why::Args),
    /// Check the configuration and say when each site is crawled next
    Check(settings::CheckArgs),
    /// Show the settings in force, and where each comes from: default, file or environment
    Config(settings::ConfigArgs),
    /// Show the state of the crawl, the index and the sites
    Status(status::Args),
    /// Manage a crawl shared by several nodes
    Cluster(cluster::Args),
    /// Learn, show and label the templates of sites
    Templates(templates::Args),
    /// Find the terms of the field, review them, keep the lexicon
    Terms(terms::Args),
    /// Rebuild the search index from the documents in the store
    Reindex(backup::ReindexArgs),
    /// Copy the store to a file, also while the daemon runs
    Backup(backup::BackupArgs),
    /// Replace the store with a copy that `backup` made
    Restore(backup::RestoreArgs),
    /// Print a completion script for a shell
    Completions(docs::CompletionsArgs),
    /// Write the manual pages into a folder
    #[command(hide = true)]
    Man(docs::ManArgs),
}

/// Parses the arguments, runs the sub-command and gives the exit code.
pub fn main() -> ExitCode {
    let cli = Cli::parse_from(search::mark_words(
        &Cli::command(),
        std::env::args_os().collect(),
    ));
    output::init_log(cli.verbose, matches!(cli.command, Command::Run));
    let context = Context {
        config: cli.config,
        data_dir: cli.data_dir,
    };
    let is_service = matches!(cli.command, Command::Run);
    match dispatch(&context, cli.command) {
        Ok(code) => code,
        Err(error) => {
            output::error(&one_line(&error));
            let is_mistake = is_usage(&error) && !(is_service && may_pass(&error));
            ExitCode::from(if is_mistake { 2 } else { 1 })
        }
    }
}

/// Whether the cause may be gone when the service is started the next time: another process holds what it needs, or the
/// file system refuses. systemd does not start a service again that ended with 2.
fn may_pass(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        matches!(
            cause.downcast_ref(),
            Some(
                StoreError::Locked { .. } | StoreError::Io { .. } | StoreError::Unreachable { .. }
            )
        ) || cause.is::<BindError>()
            || cause.downcast_ref().is_some_and(IndexError::is_transient)
    })
}

fn dispatch(context: &Context, command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Demo(args) => demo::run(context, &args),
        Command::Init(args) => init::run(context, &args),
        Command::Run => run::run(context),
        Command::Crawl(args) => crawl::run(context, &args),
        Command::Visit(args) => control::visit(context, &args),
        Command::Pause(args) => control::pause(context, &args),
        Command::Resume(args) => control::resume(context, &args),
        Command::Purge(args) => control::purge(context, &args),
        Command::Search(args) => search::run(context, &args),
        Command::Extract(args) => extract::run(context, &args),
        Command::Eval(args) => eval::run(context, &args),
        Command::Import(args) => import::run(context, &args),
        Command::Export(args) => export::run(context, &args),
        Command::Changes(args) => changes::changes(context, &args),
        Command::History(args) => changes::history(context, &args),
        Command::Serve(args) => run::serve(context, &args),
        Command::Site(args) => site::run(context, &args),
        Command::Robots(args) => why::robots(context, &args),
        Command::Why(args) => why::run(context, &args),
        Command::Check(args) => settings::check(context, &args),
        Command::Config(args) => settings::show_config(context, &args),
        Command::Status(args) => status::run(context, &args),
        Command::Cluster(args) => cluster::run(context, &args),
        Command::Templates(args) => templates::run(context, &args),
        Command::Terms(args) => terms::run(context, &args),
        Command::Reindex(args) => backup::reindex(context, &args),
        Command::Backup(args) => backup::back_up(context, &args),
        Command::Restore(args) => backup::restore(context, &args),
        Command::Completions(args) => docs::completions(&args),
        Command::Man(args) => docs::man(&args),
    }
}

/// Mistakes of the caller, of the configuration and of the place (data folder in use, port taken, index of another
/// version) exit with 2: trying again changes nothing.
fn is_usage(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let store = cause.downcast_ref::<StoreError>();
        let index = cause.downcast_ref::<IndexError>();
        store.is_some_and(|e| !e.is_of_operation())
            || index.is_some_and(|e| {
                !matches!(e, IndexError::Failed { .. } | IndexError::Remote { .. })
            })
            || cause.is::<Usage>()
            || cause.is::<ConfigError>()
            || cause.is::<BindError>()
            || cause.is::<FetchError>()
            || cause
                .downcast_ref::<CommandRefused>()
                .is_some_and(|e| matches!(e.why, Why::NoSuchSite | Why::Mistake))
            || matches!(
                cause.downcast_ref(),
                Some(MarkError::Other(_) | MarkError::Foreign { .. })
            )
    })
}

fn one_line(error: &anyhow::Error) -> String {
    let mut parts: Vec<String> = Vec::new();
    for cause in error.chain().map(ToString::to_string) {
        if !parts.iter().any(|p| p.contains(&cause)) {
            parts.push(cause);
        }
    }
    let line = parts
        .join(": ")
        .lines()
        .map(str::trim)
        .collect::<Vec<_>>()
        .join(" ");
    line.replace(SYSTEM_DENIES, DENIED)
}

/// What the system says of a file that belongs to somebody else, and what a person can do about it.
const SYSTEM_DENIES: &str = "Permission denied (os error 13)";
const DENIED: &str = "permission denied; for the service's data use sudo, or to read it join its group (adduser NAME taojin); \
                      --data-dir names another folder";
