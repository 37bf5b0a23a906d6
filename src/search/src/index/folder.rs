//! The folder of an index as others may read it. In: what tantivy reads and writes. Out: the same, but a file that is replaced
//! keeps to the rights that new files get (tantivy would make it readable for its owner alone), and whoever may read the
//! files but not write them may hold the lock of readers.

use std::fs::{File, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tantivy::Directory;
use tantivy::directory::error::{
    DeleteError, LockError, OpenDirectoryError, OpenReadError, OpenWriteError,
};
use tantivy::directory::{
    DirectoryLock, FileHandle, Lock, MmapDirectory, WatchCallback, WatchHandle, WritePtr,
};

/// What everybody gets, less the umask of the process.
const MODE: u32 = 0o666;

/// A folder on disk.
#[derive(Debug, Clone)]
pub(super) struct Folder {
    inner: MmapDirectory,
    path: PathBuf,
}

impl Folder {
    /// A folder that is there.
    pub(super) fn open(path: &Path) -> Result<Self, OpenDirectoryError> {
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
