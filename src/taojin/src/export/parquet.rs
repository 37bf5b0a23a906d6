//! Parquet. In: documents. Out: one file with a row a document, in row groups of a few megabytes; comments, labelled fields and attachments are
//! lists of structures, `published_at` is a moment in UTC. Never holds more than one row group.

use std::io::{self, Write};
use std::sync::{Arc, LazyLock};

use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::TypePtr;

use super::TitlesByName;
use taojin_extract::{Attachment, Comment, Document, SourceFile};
use taojin_search::index::{StoredDocument, parse_published};

/// Documents of one row group at most.
const GROUP_ROWS: usize = 5_000;
/// Text of one row group, about: what is held in memory.
const GROUP_BYTES: usize = 16 << 20;

/// Columns in the order in which they are written.
const SCHEMA: &str = "message document {
    required binary id (STRING);
    required binary url (STRING);
    optional binary canonical (STRING);
    optional binary site (STRING);
    optional binary title (STRING);
    optional binary published (STRING);
    optional int64 published_at (TIMESTAMP(MILLIS,true));
    optional binary author (STRING);
    optional binary source (STRING);
    optional binary language (STRING);
    required binary kind (STRING);
    required double confidence;
    required binary text (STRING);
    required group comments (LIST) {
        repeated group list {
            required group element {
                optional binary author (STRING);
                optional binary published (STRING);
                required binary text (STRING);
            }
        }
    }
    required int64 fetched_at (TIMESTAMP(MILLIS,true));
    required group meta (LIST) {
        repeated group list {
            required group element {
                required binary label (STRING);
                required binary value (STRING);
            }
        }
    }
    required group attachments (LIST) {
        repeated group list {
            required group element {
                required binary url (STRING);
                required binary name (STRING);
                required binary format (STRING);
            }
        }
    }
    optional binary file_format (STRING);
    optional int64 file_bytes;
    optional int64 file_pages;
    optional binary file_page_url (STRING);
    optional binary site_title (STRING);
    required group addresses (LIST) {
        repeated group list {
            required binary element (STRING);
        }
    }
    required binary markdown (STRING);
}";

static TYPE: LazyLock<TypePtr> =
    LazyLock::new(|| Arc::new(parse_message_type(SCHEMA).expect("a fixed text, held by a test")));

/// A Parquet file that is being written.
pub struct ParquetSink<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    rows: Vec<StoredDocument>,
    bytes: usize,
    utc_offset_minutes: i32,
    titles: TitlesByName,
}

impl<W: Write + Send> ParquetSink<W> {
    pub(super) fn new(
        out: W,
        utc_offset_minutes: i32,
        titles: TitlesByName,
    ) -> io::Result<ParquetSink<W>> {
        let level = ZstdLevel::try_new(super::ZSTD_LEVEL).map_err(failed)?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(level))
            .set_created_by(concat!("taojin ", env!("CARGO_PKG_VERSION")).to_owned())
            .build();
        let writer = SerializedFileWriter::new(out, Arc::clone(&TYPE), Arc::new(properties));
        Ok(ParquetSink {
            writer: writer.map_err(failed)?,
            rows: Vec::new(),
            bytes: 0,
            utc_offset_minutes,
            titles,
        })
    }

    pub(super) fn write(&mut self, stored: StoredDocument) -> io::Result<()> {
        let comments = stored.document.comments.iter().map(|c| c.text.len() + 32);
        self.bytes += stored.document.text.len() + comments.sum::<usize>() + 512;
        self.rows.push(stored);
        if self.rows.len() >= GROUP_ROWS || self.bytes >= GROUP_BYTES {
            self.group()?;
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> io::Result<W> {
        self.group()?;
        self.writer.into_inner().map_err(failed)
    }

    fn group(&mut self) -> io::Result<()> {
        let rows = std::mem::take(&mut self.rows);
        self.bytes = 0;
        if rows.is_empty() {
            return Ok(());
        }
        let mut columns = Columns(self.writer.next_row_group().map_err(failed)?);
        columns
            .all(&rows, self.utc_offset_minutes, &self.titles)
            .map_err(failed)?;
        columns.0.close().map_err(failed)?;
        Ok(())
    }
}

fn failed(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(io) => *io,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}

/// A part of an item of a list, and its level of definition when it is there.
type Part<T> = fn(&T) -> (Option<&str>, i16);

/// The columns of one row group, written one after the other.
struct Columns<'a, W: Write + Send>(SerializedRowGroupWriter<'a, W>);

impl<W: Write + Send> Columns<'_, W> {
    fn all(
        &mut self,
        rows: &[StoredDocument],
        offset: i32,
        titles: &TitlesByName,
    ) -> Result<(), ParquetError> {
        let text = |get: fn(&Document) -> Option<&str>| -> Vec<Option<ByteArray>> {
            let texts = rows.iter().map(|row| get(&row.document));
            texts.map(|text| text.map(ByteArray::from)).collect()
        };
        let ids: Vec<String> = rows.iter().map(StoredDocument::id).collect();
        self.required(ids.iter().map(String::as_str))?;
        self.required(rows.iter().map(|row| row.document.url.as_str()))?;
        self.optional::<ByteArrayType>(text(|d| d.canonical.as_deref()))?;
        self.optional::<ByteArrayType>(text(|d| d.site.as_deref()))?;
        self.optional::<ByteArrayType>(text(|d| d.title.as_deref()))?;
        self.optional::<ByteArrayType>(text(|d| d.published.as_deref()))?;
        let published = |d: &Document| parse_published(d.published.as_deref()?, offset);
        self.optional::<Int64Type>(rows.iter().map(|row| published(&row.document)).collect())?;
        self.optional::<ByteArrayType>(text(|d| d.author.as_deref()))?;
        self.optional::<ByteArrayType>(text(|d| d.source.as_deref()))?;
        self.optional::<ByteArrayType>(text(|d| d.language.as_deref()))?;
        self.required(rows.iter().map(|row| row.document.kind.name()))?;
        let confidences: Vec<f64> = rows
            .iter()
            .map(|r| f64::from(r.document.provenance.confidence))
            .collect();
        self.column::<DoubleType>(&confidences, None, None)?;
        self.required(rows.iter().map(|row| row.document.text.as_str()))?;
        self.list::<Comment, 3>(
            rows,
            |d| &d.comments,
            [
                |c| (c.author.as_deref(), 2),
                |c| (c.published.as_deref(), 2),
                |c| (Some(c.text.as_str()), 1),
            ],
        )?;
        let fetched: Vec<i64> = rows.iter().map(|row| row.fetched_ms).collect();
        self.column::<Int64Type>(&fetched, None, None)?;
        self.list::<(String, String), 2>(
            rows,
            |d| d.meta.pairs(),
            [|pair| (Some(&pair.0), 1), |pair| (Some(&pair.1), 1)],
        )?;
        self.list::<Attachment, 3>(
            rows,
            |d| &d.attachments,
            [
                |file| (Some(&file.url), 1),
                |file| (Some(&file.name), 1),
                |file| (Some(&file.format), 1),
            ],
        )?;
        let number = |get: fn(&SourceFile) -> Option<u64>| -> Vec<Option<i64>> {
            let files = rows.iter().map(|row| row.document.file.as_ref());
            let numbers = files.map(|file| file.and_then(get));
            numbers
                .map(|n| n.map(|n| i64::try_from(n).unwrap_or(i64::MAX)))
                .collect()
        };
        self.optional::<ByteArrayType>(text(|d| Some(d.file.as_ref()?.format.as_str())))?;
        self.optional::<Int64Type>(number(|file| Some(file.bytes)))?;
        self.optional::<Int64Type>(number(|file| file.pages.map(u64::from)))?;
        self.optional::<ByteArrayType>(text(|d| d.file.as_ref()?.page_url.as_deref()))?;
        let title = |row: &StoredDocument| titles.get(row.document.site.as_ref()?);
        let titles = rows.iter().map(|row| Some(title(row)?.as_str().into()));
        self.optional::<ByteArrayType>(titles.collect())?;
        self.list::<String, 1>(rows, |d| &d.addresses, [|url| (Some(url), 1)])?;
        let markdown: Vec<String> = rows.iter().map(|row| row.document.markdown()).collect();
        self.required(markdown.iter().map(String::as_str))
    }

    fn required<'t>(&mut self, texts: impl Iterator<Item = &'t str>) -> Result<(), ParquetError> {
        let values: Vec<ByteArray> = texts.map(ByteArray::from).collect();
        self.column::<ByteArrayType>(&values, None, None)
    }

    fn optional<T: DataType>(&mut self, values: Vec<Option<T::T>>) -> Result<(), ParquetError> {
        let levels: Vec<i16> = values.iter().map(|v| i16::from(v.is_some())).collect();
        let values: Vec<T::T> = values.into_iter().flatten().collect();
        self.column::<T>(&values, Some(&levels), None)
    }

    /// Level of repetition: 0 begins a row, 1 continues in its list. Level of definition: 0 an empty list, 1 an item
    /// without the value or with one that is always there, 2 one with a value that may be missing.
    fn list<T, const PARTS: usize>(
        &mut self,
        rows: &[StoredDocument],
        items: fn(&Document) -> &[T],
        parts: [Part<T>; PARTS],
    ) -> Result<(), ParquetError> {
        for get in parts {
            let (mut values, mut defined, mut repeated) = (Vec::new(), Vec::new(), Vec::new());
            for items in rows.iter().map(|row| items(&row.document)) {
                for (at, item) in items.iter().enumerate() {
                    let (value, whole) = get(item);
                    repeated.push(i16::from(at > 0));
                    defined.push(if value.is_some() { whole } else { 1 });
                    values.extend(value.map(ByteArray::from));
                }
                if items.is_empty() {
                    repeated.push(0);
                    defined.push(0);
                }
            }
            self.column::<ByteArrayType>(&values, Some(&defined), Some(&repeated))?;
        }
        Ok(())
    }

    fn column<T: DataType>(
        &mut self,
        values: &[T::T],
        defined: Option<&[i16]>,
        repeated: Option<&[i16]>,
    ) -> Result<(), ParquetError> {
        let column = self.0.next_column()?;
        let mut column = column.expect("as many calls as the schema has columns");
        column.typed::<T>().write_batch(values, defined, repeated)?;
        column.close()
    }
}
