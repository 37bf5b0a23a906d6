//! A file that is there whole or not at all. In: bytes. Out: the file under its name, after the last byte is durable.
//! Never touches what stood there before until then.

use std::fs::{File, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// Readable as the operator's umask says: exports are for other programs.
const MODE: u32 = 0o666;

/// End of a draft's name.
const SUFFIX: &str = ".partial";

/// A file that is being written beside its place; dropped without [`Draft::publish`], it is gone.
pub struct Draft {
    file: BufWriter<NamedTempFile>,
    path: PathBuf,
}

impl Draft {
    /// Begins a file that will be `path`.
    pub fn new(path: &Path) -> io::Result<Draft> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let prefix = format!(".{}.", name.to_string_lossy());
        remove_abandoned(folder(path), &prefix);
        let file = tempfile::Builder::new()
            .prefix(&prefix)
            .suffix(SUFFIX)
            .permissions(Permissions::from_mode(MODE))
            .tempfile_in(folder(path))?;
        // The lock goes with the process: a draft without one was left by a kill.
        file.as_file().lock()?;
        Ok(Draft {
            file: BufWriter::with_capacity(1 << 16, file),
            path: path.to_owned(),
        })
    }

    /// Makes it durable and puts it in its place.
    pub fn publish(self) -> io::Result<()> {
        let file = self
            .file
            .into_inner()
            .map_err(io::IntoInnerError::into_error)?;
        file.as_file().sync_all()?;
        file.persist(&self.path).map_err(|e| e.error)?;
        File::open(folder(&self.path))?.sync_all()
    }
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Takes away drafts of the same file whose process was killed. One that cannot be taken away does no harm.
fn remove_abandoned(folder: &Path, prefix: &str) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if !name.starts_with(prefix) || !name.ends_with(SUFFIX) {
            continue;
        }
        let abandoned = File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok());
        if abandoned {
            drop(std::fs::remove_file(entry.path()));
        }
    }
}

fn folder(path: &Path) -> &Path {
    let parent = path.parent().filter(|p| !p.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}
