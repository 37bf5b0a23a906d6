//! Writes documents under their fingerprint. Commits carry the sequence number they reach, so that a replay after a
//! crash knows where to continue. [`IndexWriter`] is the interface of both engines. Never decides what is worth
//! indexing.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tantivy::directory::error::LockError;
use tantivy::directory::{Directory as _, INDEX_WRITER_LOCK, RamDirectory};
use tantivy::indexer::{IndexWriterOptions, NoMergePolicy};
use tantivy::tokenizer::TokenizerManager;
use tantivy::{DocAddress, Index, IndexReader, IndexSettings, ReloadPolicy, TantivyError};

use super::backlog::{Backlog, QueuedDocument};
use super::embedded::Embedded;
use super::folder::{Folder, remove_leftovers};
use super::left_out::{SkippedDocument, SkippedDocuments};
use super::merging::Merging;
use crate::analyze::{Analyzer, tokenizers};
use crate::index::duplicates::reprints::{Placed, Placement, REMEMBERED, Reprints, Sketch};
use crate::index::recut::{
    CutState, Recut, RecutEngine, RecutProgress, cut_again, place_again, take_dictionary,
};
use crate::index::schema::{
    Cause, Column, CommitPayload, FORMAT, PROGRAM, check_format, refuse_newer, schema, unreadable,
};
use crate::index::stored::{Cutter, DocumentSource, StoredDocument};
use crate::index::{Config, IndexError};

/// Least memory tantivy works with, in MB.
const MIN_MEMORY_MB: usize = 16;
/// Most memory tantivy takes, in MB.
const MAX_MEMORY_MB: usize = 4_000;
/// Merges run next to indexing; more threads would take the crawl's processor.
const MERGE_THREADS: usize = 1;

/// The file of [`CutState`], beside the files of the index.
const CUT_STATE: &str = "words.json";

/// The one writer of an index. Dropping it without a commit forgets what came after the last one.
pub struct Writer {
    dir: PathBuf,
    inner: tantivy::IndexWriter<QueuedDocument>,
    backlog: Backlog,
    documents: Arc<dyn DocumentSource>,
    reprints: Reprints,
    cutter: Cutter,
    recut: Recut,
    store: i64,
    last_seq: u64,
    aside: SkippedDocuments,
    is_of_other_version: bool,
    merging: Merging,
    /// Segments may be merged.
    merges: bool,
}

/// Memory for a document that is tried alone: the least that tantivy takes.
const ALONE_BYTES: usize = 15 << 20;

impl Writer {
    /// Opens the index in `dir` for writing, or makes an empty one there. `documents` are those of the store whose
    /// identity is `store`: an index of another store is refused. Texts are cut with the dictionary that `analyzer` has at the
    /// time.
    pub fn open(
        dir: &Path,
        analyzer: &Analyzer,
        config: &Config,
        documents: Arc<dyn DocumentSource>,
        store: i64,
    ) -> Result<Self, IndexError> {
        Self::open_with(dir, analyzer, config, documents, store, tokenizers())
    }

    /// The same with other tokenizers.
    pub(crate) fn open_with(
        dir: &Path,
        analyzer: &Analyzer,
        config: &Config,
        documents: Arc<dyn DocumentSource>,
        store: i64,
        tokenizers: TokenizerManager,
    ) -> Result<Self, IndexError> {
        refuse_newer(dir)?;
        std::fs::create_dir_all(dir).map_err(|e| unreadable(dir, e))?;
        let mut index = open_or_create(dir)?;
        index.set_tokenizers(tokenizers);
        let noted = check_format(dir, &index)?;
        if noted.seq > 0 && noted.store != store {
            return Err(IndexError::OtherStore(dir.to_owned()));
        }
        let cutter = Cutter::new(analyzer, config.utc_offset_minutes);
        let recut = match noted.seq {
            0 => Recut::new(cutter.dictionary()),
            _ => Recut::resume(cut_state(dir), cutter.dictionary()),
        };
        let mut reprints = Reprints::new(Arc::clone(&documents));
        recall(&index, &mut reprints).map_err(|e| unreadable(dir, e))?;
        let memory_mb = config.memory_mb.clamp(MIN_MEMORY_MB, MAX_MEMORY_MB);
        let options = IndexWriterOptions::builder()
            .num_worker_threads(config.threads.max(1))
            .num_merge_threads(MERGE_THREADS)
            .memory_budget_per_thread(memory_mb << 20)
            .build();
        let inner = index.writer_with_options(options).map_err(|e| match e {
            TantivyError::LockFailure(LockError::LockBusy, _) => IndexError::Locked(dir.to_owned()),
            e => not_opened(dir, e),
        })?;
        remove_leftovers(dir, inner.index()).map_err(|e| unreadable(dir, e))?;
        let merging = Merging::new(config.parallelism);
        inner.set_merge_policy(Box::new(merging.clone()));
        let mut writer = Self {
            dir: dir.to_owned(),
            inner,
            backlog: Backlog::default(),
            documents,
            reprints,
            cutter,
            recut,
            store,
            last_seq: noted.seq,
            is_of_other_version: noted.program != PROGRAM,
            aside: noted.left_out,
            merging,
            merges: true,
        };
        writer.save_cut_state()?;
        Ok(writer)
    }

    fn replace(
        &mut self,
        stored: &StoredDocument,
        body: &str,
        placed: Option<Placed>,
    ) -> Result<(), IndexError> {
        self.inner
            .delete_term(Column::Fingerprint.number(stored.fingerprint));
        let mut document = self.cutter.fields(stored, body);
        if let Some(Placed { group, sketch }) = placed {
            document.add_u64(Column::Group.field(), group);
            for four in sketch.packed() {
                document.add_u64(Column::Sketch.field(), four);
            }
        }
        let comments = stored.document.comments.iter();
        let bytes = body.len() + comments.map(|comment| comment.text.len()).sum::<usize>();
        self.inner
            .add_document(self.backlog.admit(document, bytes))
            .map(|_| ())
            .map_err(|e| self.failed(e))
    }

    /// Whether segments may be merged from now on. A merge needs as much room on the disk as what it merges, until its old
    /// segments go; on a disk that is nearly full none must begin. Those that run come to their end.
    pub fn allow_merges(&mut self, allowed: bool) {
        if self.merges == allowed {
            return;
        }
        self.merges = allowed;
        self.inner.set_merge_policy(if allowed {
            Box::new(self.merging.clone())
        } else {
            Box::new(NoMergePolicy)
        });
    }

    /// Begins to merge segments, for times when nothing comes in: into one for each thread of a search where that is worth it,
    /// else the small ones. Fewer segments are smaller and cost a search less. The merges run next to everything else, about a
    /// second for 10,000 documents; [`Writer::close`] waits for them. Gives whether there was something to merge.
    pub fn tidy(&mut self) -> Result<bool, IndexError> {
        if !self.merges {
            return Ok(false);
        }
        let segments = self.inner.index().searchable_segment_metas();
        let merges = self.merging.plan(&segments.map_err(|e| self.failed(e))?);
        for ids in &merges {
            // Nobody waits for it here; that some of them are being merged already is no error.
            drop(self.inner.merge(ids));
        }
        Ok(!merges.is_empty())
    }

    /// Segments of the last commit.
    #[cfg(test)]
    pub(crate) fn segments(&self) -> Result<usize, IndexError> {
        let metas = self.inner.index().searchable_segment_metas();
        metas.map(|m| m.len()).map_err(|e| self.failed(e))
    }

    /// Waits for running merges and closes the index. What was not committed is forgotten.
    pub fn close(self) -> Result<(), IndexError> {
        let (dir, index) = (self.dir, self.inner.index().clone());
        self.inner
            .wait_merging_threads()
            .map_err(|e| failed(&dir, &e))?;
        // Tantivy removes what was merged when it next commits, which may be never. Who has opened the index for writing since has
        // done this.
        match index.directory().acquire_lock(&INDEX_WRITER_LOCK) {
            Ok(_lock) => remove_leftovers(&dir, &index).map_err(|e| failed(&dir, &e)),
            Err(_) => Ok(()),
        }
    }

    fn failed(&self, error: TantivyError) -> IndexError {
        failed(&self.dir, &error)
    }
}

impl IndexWriter for Writer {
    fn last_seq(&self) -> u64 {
        self.last_seq
    }

    fn is_of_other_version(&self) -> bool {
        self.is_of_other_version
    }

    fn upsert(&mut self, stored: &StoredDocument) -> Result<(), IndexError> {
        take_dictionary(self)?;
        let body = stored.body();
        let Placement { placed, again } = self.reprints.place(stored, &body);
        self.replace(stored, &body, placed)?;
        self.aside.forget(stored.fingerprint);
        place_again(self, again)
    }

    fn try_alone(&mut self, stored: &StoredDocument) -> Result<(), String> {
        let body = stored.body();
        let document = self.cutter.fields(stored, &body);
        let alone = Index::builder()
            .schema(schema())
            .tokenizers(self.inner.index().tokenizers().clone())
            .single_segment_index_writer(RamDirectory::create(), ALONE_BYTES);
        let indexed = alone.and_then(|mut alone| {
            alone.add_document(document)?;
            alone.finalize()
        });
        indexed.map(drop).map_err(|e| e.to_string())
    }

    fn skip_document(&mut self, left: SkippedDocument) -> Result<(), IndexError> {
        self.delete(left.fingerprint, left.seq)?;
        self.aside.put(left);
        Ok(())
    }

    fn left_out(&self) -> SkippedDocuments {
        self.aside.clone()
    }

    fn delete(&mut self, fingerprint: u64, _: u64) -> Result<(), IndexError> {
        self.aside.forget(fingerprint);
        self.reprints.forget(fingerprint);
        self.inner
            .delete_term(Column::Fingerprint.number(fingerprint));
        Ok(())
    }

    fn commit(&mut self, seq: u64) -> Result<(), IndexError> {
        let noted = CommitPayload {
            seq,
            format: FORMAT,
            store: self.store,
            program: PROGRAM.to_owned(),
            left_out: self.aside.clone(),
        };
        let payload = serde_json::to_string(&noted).expect("numbers always serialize");
        let done = self.inner.prepare_commit().and_then(|mut prepared| {
            prepared.set_payload(&payload);
            prepared.commit()
        });
        done.map_err(|e| self.failed(e))?;
        self.last_seq = seq;
        self.is_of_other_version = false;
        self.save_cut_state()
    }

    fn recut(&mut self, most: usize) -> Result<Option<RecutProgress>, IndexError> {
        cut_again(self, most)
    }
}

impl RecutEngine for Writer {
    fn parts(&mut self) -> (&mut Cutter, &mut Recut) {
        (&mut self.cutter, &mut self.recut)
    }

    fn documents(&self) -> &dyn DocumentSource {
        self.documents.as_ref()
    }

    fn reprints(&mut self) -> &mut Reprints {
        &mut self.reprints
    }

    fn unread(&self, cause: String) -> IndexError {
        IndexError::Failed {
            dir: self.dir.clone(),
            cause,
        }
    }

    fn find_outdated(&mut self) -> Result<(), IndexError> {
        let reader = self.inner.index().reader_builder();
        let reader: tantivy::Result<IndexReader> =
            reader.reload_policy(ReloadPolicy::Manual).try_into();
        let view = Embedded {
            dir: &self.dir,
            searcher: reader.map_err(|e| failed(&self.dir, &e))?.searcher(),
            threads: None,
        };
        self.recut.find(&view)
    }

    fn replace_in_place(
        &mut self,
        stored: &StoredDocument,
        placed: Option<Placed>,
    ) -> Result<(), IndexError> {
        self.replace(stored, &stored.body(), placed)
    }

    fn save_cut_state(&mut self) -> Result<(), IndexError> {
        let Some(state) = self.recut.unsaved() else {
            return Ok(());
        };
        let text = serde_json::to_vec(state).expect("words always serialize");
        let folder = Folder::open(&self.dir).map_err(|e| unreadable(&self.dir, e))?;
        let saved = folder.atomic_write(Path::new(CUT_STATE), &text);
        saved.map_err(|e| self.failed(e.into()))?;
        self.recut.set_saved();
        Ok(())
    }
}

/// What is kept of how the texts were cut; none where that cannot be read.
fn cut_state(dir: &Path) -> Option<CutState> {
    serde_json::from_slice(&std::fs::read(dir.join(CUT_STATE)).ok()?).ok()
}

/// Remembers the latest documents of the index, the latest last.
fn recall(index: &Index, reprints: &mut Reprints) -> tantivy::Result<()> {
    let reader = index.reader_builder();
    let reader: IndexReader = reader.reload_policy(ReloadPolicy::Manual).try_into()?;
    let searcher = reader.searcher();
    let mut latest: Vec<(u64, DocAddress)> = Vec::new();
    for (ordinal, segment) in (0..).zip(searcher.segment_readers()) {
        let Some(seq) = segment
            .fast_fields()
            .column_opt::<u64>(Column::Seq.name())?
        else {
            continue;
        };
        let alive = segment.doc_ids_alive();
        latest
            .extend(alive.map(|doc| (seq.first(doc).unwrap_or(0), DocAddress::new(ordinal, doc))));
    }
    latest.sort_unstable();
    let skipped = latest.len().saturating_sub(REMEMBERED);
    let mut columns = Vec::new();
    for segment in searcher.segment_readers() {
        let fields = segment.fast_fields();
        columns.push((
            fields.column_opt::<u64>(Column::Fingerprint.name())?,
            fields.column_opt::<u64>(Column::Group.name())?,
            fields.column_opt::<u64>(Column::Sketch.name())?,
        ));
    }
    for (seq, at) in latest.into_iter().skip(skipped) {
        let Some((Some(fingerprint), Some(group), Some(sketch))) =
            columns.get(at.segment_ord as usize)
        else {
            continue;
        };
        let packed = sketch.values_for_doc(at.doc_id);
        let (fingerprint, group) = (fingerprint.first(at.doc_id), group.first(at.doc_id));
        if let (Some(fingerprint), Some(group), Some(sketch)) =
            (fingerprint, group, Sketch::unpacked(packed))
        {
            reprints.remember(fingerprint, seq, group, sketch);
        }
    }
    Ok(())
}

fn failed(dir: &Path, error: &TantivyError) -> IndexError {
    if is_full(error) {
        return full(dir, error);
    }
    IndexError::Failed {
        dir: dir.to_owned(),
        cause: error.to_string(),
    }
}

/// A full disk says nothing about the index, which must not be taken for a damaged one.
fn not_opened(dir: &Path, error: TantivyError) -> IndexError {
    if is_full(&error) {
        full(dir, &error)
    } else {
        unreadable(dir, error)
    }
}

fn full(dir: &Path, error: &TantivyError) -> IndexError {
    IndexError::Full {
        dir: dir.to_owned(),
        cause: error.to_string(),
    }
}

/// Whether the disk or a quota is full.
fn is_full(error: &TantivyError) -> bool {
    let full = [ErrorKind::StorageFull, ErrorKind::QuotaExceeded];
    error.io().is_some_and(|io| full.contains(&io.kind()))
}

fn open_or_create(dir: &Path) -> Result<Index, IndexError> {
    let directory = Folder::open(dir).map_err(|e| unreadable(dir, e))?;
    let exists = Index::exists(&directory).map_err(|e| unreadable(dir, e))?;
    if exists {
        return Index::open(directory).map_err(|e| unreadable(dir, e));
    }
    let settings = IndexSettings {
        docstore_compress_dedicated_thread: false,
        ..IndexSettings::default()
    };
    Index::create(directory, schema(), settings).map_err(|e| not_opened(dir, e))
}

/// Takes documents into an index, whoever keeps it.
pub trait IndexWriter {
    /// Sequence number of the last commit, 0 for an empty index: everything after it must be added again.
    fn last_seq(&self) -> u64;

    /// Whether the last commit was written by another version of the program, which may have failed where this one does not.
    fn is_of_other_version(&self) -> bool;

    /// Adds a document, in place of an older one with the same fingerprint. Seen by readers after the commit.
    fn upsert(&mut self, stored: &StoredDocument) -> Result<(), IndexError>;

    /// Whether a document can be indexed at all: it is tried alone, and in this thread. An error or a panic here is the
    /// document's fault, where one of [`IndexWriter::commit`] may have any reason.
    fn try_alone(&mut self, stored: &StoredDocument) -> Result<(), String>;

    /// Goes on without a document, and notes why with the next commit. What the index had of it before goes.
    fn skip_document(&mut self, left: SkippedDocument) -> Result<(), IndexError>;

    /// The documents that were left out.
    fn left_out(&self) -> SkippedDocuments;

    /// Takes a document out, if it is there; change `seq` says that it is gone.
    fn delete(&mut self, fingerprint: u64, seq: u64) -> Result<(), IndexError>;

    /// Makes everything so far durable and visible, and notes that all changes up to `seq` are in it.
    fn commit(&mut self, seq: u64) -> Result<(), IndexError>;

    /// Cuts so many documents again at most whose words have changed with the lexicons, the newest first. How far that is;
    /// none once all documents are as they should be. Seen by readers after the next commit.
    fn recut(&mut self, most: usize) -> Result<Option<RecutProgress>, IndexError>;
}

#[cfg(test)]
mod tests {
    use std::io;

    use tantivy::directory::error::{OpenReadError, OpenWriteError};

    use super::*;

    #[test]
    fn error_names_refusal() {
        // As errors come when a file is written, opened, read and locked.
        let errors = |code: i32| {
            let cause = || Arc::new(io::Error::from_raw_os_error(code));
            [
                TantivyError::IoError(cause()),
                TantivyError::OpenWriteError(OpenWriteError::IoError {
                    io_error: cause(),
                    filepath: "segment".into(),
                }),
                TantivyError::OpenReadError(OpenReadError::IoError {
                    io_error: cause(),
                    filepath: "meta.json".into(),
                }),
                TantivyError::LockFailure(LockError::IoError(cause()), None),
            ]
        };
        let dir = std::env::temp_dir();
        for (code, is_full, is_transient, case) in [
            (28, true, true, "no space"),
            (122, true, true, "over quota"),
            (5, false, true, "the disk fails"),
            (13, false, true, "no permission"),
            (20, false, false, "a file where the folder should be"),
        ] {
            for error in errors(code) {
                let failed = failed(&dir, &error);
                assert_eq!(matches!(failed, IndexError::Full { .. }), is_full, "{case}");
                let error = not_opened(&dir, error);
                assert_eq!(error.is_transient(), is_transient, "{case}: {error}");
            }
        }
        let missing = OpenReadError::FileDoesNotExist("0989.term".into());
        assert!(!not_opened(&dir, missing.into()).is_transient());
    }
}
