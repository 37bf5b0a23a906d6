//! The log of documents, read for whoever follows it or looks back. In: the data directory; how far a copy is, or which
//! document. Out: changes, or versions with what differs. Opens a connection for each question; never writes.

use super::history::{self, DAMAGED};
use super::{decode, is_missing};
use crate::config::LoadedConfig;
use crate::serve::{
    ChangeAnswer, ChangesAnswer, DocumentAnswer, DocumentKey, DocumentLog, HistoryAnswer, Past,
    SourceError, VersionListed,
};
use taojin_crawl::store::{
    Change, Cursor, CursorLost, DocumentRow, NodeLease, Reader, StoreError, StorePlace, UrlVisit,
};

/// An answer ends when it has so much: enough for a thousand news with their text, little enough to hold many at once.
const ANSWER_BYTES: usize = 4 << 20;

/// Text that is read for one answer, also where it does not are in it: what takes a tenth of a second to unpack.
const READ_BYTES: usize = 32 << 20;

/// The log of a store, which may not be there yet.
#[derive(Debug, Clone)]
pub struct StoreLog {
    /// The store, which has the versions of documents before the present ones.
    store: StorePlace,
    /// Where the present documents are read.
    documents: StorePlace,
}

impl StoreLog {
    /// That of a store that is read alone.
    pub fn new(place: impl Into<StorePlace>) -> Self {
        let store = place.into();
        Self {
            documents: store.clone(),
            store,
        }
    }

    /// That of the settings.
    pub(crate) fn of_settings(loaded: &LoadedConfig) -> Self {
        Self {
            store: loaded.store_place(),
            documents: loaded.documents_place(),
        }
    }

    /// For the node that has this lease: nothing waits for a database that is silent.
    pub(crate) fn of_node(self, lease: NodeLease) -> Self {
        Self {
            store: self.store.with_lease(lease),
            ..self
        }
    }

    /// The store, or where that does not answer this machine's copy of its present documents.
    fn open(&self) -> Result<Reader, StoreError> {
        match Reader::open(&self.store) {
            Err(StoreError::Unreachable { .. }) => Reader::open(&self.documents),
            opened => opened,
        }
    }

    /// The changes after `cursor`; the inner error says why there can be no list.
    pub(crate) fn changes(
        &self,
        cursor: &Cursor,
        limit: usize,
        documents: bool,
    ) -> Result<Result<ChangesAnswer, CursorLost>, StoreError> {
        let reader = Reader::open(&self.documents)?;
        let (mut bytes, mut read) = (0, 0);
        let mut changes = Vec::new();
        let followed = reader.follow(cursor, limit, |row, change| {
            let (answer, text) = change_answer(&reader, &row, change, documents);
            read += text;
            bytes += serde_json::to_vec(&answer).map_or(0, |json| json.len());
            changes.push(answer);
            bytes < ANSWER_BYTES && read < READ_BYTES
        })?;
        Ok(followed.map(|followed| ChangesAnswer {
            store: store_code(followed.next.store.unwrap_or_default()),
            changes,
            next: followed.next.to_string(),
            more: followed.more,
            last_seq: followed.last_seq,
        }))
    }

    /// The versions of a document; `None` if nothing is known of it.
    pub(crate) fn history(&self, key: &DocumentKey) -> Result<Option<HistoryAnswer>, StoreError> {
        history::read_history(&self.open()?, key)
    }
}

/// Identity of a store in answers: 16 hexadecimal digits.
fn store_code(id: i64) -> String {
    format!("{:016x}", id.cast_unsigned())
}

/// What is said of a change, and how long the text is that was read for it, in bytes.
fn change_answer(
    reader: &Reader,
    row: &DocumentRow,
    change: Change,
    documents: bool,
) -> (ChangeAnswer, usize) {
    let mut text = 0;
    let id = format!("{:016x}", row.fingerprint);
    let mut answer = ChangeAnswer {
        seq: row.seq,
        change: change.as_str().to_owned(),
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
    match decode(reader, row) {
        Ok(Some(stored)) => {
            text = stored.document.text.len();
            answer.title = stored.document.title.clone();
            answer.published = stored.document.published.clone();
            answer.document = documents.then(|| DocumentAnswer::new(id, stored.document));
        }
        Ok(None) => {}
        // A copy that stopped here would never continue; one that passed over it would not know.
        Err(error) => {
            tracing::error!(error = format!("{error:#}"), "a document cannot be read");
            answer.unreadable = Some(DAMAGED.to_owned());
        }
    }
    (answer, text)
}

fn failed(error: &StoreError) -> SourceError {
    SourceError::Failed(error.to_string())
}

impl DocumentLog for StoreLog {
    fn changes(
        &self,
        cursor: &Cursor,
        limit: usize,
        documents: bool,
    ) -> Result<Result<ChangesAnswer, CursorLost>, SourceError> {
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

    fn past(&self, id: u64) -> Result<Past, SourceError> {
        let reader = match self.open() {
            Err(error) if is_missing(&error) => return Ok(Past::default()),
            opened => opened.map_err(|e| failed(&e))?,
        };
        let rows = reader.document_history(id).map_err(|e| failed(&e))?;
        let listed = rows.iter().map(|row| VersionListed {
            version: row.version,
            changed_ms: row.changed_ms,
            gone: row.body.is_none(),
        });
        let record = reader
            .addresses()
            .lookup_fingerprint(id)
            .map_err(|e| failed(&e))?;
        let visit = record.map(|record| record.visit);
        let unconfirmed = visit.filter(UrlVisit::is_unconfirmed);
        Ok(Past {
            versions: listed.collect(),
            confirmed_ms: unconfirmed.and_then(|visit| visit.confirmed_ms),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::encode;
    use taojin_crawl::store::{Batch, DocOp, NewDocument, Store};
    use taojin_extract::Document;

    fn put(store: &mut Store, fingerprint: u64, op: DocOp) {
        let batch = Batch {
            documents: vec![(fingerprint, op)],
            ..Batch::default()
        };
        store.commit(&batch, 1_000).unwrap();
    }

    fn says(n: u64, text: &str) -> DocOp {
        let document = Document {
            url: format!("http://a.example/{n}"),
            title: Some("标题".to_owned()),
            text: text.to_owned(),
            ..Document::default()
        };
        DocOp::Upsert(encode(&document, 1_000))
    }

    #[test]
    fn changes_continue_after_limit() {
        let dir = tempfile::tempdir().unwrap();
        let mut store = Store::open(dir.path()).unwrap();
        let long = "页岩气".repeat(ANSWER_BYTES / 20);
        for n in 0..6 {
            put(&mut store, n, says(n, &long));
        }
        let log = StoreLog::new(dir.path());
        let ask = |cursor: &Cursor, text| log.changes(cursor, 100, text).unwrap().unwrap();
        let first = ask(&Cursor::default(), true);
        assert!((1..6).contains(&first.changes.len()) && first.more);
        let rest = ask(&first.next.parse().unwrap(), true);
        assert_eq!(rest.changes[0].seq, first.changes.len() as i64 + 1);
        assert_eq!(ask(&Cursor::default(), false).changes.len(), 6);
    }

    #[test]
    fn changes_report_damage() {
        let dir = tempfile::tempdir().unwrap();
        let mut store = Store::open(dir.path()).unwrap();
        put(&mut store, 1, says(1, "一"));
        let damaged = NewDocument {
            url: "http://a.example/2".to_owned(),
            site: String::new(),
            body: b"no document".to_vec(),
        };
        put(&mut store, 2, DocOp::Upsert(damaged));
        put(&mut store, 2, says(2, "二"));
        put(
            &mut store,
            1,
            DocOp::Upsert(NewDocument {
                url: "http://a.example/1".to_owned(),
                site: String::new(),
                body: vec![b'{'],
            }),
        );
        let log = StoreLog::new(dir.path());
        let all = log.changes(&Cursor::default(), 9, true).unwrap().unwrap();
        let said: Vec<_> = all
            .changes
            .iter()
            .map(|c| (c.seq, c.unreadable.is_some()))
            .collect();
        assert_eq!(said, [(3, false), (4, true)]);
        let history = log.history(&DocumentKey::Id(2)).unwrap().unwrap();
        let damaged: Vec<_> = history
            .versions
            .iter()
            .map(|v| v.unreadable.is_some())
            .collect();
        assert_eq!(damaged, [false, true]);
        assert_eq!(history.versions[0].compared_with, None);
    }

    #[test]
    fn changes_empty_before_crawl() {
        let dir = tempfile::tempdir().unwrap();
        let log = StoreLog::new(dir.path());
        let answer = DocumentLog::changes(&log, &Cursor::default(), 9, false)
            .unwrap()
            .unwrap();
        assert_eq!(
            (answer.changes.len(), answer.next.as_str(), answer.more),
            (0, "0", false)
        );
        assert_eq!(DocumentLog::history(&log, &DocumentKey::Id(1)), Ok(None));
        assert_eq!(log.past(1), Ok(Past::default()));
    }
}
