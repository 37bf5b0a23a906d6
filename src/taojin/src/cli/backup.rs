//! `taojin backup` and `taojin restore`: a copy of the store in one file, and back. The store is all that has to be kept:
//! the search index is made from it. Settings and lexicons are files of the operator's own.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::context::{Context, Usage};
use super::output;
use taojin_crawl::store::{self, BackupFacts, CopyProgress, Reader, Salvaged, StoreError};

/// Arguments of `backup`.
#[derive(Debug, clap::Args)]
pub(crate) struct BackupArgs {
    /// The file to write
    file: PathBuf,
    /// Replace the file if it is there
    #[arg(long)]
    replace: bool,
    /// One JSON object with what the copy holds
    #[arg(long)]
    json: bool,
}

/// Arguments of `restore`.
#[derive(Debug, clap::Args)]
pub(crate) struct RestoreArgs {
    /// A file that `taojin backup` wrote
    file: PathBuf,
    /// Replace the store that is there; it is kept as crawl.sqlite.replaced
    #[arg(long)]
    replace: bool,
    /// FILE is a damaged store: take what can still be read of it; the rest is crawled again
    #[arg(long)]
    damaged: bool,
    /// One JSON object with what was restored
    #[arg(long)]
    json: bool,
}

/// Copies the store, with what the daemon has made durable up to now.
pub(crate) fn back_up(context: &Context, args: &BackupArgs) -> anyhow::Result<ExitCode> {
    let loaded = context.load()?;
    let file = &args.file;
    if file.exists() && !args.replace {
        return Err(Usage(format!(
            "{} is there already: name another file, or add --replace",
            file.display()
        ))
        .into());
    }
    let reader = Reader::open(loaded.store_place())?;
    let bar = super::eval::progress_bar(0, "pages");
    let facts = reader.back_up(file, |at| show(&bar, at))?;
    bar.finish_and_clear();
    if args.json {
        output::json(&as_json(file, &facts))?;
    } else {
        output::line(&format!("{} holds {}", file.display(), in_words(&facts)));
    }
    Ok(ExitCode::SUCCESS)
}

/// Puts a copy in the place of the store. No daemon may run.
pub(crate) fn restore(context: &Context, args: &RestoreArgs) -> anyhow::Result<ExitCode> {
    let loaded = context.load()?;
    if loaded.store_place().is_postgres() {
        return Err(Usage(
            "[store] url names a PostgreSQL database: restore it with PostgreSQL's own means, such as pg_restore".to_owned(),
        )
        .into());
    }
    let (dir, file) = (&loaded.config.data_dir, &args.file);
    if !args.damaged {
        store::check_backup(file).map_err(|error| match error {
            StoreError::Damaged { path, detail } => anyhow::Error::from(Usage(format!(
                "{} is not a whole copy of a store ({detail}): restore another one",
                path.display()
            ))),
            StoreError::Io { path, source } => anyhow::Error::from(Usage(format!(
                "{}: cannot be read ({source}): name a file that `taojin backup` wrote",
                path.display()
            ))),
            error => error.into(),
        })?;
    }
    let has_store = !matches!(Reader::open(dir), Err(StoreError::Missing { .. }));
    if has_store && !args.replace {
        return Err(Usage(format!(
            "{} has a store already: add --replace to put another in its place (it is kept as crawl.sqlite.replaced), \
             or name another folder with --data-dir",
            dir.display()
        ))
        .into());
    }
    let bar = super::eval::progress_bar(0, "pages");
    let (kept, salvaged) = match args.damaged {
        true => {
            let (kept, salvaged) = restore_damaged(dir, file)?;
            (kept, Some(salvaged))
        }
        false => (store::restore(dir, file, |at| show(&bar, at))?, None),
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
    output::line(&format!("restored: {}", in_words(&facts)));
    if let Some(salvaged) = salvaged.filter(|s| s.gaps > 0) {
        output::line(&format!(
            "rows were missing in {} places; what was lost there is crawled again as far as it is known or found",
            salvaged.gaps
        ));
    }
    if let Some(kept) = kept {
        output::line(&format!(
            "the store that was there is kept as {}",
            kept.display()
        ));
    }
    output::line(&format!(
        "the next start of the daemon rebuilds the search index; to do it now: {}",
        context.command("reindex")
    ));
    Ok(ExitCode::SUCCESS)
}

fn restore_damaged(dir: &Path, file: &Path) -> anyhow::Result<(Option<PathBuf>, Salvaged)> {
    store::restore_damaged(dir, file).map_err(|error| match error {
        StoreError::Damaged { path, detail } if path == file => {
            anyhow::Error::from(Usage(format!(
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

fn in_words(facts: &BackupFacts) -> String {
    format!(
        "{} documents and {} addresses, up to change {} ({:.1} MB)",
        facts.documents,
        facts.urls,
        facts.last_change,
        facts.bytes as f64 / 1e6
    )
}
