//! Rebuilding. In: an index of any format. Out: the same documents in an index of this format, in its place.
//! Never needs the pages again: the index keeps its documents whole.

use std::path::Path;

use tantivy::directory::MmapDirectory;
use tantivy::schema::Value;
use tantivy::{Index, IndexWriter, ReloadPolicy, TantivyDocument, TantivyError};

use super::schema::{STORED_FIELD, unreadable};
use super::{Config, Entry, IndexError, StoredDocument, Writer};

/// Least memory a writer takes; this one writes nothing.
const GUARD_BYTES: usize = 16 << 20;

/// Documents between two commits of the new index. A run that is broken off starts anew.
const COMMIT_DOCUMENTS: u64 = 5_000;

impl Writer {
    /// Opens the index in `dir` for writing, or makes an empty one there. An index of another format is first made
    /// anew out of its own documents, some 3,000 a second (see [`rebuild`]); the number of these is given as well.
    pub fn open_or_upgrade(dir: &Path, config: &Config) -> Result<(Self, Option<u64>), IndexError> {
        match Self::open(dir, config) {
            Err(IndexError::Format { .. }) => {
                let documents = rebuild(dir, config)?;
                Ok((Self::open(dir, config)?, Some(documents)))
            }
            opened => Ok((opened?, None)),
        }
    }
}

/// Indexes the stored documents of `dir` anew and puts the result in its place; returns how many. Until the last
/// moment the old index stays as it is; a run that was broken off can simply be repeated.
pub fn rebuild(dir: &Path, config: &Config) -> Result<u64, IndexError> {
    if !dir.join("meta.json").exists() {
        return Err(IndexError::Missing(dir.to_owned()));
    }
    let (fresh, old) = (dir.with_extension("new"), dir.with_extension("old"));
    for left_over in [&fresh, &old] {
        if left_over.exists() {
            std::fs::remove_dir_all(left_over).map_err(|e| unreadable(left_over, e))?;
        }
    }
    let mut writer = Writer::open(&fresh, config)?;
    let (count, seq) = copy(dir, &mut writer)?;
    writer.commit(seq)?;
    writer.tidy()?;
    writer.close()?;
    std::fs::rename(dir, &old)
        .and_then(|()| std::fs::rename(&fresh, dir))
        .and_then(|()| std::fs::remove_dir_all(&old))
        .map_err(|e| unreadable(dir, e))?;
    Ok(count)
}

/// Adds all documents of the old index; how many, and the sequence number it had reached.
fn copy(dir: &Path, writer: &mut Writer) -> Result<(u64, u64), IndexError> {
    let broken = |e: &dyn std::fmt::Display| unreadable(dir, e);
    let directory = MmapDirectory::open(dir).map_err(|e| broken(&e))?;
    let index = Index::open(directory).map_err(|e| broken(&e))?;
    let field = index.schema().get_field(STORED_FIELD);
    let field = field.map_err(|e| broken(&e))?;
    // Held while copying, so that nothing writes to what is being replaced.
    let guard: IndexWriter =
        index
            .writer_with_num_threads(1, GUARD_BYTES)
            .map_err(|e| match e {
                TantivyError::LockFailure(_, _) => IndexError::Locked(dir.to_owned()),
                e => broken(&e),
            })?;
    let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual);
    let reader: tantivy::IndexReader = reader.try_into().map_err(|e| broken(&e))?;
    let (mut count, mut last) = (0, noted_seq(&index));
    for segment in reader.searcher().segment_readers() {
        let store = segment.get_store_reader(1).map_err(|e| broken(&e))?;
        for document in store.iter::<TantivyDocument>(segment.alive_bitset()) {
            let document = document.map_err(|e| broken(&e))?;
            let bytes = document.get_first(field).and_then(|value| value.as_bytes());
            let stored: StoredDocument =
                serde_json::from_slice(bytes.unwrap_or_default()).map_err(|e| broken(&e))?;
            writer.upsert(&Entry {
                fingerprint: stored.fingerprint,
                seq: stored.seq,
                fetched_ms: stored.fetched_ms,
                document: &stored.document,
            })?;
            count += 1;
            if count % COMMIT_DOCUMENTS == 0 {
                // Reprints are compared with what was committed.
                writer.commit(0)?;
            }
            last = last.max(stored.seq);
        }
    }
    drop(guard);
    Ok((count, last))
}

/// Up to which row of the outbox the index in `dir` holds everything, by its last commit; 0 where there is no index
/// that can be read. Opens nothing for searching, so that a status page can ask each time.
pub fn committed_seq(dir: &Path) -> u64 {
    let index = MmapDirectory::open(dir)
        .ok()
        .and_then(|d| Index::open(d).ok());
    index.map_or(0, |index| noted_seq(&index))
}

/// What the last commit noted, whatever its format.
fn noted_seq(index: &Index) -> u64 {
    let payload = index.load_metas().ok().and_then(|meta| meta.payload);
    payload
        .and_then(|text| serde_json::from_str::<serde_json::Value>(&text).ok())
        .and_then(|value| value.get("seq")?.as_u64())
        .unwrap_or(0)
}
