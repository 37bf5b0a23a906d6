//! Replaces an index with one that was rebuilt from scratch, and reads what the last commit of an index records. Never
//! decides when: the program does.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use tantivy::Index;

use super::folder::Folder;
use crate::index::IndexError;
use crate::index::schema::{CommitPayload, check_searched, unreadable};

/// Where an index is made again, next to the one in `dir`.
pub fn fresh_dir(dir: &Path) -> PathBuf {
    dir.with_extension("new")
}

/// Where an index goes to be removed: what is there is never needed again, unless nothing is in its place.
fn old_dir(dir: &Path) -> PathBuf {
    dir.with_extension("old")
}

/// Stands in an index whose successor is finished.
const REPLACED: &str = "replaced";

/// Puts the finished index of [`fresh_dir`] in the place of `dir` and removes the old one. Nobody may be writing in either.
///
/// It is one step where the file system can exchange two directories, and two where it cannot (NFS, some overlays). After a
/// crash at any point, [`complete_swap`] does the rest: the old index has a file that says so.
pub fn put_in_place(dir: &Path) -> Result<(), IndexError> {
    swap(dir, &mut exchange)
}

/// Exchanges two directories in one step.
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}

/// `exchange` is the first rename that is tried.
fn swap(
    dir: &Path,
    exchange: &mut dyn FnMut(&Path, &Path) -> io::Result<()>,
) -> Result<(), IndexError> {
    let (fresh, old) = (fresh_dir(dir), old_dir(dir));
    let mut swapped = || -> io::Result<()> {
        if dir.exists() {
            fs::File::create(dir.join(REPLACED))?.sync_all()?;
            fs::File::open(dir)?.sync_all()?;
            remove_all(&old)?;
            match exchange(&fresh, dir) {
                Ok(()) => fs::rename(&fresh, &old)?,
                Err(e) if cannot_exchange(&e) => {
                    fs::rename(dir, &old)?;
                    fs::rename(&fresh, dir)?;
                }
                Err(e) => return Err(e),
            }
        } else {
            fs::rename(&fresh, dir)?;
        }
        sync_parent(dir)?;
        remove_all(&old)
    };
    swapped().map_err(|e| unreadable(dir, e))
}

/// Whether the file system knows no exchange.
fn cannot_exchange(error: &io::Error) -> bool {
    let errno = Errno::from_io_error(error);
    matches!(errno, Some(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP))
}

/// Completes or takes back what a crash broke off in [`put_in_place`]. Call it before anything else looks at the index, in
/// the process that writes.
pub fn complete_swap(dir: &Path) -> Result<(), IndexError> {
    let (fresh, old) = (fresh_dir(dir), old_dir(dir));
    let completed = || -> io::Result<()> {
        if !dir.exists() && old.exists() {
            // Between the two steps: the new one is finished.
            let next = if fresh.exists() { &fresh } else { &old };
            fs::rename(next, dir)?;
            sync_parent(dir)?;
        }
        if fresh.join(REPLACED).exists() {
            // It is the old one already.
            remove_all(&old)?;
            fs::rename(&fresh, &old)?;
        }
        if dir.join(REPLACED).exists() {
            // Nothing was exchanged yet: the new one is gone on with.
            fs::remove_file(dir.join(REPLACED))?;
        }
        remove_all(&old)
    };
    completed().map_err(|e| unreadable(dir, e))
}

/// Removes the index in `dir`, in such an order that half of one is never there.
pub fn remove(dir: &Path) -> Result<(), IndexError> {
    let old = old_dir(dir);
    let removed = || -> io::Result<()> {
        remove_all(&old)?;
        fs::rename(dir, &old)?;
        remove_all(&old)
    };
    removed().map_err(|e| unreadable(dir, e))
}

fn remove_all(dir: &Path) -> io::Result<()> {
    match fs::remove_dir_all(dir) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

/// A rename is there for good once the directory is synced in which it happened.
fn sync_parent(dir: &Path) -> io::Result<()> {
    dir.parent()
        .map_or(Ok(()), |parent| fs::File::open(parent)?.sync_all())
}

/// Moves what cannot be read out of the way, for a person to look at; what was moved there before is removed. Gives the
/// new place.
pub fn put_aside(dir: &Path) -> Result<PathBuf, IndexError> {
    let aside = dir.with_extension("damaged");
    remove_all(&aside).map_err(|e| unreadable(&aside, e))?;
    fs::rename(dir, &aside).map_err(|e| unreadable(dir, e))?;
    Ok(aside)
}

/// Removes what an earlier attempt left beside `dir`.
pub fn clear_fresh(dir: &Path) -> Result<(), IndexError> {
    let fresh = fresh_dir(dir);
    remove_all(&fresh).map_err(|e| unreadable(&fresh, e))
}

/// What the last commit of the index in `dir` says, whatever its format; none where there is no index that can be
/// read. Opens nothing for searching, so that a status page can ask each time.
pub fn noted(dir: &Path) -> Option<CommitPayload> {
    let index = Index::open(Folder::open(dir).ok()?).ok()?;
    let meta = index.load_metas().ok()?;
    match meta.payload {
        Some(text) => serde_json::from_str(&text).ok(),
        None => Some(CommitPayload::default()),
    }
}

/// Up to which change the index in `dir` holds every document, by its last commit; 0 where there is no index that can be
/// read.
pub fn committed_seq(dir: &Path) -> u64 {
    noted(dir).map_or(0, |noted| noted.seq)
}

/// Whether the index in `dir` can be searched while another one is made.
pub fn can_be_searched(dir: &Path) -> bool {
    let index = Folder::open(dir).ok().map(Index::open);
    matches!(index, Some(Ok(index)) if check_searched(dir, &index).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An "index" that can be told from others.
    fn make(dir: &Path, name: &str) {
        fs::create_dir_all(dir).unwrap();
        fs::write(dir.join("name"), name).unwrap();
    }

    fn name(dir: &Path) -> String {
        fs::read_to_string(dir.join("name")).unwrap_or_default()
    }

    /// How the directories look when the process is killed before each step, on a file system with and one without exchange.
    #[test]
    fn swap_survives_any_kill() {
        for can_exchange in [true, false] {
            for killed_before in 0..6 {
                let base = tempfile::tempdir().unwrap();
                let dir = base.path().join("index");
                let (fresh, old) = (fresh_dir(&dir), old_dir(&dir));
                make(&dir, "old");
                make(&fresh, "new");
                let steps: Vec<Box<dyn Fn()>> = if can_exchange {
                    vec![
                        Box::new(|| fs::write(dir.join(REPLACED), "").unwrap()),
                        Box::new(|| exchange(&fresh, &dir).unwrap()),
                        Box::new(|| fs::rename(&fresh, &old).unwrap()),
                        Box::new(|| fs::remove_file(old.join("name")).unwrap()),
                        Box::new(|| fs::remove_dir_all(&old).unwrap()),
                    ]
                } else {
                    vec![
                        Box::new(|| fs::write(dir.join(REPLACED), "").unwrap()),
                        Box::new(|| fs::rename(&dir, &old).unwrap()),
                        Box::new(|| fs::rename(&fresh, &dir).unwrap()),
                        Box::new(|| fs::remove_file(old.join(REPLACED)).unwrap()),
                        Box::new(|| fs::remove_dir_all(&old).unwrap()),
                    ]
                };
                steps.iter().take(killed_before).for_each(|step| step());
                complete_swap(&dir).unwrap();
                let at = format!("exchange: {can_exchange}, killed before step {killed_before}");
                match killed_before {
                    0 | 1 => assert_eq!((&*name(&dir), &*name(&fresh)), ("old", "new"), "{at}"),
                    _ => {
                        assert_eq!(name(&dir), "new", "{at}");
                        assert!(!fresh.exists(), "{at}: the old one would be gone on with");
                    }
                }
                assert!(!old.exists() && !dir.join(REPLACED).exists(), "{at}");
            }
        }
    }

    #[test]
    fn swap_without_exchange() {
        let base = tempfile::tempdir().unwrap();
        let dir = base.path().join("index");
        for errno in [Errno::INVAL, Errno::NOSYS, Errno::NOTSUP] {
            make(&dir, "old");
            make(&fresh_dir(&dir), "new");
            swap(&dir, &mut |_, _| Err(errno.into())).unwrap();
            assert_eq!(name(&dir), "new");
            assert_eq!(fs::read_dir(base.path()).unwrap().count(), 1);
        }
        make(&fresh_dir(&dir), "newer");
        let refused = swap(&dir, &mut |_, _| Err(Errno::IO.into()));
        assert!(refused.is_err() && name(&dir) == "new");
        put_in_place(&dir).unwrap();
        assert_eq!(name(&dir), "newer");
    }
}
