//! `taojin cluster import` and `export`: a single machine moves into the database, or out of it.

use std::path::Path;
use std::process::ExitCode;

use crate::cli::{eval, output};
use taojin_crawl::store::{self, CopyProgress, MovedRows, StoreError, StorePlace};

pub(super) fn import(dir: &Path, place: &StorePlace, json: bool) -> anyhow::Result<ExitCode> {
    let moved = with_bar(|each| store::import(dir, place, each))?;
    output::answer(json, &moved, |moved| {
        output::line(&format!("moved into the database: {}", in_words(moved)));
        output::line(&format!(
            "{} stays as it is and is not used any more; start every node with the same [store] url, sites and lexicons",
            dir.join("crawl.sqlite").display()
        ));
    })
}

pub(super) fn export(place: &StorePlace, dir: &Path, json: bool) -> anyhow::Result<ExitCode> {
    let moved = with_bar(|each| store::export(place, dir, each))?;
    output::answer(json, &moved, |moved| {
        output::line(&format!("moved to {}: {}", dir.display(), in_words(moved)));
        output::line(
            "the database stays as it is; take [store] url out of the configuration before you start taojin",
        );
    })
}

fn with_bar(
    copy: impl FnOnce(&mut dyn FnMut(CopyProgress)) -> Result<MovedRows, StoreError>,
) -> Result<MovedRows, StoreError> {
    let bar = eval::progress_bar(0, "rows");
    let copied = copy(&mut |at| {
        bar.set_length(at.all);
        bar.set_position(at.done);
    });
    bar.finish_and_clear();
    copied
}

fn in_words(moved: &MovedRows) -> String {
    format!(
        "{} addresses of {} hosts, {} versions of documents, {} sites, {} templates, {} followed topics, {} takedowns",
        moved.of("url"),
        moved.of("host"),
        moved.of("document"),
        moved.of("site"),
        moved.of("template"),
        moved.of("follow"),
        moved.of("takedown"),
    )
}
