//! The folder of an index on disk. In: what tantivy writes. Out: the same, and after a commit the folder itself is synced.
//!
//! tantivy syncs files, and the folder before it renames the new list of segments into its place, but not after that: a
//! power loss could bring the old list back although the segments that it names have been deleted since.

use std::io;
use std::path::Path;
use std::sync::Arc;

use tantivy::Directory;
use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{DirectoryLock, FileHandle, Lock, WatchCallback, WatchHandle, WritePtr};

/// The list of segments: a commit is there once this file is.
pub(super) const META: &str = "meta.json";

/// A folder whose commits survive a power loss.
#[derive(Debug, Clone)]
pub(super) struct Synced<D>(pub(super) D);

impl<D: Directory + Clone> Directory for Synced<D> {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.0.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.0.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.0.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        self.0.open_write(path)
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.0.atomic_read(path)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        self.0.atomic_write(path, data)?;
        match path == Path::new(META) {
            true => self.0.sync_directory(),
            false => Ok(()),
        }
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.0.sync_directory()
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        self.0.acquire_lock(lock)
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.0.watch(callback)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use tantivy::directory::RamDirectory;
    use tantivy::schema::{STRING, Schema};
    use tantivy::{Index, IndexWriter, TantivyDocument};

    use super::*;

    /// A folder in memory that writes down what is done to it.
    #[derive(Debug, Clone, Default)]
    struct Watched {
        inner: RamDirectory,
        done: Arc<Mutex<Vec<String>>>,
    }

    impl Watched {
        fn note(&self, what: &str, path: &Path) {
            let line = format!("{what} {}", path.display());
            self.done.lock().unwrap().push(line);
        }
    }

    impl Directory for Watched {
        fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
            self.inner.get_file_handle(path)
        }

        fn delete(&self, path: &Path) -> Result<(), DeleteError> {
            self.note("delete", path);
            self.inner.delete(path)
        }

        fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
            self.inner.exists(path)
        }

        fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
            self.note("create", path);
            self.inner.open_write(path)
        }

        fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
            self.inner.atomic_read(path)
        }

        fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
            self.note("rename", path);
            self.inner.atomic_write(path, data)
        }

        fn sync_directory(&self) -> io::Result<()> {
            self.note("sync", Path::new(""));
            self.inner.sync_directory()
        }

        fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
            self.inner.watch(callback)
        }
    }

    #[test]
    fn a_commit_is_on_the_disk_before_anything_else_happens() {
        let mut schema = Schema::builder();
        let field = schema.add_text_field("field", STRING);
        let watched = Watched::default();
        let done = Arc::clone(&watched.done);
        let index = Index::builder().schema(schema.build());
        let index = index.open_or_create(Synced(watched)).unwrap();
        let mut writer: IndexWriter = index.writer_with_num_threads(1, 15 << 20).unwrap();
        for n in 0..12 {
            let mut document = TantivyDocument::new();
            document.add_text(field, n.to_string());
            writer.add_document(document).unwrap();
            writer.commit().unwrap();
        }
        writer.wait_merging_threads().unwrap();
        let done = done.lock().unwrap();
        let commits: Vec<usize> = (0..done.len())
            .filter(|at| done[*at] == format!("rename {META}"))
            .collect();
        assert!(commits.len() > 12, "{done:?}");
        assert!(
            done.iter().any(|line| line.starts_with("delete")),
            "nothing was merged"
        );
        for at in commits {
            assert_eq!(
                done.get(at + 1).map(String::as_str),
                Some("sync "),
                "{done:?}"
            );
        }
    }
}
