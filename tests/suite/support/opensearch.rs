//! OpenSearch for the tests of the program.

use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use taojin_test_opensearch::{OpenSearch, Unavailable};

use super::say;

/// One at a time: each takes half a gigabyte.
static ONE: Mutex<()> = Mutex::new(());

/// OpenSearch on this machine, ended with this value.
pub(crate) struct Engine {
    opensearch: OpenSearch,
    _one: MutexGuard<'static, ()>,
}

impl Engine {
    /// Starts so many nodes. None, and a word that the test is skipped, where it cannot be had.
    pub(crate) fn start(test: &str, nodes: usize) -> Option<Self> {
        Self::alone(test, || OpenSearch::start(nodes))
    }

    /// The same with the security plugin and these files in its configuration.
    pub(crate) fn start_secured(test: &str, nodes: usize, config: &Path) -> Option<Self> {
        Self::alone(test, || OpenSearch::start_secured(nodes, config))
    }

    fn alone(
        test: &str,
        start: impl FnOnce() -> Result<OpenSearch, &'static Unavailable>,
    ) -> Option<Self> {
        let one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        match start() {
            Ok(opensearch) => Some(Self {
                opensearch,
                _one: one,
            }),
            Err(unavailable) => {
                say(&format!("{test}: skipped, {unavailable}"));
                None
            }
        }
    }

    /// Documents of all indexes but those of their states.
    pub(crate) fn documents(&self) -> u64 {
        let count = self.get("/taojin-v*,-*-state/_count");
        count.map_or(0, |count| count["count"].as_u64().unwrap_or(0))
    }

    /// An index of a shard for each node, with another copy where there are several.
    pub(crate) fn settings(&self) -> String {
        let urls = self.urls();
        let (shards, replicas) = (urls.len(), usize::from(urls.len() > 1));
        format!(
            "[search]\nengine = \"opensearch\"\nurl = {:?}\nshards = {shards}\nreplicas = {replicas}\n",
            urls.join(",")
        )
    }
}

impl Deref for Engine {
    type Target = OpenSearch;

    fn deref(&self) -> &OpenSearch {
        &self.opensearch
    }
}

impl DerefMut for Engine {
    fn deref_mut(&mut self) -> &mut OpenSearch {
        &mut self.opensearch
    }
}
