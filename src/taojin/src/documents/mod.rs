//! Documents between the store, which keeps them, and the index, which finds them. In: documents and rows of the log. Out:
//! each in the form that the other side takes.

pub(crate) mod attachment;
mod encoded;
mod history;
mod index_at;
mod log;

use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context as _;
pub use encoded::{EncodedDocument, encode};
pub(crate) use encoded::{from_json, unpack, wording};
pub(crate) use index_at::{IndexAt, RemoteAt};
pub use log::StoreLog;

use crate::config::{INDEX_DIR, LoadedConfig};
use crate::engine::{Account, HttpTransport};
use taojin_crawl::store::{self, DocumentRow, StoreError, StorePlace};
use taojin_search::analyze::Analyzer;
use taojin_search::index::remote::RemoteIndex;
use taojin_search::index::{self, DocumentSource, IndexError, Reader, SourceError, StoredDocument};
use taojin_uri::CrawlUri;

/// The document of a row; `None` if the row says that it is gone. An error names a row that cannot be read.
pub fn decode(reader: &store::Reader, row: &DocumentRow) -> anyhow::Result<Option<StoredDocument>> {
    let Some(body) = reader.body(row)? else {
        return Ok(None);
    };
    let (fetched_ms, document) = unpack(&body)
        .with_context(|| format!("document {:016x} ({})", row.fingerprint, row.url))?;
    Ok(Some(StoredDocument {
        fingerprint: row.fingerprint,
        seq: u64::try_from(row.seq).unwrap_or_default(),
        fetched_ms,
        changed_ms: row.changed_ms,
        document,
    }))
}

/// The index that the settings name, for searching, with the documents of its store.
pub fn open_index(loaded: &LoadedConfig, analyzer: &Analyzer) -> anyhow::Result<Reader> {
    loaded.refuse_without_index()?;
    Ok(IndexAt::new(loaded).open(analyzer)?)
}

/// The index `name` in the OpenSearch or Elasticsearch at `address`, without a configuration and without an account.
pub fn engine_index(address: &str, name: &str) -> RemoteIndex {
    let transport = HttpTransport::new([address].into_iter(), Account::default());
    RemoteIndex::new(Arc::new(transport), name)
}

/// The index in the data directory, without a configuration.
pub fn open_folder(
    place: impl Into<StorePlace>,
    analyzer: &Analyzer,
    config: &index::Config,
) -> Result<Reader, IndexError> {
    let place = place.into();
    let documents = Arc::new(StoreDocuments::new(&place));
    Reader::open(&place.dir().join(INDEX_DIR), analyzer, config, documents)
}

/// Whether an error of the store only says that nothing was crawled or imported yet.
fn is_missing(error: &StoreError) -> bool {
    matches!(error, StoreError::Missing { .. })
}

/// The documents of a store, which may not be there yet.
#[derive(Debug)]
pub struct StoreDocuments {
    place: StorePlace,
    /// Connections that nobody uses at present.
    idle: Mutex<Vec<store::Reader>>,
}

impl StoreDocuments {
    /// Those of this store.
    pub fn new(place: impl Into<StorePlace>) -> Self {
        Self {
            place: place.into(),
            idle: Mutex::default(),
        }
    }

    /// A connection that nobody uses; none while there is no store.
    fn take(&self) -> Result<Option<store::Reader>, StoreError> {
        let idle = self
            .idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop();
        if idle.is_some() {
            return Ok(idle);
        }
        match store::Reader::open(&self.place) {
            Ok(reader) => Ok(Some(reader)),
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn give_back(&self, reader: store::Reader) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.push(reader);
    }
}

impl DocumentSource for StoreDocuments {
    fn get(&self, fingerprint: u64, seq: u64) -> Result<Option<StoredDocument>, SourceError> {
        let Some(reader) = self.take()? else {
            return Ok(None);
        };
        let of_change = reader.document_version(i64::try_from(seq).unwrap_or(i64::MAX))?;
        let row = match of_change.filter(|row| row.fingerprint == fingerprint) {
            Some(row) => Some(row),
            None => reader.document(fingerprint)?,
        };
        let document = row.map(|row| decode(&reader, &row)).transpose();
        self.give_back(reader);
        Ok(document?.flatten())
    }

    fn find(&self, url: &str) -> Result<Option<u64>, SourceError> {
        let Ok(uri) = CrawlUri::parse(url) else {
            return Ok(None);
        };
        let Some(reader) = self.take()? else {
            return Ok(None);
        };
        let fingerprint = reader.addresses().document_key(&uri)?;
        self.give_back(reader);
        Ok(Some(fingerprint))
    }
}
