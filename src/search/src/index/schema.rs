//! The fields of the index and the version of its format. [`Column`] is the one table of fields that both engines go by;
//! `check_format` tells whether an index that is there has them.

use std::fmt;
use std::io::{self, ErrorKind};
use std::path::Path;

use serde::{Deserialize, Serialize};
use tantivy::directory::error::{LockError, OpenDirectoryError, OpenReadError, OpenWriteError};
use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, STRING, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::{Index, TantivyError, Term};

use super::IndexError;
use super::storage::folder::META;
use super::storage::left_out::SkippedDocuments;
use crate::analyze::{GRAMS, SINGLES, WORDS};

/// Version of what stands in the fields and how it is cut. It goes up with every change after which old
/// documents would be found differently from new ones.
pub const FORMAT: u32 = 3;

/// First format whose index is still searched, until it is made again: it finds most of what the current one does.
const OLDEST_SEARCHED: u32 = 2;

/// How a field is kept and looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Type {
    /// A number that documents are found by, and that each of them gives.
    Key,
    /// A number that each document gives.
    Counter,
    /// A moment in Unix milliseconds.
    Time,
    /// Yes or no.
    Flag,
    /// Several numbers that only each document gives.
    Sketch,
    /// A text as a whole that documents are found by, and that each of them gives.
    CountedName,
    /// A text as a whole that documents are found by.
    Name,
    /// The words of a text that dictionary and lexicons know, each once; ranked.
    Words,
    /// The single characters of a text that are words, with frequencies; ranked.
    Singles,
    /// The grams of a text with positions; ranked.
    Grams,
    /// The grams of a short text with positions.
    Line,
}

/// Declares the fields, in the order in which the index numbers them: a new one is a line.
macro_rules! columns {
    ($($(#[$doc:meta])* $column:ident = $name:literal: $kind:ident,)*) => {
        /// A field of the index.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub(crate) enum Column {
            $($(#[$doc])* $column,)*
        }

        impl Column {
            /// All of them, in the order of the index.
            pub(crate) const ALL: &[Column] = &[$(Column::$column),*];

            /// Returns the name in the index, whoever keeps it.
            pub(crate) const fn name(self) -> &'static str {
                match self {
                    $(Column::$column => $name,)*
                }
            }

            pub(crate) const fn kind(self) -> Type {
                match self {
                    $(Column::$column => Type::$kind,)*
                }
            }
        }
    };
}

columns! {
    /// Identity of the page.
    Fingerprint = "fingerprint": Key,
    /// Number of the change that made the document what it is.
    Seq = "seq": Counter,
    /// When the page was fetched.
    Fetched = "fetched": Time,
    Published = "published": Time,
    /// Name of the site, as it is counted.
    Site = "site": CountedName,
    /// All names that a site is asked for by.
    Places = "places": Name,
    /// What the page is.
    Kind = "kind": Name,
    Url = "url": Line,
    TitleWords = "title_words": Words,
    TitleSingles = "title_singles": Singles,
    TitleGrams = "title_grams": Grams,
    BodyWords = "body_words": Words,
    BodySingles = "body_singles": Singles,
    BodyGrams = "body_grams": Grams,
    CommentsWords = "comments_words": Words,
    CommentsSingles = "comments_singles": Singles,
    CommentsGrams = "comments_grams": Grams,
    Author = "author": Line,
    Source = "source": Line,
    /// Group of reprints.
    Group = "group": Key,
    /// Whether a document names no other medium as its source.
    Original = "original": Flag,
    /// The sketch that reprints are looked up by.
    Sketch = "sketch": Sketch,
    /// When that change was found.
    Changed = "changed": Time,
    /// Labels and values.
    Meta = "meta": Line,
    /// Values that are counted, each behind the name of its field.
    Values = "values": CountedName,
}

impl Column {
    /// Returns the handle: tantivy numbers fields in the order in which they are added.
    pub(crate) fn field(self) -> Field {
        Field::from_field_id(self as u32)
    }

    /// Returns a term of a field of text.
    pub(crate) fn term(self, text: &str) -> Term {
        Term::from_field_text(self.field(), text)
    }

    /// Returns the term of a field of numbers.
    pub(crate) fn number(self, number: u64) -> Term {
        Term::from_field_u64(self.field(), number)
    }

    /// Whether each document gives its value.
    pub(crate) fn is_fast(self) -> bool {
        use Type::{CountedName, Counter, Flag, Key, Sketch, Time};
        matches!(
            self.kind(),
            Key | Counter | Time | Flag | Sketch | CountedName
        )
    }

    /// Whether its terms are ranked.
    pub(crate) fn is_ranked(self) -> bool {
        matches!(self.kind(), Type::Words | Type::Singles | Type::Grams)
    }
}

/// A text is indexed three times: as grams, which decide what a document has and find a new term in old documents at once,
/// and as words and single characters, which rank only.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextColumns {
    pub(crate) words: Column,
    pub(crate) singles: Column,
    pub(crate) grams: Column,
}

/// The title.
pub(crate) const TITLE: TextColumns = TextColumns {
    words: Column::TitleWords,
    singles: Column::TitleSingles,
    grams: Column::TitleGrams,
};
/// The text.
pub(crate) const BODY: TextColumns = TextColumns {
    words: Column::BodyWords,
    singles: Column::BodySingles,
    grams: Column::BodyGrams,
};
/// The comments.
pub(crate) const COMMENTS: TextColumns = TextColumns {
    words: Column::CommentsWords,
    singles: Column::CommentsSingles,
    grams: Column::CommentsGrams,
};

/// Returns the schema of an index.
pub(crate) fn schema() -> Schema {
    let words = text(WORDS, IndexRecordOption::Basic);
    let singles = text(SINGLES, IndexRecordOption::WithFreqs);
    let grams = text(GRAMS, IndexRecordOption::WithFreqsAndPositions);
    let mut schema = Schema::builder();
    for column in Column::ALL {
        let name = column.name();
        let field = match column.kind() {
            Type::Key => schema.add_u64_field(name, INDEXED | FAST),
            Type::Counter | Type::Sketch => schema.add_u64_field(name, FAST),
            Type::Time => schema.add_i64_field(name, FAST),
            Type::Flag => schema.add_bool_field(name, FAST),
            Type::CountedName => schema.add_text_field(name, STRING | FAST),
            Type::Name => schema.add_text_field(name, STRING),
            Type::Words => schema.add_text_field(name, words.clone()),
            Type::Singles => schema.add_text_field(name, singles.clone()),
            Type::Grams | Type::Line => schema.add_text_field(name, grams.clone()),
        };
        debug_assert_eq!(field, column.field());
    }
    schema.build()
}

fn text(tokenizer: &str, option: IndexRecordOption) -> TextOptions {
    TextOptions::default().set_indexing_options(
        TextFieldIndexing::default()
            .set_tokenizer(tokenizer)
            .set_index_option(option),
    )
}

/// What the last commit of an index states of itself.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CommitPayload {
    /// Number of the last change of a document that the index holds.
    pub seq: u64,
    /// [`FORMAT`] of the program that made it.
    pub format: u32,
    /// Identity of the store that its documents are in.
    pub store: i64,
    /// Version of the program that wrote it.
    pub program: String,
    /// Documents that could not be indexed.
    #[serde(default, skip_serializing_if = "SkippedDocuments::is_empty")]
    pub left_out: SkippedDocuments,
}

/// Version of this program.
pub(crate) const PROGRAM: &str = env!("CARGO_PKG_VERSION");

/// Refuses the index of a newer version, before the library looks at it: that may not be able to read it any more, and would
/// call it damaged.
pub fn refuse_newer(dir: &Path) -> Result<(), IndexError> {
    let Some(found) = format_in(dir).filter(|found| *found > u64::from(FORMAT)) else {
        return Ok(());
    };
    Err(IndexError::Newer {
        dir: dir.to_owned(),
        found,
    })
}

/// The format that the list of segments names, whatever else stands in it.
fn format_in(dir: &Path) -> Option<u64> {
    let meta = std::fs::read(dir.join(META)).ok()?;
    let meta: serde_json::Value = serde_json::from_slice(&meta).ok()?;
    let noted: serde_json::Value = serde_json::from_str(meta["payload"].as_str()?).ok()?;
    noted["format"].as_u64()
}

/// What the last commit says, if this program knows the format.
pub(crate) fn check_format(dir: &Path, index: &Index) -> Result<CommitPayload, IndexError> {
    let noted = noted_by(dir, index)?;
    match noted.format {
        FORMAT if index.schema() == schema() => Ok(noted),
        FORMAT => Err(other_format(dir, "of other fields")),
        format => Err(other_format(dir, format)),
    }
}

/// What the last commit says, if an index of this format can be searched. Only the current one can be written to.
pub(crate) fn check_searched(dir: &Path, index: &Index) -> Result<CommitPayload, IndexError> {
    let noted = noted_by(dir, index)?;
    let is_searched = is_searched(noted.format) && index.schema() == schema();
    if is_searched {
        Ok(noted)
    } else {
        check_format(dir, index)
    }
}

/// Whether an index of this format can be searched.
pub(crate) fn is_searched(format: u32) -> bool {
    (OLDEST_SEARCHED..=FORMAT).contains(&format)
}

fn noted_by(dir: &Path, index: &Index) -> Result<CommitPayload, IndexError> {
    let meta = index.load_metas().map_err(|e| unreadable(dir, e))?;
    match &meta.payload {
        None if meta.segments.is_empty() => Ok(CommitPayload {
            format: FORMAT,
            ..CommitPayload::default()
        }),
        None => Err(other_format(dir, "unknown")),
        Some(text) => serde_json::from_str(text).map_err(|_| other_format(dir, "unknown")),
    }
}

fn other_format(dir: &Path, found: impl std::fmt::Display) -> IndexError {
    IndexError::Format {
        dir: dir.to_owned(),
        found: found.to_string(),
    }
}

/// Codes of the system that say nothing against the index: interrupted, I/O error, try again, no memory, no permission, too
/// many open files (two), no space, read-only, over quota.
const REFUSALS: [i32; 10] = [4, 5, 11, 12, 13, 23, 24, 28, 30, 122];

/// Returns why an index cannot be opened.
pub(crate) fn unreadable(dir: &Path, cause: impl Cause) -> IndexError {
    let io = cause.io();
    let is_denied = io.is_some_and(|io| io.kind() == ErrorKind::PermissionDenied);
    let is_refusal = io
        .and_then(io::Error::raw_os_error)
        .is_some_and(|code| REFUSALS.contains(&code));
    IndexError::Unreadable {
        dir: dir.to_owned(),
        cause: if is_denied {
            "permission denied; run it with sudo, or join the group that the index belongs to"
                .to_owned()
        } else {
            cause.to_string()
        },
        is_refusal: is_refusal || is_denied,
    }
}

/// What an index can fail with, and the error of the system in it: tantivy's errors do not give theirs as their `source`.
pub(crate) trait Cause: fmt::Display {
    fn io(&self) -> Option<&io::Error>;
}

impl Cause for io::Error {
    fn io(&self) -> Option<&io::Error> {
        Some(self)
    }
}

impl Cause for String {
    fn io(&self) -> Option<&io::Error> {
        None
    }
}

impl Cause for OpenReadError {
    fn io(&self) -> Option<&io::Error> {
        match self {
            OpenReadError::IoError { io_error, .. } => Some(io_error),
            _ => None,
        }
    }
}

impl Cause for OpenDirectoryError {
    fn io(&self) -> Option<&io::Error> {
        match self {
            OpenDirectoryError::IoError { io_error, .. }
            | OpenDirectoryError::FailedToCreateTempDir(io_error) => Some(io_error),
            _ => None,
        }
    }
}

impl Cause for TantivyError {
    fn io(&self) -> Option<&io::Error> {
        match self {
            TantivyError::IoError(io)
            | TantivyError::LockFailure(LockError::IoError(io), _)
            | TantivyError::OpenWriteError(OpenWriteError::IoError { io_error: io, .. }) => {
                Some(io)
            }
            TantivyError::OpenDirectoryError(error) => error.io(),
            TantivyError::OpenReadError(error) => error.io(),
            _ => None,
        }
    }
}
