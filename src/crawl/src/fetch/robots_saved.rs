//! The robots.txt files that are known, kept from one run of the program to the next, so that a restart asks no site
//! again what it said an hour ago. In: a [`RobotsCache`] and a path. Out: a file, or the cache filled from it. A file
//! that is missing, damaged or of another agent costs requests, never a wrong answer.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

use super::robots::Robots;
use super::robots_cache::{Known, RobotsCache, Rules, Slot};
use taojin_uri::CrawlUri;

/// Changes with the form of the file and with what is taken out of a robots.txt.
const FORM: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Saved {
    form: u32,
    agent: String,
    files: Vec<SavedFile>,
}

#[derive(Serialize, Deserialize)]
struct SavedFile {
    url: String,
    fresh_until_ms: i64,
    read_ms: i64,
    etag: Option<String>,
    last_modified: Option<String>,
    robots: Robots,
}

impl RobotsCache {
    /// Writes what is known for the agent of this token; replaces the file at once or not at all.
    pub fn save(&self, path: &Path, agent: &str) -> io::Result<()> {
        let saved = Saved {
            form: FORM,
            agent: agent.to_owned(),
            files: self.saved_files(),
        };
        let fresh = path.with_extension("new");
        let mut file = BufWriter::new(File::create(&fresh)?);
        serde_json::to_writer(&mut file, &saved)?;
        file.flush()?;
        file.into_inner()
            .map_err(io::IntoInnerError::into_error)?
            .sync_all()?;
        fs::rename(&fresh, path)
    }

    /// A cache with what was saved for this agent; empty if there is nothing to be used.
    pub fn open(path: &Path, agent: &str) -> Self {
        let cache = RobotsCache::new();
        let Ok(file) = File::open(path) else {
            return cache;
        };
        match serde_json::from_reader::<_, Saved>(BufReader::new(file)) {
            Ok(saved) if saved.form == FORM && saved.agent == agent => {
                saved.files.into_iter().for_each(|file| cache.put(file));
            }
            Ok(_) => tracing::info!(
                "saved robots.txt files are of another version or agent, asked for again"
            ),
            Err(error) => {
                tracing::warn!(%error, path = %path.display(), "saved robots.txt files cannot be read, asked for again");
            }
        }
        cache
    }

    fn saved_files(&self) -> Vec<SavedFile> {
        let slots = self.locked();
        let mut files = Vec::new();
        for (url, slot) in &slots.by_file {
            // One that is being asked for right now is asked for again after the restart.
            let Ok(known) = slot.known.try_lock() else {
                continue;
            };
            let Some(rules) = &known.rules else { continue };
            files.push(SavedFile {
                url: url.clone(),
                fresh_until_ms: known.fresh_until_ms,
                read_ms: rules.read_ms,
                etag: rules.etag.clone(),
                last_modified: rules.last_modified.clone(),
                robots: rules.robots.clone(),
            });
        }
        files
    }

    fn put(&self, file: SavedFile) {
        let Ok(uri) = CrawlUri::parse(&file.url) else {
            return;
        };
        let known = Known {
            rules: Some(Rules {
                sitemaps: file.robots.sitemaps(&uri).into(),
                robots: file.robots,
                etag: file.etag,
                last_modified: file.last_modified,
                read_ms: file.read_ms,
            }),
            fresh_until_ms: file.fresh_until_ms,
            ..Known::default()
        };
        let bytes = known.heap_bytes();
        let mut slots = self.locked();
        slots.bytes += bytes;
        let slot = Slot {
            known: Arc::new(Mutex::new(known)),
            bytes,
            used_ms: file.read_ms,
        };
        slots.by_file.insert(file.url, slot);
    }
}
