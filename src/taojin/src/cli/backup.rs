//! `taojin backup`, `restore` and `reindex`: a copy of the store in one file, and back; and the search index made again from
//! the store. The copy also carries the accepted terms; settings and other lexicons are files of the operator's own.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use askama::Template;

use super::context::{Context, UsageError, bail_usage};
use super::output;
use crate::daemon::control::{self, Response};
use crate::daemon::index::{RebuildProgress, rebuild_index};
use crate::daemon::open_store;
use crate::documents::open_index;
use crate::serve::Command;
use taojin_crawl::store::{
    self, BackupFacts, CopyProgress, KeptFile, Reader, Salvaged, StoreError,
};
use taojin_search::analyze::Analyzer;

/// Arguments of `backup`.
#[derive(Debug, clap::Args)]
pub(crate) struct BackupArgs {
    /// The file to write
    file: PathBuf,
    /// Replace the file if it is there
    ///
    /// Without it, a file of that name is a mistake and stays as it is. The copy is written next to it and takes its place
    /// once it is complete.
    #[arg(long)]
    replace: bool,
    /// One JSON object with what the copy holds
    ///
    /// Its keys are `file`, `documents`, `urls`, `last_change` and `bytes`.
    #[arg(long)]
    json: bool,
}

/// Arguments of `restore`.
#[derive(Debug, clap::Args)]
pub(crate) struct RestoreArgs {
    /// A file that `taojin backup` wrote
    file: PathBuf,
    /// Replace the store that is there; it is kept as crawl.sqlite.replaced
    ///
    /// Without it, a data folder that has a store is a mistake. No daemon may run on the folder.
    #[arg(long)]
    replace: bool,
    /// Take what can still be read of FILE, a damaged store
    ///
    /// Without it, FILE must be a complete copy. What cannot be read is crawled again; the number of gaps is reported.
    #[arg(long)]
    damaged: bool,
    /// One JSON object with what was restored
    ///
    /// Besides the keys of `taojin backup --json` it has `replaced`, the file that the earlier store was kept in, and with
    /// --damaged `gaps`.
    #[arg(long)]
    json: bool,
}

/// Copies the store, with what the daemon has made durable up to now.
pub(crate) fn back_up(context: &Context, args: &BackupArgs) -> anyhow::Result<ExitCode> {
    let loaded = context.load()?;
    let file = &args.file;
    if file.exists() && !args.replace {
        bail_usage!(
            "{} is there already: name another file, or add --replace",
            file.display()
        );
    }
    let reader = Reader::open(loaded.store_place())?;
    let bar = output::progress_bar(0, "pages");
    let facts = store::back_up(
        &reader,
        file,
        &[accepted_terms(&loaded.accepted_terms())],
        |at| show(&bar, at),
    )?;
    bar.finish_and_clear();
    if args.json {
        output::json(&as_json(file, &facts))?;
    } else {
        output::line(&format!("{} holds {}", file.display(), describe(&facts)));
    }
    Ok(ExitCode::SUCCESS)
}

/// Puts a copy in the place of the store. No daemon may run.
pub(crate) fn restore(context: &Context, args: &RestoreArgs) -> anyhow::Result<ExitCode> {
    let loaded = context.load()?;
    if loaded.store_place().is_postgres() {
        bail_usage!(
            "[store] url names a PostgreSQL database: restore it with PostgreSQL's own means, such as pg_restore"
        );
    }
    let (dir, file) = (&loaded.config.data_dir, &args.file);
    if !args.damaged {
        store::check_backup(file).map_err(|error| match error {
            StoreError::Damaged { path, detail } => anyhow::Error::from(UsageError(format!(
                "{} is not a whole copy of a store ({detail}): restore another one",
                path.display()
            ))),
            StoreError::Io { path, source } => anyhow::Error::from(UsageError(format!(
                "{}: cannot be read ({source}): name a file that `taojin backup` wrote",
                path.display()
            ))),
            error => error.into(),
        })?;
    }
    let has_store = !matches!(Reader::open(dir), Err(StoreError::Missing { .. }));
    if has_store && !args.replace {
        bail_usage!(
            "{} has a store already: add --replace to put another in its place (it is kept as crawl.sqlite.replaced), \
             or name another folder with --data-dir",
            dir.display()
        );
    }
    let bar = output::progress_bar(0, "pages");
    let (kept, salvaged) = if args.damaged {
        let (kept, salvaged) = restore_damaged(dir, file)?;
        (kept, Some(salvaged))
    } else {
        let accepted = loaded.accepted_terms();
        let kept = [accepted_terms(&accepted)];
        (store::restore(dir, file, &kept, |at| show(&bar, at))?, None)
    };
    bar.finish_and_clear();
    let facts = store::check_backup(Reader::open(dir)?.path())?;
    if args.json {
        let mut json = as_json(file, &facts);
        json["replaced"] = kept.map(|path| path.display().to_string()).into();
        if let Some(salvaged) = salvaged {
            json["gaps"] = salvaged.gaps.into();
        }
        output::json(&json)?;
        return Ok(ExitCode::SUCCESS);
    }
    output::text(&RestoredText {
        facts: describe(&facts),
        gaps: salvaged.map_or(0, |s| s.gaps),
        kept,
        reindex: context.command("reindex"),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The file of accepted terms, as a backup carries it.
fn accepted_terms(path: &Path) -> KeptFile<'_> {
    KeptFile {
        name: "terms.txt",
        path,
    }
}

/// What was restored, for a person.
#[derive(Template)]
#[template(path = "restored.txt")]
struct RestoredText {
    facts: String,
    gaps: u64,
    /// Where the store is that was there.
    kept: Option<PathBuf>,
    reindex: String,
}

fn restore_damaged(dir: &Path, file: &Path) -> anyhow::Result<(Option<PathBuf>, Salvaged)> {
    store::restore_damaged(dir, file).map_err(|error| match error {
        StoreError::Damaged { path, detail } if path == file => {
            anyhow::Error::from(UsageError(format!(
                "{}: nothing can be read of it ({detail}): restore a backup",
                path.display()
            )))
        }
        error => error.into(),
    })
}

fn show(bar: &indicatif::ProgressBar, at: CopyProgress) {
    bar.set_length(at.all);
    bar.set_position(at.done);
}

fn as_json(file: &Path, facts: &BackupFacts) -> serde_json::Value {
    serde_json::json!({
        "file": file.display().to_string(),
        "documents": facts.documents,
        "urls": facts.urls,
        "last_change": facts.last_change,
        "bytes": facts.bytes,
    })
}

fn describe(facts: &BackupFacts) -> String {
    format!(
        "{} documents and {} addresses, up to change {} ({:.1} MB)",
        facts.documents,
        facts.urls,
        facts.last_change,
        facts.bytes as f64 / 1e6
    )
}

/// Arguments of `reindex`.
#[derive(Debug, clap::Args)]
pub(crate) struct ReindexArgs {
    /// Also where the index was made from another store
    ///
    /// For an index in OpenSearch whose store is no more, for example after a backup was restored on a new machine. Never where that
    /// store is still in use: its searches would lose their documents.
    #[arg(long)]
    take_over: bool,
    /// One JSON object with the count
    ///
    /// Its key is `documents`, the number of documents in the new index.
    #[arg(long)]
    json: bool,
}

/// Rebuilds the index, by the daemon if one runs. The old one is searched meanwhile.
pub(crate) fn reindex(context: &Context, args: &ReindexArgs) -> anyhow::Result<ExitCode> {
    let loaded = context.load()?;
    let bar = output::progress_bar(0, "changes");
    let show = |at: RebuildProgress| {
        bar.set_length(at.last);
        bar.set_position(at.seq);
    };
    loaded.refuse_without_index()?;
    let data_dir = &loaded.config.data_dir;
    let command = if args.take_over {
        Command::TakeOverIndex
    } else {
        Command::Reindex
    };
    let response = control::send_command(data_dir, &command, |response| {
        if let Response::Reindexing(at) = response {
            show(*at);
        }
    })?;
    let documents = match response {
        Some(response) => {
            response.into_done()?;
            open_index(&loaded, &Analyzer::new(&[]))?.num_docs()?
        }
        None => {
            // Where nothing was crawled yet there is nothing to make an index of.
            if let Err(error @ StoreError::Missing { .. }) = Reader::open(loaded.store_place())
                && !loaded.index_dir().exists()
            {
                return Err(error.into());
            }
            let _store = open_store(&loaded)?;
            rebuild_index(&loaded, args.take_over, show)?
        }
    };
    bar.finish_and_clear();
    if args.json {
        output::json(&serde_json::json!({ "documents": documents }))?;
    } else {
        output::line(&format!("the new index is in place: {documents} documents"));
    }
    Ok(ExitCode::SUCCESS)
}
