//! Documents between the store, which keeps them, and the index, which finds them. In: documents and rows of the log. Out:
//! each in the form that the other side takes.

mod source;
mod take_over;

use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

use crate::config::{INDEX_DIR, Loaded};
use taojin_crawl::store::{DocumentRow, NewDocument, StoreError};
use taojin_extract::Document;
use taojin_search::analyze::Analyzer;
use taojin_search::index::{self, IndexError, Reader, StoredDocument};

pub use source::StoreDocuments;
pub(crate) use take_over::take_over;

/// Level of zstd: its own default; higher ones halve the speed for some percent.
const LEVEL: i32 = 3;
/// A body that begins so is plain JSON; else it is a frame of zstd. Rows of older versions are plain.
const PLAIN: u8 = b'{';
/// Bytes of JSON that are kept as they are: compressed they would be no smaller.
const SMALL: usize = 256;
/// Longest document in JSON; a longer one in the log is damaged.
const MAX_BYTES: usize = 256 << 20;

/// What the body of a document in the log says.
#[derive(Serialize, Deserialize)]
pub(crate) struct Body {
    /// When the page was fetched, Unix milliseconds.
    pub(crate) fetched_ms: i64,
    /// The document without its links.
    pub(crate) document: Document,
}

/// The document as the log takes it, without its links. `fetched_ms` is when its page was fetched, Unix milliseconds.
pub fn encode(document: Document, fetched_ms: i64) -> NewDocument {
    let (url, site) = (document.url.clone(), document.site.clone());
    let body = Body {
        fetched_ms,
        document: Document {
            links: Vec::new(),
            ..document
        },
    };
    let json =
        serde_json::to_vec(&body).expect("a document of strings and numbers always serializes");
    let body = match json.len() {
        0..=SMALL => json,
        _ => zstd::bulk::compress(&json, LEVEL)
            .expect("memory is the only thing that compressing needs"),
    };
    NewDocument {
        url,
        site: site.unwrap_or_default(),
        body,
    }
}

/// The document of a row; none where the row says that it is gone. An error names a row that cannot be read.
pub fn decode(row: &DocumentRow) -> anyhow::Result<Option<StoredDocument>> {
    let Some(body) = &row.body else {
        return Ok(None);
    };
    let body = unpack(body)
        .map_err(|e| e.context(format!("document {:016x} ({})", row.fingerprint, row.url)))?;
    Ok(Some(StoredDocument {
        fingerprint: row.fingerprint,
        seq: u64::try_from(row.seq).unwrap_or_default(),
        fetched_ms: body.fetched_ms,
        changed_ms: row.changed_ms,
        document: body.document,
    }))
}

pub(crate) fn unpack(body: &[u8]) -> anyhow::Result<Body> {
    if body.first() == Some(&PLAIN) {
        return Ok(serde_json::from_slice(body)?);
    }
    let size = zstd::zstd_safe::get_frame_content_size(body)
        .ok()
        .flatten()
        .and_then(|size| usize::try_from(size).ok())
        .filter(|size| *size <= MAX_BYTES)
        .context("neither JSON nor a zstd frame of at most 256 MiB")?;
    Ok(serde_json::from_slice(&zstd::bulk::decompress(
        body, size,
    )?)?)
}

/// The index of the data folder, for searching, with the documents of its store.
pub fn open_index(loaded: &Loaded, analyzer: &Analyzer) -> Result<Reader, IndexError> {
    open_folder(&loaded.config.data_dir, analyzer, &loaded.config.index)
}

/// The same for a data folder without a configuration.
pub fn open_folder(
    data_dir: &Path,
    analyzer: &Analyzer,
    config: &index::Config,
) -> Result<Reader, IndexError> {
    let documents = Arc::new(StoreDocuments::of(data_dir));
    Reader::open(&data_dir.join(INDEX_DIR), analyzer, config, documents)
}

/// Whether an error of the store only says that nothing was crawled or imported yet.
fn is_missing(error: &StoreError) -> bool {
    matches!(error, StoreError::Missing { .. })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(body: Option<Vec<u8>>) -> DocumentRow {
        DocumentRow {
            seq: 7,
            fingerprint: 5,
            version: 2,
            first_seq: 3,
            first_seen_ms: 1,
            changed_ms: 9,
            url: "http://a.cn/1".to_owned(),
            site: "s".to_owned(),
            body,
        }
    }

    #[test]
    fn a_document_comes_back_as_it_went_in_without_its_links() {
        for text in ["短", "页岩气产量创新高。".repeat(500).as_str()] {
            let document = Document {
                url: "http://a.cn/1".to_owned(),
                site: Some("s".to_owned()),
                text: text.to_owned(),
                ..Document::default()
            };
            let new = encode(document.clone(), 8);
            assert_eq!(
                (new.url.as_str(), new.site.as_str()),
                ("http://a.cn/1", "s")
            );
            assert!(new.body.len() < 300, "{}", new.body.len());
            let stored = decode(&row(Some(new.body))).unwrap().unwrap();
            assert_eq!(stored.document, document);
            assert_eq!(
                (stored.seq, stored.fetched_ms, stored.changed_ms),
                (7, 8, 9)
            );
        }
    }

    #[test]
    fn a_damaged_row_is_named_and_a_bomb_is_not_unpacked() {
        assert!(decode(&row(None)).unwrap().is_none());
        let bomb = zstd::bulk::compress(&vec![b' '; MAX_BYTES + 1], 1).unwrap();
        for body in [b"{".to_vec(), b"(\xb5/\xfd".to_vec(), Vec::new(), bomb] {
            let error = decode(&row(Some(body))).unwrap_err();
            assert!(format!("{error:#}").contains("http://a.cn/1"), "{error:#}");
        }
    }
}
