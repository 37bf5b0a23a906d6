//! Commands without a daemon. In: a configuration and a command. Out: the same as from a daemon: what was done, durable in
//! the store and in the index. Holds the lock of the data folder meanwhile.

use super::actions::{self, broken};
use crate::config::Loaded;
use crate::daemon::index;
use crate::documents::IndexAt;
use crate::serve::{CommandDone, CommandRefused, SiteCommand, Why};
use taojin_crawl::store::Store;

/// Carries out a command that asks no server anything.
pub fn carry_out(
    loaded: &Loaded,
    mut store: Store,
    command: &SiteCommand,
    now_ms: i64,
) -> Result<CommandDone, CommandRefused> {
    let (sites, place) = (&loaded.sites, IndexAt::of(loaded));
    let store = &mut store;
    match command {
        SiteCommand::Pause { site } => actions::pause(store, sites, site, true, now_ms),
        SiteCommand::Resume { site } => actions::pause(store, sites, site, false, now_ms),
        SiteCommand::Purge { site } | SiteCommand::Forget { site } => {
            let (done, _) = actions::purge_site(store, sites, &place, site, now_ms, |_| {})?;
            into_index(loaded)?;
            Ok(done)
        }
        SiteCommand::PurgeUrl { url } => {
            let uri = actions::address(url)?;
            let (done, _) = actions::purge_url(store, &uri, now_ms)?;
            into_index(loaded)?;
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

/// Every change, into the index.
fn into_index(loaded: &Loaded) -> Result<(), CommandRefused> {
    index::catch_up(loaded).map_err(|e| {
        let e = format!("{e:#}; the next crawl or run removes it from the index");
        broken(&e)
    })
}
