//! Whether the files of an index say what was written into them. In: the folder. Out: the first file whose checksum is not
//! that of its content, as an error. Reads every file of the last commit once; changes nothing.
//!
//! Nothing else would notice: a search in a file with a flipped bit finds the wrong documents or panics, and a merge writes
//! the damage out again with a checksum that is right.

use std::path::Path;

use tantivy::Index;
use tantivy::directory::error::OpenReadError;

use super::IndexError;
use super::folder::Folder;
use super::schema::unreadable;

/// Compares every file of the index in `dir` with its checksum, about a second for each gigabyte. `each` is called before
/// each file. No index is no damage.
pub fn check_files(dir: &Path, mut each: impl FnMut()) -> Result<(), IndexError> {
    if !dir.join("meta.json").exists() {
        return Ok(());
    }
    let failed = |e: &dyn std::fmt::Display| unreadable(dir, e);
    let directory = Folder::open(dir).map_err(|e| failed(&e))?;
    let index = Index::open(directory).map_err(|e| failed(&e))?;
    let meta = index.load_metas().map_err(|e| failed(&e))?;
    for file in meta.list_segment_files() {
        each();
        let is_whole = match index.directory().validate_checksum(&file) {
            // Not every segment has each kind of file; one that must be there is missed when the index is opened.
            Err(OpenReadError::FileDoesNotExist(_)) => true,
            result => result.map_err(|e| failed(&e))?,
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
