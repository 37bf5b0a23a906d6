//! What takes documents into an index, whoever keeps it: the embedded engine ([`super::Writer`]) or one that is reached over
//! the network ([`super::remote::RemoteWriter`]).

use super::IndexError;
use super::left_out::{AllLeftOut, LeftOut};
use super::stored::StoredDocument;

/// Takes documents into an index, whoever keeps it.
pub trait IndexWriter {
    /// Sequence number of the last commit, 0 for an empty index: everything after it must be added again.
    fn last_seq(&self) -> u64;

    /// Adds a document, in place of an older one with the same fingerprint. Seen by readers after the commit.
    fn upsert(&mut self, stored: &StoredDocument) -> Result<(), IndexError>;

    /// Whether a document can be indexed at all: it is tried alone, and in this thread. An error or a panic here is the
    /// document's fault, where one of [`IndexWriter::commit`] may have any reason.
    fn try_alone(&mut self, stored: &StoredDocument) -> Result<(), String>;

    /// Goes on without a document, and notes why with the next commit. What the index had of it before goes.
    fn leave_out(&mut self, left: LeftOut) -> Result<(), IndexError>;

    /// The documents that were left out.
    fn left_out(&self) -> AllLeftOut;

    /// Takes a document out, if it is there; change `seq` says that it is gone.
    fn delete(&mut self, fingerprint: u64, seq: u64) -> Result<(), IndexError>;

    /// Makes everything so far durable and visible, and notes that all changes up to `seq` are in it.
    fn commit(&mut self, seq: u64) -> Result<(), IndexError>;
}
