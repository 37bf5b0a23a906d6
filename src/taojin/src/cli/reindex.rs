//! `taojin reindex`: rebuilds the search index from the documents in the store.

use std::process::ExitCode;

use super::context::Context;
use super::output;
use crate::daemon::control::{self, Answer, Request};
use crate::daemon::index::{Progress, make_anew};
use crate::daemon::open_store;
use crate::documents::open_index;
use taojin_crawl::store::{Reader, StoreError};
use taojin_search::analyze::Analyzer;

/// Arguments of `reindex`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// One JSON object with the count
    #[arg(long)]
    json: bool,
}

/// Rebuilds the index, by the daemon if one runs. The old one is searched meanwhile.
pub(crate) fn run(context: &Context, args: &Args) -> anyhow::Result<ExitCode> {
    let loaded = context.load()?;
    let bar = super::eval::progress_bar(0, "changes");
    let show = |at: Progress| {
        bar.set_length(at.last);
        bar.set_position(at.seq);
    };
    loaded.refuse_without_index()?;
    let asked = control::ask(&loaded.config.data_dir, &Request::Reindex, |answer| {
        if let Answer::Reindexing(at) = answer {
            show(*at);
        }
    })?;
    let documents = match asked {
        Some(answer) => {
            answer.into_done()?;
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
            make_anew(&loaded, show)?
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
