//! Files next to the store in which people decided something: a backup of the store carries them.

use std::fs;
use std::io::{ErrorKind, Read as _};
use std::path::Path;

use rusqlite::{Connection, OptionalExtension as _};

use super::backup::open_like_folder;
use super::error::{Result, StoreError};

/// A file that a backup carries.
#[derive(Debug, Clone, Copy)]
pub struct KeptFile<'a> {
    /// What the backup calls it, wherever it is.
    pub name: &'a str,
    /// Where it is, and where it is restored to.
    pub path: &'a Path,
}

/// Longest file that is carried: a list of words of that length is none.
const MAX_BYTES: u64 = 64 << 20;

/// Copies the files that are there into a backup.
pub(super) fn copy_into(backup: &Connection, path: &Path, files: &[KeptFile<'_>]) -> Result<()> {
    let failed = |e: rusqlite::Error| StoreError::sql(path, e);
    for file in files {
        let mut content = Vec::new();
        let read = fs::File::open(file.path)
            .and_then(|open| open.take(MAX_BYTES + 1).read_to_end(&mut content));
        match read {
            Ok(read) if read as u64 > MAX_BYTES => {
                let error = std::io::Error::from(ErrorKind::FileTooLarge);
                return Err(StoreError::io(file.path, error));
            }
            Ok(_) => {}
            Err(e) if e.kind() == ErrorKind::NotFound => continue,
            Err(e) => return Err(StoreError::io(file.path, e)),
        }
        make_carried_table(backup).map_err(failed)?;
        let sql = "INSERT INTO backup_file (name, content) VALUES (?1, ?2)";
        backup.execute(sql, (file.name, content)).map_err(failed)?;
    }
    Ok(())
}

/// Makes the table in which a backup carries files, if there is none.
pub(super) fn make_carried_table(backup: &Connection) -> rusqlite::Result<()> {
    let sql =
        "CREATE TABLE IF NOT EXISTS backup_file (name TEXT PRIMARY KEY, content BLOB NOT NULL)";
    backup.execute(sql, []).map(drop)
}

/// Puts the files that a backup carries in their places. A file that was there is kept with `.replaced` behind its name; one
/// that the backup does not carry stays as it is.
pub(super) fn take_out_of(backup: &Connection, path: &Path, files: &[KeptFile<'_>]) -> Result<()> {
    let failed = |e: rusqlite::Error| StoreError::sql(path, e);
    if !backup.table_exists(None, "backup_file").map_err(failed)? {
        return Ok(());
    }
    for file in files {
        let sql = "SELECT content FROM backup_file WHERE name = ?1";
        let content = backup.query_row(sql, [file.name], |row| row.get::<_, Vec<u8>>(0));
        if let Some(content) = content.optional().map_err(failed)? {
            put(file.path, &content).map_err(|e| StoreError::io(file.path, e))?;
        }
    }
    backup
        .execute("DROP TABLE backup_file", [])
        .map_err(failed)?;
    Ok(())
}

fn put(path: &Path, content: &[u8]) -> std::io::Result<()> {
    let beside = |suffix: &str| {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(suffix);
        path.with_file_name(name)
    };
    match fs::read(path) {
        Ok(there) if there == content => return Ok(()),
        Ok(_) => fs::copy(path, beside(".replaced")).map(drop)?,
        Err(e) if e.kind() == ErrorKind::NotFound => {}
        Err(e) => return Err(e),
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let draft = beside(".draft");
    fs::write(&draft, content)?;
    open_like_folder(&draft, folder)?;
    fs::File::open(&draft)?.sync_all()?;
    fs::rename(&draft, path)
}
