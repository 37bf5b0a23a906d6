//! The documents of a store for whoever searches its index. In: which document. Out: the document. Opens a connection for
//! each thread that asks at the same time, and keeps it.

use std::sync::{Mutex, PoisonError};

use super::{decode, is_missing};
use taojin_crawl::store::{Reader, StorePlace};
use taojin_search::index::{DocumentSource, SourceError, StoredDocument};

/// The documents of a store, which may not be there yet.
#[derive(Debug)]
pub struct StoreDocuments {
    place: StorePlace,
    /// Connections that nobody uses at present.
    idle: Mutex<Vec<Reader>>,
}

impl StoreDocuments {
    /// Those of this store.
    pub fn of(place: impl Into<StorePlace>) -> Self {
        Self {
            place: place.into(),
            idle: Mutex::default(),
        }
    }

    fn take(&self) -> Option<Reader> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.pop()
    }

    fn give_back(&self, reader: Reader) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.push(reader);
    }
}

impl DocumentSource for StoreDocuments {
    fn get(&self, fingerprint: u64, seq: u64) -> Result<Option<StoredDocument>, SourceError> {
        let reader = match self.take() {
            Some(reader) => reader,
            None => match Reader::open(&self.place) {
                Ok(reader) => reader,
                Err(error) if is_missing(&error) => return Ok(None),
                Err(error) => return Err(error.into()),
            },
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
}
