//! `taojin site add`: from an address to the file of a site.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::file;
use super::probe::{Probe, probe};
use crate::cli::context::{Context, Usage, for_shell, runtime};
use crate::cli::output;
use crate::config::{self, Loaded};
use taojin_crawl::frontier::Scope;
use taojin_uri::CrawlUri;

/// What was asked for.
pub(super) struct Wanted<'a> {
    pub(super) url: &'a str,
    pub(super) name: Option<&'a str>,
    pub(super) no_probe: bool,
    pub(super) dry_run: bool,
}

/// Looks at a site and writes its file.
pub(super) fn add(context: &Context, loaded: &Loaded, wanted: &Wanted<'_>) -> anyhow::Result<()> {
    let candidates = candidates(wanted.url)?;
    for candidate in &candidates {
        refuse_known(loaded, candidate, wanted.name)?;
    }
    let probe = match wanted.no_probe {
        true => Probe::default(),
        false => runtime()?.block_on(probe(loaded, &candidates))?,
    };
    let asked = candidates.first().ok_or_else(|| nothing(wanted.url))?;
    let seed = probe.seed.clone().unwrap_or_else(|| asked.clone());
    refuse_known(loaded, &seed, wanted.name)?;
    let name = match wanted.name {
        Some(name) => name.to_owned(),
        None => default_name(wanted.url, &seed),
    };
    if loaded.sites.iter().any(|s| s.name == name) {
        return Err(Usage(format!(
            "{name}: there is a site of this name; choose another with --name"
        ))
        .into());
    }
    let hosts = hosts(asked, &seed);
    let text = file::text(&seed, &name, &hosts, &probe);
    let dir = &loaded.config.sites_dir;
    let path = dir.join(format!("{name}.toml"));
    // What is written must pass `check`, whatever the site said of itself.
    if let (_, Some(problem)) = first_problem(&path, &text) {
        return Err(Usage(format!("--name {name}: {problem}")).into());
    }
    tell_address(wanted, &candidates, asked, &seed);
    if wanted.dry_run {
        output::line(text.trim_end());
        return Ok(());
    }
    write_new(&path, &text)?;
    report(context, &path, &name, &probe, wanted.no_probe);
    Ok(())
}

fn first_problem(path: &Path, text: &str) -> (bool, Option<String>) {
    let (site, problems) = config::parse_site(path, text);
    let first = problems.first().map(|p| p.text.clone());
    (site.is_some(), first)
}

/// The addresses that a text may mean, in the order in which they are asked: without a scheme https, then http.
fn candidates(url: &str) -> Result<Vec<CrawlUri>, Usage> {
    let parse = |text: &str| CrawlUri::parse(text).map_err(|e| Usage(format!("{url}: {e}")));
    if url.contains("://") {
        return Ok(vec![parse(url)?]);
    }
    if url.starts_with(['/', '.', '~']) || Path::new(url).is_file() {
        return Err(Usage(format!(
            "{url}: is a file here and no site; write an address like https://www.example.com/ (taojin extract FILE reads files)"
        )));
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

fn nothing(url: &str) -> Usage {
    Usage(format!(
        "{url}: is no host of the web; write a whole address, for example https://www.example.com/"
    ))
}

/// Refuses an address that a site has already; with a name of its own a part of a site may be a site.
fn refuse_known(loaded: &Loaded, uri: &CrawlUri, name: Option<&str>) -> Result<(), Usage> {
    for site in &loaded.sites {
        if site.seeds.iter().any(|seed| seed == uri.as_str()) {
            return Err(Usage(format!(
                "{uri}: is a seed of site {} already",
                site.name
            )));
        }
        let takes = || {
            let scope = Scope::new(site).ok()?;
            scope.check(uri, 0, 0, 0).ok()
        };
        if name.is_none() && takes().is_some() {
            return Err(Usage(format!(
                "{uri}: belongs to site {} already; add it to the seeds of that site, or make a site of its own with --name NAME",
                site.name
            )));
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
    let name = match !host.is_ascii() && same {
        true => host.to_lowercase(),
        false => seed.authority().to_owned(),
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
fn tell_address(wanted: &Wanted<'_>, candidates: &[CrawlUri], asked: &CrawlUri, seed: &CrawlUri) {
    let guessed = candidates.len() > 1;
    let moved = seed.authority() != asked.authority();
    let text = match (wanted.no_probe, guessed, moved) {
        (true, true, _) => format!("took {seed} without asking: no scheme was given"),
        (_, _, true) => format!("took {seed}: {} leads there", wanted.url),
        (_, true, false) => format!("took {seed}: it answers"),
        (_, false, false) if seed != asked => format!("took {seed}: {} leads there", wanted.url),
        _ => return,
    };
    output::note(&text);
}

/// Writes a file that was not there before: complete or not at all.
fn write_new(path: &Path, text: &str) -> anyhow::Result<()> {
    let dir = path.parent().unwrap_or(Path::new("."));
    let refused = |what: &Path, error: &std::io::Error| {
        Usage(format!(
            "sites_dir: {} cannot be written: {error}; choose a configuration of your own with --config FILE",
            what.display()
        ))
    };
    fs::create_dir_all(dir).map_err(|e| refused(dir, &e))?;
    if path.exists() {
        return Err(Usage(format!(
            "{}: is there already; remove it or choose another --name",
            path.display()
        ))
        .into());
    }
    let draft: PathBuf = dir.join(format!(
        ".{}.new",
        path.file_name().unwrap_or_default().to_string_lossy()
    ));
    let mut file = fs::File::create(&draft).map_err(|e| refused(&draft, &e))?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&draft, path)?;
    fs::File::open(dir)?.sync_all()?;
    Ok(())
}

/// What was found, and the commands that come next, ready to be pasted.
fn report(context: &Context, path: &Path, name: &str, probe: &Probe, unasked: bool) {
    let count = |n: usize, one: &str| match n {
        1 => format!("1 {one}"),
        n => format!("{n} {one}s"),
    };
    let found = match unasked {
        true => "the site was not asked".to_owned(),
        false => format!(
            "{}{}, {}, {}",
            probe
                .title
                .as_deref()
                .map_or(String::new(), |t| format!("{}, ", output::printable(t))),
            count(probe.links, "link"),
            count(probe.feeds.len(), "feed"),
            count(probe.sitemaps.len(), "sitemap")
        ),
    };
    output::line(&format!("{} written: {found}", path.display()));
    output::line("review it, then:");
    output::line(&format!("  {}", context.command("check")));
    let site = for_shell(name);
    output::line(&format!(
        "  {}",
        context.command(&format!("crawl --site {site}"))
    ));
    output::line("a running daemon reads it after: systemctl reload taojin");
}
