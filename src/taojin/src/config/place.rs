//! Whether the machine has what a crawl needs. In: settings. Out: every lack, with the key that it belongs to. Leaves
//! nothing behind.

use std::path::Path;

use super::{Loaded, Problem};
use taojin_crawl::fetch::Fetcher;

impl Loaded {
    /// What keeps these settings from being used here: lexicons that are not there, a proxy that is none, a data folder
    /// that cannot be made or written.
    pub fn problems(&self) -> Vec<Problem> {
        let mut found = Vec::new();
        let mut add = |text: String| {
            found.push(Problem {
                file: self.file.clone(),
                line: None,
                text,
            });
        };
        if let Err(error) = Fetcher::new(self.config.fetch.clone()) {
            add(error.to_string());
        }
        if let Some(error) = self.store_place().problem() {
            add(error.to_string());
        }
        if !self.config.cluster.crawl && !self.store_place().is_postgres() {
            add("cluster.crawl = false: no other machine would crawl, store.url is empty; name the database of the cluster there".to_owned());
        }
        let mut folders = vec![("data_dir", self.config.data_dir.clone())];
        if self.config.warc.enabled {
            folders.push(("warc.dir", self.warc_dir()));
        }
        let mut has_data = true;
        for (key, dir) in folders {
            if let Some(reason) = folder_problem(&dir) {
                has_data &= key != "data_dir";
                add(format!(
                    "{key} = \"{}\": {reason}; choose a folder of your own, for example --data-dir data",
                    dir.display()
                ));
            }
        }
        // The accepted terms are in the data folder.
        let lexicons = match has_data {
            true => self.lexicons(),
            false => self.given_lexicons(),
        };
        for error in [lexicons.err(), self.synonyms().err()]
            .into_iter()
            .flatten()
        {
            add(error.to_string());
        }
        found
    }
}

/// Why nothing could be written to a folder, which need not be there yet.
fn folder_problem(dir: &Path) -> Option<String> {
    let mut ancestors = dir.ancestors().filter(|a| !a.as_os_str().is_empty());
    let nearest = ancestors.find(|a| a.symlink_metadata().is_ok());
    let nearest = nearest.unwrap_or(Path::new("."));
    if !nearest.is_dir() {
        let what = if nearest == dir { "it" } else { "its parent" };
        return Some(format!("{what} is no folder ({})", nearest.display()));
    }
    // A file without a name: gone as soon as it is closed.
    let error = tempfile::tempfile_in(nearest).err()?;
    let why = match error.kind() {
        std::io::ErrorKind::PermissionDenied => "this user may not write there".to_owned(),
        std::io::ErrorKind::ReadOnlyFilesystem => "the file system is read-only".to_owned(),
        // A disk that is full is no mistake of the configuration: the daemon waits for room.
        std::io::ErrorKind::StorageFull => return None,
        _ => error.to_string(),
    };
    Some(match nearest == dir {
        true => why,
        false => format!("it cannot be made in {}: {why}", nearest.display()),
    })
}
