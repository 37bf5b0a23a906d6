//! Writing. In: documents under their fingerprint. Out: commits that carry the sequence number they reach, so
//! that a replay after a crash knows where to go on. Never decides what is worth indexing.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tantivy::directory::MmapDirectory;
use tantivy::indexer::{IndexWriterOptions, LogMergePolicy};
use tantivy::store::{Compressor, ZstdCompressor};
use tantivy::{Index, IndexSettings, IndexWriter, TantivyDocument, TantivyError, Term};

use super::date::parse_published;
use super::reader::StoredDocument;
use super::schema::{FORMAT, Fields};
use super::{Config, IndexError};
use crate::analyze::{Analyzer, normalize, tokenizers};
use crate::extract::Document;

/// Least memory tantivy works with, in MB.
const MIN_MEMORY_MB: usize = 16;
/// Most memory tantivy takes, in MB.
const MAX_MEMORY_MB: usize = 4_000;
/// Merges run beside indexing; more threads would take the crawl's processor.
const MERGE_THREADS: usize = 1;
/// Level of zstd: 3 is its own default, higher ones halve the speed for some percent.
const STORE_LEVEL: i32 = 3;
/// Bytes of documents compressed together: a hit decompresses one block.
const STORE_BLOCK_BYTES: usize = 32_768;
/// A segment with this share of replaced documents is merged again.
const REPLACED_SHARE: f32 = 0.25;
/// Segments below this size count as equal. Commits come every second: with the library's 10,000 each eighth of
/// them would write up to 10,000 documents again.
const SMALL_SEGMENT_DOCS: u32 = 1_000;
/// So many segments of a size become one: fewer make more merges, more make slower searches.
const MERGED_SEGMENTS: usize = 6;
/// Longest text that is indexed, in bytes; what follows is kept but not found.
const MAX_INDEXED_BYTES: usize = 2 << 20;

/// What a commit says of itself.
#[derive(Debug, Serialize, Deserialize)]
struct Payload {
    seq: u64,
    format: u32,
}

/// One document on its way into the index.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'a> {
    /// Identity: a later entry with the same fingerprint replaces this one.
    pub fingerprint: u64,
    /// Number in the outbox.
    pub seq: u64,
    /// When the page was fetched, Unix milliseconds.
    pub fetched_ms: i64,
    /// What to index.
    pub document: &'a Document,
}

/// The one writer of an index. Dropping it without a commit forgets what came after the last one.
pub struct Writer {
    dir: PathBuf,
    inner: IndexWriter<TantivyDocument>,
    fields: Fields,
    utc_offset_minutes: i32,
    last_seq: u64,
}

impl Writer {
    /// Opens the index in `dir` for writing, or makes an empty one there.
    pub fn open(dir: &Path, analyzer: &Analyzer, config: &Config) -> Result<Self, IndexError> {
        std::fs::create_dir_all(dir).map_err(|e| unreadable(dir, e))?;
        let fields = Fields::new();
        let mut index = open_or_create(dir, &fields)?;
        index.set_tokenizers(tokenizers(analyzer));
        let last_seq = check_format(dir, &index, &fields)?;
        let memory_mb = config.memory_mb.clamp(MIN_MEMORY_MB, MAX_MEMORY_MB);
        let options = IndexWriterOptions::builder()
            .num_worker_threads(config.threads.max(1))
            .num_merge_threads(MERGE_THREADS)
            .memory_budget_per_thread(memory_mb << 20)
            .build();
        let inner = index.writer_with_options(options).map_err(|e| match e {
            TantivyError::LockFailure(_, _) => IndexError::Locked(dir.to_owned()),
            e => unreadable(dir, e),
        })?;
        let mut merges = LogMergePolicy::default();
        merges.set_del_docs_ratio_before_merge(REPLACED_SHARE);
        merges.set_min_layer_size(SMALL_SEGMENT_DOCS);
        merges.set_min_num_segments(MERGED_SEGMENTS);
        inner.set_merge_policy(Box::new(merges));
        Ok(Self {
            dir: dir.to_owned(),
            inner,
            fields,
            utc_offset_minutes: config.utc_offset_minutes,
            last_seq,
        })
    }

    /// Sequence number of the last commit, 0 for an empty index: everything after it must be added again.
    pub fn last_seq(&self) -> u64 {
        self.last_seq
    }

    /// Adds a document, in place of an older one with the same fingerprint. Seen by readers after the commit.
    pub fn upsert(&mut self, entry: &Entry<'_>) -> Result<(), IndexError> {
        self.delete(entry.fingerprint);
        let document = self.convert(entry)?;
        self.inner
            .add_document(document)
            .map(|_| ())
            .map_err(|e| self.failed(e))
    }

    /// Takes a document out, if it is there.
    pub fn delete(&mut self, fingerprint: u64) {
        self.inner
            .delete_term(Term::from_field_u64(self.fields.fingerprint, fingerprint));
    }

    /// Makes everything so far durable and visible, and notes that the outbox is indexed up to `seq`.
    pub fn commit(&mut self, seq: u64) -> Result<(), IndexError> {
        let payload = serde_json::to_string(&Payload {
            seq,
            format: FORMAT,
        })
        .expect("two numbers always serialize");
        let done = self.inner.prepare_commit().and_then(|mut prepared| {
            prepared.set_payload(&payload);
            prepared.commit()
        });
        done.map_err(|e| self.failed(e))?;
        self.last_seq = seq;
        Ok(())
    }

    /// Merges everything into one segment: the smallest and fastest form, for times when nothing comes in.
    /// Waits for the end, about a second for 10,000 documents.
    pub fn compact(&mut self) -> Result<(), IndexError> {
        let ids = self.inner.index().searchable_segment_ids();
        let ids = ids.map_err(|e| self.failed(e))?;
        if ids.len() > 1 {
            match self.inner.merge(&ids).wait() {
                // Some of them are being merged already.
                Ok(_) | Err(TantivyError::InvalidArgument(_)) => {}
                Err(e) => return Err(self.failed(e)),
            }
        }
        let collected = self.inner.garbage_collect_files().wait();
        collected.map(|_| ()).map_err(|e| self.failed(e))
    }

    /// Waits for running merges and closes the index. What was not committed is forgotten.
    pub fn close(self) -> Result<(), IndexError> {
        let dir = self.dir;
        self.inner
            .wait_merging_threads()
            .map_err(|e| IndexError::Failed {
                dir,
                cause: e.to_string(),
            })
    }

    fn failed(&self, error: impl std::fmt::Display) -> IndexError {
        IndexError::Failed {
            dir: self.dir.clone(),
            cause: error.to_string(),
        }
    }

    fn convert(&self, entry: &Entry<'_>) -> Result<TantivyDocument, IndexError> {
        let Entry {
            fingerprint,
            seq,
            fetched_ms,
            document,
        } = *entry;
        let fields = &self.fields;
        let mut out = TantivyDocument::new();
        out.add_u64(fields.fingerprint, fingerprint);
        out.add_u64(fields.seq, seq);
        out.add_i64(fields.fetched, fetched_ms);
        if let Some(published) = &document.published
            && let Some(ms) = parse_published(published, self.utc_offset_minutes)
        {
            out.add_i64(fields.published, ms);
        }
        let host = host_of(&document.url);
        let site = document.site.as_deref().unwrap_or(&host);
        out.add_text(fields.site, site);
        for place in places(site, &host) {
            out.add_text(fields.places, place);
        }
        out.add_bool(fields.original, is_original(document, site));
        out.add_text(fields.kind, document.kind.name());
        out.add_text(fields.url, normalize(&document.url));
        if let Some(title) = &document.title {
            let title = normalize(title);
            out.add_text(fields.title.singles, &title);
            out.add_text(fields.title.grams, &title);
        }
        let body = normalize(head(&document.text, MAX_INDEXED_BYTES));
        out.add_text(fields.body.singles, &body);
        out.add_text(fields.body.grams, &body);
        if let Some(author) = &document.author {
            out.add_text(fields.author, normalize(author));
        }
        if let Some(source) = &document.source {
            out.add_text(fields.source, normalize(source));
        }
        let stored = StoredDocument::of(entry)
            .to_json()
            .map_err(|e| self.failed(e))?;
        out.add_bytes(fields.document, &stored);
        Ok(out)
    }
}

/// Whether a document names no other medium than its own site as its source.
fn is_original(document: &Document, site: &str) -> bool {
    let source = document.source.as_deref().unwrap_or_default();
    let (source, site) = (normalize(source), normalize(site));
    let own = !site.is_empty() && (source.contains(&*site) || site.contains(&*source));
    source.trim().is_empty() || own
}

/// The first bytes of a text, cut at a character.
pub(super) fn head(text: &str, max_bytes: usize) -> &str {
    let mut end = max_bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// Host of an address in lower case, empty if it has none.
pub(super) fn host_of(url: &str) -> String {
    url::Url::parse(url)
        .ok()
        .and_then(|url| url.host_str().map(str::to_lowercase))
        .unwrap_or_default()
}

/// What `site:` finds a document by: the name, the host, and every domain above the host.
fn places<'a>(site: &'a str, host: &'a str) -> Vec<std::borrow::Cow<'a, str>> {
    let mut places = vec![normalize(site)];
    let mut rest = host;
    while rest.contains('.') {
        if places.iter().all(|place| place != rest) {
            places.push(rest.into());
        }
        rest = rest.split_once('.').map_or("", |(_, rest)| rest);
    }
    if !host.is_empty() && !host.contains('.') && places.iter().all(|place| place != host) {
        places.push(host.into());
    }
    places
}

pub(super) fn unreadable(dir: &Path, cause: impl std::fmt::Display) -> IndexError {
    let cause = cause.to_string();
    // Readers lock the folder for a moment as well, so that files are not taken away under them.
    let cause = match cause.contains("PermissionDenied") {
        true => "permission denied; run it as the user that the index belongs to (sudo)".to_owned(),
        false => cause,
    };
    IndexError::Unreadable {
        dir: dir.to_owned(),
        cause,
    }
}

fn open_or_create(dir: &Path, fields: &Fields) -> Result<Index, IndexError> {
    let directory = MmapDirectory::open(dir).map_err(|e| unreadable(dir, e))?;
    let exists = Index::exists(&directory).map_err(|e| unreadable(dir, e))?;
    if exists {
        return Index::open(directory).map_err(|e| unreadable(dir, e));
    }
    let settings = IndexSettings {
        docstore_compression: Compressor::Zstd(ZstdCompressor {
            compression_level: Some(STORE_LEVEL),
        }),
        docstore_blocksize: STORE_BLOCK_BYTES,
        docstore_compress_dedicated_thread: false,
        ..IndexSettings::default()
    };
    Index::create(directory, fields.schema.clone(), settings).map_err(|e| unreadable(dir, e))
}

/// Sequence number of the last commit, if the index was made by this format.
pub(super) fn check_format(dir: &Path, index: &Index, fields: &Fields) -> Result<u64, IndexError> {
    let meta = index.load_metas().map_err(|e| unreadable(dir, e))?;
    let other = |found: String| IndexError::Format {
        dir: dir.to_owned(),
        found,
    };
    let payload = match &meta.payload {
        None if meta.segments.is_empty() => Payload {
            seq: 0,
            format: FORMAT,
        },
        None => return Err(other("unknown".to_owned())),
        Some(text) => serde_json::from_str(text).map_err(|_| other("unknown".to_owned()))?,
    };
    if payload.format != FORMAT {
        return Err(other(payload.format.to_string()));
    }
    if index.schema() != fields.schema {
        return Err(other("of other fields".to_owned()));
    }
    Ok(payload.seq)
}
