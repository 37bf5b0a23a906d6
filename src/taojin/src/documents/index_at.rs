//! Where the search index is: in a folder, or in an engine that is reached over HTTP.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::StoreDocuments;
use crate::config::LoadedConfig;
use crate::engine::{Account, HttpTransport};
use taojin_crawl::store::StorePlace;
use taojin_search::analyze::Analyzer;
use taojin_search::index::remote::{Layout, RemoteIndex};
use taojin_search::index::{self, CommitPayload, IndexError, Reader, SkippedDocuments};

/// An index in an engine, and how it is made there.
#[derive(Clone)]
pub(crate) struct RemoteAt {
    pub(crate) index: RemoteIndex,
    pub(crate) layout: Layout,
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
    pub(crate) fn new(loaded: &LoadedConfig) -> Self {
        Self {
            dir: loaded.index_dir(),
            documents: loaded.documents_place(),
            config: loaded.config.index.clone(),
            remote: remote(loaded),
        }
    }

    /// The directory, where there is one.
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// The engine, where the index is in one.
    pub(crate) fn remote(&self) -> Option<&RemoteAt> {
        self.remote.as_ref()
    }

    /// The index, for searching, with the documents of its store.
    pub(crate) fn open(&self, analyzer: &Analyzer) -> Result<Reader, IndexError> {
        let documents = Arc::new(StoreDocuments::new(&self.documents));
        match &self.remote {
            None => Reader::open(&self.dir, analyzer, &self.config, documents),
            Some(remote) => {
                let index = remote.index.clone();
                Ok(Reader::remote(index, analyzer, &self.config, documents))
            }
        }
    }

    /// What the last commit of the index says; the default where there is none.
    pub(crate) fn noted(&self) -> Result<CommitPayload, IndexError> {
        match &self.remote {
            None => Ok(index::noted(&self.dir).unwrap_or_default()),
            Some(remote) => Ok(remote.index.state()?.into()),
        }
    }

    /// The last change that the index has; `None` if it is not of this store.
    pub(crate) fn seq_of(&self, store_id: i64) -> Result<Option<u64>, IndexError> {
        let noted = self.noted()?;
        Ok((noted.store == store_id).then_some(noted.seq))
    }

    /// The documents that the index could not take.
    pub(crate) fn left_out(&self) -> SkippedDocuments {
        self.noted().unwrap_or_default().left_out
    }
}

/// The engine that the settings name.
fn remote(loaded: &LoadedConfig) -> Option<RemoteAt> {
    let search = &loaded.config.search;
    let account = Account {
        user: search.user.clone(),
        password_file: loaded.placed(&search.password_file),
        ca_file: loaded.placed(&search.ca_file),
        certificate: loaded
            .placed(&search.client_certificate_file)
            .zip(loaded.placed(&search.client_key_file)),
    };
    search.engine.is_remote().then(|| RemoteAt {
        index: RemoteIndex::new(
            Arc::new(HttpTransport::new(search.addresses(), account)),
            &search.index,
        ),
        layout: Layout {
            shards: search.shards,
            replicas: search.replicas,
        },
    })
}
