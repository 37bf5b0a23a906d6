//! How far an export came, in a file. In: a path and what is exported. Out: the watermark to go on from. Never lets an
//! export go on from another one's mark: that would leave documents out.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::draft::Draft;
use taojin_search::index::Watermark;

/// Longest mark file that is read.
const MARK_BYTES_MAX: u64 = 64 * 1024;

/// Why a mark cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum MarkError {
    /// It cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It is no mark.
    #[error("{}: is not a watermark of taojin export; take another file, or delete it to export everything", .0.display())]
    Other(PathBuf),
    /// It was made by an export of other documents.
    #[error("{}: belongs to an export of {found}; take another file for {wanted}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What was exported then.
        found: String,
        /// What is exported now.
        wanted: String,
    },
}

/// A file with the watermark of the last export.
#[derive(Debug)]
pub struct Mark {
    path: PathBuf,
    of: String,
    /// Where the last export ended; the very beginning when there was none.
    pub after: Watermark,
    /// Identity of the store that it was made of, where it says what is gone too.
    pub store: Option<i64>,
}

/// What stands in the file.
#[derive(Debug, Serialize, Deserialize)]
struct Text {
    export: String,
    #[serde(flatten)]
    watermark: Plain,
}

#[derive(Debug, Serialize, Deserialize)]
struct Plain {
    seq: u64,
    fetched_ms: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    store: Option<i64>,
}

impl Mark {
    /// Reads the mark in `path`, if there is one; `of` says in a few words what is exported.
    pub fn read(path: &Path, of: &str) -> Result<Mark, MarkError> {
        let mark = |after, store| Mark {
            path: path.to_owned(),
            of: of.to_owned(),
            after,
            store,
        };
        let io = |source| MarkError::Io {
            path: path.to_owned(),
            source,
        };
        let file = match std::fs::File::open(path) {
            Ok(file) => file,
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                return Ok(mark(Watermark::default(), None));
            }
            Err(e) => return Err(io(e)),
        };
        let mut text = String::new();
        io::Read::read_to_string(&mut io::Read::take(file, MARK_BYTES_MAX), &mut text)
            .map_err(io)?;
        let found: Text =
            serde_json::from_str(&text).map_err(|_| MarkError::Other(path.to_owned()))?;
        if found.export != of {
            return Err(MarkError::Foreign {
                path: path.to_owned(),
                found: found.export,
                wanted: of.to_owned(),
            });
        }
        let after = Watermark {
            seq: found.watermark.seq,
            fetched_ms: found.watermark.fetched_ms,
        };
        Ok(mark(after, found.watermark.store))
    }

    /// The same for an export that says what is gone from this store.
    pub fn of_store(mut self, store: i64) -> Mark {
        self.store = Some(store);
        self
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Notes that everything up to `reached` is exported.
    pub fn write(self, reached: Watermark) -> Result<(), MarkError> {
        let text = Text {
            export: self.of,
            watermark: Plain {
                seq: reached.seq,
                fetched_ms: reached.fetched_ms,
                store: self.store,
            },
        };
        let write = || -> io::Result<()> {
            let mut draft = Draft::new(&self.path)?;
            serde_json::to_writer(&mut draft, &text)?;
            draft.write_all(b"\n")?;
            draft.publish()
        };
        write().map_err(|source| MarkError::Io {
            path: self.path.clone(),
            source,
        })
    }
}
