//! OpenSearch for the tests of the program.

use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use taojin_test_opensearch::{OpenSearch, Unavailable, send};

use super::say;

/// Two at a time: each takes half a gigabyte and a processor.
static PLACES: Mutex<Places> = Mutex::new(Places {
    free: 2,
    kept: Vec::new(),
});
/// Told when one is free.
static FREED: Condvar = Condvar::new();

struct Places {
    free: usize,
    /// Single nodes that tests have left in order, for the next ones.
    kept: Vec<OpenSearch>,
}

fn places() -> MutexGuard<'static, Places> {
    PLACES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// OpenSearch on this machine, without an index.
pub(crate) struct Engine {
    opensearch: Option<OpenSearch>,
    /// Whether other tests may have it after this one.
    is_shared: bool,
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
        let mut places = places();
        while places.free == 0 {
            places = FREED.wait(places).unwrap_or_else(PoisonError::into_inner);
        }
        places.free -= 1;
        let kept = places.kept.pop().filter(|_| is_shared);
        drop(places);
        let mut engine = Self {
            opensearch: None,
            is_shared,
        };
        match kept.map_or_else(start, Ok) {
            Ok(opensearch) => {
                engine.opensearch = Some(opensearch);
                Some(engine)
            }
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
        let is_shared = self.is_shared && !thread::panicking();
        let kept = self.opensearch.take().filter(|opensearch| {
            let deleted = is_shared.then(|| send(opensearch.port(0), "DELETE", "/*", b""));
            deleted.is_some_and(|deleted| deleted.is_ok_and(|(status, _)| status == 200))
        });
        let mut places = places();
        places.free += 1;
        places.kept.extend(kept);
        FREED.notify_one();
    }
}
