//! Reads settings from the environment, such as `TAOJIN_FETCH_PROXY`, which override the file.
//!
//! [`settings`] lists every setting with its value and [`Origin`].

use toml::Table;

use super::dropped::is_dropped_variable;
use super::schema::{example, extra_keys, line_of, walk};
use super::{Config, LoadedConfig, nearest};

/// What the name of every variable begins with.
const PREFIX: &str = "TAOJIN_";

/// A setting that a variable makes.
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) key: String,
    /// `key = value`.
    pub(super) line: String,
}

/// Who set a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Nobody.
    Default,
    /// The file, on this line.
    File(usize),
    /// A variable of the environment.
    Environment(String),
}

/// The variables that are settings, and what is wrong with the names of others. Those of other programs and of tests, which
/// begin with no name of a section, are left alone.
pub(super) fn variables(
    environment: impl Iterator<Item = (String, String)>,
    defaults: &Table,
) -> (Vec<Variable>, Vec<String>) {
    let known = keys(defaults);
    let names: Vec<String> = known.iter().map(|key| variable(key)).collect();
    let (mut found, mut wrong) = (Vec::new(), Vec::new());
    for (name, value) in environment.filter(|(name, _)| name.starts_with(PREFIX)) {
        if let Some(at) = names.iter().position(|n| *n == name) {
            let key = known[at].clone();
            let line = format!("{key} = {}", written(&key, &value, defaults));
            found.push(Variable { name, key, line });
        } else if is_dropped_variable(&name) {
            // A warning says so.
        } else if defaults
            .iter()
            .any(|(s, v)| v.is_table() && name.starts_with(&format!("{}_", variable(s))))
        {
            let all: Vec<&str> = names.iter().map(String::as_str).collect();
            let near = nearest(&name, &all).map(|n| format!("; did you mean {n}?"));
            wrong.push(format!(
                "{name} in the environment: there is no such setting{}",
                near.unwrap_or_default()
            ));
        }
    }
    (found, wrong)
}

/// The environment of this process, as far as it is text.
pub(super) fn environment() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os().filter_map(|(n, v)| Some((n.into_string().ok()?, v.into_string().ok()?)))
}

/// Every setting with its value, as TOML, and where that comes from; secrets are not shown.
pub fn settings(loaded: &LoadedConfig) -> Vec<(String, String, Origin)> {
    let defaults = Table::try_from(Config::default()).unwrap_or_default();
    let text = loaded.file.as_deref().map(std::fs::read_to_string);
    let text = text.and_then(Result::ok).unwrap_or_default();
    let (set, _) = variables(environment(), &defaults);
    let mut all = Vec::new();
    walk(
        "",
        &Table::try_from(&loaded.config).unwrap_or_default(),
        &mut |key, value| {
            let text_of = value.as_str().unwrap_or_default();
            let value = match (key, value.as_array()) {
                ("serve.token", _) if !text_of.is_empty() => "…".to_owned(),
                ("fetch.proxy" | "search.url", _) => {
                    format!("{:?}", without_password(text_of))
                }
                // Topics are tables, which may hold secrets.
                (_, Some(topics)) if key == "follow" => format!("{} topics", topics.len()),
                _ => value.to_string(),
            };
            let variable = set.iter().find(|v| v.key == key).map(|v| v.name.clone());
            let origin = match (variable, line_of(&text, key)) {
                (Some(name), _) => Origin::Environment(name),
                (None, Some(line)) => Origin::File(line),
                (None, None) => Origin::Default,
            };
            all.push((key.to_owned(), value, origin));
        },
    );
    all
}

/// An address as it may be shown.
pub(super) fn without_password(address: &str) -> String {
    match url::Url::parse(address) {
        Ok(mut url) if url.password().is_some() => {
            // Fails only where an address can have none.
            let _ = url.set_password(Some("***"));
            url.to_string()
        }
        _ => address.to_owned(),
    }
}

/// The keys that a variable can set: those with a value by default, and those without.
fn keys(defaults: &Table) -> Vec<String> {
    let mut found = Vec::new();
    walk("", defaults, &mut |key, _| found.push(key.to_owned()));
    found.retain(|key| key != "follow");
    for key in extra_keys() {
        let section = key.split('.').next().unwrap_or_default();
        if key.contains('.') && section != "follow" && defaults.contains_key(section) {
            found.push(key.to_owned());
        }
    }
    found.sort();
    found.dedup();
    found
}

pub(super) fn variable(key: &str) -> String {
    format!("{PREFIX}{}", key.replace('.', "_").to_ascii_uppercase())
}

/// The value of a variable as TOML: a text where the key takes one, otherwise what it is.
fn written(key: &str, value: &str, defaults: &Table) -> String {
    let takes_text = example(key, defaults).is_some_and(|e| e.starts_with('"'));
    let is_toml = !value.contains('\n') && format!("x = {value}").parse::<Table>().is_ok();
    if is_toml && !takes_text {
        value.to_owned()
    } else {
        toml::Value::String(value.to_owned()).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::read::layered;
    use std::path::Path;

    fn read(text: &str, set: &[(&str, &str)]) -> (Config, Vec<String>) {
        let set = set.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned()));
        let (config, problems) = layered(Path::new("taojin.toml"), text, set);
        (config, problems.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn settings_hide_secrets() {
        let (config, problems) = read(
            "[fetch]\nproxy = \"http://me:geheim@proxy:3128\"\n[serve]\ntoken = \"12345678901234567890\"\n",
            &[],
        );
        assert_eq!(problems, Vec::<String>::new());
        let loaded = LoadedConfig {
            file: None,
            config,
            sites: Vec::new(),
        };
        let shown = format!("{:?}", settings(&loaded));
        assert!(shown.contains("http://me:***@proxy:3128/"), "{shown}");
        assert!(
            !shown.contains("geheim") && !shown.contains("1234567"),
            "{shown}"
        );
    }

    #[test]
    fn environment_overrides_file() {
        let text = "[frontier]\nmin_delay_ms = 5000\njitter = 0.2\n";
        let set = [
            ("TAOJIN_FRONTIER_MIN_DELAY_MS", "2s"),
            ("TAOJIN_SERVE_TOKEN", "12345678901234567890"),
            ("TAOJIN_FETCH_PROXY", "http://127.0.0.1:3128"),
            ("TAOJIN_FETCH_ALLOW_ADDRESSES", "[\"10.0.0.0/8\"]"),
            ("TAOJIN_CORPUS", "not ours"),
            ("PATH", "/bin"),
        ];
        let (config, problems) = read(text, &set);
        assert_eq!(problems, Vec::<String>::new());
        assert_eq!(config.frontier.min_delay_ms, 2_000);
        assert_eq!(config.frontier.jitter, 0.2);
        assert_eq!(config.serve.token.reveal(), "12345678901234567890");
        assert!(config.fetch.proxy.is_some());
        assert_eq!(config.fetch.allow_addresses.len(), 1);
        for (name, value, wanted) in [
            (
                "TAOJIN_CRAWL_MAX_CONECTIONS",
                "3",
                "did you mean TAOJIN_CRAWL_MAX_CONNECTIONS?",
            ),
            (
                "TAOJIN_CRAWL_MAX_CONNECTIONS",
                "many",
                "TAOJIN_CRAWL_MAX_CONNECTIONS in the environment: crawl.max_connections = \"many\": write a whole number",
            ),
            (
                "TAOJIN_CRAWL_MAX_CONNECTIONS",
                "0",
                "TAOJIN_CRAWL_MAX_CONNECTIONS in the environment: crawl.max_connections = 0: use a number from 1 to 10000",
            ),
        ] {
            let (_, problems) = read("", &[(name, value)]);
            assert!(
                problems.len() == 1 && problems[0].contains(wanted),
                "{problems:?}"
            );
        }
    }
}
