//! Reads the configuration files.
//!
//! [`read`] returns the settings and every mistake in them, one line each: file, line, key, value and what to write instead.
//! A file with a mistake does not hide those of the others.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::{fmt, fs};

use toml::{Table, Value};

use super::files::{dir_of, load_weights};
use super::origins::{environment, variables};
use super::schema::{line_of, parse, resolved};
use super::{Config, LOCAL_CONFIG, LoadedConfig, SYSTEM_CONFIG, values};
use taojin_crawl::schedule::Site;

/// Finds and reads the configuration: `explicit` if given, else the system's file, else the checkout's, else
/// the defaults. `data_dir` overrides the file's. Refuses it if there is any mistake in it.
pub fn load(explicit: Option<&Path>, data_dir: Option<&Path>) -> Result<LoadedConfig, ConfigError> {
    let (loaded, problems) = read(explicit, data_dir);
    ConfigError::check(&problems)?;
    Ok(loaded)
}

/// The same, with every mistake that there is; what is wrong counts as left out.
pub fn read(
    explicit: Option<&Path>,
    data_dir: Option<&Path>,
) -> (LoadedConfig, Vec<ConfigProblem>) {
    let file = match explicit {
        Some(path) => Some(path.to_owned()),
        None => [SYSTEM_CONFIG, LOCAL_CONFIG]
            .iter()
            .map(PathBuf::from)
            .find(|p| p.is_file()),
    };
    let (mut config, mut problems) = match &file {
        Some(path) => read_config(path),
        None => layered(Path::new(""), "", environment()),
    };
    if let (Some(path), true) = (&file, config.sites_dir.is_relative()) {
        config.sites_dir = dir_of(Some(path)).join(&config.sites_dir);
    }
    if let Some(path) = &file {
        problems.extend(load_weights(&mut config, path));
    }
    if let Some(dir) = data_dir {
        config.data_dir = dir.to_owned();
    }
    config.index.parallelism.threads = config.search.threads;
    let (sites, of_sites) = read_sites(&config.sites_dir);
    problems.extend(of_sites);
    let loaded = LoadedConfig {
        file,
        config,
        sites,
    };
    (loaded, problems)
}

/// Reads every `*.toml` of the directory as a site, in the order of their names. A missing directory holds no sites.
pub fn read_sites(dir: &Path) -> (Vec<Site>, Vec<ConfigProblem>) {
    let (mut sites, mut problems) = (Vec::<Site>::new(), Vec::new());
    let files = match site_files(dir) {
        Ok(files) => files,
        Err(error) => return (sites, vec![unreadable(dir, &error)]),
    };
    for path in files {
        let (site, of_site) = read_site(&path);
        problems.extend(of_site);
        let Some(site) = site else { continue };
        if sites.iter().any(|s| s.name == site.name) {
            let name = &site.name;
            let text =
                format!("name = \"{name}\": two files have this site name; rename one of them");
            problems.push(ConfigProblem::in_file(&path, text));
        } else {
            sites.push(site);
        }
    }
    sites.sort_by(|a, b| a.name.cmp(&b.name));
    (sites, problems)
}

/// The files of a directory that describe sites; those that begin with a dot are drafts.
pub fn site_files(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    match fs::read_dir(dir) {
        Ok(entries) => {
            for entry in entries {
                let path = entry?.path();
                let hidden = path
                    .file_name()
                    .is_some_and(|n| n.as_encoded_bytes().starts_with(b"."));
                if path.extension().is_some_and(|e| e == "toml") && !hidden {
                    files.push(path);
                }
            }
        }
        Err(e) if e.kind() == ErrorKind::NotFound => {}
        Err(e) => return Err(e),
    }
    files.sort();
    Ok(files)
}

/// Reads and checks one site file: the site, unless it has a mistake, and what is wrong with it.
pub fn read_site(path: &Path) -> (Option<Site>, Vec<ConfigProblem>) {
    match fs::read_to_string(path) {
        Ok(text) => parse_site(path, &text),
        Err(error) => (None, vec![unreadable(path, &error)]),
    }
}

/// The same for a file that need not be there yet.
pub fn parse_site(path: &Path, text: &str) -> (Option<Site>, Vec<ConfigProblem>) {
    let defaults = site_defaults();
    let (site, mut problems) = parse::<Site>(path, text, &defaults);
    let Some(mut site) = site else {
        return (None, problems);
    };
    if site.name.is_empty() {
        site.name = path
            .file_stem()
            .map(|s| s.to_string_lossy().into_owned())
            .unwrap_or_default();
    }
    add(&mut problems, path, text, values::of_site(&site, &defaults));
    (problems.is_empty().then_some(site), problems)
}

/// Returns the defaults of a site's file, and examples for its numbers that have none.
pub(super) fn site_defaults() -> Table {
    let site = Site {
        delay_ms: Some(2000),
        max_attachment_bytes: Some(100 << 20),
        max_pages_per_cycle: Some(5000),
        ..Site::default()
    };
    Table::try_from(site).unwrap_or_default()
}

fn read_config(path: &Path) -> (Config, Vec<ConfigProblem>) {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => return (Config::default(), vec![unreadable(path, &error)]),
    };
    layered(path, &text, environment())
}

/// The settings of a file, and over them those of the environment.
pub(super) fn layered(
    path: &Path,
    text: &str,
    environment: impl Iterator<Item = (String, String)>,
) -> (Config, Vec<ConfigProblem>) {
    let defaults = Table::try_from(Config::default()).unwrap_or_default();
    let (config, mut problems) = parse::<Config>(path, text, &defaults);
    let Some(mut config) = config else {
        return (Config::default(), problems);
    };
    let (set, unknown) = variables(environment, &defaults);
    problems.extend(unknown.into_iter().map(ConfigProblem::elsewhere));
    for variable in &set {
        let (_, wrong) = parse::<Config>(path, &variable.line, &defaults);
        let first = wrong.into_iter().next();
        problems.extend(first.map(|p| p.of_variable(&variable.name)));
    }
    if problems.is_empty() && !set.is_empty() {
        let mut table = table(text);
        for variable in &set {
            merge(&mut table, self::table(&variable.line));
        }
        // Each part was read by itself; together they say nothing else.
        config = table.try_into().unwrap_or(config);
    }
    let wrong = values::of_config(&config, &defaults);
    add(&mut problems, path, text, wrong);
    for problem in &mut problems {
        if let Some(variable) = set.iter().find(|v| v.key == problem.key()) {
            *problem = problem.clone().of_variable(&variable.name);
        }
    }
    (config, problems)
}

/// A text that was read before, as a table.
fn table(text: &str) -> Table {
    resolved(text).parse().unwrap_or_default()
}

/// Puts the values of `over` in the place of those of `under`.
fn merge(under: &mut Table, over: Table) {
    for (name, value) in over {
        match (under.get_mut(&name), value) {
            (Some(Value::Table(under)), Value::Table(over)) => merge(under, over),
            (_, value) => {
                under.insert(name, value);
            }
        }
    }
}

/// Adds mistakes of values with their lines. A key that has one already is not named again, nor one that is not in the
/// file when something was left out of it: it may have been that.
fn add(problems: &mut Vec<ConfigProblem>, path: &Path, text: &str, wrong: Vec<String>) {
    let named: Vec<String> = problems.iter().map(|p| p.key().to_owned()).collect();
    for text_of_it in wrong {
        let mut problem = ConfigProblem::in_file(path, text_of_it);
        if named.iter().any(|key| key == problem.key()) {
            continue;
        }
        problem.line = line_of(text, problem.key());
        if problem.line.is_some() || named.is_empty() {
            problems.push(problem);
        }
    }
    problems.sort_by_key(|p| p.line);
}

pub(super) fn unreadable(path: &Path, error: &io::Error) -> ConfigProblem {
    let why = match error.kind() {
        ErrorKind::NotFound => "there is no such file".to_owned(),
        ErrorKind::PermissionDenied => "may not be read by this user".to_owned(),
        ErrorKind::InvalidData => "is not text in UTF-8".to_owned(),
        _ => format!("cannot be read: {error}"),
    };
    ConfigProblem::in_file(path, why)
}

/// A mistake in the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigProblem {
    /// The file that it is in; `None` if it is in no file.
    pub file: Option<PathBuf>,
    /// The line of the key, counted from 1.
    pub line: Option<usize>,
    /// `key = value: what to write`.
    pub text: String,
}

impl ConfigProblem {
    /// A mistake in `file`, whatever the line.
    pub(super) fn in_file(file: &Path, text: impl Into<String>) -> Self {
        Self {
            file: Some(file.to_owned()),
            line: None,
            text: text.into(),
        }
    }

    /// A mistake in no file.
    pub(super) fn elsewhere(text: impl Into<String>) -> Self {
        Self {
            file: None,
            line: None,
            text: text.into(),
        }
    }

    /// The same mistake, made by a variable of the environment.
    pub(super) fn of_variable(self, name: &str) -> Self {
        Self::elsewhere(format!("{name} in the environment: {}", self.text))
    }

    /// The key that its text begins with.
    pub(super) fn key(&self) -> &str {
        key_of(&self.text)
    }
}

/// The key that a line such as `serve.window = 3: …` begins with.
pub(super) fn key_of(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.')));
    text.get(..end.unwrap_or(text.len())).unwrap_or_default()
}

impl fmt::Display for ConfigProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, "{} line {line}: ", file.display())?,
            (Some(file), None) => write!(f, "{}: ", file.display())?,
            (None, _) => {}
        }
        f.write_str(&self.text)
    }
}

/// What is wrong with the configuration: one line for the operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError(pub String);

impl ConfigError {
    /// The first of these, and how many more there are; nothing if there is none.
    pub fn check(problems: &[ConfigProblem]) -> Result<(), Self> {
        match problems {
            [] => Ok(()),
            [only] => Err(Self(only.to_string())),
            [first, others @ ..] => Err(Self(format!(
                "{first} (and {} more: taojin check lists all)",
                others.len()
            ))),
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ConfigError {}
