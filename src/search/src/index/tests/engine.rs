//! The engines that tests run on. A test of what both must do takes an [`Engine`] and is listed in [`on_each_engine`]; its
//! index is a [`TestIndex`]. Tests of files open the embedded index by its folder.

use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::sync::Arc;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;
use taojin_test_opensearch::{OpenSearch, Unavailable, send};

use super::memory::MemoryDocuments;
use super::{ANALYZER, STORE, documents_of};
use crate::analyze::Analyzer;
use crate::index::remote::{
    Body, EngineTrouble, Layout, Origin, RemoteIndex, RemoteLease, RemoteWriter, Request,
    Transport, TroubleKind,
};
use crate::index::{
    CancellationToken, Config, DocumentSource, IndexError, IndexWriter, Reader, StoredDocument,
    Writer,
};

/// Makes two tests of each of these functions.
macro_rules! on_each_engine {
    ($($test:ident),+ $(,)?) => {
        mod embedded {
            use $crate::index::tests::engine::Engine;
            $(#[test] fn $test() { super::$test(Engine::Embedded) })+
        }
        mod opensearch {
            use $crate::index::tests::engine::Engine;
            $(#[test] fn $test() { Engine::opensearch().into_iter().for_each(super::$test) })+
        }
    };
}
pub(super) use on_each_engine;

/// What keeps an index.
#[derive(Clone, Copy)]
pub(super) enum Engine {
    Embedded,
    OpenSearch(&'static Server),
}

impl Engine {
    /// One server for all tests of this process. None, and a word that the test is skipped, where it cannot be had.
    #[expect(clippy::print_stderr, reason = "a test's report")]
    pub(super) fn opensearch() -> Option<Self> {
        static SERVER: LazyLock<Result<Server, &Unavailable>> = LazyLock::new(|| {
            let opensearch = OpenSearch::start(1)?;
            let address = opensearch.urls().remove(0);
            Ok(Server {
                opensearch,
                address,
            })
        });
        match &*SERVER {
            Ok(server) => Some(Self::OpenSearch(server)),
            Err(unavailable) => {
                eprintln!("skipped: {unavailable}");
                None
            }
        }
    }

    /// A place for an index that is not there yet.
    pub(super) fn new_place(self) -> TestIndex {
        match self {
            Self::Embedded => TestIndex::Folder(tempfile::tempdir().unwrap()),
            Self::OpenSearch(server) => {
                static MADE: AtomicUsize = AtomicUsize::new(0);
                let name = format!("test{}", MADE.fetch_add(1, Ordering::Relaxed));
                let documents = Arc::default();
                TestIndex::Remote {
                    server,
                    name,
                    documents,
                }
            }
        }
    }

    /// An empty index of its own, open for both.
    pub(super) fn new_index(self) -> (TestIndex, Keeping, Reader) {
        let index = self.new_place();
        let writer = index.open_writer(&ANALYZER);
        let reader = index.open_reader(&ANALYZER);
        (index, writer, reader)
    }
}

/// OpenSearch, as the index asks it.
pub(super) struct Server {
    opensearch: OpenSearch,
    address: String,
}

impl Transport for &'static Server {
    fn send(
        &self,
        request: &Request<'_>,
        stop: &CancellationToken,
    ) -> Result<(u16, Value), EngineTrouble> {
        let failed = |cause: String| EngineTrouble::new(TroubleKind::Unreachable, cause);
        if stop.is_stopped() {
            return Err(failed("stopped".to_owned()));
        }
        let body = match request.body {
            Body::Empty => Vec::new(),
            Body::Json(value) => value.to_string().into_bytes(),
            Body::Lines(lines) => lines.to_vec(),
        };
        let port = self.opensearch.port(0);
        send(port, request.method, request.path, &body).map_err(|e| failed(e.to_string()))
    }

    fn address(&self) -> &str {
        &self.address
    }
}

/// Where the index of a test is. It goes with this value.
pub(super) enum TestIndex {
    Folder(tempfile::TempDir),
    Remote {
        server: &'static Server,
        name: String,
        documents: Arc<MemoryDocuments>,
    },
}

impl TestIndex {
    /// Opens it for writing, or makes it.
    pub(super) fn open_writer(&self, analyzer: &Analyzer) -> Keeping {
        let config = Config::default();
        match self {
            Self::Folder(dir) => Keeping::open(dir.path(), analyzer, &config),
            Self::Remote {
                server,
                name,
                documents,
            } => {
                let index = RemoteIndex::new(Arc::new(*server), name);
                let source = Arc::clone(documents) as Arc<dyn DocumentSource>;
                let layout = Layout {
                    shards: SHARDS,
                    replicas: 0,
                };
                let origin = Origin {
                    store: STORE,
                    last_seq: u64::MAX,
                    ..Origin::default()
                };
                RemoteLease::take(index, layout, &origin, "test").and_then(|lease| {
                    let writer = RemoteWriter::open(&lease, analyzer, &config, source)?;
                    Ok(Keeping {
                        inner: EngineWriter::Remote(writer.expect("of this store"), lease),
                        documents: Arc::clone(documents),
                    })
                })
            }
        }
        .unwrap()
    }

    /// Opens it for searching.
    pub(super) fn open_reader(&self, analyzer: &Analyzer) -> Reader {
        let config = Config::default();
        match self {
            Self::Folder(dir) => {
                let documents = documents_of(dir.path());
                Reader::open(dir.path(), analyzer, &config, documents).unwrap()
            }
            Self::Remote {
                server,
                name,
                documents,
            } => {
                let index = RemoteIndex::new(Arc::new(*server), name);
                Reader::remote(index, analyzer, &config, documents.clone())
            }
        }
    }
}

/// More than one, so that answers are put together.
const SHARDS: u32 = 2;

impl Drop for TestIndex {
    fn drop(&mut self) {
        if let Self::Remote { server, name, .. } = self {
            // What is left goes with the server.
            let _ = send(
                server.opensearch.port(0),
                "DELETE",
                &format!("/{name}-*"),
                b"",
            );
        }
    }
}

enum EngineWriter {
    Embedded(Writer),
    Remote(RemoteWriter, RemoteLease),
}

/// A writer that keeps what it indexes.
pub(super) struct Keeping {
    inner: EngineWriter,
    documents: Arc<MemoryDocuments>,
}

impl Keeping {
    /// Opens the embedded index in a folder.
    pub(super) fn open(
        dir: &Path,
        analyzer: &Analyzer,
        config: &Config,
    ) -> Result<Self, IndexError> {
        let documents = documents_of(dir);
        let source = Arc::clone(&documents) as Arc<dyn DocumentSource>;
        let writer = Writer::open(dir, analyzer, config, source, STORE)?;
        Ok(Self {
            inner: EngineWriter::Embedded(writer),
            documents,
        })
    }

    pub(super) fn upsert(&mut self, stored: StoredDocument) -> Result<(), IndexError> {
        self.documents.put(stored.clone());
        self.deref_mut().upsert(&stored)
    }

    pub(super) fn delete(&mut self, fingerprint: u64, seq: u64) -> Result<(), IndexError> {
        self.documents.remove(fingerprint);
        self.deref_mut().delete(fingerprint, seq)
    }

    /// The writer of the embedded index.
    pub(super) fn embedded(&mut self) -> &mut Writer {
        match &mut self.inner {
            EngineWriter::Embedded(writer) => writer,
            EngineWriter::Remote(..) => panic!("a test of files"),
        }
    }

    pub(super) fn close(self) -> Result<(), IndexError> {
        match self.inner {
            EngineWriter::Embedded(writer) => writer.close(),
            EngineWriter::Remote(_, lease) => lease.release(),
        }
    }
}

impl Deref for Keeping {
    type Target = dyn IndexWriter;

    fn deref(&self) -> &Self::Target {
        match &self.inner {
            EngineWriter::Embedded(writer) => writer,
            EngineWriter::Remote(writer, _) => writer,
        }
    }
}

impl DerefMut for Keeping {
    fn deref_mut(&mut self) -> &mut Self::Target {
        match &mut self.inner {
            EngineWriter::Embedded(writer) => writer,
            EngineWriter::Remote(writer, _) => writer,
        }
    }
}
