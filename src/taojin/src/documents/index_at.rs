//! Where the search index is: in a folder, or in an engine that is reached over the network. In: settings. Out: readers, and
//! how far the index is.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::StoreDocuments;
use super::transport::{Account, HttpTransport};
use crate::config::Loaded;
use taojin_crawl::store::StorePlace;
use taojin_search::analyze::Analyzer;
use taojin_search::index::remote::{RemoteIndex, RemoteState};
use taojin_search::index::{self, AllLeftOut, IndexError, Reader};

/// An index in an engine, and how it is made there.
#[derive(Clone)]
pub(crate) struct RemoteAt {
    pub(crate) index: RemoteIndex,
    pub(crate) shards: u32,
    pub(crate) replicas: u32,
}

/// Where the search index is.
#[derive(Clone)]
pub(crate) struct IndexAt {
    dir: PathBuf,
    documents: StorePlace,
    config: index::Config,
    remote: Option<RemoteAt>,
}

impl IndexAt {
    pub(crate) fn of(loaded: &Loaded) -> Self {
        Self {
            dir: loaded.index_dir(),
            documents: loaded.documents_place(),
            config: loaded.config.index.clone(),
            remote: remote(loaded),
        }
    }

    /// The folder, where there is one.
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// The engine, where the index is in one.
    pub(crate) fn remote(&self) -> Option<&RemoteAt> {
        self.remote.as_ref()
    }

    /// The index, for searching, with the documents of its store.
    pub(crate) fn open(&self, analyzer: &Analyzer) -> Result<Reader, IndexError> {
        let documents = Arc::new(StoreDocuments::of(&self.documents));
        match &self.remote {
            None => Reader::open(&self.dir, analyzer, &self.config, documents),
            Some(remote) => {
                let index = remote.index.clone();
                Ok(Reader::remote(index, analyzer, &self.config, documents))
            }
        }
    }

    /// The last change that the index has; 0 where that cannot be told.
    pub(crate) fn committed_seq(&self) -> u64 {
        match &self.remote {
            None => index::committed_seq(&self.dir),
            Some(remote) => state(remote).seq,
        }
    }

    /// The last change that the index has; none where it is not of this store.
    pub(crate) fn seq_of(&self, store_id: i64) -> Result<Option<u64>, IndexError> {
        Ok(match &self.remote {
            None => index::noted(&self.dir)
                .filter(|noted| noted.store == store_id)
                .map(|noted| noted.seq),
            Some(remote) => {
                let state = remote.index.state()?;
                (state.store == store_id).then_some(state.seq)
            }
        })
    }

    /// The documents that the index could not take.
    pub(crate) fn left_out(&self) -> AllLeftOut {
        match &self.remote {
            None => index::noted(&self.dir).unwrap_or_default().left_out,
            Some(remote) => state(remote).left_out,
        }
    }
}

fn state(remote: &RemoteAt) -> RemoteState {
    remote.index.state().unwrap_or_default()
}

/// The engine that the settings name.
fn remote(loaded: &Loaded) -> Option<RemoteAt> {
    let search = &loaded.config.search;
    let account = Account {
        user: search.user.clone(),
        password_file: loaded.placed(&search.password_file),
        ca_file: loaded.placed(&search.ca_file),
    };
    search.engine.is_remote().then(|| RemoteAt {
        index: RemoteIndex::new(
            Arc::new(HttpTransport::new(&search.url, account)),
            &search.index,
        ),
        shards: search.shards,
        replicas: search.replicas,
    })
}
