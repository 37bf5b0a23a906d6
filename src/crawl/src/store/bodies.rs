//! Bodies of documents as they lie in the store: each a zstd frame of its own, made with a dictionary of what the store's own
//! documents have in common. In: bytes. Out: fewer bytes, and the same again. A frame ends with a checksum: what a disk has
//! changed is an error and never another text.
//!
//! One document alone is too short to compress well: 18,000 Chinese news take .66 of their text one by one, and .44 with a
//! dictionary of 256 KiB from 2,000 others (level 3; making it takes .1 s). Old dictionaries stay, since a frame
//! names the one it needs.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::num::NonZeroU32;

use super::sql::{Connection, NONE, params};
use zstd::zstd_safe::{self, CCtx, CParameter, DCtx, DDict};

use super::documents::DocumentRow;
use super::error::{Result, StoreError};
use super::open::{Reader, Store};

/// Level of zstd. Level 6 takes 8 % less room, and cost 3 % of the processor time of a whole crawl.
const LEVEL: i32 = 3;
/// Changes of documents before there is a dictionary: fewer do not show what documents have in common.
const FIRST_AT: i64 = 2_000;
/// A new dictionary is made when there were so many times as many changes as before the last one, since sites come and go.
const AGAIN_AT: i64 = 16;
/// Documents that a dictionary is made of.
const SAMPLES: i64 = 2_000;
/// Of them, so many follow each other, since each question takes its time.
const NEIGHBOURS: i64 = 20;
/// Of a long document only so many bytes are looked at: together at most 32 MB.
const SAMPLE_BYTES: usize = 16 * 1024;
/// Longest dictionary. Twice as much would save another 3 % of the store.
const DICTIONARY_BYTES: usize = 256 * 1024;
/// Longest body; a frame that says it holds more is damaged.
const MAX_BYTES: u64 = 256 << 20;
/// How a zstd frame begins. What begins otherwise is the body itself.
const MAGIC: [u8; 4] = zstd_safe::MAGICNUMBER.to_le_bytes();

/// The body of a document as it lies in the store; [`Reader::body`] gives what it holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackedBody(pub(super) Vec<u8>);

/// Makes bodies smaller.
#[derive(Default)]
pub(super) struct Compressor {
    /// With the latest dictionary in it.
    context: Option<CCtx<'static>>,
    /// Number of the change at which the next dictionary is made; 0: not read from the store yet.
    next_at: i64,
}

/// Gives bodies back.
#[derive(Default)]
pub(super) struct Decompressor {
    dictionaries: HashMap<NonZeroU32, DDict<'static>>,
    context: Option<DCtx<'static>>,
}

impl Compressor {
    /// The body as it goes into the store.
    pub(super) fn pack(&mut self, body: &[u8]) -> Vec<u8> {
        let mut packed = Vec::with_capacity(zstd_safe::compress_bound(body.len()));
        let context = self.context.get_or_insert_with(|| compressing(&[]));
        let done = context.compress2(&mut packed, body);
        // Nothing but lack of memory makes it fail; then the body is kept as it is.
        match done {
            Ok(_) => packed,
            Err(_) => body.to_vec(),
        }
    }
}

/// A frame carries a checksum: a damaged one is noticed and never taken for another text.
fn compressing(dictionary: &[u8]) -> CCtx<'static> {
    let mut context = CCtx::create();
    for parameter in [
        CParameter::CompressionLevel(LEVEL),
        CParameter::ChecksumFlag(true),
    ] {
        let set = context.set_parameter(parameter);
        debug_assert!(set.is_ok(), "zstd knows both");
    }
    // Nothing but lack of memory makes it fail; then frames are longer.
    let _ = context.load_dictionary(dictionary);
    context
}

impl fmt::Debug for Compressor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compressor")
            .field("next_at", &self.next_at)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Decompressor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids = self.dictionaries.keys();
        f.debug_list().entries(ids).finish()
    }
}

/// Number of the dictionary that the body of a row needs, if it needs one.
pub(super) fn dictionary_of(row: &DocumentRow) -> Option<NonZeroU32> {
    let PackedBody(packed) = row.body.as_ref()?;
    let is_frame = packed.starts_with(&MAGIC);
    is_frame.then(|| zstd_safe::get_dict_id_from_frame(packed))?
}

impl Reader {
    /// The body of a document as it was given; none where the row says that the document is gone.
    pub fn body(&self, row: &DocumentRow) -> Result<Option<Vec<u8>>> {
        let Some(PackedBody(packed)) = &row.body else {
            return Ok(None);
        };
        if !packed.starts_with(&MAGIC) {
            return Ok(Some(packed.clone()));
        }
        let damaged = |detail: &str| StoreError::Body {
            path: self.path().to_owned(),
            url: row.url.clone(),
            detail: detail.to_owned(),
        };
        let size = zstd_safe::get_frame_content_size(packed)
            .ok()
            .flatten()
            .filter(|size| *size <= MAX_BYTES)
            .and_then(|size| usize::try_from(size).ok())
            .ok_or_else(|| damaged("it does not say how long it is, or more than 256 MiB"))?;
        let mut body = Vec::with_capacity(size);
        let mut bodies = self.bodies.borrow_mut();
        let Decompressor {
            dictionaries,
            context,
        } = &mut *bodies;
        let context = context.get_or_insert_with(DCtx::create);
        let done = match zstd_safe::get_dict_id_from_frame(packed) {
            None => context.decompress(&mut body, packed),
            Some(id) => {
                let dictionary = match dictionaries.entry(id) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(free) => {
                        let sql = "SELECT data FROM dictionary WHERE id = ?1";
                        let data: Option<Vec<u8>> = self.row(sql, [id.get()], |row| row.get(0))?;
                        let dictionary = data
                            .and_then(|data| DDict::try_create(&data))
                            .ok_or_else(|| damaged("its dictionary is missing"))?;
                        free.insert(dictionary)
                    }
                };
                context.decompress_using_ddict(&mut body, packed, dictionary)
            }
        };
        done.map_err(|code| damaged(zstd_safe::get_error_name(code)))?;
        Ok(Some(body))
    }
}

impl Store {
    /// Makes a dictionary of the documents there are, if it is time. What is written afterwards is made smaller with it.
    /// Where a damaged page of the database stands in its way, documents are stored without one: no commit may fail for it.
    pub(super) fn renew_dictionary(&mut self) -> Result<()> {
        let Err(error) = self.try_renew_dictionary() else {
            return Ok(());
        };
        if !matches!(error, StoreError::Damaged { .. }) {
            return Err(error);
        }
        tracing::error!("no dictionary for compression, documents take more room: {error}");
        self.compressor.next_at = self.document_seq.max(FIRST_AT).saturating_mul(2);
        Ok(())
    }

    fn try_renew_dictionary(&mut self) -> Result<()> {
        if self.compressor.next_at == 0 {
            self.load_dictionary()?;
        }
        if self.document_seq < self.compressor.next_at {
            return Ok(());
        }
        let samples = self.samples()?;
        let made = zstd::dict::from_samples(&samples, DICTIONARY_BYTES);
        let seq = self.document_seq;
        match made {
            Ok(data) => {
                self.write(|tx| add_dictionary(tx, &data, seq))?;
                self.load_dictionary()?;
                tracing::info!(documents = samples.len(), "a dictionary for compression");
            }
            // Nothing is lost but room; another time there is more to make one of.
            Err(error) => {
                self.compressor.next_at = seq.saturating_mul(2);
                tracing::debug!(%error, "no dictionary for compression");
            }
        }
        Ok(())
    }

    fn load_dictionary(&mut self) -> Result<()> {
        let sql = "SELECT made_at, data FROM dictionary ORDER BY made_at DESC LIMIT 1";
        let latest = self.row(sql, NONE, |row| Ok((row.get(0)?, row.get(1)?)))?;
        let latest: Option<(i64, Vec<u8>)> = latest;
        self.compressor.next_at = latest
            .as_ref()
            .map_or(FIRST_AT, |(made_at, _)| made_at.saturating_mul(AGAIN_AT));
        self.compressor.context = latest.map(|(_, data)| compressing(&data));
        Ok(())
    }

    /// Bodies from all over the log.
    fn samples(&self) -> Result<Vec<Vec<u8>>> {
        let step = (self.document_seq / SAMPLES * NEIGHBOURS).max(NEIGHBOURS);
        let mut samples = Vec::new();
        let mut after = 0;
        while after < self.document_seq {
            let rows = self.documents_after(after, NEIGHBOURS as usize)?;
            let Some(last) = rows.last() else {
                break;
            };
            after = last.seq.max(after + step);
            for row in &rows {
                // One that cannot be read is none to learn from.
                if let Ok(Some(mut body)) = self.body(row) {
                    body.truncate(SAMPLE_BYTES);
                    samples.push(body);
                }
            }
        }
        Ok(samples)
    }
}

/// Keeps a dictionary. Should its number be taken, the one that has it is used from now on.
fn add_dictionary(tx: &Connection, data: &[u8], seq: i64) -> Result<()> {
    let id = zstd_safe::get_dict_id_from_dict(data).map(NonZeroU32::get);
    let sql = "INSERT INTO dictionary (id, made_at, data) VALUES (?1, ?2, ?3) \
               ON CONFLICT (id) DO UPDATE SET made_at = excluded.made_at";
    tx.execute(sql, params![id, seq, data])?;
    Ok(())
}
