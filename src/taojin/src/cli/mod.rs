//! The command line.
//!
//! Results go to stdout, progress and logs to stderr; the exit code is 0 (done), 1 (failed), 2 (usage or configuration) or 3
//! (documents wait for the index).
//! Each sub-command has a file of its own; none holds an algorithm.

mod arguments;
mod attachment;
mod backup;
mod catalog;
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
mod gate;
mod import;
mod init;
mod inputs;
mod learn;
mod output;
mod printable;
mod probe;
mod run;
mod search;
mod settings;
mod site;
mod status;
mod templates;
mod terms;
mod why;

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use crate::config::ConfigError;
use crate::daemon::index::DocumentsWait;
use crate::export::MarkError;
use crate::serve::{BindError, CommandError};
use context::{Context, UsageError};
use taojin_crawl::fetch::FetchError;
use taojin_crawl::store::StoreError;
use taojin_search::index::IndexError;

/// 淘金 Taojin: crawl the sites of one field, extract what they say, search it.
#[derive(Debug, Parser)]
#[command(version, about, max_term_width = 110)]
struct Cli {
    /// Configuration file [default: /etc/taojin/taojin.toml, else config/taojin.toml]
    ///
    /// Without any of these, every setting has its default. Variables such as TAOJIN_FETCH_PROXY go before the file;
    /// `taojin config` shows what is in force.
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Folder of the store, the index and the logs; overrides the configuration
    ///
    /// The same as `data_dir` there. Each folder is a crawl of its own; one process at a time may write to it.
    #[arg(long, global = true, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// More detail in the log (-v debug, -vv trace)
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    verbose: u8,
    #[command(subcommand)]
    command: Command,
}

/// The commands: what `--help` says of each, its arguments, and what runs it.
macro_rules! commands {
    ($($(#[$about:meta])* $name:ident($args:ty) => $run:path,)*) => {
        #[derive(Debug, Subcommand)]
        enum Command {
            $($(#[$about])* $name($args),)*
        }

        fn dispatch(context: &Context, command: Command) -> anyhow::Result<ExitCode> {
            match command {
                $(Command::$name(args) => $run(context, &args),)*
            }
        }
    };
}

commands! {
    /// Crawl, index and search the bundled sample web on loopback
    Demo(demo::Args) => demo::run,
    /// Ask five questions and write a configuration
    Init(init::Args) => init::run,
    /// Run the daemon: crawl each site on its schedule, index and serve
    Run(run::Args) => run::run,
    /// One pass over the due or the named sites, then exit
    Crawl(crawl::Args) => crawl::run,
    /// Visit an address or a site now, ahead of its turn
    Visit(control::VisitArgs) => control::visit,
    /// Pause a site: nothing is fetched from it until it is resumed
    Pause(control::SiteArgs) => control::pause,
    /// Resume a paused site
    Resume(control::SiteArgs) => control::resume,
    /// Take down a document, or remove all documents of a site
    Purge(control::PurgeArgs) => control::purge,
    /// Search the index
    Search(search::Args) => search::run,
    /// Extract documents from files, URLs or standard input
    Extract(extract::Args) => extract::run,
    /// Score the extraction on labelled pages, compare with an earlier run
    Eval(eval::Args) => eval::run,
    /// Add documents, as `extract --json` and `export` write them, to the store
    Import(import::Args) => import::run,
    /// Write documents, or a query's hits, as JSON lines, XML or Parquet for other programs
    Export(export::Args) => export::run,
    /// List what changed since then: documents that are new, changed or gone
    Changes(changes::ChangesArgs) => changes::changes,
    /// Show what a page said before, and what differs from version to version
    History(changes::HistoryArgs) => changes::history,
    /// Serve the HTTP API and the web page over an existing index, no crawling
    Serve(run::ServeArgs) => run::serve,
    /// Add, list or remove sites
    Site(site::Args) => site::run,
    /// Say which URLs a robots.txt allows, and by which rule
    Robots(why::RobotsArgs) => why::robots,
    /// Say what the crawler knows of a URL or host: state, delay and its cause, next fetch
    Why(why::Args) => why::run,
    /// Check the configuration and say when each site is crawled next
    Check(settings::CheckArgs) => settings::check,
    /// Show the settings in force, and where each comes from: default, file or environment
    Config(settings::ConfigArgs) => settings::show_config,
    /// Show the state of the crawl, the index and the sites
    Status(status::Args) => status::run,
    /// Manage a crawl shared by several nodes
    Cluster(cluster::Args) => cluster::run,
    /// Learn, show and label the templates of sites
    Templates(templates::Args) => templates::run,
    /// Find the terms of the field, review them, keep the lexicon
    Terms(terms::Args) => terms::run,
    /// Rebuild the search index from the documents in the store
    Reindex(backup::ReindexArgs) => backup::reindex,
    /// Copy the store to a file, also while the daemon runs
    Backup(backup::BackupArgs) => backup::back_up,
    /// Replace the store with a copy that `backup` made
    Restore(backup::RestoreArgs) => backup::restore,
    /// Print a completion script for a shell
    Completions(docs::CompletionsArgs) => docs::completions,
    /// Write the manual pages into a folder
    #[command(hide = true)]
    Man(docs::ManArgs) => docs::man,
}

/// Exit code of a command whose documents are in the store and could not be taken into the index.
const DOCUMENTS_WAIT: u8 = 3;

/// Parses the arguments, runs the sub-command and gives the exit code.
pub fn main() -> ExitCode {
    let words = search::mark_words(&Cli::command(), std::env::args_os().collect());
    let cli = Cli::try_parse_from(words).unwrap_or_else(|error| arguments::exit(&error));
    let is_service = matches!(cli.command, Command::Run(_));
    output::init_log(cli.verbose, is_service);
    let context = Context {
        config: cli.config,
        data_dir: cli.data_dir,
    };
    match dispatch(&context, cli.command) {
        Ok(code) => code,
        Err(error) => {
            let line = one_line(&error);
            if is_service && !std::io::stderr().is_terminal() {
                output::error_as_is(&line);
            } else {
                output::error(&line);
            }
            let is_mistake = is_usage(&error) && !(is_service && may_pass(&error));
            ExitCode::from(if error.downcast_ref::<DocumentsWait>().is_some() {
                DOCUMENTS_WAIT
            } else if is_mistake {
                2
            } else {
                1
            })
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
            || cause.is::<UsageError>()
            || cause.is::<ConfigError>()
            || cause.is::<BindError>()
            || cause.is::<FetchError>()
            || cause
                .downcast_ref::<CommandError>()
                .is_some_and(CommandError::is_mistake)
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
