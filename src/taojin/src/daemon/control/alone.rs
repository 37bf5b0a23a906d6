//! Commands without a daemon. In: a configuration and a command. Out: the same as from a daemon: what was done, durable in
//! the store and in the index. Holds the lock of the data folder meanwhile.

use super::actions::{self, IndexPlace, broken, store_failed};
use crate::config::Loaded;
use crate::daemon::indexer;
use crate::serve::{CommandDone, CommandRefused, SiteCommand, Why};
use taojin_crawl::store::Store;

/// Carries out a command that asks no server anything.
pub fn carry_out(
    loaded: &Loaded,
    mut store: Store,
    command: &SiteCommand,
    now_ms: i64,
) -> Result<CommandDone, CommandRefused> {
    let (sites, index) = (&loaded.sites, IndexPlace::of(loaded));
    let store = &mut store;
    match command {
        SiteCommand::Pause { site } => actions::pause(store, sites, site, true, now_ms),
        SiteCommand::Resume { site } => actions::pause(store, sites, site, false, now_ms),
        SiteCommand::Purge { site } | SiteCommand::Forget { site } => {
            let (done, _) = actions::purge_site(store, sites, &index, site, |_| {})?;
            into_index(loaded, store)?;
            Ok(done)
        }
        SiteCommand::PurgeUrl { url } => {
            let uri = actions::address(url)?;
            let (done, _) = actions::purge_url(store, &index, &uri, now_ms)?;
            into_index(loaded, store)?;
            Ok(done)
        }
        SiteCommand::Allow { url } => {
            let uri = actions::address(url)?;
            Ok(actions::allow(store, &uri, now_ms)?.0)
        }
        SiteCommand::Visit { .. } | SiteCommand::VisitUrl { .. } => Err(CommandRefused::new(
            Why::NoCrawler,
            "no crawler runs on this data folder; start it with: taojin run",
        )),
    }
}

/// Everything in the outbox, into the index.
fn into_index(loaded: &Loaded, store: &Store) -> Result<(), CommandRefused> {
    let reader = store.reader().map_err(store_failed)?;
    indexer::empty_outbox(loaded, reader).map_err(|e| {
        let e = format!("{e:#}; what was taken out leaves the index with the next crawl or run");
        broken(&e)
    })
}
