//! Texts as a data folder has them: documents in a store, and an index beside it.

use std::path::Path;
use std::sync::Arc;

use taojin::documents::{StoreDocuments, encode, open_folder};
use taojin_crawl::store::{Batch, DocOp, Store};
use taojin_extract::Document;
use taojin_search::analyze::Analyzer;
use taojin_search::index::{Config, Entry, Reader, Writer};

use crate::corpus::{self, Text};

/// Documents written in one transaction of the store.
const AT_ONCE: usize = 1_000;

/// A data folder that is being filled.
pub(crate) struct Collection {
    store: Store,
    writer: Writer,
    waiting: Vec<(u64, DocOp)>,
    seq: u64,
}

impl Collection {
    pub(crate) fn open(dir: &Path) -> Self {
        let store = Store::open(dir).expect("a store");
        let id = store.store_id().expect("its identity");
        let documents = Arc::new(StoreDocuments::of(dir));
        let writer = Writer::open(&dir.join("index"), &Config::default(), documents, id);
        Self {
            seq: u64::try_from(store.last_document_seq().expect("a number")).unwrap_or(0),
            store,
            writer: writer.expect("an index"),
            waiting: Vec::new(),
        }
    }

    pub(crate) fn add_text(&mut self, text: &Text) {
        self.add(corpus::fingerprint(&text.id), &corpus::document(text));
    }

    pub(crate) fn add(&mut self, fingerprint: u64, document: &Document) {
        self.seq += 1;
        let op = DocOp::Upsert(encode(document, 0));
        self.waiting.push((fingerprint, op));
        if self.waiting.len() >= AT_ONCE {
            self.store();
        }
        let entry = Entry {
            fingerprint,
            seq: self.seq,
            fetched_ms: 0,
            changed_ms: 0,
            document,
        };
        self.writer.upsert(&entry).expect("room on the disk");
    }

    fn store(&mut self) {
        let batch = Batch {
            documents: std::mem::take(&mut self.waiting),
            ..Batch::default()
        };
        self.store.commit(&batch, 0).expect("room on the disk");
    }

    pub(crate) fn commit(&mut self) {
        self.store();
        self.writer.commit(self.seq).expect("a commit");
    }

    /// Commits and closes; `tidy` merges the index first.
    pub(crate) fn close(mut self, tidy: bool) {
        self.commit();
        if tidy {
            self.writer.tidy().expect("a merge");
        }
        self.writer.close().expect("an end");
    }
}

/// All texts at once.
pub(crate) fn write<'t>(dir: &Path, texts: impl Iterator<Item = &'t Text>) {
    let mut collection = Collection::open(dir);
    texts.for_each(|text| collection.add_text(text));
    collection.close(false);
}

/// The index of the folder, for searching.
pub(crate) fn open(dir: &Path, analyzer: &Analyzer) -> Reader {
    open_folder(dir, analyzer, &Config::default()).expect("an index")
}
