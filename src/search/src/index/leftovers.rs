//! What a crash leaves in the folder of an index. In: an index that is open for writing. Out: its folder without files that
//! nothing refers to. Never touches a file of the last commit.
//!
//! Tantivy makes each file under a name that must be new, and after a crash the same names come again: a leftover would
//! make every commit fail from then on.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use tantivy::Index;
use tantivy::directory::{Directory, META_LOCK};

/// Length of the identity that the name of a segment's file begins with.
const SEGMENT_NAME: usize = 32;

/// How the names of files begin that are not renamed to their own yet.
const UNFINISHED: &str = ".tmp";

/// Removes what the last commit of `index` does not refer to. Only its one writer may do so, before it writes.
pub(super) fn remove_leftovers(dir: &Path, index: &Index) -> tantivy::Result<()> {
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
        if is_leftover {
            std::fs::remove_file(dir.join(name))?;
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
