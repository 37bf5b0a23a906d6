//! Documents on their way to other programs. In: documents as the index keeps them. Out: JSON lines, plain or
//! compressed, or a Parquet file, and a mark of how far the export came. Never holds more than a few thousand
//! documents, and never leaves half a file where a whole one is expected.

mod draft;
mod mark;
mod parquet;
#[cfg(test)]
mod tests;

use std::io::{self, Write};

use serde::Serialize;

use taojin_extract::{Document, TypedFields};
use taojin_search::index::StoredDocument;

pub use draft::Draft;
pub use mark::{Mark, MarkError};
use parquet::ParquetSink;

/// Level of zstd: its own default; higher ones halve the speed for some percent.
const ZSTD_LEVEL: i32 = 3;

/// Forms of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// One JSON object a line
    Jsonl,
    /// The same, compressed with zstd
    #[value(name = "jsonl.zst")]
    JsonlZstd,
    /// Parquet, compressed with zstd
    Parquet,
}

/// One line of JSON: the document with what the index knows of it.
#[derive(Debug, Serialize)]
struct Line<'a> {
    id: String,
    fetched_ms: i64,
    #[serde(flatten)]
    document: &'a Document,
    /// Numbers, days and lists among the labelled fields.
    #[serde(skip_serializing_if = "TypedFields::is_empty")]
    fields: TypedFields,
}

/// An export that is being written.
pub enum Sink<W: Write + Send> {
    /// [`Format::Jsonl`]
    Jsonl(W),
    /// [`Format::JsonlZstd`]
    JsonlZstd(zstd::Encoder<'static, W>),
    /// [`Format::Parquet`]
    Parquet(Box<ParquetSink<W>>),
}

impl<W: Write + Send> Sink<W> {
    /// Begins an export into `out`, which should buffer. Publication dates that name no zone are taken to be of
    /// `utc_offset_minutes`.
    pub fn new(format: Format, out: W, utc_offset_minutes: i32) -> io::Result<Sink<W>> {
        Ok(match format {
            Format::Jsonl => Sink::Jsonl(out),
            Format::JsonlZstd => Sink::JsonlZstd(zstd::Encoder::new(out, ZSTD_LEVEL)?),
            Format::Parquet => Sink::Parquet(Box::new(ParquetSink::new(out, utc_offset_minutes)?)),
        })
    }

    /// Adds a document.
    pub fn write(&mut self, stored: StoredDocument) -> io::Result<()> {
        match self {
            Sink::Jsonl(out) => line(out, &stored),
            Sink::JsonlZstd(out) => line(out, &stored),
            Sink::Parquet(sink) => sink.write(stored),
        }
    }

    /// Writes what is left, and gives back what was written into.
    pub fn finish(self) -> io::Result<W> {
        let mut out = match self {
            Sink::Jsonl(out) => out,
            Sink::JsonlZstd(out) => out.finish()?,
            Sink::Parquet(sink) => sink.finish()?,
        };
        out.flush()?;
        Ok(out)
    }
}

fn line(out: &mut impl Write, stored: &StoredDocument) -> io::Result<()> {
    let line = Line {
        id: stored.id(),
        fetched_ms: stored.fetched_ms,
        fields: stored.document.meta.typed(),
        document: &stored.document,
    };
    serde_json::to_writer(&mut *out, &line)?;
    out.write_all(b"\n")
}
