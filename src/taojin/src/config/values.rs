//! Checks values beyond their types, and whether the machine has what a crawl needs.
//!
//! Every value that cannot be used is reported as `key = value: what to write`, one line for each key. Nothing is left behind
//! on disk.

use std::path::Path;

use toml::Table;

use super::files::read_term_patterns;
use super::origins::without_password;
use super::read::key_of;
use super::schema::{allowed, example, unusable};
use super::{Config, ConfigProblem, LoadedConfig, SYSTEM_CONFIG, SearchConfig};
use crate::serve;
use taojin_crawl::schedule::Site;
use taojin_crawl::scope::{Refusal, Scope, pattern_problem};
use taojin_uri::CrawlUri;

/// What is wrong with the values of `taojin.toml`.
pub(super) fn of_config(config: &Config, defaults: &Table) -> Vec<String> {
    let mut found = out_of_limits(config, defaults);
    found.extend(pairs(config));
    let section = |name: &'static str, problems: Vec<String>| {
        problems
            .into_iter()
            .map(move |problem| format!("{name}.{problem}"))
    };
    found.extend(section("fetch", config.fetch.problems()));
    found.extend(section("serve", config.serve.problems()));
    found.extend(section(
        "terms",
        config.terms.problem().into_iter().collect(),
    ));
    found.extend(section("follow", serve::Follow::problems(&config.follow)));
    one_a_key(found)
}

/// What is wrong with the values of a site's file.
pub(super) fn of_site(site: &Site, defaults: &Table) -> Vec<String> {
    let mut found = out_of_limits(site, defaults);
    found.extend(site.check().err().map(|e| e.to_string()));
    for (key, patterns) in [
        ("scope.include", &site.scope.include),
        ("scope.exclude", &site.scope.exclude),
        ("scope.documents", &site.scope.documents),
    ] {
        for pattern in patterns {
            if let Some(reason) = pattern_problem(pattern) {
                found.push(format!(
                    "{key} = {pattern:?}: {reason}; write for example \"/news/\", \"/news/*/list\" or '~^/\\d{{4}}/'"
                ));
            }
        }
    }
    if found.is_empty() {
        found.extend(outside(site));
    }
    one_a_key(found)
}

/// Entries that the site's own scope refuses: they would never be fetched, and nobody would hear why.
fn outside(site: &Site) -> Vec<String> {
    let (Ok(entries), Ok(rules)) = (site.addresses(), Scope::new(site)) else {
        return Vec::new();
    };
    let lists = [
        ("seeds", entries.seeds),
        ("feeds", entries.feeds),
        ("sitemaps", entries.sitemaps),
    ];
    let refused = |key: &str, uri: &CrawlUri| {
        let refusal = rules.check(uri, 0, 0, 0).err()?;
        let host = uri.authority();
        Some(match refusal {
            Refusal::Host => format!(
                "{key} = \"{uri}\": {host} is not one of scope.hosts ({}); add it: hosts = [\"{host}\"]",
                site.hosts().join(", ")
            ),
            other => format!(
                "{key} = \"{uri}\": {}; change [scope] or take the address out",
                other.describe()
            ),
        })
    };
    lists
        .iter()
        .flat_map(|(key, uris)| uris.iter().filter_map(|uri| refused(key, uri)))
        .collect()
}

/// Numbers that may not stand there.
fn out_of_limits(settings: &impl serde::Serialize, defaults: &Table) -> Vec<String> {
    // Settings that were read from TOML can be written as TOML.
    let table = Table::try_from(settings).unwrap_or_default();
    let said = |(key, value): (String, String)| {
        let allowed = allowed(&key).unwrap_or_default();
        let example = example(&key, defaults);
        let example = example.map_or(String::new(), |e| format!(", for example {e}"));
        format!("{key} = {value}: {allowed}{example}")
    };
    unusable(&table).into_iter().map(said).collect()
}

/// Values that do not go together.
fn pairs(config: &Config) -> Vec<String> {
    let (f, r, t) = (&config.frontier, &config.revisit, &config.templates);
    let above = [
        (
            ("frontier.min_delay_ms", f.min_delay_ms),
            ("frontier.max_delay_ms", f.max_delay_ms),
        ),
        (
            ("frontier.throttle_backoff_ms", f.throttle_backoff_ms),
            ("frontier.max_backoff_ms", f.max_backoff_ms),
        ),
        (
            ("frontier.connect_backoff_ms", f.connect_backoff_ms),
            ("frontier.max_backoff_ms", f.max_backoff_ms),
        ),
        (("revisit.min_ms", r.min_ms), ("revisit.max_ms", r.max_ms)),
        (
            ("revisit.retry_ms", r.retry_ms),
            ("revisit.max_retry_ms", r.max_retry_ms),
        ),
        (
            ("templates.learn_at", t.learn_at as i64),
            ("templates.max_pending", t.max_pending as i64),
        ),
    ];
    let mut found: Vec<String> = above
        .iter()
        .filter(|((_, low), (_, high))| low > high)
        .map(|((key, low), (other, high))| {
            format!("{key} = {low}: is more than {other} = {high}; make one of them fit the other")
        })
        .collect();
    if let serve::Config { listen, .. } = &config.serve
        && listen.ip().is_multicast()
    {
        found.push(format!(
            "serve.listen = \"{listen}\": nobody can listen there; write for example \"127.0.0.1:8080\""
        ));
    }
    found
}

/// The first of several mistakes of one key: the others follow from it.
fn one_a_key(found: Vec<String>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for problem in found {
        let key = key_of(&problem);
        let many = matches!(
            key,
            "seeds" | "feeds" | "sitemaps" | "scope.include" | "scope.exclude" | "scope.documents"
        ) || key.starts_with("follow.");
        if many || !kept.iter().any(|k| key_of(k) == key) {
            kept.push(problem);
        }
    }
    kept.dedup();
    kept
}

/// Folder that the shipped unit opens to the service.
const STATE_DIR: &str = "/var/lib/taojin";
/// Longest name of an index: engines take 255 bytes, and the program adds some.
const INDEX_NAME_MAX: usize = 200;

impl LoadedConfig {
    /// What the shipped unit needs before the service can write to a data directory of the operator's choice; `None` if it can.
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

    /// What keeps these settings from being used here: lexicons that are not there, a proxy that is none, a data directory
    /// that cannot be made or written.
    pub fn problems(&self) -> Vec<ConfigProblem> {
        let mut found = Vec::new();
        let mut add = |text: String| {
            found.push(ConfigProblem {
                file: self.file.clone(),
                line: None,
                text,
            });
        };
        if let Err(error) = self.config.fetch.ensure_usable() {
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
        // The accepted terms are in the data directory.
        let lexicons = if has_data {
            self.lexicons()
        } else {
            self.given_lexicons()
        };
        let (synonyms, patterns) = (self.synonyms(), read_term_patterns(self));
        for error in [lexicons.err(), synonyms.err(), patterns.err()]
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
    fn files(&self) -> [(&'static str, &Path); 4] {
        [
            ("search.password_file", &self.password_file),
            ("search.ca_file", &self.ca_file),
            (
                "search.client_certificate_file",
                &self.client_certificate_file,
            ),
            ("search.client_key_file", &self.client_key_file),
        ]
    }

    /// The addresses of the machines of the engine.
    pub fn addresses(&self) -> impl Iterator<Item = &str> {
        let addresses = self.url.split(',').map(str::trim);
        addresses.map(|address| address.trim_end_matches('/'))
    }

    /// What is wrong with the engine's address or the name of the index.
    fn problem(&self) -> Option<String> {
        if !self.engine.is_remote() {
            return None;
        }
        let is_address = |address: &str| {
            let url = url::Url::parse(address).ok();
            let url = url.filter(|url| matches!(url.scheme(), "http" | "https"));
            url.is_some_and(|url| url.host_str().is_some() && url.username().is_empty())
        };
        if let Some(wrong) = self.addresses().find(|address| !is_address(address)) {
            return Some(format!(
                "search.url = \"{}\": with search.engine = \"opensearch\" it is the engine's address, for example \
                 https://search1.example.org:9200; a user goes into search.user, a password into search.password_file",
                without_password(wrong)
            ));
        }
        let [certificate, key] = [&self.client_certificate_file, &self.client_key_file];
        if certificate.as_os_str().is_empty() != key.as_os_str().is_empty() {
            return Some(
                "search.client_certificate_file and search.client_key_file go together: set both or neither"
                    .to_owned(),
            );
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

/// Why nothing could be written to a directory, which need not be there yet.
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
    Some(if nearest == dir {
        why
    } else {
        format!("it cannot be made in {}: {why}", nearest.display())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn closed_data_dir_named() {
        let loaded = |file: &str, data: &str| LoadedConfig {
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
    fn engine_mistakes_hide_password() {
        let said = |text: &str| -> String {
            let search = toml::from_str(&format!("engine = \"opensearch\"\n{text}"));
            let folder = tempfile::tempdir().expect("a folder");
            let loaded = LoadedConfig {
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
        let several = "url = \"https://search1:9200, https://search2:9200\"\n";
        assert_eq!(said(several), "");
        let one_wrong = said("url = \"https://search1:9200,search2:9200\"");
        assert!(
            one_wrong.contains("search.url = \"search2:9200\""),
            "{one_wrong}"
        );
        let lone = said(&format!("{url}client_key_file = \"taojin.key\""));
        assert!(lone.contains("search.client_certificate_file"), "{lone}");
    }
}
