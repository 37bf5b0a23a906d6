//! What may change while the daemon runs. In: the configuration as it was read again (SIGHUP). Out: its sites and
//! topics, to everybody who goes by them. Never reads a file, and never looks at what takes a restart.

use std::sync::mpsc::SyncSender;

use tokio::sync::{mpsc, watch};

use super::crawl_loop::Event;
use crate::config::Loaded;
use crate::schedule::Site;
use crate::serve::Follow;

/// The sites and topics of this moment.
#[derive(Debug, Clone)]
pub(super) struct Current {
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

/// Passes on what comes, until nobody sends any more.
pub(super) async fn pass_on(
    mut reload: mpsc::Receiver<Loaded>,
    events: SyncSender<Event>,
    lexicons: std::sync::mpsc::Sender<Vec<Site>>,
    current: watch::Sender<Current>,
) {
    while let Some(loaded) = reload.recv().await {
        let new = Current::of(&loaded);
        // Nobody listens any more only while the daemon stops.
        let _ = lexicons.send(new.sites.clone());
        let _ = events.try_send(Event::Sites(new.sites.clone()));
        current.send_replace(new);
    }
}
