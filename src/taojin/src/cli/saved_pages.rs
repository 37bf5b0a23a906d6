//! Saved pages. In: a folder, HTML, WARC or ARC files. Out: the pages one after the other, with a name each. Never holds
//! more than one.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use super::context::{Named, bail_usage};
use super::output;
use crate::config::Config;
use crate::daemon::{now_ms, pages_of_archive};
use taojin_extract::page::{Hints, Page};

/// Folders within folders that are looked into.
const MAX_DEPTH: usize = 8;

/// A saved page.
pub(super) struct Saved {
    pub(super) name: String,
    pub(super) page: Page,
    pub(super) at_ms: i64,
}

/// The files below a path in order of names: HTML and archives.
pub(super) fn files(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![(path.to_owned(), 0)];
    while let Some((at, depth)) = open.pop() {
        if at.is_dir() {
            let entries = fs::read_dir(&at).named(at.display())?;
            if depth < MAX_DEPTH {
                open.extend(entries.flatten().map(|entry| (entry.path(), depth + 1)));
            }
        } else if depth == 0 || is_html(&at) || is_archive(&at) {
            found.push(at);
        }
    }
    if !path.exists() || found.is_empty() {
        bail_usage!(
            "{}: no saved pages (.html, .htm, .warc, .arc, also .gz)",
            path.display()
        );
    }
    found.sort();
    Ok(found)
}

fn ends(path: &Path, endings: &[&str]) -> bool {
    let name = path.to_string_lossy().to_ascii_lowercase();
    endings.iter().any(|ending| name.ends_with(ending))
}

fn is_html(path: &Path) -> bool {
    ends(path, &[".html", ".htm", ".shtml", ".xhtml"])
}

fn is_archive(path: &Path) -> bool {
    ends(path, &[".warc", ".warc.gz", ".arc", ".arc.gz"])
}

/// Reads the pages of a file.
pub(super) fn pages(
    file: &Path,
    config: &Config,
    mut each: impl FnMut(Saved) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    if is_archive(file) {
        let problem = pages_of_archive(file, config, |page, _, at_ms| {
            let name = page.url.as_ref().map(|u| u.as_str().to_owned());
            each(Saved {
                name: name.unwrap_or_default(),
                page,
                at_ms,
            })
        })?;
        problem.iter().for_each(|p| output::note(p));
        return Ok(());
    }
    let mut bytes = Vec::new();
    let limit = config.page.max_decoded_bytes as u64 + 1;
    let read = File::open(file).and_then(|f| f.take(limit).read_to_end(&mut bytes));
    if let Err(error) = read {
        output::note(&format!("{}: {error}", file.display()));
        return Ok(());
    }
    let hints = Hints {
        limits: config.page.clone(),
        ..Hints::default()
    };
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    each(Saved {
        name: name.into_owned(),
        page: Page::parse(&bytes, hints),
        at_ms: now_ms(),
    })
}
