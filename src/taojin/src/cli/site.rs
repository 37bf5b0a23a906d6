//! `taojin site add|list|remove`: the files of `sites.d`. A new one has a word on each key that a person may want to change.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use askama::Template;

use super::context::{Context, Named, UsageError, bail_usage, for_shell, runtime};
use super::control;
use super::output;
use super::probe::{Probe, probe};
use crate::config::{self, ConfigError, ConfigProblem, LoadedConfig};
use crate::daemon::StatusBoard;
use crate::export::Draft;
use crate::serve::{Command, CommandError, SiteStatus};
use taojin_crawl::schedule::Site;
use taojin_crawl::scope::Scope;
use taojin_uri::CrawlUri;

/// Arguments of `site`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Read a site's front page, robots.txt, feeds and sitemaps, and write its file
    Add {
        /// Front page or section page of the site; without https:// or http:// both are tried
        ///
        /// It becomes the site's seed: each cycle starts there.
        url: String,
        /// Name of the site [default: its host]
        ///
        /// Names its file in `sites.d`; searches and exports use it too. A leading `www.` of the host is dropped.
        #[arg(long)]
        name: Option<String>,
        /// Write the file without asking the site anything
        ///
        /// Neither robots.txt, feeds nor sitemaps are looked up; the file then has the seed alone.
        #[arg(long)]
        no_probe: bool,
        /// Print the file instead of writing it
        ///
        /// The site is still asked, unless --no-probe is given.
        #[arg(long)]
        dry_run: bool,
    },
    /// List the sites: documents, last and next cycle, last error
    List {
        /// One JSON object a line
        ///
        /// The keys of the site's file, and its documents, cycles and errors.
        #[arg(long)]
        json: bool,
    },
    /// Delete the file of a site; its documents stay in the index
    Remove {
        /// Name of the site
        name: String,
        /// Also remove its documents and URLs
        ///
        /// Without it they stay searchable. A running daemon stops crawling it at once; without --forget it does so at its
        /// next reload.
        #[arg(long)]
        forget: bool,
    },
}

/// Adds, lists or removes sites. A file with a mistake is named, and does not keep the others from being seen.
pub(crate) fn run(context: &Context, args: &Args) -> anyhow::Result<ExitCode> {
    let (loaded, problems) = context.read();
    let (of_config, of_sites): (Vec<ConfigProblem>, Vec<ConfigProblem>) =
        problems.into_iter().partition(|p| p.file == loaded.file);
    ConfigError::check(&of_config)?;
    for problem in &of_sites {
        output::note(&format!("left out: {problem}"));
    }
    match &args.action {
        Action::Add {
            url,
            name,
            no_probe,
            dry_run,
        } => {
            let wanted = NewSite {
                url,
                name: name.as_deref(),
                no_probe: *no_probe,
                dry_run: *dry_run,
            };
            add(context, &loaded, &wanted)?;
        }
        Action::List { json } => list(context, &loaded, *json)?,
        Action::Remove { name, forget } => remove(&loaded, name, *forget)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn list(context: &Context, loaded: &LoadedConfig, json: bool) -> anyhow::Result<()> {
    // Before the first crawl there is no store, and nothing is known.
    let known = if loaded.config.data_dir.is_dir() {
        StatusBoard::new(loaded, None).read(0)?.sites
    } else {
        Vec::new()
    };
    let state_of = |site: &Site| known.iter().find(|s| s.name == site.name);
    let sites = loaded.sites.iter().map(|site| (site, state_of(site)));
    let sites: Vec<_> = sites.collect();
    if json {
        for (site, state) in sites {
            output::json(&as_json(site, state)?)?;
        }
    } else {
        output::text_in(SitesText { sites }, |t| ChineseSitesText { t })?;
    }
    if loaded.sites.is_empty() {
        let dir = loaded.config.sites_dir.display();
        let add = context.command("site add URL");
        output::note(&output::pick(
            format!("no sites in {dir}; add one with: {add}"),
            format!("{dir} 里没有站点；添加：{add}"),
        ));
    }
    Ok(())
}

/// The keys of the site's file, and how it stands.
fn as_json(site: &Site, state: Option<&SiteStatus>) -> anyhow::Result<serde_json::Value> {
    let mut value = serde_json::to_value(site)?;
    if let Some(object) = value.as_object_mut() {
        let mut add = |key: &str, value: serde_json::Value| object.insert(key.to_owned(), value);
        add("documents", state.map_or(0, |s| s.documents).into());
        add("last_cycle_ms", state.and_then(|s| s.last_cycle_ms).into());
        add("next_cycle_ms", state.and_then(|s| s.next_cycle_ms).into());
        add("errors", state.map_or(0, |s| s.errors).into());
        let error = state.and_then(|s| s.last_error.clone());
        add("last_error", error.into());
        if let Some(paused_ms) = state.and_then(|s| s.paused_ms) {
            add("paused_ms", paused_ms.into());
        }
    }
    Ok(value)
}

/// The sites and how each stands, for a person.
#[derive(Template)]
#[template(path = "sites.txt")]
struct SitesText<'a> {
    sites: Vec<(&'a Site, Option<&'a SiteStatus>)>,
}

/// The same in Chinese.
#[derive(Template)]
#[template(path = "sites.zh.txt")]
struct ChineseSitesText<'a> {
    t: SitesText<'a>,
}

/// What was asked for.
struct NewSite<'a> {
    url: &'a str,
    name: Option<&'a str>,
    no_probe: bool,
    dry_run: bool,
}

/// Looks at a site and writes its file.
fn add(context: &Context, loaded: &LoadedConfig, wanted: &NewSite<'_>) -> anyhow::Result<()> {
    let candidates = candidates(wanted.url)?;
    for candidate in &candidates {
        refuse_known(loaded, candidate, wanted.name)?;
    }
    let probe = if wanted.no_probe {
        Probe::default()
    } else {
        runtime()?.block_on(probe(loaded, &candidates))?
    };
    let asked = candidates.first().ok_or_else(|| nothing(wanted.url))?;
    let seed = probe.seed.clone().unwrap_or_else(|| asked.clone());
    refuse_known(loaded, &seed, wanted.name)?;
    let name = match wanted.name {
        Some(name) => name.to_owned(),
        None => default_name(wanted.url, &seed),
    };
    if loaded.sites.iter().any(|s| s.name == name) {
        bail_usage!("{name}: there is a site of this name; choose another with --name");
    }
    let hosts = hosts(asked, &seed);
    let text = file_text(&seed, &name, &hosts, &probe);
    let dir = &loaded.config.sites_dir;
    let path = dir.join(format!("{name}.toml"));
    // What is written must pass `check`, whatever the site said of itself.
    if let Some(problem) = config::parse_site(&path, &text).1.first() {
        bail_usage!("--name {name}: {}", problem.text);
    }
    tell_address(wanted, &candidates, asked, &seed);
    if wanted.dry_run {
        output::line(text.trim_end());
        return Ok(());
    }
    write_new(&path, &text)?;
    let added = AddedText {
        path: &path,
        probe: &probe,
        unasked: wanted.no_probe,
        check: context.command("check"),
        crawl: context.command(&format!("crawl --site {}", for_shell(&name))),
    };
    output::text_in(added, |t| ChineseAddedText { t })
}

/// The addresses that a text may mean, in the order in which they are asked: without a scheme https, then http.
fn candidates(url: &str) -> Result<Vec<CrawlUri>, UsageError> {
    let parse = |text: &str| CrawlUri::parse(text).named(url);
    if url.contains("://") {
        return Ok(vec![parse(url)?]);
    }
    if url.starts_with(['/', '.', '~']) || Path::new(url).is_file() {
        bail_usage!(
            "{url}: is a file here and no site; write an address like https://www.example.com/ (taojin extract FILE reads files)"
        );
    }
    let (https, http) = (
        parse(&format!("https://{url}"))?,
        parse(&format!("http://{url}"))?,
    );
    let host = https.host();
    if !host.contains(['.', ':']) && host != "localhost" {
        return Err(nothing(url));
    }
    Ok(vec![https, http])
}

fn nothing(url: &str) -> UsageError {
    UsageError(format!(
        "{url}: is no host of the web; write a whole address, for example https://www.example.com/"
    ))
}

/// Refuses an address that a site has already; with a name of its own a part of a site may be a site.
fn refuse_known(
    loaded: &LoadedConfig,
    uri: &CrawlUri,
    name: Option<&str>,
) -> Result<(), UsageError> {
    for site in &loaded.sites {
        if site.seeds.iter().any(|seed| seed == uri.as_str()) {
            bail_usage!("{uri}: is a seed of site {} already", site.name);
        }
        let takes = || {
            let scope = Scope::new(site).ok()?;
            scope.check(uri, 0, 0, 0).ok()
        };
        if name.is_none() && takes().is_some() {
            bail_usage!(
                "{uri}: belongs to site {} already; add it to the seeds of that site, or make a site of its own with --name NAME",
                site.name
            );
        }
    }
    Ok(())
}

/// The host without `www.`; with its port, if it has one, since a colon cannot stand in a name. A Chinese name stays as
/// it was typed.
fn default_name(typed: &str, seed: &CrawlUri) -> String {
    let rest = typed.split_once("://").map_or(typed, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#', ':']).next().unwrap_or_default();
    let same = CrawlUri::parse(&format!("http://{host}/")).is_ok_and(|u| u.host() == seed.host());
    let name = if !host.is_ascii() && same {
        host.to_lowercase()
    } else {
        seed.authority().to_owned()
    };
    name.strip_prefix("www.")
        .unwrap_or(&name)
        .replace([':', '[', ']'], "-")
        .trim_matches('-')
        .to_owned()
}

/// The hosts of the site: where the address led, where it was looked for, and the same with or without `www.`
fn hosts(asked: &CrawlUri, seed: &CrawlUri) -> Vec<String> {
    let mut hosts = vec![seed.authority().to_owned()];
    let mut add = |host: String| {
        if !hosts.contains(&host) {
            hosts.push(host);
        }
    };
    add(asked.authority().to_owned());
    for uri in [seed, asked] {
        let authority = uri.authority();
        if uri.literal_address().is_some() || !uri.host().contains('.') {
            continue;
        }
        match authority.strip_prefix("www.") {
            Some(bare) => add(bare.to_owned()),
            // news.example.com has no www; example.com and example.com.cn have.
            None if taojin_uri::registrable_domain(uri.host()) == Some(uri.host()) => {
                add(format!("www.{authority}"))
            }
            None => {}
        }
    }
    hosts
}

/// Says which address was taken where that is not what was typed.
fn tell_address(wanted: &NewSite<'_>, candidates: &[CrawlUri], asked: &CrawlUri, seed: &CrawlUri) {
    let guessed = candidates.len() > 1;
    let moved = seed.authority() != asked.authority();
    let url = wanted.url;
    let leads_there = || {
        (
            format!("took {seed}: {url} leads there"),
            format!("采用 {seed}：{url} 跳转到这里"),
        )
    };
    let (english, chinese) = match (wanted.no_probe, guessed, moved) {
        (true, true, _) => (
            format!("took {seed} without asking: no scheme was given"),
            format!("采用 {seed}：没有写协议，也没有访问站点"),
        ),
        (_, _, true) => leads_there(),
        (_, true, false) => (
            format!("took {seed}: it answers"),
            format!("采用 {seed}：可以访问"),
        ),
        (_, false, false) if seed != asked => leads_there(),
        _ => return,
    };
    output::note(&output::pick(english, chinese));
}

/// Writes a file that was not there before: complete or not at all.
fn write_new(path: &Path, text: &str) -> anyhow::Result<()> {
    let dir = path.parent().unwrap_or(Path::new("."));
    let refused = |error: io::Error| {
        UsageError(format!(
            "sites_dir: {} cannot be written: {error}; choose a configuration of your own with --config FILE",
            dir.display()
        ))
    };
    fs::create_dir_all(dir).map_err(refused)?;
    if path.exists() {
        bail_usage!(
            "{}: is there already; remove it or choose another --name",
            path.display()
        );
    }
    let mut draft = Draft::new(path).map_err(refused)?;
    draft.write_all(text.as_bytes())?;
    Ok(draft.publish()?)
}

/// What was found, and the commands that come next, ready to be pasted.
#[derive(Template)]
#[template(path = "site_added.txt")]
struct AddedText<'a> {
    path: &'a Path,
    probe: &'a Probe,
    unasked: bool,
    check: String,
    crawl: String,
}

/// The same in Chinese.
#[derive(Template)]
#[template(path = "site_added.zh.txt")]
struct ChineseAddedText<'a> {
    t: AddedText<'a>,
}

/// The text of the file of `name`, whose front page is `seed`; `hosts` are its own.
fn file_text(seed: &CrawlUri, name: &str, hosts: &[String], probe: &Probe) -> String {
    let defaults = Site::default();
    let title = probe.title.as_deref().unwrap_or_default();
    let headline = match title {
        "" => String::new(),
        title => format!("{} - ", output::printable(title)),
    };
    let sitemaps: &[CrawlUri] = if probe.sitemaps_in_robots {
        &[]
    } else {
        &probe.sitemaps
    };
    let delay = probe
        .crawl_delay_ms
        .map(|ms| format!(" robots.txt asks for {} s.", ms as f64 / 1000.0));
    format!(
        r##"# {headline}{seed}
# Every key with its default: config/sites.d/README.md. After a change: taojin check && systemctl reload taojin

name = {}
# What readers see in lists and hits, and may write after site: in a search.
title = {}

# Pages where a cycle begins: the front page, and section pages that change often.
seeds = {}

# Feeds and sitemaps read in each cycle. Those that robots.txt names are read anyway (robots_sitemaps = true).
feeds = {}
sitemaps = {}

# When a cycle begins: minute hour day month weekday.
schedule = {}
time_zone = {}

# Least time between two fetches, in milliseconds; the crawler's own politeness holds in any case.{}
# delay_ms = 2000

# Terms of the field, kept whole in search: built-in "oil-gas", or files.
# lexicons = ["oil-gas"]
# Words that mean the same: built-in "oil-gas", or files with one group a line (CO2, 二氧化碳).
# synonyms = ["oil-gas"]

[scope]
# Hosts of the site: www.example.com, or *.example.com for a domain and all below it.
hosts = {}
# Only paths that match one of these, and none of those: "/news/", "/news/*/list", '~^/\d{{4}}/'
include = []
exclude = []
"##,
        quoted(name),
        quoted(title),
        toml_list(std::slice::from_ref(seed)),
        toml_list(&probe.feeds),
        toml_list(sitemaps),
        quoted(&defaults.schedule),
        quoted(&defaults.time_zone),
        delay.unwrap_or_default(),
        toml_list(hosts),
    )
}

/// A text of TOML, whatever is in it.
fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

fn toml_list(items: &[impl ToString]) -> String {
    let quoted: Vec<String> = items.iter().map(|i| quoted(&i.to_string())).collect();
    format!("[{}]", quoted.join(", "))
}

fn remove(loaded: &LoadedConfig, name: &str, forget: bool) -> anyhow::Result<()> {
    let path = file_of(&loaded.config.sites_dir, name)?;
    if let (None, false) = (&path, forget) {
        let names: Vec<&str> = loaded.sites.iter().map(|s| s.name.as_str()).collect();
        let near = config::did_you_mean(name, &names);
        bail_usage!("{name}: no site has this name{near}");
    }
    let had_file = path.is_some();
    if let Some(path) = path {
        fs::remove_file(&path).named(path.display())?;
        let path = path.display();
        output::line(&output::pick(
            format!("{path} removed"),
            format!("已删除 {path}"),
        ));
    }
    if forget {
        let mut without = loaded.clone();
        without.sites.retain(|site| site.name != name);
        let command = Command::Purge {
            site: name.to_owned(),
            forget: true,
        };
        let forgotten = control::execute(&without, &command);
        match forgotten {
            Ok(done) => output::text_in(control::PurgedText::new(&done), |t| {
                control::ChinesePurgedText { t }
            })?,
            Err(error) if had_file && is_unknown(&error) => {
                output::line(&output::pick(
                    format!("{name}: nothing of it was crawled"),
                    format!("{name}：还没有抓取过"),
                ));
            }
            Err(error) => return Err(error),
        }
    } else {
        output::note(output::pick(
            "a running daemon crawls it until: systemctl reload taojin",
            "正在运行的服务会继续抓取它，直到执行：systemctl reload taojin",
        ));
    }
    Ok(())
}

/// Whether neither store nor index knows the site.
fn is_unknown(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(CommandError::UnknownSite { .. }))
}

/// The file that defines the site `name`; one that cannot be read counts by its own name.
pub(super) fn file_of(dir: &Path, name: &str) -> anyhow::Result<Option<PathBuf>> {
    let defines = |path: &PathBuf| match config::read_site(path) {
        (Some(site), _) => site.name == name,
        (None, _) => path.file_stem().is_some_and(|stem| stem == name),
    };
    Ok(config::site_files(dir)?.into_iter().find(defines))
}
