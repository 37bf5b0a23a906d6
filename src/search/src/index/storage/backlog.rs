//! Documents on their way to the thread that indexes them. [`Backlog`] bounds their memory: tantivy lets 10,000 of them wait,
//! whatever their size.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use tantivy::TantivyDocument;
use tantivy::schema::document::Document;

/// Text that waits, in bytes: some hundred articles. In memory it takes some four times as much, since a text is indexed three
/// times.
const MAX_BYTES: usize = 1 << 20;

/// After so long a document goes in nevertheless: if the indexing thread has ended, that fails and names the reason.
const PATIENCE: Duration = Duration::from_secs(10);

/// The text of the documents that wait.
#[derive(Debug, Default)]
struct Waiting {
    bytes: Mutex<usize>,
    is_less: Condvar,
}

/// Lets documents in as others are taken.
#[derive(Debug, Default)]
pub(super) struct Backlog(Arc<Waiting>);

impl Backlog {
    /// Waits until there is space for a document of so many bytes of text. One that is larger than all space waits until it is
    /// alone.
    pub(super) fn admit(&self, document: TantivyDocument, bytes: usize) -> QueuedDocument {
        let waiting = self.0.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = |waiting: &mut usize| *waiting > 0 && *waiting + bytes > MAX_BYTES;
        let waited = self
            .0
            .is_less
            .wait_timeout_while(waiting, PATIENCE, is_full);
        let (mut waiting, _) = waited.unwrap_or_else(PoisonError::into_inner);
        *waiting += bytes;
        QueuedDocument {
            document,
            _space: Space {
                waiting: Arc::clone(&self.0),
                bytes,
            },
        }
    }
}

/// Space of a backlog; free when it is dropped.
struct Space {
    waiting: Arc<Waiting>,
    bytes: usize,
}

impl Drop for Space {
    fn drop(&mut self) {
        let bytes = self.waiting.bytes.lock();
        *bytes.unwrap_or_else(PoisonError::into_inner) -= self.bytes;
        self.waiting.is_less.notify_one();
    }
}

/// A document in the backlog until the indexing thread takes it.
pub(super) struct QueuedDocument {
    document: TantivyDocument,
    _space: Space,
}

impl Document for QueuedDocument {
    type Value<'a> = <TantivyDocument as Document>::Value<'a>;
    type FieldsValuesIter<'a> = <TantivyDocument as Document>::FieldsValuesIter<'a>;

    fn iter_fields_and_values(&self) -> Self::FieldsValuesIter<'_> {
        self.document.iter_fields_and_values()
    }

    fn into_tantivy_document(self) -> TantivyDocument {
        self.document
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::thread;

    use super::*;

    #[test]
    fn backlog_waits_for_space() {
        let backlog = Backlog::default();
        let document = TantivyDocument::default;
        let first = backlog.admit(document(), MAX_BYTES / 2);
        let second = backlog.admit(document(), MAX_BYTES / 2);
        let (admitted, is_admitted) = channel();
        thread::scope(|scope| {
            scope.spawn(|| {
                let large = backlog.admit(document(), MAX_BYTES * 2);
                admitted.send(()).unwrap();
                large
            });
            drop(first);
            assert!(is_admitted.try_recv().is_err(), "it is not alone yet");
            second.into_tantivy_document();
            is_admitted.recv().unwrap();
        });
        assert_eq!(*backlog.0.bytes.lock().unwrap(), 0);
    }
}
