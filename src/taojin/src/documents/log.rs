//! The log of documents, read for whoever follows it or looks back. In: the data folder; how far a copy is, or which
//! document. Out: changes, or versions with what differs. Opens a connection for each question; never writes.

use std::path::PathBuf;

use super::{decode, history, is_missing};
use crate::config::INDEX_DIR;
use crate::serve::{
    ChangeAnswer, ChangesAnswer, DocumentAnswer, DocumentKey, DocumentLog, HistoryAnswer,
    NoChanges, SourceError, VersionListed,
};
use taojin_crawl::store::{Change, Cursor, DocumentRow, Reader, StoreError};
use taojin_search::index;

/// An answer ends when it has so much: enough for a thousand news with their text, little enough to hold many at once.
const ANSWER_BYTES: usize = 4 << 20;

/// The log of the store in a data folder, which may not be there yet.
#[derive(Debug, Clone)]
pub struct StoreLog {
    dir: PathBuf,
}

impl StoreLog {
    /// That of this data folder.
    pub fn of(data_dir: impl Into<PathBuf>) -> Self {
        Self {
            dir: data_dir.into(),
        }
    }

    /// The changes after `cursor`; the inner error says why there can be no list.
    pub(crate) fn changes(
        &self,
        cursor: &Cursor,
        limit: usize,
        documents: bool,
    ) -> Result<Result<ChangesAnswer, NoChanges>, StoreError> {
        let reader = Reader::open(&self.dir)?;
        // They get numbers that a follower may have passed already.
        if !reader.has_all_documents()? && index::keeps_documents(&self.dir.join(INDEX_DIR)) {
            return Ok(Err(NoChanges::Moving));
        }
        let mut bytes = 0;
        let mut changes = Vec::new();
        let followed = reader.follow(cursor, limit, |row, change| {
            let answer = change_answer(&row, change, documents);
            bytes += serde_json::to_vec(&answer).map_or(0, |json| json.len());
            changes.push(answer);
            bytes < ANSWER_BYTES
        })?;
        Ok(followed
            .map_err(NoChanges::from)
            .map(|followed| ChangesAnswer {
                store: store_code(followed.next.store.unwrap_or_default()),
                changes,
                next: followed.next.to_string(),
                more: followed.more,
                last_seq: followed.last_seq,
            }))
    }

    /// The versions of a document; none if nothing is known of it.
    pub(crate) fn history(&self, key: &DocumentKey) -> Result<Option<HistoryAnswer>, StoreError> {
        history::of(&Reader::open(&self.dir)?, key)
    }
}

/// Identity of a store in answers: 16 hexadecimal digits.
fn store_code(id: i64) -> String {
    format!("{:016x}", id.cast_unsigned())
}

fn change_answer(row: &DocumentRow, change: Change, documents: bool) -> ChangeAnswer {
    let id = format!("{:016x}", row.fingerprint);
    let mut answer = ChangeAnswer {
        seq: row.seq,
        change: change.name().to_owned(),
        id: id.clone(),
        url: row.url.clone(),
        site: Some(row.site.clone()).filter(|site| !site.is_empty()),
        title: None,
        published: None,
        first_seen_ms: row.first_seen_ms,
        changed_ms: row.changed_ms,
        version: row.version,
        document: None,
        unreadable: None,
    };
    match decode(row) {
        Ok(Some(stored)) => {
            answer.title = stored.document.title.clone();
            answer.published = stored.document.published.clone();
            answer.document = documents.then(|| DocumentAnswer::new(id, stored.document));
        }
        Ok(None) => {}
        // A copy that stopped here would never go on; one that passed over it would not know.
        Err(error) => {
            tracing::error!(error = format!("{error:#}"), "a document cannot be read");
            answer.unreadable = Some(DAMAGED.to_owned());
        }
    }
    answer
}

/// What is said of a row that cannot be read; the log has the reason.
pub(super) const DAMAGED: &str = "damaged in the store";

fn failed(error: &StoreError) -> SourceError {
    SourceError(error.to_string())
}

impl DocumentLog for StoreLog {
    fn changes(
        &self,
        cursor: &Cursor,
        limit: usize,
        documents: bool,
    ) -> Result<Result<ChangesAnswer, NoChanges>, SourceError> {
        match StoreLog::changes(self, cursor, limit, documents) {
            // Nothing was crawled yet: nothing changed.
            Err(error) if is_missing(&error) => Ok(Ok(ChangesAnswer {
                store: store_code(0),
                changes: Vec::new(),
                next: cursor.to_string(),
                more: false,
                last_seq: 0,
            })),
            found => found.map_err(|e| failed(&e)),
        }
    }

    fn history(&self, key: &DocumentKey) -> Result<Option<HistoryAnswer>, SourceError> {
        match StoreLog::history(self, key) {
            Err(error) if is_missing(&error) => Ok(None),
            found => found.map_err(|e| failed(&e)),
        }
    }

    fn versions(&self, id: u64) -> Result<Vec<VersionListed>, SourceError> {
        let reader = match Reader::open(&self.dir) {
            Err(error) if is_missing(&error) => return Ok(Vec::new()),
            opened => opened.map_err(|e| failed(&e))?,
        };
        let rows = reader.document_history(id).map_err(|e| failed(&e))?;
        let listed = rows.iter().map(|row| VersionListed {
            version: row.version,
            changed_ms: row.changed_ms,
            gone: row.body.is_none(),
        });
        Ok(listed.collect())
    }
}
