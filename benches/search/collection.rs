//! Texts as a data folder has them: documents in a store, and an index beside it, or in another [`Engine`].

use std::path::{Path, PathBuf};
use std::sync::Arc;

use taojin::documents::{StoreDocuments, encode, engine_index, open_folder};
use taojin_crawl::store::{Batch, DocOp, Store};
use taojin_extract::Document;
use taojin_search::analyze::{Analyzer, Lexicon};
use taojin_search::index::remote::{Layout, Origin, RemoteIndex, RemoteLease, RemoteWriter};
use taojin_search::index::{Config, IndexWriter, Parallelism, Reader, StoredDocument, Writer};

use crate::corpus::{self, Text};

/// Documents written in one transaction of the store.
const AT_ONCE: usize = 1_000;

/// Who writes the index.
enum Kept {
    Embedded(Writer),
    Engine(RemoteWriter, RemoteLease),
}

impl Kept {
    fn writer(&mut self) -> &mut dyn IndexWriter {
        match self {
            Kept::Embedded(writer) => writer,
            Kept::Engine(writer, _) => writer,
        }
    }
}

/// What keeps an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Engine {
    Embedded,
    /// OpenSearch or Elasticsearch at the address `ENGINE`.
    OpenSearch,
}

impl Engine {
    /// Those that are measured.
    pub(crate) fn all() -> Vec<Self> {
        let mut all = vec![Self::Embedded];
        if std::env::var("ENGINE").is_ok() {
            all.push(Self::OpenSearch);
        }
        all
    }

    /// Where the documents are whose index this engine keeps.
    pub(crate) fn folder(self, scratch: &Path, name: &str) -> PathBuf {
        scratch.join(format!("{name}{self:?}"))
    }

    /// The index of a folder, where this is an engine of its own.
    fn remote(self, dir: &Path) -> Option<RemoteIndex> {
        if self == Self::Embedded {
            return None;
        }
        let address = std::env::var("ENGINE").expect("ENGINE: an address");
        let name = dir.to_string_lossy().to_lowercase();
        let name: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
        Some(engine_index(&address, &name))
    }
}

/// The numbers of threads that `THREADS` names, such as `1,2`; the default where that is not set.
pub(crate) fn threads() -> Vec<usize> {
    let named = std::env::var("THREADS").unwrap_or_else(|_| "0".to_owned());
    let number = |text: &str| text.trim().parse().expect("THREADS: numbers with commas");
    named.split(',').map(number).collect()
}

/// The settings of an index whose searches have so many threads.
fn config(threads: usize) -> Config {
    Config {
        parallelism: Parallelism {
            threads,
            ..Parallelism::default()
        },
        ..Config::default()
    }
}

/// What texts and queries are cut with.
pub(crate) fn analyzer() -> Analyzer {
    let lexicon = Lexicon::builtin("oil-gas").expect("built in");
    Analyzer::new(&[lexicon])
}

/// A data folder that is being filled.
pub(crate) struct Collection {
    store: Store,
    index: Kept,
    waiting: Vec<(u64, DocOp)>,
    seq: u64,
}

impl Collection {
    pub(crate) fn open(dir: &Path, engine: Engine) -> Self {
        Self::open_with(dir, engine, &analyzer())
    }

    /// The same with another lexicon.
    fn open_with(dir: &Path, engine: Engine, analyzer: &Analyzer) -> Self {
        let store = Store::open(dir).expect("a store");
        let id = store.identity().expect("its identity").id;
        let documents = Arc::new(StoreDocuments::new(dir));
        // The most threads need the most segments.
        let config = config(threads().into_iter().max().unwrap_or_default());
        let index = match engine.remote(dir) {
            None => {
                let writer = Writer::open(&dir.join("index"), analyzer, &config, documents, id);
                Kept::Embedded(writer.expect("an index"))
            }
            Some(index) => {
                let layout = Layout {
                    shards: 1,
                    replicas: 0,
                };
                let origin = Origin {
                    store: id,
                    last_seq: u64::MAX,
                    ..Origin::default()
                };
                let lease = RemoteLease::take(index, layout, &origin, "bench").expect("an index");
                let writer = RemoteWriter::open(&lease, analyzer, &config, documents);
                let writer = writer.expect("an index").expect("of this store");
                Kept::Engine(writer, lease)
            }
        };
        Self {
            seq: u64::try_from(store.last_document_seq().expect("a number")).unwrap_or(0),
            store,
            index,
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
        let stored = StoredDocument {
            fingerprint,
            seq: self.seq,
            fetched_ms: 0,
            changed_ms: 0,
            document: document.clone(),
        };
        let added = self.index.writer().upsert(&stored);
        added.expect("room on the disk");
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
        let committed = self.index.writer().commit(self.seq);
        committed.expect("a commit");
    }

    /// Commits and closes; `tidy` merges the index first.
    pub(crate) fn close(mut self, tidy: bool) {
        self.commit();
        match self.index {
            Kept::Embedded(mut writer) => {
                if tidy {
                    writer.tidy().expect("a merge");
                }
                writer.close().expect("an end");
            }
            Kept::Engine(_, lease) => lease.release().expect("an end"),
        }
    }
}

/// All texts at once.
pub(crate) fn write<'t>(dir: &Path, engine: Engine, texts: impl Iterator<Item = &'t Text>) {
    write_with(dir, engine, &analyzer(), texts);
}

/// All texts at once, cut with another lexicon.
pub(crate) fn write_with<'t>(
    dir: &Path,
    engine: Engine,
    analyzer: &Analyzer,
    texts: impl Iterator<Item = &'t Text>,
) {
    let mut collection = Collection::open_with(dir, engine, analyzer);
    texts.for_each(|text| collection.add_text(text));
    collection.close(false);
}

/// The index of the folder, for searching with the first number of [`threads`].
pub(crate) fn open(dir: &Path, engine: Engine, analyzer: &Analyzer) -> Reader {
    let first = threads().into_iter().next();
    open_with(dir, engine, analyzer, first.unwrap_or_default())
}

/// The same with so many threads.
pub(crate) fn open_with(dir: &Path, engine: Engine, analyzer: &Analyzer, threads: usize) -> Reader {
    let config = config(threads);
    match engine.remote(dir) {
        None => open_folder(dir, analyzer, &config).expect("an index"),
        Some(index) => {
            let documents = Arc::new(StoreDocuments::new(dir));
            Reader::remote(index, analyzer, &config, documents)
        }
    }
}
