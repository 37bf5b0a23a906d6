//! Putting an index that was made anew in the place of the old one, and reading documents out of indexes that still
//! keep them. In: folders. Never decides when: the program does.

use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use tantivy::directory::MmapDirectory;
use tantivy::schema::Value;
use tantivy::{Index, IndexReader, ReloadPolicy, TantivyDocument};

use super::schema::{KEPT_FIELD, Noted, unreadable};
use super::{IndexError, StoredDocument};

/// Where an index is made anew, beside the one in `dir`.
pub fn fresh_dir(dir: &Path) -> PathBuf {
    dir.with_extension("new")
}

/// Puts the finished index of [`fresh_dir`] in the place of `dir`, in one step that a crash cannot divide, and removes the
/// old one. Nobody may be writing in either.
pub fn put_in_place(dir: &Path) -> Result<(), IndexError> {
    let fresh = fresh_dir(dir);
    if !dir.exists() {
        return std::fs::rename(&fresh, dir).map_err(|e| unreadable(dir, e));
    }
    renameat_with(CWD, &fresh, CWD, dir, RenameFlags::EXCHANGE)
        .map_err(|e| unreadable(dir, std::io::Error::from(e)))?;
    std::fs::remove_dir_all(&fresh).map_err(|e| unreadable(&fresh, e))
}

/// Moves what cannot be read out of the way, for a person to look at; what was moved there before is removed. Gives the
/// new place.
pub fn put_aside(dir: &Path) -> Result<PathBuf, IndexError> {
    let aside = dir.with_extension("damaged");
    match std::fs::remove_dir_all(&aside) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(unreadable(&aside, e)),
        _ => {}
    }
    std::fs::rename(dir, &aside).map_err(|e| unreadable(dir, e))?;
    Ok(aside)
}

/// Removes what an earlier attempt left beside `dir`.
pub fn clear_fresh(dir: &Path) -> Result<(), IndexError> {
    let fresh = fresh_dir(dir);
    match std::fs::remove_dir_all(&fresh) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(unreadable(&fresh, e)),
        _ => Ok(()),
    }
}

/// What the last commit of the index in `dir` says, whatever its format; none where there is no index that can be
/// read. Opens nothing for searching, so that a status page can ask each time.
pub fn noted(dir: &Path) -> Option<Noted> {
    let index = Index::open(MmapDirectory::open(dir).ok()?).ok()?;
    let meta = index.load_metas().ok()?;
    match meta.payload {
        Some(text) => serde_json::from_str(&text).ok(),
        None => Some(Noted::default()),
    }
}

/// Up to which change the index in `dir` holds every document, by its last commit; 0 where there is no index that can be
/// read.
pub fn committed_seq(dir: &Path) -> u64 {
    noted(dir).map_or(0, |noted| noted.seq)
}

/// Whether the index in `dir` keeps its documents itself, as those of older formats do.
pub fn keeps_documents(dir: &Path) -> bool {
    let index = MmapDirectory::open(dir).ok().map(Index::open);
    matches!(index, Some(Ok(index)) if index.schema().get_field(KEPT_FIELD).is_ok())
}

/// Calls `each` with every document that an index of an older format keeps, and how many there are in all.
pub fn kept_documents<E: From<IndexError>>(
    dir: &Path,
    mut each: impl FnMut(StoredDocument, u64) -> Result<(), E>,
) -> Result<(), E> {
    let broken = |e: &dyn std::fmt::Display| unreadable(dir, e);
    let directory = MmapDirectory::open(dir).map_err(|e| broken(&e))?;
    let index = Index::open(directory).map_err(|e| broken(&e))?;
    let field = index.schema().get_field(KEPT_FIELD);
    let field = field.map_err(|e| broken(&e))?;
    let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual);
    let reader: IndexReader = reader.try_into().map_err(|e| broken(&e))?;
    let searcher = reader.searcher();
    for segment in searcher.segment_readers() {
        let store = segment.get_store_reader(1).map_err(|e| broken(&e))?;
        for document in store.iter::<TantivyDocument>(segment.alive_bitset()) {
            let document = document.map_err(|e| broken(&e))?;
            let bytes = document.get_first(field).and_then(|value| value.as_bytes());
            let stored = serde_json::from_slice(bytes.unwrap_or_default());
            each(stored.map_err(|e| broken(&e))?, searcher.num_docs())?;
        }
    }
    Ok(())
}
