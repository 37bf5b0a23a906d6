//! Documents on their way to other programs. In: documents as the index keeps them. Out: JSON lines, plain or
//! compressed, XML, or a Parquet file, and a mark of how far the export came. Never holds more than a few thousand
//! documents, and never leaves half a file where a whole one is expected.

mod parquet;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fs::{File, Permissions};
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use parquet::ParquetSink;
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use taojin_extract::{Document, TypedFields, to_xml_record};
use taojin_search::index::{StoredDocument, Watermark};

/// Level of zstd: its own default; higher ones halve the speed for some percent.
const ZSTD_LEVEL: i32 = 3;

/// What stands around the records of an XML export.
const XML_BEGIN: &[u8] = b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<documents>\n";
const XML_END: &[u8] = b"</documents>\n";

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
    /// XML: a record for each document, an element for each of its fields
    Xml,
}

/// One line of JSON: the document with what the index knows of it.
#[derive(Debug, Serialize)]
struct Line<'a> {
    id: String,
    fetched_ms: i64,
    #[serde(flatten)]
    document: &'a Document,
    /// The text with its headings, lists, tables, code, links and pictures.
    markdown: String,
    /// What readers call its site.
    #[serde(skip_serializing_if = "Option::is_none")]
    site_title: Option<&'a String>,
    /// Numbers, days and lists among the labelled fields.
    #[serde(skip_serializing_if = "TypedFields::is_empty")]
    fields: TypedFields,
}

/// The titles of sites, by their names.
pub type TitlesByName = HashMap<String, String>;

/// An export that is being written.
pub enum Sink<W: Write + Send> {
    /// [`Format::Jsonl`]
    Jsonl(W, TitlesByName),
    /// [`Format::JsonlZstd`]
    JsonlZstd(zstd::Encoder<'static, W>, TitlesByName),
    /// [`Format::Parquet`]
    Parquet(Box<ParquetSink<W>>),
    /// [`Format::Xml`]
    Xml(W, TitlesByName),
}

impl<W: Write + Send> Sink<W> {
    /// Begins an export into `out`, which should buffer. Publication dates that name no zone are taken to be of
    /// `utc_offset_minutes`.
    pub fn new(
        format: Format,
        mut out: W,
        utc_offset_minutes: i32,
        titles: TitlesByName,
    ) -> io::Result<Sink<W>> {
        Ok(match format {
            Format::Jsonl => Sink::Jsonl(out, titles),
            Format::JsonlZstd => Sink::JsonlZstd(zstd::Encoder::new(out, ZSTD_LEVEL)?, titles),
            Format::Parquet => {
                Sink::Parquet(Box::new(ParquetSink::new(out, utc_offset_minutes, titles)?))
            }
            Format::Xml => {
                out.write_all(XML_BEGIN)?;
                Sink::Xml(out, titles)
            }
        })
    }

    /// Adds a document.
    pub fn write(&mut self, stored: StoredDocument) -> io::Result<()> {
        match self {
            Sink::Jsonl(out, titles) => line(out, &stored, titles),
            Sink::JsonlZstd(out, titles) => line(out, &stored, titles),
            Sink::Parquet(sink) => sink.write(stored),
            Sink::Xml(out, titles) => write_record(out, &stored, titles),
        }
    }

    /// Writes what is left, and gives back what was written into.
    pub fn finish(self) -> io::Result<W> {
        let mut out = match self {
            Sink::Jsonl(out, _) => out,
            Sink::JsonlZstd(out, _) => out.finish()?,
            Sink::Parquet(sink) => sink.finish()?,
            Sink::Xml(mut out, _) => {
                out.write_all(XML_END)?;
                out
            }
        };
        out.flush()?;
        Ok(out)
    }
}

fn line(out: &mut impl Write, stored: &StoredDocument, titles: &TitlesByName) -> io::Result<()> {
    let site = stored.document.site.as_ref();
    let line = Line {
        site_title: site.and_then(|site| titles.get(site)),
        id: stored.id(),
        fetched_ms: stored.fetched_ms,
        fields: stored.document.meta.typed(),
        document: &stored.document,
        markdown: stored.document.markdown(),
    };
    serde_json::to_writer(&mut *out, &line)?;
    out.write_all(b"\n")
}

fn write_record(
    out: &mut impl Write,
    stored: &StoredDocument,
    titles: &TitlesByName,
) -> io::Result<()> {
    let site = stored.document.site.as_ref();
    let title = site.and_then(|site| titles.get(site));
    let (id, fetched_ms) = (stored.id(), stored.fetched_ms.to_string());
    let more = [
        ("id", id.as_str()),
        ("fetched_ms", fetched_ms.as_str()),
        ("site_title", title.map_or("", String::as_str)),
    ];
    out.write_all(to_xml_record(&stored.document, &more).as_bytes())
}

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
#[derive(Debug, Serialize, Deserialize)]
pub struct WatermarkFile {
    #[serde(skip)]
    path: PathBuf,
    /// What is exported, in a few words.
    export: String,
    seq: u64,
    fetched_ms: i64,
    /// Identity of the store that it was made of, where it says what is gone too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub store: Option<i64>,
}

impl WatermarkFile {
    /// Reads the mark in `path`, if there is one; `of` says in a few words what is exported.
    pub fn read(path: &Path, of: &str) -> Result<WatermarkFile, MarkError> {
        let io = |source| MarkError::Io {
            path: path.to_owned(),
            source,
        };
        let file = match File::open(path) {
            Ok(file) => file,
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                return Ok(WatermarkFile {
                    path: path.to_owned(),
                    export: of.to_owned(),
                    seq: 0,
                    fetched_ms: 0,
                    store: None,
                });
            }
            Err(e) => return Err(io(e)),
        };
        let text = io::read_to_string(file.take(MARK_BYTES_MAX)).map_err(io)?;
        let found: WatermarkFile =
            serde_json::from_str(&text).map_err(|_| MarkError::Other(path.to_owned()))?;
        if found.export != of {
            return Err(MarkError::Foreign {
                path: path.to_owned(),
                found: found.export,
                wanted: of.to_owned(),
            });
        }
        Ok(WatermarkFile {
            path: path.to_owned(),
            ..found
        })
    }

    /// Where the last export ended; the very beginning when there was none.
    pub fn after(&self) -> Watermark {
        Watermark {
            seq: self.seq,
            fetched_ms: self.fetched_ms,
        }
    }

    /// The same for an export that says what is gone from this store.
    pub fn of_store(mut self, store: i64) -> WatermarkFile {
        self.store = Some(store);
        self
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Notes that everything up to `reached` is exported.
    pub fn write(mut self, reached: Watermark) -> Result<(), MarkError> {
        (self.seq, self.fetched_ms) = (reached.seq, reached.fetched_ms);
        let write = || -> io::Result<()> {
            let mut draft = Draft::new(&self.path)?;
            serde_json::to_writer(&mut draft, &self)?;
            draft.write_all(b"\n")?;
            draft.publish()
        };
        write().map_err(|source| MarkError::Io {
            path: self.path.clone(),
            source,
        })
    }
}
