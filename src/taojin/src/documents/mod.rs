//! Documents between the store, which keeps them, and the index, which finds them. In: documents and rows of the log. Out:
//! each in the form that the other side takes.

mod difference;
mod encoded;
mod gone;
mod history;
mod index_at;
mod log;
mod source;
mod transport;

use std::sync::Arc;

use anyhow::Context as _;

use crate::config::{INDEX_DIR, Loaded};
use taojin_crawl::store::{self, DocumentRow, NewDocument, StoreError, StorePlace};
use taojin_extract::Document;
use taojin_search::analyze::Analyzer;
use taojin_search::index::remote::RemoteIndex;
use taojin_search::index::{self, IndexError, Reader, StoredDocument};

pub use encoded::EncodedDocument;
pub(crate) use encoded::{unpack, wording};
pub(crate) use gone::{Gone, gone_since};
pub(crate) use index_at::{IndexAt, RemoteAt};
pub use log::StoreLog;
pub use source::StoreDocuments;

/// A document that comes from elsewhere than a visit, as the log takes it. `fetched_ms`: Unix milliseconds.
pub fn encode(document: &Document, fetched_ms: i64) -> NewDocument {
    EncodedDocument::new(document).row(fetched_ms, None, &[])
}

/// The document of a row; none where the row says that it is gone. An error names a row that cannot be read.
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
pub fn open_index(loaded: &Loaded, analyzer: &Analyzer) -> anyhow::Result<Reader> {
    loaded.refuse_without_index()?;
    Ok(IndexAt::of(loaded).open(analyzer)?)
}

/// The index `name` in the OpenSearch or Elasticsearch at `address`, without a configuration and without an account.
pub fn engine_index(address: &str, name: &str) -> RemoteIndex {
    let transport = transport::HttpTransport::new(address, transport::Account::default());
    RemoteIndex::new(Arc::new(transport), name)
}

/// The index in the data folder, without a configuration.
pub fn open_folder(
    place: impl Into<StorePlace>,
    analyzer: &Analyzer,
    config: &index::Config,
) -> Result<Reader, IndexError> {
    let place = place.into();
    let documents = Arc::new(StoreDocuments::of(&place));
    Reader::open(&place.dir().join(INDEX_DIR), analyzer, config, documents)
}

/// Whether an error of the store only says that nothing was crawled or imported yet.
fn is_missing(error: &StoreError) -> bool {
    matches!(error, StoreError::Missing { .. })
}
