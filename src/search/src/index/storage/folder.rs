//! The directory of an index as others may read it. It adds to tantivy's: a file that is replaced gets the rights of
//! new files (tantivy would make it readable for its owner alone), whoever may read the files but not write them may
//! hold the lock of readers, and after a commit the directory itself is synced: tantivy does so only before it renames
//! the new list of segments into its place, and a power loss could bring the old list back although the segments that
//! it names have been deleted since.
//!
//! [`check_files`] compares all files with their checksums, [`remove_leftovers`] clears what a crash left.

use std::collections::HashSet;
use std::fs::{File, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tantivy::directory::error::{
    DeleteError, LockError, OpenDirectoryError, OpenReadError, OpenWriteError,
};
use tantivy::directory::{
    DirectoryLock, FileHandle, Lock, META_LOCK, MmapDirectory, WatchCallback, WatchHandle, WritePtr,
};
use tantivy::{Directory, Index};

use crate::index::IndexError;
use crate::index::schema::unreadable;

/// The list of segments: a commit is there once this file is.
pub(crate) const META: &str = "meta.json";

/// What everybody gets, less the umask of the process.
const MODE: u32 = 0o666;

/// Length of the identity that the name of a segment's file begins with.
const SEGMENT_NAME: usize = 32;

/// How the names of files begin that are not renamed to their own yet.
const UNFINISHED: &str = ".tmp";

/// A directory on disk.
#[derive(Debug, Clone)]
pub(crate) struct Folder {
    inner: MmapDirectory,
    path: PathBuf,
}

impl Folder {
    /// A directory that is there.
    pub(crate) fn open(path: &Path) -> Result<Self, OpenDirectoryError> {
        Ok(Self {
            inner: MmapDirectory::open(path)?,
            path: path.to_owned(),
        })
    }
}

impl Directory for Folder {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.inner.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.inner.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.inner.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        self.inner.open_write(path)
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.inner.atomic_read(path)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        let mut draft = tempfile::Builder::new()
            .permissions(Permissions::from_mode(MODE))
            .tempfile_in(&self.path)?;
        draft.write_all(data)?;
        draft.as_file().sync_data()?;
        draft.persist(self.path.join(path)).map_err(|e| e.error)?;
        if path == Path::new(META) {
            self.sync_directory()?;
        }
        Ok(())
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.inner.sync_directory()
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        match self.inner.acquire_lock(lock) {
            // A lock needs no right to write; the file is there, since the writer took it first.
            Err(LockError::IoError(error)) if is_refused(&error) && lock.is_blocking => {
                let file = File::open(self.path.join(&lock.filepath));
                let file = file.map_err(LockError::wrap_io_error)?;
                file.lock().map_err(LockError::wrap_io_error)?;
                Ok(DirectoryLock::from(Box::new(file)))
            }
            taken => taken,
        }
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.inner.watch(callback)
    }
}

fn is_refused(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem
    )
}

/// Compares every file of the index in `dir` with its checksum, about a second for each gigabyte. `each` is called before
/// each file. No index is no damage.
///
/// Nothing else would notice: a search in a file with a flipped bit finds the wrong documents or panics, and a merge writes
/// the damage out again with a checksum that is right.
pub fn check_files(dir: &Path, mut each: impl FnMut()) -> Result<(), IndexError> {
    if !dir.join(META).exists() {
        return Ok(());
    }
    let directory = Folder::open(dir).map_err(|e| unreadable(dir, e))?;
    let index = Index::open(directory).map_err(|e| unreadable(dir, e))?;
    let meta = index.load_metas().map_err(|e| unreadable(dir, e))?;
    for file in meta.list_segment_files() {
        each();
        let is_whole = match index.directory().validate_checksum(&file) {
            // Not every segment has each kind of file; one that must be there is missed when the index is opened.
            Err(OpenReadError::FileDoesNotExist(_)) => true,
            result => result.map_err(|e| unreadable(dir, e))?,
        };
        if !is_whole {
            return Err(unreadable(
                dir,
                format!("{} is damaged: wrong checksum", file.display()),
            ));
        }
    }
    Ok(())
}

/// Removes what the last commit of `index` does not refer to. Only its one writer may do so, before it writes or when it has.
///
/// Tantivy makes each file under a name that must be new, and after a crash the same names come again: a leftover would
/// make every commit fail from then on.
pub(crate) fn remove_leftovers(dir: &Path, index: &Index) -> tantivy::Result<()> {
    // Readers hold it while they open what they have just read the names of.
    let _lock = index.directory().acquire_lock(&META_LOCK)?;
    let in_use: HashSet<PathBuf> = index.load_metas()?.list_segment_files();
    for entry in std::fs::read_dir(dir)? {
        let name = entry?.file_name();
        let is_leftover = match name.to_str() {
            Some(text) => {
                text.starts_with(UNFINISHED)
                    || is_of_segment(text) && !in_use.contains(Path::new(text))
            }
            None => false,
        };
        // A writer that was dropped a moment ago may still remove its own.
        if is_leftover
            && let Err(error) = std::fs::remove_file(dir.join(name))
            && error.kind() != ErrorKind::NotFound
        {
            return Err(error.into());
        }
    }
    Ok(())
}

fn is_of_segment(name: &str) -> bool {
    let (segment, rest) = name.split_once('.').unwrap_or((name, ""));
    segment.len() == SEGMENT_NAME
        && segment.bytes().all(|b| b.is_ascii_hexdigit())
        && !rest.is_empty()
}
