//! What may change while the daemon runs. In: the configuration as it was read again (SIGHUP). Out: its sites and
//! topics, to everybody who goes by them; or, if there is a mistake in it, the mistake in the log and in the status,
//! and everything stays as it was. Never reads a file, and never looks at what takes a restart.

use std::sync::Arc;

use tokio::sync::{mpsc, watch};

use super::Shared;
use super::report::systemd;
use crate::config::{ConfigError, Loaded};
use crate::serve::Follow;
use taojin_crawl::schedule::Site;
use taojin_search::index::SiteTitles;

/// The sites and topics of this moment.
#[derive(Debug, Clone)]
pub(crate) struct Current {
    pub(super) sites: Vec<Site>,
    pub(super) follows: Vec<Follow>,
}

impl Current {
    pub(super) fn of(loaded: &Loaded) -> Self {
        Self {
            sites: loaded.sites.clone(),
            follows: loaded.config.follow.clone(),
        }
    }
}

/// What readers call the sites of each moment.
pub(super) fn titles(current: watch::Receiver<Current>) -> SiteTitles {
    SiteTitles::new(move || titles_of(&current.borrow().sites))
}

/// Name and title of each site.
pub(crate) fn titles_of(sites: &[Site]) -> Vec<(String, String)> {
    let pair = |site: &Site| (site.name.clone(), site.title.clone());
    sites.iter().map(pair).collect()
}

/// Passes on what comes, until nobody sends any more. Nothing that was sent is dropped: the crawl loop finds the newest
/// sites when it turns, however much else it has to do.
pub(super) async fn pass_on(
    mut reload: mpsc::Receiver<Result<Loaded, ConfigError>>,
    shared: Arc<Shared>,
    lexicons: std::sync::mpsc::Sender<Vec<Site>>,
    current: watch::Sender<Current>,
) {
    while let Some(read) = reload.recv().await {
        let loaded = match read {
            Ok(loaded) => loaded,
            Err(error) => {
                tracing::error!("reload refused, everything stays as it was: {error}");
                shared.set_refused(Some(error.to_string()));
                systemd::status(&shared.refused().unwrap_or_default());
                continue;
            }
        };
        let new = Current::of(&loaded);
        tracing::info!(
            sites = new.sites.len(),
            topics = new.follows.len(),
            "configuration read again"
        );
        shared.set_refused(None);
        systemd::status("configuration read again");
        // Nobody listens any more only while the daemon stops.
        let _ = lexicons.send(new.sites.clone());
        current.send_replace(new);
    }
}
