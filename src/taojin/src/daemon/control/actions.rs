//! What the commands do to the store. In: an open store, the sites of the configuration, a command. Out: what was done,
//! durable. The crawl loop and the command line call the same functions.

use std::sync::Arc;

use crate::config;
use crate::daemon::now_ms;
use crate::documents::IndexAt;
use crate::serve::{CommandDone, CommandRefused, Why};
use taojin_crawl::frontier::{Refusal, Scope};
use taojin_crawl::schedule::Site;
use taojin_crawl::store::{Purged, Store};
use taojin_search::analyze::Analyzer;
use taojin_search::index::IndexError;
use taojin_uri::CrawlUri;

type Outcome<T> = Result<T, CommandRefused>;

/// The documents that the index has of a site; none where there is no index yet.
fn indexed(index: &IndexAt, site: &str) -> Outcome<Vec<u64>> {
    match index.open(&Analyzer::new(&[])) {
        Ok(reader) => Ok(reader.fingerprints_of_site(site)?),
        Err(IndexError::Missing(_)) => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
}

/// The store or the index failed.
pub(in crate::daemon) fn broken(error: &dyn std::fmt::Display) -> CommandRefused {
    CommandRefused::new(Why::Failed, error.to_string())
}

/// The address that a person wrote.
pub(super) fn address(text: &str) -> Outcome<CrawlUri> {
    CrawlUri::parse(text).map_err(|e| {
        let mend = "write a whole address like https://www.example.com/";
        CommandRefused::new(Why::Mistake, format!("{text}: {e}; {mend}"))
    })
}

/// The site of this name, if it is crawled.
pub(super) fn crawled<'a>(sites: &'a [Site], name: &str) -> Outcome<&'a Site> {
    let Some(site) = sites.iter().find(|s| s.name == name) else {
        return Err(no_such_site(name, sites.iter().map(|s| s.name.as_str())));
    };
    if !site.enabled {
        let message = format!("{name}: the site is not enabled (enabled = false in its file)");
        return Err(CommandRefused::new(Why::Mistake, message));
    }
    Ok(site)
}

pub(super) fn no_such_site<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> CommandRefused {
    let known: Vec<&str> = known.collect();
    let near = config::did_you_mean(name, &known);
    CommandRefused::new(
        Why::NoSuchSite,
        format!("{name}: no site has this name{near}"),
    )
}

/// Refuses to crawl a site that the operator has paused.
pub(in crate::daemon) fn not_paused(store: &Store, name: &str) -> Outcome<()> {
    let record = store.site(name)?;
    match record.and_then(|r| r.paused_ms) {
        Some(_) => Err(CommandRefused::new(
            Why::NotNow,
            format!("{name}: the site is paused; first: taojin resume {name}"),
        )),
        None => Ok(()),
    }
}

/// Refuses to fetch an address that was taken down.
pub(super) fn not_taken_down(store: &Store, uri: &CrawlUri) -> Outcome<()> {
    match store.takedown(uri)? {
        Some(_) => Err(CommandRefused::new(
            Why::Mistake,
            format!("{uri}: was taken down; to lift that: taojin purge --allow {uri}"),
        )),
        None => Ok(()),
    }
}

/// The site in whose scope an address is, and how many links from a seed it counts; else why no site takes it.
pub(super) fn home(sites: &[Site], uri: &CrawlUri) -> Outcome<(Arc<str>, u16)> {
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
    let message = match reasons.is_empty() {
        true => format!(
            "{uri}: no site has the host {}; add it to [scope] hosts of a site, or: taojin site add {uri}",
            uri.authority()
        ),
        false => format!("{uri}: {}", reasons.join("; ")),
    };
    Err(CommandRefused::new(Why::Mistake, message))
}

/// Pauses a site, or lets it go on.
pub(super) fn pause(
    store: &mut Store,
    sites: &[Site],
    name: &str,
    paused: bool,
    now_ms: i64,
) -> Outcome<CommandDone> {
    crawled(sites, name)?;
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
pub(super) fn purge_site(
    store: &mut Store,
    sites: &[Site],
    index: &IndexAt,
    name: &str,
    now_ms: i64,
    each: impl FnMut(usize),
) -> Outcome<(CommandDone, Purged)> {
    let configured = sites.iter().any(|s| s.name == name);
    let indexed = indexed(index, name)?;
    let record = store.site(name)?;
    if !configured && record.is_none() && indexed.is_empty() {
        let known = store.sites()?;
        let known = known.iter().map(|r| &*r.name);
        return Err(no_such_site(
            name,
            sites.iter().map(|s| s.name.as_str()).chain(known),
        ));
    }
    let purged = store.purge_site(name, configured, &indexed, now_ms, each)?;
    let done = CommandDone {
        site: Some(name.to_owned()),
        documents: Some(purged.documents.len() as u64),
        urls: Some(purged.urls as u64),
        ..CommandDone::default()
    };
    Ok((done, purged))
}

/// Takes a document down.
pub(super) fn purge_url(
    store: &mut Store,
    uri: &CrawlUri,
    now_ms: i64,
) -> Outcome<(CommandDone, Purged)> {
    // An imported document has no address among those that are crawled.
    let before = store.document(uri.fingerprint())?;
    let imported = before.is_some_and(|row| row.body.is_some());
    let mut purged = store.take_down(uri, now_ms)?;
    if imported && !purged.documents.contains(&uri.fingerprint()) {
        purged.documents.push(uri.fingerprint());
    }
    let done = CommandDone {
        url: Some(uri.to_string()),
        documents: Some(purged.documents.len() as u64),
        addresses: purged.addresses.iter().map(ToString::to_string).collect(),
        ..CommandDone::default()
    };
    Ok((done, purged))
}

/// Lifts a takedown; the fingerprints of the addresses come with it.
pub(super) fn allow(
    store: &mut Store,
    uri: &CrawlUri,
    now_ms: i64,
) -> Outcome<(CommandDone, Vec<u64>)> {
    let lifted = store.allow_again(uri, now_ms)?;
    if lifted.is_empty() {
        let message = format!("{uri}: was not taken down");
        return Err(CommandRefused::new(Why::Mistake, message));
    }
    let done = CommandDone {
        url: Some(uri.to_string()),
        addresses: lifted.iter().map(|t| t.url.clone()).collect(),
        ..CommandDone::default()
    };
    let fingerprints = lifted.iter().map(|t| t.fingerprint).collect();
    Ok((done, fingerprints))
}
