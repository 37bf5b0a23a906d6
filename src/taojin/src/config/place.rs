//! Whether the machine has what a crawl needs. In: settings. Out: every lack, with the key that it belongs to. Leaves
//! nothing behind.

use std::path::Path;

use super::origins::without_password;
use super::{Loaded, Problem, SYSTEM_CONFIG, SearchConfig};
use taojin_crawl::fetch::Fetcher;

/// Folder that the shipped unit opens to the service.
const STATE_DIR: &str = "/var/lib/taojin";
/// Longest name of an index: engines take 255 bytes, and the program adds some.
const INDEX_NAME_MAX: usize = 200;

impl Loaded {
    /// What the shipped unit needs before the service can write to a data folder of the operator's choice; none where it can.
    pub fn closed_to_the_service(&self) -> Option<String> {
        let data = &self.config.data_dir;
        let is_service = self.file.as_deref() == Some(Path::new(SYSTEM_CONFIG));
        (is_service && !data.starts_with(STATE_DIR)).then(|| {
            let data = data.display();
            format!(
                "data_dir = \"{data}\": the systemd unit lets the service write to {STATE_DIR} only; chown -R taojin: {data}, and add \
                 with systemctl edit taojin: [Service] ReadWritePaths={data}"
            )
        })
    }

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
        let cluster = &self.config.cluster;
        let is_shared = self.store_place().is_postgres();
        if !cluster.crawl && !is_shared {
            add("cluster.crawl = false: no other machine would crawl, store.url is empty; name the database of the cluster there".to_owned());
        }
        if !cluster.serve && !is_shared {
            add("cluster.serve = false: no other machine would serve, store.url is empty; name the database of the cluster there".to_owned());
        }
        if !cluster.crawl && !cluster.serve {
            add("cluster.crawl and cluster.serve are both false: nothing is left to do; remove one of them".to_owned());
        }
        if let Some(problem) = self.config.search.problem() {
            add(problem);
        }
        for (key, file) in self.config.search.files() {
            // Who runs this need not be allowed to read a secret of the service.
            let is_missing = self.placed(file).is_some_and(|file| !file.is_file());
            if is_missing && self.config.search.engine.is_remote() {
                add(format!(
                    "{key} = \"{}\": there is no such file",
                    file.display()
                ));
            }
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

impl SearchConfig {
    /// The files that it names, each with its key.
    fn files(&self) -> [(&'static str, &Path); 2] {
        [
            ("search.password_file", &self.password_file),
            ("search.ca_file", &self.ca_file),
        ]
    }

    /// What is wrong with the engine's address or the name of the index.
    fn problem(&self) -> Option<String> {
        if !self.engine.is_remote() {
            return None;
        }
        let address = url::Url::parse(&self.url).ok();
        let address = address.filter(|url| matches!(url.scheme(), "http" | "https"));
        if address.is_none_or(|url| url.host_str().is_none() || !url.username().is_empty()) {
            return Some(format!(
                "search.url = \"{}\": with search.engine = \"opensearch\" it is the engine's address, for example \
                 https://search1.example.org:9200; a user goes into search.user, a password into search.password_file",
                without_password(&self.url)
            ));
        }
        let fits = |c: char| matches!(c, 'a'..='z' | '0'..='9' | '-' | '_' | '.');
        let named = !self.index.is_empty() && self.index.len() <= INDEX_NAME_MAX;
        if !named || !self.index.chars().all(fits) || self.index.starts_with(['-', '_', '.']) {
            return Some(format!(
                "search.index = \"{}\": small letters, digits and - _ . only, a letter or digit first, at most \
                 {INDEX_NAME_MAX}",
                self.index
            ));
        }
        None
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn a_data_folder_that_the_unit_keeps_closed_is_named() {
        let loaded = |file: &str, data: &str| Loaded {
            file: Some(file.into()),
            config: Config {
                data_dir: data.into(),
                ..Config::default()
            },
            sites: Vec::new(),
        };
        assert_eq!(
            loaded(SYSTEM_CONFIG, "/var/lib/taojin").closed_to_the_service(),
            None
        );
        assert_eq!(
            loaded("config/taojin.toml", "/srv/t").closed_to_the_service(),
            None
        );
        let mend = loaded(SYSTEM_CONFIG, "/srv/t").closed_to_the_service();
        assert!(mend.unwrap_or_default().contains("ReadWritePaths=/srv/t"));
    }

    #[test]
    fn mistakes_of_the_engine_are_named_and_no_password_is_shown() {
        let said = |text: &str| -> String {
            let search = toml::from_str(&format!("engine = \"opensearch\"\n{text}"));
            let folder = tempfile::tempdir().expect("a folder");
            let loaded = Loaded {
                file: Some(folder.path().join("taojin.toml")),
                config: Config {
                    data_dir: folder.path().join("data"),
                    search: search.expect("settings"),
                    ..Config::default()
                },
                sites: Vec::new(),
            };
            let problems = loaded.problems();
            let texts = problems.iter().map(|problem| problem.text.clone());
            texts.collect::<Vec<_>>().join("\n")
        };
        assert!(said("").contains("search.url = \"\""));
        let shown = said("url = \"https://me:geheim@search1:9200\"");
        assert!(
            shown.contains("search.password_file") && !shown.contains("geheim"),
            "{shown}"
        );
        let url = "url = \"https://search1:9200\"\n";
        assert_eq!(said(url), "");
        assert!(said(&format!("{url}index = \"Öl\"")).contains("search.index"));
        assert!(said(&format!("{url}ca_file = \"none.pem\"")).contains("there is no such file"));
    }
}
