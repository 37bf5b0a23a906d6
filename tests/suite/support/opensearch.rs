//! OpenSearch for the tests of the program.

use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use taojin_test_opensearch::{OpenSearch, Unavailable, send};

use super::say;

/// One at a time: each takes half a gigabyte. A single node that a test has left in order is there for the next one.
static ONE: Mutex<Option<OpenSearch>> = Mutex::new(None);

/// OpenSearch on this machine, without an index.
pub(crate) struct Engine {
    opensearch: Option<OpenSearch>,
    /// Whether other tests may have it after this one.
    is_shared: bool,
    one: MutexGuard<'static, Option<OpenSearch>>,
}

impl Engine {
    /// Starts so many nodes. None, and a word that the test is skipped, where it cannot be had.
    pub(crate) fn start(test: &str, nodes: usize) -> Option<Self> {
        Self::alone(test, nodes == 1, || OpenSearch::start(nodes))
    }

    /// The same with the security plugin and these files in its configuration.
    pub(crate) fn start_secured(test: &str, nodes: usize, config: &Path) -> Option<Self> {
        Self::alone(test, false, || OpenSearch::start_secured(nodes, config))
    }

    fn alone(
        test: &str,
        is_shared: bool,
        start: impl FnOnce() -> Result<OpenSearch, &'static Unavailable>,
    ) -> Option<Self> {
        let mut one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = one.take().filter(|_| is_shared);
        match kept.map_or_else(start, Ok) {
            Ok(opensearch) => Some(Self {
                opensearch: Some(opensearch),
                is_shared,
                one,
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
        self.opensearch.as_ref().expect("it is there until the end")
    }
}

impl DerefMut for Engine {
    fn deref_mut(&mut self) -> &mut OpenSearch {
        self.opensearch.as_mut().expect("it is there until the end")
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        let is_in_order = self.is_shared && !thread::panicking() && self.get("/").is_some();
        let opensearch = self.opensearch.take().filter(|_| is_in_order);
        if let Some(opensearch) = opensearch {
            let deleted = send(opensearch.port(0), "DELETE", "/*", b"");
            *self.one = deleted
                .is_ok_and(|(status, _)| status == 200)
                .then_some(opensearch);
        }
    }
}
