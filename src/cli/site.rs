//! `taojin site add|list|remove`: the files of `sites.d`.

mod remove;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::{Context, Usage, output, runtime};
use crate::config::Loaded;
use crate::daemon::now_ms;
use crate::extract::{self, LinkKind};
use crate::fetch::{Fetched, Fetcher, Outcome, Request, RobotsCache};
use crate::page::{Hints, Page};
use crate::schedule::{Site, read_feed, read_sitemap};
use crate::store::Reader;
use crate::uri::CrawlUri;
use remove::remove;

/// Redirects followed while looking at a new site.
const MAX_REDIRECTS: usize = 5;
/// Feeds and sitemaps taken over into a new file; a person adds the others.
const MAX_LISTS: usize = 5;

/// Arguments of `site`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Look at a site and write its file
    Add {
        /// Front page or section page of the site
        url: String,
        /// Name of the site [default: its host]
        #[arg(long)]
        name: Option<String>,
        /// Write the file without asking the site anything
        #[arg(long)]
        no_probe: bool,
        /// Print the file instead of writing it
        #[arg(long)]
        dry_run: bool,
    },
    /// List the sites
    List {
        /// One JSON object a line
        #[arg(long)]
        json: bool,
    },
    /// Delete the file of a site; its documents stay in the index
    Remove {
        /// Name of the site
        name: String,
        /// Also forget its pages and take its documents out of the index
        #[arg(long)]
        forget: bool,
    },
}

/// Adds, lists or removes sites.
pub(crate) fn run(context: &Context, args: &Args) -> anyhow::Result<ExitCode> {
    let loaded = context.load()?;
    match &args.action {
        Action::Add {
            url,
            name,
            no_probe,
            dry_run,
        } => add(&loaded, url, name.as_deref(), *no_probe, *dry_run)?,
        Action::List { json } => list(&loaded, *json)?,
        Action::Remove { name, forget } => remove(&loaded, name, *forget)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// What was learned of a site by asking it.
#[derive(Debug, Default)]
struct Probe {
    /// Where the seed leads in the end.
    seed: Option<CrawlUri>,
    title: Option<String>,
    feeds: Vec<CrawlUri>,
    sitemaps: Vec<CrawlUri>,
    /// robots.txt names its sitemaps, so that they need not stand in the file.
    sitemaps_in_robots: bool,
    crawl_delay_ms: Option<i64>,
    links: usize,
}

fn add(
    loaded: &Loaded,
    url: &str,
    name: Option<&str>,
    no_probe: bool,
    dry_run: bool,
) -> anyhow::Result<()> {
    let with_scheme = if url.contains("://") {
        url.to_owned()
    } else {
        format!("https://{url}")
    };
    let seed = CrawlUri::parse(&with_scheme).map_err(|e| Usage(format!("{url}: {e}")))?;
    if !seed.host().contains('.') && !seed.host().contains(':') {
        return Err(Usage(format!(
            "{url}: {} is no host of the web; write a whole address",
            seed.host()
        ))
        .into());
    }
    let probe = match no_probe {
        true => Probe::default(),
        false => runtime()?.block_on(probe(loaded, &seed))?,
    };
    let seed = probe.seed.clone().unwrap_or(seed);
    let name = name.map_or_else(|| default_name(&seed), str::to_owned);
    let text = site_file(&seed, &name, &probe);
    let site = Site::parse(&text, &name).map_err(|e| Usage(e.to_string()))?;
    if loaded.sites.iter().any(|s| s.name == site.name) {
        return Err(Usage(format!(
            "--name {name}: there is a site of this name; choose another with --name"
        ))
        .into());
    }
    if let Some(other) = loaded
        .sites
        .iter()
        .find(|s| s.seeds.iter().any(|t| t == seed.as_str()))
    {
        return Err(Usage(format!("{seed}: is a seed of site {} already", other.name)).into());
    }
    if dry_run {
        output::line(text.trim_end());
        return Ok(());
    }
    let path = write_new(&loaded.config.sites_dir, &name, &text)?;
    output::line(&format!(
        "{} written: {} links on the page, {} feeds, {} sitemaps",
        path.display(),
        probe.links,
        probe.feeds.len(),
        probe.sitemaps.len()
    ));
    output::line("look it over, then: taojin check && systemctl reload taojin (or taojin crawl)");
    Ok(())
}

/// The host without `www.`; with its port, if it has one, since a colon cannot stand in a name.
fn default_name(seed: &CrawlUri) -> String {
    seed.authority()
        .trim_start_matches("www.")
        .replace([':', '[', ']'], "-")
}

/// Writes a file that was not there before: complete or not at all.
fn write_new(dir: &Path, name: &str, text: &str) -> anyhow::Result<PathBuf> {
    fs::create_dir_all(dir)
        .map_err(|e| Usage(format!("{}: cannot be made: {e}", dir.display())))?;
    let path = dir.join(format!("{name}.toml"));
    let draft = dir.join(format!(".{name}.toml.new"));
    let mut file =
        fs::File::create(&draft).map_err(|e| Usage(format!("{}: {e}", draft.display())))?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    if path.exists() {
        fs::remove_file(&draft)?;
        return Err(Usage(format!(
            "{}: is there already; remove it or choose another --name",
            path.display()
        ))
        .into());
    }
    fs::rename(&draft, &path)?;
    Ok(path)
}

/// Asks robots.txt, the page and the usual places for feeds and sitemaps.
async fn probe(loaded: &Loaded, seed: &CrawlUri) -> anyhow::Result<Probe> {
    let fetcher = Fetcher::new(loaded.config.fetch.clone())?;
    let robots = RobotsCache::new();
    let (uri, fetched, body) = follow(&fetcher, seed).await?;
    let verdict = robots.verdict(&fetcher, &uri, now_ms(), None).await;
    if !verdict.access.is_allowed() {
        return Err(Usage(format!(
            "{uri}: its robots.txt does not let {} in",
            fetcher.config().robots_token()
        ))
        .into());
    }
    let hints = Hints {
        url: Some(uri.clone()),
        charset: fetched.head.charset().map(str::to_owned),
        limits: loaded.config.page.clone(),
    };
    let page = Page::parse(&body, hints);
    let context = extract::Context {
        now_ms: now_ms(),
        ..Default::default()
    };
    let document = extract::extract_with(&page, &context, &loaded.config.extract);
    let mut probe = Probe {
        title: document.title.clone(),
        crawl_delay_ms: verdict.crawl_delay_ms,
        links: document.links.len(),
        sitemaps_in_robots: !verdict.sitemaps.is_empty(),
        sitemaps: verdict.sitemaps.iter().take(MAX_LISTS).cloned().collect(),
        ..Probe::default()
    };
    let named = document.links.iter().filter(|l| l.kind == LinkKind::Feed);
    for feed in named
        .filter_map(|l| CrawlUri::parse(&l.url).ok())
        .take(MAX_LISTS)
    {
        if is_feed(&fetcher, &feed).await {
            probe.feeds.push(feed);
        }
    }
    if probe.sitemaps.is_empty()
        && let Ok(guess) = uri.join("/sitemap.xml")
        && is_sitemap(&fetcher, &guess).await
    {
        probe.sitemaps.push(guess);
    }
    probe.seed = Some(uri);
    Ok(probe)
}

/// Fetches a page through its redirects.
async fn follow(
    fetcher: &Fetcher,
    seed: &CrawlUri,
) -> anyhow::Result<(CrawlUri, Fetched, Vec<u8>)> {
    let mut uri = seed.clone();
    for _ in 0..=MAX_REDIRECTS {
        let mut body: Vec<u8> = Vec::new();
        let fetched = fetcher
            .fetch(&Request::page(uri.clone(), now_ms()), &mut body)
            .await;
        match &fetched.outcome {
            Outcome::Page => return Ok((uri, fetched, body)),
            Outcome::Redirect { to, .. } => uri = to.clone(),
            Outcome::Refused(refusal) => return Err(Usage(format!("{uri}: {refusal}")).into()),
            other => {
                let status = fetched.head.status;
                let said = if status > 0 {
                    format!("HTTP {status}")
                } else {
                    other.word().to_owned()
                };
                anyhow::bail!("{uri}: {said}; write the file without asking the site: --no-probe");
            }
        }
    }
    Err(Usage(format!("{seed}: redirects without end")).into())
}

async fn get(fetcher: &Fetcher, uri: &CrawlUri) -> Option<Vec<u8>> {
    let mut body: Vec<u8> = Vec::new();
    let fetched = fetcher
        .fetch(&Request::any(uri.clone(), now_ms()), &mut body)
        .await;
    (fetched.outcome == Outcome::Page).then_some(body)
}

async fn is_feed(fetcher: &Fetcher, uri: &CrawlUri) -> bool {
    let body = get(fetcher, uri).await;
    body.is_some_and(|b| read_feed(&b, uri).is_ok_and(|links| !links.is_empty()))
}

async fn is_sitemap(fetcher: &Fetcher, uri: &CrawlUri) -> bool {
    let Some(body) = get(fetcher, uri).await else {
        return false;
    };
    let found = read_sitemap(&body, uri);
    !found.pages.is_empty() || !found.sitemaps.is_empty()
}

/// The file of a site, with a word on each key that a person may want to change.
fn site_file(seed: &CrawlUri, name: &str, probe: &Probe) -> String {
    let defaults = Site::default();
    let title = probe
        .title
        .as_deref()
        .map(|t| format!("{} - ", output::printable(t)))
        .unwrap_or_default();
    let list = |uris: &[CrawlUri]| {
        let quoted: Vec<String> = uris.iter().map(|u| format!("\"{u}\"")).collect();
        quoted.join(", ")
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
        r##"# {title}{seed}
# Every key with its default: config/sites.d/README.md. After a change: taojin check && systemctl reload taojin

name = "{name}"

# Pages where a cycle begins: the front page, and section pages that change often.
seeds = ["{seed}"]

# Feeds and sitemaps read in each cycle. Those that robots.txt names are read anyway (robots_sitemaps = true).
feeds = [{}]
sitemaps = [{}]

# When a cycle begins: minute hour day month weekday.
schedule = "{}"
time_zone = "{}"

# Least time between two fetches, in milliseconds; the crawler's own politeness holds in any case.{}
# delay_ms = 2000

# Terms of the field, kept whole in search: built-in "oil-gas", or files.
# lexicons = ["oil-gas"]

[scope]
# Hosts of the site: www.example.com, or *.example.com for a domain and all below it.
hosts = ["{}"]
# Only paths that match one of these, and none of those: "/news/", "/news/*/list", "~^/\\d{{4}}/"
include = []
exclude = []
"##,
        list(&probe.feeds),
        list(sitemaps),
        defaults.schedule,
        defaults.time_zone,
        delay.unwrap_or_default(),
        seed.authority(),
    )
}

fn list(loaded: &Loaded, json: bool) -> anyhow::Result<()> {
    // Without a store nothing was crawled, so nothing is paused.
    let reader = Reader::open(&loaded.config.data_dir).ok();
    for site in &loaded.sites {
        let record = reader.as_ref().and_then(|r| r.site(&site.name).ok()?);
        let paused_ms = record.and_then(|r| r.paused_ms);
        if json {
            let mut value = serde_json::to_value(site)?;
            if let (Some(object), Some(ms)) = (value.as_object_mut(), paused_ms) {
                object.insert("paused_ms".to_owned(), ms.into());
            }
            output::json(&value)?;
        } else {
            let state = match (site.enabled, paused_ms) {
                (false, _) => "  (disabled)".to_owned(),
                (true, Some(_)) => format!(
                    "  (paused by the operator since {})",
                    super::status::time(paused_ms)
                ),
                (true, None) => String::new(),
            };
            output::line(&format!(
                "{}  {}  {}{state}",
                site.name,
                site.schedule,
                site.seeds.join(" ")
            ));
        }
    }
    if loaded.sites.is_empty() {
        output::note(&format!(
            "no sites in {}; add one with: taojin site add URL",
            loaded.config.sites_dir.display()
        ));
    }
    Ok(())
}
