//! What the operator's commands do to the store.
//!
//! Inside the daemon the [crawler](crate::daemon::crawl::crawler) executes them, since it owns the frontier and the store. Without a
//! daemon [`execute_alone`] works on a store that was just opened, and holds the lock of the data directory meanwhile.

use std::sync::Arc;

use crate::config::{self, LoadedConfig};
use crate::daemon::{index, now_ms};
use crate::documents::IndexAt;
use crate::serve::{Command, CommandDone, CommandError};
use taojin_crawl::schedule::Site;
use taojin_crawl::scope::{Refusal, Scope};
use taojin_crawl::store::{Purged, Reader, Store};
use taojin_search::analyze::Analyzer;
use taojin_search::index::IndexError;
use taojin_uri::CrawlUri;

pub(in crate::daemon) type CommandResult<T> = Result<T, CommandError>;

/// Returns the documents that the index has of a site: none if there is no index yet.
fn indexed_documents(index: &IndexAt, site: &str) -> CommandResult<Vec<u64>> {
    match index.open(&Analyzer::new(&[])) {
        Ok(reader) => Ok(reader.fingerprints_of_site(site)?),
        Err(IndexError::Missing(_)) => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
}

/// Parses the URL that a person wrote.
pub(in crate::daemon) fn parse_url(text: &str) -> CommandResult<CrawlUri> {
    CrawlUri::parse(text).map_err(|e| CommandError::InvalidUrl {
        url: text.to_owned(),
        reason: e.to_string(),
    })
}

/// Returns the site of this name, if it is crawled.
pub(in crate::daemon) fn find_crawled<'a>(
    sites: &'a [Site],
    name: &str,
) -> CommandResult<&'a Site> {
    let Some(site) = sites.iter().find(|s| s.name == name) else {
        return Err(unknown_site(name, sites.iter().map(|s| s.name.as_str())));
    };
    if !site.enabled {
        let site = name.to_owned();
        return Err(CommandError::SiteDisabled { site });
    }
    Ok(site)
}

pub(in crate::daemon) fn unknown_site<'a>(
    site: &str,
    known: impl Iterator<Item = &'a str>,
) -> CommandError {
    let known: Vec<&str> = known.collect();
    CommandError::UnknownSite {
        site: site.to_owned(),
        similar: config::nearest(site, &known).map(str::to_owned),
    }
}

/// Refuses to crawl a site that the operator has paused.
pub(in crate::daemon) fn ensure_not_paused(store: &Reader, name: &str) -> CommandResult<()> {
    let record = store.site(name)?;
    if record.is_some_and(|site| site.paused_ms.is_some()) {
        let site = name.to_owned();
        return Err(CommandError::SitePaused { site });
    }
    Ok(())
}

/// Refuses to fetch a URL that was taken down.
pub(in crate::daemon) fn ensure_not_taken_down(store: &Store, uri: &CrawlUri) -> CommandResult<()> {
    if store.takedown(uri)?.is_some() {
        let url = uri.to_string();
        return Err(CommandError::TakenDown { url });
    }
    Ok(())
}

/// Returns the site in whose scope a URL is, and how many links from a seed it counts; else why no site takes it.
pub(in crate::daemon) fn find_site_for(
    sites: &[Site],
    uri: &CrawlUri,
) -> CommandResult<(Arc<str>, u16)> {
    let mut reasons = Vec::new();
    for site in sites.iter().filter(|s| s.enabled) {
        let entries = site.addresses().unwrap_or_default();
        let mut named = entries
            .seeds
            .iter()
            .chain(&entries.feeds)
            .chain(&entries.sitemaps);
        let hops = u16::from(!named.any(|entry| entry == uri));
        let Ok(scope) = Scope::new(site) else {
            continue;
        };
        match scope.check(uri, hops, 0, now_ms()) {
            Ok(()) => return Ok((Arc::from(site.name.as_str()), hops)),
            Err(Refusal::Host) => {}
            Err(refusal) => reasons.push(format!("site {}: {}", site.name, refusal.describe())),
        }
    }
    let url = uri.to_string();
    Err(if reasons.is_empty() {
        let host = uri.authority().to_string();
        CommandError::UnknownHost { url, host }
    } else {
        CommandError::OutOfScope { url, reasons }
    })
}

/// Pauses or resumes a site.
pub(in crate::daemon) fn set_paused(
    store: &mut Store,
    sites: &[Site],
    name: &str,
    paused: bool,
    now_ms: i64,
) -> CommandResult<CommandDone> {
    find_crawled(sites, name)?;
    let before = store.site(name)?;
    let before = before.and_then(|record| record.paused_ms);
    let since = paused.then(|| before.unwrap_or(now_ms));
    store.set_operator_pause(&Arc::from(name), since, now_ms)?;
    Ok(CommandDone {
        site: Some(name.to_owned()),
        paused_ms: since,
        ..CommandDone::default()
    })
}

/// Takes all of a site out. `each` is told how many addresses are gone so far.
pub(in crate::daemon) fn purge_site(
    store: &mut Store,
    sites: &[Site],
    index: &IndexAt,
    name: &str,
    now_ms: i64,
    each: impl FnMut(usize),
) -> CommandResult<(CommandDone, Purged)> {
    let configured = sites.iter().any(|s| s.name == name);
    let indexed = indexed_documents(index, name)?;
    let record = store.site(name)?;
    if !configured && record.is_none() && indexed.is_empty() {
        let known = store.sites()?;
        let known = known.iter().map(|r| &*r.name);
        return Err(unknown_site(
            name,
            sites.iter().map(|s| s.name.as_str()).chain(known),
        ));
    }
    let purged = store
        .purge()
        .site(name, configured, &indexed, now_ms, each)?;
    let done = CommandDone {
        site: Some(name.to_owned()),
        documents: Some(purged.documents.len() as u64),
        urls: Some(purged.urls as u64),
        ..CommandDone::default()
    };
    Ok((done, purged))
}

/// Takes a document down.
pub(in crate::daemon) fn purge_url(
    store: &mut Store,
    uri: &CrawlUri,
    now_ms: i64,
) -> CommandResult<(CommandDone, Purged)> {
    let purged = store.purge().page(uri, now_ms)?;
    let done = CommandDone {
        url: Some(uri.to_string()),
        documents: Some(purged.documents.len() as u64),
        addresses: purged.addresses.iter().map(ToString::to_string).collect(),
        ..CommandDone::default()
    };
    Ok((done, purged))
}

/// Lifts a takedown, of all addresses that were named with this one.
pub(in crate::daemon) fn allow(
    store: &mut Store,
    uri: &CrawlUri,
    now_ms: i64,
) -> CommandResult<CommandDone> {
    let lifted = store.purge().allow(uri, now_ms)?;
    if lifted.is_empty() {
        let url = uri.to_string();
        return Err(CommandError::NotTakenDown { url });
    }
    Ok(CommandDone {
        url: Some(uri.to_string()),
        addresses: lifted.into_iter().map(|t| t.url).collect(),
        ..CommandDone::default()
    })
}

/// Executes a command that fetches nothing, without a daemon.
pub fn execute_alone(
    loaded: &LoadedConfig,
    mut store: Store,
    command: &Command,
    now_ms: i64,
) -> CommandResult<CommandDone> {
    let (sites, place) = (&loaded.sites, IndexAt::new(loaded));
    let store = &mut store;
    match command {
        Command::SetPaused { site, paused } => set_paused(store, sites, site, *paused, now_ms),
        Command::Purge { site, .. } => {
            let (done, _) = purge_site(store, sites, &place, site, now_ms, |_| {})?;
            update_index(loaded)?;
            Ok(done)
        }
        Command::PurgeUrl { url } => {
            let uri = parse_url(url)?;
            let (done, _) = purge_url(store, &uri, now_ms)?;
            update_index(loaded)?;
            Ok(done)
        }
        Command::Allow { url } => {
            let uri = parse_url(url)?;
            allow(store, &uri, now_ms)
        }
        Command::Crawl { .. }
        | Command::Visit { .. }
        | Command::Reindex
        | Command::TakeOverIndex
        | Command::Status => {
            let text = "no crawler runs on this data folder; start it with: taojin run";
            Err(CommandError::NoCrawler(text.to_owned()))
        }
    }
}

/// Brings every change into the index.
fn update_index(loaded: &LoadedConfig) -> CommandResult<()> {
    index::catch_up(loaded).map_err(|e| {
        let e = format!("{e:#}; the next crawl or run removes it from the index");
        CommandError::failed(e)
    })
}
